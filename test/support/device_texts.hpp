#pragma once
// Kernel texts that the emulated machine and a card run alike.
#include <cstdint>
#include <string>

namespace emmy::test {

/// Small numbers that f16 and f32 hold exactly, so that answers are exact whatever the order of the sum.
inline int small(std::uint32_t i) { return static_cast<int>(i * 2654435761u >> 29) - 3; }

// Row sums of 64 values: 64 threads, a tree in shared memory.
inline const std::string tree = R"(KERNEL THREADS(64) tree(const float* x, float* y) {
    const u32 t = dev::thread();
    dev::store_shared<float>(4 * t, dev::load(x, 64 * dev::block() + t));
    dev::barrier();
    for (u32 half = 32; half > 0; half /= 2) {
        if (t < half) dev::store_shared<float>(4 * t, dev::load_shared<float>(4 * t) + dev::load_shared<float>(4 * (t + half)));
        dev::barrier();
    }
    if (t == 0) dev::store(y, dev::block(), dev::load_shared<float>(0));
}
)";

// C[64, 64] = A[64, k] B[64, k]^T in f16 by one warp group: boxes of 64 columns into a ring of two slots, a producer warp behind the group.
inline const std::string group_product = R"(KERNEL THREADS(160) product(const tensor_map* a, const tensor_map* b, float* c, int chunks) {
    const u32 t = dev::thread(), full = 32768, empty = 32784;
    if (t == 0) {
        for (u32 s = 0; s < 2; ++s) dev::phase_init(full + 8 * s, 1), dev::phase_init(empty + 8 * s, 4);
        dev::phase_publish();
    }
    dev::barrier();
    if (t >= 128) {
        if (t == 128)
            for (int i = 0; i < chunks; ++i) {
                const u32 s = i % 2;
                if (i >= 2) dev::phase_wait(empty + 8 * s, (i / 2 - 1) & 1);
                dev::phase_expect(full + 8 * s, 16384);
                dev::load_box_2d(16384 * s, a, full + 8 * s, 64 * i, 0);
                dev::load_box_2d(16384 * s + 8192, b, full + 8 * s, 64 * i, 0);
            }
        return;
    }
    float d[32];
    for (int i = 0; i < chunks; ++i) {
        const u32 s = i % 2;
        dev::phase_wait(full + 8 * s, (i / 2) & 1);
        dev::wgmma_fence();
        for (u32 k = 0; k < 4; ++k)
            dev::wgmma_m64n64k16_f16(d, dev::descriptor<128>(16384 * s + 32 * k, 16, 1024), dev::descriptor<128>(16384 * s + 8192 + 32 * k, 16, 1024), i > 0 || k > 0);
        dev::wgmma_commit();
        dev::wgmma_wait<0>();
        if (t % 32 == 0) dev::phase_arrive(empty + 8 * s);
    }
    const u32 row = 16 * (t / 32) + t % 32 / 4, column = 2 * (t % 4);
    for (u32 j = 0; j < 8; ++j)
        for (u32 e = 0; e < 4; ++e) dev::store(c, 64 * (row + 8 * (e / 2)) + 8 * j + column + e % 2, d[4 * j + e]);
}
)";

// C[16, 8] = A[16, k] B[k, 8] by one warp: A by ldmatrix, B transposed by it, a ring of three slots filled by cp.async.
inline const std::string ring = R"(KERNEL THREADS(32) ring(const u16* a, const u16* b, float* c, int chunks) {
    const u32 t = dev::thread();
    const auto fill = [&](int i) {
        const u32 slot = 768 * (i % 3);
        dev::copy<16>(slot + 16 * t, a, (t / 2) * 16 * chunks + 16 * i + 8 * (t % 2));
        if (t < 16) dev::copy<16>(slot + 512 + 16 * t, b, (16 * i + t) * 8);
    };
    for (int i = 0; i < 2; ++i) fill(i), dev::copy_commit();
    float d[4] = {};
    for (int i = 0; i < chunks; ++i) {
        dev::copy_wait<1>();
        dev::warp_barrier();
        if (i + 2 < chunks) fill(i + 2);
        dev::copy_commit();
        const u32 slot = 768 * (i % 3);
        u32 x[4], y[2];
        dev::load_matrices<4>(x, slot + 32 * (t % 16) + 16 * (t / 16));
        dev::load_matrices<2, true>(y, slot + 512 + 16 * (t % 16));
        dev::mma_m16n8k16_f16_f32(d, x, y);
    }
    dev::copy_wait<0>();
    for (u32 e = 0; e < 4; ++e) dev::store(c, 8 * (t / 4 + 8 * (e / 2)) + 2 * (t % 4) + e % 2, d[e]);
}
)";

}  // namespace emmy::test
