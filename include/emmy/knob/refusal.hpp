#pragma once
#include <emmy/knob/compiler.hpp>

#include <emmy/core/fixed_string.hpp>
#include <emmy/core/result.hpp>

#include <cstdint>
#include <string_view>

namespace emmy::knob {

/// Text of one value, in its only canonical spelling.
using value_text = bounded_text<56>;

namespace detail {
template <std::size_t Capacity>
constexpr void append_printable(bounded_text<Capacity>& out, std::string_view text, std::size_t most) {
    for (std::size_t i = 0; i < text.size() && i < most; ++i) out.append(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
    if (text.size() > most) out.append("...");
}
}  // namespace detail

/// Why a spelling or a row was refused: a literal, so that one sentence serves compilers and run time. Holds views of the refused
/// text: turn it into a fault (or use it) while that text lives.
struct refusal {
    static constexpr std::uint32_t nowhere = 0xffffffffu;

    std::string_view place;     ///< family ("TILE"), key ("TILE@map.1/inner"), "row" or "pins"
    std::string_view found;     ///< the refused text; words where `spelled` is false
    std::string_view expected;  ///< words
    std::uint32_t offset = nowhere;  ///< byte in `found` where the expectation failed
    bool spelled = true;             ///< `found` is text of the user: bracketed; cut at 64 bytes, unprintable bytes as ?

    /// "found [w4y1], expected x and the second dimension at offset 2". Brackets, because a compiler escapes quotes.
    constexpr bounded_text<640> message() const {
        bounded_text<640> out;
        out.append("found ");
        if (spelled) out.append('[');
        detail::append_printable(out, found, 64);
        if (spelled) out.append(']');
        out.append(", expected ").append(expected);
        if (offset != nowhere) out.append(" at offset ").append(offset);
        return out;
    }
    constexpr bounded_text<200> printable_place() const {
        bounded_text<200> out;
        detail::append_printable(out, place, 160);
        return out;
    }
    /// "WORK: found [w4y1], expected x and the second dimension at offset 2": equal to line() of the fault.
    constexpr bounded_text<880> sentence() const {
        bounded_text<880> out;
        if (!place.empty()) out.append(printable_place().view()).append(": ");
        return out.append(message().view());
    }

    fault as(fault_kind kind) const { return fault(kind, std::string(message().view()), std::string(printable_place().view())); }
    operator fault() const { return as(fault_kind::input); }
};

/// A value or the reason why its text is refused. (Own type: every operation of it is a constant expression on both compilers.)
template <class Value>
class parsed {
public:
    constexpr parsed(const Value& value) : value_(value), good_(true) {}
    constexpr parsed(const refusal& why) : why_(why) {}

    constexpr bool has_value() const { return good_; }
    constexpr explicit operator bool() const { return good_; }
    constexpr const Value& operator*() const { return value_; }
    constexpr const Value* operator->() const { return &value_; }
    constexpr const refusal& error() const { return why_; }

    operator result<Value>() const {
        if (!good_) return emmy::refuse(why_);
        return value_;
    }

private:
    Value value_{};
    refusal why_;
    bool good_ = false;
};

/// Reads a value from left to right and remembers the first unmet expectation.
class scanner {
public:
    constexpr scanner(std::string_view place, std::string_view text) : place_(place), text_(text) {}

    constexpr bool done() const { return at_ == text_.size(); }
    constexpr std::size_t offset() const { return at_; }
    constexpr std::string_view rest() const { return text_.substr(at_); }
    constexpr char peek() const { return done() ? '\0' : text_[at_]; }

    /// Consumes `token` if it comes next.
    constexpr bool take(std::string_view token) {
        if (!rest().starts_with(token)) return false;
        at_ += token.size();
        return true;
    }
    /// Consumes `token` or records `expected`.
    constexpr bool need(std::string_view token, std::string_view expected) { return take(token) || fail(expected); }

    /// A decimal number of at least `least` and at most 65535, without leading zeros.
    constexpr bool number(std::uint16_t& out, std::uint16_t least = 1, std::string_view expected = "a number from 1 up, no leading zero") {
        const std::size_t start = at_;
        std::uint32_t value = 0;
        if (peek() == '0' && least > 0) return fail(expected);
        for (; !done() && peek() >= '0' && peek() <= '9'; ++at_) {
            value = value * 10 + static_cast<std::uint32_t>(peek() - '0');
            if (value > 65535) {
                at_ = start;
                return fail("a number of at most 65535");
            }
            if (at_ > start && text_[start] == '0') {
                at_ = start;
                return fail("a number without leading zero");
            }
        }
        if (at_ == start || value < least) {
            at_ = start;
            return fail(expected);
        }
        out = static_cast<std::uint16_t>(value);
        return true;
    }

    constexpr bool fail(std::string_view expected) { return fail_at(at_, expected); }
    constexpr bool fail_at(std::size_t offset, std::string_view expected) {
        if (why_.expected.empty()) why_ = {place_, text_, expected, static_cast<std::uint32_t>(offset)};
        return false;
    }
    /// All read and nothing refused; else records `expected`.
    constexpr bool end(std::string_view expected) { return why_.expected.empty() && (done() || fail(expected)); }

    constexpr refusal refused() const { return why_; }
    constexpr refusal refused(std::string_view expected) {
        fail(expected);
        return refused();
    }

private:
    std::string_view place_, text_;
    std::size_t at_ = 0;
    refusal why_;
};

}  // namespace emmy::knob
