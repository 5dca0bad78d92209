#pragma once
#include <emmy/knob/refusal.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace emmy::knob {

/// What one choice of a family applies to, hence what may follow @ in its key.
enum class scope : std::uint8_t {
    kernel,  ///< always bare
    node,    ///< a route, or bare where the kernel has one site
    edge,    ///< a route to a seam, or bare
    buffer   ///< the name of a constant buffer
};

/// What a choice means, hence in which row it may stand.
enum class role : std::uint8_t {
    schedule,    ///< inside one kernel: schedule rows
    structural,  ///< makes other kernels: routing rows
    cosmetic,    ///< changes text only; carried by schedule rows, never part of a choice's identity
    regime       ///< how a compile or a measurement is done: pins and contexts, never a row
};

constexpr std::string_view name_of(role r) {
    constexpr std::string_view names[] = {"schedule", "structural", "cosmetic", "regime"};
    return names[static_cast<int>(r)];
}

/// JSON type of the family's pin in a golden file. Texts of integers and booleans are spelled "2", "true".
enum class value_kind : std::uint8_t { text, integer, boolean };

/// A family is a type: everything else follows from these members. Rows, pins and lit<> hold the built-in families. A family of your own
/// gets value_of<> and a place in a registry: built_in::with<…>, with look-up by name and type.
template <class F>
concept family = requires(std::string_view text, const typename F::value_type& value) {
    requires std::equality_comparable<typename F::value_type>;
    { F::name } -> std::convertible_to<std::string_view>;
    { F::where } -> std::convertible_to<scope>;
    { F::meaning } -> std::convertible_to<role>;
    { F::kind } -> std::convertible_to<value_kind>;
    { F::version } -> std::convertible_to<int>;
    { F::parse(text) } -> std::same_as<parsed<typename F::value_type>>;
    { F::spell(value) } -> std::same_as<value_text>;
};

/// Families with an OFF value: the value that says nothing (PLACE and LAYOUT have none).
template <class F>
concept has_off = family<F> && requires { { F::off } -> std::convertible_to<typename F::value_type>; };

/// A family whose values depend on another one's, as TILE's on WORK: `under` names it, misfit(value, its value) gives words for what it
/// ought to be, or null.
template <class F>
concept contextual = family<F> && requires(const typename F::value_type& value, const typename F::under::value_type& context) {
    { F::misfit(value, context) } -> std::convertible_to<const char*>;
};

namespace detail {
/// Is a value the one that its own spelling reads as? A row with another value could not be written down and found again.
template <family F>
constexpr bool reads_back(const typename F::value_type& value) {
    const value_text text = F::spell(value);
    const auto again = F::parse(text.view());
    return again && *again == value;
}
}  // namespace detail

template <class F>
concept schedule_family = family<F> && (F::meaning == role::schedule || F::meaning == role::cosmetic);

}  // namespace emmy::knob
