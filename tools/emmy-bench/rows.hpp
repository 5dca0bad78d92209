#pragma once
#include <emmy-bench/snapshot.hpp>

#include <common/interpret.hpp>

#include <emmy/device/answer.hpp>
#include <emmy/evidence/cpu_options.hpp>
#include <emmy/evidence/pick.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/loop/wire.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace emmy::bench {

/// How one row ended.
enum class status : std::uint8_t {
    ok,
    cached,           ///< measured before at this quality
    pin_unmatched,    ///< the space has no such row: not benched
    bench_fail,       ///< crashed, hung, or did not compile
    compile_timeout,  ///< nothing recorded
    flagged           ///< measured, not believed: wrong answer or impossible speed
};
constexpr std::string_view name(status s) {
    constexpr std::string_view names[] = {"ok", "cached", "pin_unmatched", "bench_fail", "compile_timeout", "flagged"};
    return names[static_cast<std::size_t>(s)];
}

struct bench_row {
    std::string label;                ///< "pick", "sample", "ab 1", a realization's name
    bench::lane lane;
    store::knob_list asked;           ///< pins as given
    store::knob_list record_knobs;    ///< the whole row that ran, every family
    bench::status status = bench::status::ok;
    std::string reason;
    device::statistics time;          ///< µs a launch
    std::string dump;                 ///< kernel text
    bool worth = true;                ///< of the quality that is recorded
    bool believed() const { return status == bench::status::ok || status == bench::status::cached; }
};

/// Measured well enough to be recorded, and to count as measured later: the least number of samples; or fewer of a kernel so slow that
/// they filled the measuring time, taken while the machine was not busy.
struct quality {
    int least_samples = 20;
    double seconds = 0.3;  ///< measuring time of the row
    bool enough(int samples, double mean_us, int disturbed = 0) const {
        return samples >= least_samples || (samples * mean_us * 1e-6 >= seconds && disturbed * 2 <= samples);
    }
};

struct yardstick {
    std::string name, note;
    device::statistics time, ours;    ///< alternating windows in one process
    store::knob_list row;             ///< whose time `ours` is
};

/// Everything about one kernel.
struct bench_result {
    tools::subject what;
    std::optional<evidence::record> first, second;
    std::vector<bench_row> rows;      ///< rows[0] is the pick
    std::optional<yardstick> reference;
    std::string checked_by;           ///< reference of the third gate
    std::vector<std::string> notes;
    std::string refused;              ///< no lowering on this device: nothing was benched
    std::string confirmation;         ///< ab: the best pinned row against the pick, alternating
    tools::cell_list interpreted;     ///< --interpret: some cells
    std::optional<snapshot_report> data;  ///< with --save-data, --golden-data, --runtime-dir or --work-dir
    bool finding() const {
        if (data && !data->message.empty()) return true;
        for (const bench_row& r : rows)
            if (!r.believed() && !(r.label == "sample" && r.status == status::compile_timeout)) return true;
        return false;
    }
};

/// FLOPs of the contraction, bytes of the buffers, and the reference to time beside it.
struct workload {
    device::work least;
    device::reference against;
};

inline workload workload_of(const fork::cpu_schedules& s, const tools::subject& what, const device::answer& answer) {
    workload out;
    const loop::kernel& k = s.kernel();
    std::uint64_t read = 0, write = 0;
    for (const device::buffer_spec& b : answer.buffers()) (b.output ? write : read) += b.bytes();
    out.least.bytes = read + write;
    out.against.what = device::reference::kind::copy;
    out.against.read_bytes = read, out.against.write_bytes = write;
    for (const device::buffer_spec& b : answer.buffers())
        if (!b.output && (b.type == dtype::f16 || b.type == dtype::bf16)) out.least.type = b.type;
    const fork::cpu_facts& facts = s.facts();
    if (facts.form != fork::cpu_form::contraction) return out;

    // C[m,n] = A[m,k] B: k and n from the fold's axes, the rest from the two largest inputs.
    const auto extent = [&](std::uint32_t axis) -> long long {
        const dim& size = s.tree().axes[axis].extent;
        if (size.kind == dim::form::symbol)
            for (const auto& [symbol, value] : what.bindings)
                if (symbol == k.body.text(size.symbol)) return value;
        return size.number;
    };
    const long long inner = extent(facts.k_axis), n = extent(facts.lane_axis);
    const std::size_t first_output = k.inputs.size();
    if (first_output >= answer.buffers().size() || inner < 1 || n < 1) return out;
    const long long cells = static_cast<long long>(answer.buffers()[first_output].elements);
    out.least.flops = 2.0 * static_cast<double>(cells) * static_cast<double>(inner);
    std::vector<std::size_t> order(first_output);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return answer.buffers()[a].elements > answer.buffers()[b].elements; });
    if (order.size() < 2) return out;
    order.resize(2);
    std::sort(order.begin(), order.end());
    // Which of the two is B: the one whose elements are a multiple of k*n, so that A is m*k for the rest.
    for (const std::size_t b : {order[1], order[0]}) {
        const long long b_elements = static_cast<long long>(answer.buffers()[b].elements), a_elements = static_cast<long long>(answer.buffers()[b == order[0] ? order[1] : order[0]].elements);
        if (b_elements % (inner * n) != 0) continue;
        const long long batch = b_elements / (inner * n);
        if (cells % (n * batch) != 0) continue;
        const long long m = cells / (n * batch);
        if (a_elements != batch * m * inner) continue;
        out.against = {};
        out.against.what = device::reference::kind::gemm;
        out.against.m = m, out.against.n = n, out.against.k = inner, out.against.batch = batch;
        out.against.transposed = !facts.b_adjacent;
        break;
    }
    return out;
}

/// Default first, then distinct others drawn by the seed: the same for one seed, whatever was measured before.
inline std::vector<std::size_t> sample_options(std::size_t size, std::int64_t wanted, std::uint64_t seed) {
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    std::uint64_t state = seed;
    for (std::size_t i = size; i-- > 2;) {  // splitmix64; place 0 stays
        state += 0x9e3779b97f4a7c15u;
        std::uint64_t x = state;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u, x = (x ^ x >> 27) * 0x94d049bb133111ebu, x ^= x >> 31;
        std::swap(order[i], order[1 + x % i]);
    }
    order.resize(std::min<std::size_t>(size, static_cast<std::size_t>(std::max<std::int64_t>(wanted, 0))));
    return order;
}

}  // namespace emmy::bench
