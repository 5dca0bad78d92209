// A kernel body from anywhere: read, validate, print, identity, write, read again; the second reading must be the first.
#include <emmy/loop.hpp>

#include <cstdint>
#include <cstdlib>

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
    return 0;
}
