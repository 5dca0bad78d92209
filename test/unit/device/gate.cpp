#include <emmy/core/numeric.hpp>
#include <emmy/device/answer.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/program/op_text.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <limits>

using namespace emmy;
using namespace emmy::device;

BOOST_AUTO_TEST_CASE(error_model_by_type_and_length) {
    const error_model f32{dtype::f32, 512}, f16{dtype::f16, 512};
    BOOST_CHECK_LT(f32.tolerance(1, 1), 2e-5);
    BOOST_CHECK_GT(f32.tolerance(1, 1), 1e-6);
    BOOST_CHECK_GT(f16.tolerance(1, 1), 1e-3);
    BOOST_CHECK_LT(f16.tolerance(1, 1), 3e-3);
    BOOST_CHECK_GT((error_model{dtype::f32, 1 << 20}.tolerance(1, 1)), f32.tolerance(1, 1));
    BOOST_CHECK_EQUAL((error_model{dtype::i32, 10}.tolerance(1e9, 1)), 0.5);
}

BOOST_AUTO_TEST_CASE(wrong_cells_are_named) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> wanted{1, 2, -3, inf, nan, 0};
    std::vector<double> found = wanted;
    const error_model model{dtype::f32, 16};
    BOOST_CHECK(wrong_answer(found, wanted, {}, model).empty());
    found[1] = 2.1;
    BOOST_CHECK(wrong_answer(found, wanted, {}, model).find("the worst at 1") != std::string::npos);
    const std::vector<std::int64_t> places{10, 20, 30, 40, 50, 60};
    BOOST_CHECK(wrong_answer(found, wanted, places, model).find("the worst at 20") != std::string::npos);
    found = wanted, found[3] = -inf;
    BOOST_CHECK(!wrong_answer(found, wanted, {}, model).empty());
    found = wanted, found[4] = 1;
    BOOST_CHECK(!wrong_answer(found, wanted, {}, model).empty());
    found = wanted, found[0] = nan;
    BOOST_CHECK(!wrong_answer(found, wanted, {}, model).empty());
    found.pop_back();
    BOOST_CHECK(!wrong_answer(found, wanted, {}, model).empty());
}

BOOST_AUTO_TEST_CASE(answer_of_a_product_by_the_program) {
    const auto graph = program::parse_op("matmul(a: f32[8,16], b: f32[16,4])");
    BOOST_REQUIRE(graph);
    const auto lowered = loop::lower_single_op(*graph);
    BOOST_REQUIRE(lowered);
    for (const bool by_program : {true, false}) {
        const auto answer = device::answer::prepare(lowered->kernel, {}, by_program ? &*graph : nullptr, lowered->ports);
        BOOST_REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().line()));
        BOOST_CHECK_EQUAL(answer->reference(), by_program ? "program in double, all 32 cells" : "interpreter, 256 cells");
        auto arena = answer->arena();
        BOOST_REQUIRE(arena);
        arena->poison_outputs();
        BOOST_CHECK(answer->check(*arena).find("32 of 32 cells were never written") != std::string::npos);
        const std::size_t a_at = lowered->ports[0].node == "a" ? 0 : 1;  // declared order is the kernel's own
        const auto *a = reinterpret_cast<const float*>((*arena)[a_at].data()), *b = reinterpret_cast<const float*>((*arena)[1 - a_at].data());
        auto* c = reinterpret_cast<float*>((*arena)[2].data());
        for (int i = 0; i < 8; ++i)
            for (int j = 0; j < 4; ++j) {
                float s = 0;
                for (int k = 0; k < 16; ++k) s += a[i * 16 + k] * b[k * 4 + j];
                c[i * 4 + j] = s;
            }
        BOOST_CHECK_EQUAL(answer->check(*arena), "");
        c[31] += 0.01f;
        BOOST_CHECK(!answer->check(*arena).empty());
    }
}
