#pragma once
#include <emmy/core/config.hpp>
#include <emmy/device/arena.hpp>
#include <emmy/device/gate.hpp>
#include <emmy/loop/interpret.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/program/graph.hpp>

#include <span>
#include <string>
#include <vector>

namespace emmy::device {

struct answer_options {
    std::uint64_t seed = 1;
    std::size_t cells = 256;              ///< sampled where not all cells are compared
    std::uint64_t whole_below = 300'000'000;  ///< evaluations up to which the program's reference computes every cell
    std::uint64_t interpret_below = 400'000'000;  ///< evaluations that the sampled cells may cost in the interpreter
    bool fast_math = false;
    std::span<const std::vector<std::byte>> given = {};  ///< by kernel input: bytes in place of seeded ones where not empty (weights); they outlive prepare()
    bool every_cell = false;              ///< the reference of every cell, however long it takes (up to 10^11 evaluations), or a fault (user)
};

/// Seeded inputs of one kernel at given sizes, and what it must answer: the third gate. The reference shares nothing with
/// compiled kernels: the program's own reference in double where the kernel is known to compute a program, else the
/// interpreter on sampled cells.
class answer {
public:
    /// `g` and `ports` (one per kernel input) say how the kernel's inputs come from a program; `g` may be null.
    /// Errors: as of the interpreter and the program's reference; (input): buffers too large.
    EMMY_DECL static result<answer> prepare(const loop::kernel& k, std::span<const loop::symbol_size> sizes, const program::graph* g, std::span<const loop::kernel_port> ports,
                                            const answer_options& options = {});

    /// The same from data that is known: elements of every input, then of every output, in the kernel's order. Nothing is generated and no
    /// reference is computed; `label` says where the data is from. Errors: as of the interpreter; (input): a count or size that is not the kernel's.
    EMMY_DECL static result<answer> from_data(const loop::kernel& k, std::span<const loop::symbol_size> sizes, std::vector<std::vector<std::byte>> inputs, std::vector<std::vector<std::byte>> outputs,
                                              std::string label, const answer_options& options = {});
    /// Buffers, shapes and terms alone.
    EMMY_DECL static result<answer> outline(const loop::kernel& k, std::span<const loop::symbol_size> sizes, const answer_options& options = {});

    /// Buffers with their inputs filled; outputs untouched.
    EMMY_DECL result<tensor_arena> arena() const;
    /// "" when the outputs are right, else one sentence: a cell that was never written (still poisoned), or a wrong one.
    EMMY_DECL std::string check(const tensor_arena& outputs) const;

    const std::vector<buffer_spec>& buffers() const { return buffers_; }
    const std::vector<std::vector<std::int64_t>>& shapes() const { return shapes_; }  ///< inputs then outputs, in elements
    const std::string& reference() const { return reference_; }  ///< "program in double, all 262144 cells"
    double terms() const { return terms_; }                      ///< evaluations behind one cell
    const std::vector<std::string>& names() const { return names_; }  ///< of the kernel's inputs, then of its outputs
    std::span<const std::vector<std::byte>> inputs() const { return inputs_; }
    /// Of options.every_cell: elements of an output as the reference has them, rounded to its type. Empty when not every cell is known.
    EMMY_DECL std::vector<std::byte> wanted_bytes(std::size_t output) const;

private:
    struct wanted {
        std::size_t output = 0;           ///< place among the outputs
        std::vector<std::int64_t> at;     ///< flat cells; empty = all in order
        std::vector<double> values;
        std::vector<std::byte> bytes = {}; ///< where they are known as bytes (64-bit integers are not held by doubles)
    };
    std::vector<buffer_spec> buffers_;
    std::vector<std::string> names_;
    std::vector<std::vector<std::int64_t>> shapes_;
    std::vector<std::vector<std::byte>> inputs_;
    std::vector<wanted> wanted_;
    std::string reference_;
    double terms_ = 1;
    bool fast_math_ = false;
};

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/answer.ipp>
#endif
