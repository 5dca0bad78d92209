#pragma once
#include <emmy/loop/normal/ranges.hpp>

#include <array>
#include <limits>
#include <utility>

/// Exact simplification of integer expressions under the ranges of their variables. Division is floor division.
namespace emmy::loop::normal {

/// Simplifies bottom-up; the first rule that fires wins, and rules see simplified operands:
///   literals fold (a boolean as 0 or 1; overflow and division by 0 stay)     x + 0, x - 0, x * 1, x / 1 -> x    x - x, x * 0, x % 1 -> 0
///   (x / c) * (c * k) + (x % c) * k + rest -> x * k + rest                   (y / m) / n -> y / (m * n), y >= 0
///   (n * q + r) / n -> q and % n -> r where 0 <= r < n (split)               i % E -> i for an axis below E
///   (c * x) / (c * y) -> x / y, (c * x) % (c * y) -> (x % y) * c, c >= 1     comparisons decided by ranges
///   && || ? : on literals; c ? a : a -> a; (int)literal -> literal
/// Those are the rules that stored bodies were formed with, no more, no less. `thorough` adds, for what only has to be equal and is not stored:
///   k * (x / s % m) + k * m * (x / (s * m)) -> k * (x / s), and with % n on the second -> k * (x / s % (m * n))
///   x % n / m -> x / m % (n / m) and x % n % m -> x % m where m divides n, x >= 0                    a range for c ? a : b
/// Results are remembered per expression: one simplifier serves one set of ranges, which must outlive it and stay as they are.
enum class strength : std::uint8_t { as_stored, thorough };

class simplifier {
public:
    constexpr simplifier(expr_pool& pool, const ranges& known, strength how = strength::as_stored) : pool_(pool), ranges_(known), thorough_(how == strength::thorough) {}

    constexpr expr_id simplify(expr_id id) {
        if (id == no_expr) return id;
        if (id < memo_.size() && memo_[id] != no_expr) return memo_[id];
        const expr_id out = rebuilt(id);
        if (id >= memo_.size()) memo_.resize(pool_.size(), no_expr);
        return memo_[id] = out;
    }

    /// Of an expression as it stands.
    constexpr interval bounds(expr_id id) const {
        const expr& e = pool_[id];
        switch (e.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: return exactly(e.integer);
            case expr_kind::name: return ranges_[e.name].values;
            case expr_kind::binary: break;
            case expr_kind::ternary: return thorough_ ? either(e) : interval{};
            default: return {};
        }
        if (e.op == binary_op::logical_and || e.op == binary_op::logical_or || is_comparison(e.op)) return {0, 1, true};
        const interval b = bounds(e.b);
        if (e.op == binary_op::remainder) return b.known && b.low == b.high && b.low > 0 ? interval{0, b.low - 1, true} : interval{};
        const interval a = bounds(e.a);
        if (!a.known || !b.known) return {};
        switch (e.op) {
            case binary_op::add: return ends(sum(a.low, b.low), sum(a.high, b.high));
            case binary_op::subtract: return ends(difference(a.low, b.high), difference(a.high, b.low));
            case binary_op::multiply: {
                const checked all[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)};
                interval out{all[0].value, all[0].value, true};
                for (const checked& c : all) out.low = c.value < out.low ? c.value : out.low, out.high = c.value > out.high ? c.value : out.high, out.known = out.known && c.fits;
                return out.known ? out : interval{};
            }
            case binary_op::divide:
            case binary_op::floor_divide: return b.low == b.high && b.low > 0 ? interval{floor_quotient(a.low, b.low), floor_quotient(a.high, b.low), true} : interval{};
            default: return {};
        }
    }

    /// The node of two simplified operands, simplified.
    constexpr expr_id binary(binary_op op, expr_id a, expr_id b) {
        std::int64_t x = 0, y = 0;
        const bool left = literal(a, x), right = literal(b, y);
        if (left && right)
            if (const checked folded = fold(op, x, y); folded.fits) return pool_.integer(folded.value);
        switch (op) {
            case binary_op::add:
                if (left && x == 0) return b;
                if (right && y == 0) return a;
                return recomposed(a, b);
            case binary_op::subtract:
                if (right && y == 0) return a;
                if (a == b) return pool_.integer(0);
                break;
            case binary_op::multiply:
                if ((left && x == 0) || (right && y == 0)) return pool_.integer(0);
                if (left && x == 1) return b;
                if (right && y == 1) return a;
                break;
            case binary_op::divide:
            case binary_op::floor_divide: return quotient(op, a, b);
            case binary_op::remainder: return remainder(a, b);
            case binary_op::logical_and:
                if (left) return x != 0 ? b : pool_.integer(0);
                if (right) return y != 0 ? a : pool_.integer(0);
                break;
            case binary_op::logical_or:
                if (left) return x == 0 ? b : pool_.integer(1);
                if (right) return y == 0 ? a : pool_.integer(1);
                break;
            default:
                if (is_comparison(op)) return comparison(op, a, b);
        }
        return pool_.binary(op, a, b);
    }

    /// e = n * quotient + remainder with 0 <= remainder < n, where that can be seen. n > 0, e simplified.
    struct parts {
        bool found = false;
        expr_id quotient = no_expr, remainder = no_expr;
    };
    constexpr parts split(expr_id id, std::int64_t n) {
        const expr e = pool_[id];
        std::int64_t v = 0;
        if (literal(id, v)) return v >= 0 ? parts{true, pool_.integer(v / n), pool_.integer(v % n)} : parts{};
        if (e.kind == expr_kind::binary && e.op == binary_op::multiply) {
            const term t = as_term(id);
            if (t.factor > 0 && t.base != id && bounds(t.base).at_least(0)) {
                if (t.factor % n == 0) return {true, binary(binary_op::multiply, t.base, pool_.integer(t.factor / n)), pool_.integer(0)};
                if (n % t.factor == 0) {
                    const expr_id d = pool_.integer(n / t.factor);
                    const expr_id q = binary(binary_op::divide, t.base, d);
                    return {true, q, binary(binary_op::multiply, binary(binary_op::remainder, t.base, d), pool_.integer(t.factor))};
                }
            }
        }
        if (e.kind == expr_kind::binary && e.op == binary_op::add) {
            parts a = split(e.a, n), b = split(e.b, n);
            auto clean = [&](const parts& p) { return p.found && literal(p.remainder, v) && v == 0; };
            auto rest = [&](parts& p, expr_id whole) {
                if (bounds(whole).at_least(0)) p = {true, binary(binary_op::divide, whole, pool_.integer(n)), binary(binary_op::remainder, whole, pool_.integer(n))};
            };
            if (!b.found && clean(a)) rest(b, e.b);
            else if (!a.found && clean(b)) rest(a, e.a);
            if (a.found && b.found) {
                const expr_id r = binary(binary_op::add, a.remainder, b.remainder);
                if (bounds(r).within(0, n - 1)) return {true, binary(binary_op::add, a.quotient, b.quotient), r};
            }
        }
        if (bounds(id).within(0, n - 1)) return {true, pool_.integer(0), id};
        if (e.kind == expr_kind::binary && (e.op == binary_op::divide || e.op == binary_op::floor_divide) && literal(e.b, v) && v > 0)
            if (const checked whole = product(n, v); whole.fits)
                if (const parts p = split(e.a, whole.value); p.found) return {true, p.quotient, binary(binary_op::divide, p.remainder, e.b)};
        return {};
    }

    constexpr bool literal(expr_id id, std::int64_t& out) const {
        const expr& e = pool_[id];
        if (e.kind != expr_kind::integer && e.kind != expr_kind::boolean) return false;
        out = e.integer;
        return true;
    }
    constexpr expr_pool& pool() const { return pool_; }

private:
    struct checked {
        std::int64_t value = 0;
        bool fits = false;
    };
    struct term {
        expr_id base = no_expr;
        std::int64_t factor = 1;
    };
    struct factors {
        std::array<expr_id, 16> list{};
        std::size_t count = 0;
        std::int64_t coefficient = 1;
        bool usable = true;
    };

    /// Of c ? a : b: both, a below what c says of it.
    constexpr interval either(const expr& e) const {
        interval a = bounds(e.b), b = bounds(e.c);
        const expr& c = pool_[e.a];
        std::int64_t n = 0;
        if (c.kind == expr_kind::binary && c.a == e.b && literal(c.b, n) && a.known && n > a.low) {
            if (c.op == binary_op::less && a.high >= n) a.high = n - 1;
            if (c.op == binary_op::less_equal && a.high > n) a.high = n;
        }
        return a.known && b.known ? interval{a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high, true} : interval{};
    }
    /// x / step % count; count 0: no remainder taken.
    struct digit {
        expr_id x = no_expr;
        std::int64_t step = 1, count = 0;
    };
    constexpr digit as_digit(expr_id id) const {
        digit out{.x = id};
        std::int64_t n = 0;
        const expr* e = &pool_[id];
        if (e->kind == expr_kind::binary && e->op == binary_op::remainder && literal(e->b, n) && n > 0) out.count = n, out.x = e->a, e = &pool_[e->a];
        if (is_division(*e) && literal(e->b, n) && n > 0) out.step = n, out.x = e->a;
        return out;
    }
    /// Two terms of a sum that are neighbouring digits of one number.
    constexpr expr_id neighbours(const term& low, const term& high) {
        const digit l = as_digit(low.base), h = as_digit(high.base);
        if (l.count == 0 || l.x != h.x || !bounds(l.x).at_least(0)) return no_expr;
        const checked step = product(l.step, l.count), factor = product(low.factor, l.count), count = product(l.count, h.count);
        if (!step.fits || !factor.fits || !count.fits || h.step != step.value || high.factor != factor.value) return no_expr;
        expr_id out = binary(binary_op::divide, l.x, pool_.integer(l.step));
        if (h.count != 0) out = binary(binary_op::remainder, out, pool_.integer(count.value));
        return binary(binary_op::multiply, out, pool_.integer(low.factor));
    }

    static constexpr bool is_comparison(binary_op op) { return op >= binary_op::equal && op <= binary_op::greater_equal; }
    static constexpr checked sum(std::int64_t a, std::int64_t b) {
        checked out;
        out.fits = !__builtin_add_overflow(a, b, &out.value);
        return out;
    }
    static constexpr checked difference(std::int64_t a, std::int64_t b) {
        checked out;
        out.fits = !__builtin_sub_overflow(a, b, &out.value);
        return out;
    }
    static constexpr checked product(std::int64_t a, std::int64_t b) {
        checked out;
        out.fits = !__builtin_mul_overflow(a, b, &out.value);
        return out;
    }
    static constexpr interval ends(checked low, checked high) { return low.fits && high.fits ? interval{low.value, high.value, true} : interval{}; }
    static constexpr std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

    static constexpr std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
        while (b != 0) a = std::exchange(b, a % b);
        return a;
    }
    static constexpr checked fold(binary_op op, std::int64_t a, std::int64_t b) {
        const bool divides = b != 0 && !(a == std::numeric_limits<std::int64_t>::min() && b == -1);
        switch (op) {
            case binary_op::add: return sum(a, b);
            case binary_op::subtract: return difference(a, b);
            case binary_op::multiply: return product(a, b);
            case binary_op::divide:
            case binary_op::floor_divide: return divides ? checked{floor_quotient(a, b), true} : checked{};
            case binary_op::remainder: return divides ? checked{a - floor_quotient(a, b) * b, true} : checked{};
            case binary_op::logical_or: return {a != 0 || b != 0, true};
            case binary_op::logical_and: return {a != 0 && b != 0, true};
            case binary_op::equal: return {a == b, true};
            case binary_op::not_equal: return {a != b, true};
            case binary_op::less: return {a < b, true};
            case binary_op::greater: return {a > b, true};
            case binary_op::less_equal: return {a <= b, true};
            case binary_op::greater_equal: return {a >= b, true};
            case binary_op::bit_and: return {a & b, true};
            case binary_op::bit_or: return {a | b, true};
            case binary_op::bit_xor: return {a ^ b, true};
            default: return {};  // shifts stay as they are
        }
    }

    constexpr expr_id rebuilt(expr_id id) {
        const expr e = pool_[id];
        std::int64_t v = 0;
        switch (e.kind) {
            case expr_kind::binary: {
                const expr_id a = simplify(e.a), b = simplify(e.b);
                return binary(e.op, a, b);
            }
            case expr_kind::ternary: {
                const expr_id condition = simplify(e.a);
                if (literal(condition, v)) return simplify(v != 0 ? e.b : e.c);
                const expr_id a = simplify(e.b), b = simplify(e.c);
                return a == b ? a : pool_.ternary(condition, a, b);
            }
            case expr_kind::cast: {
                const expr_id a = simplify(e.a);
                return e.name == ranges_.integer_cast && e.name != no_name && literal(a, v) ? pool_.integer(v) : pool_.cast(e.name, a);
            }
            case expr_kind::call: {
                std::vector<expr_id> args;
                for (std::size_t i = 0; i < e.arg_count; ++i) args.push_back(simplify(pool_.args(e)[i]));
                return pool_.call(e.name, args);
            }
            default: return id;
        }
    }

    /// base * literal, either way round.
    constexpr term as_term(expr_id id) const {
        const expr& e = pool_[id];
        std::int64_t v = 0;
        if (e.kind != expr_kind::binary || e.op != binary_op::multiply) return {id, 1};
        if (literal(e.b, v)) return {e.a, v};
        if (literal(e.a, v)) return {e.b, v};
        return {id, 1};
    }
    constexpr void flatten(expr_id id, std::vector<expr_id>& terms) const {
        const expr& e = pool_[id];
        if (e.kind != expr_kind::binary || e.op != binary_op::add) return terms.push_back(id);
        flatten(e.a, terms), flatten(e.b, terms);
    }
    constexpr bool is_division(const expr& e) const { return e.kind == expr_kind::binary && (e.op == binary_op::divide || e.op == binary_op::floor_divide); }

    constexpr expr_id recomposed(expr_id a, expr_id b) {
        std::vector<expr_id> terms;
        flatten(a, terms), flatten(b, terms);
        for (std::size_t i = 0; i < terms.size(); ++i) {
            const term whole = as_term(terms[i]);
            const expr& q = pool_[whole.base];
            std::int64_t c = 0;
            if (!is_division(q) || !literal(q.b, c) || c <= 0) continue;
            for (std::size_t j = 0; j < terms.size(); ++j) {
                const term part = as_term(terms[j]);
                const expr& r = pool_[part.base];
                if (r.kind != expr_kind::binary || r.op != binary_op::remainder || r.a != q.a || r.b != q.b) continue;
                if (const checked scaled = product(part.factor, c); !scaled.fits || scaled.value != whole.factor) continue;
                expr_id out = binary(binary_op::multiply, r.a, pool_.integer(part.factor));
                for (std::size_t k = 0; k < terms.size(); ++k)
                    if (k != i && k != j) out = binary(binary_op::add, out, terms[k]);
                return out;
            }
        }
        if (thorough_)
            for (std::size_t i = 0; i < terms.size(); ++i)
                for (std::size_t j = 0; j < terms.size(); ++j) {
                    if (i == j) continue;
                    expr_id out = neighbours(as_term(terms[i]), as_term(terms[j]));
                    if (out == no_expr) continue;
                    for (std::size_t k = 0; k < terms.size(); ++k)
                        if (k != i && k != j) out = binary(binary_op::add, out, terms[k]);
                    return out;
                }
        return pool_.binary(binary_op::add, a, b);
    }

    constexpr expr_id quotient(binary_op op, expr_id a, expr_id b) {
        std::int64_t n = 0, m = 0;
        if (literal(b, n) && n == 1) return a;
        if (literal(a, m) && m == 0) return a;
        if (n > 1) {
            const expr e = pool_[a];
            if (is_division(e) && literal(e.b, m) && m > 0 && bounds(e.a).at_least(0))
                if (const checked whole = product(m, n); whole.fits) return binary(binary_op::divide, e.a, pool_.integer(whole.value));
            if (const parts p = split(a, n); p.found) return p.quotient;
            if (thorough_ && e.kind == expr_kind::binary && e.op == binary_op::remainder && literal(e.b, m) && m > n && m % n == 0 && bounds(e.a).at_least(0)) {
                const expr_id q = binary(binary_op::divide, e.a, b);
                return binary(binary_op::remainder, q, pool_.integer(m / n));
            }
        }
        if (op == binary_op::floor_divide && bounds(a).at_least(0)) op = binary_op::divide;
        factors top = factored(a), bottom = factored(b);
        if (!cancelled(top, bottom, nullptr)) return pool_.binary(op, a, b);
        const expr_id above = multiplied(top), below = multiplied(bottom);
        return binary(op, above, below);
    }
    constexpr expr_id remainder(expr_id a, expr_id b) {
        std::int64_t n = 0, m = 0;
        const bool fixed = literal(b, n);
        if (fixed && n == 1) return pool_.integer(0);
        if (literal(a, m) && m == 0) return a;
        if (n > 1)
            if (const parts p = split(a, n); p.found) return p.remainder;
        if (thorough_ && n > 1)
            if (const expr e = pool_[a]; e.kind == expr_kind::binary && e.op == binary_op::remainder && literal(e.b, m) && m > 0 && m % n == 0) return binary(binary_op::remainder, e.a, b);
        if (!fixed && pool_[a].kind == expr_kind::name && ranges_[pool_[a].name].extent == b) return a;
        factors top = factored(a), bottom = factored(b), common;
        if (!cancelled(top, bottom, &common)) return pool_.binary(binary_op::remainder, a, b);
        const expr_id above = multiplied(top), below = multiplied(bottom);
        expr_id out = binary(binary_op::remainder, above, below);
        for (std::size_t i = 0; i < common.count; ++i) out = binary(binary_op::multiply, out, common.list[i]);
        return binary(binary_op::multiply, out, pool_.integer(common.coefficient));
    }

    constexpr void collect(expr_id id, factors& out) const {
        const expr& e = pool_[id];
        std::int64_t v = 0;
        if (literal(id, v)) {
            const checked c = product(out.coefficient, v);
            out.usable = out.usable && c.fits;
            if (c.fits) out.coefficient = c.value;
        } else if (e.kind == expr_kind::binary && e.op == binary_op::multiply) {
            collect(e.a, out), collect(e.b, out);
        } else if (out.count < out.list.size()) {
            out.list[out.count++] = id;
        } else {
            out.usable = false;
        }
    }
    constexpr factors factored(expr_id id) const {
        factors out;
        collect(id, out);
        return out;
    }
    /// Takes what both have in common out of both: equal factors known to be at least 1, and the greatest common divisor of positive coefficients.
    constexpr bool cancelled(factors& a, factors& b, factors* common) const {
        if (!a.usable || !b.usable) return false;
        bool any = false;
        for (std::size_t i = 0; i < a.count;) {
            std::size_t j = 0;
            while (j < b.count && b.list[j] != a.list[i]) ++j;
            if (j == b.count || !bounds(a.list[i]).at_least(1)) {
                ++i;
                continue;
            }
            if (common) common->list[common->count++] = a.list[i];
            for (std::size_t k = i + 1; k < a.count; ++k) a.list[k - 1] = a.list[k];
            for (std::size_t k = j + 1; k < b.count; ++k) b.list[k - 1] = b.list[k];
            --a.count, --b.count, any = true;
        }
        if (a.coefficient > 0 && b.coefficient > 0)
            if (const std::int64_t c = greatest_divisor(a.coefficient, b.coefficient); c > 1) {
                a.coefficient /= c, b.coefficient /= c, any = true;
                if (common) common->coefficient = c;
            }
        return any;
    }
    constexpr expr_id multiplied(const factors& f) {
        if (f.count == 0) return pool_.integer(f.coefficient);
        expr_id out = f.list[0];
        for (std::size_t i = 1; i < f.count; ++i) out = binary(binary_op::multiply, out, f.list[i]);
        return binary(binary_op::multiply, out, pool_.integer(f.coefficient));
    }

    constexpr expr_id comparison(binary_op op, expr_id a, expr_id b) {
        if (op == binary_op::greater || op == binary_op::greater_equal) {
            const expr_id decided = comparison(op == binary_op::greater ? binary_op::less : binary_op::less_equal, b, a);
            return pool_[decided].kind == expr_kind::integer ? decided : pool_.binary(op, a, b);
        }
        auto below_extent = [&](expr_id axis, expr_id size) { return pool_[axis].kind == expr_kind::name && ranges_[pool_[axis].name].extent == size; };
        const bool below = below_extent(a, b), above = below_extent(b, a);  // known: a < b, a > b
        const interval x = bounds(a), y = bounds(b);
        const bool both = x.known && y.known, before = below || (both && x.high < y.low), after = above || (both && x.low > y.high);
        switch (op) {
            case binary_op::less:
                if (before) return pool_.integer(1);
                if (after || (both && x.low >= y.high)) return pool_.integer(0);
                break;
            case binary_op::less_equal:
                if (before || (both && x.high <= y.low)) return pool_.integer(1);
                if (after) return pool_.integer(0);
                break;
            case binary_op::equal:
            case binary_op::not_equal:
                if (before || after) return pool_.integer(op == binary_op::not_equal);
                break;
            default: break;
        }
        return pool_.binary(op, a, b);
    }

    expr_pool& pool_;
    const ranges& ranges_;
    bool thorough_ = false;
    std::vector<expr_id> memo_;
};

}  // namespace emmy::loop::normal
