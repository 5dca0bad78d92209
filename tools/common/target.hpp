#pragma once
#include <common/options.hpp>

#include <emmy/core/result.hpp>
#include <emmy/golden/scope.hpp>

#include <string>

namespace emmy::tools {

/// What is compiled for. Without a card (a bare sm_NN) nothing measured applies.
struct target {
    golden::card_id card;
    bool host = false;  ///< this machine's processor: the only device of this build
    std::string place;  ///< flag that chose it; empty: nothing was asked for
    std::string text() const { return !card.name.empty() ? card.name : "sm_" + std::to_string(card.compute_major) + std::to_string(card.compute_minor); }
};

/// `wanted` as `place` names it: cpu, this processor's name, a card (name, alias, file slug), a bare sm_NN; empty: this processor.
/// Errors (device): cuda, cuda:N, emulated; (user): no such card.
result<target> find_target(const std::string& wanted, const std::string& place);
/// Nothing but this processor runs or lowers kernels. Errors (device), naming the flag that asked for another.
result<void> need_host(const target& t);

}  // namespace emmy::tools
