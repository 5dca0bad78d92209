#pragma once
#include <emmy/kernel/cuda/prelude.hpp>

// Threads: who am I, where do we meet, what have the others. Emulated definitions ask the machine: ask(call_x, …) (kernel/emulated/calls.hpp).
namespace emmy::kernel::cuda::detail {

inline void add_threads(std::vector<prelude_function>& to) {
    // Number of the thread in its block, of the block in the grid, of the block in its cluster. Launches have one dimension.
    to.push_back({"thread", "DEV u32 thread() { return threadIdx.x; }", "DEV u32 thread() { return (u32)ask(call_thread); }"});
    to.push_back({"block", "DEV u32 block() { return blockIdx.x; }", "DEV u32 block() { return (u32)ask(call_block); }"});
    to.push_back({"rank", "DEV u32 rank() { u32 r; asm(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(r)); return r; }", "DEV u32 rank() { return (u32)ask(call_rank); }"});
    // All threads of the block; `count` threads at barrier `id` (0 is the block's), arriving without waiting.
    to.push_back({"barrier", "DEV void barrier() { __syncthreads(); }\nDEV void barrier(u32 id, u32 count) { asm volatile(\"bar.sync %0, %1;\" ::\"r\"(id), \"r\"(count) : \"memory\"); }",
                  "DEV void barrier(HERE) { ask_at(line, call_barrier, 0, 0); }\nDEV void barrier(u32 id, u32 count, HERE) { ask_at(line, call_barrier, id, count); }"});
    to.push_back({"barrier_arrive", "DEV void barrier_arrive(u32 id, u32 count) { asm volatile(\"bar.arrive %0, %1;\" ::\"r\"(id), \"r\"(count) : \"memory\"); }",
                  "DEV void barrier_arrive(u32 id, u32 count, HERE) { ask_at(line, call_barrier_arrive, id, count); }"});
    to.push_back({"cluster_barrier", "DEV void cluster_barrier() { asm volatile(\"barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;\" ::: \"memory\"); }", "DEV void cluster_barrier(HERE) { ask_at(line, call_cluster_barrier); }"});
    to.push_back({"warp_barrier", "DEV void warp_barrier(u32 lanes = ~0u) { __syncwarp(lanes); }", "DEV void warp_barrier(u32 lanes = ~0u, HERE) { ask_at(line, call_warp_barrier, lanes); }"});
    // The value of another lane of the warp: of 32-bit types. All lanes of `lanes` take part.
    to.push_back({"shuffle", "template <class T> DEV T shuffle(T v, u32 lane, u32 lanes = ~0u) { return __shfl_sync(lanes, v, lane); }",
                  "template <class T> DEV T shuffle(T v, u32 lane, u32 lanes = ~0u, HERE) { static_assert(sizeof(T) == 4); return bits_as<T>((u32)ask_at(line, call_shuffle, bits_as<u32>(v), lane, lanes)); }"});
    to.push_back({"shuffle_xor", "template <class T> DEV T shuffle_xor(T v, u32 mask, u32 lanes = ~0u) { return __shfl_xor_sync(lanes, v, mask); }",
                  "template <class T> DEV T shuffle_xor(T v, u32 mask, u32 lanes = ~0u, HERE) { return shuffle(v, (thread() & 31) ^ mask, lanes, line); }", {"shuffle", "thread"}});
    to.push_back({"ballot", "DEV u32 ballot(bool p, u32 lanes = ~0u) { return __ballot_sync(lanes, p); }", "DEV u32 ballot(bool p, u32 lanes = ~0u, HERE) { return (u32)ask_at(line, call_vote, p, lanes); }"});
    // Registers of a warp group, handed over between groups of one block.
    to.push_back({"fewer_registers", "template <int N> DEV void fewer_registers() { asm volatile(\"setmaxnreg.dec.sync.aligned.u32 %0;\" ::\"n\"(N)); }", "template <int N> DEV void fewer_registers(HERE) { ask_at(line, call_registers, N); }"});
    to.push_back({"more_registers", "template <int N> DEV void more_registers() { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 %0;\" ::\"n\"(N)); }", "template <int N> DEV void more_registers(HERE) { ask_at(line, call_registers, N); }"});
    // A kernel that was started early: waits for what it depends on; lets the next one start.
    to.push_back({"wait_for_predecessors", "DEV void wait_for_predecessors() { asm volatile(\"griddepcontrol.wait;\" ::: \"memory\"); }", "DEV void wait_for_predecessors() {}"});
    to.push_back({"start_successors", "DEV void start_successors() { asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\"); }", "DEV void start_successors() {}"});
}

}  // namespace emmy::kernel::cuda::detail
