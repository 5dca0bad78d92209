#pragma once
#include <emmy/program/lower/impl/product_rules.ipp>

/// Rules for convolutions: windows read through maps, then products.
namespace emmy::program::detail {

/// One channel a filter: a sum over the taps, written out.
inline result<void> lower_depthwise(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node& self = w.g.nodes[n];
    const std::int64_t stride = w.g.integer(self, attr::stride), padding = w.g.integer(self, attr::padding), dilation = w.g.integer(self, attr::dilation);
    const node_id x = w.input(n, 0), weight = w.input(n, 1);
    const range shape = w.shape(n);
    const dtype type = w.type(n);
    const std::int64_t taps = w.dims(weight)[2].number;
    const expr_id length = r.c.extent(w.dims(x)[2]);
    const bool bias = w.input_count(n) == 3;
    node_id sum = no_node;
    for (std::int64_t t = 0; t < taps; ++t) {
        const std::string number = std::to_string(t);
        const expr_id at = r.c.add(r.c.multiply(r.c.at(2), r.c.number(stride)), r.c.number(t * dilation - padding));
        node_id window = no_node;
        if (padding == 0) {
            window = r.map(o + "_win" + number, x, shape, {r.c.at(0), r.c.at(1), at});
        } else {
            const node_id zero = w.number(o + "_win" + number + "_zero", 0, w.type(x));
            const expr_id inside = r.c.both(r.c.compare(binary_op::greater_equal, at, r.c.number(0)), r.c.compare(binary_op::less, at, length));
            const rewriter::source both[] = {{0, {r.c.at(0), r.c.at(1), r.c.choose(inside, at, r.c.number(0))}, inside}, {1, {r.c.number(0)}, no_expr}};
            window = w.add(o + "_win" + number, op::index_map, r.map_attrs(shape, both), {x, zero}, w.type(x), shape);
        }
        const node_id tap = r.map(o + "_w" + number, weight, shape, {r.c.at(1), r.c.number(0), r.c.number(t)});
        const bool only = taps == 1 && !bias, last = t + 1 == taps && !bias;
        if (only) {
            w.become_pointwise(n, "multiply", {window, tap});
            return {};
        }
        const node_id scaled = w.pointwise(o + "_scaled" + number, "multiply", {window, tap}, type, shape);
        if (t == 0) {
            sum = scaled;
        } else if (last) {
            w.become_pointwise(n, "add", {sum, scaled});
            return {};
        } else {
            sum = w.pointwise(o + "_acc" + number, "add", {sum, scaled}, type, shape);
        }
    }
    const node_id b = w.input(n, 2);
    const node_id spread = r.map(w.tensor_name(b) + "_bc", b, shape, {r.c.at(1)});
    w.become_pointwise(n, "add", {sum, spread});
    return {};
}

inline result<void> lower_conv1d(rewriter& r, node_id n) {
    workspace& w = r.w;
    const node_id x = w.input(n, 0), weight = w.input(n, 1);
    if (w.dims(x).size() != 3 || w.dims(weight).size() != 3 || w.dims(n).size() != 3) return refuse(w.wrong(n, "found operands of another rank, expected [N, C, L] and [O, C / groups, K]"));
    const dim channels = w.dims(x)[1], filters = w.dims(weight)[0], taps = w.dims(weight)[2];
    const std::int64_t groups = w.g.integer(w.g.nodes[n], attr::groups);
    if (taps.kind != dim::form::number || channels.kind != dim::form::number || filters.kind != dim::form::number) return refuse(w.wrong(n, "found channels or taps of symbolic size, expected numbers"));
    if (groups == channels.number && filters.number == groups && rewriter::is_one(w.dims(weight)[1])) return lower_depthwise(r, n);
    return refuse(w.wrong(n, "no lowering for torch.conv1d of " + std::to_string(groups) + " groups", fault_kind::user));
}

}  // namespace emmy::program::detail
