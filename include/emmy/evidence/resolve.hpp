#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/evidence/pick.hpp>
#include <emmy/evidence/structure.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Which kernels a compile runs, and how each: every fork of its targets decided, nested, by one snapshot of the evidence.
namespace emmy::evidence {

/// One kernel met on the way.
struct resolved_kernel {
    static constexpr std::uint32_t none = 0xffffffffu;
    subject what;
    std::uint32_t parent = none;            ///< place in resolution::kernels
    std::vector<record> forks;              ///< kernel-set forks that were asked here, in order; the last may have taken it apart
    std::vector<std::uint32_t> children;    ///< of the arm taken, in fragment order; empty: it runs as one kernel
    std::shared_ptr<const fork::kernel_set> set = {};  ///< what the arm taken left, with the buffers between: a plan's part; null where it runs as one kernel
    bool from_store = false;                ///< children known by identity only: the arm could not be taken on this body, a stored route names what it left
    std::optional<record> schedule;         ///< of a kernel that runs
    std::string refused = {};               ///< why it has no schedule: no lowering on this target
};

struct resolution {
    std::vector<resolved_kernel> kernels;   ///< parents before their children
    std::vector<std::uint32_t> roots;       ///< one per target, same order
    std::vector<std::uint32_t> leaves;      ///< what runs, in launch order
    std::vector<std::string> unmeasured;    ///< forks that strict evidence does not accept, one line each
    std::vector<std::string> notes;         ///< retired cuts, pins that named nothing, …
    std::uint32_t attempts = 1;

    /// Sum of the measured times that decided the kernels that run; nothing where one is not measured at these sizes. `by_own`: own
    /// producer's rows only; else other producers' only: the two never meet in one sum.
    EMMY_DECL std::optional<double> expected_us(bool by_own) const;
    /// Decisions in the order of kernels: kernel-set forks, then the schedule.
    EMMY_DECL std::vector<const record*> decisions() const;
};

/// Tells what a device refuses although the fork offered it.
class lowering_check {
public:
    virtual ~lowering_check() = default;
    /// Empty: it takes this row; else why not, one line.
    virtual std::string refuses(const subject& leaf, const store::knob_list& row) const = 0;
};

struct resolve_options {
    strictness strict = strictness::off;
    const prior_hook* prior = nullptr;          ///< of schedule forks
    const prior_hook* arm_prior = nullptr;      ///< of kernel-set forks: every arm is taken to be judged; null: what no row decides stays whole
    const knob::pin_list* pins = nullptr;       ///< regime pins are the snapshot's business
    const lowering_check* device = nullptr;     ///< refused rows and then the cuts behind them are given up, at most 8 times
    bool every_arm = false;                     ///< arms without a stored route are taken and priced piece by piece even where rows or routes decide
    bool explain = false;                       ///< sizes of the spaces into the records
    bool strict_fails = true;                   ///< false: `unmeasured` is filled and the resolution given all the same
};

/// Decides every fork of `targets`. At a kernel: PLACE, LAYOUT, REDUCE, each by pin; measured rows and priced routes of exactly these sizes
/// (own producer's, then others'); where neither says anything, arms that no route names, taken and priced piece by piece (forming the
/// pieces of every arm of every kernel costs more than the rest of a compile: resolve_options::every_arm asks for it); prior; first arm.
/// What an arm leaves comes next, from the top; a kernel that stays one has its schedule picked. Equal kernels repeat the first decision.
/// `evidence` may be null.
/// Errors (user): strict, and a fork is not decided by evidence (the first one; the rest counted); pins that leave nothing; (device_limit):
/// a kernel that the device refuses in all attempts; (store).
EMMY_DECL result<resolution> resolve(std::span<const subject> targets, const snapshot* evidence, fork_source& forks, const resolve_options& options = {});

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/resolve.ipp>
#endif
