#pragma once
#include <emmy/core/result.hpp>
#include <emmy/knob/space.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

/// Trying many rows of a fork: what a test of a lowering or of a generator does. No test framework here; emmy/explore.hpp is for Boost.Test.
namespace emmy::knob {

/// One row that a check refused.
struct failed_row {
    std::string row;   ///< "BLK=b32x8,VEC=4"
    std::string why;   ///< the check's own line
    std::string pin;   ///< shortest pin found whose first row fails too: "" when the space's first row fails without one
};

struct exploration {
    std::uint64_t rows = 0;     ///< of the space, after its pins
    std::uint64_t tried = 0;
    std::vector<failed_row> failures = {};
    bool good() const { return failures.empty(); }
};

struct explore_options {
    std::uint64_t sample = 64;  ///< rows tried: all where the space has no more, else the first row and distinct random ones
    std::uint64_t seed = 1;     ///< of the random ones: the same rows on every machine
    std::string pin = {};       ///< KEY=VALUE{,KEY=VALUE}: narrows the space first
    std::size_t most_failures = 3;  ///< stop after as many
};

namespace detail {

/// Texts of a row, one a family.
template <family... Fs>
std::vector<std::string> pin_texts(const row<Fs...>& r) {
    std::vector<std::string> out;
    r.visit([&]<class F>(const typename F::value_type& value) { out.push_back(std::string(F::name) + "=" + std::string(F::spell(value).view())); });
    return out;
}
inline std::string join_texts(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out += (out.empty() ? "" : ",") + text;
    return out;
}

/// A pin of one family if one does, else families' pins are dropped one after another while the failure stays: no part of the answer can
/// go. `fails(pin)`: the first row under this pin, the one a compile takes, fails too.
template <class Fails>
std::string shortest_pin(std::vector<std::string> pins, Fails&& fails) {
    if (fails(std::string())) return {};
    for (const std::string& alone : pins)
        if (fails(alone)) return alone;
    for (std::size_t i = 0; i < pins.size() && pins.size() > 1;) {
        std::vector<std::string> fewer = pins;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (fails(join_texts(fewer))) pins = std::move(fewer);
        else ++i;
    }
    return join_texts(pins);
}

/// Positions to try, ascending, the first row always among them.
inline std::vector<std::uint64_t> chosen_positions(std::uint64_t size, std::uint64_t wanted, std::uint64_t number) {
    std::vector<std::uint64_t> out;
    if (size <= wanted) {
        for (std::uint64_t i = 0; i < size; ++i) out.push_back(i);
        return out;
    }
    seed g(number);
    out.push_back(0);
    while (out.size() < wanted)
        if (const std::uint64_t i = uniform_below(g, size); std::find(out.begin(), out.end(), i) == out.end()) out.push_back(i);
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace detail

/// What can be explored: a list of rows that can be checked, and pins that say which row comes first.
///   size()              rows
///   texts(i)            "VEC=4" of every family of row i
///   check(i)            result<void>
///   fails_first(pin)    the first row under the pin fails its check; false where the pin leaves none
template <class Fork>
concept explorable = requires(Fork& f, std::uint64_t i, const std::string& pin) {
    { f.size() } -> std::convertible_to<std::uint64_t>;
    { f.texts(i) } -> std::same_as<std::vector<std::string>>;
    { f.check(i) } -> std::same_as<result<void>>;
    { f.fails_first(pin) } -> std::same_as<bool>;
};

/// Checks all rows or a sample of them; each failure comes with the shortest pin that reproduces it.
template <explorable Fork>
exploration explore_fork(Fork&& fork, const explore_options& how = {}) {
    exploration out{.rows = fork.size()};
    for (const std::uint64_t i : detail::chosen_positions(out.rows, std::max<std::uint64_t>(how.sample, 1), how.seed)) {
        ++out.tried;
        const result<void> answer = fork.check(i);
        if (answer) continue;
        const std::vector<std::string> texts = fork.texts(i);
        out.failures.push_back({detail::join_texts(texts), answer.error().line(), detail::shortest_pin(texts, [&](const std::string& pin) { return fork.fails_first(pin); })});
        if (out.failures.size() >= how.most_failures) break;
    }
    return out;
}

namespace detail {

template <row_space Rows, row_space S, class Check>
struct space_fork {
    const Rows& rows;    ///< frozen, narrowed
    const S& whole;
    Check& asked;
    std::uint64_t size() const { return rows.size(); }
    std::vector<std::string> texts(std::uint64_t i) const { return pin_texts(rows.unrank(i)); }
    result<void> check(std::uint64_t i) const { return asked(rows.unrank(i)); }
    bool fails_first(const std::string& pin) const {
        if (pin.empty()) return !whole.empty() && !asked(whole.unrank(0));
        const auto narrowed = pin_by(whole, pin);
        return narrowed && !narrowed->empty() && !asked(narrowed->unrank(0));
    }
};

}  // namespace detail

namespace detail {
template <class Row, class Check>
consteval bool checks_rows() {
    using answer = std::remove_cvref_t<decltype(std::declval<Check&>()(std::declval<const Row&>()))>;
    if constexpr (std::is_convertible_v<answer, result<void>> && !std::is_same_v<answer, bool>) return true;
    else return say<[] { return bounded_text<240>("explore: found a check that returns ").append(std::is_same_v<answer, bool> ? "bool" : "another type").append(", expected result<void> (its error says why a row fails)"); }>();
}
}  // namespace detail

/// Asks `check(row) -> result<void>` about rows of a space (again while the shortest pin is looked for).
/// Errors (user): a pin that does not parse, or that leaves no row.
template <row_space S, class Check>
result<exploration> explore(const S& s, Check&& check, const explore_options& how = {}) {
    static_assert(detail::checks_rows<row_of<S>, Check>());
    pinned<row_of<S>> pins;
    if (!how.pin.empty()) {
        const auto read = pinned<row_of<S>>::parse(how.pin);
        if (!read) return emmy::refuse(read.error().as(fault_kind::user));
        pins = *read;
    }
    const auto rows = freeze(detail::push_pins(s, pins));
    if (rows.size() == 0) return emmy::refuse(fault_kind::user, "found no row under the pin [" + how.pin + "], expected at least one");
    using checked = std::remove_reference_t<Check>;
    return explore_fork(detail::space_fork<std::remove_const_t<decltype(rows)>, S, checked>{rows, s, check}, how);
}

}  // namespace emmy::knob
