#pragma once
#include <emmy/loop/impl/interpret_model.ipp>

/// What the planner makes and the machine executes.
namespace emmy::loop::interp {

using reg = std::uint32_t;

enum class code : std::uint8_t { value, seed, accumulate, nest, table_store, table_load, write, carry, capture };

struct step {
    interp::code code = code::value;
    value_kind kind = value_kind::integer;  ///< code::value
    loop::op op = loop::op::none;
    binary_op bop = binary_op::add;
    dtype type = dtype::none, from = dtype::none;
    bool is_integer = false, atomic = false;
    reg dst = none, a = none, b = none, c = none;
    std::uint8_t sd = 0, sa = 0, sb = 0, sc = 0;  ///< 1: one value per lane, 0: one for all
    std::uint32_t aux = 0, buffer = none, dimension = 0;
    std::int64_t imm = 0, extent = 0;
    double real = 0;
    stmt_id stmt = none;
    std::uint64_t varies = ~0ull;  ///< root steps: with which fixed axes
};

struct block {
    std::vector<step> steps;
    bool lanes = false;       ///< straight line: steps run over many iterations at once
    std::uint64_t weight = 0; ///< values that one iteration computes
};

struct nest {
    std::uint32_t block = 0;
    reg axis = none;
    std::int64_t count = 1;
    reg limit = none;                               ///< runs 0 … limit
    reg start = none, step = none, end = none;      ///< strided
    reg condition = none;                           ///< branch
    bool negated = false, in_order = false;
    std::vector<std::uint32_t> states;              ///< carried eagerly by this loop
};

struct plan {
    static constexpr std::size_t lane_count = 128;
    std::vector<block> blocks;  ///< blocks[0] is the root
    std::vector<nest> nests;
    std::vector<std::uint64_t> tables;                     ///< sizes
    std::vector<std::pair<reg, std::int64_t>> integers;    ///< registers that never change
    std::vector<std::pair<reg, double>> reals;
    std::vector<std::pair<loop_id, reg>> parameters;       ///< axes of fixed loops, given from outside, with the depth's bit
    std::vector<std::vector<reg>> outer;                   ///< per lazily read state: axes of the loops from the outermost to the carrying one
    std::size_t slots = 0;
};

}  // namespace emmy::loop::interp
