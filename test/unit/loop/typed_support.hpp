#pragma once
// What tests of typed kernels share.
#include "interpret_support.hpp"

#include <emmy/loop/typed/kernels.hpp>
#include <emmy/loop/validate.hpp>

namespace emmy::test {

/// The kernel, once it is sure that it is valid and that its JSON gives it back under the same identity.
inline loop::kernel good(const loop::typed::builder& b) {
    auto k = loop::typed::kernel(b, "k");
    BOOST_REQUIRE_MESSAGE(k.has_value(), trouble(k));
    const auto valid = loop::validate(*k);
    BOOST_REQUIRE_MESSAGE(valid.has_value(), trouble(valid));
    const auto back = loop::parse_kernel(loop::kernel_text(*k));
    BOOST_REQUIRE_MESSAGE(back.has_value(), trouble(back));
    BOOST_TEST((loop::identity(*back) == loop::typed::identity(b)));
    BOOST_TEST(loop::kernel_text(*back) == loop::kernel_text(*k));
    return std::move(*k);
}
inline std::string misuse(const loop::typed::builder& b) {
    BOOST_TEST((loop::typed::identity(b) == digest128{}));
    const auto k = loop::typed::kernel(b, "k");
    return k ? std::string("none") : k.error().message();
}

}  // namespace emmy::test
