#pragma once
#include <emmy/knob/schedule_row.hpp>

#include <algorithm>
#include <string>

namespace emmy::knob {

/// The arm of a routing row: which structural choices a decision takes (PLACE and REDUCE at routes, LAYOUT of buffers). Parent and
/// children are named by whoever owns the kernels. Never empty once parsed.
class routing_row {
public:
    struct choice {
        std::string key;    ///< "PLACE@map.2/inner", "LAYOUT@linear_wt", "REDUCE"
        std::string value;  ///< canonical
        bool operator==(const choice&) const = default;

        std::string_view family() const { return split_key(key).family; }
        std::string_view address() const { return split_key(key).address; }  ///< empty = bare
    };

    /// Errors (input): no pair, a schedule or regime family, an unknown key, a repeated key, an address or value that is not canonical.
    static result<routing_row> parse(std::span<const knob_pair> pairs) {
        routing_row out;
        for (const auto& [key, value] : pairs) {
            if (const auto why = check(key, value)) return emmy::refuse(*why);
            out.choices_.push_back({std::string(key), std::string(value)});
        }
        if (out.choices_.empty()) return emmy::refuse(refusal{"arm", "no choice", "one or more structural choices", refusal::nowhere, false});
        std::sort(out.choices_.begin(), out.choices_.end(), [](const choice& a, const choice& b) { return a.key < b.key; });
        for (std::size_t i = 1; i < out.choices_.size(); ++i)
            if (out.choices_[i].key == out.choices_[i - 1].key)
                return emmy::refuse(refusal{out.choices_[i].key, "the key twice", "it once", refusal::nowhere, false});
        return out;
    }

    /// May this pair stand in an arm? The reason when not.
    static constexpr std::optional<refusal> check(std::string_view key, std::string_view value) {
        const split_key name(key);
        const auto info = find_family(name.family);
        if (!info) return refusal{"arm", key, "one of PLACE, REDUCE, LAYOUT", 0};
        if (info->meaning != role::structural && info->name != REDUCE::name)
            return refusal{key, info->meaning == role::regime ? "a regime family" : "a schedule family", only_structural, refusal::nowhere, false};
        if (name.addressed && info->where == scope::buffer) {
            if (!is_buffer_name(name.address)) return refusal{key, name.address, "the name of a constant buffer", 0};
        } else if (name.addressed) {
            if (const auto site = route::parse(name.address, key); !site) return site.error();
        }
        if (const auto text = info->canonical(value); !text) {
            refusal why = text.error();
            why.place = key;
            return why;
        }
        if (!is_structural(name.family, value)) return refusal{key, "a schedule choice", only_structural, refusal::nowhere, false};
        return std::nullopt;
    }

    std::size_t size() const { return choices_.size(); }
    const choice& operator[](std::size_t i) const { return choices_[i]; }  ///< by key
    auto begin() const { return choices_.begin(); }
    auto end() const { return choices_.end(); }

    /// Value of a key; empty where the arm does not name it.
    std::string_view get(std::string_view key) const {
        for (const choice& c : choices_)
            if (c.key == key) return c.value;
        return {};
    }
    /// Calls f(key, value), keys sorted by code point.
    template <class Function>
    void each(Function&& f) const {
        for (const choice& c : choices_) f(std::string_view(c.key), std::string_view(c.value));
    }

    bool operator==(const routing_row&) const = default;

    static constexpr std::string_view only_structural = "structural families only in a routing row";

private:
    std::vector<choice> choices_;  // sorted by key
};

}  // namespace emmy::knob
