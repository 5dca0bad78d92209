#pragma once
#include <emmy/knob/family.hpp>

namespace emmy::knob {

namespace detail {
/// A family of plain numbers: `Least`… up to 65535, and 0 where ZeroToo.
template <std::uint16_t Least, bool ZeroToo>
struct counted {
    using value_type = std::uint16_t;
    static constexpr value_kind kind = value_kind::integer;
    static constexpr int version = 1;
    static constexpr parsed<std::uint16_t> parse_as(std::string_view name, std::string_view text, std::string_view expected) {
        scanner in(name, text);
        std::uint16_t out = 0;
        if (!in.number(out, ZeroToo ? 0 : Least, expected)) return in.refused();
        if (out < Least && out != 0) in.fail_at(0, expected);
        if (!in.end("the end")) return in.refused();
        return out;
    }
    static constexpr value_text spell(std::uint16_t value) { return value_text().append(value); }
};
}  // namespace detail

/// Cosmetic re-rolling of runs of at least N congruent statements; "0" = none. The machine code is the same.
struct LOOPIFY : detail::counted<2, true> {
    static constexpr std::string_view name = "LOOPIFY";
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::cosmetic;
    static constexpr std::uint16_t off = 0;
    static constexpr parsed<std::uint16_t> parse(std::string_view text) { return parse_as(name, text, "0 or a run length from 2 up"); }
};

/// Threads of the team that runs a kernel on a processor. WORK never changes their number.
struct TEAM : detail::counted<1, false> {
    static constexpr std::string_view name = "TEAM";
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::regime;
    static constexpr parsed<std::uint16_t> parse(std::string_view text) { return parse_as(name, text, "a number of threads from 1 up"); }
};

/// Cap on unrolled steps. Unset = the site's own: 64 inner reduce, 128 attention stream, none for chunks of matrix atoms.
struct UNROLL : detail::counted<1, false> {
    static constexpr std::string_view name = "UNROLL";
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::regime;
    static constexpr parsed<std::uint16_t> parse(std::string_view text) { return parse_as(name, text, "a number of steps from 1 up"); }
};

}  // namespace emmy::knob
