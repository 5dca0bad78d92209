#pragma once
#include <emmy/loop/dims.hpp>
#include <emmy/plan/run.hpp>

#include <algorithm>
#include <cstring>

namespace emmy::plan {

EMMY_DECL result<std::span<std::byte>> arena::reserve(std::uint64_t bytes) {
    if (!memory_ || memory_.bytes().size() < bytes + 64) {
        memory_ = {};
        memory_ = device::cpu::aligned_memory(static_cast<std::size_t>(bytes) + 64, 0);
        if (!memory_) return refuse(fault_kind::device, "no memory for " + std::to_string(bytes) + " bytes of workspaces");
    }
    bytes_ = std::max(bytes_, bytes);
    return memory_.bytes().first(static_cast<std::size_t>(bytes));
}

EMMY_DECL result<void> run(device::cpu::host_device& device, const executable& plan, std::span<const loop::symbol_size> sizes, std::span<const std::span<std::byte>> buffers, arena& memory, const run_options& how) {
    EMMY_TRY(at, bind(plan, sizes, how.team));
    if (buffers.size() != plan.given().size()) return refuse(fault_kind::user, "found " + std::to_string(buffers.size()) + " buffers, expected the plan's " + std::to_string(plan.given().size()));
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const std::uint32_t b = plan.given()[i];
        if (buffers[i].size() != at.buffers[b].bytes)
            return refuse(fault_kind::user, "found " + std::to_string(buffers[i].size()) + " bytes, expected " + std::to_string(at.buffers[b].bytes), plan.buffers()[b].name);
        if (how.poison && plan.buffers()[b].role == role::output) std::memset(buffers[i].data(), 0xff, buffers[i].size());
    }
    EMMY_TRY(workspaces, memory.reserve(at.arena_bytes));
    if (how.poison && !workspaces.empty()) std::memset(workspaces.data(), 0xff, workspaces.size());
    std::vector<std::span<std::byte>> all(buffers.begin(), buffers.end());
    all.push_back(workspaces);
    return device.run(sequence_of(plan, at, how.fast_math, how.optimisation), all);
}

EMMY_DECL result<std::vector<std::vector<std::byte>>> interpret(const network& n, std::span<const std::span<const std::byte>> given, const loop::interpret_options& how) {
    EMMY_TRY(order, launch_order(n));
    std::vector<std::span<const std::byte>> bytes(n.buffers.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < n.buffers.size(); ++i) {
        if (n.buffers[i].role != role::input && n.buffers[i].role != role::constant) continue;
        if (next == given.size()) return refuse(fault_kind::user, "found " + std::to_string(given.size()) + " buffers, expected one for each input and constant", n.buffers[i].name);
        bytes[i] = given[next++];
    }
    std::vector<std::vector<std::byte>> made(n.buffers.size());
    for (const std::uint32_t at : order) {
        const loop::kernel& k = *n.nodes[at].kernel;
        const auto own = [&](fault f) { return refuse(std::move(f).at(k.name)); };
        loop::interpret_options options = how;
        const std::vector<name_id> symbols = loop::symbols(k);
        std::erase_if(options.sizes, [&](const loop::symbol_size& s) { return std::none_of(symbols.begin(), symbols.end(), [&](name_id id) { return k.body.text(id) == s.symbol; }); });
        auto machine = loop::interpreter::make(k, options);
        if (!machine) return own(std::move(machine).error());
        const std::vector<bool> read = inputs_read(k);
        std::vector<loop::input_data> data;
        for (std::size_t i = 0; i < k.inputs.size(); ++i) data.push_back(read[i] ? loop::input_data::of_bytes(bytes[n.root(n.nodes[at].inputs[i])]) : loop::input_data{});
        if (auto bound = machine->bind(data); !bound) return own(std::move(bound).error());
        auto outputs = machine->run();
        if (!outputs) return own(std::move(outputs).error());
        const std::vector<bool> added = outputs_added(k);
        for (std::size_t o = 0; o < k.outputs.size(); ++o) {
            const std::uint32_t b = n.root(n.nodes[at].outputs[o]);
            if (added[o] && !made[b].empty()) return refuse(fault_kind::user, "found a sum of several kernels, expected one kernel an output: the interpreter does not add over kernels", k.name);
            made[b] = std::move((*outputs)[o]);
            bytes[b] = made[b];
        }
    }
    std::vector<std::vector<std::byte>> out;
    for (std::uint32_t i = 0; i < n.buffers.size(); ++i)
        if (n.buffers[i].role == role::output) out.emplace_back(bytes[n.root(i)].begin(), bytes[n.root(i)].end());
    return out;
}

}  // namespace emmy::plan
