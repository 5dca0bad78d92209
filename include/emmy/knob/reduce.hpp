#pragma once
#include <emmy/knob/family.hpp>
#include <emmy/knob/work.hpp>

namespace emmy::knob {

enum class split_mode : std::uint8_t { none, kernel, atomic };       ///< how CTAs that share a reduce combine
enum class coop_mode : std::uint8_t { none, interleaved, transposed };  ///< how threads of one CTA share it

/// How a reduced axis is shared: among CTAs (structural: a routing arm) and inside one (a schedule choice of the child).
struct reduce {
    split_mode split = split_mode::none;
    coop_mode coop = coop_mode::none;   ///< width = first dimension of WORK, not in the text
    std::uint16_t ctas = 1;             ///< of the split
    std::uint16_t lanes = 32;           ///< output lanes of a transposed coop: 32 or 8
    std::uint16_t vector = 1;           ///< adjacent elements a lane
    std::uint16_t accumulators = 1;     ///< independent ones a thread

    constexpr bool operator==(const reduce&) const = default;
    constexpr bool crosses_ctas() const { return split != split_mode::none; }
    /// The half that a schedule row may hold.
    constexpr reduce inside() const {
        reduce out = *this;
        out.split = split_mode::none;
        out.ctas = 1;
        return out;
    }
};

/// REDUCE = "" | part { "/" part }, part = "g" n ("a"|"k") | "coop" | "coop-t" | "n8" | "v" n | "r" n, in this order, each at most once
struct REDUCE {
    using value_type = reduce;
    using under = WORK;  ///< its texts are checked against the row's own
    static constexpr std::string_view name = "REDUCE";
    static constexpr scope where = scope::node;
    static constexpr role meaning = role::schedule;  ///< of the part inside a CTA; see role_of
    static constexpr value_kind kind = value_kind::text;
    static constexpr int version = 1;
    static constexpr reduce off{};

    /// A value with a cross-CTA stage decides kernels, any other one a schedule.
    static constexpr role role_of(const reduce& value) { return value.crosses_ctas() ? role::structural : role::schedule; }

    /// The text alone, as the loader checks it: as if WORK were t32.
    static constexpr parsed<reduce> parse(std::string_view text) {
        scanner in(name, text);
        reduce out;
        if (in.done()) return out;
        bool first = true;
        // `take` starts a part of this letter if it comes next; after the first part a slash leads.
        const auto part = [&](std::string_view token) {
            const std::string_view rest = in.rest();
            if (!first && !(rest.starts_with('/') && rest.substr(1).starts_with(token))) return false;
            if (first && !rest.starts_with(token)) return false;
            if (!first) in.take("/");
            first = false;
            return in.take(token);
        };
        if (part("g")) {
            if (!in.number(out.ctas, 2, "a number of CTAs from 2 up")) return in.refused();
            if (in.take("k")) out.split = split_mode::kernel;
            else if (in.take("a")) out.split = split_mode::atomic;
            else return in.refused("k or a after the number of CTAs");
        }
        if (part("coop-t")) out.coop = coop_mode::transposed;
        else if (part("coop")) out.coop = coop_mode::interleaved;
        const bool coop = out.coop != coop_mode::none;
        if (const std::size_t at = in.offset(); part("n")) {
            if (!in.number(out.lanes)) return in.refused();
            if (out.coop != coop_mode::transposed) in.fail_at(at, "n only after coop-t");
            else if (out.lanes == 32) in.fail_at(at, "no n32 (spell it without)");
            else if (out.lanes != 8) in.fail_at(at, "n8");
        }
        if (const std::size_t at = in.offset(); part("v")) {
            if (!in.number(out.vector)) return in.refused();
            if (out.vector == 1) in.fail_at(at, "no v1 (spell it without)");
            else if (!coop) in.fail_at(at, "v only after coop or coop-t");
        }
        if (const std::size_t at = in.offset(); part("r")) {
            if (!in.number(out.accumulators)) return in.refused();
            if (out.accumulators == 1) in.fail_at(at, "no r1 (spell it without)");
        }
        if (!in.end(first ? "g, coop, coop-t, r or no text" : "the end or the next of g, coop, n, v, r in this order")) return in.refused();
        return out;
    }
    /// The text under the row's own WORK.
    static constexpr parsed<reduce> parse(std::string_view text, const work& under) {
        const parsed<reduce> out = parse(text);
        if (out)
            if (const char* expected = misfit(*out, under)) return refusal{name, text, expected, 0};
        return out;
    }
    static constexpr const char* misfit(const reduce& value, const work& under) {
        if (value.coop == coop_mode::none) return nullptr;
        if (under.coop_width() < 2) return "WORK t... of width 2 or more for coop";
        if (value.lanes != 32 && under.coop_width() % value.lanes != 0) return "a WORK width that is a multiple of 8 for n8";
        return nullptr;
    }
    static constexpr value_text spell(const reduce& value) {
        value_text out;
        const auto slash = [&] { if (!out.empty()) out.append('/'); };
        if (value.crosses_ctas()) out.append('g').append(value.ctas).append(value.split == split_mode::kernel ? 'k' : 'a');
        if (value.coop != coop_mode::none) {
            slash();
            out.append(value.coop == coop_mode::transposed ? "coop-t" : "coop");
            if (value.lanes != 32) out.append("/n").append(value.lanes);
        }
        if (value.vector != 1) out.append("/v").append(value.vector);
        if (value.accumulators != 1) {
            slash();
            out.append('r').append(value.accumulators);
        }
        return out;
    }
};

}  // namespace emmy::knob
