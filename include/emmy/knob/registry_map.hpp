#pragma once
#include <emmy/knob/families.hpp>

#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/type.hpp>

namespace emmy::knob {

namespace detail {
template <class... Fs>
constexpr auto map_of(registry<Fs...>) {
    return boost::hana::make_map(boost::hana::make_pair(boost::hana::type_c<Fs>, detail::info_of<Fs>())...);
}
}  // namespace detail

/// A registry as a Hana map from type_c<Family> to its family_info, for users who insert, filter and combine registries. Costs
/// compile time by the family: for public views, never for rows or spaces.
template <class Registry>
inline constexpr auto registry_map = detail::map_of(Registry{});

}  // namespace emmy::knob
