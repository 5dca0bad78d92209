#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/evidence/index.hpp>
#include <emmy/evidence/report.hpp>

#include <optional>
#include <span>
#include <string>

/// The pick of one schedule fork.
namespace emmy::loop {
struct kernel;
}

namespace emmy::evidence {

class cpu_options;

/// The options of a fork, after pins narrowed them. `fork/` implements it over its spaces; `listed_options` over a list.
class option_space {
public:
    virtual ~option_space() = default;
    /// The complete legal option that a measured row vouches for (agreement over decided knobs), or nothing when it is not offered.
    virtual std::optional<store::knob_list> option_for(const store::knob_list& measured) const = 0;
    /// The first option in the fork's own order. Errors (user): the pins leave none.
    virtual result<store::knob_list> first() const = 0;
    /// Exactly one option is left.
    virtual bool single() const = 0;
    /// Pins took part in narrowing it.
    virtual bool pinned() const { return false; }
    virtual std::optional<std::uint64_t> size() const { return {}; }
    /// These options where they are rows of the CPU device: what a model of that device reads.
    virtual const cpu_options* as_cpu() const { return nullptr; }
};

/// Options by enumeration.
class listed_options : public option_space {
public:
    explicit listed_options(std::span<const store::knob_list> options, bool pinned = false) : options_(options), pinned_(pinned) {}
    EMMY_DECL std::optional<store::knob_list> option_for(const store::knob_list& measured) const override;
    EMMY_DECL result<store::knob_list> first() const override;
    bool single() const override { return options_.size() == 1; }
    bool pinned() const override { return pinned_; }
    std::optional<std::uint64_t> size() const override { return options_.size(); }

private:
    std::span<const store::knob_list> options_;
    bool pinned_;
};

enum class strictness : std::uint8_t {
    off,
    measured,  ///< --strict-evidence: a fork with more than one option must be decided by a row or a pin
    own_only   ///< … by a row of this producer or a pin
};

struct schedule_fork {
    std::string kernel;             ///< C name, for messages
    digest128 identity;
    store::binding_list bindings = {};  ///< sizes of this compile
    std::string fork = "schedule";
    const option_space* options = nullptr;  ///< must be set; outlives the pick
    const loop::kernel* body = nullptr;     ///< where it is at hand; what a model of a device without options of its own reads
};

/// What a model says of one option: a time. Lower is better.
struct predicted {
    store::knob_list row;           ///< complete, every family of the kernel
    double us = 0;
};

/// Answers forks that no row decides. Implementations: emmy/prior. Same answers on every machine for the same numbers: equal times are
/// decided by the canonical row, never by the order of enumeration.
class prior_hook {
public:
    virtual ~prior_hook() = default;
    /// Kind and version, "analytic/1": shown with every answer.
    virtual std::string stamp() const = 0;
    /// The option of a schedule fork with the least predicted time, or nothing: these options are not judged.
    virtual std::optional<predicted> best(const schedule_fork& fork) const = 0;
    /// Structural forks: an arm costs the sum of this over the kernels it leaves. The best predicted row of one kernel at these sizes,
    /// or a bound below it; nothing: not judged, and neither is any arm that leaves it.
    virtual std::optional<double> kernel_us(const loop::kernel& k, const store::binding_list& sizes) const = 0;
};

/// Pins, then measured rows of exactly these sizes (own producer's, then others'), then the nearest size, then the prior, then the
/// first option. `evidence` may be null: nothing is measured. Errors (user): strict and not decided by evidence (names kernel and
/// fork); no option left by pins. (store): unreadable; (internal): no option space.
EMMY_DECL result<record> pick_schedule(const snapshot* evidence, const schedule_fork& fork, strictness strict = strictness::off, const prior_hook* prior = nullptr);

/// Why a strict compile does not accept this decision; empty: it does. Never about a fork without a choice.
EMMY_DECL std::string strict_refusal(const record& r, strictness strict);

/// Is a row measured at `there` usable at `here`: same symbols, each |log2 ratio| <= 1, both decode (<= 16) or both not. Gives the
/// distance (sum of |log2|), or nothing.
EMMY_DECL std::optional<double> size_distance(const store::binding_list& here, const store::binding_list& there);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/pick.ipp>
#endif
