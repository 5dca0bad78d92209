#pragma once
#include <emmy/core/dim_wire.hpp>
#include <emmy/evidence/report.hpp>
#include <emmy/plan/print.hpp>

#include <algorithm>

namespace emmy::plan {

namespace detail {

inline std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.resize(width, ' ');
    return text;
}
inline std::string counted(std::size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

inline std::string names_of(const executable& plan, std::span<const std::uint32_t> places) {
    std::string out;
    for (const std::uint32_t b : places) out += (out.empty() ? "" : ", ") + (b == none ? std::string("-") : plan.buffers()[b].name);
    return out;
}

}  // namespace detail

EMMY_DECL std::string text(std::string_view title, const executable& plan, const binding& at) {
    std::string out(title);
    out += ": " + detail::counted(plan.launches().size(), plan.launches().size() == 1 ? "launch" : "launche") + " of " + detail::counted(plan.kernels().size(), "kernel") + ", " + detail::counted(plan.given().size(), "buffer") +
           " given, workspaces " + std::to_string(at.arena_bytes) + " bytes (no reuse " + std::to_string(at.unshared_bytes) + ", at least " + std::to_string(at.least_bytes) + "), team " + std::to_string(at.team);
    for (std::size_t s = 0; s < plan.symbols().size(); ++s) out += ", " + plan.symbols()[s].name + "=" + std::to_string(at.sizes[s]);
    out += "\n";
    std::vector<std::string> shapes;
    std::size_t type_width = 0, shape_width = 0;
    for (const buffer& b : plan.buffers()) {
        std::string shape = b.name + "[";
        for (std::size_t d = 0; d < b.shape.size(); ++d) shape += (d ? ", " : "") + dim_text(b.shape[d], plan.source().exprs, plan.source().names);
        shapes.push_back(shape + "]");
        shape_width = std::max(shape_width, shapes.back().size()), type_width = std::max(type_width, token(b.type).size());
    }
    for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
        const buffer& b = plan.buffers()[i];
        out += "  " + detail::padded(std::string(name(b.role)), 9) + "  " + detail::padded(std::string(token(b.type)), type_width) + "  " + detail::padded(shapes[i], shape_width) + "  " + std::to_string(at.buffers[i].bytes) + " B";
        if (b.role == role::workspace && b.view_of == none) {
            const lifetime& l = plan.lifetimes()[i];
            out += l.empty() ? ", never used" : " at " + std::to_string(at.buffers[i].offset) + ", launches " + std::to_string(l.first) + "-" + std::to_string(l.last);
        }
        if (b.view_of != none) out += ", a view of " + plan.buffers()[b.view_of].name;
        if (!b.transposed_of.empty()) out += ", " + b.transposed_of + " as it is stored";
        out += "\n";
    }
    std::vector<std::string> calls;
    std::size_t call_width = 0;
    for (std::size_t i = 0; i < plan.launches().size(); ++i) {
        const launch& l = plan.launches()[i];
        const loop::kernel& k = *plan.source().nodes[l.node].kernel;
        const std::span<const std::uint32_t> all(l.buffers);
        calls.push_back("  " + std::to_string(i) + "  " + k.name + ": " + detail::names_of(plan, all.first(k.inputs.size())) + " -> " + detail::names_of(plan, all.subspan(k.inputs.size())) +
                        (l.zeroed.empty() ? "" : ", " + detail::names_of(plan, l.zeroed) + " from zero"));
        call_width = std::max(call_width, std::min<std::size_t>(calls.back().size(), 100));
    }
    for (std::size_t i = 0; i < calls.size(); ++i) out += detail::padded(calls[i], call_width) + "  " + evidence::knobs_text(plan.kernels()[plan.launches()[i].kernel].row) + "\n";
    return out;
}

EMMY_DECL void write_json(json::writer& w, std::string_view title, const executable& plan, const binding& at) {
    w.begin_object().key("schema").string("emmy.plan/1").key("name").string(title).key("symbols").begin_array();
    for (std::size_t s = 0; s < plan.symbols().size(); ++s) w.begin_object().key("name").string(plan.symbols()[s].name).key("hint").integer(plan.symbols()[s].hint).key("size").integer(at.sizes[s]).end_object();
    w.end_array().key("team").integer(at.team).key("buffers").begin_array();
    for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
        const buffer& b = plan.buffers()[i];
        w.begin_object().key("name").string(b.name).key("role").string(name(b.role)).key("type").string(token(b.type)).key("shape").begin_array();
        for (const dim& d : b.shape) write_dim(w, d, plan.source().exprs, plan.source().names);
        w.end_array().key("bytes").integer(static_cast<std::int64_t>(at.buffers[i].bytes));
        if (const lifetime& l = plan.lifetimes()[i]; !l.empty()) w.key("launches").begin_array().integer(l.first).integer(l.last).end_array().key("offset").integer(static_cast<std::int64_t>(at.buffers[i].offset));
        if (b.view_of != none) w.key("view_of").integer(b.view_of);
        if (!b.transposed_of.empty()) w.key("transposed_of").string(b.transposed_of);
        w.end_object();
    }
    w.end_array().key("kernels").begin_array();
    for (const planned_kernel& k : plan.kernels()) {
        w.begin_object().key("name").string(k.name).key("identity").string(to_hex(k.identity)).key("entry").string(k.text.entry).key("knobs").begin_object();
        for (const auto& [key, value] : k.row) w.key(key).string(value);
        w.end_object().end_object();
    }
    w.end_array().key("launches").begin_array();
    for (std::size_t i = 0; i < plan.launches().size(); ++i) {
        const launch& l = plan.launches()[i];
        const loop::kernel& k = *plan.source().nodes[l.node].kernel;
        const auto places = [&](std::span<const std::uint32_t> list) {
            w.begin_array();
            for (const std::uint32_t b : list) b == none ? w.null() : w.integer(b);
            w.end_array();
        };
        const std::span<const std::uint32_t> all(l.buffers);
        w.begin_object().key("name").string(k.name).key("kernel").integer(l.kernel).key("inputs"), places(all.first(k.inputs.size()));
        w.key("outputs"), places(all.subspan(k.inputs.size()));
        w.key("zeroed"), places(l.zeroed);
        w.key("sizes").begin_array();
        for (const long long s : at.launch_sizes[i]) w.integer(s);
        w.end_array().end_object();
    }
    w.end_array().key("arena").begin_object().key("bytes").integer(static_cast<std::int64_t>(at.arena_bytes)).key("at_least").integer(static_cast<std::int64_t>(at.least_bytes));
    w.key("without_reuse").integer(static_cast<std::int64_t>(at.unshared_bytes)).end_object().key("scratch").integer(static_cast<std::int64_t>(at.scratch_bytes)).end_object();
}

}  // namespace emmy::plan
