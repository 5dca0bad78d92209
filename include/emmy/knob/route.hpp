#pragma once
#include <emmy/knob/refusal.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace emmy::knob {

/// Kind of a node of a kernel's term. The word is redundant in a route and checked while walking.
enum class node_kind : std::uint8_t { map, reduce, inner, twist, scan };

inline constexpr std::array<std::string_view, 5> node_kind_names{"map", "reduce", "inner", "twist", "scan"};
constexpr std::string_view name_of(node_kind kind) { return node_kind_names[static_cast<std::size_t>(kind)]; }

/// Address of a node in a kernel's term, from the root: `map.1/map.2/inner` leaves a map by its first operand, that map by its second
/// and arrives at a product-sum. A route without steps is the bare key. A literal of 34 bytes.
///   route = { kind "." n "/" } kind, n = 1-based operand, no leading zero
class route {
public:
    static constexpr std::size_t capacity = 16;  ///< nodes; real files hold at most 10
    static constexpr std::uint16_t most_operands = 8191;

    struct step {
        node_kind kind;
        std::uint16_t operand;  ///< taken when leaving; 0 at the last node
        constexpr bool operator==(const step&) const = default;
    };

    constexpr route() = default;

    constexpr bool bare() const { return size_ == 0; }
    constexpr std::size_t size() const { return size_; }  ///< nodes
    constexpr step operator[](std::size_t i) const { return {static_cast<node_kind>(steps_[i] >> 13), static_cast<std::uint16_t>(steps_[i] & most_operands)}; }
    constexpr node_kind arrives_at() const { return (*this)[size_ - 1u].kind; }  ///< of a route that is not bare

    /// Appends a node; the one before is left by `operand` (ignored for the first node). False when it does not fit.
    constexpr bool append(node_kind kind, std::uint16_t operand = 0) {
        if (size_ == capacity || (size_ > 0 && (operand == 0 || operand > most_operands))) return false;
        if (size_ > 0) steps_[size_ - 1u] = static_cast<std::uint16_t>(steps_[size_ - 1u] | operand);
        steps_[size_++] = static_cast<std::uint16_t>(static_cast<unsigned>(kind) << 13);
        return true;
    }

    /// `place` = the family or key that a refusal names.
    static constexpr parsed<route> parse(std::string_view text, std::string_view place = "route") {
        scanner in(place, text);
        route out;
        std::uint16_t operand = 0;
        for (;;) {
            std::size_t kind = 0;
            while (kind < node_kind_names.size() && !in.rest().starts_with(node_kind_names[kind])) ++kind;
            if (kind == node_kind_names.size()) return in.refused("a node kind: map, reduce, inner, twist or scan");
            if (out.size_ == capacity) return in.refused("a route of at most 16 nodes");
            in.take(node_kind_names[kind]);
            out.append(static_cast<node_kind>(kind), operand);
            if (in.done()) return out;
            if (!in.need(".", "the end or . and an operand number")) return in.refused();
            const std::size_t at = in.offset();
            if (!in.number(operand)) return in.refused();
            if (operand > most_operands) {
                in.fail_at(at, "an operand number of at most 8191");
                return in.refused();
            }
            if (!in.need("/", "/ and a node kind")) return in.refused();
        }
    }
    constexpr bounded_text<200> spell() const {
        bounded_text<200> out;
        for (std::size_t i = 0; i < size_; ++i) {
            out.append(name_of((*this)[i].kind));
            if (i + 1u < size_) out.append('.').append((*this)[i].operand).append('/');
        }
        return out;
    }

    constexpr bool operator==(const route&) const = default;
    /// By text, so that keys sort alike as values and as texts; the bare route first.
    constexpr bool operator<(const route& other) const {
        return *this != other && spell().view() < other.spell().view();
    }

private:
    std::array<std::uint16_t, capacity> steps_{};  // kind in the upper 3 bits, operand in the lower 13
    std::uint8_t size_ = 0;
};

/// The two halves of a written key: `FAMILY[@address]`.
struct split_key {
    std::string_view family, address;
    bool addressed = false;
    constexpr explicit split_key(std::string_view key) {
        const std::size_t at = key.find('@');
        family = key.substr(0, at);
        addressed = at != std::string_view::npos;
        if (addressed) address = key.substr(at + 1);
    }
};

/// May this stand after LAYOUT@: a name in printable ASCII without blanks, quotes, backslash, comma and equals sign.
constexpr bool is_buffer_name(std::string_view text) {
    for (char c : text)
        if (c <= ' ' || c > '~' || c == '"' || c == '\'' || c == '\\' || c == ',' || c == '=') return false;
    return !text.empty();
}

}  // namespace emmy::knob
