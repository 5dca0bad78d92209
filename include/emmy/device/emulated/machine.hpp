#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <cstdint>
#include <functional>  // the kernel: one call a thread
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// A machine that executes kernel text thread by thread, and says what a card would not: races, reads of what nobody wrote, deadlocks, slots that are
/// filled while somebody may still read them. It never measures.
namespace emmy::device::emulated {

enum class defect : std::uint8_t {
    deadlock,         ///< every thread waits
    race,             ///< two accesses to shared memory, one of them a write, with nothing between them
    unwritten_read,   ///< shared memory that nobody wrote
    pending_access,   ///< bytes of a copy that has not been waited for
    stale_slot,       ///< a copy over bytes that somebody may still read
    missing_fence,    ///< the asynchronous units read what ordinary stores wrote, without the fence between
    out_of_bounds,    ///< memory outside every buffer, or outside the block's shared memory
    misaligned,       ///< an address that the instruction does not take
    barrier_misuse,   ///< thread counts that disagree, a phase overrun, lanes that are missing, another instruction in some lanes
    group_misuse      ///< matrix products of a warp group without their fence, or left unfinished at the end
};
constexpr std::string_view defect_names[] = {"deadlock", "race", "unwritten read", "pending access", "stale slot", "missing fence", "out of bounds", "misaligned", "barrier misuse", "group misuse"};
constexpr std::string_view name(defect d) { return defect_names[static_cast<std::size_t>(d)]; }

/// One finding; the first of its kind at its line only.
struct report {
    defect kind = defect::race;
    std::string text;  ///< what, where in memory, against whom
    std::uint32_t block = 0, thread = 0;
    int line = 0;      ///< of the kernel text
};

/// When a copy's bytes arrive: as it is asked for, as late as the program allows, or between.
enum class landing : std::uint8_t { early, late, random };

struct settings {
    std::uint64_t seed = 0;            ///< 0: threads take turns in order; else in an order drawn from it
    landing copies = landing::late;
    std::uint64_t most_switches = 200'000'000;
};

/// Memory that the launch may touch.
struct buffer_range {
    std::string name;
    void* base = nullptr;
    std::uint64_t bytes = 0;
    bool writable = false;
};

struct geometry {
    std::uint32_t blocks = 1, threads = 32, cluster = 1, shared_bytes = 0;  ///< blocks a multiple of cluster
};

/// What a kernel is to the machine: called once a thread, asks through `call` (kernel/emulated/calls.hpp) with `self`.
using kernel_function = std::function<void(std::uint64_t (*call)(void*, std::uint32_t, const std::uint64_t*, int), void* self)>;

struct outcome {
    std::vector<report> reports;
    std::uint64_t switches = 0, landed_copies = 0, products = 0;
};

/// Executes every block, one cluster after another. Findings are in the outcome; a cluster with a finding is finished as far as it goes.
/// Errors (device): geometry that no card takes; (internal): too many switches.
EMMY_DECL result<outcome> run(const kernel_function& what, const geometry& shape, std::span<const buffer_range> buffers, const settings& how = {});

}  // namespace emmy::device::emulated

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/emulated_machine.ipp>
#endif
