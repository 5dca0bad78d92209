#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/evidence/index.hpp>
#include <emmy/evidence/report.hpp>

#include <optional>
#include <span>
#include <string>

/// The pick of one schedule fork.
namespace emmy::evidence {

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

/// Answers forks that no row decides. None is installed yet: the tier is absent.
class prior_hook {
public:
    virtual ~prior_hook() = default;
    virtual std::optional<store::knob_list> choose(const digest128& kernel, const option_space& options) const = 0;
};

struct schedule_fork {
    std::string kernel;             ///< C name, for messages
    digest128 identity;
    store::binding_list bindings = {};  ///< sizes of this compile
    std::string fork = "schedule";
    const option_space* options = nullptr;  ///< must be set; outlives the pick
};

/// Pins, then measured rows of exactly these sizes (own producer's, then others'), then the nearest size, then the prior, then the
/// first option. `evidence` may be null: nothing is measured. Errors (user): strict and not decided by evidence (names kernel and
/// fork); no option left by pins. (store): unreadable; (internal): no option space.
EMMY_DECL result<record> pick_schedule(const snapshot* evidence, const schedule_fork& fork, strictness strict = strictness::off, const prior_hook* prior = nullptr);

/// Is a row measured at `there` usable at `here`: same symbols, each |log2 ratio| <= 1, both decode (<= 16) or both not. Gives the
/// distance (sum of |log2|), or nothing.
EMMY_DECL std::optional<double> size_distance(const store::binding_list& here, const store::binding_list& there);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/pick.ipp>
#endif
