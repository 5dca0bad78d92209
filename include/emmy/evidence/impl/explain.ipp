#pragma once
#include <emmy/evidence/explain.hpp>

#include <emmy/evidence/impl/report_text.hpp>

namespace emmy::evidence {
namespace detail {

/// A time for people: two decimals at most, no zeros at their end.
inline std::string short_us(double us) {
    char text[64];
    std::snprintf(text, sizeof text, "%.2f", us);
    std::string out = text;
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
    return out;
}
inline std::string sizes_text(const store::binding_list& sizes) {
    std::string out;
    for (const auto& [symbol, size] : sizes) out += (out.empty() ? "" : ", ") + symbol + "=" + std::to_string(size);
    return out;
}
inline std::string choice_text(const record& r) { return r.chosen.empty() && r.fork != "schedule" ? "whole" : knobs_text(r.chosen); }

inline void explain_way(std::string& out, const char* what, const std::optional<row_evidence>& row, const std::optional<arm_evidence>& arm) {
    if (row) {
        out += std::string("    ") + what + "  " + short_us(row->us) + " us  " + knobs_text(row->row) + "  (" + row->source;
        if (!row->bindings.empty()) out += ", " + sizes_text(row->bindings);
        out += ")\n";
    }
    if (arm) {
        out += std::string("    ") + what + "  " + short_us(arm->us) + " us  " + (arm->arm.empty() ? "whole" : knobs_text(arm->arm)) + "  = ";
        for (std::size_t i = 0; i < arm->parts.size(); ++i) out += (i ? " + " : "") + short_us(arm->parts[i].us);
        out += arm->stored ? "\n" : "  (its pieces are measured, no route is stored)\n";
    }
}
inline void indent(std::string& out, std::string_view text, std::size_t blanks) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        out.append(blanks, ' ').append(text.substr(0, end)) += '\n';
        if (end == text.npos) return;
        text.remove_prefix(end + 1);
    }
}
}  // namespace detail

EMMY_DECL std::string explain_record(const record& r) {
    std::string out = "    identity  " + to_hex(r.identity);
    if (!r.bindings.empty()) out += "  " + detail::sizes_text(r.bindings);
    out += "\n    decided   " + std::string(name(r.decided)) + ": " + std::to_string(r.rows_seen) + " rows of this kernel in scope, " + std::to_string(r.rows_tried) + " tried";
    if (r.options) out += ", " + std::to_string(*r.options) + " options";
    out += r.fork == "schedule" ? "\n    row       " : "\n    arm       ";
    out += detail::choice_text(r) + "\n";
    if (!r.prior.empty()) out += "    predicted " + detail::short_us(r.predicted_us) + " us  by " + r.prior + "\n";
    detail::explain_way(out, "measured", r.by, r.by_arm);
    detail::explain_way(out, "next    ", r.runner_up, r.runner_up_arm);
    for (const std::string& n : r.notes) out += "    note      " + n + "\n";
    return out;
}

EMMY_DECL std::string explain_table(const explained& e) {
    const resolution& r = *e.decided;
    std::string out;
    if (r.kernels.size() > 1) {
        out += (e.program.empty() ? "" : e.program + ": ") + std::to_string(r.leaves.size()) + " kernels run, " + std::to_string(r.decisions().size()) + " forks";
        for (const bool own : {true, false})
            if (const auto us = r.expected_us(own)) out += ", " + detail::short_us(*us) + " us by " + (own ? "own" : "other producers'") + " rows";
        out += " (" + e.target + ", " + e.lane + ")\n";
    }
    std::vector<std::size_t> depth(r.kernels.size(), 0);
    for (std::size_t i = 0; i < r.kernels.size(); ++i) {
        const resolved_kernel& k = r.kernels[i];
        if (k.parent != resolved_kernel::none) depth[i] = depth[k.parent] + 1;
        for (const record& f : k.forks) detail::indent(out, line(f) + "\n" + explain_record(f), 2 * depth[i]);
        if (k.schedule) detail::indent(out, line(*k.schedule) + "\n" + explain_record(*k.schedule), 2 * depth[i]);
        if (!k.refused.empty()) detail::indent(out, k.what.name + ": " + k.refused, 2 * depth[i]);
    }
    for (const std::string& n : r.notes) out += "note: " + n + "\n";
    return out;
}

EMMY_DECL void explain_json(json::writer& out, const explained& e) {
    const resolution& r = *e.decided;
    out.begin_object().key("schema").string("emmy.explain/1").key("target").string(e.target).key("lane").string(e.lane).key("producer").string(e.producer);
    out.key("program").string(e.program).key("attempts").integer(r.attempts).key("expected_us").begin_object();
    for (const bool own : {true, false}) {
        const auto us = r.expected_us(own);
        out.key(own ? "own" : "other");
        us ? out.real(*us) : out.null();
    }
    out.end_object().key("kernels").begin_array();
    for (std::size_t i = 0; i < r.kernels.size(); ++i) {
        const resolved_kernel& k = r.kernels[i];
        out.begin_object().key("id").integer(static_cast<std::int64_t>(i)).key("parent");
        k.parent == resolved_kernel::none ? out.null() : out.integer(k.parent);
        out.key("name").string(k.what.name).key("identity").string(to_hex(k.what.identity)).key("bindings");
        detail::write_bindings(out, k.what.bindings);
        out.key("runs").boolean(k.children.empty()).key("children").begin_array();
        for (const std::uint32_t c : k.children) out.integer(c);
        out.end_array();
        if (k.from_store) out.key("from_store").boolean(true);
        if (!k.refused.empty()) out.key("refused").string(k.refused);
        out.key("forks").begin_array();
        std::size_t place = 0;
        const auto fork = [&](const record& f) { write_json(out, f, std::to_string(i) + "." + std::to_string(place++)); };
        for (const record& f : k.forks) fork(f);
        if (k.schedule) fork(*k.schedule);
        out.end_array().end_object();
    }
    const auto list = [&](const char* key, const std::vector<std::string>& lines, const std::vector<std::string>& more = {}) {
        out.key(key).begin_array();
        for (const std::string& l : lines) out.string(l);
        for (const std::string& l : more) out.string(l);
        out.end_array();
    };
    out.end_array();
    list("unmeasured", r.unmeasured);
    list("notes", r.notes, e.notes);
    out.end_object();
}
EMMY_DECL std::string explain_json(const explained& e) {
    std::string out;
    json::writer w(out);
    explain_json(w, e);
    return out + "\n";
}

}  // namespace emmy::evidence
