#pragma once
#include <emmy/prior/machine.hpp>

#include <emmy/core/json.hpp>

#include <algorithm>

namespace emmy::prior {

EMMY_DECL cpu_machine make_cpu_machine(const fork::cpu_target& target, int team, const cpu_rates& rates) {
    cpu_machine out;
    out.target = target;
    out.team = std::max(team, 1);
    out.l1 = {0.75 * static_cast<double>(target.l1_bytes), 2.0 * target.vector_bytes * 0.7};
    out.l2 = {0.75 * static_cast<double>(target.l2_bytes), std::min(48.0, 0.75 * target.vector_bytes)};
    // The last cache is shared, and a neighbour fills it too.
    out.last = {0.5 * static_cast<double>(target.last_cache_bytes), 10};
    out.memory = {0, 4};
    if (!rates.known()) return out;
    const double members = rates.team;
    const double clock = rates.flops_f32 / members / (4.0 * target.lanes()) * 1e-6;
    out.cycles_per_us = std::clamp(clock, 1200.0, 6000.0);
    for (const cpu_rates::level& l : rates.bandwidth) {
        const double per_cycle = l.bytes_per_second * 1e-6 / members / out.cycles_per_us, each = static_cast<double>(l.footprint) / members;
        cpu_machine::level& at = each <= out.l1.bytes ? out.l1 : each <= out.l2.bytes ? out.l2 : static_cast<double>(l.footprint) <= out.last.bytes ? out.last : out.memory;
        at.per_cycle = std::clamp(per_cycle, 0.25 * at.per_cycle, 4 * at.per_cycle);
    }
    out.l2.per_cycle = std::min(out.l2.per_cycle, out.l1.per_cycle);
    out.last.per_cycle = std::min(out.last.per_cycle, out.l2.per_cycle);
    out.memory.per_cycle = std::min(out.memory.per_cycle, out.last.per_cycle);
    out.measured = true;
    return out;
}

EMMY_DECL std::string rates_text(const cpu_rates& rates) {
    std::string out;
    json::writer w(out);
    w.begin_object().key("team").integer(rates.team).key("flops_f32").real(rates.flops_f32).key("bandwidth").begin_array();
    for (const cpu_rates::level& l : rates.bandwidth) w.begin_array().integer(static_cast<std::int64_t>(l.footprint)).real(l.bytes_per_second).end_array();
    w.end_array().end_object();
    return out;
}

EMMY_DECL result<cpu_rates> parse_rates(std::string_view text) {
    EMMY_TRY(document, json::document::parse(text));
    const json::path where;
    json::fields f(document.root(), where);
    EMMY_TRY(team, f.need("team"));
    EMMY_TRY(flops, f.need("flops_f32"));
    EMMY_TRY(levels, f.need("bandwidth"));
    EMMY_CHECK_OK(f.done());
    cpu_rates out;
    EMMY_TRY(members, json::read_integer(*team, f.at("team")));
    if (members < 1 || members > 4096) return refuse(json::problem(f.at("team"), "found " + std::to_string(members) + " members, expected 1 to 4096"));
    out.team = static_cast<int>(members);
    EMMY_TRY(rate, json::read_real(*flops, f.at("flops_f32")));
    out.flops_f32 = rate;
    const json::path list = f.at("bandwidth");
    EMMY_TRY(items, json::read_array(*levels, list));
    for (std::size_t i = 0; i < items.size(); ++i) {
        const json::path at = list / i;
        EMMY_TRY(pair, json::read_array(items[i], at));
        if (pair.size() != 2) return refuse(json::problem(at, "found " + std::to_string(pair.size()) + " numbers, expected bytes and bytes a second"));
        EMMY_TRY(bytes, json::read_integer(pair[0], at / 0));
        EMMY_TRY(per_second, json::read_real(pair[1], at / 1));
        if (bytes < 0 || !(per_second >= 0)) return refuse(json::problem(at, "found a negative number, expected bytes and bytes a second"));
        out.bandwidth.push_back({static_cast<std::uint64_t>(bytes), per_second});
    }
    return out;
}

EMMY_DECL std::string rates_fact(std::string_view card, int team) { return "ceilings " + std::string(card) + " team=" + std::to_string(team); }

}  // namespace emmy::prior
