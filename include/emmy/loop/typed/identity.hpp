#pragma once
#include <emmy/loop/identity.hpp>
#include <emmy/loop/typed/builder.hpp>

/// What leaves a typed kernel: its identity in constant expressions, its flat form at run time.
namespace emmy::loop::typed {

/// The identity that the run time computes for this kernel from a file. Zero for a kernel with a misuse (is_kernel says it).
constexpr digest128 identity(const builder& b) {
    const loop::body& body = b.body();
    return b.misuse().empty() ? loop::identity(body, b.inputs(), b.outputs()) : digest128{};
}

/// The flat form, as read from a file. Errors (user): a misuse that only the order of calls shows; (input): what loop::validate finds.
EMMY_DECL result<loop::kernel> kernel(const builder& b, std::string name);

namespace detail {
struct outcome {
    digest128 identity;
    sentence why;
};
constexpr outcome outcome_of(const builder& b) {
    const digest128 id = typed::identity(b);
    return {id, b.misuse()};
}
template <auto Make>
inline constexpr outcome made = outcome_of(Make());

constexpr void append_hex(sentence& out, const digest128& d) {
    for (const std::uint64_t half : {d.high, d.low})
        for (int shift = 60; shift >= 0; shift -= 4) out.append("0123456789abcdef"[half >> shift & 15]);
}
constexpr sentence other_identity(const digest128& found, const digest128& expected) {
    sentence out("identity is ");
    append_hex(out, found);
    out.append(", expected ");
    append_hex(out, expected);
    return out;
}
}  // namespace detail

/// The identity of the kernel that a closure builds; a misuse in it is a compile error with its sentence.
///   constexpr digest128 id = identity_of<[] { return matmul(f16{}, 512, 512, 512); }>();
template <auto Make>
consteval digest128 identity_of() {
    if constexpr (!detail::made<Make>.why.empty()) say<[] { return detail::made<Make>.why; }>();
    return detail::made<Make>.identity;
}

/// True when the kernel has this identity; else the compiler says which one it has: paste it.
///   static_assert(is_kernel<[] { return matmul(f16{}, 512, 512, 512); }, "2a1f…"_id>());
template <auto Make, digest128 Expected>
consteval bool is_kernel() {
    if constexpr (identity_of<Make>() != Expected) return say<[] { return detail::other_identity(detail::made<Make>.identity, Expected); }>();
    return true;
}

}  // namespace emmy::loop::typed

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/typed/impl/kernel.ipp>
#endif
