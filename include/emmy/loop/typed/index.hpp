#pragma once
#include <emmy/core/refused.hpp>
#include <emmy/loop/typed/recorder.hpp>

#include <concepts>

/// Sizes, axes and the whole-number expressions that address buffers.
namespace emmy::loop::typed {

/// A size known when the kernel is launched.
struct symbol {
    std::string_view name;
    std::int64_t hint = default_hint;
};

/// Elements of a loop or of a buffer's dimension: a number or a symbol.
class extent {
public:
    constexpr extent(std::integral auto number) : number_(static_cast<std::int64_t>(number)) {}
    constexpr extent(symbol s) : number_(s.hint), symbol_(s.name), is_symbol_(true) {}

    constexpr bool is_number() const { return !is_symbol_; }
    constexpr std::int64_t number() const { return number_; }
    constexpr dim in(detail::recorder& to) const {
        if (is_symbol_) {
            if (!is_identifier(symbol_)) {
                bounded_text<160> found("[");
                to.complain("a symbol", found.append(symbol_.substr(0, 120)).append(']').view(), "a name of letters, digits and underscores");
            }
            return symbol_dim(to.given("symbol", symbol_), number_);
        }
        if (number_ < 1) to.complain("a size", bounded_text<24>().append(number_).view(), "at least 1");
        return number_dim(number_);
    }

private:
    std::int64_t number_;
    std::string_view symbol_;
    bool is_symbol_ = false;
};

class builder;

/// An axis of a loop. Handed to the loop's body; usable inside that loop. One made by builder::axis() may head several loops: they walk
/// the same coordinate.
class axis {
public:
    constexpr name_id name() const { return axis_.name; }
    constexpr const dim& size() const { return axis_.extent; }

private:
    friend class builder;
    friend class index;
    friend class predicate;
    constexpr axis(detail::recorder* in, const loop::axis& a) : in_(in), axis_(a) {}
    detail::recorder* in_;
    loop::axis axis_;
};

namespace detail {
/// The smallest and the largest value of an index, both taken somewhere: a bound that no step comes to is not known, so that no right kernel is refused.
/// Known for + - * of parts that share no axis and for / and % by a positive literal.
struct reach {
    std::int64_t low = 0, high = 0;
    std::uint64_t axes = 0;  ///< a bit for each; two that share a bit count as one
    bool known = false;
    bool dense = false;  ///< every value between them is taken

    static constexpr std::int64_t floor_div(std::int64_t a, std::int64_t by) { return a / by - (a % by < 0); }
    static constexpr reach of(binary_op op, const reach& a, const reach& b) {
        constexpr std::int64_t most = std::int64_t{1} << 31;
        for (const reach* r : {&a, &b})
            if (!r->known || r->low < -most || r->high > most) return {};
        if (a.axes & b.axes) return {};
        reach out{.axes = a.axes | b.axes, .known = true, .dense = a.dense && b.dense};
        switch (op) {
            case binary_op::add: out.low = a.low + b.low, out.high = a.high + b.high; return out;
            case binary_op::subtract: out.low = a.low - b.high, out.high = a.high - b.low; return out;
            case binary_op::multiply: {
                const std::int64_t corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
                out.low = out.high = corners[0];
                for (const std::int64_t c : corners) out.low = c < out.low ? c : out.low, out.high = c > out.high ? c : out.high;
                out.dense = false;
                return out;
            }
            case binary_op::divide:
                if (b.low != b.high || b.low < 1) return {};
                out.low = floor_div(a.low, b.low), out.high = floor_div(a.high, b.low);
                return out;
            case binary_op::remainder: {
                if (b.low != b.high || b.low < 1) return {};
                const std::int64_t block = floor_div(a.low, b.low) * b.low;
                if (a.high < block + b.low) {
                    out.low = a.low - block, out.high = a.high - block;
                    return out;
                }
                if (!a.dense) return {};
                out.low = 0, out.high = b.low - 1, out.dense = a.high - a.low >= b.low - 1;
                return out;
            }
            default: return {};
        }
    }
};
}  // namespace detail

/// A whole number made of axes and integers (index_of: and of integer values).
class index {
public:
    constexpr index(std::integral auto number)
        : literal_(static_cast<std::int64_t>(number)), reach_{.low = literal_, .high = literal_, .known = true, .dense = true} {}
    constexpr index(const axis& a) : in_(a.in_) {
        if (const dim& size = a.axis_.extent; size.kind == dim::form::number)
            reach_ = {.high = size.number - 1, .axes = std::uint64_t{1} << (a.name() & 63), .known = true, .dense = true};
        if (!in_->axis_is_open(a.name())) in_->complain(in_->body.text(a.name()), "a use outside its loop", "one inside it");
        id_ = in_->body.exprs.name(a.name());
    }
    constexpr index(detail::recorder* in, expr_id id) : in_(in), id_(id) {}

    constexpr detail::recorder* owner() const { return in_; }
    /// The expression in a body.
    constexpr expr_id in(detail::recorder& to) const {
        if (in_ == nullptr) return to.body.exprs.integer(literal_);
        if (in_ != &to) to.complain("an index", "a handle of another builder", "one of the same builder");
        return id_;
    }
    /// Whether some step surely takes it below 0, or to a dimension's static size or beyond.
    constexpr bool comes_below_zero() const { return reach_.known && reach_.low < 0; }
    constexpr bool comes_beyond(const dim& size) const { return reach_.known && size.kind == dim::form::number && reach_.high >= size.number; }

    static constexpr index make(binary_op op, const index& a, const index& b) {
        detail::recorder* in = a.in_ ? a.in_ : b.in_;
        const expr_id left = a.in(*in), right = b.in(*in);
        index out(in, in->body.exprs.binary(op, left, right));
        out.reach_ = detail::reach::of(op, a.reach_, b.reach_);
        return out;
    }

private:
    friend class predicate;
    detail::recorder* in_ = nullptr;
    expr_id id_ = no_expr;
    std::int64_t literal_ = 0;
    detail::reach reach_;
};

/// What a Select asks: a comparison of indices, or several joined.
class predicate {
public:
    constexpr predicate(detail::recorder* in, expr_id id) : in_(in), id_(id) {}
    constexpr detail::recorder* owner() const { return in_; }
    constexpr expr_id id() const { return id_; }
    /// A kernel has no branches: says so where `if` or `!` asks.
    template <std::same_as<bool> B>
    constexpr explicit operator B() const {
        say<[] { return std::is_same_v<B, bool> ? sentence("a predicate: found a bool of C++ asked for, expected b.select(p, a, b) of values or choose(p, a, b) of indices") : sentence(); }>();
        return false;
    }

    friend constexpr predicate operator&&(const predicate& a, const predicate& b) { return join(binary_op::logical_and, a, b); }
    friend constexpr predicate operator||(const predicate& a, const predicate& b) { return join(binary_op::logical_or, a, b); }
    /// condition ? then : otherwise, evaluated only where taken.
    friend constexpr index choose(const predicate& condition, const index& then, const index& otherwise) {
        const expr_id a = then.in(*condition.in_), b = otherwise.in(*condition.in_);
        return {condition.in_, condition.in_->body.exprs.ternary(condition.id_, a, b)};
    }
    static constexpr predicate compare(binary_op op, const index& a, const index& b) {
        const index made = index::make(op, a, b);
        return {made.in_, made.id_};
    }

private:
    static constexpr predicate join(binary_op op, const predicate& a, const predicate& b) {
        if (a.in_ != b.in_) a.in_->complain("a predicate", "a handle of another builder", "one of the same builder");
        return {a.in_, a.in_->body.exprs.binary(op, a.id_, b.id_)};
    }
    detail::recorder* in_;
    expr_id id_;
};

namespace detail {
template <class T>
concept indexing = std::same_as<T, axis> || std::same_as<T, index>;
template <class A, class B>
concept index_pair = (indexing<A> && std::convertible_to<B, index>) || (indexing<B> && std::convertible_to<A, index>);
}  // namespace detail

template <class A, class B> requires detail::index_pair<A, B> constexpr index operator+(const A& a, const B& b) { return index::make(binary_op::add, a, b); }
template <class A, class B> requires detail::index_pair<A, B> constexpr index operator-(const A& a, const B& b) { return index::make(binary_op::subtract, a, b); }
template <class A, class B> requires detail::index_pair<A, B> constexpr index operator*(const A& a, const B& b) { return index::make(binary_op::multiply, a, b); }
/// Floor division and its remainder.
template <class A, class B> requires detail::index_pair<A, B> constexpr index operator/(const A& a, const B& b) { return index::make(binary_op::divide, a, b); }
template <class A, class B> requires detail::index_pair<A, B> constexpr index operator%(const A& a, const B& b) { return index::make(binary_op::remainder, a, b); }

template <class A, class B> requires detail::index_pair<A, B> constexpr predicate operator<(const A& a, const B& b) { return predicate::compare(binary_op::less, a, b); }
template <class A, class B> requires detail::index_pair<A, B> constexpr predicate operator<=(const A& a, const B& b) { return predicate::compare(binary_op::less_equal, a, b); }
template <class A, class B> requires detail::index_pair<A, B> constexpr predicate operator>(const A& a, const B& b) { return predicate::compare(binary_op::greater, a, b); }
template <class A, class B> requires detail::index_pair<A, B> constexpr predicate operator>=(const A& a, const B& b) { return predicate::compare(binary_op::greater_equal, a, b); }
template <class A, class B> requires detail::index_pair<A, B> constexpr predicate operator==(const A& a, const B& b) { return predicate::compare(binary_op::equal, a, b); }
template <class A, class B> requires detail::index_pair<A, B> constexpr predicate operator!=(const A& a, const B& b) { return predicate::compare(binary_op::not_equal, a, b); }

}  // namespace emmy::loop::typed
