#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/digest.hpp>
#include <emmy/store/records.hpp>

#include <optional>
#include <string>
#include <vector>

namespace emmy::json {
class writer;
}

/// Why a fork was decided the way it was.
namespace emmy::evidence {

/// What decided, best first. `only_option`: there was nothing to decide.
enum class tier : std::uint8_t { only_option, pin, own_row, own_pieces, other_row, other_pieces, nearest_own, nearest_other, prior, first_option };
constexpr std::string_view tier_names[] = {"only option", "pin", "own row", "own rows of the pieces", "other producer's row", "other producer's rows of the pieces", "own row of the nearest size", "other producer's row of the nearest size", "prior", "first option"};
constexpr std::string_view name(tier t) { return tier_names[static_cast<std::size_t>(t)]; }
/// By evidence: strict mode accepts these.
constexpr bool measured(tier t) { return t >= tier::own_row && t <= tier::nearest_other; }

/// A measured row as the report shows it.
struct row_evidence {
    store::knob_list row;
    std::string source, producer;
    store::binding_list bindings;  ///< sizes it was measured at
    double us = 0;
    bool captured = true;
};

/// Measured rows of the kernels that an arm leaves, as the report shows them.
struct arm_evidence {
    struct part {
        digest128 identity;
        double us = 0;
    };
    store::knob_list arm;          ///< as its route spells it
    double us = 0;                 ///< sum of the parts
    std::vector<part> parts = {};  ///< in fragment order
    bool stored = true;            ///< a route of the store; else the arm was taken and its pieces looked up
};

/// One decision of a compile.
struct record {
    std::string kernel;  ///< C name
    digest128 identity;
    std::string fork;    ///< "schedule", "PLACE", "LAYOUT", "REDUCE"
    store::binding_list bindings;
    tier decided = tier::first_option;
    store::knob_list chosen;                ///< of a kernel-set fork: the arm; empty: the kernel stays one
    std::optional<row_evidence> by;         ///< the row that decided
    std::optional<row_evidence> runner_up;  ///< next row of the same tier that this fork offers
    std::optional<arm_evidence> by_arm, runner_up_arm;  ///< instead of a row, at a kernel-set fork
    std::string prior;                      ///< stamp of the model that decided, "analytic/1"; empty without one
    double predicted_us = 0;                ///< what it predicts for `chosen`
    double margin = 0;                      ///< runner-up's time ÷ the row's time - 1; 0 without one
    std::uint32_t rows_seen = 0;            ///< rows of this kernel and context in scope, all sizes
    std::uint32_t rows_tried = 0;           ///< rows asked for at this fork until one was offered
    std::optional<std::uint64_t> options;   ///< size of the space, under --explain only
    std::vector<std::string> notes;         ///< "12 rows in the fast-math lane, none in the standard lane", …
};

/// One line: "k_softmax schedule: own row 12.3 us (measured:host:emmy-cpp/1) WORK=t256 REDUCE=coop, next 14.1 us (+14.6%)".
EMMY_DECL std::string line(const record& r);
/// Object with all fields; floats shortest. `id` first, where there is one.
EMMY_DECL void write_json(json::writer& out, const record& r, std::string_view id = {});
/// "WORK=t256 REDUCE=coop": knobs that are not OFF, in row order; "(all off)" when none.
EMMY_DECL std::string knobs_text(const store::knob_list& row);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/report.ipp>
#endif
