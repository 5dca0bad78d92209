// An engine's use of a golden file that its build compiled in: constants, no JSON, nothing linked.
#include <standard.golden.hpp>

#include <cstdio>

static_assert(standard::table.size() > 0);
static_assert(standard::table[0].name() == "matmul.square.512");

int main() {
    const emmy::digest128 kernel = standard::table[0].identity();
    const auto row = standard::table.find(kernel);
    std::printf("%zu rows, %zu kernels, %s\n", standard::table.size(), standard::table.kernels().size(), row ? "measured" : "nothing measured");
    return kernel && !row ? 0 : 1;  // the standard set holds proposals only
}
