#pragma once
#include <emmy/device/impl/emulated_cluster.hpp>

/// Matrix instructions of a warp and of a group of four.
namespace emmy::device::emulated::detail {

/// ldmatrix, stmatrix: registers, address of a row of 16 bytes, matrices, transposed. Lane l gives the address of row l.
inline std::uint64_t cluster::matrix_move(const std::uint64_t* a, bool load, int line) {
    together(load ? call::matrix_load : call::matrix_store, 0xffffffffu, a, 4, line, [&](exchange& e) {
        const int matrices = static_cast<int>(a[2]);
        const bool transposed = a[3] != 0;
        const std::size_t first = warp() * 32, mine = current_;
        std::byte* rows[32] = {};
        for (int row = 0; row < 8 * matrices; ++row) {
            current_ = first + static_cast<std::size_t>(row);  // that lane's access, by what that lane knows
            const auto address = static_cast<std::uint32_t>(e.arguments[row][1]);
            rows[row] = shared(address, 16, 16, line);
            if (!rows[row]) continue;
            shared_space& space = memory_[address >> 24];
            judge(load ? space.read(address & 0xffffffu, 16, self(), me().known) : space.write(address & 0xffffffu, 16, self(), me().known), address, load ? "a matrix load" : "a matrix store", line);
        }
        current_ = mine;
        for (int l = 0; l < 32; ++l) {
            auto* registers = reinterpret_cast<std::uint32_t*>(e.arguments[l][0]);
            for (int part = 0; part < 2 * matrices; ++part) {
                const auto at = kernel::emulated::matrix_part(l, part, transposed);
                if (!rows[at.major]) continue;
                std::uint16_t half = 0;
                std::uint32_t& word = registers[part / 2];
                if (load) {
                    std::memcpy(&half, rows[at.major] + 2 * at.minor, 2);
                    word = part % 2 ? (word & 0xffffu) | std::uint32_t{half} << 16 : (word & 0xffff0000u) | half;
                } else {
                    half = static_cast<std::uint16_t>(word >> (16 * (part % 2)));
                    std::memcpy(rows[at.major] + 2 * at.minor, &half, 2);
                }
            }
        }
    });
    return 0;
}

/// kind (bits 8 and 9: layouts of m8n8k4), accumulators, A, B.
inline void cluster::multiply(const std::uint64_t* a, int line) {
    together(call::mma, 0xffffffffu, a, 4, line, [&](exchange& e) {
        warp_registers w;
        for (int l = 0; l < 32; ++l) {
            if (e.arguments[l][0] != a[0]) find(defect::barrier_misuse, "lanes of one warp ask for different matrix products", line);
            w.c[l] = reinterpret_cast<void*>(e.arguments[l][1]);
            w.a[l] = reinterpret_cast<const std::uint32_t*>(e.arguments[l][2]);
            w.b[l] = reinterpret_cast<const std::uint32_t*>(e.arguments[l][3]);
        }
        const auto kind = static_cast<product>(a[0] & 0xff);
        if (facts(kind).steps == 4) multiply_8x8x4(kind, static_cast<std::uint32_t>(a[0] >> 8), w);
        else multiply_16x8(kind, w);
        ++out_.products;
    });
}

/// Runs of bytes that an operand covers.
inline std::vector<std::pair<std::uint32_t, std::uint32_t>> cluster::operand_bytes(const matrix_descriptor& d, bool outer_adjacent, int outer, int steps, int bytes) const {
    std::vector<std::uint32_t> pieces;  // a matrix is read in pieces of 16 bytes
    for (int o = 0; o < outer; ++o)
        for (int s = 0; s < steps; ++s) {
            const std::uint32_t at = outer_adjacent ? d.outer_adjacent(static_cast<std::uint32_t>(o), static_cast<std::uint32_t>(s)) : d.steps_adjacent(static_cast<std::uint32_t>(o), static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(bytes));
            pieces.push_back(at & ~15u);
        }
    std::sort(pieces.begin(), pieces.end());
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    for (const std::uint32_t p : pieces)
        if (!out.empty() && out.back().first + out.back().second == p) out.back().second += 16;
        else out.push_back({p, 16});
    return out;
}

/// A warp group meets: false for all but its last thread to come, which goes on while the others are woken.
inline bool cluster::last_of_group(exchange& e) {
    if (++e.come < 128) {
        wait("the other threads of its warp group (wgmma)");
        return false;
    }
    e.come = 0;
    const std::size_t first = group() * 128;
    for (std::size_t other = first; other < first + 128 && other < threads_.size(); ++other)
        if (other != current_) wake(other);
    return true;
}
/// A thread whose group is elsewhere: it will not go on.
inline void cluster::apart(const exchange& e, const char* what, int line) {
    find(defect::barrier_misuse, std::string("threads of one warp group ") + what, line);
    wait("threads of its warp group that are elsewhere, at line " + std::to_string(e.line));
}

/// kind, accumulators, A (descriptor or registers), B (descriptor), flags. Complete when the 128 threads of the group have come with it.
inline void cluster::group_multiply(const std::uint64_t* a, int line) {
    exchange& e = group_exchanges_[group()];
    group_state& g = groups_[group()];
    // The exchange of a warp holds 32 lanes; a group keeps its own work record.
    if (e.come == 0) {
        g.open.emplace_back();
        e.line = line;
    }
    group_work& w = g.open.back();
    const std::size_t t = current_ % 128;
    if (e.come == 0) {
        w.kind = kernel::emulated::group_product::decode(static_cast<std::uint32_t>(a[0]));
        w.a = matrix_descriptor::decode(a[2]), w.b = matrix_descriptor::decode(a[3]);
        w.a_outer = (a[4] & 1) != 0, w.b_outer = (a[4] & 2) != 0, w.adds = (a[4] & 4) != 0, w.line = line;
        w.held_a.assign(512, 0);
        for (int i = 0; i < 5; ++i) e.arguments[0][i] = a[i];
    } else if (e.line != line || e.arguments[0][0] != a[0] || e.arguments[0][3] != a[3] || e.arguments[0][4] != a[4] || (!w.kind.a_registers && e.arguments[0][2] != a[2])) {
        return apart(e, "ask for different matrix products", line);
    }
    w.c[t] = reinterpret_cast<float*>(a[1]);
    if (w.kind.a_registers) std::memcpy(&w.held_a[4 * t], reinterpret_cast<const std::uint32_t*>(a[2]), 16);
    if (!last_of_group(e)) return;
    const std::size_t first = group() * 128;
    if (!g.fenced) find(defect::group_misuse, "matrix products of a warp group without wgmma_fence before them", line);
    // What they read, by what the first thread of each warp knows.
    const int bytes = w.kind.bytes(), steps = w.kind.k();
    const auto use = [&](const matrix_descriptor& d, bool outer_adjacent, int outer) {
        for (const auto& run : operand_bytes(d, outer_adjacent, outer, steps, bytes)) {
            const std::uint32_t address = run.first | rank() << 24;
            if (!shared(address, run.second, 16, line)) continue;
            shared_space& space = memory_[rank()];
            for (std::size_t leader = first; leader < first + 128; leader += 32) judge(space.may_read(run.first, run.second, threads_[leader].known), address, "a matrix product's read", line);
            for (std::uint32_t i = run.first; i < run.first + run.second; ++i) {
                const shadow& s = space.of(i);
                if (s.writer == nobody || s.writer >= threads_.size() || s.written_at <= threads_[s.writer].fenced) continue;
                find(defect::missing_fence, "a matrix product reads " + place(address) + ", which " + who(s.writer) + " stored and did not fence for the asynchronous units", line);
                break;
            }
            space.begin_product(run.first, run.second, static_cast<std::uint16_t>(first));
            w.reads.push_back(run);
        }
    };
    if (!w.kind.a_registers) use(w.a, w.a_outer, 64);
    use(w.b, w.b_outer, w.kind.n);
    if (how_.copies == landing::early) group_execute(w);
}

inline void cluster::group_execute(group_work& w) {
    if (w.done) return;
    w.done = true;
    ++out_.products;
    const int n = w.kind.n, steps = w.kind.k(), bytes = w.kind.bytes();
    const group_operand type = w.kind.type;
    shared_space& space = memory_[rank()];
    const auto value = [&](const matrix_descriptor& d, bool outer_adjacent, int o, int s) {
        const std::uint32_t at = outer_adjacent ? d.outer_adjacent(static_cast<std::uint32_t>(o), static_cast<std::uint32_t>(s)) : d.steps_adjacent(static_cast<std::uint32_t>(o), static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(bytes));
        return space.holds(at, static_cast<std::uint64_t>(bytes)) ? memory_value(space.at(at), type) : 0.0f;
    };
    std::vector<float> a(static_cast<std::size_t>(64 * steps)), b(static_cast<std::size_t>(n * steps));
    if (w.kind.a_registers) {
        const kernel::emulated::wgmma_64 map{4 / bytes};
        for (int t = 0; t < 128; ++t)
            for (int e = 0; e < 4 * map.parts; ++e) {
                const auto at = map.a(t, e);
                a[static_cast<std::size_t>(at.major * steps + at.minor)] = part(&w.held_a[static_cast<std::size_t>(4 * t)], e, register_kind(type));
            }
    } else {
        for (int m = 0; m < 64; ++m)
            for (int k = 0; k < steps; ++k) a[static_cast<std::size_t>(m * steps + k)] = value(w.a, w.a_outer, m, k);
    }
    for (int j = 0; j < n; ++j)
        for (int k = 0; k < steps; ++k) b[static_cast<std::size_t>(j * steps + k)] = value(w.b, w.b_outer, j, k);
    for (int t = 0; t < 128; ++t)
        for (int e = 0; e < n / 2; ++e) {
            const auto at = kernel::emulated::wgmma_64::c(t, e);
            double sum = w.adds ? w.c[t][e] : 0.0f;
            for (int k = 0; k < steps; ++k) sum += double{a[static_cast<std::size_t>(at.major * steps + k)]} * b[static_cast<std::size_t>(at.minor * steps + k)];
            w.c[t][e] = static_cast<float>(sum);
        }
}

/// `left` groups may be unfinished; the largest number: a commit. Counted once a group of threads: by its last one to come.
inline void cluster::group_wait(std::size_t left, int line) {
    exchange& e = group_exchanges_[(1u << 20) + group()];
    group_state& g = groups_[group()];
    if (e.come == 0) e.line = line, e.arguments[0][0] = left;
    else if (e.line != line || e.arguments[0][0] != left) {
        return apart(e, "commit or wait at different places", line);
    }
    if (!last_of_group(e)) return;
    const std::size_t first = group() * 128;
    if (left == ~std::size_t{0}) {
        g.groups.push_back(std::move(g.open));
        g.open.clear();
        return;
    }
    while (g.groups.size() > left) {
        for (group_work& w : g.groups.front()) {
            group_execute(w);
            for (const auto& run : w.reads) {
                memory_[rank()].end_product(run.first, run.second);
                for (std::size_t leader = first; leader < first + 128; leader += 32) memory_[rank()].note_read(run.first, run.second, static_cast<std::uint16_t>(leader), threads_[leader].known[leader]);
            }
        }
        g.groups.pop_front();
    }
    if (g.groups.empty() && g.open.empty()) g.fenced = false;
}

}  // namespace emmy::device::emulated::detail
