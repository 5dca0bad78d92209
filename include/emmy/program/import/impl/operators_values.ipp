#pragma once
#include <emmy/program/import/impl/site.ipp>

#include <cmath>
#include <limits>

namespace emmy::program::pt2::detail {

// Pointwise operators: every builder takes its arguments by name and gives its results to site::out.

inline void unary(site& s, std::string_view name) { s.out(s.c().pointwise(s.id, name, {s.tensor("self")}, s.out_type())); }
/// Functions that integers get in reals.
inline void real_unary(site& s, std::string_view name) {
    edge x = s.tensor("self");
    const dtype out = s.out_type();
    if (is_integer(s.c().type(x))) x = s.c().pointwise(s.id + "_real", "copy", {x}, out);
    s.out(s.c().pointwise(s.id, name, {x}, out));
}
/// Both operands as frameworks promote them: integers beside reals are converted first.
inline void binary_of(site& s, std::string_view name, edge a, edge b) {
    composer& c = s.c();
    const dtype out = s.out_type();
    if (out != dtype::boolean && is_floating(out)) {
        if (is_integer(c.type(a)) && !is_integer(c.type(b))) a = c.pointwise(s.id + "_a", "copy", {a}, out);
        if (is_integer(c.type(b)) && !is_integer(c.type(a))) b = c.pointwise(s.id + "_b", "copy", {b}, out);
    }
    if (out != dtype::boolean && is_integer(out)) {  // bools count
        if (c.type(a) == dtype::boolean) a = c.pointwise(s.id + "_a", "copy", {a}, out);
        if (c.type(b) == dtype::boolean) b = c.pointwise(s.id + "_b", "copy", {b}, out);
    }
    s.out(c.pointwise(s.id, name, {a, b}, out));
}
inline dtype beside(site& s, std::string_view other) {
    if (!s.is_tensor(other)) return s.out_type();
    const dtype t = s.c().type(s.tensor(other));
    return s.out_type() == dtype::boolean ? t : s.out_type();
}
inline void binary(site& s, std::string_view name) {
    const edge a = s.operand("self", beside(s, "other")), b = s.operand("other", beside(s, "self"));
    binary_of(s, name, a, b);
}
/// bools have their own words.
inline void bits(site& s, std::string_view name) {
    const edge a = s.operand("self", beside(s, "other")), b = s.operand("other", beside(s, "self"));
    const bool truth = s.out_type() == dtype::boolean;
    s.out(s.c().pointwise(s.id, truth ? "logical_" + std::string(name) : "bitwise_" + std::string(name), {a, b}, s.out_type()));
}
inline void logical(site& s, std::string_view name) {
    composer& c = s.c();
    const auto truth = [&](edge x, std::string_view suffix) { return c.type(x) == dtype::boolean ? x : c.with_number(s.id + std::string(suffix), "not_equal", x, 0); };
    s.out(c.pointwise(s.id, name, {truth(s.tensor("self"), "_a"), truth(s.tensor("other"), "_b")}, dtype::boolean));
}
inline void add(site& s, bool minus) {
    const double alpha = s.number("alpha", 1);
    if (alpha == 1) return binary(s, minus ? "subtract" : "add");
    const dtype out = s.out_type();
    const edge a = s.operand("self", out), b = s.operand("other", out);
    s.out(minus ? s.c().subtract(s.id, a, b, alpha) : s.c().add(s.id, a, b, alpha));
}
inline void rsub(site& s) {
    composer& c = s.c();
    const dtype out = s.out_type();
    edge a = s.tensor("self");
    const double alpha = s.number("alpha", 1);
    if (alpha != 1) a = c.with_number(s.id + "_scaled", "multiply", c.cast(s.id + "_wide", a, out == dtype::f16 || out == dtype::bf16 ? dtype::f32 : out), alpha);
    binary_of(s, "subtract", s.operand("other", out), a);
}
inline void divide(site& s) {
    composer& c = s.c();
    const std::string_view rounding = s.text("rounding_mode");
    const dtype out = s.out_type();
    edge a = s.operand("self", out), b = s.operand("other", out);
    if (rounding.empty()) {
        if (is_integer(c.type(a))) a = c.pointwise(s.id + "_a", "copy", {a}, out);
        if (is_integer(c.type(b))) b = c.pointwise(s.id + "_b", "copy", {b}, out);
        return s.out(c.pointwise(s.id, "divide", {a, b}, out));
    }
    s.out(c.divide(s.id, a, b, rounding));
}
/// A comparison has its operands' type; a number beside integers is an integer where it can be.
inline void compare(site& s, std::string_view name) { binary(s, name); }

inline void power(site& s) { binary_of(s, "pow", s.operand("self", s.out_type()), s.operand("exponent", s.out_type())); }

inline void to_type(site& s, dtype type) {
    const edge x = s.tensor("self");
    if (s.boolean("copy") && s.c().type(x) == type) return s.out(s.c().pointwise(s.id, "copy", {x}, type));
    s.out(s.c().cast(s.id, x, type));  // itself when it has the type
}
inline void bitcast(site& s) { s.out(s.c().bitcast(s.id, s.tensor("self"), s.out_type())); }

inline void where(site& s) {
    composer& c = s.c();
    const dtype out = s.out_type();
    const edge yes = s.operand("self", out), no = s.operand("other", out);
    edge condition = s.tensor("condition");
    if (c.type(condition) != dtype::boolean) condition = c.with_number(s.id + "_truth", "not_equal", condition, 0);
    const auto typed = [&](edge e, std::string_view suffix) { return is_integer(c.type(e)) != is_integer(out) ? c.pointwise(s.id + std::string(suffix), "copy", {e}, out) : e; };
    s.out(c.pointwise(s.id, "where", {condition, typed(yes, "_yes"), typed(no, "_no")}, out));
}
inline void masked_fill(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    edge value = s.operand("value", c.type(x));
    if (is_integer(c.type(value)) != is_integer(c.type(x))) value = c.pointwise(s.id + "_value", "copy", {value}, c.type(x));
    s.out(c.pointwise(s.id, "where", {s.tensor("mask"), value, x}, s.out_type()));
}
inline void clamp(site& s) {
    composer& c = s.c();
    edge x = s.tensor("self");
    const dtype out = s.out_type();
    const bool low = s.has("min"), high = s.has("max");
    if (!low && !high) return s.refuse("min", "found neither a least nor a largest value, expected one");
    if (is_integer(c.type(x)) && is_floating(out)) x = c.pointwise(s.id + "_real", "copy", {x}, out);
    const auto bound = [&](std::string_view name, std::size_t k) { return s.is_tensor(name) ? s.tensor(name) : c.literal(s.id + "_bound" + std::to_string(k), s.number(name), out); };
    if (low) x = c.pointwise(high ? s.id + "_lo" : s.id, "maximum", {x, bound("min", 0)}, out);
    if (high) x = c.pointwise(s.id, "minimum", {x, bound("max", low ? 1 : 0)}, out);
    s.out(x);
}
inline void gelu(site& s) {
    const std::string_view how = s.text("approximate");
    if (!how.empty() && how != "none" && how != "tanh") return s.refuse("approximate", "found " + std::string(how) + ", expected none or tanh");
    unary(s, how == "tanh" ? "gelu_tanh" : "gelu");
}
inline void activation(site& s, std::string_view name, std::string_view setting = {}, double usual = 0) {
    std::optional<double> number;
    if (!setting.empty() && s.has(setting) && s.number(setting) != usual) number = s.number(setting);
    s.out(s.c().activation(s.id, name, s.tensor("self"), number));
}
inline void elu(site& s) {
    if (s.number("scale", 1) != 1) return s.refuse("scale", "found " + std::to_string(s.number("scale")) + ", expected 1");
    if (s.number("input_scale", 1) != 1) return s.refuse("input_scale", "found " + std::to_string(s.number("input_scale")) + ", expected 1");
    activation(s, "elu", "alpha", 1);
}
inline void hardtanh(site& s) { s.out(s.c().clamp(s.id, s.tensor("self"), s.number("min_val", -1), s.number("max_val", 1))); }
inline void softplus(site& s) {
    if (s.number("threshold", 20) < 20) return s.refuse("threshold", "found one below 20, expected one beyond which the function is the identity");
    activation(s, "softplus", "beta", 1);
}
inline void log_sigmoid(site& s) {
    composer& c = s.c();
    const edge x = s.tensor("self");
    const edge w = c.cast(s.id + "_wide", x, s.out_type() == dtype::f64 ? dtype::f64 : dtype::f32);
    s.out(c.pointwise(s.id, "negative", {c.pointwise(s.id + "_soft", "softplus", {c.pointwise(s.id + "_negative", "negative", {w})})}, s.out_type()));
}
/// torch.fmod and the likes round integers towards 0; floor_divide downwards.
inline void dropout(site& s) {
    if (s.boolean("train", true) && s.number("p", 0) > 0) return s.refuse("train", "found a dropout that drops, expected a module in eval()");
    s.out(s.tensor(s.op.arguments.starts_with("input") ? "input" : "self"));
}
inline void add_product(site& s, bool division) {  // self + value * tensor1 * tensor2
    composer& c = s.c();
    const dtype out = s.out_type();
    const auto w = [&](std::string_view name) { return c.cast(s.id + "_" + std::string(name), s.tensor(name), out == dtype::f16 || out == dtype::bf16 ? dtype::f32 : out); };
    edge product = c.pointwise(s.id + "_product", division ? "divide" : "multiply", {w("tensor1"), w("tensor2")});
    if (const double value = s.number("value", 1); value != 1) product = c.with_number(s.id + "_scaled", "multiply", product, value);
    s.out(c.pointwise(s.id, "add", {w("self"), product}, out));
}
inline void lerp(site& s) {  // self + weight * (end - self)
    composer& c = s.c();
    const dtype out = s.out_type(), wide = out == dtype::f16 || out == dtype::bf16 ? dtype::f32 : out;
    const edge a = c.cast(s.id + "_self", s.tensor("self"), wide), b = c.cast(s.id + "_end", s.tensor("end"), wide);
    const edge span = c.pointwise(s.id + "_span", "subtract", {b, a});
    s.out(c.pointwise(s.id, "add", {a, c.pointwise(s.id + "_part", "multiply", {span, s.operand("weight", wide)})}, out));
}

}  // namespace emmy::program::pt2::detail
