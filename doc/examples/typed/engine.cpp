// An engine with a golden file compiled in: its rows are constants, its kernels are known to be the file's.
#include <emmy/loop/typed/kernels.hpp>
#include <softmax_h100.golden.hpp>

#include <cstdio>

using namespace emmy;
using namespace emmy::loop::typed;

// The engine's softmax is the one that the file has measured, else this does not compile.
constexpr auto softmax = [] { return kernels::softmax(f32{}, 512, 2048); };
static_assert(is_kernel<softmax, softmax_h100::table.identity("k_softmax")>());

int main() {
    constexpr auto row = softmax_h100::table.find(identity_of<softmax>());
    static_assert(row && row->value<knob::WORK>().threads() == 512);  // a constant: no file is read, nothing is parsed
    row->each([](std::string_view key, std::string_view value) { std::printf("%.*s=%.*s ", int(key.size()), key.data(), int(value.size()), value.data()); });
    std::printf("%g us\n", row->us());
}
