#pragma once
#include <emmy/loop/impl/interpret_program.ipp>

#include <cmath>

/// What execution keeps: registers, tables, states, and the values of seeded inputs.
namespace emmy::loop::interp {

union slot {
    double real;
    std::int64_t integer;
};

/// Registers and tables of one plan while it runs (one per recursion depth of lazily read states).
struct activation {
    const interp::plan* plan = nullptr;
    std::vector<slot> registers;
    std::vector<std::vector<slot>> tables;
    std::vector<double> bounds;                     ///< as registers; empty when no bounds are kept
    std::vector<std::vector<double>> table_bounds;
    std::vector<std::int64_t> parameters;           ///< of the last run
    bool primed = false, captured = false;
    slot captured_value{};
    double captured_bound = 0;

    explicit activation(const interp::plan& p, bool keep_bounds = false) : plan(&p), registers(p.slots) {
        if (keep_bounds) {
            bounds.resize(p.slots);
            for (std::uint64_t size : p.tables) table_bounds.emplace_back(size);
        }
        for (const auto& [r, v] : p.integers) registers[r].integer = v;
        for (const auto& [r, v] : p.reals) registers[r].real = v;
        for (std::uint64_t size : p.tables) tables.emplace_back(size);
        parameters.resize(p.parameters.size());
    }
};

/// The value of a seeded element: the mixed bits of its place.
constexpr std::uint64_t seed_factor = 0xd1342543de82ef95u;
inline std::uint64_t mixed(std::uint64_t z) {
    z = (z + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 32) * 0x94d049bb133111ebu;
    return z ^ z >> 29;
}
inline std::uint64_t seeded_bits(std::uint64_t seed, std::uint64_t element) { return mixed(seed * seed_factor + element); }
inline double seeded_real(const input_data& d, std::uint64_t element) {
    return d.low + (d.high - d.low) * (1.0 / 16777216.0) * static_cast<double>(static_cast<std::int64_t>(seeded_bits(d.seed, element) >> 40));
}
inline std::int64_t seeded_integer(const input_data& d, std::uint64_t element) { return static_cast<std::int64_t>(std::floor(seeded_real(d, element))); }

/// Values of states by key, open addressing.
class state_memory {
public:
    struct entry {
        std::uint64_t key = 0;  ///< 0: free
        double value = 0, bound = 0;
    };
    const entry* find(std::uint64_t key) const {
        if (slots_.empty()) return nullptr;
        for (std::size_t i = place(key);; i = (i + 1) & (slots_.size() - 1)) {
            if (slots_[i].key == key) return &slots_[i];
            if (slots_[i].key == 0) return nullptr;
        }
    }
    void add(const entry& e) {
        if ((size_ + 1) * 2 > slots_.size()) grow();
        insert(e);
        ++size_;
    }
    std::size_t size() const { return size_; }

private:
    std::size_t place(std::uint64_t key) const { return static_cast<std::size_t>(mixed(key)) & (slots_.size() - 1); }
    void insert(const entry& e) {
        std::size_t i = place(e.key);
        while (slots_[i].key != 0) i = (i + 1) & (slots_.size() - 1);
        slots_[i] = e;
    }
    void grow() {
        std::vector<entry> old(slots_.empty() ? 1024 : slots_.size() * 2);
        std::swap(old, slots_);
        for (const entry& e : old)
            if (e.key != 0) insert(e);
    }
    std::vector<entry> slots_;
    std::size_t size_ = 0;
};

}  // namespace emmy::loop::interp
