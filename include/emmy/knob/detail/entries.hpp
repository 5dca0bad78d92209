#pragma once
#include <emmy/knob/refusal.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace emmy::knob {

/// A key and a value as written.
struct knob_pair {
    std::string_view key, value;
};

}  // namespace emmy::knob

namespace emmy::knob::detail {

/// The entries of a list that people write with commas and tools print with blanks: "A=1, B=2" and "A=1 B=2" alike. An empty entry comes
/// out where a comma has nothing before or behind it.
class entry_list {
public:
    constexpr explicit entry_list(std::string_view text) : text_(text) {}
    constexpr std::optional<std::string_view> next() {
        skip_blanks();
        if (at_ == text_.size() && !after_comma_) return std::nullopt;
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != ',' && !is_blank(text_[at_])) ++at_;
        const std::string_view out = text_.substr(begin, at_ - begin);
        skip_blanks();
        after_comma_ = at_ < text_.size() && text_[at_] == ',';
        if (after_comma_) ++at_;
        return out;
    }

private:
    static constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
    constexpr void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }
    std::string_view text_;
    std::size_t at_ = 0;
    bool after_comma_ = false;
};

/// KEY=VALUE in its halves. `place`: what a refusal names ("row", "pins").
constexpr parsed<knob_pair> key_and_value(std::string_view entry, std::string_view place) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) return refusal{place, entry, "KEY=VALUE", static_cast<std::uint32_t>(equals == 0 ? 0 : entry.size())};
    return knob_pair{entry.substr(0, equals), entry.substr(equals + 1)};
}

/// Calls f(key, value) for each KEY=VALUE of a list until it gives a reason: the one reader of such lists.
template <class Function>
constexpr std::optional<refusal> each_pair(std::string_view text, std::string_view place, Function&& f) {
    entry_list entries(text);
    while (const auto entry = entries.next()) {
        const parsed<knob_pair> pair = key_and_value(*entry, place);
        if (!pair) return pair.error();
        if (const std::optional<refusal> why = f(pair->key, pair->value)) return why;
    }
    return std::nullopt;
}

}  // namespace emmy::knob::detail
