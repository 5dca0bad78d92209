// Grid, unit rows, workspaces, roles and sites of closed terms.
#include "unit/fold/lifted.hpp"

#include <emmy/fold/sites.hpp>

using namespace emmy;
using namespace emmy::test;

namespace {

lifted product(const list& x, const list& w, const list& y) {
    return lift({"w", "x"}, {"y"}, {over("a0", 8, {over("a1", 16, {over("a2", 32, {load("in0", "x", x), load("in1", "w", w), assign("v0", "multiply", {"in0", "in1"}), accum("acc0", "v0", "a2")}),
                                                                 write("y", y, "acc0")})})});
}
std::string names(const closed::forest& f, const std::vector<loop::axis>& axes) {
    std::string out;
    for (const loop::axis& a : axes) out += (out.empty() ? "" : " ") + (a.name == no_name ? std::string("1") : std::string(f.text(a.name)));
    return out;
}
std::string names(const closed::forest& f, const std::vector<name_id>& list) {
    std::string out;
    for (const name_id n : list) out += (out.empty() ? "" : " ") + std::string(f.text(n));
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows_columns_and_the_contracted_axis) {
    const lifted k = product({"a0", "a2"}, {"a2", "a1"}, {"a0", "a1"});
    const closed::site_model m = closed::site_model_of(k.forest);
    BOOST_TEST(names(k.forest, m.geometry.grid) == "a0 a1");
    BOOST_REQUIRE(m.sites.size() == 1u);
    const closed::site_facts& s = m.sites[0];
    BOOST_TEST((s.tiles && s.whole && s.kernel_root && s.root));
    BOOST_TEST(names(k.forest, s.roles.left) == "a0");
    BOOST_TEST(names(k.forest, s.roles.right) == "a1");
    BOOST_TEST(s.roles.shared.empty());
    BOOST_CHECK(k.forest.text(s.m) == "a0" && k.forest.text(s.n) == "a1" && k.forest.text(s.axis.name) == "a2");
    BOOST_TEST((s.a.stored && s.a.axis_last && s.a.unit_stride));
    BOOST_TEST((s.b[0].stored && !s.b[0].axis_last && s.b[0].unit_stride));
    BOOST_CHECK(s.b[0].storage == dtype::f32);
    BOOST_TEST(names(k.forest, closed::workspace_order(k.forest)) == "a0 a1");
}

BOOST_AUTO_TEST_CASE(one_row_is_a_unit_row) {
    const lifted k = lift({"rx", "w"}, {"ry"}, {over("a1", 16, {over("a2", 32, {load("in0", "rx", {"0", "a2"}), load("in1", "w", {"a2", "a1"}), assign("v0", "multiply", {"in0", "in1"}), accum("acc0", "v0", "a2")}),
                                                               write("ry", {"0", "a1"}, "acc0")})});
    BOOST_TEST(closed::geometry_of(k.forest).unit_row());
    BOOST_TEST(names(k.forest, closed::workspace_order(k.forest)) == "1 a1");
    const closed::site_model m = closed::site_model_of(k.forest);
    BOOST_TEST(m.sites[0].tiles);
    BOOST_CHECK(m.sites[0].m == no_name && k.forest.text(m.sites[0].n) == "a1");
    // The row can be given its name back.
    closed::forest bound = k.forest;
    BOOST_TEST(closed::bind_row(bound));
    BOOST_TEST(names(bound, bound.free) == "_row a1");
    BOOST_TEST(names(bound, closed::roles_of(bound, bound.root).left) == "_row");
    closed::forest rows = product({"a0", "a2"}, {"a2", "a1"}, {"a0", "a1"}).forest;
    BOOST_TEST(!closed::bind_row(rows));
}

BOOST_AUTO_TEST_CASE(a_batch_of_rows_against_its_own_matrices_takes_no_tile) {
    const lifted k = product({"a0", "a2"}, {"a2", "a0 + 8 * a1"}, {"a0", "a1"});
    const closed::site_model m = closed::site_model_of(k.forest);
    BOOST_TEST(names(k.forest, m.sites[0].roles.shared) == "a0");
    BOOST_TEST((m.sites[0].one_sided && !m.sites[0].tiles));
}

BOOST_AUTO_TEST_CASE(sweeps_stay_where_a_statistic_would_be_computed_again) {
    const auto kernel = [](const list& last) {
        return lift({"x"}, {"y"}, {over("a0", 8, {over("a1", 32, {load("in0", "x", {"a0", "a1"}), assign("v0", "square", {"in0"}), accum("acc0", "v0", "a1")}), over("a2", 16, last)})});
    };
    const lifted norm = kernel({load("in1", "x", {"a0", "a2"}), assign("v1", "multiply", {"in1", "acc0"}), write("y", {"a0", "a2"}, "v1")});
    const closed::geometry g = closed::geometry_of(norm.forest);
    BOOST_TEST(g.swept);
    BOOST_TEST(names(norm.forest, g.grid) == "a0");
    closed::forest f = norm.forest;
    BOOST_TEST(!closed::promote(f));
    const closed::site_model m = closed::site_model_of(norm.forest);
    BOOST_TEST(m.sites.back().address == "map.1/reduce");
    BOOST_TEST((m.sites.back().kernel_root && !m.sites.back().in_sweep && !m.sites.back().tiles));
    const lifted strip = lift({"x"}, {"y"}, {over("a0", 8, {over("a1", 32, {load("in0", "x", {"a1", "a0"}), assign("v0", "exp", {"in0"}), write("y", {"a0", "a1"}, "v0")})})});
    BOOST_TEST(closed::site_model_of(strip.forest).sites[0].pointwise);
}
