// What counts in the identity of a typed kernel and what does not.
#include "../support/typed_kernels_more.hpp"

using namespace emmy;
using namespace emmy::loop::typed;

static_assert(identity(kernels::matmul(f32{}, 512, 512, 512)) != identity(kernels::matmul(f16{}, 512, 512, 512)), "types count");
static_assert(identity(kernels::matmul(f32{}, symbol{"rows", 16}, 512, 512)) == identity(kernels::matmul(f32{}, symbol{"rows", 32}, 512, 512)), "hints do not");
