#pragma once
#include <emmy/knob/row_parse.hpp>
#include <emmy/knob/space/mapped.hpp>
#include <emmy/knob/space/push.hpp>

namespace emmy::knob {

/// Values for some families of a row type: what KEY=VALUE{,KEY=VALUE} says about it. As a filter it passes the rows that have them all.
template <any_row Row>
struct pinned;
template <family... Fs>
struct pinned<row<Fs...>> {
    using reads = row<Fs...>;
    row<Fs...> values;
    std::array<bool, sizeof...(Fs) + 1> said{};
    bool impossible = false;  ///< one family is pinned to two values

    constexpr bool operator()(const reads& r) const {
        if (impossible) return false;
        bool good = true;
        std::size_t i = 0;
        ((good = good && (!said[i] || r.template get<Fs>() == values.template get<Fs>()), ++i), ...);
        return good;
    }
    template <family F>
    constexpr void put(const typename F::value_type& value) {
        constexpr std::size_t i = row<Fs...>::template index_of<F>;
        if (said[i] && !(values.template get<F>() == value)) impossible = true;
        said[i] = true;
        values = values.template with<F>(value);
    }
    /// What it says about some of the families.
    template <family... Ws>
    constexpr pinned<row<Ws...>> about(const row<Ws...>&) const {
        pinned<row<Ws...>> out;
        out.impossible = impossible;
        std::size_t i = 0;
        (about_one<Fs>(out, said[i++]), ...);
        return out;
    }
    /// Takes KEY and its value; false where the row has no such family. `why` is set where the value is not canonical.
    constexpr bool read(std::string_view key, std::string_view text, std::optional<refusal>& why) { return (read_as<Fs>(key, text, why) || ...); }
    /// Error (user): an unknown key, a value that is not canonical. Views of the text.
    static constexpr parsed<pinned> parse(std::string_view text) {
        pinned out;
        const auto bad = detail::each_pair(text, "pin", [&](std::string_view key, std::string_view value) {
            std::optional<refusal> why;
            if (!out.read(key, value, why)) why = refusal{"pin", key, registry<Fs...>::one_of_them.view(), 0};
            return why;
        });
        if (bad) return *bad;
        return out;
    }

private:
    template <family F, family... Ws>
    constexpr void about_one(pinned<row<Ws...>>& out, bool here) const {
        if constexpr (row<Ws...>::template has<F>)
            if (here) out.template put<F>(values.template get<F>());
    }
    template <family F>
    constexpr bool read_as(std::string_view key, std::string_view text, std::optional<refusal>& why) {
        if (F::name != key) return false;
        const auto value = F::parse(text);
        if (value) {
            put<F>(*value);
        } else {
            why = value.error();
            why->place = key;
        }
        return true;
    }
};

namespace detail {

template <row_space S, any_row Row>
constexpr auto push_pins(const S& s, const pinned<Row>& pins);

/// a -> f(a) | pins
template <class Function, any_row Row, any_row Outer>
struct pinned_function {
    [[no_unique_address]] Function inner;
    pinned<Row> pins;
    constexpr auto operator()(const Outer& a) const { return push_pins(inner(a), pins); }
};

/// A pin is a test of single families, so every factor takes its own share of it; the type of the result does not depend on the text.
template <row_space S>
struct pin_pusher {
    template <any_row Row>
    static constexpr auto go(const S& s, const pinned<Row>& pins) {
        return restricted<S, pinned<row_of<S>>>(s, pins.about(row_of<S>{}));
    }
};
template <row_space A, row_space B>
struct pin_pusher<product<A, B>> {
    template <any_row Row>
    static constexpr auto go(const product<A, B>& s, const pinned<Row>& pins) {
        const auto outer = push_pins(s.outer, pins);
        const auto inner = push_pins(s.inner, pins);
        return product<std::remove_const_t<decltype(outer)>, std::remove_const_t<decltype(inner)>>(outer, inner);
    }
};
template <row_space A, row_space B>
struct pin_pusher<sum<A, B>> {
    template <any_row Row>
    static constexpr auto go(const sum<A, B>& s, const pinned<Row>& pins) {
        const auto first = push_pins(s.first, pins);
        const auto then = push_pins(s.then, pins);
        return sum<std::remove_const_t<decltype(first)>, std::remove_const_t<decltype(then)>>(first, then);
    }
};
template <row_space A, row_filter F>
struct pin_pusher<restricted<A, F>> {
    template <any_row Row>
    static constexpr auto go(const restricted<A, F>& s, const pinned<Row>& pins) {
        const auto inside = push_pins(s.all, pins);
        return restricted<std::remove_const_t<decltype(inside)>, F>(inside, s.passes);
    }
};
template <row_space A, class Function>
struct pin_pusher<dependent<A, Function>> {
    template <any_row Row>
    static constexpr auto go(const dependent<A, Function>& s, const pinned<Row>& pins) {
        const auto outer = push_pins(s.outer, pins);
        using inner = pinned_function<Function, Row, row_of<A>>;
        return dependent<std::remove_const_t<decltype(outer)>, inner>(outer, inner{s.inner, pins});
    }
};
template <row_space S, any_row Row>
constexpr auto push_pins(const S& s, const pinned<Row>& pins) { return pin_pusher<S>::go(s, pins); }

/// Not a constant expression, on purpose: the compiler that reports this call has refused the pin. clang shows the arguments.
inline void pin_refused(std::string_view /*place*/, std::string_view /*found*/, std::string_view /*expected*/, std::uint32_t /*offset*/) {}

}  // namespace detail

/// A pin written in the source, read when it is compiled, for the space it is put on: a wrong one does not compile.
template <any_row Row>
struct source_pin {
    pinned<Row> pins;
    template <std::size_t Size>
    consteval source_pin(const char (&text)[Size]) {
        const auto read = pinned<Row>::parse(std::string_view(text, Size - 1));
        if (!read) detail::pin_refused(read.error().place, read.error().found, read.error().expected, read.error().offset);
        else pins = *read;
    }
};

/// The same with a composed sentence when it is wrong: `space | "VEC=4"_pin`.
template <fixed_string Text>
struct pin_literal {};
namespace literals {
template <fixed_string Text>
consteval pin_literal<Text> operator""_pin() { return {}; }
}  // namespace literals

namespace detail {
template <any_row Row, fixed_string Text>
consteval pinned<Row> read_pin() {
    if constexpr (!pinned<Row>::parse(Text.view())) say<[] { return pinned<Row>::parse(Text.view()).error().sentence(); }>();
    return *pinned<Row>::parse(Text.view());
}
}  // namespace detail

/// A space pinned by a text known at run time: KEY=VALUE{,KEY=VALUE}. Errors (user): an unknown key, a value that is not canonical. A
/// value that the space does not offer gives an empty space.
template <row_space S>
auto pin_by(const S& s, std::string_view text) -> result<decltype(detail::push_pins(s, pinned<row_of<S>>{}))> {
    const auto pins = pinned<row_of<S>>::parse(text);
    if (!pins) return emmy::refuse(pins.error().as(fault_kind::user));
    return detail::push_pins(s, *pins);
}

}  // namespace emmy::knob
