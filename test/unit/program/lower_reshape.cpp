// Reshapes of symbolic tensors: what the map reads is what row-major order says, and a symbol strides only what lies across its axis.
#include <emmy/program/compose.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/lower/lower.hpp>

#include <boost/test/unit_test.hpp>

#include <numeric>

using namespace emmy;
using namespace emmy::program;

namespace {

using shape = std::vector<std::string>;  ///< "4", "s", or "2s"

extent size_of(const std::string& text) {
    if (text.back() != 's') return extent(std::stoll(text));
    return text == "s" ? extent::symbol() : extent(std::stoll(text.substr(0, text.size() - 1))) * extent::symbol();
}

/// Coordinates of the one map, " | " between; the values are checked at sizes 1 and 5.
std::string mapped(const shape& from, const shape& to) {
    composer c;
    std::vector<builder::size> sizes;
    for (const std::string& t : from) sizes.push_back(t == "s" ? builder::size{512, "s"} : builder::size{std::stoll(t), {}});
    const edge x = c.input("x", dtype::f32, sizes);
    std::vector<extent> wanted;
    for (const std::string& t : to) wanted.push_back(size_of(t));
    c.output(c.reshape("y", x, wanted));
    const auto g = std::move(c).finish();
    BOOST_REQUIRE_MESSAGE(g, (g ? std::string() : g.error().line()));
    const auto lowered = lower(*g);
    BOOST_REQUIRE_MESSAGE(lowered, (lowered ? std::string() : lowered.error().line()));
    for (const std::int64_t s : {1, 5}) {
        const std::vector<bound_size> at{{"s", s}};
        const auto count = element_count(lowered->g, lowered->g.shape({lowered->g.find_node("x"), 0}), at);
        BOOST_REQUIRE(count);
        std::vector<double> values(static_cast<std::size_t>(*count));
        std::iota(values.begin(), values.end(), 0);
        const auto bytes = to_bytes(dtype::f32, values);
        const std::vector<named_bytes> given{{"x", bytes}};
        const auto got = evaluate(lowered->g, given, at);
        BOOST_REQUIRE_MESSAGE(got, (got ? std::string() : got.error().line()));
        BOOST_TEST((*got)[0].values == values);
    }
    std::string out;
    for (const node& n : lowered->g.nodes)
        if (const attribute* sources = lowered->g.find(n, attr::sources))
            for (std::uint32_t i = 0; i < lowered->g.sources[sources->list.first].coord_map.count; ++i) {
                if (!out.empty()) out += " | ";
                spell_expr(out, lowered->g.coordinates[lowered->g.sources[sources->list.first].coord_map.first + i], lowered->g.exprs, lowered->g.names);
            }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lower_reshape)

BOOST_AUTO_TEST_CASE(a_symbol_strides_only_what_lies_across_its_axis) {
    BOOST_TEST(mapped({"1", "8", "s", "4"}, {"1", "8", "1", "s", "4"}) == "0 | out_coord_1 | out_coord_3 | out_coord_4");  // a cache seen by groups
    BOOST_TEST(mapped({"8", "s", "4"}, {"2", "4", "s", "4"}) == "out_coord_0 * 4 + out_coord_1 | out_coord_2 | out_coord_3");
    BOOST_TEST(mapped({"2", "4", "s", "6"}, {"8", "s", "2", "3"}) == "out_coord_0 / 4 | out_coord_0 % 4 | out_coord_1 | out_coord_2 * 3 + out_coord_3");
    BOOST_TEST(mapped({"s", "24"}, {"s", "4", "6"}) == "out_coord_0 | out_coord_1 * 6 + out_coord_2");
    BOOST_TEST(mapped({"s", "4", "6"}, {"s", "24"}) == "out_coord_0 | out_coord_1 / 6 | out_coord_1 % 6");
    BOOST_TEST(mapped({"1", "s", "1"}, {"s"}) == "0 | out_coord_0 | 0");
}

BOOST_AUTO_TEST_CASE(sizes_that_meet_only_together_are_read_together) {
    BOOST_TEST(mapped({"2", "s", "4"}, {"2s", "4"}) == "out_coord_0 / s | out_coord_0 % s | out_coord_1");
    BOOST_TEST(mapped({"s", "6"}, {"2s", "3"}) == "(out_coord_0 * 3 + out_coord_1) / 6 | (out_coord_0 * 3 + out_coord_1) % 6");
    BOOST_TEST(mapped({"s", "6"}, {"3", "2s"}) == "(out_coord_0 * (s * 2) + out_coord_1) / 6 | (out_coord_0 * (s * 2) + out_coord_1) % 6");
}

BOOST_AUTO_TEST_SUITE_END()
