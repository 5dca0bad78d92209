#pragma once
#include <emmy/program/compose.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

/// The operators of --op that are composed: what each takes and which composition it is.
namespace emmy::program::detail {

/// A setting's value: a number, a word, a list of numbers and symbols.
struct setting_value {
    std::string name;
    literal number = {};
    std::string word = {};
    bool is_list = false;
    std::vector<builder::size> list = {};
    std::size_t offset = 0;
};

/// What a composition sees of one call.
struct call {
    composer& c;
    std::string_view id;
    const std::vector<edge>& x;
    const std::vector<setting_value>& settings;
    std::string_view function;  ///< the operator's name

    const setting_value* find(std::string_view name) const {
        for (const setting_value& s : settings)
            if (s.name == name) return &s;
        return nullptr;
    }
    std::optional<edge> at(std::size_t i) const { return i < x.size() ? std::optional(x[i]) : std::nullopt; }
    std::int64_t whole(std::string_view name, std::int64_t fallback) const {
        const setting_value* s = find(name);
        if (!s) return fallback;
        return s->number.kind == literal::form::real ? static_cast<std::int64_t>(std::clamp(s->number.real, -1e12, 1e12)) : s->number.integer;
    }
    std::optional<std::int64_t> may_whole(std::string_view name) const { return find(name) ? std::optional(whole(name, 0)) : std::nullopt; }
    double real(std::string_view name, double fallback) const {
        const setting_value* s = find(name);
        return s ? s->number.as_double() : fallback;
    }
    std::optional<double> may_real(std::string_view name) const { return find(name) ? std::optional(real(name, 0)) : std::nullopt; }
    bool flag(std::string_view name) const { return whole(name, 0) != 0; }
    std::string_view word(std::string_view name, std::string_view fallback) const {
        const setting_value* s = find(name);
        return s ? std::string_view(s->word) : fallback;
    }
    dtype type(std::string_view name) const { return dtype_from_alias(word(name, "")); }
    /// One number stands for a list of one.
    composer::list list(std::string_view name) const {
        composer::list out;
        const setting_value* s = find(name);
        if (s && !s->is_list) out.push_back(whole(name, 0));
        else if (s) for (const builder::size& v : s->list) out.push_back(v.number);
        return out;
    }
    composer::sizes sizes(std::string_view name) const {
        composer::sizes out;
        if (const setting_value* s = find(name))
            for (const builder::size& v : s->list) out.push_back(v.symbol.empty() ? extent(v.number) : extent::symbol());
        return out;
    }
    /// A number for every spatial axis, or one each.
    composer::list spatial(std::string_view name, std::int64_t fallback, std::size_t axes) const {
        const setting_value* s = find(name);
        if (s && s->is_list) return list(name);
        return composer::list(axes, whole(name, fallback));
    }
    composer::window window(std::size_t axes) const { return {spatial("stride", 1, axes), spatial("padding", 0, axes), spatial("dilation", 1, axes)}; }
};

struct composed_op {
    std::string_view name;
    std::uint8_t least, most;    ///< tensors
    std::string_view tensors;    ///< their names where none is given; "*": a weight, the last name serves all further ones
    std::string_view settings;   ///< their names; "!": must be given
    edge (*make)(const call&);
};

inline edge pooled(const call& a, bool largest) {
    const std::size_t axes = a.c.rank(a.x[0]) < 2 ? 0 : a.c.rank(a.x[0]) - 2;
    const composer::list taps = a.spatial("kernel_size", 1, axes);
    composer::window how = a.window(axes);
    if (!a.find("stride")) how.stride = taps;
    return a.c.pool(a.id, a.x[0], taps, how, largest);
}
inline edge convolved(const call& a, std::size_t axes) { return a.c.convolution(a.id, a.x[0], a.x[1], a.at(2), a.window(axes), a.whole("groups", 1)); }
inline edge folded(const call& a, std::string_view name) { return a.c.fold(a.id, name, a.x[0], a.list(a.find("dim") ? "dim" : "dims"), a.flag("keepdim"), a.type("dtype")); }
inline edge dequantised(const call& a, std::string_view form) { return a.c.dequantise(a.id, form, a.x[0], a.x[1], a.at(2), a.find("dtype") ? a.type("dtype") : dtype::f32); }
inline edge activated(const call& a, std::string_view name, std::string_view number) { return a.c.activation(a.id, name, a.x[0], a.may_real(number)); }
inline edge padded(const call& a) {  // pairs from the last axis on
    const composer::list pads = a.list("pads");
    composer::list before(a.c.rank(a.x[0]), 0), after = before;
    if (pads.size() % 2 != 0 || pads.size() / 2 > before.size()) return a.c.pad(a.id, a.x[0], {}, {}, 0);
    for (std::size_t i = 0; i + 1 < pads.size(); i += 2) {
        before[before.size() - 1 - i / 2] = pads[i];
        after[after.size() - 1 - i / 2] = pads[i + 1];
    }
    return a.c.pad(a.id, a.x[0], before, after, a.real("value", 0));
}
inline edge flattened(const call& a) {
    const composer::sizes from = a.c.shape(a.x[0]);
    const auto rank = static_cast<std::int64_t>(from.size());
    const auto axis = [&](std::int64_t v) { return v < 0 ? v + rank : v; };
    const std::int64_t first = axis(a.whole("start_dim", 0)), last = axis(a.whole("end_dim", -1));
    if (first < 0 || last >= rank || first > last) return a.c.squeeze(a.id, a.x[0], {rank});  // names the axis
    composer::sizes to(from.begin(), from.begin() + first);
    to.push_back(count_of(std::span(from).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1))));
    to.insert(to.end(), from.begin() + last + 1, from.end());
    return a.c.reshape(a.id, a.x[0], to);
}

inline constexpr composed_op composed_table[] = {
    {"to", 1, 1, "x", "!dtype", [](const call& a) { return a.c.map(a.id, {{a.x[0], [&] { std::vector<std::string> c; for (std::size_t i = 0; i < a.c.rank(a.x[0]); ++i) c.push_back("out_coord_" + std::to_string(i)); return c; }()}}, a.type("dtype"), a.c.shape(a.x[0])); }},
    {"bitcast", 1, 1, "x", "!dtype", [](const call& a) { return a.c.bitcast(a.id, a.x[0], a.type("dtype")); }},
    {"add", 1, 2, "x0 x1", "alpha other", [](const call& a) { return a.x.size() == 1 ? a.c.with_number(a.id, "add", a.x[0], a.real("other", 0) * a.real("alpha", 1), a.c.type(a.x[0])) : a.c.add(a.id, a.x[0], a.x[1], a.real("alpha", 1)); }},
    {"subtract", 1, 2, "x0 x1", "alpha other", [](const call& a) { return a.x.size() == 1 ? a.c.with_number(a.id, "subtract", a.x[0], a.real("other", 0) * a.real("alpha", 1), a.c.type(a.x[0])) : a.c.subtract(a.id, a.x[0], a.x[1], a.real("alpha", 1)); }},
    {"rsub", 1, 2, "x0 x1", "alpha other", [](const call& a) {
         if (a.x.size() == 2) return a.c.subtract(a.id, a.x[1], a.x[0], a.real("alpha", 1));
         return a.c.pointwise(a.id, "subtract", {a.c.literal(std::string(a.id) + "_c", a.real("other", 1), a.c.type(a.x[0])), a.x[0]}, a.c.type(a.x[0]));
     }},
    {"multiply", 1, 1, "x", "!other", [](const call& a) { return a.c.with_number(a.id, "multiply", a.x[0], a.real("other", 1), a.c.type(a.x[0])); }},
    {"pow", 1, 1, "x", "!other", [](const call& a) { return a.c.with_number(a.id, "pow", a.x[0], a.real("other", 1), a.c.type(a.x[0])); }},
    {"divide", 1, 2, "x0 x1", "rounding_mode other", [](const call& a) { return a.c.divide(a.id, a.x[0], a.x.size() == 2 ? a.x[1] : a.c.literal(std::string(a.id) + "_c", a.real("other", 1), a.c.type(a.x[0])), a.word("rounding_mode", "")); }},
    {"masked_fill", 2, 2, "x mask", "value", [](const call& a) { return a.c.masked_fill(a.id, a.x[0], a.x[1], a.real("value", 0)); }},
    {"clamp", 1, 1, "x", "min max", [](const call& a) { return a.c.clamp(a.id, a.x[0], a.may_real("min"), a.may_real("max")); }},
    {"leaky_relu", 1, 1, "x", "negative_slope", [](const call& a) { return activated(a, "leaky_relu", "negative_slope"); }},
    {"elu", 1, 1, "x", "alpha", [](const call& a) { return activated(a, "elu", "alpha"); }},
    {"softplus", 1, 1, "x", "!beta", [](const call& a) { return activated(a, "softplus", "beta"); }},
    {"quick_gelu", 1, 1, "x", "", [](const call& a) { return activated(a, "quick_gelu", ""); }},
    {"mish", 1, 1, "x", "", [](const call& a) { return activated(a, "mish", ""); }},
    {"hardswish", 1, 1, "x", "", [](const call& a) { return activated(a, "hardswish", ""); }},
    {"hardsigmoid", 1, 1, "x", "", [](const call& a) { return activated(a, "hardsigmoid", ""); }},
    {"relu6", 1, 1, "x", "", [](const call& a) { return activated(a, "relu6", ""); }},
    {"gelu", 1, 1, "x", "!approximate", [](const call& a) { return activated(a, a.word("approximate", "") == "tanh" ? "gelu_tanh" : "gelu", ""); }},
    {"glu", 1, 1, "x", "dim", [](const call& a) { return a.c.glu(a.id, a.x[0], a.whole("dim", -1)); }},
    {"swiglu", 1, 1, "x", "dim", [](const call& a) { return a.c.glu(a.id, a.x[0], a.whole("dim", -1), "silu"); }},
    {"permute", 1, 1, "x", "!dims", [](const call& a) { return a.c.permute(a.id, a.x[0], a.list("dims")); }},
    {"transpose", 1, 1, "x", "dim0 dim1", [](const call& a) { return a.c.transpose(a.id, a.x[0], a.whole("dim0", -2), a.whole("dim1", -1)); }},
    {"reshape", 1, 1, "x", "!shape", [](const call& a) { return a.c.reshape(a.id, a.x[0], a.sizes("shape")); }},
    {"flatten", 1, 1, "x", "start_dim end_dim", flattened},
    {"squeeze", 1, 1, "x", "dim dims", [](const call& a) { return a.c.squeeze(a.id, a.x[0], a.list(a.find("dim") ? "dim" : "dims")); }},
    {"unsqueeze", 1, 1, "x", "!dim", [](const call& a) { return a.c.unsqueeze(a.id, a.x[0], a.whole("dim", 0)); }},
    {"expand", 1, 1, "x", "!shape", [](const call& a) { return a.c.broadcast(a.id, a.x[0], a.sizes("shape")); }},
    {"slice", 1, 1, "x", "dim start end step", [](const call& a) { return a.c.slice(a.id, a.x[0], a.whole("dim", 0), a.whole("start", 0), a.may_whole("end"), a.whole("step", 1)); }},
    {"select", 1, 1, "x", "dim index", [](const call& a) { return a.c.select(a.id, a.x[0], a.whole("dim", 0), a.whole("index", 0)); }},
    {"cat", 1, 64, "x", "dim", [](const call& a) { return a.c.cat(a.id, a.x, a.whole("dim", 0)); }},
    {"stack", 1, 64, "x", "dim", [](const call& a) { return a.c.stack(a.id, a.x, a.whole("dim", 0)); }},
    {"repeat", 1, 1, "x", "!repeats", [](const call& a) { return a.c.repeat(a.id, a.x[0], a.list("repeats")); }},
    {"repeat_interleave", 1, 1, "x", "!repeats dim", [](const call& a) { return a.c.repeat_interleave(a.id, a.x[0], a.whole("repeats", 1), a.whole("dim", 0)); }},
    {"roll", 1, 1, "x", "!shifts dim", [](const call& a) { return a.c.roll(a.id, a.x[0], a.whole("shifts", 0), a.whole("dim", 0)); }},
    {"flip", 1, 1, "x", "dim", [](const call& a) { return a.c.flip(a.id, a.x[0], a.whole("dim", 0)); }},
    {"pad", 1, 1, "x", "!pads value", padded},
    {"slice_scatter", 2, 2, "x part", "dim start", [](const call& a) { return a.c.slice_scatter(a.id, a.x[0], a.x[1], a.whole("dim", 0), a.whole("start", 0)); }},
    {"triu", 1, 1, "x", "diagonal", [](const call& a) { return a.c.triangle(a.id, a.x[0], true, a.whole("diagonal", 0)); }},
    {"tril", 1, 1, "x", "diagonal", [](const call& a) { return a.c.triangle(a.id, a.x[0], false, a.whole("diagonal", 0)); }},
    {"gather", 2, 2, "x index", "dim", [](const call& a) { return a.c.gather(a.id, a.x[0], a.whole("dim", 0), a.x[1]); }},
    {"index_select", 2, 2, "x index", "dim", [](const call& a) { return a.c.index_select(a.id, a.x[0], a.whole("dim", 0), a.x[1]); }},
    {"embedding", 2, 2, "ids *weight", "", [](const call& a) { return a.c.index_select(a.id, a.x[1], 0, a.x[0]); }},
    {"one_hot", 1, 1, "ids", "!classes", [](const call& a) { return a.c.one_hot(a.id, a.x[0], a.whole("classes", 1)); }},
    {"sum", 1, 1, "x", "dim dims keepdim dtype", [](const call& a) { return folded(a, "sum"); }},
    {"mean", 1, 1, "x", "dim dims keepdim dtype", [](const call& a) { return folded(a, "mean"); }},
    {"prod", 1, 1, "x", "dim dims keepdim dtype", [](const call& a) { return folded(a, "prod"); }},
    {"amax", 1, 1, "x", "dim dims keepdim", [](const call& a) { return folded(a, "amax"); }},
    {"amin", 1, 1, "x", "dim dims keepdim", [](const call& a) { return folded(a, "amin"); }},
    {"var", 1, 1, "x", "dim dims correction keepdim", [](const call& a) { return a.c.variance(a.id, a.x[0], a.list(a.find("dim") ? "dim" : "dims"), a.real("correction", 1), a.flag("keepdim"), false); }},
    {"std", 1, 1, "x", "dim dims correction keepdim", [](const call& a) { return a.c.variance(a.id, a.x[0], a.list(a.find("dim") ? "dim" : "dims"), a.real("correction", 1), a.flag("keepdim"), true); }},
    {"argmax", 1, 1, "x", "dim keepdim", [](const call& a) { return a.c.argmax(a.id, a.x[0], a.whole("dim", -1), a.flag("keepdim")); }},
    {"argmin", 1, 1, "x", "dim keepdim", [](const call& a) { return a.c.argmax(a.id, a.x[0], a.whole("dim", -1), a.flag("keepdim"), true); }},
    {"cumsum", 1, 1, "x", "dim dtype", [](const call& a) { return a.c.cumsum(a.id, a.x[0], a.whole("dim", -1), a.type("dtype")); }},
    {"softmax", 1, 1, "x", "dim !dtype", [](const call& a) { return a.c.softmax(a.id, a.x[0], a.whole("dim", -1), a.type("dtype")); }},
    {"log_softmax", 1, 1, "x", "dim", [](const call& a) { return a.c.log_softmax(a.id, a.x[0], a.whole("dim", -1)); }},
    {"layer_norm", 1, 3, "x *weight *bias", "axes eps", [](const call& a) { return a.c.layer_norm(a.id, a.x[0], static_cast<std::size_t>(a.whole("axes", 1)), a.at(1), a.at(2), a.real("eps", 1e-5)); }},
    {"rms_norm", 1, 2, "x *weight", "!axes eps", [](const call& a) { return a.c.rms_norm(a.id, a.x[0], static_cast<std::size_t>(a.whole("axes", 1)), a.at(1), a.real("eps", 1e-6)); }},
    {"group_norm", 1, 3, "x *weight *bias", "!groups eps", [](const call& a) { return a.c.group_norm(a.id, a.x[0], a.whole("groups", 1), a.at(1), a.at(2), a.real("eps", 1e-5)); }},
    {"matmul", 2, 2, "x0 x1", "!dtype", [](const call& a) { return a.c.matmul(a.id, a.x[0], a.x[1], a.type("dtype")); }},
    {"bmm", 2, 2, "x0 x1", "", [](const call& a) { return a.c.matmul(a.id, a.x[0], a.x[1]); }},
    {"addmm", 3, 3, "c a b", "alpha beta", [](const call& a) { return a.c.addmm(a.id, a.x[0], a.x[1], a.x[2], a.real("beta", 1), a.real("alpha", 1)); }},
    {"einsum", 1, 8, "x", "!equation", [](const call& a) { return a.c.einsum(a.id, a.word("equation", ""), a.x); }},
    {"conv1d", 2, 3, "x *weight *bias", "stride padding dilation groups", [](const call& a) { return convolved(a, 1); }},
    {"conv2d", 2, 3, "x *weight *bias", "stride padding dilation groups", [](const call& a) { return convolved(a, 2); }},
    {"conv_transpose1d", 2, 3, "x *weight *bias", "stride padding output_padding dilation groups", [](const call& a) { return a.c.conv_transpose1d(a.id, a.x[0], a.x[1], a.at(2), a.whole("stride", 1), a.whole("padding", 0), a.whole("output_padding", 0), a.whole("dilation", 1), a.whole("groups", 1)); }},
    {"max_pool", 1, 1, "x", "!kernel_size stride padding dilation", [](const call& a) { return pooled(a, true); }},
    {"avg_pool", 1, 1, "x", "!kernel_size stride padding", [](const call& a) { return pooled(a, false); }},
    {"attention", 3, 4, "q k v mask", "is_causal sliding_window scale", [](const call& a) { return a.c.attention(a.id, a.x[0], a.x[1], a.x[2], a.at(3), a.flag("is_causal"), a.may_whole("sliding_window"), a.may_real("scale")); }},
    {"rotary", 3, 3, "x cos sin", "interleaved", [](const call& a) { return a.c.rotary(a.id, a.x[0], a.x[1], a.x[2], a.flag("interleaved")); }},
    {"route", 2, 2, "logits kept", "", [](const call& a) { return a.c.route(a.id, a.x[0], a.x[1]); }},
    {"dequantise_int8", 2, 3, "codes scale zero", "dtype", [](const call& a) { return dequantised(a, "int8"); }},
    {"dequantise_uint8", 2, 3, "codes scale zero", "dtype", [](const call& a) { return dequantised(a, "uint8"); }},
    {"dequantise_int4", 2, 3, "codes scale zero", "dtype", [](const call& a) { return dequantised(a, "int4"); }},
    {"dequantise_fp8", 2, 2, "codes scale", "dtype", [](const call& a) { return dequantised(a, "fp8"); }},
    {"dequantise_fp4", 2, 2, "codes scale", "dtype", [](const call& a) { return dequantised(a, "fp4"); }},
};
inline const composed_op* find_composed(std::string_view name) {
    for (const composed_op& o : composed_table)
        if (o.name == name) return &o;
    return nullptr;
}

}  // namespace emmy::program::detail
