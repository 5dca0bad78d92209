#pragma once
#include <emmy/evidence/row_findings.hpp>

#include <emmy/fork/gpu/schedules.hpp>

#include <map>
#include <optional>

namespace emmy::evidence {

EMMY_DECL std::vector<golden::finding> row_findings(const golden::document& file) {
    std::vector<golden::finding> out;
    const capability cc{static_cast<std::uint16_t>(file.head().compute_major), static_cast<std::uint16_t>(file.head().compute_minor)};
    if (cc.is_cpu()) return out;
    const knob::target card = knob::target_of(cc);
    struct known {
        std::optional<fork::gpu_schedules> rows;
        std::string why;  ///< a kernel that cannot be lifted
    };
    std::map<golden::kernel_index, known> kernels;
    const auto schedules = [&](golden::kernel_index k) -> const known& {
        const auto at = kernels.find(k);
        if (at != kernels.end()) return at->second;
        known one;
        if (auto body = file.body(k)) {
            if (auto form = fold::form_of(std::move(*body))) {
                form->formed = file.kernels()[k].formed;
                if (auto made = fork::gpu_schedules::make(*form, card)) one.rows = std::move(*made);
                else one.why = made.error().message();
            } else {
                one.why = form.error().message();
            }
        } else {
            one.why = body.error().message();
        }
        return kernels.emplace(k, std::move(one)).first->second;
    };
    for (golden::row_index i = 0; i < file.rows().size(); ++i) {
        const golden::row& r = file.rows()[i];
        if (r.knobs.empty() || file.producer(r) != golden::peer_producer) continue;  // rows of our own generators have spaces of their own
        const std::string ref(file.kernels()[r.kernel].ref());
        const auto say = [&](const std::string& what) { out.push_back({row_rule.name, "rows[" + std::to_string(i) + "]", ref + ": " + what}); };
        const known& of = schedules(r.kernel);
        if (!of.rows) {
            say("the row cannot be judged: " + of.why);
            continue;
        }
        knob::schedule_row row;
        std::optional<knob::refusal> bad;
        for (const json::member& m : r.knobs)
            if (!bad) bad = row.put(m.key, m.item.text());
        if (bad) say(bad->sentence().str());
        else if (const knob::finding why = of.rows->check(row)) say(why.sentence().str());
    }
    return out;
}

}  // namespace emmy::evidence
