// The emulated machine: hand-written kernels that are right, and the same with one thing wrong, which it must name.
#include <emmy/core/numeric.hpp>
#include <emmy/device/cuda/compiler.hpp>
#include <emmy/device/emulated/text.hpp>
#include <emmy/kernel/cuda/prelude.hpp>
#include <emmy/kernel/emulated/calls.hpp>

#include <support/device_texts.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

using namespace emmy;
using namespace emmy::device::emulated;
using namespace emmy::test;

namespace {

/// Text with one place changed; the place must be there.
std::string with(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    BOOST_REQUIRE_MESSAGE(at != std::string::npos, from);
    return text.replace(at, from.size(), to);
}

struct run_case {
    std::string body, name;
    geometry shape;
    std::vector<void*> arguments;
    std::vector<buffer_range> buffers;
};

outcome run_it(const run_case& c, const settings& how) {
    const auto text = loaded_text::build(c.body, c.name);
    BOOST_REQUIRE_MESSAGE(text, (text ? "" : text.error().line()));
    const auto out = text->run(c.shape, c.arguments, c.buffers, how);
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.error().line()));
    return *out;
}

const std::vector<settings> all_settings = {{0, landing::late}, {0, landing::early}, {1, landing::random}, {2, landing::late}, {3, landing::early}, {4, landing::random}};

bool found(const outcome& o, defect kind) {
    for (const report& r : o.reports)
        if (r.kind == kind) return true;
    return false;
}
std::string told(const outcome& o) {
    std::string out;
    for (const report& r : o.reports) out += std::string(name(r.kind)) + " at line " + std::to_string(r.line) + ", block " + std::to_string(r.block) + ", thread " + std::to_string(r.thread) + ": " + r.text + "\n";
    return out.empty() ? "nothing" : out;
}

/// No report and the right answer under every setting.
template <class Check>
void holds(const run_case& c, Check right) {
    for (const settings& how : all_settings) BOOST_TEST_CONTEXT("seed " << how.seed << " landing " << static_cast<int>(how.copies)) {
        const outcome o = run_it(c, how);
        BOOST_TEST(o.reports.empty(), told(o));
        right();
    }
}
/// Under every setting the defect is named. Where several are given: which of them shows depends on who comes first.
void caught(const run_case& c, std::initializer_list<defect> kinds) {
    for (const settings& how : all_settings) BOOST_TEST_CONTEXT("seed " << how.seed << " landing " << static_cast<int>(how.copies)) {
        const outcome o = run_it(c, how);
        bool any = false;
        for (const defect kind : kinds) any = any || found(o, kind);
        BOOST_TEST(any, "expected a " << name(*kinds.begin()) << ", found " << told(o));
    }
}
void caught(const run_case& c, defect kind) { caught(c, {kind}); }

struct tree_case : run_case {
    std::vector<float> x = std::vector<float>(3 * 64), y = std::vector<float>(3);
    const float* px = x.data();
    float* py = y.data();
    explicit tree_case(std::string text = tree) {
        for (std::uint32_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(small(i));
        body = std::move(text), name = "tree", shape = {3, 64, 1, 256};
        arguments = {&px, &py};
        buffers = {{"x", x.data(), 4 * x.size(), false}, {"y", y.data(), 4 * y.size(), true}};
    }
};

struct product_case : run_case {
    static constexpr int k = 320;
    std::vector<std::uint16_t> a = std::vector<std::uint16_t>(64 * k), b = std::vector<std::uint16_t>(64 * k);
    std::vector<float> c = std::vector<float>(64 * 64);
    kernel::emulated::tensor_map map_a, map_b;
    const void *pa = &map_a, *pb = &map_b;
    float* pc = c.data();
    int chunks = k / 64;
    explicit product_case(std::string text = group_product, std::uint32_t shared = 32800) {
        for (std::uint32_t i = 0; i < a.size(); ++i) a[i] = f64_to_f16(small(i)), b[i] = f64_to_f16(small(i + 77777));
        const auto map = [](const std::vector<std::uint16_t>& of) {
            kernel::emulated::tensor_map m;
            m.base = of.data(), m.dimensions = 2, m.element_bytes = 2, m.swizzle = 128;
            m.size[0] = k, m.size[1] = 64, m.stride[0] = 2, m.stride[1] = 2 * k, m.box[0] = 64, m.box[1] = 64;
            return m;
        };
        map_a = map(a), map_b = map(b);
        body = std::move(text), name = "product", shape = {1, 160, 1, shared};
        arguments = {&pa, &pb, &pc, &chunks};
        buffers = {{"a", a.data(), 2 * a.size(), false}, {"b", b.data(), 2 * b.size(), false}, {"c", c.data(), 4 * c.size(), true}};
    }
    void right() const {
        for (int i = 0; i < 64; ++i)
            for (int j = 0; j < 64; ++j) {
                int sum = 0;
                for (int l = 0; l < k; ++l) sum += small(static_cast<std::uint32_t>(i * k + l)) * small(static_cast<std::uint32_t>(j * k + l) + 77777);
                BOOST_REQUIRE_EQUAL(c[static_cast<std::size_t>(i * 64 + j)], static_cast<float>(sum));
            }
    }
};

struct ring_case : run_case {
    static constexpr int k = 16 * 7;
    std::vector<std::uint16_t> a = std::vector<std::uint16_t>(16 * k), b = std::vector<std::uint16_t>(k * 8);
    std::vector<float> c = std::vector<float>(16 * 8);
    const std::uint16_t *pa = a.data(), *pb = b.data();
    float* pc = c.data();
    int chunks = k / 16;
    explicit ring_case(std::string text = ring) {
        for (std::uint32_t i = 0; i < a.size(); ++i) a[i] = f64_to_f16(small(i));
        for (std::uint32_t i = 0; i < b.size(); ++i) b[i] = f64_to_f16(small(i + 4242));
        body = std::move(text), name = "ring", shape = {1, 32, 1, 3 * 768};
        arguments = {&pa, &pb, &pc, &chunks};
        buffers = {{"a", a.data(), 2 * a.size(), false}, {"b", b.data(), 2 * b.size(), false}, {"c", c.data(), 4 * c.size(), true}};
    }
    void right() const {
        for (int i = 0; i < 16; ++i)
            for (int j = 0; j < 8; ++j) {
                int sum = 0;
                for (int l = 0; l < k; ++l) sum += small(static_cast<std::uint32_t>(i * k + l)) * small(static_cast<std::uint32_t>(l * 8 + j) + 4242);
                BOOST_REQUIRE_EQUAL(c[static_cast<std::size_t>(i * 8 + j)], static_cast<float>(sum));
            }
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(emulated)

BOOST_AUTO_TEST_CASE(a_tree_in_shared_memory) {
    tree_case c;
    holds(c, [&] {
        for (std::uint32_t r = 0; r < 3; ++r) {
            int sum = 0;
            for (std::uint32_t i = 0; i < 64; ++i) sum += small(64 * r + i);
            BOOST_TEST(c.y[r] == static_cast<float>(sum));
        }
    });
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_tree_is_named) {
    caught(tree_case(with(tree, "        dev::barrier();\n", "")), defect::race);
    caught(tree_case(with(tree, "    dev::barrier();\n", "")), defect::race);
    caught(tree_case(with(tree, "if (t < half) dev::store", "if (t < half) dev::barrier(); else dev::store")), defect::race);
    caught(tree_case(with(tree, "        dev::barrier();", "        if (t != 63) dev::barrier();")), defect::deadlock);
    caught(tree_case(with(tree, "64 * dev::block() + t", "64 * dev::block() + t + 1")), defect::out_of_bounds);
    caught(tree_case(with(tree, "t < half", "t <= half")), defect::race);
    caught(tree_case(with(tree, "dev::load_shared<float>(0)", "dev::load_shared<float>(256)")), defect::out_of_bounds);
    caught(tree_case(with(tree, "dev::load_shared<float>(0)", "dev::load_shared<float>(2)")), defect::misaligned);
    caught(tree_case(with(tree, "dev::store(y, dev::block()", "dev::store((float*)x, dev::block()")), defect::out_of_bounds);
    caught(tree_case(with(tree, "dev::store_shared<float>(4 * t, dev::load(x", "if (t != 5) dev::store_shared<float>(4 * t, dev::load(x")), defect::unwritten_read);
}

BOOST_AUTO_TEST_CASE(a_ring_of_copies_and_a_matrix_product_of_a_warp) {
    ring_case c;
    holds(c, [&] { c.right(); });
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_ring_is_named) {
    caught(ring_case(with(ring, "        dev::copy_wait<1>();\n", "        dev::copy_wait<2>();\n")), defect::pending_access);
    caught(ring_case(with(ring, "        dev::warp_barrier();\n", "")), defect::race);
    caught(ring_case(with(ring, "fill(i + 2);", "fill(i + 3);")), defect::out_of_bounds);
    caught(ring_case(with(with(ring, "i % 3);\n        dev::copy", "i % 2);\n        dev::copy"), "768 * (i % 3);\n        u32", "768 * (i % 2);\n        u32")), defect::pending_access);
    caught(ring_case(with(ring, "    dev::copy_wait<0>();\n    for", "    for")), defect::pending_access);
    caught(ring_case(with(ring, "dev::mma_m16n8k16_f16_f32(d, x, y);", "if (t < 31) dev::mma_m16n8k16_f16_f32(d, x, y);")), defect::barrier_misuse);
    caught(ring_case(with(ring, "slot + 512 + 16 * (t % 16));\n        dev::mma", "slot + 520 + 16 * (t % 16));\n        dev::mma")), defect::misaligned);
}

BOOST_AUTO_TEST_CASE(boxes_phases_and_a_matrix_product_of_a_warp_group) {
    product_case c;
    holds(c, [&] { c.right(); });
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_warp_group_is_named) {
    caught(product_case(with(group_product, "dev::phase_wait(full + 8 * s, (i / 2) & 1);", "if (i == 0) dev::phase_wait(full + 8 * s, (i / 2) & 1);")), defect::pending_access);
    caught(product_case(with(group_product, "dev::phase_wait(full + 8 * s, (i / 2) & 1);", "dev::phase_wait(full + 8 * s, (i / 2 + 1) & 1);")), {defect::unwritten_read, defect::pending_access, defect::deadlock});
    caught(product_case(with(group_product, "                if (i >= 2) dev::phase_wait(empty + 8 * s, (i / 2 - 1) & 1);\n", "")), {defect::stale_slot, defect::barrier_misuse});
    caught(product_case(with(group_product, "        dev::wgmma_fence();\n", "")), defect::group_misuse);
    caught(product_case(with(group_product, "        dev::wgmma_wait<0>();\n", "")), defect::stale_slot);
    caught(product_case(with(group_product, "dev::phase_expect(full + 8 * s, 16384);", "dev::phase_expect(full + 8 * s, 16400);")), defect::deadlock);
    caught(product_case(with(group_product, "dev::phase_init(empty + 8 * s, 4)", "dev::phase_init(empty + 8 * s, 5)")), defect::deadlock);
    caught(product_case(with(group_product, "if (t % 32 == 0) dev::phase_arrive", "if (t % 16 == 0) dev::phase_arrive")), defect::stale_slot);
    caught(product_case(with(group_product, "    dev::barrier();\n    if (t >= 128)", "    if (t >= 128)")), defect::race);
    caught(product_case(with(group_product, "dev::load_box_2d(16384 * s + 8192, b", "dev::load_box_2d(16384 * s + 8200, b")), defect::misaligned);
}

// A wrong swizzle is no misuse of the machine; it is seen in the answer, in every setting.
BOOST_AUTO_TEST_CASE(a_wrong_swizzle_gives_a_wrong_answer) {
    product_case c(with(group_product, "dev::descriptor<128>(16384 * s + 32 * k", "dev::descriptor<64>(16384 * s + 32 * k"));
    (void)run_it(c, {});
    bool same = true;
    for (int i = 0; i < 64 && same; ++i)
        for (int j = 0; j < 64 && same; ++j) {
            int sum = 0;
            for (int l = 0; l < c.k; ++l) sum += small(static_cast<std::uint32_t>(i * c.k + l)) * small(static_cast<std::uint32_t>(j * c.k + l) + 77777);
            same = c.c[static_cast<std::size_t>(i * 64 + j)] == static_cast<float>(sum);
        }
    BOOST_TEST(!same);
}

// Ordinary stores that a matrix unit reads need a fence by whoever stored.
BOOST_AUTO_TEST_CASE(stores_that_matrix_units_read_need_a_fence) {
    const std::string text = R"(KERNEL THREADS(128) filled(float* c) {
    const u32 t = dev::thread();
    for (u32 i = t; i < 8192; i += 128) dev::store_shared<u16>(2 * i, (u16)0x3c00);
    dev::async_fence();
    dev::barrier();
    float d[32];
    dev::wgmma_fence();
    dev::wgmma_m64n64k16_f16(d, dev::descriptor<128>(0, 16, 1024), dev::descriptor<128>(8192, 16, 1024), false);
    dev::wgmma_commit();
    dev::wgmma_wait<0>();
    for (u32 j = 0; j < 32; ++j) dev::store(c, 32 * t + j, d[j]);
}
)";
    std::vector<float> c(4096);
    float* pc = c.data();
    run_case one{text, "filled", {1, 128, 1, 16384}, {&pc}, {{"c", c.data(), 4 * c.size(), true}}};
    holds(one, [&] {
        for (const float v : c) BOOST_REQUIRE_EQUAL(v, 16.0f);
    });
    one.body = with(text, "    dev::async_fence();\n", "");
    caught(one, defect::missing_fence);
}

// What calls the prelude compiles for a card too: the same texts, and every function of it once.
BOOST_AUTO_TEST_CASE(the_same_texts_compile_for_a_card) {
    const auto& compilers = device::cuda::compilers::of_this_machine();
    if (compilers.list().empty()) {
        std::puts("skipped: no NVRTC on this machine");
        return;
    }
    const auto compile = [&](const std::string& body, const std::string& entry) {
        const auto text = kernel::cuda::with_prelude(body, kernel::cuda::form::card);
        BOOST_REQUIRE_MESSAGE(text, (text ? "" : text.error().line()));
        const auto made = compilers.compile({*text, entry, {9, 0}, true});
        BOOST_REQUIRE_MESSAGE(made, entry << ": " << (made ? "" : made.error().line()));
        BOOST_TEST(made->used.spill_store_bytes == 0);
    };
    compile(tree, "tree");
    compile(ring, "ring");
    compile(group_product, "product");
    int products = 0;
    std::string warp = "KERNEL warp(u32* p) {\n    u32 a[4], b[2];\n    float c[8];\n    u32 h[4];\n    for (int i = 0; i < 4; ++i) a[i] = dev::load(p, i), h[i] = dev::load(p, 20 + i);\n    for (int i = 0; i < 2; ++i) b[i] = dev::load(p, 4 + i);\n    for (int i = 0; i < 8; ++i) c[i] = dev::as_float(dev::load(p, 8 + i));\n";
    for (const auto& f : kernel::cuda::prelude())
        if (f.name.starts_with("mma_")) warp += "    dev::" + f.name + (f.card.find("u32* c") != std::string::npos ? "(h, a, b);\n" : "(c, a, b);\n"), ++products;
    warp += "    for (int i = 0; i < 8; ++i) dev::store(p, i, dev::as_bits(c[i]));\n    for (int i = 0; i < 4; ++i) dev::store(p, 30 + i, h[i]);\n}\n";
    compile(warp, "warp");
    BOOST_TEST(products == 15);
    // Each product of a warp group in a kernel of its own: their accumulators would not fit together.
    for (const auto& f : kernel::cuda::prelude()) {
        if (!f.name.starts_with("wgmma_m64")) continue;
        const bool registers = f.name.ends_with("_registers");
        const std::string n = f.name.substr(10, f.name.find('k', 10) - 10);
        compile("KERNEL THREADS(128) one(float* p, u64 a, u64 b) {\n    float d[" + n + " / 2] = {};\n    u32 r[4] = {1, 2, 3, dev::thread()};\n    dev::wgmma_fence();\n    dev::" + f.name + "(d, " + (registers ? "r" : "a") +
                    ", b, true);\n    dev::wgmma_commit();\n    dev::wgmma_wait<0>();\n    for (int i = 0; i < " + n + " / 2; ++i) dev::store(p, i * 128 + dev::thread(), d[i]);\n}\n",
                "one");
        ++products;
    }
    BOOST_TEST(products == 15 + 80);
    compile(R"(KERNEL THREADS(128) rest(float* p, u16* q, const tensor_map* m, int n) {
    u32 r[4];
    dev::wait_for_predecessors(), dev::start_successors(), dev::fewer_registers<40>(), dev::more_registers<232>();
    dev::barrier(1, 64), dev::barrier_arrive(2, 128), dev::cluster_barrier(), dev::warp_barrier(0xffffu);
    dev::load_matrices<1>(r, 0), dev::load_matrices<2>(r, 0), dev::load_matrices<4>(r, 0), dev::load_matrices<1, true>(r, 0), dev::load_matrices<4, true>(r, 0), dev::store_matrices<1>(r, 0), dev::store_matrices<4>(r, 0),
        dev::store_matrices<2, true>(r, 0);
    dev::copy<4>(0, p, 0), dev::copy<8>(0, p, 0, 4u), dev::copies_arrive(64), dev::phase_init(64, 1), dev::phase_arrive(64), dev::phase_wait(64, 0);
    dev::load_box_1d(0, m, 64, 1), dev::load_box_3d(0, m, 64, 1, 2, 3), dev::load_box_4d(0, m, 64, 1, 2, 3, 4), dev::load_box_5d(0, m, 64, 1, 2, 3, 4, 5), dev::load_bulk(0, p, 0, 64, 64);
    const float x = dev::load_constant(p, n), y = dev::shuffle(x, 3u) + dev::shuffle_xor(x, 1u) + (float)dev::ballot(x > 0) + dev::rank();
    float z = dev::exp(x) + dev::exp2(x) + dev::log(x) + dev::log2(x) + dev::sin(x) + dev::cos(x) + dev::tanh(x) + dev::erf(x) + dev::sqrt(x) + dev::floor(x) + dev::ceil(x) + dev::rint(x) + dev::trunc(x) + dev::fabs(x);
    z += dev::pow(x, y) + dev::fmod(x, y) + dev::fmax(x, y) + dev::fmin(x, y) + dev::fma(x, y, z) + dev::rsqrt(x) + dev::exp_fast(x) + dev::exp2_fast(x) + dev::reciprocal_fast(x) + dev::tanh_fast(x);
    z += dev::widen_f16(dev::narrow_f16(x)) + dev::widen_bf16(dev::narrow_bf16(x)) + dev::widen_f8e4m3(dev::narrow_f8e4m3(x)) + dev::widen_f8e5m2(dev::narrow_f8e5m2(x));
    const u32x4 w = dev::load_wide<u32x4>(q, 8 * n);
    dev::store_wide(q, 8 * n + 64, w), dev::add(p, n, z), dev::add_shared(0, z), dev::store(q, n, (u16)dev::pack(3, 4));
    dev::store_shared<float>(dev::swizzled<128>(4 * n), z);
})", "rest");
}

// Every function of the prelude is called in a text above, and both forms define it.
BOOST_AUTO_TEST_CASE(every_function_has_both_definitions) {
    for (const auto& f : kernel::cuda::prelude()) BOOST_TEST_CONTEXT(f.name) {
        BOOST_TEST(f.card.find(" " + f.name + "(") != std::string::npos);
        BOOST_TEST(f.emulated.find(" " + f.name + "(") != std::string::npos);
    }
    const auto unknown = kernel::cuda::with_prelude("dev::nothing_of_the_kind(3);", kernel::cuda::form::card);
    BOOST_REQUIRE(!unknown);
    BOOST_TEST(unknown.error().line().find("dev::nothing_of_the_kind") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
