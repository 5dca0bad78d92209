#pragma once
#include <emmy/program/lower/impl/value_rules.ipp>

/// Rules for products of matrices and what is made of them.
namespace emmy::program::detail {

/// x · wᵀ (+ b): the weight turned, then a matmul.
inline result<void> lower_linear(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id x = w.input(n, 0), weight = w.input(n, 1);
    const range turned = w.make_shape(std::array{w.dims(weight)[1], w.dims(weight)[0]});
    const node_id wt = w.add(o + "_wt", op::transpose, w.axes_attrs({-2, -1}), {weight}, w.type(weight), turned);
    if (w.input_count(n) == 2) {
        w.become(n, op::matmul, {}, {x, wt});
        return {};
    }
    const node_id product = w.add(o + "_mm", op::matmul, {}, {x, wt}, w.type(n), w.shape(n));
    EMMY_TRY(bias, r.broadcast(n, w.input(n, 2), w.shape(n)));
    w.become_pointwise(n, "add", {product, bias});
    return {};
}

/// Both operands spread to [batch.., M, K, N], multiplied, summed over K. Products of f16 and bf16 are f32. A vector operand has no M, or no N.
inline result<void> lower_matmul(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id a = w.input(n, 0), b = w.input(n, 1);
    if (w.input_count(n) == 3) {
        const node_id product = w.add(o + "_mm", op::matmul, {}, {a, b}, w.type(n), w.shape(n));
        EMMY_TRY(bias, r.broadcast(n, w.input(n, 2), w.shape(n)));
        w.become_pointwise(n, "add", {product, bias});
        return {};
    }
    const std::vector<dim> as = w.sizes(a), bs = w.sizes(b), os = w.sizes(n);
    const bool row = as.size() == 1, column = bs.size() == 1;
    std::vector<dim> all = os;  // [batch.., M, K, N]
    all.insert(all.end() - (column ? 0 : 1), as.back());
    const range whole = w.make_shape(all);
    node_id left = a, right = b;
    if (!column) {
        std::vector<dim> wide = as;
        wide.push_back(number_dim(1));
        left = r.map(o + "_a_unsq", a, w.make_shape(wide), r.identity(as.size()));
    }
    if (!row && !column) {
        std::vector<dim> wide = bs;
        wide.insert(wide.end() - 2, number_dim(1));
        std::vector<expr_id> coordinates = r.identity(bs.size());
        coordinates[bs.size() - 2] = r.c.at(bs.size() - 1);
        coordinates[bs.size() - 1] = r.c.at(bs.size());
        right = r.map(o + "_b_unsq", b, w.make_shape(wide), std::move(coordinates));
    }
    EMMY_TRY(left_all, r.broadcast(n, left, whole));
    EMMY_TRY(right_all, r.broadcast(n, right, whole));
    const node_id product = w.pointwise(o + "_ew", "multiply", {left_all, right_all}, is_half(w.type(n)) ? dtype::f32 : w.type(n), whole);
    const std::int64_t inner = column ? -1 : -2;
    *(all.end() + inner) = number_dim(1);
    const node_id sum = w.add(o + "_reduce", op::reduce, w.fold_attrs("sum", inner), {product}, w.type(n), w.make_shape(all));
    std::vector<expr_id> coordinates = r.identity(os.size());
    coordinates.insert(coordinates.end() - (column ? 0 : 1), r.c.number(0));
    r.become_map(n, sum, std::move(coordinates));
    return {};
}

/// Heads of k and v are shared by g heads of q: head h reads h / g.
inline node_id share_heads(rewriter& r, const std::string& wanted, node_id x, node_id q, std::int64_t groups) {
    workspace& w = r.w;
    if (groups == 1) return x;
    std::vector<dim> sizes = w.sizes(x);
    const std::size_t heads = sizes.size() - 3;
    sizes[heads] = w.dims(q)[heads];
    std::vector<expr_id> coordinates = r.identity(sizes.size());
    coordinates[heads] = r.c.divide(coordinates[heads], r.c.number(groups));
    return r.map(wanted, x, w.make_shape(sizes), std::move(coordinates));
}

/// Scores, scale, masks and softmax in f32; only the result is rounded.
inline result<void> lower_sdpa(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id q = w.input(n, 0), k = w.input(n, 1), v = w.input(n, 2);
    const std::vector<dim> qs = w.sizes(q), ks = w.sizes(k);
    const std::int64_t groups = sdpa_groups(w.g, w.g.nodes[n]);
    const std::uint32_t mask_place = sdpa_mask(w.g, w.g.nodes[n]);
    const dtype type = w.type(n), math = type == dtype::f64 ? dtype::f64 : dtype::f32;
    const dim width = qs.back();
    const attribute* given_scale = w.g.find(w.g.nodes[n], attr::scale);
    if (given_scale == nullptr && width.kind != dim::form::number) return refuse(w.wrong(n, "found heads of symbolic width, expected a number or a scale"));
    const double scale = given_scale ? given_scale->number.as_double() : 1 / std::sqrt(static_cast<double>(width.number));
    std::vector<dim> turned = ks;
    std::swap(turned[ks.size() - 1], turned[ks.size() - 2]);
    const node_id kt = w.add(o + "_kt", op::transpose, w.axes_attrs({-2, -1}), {k}, w.type(k), w.make_shape(turned));
    const node_id keys = share_heads(r, o + "_kt_gqa", kt, q, groups);
    std::vector<dim> sizes = qs;
    sizes.back() = ks[ks.size() - 2];
    const range scores = w.make_shape(sizes);
    node_id at = w.add(o + "_qk", op::matmul, {}, {q, keys}, type, scores);
    EMMY_TRY(factor, r.number(n, o + "_scale", scale, math, scores));
    at = w.pointwise(o + "_scaled", "multiply", {at, factor}, math, scores);
    node_id kept_mask = no_node;
    if (mask_place != 0) {
        const node_id given = w.input(n, mask_place);
        EMMY_TRY(mask, r.broadcast(n, given, scores));
        if (w.type(given) == dtype::boolean) {  // true: attend
            EMMY_TRY(fill, r.number(n, o + "_mask_fill", -1e9, math, scores));
            at = w.pointwise(o + "_masked", "where", {mask, at, fill}, math, scores);
            kept_mask = mask;
        } else {
            at = w.pointwise(o + "_masked", "add", {at, mask}, math, scores);
        }
    }
    const std::size_t rank = sizes.size();
    const expr_id i = r.c.at(rank - 2), j = r.c.at(rank - 1);
    const auto select = [&](char kind, expr_id kept, expr_id lost) {  // 0 where kept, else -1e9, added
        const std::string suffix(1, kind);
        const node_id zero = w.number(o + "_mask_zero_" + suffix, 0, type), fill = w.number(o + "_mask_fill_" + suffix, -1e9, type);
        const rewriter::source both[] = {{0, {r.c.number(0)}, kept}, {1, {r.c.number(0)}, lost}};
        const node_id mask = w.add(o + "_" + suffix + "mask", op::index_map, r.map_attrs(scores, both), {zero, fill}, type, scores);
        at = w.pointwise(o + "_masked_" + suffix, "add", {at, mask}, math, scores);
    };
    if (w.g.boolean(w.g.nodes[n], attr::is_causal)) select('c', r.c.compare(binary_op::less_equal, j, i), r.c.compare(binary_op::greater, j, i));
    if (const attribute* window = w.g.find(w.g.nodes[n], attr::sliding_window)) {
        const std::int64_t width_kept = window->number.integer;
        const dim length = qs[rank - 2];
        if (length.kind != dim::form::number || width_kept < length.number) {
            const expr_id edge = r.c.subtract(i, r.c.number(width_kept));
            select('b', r.c.compare(binary_op::greater, j, edge), r.c.compare(binary_op::less_equal, j, edge));
        }
    }
    node_id p = w.add(o + "_softmax", op::softmax, {}, {at}, math, scores);
    if (kept_mask != no_node) {  // a row that keeps nothing gives 0
        EMMY_TRY(nothing, r.number(n, o + "_mask_none", 0, math, scores));
        p = w.pointwise(o + "_kept", "where", {kept_mask, p, nothing}, math, scores);
    }
    w.become(n, op::matmul, {}, {p, share_heads(r, o + "_v_gqa", v, q, groups)});
    return {};
}

}  // namespace emmy::program::detail
