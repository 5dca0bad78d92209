#pragma once
#include <emmy/evidence/stored_forks.hpp>

#include <emmy/evidence/price.hpp>
#include <emmy/knob/agree.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/loop/wire.hpp>

#include <algorithm>

namespace emmy::evidence {

EMMY_DECL result<std::vector<store::knob_list>> stored_arms(const store::read_transaction& txn, const digest128& kernel) {
    EMMY_TRY(routes, store::routes_of(txn, kernel));
    std::vector<store::knob_list> out;
    for (const store::route& r : routes) {
        EMMY_TRY(arm, store::read_row(txn, r.arm));
        out.push_back(std::move(arm));
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return store::canonical_row_key(a) < store::canonical_row_key(b); });
    return out;
}

EMMY_DECL result<std::vector<subject>> stored_pieces(const store::read_transaction& txn, const subject& whole, std::span<const digest128> pieces, bool bodies) {
    std::vector<subject> out;
    for (const digest128& id : pieces) {
        subject s;
        if (bodies) {
            EMMY_TRY(record, store::read_kernel(txn, id));
            if (auto body = loop::parse_kernel(record.body)) s.body = std::make_shared<const loop::kernel>(std::move(*body));
        } else {
            EMMY_TRY(known, store::has_kernel(txn, id));
            if (!known) return refuse(fault_kind::store, "found a route to a kernel that is not stored, expected its body", to_hex(id), txn.path());
        }
        s.name = whole.name + "." + std::to_string(out.size() + 1);  // stored names are labels of whoever wrote them first
        s.identity = id, s.bindings = whole.bindings;
        out.push_back(std::move(s));
    }
    return out;
}

EMMY_DECL result<void> fit_sizes(const snapshot* evidence, subject& what) {
    if (what.body) {
        store::binding_list own;
        for (const name_id symbol : loop::symbols(*what.body)) {
            const std::string name(what.body->body.text(symbol));
            const auto asked = std::find_if(what.bindings.begin(), what.bindings.end(), [&](const auto& b) { return b.first == name; });
            own.emplace_back(name, asked != what.bindings.end() ? asked->second : loop::hint_of(*what.body, symbol));
        }
        what.bindings = std::move(own);
        return {};
    }
    if (!evidence || what.bindings.empty()) return {};
    EMMY_TRY(binds, evidence->sizes_of(what.identity));
    std::optional<store::binding_list> best;
    for (const std::uint64_t bind : binds) {
        EMMY_TRY(stored, store::read_bindings(evidence->transaction(), bind));
        if (!detail::restricted(stored, what.bindings)) continue;
        if (!best || stored.size() > best->size()) best = std::move(stored);
    }
    if (best) what.bindings = std::move(*best);
    return {};
}

EMMY_DECL std::optional<store::knob_list> stored_options::option_for(const store::knob_list& measured) const {
    if (std::find(blocked_.begin(), blocked_.end(), measured) != blocked_.end()) return {};
    for (const auto& [key, value] : pins_)
        if (!knob::realises(measured, key, value)) return {};
    return measured;
}
EMMY_DECL result<store::knob_list> stored_options::first() const { return refuse(fault_kind::device_limit, "found no schedules: this target's are not enumerated, expected a measured row"); }

EMMY_DECL store::knob_list schedule_pins_of(const knob::pin_list& pins, const subject& what) {
    store::knob_list out;
    pins.schedule_for(what.name, what.node_id).each([&](std::string_view key, std::string_view value, auto...) { out.emplace_back(key, value); });
    return out;
}

EMMY_DECL result<std::vector<kernel_set_fork>> stored_forks::structural(const subject&, std::span<const store::knob_list> recorded) {
    std::vector<kernel_set_fork> out;
    for (const structural_family family : {structural_family::place, structural_family::layout, structural_family::reduce}) {
        kernel_set_fork fork;
        fork.family = family;
        fork.arms.emplace_back();
        for (const store::knob_list& arm : recorded) {
            if (family_of(arm) != family) continue;
            fork.arms.push_back(arm);
            for (const auto& k : arm)
                if (std::none_of(fork.places.begin(), fork.places.end(), [&](const auto& p) { return p.key == k.first; })) fork.places.push_back({k.first, {}});
        }
        if (fork.arms.size() > 1) out.push_back(std::move(fork));
    }
    return out;
}

EMMY_DECL result<realised> stored_forks::realise(const subject& whole, const store::knob_list& arm, std::span<const digest128>) {
    EMMY_TRY(id, store::find_row(evidence_->transaction(), arm));
    EMMY_TRY(routes, store::routes_of(evidence_->transaction(), whole.identity));
    for (const store::route& r : routes)
        if (id && r.arm == *id) {
            EMMY_TRY(pieces, stored_pieces(evidence_->transaction(), whole, r.children));
            return realised{std::move(pieces), {}};
        }
    return refuse(fault_kind::user, "found no stored route of this arm", whole.name);
}

EMMY_DECL result<std::unique_ptr<option_space>> stored_forks::schedules(const subject& leaf, const knob::pin_list& pins, std::span<const store::knob_list> blocked) {
    return std::unique_ptr<option_space>(std::make_unique<stored_options>(schedule_pins_of(pins, leaf), blocked));
}

}  // namespace emmy::evidence
