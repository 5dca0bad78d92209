#pragma once
#include <emmy/core/result.hpp>
#include <emmy/knob/space.hpp>

#include <algorithm>
#include <string>
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

/// A pin reproduces a failure when the first row of the pinned space fails: that is the row a compile under this pin takes.
template <row_space S, class Fails>
bool reproduces(const S& s, const std::string& pin, Fails& fails) {
    if (pin.empty()) return !s.empty() && fails(s.unrank(0));
    const auto narrowed = pin_by(s, pin);
    return narrowed && !narrowed->empty() && fails(narrowed->unrank(0));
}

/// A pin of one family if one does, else families' pins are dropped one after another while the failure stays: no part of the answer can go.
template <row_space S, class Fails>
std::string shortest_pin(const S& s, const row_of<S>& failing, Fails fails) {
    if (reproduces(s, {}, fails)) return {};
    std::vector<std::string> pins = pin_texts(failing);
    for (const std::string& alone : pins)
        if (reproduces(s, alone, fails)) return alone;
    for (std::size_t i = 0; i < pins.size() && pins.size() > 1;) {
        std::vector<std::string> fewer = pins;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (reproduces(s, join_texts(fewer), fails)) pins = std::move(fewer);
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

/// Asks `check(row) -> result<void>` about rows of a space. Each failure comes with the shortest pin that reproduces it (the check is asked
/// again while it is looked for). Errors (user): a pin that does not parse, or that leaves no row.
template <row_space S, class Check>
result<exploration> explore(const S& s, Check&& check, const explore_options& how = {}) {
    pinned<row_of<S>> pins;
    if (!how.pin.empty()) {
        const auto read = pinned<row_of<S>>::parse(how.pin);
        if (!read) return emmy::refuse(read.error().as(fault_kind::user));
        pins = *read;
    }
    const auto rows = freeze(detail::push_pins(s, pins));
    if (rows.size() == 0) return emmy::refuse(fault_kind::user, "found no row under the pin [" + how.pin + "], expected at least one");
    exploration out{.rows = rows.size()};
    const auto fails = [&](const row_of<S>& r) { return !check(r); };
    for (const std::uint64_t i : detail::chosen_positions(rows.size(), std::max<std::uint64_t>(how.sample, 1), how.seed)) {
        const auto row = rows[i];
        ++out.tried;
        const result<void> answer = check(row);
        if (answer) continue;
        out.failures.push_back({std::string(spell(row).view()), answer.error().line(), detail::shortest_pin(s, row, fails)});
        if (out.failures.size() >= how.most_failures) break;
    }
    return out;
}

}  // namespace emmy::knob
