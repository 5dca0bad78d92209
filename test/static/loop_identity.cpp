// The digest of a body is a constant expression; test/unit/loop/identity.cpp compares the same constant with the run-time digest
// of the same body read from JSON.
#include "../support/small_bodies.hpp"

#include <emmy/loop/op_table.hpp>

using namespace emmy;
using namespace emmy::literals;

static_assert(test::matmul(512, 512, 512).identity() == "882f82e9dac32af0b2700fb00c7aeebe"_id);
static_assert(test::matmul(512, 512, 512).identity() == test::matmul(512, 512, 512, {.a = "left", .b = "right", .y = "out", .row = "i", .column = "j", .inner = "k", .left = "p", .right = "q", .product = "r", .sum = "s"}).identity(),
              "names do not count");
static_assert(test::matmul(512, 512, 512).identity() != test::matmul(512, 512, 256).identity(), "extents count");
static_assert(test::matmul(512, 512, 512).identity() != test::matmul(512, 512, 512, {}, dtype::f16).identity(), "dtypes count");
static_assert(loop::op_from_text("__rshift__") == loop::op::right_shift);
