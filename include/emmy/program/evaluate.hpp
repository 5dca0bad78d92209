#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/core/result.hpp>
#include <emmy/program/check.hpp>
#include <emmy/program/graph.hpp>

#include <cstddef>

/// The independent reference: what a traced program computes, in double, written from the operators' definitions and sharing nothing
/// with bodies, schedules or kernels. What each operator computes: doc/operators.md.
namespace emmy::program {

/// Bytes of an `input` node or of a checkpoint constant, in the node's declared dtype, row-major, by node id. A constant with
/// load_ops is given after them (the node's own shape).
struct named_bytes {
    std::string_view id = {};
    std::span<const std::byte> bytes = {};
};

/// Values of one tensor; `values` has as many elements as the shape says.
struct evaluated {
    dtype type = dtype::none;
    std::vector<std::int64_t> shape = {};
    std::vector<double> values = {};
    std::vector<std::int64_t> integers = {};  ///< exactly, of types held as integers (reads_as_integer); u64 as two's complement bits
};

enum class arithmetic : std::uint8_t {
    /// Reals are double; a tensor that is read and declared narrower than f32 is rounded to what it declares (a tensor of the program is a
    /// rounding point). Outputs are not rounded: compare them with their round_to (core/numeric.hpp).
    exact,
    /// Every tensor is rounded to what it declares, outputs too; pointwise functions round in the type they compute in first: f16 when
    /// result and operands are f16 (but for squares and pow), f64 when one is, else f32. Sums are exact before they are rounded.
    typed
};
struct evaluate_options {
    arithmetic mode = arithmetic::exact;
    const std::vector<bool>* transient = nullptr;  ///< by node: tensors that round nothing (lower.hpp)
    std::span<const edge> wanted = {};             ///< instead of the program's outputs
};

/// The concrete shape under these sizes (a symbol not named: its hint). Errors (input): an expression that does not evaluate to a size ≥ 1.
EMMY_DECL result<std::vector<std::int64_t>> concrete_shape(const graph& g, std::span<const dim> shape, std::span<const bound_size> sizes);
/// Elements of the concrete shape; errors also when the product leaves 62 bits.
EMMY_DECL result<std::int64_t> element_count(const graph& g, std::span<const dim> shape, std::span<const bound_size> sizes);

/// All outputs of the program (or what is wanted).
/// Errors: input: what check_program refuses, a tensor without bytes, bytes of the wrong size, a slice or index outside at these sizes;
/// user: a tensor of more than 2^32 elements, a node of several results.
EMMY_DECL result<std::vector<evaluated>> evaluate(const graph& g, std::span<const named_bytes> given, std::span<const bound_size> sizes = {},
                                                  const evaluate_options& options = {});

/// Output 0 at some flat positions only: a product of large matrices computes these cells alone.
EMMY_DECL result<std::vector<double>> evaluate_cells(const graph& g, std::span<const named_bytes> given, std::span<const bound_size> sizes,
                                                     std::span<const std::int64_t> cells);

/// Bytes of a dtype from doubles (rounded as round_to), and back. Packed types are their bytes, as load_element reads them.
EMMY_DECL std::vector<std::byte> to_bytes(dtype type, std::span<const double> values);
EMMY_DECL std::vector<double> from_bytes(dtype type, std::span<const std::byte> bytes);
/// Of an evaluated tensor, 64-bit integers included.
EMMY_DECL std::vector<std::byte> to_bytes(const evaluated& tensor);

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/impl/evaluate.ipp>
#endif
