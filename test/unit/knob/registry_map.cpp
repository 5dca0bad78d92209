#include <emmy/knob/registry_map.hpp>

#include <boost/hana/at_key.hpp>
#include <boost/hana/erase_key.hpp>
#include <boost/hana/length.hpp>
#include <boost/test/unit_test.hpp>

using namespace emmy::knob;
namespace hana = boost::hana;

BOOST_AUTO_TEST_CASE(the_registry_as_a_hana_map_equals_the_pack) {
    constexpr auto& map = registry_map<built_in>;
    static_assert(hana::length(map) == hana::size_c<built_in::size>);
    built_in::each([&]<class F>() { BOOST_TEST(map[hana::type_c<F>].name == find_family(F::name)->name); });
    const auto without = hana::erase_key(map, hana::type_c<TEAM>);
    static_assert(decltype(hana::length(without))::value == built_in::size - 1);
}
