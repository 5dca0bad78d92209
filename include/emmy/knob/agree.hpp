#pragma once
#include <emmy/knob/schedule_row.hpp>

namespace emmy::knob {

namespace detail {

/// A bare choice over several sites: some site carries the value, every other one carries it too or is OFF. The one statement of this
/// rule, for values and for texts.
template <class Value>
class over_sites {
public:
    constexpr over_sites(const Value& wanted, const Value& off) : wanted_(wanted), off_(off) {}
    constexpr void see(const Value& found) {
        ++sites_;
        if (found == wanted_) carried_ = true;
        else if (!(found == off_)) contradicted_ = true;
    }
    constexpr std::size_t sites() const { return sites_; }
    constexpr bool holds() const { return carried_ && !contradicted_; }

private:
    Value wanted_, off_;
    std::size_t sites_ = 0;
    bool carried_ = false, contradicted_ = false;
};

template <class F>
constexpr bool agrees_at_nodes(const schedule_row& candidate, const schedule_row& measured) {
    const auto bare = measured.get<F>();
    if (const auto own = candidate.get<F>(); own && bare && !(*own == *bare)) return false;
    over_sites<typename F::value_type> collected(bare.value_or(F::off), F::off);
    for (std::size_t i = 0; i < candidate.sites(); ++i) {
        const auto own = candidate.get<F>(candidate.site(i));
        if (!own) continue;
        if (const auto there = measured.get<F>(candidate.site(i))) {
            if (!(*own == *there)) return false;
        } else if (bare) {
            collected.see(*own);
        }
    }
    return collected.sites() == 0 || collected.holds();
}
template <class F>
constexpr bool agrees_once(const schedule_row& candidate, const schedule_row& measured) {
    const auto own = candidate.get<F>(), there = measured.get<F>();
    return !own || !there || *own == *there;
}
template <class F>
constexpr bool same_at_nodes(const schedule_row& a, const schedule_row& b) {
    if (!(a.value<F>() == b.value<F>())) return false;
    if constexpr (F::where == scope::kernel) return true;
    for (std::size_t i = 0; i < a.sites(); ++i)
        if (!(a.value<F>(a.site(i)) == b.value<F>(a.site(i)))) return false;
    for (std::size_t i = 0; i < b.sites(); ++i)
        if (!(a.value<F>(b.site(i)) == b.value<F>(b.site(i)))) return false;
    return true;
}

}  // namespace detail

/// Does a measured row vouch for a candidate, over the knobs the candidate has decided? A key of the candidate that the row lacks is
/// free, unless the row has the bare family: then some site carries its value and the others carry it or are OFF. Keys that only the
/// row has do not matter.
constexpr bool agrees(const schedule_row& candidate, const schedule_row& measured) {
    return schedule_row::families::all([&]<class F>() {
        if constexpr (F::where == scope::kernel) return detail::agrees_once<F>(candidate, measured);
        else return detail::agrees_at_nodes<F>(candidate, measured);
    });
}

/// Are two rows one schedule of a kernel: equal where an absent choice is OFF and cosmetic families do not count.
constexpr bool same_choice(const schedule_row& a, const schedule_row& b) {
    return schedule_row::families::all([&]<class F>() { return F::meaning == role::cosmetic || detail::same_at_nodes<F>(a, b); });
}

/// The row without OFF values and cosmetic families: equal for rows that are same_choice.
inline schedule_row decisions(const schedule_row& row) {
    schedule_row out;
    schedule_row::families::each([&]<class F>() {
        if constexpr (F::meaning == role::cosmetic) return;
        const auto keep = [&](const route& at) {
            if (const auto v = row.get<F>(at); v && !(*v == F::off)) out.set<F>(*v, at);
        };
        keep({});
        if constexpr (F::where == scope::node)
            for (std::size_t i = 0; i < row.sites(); ++i) keep(row.site(i));
    });
    return out;
}

/// Does a row, as (key, value) texts, realise a pinned pair? The key has the value; a bare pin over routed keys: some site carries it and
/// the others carry it or are OFF; a family that the row lacks is OFF. `honours` says the same of typed rows.
template <class Pairs>
constexpr bool realises(const Pairs& row, std::string_view key, std::string_view value) {
    const split_key name(key);
    const family_info* family = find_family(name.family);
    const bool has_off = family != nullptr && family->has_off;
    detail::over_sites<std::string_view> sites(value, has_off ? family->off.view() : value);
    for (const auto& [there, text] : row) {
        if (std::string_view(there) == key) return std::string_view(text) == value;
        if (!name.addressed && split_key(there).family == name.family) sites.see(text);
    }
    return sites.sites() != 0 ? sites.holds() : has_off && family->off == value;
}

}  // namespace emmy::knob
