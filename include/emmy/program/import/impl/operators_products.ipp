#pragma once
#include <emmy/program/import/impl/site.ipp>

namespace emmy::program::pt2::detail {

inline void linear(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("input"), w = s.tensor("weight");
    if (c.rank(w) == 2 && c.rank(x) >= 2) return s.out(c.linear(s.id, x, w, s.maybe("bias")));
    if (c.rank(w) != 2) return s.refuse("weight", "found a weight of rank " + std::to_string(c.rank(w)) + ", expected a matrix");
    s.out(c.reshape(s.id, c.linear(s.id + "_row", c.unsqueeze(s.id + "_x", x, 0), w, s.maybe("bias")), s.out_shape()));
}
inline void matmul(site& s, std::string_view a, std::string_view b) {
    composer& c = s.c();
    if (s.has("out_dtype") && s.type("out_dtype", dtype::f32) != s.out_type()) return s.refuse("out_dtype", "found another type than the result's");
    s.out(c.matmul(s.id, s.tensor(a), s.tensor(b), s.out_type()));
}
inline void addmm(site& s, std::string_view a, std::string_view b) { s.out(s.c().addmm(s.id, s.tensor("self"), s.tensor(a), s.tensor(b), s.number("beta", 1), s.number("alpha", 1))); }
inline void outer(site& s) {
    composer& c = s.c();
    s.out(c.pointwise(s.id, "multiply", {c.unsqueeze(s.id + "_a", s.tensor("self"), 1), c.unsqueeze(s.id + "_b", s.tensor("vec2"), 0)}, s.out_type()));
}
inline void einsum(site& s) { s.out(s.c().einsum(s.id, s.text("equation"), s.tensors("tensors"))); }

inline void attention(site& s) {
    composer& c = s.c();
    if (s.number("dropout_p", 0) != 0) return s.refuse("dropout_p", "found a dropout, expected 0");
    const edge q = s.tensor("query"), k = s.tensor("key"), v = s.tensor("value");
    auto mask = s.maybe("attn_mask");
    if (mask && c.type(*mask) != dtype::boolean && c.type(*mask) != dtype::f32 && c.type(*mask) != c.type(q)) mask = c.cast(s.id + "_mask", *mask, dtype::f32);
    s.out(c.attention(s.id, q, k, v, mask, s.boolean("is_causal"), std::nullopt, s.has("scale") ? std::optional(s.number("scale")) : std::nullopt));
}

/// One step, padding and dilation an axis; a single number serves all.
inline std::vector<std::int64_t> per_axis(site& s, std::string_view name, std::size_t axes, std::int64_t usual) {
    std::vector<std::int64_t> out = s.has(name) ? (s.find(name)->kind == argument_kind::integer ? std::vector<std::int64_t>{s.integer(name)} : s.integers(name)) : std::vector<std::int64_t>{usual};
    if (out.empty()) out = {usual};
    if (out.size() == 1) out.resize(axes, out[0]);
    if (out.size() != axes) s.refuse(name, "found " + std::to_string(out.size()) + " numbers, expected " + std::to_string(axes));
    return out;
}
inline void convolution(site& s) {
    composer& c = s.c();
    edge x = s.tensor("input");
    const edge w = s.tensor("weight");
    if (c.rank(x) < 2 || c.rank(w) < 3) return s.refuse("input", "found a tensor of rank " + std::to_string(c.rank(x)) + ", expected [N,C,spatial..]");
    const std::size_t axes = c.rank(w) - 2;
    const bool batched = c.rank(x) == c.rank(w);
    if (!batched) x = c.unsqueeze(s.id + "_batch", x, 0);
    if (s.boolean("transposed")) {
        if (axes != 1) return s.refuse("transposed", "found a transposed convolution over " + std::to_string(axes) + " axes, expected one");
        return s.out(c.conv_transpose1d(s.id, x, w, s.maybe("bias"), per_axis(s, "stride", 1, 1)[0], per_axis(s, "padding", 1, 0)[0], per_axis(s, "output_padding", 1, 0)[0], per_axis(s, "dilation", 1, 1)[0], s.integer("groups", 1)));
    }
    const std::vector<std::int64_t> dilation = per_axis(s, "dilation", axes, 1);
    composer::window how{per_axis(s, "stride", axes, 1), {}, dilation};
    if (const argument* p = s.find("padding"); p && p->kind == argument_kind::text) {
        how.padding.assign(axes, 0);
        const sizes taps = c.shape(w);
        for (std::size_t i = 0; p->text == "same" && i < axes; ++i) {
            const extent reach = (taps[2 + i] - extent(1)) * extent(dilation[i]);
            if (!reach.is_number() || reach.number() % 2 != 0) return s.refuse("padding", "found same beside an even window, expected an odd one");
            how.padding[i] = reach.number() / 2;
        }
        if (p->text != "same" && p->text != "valid") return s.refuse("padding", "found " + std::string(p->text) + ", expected same or valid");
    } else {
        how.padding = per_axis(s, "padding", axes, 0);
    }
    const edge made = c.convolution(batched ? s.id : s.id + "_batched", x, w, s.maybe("bias"), how, s.integer("groups", 1));
    s.out(batched ? made : c.squeeze(s.id, made, {0}));
}
inline void conv_transpose1d(site& s) {
    s.out(s.c().conv_transpose1d(s.id, s.tensor("input"), s.tensor("weight"), s.maybe("bias"), per_axis(s, "stride", 1, 1)[0], per_axis(s, "padding", 1, 0)[0], per_axis(s, "output_padding", 1, 0)[0],
                                 per_axis(s, "dilation", 1, 1)[0], s.integer("groups", 1)));
}
inline void pool(site& s, std::size_t axes, bool largest) {
    if (s.boolean("ceil_mode")) return s.refuse("ceil_mode", "found true, expected false");
    if (!largest && !s.boolean("count_include_pad", true)) return s.refuse("count_include_pad", "found false, expected true");
    if (s.has("divisor_override")) return s.refuse("divisor_override", "found a divisor, expected none");
    const std::vector<std::int64_t> taps = per_axis(s, "kernel_size", axes, 1);
    std::vector<std::int64_t> stride = s.has("stride") && !(s.find("stride")->kind == argument_kind::integers && s.find("stride")->items.empty()) ? per_axis(s, "stride", axes, 1) : taps;
    s.out(s.c().pool(s.id, s.tensor("self"), taps, {stride, per_axis(s, "padding", axes, 0), per_axis(s, "dilation", axes, 1)}, largest));
}

}  // namespace emmy::program::pt2::detail
