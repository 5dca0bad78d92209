// Kernels written with the typed Loop IR have, as constant expressions, the identities of the stored ones.
#include "../support/typed_kernels.hpp"

using namespace emmy;
using namespace emmy::loop::typed;

static_assert(identity(kernels::matmul(f32{}, 512, 512, 512)) == test::typed_kernels::matmul_512_id);
static_assert(identity(kernels::matmul(f32{}, 512, 512, 512)) != identity(kernels::matmul(f16{}, 512, 512, 512)), "types count");
static_assert(identity(kernels::matmul(f32{}, symbol{"rows", 16}, 512, 512)) == identity(kernels::matmul(f32{}, symbol{"rows", 32}, 512, 512)), "hints do not");
