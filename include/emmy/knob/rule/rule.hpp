#pragma once
#include <emmy/core/result.hpp>
#include <emmy/core/refused.hpp>
#include <emmy/knob/rule/finding.hpp>
#include <emmy/knob/rule/sites.hpp>

#include <array>
#include <concepts>
#include <type_traits>
#include <utility>

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
/// The same, whatever it gives.
template <class R, class Row, class... Context>
concept askable = requires(const Row& r, const Context&... context) { R::test(r, context...); };

template <class R, class Row, class... Context>
constexpr std::string_view what_it_gives() {
    using type = std::remove_cvref_t<decltype(R::test(std::declval<const Row&>(), std::declval<const Context&>()...))>;
    return std::is_same_v<type, bool> ? "bool" : std::is_void_v<type> ? "nothing" : "another type";
}
/// Why a rule cannot be asked with what it is given; no text where it can.
template <class R, class Row, class Target, class Kernel>
constexpr bounded_text<320> why_not_asked() {
    bounded_text<320> out;
    if constexpr (testable<R, Row> || testable<R, Row, Target> || testable<R, Row, Target, Kernel>) return out;
    out.append("rule ").append(std::string_view(R::id)).append(": its test ");
    constexpr std::string_view finding_expected = ", expected a finding (at_most, need, ...)";
    if constexpr (askable<R, Row>) return out.append("returns ").append(what_it_gives<R, Row>()).append(finding_expected);
    else if constexpr (askable<R, Row, Target>) return out.append("returns ").append(what_it_gives<R, Row, Target>()).append(finding_expected);
    else if constexpr (askable<R, Row, Target, Kernel>) return out.append("returns ").append(what_it_gives<R, Row, Target, Kernel>()).append(finding_expected);
    else return out.append("takes more than it was given, expected check<rules>(row, target, kernel), or holds<rules>(target, kernel)");
}
template <class R, class Row, class Target, class Kernel>
consteval bool can_be_asked() {
    if constexpr (!why_not_asked<R, Row, Target, Kernel>().empty()) return say<[] { return why_not_asked<R, Row, Target, Kernel>(); }>();
    else return true;
}

/// What a type lacks to be a rule; no text where it is one.
template <class R>
constexpr bounded_text<240> why_not_rule() {
    bounded_text<240> out("rule");
    if constexpr (requires { { R::id } -> std::convertible_to<std::string_view>; }) out.append(' ').append(std::string_view(R::id));
    else return out.append(": found no id, expected a static text id");
    if constexpr (rule<R>) return {};
    else if constexpr (!requires { { R::means } -> std::convertible_to<std::string_view>; }) return out.append(": found no means, expected a sentence for people");
    else return out.append(": found no reads, expected row<families> or schedule_row");
}
template <class R>
consteval bool is_a_rule() {
    if constexpr (!why_not_rule<R>().empty()) return say<[] { return why_not_rule<R>(); }>();
    else return true;
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
        can_be_asked<R, Row, Target, Kernel>();
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
template <class... Rs>
struct rules {
    static_assert((detail::is_a_rule<Rs>() && ...));
    static constexpr std::size_t size = sizeof...(Rs);
    template <class... More>
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

namespace detail {
template <class... Lists>
struct join_rules;
template <class... As>
struct join_rules<rules<As...>> {
    using type = rules<As...>;
};
template <class... As, class... Bs, class... Lists>
struct join_rules<rules<As...>, rules<Bs...>, Lists...> : join_rules<rules<As..., Bs...>, Lists...> {};
}  // namespace detail

/// The rules of several lists, one list after another.
template <class... Lists>
using joined = typename detail::join_rules<Lists...>::type;

/// The answer of check(): true = legal; else why.
struct verdict {
    finding why;
    constexpr explicit operator bool() const { return !why; }
    constexpr bounded_text<480> sentence() const { return why.sentence(); }
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
