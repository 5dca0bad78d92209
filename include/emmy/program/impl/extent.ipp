#pragma once
#include <emmy/core/expr_eval.hpp>
#include <emmy/program/extent.hpp>

#include <algorithm>

namespace emmy::program {
namespace detail {
constexpr std::int64_t extent_limit = std::int64_t{1} << 62, extent_invalid = std::numeric_limits<std::int64_t>::min();
inline bool outside(std::int64_t v) { return v > extent_limit || v < -extent_limit; }
}  // namespace detail

template <class F>
extent extent::tabulated(F f) {
    extent out;
    std::vector<std::int64_t> table(largest_symbol_size);
    bool constant = true;
    for (std::int64_t s = 1; s <= largest_symbol_size; ++s) {
        const std::int64_t v = f(s);
        if (v == detail::extent_invalid || detail::outside(v)) {
            out.bad_ = true;
            return out;
        }
        table[static_cast<std::size_t>(s - 1)] = v;
        constant = constant && v == table[0];
    }
    if (constant) return extent(table[0]);
    bool line = true;  // functions that are a x + b after all
    const std::int64_t step = table[1] - table[0];
    for (std::size_t i = 1; line && i < table.size(); ++i) line = table[i] - table[i - 1] == step;
    if (line) {
        out.coefficients_[1] = step;
        out.coefficients_[0] = table[0] - step;
        return out;
    }
    out.table_ = std::move(table);
    return out;
}

EMMY_DECL extent extent::symbol() {
    extent out;
    out.coefficients_[1] = 1;
    return out;
}

EMMY_DECL std::int64_t extent::at(std::int64_t size) const {
    if (!table_.empty()) return table_[static_cast<std::size_t>(std::clamp<std::int64_t>(size, 1, largest_symbol_size) - 1)];
    __int128 out = 0;
    for (std::size_t i = most; i-- > 0;) {
        out = out * size + coefficients_[i];
        if (out > detail::extent_limit || out < -detail::extent_limit) return detail::extent_invalid;
    }
    return static_cast<std::int64_t>(out);
}
EMMY_DECL std::int64_t extent::least() const {
    if (is_number()) return number();
    std::int64_t out = at(1);
    for (std::int64_t s = 2; s <= largest_symbol_size; ++s) out = std::min(out, at(s));
    return out;
}
EMMY_DECL std::int64_t extent::largest() const {
    if (is_number()) return number();
    std::int64_t out = at(1);
    for (std::int64_t s = 2; s <= largest_symbol_size; ++s) out = std::max(out, at(s));
    return out;
}

EMMY_DECL extent operator+(const extent& a, const extent& b) {
    if (!a.table_.empty() || !b.table_.empty()) {
        extent out = extent::tabulated([&](std::int64_t s) {
            return a.at(s) == detail::extent_invalid || b.at(s) == detail::extent_invalid ? detail::extent_invalid : a.at(s) + b.at(s);
        });
        out.bad_ = out.bad_ || a.bad_ || b.bad_;
        return out;
    }
    extent out;
    out.bad_ = a.bad_ || b.bad_;
    for (std::size_t i = 0; i < extent::most; ++i) {
        out.coefficients_[i] = a.coefficients_[i] + b.coefficients_[i];
        out.bad_ = out.bad_ || detail::outside(out.coefficients_[i]);
    }
    return out;
}
EMMY_DECL extent operator-(const extent& a, const extent& b) { return a + b * extent(-1); }
EMMY_DECL extent operator*(const extent& a, const extent& b) {
    const auto product = [](std::int64_t x, std::int64_t y) {
        std::int64_t p = 0;
        return x == detail::extent_invalid || y == detail::extent_invalid || __builtin_mul_overflow(x, y, &p) ? detail::extent_invalid : p;
    };
    if (!a.table_.empty() || !b.table_.empty() || a.degree() + b.degree() >= extent::most) {
        extent out = extent::tabulated([&](std::int64_t s) { return product(a.at(s), b.at(s)); });
        out.bad_ = out.bad_ || a.bad_ || b.bad_;
        return out;
    }
    extent out;
    out.bad_ = a.bad_ || b.bad_;
    for (std::size_t i = 0; i <= a.degree(); ++i)
        for (std::size_t j = 0; j <= b.degree(); ++j) {
            const std::int64_t p = product(a.coefficients_[i], b.coefficients_[j]);
            out.bad_ = out.bad_ || p == detail::extent_invalid || __builtin_add_overflow(out.coefficients_[i + j], p, &out.coefficients_[i + j]) ||
                       detail::outside(out.coefficients_[i + j]);
        }
    return out;
}
EMMY_DECL extent operator/(const extent& a, const extent& b) {
    if (a.table_.empty() && b.table_.empty()) {
        const std::size_t degree = b.degree();
        bool exact = b.coefficients_[degree] > 0;  // a monomial that divides every term
        for (std::size_t i = 0; i < degree; ++i) exact = exact && b.coefficients_[i] == 0;
        for (std::size_t i = 0; exact && i < extent::most; ++i)
            exact = i < degree ? a.coefficients_[i] == 0 : a.coefficients_[i] % b.coefficients_[degree] == 0;
        if (exact) {
            extent out;
            out.bad_ = a.bad_ || b.bad_;
            for (std::size_t i = degree; i < extent::most; ++i) out.coefficients_[i - degree] = a.coefficients_[i] / b.coefficients_[degree];
            return out;
        }
        if (a.is_number() && b.is_number() && b.number() > 0) return extent(floor_divide(a.number(), b.number()));
    }
    extent out = extent::tabulated([&](std::int64_t s) {
        const std::int64_t x = a.at(s), y = b.at(s);
        return x == detail::extent_invalid || y <= 0 ? detail::extent_invalid : floor_divide(x, y);
    });
    out.bad_ = out.bad_ || a.bad_ || b.bad_;
    return out;
}
EMMY_DECL bool operator==(const extent& a, const extent& b) {
    if (a.bad_ || b.bad_) return false;
    if (a.table_.empty() && b.table_.empty()) return a.coefficients_ == b.coefficients_;
    if (!a.table_.empty() && !b.table_.empty()) return a.table_ == b.table_;
    return false;  // a table is never a line, and no other polynomial has been tabulated unless its degree is beyond ours
}

EMMY_DECL extent extent::from_expression(const graph& g, expr_id id) {
    const expr& e = g.exprs[id];
    if (e.kind == expr_kind::integer) return extent(e.integer);
    if (e.kind == expr_kind::name) return symbol();
    if (e.kind == expr_kind::binary) {
        switch (e.op) {
            case binary_op::add: return from_expression(g, e.a) + from_expression(g, e.b);
            case binary_op::subtract: return from_expression(g, e.a) - from_expression(g, e.b);
            case binary_op::multiply: return from_expression(g, e.a) * from_expression(g, e.b);
            case binary_op::divide:
            case binary_op::floor_divide: return from_expression(g, e.a) / from_expression(g, e.b);
            default: break;
        }
    }
    return tabulated([&](std::int64_t s) { return evaluate_integer(g.exprs, id, [&](name_id) { return std::optional(s); }).value_or(detail::extent_invalid); });
}
EMMY_DECL extent extent::of(const graph& g, const dim& d) {
    switch (d.kind) {
        case dim::form::number: return extent(d.number);
        case dim::form::symbol: return symbol();
        case dim::form::expression: break;
    }
    extent out = from_expression(g, d.value);
    if (!out.bad_) {  // a size beyond 62 bits at the largest symbol is none
        const std::int64_t top = out.at(largest_symbol_size);
        out.bad_ = top == detail::extent_invalid;
    }
    return out;
}

EMMY_DECL std::string extent::text(std::string_view symbol) const {
    if (bad_) return "no size";
    if (!table_.empty()) return std::to_string(at(default_hint)) + " (at " + std::string(symbol) + " = " + std::to_string(default_hint) + ")";
    std::string out;
    for (std::size_t i = most; i-- > 0;) {
        const std::int64_t c = coefficients_[i];
        if (c == 0 && !(i == 0 && out.empty())) continue;
        std::string term;
        for (std::size_t k = 0; k < i; ++k) (term += k ? " * " : "") += symbol;
        if (i == 0 || (c != 1 && c != -1)) (term += i ? " * " : "") += std::to_string(out.empty() ? c : std::abs(c));
        else if (c == -1 && out.empty()) term = "0 - " + term;
        if (!out.empty()) out += c < 0 ? " - " : " + ";
        out += term;
    }
    return out;
}
EMMY_DECL result<dim> extent::as_dim(graph& g, std::string_view symbol, std::int64_t hint) const {
    if (is_number()) return number_dim(number());
    if (is_symbol()) return symbol_dim(g.names.intern(symbol), hint);
    if (bad_ || !table_.empty())
        return refuse(fault_kind::user, "found a size that is no polynomial in " + std::string(symbol) + ", expected one that can be written");
    EMMY_TRY(value, parse_expr(text(symbol), g.exprs, g.names));
    return dim{.kind = dim::form::expression, .number = at(hint), .has_hint = true, .symbol = no_name, .value = value};
}

EMMY_DECL extent count_of(std::span<const extent> shape) {
    extent out(1);
    for (const extent& e : shape) out = out * e;
    return out;
}
EMMY_DECL std::vector<extent> extents_of(const graph& g, std::span<const dim> shape) {
    std::vector<extent> out;
    out.reserve(shape.size());
    for (const dim& d : shape) out.push_back(extent::of(g, d));
    return out;
}

}  // namespace emmy::program
