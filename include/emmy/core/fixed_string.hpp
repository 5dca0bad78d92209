#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace emmy {

/// Text that can be a template argument. The closing NUL is stored explicitly: clang prints such arguments as text.
template <std::size_t Size>
struct fixed_string {
    char chars[Size + 1]{};

    constexpr fixed_string() = default;
    constexpr fixed_string(const char (&text)[Size + 1]) {
        for (std::size_t i = 0; i < Size; ++i) chars[i] = text[i];
        chars[Size] = '\0';
    }
    static constexpr std::size_t size() { return Size; }
    constexpr std::string_view view() const { return {chars, Size}; }
    constexpr operator std::string_view() const { return view(); }
    constexpr bool operator==(const fixed_string&) const = default;
};
template <std::size_t Length>
fixed_string(const char (&)[Length]) -> fixed_string<Length - 1>;

/// Text of bounded length, built in constant expressions (std::string is not usable there on clang 16). Appending beyond the
/// capacity sets overflowed() instead of growing.
template <std::size_t Capacity>
class bounded_text {
public:
    constexpr bounded_text() = default;
    constexpr bounded_text(std::string_view text) { append(text); }

    constexpr bounded_text& append(std::string_view text) {
        for (char c : text) append(c);
        return *this;
    }
    constexpr bounded_text& append(char c) {
        if (size_ < Capacity) {
            chars_[size_++] = c;
        } else {
            overflowed_ = true;
        }
        return *this;
    }
    template <class Integer>
        requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, char>)
    constexpr bounded_text& append(Integer value) {
        char digits[24]{};
        int count = 0;
        const bool negative = value < 0;
        auto rest = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
        do {
            digits[count++] = static_cast<char>('0' + rest % 10);
            rest /= 10;
        } while (rest != 0);
        if (negative) append('-');
        while (count > 0) append(digits[--count]);
        return *this;
    }

    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr bool overflowed() const { return overflowed_; }
    constexpr std::string_view view() const { return {chars_.data(), size_}; }
    constexpr operator std::string_view() const { return view(); }
    constexpr const char* c_str() const { return chars_.data(); }  ///< closed by a NUL: the array is one longer than the capacity
    std::string str() const { return std::string(view()); }
    constexpr bool operator==(const bounded_text& other) const { return view() == other.view(); }
    friend constexpr bool operator==(const bounded_text& text, std::string_view other) { return text.view() == other; }

private:
    std::array<char, Capacity + 1> chars_{};
    std::size_t size_ = 0;
    bool overflowed_ = false;
};

}  // namespace emmy
