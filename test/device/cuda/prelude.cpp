// The kernel texts of the emulated machine's tests on a card: the prelude's definitions for a card are what its definitions for the machine say.
#include "card.hpp"

#include <emmy/core/numeric.hpp>
#include <emmy/kernel/cuda/prelude.hpp>

#include <support/device_texts.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;
using namespace emmy::device;
using namespace emmy::test;

namespace {

result<cuda::function> built(const cuda::context& card, const std::string& body, const std::string& name, std::uint32_t shared, bool specific = false) {
    EMMY_TRY(text, kernel::cuda::with_prelude(body, kernel::cuda::form::card));
    EMMY_TRY(code, cuda::compilers::of_this_machine().compile({text, name, target(card), specific}));
    return card.load(code.bytes, name, shared);
}

std::vector<std::uint16_t> halves(std::size_t count, std::uint32_t first) {
    std::vector<std::uint16_t> out(count);
    for (std::uint32_t i = 0; i < count; ++i) out[i] = f64_to_f16(small(first + i));
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_tree_of_the_emulated_machine) {
    const cuda::context* card = the_card();
    if (!card) return;
    const auto kernel = built(*card, tree, "tree", 256);
    BOOST_REQUIRE_MESSAGE(kernel, (kernel ? "" : kernel.error().line()));
    std::vector<float> x(3 * 64), y(3);
    for (std::uint32_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(small(i));
    const auto dx = card->allocate(4 * x.size()), dy = card->allocate(4 * y.size());
    BOOST_REQUIRE(dx && dy && card->upload(dx->address(), bytes_of(x)));
    cuda::device_pointer px = dx->address(), py = dy->address();
    void* arguments[] = {&px, &py};
    BOOST_REQUIRE(card->launch({&*kernel, {{3, 1, 1}, {64, 1, 1}, {1, 1, 1}, 256}, arguments}));
    BOOST_REQUIRE(card->download(writable(y), py));
    for (std::uint32_t r = 0; r < 3; ++r) {
        int sum = 0;
        for (std::uint32_t i = 0; i < 64; ++i) sum += small(64 * r + i);
        BOOST_TEST(y[r] == static_cast<float>(sum));
    }
}

BOOST_AUTO_TEST_CASE(the_ring_of_the_emulated_machine) {
    const cuda::context* card = the_card();
    if (!card || target(*card) < capability{8, 0}) return;
    const auto kernel = built(*card, ring, "ring", 3 * 768);
    BOOST_REQUIRE_MESSAGE(kernel, (kernel ? "" : kernel.error().line()));
    int chunks = 7;
    const int k = 16 * chunks;
    const auto a = halves(static_cast<std::size_t>(16 * k), 0), b = halves(static_cast<std::size_t>(k * 8), 4242);
    std::vector<float> c(16 * 8);
    const auto da = card->allocate(2 * a.size()), db = card->allocate(2 * b.size()), dc = card->allocate(4 * c.size());
    BOOST_REQUIRE(da && db && dc && card->upload(da->address(), bytes_of(a)) && card->upload(db->address(), bytes_of(b)));
    cuda::device_pointer pa = da->address(), pb = db->address(), pc = dc->address();
    void* arguments[] = {&pa, &pb, &pc, &chunks};
    BOOST_REQUIRE(card->launch({&*kernel, {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 3 * 768}, arguments}));
    BOOST_REQUIRE(card->download(writable(c), pc));
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 8; ++j) {
            int sum = 0;
            for (int l = 0; l < k; ++l) sum += small(static_cast<std::uint32_t>(i * k + l)) * small(static_cast<std::uint32_t>(l * 8 + j) + 4242);
            BOOST_REQUIRE_EQUAL(c[static_cast<std::size_t>(i * 8 + j)], static_cast<float>(sum));
        }
}

BOOST_AUTO_TEST_CASE(the_warp_group_of_the_emulated_machine) {
    const cuda::context* card = the_card();
    if (!card || target(*card).generation != 9) return;
    const auto kernel = built(*card, group_product, "product", 32800, true);
    BOOST_REQUIRE_MESSAGE(kernel, (kernel ? "" : kernel.error().line()));
    constexpr int k = 320;
    int chunks = k / 64;
    const auto a = halves(64 * k, 0), b = halves(64 * k, 77777);
    std::vector<float> c(64 * 64);
    const auto da = card->allocate(2 * a.size()), db = card->allocate(2 * b.size()), dc = card->allocate(4 * c.size());
    BOOST_REQUIRE(da && db && dc && card->upload(da->address(), bytes_of(a)) && card->upload(db->address(), bytes_of(b)));
    const auto map = [&](cuda::device_pointer base) { return card->make_tensor_map({base, dtype::f16, 2, {k, 64}, {2, 2 * k}, {64, 64}, 128}); };
    const auto map_a = map(da->address()), map_b = map(db->address());
    BOOST_REQUIRE_MESSAGE(map_a, (map_a ? "" : map_a.error().line()));
    BOOST_REQUIRE(map_b);
    cuda::device_pointer pa = map_a->address(), pb = map_b->address(), pc = dc->address();
    void* arguments[] = {&pa, &pb, &pc, &chunks};
    BOOST_REQUIRE(card->launch({&*kernel, {{1, 1, 1}, {160, 1, 1}, {1, 1, 1}, 32800}, arguments}));
    BOOST_REQUIRE(card->download(writable(c), pc));
    for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 64; ++j) {
            int sum = 0;
            for (int l = 0; l < k; ++l) sum += small(static_cast<std::uint32_t>(i * k + l)) * small(static_cast<std::uint32_t>(j * k + l) + 77777);
            BOOST_REQUIRE_EQUAL(c[static_cast<std::size_t>(i * 64 + j)], static_cast<float>(sum));
        }
}
