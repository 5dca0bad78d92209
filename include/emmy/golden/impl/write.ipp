#pragma once
#include <emmy/golden/document.hpp>

namespace emmy::golden {
namespace detail {

inline void write_map(json::writer& w, std::string_view key, map_view map) {
    w.key(key).begin_object();
    for (const json::member& m : map) w.key(m.key).copy(m.item);
    w.end_object();
}
inline void write_time(json::writer& w, std::string_view key, const quantity& q) {
    if (q) w.key(key).copy(q.written);
}
inline void write_kernel(json::writer& w, const kernel_entry& k) {
    w.begin_object();
    w.key("loop_ir").copy(k.loop_ir);
    w.key("name").string(k.name).key("formed").boolean(k.formed);
    if (!k.key.empty()) w.key("key").string(k.key);
    if (k.target()) w.key("traced").integer(k.traced);
    if (!k.origins.empty()) {
        w.key("origins").begin_array();
        for (const json::value& o : k.origins) w.copy(o);
        w.end_array();
    }
    if (!k.bindings.empty()) write_map(w, "bindings", k.bindings);
    w.end_object();
}
inline void write_decision(json::writer& w, const decision& d, std::span<const kernel_entry> kernels) {
    w.begin_object().key("parent").string(kernels[d.parent].ref());
    write_map(w, "arm", d.arm);
    w.key("children").begin_array();
    for (kernel_index child : d.children) w.string(kernels[child].ref());
    w.end_array().end_object();
}
inline void write_row(json::writer& w, const row& r, std::span<const kernel_entry> kernels) {
    w.begin_object().key("name").string(r.name).key("kernel").string(kernels[r.kernel].ref());
    if (!r.bindings.empty()) write_map(w, "bindings", r.bindings);
    if (!r.pins.empty()) write_map(w, "pins", r.pins);
    if (r.has_knobs) write_map(w, "knobs", r.knobs);
    if (r.measurements) {
        const measurement& m = *r.measurements;
        w.key("measurements").begin_object();
        write_time(w, "emmy_us", m.emmy_us);
        write_time(w, "reference_us", m.reference_us);
        if (m.reference_backend) w.key("reference_backend").string(*m.reference_backend);
        if (m.tried) w.key("tried").integer(*m.tried);
        w.end_object();
    }
    if (!r.latency.empty()) {
        w.key("latency").begin_object();
        for (const latency& block : r.latency) {
            w.key(block.card).begin_object();
            write_time(w, "emmy_us", block.emmy_us);
            write_time(w, "tcompile_us", block.tcompile_us);
            write_time(w, "eager_us", block.eager_us);
            w.end_object();
        }
        w.end_object();
    }
    if (r.note) w.key("note").string(*r.note);
    if (r.producer) w.key("producer").string(*r.producer);
    w.end_object();
}

/// The outer layout: a header item a line, a table entry a line.
class page {
public:
    template <class Write>
    void item(std::string_view key, Write&& write) {
        open(key);
        json::writer w(out_, json::writer::layout::spaced);
        write(w);
    }
    template <class Range, class Write>
    void table(std::string_view key, const Range& entries, Write&& write) {
        if (entries.empty()) return;
        open(key);
        const char* before = "[\n  ";
        for (const auto& entry : entries) {
            out_ += before;
            before = ",\n  ";
            json::writer w(out_);
            write(w, entry);
        }
        out_ += "\n ]";
    }
    std::string close() && {
        out_ += "}\n";
        return std::move(out_);
    }

private:
    void open(std::string_view key) {
        out_ += out_.empty() ? "{" : ",\n ";
        json::append_quoted(out_, key);
        out_ += ": ";
    }
    std::string out_;
};

}  // namespace detail

EMMY_DECL std::string document::text() const {
    detail::page page;
    auto text = [&](std::string_view key, const std::optional<std::string_view>& value) {
        if (value) page.item(key, [&](json::writer& w) { w.string(*value); });
    };
    text("gpu_name", head_.gpu_name);
    page.item("compute_cap", [&](json::writer& w) { w.begin_array().integer(head_.compute_major).integer(head_.compute_minor).end_array(); });
    text("model", head_.model);
    text("model_quant_digest", head_.model_quant_digest);
    text("note", head_.note);
    if (head_.format != 0) page.item("format", [&](json::writer& w) { w.integer(head_.format); });
    text("producer", head_.producer);
    page.table("programs", programs_, [](json::writer& w, const json::value& v) { w.copy(v); });
    page.table("kernels", kernels_, [](json::writer& w, const kernel_entry& k) { detail::write_kernel(w, k); });
    page.table("routing", routing_, [&](json::writer& w, const decision& d) { detail::write_decision(w, d, kernels_); });
    page.table("rows", rows_, [&](json::writer& w, const golden::row& r) { detail::write_row(w, r, kernels_); });
    return std::move(page).close();
}

}  // namespace emmy::golden
