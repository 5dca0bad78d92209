// Typed kernels against the stored ones: one identity, and (where the order of operands in C++ says the order) statement for statement one body.
#include "files.hpp"

#include <support/typed_kernels.hpp>
#include <support/typed_kernels_attention.hpp>
#include <support/typed_kernels_more.hpp>

#include <emmy/loop/print.hpp>

#include <map>

using namespace emmy;
using namespace emmy::test;

namespace {

/// Statements without the line that names the kernel; the scalar buffers of sdpa under the short names that ours have.
std::string statements(const loop::kernel& k) {
    std::string text = loop::print(k);
    text.erase(0, text.find('\n') + 1);
    const std::pair<std::string, std::string> names[] = {{"scaled_dot_product_attention_mask_fill_c", "mask_fill"}, {"scaled_dot_product_attention_mask_zero_c", "mask_zero"}, {"scaled_dot_product_attention_scale", "scale"}};
    for (const auto& [from, to] : names)
        for (std::size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(typed_kernels_are_the_stored_ones) {
    std::map<std::string, const stored_kernel*> stored;
    for (const stored_file& file : stored_files())
        if (file.path == "records/h100_sm90.json")
            for (const stored_kernel& k : file.kernels) stored[k.reference] = &k;
    if (stored.empty()) return;

    using namespace typed_kernels;
    const auto compare = [&](std::string reference, const auto& make, digest128 constant, bool same_order = true) {
        BOOST_TEST_CONTEXT(reference) {
            BOOST_REQUIRE(stored.contains(reference));
            const auto there = loop::read_kernel(stored[reference]->loop_ir);
            BOOST_REQUIRE(there);
            const loop::typed::builder built = make();
            const auto ours = loop::typed::kernel(built, reference);
            BOOST_REQUIRE_MESSAGE(ours, (ours ? std::string() : std::string(ours.error().message())));
            BOOST_REQUIRE(loop::validate(*ours));
            BOOST_TEST(to_hex(loop::identity(*there)) == to_hex(constant));
            BOOST_TEST(to_hex(loop::identity(*ours)) == to_hex(constant));
            BOOST_TEST(to_hex(loop::typed::identity(built)) == to_hex(constant));
            if (same_order) BOOST_TEST(statements(*ours) == statements(*there));
        }
    };
    compare("k_matmul_2967be", matmul_512, matmul_512_id);
    compare("k_matmul_c12c19", matmul_1024_f16, matmul_1024_f16_id);
    compare("k_linear_eaf6d8", linear_qkv, linear_qkv_id);
    compare("k_softmax_eba8b4", softmax_2048, softmax_2048_id);
    compare("k_softmax_6b2248", softmax_rows_2048, softmax_rows_2048_id);
    compare("k_rms_norm_a414c9", rms_norm_2048, rms_norm_2048_id);
    compare("k_sdpa_a70cd4", causal_sdpa_64, causal_sdpa_64_id, false);  // the stored one loads v between two operators
}
