#pragma once
#include <emmy/evidence/card_forks.hpp>

#include <emmy/evidence/gpu_options.hpp>
#include <emmy/evidence/index.hpp>
#include <emmy/evidence/stored_forks.hpp>
#include <emmy/fold/kernel_form.hpp>

#include <algorithm>

namespace emmy::evidence {
namespace detail {

/// Rows of a card, without those that it refused.
class card_options final : public option_space {
public:
    card_options(gpu_options options, std::span<const store::knob_list> blocked) : options_(std::move(options)), blocked_(blocked) {}
    std::optional<store::knob_list> option_for(const store::knob_list& measured) const override {
        auto out = options_.option_for(measured);
        if (out && is_blocked(*out)) out.reset();
        return out;
    }
    result<store::knob_list> first() const override {
        EMMY_TRY(first, options_.first());
        if (!is_blocked(first)) return first;
        for (std::uint64_t i = 1, n = options_.schedules().size(); i < n; ++i)  // only after a device refused a row
            if (store::knob_list row = options_.schedules().pairs(options_.schedules().unrank(i)); !is_blocked(row)) return row;
        return refuse(fault_kind::device_limit, "found every row refused by the device, expected one that it takes");
    }
    bool single() const override { return options_.single(); }
    bool pinned() const override { return options_.pinned(); }
    // No size(): counting the rows of a contraction means walking them, and a report of a layer asks for every kernel.

private:
    bool is_blocked(const store::knob_list& row) const { return std::find(blocked_.begin(), blocked_.end(), row) != blocked_.end(); }
    gpu_options options_;
    std::span<const store::knob_list> blocked_;
};
}  // namespace detail

EMMY_DECL result<std::unique_ptr<option_space>> card_forks::schedules(const subject& leaf, const knob::pin_list& pins, std::span<const store::knob_list> blocked) {
    const store::knob_list wanted = schedule_pins_of(pins, leaf);
    const auto rows_of = [&](const fold::kernel_form* form) -> std::optional<fork::gpu_schedules> {
        if (!form) return {};
        auto made = fork::gpu_schedules::make(*form, *target_);
        if (!made || !made->first()) return {};  // not size(): counting walks them all
        return std::move(*made);
    };
    std::optional<fork::gpu_schedules> rows = target_ ? rows_of(form_of(leaf)) : std::nullopt;
    // Terms hang on orders that equal kernels may have otherwise: the spelling that was measured says more than one that leaves no choice.
    if (target_ && evidence_ && (!rows || rows->single()))
        if (auto stored = stored_pieces(evidence_->transaction(), leaf, std::span(&leaf.identity, 1), true); stored && stored->front().body)
            if (auto form = fold::form_of(*stored->front().body))
                if (auto other = rows_of(&*form)) rows = std::move(other);
    if (rows) {
        EMMY_TRY(options, gpu_options::make(*rows, wanted));
        return std::unique_ptr<option_space>(std::make_unique<detail::card_options>(std::move(options), blocked));
    }
    return std::unique_ptr<option_space>(std::make_unique<stored_options>(wanted, blocked));
}

}  // namespace emmy::evidence
