#pragma once
#include <emmy/evidence/structure.hpp>

#include <emmy/knob/families.hpp>

#include <algorithm>

namespace emmy::evidence {
namespace detail {

inline bool has_key(const store::knob_list& arm, std::string_view key) {
    return std::any_of(arm.begin(), arm.end(), [&](const auto& k) { return k.first == key; });
}
/// What a kernel-set choice says beside the value that every arm spells.
constexpr std::string_view taken_value(structural_family f) { return f == structural_family::layout ? "source" : "cut"; }

/// The share of a reduction that an arm or a row asks for; nothing when none does. `broken`: a value that is none.
inline std::optional<knob::reduce> split_of(const store::knob_list& row, bool& broken) {
    std::optional<knob::reduce> out;
    for (const auto& [key, value] : row) {
        if (knob::split_key(key).family != knob::REDUCE::name) continue;
        const auto parsed = knob::REDUCE::parse(value);
        if (!parsed) {
            broken = true;
            continue;
        }
        if (parsed->crosses_ctas()) out = *parsed;
    }
    return out;
}
inline bool same_split(const knob::reduce& a, const knob::reduce& b) { return a.ctas == b.ctas && a.split == b.split; }

/// The representative that a key or an alias names, or nothing: not offered.
inline const std::string* offered_key(const kernel_set_fork& fork, std::string_view key) {
    for (const place_of_choice& p : fork.places)
        if (p.key == key || std::find(p.aliases.begin(), p.aliases.end(), key) != p.aliases.end()) return &p.key;
    return nullptr;
}

inline std::optional<std::size_t> arm_of_keys(const kernel_set_fork& fork, std::vector<std::string_view> keys) {
    for (std::size_t i = 1; i < fork.arms.size(); ++i)
        if (fork.arms[i].size() == keys.size() && std::all_of(keys.begin(), keys.end(), [&](std::string_view k) { return has_key(fork.arms[i], k); })) return i;
    return {};
}

/// Seams or constants that a row marks, as representatives; `bare`: it marks whatever there is.
inline std::vector<std::string_view> marked(const kernel_set_fork& fork, const store::knob_list& row, bool& bare, bool& any) {
    std::vector<std::string_view> out;
    for (const auto& [key, value] : row) {
        const knob::split_key name(key);
        if (name.family != evidence::name(fork.family) || value != taken_value(fork.family)) continue;
        any = true;
        if (!name.addressed) bare = true;
        else if (const std::string* at = offered_key(fork, key); at && std::find(out.begin(), out.end(), *at) == out.end()) out.push_back(*at);
    }
    return out;
}

/// Does an unscoped or scoped pin reach this kernel?
inline bool reaches(const knob::pin& p, const subject& whole) {
    switch (p.where) {
        case knob::reach::all: return true;
        case knob::reach::piece: return whole.name.find("__place_" + p.kernel) != std::string::npos;
        case knob::reach::node: return whole.node_id == p.kernel;
        case knob::reach::step: return false;
    }
    return false;
}

}  // namespace detail

EMMY_DECL structural_family family_of(const store::knob_list& arm) {
    for (const auto& [key, value] : arm) {
        const auto family = knob::split_key(key).family;
        if (family == knob::PLACE::name) return structural_family::place;
        if (family == knob::LAYOUT::name) return structural_family::layout;
    }
    return structural_family::reduce;
}

EMMY_DECL std::optional<std::size_t> spelled_arm(const kernel_set_fork& fork, const store::knob_list& row) {
    if (fork.family == structural_family::reduce) {
        bool broken = false, ignored = false;
        const auto wanted = detail::split_of(row, broken);
        if (broken) return {};
        if (!wanted) return 0;
        for (std::size_t i = 1; i < fork.arms.size(); ++i)
            if (const auto own = detail::split_of(fork.arms[i], ignored); own && detail::same_split(*own, *wanted)) return i;
        return {};
    }
    bool bare = false, any = false;
    const auto keys = detail::marked(fork, row, bare, any);
    if (!any) return 0;
    if (!keys.empty())
        if (const auto exact = detail::arm_of_keys(fork, keys)) return exact;
    if (fork.family == structural_family::layout) return {};
    for (std::size_t i = 1; i < fork.arms.size(); ++i)
        if (bare || std::any_of(keys.begin(), keys.end(), [&](std::string_view k) { return detail::has_key(fork.arms[i], k); })) return i;
    return {};
}

EMMY_DECL std::vector<std::size_t> pinned_arms(const kernel_set_fork& fork, const subject& whole, const knob::pin_list& pins, bool bare) {
    std::vector<std::size_t> all(fork.arms.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::vector<std::size_t> left = all;
    const auto keep = [&](auto&& test) { std::erase_if(left, [&](std::size_t i) { return !test(fork.arms[i]); }); };
    std::vector<std::string_view> cut;  // seams that pins take
    for (const knob::pin& p : pins) {
        if (p.family->name != evidence::name(fork.family) || !detail::reaches(p, whole)) continue;
        if (!bare && p.where == knob::reach::all && p.address.empty()) continue;
        if (fork.family == structural_family::reduce) {
            const auto value = knob::REDUCE::parse(p.value);
            if (!value) continue;
            bool ignored = false;
            const auto matches = [&](const store::knob_list& arm) {
                const auto own = detail::split_of(arm, ignored);
                return value->crosses_ctas() ? own && detail::same_split(*own, *value) : !own;
            };
            if (!p.address.empty() && !detail::offered_key(fork, "REDUCE@" + p.address) && fork.places.size() > 0) continue;
            if (std::any_of(fork.arms.begin(), fork.arms.end(), matches)) keep(matches);
            continue;
        }
        const bool takes = p.value == detail::taken_value(fork.family);
        if (p.address.empty()) {
            keep([&](const store::knob_list& arm) { return arm.empty() != takes; });
            continue;
        }
        const std::string* at = detail::offered_key(fork, std::string(p.family->name) + "@" + p.address);
        if (!at) continue;  // names nothing here: of another kernel
        keep([&](const store::knob_list& arm) { return detail::has_key(arm, *at) == takes; });
        if (takes && std::find(cut.begin(), cut.end(), *at) == cut.end()) cut.push_back(*at);
    }
    // Seams that pins name are taken together where such an arm exists; never with others beside them.
    if (!cut.empty())
        if (const auto exact = detail::arm_of_keys(fork, cut); exact && std::find(left.begin(), left.end(), *exact) != left.end()) return {*exact};
    return left;
}

}  // namespace emmy::evidence
