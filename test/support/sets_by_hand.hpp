#pragma once
// Kernels and sets of kernels that compute the same, written by hand.
#include <emmy/loop/typed.hpp>
#include <emmy/plan.hpp>

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <random>

namespace emmy::test {

namespace sets {
using namespace loop::typed;

inline loop::kernel made(const builder& b, std::string name) {
    auto out = loop::typed::kernel(b, std::move(name));
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.error().line()));
    return std::move(*out);
}

/// y = silu(x w) * (x u), whole.
inline loop::kernel gated(extent rows, extent columns, extent depth) {
    builder b;
    auto x = b.input<f32, "x">(rows, depth);
    auto w = b.input<f32, "w">(depth, columns);
    auto u = b.input<f32, "u">(depth, columns);
    auto y = b.output<f32, "y">(rows, columns);
    b.loop(rows, columns, [&](axis i, axis j) {
        auto gate = b.accumulate<op::add>(), up = b.accumulate<op::add>();
        b.loop(depth, [&](axis k) {
            gate.fold(x(i, k) * w(k, j));
            up.fold(x(i, k) * u(k, j));
        });
        y(i, j) = silu(gate) * up;
    });
    return made(b, "k_gated");
}
template <fixed_string Weight, fixed_string Out>
loop::kernel product(std::string name, extent rows, extent columns, extent depth) {
    builder b;
    auto x = b.input<f32, "x">(rows, depth);
    auto w = b.input<f32, Weight>(depth, columns);
    auto y = b.output<f32, Out>(rows, columns);
    b.loop(rows, columns, [&](axis i, axis j) { y(i, j) = b.sum(depth, [&](axis k) { return x(i, k) * w(k, j); }); });
    return made(b, std::move(name));
}
/// The same in three: two products into workspaces, and what joins them. `stale` is declared and never read.
inline std::vector<loop::kernel> gated_in_three(extent rows, extent columns, extent depth) {
    builder b;
    auto gate = b.input<f32, "gate">(rows, columns);
    auto up = b.input<f32, "up">(rows, columns);
    b.input<f32, "stale">(rows);
    auto y = b.output<f32, "y">(rows, columns);
    b.loop(rows, columns, [&](axis i, axis j) { y(i, j) = silu(gate(i, j)) * up(i, j); });
    std::vector<loop::kernel> out;
    out.push_back(product<"w", "gate">("k_gate", rows, columns, depth));
    out.push_back(product<"u", "up">("k_up", rows, columns, depth));
    out.push_back(made(b, "k_join"));
    return out;
}
/// Row sums, whole; and as shares that are added into the output.
inline loop::kernel row_sums(extent rows, extent columns) {
    builder b;
    auto x = b.input<f32, "x">(rows, columns);
    auto y = b.output<f32, "y">(rows);
    b.loop(rows, [&](axis i) { y(i) = b.sum(columns, [&](axis k) { return x(i, k); }); });
    return made(b, "k_sums");
}
template <fixed_string In>
loop::kernel added_sums(std::string name, extent rows, extent columns) {
    builder b;
    auto x = b.input<f32, In>(rows, columns);
    auto y = b.output<f32, "y">(rows);
    b.loop(rows, [&](axis i) { b.loop(columns, [&](axis k) { y(i) += x(i, k); }); });
    return made(b, std::move(name));
}
/// out = in + 1, a link of a chain.
template <fixed_string In, fixed_string Out>
loop::kernel step(std::string name, extent n) {
    builder b;
    auto x = b.input<f32, In>(n);
    auto y = b.output<f32, Out>(n);
    b.loop(n, [&](axis i) { y(i) = b.let<f32>(1) + x(i); });
    return made(b, std::move(name));
}
}  // namespace sets

/// Elements of every buffer of plan.given() at sizes: inputs and constants uniform in [-1, 1), the same for one seed; outputs zero.
struct given_data {
    std::vector<std::vector<std::byte>> bytes;
    std::vector<std::span<std::byte>> spans;

    given_data(const plan::executable& p, const plan::binding& at, unsigned seed) {
        std::mt19937 random(seed);
        for (const std::uint32_t b : p.given()) {
            std::vector<std::byte> own(at.buffers[b].bytes);
            const plan::buffer& facts = p.buffers()[b];
            if (facts.role == plan::role::input || facts.role == plan::role::constant)
                for (std::uint64_t i = 0; i < at.buffers[b].elements; ++i) store_real(facts.type, own.data(), i, static_cast<double>(random() % 2001) / 1000 - 1);
            bytes.push_back(std::move(own));
        }
        for (auto& b : bytes) spans.emplace_back(b);
    }
    std::vector<std::span<const std::byte>> inputs(const plan::executable& p) const {
        std::vector<std::span<const std::byte>> out;
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (p.buffers()[p.given()[i]].role != plan::role::output) out.emplace_back(bytes[i]);
        return out;
    }
};

}  // namespace emmy::test
