#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace emmy::knob::detail {

/// The entries of a list that people write with commas and tools print with blanks: "A=1, B=2" and "A=1 B=2" alike. An empty entry comes
/// out where a comma has nothing before or behind it.
class entry_list {
public:
    constexpr explicit entry_list(std::string_view text) : text_(text) {}
    constexpr std::optional<std::string_view> next() {
        skip_blanks();
        if (at_ == text_.size() && !after_comma_) return std::nullopt;
        begin_ = at_;
        while (at_ < text_.size() && text_[at_] != ',' && !is_blank(text_[at_])) ++at_;
        const std::string_view out = text_.substr(begin_, at_ - begin_);
        skip_blanks();
        after_comma_ = at_ < text_.size() && text_[at_] == ',';
        if (after_comma_) ++at_;
        return out;
    }
    /// Where the last entry begins.
    constexpr std::size_t offset() const { return begin_; }

private:
    static constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
    constexpr void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }
    std::string_view text_;
    std::size_t at_ = 0, begin_ = 0;
    bool after_comma_ = false;
};

}  // namespace emmy::knob::detail
