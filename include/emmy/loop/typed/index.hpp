#pragma once
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

/// A whole number made of axes and integers (index_of: and of integer values).
class index {
public:
    constexpr index(std::integral auto number) : literal_(static_cast<std::int64_t>(number)) {}
    constexpr index(const axis& a) : in_(a.in_), size_(a.axis_.extent), is_axis_(true) {
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
    /// Whether it stays below a dimension's size, as far as plain axes and integers tell.
    constexpr bool may_reach(const dim& size) const {
        if (size.kind != dim::form::number) return false;
        if (in_ == nullptr) return literal_ < 0 || literal_ >= size.number;
        return is_axis_ && size_.kind == dim::form::number && size_.number > size.number;
    }

    static constexpr index make(binary_op op, const index& a, const index& b) {
        detail::recorder* in = a.in_ ? a.in_ : b.in_;
        const expr_id left = a.in(*in), right = b.in(*in);
        return {in, in->body.exprs.binary(op, left, right)};
    }

private:
    friend class predicate;
    detail::recorder* in_ = nullptr;
    expr_id id_ = no_expr;
    std::int64_t literal_ = 0;
    dim size_;
    bool is_axis_ = false;
};

/// What a Select asks: a comparison of indices, or several joined.
class predicate {
public:
    constexpr predicate(detail::recorder* in, expr_id id) : in_(in), id_(id) {}
    constexpr detail::recorder* owner() const { return in_; }
    constexpr expr_id id() const { return id_; }

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
