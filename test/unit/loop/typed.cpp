// Typed kernels at run time: the body is valid, reads back from its wire, computes what it says.
#include "typed_support.hpp"

using namespace emmy;
using namespace emmy::test;
using namespace emmy::loop::typed;

BOOST_AUTO_TEST_CASE(a_typed_matmul_computes) {
    const loop::kernel k = good(kernels::matmul(f32{}, 2, 2, 3));
    BOOST_TEST(outputs(k, {{1, 2, 3, 4, 5, 6}, {1, 0, 0, 1, 1, 1}}) == (reals{4, 5, 10, 11}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_step_of_a_carried_state_sees_the_step_before) {
    builder b;
    auto x = b.input<f32, "x">(3, 2);
    auto y = b.output<f32, "y">(3, 2);
    auto s = b.carry();
    b.loop(3, 2, [&](axis t, axis c) {
        auto q = s.previous(1 - c) + x(t, c);
        s.next(q, 0, c);
        y(t, c) = q;
    });
    BOOST_TEST(outputs(good(b), {{1, 2, 3, 4, 5, 6}}) == (reals{1, 2, 5, 5, 10, 11}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_rescaled_fold_is_the_online_softmax) {
    // sum of exp(x - max x) in one pass
    builder b;
    auto x = b.input<f32, "x">(4);
    auto y = b.output<f32, "y">(1);
    b.loop(1, [&](axis i) {
        auto m = b.accumulate<op::maximum>();
        auto l = b.accumulate<op::add>();
        b.loop(4, [&](axis k) {
            val<f32> s = x(k), one = b.let<f32>(1), top = maximum(m, s);
            auto rescaled = l * exp(m - top);
            l.fold(exp(s - top) * one, rescaled);
            m.fold(s);
        });
        y(i) = l;
    });
    const reals out = outputs(good(b), {{0, 0, 0, 0}});
    BOOST_TEST(out == (reals{4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(loops_nest_to_any_depth) {
    builder b, c;
    for (builder* to : {&b, &c}) {
        auto x = to->input<f32, "x">(2, 3, 2, 2);
        auto y = to->output<f32, "y">(2, 2, 3, 2);
        if (to == &b)
            b.loop(2, 3, 2, 2, [&](axis i, axis j, axis k, axis l) { y(k, l, j, i) = x(i, j, k, l); });
        else
            c.loop(2, 3, [&](axis i, axis j) { c.loop(2, 2, [&](axis k, axis l) { y(k, l, j, i) = x(i, j, k, l); }); });
    }
    BOOST_TEST(loop::kernel_text(good(b)) == loop::kernel_text(good(c)));
    BOOST_TEST(outputs(good(b), {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}}) ==
                   (reals{0, 12, 4, 16, 8, 20, 1, 13, 5, 17, 9, 21, 2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(gathers_selects_and_shares) {
    builder b;
    auto table = b.input<f32, "table">(5, 2);
    auto rows = b.input<i32, "rows">(3);
    auto y = b.output<f32, "y">(3, 2);
    b.loop(3, 2, [&](axis i, axis j) {
        val<f32> there = table(index_of(rows(i)), j), first = table(0, j);
        y(i, j) = b.select(j < 1, there, first);
    });
    BOOST_TEST(outputs(good(b), {{0, 1, 10, 11, 20, 21, 30, 31, 40, 41}, {4, 0, 2}}) == (reals{40, 1, 0, 1, 20, 1}), boost::test_tools::per_element());

    builder cut;  // a share of a stream, added up by atomic stores
    auto x = cut.input<f16, "x">(8);
    auto sum = cut.output<f32, "sum">(1);
    cut.loop(2, [&](axis share) { sum(0) += cut.sum(cut.share(4, 8), [&](axis k) { return wide(x(4 * share + k)); }); });
    BOOST_TEST(outputs(good(cut), {{1, 2, 3, 4, 5, 6, 7, 8}}) == (reals{36}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_dtype_is_written_where_inference_would_give_another) {
    builder b;
    auto x = b.input<f16, "x">(8);
    auto y = b.output<f16, "y">(8);
    b.loop(8, [&](axis i) {
        val<f16> v = x(i);
        y(i) = rounded(wide(v) * wide(v)) /* inferred: f32 */;
        y(i) = v * v;            // inferred f32, is f16
        y(i) = rounded(wide(v) + wide(v));  // inferred f16, is f32
        y(i) = divide<f16>(wide(v), wide(v));
    });
    const loop::kernel k = good(b);
    std::vector<dtype> stated;
    for (const loop::stmt& s : k.body.stmts)
        if (s.kind == loop::stmt_kind::assign) stated.push_back(s.type);
    BOOST_TEST((stated == std::vector<dtype>{dtype::none, dtype::f16, dtype::f32, dtype::f16}));
}
