#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/digest.hpp>
#include <emmy/core/result.hpp>
#include <emmy/knob/pin.hpp>
#include <emmy/store/records.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emmy::fork {
struct kernel_set;
}
namespace emmy::loop {
struct kernel;
}

/// Kernel-set forks as the pick sees them: what may be decided about a kernel before it has a schedule.
namespace emmy::evidence {

class option_space;

/// What a source of forks keeps of a piece beyond its body (the term as it was minted, what may still be decided of it).
struct minted_state {
    virtual ~minted_state() = default;
};

/// A kernel on its way: a target of a program, or what an arm left.
struct subject {
    std::string name;                               ///< C name, for messages
    digest128 identity;
    store::binding_list bindings = {};              ///< sizes of this compile, of at least this kernel's symbols
    std::shared_ptr<const loop::kernel> body = {};  ///< null where nothing but the identity is known
    std::shared_ptr<const minted_state> minted = {};  ///< the fork source's own
    std::string node_id = {};                       ///< of its graph node, for pins; may be empty
};

enum class structural_family : std::uint8_t { place, layout, reduce };  // in the order in which they are decided
constexpr std::string_view structural_names[] = {"PLACE", "LAYOUT", "REDUCE"};
constexpr std::string_view name(structural_family f) { return structural_names[static_cast<std::size_t>(f)]; }

/// Where a kernel can be decided about: a seam (PLACE), a constant (LAYOUT), the head (REDUCE).
struct place_of_choice {
    std::string key;                        ///< "PLACE@map.1/inner", the representative's
    std::vector<std::string> aliases = {};  ///< other keys of the same decision
};

/// One open kernel-set fork: its arms, the first of which leaves the kernel as it is and spells no knob.
struct kernel_set_fork {
    structural_family family = structural_family::place;
    std::vector<place_of_choice> places = {};     ///< what the keys of arms and of measured routes may name
    std::vector<store::knob_list> arms = {};      ///< alias-free, in the order offered; arms[0] is empty
};

/// What an arm leaves: subjects in fragment order, and the set that a plan is made of (null where only identities are known).
struct realised {
    std::vector<subject> pieces;
    std::shared_ptr<const fork::kernel_set> set = {};
};

/// What a compiler can do with a kernel on one target. Implementations keep no state between two compiles that changes an answer.
class fork_source {
public:
    virtual ~fork_source() = default;
    /// The kernel-set forks still open, in order PLACE, LAYOUT, REDUCE; those with one arm are left out. `recorded`: arms that stored
    /// routes name for this kernel: offered too where they can be taken (several seams together). Errors: a broken body.
    virtual result<std::vector<kernel_set_fork>> structural(const subject& whole, std::span<const store::knob_list> recorded) = 0;
    /// What the arm leaves. `expected`: kernels that a stored decision says it left: read the arm so that it leaves these, in any order, or
    /// refuse. Errors (input, user): the arm cannot be taken here.
    virtual result<realised> realise(const subject& whole, const store::knob_list& arm, std::span<const digest128> expected = {}) = 0;
    /// The schedule fork of a kernel that stays one, narrowed by pins and without `blocked` rows (refused by the device before).
    /// Errors (device_limit): no lowering on this target; (user): the pins. Null: every row of the kernel is blocked.
    virtual result<std::unique_ptr<option_space>> schedules(const subject& leaf, const knob::pin_list& pins, std::span<const store::knob_list> blocked) = 0;
};

/// The arm that a measured row or a route of the kernel spells at a fork: its place in `fork.arms`, or nothing (it speaks of what is not
/// offered). PLACE: the arm of exactly the marked seams that are offered, else the single arms' union, else the first arm with one of
/// them (bare: the first cut); no seam marked: the whole kernel. REDUCE: equal CTA count and finalize; none: unsplit. LAYOUT: equal keys.
EMMY_DECL std::optional<std::size_t> spelled_arm(const kernel_set_fork& fork, const store::knob_list& row);

/// Arms that pins leave, in order. A pin that names nothing offered here narrows nothing. `bare`: pins without an address count too (they
/// are used up by the first kernel that they take apart).
EMMY_DECL std::vector<std::size_t> pinned_arms(const kernel_set_fork& fork, const subject& whole, const knob::pin_list& pins, bool bare = true);

/// Which family an arm belongs to.
EMMY_DECL structural_family family_of(const store::knob_list& arm);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/structure.ipp>
#endif
