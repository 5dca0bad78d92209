#pragma once
#include <emmy/core/expr_eval.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/loop/body.hpp>
#include <emmy/loop/interpret.hpp>

#include <limits>
#include <unordered_map>

/// What interpreter::make turns a flat body into: a graph of values, each with the loops it depends on.
namespace emmy::loop::interp {

using value_id = std::uint32_t;
using loop_id = std::uint32_t;
constexpr std::uint32_t none = 0xffffffffu;
constexpr std::uint64_t saturated = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) { return b != 0 && a > saturated / b ? saturated : a * b; }
constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a > saturated - b ? saturated : a + b; }

enum class value_kind : std::uint8_t {
    integer,      ///< imm
    real,         ///< real
    axis,         ///< of loop `aux`
    integer_op,   ///< bop, a, b
    real_op,      ///< bop, a, b: of an expression with real operands, in double
    choose,       ///< a != 0 ? b : c
    to_real,      ///< a, an integer of type `from`
    to_integer,   ///< a, a real, as integer type `type`
    to_bits,      ///< a, a real of type `from`: its bits
    from_bits,    ///< a, bits: the real of type `type`
    wrap,         ///< a, an integer, into the range of `type`
    round,        ///< a, a real, to what `type` holds
    address,      ///< (a or 0) + b * imm with 0 <= b < extent checked; buffer and dimension for the fault
    load,         ///< input `aux` at a
    assign,       ///< op, a, b, c
    running,      ///< accumulator `aux` inside its loop
    final,        ///< accumulator `aux` after its loop
    pre           ///< state `aux` at address a; b = 1 inside the carrying loop, 0 after it
};

struct value {
    value_kind kind = value_kind::integer;
    loop::op op = loop::op::none;
    binary_op bop = binary_op::add;
    dtype type = dtype::i64;   ///< result
    dtype from = dtype::none;  ///< conversions: the argument's type
    bool is_integer = true;    ///< held as int64, else as double
    bool ordered = false;      ///< reads a running accumulator or a state: stays where the body has it
    value_id a = none, b = none, c = none;
    std::uint32_t aux = 0;
    std::uint32_t buffer = none, dimension = 0;  ///< address: input place, outputs + output place, or none for a state
    std::int64_t imm = 0, extent = 0;
    double real = 0;
    std::uint64_t dep = 0;  ///< bit d: varies with the loop at depth d of its scope
    stmt_id stmt = none;

    constexpr bool same(const value& o) const {
        return kind == o.kind && op == o.op && bop == o.bop && type == o.type && from == o.from && a == o.a && b == o.b && c == o.c && aux == o.aux &&
               buffer == o.buffer && dimension == o.dimension && imm == o.imm && extent == o.extent && std::bit_cast<std::uint64_t>(real) == std::bit_cast<std::uint64_t>(o.real);
    }
};

struct item {
    enum class what : std::uint8_t { value, update, write, carry, loop } kind;
    std::uint32_t id;
};

/// A loop, or one branch of a Cond: a loop that runs once when its condition holds.
struct loop_node {
    stmt_id stmt = none;
    loop_id parent = none;
    int depth = 0;
    name_id axis = no_name;
    std::int64_t extent = 1, uncut = 1;   ///< steps to run; before the cut of reduce_steps. Not of a strided loop.
    value_id axis_value = none;
    value_id start = none, step = none, end = none;  ///< strided loop
    value_id condition = none;            ///< branch of a Cond
    bool negated = false, reduces = false, effects = false, running_read = false;
    std::vector<item> items;
    std::vector<std::uint32_t> accumulators, states;

    bool is_branch() const { return condition != none; }
    bool is_strided() const { return start != none; }
};

struct accumulator {
    name_id name = no_name;
    loop_id loop = none;
    stmt_id stmt = none;     ///< its first Accum
    loop::op op = loop::op::add;
    dtype type = dtype::f32;
    bool is_integer = false;
    double seed = 0;
    value_id start = none;   ///< instead of the seed: the value before the loop (seed: false)
    value_id final = none;
    std::uint64_t dep = 0;   ///< of the final value
    bool ordered = false;
};
struct update {
    std::uint32_t accumulator = 0;
    value_id value = none, base = none;
    stmt_id stmt = none;
    loop_id loop = none;     ///< innermost enclosing loop or branch
};

struct write {
    stmt_id stmt = none;
    std::uint32_t output = 0;
    loop_id loop = none;     ///< innermost enclosing
    value_id address = none, value = none;
    std::vector<value_id> index;
    bool atomic = false;
    dtype type = dtype::none;  ///< value_dtype
};

struct state {
    name_id name = no_name;
    stmt_id carry = none;
    loop_id loop = none;                 ///< the carrying loop
    loop_id inner = none;                ///< innermost loop around the Carry
    std::vector<name_id> cell_axes;      ///< per index entry; no_name for 0
    std::vector<loop_id> cells;          ///< the same as loops; none for 0
    std::vector<std::int64_t> shape;
    std::uint32_t seed_input = none;
    double seed = 0;
    dtype type = dtype::f32;
    value_id address = none, value = none;
    std::uint64_t elements() const {
        std::uint64_t n = 1;
        for (std::int64_t e : shape) n = times(n, static_cast<std::uint64_t>(e));
        return n;
    }
};

struct bound_buffer {
    std::string name;
    dtype type = dtype::none;
    std::vector<std::int64_t> shape;
    std::int64_t elements = 0;
};

struct model {
    numeric_mode mode = numeric_mode::typed;
    loop::body body;  ///< for the names in faults
    std::vector<bound_buffer> inputs, outputs;
    std::vector<value> values;
    std::vector<loop_node> loops;
    std::vector<accumulator> accumulators;
    std::vector<update> updates;
    std::vector<write> writes;
    std::vector<state> states;
    std::vector<item> top;
    std::uint64_t run_cost = 0;

    const std::vector<item>& items(loop_id l) const { return l == none ? top : loops[l].items; }
    int depth_below(loop_id l) const { return l == none ? 0 : loops[l].depth + 1; }
    /// Loops from the outermost to l.
    std::vector<loop_id> chain(loop_id l) const {
        std::vector<loop_id> out;
        for (; l != none; l = loops[l].parent) out.push_back(l);
        return {out.rbegin(), out.rend()};
    }
};

/// "Load in3" / "Write y" …: how faults name a statement.
inline std::string statement_text(const body& b, stmt_id id) {
    if (id == none) return "statement";
    const stmt& s = b.stmts[id];
    constexpr std::string_view kinds[] = {"Loop", "Load", "Assign", "Accum", "Select", "Write", "Let", "Pre", "Carry", "Cond", "Init", "StridedLoop", "ZeroPrologue"};
    const std::string_view name = s.kind == stmt_kind::write ? b.text(s.buffer) : s.kind == stmt_kind::loop || s.kind == stmt_kind::strided_loop ? b.text(s.axis.name) : b.text(s.name);
    return std::string(kinds[static_cast<std::size_t>(s.kind)]) + (name.empty() ? "" : " ") + std::string(name);
}

}  // namespace emmy::loop::interp
