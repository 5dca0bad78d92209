#pragma once
#include <emmy/device/emulated/machine.hpp>
#include <emmy/device/impl/emulated_fibers.hpp>
#include <emmy/device/impl/emulated_products.hpp>
#include <emmy/device/impl/emulated_shared.hpp>
#include <emmy/kernel/emulated/calls.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

/// The threads of one cluster, their memory, barriers and copies.
namespace emmy::device::emulated::detail {

using kernel::emulated::call;
using kernel::emulated::matrix_descriptor;
using kernel::emulated::tensor_map;

constexpr std::size_t most_phases = 64;

struct thread_state {
    boost::context::fiber fiber, back;
    enum class status : std::uint8_t { ready, waiting, done } now = status::ready;
    times known;
    std::uint32_t fenced = 0;                       ///< ordinary stores up to this time are visible to the asynchronous units
    int line = 0;
    std::string waits_for;
    std::uint64_t answer = 0;                       ///< of a warp's exchange
    struct copied { std::uint32_t to = 0, bytes = 0; std::vector<std::byte> data; };
    std::vector<copied> open;                       ///< copies since the last commit
    std::deque<std::vector<copied>> groups;
};

/// What lanes of a warp do together: complete when all lanes of the mask have come with the same request.
struct exchange {
    std::uint32_t mask = 0, come = 0;
    call what = call::count;
    std::uint64_t arguments[32][8];
    int line = 0;
};

struct thread_barrier {
    std::uint32_t expected = 0, come = 0;
    times collected;
    std::vector<std::uint16_t> waiting;
};

/// An mbarrier.
struct phase_barrier {
    std::uint32_t arrivals = 0, missing = 0, phase = 0;
    std::int64_t bytes = 0;                         ///< announced and not landed
    std::uint16_t number = 0;                       ///< place behind the threads in `times`
    std::uint32_t landed = 0;                       ///< its time as a writer
    times collected, complete;
    struct waiter { std::uint16_t thread; std::uint32_t parity; };
    std::vector<waiter> waiting;
};

/// A copy that the asynchronous unit makes: pieces of memory, then bytes or an arrival for a phase.
struct async_copy {
    struct piece { std::uint32_t to, bytes; std::vector<std::byte> data; };
    std::vector<piece> pieces;
    std::uint32_t phase = 0;
    std::int64_t bytes = 0;
    bool arrival = false;
};

/// A product of a warp group under way.
struct group_work {
    kernel::emulated::group_product kind;
    float* c[128];
    const std::uint32_t* a_registers[128];
    std::vector<std::uint32_t> held_a;              ///< registers of A as they were at the issue, four a thread
    matrix_descriptor a, b;
    bool a_outer = false, b_outer = false, adds = false, done = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> reads;  ///< address, bytes
    int line = 0;
};
struct group_state {
    bool fenced = false;
    std::vector<group_work> open;
    std::deque<std::vector<group_work>> groups;
};

class cluster {
public:
    cluster(const kernel_function& what, const geometry& shape, std::span<const buffer_range> buffers, const settings& how, std::uint32_t first_block, stack_pool& stacks, outcome& out)
        : what_(what), shape_(shape), buffers_(buffers), how_(how), first_(first_block), stacks_(stacks), out_(out), random_(how.seed * 0x9e3779b97f4a7c15ull + first_block + 1) {
        const std::size_t count = std::size_t{shape.threads} * shape.cluster, clocks = count + most_phases;
        threads_.resize(count);
        for (std::size_t t = 0; t < count; ++t) threads_[t].known.assign(clocks, 0), threads_[t].known[t] = 1;
        for (std::uint32_t r = 0; r < shape.cluster; ++r) memory_.emplace_back(shape.shared_bytes, clocks);
        exchanges_.resize((count + 31) / 32);
        groups_.resize((count + 127) / 128);
        barriers_.resize(shape.cluster);
    }
    void run();

private:
    static std::uint64_t enter(void* self, std::uint32_t what, const std::uint64_t* arguments, int line) { return static_cast<cluster*>(self)->ask(static_cast<call>(what), arguments, line); }
    std::uint64_t ask(call what, const std::uint64_t* a, int line);

    thread_state& me() { return threads_[current_]; }
    std::uint16_t self() const { return static_cast<std::uint16_t>(current_); }
    std::uint32_t rank() const { return static_cast<std::uint32_t>(current_ / shape_.threads); }
    std::uint32_t in_block() const { return static_cast<std::uint32_t>(current_ % shape_.threads); }
    std::uint32_t lane() const { return in_block() % 32; }
    std::size_t warp() const { return current_ / 32; }
    std::size_t group() const { return current_ / 128; }
    std::uint64_t draw() {
        random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
        return random_;
    }

    // emulated_schedule.hpp
    void wait(std::string why);
    void wake(std::size_t thread);
    void tick(std::size_t thread) { ++threads_[thread].known[thread]; }
    void find(defect kind, std::string text, int line);
    void find_at(defect kind, std::string text, int line, std::size_t thread);
    std::string place(std::uint32_t address) const;
    std::string who(std::uint16_t thread) const;
    void judge(const conflict& c, std::uint32_t address, const char* doing, int line);
    std::byte* shared(std::uint64_t address, std::uint64_t bytes, std::uint32_t alignment, int line);
    std::byte* global(std::uint64_t pointer, std::uint64_t bytes, bool writes, int line);
    void deadlock();

    // emulated_barriers.hpp
    void barrier(std::uint32_t id, std::uint32_t expected, bool waits, int line);
    void cluster_barrier(int line);
    phase_barrier* phase(std::uint64_t address, int line);
    void phase_step(phase_barrier& p);
    void phase_arrive(phase_barrier& p, int line);
    void phase_wait(std::uint64_t address, std::uint32_t parity, int line);
    template <class Done>
    bool together(call what, std::uint32_t mask, const std::uint64_t* a, int count, int line, Done done);

    // emulated_copies.hpp
    void copy(const std::uint64_t* a, int line);
    void copy_wait(std::size_t left);
    void land_group(std::vector<thread_state::copied>& group);
    void begin(async_copy c, int line);
    void land(std::size_t which);
    void tensor_load(const std::uint64_t* a, int line);
    void bulk_load(const std::uint64_t* a, int line);

    // emulated_matrices.hpp
    std::uint64_t matrix_move(const std::uint64_t* a, bool load, int line);
    void multiply(const std::uint64_t* a, int line);
    bool last_of_group(exchange& e);
    void apart(const exchange& e, const char* what, int line);
    void group_multiply(const std::uint64_t* a, int line);
    void group_execute(group_work& w);
    void group_wait(std::size_t left, int line);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> operand_bytes(const matrix_descriptor& d, bool outer_adjacent, int outer, int steps, int bytes) const;

    const kernel_function& what_;
    const geometry& shape_;
    std::span<const buffer_range> buffers_;
    const settings& how_;
    std::uint32_t first_;
    stack_pool& stacks_;
    outcome& out_;
    std::uint64_t random_;

    std::vector<thread_state> threads_;
    std::vector<shared_space> memory_;
    std::vector<std::map<std::uint32_t, exchange>> exchanges_;       ///< by warp and mask
    std::vector<std::map<std::uint32_t, thread_barrier>> barriers_;  ///< by block and id
    thread_barrier whole_;
    std::map<std::uint32_t, phase_barrier> phases_;                  ///< by address
    std::vector<group_state> groups_;
    std::map<std::uint64_t, exchange> group_exchanges_;
    std::vector<async_copy> copies_;
    std::deque<std::size_t> ready_;
    std::set<std::pair<int, std::uint8_t>> found_;
    std::size_t current_ = 0;
    alignas(64) std::byte nowhere_[1024] = {};                       ///< what a wild access gets
};

}  // namespace emmy::device::emulated::detail

#include <emmy/device/impl/emulated_schedule.hpp>
#include <emmy/device/impl/emulated_barriers.hpp>
#include <emmy/device/impl/emulated_copies.hpp>
#include <emmy/device/impl/emulated_matrices.hpp>
