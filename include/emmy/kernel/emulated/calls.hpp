#pragma once
#include <cstdint>
#include <string_view>

/// What kernel text asks of the machine that executes it: one entry point, a number for what is asked, words for arguments. The text's side is printed from
/// this table, the machine's side switches over it.
namespace emmy::kernel::emulated {

enum class call : std::uint32_t {
#define EMMY_EMULATED_CALLS(X)                                                                                                          \
    X(thread, "number of this thread in its block")                                                                                     \
    X(block, "number of this block in the grid")                                                                                        \
    X(rank, "number of this block in its cluster")                                                                                      \
    X(barrier, "id, threads: waits until that many have come")                                                                          \
    X(barrier_arrive, "id, threads: comes and goes on")                                                                                 \
    X(cluster_barrier, "waits for all threads of the cluster")                                                                          \
    X(warp_barrier, "lanes")                                                                                                            \
    X(shuffle, "value, lane to read, lanes: that lane's value")                                                                         \
    X(vote, "predicate, lanes: the lanes where it holds")                                                                               \
    X(shared_read, "address, bytes: where they lie in the host's memory")                                                               \
    X(shared_write, "address, bytes")                                                                                                   \
    X(shared_atomic, "address, bytes")                                                                                                  \
    X(global_read, "pointer, bytes: checked against the buffers of the launch")                                                         \
    X(global_write, "pointer, bytes")                                                                                                   \
    X(global_atomic, "pointer, bytes")                                                                                                  \
    X(copy, "shared address, pointer, bytes, bytes of them to read: the rest are zeros (cp.async)")                                     \
    X(copy_commit, "closes a group of copies")                                                                                          \
    X(copy_wait, "groups that may be left")                                                                                             \
    X(phase_init, "address, arrivals a phase (mbarrier)")                                                                               \
    X(phase_expect, "address, bytes: arrives and announces bytes")                                                                      \
    X(phase_arrive, "address")                                                                                                          \
    X(phase_wait, "address, parity of the phase that must be over")                                                                     \
    X(phase_copy_arrive, "address: arrives when this thread's copies have landed")                                                      \
    X(async_fence, "ordinary accesses before, the asynchronous units after")                                                            \
    X(tensor_load, "map, shared address, phase address, dimensions, coordinates, innermost first")                                      \
    X(bulk_load, "shared address, pointer, bytes, phase address")                                                                       \
    X(matrix_load, "registers, address, matrices, transposed")                                                                          \
    X(matrix_store, "registers, address, matrices, transposed")                                                                         \
    X(mma, "kind, accumulators, A, B")                                                                                                  \
    X(wgmma, "kind, accumulators, descriptor or registers of A, descriptor of B, flags")                                                \
    X(wgmma_fence, "registers are settled")                                                                                             \
    X(wgmma_commit, "closes a group of products")                                                                                       \
    X(wgmma_wait, "groups that may be left")                                                                                            \
    X(registers, "registers a thread of this group of four warps has from here")
#define EMMY_CALL(name, means) name,
    EMMY_EMULATED_CALLS(EMMY_CALL)
#undef EMMY_CALL
        count
};

constexpr std::string_view call_names[] = {
#define EMMY_CALL(name, means) #name,
    EMMY_EMULATED_CALLS(EMMY_CALL)
#undef EMMY_CALL
};
#undef EMMY_EMULATED_CALLS

/// Matrix products: shape, types. In the order of their numbers.
enum class product : std::uint32_t { m8n8k4_f16_f32, m8n8k4_f16_f16, m16n8k8_f16_f32, m16n8k16_f16_f32, m16n8k16_f16_f16, m16n8k16_bf16_f32, m16n8k8_tf32_f32, m16n8k32_e4m3_f32, m16n8k32_e5m2_f32, count };
constexpr std::string_view product_names[] = {"m8n8k4_f16_f32", "m8n8k4_f16_f16", "m16n8k8_f16_f32", "m16n8k16_f16_f32", "m16n8k16_f16_f16", "m16n8k16_bf16_f32", "m16n8k8_tf32_f32", "m16n8k32_e4m3_f32", "m16n8k32_e5m2_f32"};

/// wgmma: operand types; the instruction's n and whether A comes from registers stand beside it in the kind: type + 16 * n + 65536 * registers.
enum class group_operand : std::uint32_t { f16, bf16, e4m3, e5m2, tf32 };
/// Flags of wgmma: bit 0: A's rows are adjacent, bit 1: B's columns are adjacent, bit 2: adds to the accumulators (else they start at zero).
struct group_product {
    group_operand type;
    int n;
    bool a_registers;
    constexpr std::uint32_t encode() const { return static_cast<std::uint32_t>(type) + 16u * static_cast<std::uint32_t>(n) + (a_registers ? 65536u : 0u); }
    static constexpr group_product decode(std::uint32_t bits) { return {static_cast<group_operand>(bits & 15), static_cast<int>(bits >> 4 & 0xfff), (bits & 65536u) != 0}; }
    constexpr int k() const { return type == group_operand::e4m3 || type == group_operand::e5m2 ? 32 : type == group_operand::tf32 ? 8 : 16; }
    constexpr int bytes() const { return type == group_operand::e4m3 || type == group_operand::e5m2 ? 1 : type == group_operand::tf32 ? 4 : 2; }
};

/// The box copy of a tensor map, as the host lays it out for the emulated machine (a card's own map is the driver's business).
struct tensor_map {
    const void* base = nullptr;
    std::uint32_t dimensions = 0, element_bytes = 0, swizzle = 0;
    std::uint64_t size[5] = {};        ///< elements
    std::uint64_t stride[5] = {};      ///< bytes; [0] is the element
    std::uint32_t box[5] = {};         ///< elements
};

/// The one entry point: self, what, arguments, line of the text.
using entry = std::uint64_t (*)(void* self, std::uint32_t what, const std::uint64_t* arguments, int line);

}  // namespace emmy::kernel::emulated
