#pragma once
#include <emmy/evidence/report.hpp>

#include <emmy/core/json.hpp>
#include <emmy/store/tables.hpp>

#include <cstdio>

// Bodies only: how times, rows and arms are written.
namespace emmy::evidence {
namespace detail {
inline std::string us_text(double us) {
    char text[40];
    std::snprintf(text, sizeof text, us >= 100 ? "%.1f us" : us >= 10 ? "%.2f us" : "%.3f us", us);
    return text;
}
inline void write_row(json::writer& out, const store::knob_list& row) {
    out.begin_object();
    for (const auto& [name, value] : row) out.key(name).string(value);
    out.end_object();
}
inline void write_bindings(json::writer& out, const store::binding_list& bindings) {
    out.begin_object();
    for (const auto& [symbol, size] : bindings) out.key(symbol).integer(size);
    out.end_object();
}
inline void write_evidence(json::writer& out, const std::optional<row_evidence>& e) {
    if (!e) {
        out.null();
        return;
    }
    out.begin_object();
    out.key("source").string(e->source);
    out.key("producer").string(e->producer);
    out.key("row").string(store::row_digest(e->row).substr(0, 12));
    out.key("us").real(e->us);
    out.key("captured").boolean(e->captured);
    out.key("bindings");
    write_bindings(out, e->bindings);
    out.key("knobs");
    write_row(out, e->row);
    out.end_object();
}
inline void write_arm(json::writer& out, const std::optional<arm_evidence>& e) {
    if (!e) {
        out.null();
        return;
    }
    out.begin_object();
    out.key("stored").boolean(e->stored);
    out.key("us").real(e->us);
    out.key("arm");
    write_row(out, e->arm);
    out.key("pieces").begin_array();
    for (const arm_evidence::part& p : e->parts) {
        out.begin_object();
        out.key("identity").string(to_hex(p.identity));
        out.key("us").real(p.us);
        out.end_object();
    }
    out.end_array();
    out.end_object();
}
}  // namespace detail
}  // namespace emmy::evidence
