// A kernel body from anywhere: read, validate, print, identity, write, read again; the second reading must be the first. A valid one
// of little work is executed in both modes: whatever validate() lets through, the interpreter answers with values or a fault.
#include <emmy/loop.hpp>

#include <cstdint>
#include <cstdlib>

namespace {
bool small(const std::vector<emmy::loop::buffer>& buffers) {
    for (const auto& b : buffers) {
        std::int64_t elements = 1;
        for (const emmy::dim& d : b.shape) {
            if (d.kind == emmy::dim::form::expression || d.number > 4096 / elements) return false;
            elements *= d.number;
        }
    }
    return true;
}
void execute(const emmy::loop::kernel& k) {
    using namespace emmy;
    if (!small(k.inputs) || !small(k.outputs)) return;
    for (const auto mode : {loop::numeric_mode::typed, loop::numeric_mode::relaxed_f32}) {
        loop::interpret_options options;
        options.mode = mode;
        options.budget = 20000;
        auto made = loop::interpreter::make(k, options);
        if (!made || !made->bind(loop::seeded_inputs(k, 1))) return;
        for (const auto& cell : loop::sample_cells(*made, 1, 4)) (void)made->cell(cell.output, cell.at);
        if (made->run_cost() <= 20000) (void)made->run();
    }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace emmy;
    if (size > std::size_t{1} << 20) return 0;
    auto k = loop::parse_kernel({reinterpret_cast<const char*>(data), size});
    if (!k) return 0;
    const auto valid = loop::validate(*k);
    (void)loop::print(*k);
    (void)loop::symbols(*k);
    const digest128 id = loop::identity(*k);
    const std::string text = loop::kernel_text(*k);
    auto again = loop::parse_kernel(text);
    if (!again) std::abort();
    if (loop::identity(*again) != id || loop::kernel_text(*again) != text || loop::print(*again) != loop::print(*k)) std::abort();
    if (loop::validate(*again).has_value() != valid.has_value()) std::abort();
    if (valid) execute(*k);
    return 0;
}
