#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/store/records.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emmy::json {
struct member;
}

/// The compile setting that a time is true of.
namespace emmy::evidence {

/// -O3, precise arithmetic, warm cache unless told otherwise.
struct regime {
    int opt = 3;
    bool fast_math = false;
    bool cold = false;
    std::string flags;        ///< further compiler flags, blanks normalised, no -O<digit>
    store::knob_list words;   ///< other pins that are not at their default, (NAME, value), sorted: FAST_EXP, TEAM, …

    bool operator==(const regime&) const = default;
    /// The setting products are deployed with; rows of another one are recorded under it, with a warning.
    bool deployable() const { return opt == 3; }
};

/// What a command line or environment asks for.
struct regime_request {
    bool fast_math = false;        ///< --fast-math, EMMY_FAST_MATH=1
    int opt = -1;                  ///< --opt N; -1: not given
    std::string compiler_flags = {};  ///< --nvcc-flags, EMMY_NVCC_FLAGS; a first [-Xcicc] -O<digit> in them sets opt
    bool cold = false;             ///< --cold
    store::knob_list pins = {};       ///< regime pins: FAST_MATH, COLD_CACHE, FAST_EXP, F16_MMA_F32_ACC, FP8_MMA, TEAM
};
/// Errors (user): an -O level outside 0 … 3, two different ones, a pin whose value is none.
EMMY_DECL result<regime> make_regime(const regime_request& asked);
/// Is this pin part of the setting (and so of the context), not of a schedule?
EMMY_DECL bool is_regime_pin(std::string_view name);

/// The setting a golden's row was taken under: what its pins say, -O3, nothing from the live command. Errors (input): a pin of the wrong type.
EMMY_DECL result<regime> regime_of_pins(std::span<const json::member> pins);
/// And back: the pins that a row recorded under this setting states, FAST_MATH always, as (name, JSON value text).
EMMY_DECL store::knob_list pins_of(const regime& r);

/// Key of the store: backend ("cpu" for names "cpu: …", else "cuda"), canonical card, sm, opt, cold, flags.
EMMY_DECL store::context make_context(std::string_view card, int compute_major, int compute_minor, const regime& r);
/// "standard", "fast-math", with " cold", " -O1", further words: for messages.
EMMY_DECL std::string lane_text(const store::context& c);
EMMY_DECL std::string lane_text(const regime& r);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/regime.ipp>
#endif
