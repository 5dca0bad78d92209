#pragma once
#include <emmy/evidence/report.hpp>

#include <emmy/evidence/impl/report_text.hpp>
#include <emmy/knob/families.hpp>
#include <emmy/knob/route.hpp>

namespace emmy::evidence {

EMMY_DECL std::string knobs_text(const store::knob_list& row) {
    std::string out;
    for (const auto& [name, value] : row) {
        const knob::family_info* family = knob::find_family(knob::split_key(name).family);
        if (family && family->has_off && family->off == std::string_view(value)) continue;
        ((out += out.empty() ? "" : " ") += name) += '=';
        out += value;
    }
    return out.empty() ? "(all off)" : out;
}

EMMY_DECL std::string line(const record& r) {
    std::string out = r.kernel + " " + r.fork + ": " + std::string(name(r.decided));
    if (r.by) {
        out += " " + detail::us_text(r.by->us) + " (" + r.by->source;
        if (!r.by->bindings.empty() && r.by->bindings != r.bindings)
            for (const auto& [symbol, size] : r.by->bindings) out += ", " + symbol + "=" + std::to_string(size);
        out += ")";
    }
    if (!r.prior.empty()) out += " " + r.prior + " " + detail::us_text(r.predicted_us) + " predicted";
    if (r.by_arm) {
        out += " " + detail::us_text(r.by_arm->us) + " (";
        if (r.by_arm->parts.size() != 1)
            for (std::size_t i = 0; i < r.by_arm->parts.size(); ++i) out += (i ? " + " : "") + detail::us_text(r.by_arm->parts[i].us);
        else out += "one kernel";
        out += ")";
    }
    out += " " + (r.chosen.empty() && r.fork != "schedule" ? std::string("whole") : knobs_text(r.chosen));
    if (r.runner_up || r.runner_up_arm) {
        char margin[32];
        std::snprintf(margin, sizeof margin, "%+.1f%%", r.margin * 100);
        out += ", next " + detail::us_text(r.runner_up ? r.runner_up->us : r.runner_up_arm->us) + " (" + margin + ")";
    }
    return out;
}

EMMY_DECL void write_json(json::writer& out, const record& r, std::string_view id) {
    out.begin_object();
    if (!id.empty()) out.key("id").string(id);
    out.key("kernel").string(r.kernel);
    out.key("identity").string(to_hex(r.identity));
    out.key("fork").string(r.fork);
    out.key("bindings");
    detail::write_bindings(out, r.bindings);
    out.key("tier").string(name(r.decided));
    out.key("knobs");
    detail::write_row(out, r.chosen);
    out.key("by");
    detail::write_evidence(out, r.by);
    out.key("runner_up");
    detail::write_evidence(out, r.runner_up);
    if (r.by_arm || r.runner_up_arm) {
        out.key("by_pieces");
        detail::write_arm(out, r.by_arm);
        out.key("runner_up_pieces");
        detail::write_arm(out, r.runner_up_arm);
    }
    if (!r.prior.empty()) out.key("prior").begin_object().key("stamp").string(r.prior).key("predicted_us").real(r.predicted_us).end_object();
    out.key("margin").real(r.margin);
    out.key("rows_seen").integer(r.rows_seen);
    out.key("rows_tried").integer(r.rows_tried);
    if (r.options) out.key("options").integer(static_cast<std::int64_t>(*r.options));
    out.key("notes").begin_array();
    for (const std::string& note : r.notes) out.string(note);
    out.end_array();
    out.end_object();
}

}  // namespace emmy::evidence
