#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/core/xxh3.hpp>
#include <emmy/loop/body.hpp>
#include <emmy/loop/identity_version.hpp>
#include <emmy/loop/impl/written.hpp>
#include <emmy/loop/normal/certificate.hpp>
#include <emmy/loop/normal/from_body.hpp>

#include <span>
#include <type_traits>
#include <vector>

/// What makes two kernels the same kernel, and so lets them share measurements.
namespace emmy::loop {

/// Version 1: what a kernel computes. Every store is a function of the coordinates it stores to (loop/normal/store_axes.hpp); its value
/// is a graph of reads, operators and reductions in which equal values are one (loop/normal/graph.hpp), expressions are simplified
/// exactly and sums of indices have no order (loop/normal/simplify.hpp). Part of it: operators, explicit dtypes, extents (a symbol by
/// name), index, predicate and scalar expressions, windows, atomic and swizzled stores, which reads and stores share a buffer, and each
/// buffer's dtype and shape (a symbolic size is just `sym`). Not part of it: names, hints, order of statements, of operands of
/// commutative operators and of buffers, how loops are nested, shared or fused, unread inputs, dead values.
/// Kernels of scheduled statements (Cond, Init, StridedLoop, ZeroPrologue, vector loads, unrolled loops) and of a buffer both read and
/// written are what is written: only names do not count.
static_assert(identity_version == 1, "the text above tells of version 1");

/// Statements up to which a constant expression computes an identity within the compilers' default limits, with room for building the body.
constexpr std::size_t constant_identity_statements = 96;

/// Canonical bytes of a body with its buffers: self-delimiting, equal exactly for kernels that are the same in the sense above.
constexpr std::vector<char> canonical_bytes(const body& b, std::span<const buffer> inputs, std::span<const buffer> outputs) {
    if (std::is_constant_evaluated() && b.stmts.size() > constant_identity_statements)
        throw "this body is too large for an identity in a constant expression: compute it at run time, loop::identity(kernel)";
    normal::graph g;
    if (normal::from_body(g, b, inputs, outputs)) return normal::certificate(g);
    std::vector<char> out = written_bytes(b, inputs, outputs);
    out.push_back('w');  // a certificate ends otherwise
    return out;
}

/// The same function in constant expressions and at run time.
constexpr digest128 identity(const body& b, std::span<const buffer> inputs, std::span<const buffer> outputs) {
    const std::vector<char> bytes = canonical_bytes(b, inputs, outputs);
    if (std::is_constant_evaluated()) return constant_xxh3_128(bytes.data(), bytes.size());
    return xxh3_128({bytes.data(), bytes.size()});
}
inline digest128 identity(const kernel& k) { return identity(k.body, k.inputs, k.outputs); }

}  // namespace emmy::loop
