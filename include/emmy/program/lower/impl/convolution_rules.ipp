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

/// Axes behind the channels, with what a window step does to each.
struct window_plan {
    std::int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
    std::vector<std::int64_t> taps;
    bool transposed = false;
};

/// All windows side by side, [N, groups, taps · C / groups, positions] (without the groups' axis when there is one): taps outermost, zeros outside.
inline node_id windows(rewriter& r, node_id n, const window_plan& plan, std::int64_t channels) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id x = w.input(n, 0);
    const std::size_t spatial = plan.taps.size(), lead = plan.groups > 1 ? 2 : 1;
    const std::int64_t per_group = channels / plan.groups;
    std::int64_t all_taps = 1;
    for (const std::int64_t t : plan.taps) all_taps *= t;
    const expr_id row = r.c.at(lead), flat = r.c.at(lead + 1);
    expr_id channel = r.c.remainder(row, r.c.number(per_group));
    if (plan.groups > 1) channel = r.c.add(r.c.multiply(r.c.at(1), r.c.number(per_group)), channel);
    rewriter::source taken{0, {r.c.at(0), channel}, no_expr};
    const bool outside = plan.padding > 0 || plan.transposed;
    expr_id tap = r.c.divide(row, r.c.number(per_group)), positions = r.c.number(1);
    std::vector<expr_id> position(spatial), offset(spatial);
    for (std::size_t i = spatial; i-- > 0;) {
        const dim length = w.dims(n)[2 + i];
        position[i] = r.c.divide(flat, positions);
        offset[i] = r.c.divide(tap, r.c.number(1));
        if (i > 0) position[i] = r.c.remainder(position[i], r.c.extent(length)), offset[i] = r.c.remainder(tap, r.c.number(plan.taps[i]));
        tap = r.c.divide(tap, r.c.number(plan.taps[i]));
        positions = r.c.multiply(r.c.extent(length), positions);
    }
    for (std::size_t i = 0; i < spatial; ++i) {
        const expr_id reach = r.c.multiply(offset[i], r.c.number(plan.dilation)), zero = r.c.number(0), length = r.c.extent(w.dims(x)[2 + i]);
        expr_id at = plan.transposed ? r.c.subtract(r.c.add(position[i], r.c.number(plan.padding)), reach)
                                     : r.c.add(r.c.add(r.c.multiply(position[i], r.c.number(plan.stride)), reach), r.c.number(-plan.padding));
        if (outside) {
            expr_id inside = r.c.compare(binary_op::greater_equal, at, zero);
            if (plan.transposed && plan.stride > 1) {
                inside = r.c.both(inside, r.c.compare(binary_op::equal, r.c.remainder(at, r.c.number(plan.stride)), zero));
                at = r.c.divide(at, r.c.number(plan.stride));
            }
            inside = r.c.both(inside, r.c.compare(binary_op::less, at, length));
            taken.select = taken.select == no_expr ? inside : r.c.both(taken.select, inside);
        }
        taken.coordinates.push_back(at);
    }
    if (outside)
        for (std::size_t i = 0; i < spatial; ++i) taken.coordinates[2 + i] = r.c.choose(taken.select, taken.coordinates[2 + i], r.c.number(0));
    std::vector<dim> sizes{w.dims(n)[0]};
    if (plan.groups > 1) sizes.push_back(number_dim(plan.groups));
    sizes.push_back(number_dim(all_taps * per_group));
    sizes.push_back(r.c.as_dim(positions, w.dims(n)[2]));
    const range shape = w.make_shape(sizes);
    if (!outside) return r.map(o + "_cols", x, shape, taken.coordinates);
    const node_id zero = w.number(o + "_cols_zero", 0, w.type(x));
    const rewriter::source both[] = {taken, {1, {r.c.number(0)}, no_expr}};
    return w.add(o + "_cols", op::index_map, r.map_attrs(shape, both), {x, zero}, w.type(x), shape);
}

/// A layout operator on the weight: a step of its binding where it is a checkpoint tensor.
inline node_id turned_weight(rewriter& r, const std::string& wanted, node_id x, std::span<const std::int64_t> axes) {
    workspace& w = r.w;
    std::vector<dim> sizes;
    for (const std::int64_t axis : axes) sizes.push_back(w.dims(x)[static_cast<std::size_t>(axis)]);
    return w.add(wanted, op::transpose, w.axes_attrs(axes), {x}, w.type(x), w.make_shape(sizes));
}
inline node_id reshaped(rewriter& r, const std::string& wanted, node_id x, std::span<const dim> sizes) {
    const range shape = r.w.make_shape(sizes);
    return r.w.add(wanted, op::reshape, r.w.make_attrs({{.key = attr::shape, .kind = attr_kind::extents, .list = shape}}), {x}, r.w.type(x), shape);
}

/// Windows times the weight as a matrix, [N, O, positions]; groups are a batch.
inline result<void> lower_windows(rewriter& r, node_id n, bool transposed) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node weight_free = w.g.nodes[n];
    window_plan plan{w.g.integer(weight_free, attr::stride), w.g.integer(weight_free, attr::padding), w.g.integer(weight_free, attr::dilation), w.g.integer(weight_free, attr::groups), {}, transposed};
    const node_id x = w.input(n, 0);
    node_id weight = w.input(n, 1);
    const std::vector<dim> ws = w.sizes(weight), os = w.sizes(n);
    std::int64_t taps = 1;
    for (std::size_t i = 2; i < ws.size(); ++i) plan.taps.push_back(ws[i].number), taps *= ws[i].number;
    const std::int64_t channels = w.dims(x)[1].number, filters = os[1].number, groups = plan.groups;
    const bool bias = w.input_count(n) == 3;
    const node_id bias_node = bias ? w.input(n, 2) : no_node;
    const node_id columns = windows(r, n, plan, channels);
    if (transposed) {  // [C, O/g, K] -> [g, C/g, O/g, K] -> [g, O/g, K, C/g]
        weight = reshaped(r, o + "_w_groups", weight, std::array{number_dim(groups), number_dim(channels / groups), number_dim(filters / groups), number_dim(taps)});
        weight = turned_weight(r, o + "_wt", weight, std::array<std::int64_t, 4>{0, 2, 3, 1});
    } else {  // [O, C/g, taps..] -> [O, taps.., C/g]
        std::vector<std::int64_t> axes{0};
        for (std::size_t i = 2; i < ws.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
        axes.push_back(1);
        weight = turned_weight(r, o + "_wt", weight, axes);
    }
    std::vector<dim> matrix;
    if (groups > 1) matrix.push_back(number_dim(groups));
    matrix.push_back(number_dim(filters / groups));
    matrix.push_back(number_dim(taps * channels / groups));
    weight = reshaped(r, o + "_wm", weight, matrix);
    std::vector<dim> sizes = w.sizes(columns);
    sizes[sizes.size() - 2] = number_dim(filters / groups);
    const bool direct = groups == 1 && plan.taps.size() == 1;  // the product is the result
    if (direct && !bias) {
        w.become(n, op::matmul, {}, {weight, columns});
        return {};
    }
    node_id result = w.add(o + "_mm", op::matmul, {}, {weight, columns}, w.type(n), w.make_shape(sizes));
    if (!direct) {
        if (!bias) {
            w.become(n, op::reshape, w.make_attrs({{.key = attr::shape, .kind = attr_kind::extents, .list = w.shape(n)}}), {result});
            return {};
        }
        result = reshaped(r, o + "_view", result, os);
    }
    w.become_pointwise(n, "add", {result, r.map(w.tensor_name(bias_node) + "_bc", bias_node, w.shape(n), {r.c.at(1)})});
    return {};
}

inline result<void> lower_conv1d(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::int64_t groups = w.g.integer(w.g.nodes[n], attr::groups);
    const dim channels = w.dims(w.input(n, 0))[1], filters = w.dims(n)[1];
    if (groups == channels.number && filters.number == groups) return lower_depthwise(r, n);
    return lower_windows(r, n, false);
}
inline result<void> lower_conv2d(rewriter& r, node_id n) { return lower_windows(r, n, false); }
inline result<void> lower_conv_transpose1d(rewriter& r, node_id n) { return lower_windows(r, n, true); }

}  // namespace emmy::program::detail
