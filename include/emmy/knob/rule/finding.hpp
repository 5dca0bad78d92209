#pragma once
#include <emmy/knob/family.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace emmy::knob {

/// Words of a rule. A literal brings its length: counting it again for every row takes a compiler to its limits.
struct words {
    std::string_view text;
    template <std::size_t Size>
    constexpr words(const char (&literal)[Size]) : text(literal, Size - 1) {}
    constexpr words(std::string_view view) : text(view) {}
    template <std::same_as<const char*> Pointer>
    constexpr words(Pointer closed_by_nul) : text(closed_by_nul) {}
    constexpr operator std::string_view() const { return text; }
};

enum class relation : std::uint8_t {
    at_most,      ///< value <= bound
    at_least,     ///< value >= bound
    multiple_of,  ///< value % bound == 0
    equal_to,     ///< value == bound
    words         ///< `found` is text, `expected` says what it ought to be
};

/// Why a rule refuses a row, as data: rule, knob, what was looked at, its value, and the bound. True where there is something to say.
/// A literal: compilers and run time print the same sentence of it.
struct finding {
    std::string_view id;        ///< of the rule, set by whoever asks it
    std::string_view knob;      ///< family or key
    std::string_view what;      ///< "threads of a block"
    std::int64_t value = 0, bound = 0;
    relation how = relation::words;
    value_text found;           ///< of relation::words
    std::string_view expected;  ///< of relation::words
    bool bad = false;

    constexpr explicit operator bool() const { return bad; }
    /// "K1 WORK: threads of a block is 2048, must be at most 1024", "K5 RASTER: found [gm8], expected a tiled contraction".
    constexpr bounded_text<480> sentence() const {
        constexpr std::string_view relations[] = {"at most ", "at least ", "a multiple of ", ""};
        bounded_text<480> out(id);
        out.append(id.empty() ? "" : " ").append(knob).append(": ");
        if (how == relation::words) return out.append("found [").append(found.view()).append("], expected ").append(expected);
        return out.append(what).append(" is ").append(value).append(", must be ").append(relations[static_cast<int>(how)]).append(bound);
    }
};

/// The same as a free function.
constexpr bounded_text<480> sentence(const finding& f) { return f.sentence(); }

/// Nothing to say.
inline constexpr finding fine{};

constexpr finding at_most(words knob, words what, std::int64_t value, std::int64_t bound) {
    return {{}, knob.text, what.text, value, bound, relation::at_most, {}, {}, value > bound};
}
constexpr finding at_least(words knob, words what, std::int64_t value, std::int64_t bound) {
    return {{}, knob.text, what.text, value, bound, relation::at_least, {}, {}, value < bound};
}
constexpr finding multiple_of(words knob, words what, std::int64_t value, std::int64_t bound) {
    return {{}, knob.text, what.text, value, bound, relation::multiple_of, {}, {}, bound == 0 || value % bound != 0};
}
constexpr finding equal_to(words knob, words what, std::int64_t value, std::int64_t bound) {
    return {{}, knob.text, what.text, value, bound, relation::equal_to, {}, {}, value != bound};
}
/// The value of a family is refused unless `good`: `need<RASTER>(r, tiled, "a tiled contraction")`.
template <class F, class Row>
constexpr finding need(const Row& r, bool good, words expected) {
    finding out{{}, F::name, {}, 0, 0, relation::words, {}, expected.text, !good};
    if (!good) out.found = F::spell(r.template get<F>());
    return out;
}
/// The value of a contextual family goes with the one that it depends on: what its own misfit says.
template <contextual F, class Row>
constexpr finding fits(const Row& r) {
    const char* expected = F::misfit(r.template get<F>(), r.template get<typename F::under>());
    return need<F>(r, expected == nullptr, expected == nullptr ? std::string_view() : std::string_view(expected));
}
/// The first of several that has something to say.
template <class... More>
constexpr finding first_of(const finding& f, const More&... more) {
    if constexpr (sizeof...(more) == 0) return f;
    else return f ? f : first_of(more...);
}

}  // namespace emmy::knob
