#pragma once
#include <emmy/core/refused.hpp>
#include <emmy/knob/families.hpp>
#include <emmy/knob/routing_row.hpp>
#include <emmy/knob/row_parse.hpp>
#include <emmy/knob/schedule_row.hpp>

#include <array>
#include <optional>

namespace emmy::knob {

/// A value of any family from a literal; a wrong one does not compile and the diagnostic says what was expected and where.
///   constexpr auto v = value_of<TILE, "f4x8">();
template <family F, fixed_string Text>
consteval typename F::value_type value_of() {
    if constexpr (!F::parse(Text.view())) say<[] { return F::parse(Text.view()).error().sentence(); }>();
    return *F::parse(Text.view());
}
/// The same under a value of the family that it depends on: `value_of<TILE, "f1", "t32">()`.
template <contextual F, fixed_string Text, fixed_string Under>
consteval typename F::value_type value_of() {
    constexpr auto context = value_of<typename F::under, Under>();
    constexpr auto value = value_of<F, Text>();
    if constexpr (F::misfit(value, context) != nullptr)
        say<[] { return refusal{F::name, Text.view(), F::misfit(value_of<F, Text>(), value_of<typename F::under, Under>()), 0}.sentence(); }>();
    return value;
}

namespace literals {
/// gpu::warp_tiles("mma_m16n8k16_f16_f32"_atom, target)
template <fixed_string Text>
consteval atom operator""_atom() {
    if constexpr (!parse_atom(Text.view())) say<[] { return parse_atom(Text.view()).error().sentence(); }>();
    return *parse_atom(Text.view());
}
template <fixed_string Text> consteval work operator""_work() { return value_of<WORK, Text>(); }
template <fixed_string Text> consteval tile operator""_tile() { return value_of<TILE, Text>(); }  ///< text alone; under WORK: lit<>
template <fixed_string Text> consteval reduce operator""_reduce() { return value_of<REDUCE, Text>(); }
template <fixed_string Text> consteval stage operator""_stage() { return value_of<STAGE, Text>(); }
template <fixed_string Text> consteval raster operator""_raster() { return value_of<RASTER, Text>(); }
template <fixed_string Text> consteval place operator""_place() { return value_of<PLACE, Text>(); }
template <fixed_string Text> consteval layout operator""_layout() { return value_of<LAYOUT, Text>(); }
template <fixed_string Text>
consteval route operator""_route() {
    if constexpr (!route::parse(Text.view())) say<[] { return route::parse(Text.view()).error().sentence(); }>();
    return *route::parse(Text.view());
}
}  // namespace literals

namespace detail {

/// A literal text that is known to have its =.
constexpr knob_pair pair_of(std::string_view text) { return *key_and_value(text, "row"); }

/// First reason against a literal schedule row; all views are into the texts.
template <std::size_t Count>
constexpr std::optional<refusal> why_not_schedule(const std::array<std::string_view, Count>& texts) {
    schedule_row row;
    for (std::string_view text : texts) {
        const auto pair = key_and_value(text, "row");
        if (!pair) return pair.error();
        if (const auto why = row.put(pair->key, pair->value)) return why;
    }
    if (!row.get<WORK>()) return std::nullopt;
    for (std::string_view text : texts) {
        const knob_pair pair = pair_of(text);
        const char* expected = nullptr;
        schedule_row::families::visit(split_key(pair.key).family, [&]<class F>() {
            if constexpr (contextual<F>) expected = F::misfit(*F::parse(pair.value), row.value<WORK>());
        });
        if (expected) return refusal{pair.key, pair.value, expected};
    }
    return std::nullopt;
}
template <std::size_t Count>
constexpr std::optional<refusal> why_not_routing(const std::array<std::string_view, Count>& texts) {
    for (std::size_t i = 0; i < Count; ++i) {
        const auto pair = key_and_value(texts[i], "row");
        if (!pair) return pair.error();
        if (const auto why = routing_row::check(pair->key, pair->value)) return why;
        for (std::size_t j = 0; j < i; ++j)
            if (pair_of(texts[j]).key == pair->key) return refusal{pair->key, "the key twice", "it once", refusal::nowhere, false};
    }
    return std::nullopt;
}
template <fixed_string... Pairs>
inline constexpr std::array<std::string_view, sizeof...(Pairs)> texts_of{Pairs.view()...};

}  // namespace detail

/// A schedule row whose texts the compiler has checked; carries no data. Where the pairs have no WORK, values are checked alone.
template <fixed_string... Pairs>
struct literal_row {
    static constexpr std::size_t size = sizeof...(Pairs);

    static constexpr schedule_row row() {
        schedule_row out;
        for (std::string_view text : detail::texts_of<Pairs...>) {
            const knob_pair pair = detail::pair_of(text);
            out.put(pair.key, pair.value);
        }
        return out;
    }
    constexpr operator schedule_row() const { return row(); }
    template <schedule_family F>
    static constexpr auto value(const route& at = {}) { return row().template value<F>(at); }
};
/// The same for the arm of a routing row.
template <fixed_string... Pairs>
struct literal_arm {
    static constexpr std::size_t size = sizeof...(Pairs);

    static routing_row row() {
        std::array<knob_pair, size> pairs;
        for (std::size_t i = 0; i < size; ++i) pairs[i] = detail::pair_of(detail::texts_of<Pairs...>[i]);
        return *routing_row::parse(pairs);
    }
    operator routing_row() const { return row(); }
};

namespace detail {
template <fixed_string... Pairs>
consteval literal_row<Pairs...> checked_row() {
    if constexpr (why_not_schedule(texts_of<Pairs...>).has_value()) say<[] { return why_not_schedule(texts_of<Pairs...>)->sentence(); }>();
    return {};
}
template <fixed_string... Pairs>
consteval literal_arm<Pairs...> checked_arm() {
    static_assert(sizeof...(Pairs) > 0, "an arm holds one or more structural choices");
    if constexpr (why_not_routing(texts_of<Pairs...>).has_value()) say<[] { return why_not_routing(texts_of<Pairs...>)->sentence(); }>();
    return {};
}
}  // namespace detail

/// lit<"WORK=w4x2", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "STAGE=d2/smem-tma", "RASTER=">
template <fixed_string... Pairs>
inline constexpr auto lit = detail::checked_row<Pairs...>();

/// arm<"PLACE@map.2/inner=cut">
template <fixed_string... Pairs>
inline constexpr auto arm = detail::checked_arm<Pairs...>();

}  // namespace emmy::knob
