#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/fold/stages.hpp>
#include <emmy/fold/tree.hpp>
#include <emmy/fork/target.hpp>
#include <emmy/knob/raster.hpp>
#include <emmy/knob/reduce.hpp>
#include <emmy/knob/stage.hpp>
#include <emmy/knob/tile.hpp>
#include <emmy/knob/work.hpp>
#include <emmy/loop/body.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The schedule fork of the CPU device: which rows a kernel has.
namespace emmy::fork {

using knob_pairs = std::vector<std::pair<std::string, std::string>>;  ///< (key, value), canonical key order

/// One schedule row of the CPU device. What each field means: doc/cpu-knobs.md, from cpu_knob_table (fork/cpu_knobs.hpp).
struct cpu_row {
    knob::work work;
    knob::tile tile;
    knob::reduce reduce;                   ///< the same at every fold of the kernel
    knob::stage stage;
    knob::raster raster;
    bool operator==(const cpu_row&) const = default;
};

/// Which lowering a kernel has; decides the families of its rows.
enum class cpu_form : std::uint8_t {
    map,          ///< no fold: WORK, TILE, RASTER
    rows,         ///< folds along adjacent elements: WORK, REDUCE, STAGE, RASTER
    columns,      ///< folds across rows, adjacent outputs: WORK, REDUCE, RASTER
    contraction,  ///< sums of products with an outer and an inner output axis: WORK, TILE, REDUCE, STAGE, RASTER
    cells,        ///< anything else that lifts: one cell at a time: WORK, REDUCE, RASTER
    ordered,      ///< what has no fold tree: statement after statement: WORK, RASTER
    staged        ///< several steps over tables, each of one of the forms above: WORK, TILE, REDUCE, STAGE, RASTER for all steps
};

/// What lowering and legality know about a kernel on a target.
struct cpu_facts {
    cpu_form form = cpu_form::cells;
    bool vectors = false;                  ///< lanes work along the axis that the form asks for
    std::uint32_t lane_axis = fold::none;  ///< map, columns, contraction: the inner grid axis
    // contraction: state += a · b, a over (m, k), b over (n, k)
    fold::term_id product = fold::none;
    fold::value_id a = fold::none, b = fold::none;
    std::uint32_t m_axis = fold::none, k_axis = fold::none;
    bool b_adjacent = false;               ///< b is read along n without gaps
    bool a_along_k = false, b_along_k = false;  ///< read along k without gaps
    // rows: a twist whose exponentials a later sweep computes again
    fold::value_id kept = fold::none, kept_again = fold::none;
    bool sweeps = false;                   ///< rows: a later sweep stores along one axis
    bool has_fold = false;
    bool nested = false;                   ///< a fold inside a fold
    bool deals = false;                    ///< ordered: an outermost free loop is dealt to the team
};

/// A kernel that one nest of code computes: the kernel itself, or one step of it.
struct cpu_part {
    loop::kernel kernel;
    fold::tree tree;
    cpu_facts facts;
};

/// A kernel that runs as several: what fold::stages() made of it.
struct cpu_stages {
    std::vector<fold::table> tables;
    std::vector<cpu_part> parts;           ///< by level
    std::vector<std::uint32_t> levels;     ///< per part; all members of a team finish one before any begins the next
};

/// The schedule rows of one kernel on one target, in fixed order, the default first. Holds its own copy of the kernel. Never changes
/// after make(): any number of threads may use one, or copies of it.
class cpu_schedules {
public:
    /// Validates the body first (loop/validate.hpp): nothing behind this checks it again. Errors (input): what validation refuses, with
    /// the path below the kernel's `loop_ir`; (device_limit): "no CPU lowering for …".
    EMMY_DECL static result<cpu_schedules> make(const loop::kernel& k, const cpu_target& target);

    EMMY_DECL const loop::kernel& kernel() const;
    EMMY_DECL const fold::tree& tree() const;
    EMMY_DECL const cpu_target& target() const;
    EMMY_DECL const cpu_facts& facts() const;
    EMMY_DECL const cpu_stages& stages() const;                   ///< of the staged form
    /// A value that varies along `axis` and that vectors along it hold only after computing it lane by lane.
    EMMY_DECL static bool lane_by_lane(const cpu_part& part, fold::value_id v, std::uint32_t axis, int lanes);
    EMMY_DECL cpu_row part_row(std::size_t part, const cpu_row& row) const;  ///< what a row of the staged form means for one part
    EMMY_DECL const cpu_part& whole() const;                      ///< the three above but the target

    EMMY_DECL std::span<const cpu_row> rows() const;              ///< every legal row; rows()[0] is the safe default
    EMMY_DECL knob_pairs pairs(const cpu_row& row) const;         ///< every family this kernel has, OFF values included
    /// A row from (key, value) texts: missing families are OFF. Errors (user): unknown or repeated key, non-canonical value, illegal row; the fault's
    /// place is the knob, the sentence names rule, value and bound.
    EMMY_DECL result<cpu_row> row(std::span<const std::pair<std::string, std::string>> pairs) const;
    /// Whether a row can be printed for this kernel; the refusal names knob, value and bound.
    EMMY_DECL result<void> check(const cpu_row& row) const;

    struct state;

private:
    std::shared_ptr<const state> state_;
};

}  // namespace emmy::fork

#ifdef EMMY_HEADER_ONLY
#include <emmy/fork/impl/schedule.ipp>
#endif
