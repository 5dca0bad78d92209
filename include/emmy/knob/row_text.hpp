#pragma once
#include <emmy/knob/routing_row.hpp>
#include <emmy/knob/schedule_row.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace emmy::knob {

/// Compact JSON of a row, keys sorted by code point, every value a string: {"RASTER":"","REDUCE":"coop","WORK":"t128"}. No key or
/// value of a row needs an escape (see is_buffer_name).
template <class Row>
std::string row_text(const Row& row) {
    std::string out = "{";
    row.each([&](std::string_view key, std::string_view value) {
        if (out.size() > 1) out += ',';
        ((((out += '"') += key) += "\":\"") += value) += '"';
    });
    return out += '}';
}

/// "WORK=t128,REDUCE=coop,RASTER=": for people, and a pin list that reads back to the row (values of OFF included).
template <class Row>
std::string pin_text(const Row& row) {
    std::string out;
    row.each([&](std::string_view key, std::string_view value) {
        if (!out.empty()) out += ',';
        ((out += key) += '=') += value;
    });
    return out;
}

/// Rank of a key in the order that breaks ties: PLACE@, LAYOUT@, TILE@, REDUCE@, STAGE@, then PLACE, LAYOUT, WORK, TILE, REDUCE,
/// STAGE, then the rest.
constexpr int canonical_rank(std::string_view key) {
    constexpr std::string_view routed[] = {"PLACE", "LAYOUT", "TILE", "REDUCE", "STAGE"};
    constexpr std::string_view bare[] = {"PLACE", "LAYOUT", "WORK", "TILE", "REDUCE", "STAGE"};
    const split_key name(key);
    int rank = 0;
    for (std::string_view family : routed) {
        if (name.addressed && name.family == family) return rank;
        ++rank;
    }
    for (std::string_view family : bare) {
        if (!name.addressed && name.family == family) return rank;
        ++rank;
    }
    return rank;
}

namespace detail {
/// Whose families the keys of a row are.
template <class Row>
struct registry_of {
    using type = built_in;
};
template <family... Fs>
struct registry_of<row<Fs...>> {
    using type = registry<Fs...>;
};
}  // namespace detail

/// The row as one comparable text: its pairs in canonical order, boolean families left out (a typed row's own, else the built-in ones), each part closed by a NUL, so that < on
/// two keys is < on the two lists of pairs. Ties between measured rows are broken by it, never by the order of enumeration.
template <class Row>
std::string canonical_key(const Row& row) {
    std::vector<std::pair<std::string, std::string>> pairs;
    row.each([&](std::string_view key, std::string_view value) {
        if (const family_info* info = detail::registry_of<Row>::type::find(split_key(key).family); info && info->kind == value_kind::boolean) return;
        pairs.emplace_back(key, value);
    });
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
        const int left = canonical_rank(a.first), right = canonical_rank(b.first);
        return left != right ? left < right : a.first < b.first;
    });
    std::string out;
    for (const auto& [key, value] : pairs) ((out += key) += '\0').append(value) += '\0';
    return out;
}

}  // namespace emmy::knob
