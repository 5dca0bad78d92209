#pragma once
#include <emmy/core/dtype.hpp>
#include <emmy/core/expr.hpp>
#include <emmy/core/text_pool.hpp>
#include <emmy/loop/op.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Kernel IR: a kernel with every choice made. Lowering builds it from (fold tree, row, target); printers only spell it.
namespace emmy::kernel {

using value_id = std::uint32_t;
using node_id = std::uint32_t;
using memory_id = std::uint32_t;
constexpr std::uint32_t none = 0xffffffffu;

/// A value: `lanes` neighbours of one element type, computed in f32 (floating types) or 64-bit integers (the others).
struct value {
    dtype type = dtype::f32;
    int lanes = 1;
    bool accumulator = false;              ///< assigned more than once
};

enum class space : std::uint8_t { input, output, part_slab, shared_slab };
struct memory {
    space where = space::input;
    dtype type = dtype::f32;
    std::string name;
    std::uint64_t elements = 0;            ///< slabs: this many,
    std::vector<std::uint32_t> symbols = {};  ///< times the sizes of these symbols (places in program::symbols)
};

enum class node_kind : std::uint8_t {
    load,     ///< dst = memory[at …]: one element, `lanes` adjacent ones, or `lanes` ones `stride` apart
    assign,   ///< dst = op(args), rounded to dst's type; op none: the literal `number`; with a condition: condition ? args[0] : args[1]
    accum,    ///< dst = op(dst, args[0]), or dst + args[0] * args[1]; a first one (`first`) declares dst and sets it to args[0] or `number`
    write,    ///< memory[at …] = args[0]
    fetch,    ///< memory[at] will be read soon
    loop,     ///< for var = begin; var < end; var += step
    tile,     ///< names for block coordinates, then the body
    slab,     ///< local memory `memory` lives from here to the end of the body
    team,     ///< for var = this member's share of the items 0 … end-1
    guard,    ///< body where `condition` holds, else `otherwise`
    barrier   ///< all members of the team
};

enum class deal : std::uint8_t { runs, rounds };  ///< one run of neighbouring items a member, or every parts-th item

struct node {
    node_kind kind = node_kind::assign;
    loop::op op = loop::op::none;
    value_id dst = none;
    std::vector<value_id> args;
    double number = 0;
    bool first = false;                    ///< accum
    bool streaming = false;                ///< write: around the caches
    memory_id memory = none;
    expr_id at = no_expr;
    std::int64_t stride = 1;
    int lanes = 1;
    name_id var = no_name;
    expr_id begin = no_expr, end = no_expr, step = no_expr, condition = no_expr;
    int unroll = 0;
    deal how = deal::runs;
    std::vector<std::pair<name_id, expr_id>> bind;  ///< tile
    std::vector<node_id> body, otherwise;
};

struct program {
    std::string entry;
    std::vector<std::string> symbols;
    std::vector<memory> memories;          ///< inputs, outputs (in declared order), then slabs
    std::vector<value> values;             ///< printed v<id>
    std::vector<node> nodes;
    std::vector<node_id> body;
    expr_pool exprs;                       ///< 64-bit integers; names of symbols, loop variables, values
    text_pool names;
    bool uses_barrier = false;
    int counter = 0;                       ///< of fresh names
    std::vector<memory_id> part_slabs;     ///< of f32, in order of use: the next part of a staged kernel uses them again
    std::size_t slabs_in_use = 0;
};

}  // namespace emmy::kernel
