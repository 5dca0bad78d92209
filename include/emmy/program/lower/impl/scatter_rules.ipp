#pragma once
#include <emmy/program/lower/impl/einsum_rules.ipp>

namespace emmy::program::detail {

/// Every place of the data asks every index along the axis whether it means this place: [data.., J]. With a function the values that do are folded and
/// joined to the data; without one the last of them is read. Work is data times indices: for routing tables, not for caches.
inline result<void> lower_scatter(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id data = w.input(n, 0), index = w.input(n, 1), values = w.input(n, 2);
    const std::vector<dim> ds = w.sizes(data), is = w.sizes(index);
    EMMY_TRY(axis, w.axis_of(n, w.g.integer(w.g.nodes[n], attr::axis), ds.size()));
    const attribute* written = w.g.find(w.g.nodes[n], attr::reduce_fn);
    const std::string function = written ? std::string(w.g.text(written->text)) : std::string();
    for (std::size_t i = 0; i < ds.size(); ++i)
        if (is.size() != ds.size() || (i != axis && !same_extent(is[i], ds[i]))) return refuse(w.wrong(n, "no lowering for a scatter whose index is narrower than the data", fault_kind::user));
    if (ds[axis].kind != dim::form::number || is[axis].kind != dim::form::number) return refuse(w.wrong(n, "no lowering for a scatter along a symbolic axis", fault_kind::user));
    const dtype type = w.type(n), whole = w.type(index);
    const std::size_t rank = ds.size();
    std::vector<dim> sizes = ds;
    sizes.push_back(is[axis]);
    const range all = w.make_shape(sizes);
    sizes.back() = number_dim(1);
    const range folded = w.make_shape(sizes);
    const auto ramp = [&](const std::string& wanted, std::int64_t count, std::size_t at) {
        const range shape = w.make_shape(std::vector<dim>{number_dim(count)});
        const attribute stop{.key = attr::stop, .kind = attr_kind::integer, .number = {literal::form::integer, count, 0}};
        const attribute kind{.key = attr::dtype, .kind = attr_kind::dtype, .text = w.g.names.intern(token(whole))};
        const node_id made = w.add(wanted, op::range, whole == dtype::i64 ? w.make_attrs({stop}) : w.make_attrs({stop, kind}), edges{}, whole, shape);
        return r.map(wanted + "_bc", made, all, {r.c.at(at)});
    };
    const auto spread = [&](const std::string& wanted, node_id x) {
        std::vector<expr_id> coordinates = r.identity(rank);
        coordinates[axis] = r.c.at(rank);
        return r.map(wanted, x, all, std::move(coordinates));
    };
    const auto squeezed = [&](const std::string& wanted, node_id x) {
        std::vector<expr_id> coordinates = r.identity(rank);
        coordinates.push_back(r.c.number(0));
        return r.map(wanted, x, w.shape(n), std::move(coordinates));
    };
    node_id asked = spread(o + "_index", index);
    if (facts(whole).is_signed) {  // negative ones count from the end
        EMMY_TRY(zero, r.number(n, o + "_zero", 0, whole, all));
        EMMY_TRY(extent, r.number(n, o + "_extent", static_cast<double>(ds[axis].number), whole, all));
        const node_id negative = w.pointwise(o + "_negative", "less", {asked, zero}, dtype::boolean, all);
        const node_id wrapped = w.pointwise(o + "_wrapped", "add", {asked, extent}, whole, all);
        asked = w.pointwise(o + "_place", "where", {negative, wrapped, asked}, whole, all);
    }
    const node_id hit = w.pointwise(o + "_hit", "equal", {asked, ramp(o + "_axis", ds[axis].number, axis)}, dtype::boolean, all);
    if (function.empty()) {
        EMMY_TRY(none, r.number(n, o + "_none", -1, dtype::f32, all));
        const node_id order = w.pointwise(o + "_order", "copy", {ramp(o + "_step", is[axis].number, rank)}, dtype::f32, all);
        const node_id candidates = w.pointwise(o + "_candidates", "where", {hit, order, none}, dtype::f32, all);
        const node_id last = squeezed(o + "_last", w.add(o + "_last_max", op::reduce, w.fold_attrs("maximum", -1), {candidates}, dtype::f32, folded));
        EMMY_TRY(first, r.number(n, o + "_first", 0, dtype::f32, w.shape(n)));
        const node_id kept = w.pointwise(o + "_kept", "maximum", {last, first}, dtype::f32, w.shape(n));
        const node_id place = w.pointwise(o + "_read", "copy", {kept}, dtype::i32, w.shape(n));
        const attribute by{.key = attr::axis, .kind = attr_kind::integer, .number = {literal::form::integer, static_cast<std::int64_t>(axis), 0}};
        const node_id read = w.add(o + "_value", op::gather, axis == 0 ? range{} : w.make_attrs({by}), {values, place}, w.type(values), w.shape(n));
        const node_id any = w.pointwise(o + "_any", "greater_equal", {last, first}, dtype::boolean, w.shape(n));
        w.become_pointwise(n, "where", {any, read, data});
        return {};
    }
    const bool sum = function == "sum" || function == "add", product = function == "prod" || function == "multiply", top = function == "maximum" || function == "amax";
    if (is_integer(type)) return refuse(w.wrong(n, "no lowering for a scatter that folds integers", fault_kind::user));  // folds are f32
    EMMY_TRY(idle, r.number(n, o + "_idle", sum ? 0.0 : product ? 1.0 : top ? -1e30 : 1e30, is_half(type) ? dtype::f32 : type, all));
    const node_id picked = w.pointwise(o + "_picked", "where", {hit, spread(o + "_values", values), idle}, is_half(type) ? dtype::f32 : type, all);
    const std::string_view fold = sum ? "sum" : product ? "prod" : top ? "maximum" : "minimum";
    const node_id made = squeezed(o + "_folded", w.add(o + "_reduce", op::reduce, w.fold_attrs(fold, -1), {picked}, w.type(picked), folded));
    w.become_pointwise(n, sum ? "add" : product ? "multiply" : fold, {data, made});
    return {};
}

}  // namespace emmy::program::detail
