#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/loop/body.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// The fold tree of one kernel: what a schedule is chosen for. Every value is the statement that defines it; a tree refers to the
/// statements of its body and copies none.
namespace emmy::fold {

using term_id = std::uint32_t;
using value_id = loop::stmt_id;            ///< the statement that defines a value (an Accum for a fold's state)
constexpr std::uint32_t none = 0xffffffffu;

/// What a term is; the words of site addresses.
enum class term_kind : std::uint8_t {
    map,     ///< no reduced axis: pure values, nested terms and stores over zero or more free axes
    reduce,  ///< a fold over one axis
    inner,   ///< a fold whose states are sums of products of two operands
    twist,   ///< a fold whose states are rescaled when its pivot (a maximum) moves: softmax
    scan     ///< a fold observed while it runs
};
constexpr std::string_view kind_word(term_kind k) {
    constexpr std::string_view words[] = {"map", "reduce", "inner", "twist", "scan"};
    return words[static_cast<std::size_t>(k)];
}

/// Set of axes by place in tree::axes.
using axis_set = std::uint64_t;

/// One operand of a term: a pure global read (slab), a term's state, or a value from further out.
struct operand {
    enum class form : std::uint8_t { slab, state, value } from = form::slab;
    value_id value = none;                 ///< the Load, the Accum, or the defining statement
    term_id term = none;                   ///< state: whose
};

/// A step of a term in order: a statement of the body or a nested term.
struct step {
    bool is_term = false;
    std::uint32_t id = 0;                  ///< stmt_id or term_id
};

struct term {
    term_kind kind = term_kind::map;
    std::vector<std::uint32_t> axes;       ///< places in tree::axes: the swept axes of a map, the one reduced axis of a fold
    std::vector<step> steps;               ///< evaluated once per coordinate of `axes`; Accums included
    std::vector<operand> operands;         ///< in order of first use; an inner term has its two factors first
    std::vector<value_id> states;          ///< folds: their Accums. A twist has its pivot first
    bool is_fold() const { return kind != term_kind::map; }
};

/// One axis of the kernel. Sibling loops of one name are one axis: the same coordinate.
struct axis {
    name_id name = no_name;
    dim extent;
};

struct tree {
    std::vector<axis> axes;
    std::vector<std::uint32_t> grid;       ///< peeled free axes, outermost first
    std::vector<term> terms;               ///< children before their parents
    term_id root = 0;                      ///< a map without axes of its own: what one cell of the grid computes

    // Per statement of the body (index = stmt_id):
    std::vector<std::vector<value_id>> args;     ///< who defines each argument; Select: its branch values
    std::vector<axis_set> depends;               ///< axes that the value of a statement varies with
    std::vector<dtype> types;                    ///< of the value, after inference
    std::vector<std::vector<std::pair<name_id, value_id>>> gathers;  ///< values named inside index or predicate expressions
    std::vector<term_id> state_of;               ///< Accum: its term

    /// Address of a term, "map.1/twist": departures name the operand taken, slabs count.
    EMMY_DECL std::string route(term_id id) const;
};

/// Builds the tree. Errors (device_limit): "no fold tree for <what>": states carried between steps, conditions, strided loops,
/// rescaled accumulators, several updates of one accumulator, prefix outputs, more than 64 axes.
/// The body must be valid (loop/validate.hpp).
EMMY_DECL result<tree> lift(const loop::kernel& k);

/// Both values are the same function once axis `a` of the first is read as axis `b`: same operators, types, buffers and indices.
EMMY_DECL bool equal_under(const loop::kernel& k, const tree& t, value_id first, value_id second, name_id a, name_id b);

/// For people: one line a term.
EMMY_DECL std::string print(const loop::kernel& k, const tree& t);

}  // namespace emmy::fold

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/lift.ipp>
#include <emmy/fold/impl/print.ipp>
#endif
