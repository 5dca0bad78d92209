#pragma once
#include <emmy/program/lower/impl/value_rules.ipp>

/// Rules for products of matrices and what is made of them.
namespace emmy::program::detail {

/// x · wᵀ (+ b): the weight turned, then a matmul.
inline result<void> lower_linear(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id x = w.input(n, 0), weight = w.input(n, 1);
    if (w.dims(weight).size() != 2) return refuse(w.wrong(n, "found a weight of rank " + std::to_string(w.dims(weight).size()) + ", expected a matrix"));
    const range turned = w.make_shape(std::array{w.dims(weight)[1], w.dims(weight)[0]});
    w.g.integers.insert(w.g.integers.end(), {-2, -1});
    const range axes{static_cast<std::uint32_t>(w.g.integers.size() - 2), 2};
    const node_id wt = w.add(o + "_wt", op::transpose, w.make_attrs({{.key = attr::axes, .kind = attr_kind::integers, .list = axes}}), {weight}, w.type(weight), turned);
    if (w.input_count(n) == 2) {
        w.become(n, op::matmul, {}, {x, wt});
        return {};
    }
    const node_id product = w.add(o + "_mm", op::matmul, {}, {x, wt}, w.type(n), w.shape(n));
    EMMY_TRY(bias, r.broadcast(n, w.input(n, 2), w.shape(n)));
    w.become_pointwise(n, "add", {product, bias});
    return {};
}

/// Both operands spread to [batch.., M, K, N], multiplied, summed over K. Products of f16 and bf16 are f32.
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
    const auto misfit = [&](const char* what) { return refuse(w.wrong(n, std::string("found operands that do not fit together (") + what + "), expected [.., M, K] times [.., K, N]")); };
    if (as.empty() || bs.size() < 2) return misfit("ranks");
    const bool vector = as.size() == 1;
    if (os.size() != (vector ? bs.size() - 1 : std::max(as.size(), bs.size()))) return misfit("ranks");
    if (!same_extent(as.back(), bs[bs.size() - 2])) return misfit("inner sizes");
    if (!same_extent(os.back(), bs.back()) || (!vector && !same_extent(os[os.size() - 2], as[as.size() - 2]))) return misfit("rows and columns");
    std::vector<dim> all = os;  // [batch.., M, K, N]
    all.insert(all.end() - 1, as.back());
    const range whole = w.make_shape(all);
    std::vector<dim> wide = as;
    wide.push_back(number_dim(1));
    const node_id left = r.map(o + "_a_unsq", a, w.make_shape(wide), r.identity(as.size()));
    node_id right = b;
    if (!vector) {
        wide = bs;
        wide.insert(wide.end() - 2, number_dim(1));
        std::vector<expr_id> coordinates = r.identity(bs.size());
        coordinates[bs.size() - 2] = r.c.at(bs.size() - 1);
        coordinates[bs.size() - 1] = r.c.at(bs.size());
        right = r.map(o + "_b_unsq", b, w.make_shape(wide), std::move(coordinates));
    }
    EMMY_TRY(left_all, r.broadcast(n, left, whole));
    EMMY_TRY(right_all, r.broadcast(n, right, whole));
    const node_id product = w.pointwise(o + "_ew", "multiply", {left_all, right_all}, is_half(w.type(n)) ? dtype::f32 : w.type(n), whole);
    all[all.size() - 2] = number_dim(1);
    const node_id sum = w.add(o + "_reduce", op::reduce, w.fold_attrs("sum", -2), {product}, w.type(n), w.make_shape(all));
    std::vector<expr_id> coordinates = r.identity(os.size());
    coordinates.insert(coordinates.end() - 1, r.c.number(0));
    r.become_map(n, sum, std::move(coordinates));
    return {};
}

/// Heads of k and v are shared by g heads of q: head h reads h / g.
inline result<node_id> share_heads(rewriter& r, node_id n, const std::string& wanted, node_id x, node_id q) {
    workspace& w = r.w;
    const std::size_t rank = w.dims(x).size();
    if (rank < 3 || w.dims(q).size() < 3) return x;
    const dim theirs = w.dims(x)[rank - 3], ours = w.dims(q)[w.dims(q).size() - 3];
    if (same_extent(theirs, ours)) return x;
    if (theirs.kind != dim::form::number || ours.kind != dim::form::number || ours.number % theirs.number != 0)
        return refuse(w.wrong(n, "found heads of q that are no multiple of those of k and v, expected whole groups"));
    std::vector<dim> sizes = w.sizes(x);
    sizes[rank - 3] = ours;
    std::vector<expr_id> coordinates = r.identity(rank);
    coordinates[rank - 3] = r.c.divide(coordinates[rank - 3], r.c.number(ours.number / theirs.number));
    return r.map(wanted, x, w.make_shape(sizes), std::move(coordinates));
}

/// Scores, scale, masks and softmax in f32; only the result is rounded.
inline result<void> lower_sdpa(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id q = w.input(n, 0), k = w.input(n, 1), v = w.input(n, 2);
    const std::vector<dim> qs = w.sizes(q), ks = w.sizes(k);
    if (qs.size() < 2 || ks.size() < 2 || w.dims(v).size() < 2) return refuse(w.wrong(n, "found operands of rank below 2, expected [.., length, width]"));
    const dtype type = w.type(n), math = type == dtype::f64 ? dtype::f64 : dtype::f32;
    const dim width = qs.back();
    const attribute* given_scale = w.g.find(w.g.nodes[n], attr::scale);
    if (given_scale == nullptr && width.kind != dim::form::number) return refuse(w.wrong(n, "found heads of symbolic width, expected a number or a scale"));
    const double scale = given_scale ? given_scale->number.as_double() : 1 / std::sqrt(static_cast<double>(width.number));
    w.g.integers.insert(w.g.integers.end(), {-2, -1});
    const range axes{static_cast<std::uint32_t>(w.g.integers.size() - 2), 2};
    std::vector<dim> turned = ks;
    std::swap(turned[ks.size() - 1], turned[ks.size() - 2]);
    const node_id kt = w.add(o + "_kt", op::transpose, w.make_attrs({{.key = attr::axes, .kind = attr_kind::integers, .list = axes}}), {k}, w.type(k), w.make_shape(turned));
    EMMY_TRY(keys, share_heads(r, n, o + "_kt_gqa", kt, q));
    std::vector<dim> sizes = qs;
    sizes.back() = ks[ks.size() - 2];
    const range scores = w.make_shape(sizes);
    node_id at = w.add(o + "_qk", op::matmul, {}, {q, keys}, type, scores);
    EMMY_TRY(factor, r.number(n, o + "_scale", scale, math, scores));
    at = w.pointwise(o + "_scaled", "multiply", {at, factor}, math, scores);
    if (w.input_count(n) > 3) {
        const node_id given = w.input(n, 3);
        EMMY_TRY(mask, r.broadcast(n, given, scores));
        if (w.type(given) == dtype::boolean) {  // true: attend
            EMMY_TRY(fill, r.number(n, o + "_mask_fill", -1e9, math, scores));
            at = w.pointwise(o + "_masked", "where", {mask, at, fill}, math, scores);
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
    const node_id p = w.add(o + "_softmax", op::softmax, {}, {at}, math, scores);
    EMMY_TRY(values, share_heads(r, n, o + "_v_gqa", v, q));
    w.become(n, op::matmul, {}, {p, values});
    return {};
}

}  // namespace emmy::program::detail
