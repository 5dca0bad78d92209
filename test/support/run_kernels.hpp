#pragma once
// The kernels of a program in the interpreter, one after the other: what fusion must not change.
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/interpret.hpp>
#include <emmy/program/lower/bind.hpp>

#include <map>
#include <string>
#include <vector>

namespace emmy::test {

/// Bytes of the program's outputs. `bytes`: of every input and constant of the primitive graph, by node.
inline result<std::vector<std::vector<std::byte>>> run_kernels(const program::primitive_graph& p, const std::vector<loop::formed>& kernels, const std::map<program::node_id, std::vector<std::byte>>& bytes) {
    std::vector<std::vector<std::vector<std::byte>>> made;
    std::map<program::node_id, std::pair<std::size_t, std::size_t>> by_node;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const loop::formed& f = kernels[i];
        auto compiled = loop::interpreter::make(f.kernel);
        if (!compiled) return refuse(std::move(compiled).error().at(f.kernel.name));
        std::vector<loop::input_data> inputs;
        for (const loop::port_source& s : f.inputs) {
            if (s.kernel != loop::port_source::outside) inputs.push_back(loop::input_data::of_bytes(made[s.kernel][s.output]));
            else inputs.push_back(loop::input_data::of_bytes(bytes.at(s.node)));
        }
        if (auto bound = compiled->bind(inputs); !bound) return refuse(std::move(bound).error().at(f.kernel.name));
        auto out = compiled->run();
        if (!out) return refuse(std::move(out).error().at(f.kernel.name));
        made.push_back(std::move(*out));
        for (std::size_t o = 0; o < f.outputs.size(); ++o) by_node[f.outputs[o]] = {i, o};
    }
    std::vector<std::vector<std::byte>> out;
    for (const program::edge e : p.g.outputs) {
        const auto from = by_node.find(e.node);
        out.push_back(from != by_node.end() ? made[from->second.first][from->second.second] : bytes.at(e.node));
    }
    return out;
}

}  // namespace emmy::test
