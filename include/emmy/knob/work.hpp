#pragma once
#include <emmy/knob/family.hpp>

namespace emmy::knob {

enum class work_form : std::uint8_t { cell, warps, threads };

/// The inventory of one block. m = outer, n = inner output axis. Beware the order of the text: w<m>x<n> but t<n>x<m>.
struct work {
    work_form form = work_form::cell;  ///< cell = one thread an output cell (or strip), default block size
    std::uint16_t m = 1, n = 1;        ///< warps, resp. threads, along each axis
    std::uint16_t producers = 0;       ///< extra warps at the tail that only issue TMA fills

    constexpr bool operator==(const work&) const = default;

    constexpr std::int64_t units() const { return std::int64_t{m} * n; }
    /// Threads of a block; 1 where the block size is not chosen here.
    constexpr std::int64_t threads(int lanes = 32) const {
        return units() * (form == work_form::warps ? lanes : 1) + std::int64_t{producers} * lanes;
    }
    /// Width of a cooperative reduce: the first dimension of t<n>; 1 where there is none.
    constexpr int coop_width() const { return form == work_form::threads ? n : 1; }
};

/// WORK = "" | "w" n "x" n [ "+p" n ] | "t" n [ "x" n ]
struct WORK {
    using value_type = work;
    static constexpr std::string_view name = "WORK";
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::text;
    static constexpr int version = 1;
    static constexpr work off{};

    static constexpr parsed<work> parse(std::string_view text) {
        scanner in(name, text);
        work out;
        if (in.done()) return out;
        if (in.take("w")) {
            out.form = work_form::warps;
            if (!in.number(out.m) || !in.need("x", "x and the second dimension") || !in.number(out.n)) return in.refused();
            if (in.take("+p") && !in.number(out.producers)) return in.refused();
            if (!in.end("the end or +p and a number of producer warps")) return in.refused();
        } else if (in.take("t")) {
            out.form = work_form::threads;
            if (!in.number(out.n)) return in.refused();
            if (const std::size_t x = in.offset(); in.take("x")) {
                if (!in.number(out.m)) return in.refused();
                if (out.m == 1) in.fail_at(x, "no x1 (spell it without)");
            }
            if (!in.end("the end (producer warps belong to w)")) return in.refused();
        } else {
            return in.refused("w, t or no text");
        }
        return out;
    }
    static constexpr value_text spell(const work& value) {
        value_text out;
        if (value.form == work_form::warps) {
            out.append('w').append(value.m).append('x').append(value.n);
            if (value.producers) out.append("+p").append(value.producers);
        } else if (value.form == work_form::threads) {
            out.append('t').append(value.n);
            if (value.m != 1) out.append('x').append(value.m);
        }
        return out;
    }
};

}  // namespace emmy::knob
