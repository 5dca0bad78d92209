// Misuse of a builder that only the order of calls shows is a fault; what looks like it and is right is none.
#include "typed_support.hpp"

using namespace emmy;
using namespace emmy::test;
using namespace emmy::loop::typed;

BOOST_AUTO_TEST_CASE(misuse_that_only_the_order_of_calls_shows_is_a_fault) {
    builder twice;
    twice.input<f32, "x">(4);
    twice.output<f32, "x">(4);
    BOOST_TEST(misuse(twice) == "output x: found a second declaration, expected distinct names");

    builder late;
    auto x = late.input<f32, "x">(4);
    auto y = late.output<f32, "y">(4);
    std::vector<val<f32>> kept;
    late.loop(4, [&](axis i) { kept.push_back(x(i)); });
    y(0) = kept[0];
    BOOST_TEST(misuse(late) == "in0: found a read outside the loop that defines it, expected one inside it");

    builder early;
    auto z = early.output<f32, "z">(4);
    auto a = early.accumulate<loop::op::add>();
    z(0) = a;
    BOOST_TEST(misuse(early) == "an accumulator: found a read before its loop, expected one inside or after it");

    builder empty;
    empty.input<f32, "x">(0);
    BOOST_TEST(misuse(empty) == "a size: found 0, expected at least 1");

    builder far;
    auto w = far.input<f32, "w">(4);
    auto v = far.output<f32, "v">(4);
    far.loop(4, [&](axis i) { v(i) = w(4); });
    BOOST_TEST(misuse(far) == "input w: found an index beyond the end of dimension 0, expected one below 4");
}

BOOST_AUTO_TEST_CASE(names_of_the_author_are_none_of_the_builders) {
    const auto rows = [](symbol s, auto sizes) {
        builder b;
        auto x = b.input<f32, "in0">(s, sizes);
        auto y = b.output<f32, "v0">(s, sizes);
        b.loop(s, sizes, [&](axis i, axis j) { y(i, j) = exp(x(i, j)); });
        return b;
    };
    const builder n = rows({"n"}, 4), a0 = rows({"a0"}, 4), a1 = rows({"a1"}, 4);
    for (const builder* b : {&n, &a0, &a1}) good(*b);
    const auto text = loop::kernel_text(*loop::typed::kernel(a0, "k"));
    BOOST_TEST(text.find(R"("axis":{"name":"a1")") != std::string::npos, text);
    BOOST_TEST(text.find(R"("names":["in1"],"input":"in0")") != std::string::npos, text);

    builder late;
    auto x = late.input<f32, "x">(4);
    auto y = late.output<f32, "y">(4);
    late.loop(4, [&](axis i) { y(i) = late.sum(symbol{"a0"}, [&](axis) { return x(i); }); });
    BOOST_TEST(misuse(late) == "symbol a0: found a name that the builder has taken before, expected another name (one in use before the first loop is free)");

    for (const auto& [name, found] : {std::pair{"", "[]"}, {"1n", "[1n]"}, {"a b", "[a b]"}}) {
        builder b;
        b.input<f32, "x">(symbol{name});
        BOOST_TEST(misuse(b) == std::string("a symbol: found ") + found + ", expected a name of letters, digits and underscores");
    }
}

BOOST_AUTO_TEST_CASE(an_accumulator_is_folded_by_one_loop_of_its_body) {
    // Declared in the body of i, the loop over k folds it; `place` says what goes wrong.
    enum class wrong { nothing, outside, same_body, deeper, two_loops, read_elsewhere, read_early, no_fold };
    const auto made = [](wrong w) {
        builder b;
        auto x = b.input<f32, "x">(3, 4);
        auto y = b.output<f32, "y">(3);
        auto outer = b.accumulate<op::add>();
        b.loop(3, [&](axis i) {
            auto inner = b.accumulate<op::add>();
            auto& a = w == wrong::outside ? outer : inner;
            if (w == wrong::same_body) a.fold(x(i, 0));
            if (w == wrong::read_early) y(i) = a;
            if (w == wrong::read_elsewhere) b.loop(2, [&](axis) { y(i) = a; });
            if (w == wrong::deeper) b.loop(2, [&](axis) { b.loop(4, [&](axis k) { a.fold(x(i, k)); }); });
            else if (w == wrong::no_fold) b.loop(2, [&](axis) { y(i) = a; });
            else b.loop(4, [&](axis k) { a.fold(x(i, k)); });
            if (w == wrong::two_loops) b.loop(4, [&](axis k) { a.fold(x(i, k)); });
            y(i) = a;
        });
        return b;
    };
    BOOST_TEST(outputs(good(made(wrong::nothing)), {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}) == (reals{10, 26, 42}), boost::test_tools::per_element());
    const std::string begin = "an accumulator: found ", home = ", expected one in a loop directly inside the body that declares it", one = ", expected one loop that folds it (an accumulator for each)";
    BOOST_TEST(misuse(made(wrong::outside)) == begin + "an update more than one loop away from its declaration" + home);
    BOOST_TEST(misuse(made(wrong::same_body)) == begin + "an update in the body that declares it" + home);
    BOOST_TEST(misuse(made(wrong::deeper)) == begin + "an update more than one loop away from its declaration" + home);
    BOOST_TEST(misuse(made(wrong::two_loops)) == begin + "updates in two loops" + one);
    BOOST_TEST(misuse(made(wrong::read_elsewhere)) == begin + "a read in a loop before the one that folds it" + one);
    BOOST_TEST(misuse(made(wrong::read_early)) == begin + "a read before its loop, expected one inside or after it");
    BOOST_TEST(misuse(made(wrong::no_fold)) == begin + "a read before its loop, expected one inside or after it");

    builder never;
    auto y = never.output<f32, "y">(3);
    never.loop(3, [&](axis i) {
        auto a = never.accumulate<op::add>();
        never.loop(2, [&](axis) { y(i) = a; });
    });
    BOOST_TEST(misuse(never) == begin + "no fold" + home);
}

BOOST_AUTO_TEST_CASE(an_axis_heads_no_loop_inside_its_own) {
    builder b;
    auto x = b.input<f32, "x">(4);
    auto y = b.output<f32, "y">(4);
    auto i = b.axis(4);
    b.loop(i, [&](axis) { b.loop(i, [&](axis) { y(i) = x(i); }); });
    BOOST_TEST(misuse(b) == "a0: found a loop over it inside its own loop, expected an axis of its own (several loops of one axis stand beside each other)");
}

BOOST_AUTO_TEST_CASE(a_kernel_stores_to_every_output_and_is_taken_once_complete) {
    const auto made = [](bool stores, int taken) {
        builder b;
        auto x = b.input<f32, "x">(4);
        auto y = b.output<f32, "y">(4);
        auto z = b.output<f32, "z">(4);
        if (taken == 1) (void)b.body();
        b.loop(4, [&](axis i) {
            y(i) = x(i);
            if (taken == 2) (void)b.body();
            if (stores) z(i) = x(i);
        });
        if (taken == 3) {
            (void)b.body();
            b.input<f32, "late">(4);
        }
        return b;
    };
    good(made(true, 0));
    BOOST_TEST(misuse(made(false, 0)) == "output z: found no store, expected a value for each element");
    BOOST_TEST(misuse(made(true, 1)) == "output y: found no store, expected a value for each element");
    BOOST_TEST(misuse(made(true, 2)) == "a kernel: found taken inside one of its loops, expected taken after its last statement");
    BOOST_TEST(misuse(made(true, 3)) == "input late: found a declaration after the kernel was taken, expected one before");

    builder on;
    auto x = on.input<f32, "x">(4);
    auto y = on.output<f32, "y">(4);
    on.loop(4, [&](axis i) { y(i) = x(i); });
    const digest128 before = loop::typed::identity(on);
    BOOST_TEST((before != digest128{}));
    on.loop(4, [&](axis i) { y(i) = exp(x(i)); });
    BOOST_TEST(misuse(on) == "a statement: found one after the kernel was taken, expected all of them before (body, identity and kernel take it)");

    builder unnamed;
    auto u = unnamed.output<f32, "u">(1);
    u(0) = unnamed.let<f32>(1);
    const auto k = loop::typed::kernel(unnamed, "not a name");
    BOOST_TEST((!k && k.error().message().find("expected an identifier") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(an_index_that_some_step_takes_out_of_its_buffer) {
    const auto at = [](auto&& where) {
        builder b;
        auto x = b.input<f32, "x">(8);
        auto y = b.output<f32, "y">(8);
        b.loop(8, [&](axis i) { b.loop(4, [&](axis k) { y(i) = x(where(i, k)); }); });
        (void)b.body();
        return std::string(b.misuse().view());
    };
    const std::string beyond = "input x: found an index beyond the end of dimension 0, expected one below 8",
                      below = "input x: found an index below 0 of dimension 0, expected 0 or more (choose(p, a, b) takes another index where p says so)";
    BOOST_TEST(at([](axis i, axis) { return i + 1; }) == beyond);
    BOOST_TEST(at([](axis i, axis) { return i - 1; }) == below);
    BOOST_TEST(at([](axis, axis) { return -1; }) == below);
    BOOST_TEST(at([](axis i, axis) { return 2 * i; }) == beyond);
    BOOST_TEST(at([](axis i, axis k) { return i + k; }) == beyond);
    BOOST_TEST(at([](axis, axis k) { return 3 - 2 * k; }) == below);
    BOOST_TEST(at([](axis i, axis k) { return (i + k) % 9; }) == beyond);
    BOOST_TEST(at([](axis i, axis k) { return (4 * i + k) / 2; }) == beyond);
    BOOST_TEST(at([](axis i, axis) { return (i - 1) / 8; }) == below);
    // Right ones, and ones whose parts share an axis: nothing is known of them.
    BOOST_TEST(at([](axis i, axis) { return 7 - i; }) == "");
    BOOST_TEST(at([](axis i, axis k) { return (i + k) % 8; }) == "");
    BOOST_TEST(at([](axis i, axis k) { return (4 * i + k) / 4; }) == "");
    BOOST_TEST(at([](axis i, axis) { return (2 * i) % 9 / 2; }) == "");
    BOOST_TEST(at([](axis, axis k) { return 2 * k + 1; }) == "");
    BOOST_TEST(at([](axis i, axis) { return i - 4 * (i / 4); }) == "");
    BOOST_TEST(at([](axis i, axis) { return choose(i < 1, 0, i - 1); }) == "");
    BOOST_TEST(at([](axis i, axis) { return (i - 1) % 8; }) == "");
}
