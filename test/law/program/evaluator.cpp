#include <emmy/program/compose.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/specialise.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>

#include <cmath>
#include <iostream>
#include <map>

// The reference agrees with itself: each law builds one program with two outputs that must be equal, over random shapes and values.

namespace {
using namespace emmy;
using program::composer;
using program::edge;
using program::extent;
using list = composer::list;

std::map<std::string, std::size_t> checked;

/// A composer with its inputs' bytes.
struct bench {
    composer c;
    std::vector<std::pair<std::string, std::vector<std::byte>>> held;
    std::uint64_t state;

    explicit bench(std::uint64_t seed) : state(seed * 2654435761u + 88172645463325252u) {}
    std::uint64_t next() {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return state;
    }
    std::vector<double> values(std::size_t count, double low, double high) {
        std::vector<double> out(count);
        for (double& v : out) v = low + (high - low) * static_cast<double>(next() >> 11) / 9007199254740992.0;
        return out;
    }
    edge input(const std::string& id, dtype type, const list& shape, double low = -2, double high = 2) {
        std::vector<program::builder::size> sizes;
        std::size_t count = 1;
        for (const std::int64_t s : shape) sizes.push_back({.number = s, .symbol = {}}), count *= static_cast<std::size_t>(s);
        held.emplace_back(id, program::to_bytes(type, values(count, low, high)));
        return c.input(id, type, sizes);
    }
};
std::vector<program::evaluated> run(bench& b, std::vector<edge> outputs, program::arithmetic mode = program::arithmetic::exact) {
    for (const edge e : outputs) b.c.output(e);
    auto g = std::move(b.c).finish();
    if (!g) RC_FAIL(g.error().line());
    std::vector<program::named_bytes> given;
    for (const auto& [id, bytes] : b.held) given.push_back({id, bytes});
    auto out = program::evaluate(*g, given, {}, {.mode = mode});
    if (!out) RC_FAIL(out.error().line());
    return std::move(*out);
}
void equal(const char* law, bench& b, edge x, edge y, double tolerance = 0) {
    const auto out = run(b, {x, y});
    const auto &p = out[0], &q = out[1];
    RC_ASSERT(p.type == q.type);
    RC_ASSERT(p.shape == q.shape);
    RC_ASSERT(p.integers == q.integers);
    double size = 1;
    for (const double v : p.values)
        if (std::isfinite(v)) size = std::max(size, std::fabs(v));
    for (std::size_t i = 0; i < p.values.size(); ++i) {
        if (p.values[i] == q.values[i] || (std::isnan(p.values[i]) && std::isnan(q.values[i]))) continue;
        RC_ASSERT(std::fabs(p.values[i] - q.values[i]) <= tolerance * size);
    }
    ++checked[law];
}
std::int64_t size(std::int64_t beyond = 6) { return *rc::gen::inRange<std::int64_t>(1, beyond); }
list sizes(std::size_t rank) {
    list out;
    for (std::size_t i = 0; i < rank; ++i) out.push_back(size());
    return out;
}
std::uint64_t seed() { return *rc::gen::inRange<std::uint64_t>(1, 1u << 30); }
dtype any_type() { return *rc::gen::element(dtype::f64, dtype::f32, dtype::f16, dtype::bf16, dtype::i64, dtype::i32, dtype::u8, dtype::boolean); }
template <class F>
void law(const char* name, F f) {
    BOOST_TEST(rc::check(name, f), name);
}

}  // namespace

BOOST_AUTO_TEST_CASE(layout) {
    law("a permutation and its inverse", [] {
        const std::size_t rank = *rc::gen::inRange<std::size_t>(1, 5);
        bench b(seed());
        list order(rank), back(rank);
        for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
        for (std::size_t i = rank; i-- > 1;) std::swap(order[i], order[b.next() % (i + 1)]);
        for (std::size_t i = 0; i < rank; ++i) back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
        const edge x = b.input("x", any_type(), sizes(rank), 0, 100);
        equal("permute", b, x, b.c.permute("q", b.c.permute("p", x, order), back));
    });
    law("a slice of a cat is the part", [] {
        const std::size_t rank = *rc::gen::inRange<std::size_t>(1, 4);
        const auto axis = *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(rank));
        bench b(seed());
        const dtype type = any_type();
        list shape = sizes(rank), other = shape;
        other[static_cast<std::size_t>(axis)] = size();
        const edge x = b.input("x", type, shape, 0, 100), y = b.input("y", type, other, 0, 100);
        const edge both = b.c.cat("both", {x, y}, *rc::gen::element(axis, axis - static_cast<std::int64_t>(rank)));
        equal("cat, slice", b, y, b.c.slice("s", both, axis, shape[static_cast<std::size_t>(axis)], std::nullopt));
    });
    law("stacked parts are selected", [] {
        const std::size_t rank = *rc::gen::inRange<std::size_t>(0, 4);
        const auto axis = *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(rank) + 1);
        bench b(seed());
        const dtype type = any_type();
        const list shape = sizes(rank);
        const edge x = b.input("x", type, shape, 0, 100), y = b.input("y", type, shape, 0, 100);
        equal("stack, select", b, y, b.c.select("s", b.c.stack("both", {x, y}, axis), axis, *rc::gen::element<std::int64_t>(1, -1)));
    });
    law("strided slices undo repeated elements", [] {
        bench b(seed());
        const auto times = size();
        const edge x = b.input("x", any_type(), sizes(2), 0, 100);
        equal("repeat_interleave, slice", b, x, b.c.slice("s", b.c.repeat_interleave("r", x, times, 1), 1, *rc::gen::inRange<std::int64_t>(0, times), std::nullopt, times));
    });
    law("flips, rolls and pads are undone", [] {
        bench b(seed());
        const edge x = b.input("x", any_type(), sizes(2), 0, 100);
        const auto shift = *rc::gen::inRange<std::int64_t>(-9, 9);
        const list before{size() - 1, size() - 1}, after{size() - 1, size() - 1};
        edge y = b.c.flip("f2", b.c.flip("f1", x, 0), 0);
        y = b.c.roll("r2", b.c.roll("r1", y, shift, 1), -shift, 1);
        const extent rows = b.c.shape(x)[0], columns = b.c.shape(x)[1];
        y = b.c.pad("padded", y, before, after, 1);
        y = b.c.slice("s0", y, 0, before[0], before[0] + rows.number());
        equal("flip, roll, pad", b, x, b.c.slice("s1", y, 1, before[1], before[1] + columns.number()));
    });
    law("triangles add up", [] {
        bench b(seed());
        const auto k = *rc::gen::inRange<std::int64_t>(-4, 5);
        const edge x = b.input("x", *rc::gen::element(dtype::f32, dtype::f16, dtype::i32), sizes(3), -50, 50);
        equal("triu, tril", b, x, b.c.pointwise("sum", "add", {b.c.triangle("up", x, true, k), b.c.triangle("low", x, false, k - 1)}));
    });
    law("a repeat is a cat", [] {
        bench b(seed());
        const edge x = b.input("x", any_type(), sizes(2), 0, 100);
        equal("repeat, cat", b, b.c.cat("c", {x, x, x}, 1), b.c.repeat("r", x, {1, 3}));
    });
    law("reshapes keep the order", [] {
        bench b(seed());
        const list shape = sizes(3);
        const edge x = b.input("x", any_type(), shape, 0, 100);
        const edge flat = b.c.reshape("flat", x, {extent(-1), extent(1)});
        equal("reshape", b, x, b.c.reshape("back", flat, {extent(shape[0]), extent(-1), extent(shape[2])}));
    });
    law("gathers of every place are the data", [] {
        bench b(seed());
        const list shape = sizes(2);
        const edge x = b.input("x", any_type(), shape, 0, 100);
        const edge places = b.c.range("places", 0, shape[1], 1, *rc::gen::element(dtype::i32, dtype::i64));
        const edge negative = b.c.with_number("negative", "subtract", places, static_cast<double>(shape[1]));
        equal("gather", b, b.c.index_select("s", x, 1, negative), b.c.gather("g", x, 1, b.c.broadcast("places_bc", places, b.c.shape(x))));
    });
    law("an embedding is a product with one-hot rows", [] {
        bench b(seed());
        const list shape = sizes(2);
        const edge table = b.input("t", dtype::f64, shape), ids = b.input("i", dtype::i64, sizes(2), 0, static_cast<double>(shape[0]) - 0.01);
        const edge hot = b.c.pointwise("hot", "copy", {b.c.one_hot("h", ids, shape[0])}, dtype::f64);
        equal("embedding, one_hot", b, b.c.index_select("e", table, 0, ids), b.c.matmul("m", hot, table));
    });
}

BOOST_AUTO_TEST_CASE(folds) {
    law("a fold of all axes is the fold of the flat tensor, in any order", [] {
        bench b(seed());
        const auto name = *rc::gen::element<const char*>("sum", "prod", "amax", "amin", "mean");
        const dtype type = *rc::gen::element(dtype::f64, dtype::f32);
        const edge x = b.input("x", type, sizes(3));
        const edge flat = b.c.reshape("flat", b.c.permute("p", x, {2, 0, 1}), {extent(-1)});
        equal("folds", b, b.c.fold("all", name, x, {}, false), b.c.fold("one", name, flat, {0}, false), 1e-12);
    });
    law("integer folds wrap like sums in 64 bits", [] {
        bench b(seed());
        const dtype type = *rc::gen::element(dtype::i32, dtype::i64, dtype::u8, dtype::boolean, dtype::i16);
        const list shape = sizes(2);
        const edge x = b.input("x", type, shape, type == dtype::u8 || type == dtype::boolean ? 0 : -100, 100);
        const auto out = run(b, {b.c.fold("s", "sum", x, {0}, false), b.c.cumsum("c", x, 0), x});
        for (std::int64_t j = 0; j < shape[1]; ++j) {
            std::int64_t sum = 0;
            for (std::int64_t i = 0; i < shape[0]; ++i) {
                sum += out[2].integers[static_cast<std::size_t>(i * shape[1] + j)];
                RC_ASSERT(out[1].integers[static_cast<std::size_t>(i * shape[1] + j)] == sum);
            }
            RC_ASSERT(out[0].integers[static_cast<std::size_t>(j)] == sum);
        }
        ++checked["integer folds"];
    });
    law("the last of a scan is the fold", [] {
        bench b(seed());
        const edge x = b.input("x", *rc::gen::element(dtype::f64, dtype::f32, dtype::i64), sizes(2), -9, 9);
        equal("cumsum", b, b.c.fold("s", "sum", x, {1}, false), b.c.select("last", b.c.cumsum("c", x, 1), 1, -1), 1e-12);
    });
    law("argmax is where the largest is", [] {
        bench b(seed());
        const edge x = b.input("x", *rc::gen::element(dtype::f32, dtype::i32, dtype::f16), sizes(2), -3, 3);
        const edge at = b.c.argmax("a", x, 1, true);
        equal("argmax", b, b.c.fold("m", "amax", x, {1}, true), b.c.gather("g", x, 1, at));
    });
    law("variances, norms and softmax by their definitions", [] {
        bench b(seed());
        const edge x = b.input("x", dtype::f64, sizes(2)), ones = b.c.literal("one", 1, dtype::f64);
        const auto pw = [&](const char* id, const char* name, std::vector<edge> in) { return b.c.pointwise(id, name, std::move(in)); };
        const edge mean = b.c.fold("mean", "mean", x, {1}, true), centred = pw("centred", "subtract", {x, mean});
        const edge var = b.c.fold("var", "mean", pw("sq", "square", {centred}), {1}, true);
        const edge norm = pw("norm", "multiply", {centred, pw("r", "rsqrt", {b.c.with_number("eps", "add", var, 1e-3)})});
        const edge rms = pw("rms", "multiply", {x, pw("rr", "rsqrt", {b.c.with_number("eps2", "add", b.c.fold("ms", "mean", pw("xx", "multiply", {x, x}), {1}, true), 1e-3)})});
        const edge e = pw("e", "exp", {x}), soft = pw("soft", "divide", {e, b.c.fold("z", "sum", e, {1}, true)});
        (void)ones;
        const edge theirs = b.c.cat("t", {norm, rms, soft, pw("log", "log", {soft}), b.c.broadcast("var_bc", var, b.c.shape(x))}, 0);
        const edge ours = b.c.cat("o", {b.c.layer_norm("ln", x, 1, {}, {}, 1e-3), b.c.rms_norm("rn", x, 1, {}, 1e-3), b.c.softmax("sm", x, 1), b.c.log_softmax("ls", x, 1),
                                        b.c.broadcast("v_bc", b.c.variance("v", x, {1}, 0, true, false), b.c.shape(x))}, 0);
        equal("norms, softmax, variance", b, theirs, ours, 1e-9);
    });
}

BOOST_AUTO_TEST_CASE(products) {
    law("matmul, linear and einsum are sums of products", [] {
        bench b(seed());
        const auto n = size(), m = size(), k = size(), batch = size();
        const edge x = b.input("x", dtype::f64, {batch, m, k}), y = b.input("y", dtype::f64, {k, n});
        const edge spelled = b.c.fold("sum", "sum", b.c.pointwise("p", "multiply", {b.c.unsqueeze("x4", x, 3), y}), {2}, false);
        const edge all = b.c.cat("ours", {b.c.matmul("m", x, y), b.c.linear("l", x, b.c.transpose("yt", y, 0, 1)), b.c.einsum("e", "bij,jk->bik", {x, y})}, 0);
        equal("matmul, linear, einsum", b, b.c.cat("theirs", {spelled, spelled, spelled}, 0), all, 1e-12);
    });
    law("attention by its definition", [] {
        bench b(seed());
        const auto groups = size(3), heads = size(3), queries = size(), keys = size(), width = size(), made = size();
        const bool causal = *rc::gen::arbitrary<bool>();
        const std::optional<std::int64_t> window = *rc::gen::arbitrary<bool>() ? std::optional(size()) : std::nullopt;
        const int masked = *rc::gen::inRange(0, 3);
        const edge q = b.input("q", dtype::f64, {2, heads * groups, queries, width}), k = b.input("k", dtype::f64, {2, heads, keys, width}), v = b.input("v", dtype::f64, {2, heads, keys, made});
        const edge i = b.c.unsqueeze("i2", b.c.range("i", 0, queries, 1, dtype::i32), 1), j = b.c.range("j", 0, keys, 1, dtype::i32);
        edge keep = b.c.pointwise("all", "greater_equal", {b.c.pointwise("ij", "add", {i, j}), b.c.literal("zero", 0, dtype::i32)});
        if (causal) keep = b.c.pointwise("causal", "logical_and", {keep, b.c.pointwise("le", "less_equal", {j, i})});
        if (window) keep = b.c.pointwise("window", "logical_and", {keep, b.c.pointwise("gt", "greater", {j, b.c.with_number("low", "subtract", i, static_cast<double>(*window))})});
        std::optional<edge> mask;
        edge added = b.c.literal("none", 0, dtype::f64);
        if (masked == 1) {
            mask = b.input("mask", dtype::boolean, {queries, keys}, -0.5, 1.5);
            keep = b.c.pointwise("masked", "logical_and", {keep, *mask});
        } else if (masked == 2) {
            mask = added = b.input("mask", dtype::f64, {heads * groups, 1, keys});
        }
        const edge scores = b.c.pointwise("scores", "add", {b.c.with_number("scaled", "multiply", b.c.matmul("qk", q, b.c.transpose("kt", b.c.repeat_interleave("kg", k, groups, 1), -1, -2)), 0.3), added});
        const edge e = b.c.pointwise("kept", "where", {keep, b.c.pointwise("e", "exp", {scores}), b.c.literal("nothing", 0, dtype::f64)});
        const edge sum = b.c.fold("z", "sum", e, {-1}, true);
        const edge p = b.c.pointwise("p", "divide", {e, b.c.pointwise("z1", "where", {b.c.with_number("any", "greater", sum, 0), sum, b.c.literal("unit", 1, dtype::f64)})});
        const edge theirs = b.c.matmul("out", p, b.c.repeat_interleave("vg", v, groups, 1));
        // With a window beside a bool mask a row may lose its keys to both together, which the composition of the mask alone does not see.
        if (masked == 1 && (causal || window)) RC_DISCARD();
        equal("attention", b, theirs, b.c.attention("a", q, k, v, mask, causal, window, 0.3), 1e-9);
    });
    law("a convolution is the product with its windows, the transposed one its adjoint", [] {
        bench b(seed());
        const auto groups = size(3), in = groups * size(3), out = groups * size(3), taps = size(4), stride = size(3), padding = size(3) - 1, dilation = size(3);
        const auto length = dilation * (taps - 1) + 1 + size();
        const edge x = b.input("x", dtype::f64, {2, in, length, length}), w = b.input("w", dtype::f64, {out, in / groups, taps, taps});
        const edge line = b.c.select("line", x, 3, 0), row = b.c.select("row", w, 3, 0);
        const edge tag = b.c.convolution("tag", x, w, {}, {{stride, stride}, {padding, padding}, {dilation, dilation}}, groups);
        // The same on a plane of unequal steps whose second axis does nothing.
        const edge flat = b.c.convolution("flat", b.c.unsqueeze("x4", line, 3), b.c.unsqueeze("w4", row, 3), {}, {{stride, stride + 1}, {padding, 0}, {dilation, 1}}, groups);
        const edge one = b.c.convolution("one", line, row, {}, {{stride}, {padding}, {dilation}}, groups);
        const edge y = b.c.pointwise("y", "cos", {one});
        const edge back = b.c.conv_transpose1d("back", y, row, {}, stride, padding, (length + 2 * padding - dilation * (taps - 1) - 1) % stride, dilation, groups);
        const auto dot = [&](const char* id, edge p, edge q) { return b.c.fold(id, "sum", b.c.pointwise(std::string(id) + "_p", "multiply", {p, q}), {}, false); };
        const auto result = run(b, {one, b.c.squeeze("flat1", flat, {3}), dot("left", one, y), dot("right", line, back), tag});
        for (std::size_t i = 0; i < result[0].values.size(); ++i) RC_ASSERT(std::fabs(result[0].values[i] - result[1].values[i]) < 1e-10);
        RC_ASSERT(std::fabs(result[2].values[0] - result[3].values[0]) < 1e-9);
        ++checked["convolutions"];
    });
}

BOOST_AUTO_TEST_CASE(integers_are_exact) {
    const auto in_range = [](dtype t, __int128 v) {  // modulo 2^bits, by long arithmetic alone
        const int bits = static_cast<int>(facts(t).bits);
        const __int128 span = static_cast<__int128>(1) << bits;
        v = (v % span + span) % span;
        if (facts(t).is_signed && v >= span / 2) v -= span;
        return v;
    };
    law("pointwise integers", [&] {
        const dtype type = *rc::gen::element(dtype::i64, dtype::i32, dtype::i16, dtype::u8, dtype::u16, dtype::u32, dtype::u64);
        const auto name = *rc::gen::element<std::string>("add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "less", "equal");
        bench b(seed());
        std::vector<std::byte> p(16 * byte_size(type)), q(p.size());
        std::vector<__int128> x, y;
        for (std::size_t i = 0; i < 16; ++i) {
            std::uint64_t u = b.next() >> b.next() % 60, v = b.next() >> b.next() % 60;
            if (name.ends_with("shift")) v %= facts(type).bits;
            store_integer(type, p.data(), i, static_cast<std::int64_t>(u));
            store_integer(type, q.data(), i, static_cast<std::int64_t>(v));
            const auto wide = [&](const std::vector<std::byte>& from) {
                const std::int64_t held = load_integer(type, from.data(), i);
                return type == dtype::u64 ? static_cast<__int128>(static_cast<std::uint64_t>(held)) : static_cast<__int128>(held);
            };
            x.push_back(wide(p)), y.push_back(wide(q));
        }
        const program::builder::size shape[] = {{.number = 16}};
        const edge a = b.c.input("a", type, shape), c = b.c.input("c", type, shape);
        b.held = {{"a", p}, {"c", q}};
        const auto out = run(b, {b.c.pointwise("y", name, {a, c})});
        for (std::size_t i = 0; i < 16; ++i) {
            const __int128 u = x[i], v = y[i];
            const auto floor_quotient = [&] { return v == 0 ? 0 : u / v - (u % v != 0 && (u < 0) != (v < 0) ? 1 : 0); };
            __int128 wanted = 0;
            if (name == "add") wanted = u + v;
            else if (name == "subtract") wanted = u - v;
            else if (name == "multiply") wanted = static_cast<__int128>(static_cast<unsigned __int128>(u) * static_cast<unsigned __int128>(v));
            else if (name == "floor_divide") wanted = floor_quotient();
            else if (name == "remainder") wanted = v == 0 ? 0 : u - floor_quotient() * v;
            else if (name == "maximum") wanted = u > v ? u : v;
            else if (name == "minimum") wanted = u < v ? u : v;
            else if (name == "bitwise_and") wanted = u & v;
            else if (name == "bitwise_or") wanted = u | v;
            else if (name == "bitwise_xor") wanted = u ^ v;
            else if (name == "left_shift") wanted = u * (static_cast<__int128>(1) << static_cast<int>(v));
            else if (name == "right_shift") wanted = u >> static_cast<int>(v);
            else if (name == "less") wanted = u < v;
            else wanted = u == v;
            const __int128 found = type == dtype::u64 && out[0].type == type ? static_cast<__int128>(static_cast<std::uint64_t>(out[0].integers[i])) : static_cast<__int128>(out[0].integers[i]);
            RC_ASSERT(found == (out[0].type == type ? in_range(type, wanted) : wanted));
        }
        ++checked["integers"];
    });
}

BOOST_AUTO_TEST_CASE(rounding_and_programs) {
    law("typed values are values of their types, and one rounding from exact", [] {
        bench b(seed());
        const dtype type = *rc::gen::element(dtype::f32, dtype::f16, dtype::bf16, dtype::f64);
        const auto name = *rc::gen::element<std::string>("add", "subtract", "multiply", "divide", "maximum", "pow");
        const list shape = sizes(2);
        bench other(b.state);
        const auto make = [&](bench& on) { return on.c.pointwise("y", name, {on.input("a", type, shape, 0.1, 3), on.input("c", type, shape, 0.1, 3)}); };
        const edge y = make(b), z = make(other);
        other.held = b.held;
        const auto exact = run(b, {y}), typed = run(other, {z}, program::arithmetic::typed);
        for (std::size_t i = 0; i < exact[0].values.size(); ++i) {
            RC_ASSERT(typed[0].values[i] == round_to(type, typed[0].values[i]));
            const double rounded = round_to(type, exact[0].values[i]);
            RC_ASSERT(std::fabs(typed[0].values[i] - rounded) <= std::fabs(rounded) * (type == dtype::bf16 ? 0.008 : type == dtype::f16 ? 0.001 : 0) + (type == dtype::bf16 || type == dtype::f16 ? 1e-7 : 0));
        }
        ++checked["rounding"];
    });
    law("a program at a size is the program of that size, and dead nodes do not count", [] {
        bench b(seed());
        const auto n = *rc::gen::inRange<std::int64_t>(1, 9), width = size();
        const program::builder::size shape[] = {{.number = 512, .symbol = "rows"}, {.number = width}};
        const std::string junk = *rc::gen::element<std::string>("zz", "a0", "m");
        const auto made = [&](bool dead) {
            composer c;
            const edge x = c.input("x", dtype::f32, shape);
            edge y = c.softmax("s", c.pad("padded", x, {2, 0}, {0, 1}, -1), 0);
            y = c.cat("both", {y, c.flip("back", y, 0)}, 1);
            y = c.matmul("product", c.transpose("t", y, 0, 1), y);
            if (dead) c.slice(junk, c.with_number("dead", "multiply", x, 2), 0, 0, 1);
            c.output(y);
            c.output(c.fold("mean", "mean", x, {}, false));
            return std::move(c).finish();
        };
        const auto g = made(false), dead = made(true);
        if (!g || !dead) RC_FAIL(g ? dead.error().line() : g.error().line());
        RC_ASSERT(program::equal_pruned(*g, *dead));
        RC_ASSERT(program::equal_pruned(program::prune(*dead), *g));
        const program::bound_size at{"rows", n};
        const auto fixed = program::specialise(*dead, std::span(&at, 1));
        if (!fixed) RC_FAIL(fixed.error().line());
        const auto bytes = program::to_bytes(dtype::f32, b.values(static_cast<std::size_t>(n * width), -2, 2));
        const program::named_bytes given{"x", bytes};
        const auto p = program::evaluate(*g, std::span(&given, 1), std::span(&at, 1)), q = program::evaluate(*fixed, std::span(&given, 1));
        if (!p || !q) RC_FAIL(p ? q.error().line() : p.error().line());
        for (std::size_t o = 0; o < 2; ++o) {
            RC_ASSERT((*p)[o].shape == (*q)[o].shape);
            RC_ASSERT((*p)[o].values == (*q)[o].values);
        }
        ++checked["specialise, prune"];
    });
    law("sizes are functions of the symbol", [] {
        const auto term = [] { return *rc::gen::inRange<std::int64_t>(-9, 10); };
        extent e = extent(term());
        std::vector<std::int64_t> v(program::largest_symbol_size);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] = e.number();
        for (int step = 0; step < 5; ++step) {
            const auto k = term();
            const int what = *rc::gen::inRange(0, 5);
            const extent other = what == 1 ? extent::symbol() : extent(k);
            e = what < 2 ? e + other : what == 2 ? e - extent::symbol() : what == 3 ? (e.largest() < 1 << 20 && e.least() > -(1 << 20) ? e * extent::symbol() : e) : e / extent(std::abs(k) + 1);
            const bool grown = what == 3 && (e.bad() || e.largest() != *std::max_element(v.begin(), v.end()) || e.least() != *std::min_element(v.begin(), v.end()));
            for (std::size_t i = 0; i < v.size(); ++i) {
                const auto s = static_cast<std::int64_t>(i) + 1;
                if (what < 2) v[i] += what == 1 ? s : k;
                else if (what == 2) v[i] -= s;
                else if (what == 3 && grown) v[i] *= s;
                else if (what == 4) v[i] = v[i] >= 0 ? v[i] / (std::abs(k) + 1) : -((-v[i] + std::abs(k)) / (std::abs(k) + 1));
            }
            if (what == 3) break;
        }
        for (std::size_t i = 0; i < v.size(); i += 97) RC_ASSERT(e.at(static_cast<std::int64_t>(i) + 1) == v[i]);
        ++checked["extents"];
    });
    for (const auto& [name, count] : checked) std::cout << "  " << name << ": " << count << " programs\n";
}
