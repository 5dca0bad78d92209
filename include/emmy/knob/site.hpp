#pragma once
#include <emmy/core/refused.hpp>
#include <emmy/knob/route.hpp>
#include <emmy/knob/row.hpp>
#include <emmy/knob/space/listed.hpp>
#include <emmy/knob/space/mapped.hpp>

#include <optional>

namespace emmy::knob {

namespace detail {
template <family F>
constexpr std::optional<refusal> why_not_at(std::string_view address) {
    if (F::where == scope::kernel) return refusal{F::name, address, "no address (one choice a kernel)", 0};
    if (F::where == scope::buffer) {
        if (is_buffer_name(address)) return std::nullopt;
        return refusal{F::name, address, "the name of a constant buffer", 0};
    }
    if (const auto site = route::parse(address, F::name); !site) return site.error();
    return std::nullopt;
}
}  // namespace detail

/// A family at one place of a kernel: `at<"map.1/inner", TILE>` is a family of its own in rows and spaces, keyed TILE@map.1/inner, with
/// the values, spellings and catalog of TILE. A wrong address does not compile.
template <fixed_string Address, family F>
struct at : F {
    using plain = F;
    static constexpr std::string_view address = Address.view();

private:
    static consteval bool fits() {
        if constexpr (detail::why_not_at<F>(Address.view()).has_value()) return say<[] { return detail::why_not_at<F>(Address.view())->sentence(); }>();
        return true;
    }
    static_assert(fits());
    static constexpr auto key = [] {
        fixed_string<std::string_view(F::name).size() + 1 + Address.size()> out;
        std::size_t n = 0;
        for (char c : std::string_view(F::name)) out.chars[n++] = c;
        out.chars[n++] = '@';
        for (char c : Address.view()) out.chars[n++] = c;
        out.chars[n] = '\0';
        return out;
    }();

public:
    static constexpr std::string_view name = key.view();
};

namespace detail {
template <family F>
struct placed {
    using plain = F;
    static constexpr std::string_view address{};
};
template <fixed_string Address, family F>
struct placed<at<Address, F>> {
    using plain = F;
    static constexpr std::string_view address = Address.view();
};
}  // namespace detail

namespace detail {
template <class Placed>
struct as_placed {
    using plain = typename Placed::plain;
    static constexpr row<Placed> show(const row<plain>& r) { return row<Placed>(as_is{}, r.template get<plain>()); }
    static constexpr std::optional<row<plain>> read(const row<Placed>& r) { return row<plain>(as_is{}, r.template get<Placed>()); }
};
}  // namespace detail

/// The catalog of the plain family.
template <fixed_string Address, family F>
struct catalog_of<at<Address, F>> {
    static constexpr auto space() { return shown_as(all<F>, detail::as_placed<at<Address, F>>{}); }
};

/// The family without its place, and the place ("" where there is none).
template <family F>
using plain_family = typename detail::placed<F>::plain;
template <family F>
inline constexpr std::string_view address_of = detail::placed<F>::address;

}  // namespace emmy::knob
