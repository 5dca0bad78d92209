#pragma once
#include <emmy/program/import/impl/site.ipp>

namespace emmy::program::pt2::detail {

inline std::vector<std::int64_t> fold_axes(site& s) {
    const argument* a = s.find("dim");
    if (!a) return {};
    return a->kind == argument_kind::integer ? std::vector<std::int64_t>{s.integer("dim")} : s.integers("dim");
}
inline void fold(site& s, std::string_view name) {
    composer& c = s.c();
    edge x = s.tensor("self");
    const dtype out = s.out_type();
    if (is_floating(out) && c.type(x) != out) x = is_integer(c.type(x)) ? c.pointwise(s.id + "_real", "copy", {x}, out) : byte_size(out) > byte_size(c.type(x)) ? c.cast(s.id + "_wide", x, out) : x;
    s.out(c.fold(s.id, name, x, fold_axes(s), s.boolean("keepdim"), out));
}
/// any, all: the largest or least of 0 and 1.
inline void truth(site& s, std::string_view name) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    const edge is = c.type(x) == dtype::boolean ? x : c.with_number(s.id + "_is", "not_equal", x, 0);
    const edge ones = c.pointwise(s.id + "_ones", "copy", {is}, dtype::f32);
    s.out(c.with_number(s.id, "greater", c.fold(s.id + "_fold", name, ones, fold_axes(s), s.boolean("keepdim"), dtype::f32), 0.5, dtype::boolean));
}
inline void largest(site& s, bool least) {  // values, then places
    composer& c = s.c();
    const edge x = s.tensor("self");
    const std::int64_t dim = s.integer("dim");
    s.out(c.fold(s.id, least ? "amin" : "amax", x, {dim}, s.boolean("keepdim"), c.type(x)));
    if (s.is_read(1)) s.out(c.argmax(s.id + "_places", x, dim, s.boolean("keepdim"), least));
}
inline void argmax(site& s, bool least) {
    composer& c = s.c();
    edge x = s.tensor("self");
    if (s.has("dim")) return s.out(c.argmax(s.id, x, s.integer("dim"), s.boolean("keepdim"), least));
    if (s.boolean("keepdim")) return s.refuse("keepdim", "found it without dim, expected an axis");
    x = c.reshape(s.id + "_flat", x, {extent(-1)});
    s.out(c.argmax(s.id, x, 0, false, least));
}
inline void variance(site& s, bool root) {
    const double correction = s.has("unbiased") ? (s.boolean("unbiased") ? 1 : 0) : s.number("correction", 1);
    s.out(s.c().variance(s.id, s.tensor("self"), fold_axes(s), correction, s.boolean("keepdim"), root));
}
inline void variance_and_mean(site& s) {
    s.out(s.c().variance(s.id, s.tensor("self"), fold_axes(s), s.number("correction", 1), s.boolean("keepdim"), false));
    s.out(s.c().fold(s.id + "_mean", "mean", s.tensor("self"), fold_axes(s), s.boolean("keepdim"), s.out_type(1)));
}
inline void norm(site& s, std::string_view order) {
    composer& c = s.c();
    const dtype out = s.out_type();
    const double p = s.number(order, 2);
    const edge x = s.tensor("self"), w = c.type(x) == dtype::f16 || c.type(x) == dtype::bf16 ? c.cast(s.id + "_wide", x, dtype::f32) : x;
    if (p == 2) {
        const edge sum = c.fold(s.id + "_sum", "sum", c.pointwise(s.id + "_sq", "multiply", {w, w}), fold_axes(s), s.boolean("keepdim"));
        return s.out(c.pointwise(s.id, "sqrt", {sum}, out));
    }
    if (p == 1) return s.out(c.cast(s.id, c.fold(s.id + "_sum", "sum", c.pointwise(s.id + "_abs", "abs", {w}), fold_axes(s), s.boolean("keepdim")), out));
    s.refuse(order, "found the order " + std::to_string(p) + ", expected 1 or 2");
}
inline void cumsum(site& s) {
    composer& c = s.c();
    edge x = s.tensor("self");
    const dtype out = s.out_type();
    if (c.type(x) != out && is_integer(c.type(x)) == is_integer(out)) x = c.cast(s.id + "_wide", x, out);
    s.out(c.cumsum(s.id, x, s.integer("dim"), out));
}
inline void softmax(site& s) {
    composer& c = s.c();
    edge x = s.tensor("self");
    const dtype out = s.out_type();
    if (c.type(x) != out) x = c.cast(s.id + "_wide", x, out);
    s.out(c.softmax(s.id, x, s.integer("dim"), out));
}
inline void log_softmax(site& s) {
    composer& c = s.c();
    edge x = s.tensor("self");
    if (c.type(x) != s.out_type()) x = c.cast(s.id + "_wide", x, s.out_type());
    s.out(c.log_softmax(s.id, x, s.integer("dim")));
}
/// The normed axes are the last ones and have the sizes that the call names.
inline std::size_t normed_axes(site& s, edge x) {
    const sizes named = s.extents("normalized_shape"), have = s.c().shape(x);
    bool fits = named.size() <= have.size();
    for (std::size_t i = 0; fits && i < named.size(); ++i) fits = named[i] == have[have.size() - named.size() + i];
    if (!fits) s.refuse("normalized_shape", "found other sizes than the tensor's last ones");
    return named.size();
}
inline double usual_eps(dtype t) { return t == dtype::f16 ? 0.0009765625 : t == dtype::bf16 ? 0.0078125 : t == dtype::f64 ? 2.220446049250313e-16 : 1.1920928955078125e-07; }
inline void rms_norm(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("input");
    const std::size_t axes = normed_axes(s, x);
    s.out(c.rms_norm(s.id, x, axes, s.maybe("weight"), s.has("eps") ? s.number("eps") : usual_eps(c.type(x))));
}
inline void layer_norm(site& s) {
    const edge x = s.tensor("input");
    const std::size_t axes = normed_axes(s, x);
    s.out(s.c().layer_norm(s.id, x, axes, s.maybe("weight"), s.maybe("bias"), s.number("eps", 1e-5)));
}
inline void group_norm(site& s, std::string_view groups) { s.out(s.c().group_norm(s.id, s.tensor("input"), s.integer(groups), s.maybe("weight"), s.maybe("bias"), s.number("eps", 1e-5))); }
/// Statistics of the checkpoint: x scaled and shifted by channel.
inline void batch_norm(site& s) {
    composer& c = s.c();
    if (s.boolean("training")) return s.refuse("training", "found true, expected a module in eval()");
    const edge x = s.tensor("input");
    const dtype out = s.out_type(), wide = out == dtype::f16 || out == dtype::bf16 ? dtype::f32 : out;
    const auto channel = [&](edge e, std::string_view suffix) {
        for (std::size_t i = 2; i < c.rank(x); ++i) e = c.unsqueeze(s.id + std::string(suffix) + std::to_string(i), e, -1);
        return c.cast(s.id + std::string(suffix) + "_wide", e, wide);
    };
    if (!s.has("running_mean") || !s.has("running_var")) return s.refuse("running_mean", "found none, expected running statistics");
    const edge centred = c.pointwise(s.id + "_centred", "subtract", {c.cast(s.id + "_wide", x, wide), channel(s.tensor("running_mean"), "_mean")});
    const edge inverse = c.pointwise(s.id + "_rsq", "rsqrt", {c.with_number(s.id + "_eps", "add", channel(s.tensor("running_var"), "_var"), s.number("eps", 1e-5))});
    edge now = c.pointwise(s.id + "_norm", "multiply", {centred, inverse});
    if (const auto w = s.maybe("weight")) now = c.pointwise(s.id + "_scaled", "multiply", {now, channel(*w, "_w")});
    if (const auto b = s.maybe("bias")) now = c.pointwise(s.id + "_shifted", "add", {now, channel(*b, "_b")});
    s.out(c.cast(s.id, now, out));
}

}  // namespace emmy::program::pt2::detail
