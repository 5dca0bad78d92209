#pragma once
#include <emmy/knob/rule/rule.hpp>
#include <emmy/knob/space/operators.hpp>

namespace emmy::knob {

/// Rules bound to a target and a kernel, for `space % holds<R1, R2>(target, kernel)`. Both are copied into the space: pass large ones by
/// a pointer-like handle.
template <class Target, class Kernel, rule... Rs>
struct bound_rules {
    [[no_unique_address]] Target target;
    [[no_unique_address]] Kernel kernel;
};

namespace detail {

template <class Reads, class Place, family... Fs>
struct reads_here;
template <family... Ws, class Place, family... Fs>
struct reads_here<row<Ws...>, Place, Fs...> {
    template <class F>
    struct as_row {
        using type = row<F>;
    };
    template <class Joined, class F>
    struct add {
        using type = join_t<Joined, row<F>>;
    };
    template <class Joined>
    struct add<Joined, void> {
        using type = Joined;
    };
    template <class Joined, family... Rest>
    struct fold {
        using type = Joined;
    };
    template <class Joined, family W, family... Rest>
    struct fold<Joined, W, Rest...> {
        using type = typename fold<typename add<Joined, typename find_there<Place, W, Fs...>::type>::type, Rest...>::type;
    };
    using type = typename fold<row<>, Ws...>::type;
};
template <class Row, class Reads, class Place>
struct reads_of_row;
template <family... Fs, class Reads, class Place>
struct reads_of_row<row<Fs...>, Reads, Place> {
    using type = typename reads_here<Reads, Place, Fs...>::type;
};

/// One rule at one place of the rows of a space.
template <rule R, class Place, any_row Reads, class Target, class Kernel>
struct rule_filter {
    using reads = Reads;
    [[no_unique_address]] Target target;
    [[no_unique_address]] Kernel kernel;
    constexpr bool operator()(const Reads& r) const {
        if constexpr (std::same_as<typename R::reads, schedule_row>) return !raw_finding<R>(schedule_of(r), target, kernel).bad;
        else return !raw_finding<R>(values_at<typename R::reads, Place>::of(r), target, kernel).bad;
    }
};

template <any_row Row, rule R>
constexpr bounded_text<240> reads_nothing_here() {
    return bounded_text<240>("rule ").append(std::string_view(R::id)).append(": reads no family of the space, expected one of those that it reads");
}

template <rule R, class Target, class Kernel, row_space S, class Place, class... Places>
constexpr auto push_rule_at(const S& s, const Target& target, const Kernel& kernel, place_list<Place, Places...>);

template <rule R, class Target, class Kernel, row_space S, class... Places>
constexpr auto push_rule(const S& s, [[maybe_unused]] const Target& target, [[maybe_unused]] const Kernel& kernel, place_list<Places...>) {
    if constexpr (sizeof...(Places) == 0) return s;
    else return push_rule_at<R>(s, target, kernel, place_list<Places...>{});
}
template <rule R, class Target, class Kernel, row_space S, class Place, class... Places>
constexpr auto push_rule_at(const S& s, const Target& target, const Kernel& kernel, place_list<Place, Places...>) {
    using reads = typename reads_of_row<row_of<S>, typename R::reads, Place>::type;
    if constexpr (reads::size == 0 && R::reads::size != 0) say<[] { return reads_nothing_here<row_of<S>, R>(); }>();
    static_assert(can_be_asked<R, std::remove_cvref_t<decltype(values_at<typename R::reads, Place>::of(std::declval<const reads&>()))>, Target, Kernel>());
    return push_rule<R>(push(s, rule_filter<R, Place, reads, Target, Kernel>{target, kernel}), target, kernel, place_list<Places...>{});
}
template <rule R, row_space S, class Target, class Kernel>
constexpr auto push_rule(const S& s, const Target& target, const Kernel& kernel) {
    if constexpr (std::same_as<typename R::reads, schedule_row>) static_assert(can_be_asked<R, schedule_row, Target, Kernel>());
    if constexpr (std::same_as<typename R::reads, schedule_row>) return push(s, rule_filter<R, bare_place, row_of<S>, Target, Kernel>{target, kernel});
    else return push_rule<R>(s, target, kernel, typename places<row_of<S>, typename R::reads>::type{});
}
template <row_space S, class Target, class Kernel>
constexpr auto push_rules(const S& s, const bound_rules<Target, Kernel>&) {
    return s;
}
template <row_space S, class Target, class Kernel, rule R, rule... Rs>
constexpr auto push_rules(const S& s, const bound_rules<Target, Kernel, R, Rs...>& bound) {
    return push_rules(push_rule<R>(s, bound.target, bound.kernel), bound_rules<Target, Kernel, Rs...>{bound.target, bound.kernel});
}

template <class Target, class Kernel, class... Rs>
struct bound_of {
    static_assert((is_a_rule<Rs>() && ...));
    using type = bound_rules<Target, Kernel, Rs...>;
};
template <class Target, class Kernel, rule... Rs>
struct bound_of<Target, Kernel, rules<Rs...>> {
    using type = bound_rules<Target, Kernel, Rs...>;
};

}  // namespace detail

/// holds<R1, R2>(target, kernel), or a whole list: holds<my_rules>(target).
template <class... Rules, class Target = no_target, class Kernel = no_kernel>
constexpr typename detail::bound_of<Target, Kernel, Rules...>::type holds(const Target& target = {}, const Kernel& kernel = {}) { return {target, kernel}; }

/// The rows that every rule passes. Each rule goes to the earliest factor that has what it reads, so a walk never completes a prefix
/// that a rule has refused. Which rule refused is not reported from a space: ask check() about the row.
template <row_space A, class Target, class Kernel, rule... Rs>
constexpr auto operator%(const A& a, const bound_rules<Target, Kernel, Rs...>& bound) { return detail::push_rules(a, bound); }

}  // namespace emmy::knob
