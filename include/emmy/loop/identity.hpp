#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/core/xxh3.hpp>
#include <emmy/loop/body.hpp>

#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

/// What makes two kernels the same kernel, and so lets them share measurements.
namespace emmy::loop {

/// Version 0: the stored body as it stands. Values, axes and buffers are numbered by first use; buffers count with dtype and
/// shape, where a symbolic size is just `sym`; symbols of loop extents count by name, hints do not. Not part of it: the C name,
/// node ids, buffer names, declared order, unread inputs. It may tell apart what a deeper normal form would unite (statement or
/// operand order), never unite what differs.
constexpr int identity_version = 0;

/// Canonical bytes of a body with its buffers: self-delimiting, so different kernels (in the sense above) have different bytes.
constexpr std::vector<char> canonical_bytes(const body& b, std::span<const buffer> inputs, std::span<const buffer> outputs);

/// The same function in constant expressions and at run time.
constexpr digest128 identity(const body& b, std::span<const buffer> inputs, std::span<const buffer> outputs) {
    const std::vector<char> bytes = canonical_bytes(b, inputs, outputs);
    if (std::is_constant_evaluated()) return constant_xxh3_128(bytes.data(), bytes.size());
    return xxh3_128({bytes.data(), bytes.size()});
}
inline digest128 identity(const kernel& k) { return identity(k.body, k.inputs, k.outputs); }

}  // namespace emmy::loop

#include <emmy/loop/impl/canonical.hpp>
