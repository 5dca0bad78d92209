#pragma once
#include <emmy/fork/structure.hpp>
#include <emmy/loop/interpret.hpp>

#include <map>
#include <string>
#include <vector>

// Kernels in the interpreter by the names of their buffers: what is not made is seeded by its name, so that a kernel and the set that takes its
// place read the same.
namespace emmy::test {

/// A buffer that nobody makes: a value of its name and the element; `columns` > 0: stored transposed, rows of that length in the original.
struct seeded_buffer {
    std::uint64_t seed = 0;
    std::uint64_t rows = 0, columns = 0;
    bool scalar = false;  ///< positive: counts and epsilons are
    static double value(const void* state, std::uint64_t element) {
        const auto& s = *static_cast<const seeded_buffer*>(state);
        if (s.columns > 0) element = element % s.rows * s.columns + element / s.rows;  // (c, r) of the stored one is (r, c)
        std::uint64_t h = (element + 1) * 0x9e3779b97f4a7c15u ^ s.seed;
        h ^= h >> 29, h *= 0xbf58476d1ce4e5b9u, h ^= h >> 32;
        const double v = static_cast<double>(h >> 40) / (1 << 23) - 1.0;
        return s.scalar ? 1.5 + v : v;
    }
};

using buffers_by_name = std::map<std::string, std::vector<std::byte>>;

/// Runs one kernel; its outputs join `made`. `relaid`: constants read as stored, by their new names.
inline result<void> run_kernel(const loop::kernel& k, buffers_by_name& made, const std::map<std::string, std::string>& relaid = {}) {
    auto machine = loop::interpreter::make(k);
    if (!machine) return refuse(std::move(machine).error());
    std::vector<loop::input_data> data;
    std::vector<seeded_buffer> seeded(k.inputs.size());
    for (std::size_t i = 0; i < k.inputs.size(); ++i) {
        std::string name(k.body.text(k.inputs[i].name));
        if (const auto at = made.find(name); at != made.end()) {
            data.push_back(loop::input_data::of_bytes(at->second));
            continue;
        }
        if (const auto from = relaid.find(name); from != relaid.end()) {
            name = from->second;
            seeded[i].rows = static_cast<std::uint64_t>(machine->input_shape(i)[1]), seeded[i].columns = static_cast<std::uint64_t>(machine->input_shape(i)[0]);
        }
        seeded[i].scalar = true;
        for (const std::int64_t n : machine->input_shape(i)) seeded[i].scalar = seeded[i].scalar && n == 1;
        for (const char c : name) seeded[i].seed = seeded[i].seed * 131 + static_cast<unsigned char>(c);
        data.push_back(loop::input_data::of_function(&seeded_buffer::value, &seeded[i]));
    }
    EMMY_CHECK_OK(machine->bind(data));
    EMMY_TRY(outputs, machine->run());
    for (std::size_t o = 0; o < outputs.size(); ++o) made[std::string(k.body.text(k.outputs[o].name))] = std::move(outputs[o]);
    return {};
}

}  // namespace emmy::test
