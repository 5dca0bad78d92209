#pragma once
#include <emmy-bench/whole.hpp>

#include <common/dump.hpp>
#include <common/table.hpp>

#include <cstdio>

namespace emmy::bench {

inline std::string fixed(double value, int decimals) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

inline std::string bytes_text(std::uint64_t bytes) {
    constexpr const char* units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    double value = static_cast<double>(bytes);
    int unit = 0;
    while (value >= 1024 && unit < 4) value /= 1024, ++unit;
    return fixed(value, unit ? 1 : 0) + units[unit];
}
inline std::string short_real(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

/// Snapshot and work directory, for people.
inline std::string people(const snapshot_report& d) {
    std::string out;
    const auto line = [&](const char* what, const std::string& text) { out += std::string("  ") + what + text + "\n"; };
    if (!d.message.empty()) {
        line("FAILED       ", d.missing.empty() ? d.message : "the snapshot " + d.replayed + " is incomplete");
        for (const std::string& m : d.missing) line("missing      ", m);
        return out;
    }
    const auto& c = d.counts;
    if (!d.replayed.empty())
        line("replayed     ", d.replayed + ": " + std::to_string(c.inputs_loaded) + " inputs and " + std::to_string(c.outputs_loaded) + " outputs loaded, " + std::to_string(c.inputs_generated) + " inputs generated, " +
                                  std::to_string(c.references_computed) + " references computed");
    for (const snapshot::comparison& o : d.outputs)
        line("compared     ", o.name + ": " + std::to_string(o.elements) + " cells, max abs " + short_real(o.max_abs) + ", max rel " + short_real(o.max_rel) + (o.first < 0 ? ", every bit equal" : ", first difference at " + std::to_string(o.first)) +
                                  (o.over ? ", " + std::to_string(o.over) + " over the tolerance, the first at " + std::to_string(o.first_over) : ""));
    if (!d.saved.empty()) line("saved        ", d.saved + ", " + bytes_text(d.saved_bytes) + (d.usable ? "" : " (the run did not pass: without " + std::string(snapshot::manifest_name) + ")"));
    if (!d.runtime.empty()) line("runtime      ", d.runtime + ": " + std::to_string(c.compile_reused) + " compiled kernels used again, " + std::to_string(c.compiled) + " compiled");
    return out;
}

/// For people: the picks, one line a row, the reference, what went wrong.
inline std::string people(const session& s, const bench_result& r, tools::format how) {
    std::string out = r.what.name + "  kernel " + r.what.kernel.name;
    for (const auto& [symbol, size] : r.what.bindings) out += "  " + symbol + "=" + std::to_string(size);
    out += "\n";
    for (const std::string& n : r.notes) out += "  note: " + n + "\n";
    if (!r.refused.empty()) {
        out += "  " + r.refused + "\n";
        if (r.interpreted.empty()) out += "  (--interpret computes some cells without a lowering)\n";
        for (const auto& [cell, value] : r.interpreted) out += "  interpreted " + cell + " = " + fixed(value, 6) + "\n";
        return out;
    }
    if (r.data && !r.data->message.empty()) return out + people(*r.data);
    if (r.first) out += "  first pick   " + evidence::line(*r.first) + "\n";
    tools::table rows("", {{"row"}, {"lane"}, {"team"}, {"us"}, {"+-"}, {"min"}, {"n"}, {"status"}, {"knobs"}});
    for (const bench_row& row : r.rows) {
        const bool timed = row.time.median > 0;
        rows.add({tools::cell::text(row.label), tools::cell::text(row.lane.name()), tools::cell::integer(row.lane.team), timed ? tools::cell::real(row.time.median) : tools::cell(),
            timed && row.status != status::cached ? tools::cell::text(fixed(row.time.spread() * 100, 1) + "%") : tools::cell(), timed ? tools::cell::real(row.time.min) : tools::cell(),
            timed ? tools::cell::integer(row.time.samples) : tools::cell(), tools::cell::text(name(row.status)),
            tools::cell::text(evidence::knobs_text(row.record_knobs.empty() ? row.asked : row.record_knobs))});
    }
    const std::string body = rows.render(how);
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t end = std::min(body.find('\n', at), body.size());
        out += "  " + body.substr(at, end - at) + "\n";
        at = end + 1;
    }
    for (const bench_row& row : r.rows)
        if (!row.reason.empty()) out += "  ! " + row.label + ": " + row.reason + (row.status == status::pin_unmatched ? " NOT benched" : "") + "\n";
    if (r.reference) {
        const yardstick& y = *r.reference;
        out += "  reference    " + y.name + (y.note.empty() ? "" : " (" + y.note + ")") + "  " + fixed(y.time.median, 2) + " us, pick beside it " + fixed(y.ours.median, 2) + " us, ratio " +
               fixed(y.time.median / y.ours.median, 3) + " (> 1: faster than the reference)\n";
    }
    if (!r.confirmation.empty()) out += "  confirmed    " + r.confirmation + "\n";
    if (r.data) out += people(*r.data);
    if (r.second) out += "  second pick  " + evidence::line(*r.second) + "\n";
    out += "  checked by   " + r.checked_by + "; " + s.base.name() + " lane, team " + std::to_string(s.base.team) + (s.asked.record ? "" : ", nothing recorded") + "\n";
    return out;
}

inline std::string people(const program_result& p) {
    std::string out = p.name + ": " + std::to_string(p.kernels.size()) + " kernels\n";
    if (!p.problem.empty()) return out + "  did not run: " + p.problem + "\n";
    if (!p.wrong.empty()) return out + "  wrong answer: " + p.wrong + "\n";
    if (p.time) out += "  whole        " + fixed(p.time->median, 2) + " us +- " + fixed(p.time->spread() * 100, 1) + "%" + (p.sum_us > 0 ? ", its kernels alone " + fixed(p.sum_us, 2) + " us together" : "") + ", workspaces " + bytes_text(p.arena_bytes) + "\n";
    return out + "  checked by   " + p.checked_by + "\n";
}

inline void write_knobs(json::writer& w, const store::knob_list& knobs) {
    w.begin_object();
    for (const auto& [key, value] : knobs) w.key(key).string(value);
    w.end_object();
}

inline void write_row(json::writer& w, const bench_row& r) {
    w.begin_object().key("name").string(r.label).key("lane").string(r.lane.name()).key("status").string(name(r.status));
    w.key("us");
    r.time.median > 0 && r.believed() ? w.real(r.time.median) : w.null();
    if (r.time.median > 0) {
        w.key("min_us").real(r.time.min).key("max_us").real(r.time.max).key("mean_us").real(r.time.mean).key("variance").real(r.time.variance);
        w.key("low_us").real(r.time.low).key("high_us").real(r.time.high).key("samples").integer(r.time.samples).key("cold").boolean(r.lane.regime.cold);
    }
    w.key("team").integer(r.lane.team);
    if (!r.asked.empty()) w.key("pins"), write_knobs(w, r.asked);
    w.key("record_knobs"), write_knobs(w, r.record_knobs);
    if (!r.reason.empty()) w.key(r.status == status::flagged ? "flag" : r.believed() ? "note" : "error").string(r.reason);
    w.end_object();
}

inline void write_snapshot(json::writer& w, const snapshot_report& d) {
    w.key("snapshot").begin_object();
    for (const auto& [key, value] : {std::pair{"replayed", &d.replayed}, {"saved", &d.saved}, {"work_dir", &d.work_dir}, {"runtime", &d.runtime}, {"message", &d.message}})
        value->empty() ? w.key(key).null() : w.key(key).string(*value);
    w.key("usable").boolean(d.usable).key("missing").begin_array();
    for (const std::string& m : d.missing) w.string(m);
    w.end_array();
    const auto& c = d.counts;
    for (const auto& [key, value] : {std::pair{"inputs_generated", c.inputs_generated}, {"references_computed", c.references_computed}, {"inputs_loaded", c.inputs_loaded}, {"outputs_loaded", c.outputs_loaded}, {"compiled", c.compiled}, {"compile_reused", c.compile_reused}})
        w.key(key).integer(static_cast<std::int64_t>(value));
    w.key("outputs").begin_array();
    for (const snapshot::comparison& o : d.outputs) {
        w.begin_object().key("name").string(o.name).key("elements").integer(static_cast<std::int64_t>(o.elements)).key("equal").boolean(o.equal);
        for (const auto& [key, value] : {std::pair{"max_abs", o.max_abs}, {"max_rel", o.max_rel}}) std::isfinite(value) ? w.key(key).real(value) : w.key(key).null();
        w.key("first").integer(o.first).key("over").integer(static_cast<std::int64_t>(o.over)).key("first_over").integer(o.first_over).end_object();
    }
    w.end_array().end_object();
}

inline void write_result(json::writer& w, const bench_result& r) {
    w.key("name").string(r.what.name).key("kernel").string(r.what.kernel.name).key("identity").string(to_hex(r.what.identity)).key("bindings").begin_object();
    for (const auto& [symbol, size] : r.what.bindings) w.key(symbol).integer(size);
    w.end_object();
    if (!r.refused.empty()) {
        w.key("refused").string(r.refused);
        if (!r.interpreted.empty()) {
            w.key("interpreted").begin_object();
            for (const auto& [cell, value] : r.interpreted) w.key(cell).real(value);
            w.end_object();
        }
    }
    if (!r.rows.empty()) {
        w.key("greedy"), write_row(w, r.rows.front());
        w.key("pinned").begin_array();
        for (std::size_t i = 1; i < r.rows.size(); ++i) write_row(w, r.rows[i]);
        w.end_array();
    }
    if (r.reference) {
        const yardstick& y = *r.reference;
        w.key("reference").begin_object().key("backend").string(y.name).key("us").real(y.time.median).key("low_us").real(y.time.low).key("high_us").real(y.time.high);
        w.key("interleaved_us").real(y.ours.median).key("ratio").real(y.time.median / y.ours.median);
        if (!y.note.empty()) w.key("note").string(y.note);
        w.end_object();
    }
    for (const auto& [key, pick] : {std::pair{"first_pick", &r.first}, std::pair{"second_pick", &r.second}})
        if (*pick) w.key(key), evidence::write_json(w, **pick);
    if (!r.checked_by.empty()) w.key("checked_by").string(r.checked_by);
    if (r.data) write_snapshot(w, *r.data);
    if (!r.confirmation.empty()) w.key("confirmation").string(r.confirmation);
    w.key("notes").begin_array();
    for (const std::string& n : r.notes) w.string(n);
    w.end_array();
}

/// For machines, schema emmy.bench/1. One kernel: its fields beside the head; several: under "results".
inline std::string machines(const session& s, const std::vector<bench_result>& results, const std::vector<program_result>& programs) {
    std::string out;
    json::writer w(out);
    w.begin_object().key("schema").string("emmy.bench/1").key("producer").string(producer()).key("card").string(s.host().card);
    w.key("compute_cap").begin_array().integer(0).integer(0).end_array().key("lane").string(s.base.name()).key("team").integer(s.base.team);
    w.key("recorded").boolean(s.asked.record);
    if (results.size() == 1) {
        write_result(w, results.front());
    } else {
        w.key("results").begin_array();
        for (const bench_result& r : results) w.begin_object(), write_result(w, r), w.end_object();
        w.end_array();
    }
    if (!programs.empty()) {
        w.key("programs").begin_array();
        for (const program_result& p : programs) {
            w.begin_object().key("name").string(p.name).key("kernels").begin_array();
            for (const std::string& k : p.kernels) w.string(k);
            w.end_array().key("us");
            p.time ? w.real(p.time->median) : w.null();
            w.key("kernels_us");
            p.sum_us > 0 ? w.real(p.sum_us) : w.null();
            w.key("workspace_bytes").integer(static_cast<std::int64_t>(p.arena_bytes));
            p.finding() ? w.key("error").string(p.problem.empty() ? "wrong answer: " + p.wrong : p.problem) : w.key("checked_by").string(p.checked_by);
            w.end_object();
        }
        w.end_array();
    }
    w.end_object();
    return out + "\n";
}

/// name,kernel,row,lane,status,us,…: one line a row.
inline std::string lines(const std::vector<bench_result>& results) {
    tools::table out("", {{"name"}, {"kernel"}, {"row"}, {"lane"}, {"status"}, {"us"}, {"low_us"}, {"high_us"}, {"samples"}, {"reference"}, {"reference_us"}, {"ratio"}, {"knobs"}});
    for (const bench_result& r : results)
        for (const bench_row& row : r.rows) {
            const bool timed = row.believed(), beside = r.reference && r.reference->row == row.record_knobs;
            out.add({tools::cell::text(r.what.name), tools::cell::text(r.what.kernel.name), tools::cell::text(row.label), tools::cell::text(row.lane.name()), tools::cell::text(name(row.status)),
                timed ? tools::cell::real(row.time.median) : tools::cell(), timed ? tools::cell::real(row.time.low) : tools::cell(), timed ? tools::cell::real(row.time.high) : tools::cell(),
                timed ? tools::cell::integer(row.time.samples) : tools::cell(), beside ? tools::cell::text(r.reference->name) : tools::cell(),
                beside ? tools::cell::real(r.reference->time.median) : tools::cell(), beside ? tools::cell::real(r.reference->time.median / r.reference->ours.median, 3) : tools::cell(),
                tools::cell::text(evidence::knobs_text(row.record_knobs))});
        }
    return out.render(tools::format::csv);
}

/// --dump: what a row was made of, one folder a kernel.
inline result<void> dump(const session& s, const bench_result& r) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const bench_row& row : r.rows)
        if (!row.dump.empty()) texts.emplace_back("row" + std::to_string(texts.size()) + ".cpp", "// " + row.label + ": " + evidence::knobs_text(row.record_knobs) + "\n" + row.dump);
    std::string report;
    json::writer w(report);
    w.begin_object();
    write_result(w, r);
    w.end_object();
    texts.emplace_back("report.json", report + "\n");
    return tools::dump_kernel(s.asked.common.dump, r.what, texts);
}

}  // namespace emmy::bench
