#pragma once
#include <emmy/knob/space/listed.hpp>
#include <emmy/knob/space/push.hpp>
#include <emmy/knob/space/text_pin.hpp>

namespace emmy::knob {

namespace detail {

template <class A, class B>
struct pack_of;
template <family... As, family... Bs>
struct pack_of<row<As...>, row<Bs...>> {
    static constexpr auto why_not_beside() { return why_not_row<As..., Bs...>(); }
    static constexpr bounded_text<240> why_not_after() {
        bounded_text<240> out;
        if constexpr (sizeof...(As) != sizeof...(Bs) || !(row<As...>::template has<Bs> && ...))
            out.append("sum: rows over ").append(names_of<Bs...>.view()).append(" after rows over ").append(names_of<As...>.view()).append(", expected the same families");
        return out;
    }
    static constexpr bounded_text<240> why_not_read() {
        bounded_text<240> out;
        if constexpr (!(row<As...>::template has<Bs> && ...))
            out.append("space: the test reads ").append(names_of<Bs...>.view()).append(", the rows have ").append(names_of<As...>.view()).append(", expected all that it reads");
        return out;
    }
};
template <any_row A, any_row B>
consteval bool stand_side_by_side() {
    if constexpr (!pack_of<A, B>::why_not_beside().empty()) return say<[] { return pack_of<A, B>::why_not_beside(); }>();
    return true;
}
template <any_row A, any_row B>
consteval bool stand_one_after_another() {
    if constexpr (!pack_of<A, B>::why_not_after().empty()) return say<[] { return pack_of<A, B>::why_not_after(); }>();
    return true;
}
template <any_row A, any_row B>
consteval bool has_all_that_is_read() {
    if constexpr (!pack_of<A, B>::why_not_read().empty()) return say<[] { return pack_of<A, B>::why_not_read(); }>();
    return true;
}

}  // namespace detail

/// A * B: every row of A beside every row of B, B fastest. Families must be distinct and of one role.
template <row_space A, row_space B>
constexpr auto operator*(const A& a, const B& b) {
    static_assert(detail::stand_side_by_side<row_of<A>, row_of<B>>());
    return product<A, B>(a, b);
}
/// A + B: the rows of A, then those of B that A has not. Both over the same families.
template <row_space A, row_space B>
constexpr auto operator+(const A& a, const B& b) {
    static_assert(detail::stand_one_after_another<row_of<A>, row_of<B>>());
    return sum<A, B>(a, b);
}
/// A % test: the rows that pass. `A + B % r` is `A + (B % r)`, `A * B % r` is `(A * B) % r`.
template <row_space A, row_filter F>
constexpr auto operator%(const A& a, const F& passes) {
    static_assert(detail::has_all_that_is_read<row_of<A>, typename F::reads>());
    return detail::push(a, passes);
}
/// A >> f: beside each row a of A the rows of f(a). f is a function object that gives spaces of one type, over families that A has not.
template <row_space A, class Function>
    requires(!row_space<Function>)
constexpr auto operator>>(const A& a, const Function& f) {
    static_assert(std::is_invocable_v<const Function&, const row_of<A>&>, "space >> f: f is not callable with a row of the space, expected [](const auto& row) { return <a space>; }");
    static_assert(row_space<detail::space_at<Function, row_of<A>>>, "space >> f: f(row) is no space, expected a space of one type for every row");
    static_assert(detail::stand_side_by_side<row_of<A>, row_of<detail::space_at<Function, row_of<A>>>>());
    return dependent<A, Function>(a, f);
}
/// A | is<F>(value): only the rows with this value.
template <row_space A, family F>
constexpr auto operator|(const A& a, const is_value<F>& pin) {
    static_assert(detail::has_all_that_is_read<row_of<A>, row<F>>());
    return detail::push(a, pin);
}
/// A | "VEC=4": the same from a text in the source. Texts of a run: pin_by.
template <row_space A>
constexpr auto operator|(const A& a, const source_pin<row_of<A>>& text) { return detail::push_pins(a, text.pins); }
template <row_space A, fixed_string Text>
constexpr auto operator|(const A& a, pin_literal<Text>) { return detail::push_pins(a, detail::read_pin<row_of<A>, Text>()); }

}  // namespace emmy::knob
