#pragma once
#include <emmy/kernel/cuda/prelude.hpp>

// Copies from global to shared memory that go on while threads work, and the phases they complete.
namespace emmy::kernel::cuda::detail {

inline void add_copies(std::vector<prelude_function>& to) {
    // Bytes 4, 8 or 16, of which `read` come from memory and the rest are zeros (8.0).
    to.push_back({"copy",
                  "template <int Bytes, class T> DEV void copy(u32 to, const T* p, i64 i, u32 read = Bytes) {\n"
                  "    if (Bytes == 16) asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\" ::\"r\"(address(to)), \"l\"(p + i), \"r\"(read) : \"memory\");\n"
                  "    else asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2, %3;\" ::\"r\"(address(to)), \"l\"(p + i), \"n\"(Bytes), \"r\"(read) : \"memory\");\n"
                  "}",
                  "template <int Bytes, class T> DEV void copy(u32 to, const T* p, i64 i, u32 read = Bytes, HERE) { ask_at(line, call_copy, to, (u64)(p + i), Bytes, read); }", {"address"}});
    to.push_back({"copy_commit", "DEV void copy_commit() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }", "DEV void copy_commit(HERE) { ask_at(line, call_copy_commit); }"});
    to.push_back({"copy_wait", "template <int Left> DEV void copy_wait() { asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(Left) : \"memory\"); }", "template <int Left> DEV void copy_wait(HERE) { ask_at(line, call_copy_wait, Left); }"});
    // Phases (9.0; arrivals alone from 8.0): 8 bytes of shared memory each. One thread initialises and publishes them, then the block meets.
    to.push_back({"phase_init", "DEV void phase_init(u32 at, u32 arrivals) { asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" ::\"r\"(address(at)), \"r\"(arrivals) : \"memory\"); }",
                  "DEV void phase_init(u32 at, u32 arrivals, HERE) { ask_at(line, call_phase_init, at, arrivals); }", {"address"}});
    to.push_back({"phase_publish", "DEV void phase_publish() { asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\"); }", "DEV void phase_publish() {}"});
    to.push_back({"phase_expect", "DEV void phase_expect(u32 at, u32 bytes) { asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" ::\"r\"(address(at)), \"r\"(bytes) : \"memory\"); }",
                  "DEV void phase_expect(u32 at, u32 bytes, HERE) { ask_at(line, call_phase_expect, at, bytes); }", {"address"}});
    to.push_back({"phase_arrive", "DEV void phase_arrive(u32 at) { asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" ::\"r\"(address(at)) : \"memory\"); }",
                  "DEV void phase_arrive(u32 at, HERE) { ask_at(line, call_phase_arrive, at); }", {"address"}});
    to.push_back({"phase_wait",
                  "DEV void phase_wait(u32 at, u32 parity) {\n"
                  "    asm volatile(\"{\\n.reg .pred p;\\nagain:\\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\\n@p bra done;\\nbra again;\\ndone:\\n}\" ::\"r\"(address(at)), \"r\"(parity) : \"memory\");\n"
                  "}",
                  "DEV void phase_wait(u32 at, u32 parity, HERE) { ask_at(line, call_phase_wait, at, parity); }", {"address"}});
    // This thread's copies so far arrive at the phase when they have landed.
    to.push_back({"copies_arrive", "DEV void copies_arrive(u32 at) { asm volatile(\"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];\" ::\"r\"(address(at)) : \"memory\"); }",
                  "DEV void copies_arrive(u32 at, HERE) { ask_at(line, call_phase_copy_arrive, at); }", {"address"}});
    // Ordinary stores before it are seen by tensor copies and matrix units after it.
    to.push_back({"async_fence", "DEV void async_fence() { asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\"); }", "DEV void async_fence(HERE) { ask_at(line, call_async_fence); }"});
    // One box of a tensor map, coordinates innermost first; one thread asks. The phase is told of the bytes of the whole box.
    for (int dimensions = 1; dimensions <= 5; ++dimensions) {
        std::string parameters, places, registers, words;
        for (int d = 0; d < dimensions; ++d) {
            const std::string c = "c" + std::to_string(d);
            parameters += ", i32 " + c;
            places += (d ? ", %" : "%") + std::to_string(3 + d);
            registers += ", \"r\"(" + c + ")";
            words += ", (u64)(i64)" + c;
        }
        const std::string n = std::to_string(dimensions), name = "load_box_" + n + "d";
        to.push_back({name,
                      "DEV void " + name + "(u32 to, const tensor_map* map, u32 phase" + parameters + ") { asm volatile(\"cp.async.bulk.tensor." + n +
                          "d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {" + places + "}], [%2];\" ::\"r\"(address(to)), \"l\"(map), \"r\"(address(phase))" + registers + " : \"memory\"); }",
                      "DEV void " + name + "(u32 to, const tensor_map* map, u32 phase" + parameters + ", HERE) { ask_at(line, call_tensor_load, (u64)map, to, phase, " + n + words + "); }", {"address"}});
    }
    to.push_back({"load_bulk",
                  "template <class T> DEV void load_bulk(u32 to, const T* p, i64 i, u32 bytes, u32 phase) { asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\" ::\"r\"(address(to)), \"l\"(p + i), "
                  "\"r\"(bytes), \"r\"(address(phase)) : \"memory\"); }",
                  "template <class T> DEV void load_bulk(u32 to, const T* p, i64 i, u32 bytes, u32 phase, HERE) { ask_at(line, call_bulk_load, to, (u64)(p + i), bytes, phase); }", {"address"}});
}

}  // namespace emmy::kernel::cuda::detail
