#pragma once
#include <emmy/core/dtype.hpp>
#include <emmy/core/expr.hpp>
#include <emmy/core/text_pool.hpp>
#include <emmy/loop/op.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The flat body: every algorithm of the Loop IR (wire, validation, print, digest, interpret, lift) is written once over it.
namespace emmy::loop {

using stmt_id = std::uint32_t;

/// A run of elements in body::stmt_lists, expr_lists or name_lists.
struct run {
    std::uint32_t first = 0, count = 0;
    constexpr bool operator==(const run&) const = default;
};

enum class stmt_kind : std::uint8_t { loop, load, assign, accum, select, write, let, pre, carry, cond, init, strided_loop, zero_prologue };

/// `window` of an axis: this axis is one share of a stream cut by a cross-CTA split (or the axis that merges the shares).
struct window {
    name_id parent = no_name;   ///< name of the parent axis
    dim parent_extent{};
    expr_id base = no_expr, bound = no_expr;
    bool partition = false;
    bool parent_has_window = false;  ///< legal, never stored; refused by the reader until a file holds one
};

struct axis {
    name_id name = no_name;
    dim extent{};
    std::uint32_t window = 0xffffffffu;  ///< place in body::windows; none when all ones
    constexpr bool has_window() const { return window != 0xffffffffu; }
};

/// One statement. Which fields a kind uses:
///   loop          axis, body, unroll, seed
///   strided_loop  axis, body, unroll, seed, value = start, step, end (or no_expr)
///   load          name (first of `names` when several), names, buffer, index, type, carried
///   assign        name, op, args, type
///   accum         name, op, args[0] = value, type, axes (names), base
///   select        name, args = branch values, index = branch predicates (same count)
///   write         buffer, index, args = values, type = value_dtype, atomic, swizzle
///   let           name, value, type
///   pre           name, buffer = carrier (the carry's name), index
///   carry         name, args[0] = value, index, seed_number or buffer = seed buffer, type
///   cond          value, body, else_body
///   init          name, seed_number = identity, type
///   zero_prologue buffer = dst, seed_number = words
struct stmt {
    stmt_kind kind = stmt_kind::assign;
    loop::op op = op::none;
    dtype type = dtype::none;
    bool unroll : 1 = false, seed : 1 = true, atomic : 1 = false, seed_is_buffer : 1 = false, seed_is_integer : 1 = false;
    name_id name = no_name;
    name_id buffer = no_name;
    name_id base = no_name;        ///< accum: the rescaled left operand
    name_id swizzle = no_name;     ///< write: text other than the default NONE
    name_id carried = no_name;     ///< load
    run names{};                   ///< name_lists: names of a vector load (empty for one name)
    run args{};                    ///< name_lists
    run axes{};                    ///< name_lists
    run index{};                   ///< expr_lists
    run body{}, else_body{};         ///< stmt_lists
    loop::axis axis{};
    expr_id value = no_expr, step = no_expr, end = no_expr;
    double seed_number = 0;
};

namespace detail {
template <class T>
constexpr run append(std::vector<T>& to, std::span<const T> list) {
    const run out{static_cast<std::uint32_t>(to.size()), static_cast<std::uint32_t>(list.size())};
    for (const T& item : list) to.push_back(item);
    return out;
}
}  // namespace detail

struct body {
    text_pool names;
    expr_pool exprs;
    std::vector<stmt> stmts;
    std::vector<window> windows;
    std::vector<stmt_id> stmt_lists;
    std::vector<expr_id> expr_lists;
    std::vector<name_id> name_lists;
    run top;  ///< stmt_lists: the outermost statements in order

    constexpr std::span<const stmt_id> statements(run r) const { return {stmt_lists.data() + r.first, r.count}; }
    constexpr std::span<const expr_id> expressions(run r) const { return {expr_lists.data() + r.first, r.count}; }
    constexpr std::span<const name_id> name_list(run r) const { return {name_lists.data() + r.first, r.count}; }
    constexpr std::string_view text(name_id id) const { return names.text(id); }

    constexpr stmt_id add(const stmt& s) {
        stmts.push_back(s);
        return static_cast<stmt_id>(stmts.size() - 1);
    }
    constexpr run add_statements(std::span<const stmt_id> list) { return detail::append(stmt_lists, list); }
    constexpr run add_expressions(std::span<const expr_id> list) { return detail::append(expr_lists, list); }
    constexpr run add_names(std::span<const name_id> list) { return detail::append(name_lists, list); }
};

/// An external buffer: row-major, `shape` in elements (a packed type counts stored bytes on its last axis).
struct buffer {
    name_id name = no_name;  ///< in the kernel body's names
    dtype type = dtype::none;
    std::vector<dim> shape{};  ///< expression dims live in the body's exprs
};

/// One kernel: its body and the buffers it reads and writes, in declared order. A declared input may be unread, a declared
/// output unwritten (a carried state's port).
struct kernel {
    std::string name;  ///< C name; a label, never part of identity
    std::string node_id;  ///< of the loop node; empty where it is the first output's name (every stored kernel)
    std::vector<std::uint32_t> node_order;  ///< places in `inputs` in the order of their nodes on the wire; empty = as declared
    std::vector<buffer> inputs, outputs;
    loop::body body;
};

}  // namespace emmy::loop
