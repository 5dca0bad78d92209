#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/core/text_pool.hpp>

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Index and predicate expressions: the one text language that traced programs and loop bodies share.
namespace emmy {

using expr_id = std::uint32_t;
constexpr expr_id no_expr = 0xffffffffu;

enum class expr_kind : std::uint8_t {
    integer,  ///< `integer`
    real,     ///< `real`
    boolean,  ///< `true` / `false`: not the integers 1 / 0
    name,     ///< `name`
    builtin,  ///< `name`: thread_idx.x … warp_size
    binary,   ///< `op`, a, b
    ternary,  ///< a ? b : c
    call,     ///< `name`(args)
    cast      ///< (`name`) a
};

enum class binary_op : std::uint8_t { logical_or, logical_and, equal, not_equal, less, greater, less_equal, greater_equal, bit_xor, bit_and, bit_or,
                                      shift_left, shift_right, add, subtract, multiply, divide, floor_divide, remainder };
struct binary_facts {
    std::string_view text;
    int level;         ///< 1 loosest … 6 tightest; left associative
    bool commutative;
};
constexpr binary_facts binary_table[] = {{"||", 1, true}, {"&&", 2, true}, {"==", 3, true}, {"!=", 3, true}, {"<", 4, false}, {">", 4, false}, {"<=", 4, false},
    {">=", 4, false}, {"^", 4, true}, {"&", 4, true}, {"|", 4, true}, {"<<", 4, false}, {">>", 4, false}, {"+", 5, true}, {"-", 5, false}, {"*", 6, true},
    {"/", 6, false}, {"//", 6, false}, {"%", 6, false}};
constexpr const binary_facts& facts(binary_op op) { return binary_table[static_cast<std::size_t>(op)]; }

struct expr {
    expr_kind kind = expr_kind::integer;
    binary_op op = binary_op::add;
    std::uint16_t arg_count = 0;  ///< call
    name_id name = no_name;
    expr_id a = no_expr, b = no_expr, c = no_expr;  ///< call: `a` is the first argument's place in expr_pool::args
    std::int64_t integer = 0;                       ///< integer, boolean
    std::uint64_t real_bits = 0;                    ///< real: bits of the double (structural equality, NaN included)

    constexpr double real() const { return std::bit_cast<double>(real_bits); }
    constexpr bool operator==(const expr&) const = default;
};

/// Hash-consed: equal expressions have equal ids; children have smaller ids than their parents.
class expr_pool {
public:
    constexpr expr_pool() : slots_(32, no_expr) {}

    constexpr expr_id add(const expr& e) {
        if ((nodes_.size() + 1) * 2 > slots_.size()) grow();
        std::size_t slot = hash(e) & (slots_.size() - 1);
        for (; slots_[slot] != no_expr; slot = (slot + 1) & (slots_.size() - 1))
            if (equal(nodes_[slots_[slot]], e)) return slots_[slot];
        nodes_.push_back(e);
        return slots_[slot] = static_cast<expr_id>(nodes_.size() - 1);
    }
    constexpr const expr& operator[](expr_id id) const { return nodes_[id]; }
    constexpr std::size_t size() const { return nodes_.size(); }
    constexpr std::span<const expr_id> args(const expr& call) const { return {args_.data() + call.a, call.arg_count}; }

    constexpr expr_id integer(std::int64_t value) { return add({.kind = expr_kind::integer, .integer = value}); }
    constexpr expr_id real(double value) { return add({.kind = expr_kind::real, .real_bits = std::bit_cast<std::uint64_t>(value)}); }
    constexpr expr_id boolean(bool value) { return add({.kind = expr_kind::boolean, .integer = value}); }
    constexpr expr_id name(name_id id) { return add({.kind = expr_kind::name, .name = id}); }
    constexpr expr_id builtin(name_id id) { return add({.kind = expr_kind::builtin, .name = id}); }
    constexpr expr_id binary(binary_op op, expr_id a, expr_id b) { return add({.kind = expr_kind::binary, .op = op, .a = a, .b = b}); }
    constexpr expr_id ternary(expr_id condition, expr_id then, expr_id otherwise) { return add({.kind = expr_kind::ternary, .a = condition, .b = then, .c = otherwise}); }
    constexpr expr_id cast(name_id type, expr_id a) { return add({.kind = expr_kind::cast, .name = type, .a = a}); }
    constexpr expr_id call(name_id function, std::span<const expr_id> args) {
        const std::size_t first = args_.size(), before = nodes_.size();
        for (expr_id a : args) args_.push_back(a);
        const expr_id id = add({.kind = expr_kind::call, .arg_count = static_cast<std::uint16_t>(args.size()), .name = function, .a = static_cast<expr_id>(first)});
        if (nodes_.size() == before) args_.resize(first);  // an equal call keeps its own list
        return id;
    }

private:
    constexpr bool equal(const expr& a, const expr& b) const {
        if (a.kind != expr_kind::call) return a == b;
        if (b.kind != expr_kind::call || a.name != b.name || a.arg_count != b.arg_count) return false;
        for (std::size_t i = 0; i < a.arg_count; ++i)
            if (args_[a.a + i] != args_[b.a + i]) return false;
        return true;
    }
    constexpr std::size_t hash(const expr& e) const {
        std::uint64_t h = 0x9e3779b97f4a7c15u;
        auto mix = [&](std::uint64_t v) { h = (h ^ v) * 0xff51afd7ed558ccdu, h ^= h >> 32; };
        mix(static_cast<std::uint64_t>(e.kind) << 40 | static_cast<std::uint64_t>(e.op) << 32 | e.name);
        if (e.kind == expr_kind::call) {
            for (expr_id a : args(e)) mix(a);
            return static_cast<std::size_t>(h);
        }
        mix(static_cast<std::uint64_t>(e.a) << 32 | e.b);
        mix(static_cast<std::uint64_t>(e.c) << 32 | e.arg_count);
        mix(static_cast<std::uint64_t>(e.integer));
        mix(e.real_bits);
        return static_cast<std::size_t>(h);
    }
    constexpr void grow() {
        std::vector<expr_id> bigger(slots_.size() * 2, no_expr);
        for (expr_id id = 0; id < nodes_.size(); ++id) {
            std::size_t slot = hash(nodes_[id]) & (bigger.size() - 1);
            while (bigger[slot] != no_expr) slot = (slot + 1) & (bigger.size() - 1);
            bigger[slot] = id;
        }
        slots_ = std::move(bigger);
    }
    std::vector<expr> nodes_;
    std::vector<expr_id> args_;
    std::vector<expr_id> slots_;
};

/// thread_idx.x … grid_dim.z, warp_size: no variable has these names.
constexpr bool is_builtin_name(std::string_view name) {
    if (name == "warp_size") return true;
    if (name.size() < 3 || name[name.size() - 2] != '.' || name.back() < 'x' || name.back() > 'z') return false;
    const std::string_view group = name.substr(0, name.size() - 2);
    return group == "thread_idx" || group == "block_idx" || group == "block_dim" || group == "grid_dim";
}
/// Letter or underscore, then word characters; no literal and no builtin.
constexpr bool is_identifier(std::string_view name) {
    if (name.empty() || name == "true" || name == "false" || name == "warp_size" || (name[0] >= '0' && name[0] <= '9')) return false;
    for (char c : name)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
    return true;
}

/// Parses one expression. Errors (input): what was found and expected, with the offset in the text. Nesting is bounded (256).
EMMY_DECL result<expr_id> parse_expr(std::string_view text, expr_pool& pool, text_pool& names);
/// Appends the canonical spelling: one blank around binary operators, ? and :, parentheses only where precedence needs them.
EMMY_DECL void spell_expr(std::string& out, expr_id id, const expr_pool& pool, const text_pool& names);

/// Size of a buffer dimension or loop: a number, a symbol (with an advisory hint), or an expression over symbols.
struct dim {
    enum class form : std::uint8_t { number, symbol, expression };
    form kind = form::number;
    std::int64_t number = 0;                ///< the size; for the other forms the hint
    bool has_hint = false;                  ///< symbol and expression: whether the hint was written
    name_id symbol = no_name;               ///< symbol
    expr_id value = no_expr;                ///< expression

    constexpr bool operator==(const dim&) const = default;
};
/// The size a symbol has when nothing says otherwise.
constexpr std::int64_t default_hint = 512;

}  // namespace emmy

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/expr.ipp>
#endif
