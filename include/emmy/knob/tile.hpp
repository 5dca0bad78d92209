#pragma once
#include <emmy/knob/atom.hpp>
#include <emmy/knob/family.hpp>
#include <emmy/knob/work.hpp>

#include <optional>

namespace emmy::knob {

enum class tile_form : std::uint8_t { cell, warp, scalar };

/// What one warp (thread) owns of the output. Beware the order of the text: warp f<fm>x<fn>, but scalar f<fn>x<fm>.
struct tile {
    tile_form form = tile_form::cell;   ///< cell = one output cell a thread
    knob::atom atom = atom::scalar;     ///< of a warp tile
    std::uint16_t fm = 1, fn = 1;       ///< fragments of a warp, registers of a thread, along the outer and the inner axis
    std::uint16_t k = 1;                ///< chunk of k in atoms: k * atom k elements a ring slot (warp only)

    constexpr bool operator==(const tile&) const = default;

    constexpr bool is_warp() const { return form == tile_form::warp; }
    /// Elements of the CTA tile along each axis, and of the chunk of k, for a WORK of the fitting form.
    constexpr std::int64_t rows(const work& w) const { return std::int64_t{w.m} * fm * (is_warp() ? facts(atom).m : 1); }
    constexpr std::int64_t columns(const work& w) const { return std::int64_t{w.n} * fn * (is_warp() ? facts(atom).n : 1); }
    constexpr std::int64_t chunk() const { return std::int64_t{k} * (is_warp() ? facts(atom).k : 1); }
};

/// TILE = "" | atom "/f" n "x" n [ "/k" n ] | "f" n [ "x" n ]
struct TILE {
    using value_type = tile;
    using under = WORK;  ///< its texts are checked against the row's own
    static constexpr std::string_view name = "TILE";
    static constexpr scope where = scope::node;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::text;
    static constexpr int version = 1;
    static constexpr tile off{};

    /// The text alone, as the loader checks it: as if WORK were t2 for a scalar and w1x1 for a warp tile.
    static constexpr parsed<tile> parse(std::string_view text) {
        scanner in(name, text);
        tile out;
        if (in.done()) return out;
        if (in.take("f")) {
            out.form = tile_form::scalar;
            if (!in.number(out.fn)) return in.refused();
            if (const std::size_t x = in.offset(); in.take("x")) {
                if (!in.number(out.fm)) return in.refused();
                if (out.fm == 1) in.fail_at(x, "no x1 (spell it without)");
            }
            if (!in.end("the end (a scalar tile has no k)")) return in.refused();
            return out;
        }
        const std::size_t slash = text.find('/');
        out.form = tile_form::warp;
        const parsed<knob::atom> named = parse_atom(text.substr(0, slash));
        if (!named) return in.refused("an atom (mma_..., wgmma_...), f or no text");
        out.atom = *named;
        in.take(facts(out.atom).name);
        if (!in.need("/f", "/f and the fragments of a warp") || !in.number(out.fm) || !in.need("x", "x and the second dimension") || !in.number(out.fn))
            return in.refused();
        if (const std::size_t chunk = in.offset(); in.take("/k")) {
            if (!in.number(out.k)) return in.refused();
            if (out.k == 1) in.fail_at(chunk, "no /k1 (spell it without)");
        }
        if (!in.end("the end or /k and a number")) return in.refused();
        return out;
    }
    /// The text under the row's own WORK.
    static constexpr parsed<tile> parse(std::string_view text, const work& under) {
        const parsed<tile> out = parse(text);
        if (out)
            if (const char* expected = misfit(*out, under)) return refusal{name, text, expected, 0};
        return out;
    }
    /// Words for what WORK ought to be, or null where the tile fits it.
    static constexpr const char* misfit(const tile& value, const work& under) {
        if (value.is_warp() && under.form != work_form::warps) return "WORK w... for a warp tile";
        if (value == tile{tile_form::scalar} && (under.form != work_form::threads || under.units() < 2))
            return "WORK t... of two threads or more for f1 (else spell no text)";
        return nullptr;
    }
    static constexpr value_text spell(const tile& value) {
        value_text out;
        if (value.form == tile_form::scalar) {
            out.append('f').append(value.fn);
            if (value.fm != 1) out.append('x').append(value.fm);
        } else if (value.form == tile_form::warp) {
            out.append(facts(value.atom).name).append("/f").append(value.fm).append('x').append(value.fn);
            if (value.k != 1) out.append("/k").append(value.k);
        }
        return out;
    }
};

}  // namespace emmy::knob
