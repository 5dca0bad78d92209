#pragma once
// The laws of spaces, each as a function that answers for any spaces: a static_assert asks it about literal ones, rapidcheck about
// random ones. doc/algebra.md lists them by number.
#include <emmy/knob.hpp>
#include <emmy/knob/catalog.hpp>

#include <vector>

namespace emmy::test::laws {

using namespace knob;

template <row_space S>
constexpr std::vector<row_of<S>> rows(const S& s) {
    std::vector<row_of<S>> out;
    s.each([&](const auto& r) { out.push_back(r); });
    return out;
}
/// The same rows in the same order, and the same size.
template <row_space S, row_space T>
constexpr bool same(const S& s, const T& t) {
    const auto left = rows(s);
    const auto right = rows(t);
    if (left.size() != right.size() || s.size() != left.size() || t.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i)
        if (!(left[i] == row_of<S>(right[i]))) return false;
    return true;
}
template <row_space S, row_space T>
constexpr bool same_set(const S& s, const T& t) {
    bool good = s.size() == t.size();
    s.each([&](const auto& r) { return good = good && t.contains(r); });
    return good;
}

template <row_space S>
constexpr bool rank_inverts_unrank(const S& s) {  // L1, L2
    std::uint64_t i = 0, last = 0;
    bool good = true;
    s.walk([&](std::uint64_t raw, const auto& r) {
        good = good && s.unrank(i) == r && s.rank(r) == i && s.at_raw(raw) == r && s.raw_rank(r) == raw && raw < s.raw_size() && (i == 0 || raw > last);
        last = raw;
        ++i;
        return good;
    });
    return good && s.size() == i && s.empty() == (i == 0);
}
/// Of all rows of `wider`, exactly those that `s` visits have a rank in it.
template <row_space S, row_space Wider>
constexpr bool absent_means_not_visited(const S& s, const Wider& wider) {  // L3
    const auto visited = rows(s);
    bool good = true;
    std::size_t met = 0;
    wider.each([&](const auto& r) {
        bool seen = false;
        for (const auto& v : visited) seen = seen || v == r;
        met += seen;
        return good = good && s.rank(r).has_value() == seen && s.contains(r) == seen;
    });
    return good && met == visited.size();
}

template <row_space A, row_space B, row_space C>
constexpr bool product(const A& a, const B& b, const C& c) {  // L4
    return same((a * b) * c, a * (b * c)) && same(one * a, a) && same(a * one, a) && same(zero<> * a, a % never) && same(a * zero<>, a % never) &&
           (a * b).size() == a.size() * b.size();
}
template <row_space A>
struct not_in {
    using reads = row_of<A>;
    A of;
    constexpr bool operator()(const reads& r) const { return !of.contains(r); }
};
template <row_space A>
constexpr not_in<A> where_not_in(const A& a) { return {a}; }

template <row_space A, row_space B, row_space C>
constexpr bool sum(const A& a1, const B& a2, const C& a3) {  // L5, over one family
    const auto none = a1 % never;
    return same(a1 + a1, a1) && same((a1 + a2) + a3, a1 + (a2 + a3)) && same(a1 + none, a1) && same(none + a1, a1) && same_set(a1 + a2, a2 + a1) &&
           (a1 + a2).size() == a1.size() + (a2 % where_not_in(a1)).size();
}
template <row_space A, row_space B, row_space C>
constexpr bool distributes(const A& a1, const B& a2, const C& c) {  // L6
    return same((a1 + a2) * c, a1 * c + a2 * c) && same_set(c * (a1 + a2), c * a1 + c * a2);
}
/// r and q read the family of a alone.
template <row_space A, row_space A2, row_space B, row_filter R, row_filter Q>
constexpr bool restriction(const A& a, const A2& a2, const B& b, const R& r, const Q& q) {  // L7
    return same(a % r % q, a % q % r) && same(a % r % r, a % r) && same(a % always, a) && (a % never).size() == 0 && (a % never).empty() &&
           same((a + a2) % r, a % r + a2 % r) && same(a * b % r, (a % r) * b) && same(b * a % r, b * (a % r)) && absent_means_not_visited(a % r, a) &&
           absent_means_not_visited(b * a % r, b * a);
}
template <row_space A, row_space A2, row_filter R>
constexpr bool precedence(const A& a, const A2& a2, const R& r) {  // (A + B) % r against A + B % r
    return same(a + a2 % r, a + (a2 % r)) && ((a + a2 % r).size() == ((a + a2) % r).size()) == same(a % r, a);
}
/// `one_value` is a value of the middle family, `other` another one of it.
template <family F, row_space A, row_space B, row_space C>
constexpr bool pin(const A& a, const B& b, const C& c, const typename F::value_type& one_value, const typename F::value_type& other) {  // L8
    const auto by_filter = where<F>([one_value](const typename F::value_type& v) { return v == one_value; });
    const auto whole = a * b * c;
    knob::pinned<row_of<std::remove_const_t<decltype(whole)>>> said;
    said.template put<F>(one_value);
    const auto by_text = knob::detail::push_pins(whole, said);
    return same(b | is<F>(one_value), b % by_filter) && same(whole | is<F>(one_value), a * (b | is<F>(one_value)) * c) && same(by_text, whole | is<F>(one_value)) &&
           (whole | is<F>(one_value) | is<F>(other)).size() == 0 && same(by_text | is<F>(one_value), by_text) && (by_text | is<F>(other)).empty() &&
           rank_inverts_unrank(by_text);
}
template <any_row A, any_row B, class Keep>
struct beside {
    using reads = B;
    A outer;
    Keep keep;
    constexpr bool operator()(const B& inner) const { return keep(outer, inner); }
};
template <any_row A, any_row B, class Keep>
struct across {
    using reads = join_t<A, B>;
    Keep keep;
    constexpr bool operator()(const reads& r) const { return keep(part<A>(r), part<B>(r)); }
};

/// b is a space over a family that a has not; `keep` says for a row of a which rows of b stand beside it; r reads both, ra that of a.
template <row_space A, row_space B, class Keep, row_filter R, row_filter Ra>
constexpr bool dependence(const A& a, const B& b, Keep keep, const R& r, const Ra& ra) {  // L9
    const auto f = [b, keep](const row_of<A>& outer) { return b % beside<row_of<A>, row_of<B>, Keep>{outer, keep}; };
    const auto s = a >> f;
    std::uint64_t total = 0;
    a.each([&](const auto& outer) { total += f(outer).size(); });
    const auto filtered = a * b % across<row_of<A>, row_of<B>, Keep>{keep};
    return s.size() == total && same(a >> [b](const row_of<A>&) { return b; }, a * b) && same(s, filtered) && same(s % r, filtered % r) && same(s % ra, (a % ra) >> f) &&
           rank_inverts_unrank(s) && rank_inverts_unrank(s % r) && absent_means_not_visited(s % r, a * b);
}
template <row_space S, class Frozen>
constexpr bool frozen_is(const S& s, const Frozen& list) {  // L10
    bool good = same(s, list) && rank_inverts_unrank(list);
    std::uint64_t i = 0;
    for (const auto& r : list) good = good && r == s.unrank(i++);
    return good && i == s.size();
}
template <row_space S>
constexpr bool samples_are_members(const S& s, std::uint64_t number, int draws) {  // L11
    if (s.size() == 0) return true;
    seed a(number), b(number);
    for (int i = 0; i < draws; ++i) {
        const auto r = s.sample(a);
        if (!s.contains(r) || !(s.sample(b) == r)) return false;
    }
    return true;
}
template <family F, row_space S>
constexpr bool spellings_are_distinct(const S& s) {  // L12
    std::vector<value_text> seen;
    bool good = true;
    s.each([&](const row<F>& r) {
        const value_text text = F::spell(r.template get<F>());
        const auto again = F::parse(text.view());
        good = good && again && *again == r.template get<F>();
        for (const value_text& other : seen) good = good && other.view() != text.view();
        seen.push_back(text);
        return good;
    });
    return good;
}
/// An order-sensitive number of all rows (their texts).
template <row_space S>
constexpr std::uint64_t digest(const S& s) {  // L13
    std::uint64_t out = 0xcbf29ce484222325u;
    s.each([&](const auto& r) {
        const auto text = spell(r);
        for (char c : text.view()) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        out = (out ^ 0x0a) * 0x100000001b3u;
    });
    return out;
}

/// Companion families of each role for products with a family under test.
template <role Role>
struct B_OF : choice<"LAW_B", 1, 2, 3> {
    static constexpr role meaning = Role;
};
template <role Role>
struct C_OF : choice<"LAW_C", 5, 6> {
    static constexpr role meaning = Role;
};

/// Some property of a value, of no meaning: laws hold for any.
template <family F>
struct odd {
    using reads = row<F>;
    unsigned salt;
    constexpr bool operator()(const reads& r) const {
        unsigned out = salt;
        const value_text text = F::spell(r.template get<F>());
        for (char c : text.view()) out = out * 31 + static_cast<unsigned char>(c);
        return (out >> 3 ^ out) % 3 != 0;
    }
};
template <family F, family G>
struct odd_pair {
    using reads = row<F, G>;
    constexpr bool operator()(const reads& r) const { return odd<F>{1}(part<row<F>>(r)) || r.template get<G>() % 2 == 0; }
};
struct keeps_some {
    template <family F, family G>
    constexpr bool operator()(const row<F>& a, const row<G>& b) const { return odd<F>{7}(a) != (b.template get<G>() == 2); }
};

/// Law 1 to `laws` of a space over one family, with three overlapping parts of it; its name where it fails, or null.
inline constexpr int count = 11;
template <int Law, family F, row_space A, row_space A1, row_space A2, row_space A3>
constexpr const char* broken(const A& a, const A1& a1, const A2& a2, const A3& a3) {
    constexpr role part = knob::detail::row_role(F::meaning);
    [[maybe_unused]] constexpr auto b = all<B_OF<part>>;
    [[maybe_unused]] constexpr auto c = all<C_OF<part>>;
    if constexpr (Law == 1) return rank_inverts_unrank(a) && rank_inverts_unrank(b * a1 * c) && rank_inverts_unrank(a1 + a2) ? nullptr : "L1, L2: rank inverts unrank, walk is in order";
    if constexpr (Law == 2) return absent_means_not_visited(a1, a) && absent_means_not_visited(a1 + a2, a) ? nullptr : "L3: no rank where it is not visited";
    if constexpr (Law == 3) return product(a1, b, c) ? nullptr : "L4: product";
    if constexpr (Law == 4) return sum(a1, a2, a3) ? nullptr : "L5: sum";
    if constexpr (Law == 5) return distributes(a1, a2, c) ? nullptr : "L6: distributivity";
    if constexpr (Law == 6) return restriction(a1, a2, b, odd<F>{3}, odd<F>{4}) ? nullptr : "L7: restriction";
    if constexpr (Law == 7) return precedence(a1, a2, odd<F>{3}) ? nullptr : "precedence of + and %";
    if constexpr (Law == 8) return a1.size() < 2 || pin<F>(b, a1, c, a1.unrank(0).template get<F>(), a1.unrank(a1.size() - 1).template get<F>()) ? nullptr : "L8: pin";
    if constexpr (Law == 9) return dependence(a1, b, keeps_some{}, odd_pair<F, B_OF<part>>{}, odd<F>{5}) ? nullptr : "L9: dependence";
    if constexpr (Law == 10) return samples_are_members(a, 7, 20) ? nullptr : "L11: samples are members";
    if constexpr (Law == 11) return spellings_are_distinct<F>(a1) ? nullptr : "L12: spellings";
}
template <int Law, family F, row_space A>
constexpr const char* broken(const A& a) { return broken<Law, F>(a, a % odd<F>{11}, a % odd<F>{12}, a % odd<F>{13}); }

// A user's families.
struct VEC : choice<"VEC", 1, 2, 4, 8> {};
struct block_size {
    int m = 1, n = 1, k = 1;
    bool operator==(const block_size&) const = default;
};
struct BLK : grammar<"BLK", block_size, word<"b">, num<&block_size::m>, word<"x">, num<&block_size::n>, opt<"/k", &block_size::k, 1>> {
    static constexpr block_size catalog[] = {{8, 8}, {16, 8}, {32, 8}, {32, 8, 4}, {32, 32}, {64, 32, 2}};
};

}  // namespace emmy::test::laws
