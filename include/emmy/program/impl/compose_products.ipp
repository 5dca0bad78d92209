#pragma once
#include <emmy/program/compose.hpp>

namespace emmy::program {

EMMY_DECL edge composer::linear(std::string_view id, edge x, edge w, std::optional<edge> b) {
    std::vector<edge> in{x, w};
    if (b) in.push_back(*b);
    return emit(id, op::linear, in, type(x), {flag(attr::has_bias, b.has_value())});
}
EMMY_DECL edge composer::matmul(std::string_view id, edge a, edge b, dtype type) {
    const std::string n(id);
    if (failed()) return {0, 0};
    if (type == dtype::none) type = this->type(a);
    const bool row = rank(a) == 1, column = rank(b) == 1;
    if (row) a = unsqueeze(n + "_row", a, 0);
    if (column) b = unsqueeze(n + "_column", b, 1);
    if (!row && !column) return emit(id, op::matmul, {a, b}, type);
    const edge made = emit(n + "_mm", op::matmul, {a, b}, type);
    list dropped;
    if (row) dropped.push_back(-2);
    if (column) dropped.push_back(-1);
    return squeeze(id, made, dropped);
}
/// beta c + alpha a b, rounded once.
EMMY_DECL edge composer::addmm(std::string_view id, edge c, edge a, edge b, double beta, double alpha) {
    const std::string n(id);
    if (failed()) return {0, 0};
    const dtype out = type(a);
    if (beta == 1 && alpha == 1 && rank(c) == 1) return emit(id, op::matmul, {a, b, c}, out, {flag(attr::has_bias, true)});
    edge product = matmul(n + "_mm", a, b, half(out) ? dtype::f32 : out);
    if (alpha != 1) product = with_number(n + "_scaled", "multiply", product, alpha);
    if (beta == 0) return half(out) ? cast(id, product, out) : with_number(id, "multiply", product, 1);
    edge added = wide(n + "_c", c);
    if (beta != 1) added = with_number(n + "_beta", "multiply", added, beta);
    return pointwise(id, "add", {product, added}, out);
}
EMMY_DECL edge composer::einsum(std::string_view id, std::string_view equation, std::vector<edge> operands) {
    if (failed() || operands.empty()) return fail(id, "found no operand, expected one at least");
    const dtype out = type(operands[0]);
    return emit(id, op::einsum, std::move(operands), out, {{.key = attr::equation, .text = std::string(equation)}});
}

/// [N, C, taps.., positions..]: what each tap of each position reads; `positions` are the results' spatial sizes.
EMMY_DECL edge composer::windows(std::string_view id, edge x, const list& taps, const window& how, double outside, sizes& positions) {
    const sizes from = shape(x);
    const std::size_t spatial = taps.size();
    if (failed()) return {0, 0};
    if (from.size() != spatial + 2 || how.stride.size() != spatial || how.padding.size() != spatial || how.dilation.size() != spatial)
        return fail(id, "found windows of another rank, expected [N,C,spatial..]");
    sizes out{from[0], from[1]};
    for (const std::int64_t t : taps) out.emplace_back(t);
    std::vector<std::string> at{place(0), place(1)};
    std::string inside;
    positions.clear();
    constexpr std::int64_t most = 1 << 20;
    for (std::size_t i = 0; i < spatial; ++i) {
        if (how.stride[i] < 1 || how.padding[i] < 0 || how.dilation[i] < 1 || taps[i] < 1)
            return fail(id, "found a stride, padding, dilation or window below 1, 0, 1, 1, expected more");
        if (how.stride[i] > most || how.padding[i] > most || how.dilation[i] > most || taps[i] > most)
            return fail(id, "found a stride, padding, dilation or window above 2^20, expected less");
        positions.push_back((from[2 + i] + extent(2 * how.padding[i]) - extent(how.dilation[i] * (taps[i] - 1) + 1)) / extent(how.stride[i]) + extent(1));
        out.push_back(positions.back());
        std::string c = place(2 + spatial + i);
        if (how.stride[i] != 1) c += " * " + std::to_string(how.stride[i]);
        if (taps[i] > 1) c += " + " + place(2 + i) + (how.dilation[i] != 1 ? " * " + std::to_string(how.dilation[i]) : "");
        if (how.padding[i] == 0) {
            at.push_back(c);
            continue;
        }
        const std::string lo = std::to_string(how.padding[i]),
                          test = c + " >= " + lo + " && " + c + " < " + (from[2 + i] + extent(how.padding[i])).text(symbol_);
        at.push_back("(" + test + ") ? " + c + " - " + lo + " : 0");
        inside += (inside.empty() ? "" : " && ") + test;
    }
    if (inside.empty()) return map(id, {{x, at}}, type(x), out);
    return map(id, {{x, at, inside}, {literal(std::string(id) + "_outside", outside, type(x)), {"0"}}}, type(x), out);
}
EMMY_DECL edge composer::convolution(std::string_view id, edge x, edge w, std::optional<edge> b, window how, std::int64_t groups) {
    const std::string n(id);
    const sizes from = shape(x), weight = shape(w);
    if (failed()) return {0, 0};
    const std::size_t spatial = from.size() - 2;
    if (from.size() < 3 || spatial > 2 || weight.size() != from.size() || how.stride.size() != spatial || how.padding.size() != spatial ||
        how.dilation.size() != spatial)
        return fail(id, "found a convolution of another rank, expected x [N,C,L] or [N,C,H,W] with its weight and one stride, padding and dilation an axis");
    const dtype out = type(x);
    const auto uniform = [](const list& l) { return l.size() == 1 || l[0] == l[1]; };
    if (uniform(how.stride) && uniform(how.padding) && uniform(how.dilation)) {
        std::vector<edge> in{x, w};
        if (b) in.push_back(*b);
        return emit(
            id, spatial == 1 ? op::conv1d : op::conv2d, in, out,
            {whole(attr::stride, how.stride[0]), whole(attr::padding, how.padding[0]), whole(attr::dilation, how.dilation[0]), whole(attr::groups, groups)});
    }
    // Other steps down and across: a product of the windows.
    for (const extent& e : weight)
        if (!e.is_number()) return fail(id, "found a symbolic weight, expected numbers");
    if (groups < 1 || weight[0].number() % groups != 0 || !(from[1] == weight[1] * extent(groups)))
        return fail(id, "found groups that do not divide the channels, expected a divisor");
    sizes positions;
    const edge cols = windows(n + "_windows", x, {weight[2].number(), weight[3].number()}, how, 0, positions);
    if (failed()) return {0, 0};
    const extent depth = weight[1] * weight[2] * weight[3], cells = program::count_of(positions), each = weight[0] / extent(groups);
    const edge a = reshape(n + "_weight", w, {extent(1), extent(groups), each, depth}),
               c = reshape(n + "_columns", cols, {from[0], extent(groups), depth, cells});
    edge made = matmul(n + "_mm", a, c, half(out) ? dtype::f32 : out);
    sizes shape{from[0], weight[0], positions[0], positions[1]};
    if (!b) return half(out) ? cast(id, reshape(n + "_sum", made, shape), out) : reshape(id, made, shape);
    return pointwise(id, "add", {reshape(n + "_sum", made, shape), unsqueeze(n + "_b2", unsqueeze(n + "_b1", *b, -1), -1)}, out);
}
EMMY_DECL edge composer::conv_transpose1d(std::string_view id, edge x, edge w, std::optional<edge> b, std::int64_t stride, std::int64_t padding,
                                          std::int64_t output_padding, std::int64_t dilation, std::int64_t groups) {
    const sizes from = shape(x), weight = shape(w);
    if (failed()) return {0, 0};
    if (from.size() != 3 || weight.size() != 3) return fail(id, "found a convolution of another rank, expected x [N,C,L] and a weight [C,O,taps]");
    const sizes out{from[0], weight[1] * extent(groups),
                    (from[2] - extent(1)) * extent(stride) + extent(dilation) * (weight[2] - extent(1)) + extent(1 - 2 * padding + output_padding)};
    std::vector<edge> in{x, w};
    if (b) in.push_back(*b);
    return emit(id, op::conv_transpose1d, in, type(x),
                {whole(attr::stride, stride), whole(attr::padding, padding), whole(attr::dilation, dilation), whole(attr::groups, groups)}, &out);
}
EMMY_DECL edge composer::pool(std::string_view id, edge x, list taps, window how, bool largest) {
    const std::string n(id);
    const sizes from = shape(x);
    if (failed()) return {0, 0};
    if (taps.empty()) return fail(id, "found a tensor of rank " + std::to_string(from.size()) + ", expected [N,C,spatial..]");
    sizes positions;
    const dtype out = type(x);
    double count = 1;
    for (const std::int64_t t : taps) count *= static_cast<double>(t);
    const edge read = windows(n + "_windows", largest ? x : wide(n + "_wide", x), taps, how, largest ? -1e30 : 0, positions);
    list axes;
    for (std::size_t i = 0; i < taps.size(); ++i) axes.push_back(static_cast<std::int64_t>(2 + i));
    if (largest) return fold(id, "amax", read, axes, false);
    return with_number(id, "divide", fold(n + "_sum", "sum", read, axes, false), count, out);
}

}  // namespace emmy::program
