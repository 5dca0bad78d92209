#pragma once
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/interpret.hpp>
#include <emmy/program/lower/bind.hpp>

// A program's kernels one after the other in the interpreter.
namespace emmy::test {

/// Bytes of each input of one kernel: of the program's tensors, or what earlier kernels wrote.
inline result<std::vector<std::vector<std::byte>>> kernel_inputs(const program::graph& traced, const program::primitive_graph& p, const loop::formed& k, std::span<const program::named_bytes> given,
                                                                 const std::vector<std::vector<std::vector<std::byte>>>& made) {
    std::vector<std::vector<std::byte>> out;
    for (const loop::port_source& from : k.inputs) {
        if (from.kernel != loop::port_source::outside) {
            out.push_back(made[from.kernel][from.output]);
        } else if (p.g.nodes[from.node].op == program::op::constant) {
            EMMY_TRY(bytes, program::bind_constant(traced, p.g, from.node, given));
            out.push_back(std::move(bytes));
        } else {
            for (const program::named_bytes& b : given)
                if (b.id == p.g.id(from.node)) out.emplace_back(b.bytes.begin(), b.bytes.end());
        }
    }
    return out;
}

/// The program's outputs, as bytes of their types.
inline result<std::vector<std::vector<std::byte>>> interpret_formed(const program::graph& traced, const program::primitive_graph& p, const std::vector<loop::formed>& kernels,
                                                                   std::span<const program::named_bytes> given, loop::numeric_mode mode) {
    std::vector<std::vector<std::vector<std::byte>>> made;
    for (const loop::formed& k : kernels) {
        EMMY_TRY(inputs, kernel_inputs(traced, p, k, given, made));
        loop::interpret_options options;
        options.mode = mode;
        auto machine = loop::interpreter::make(k.kernel, options);
        if (!machine) return refuse(std::move(machine).error());
        std::vector<loop::input_data> data;
        for (const auto& bytes : inputs) data.push_back(loop::input_data::of_bytes(bytes));
        EMMY_CHECK_OK(machine->bind(data));
        EMMY_TRY(outputs, machine->run());
        made.push_back(std::move(outputs));
    }
    std::vector<std::vector<std::byte>> out;
    for (const program::edge e : p.g.outputs) {
        if (p.g.nodes[e.node].op == program::op::constant) {  // all of it is known when it is bound
            EMMY_TRY(bytes, program::bind_constant(traced, p.g, e.node, given));
            out.push_back(std::move(bytes));
            continue;
        }
        for (std::size_t k = 0; k < kernels.size(); ++k)
            for (std::size_t o = 0; o < kernels[k].outputs.size(); ++o)
                if (kernels[k].outputs[o] == e.node) out.push_back(made[k][o]);
    }
    return out;
}

}  // namespace emmy::test
