// A unit test over a fork: schedules of a softmax on this processor, each compiled, run and compared with the interpreter.
//   EMMY_EXPLORE_PIN="STAGE=d1/smem" example_explore --log_level=message
#define BOOST_TEST_MODULE explore
#include <boost/test/included/unit_test.hpp>

#include <emmy/explore_kernel.hpp>
#include <emmy/loop/typed/kernels.hpp>

namespace typed = emmy::loop::typed;

BOOST_AUTO_TEST_CASE(schedules_of_a_softmax_compute_it) {
    const emmy::loop::kernel softmax = kernel(typed::kernels::softmax(typed::f32{}, 12, 40), "softmax").value();
    const auto done = emmy::explore_kernel(softmax, {.rows = {.sample = 6}});
    BOOST_TEST(done.good());
    BOOST_TEST(done.tried == 6u);
}

BOOST_AUTO_TEST_CASE(a_pin_leaves_the_rows_that_have_it) {
    const emmy::loop::kernel softmax = kernel(typed::kernels::softmax(typed::f32{}, 12, 40), "softmax").value();
    const auto all = emmy::explore_kernel(softmax, {.rows = {.sample = 1}});
    const auto pinned = emmy::explore_kernel(softmax, {.rows = {.sample = 1, .pin = "RASTER="}});
    BOOST_TEST(pinned.rows > 0u);
    BOOST_TEST(pinned.rows <= all.rows);
}
