#pragma once
#include <emmy/evidence/explain.hpp>

#include <emmy/core/json.hpp>
#include <emmy/evidence/report.hpp>

#include <map>

namespace emmy::evidence {
namespace detail {

/// A fork of a written report, as far as it is compared.
struct written_fork {
    std::string who;       // "k_a schedule [n=512]", "… (2)" where a report says it again
    std::string identity, tier, chosen, row;
    std::string shown;     // for people
};

inline result<std::string> knobs_of(const json::value* row, const json::path& where, bool whole) {
    if (!row || row->is(json::kind::null)) return std::string();
    EMMY_TRY(members, json::read_object(*row, where));
    store::knob_list list;
    for (const json::member& m : members) {
        EMMY_TRY(text, json::read_string(m.item, where / m.key));
        list.emplace_back(m.key, text);
    }
    return list.empty() && whole ? std::string("whole") : knobs_text(list);
}

inline result<std::vector<written_fork>> forks_of(const json::value& root) {
    const json::path top;
    const json::value* schema = root.find("schema");
    if (!schema || schema->text() != "emmy.explain/1") return refuse(fault_kind::input, "found no report of emmy-compile --explain --format json, expected \"schema\":\"emmy.explain/1\"", "schema");
    std::vector<written_fork> out;
    std::map<std::string, int> met;
    const json::path kernels_at = top / "kernels";
    const json::value none{};
    const json::value* kernels = root.find("kernels");
    EMMY_TRY(list, json::read_array(kernels ? *kernels : none, kernels_at));
    for (std::size_t i = 0; i < list.size(); ++i) {
        const json::path kernel_at = kernels_at / i, forks_at = kernel_at / "forks";
        const json::value* forks = list[i].find("forks");
        EMMY_TRY(each, json::read_array(forks ? *forks : none, forks_at));
        for (std::size_t f = 0; f < each.size(); ++f) {
            const json::path at = forks_at / f;
            const auto text = [&](std::string_view key) -> result<std::string> {
                const json::value* v = each[f].find(key);
                EMMY_TRY(read, json::read_string(v ? *v : none, at / key));
                return std::string(read);
            };
            written_fork w;
            EMMY_TRY(kernel, text("kernel"));
            EMMY_TRY(fork, text("fork"));
            EMMY_TRY(identity, text("identity"));
            EMMY_TRY(tier, text("tier"));
            const bool structural = fork != "schedule";
            EMMY_TRY(chosen, knobs_of(each[f].find("knobs"), at / "knobs", structural));
            w.who = kernel + " " + fork;
            if (const json::value* sizes = each[f].find("bindings"); sizes && sizes->size() > 0) {
                std::string said;
                for (const json::member& m : sizes->members()) said += (said.empty() ? "" : ", ") + std::string(m.key) + "=" + std::string(m.item.text());
                w.who += " [" + said + "]";
            }
            if (const int again = ++met[w.who]; again > 1) w.who += " (" + std::to_string(again) + ")";
            w.identity = std::move(identity), w.tier = std::move(tier), w.chosen = std::move(chosen);
            w.shown = w.tier;
            if (const json::value* by = each[f].find("by"); by && by->is(json::kind::object)) {
                EMMY_TRY(row, knobs_of(by->find("knobs"), at / "by", false));
                w.row = row;
                const json::value* source = by->find("source");
                const json::value* us = by->find("us");
                w.shown += " (" + std::string(us ? us->text() : "") + " us, " + std::string(source ? source->text() : "") + ")";
            } else if (const json::value* pieces = each[f].find("by_pieces"); pieces && pieces->is(json::kind::object)) {
                EMMY_TRY(arm, knobs_of(pieces->find("arm"), at / "by_pieces", true));
                w.row = arm;
                const json::value* us = pieces->find("us");
                w.shown += " (" + std::string(us ? us->text() : "") + " us)";
            }
            w.shown += " " + w.chosen;
            out.push_back(std::move(w));
        }
    }
    return out;
}
}  // namespace detail

EMMY_DECL result<std::vector<std::string>> differences(const json::value& before, const json::value& now) {
    EMMY_TRY(then, detail::forks_of(before));
    EMMY_TRY(today, detail::forks_of(now));
    std::map<std::string, const detail::written_fork*> known;
    for (const detail::written_fork& f : then) known[f.who] = &f;
    std::vector<std::string> out;
    for (const detail::written_fork& f : today) {
        const auto at = known.find(f.who);
        if (at == known.end()) {
            out.push_back(f.who + ": is new, answered by " + f.shown);
            continue;
        }
        const detail::written_fork& was = *at->second;
        known.erase(at);
        if (was.tier == f.tier && was.chosen == f.chosen && was.row == f.row) continue;
        std::string line = f.who + ": was " + was.shown + ", is " + f.shown;
        if (was.identity != f.identity) line += " (another kernel by identity)";
        out.push_back(std::move(line));
    }
    for (const detail::written_fork& f : then)
        if (known.contains(f.who)) out.push_back(f.who + ": is gone, was " + f.shown);
    return out;
}

}  // namespace emmy::evidence
