#pragma once
#include <emmy/core/result.hpp>
#include <emmy/core/refused.hpp>
#include <emmy/knob/rule/finding.hpp>
#include <emmy/knob/rule/sites.hpp>

#include <array>
#include <concepts>

namespace emmy::knob {

/// A rule is a type with an id, one sentence for people, the families that it reads, and a constexpr test:
///
///   struct R1 {
///       static constexpr std::string_view id = "R1", means = "A tile fits the shared memory of the card.";
///       using reads = row<BLK, VEC>;
///       static constexpr finding test(const auto& r, const my_card& c) { return at_most("BLK", "bytes of a tile", bytes(r), c.smem); }
///   };
///
/// `test` takes the row, the row and a target, or the row, a target and a kernel; what it does not take it does not depend on. A rule
/// over families with several sites in a kernel is asked once a site. A rule about a whole schedule row reads `schedule_row` itself.
/// A family that a row lacks is at its OFF value.
template <class R>
concept rule = requires {
    { R::id } -> std::convertible_to<std::string_view>;
    { R::means } -> std::convertible_to<std::string_view>;
    requires any_row<typename R::reads> || std::same_as<typename R::reads, schedule_row>;
};

/// "No target", "no kernel": what check() passes when it is given none.
struct no_target {
    constexpr bool operator==(const no_target&) const = default;
};
struct no_kernel {
    constexpr bool operator==(const no_kernel&) const = default;
};

namespace detail {

template <class R, class Row, class... Context>
concept testable = requires(const Row& r, const Context&... context) {
    { R::test(r, context...) } -> std::same_as<finding>;
};
template <class R>
constexpr bounded_text<240> asks_for_more() {
    return bounded_text<240>("rule ").append(std::string_view(R::id)).append(": its test takes more than it was given, expected check<rules>(row, target, kernel)");
}

/// The rule's own test on one row of what it reads; without the id.
template <rule R, class Row, class Target, class Kernel>
constexpr finding raw_finding(const Row& r, [[maybe_unused]] const Target& target, [[maybe_unused]] const Kernel& kernel) {
    if constexpr (testable<R, Row>) {
        return R::test(r);
    } else if constexpr (testable<R, Row, Target>) {
        return R::test(r, target);
    } else if constexpr (testable<R, Row, Target, Kernel>) {
        return R::test(r, target, kernel);
    } else {
        say<[] { return asks_for_more<R>(); }>();
        return {};
    }
}
template <rule R, class Row, class Target, class Kernel>
constexpr finding ask(const Row& r, const Target& target, const Kernel& kernel) {
    finding out = raw_finding<R>(r, target, kernel);
    out.id = R::id;
    return out;
}

}  // namespace detail

/// What a rule says about a row of any kind: the first finding over its sites. `fine` where it has nothing to say.
template <rule R, class Row, class Target = no_target, class Kernel = no_kernel>
constexpr finding judge(const Row& r, const Target& target = {}, const Kernel& kernel = {}) {
    finding out;
    detail::each_part<typename R::reads>(r, [&](const auto& part) {
        out = detail::ask<R>(part, target, kernel);
        return !out;
    });
    return out;
}

/// Findings of one row, one a rule at most, in the order of the rules.
template <std::size_t Most>
struct finding_list {
    std::array<finding, Most + 1> items{};
    std::size_t count = 0;
    constexpr std::size_t size() const { return count; }
    constexpr bool empty() const { return count == 0; }
    constexpr const finding& operator[](std::size_t i) const { return items[i]; }
    constexpr const finding* begin() const { return items.data(); }
    constexpr const finding* end() const { return items.data() + count; }
};

/// An ordered list of rules. Findings are reported in this order, whatever order a space finds cheapest.
template <rule... Rs>
struct rules {
    static constexpr std::size_t size = sizeof...(Rs);
    template <rule... More>
    using with = rules<Rs..., More...>;

    /// The first finding.
    template <class Row, class Target = no_target, class Kernel = no_kernel>
    static constexpr finding first(const Row& r, const Target& target = {}, const Kernel& kernel = {}) {
        finding out;
        ((out = out ? out : knob::judge<Rs>(r, target, kernel)), ...);
        return out;
    }
    /// Every finding.
    template <class Row, class Target = no_target, class Kernel = no_kernel>
    static constexpr finding_list<size> all(const Row& r, const Target& target = {}, const Kernel& kernel = {}) {
        finding_list<size> out;
        const auto add = [&](const finding& f) {
            if (f) out.items[out.count++] = f;
        };
        (add(knob::judge<Rs>(r, target, kernel)), ...);
        return out;
    }
    /// Calls f.template operator()<R>() for each rule in order.
    template <class Function>
    static constexpr void each(Function&& f) { (f.template operator()<Rs>(), ...); }
};

/// The answer of check(): true = legal; else why.
struct verdict {
    finding why;
    constexpr explicit operator bool() const { return !why; }
    constexpr bounded_text<480> sentence() const { return knob::sentence(why); }
    /// Error (user): the sentence.
    operator result<void>() const {
        if (why) return emmy::refuse(fault_kind::user, std::string(sentence().view()));
        return {};
    }
};

/// Is a row legal under these rules? At run time a value to ask; at compile time `static_assert(check<my_rules>(row, target, kernel))`,
/// or legal<>, which prints the sentence.
template <class Rules, class Row, class Target = no_target, class Kernel = no_kernel>
constexpr verdict check(const Row& r, const Target& target = {}, const Kernel& kernel = {}) { return {Rules::first(r, target, kernel)}; }

/// Every finding of a row, in the order of the rules.
template <class Rules, class Row, class Target = no_target, class Kernel = no_kernel>
constexpr auto refusals(const Row& r, const Target& target = {}, const Kernel& kernel = {}) { return Rules::all(r, target, kernel); }

namespace detail {
template <class Rules, auto Row, auto Target, auto Kernel>
consteval bool is_legal() {
    if constexpr (static_cast<bool>(Rules::first(Row, Target, Kernel))) return say<[] { return sentence(Rules::first(Row, Target, Kernel)); }>();
    return true;
}
}  // namespace detail

/// The compile-time door for literal rows: `static_assert(legal<my_rules, lit_of<row<BLK, VEC>, "BLK=b32x8", "VEC=4">, card>);` An illegal
/// row does not compile and the compiler prints rule, knob, value and bound.
template <class Rules, auto Row, auto Target = no_target{}, auto Kernel = no_kernel{}>
inline constexpr bool legal = detail::is_legal<Rules, Row, Target, Kernel>();

}  // namespace emmy::knob
