#pragma once
#include <emmy/program/compose.hpp>

namespace emmy::program {

EMMY_DECL edge composer::attention(std::string_view id, edge q, edge k, edge v, std::optional<edge> mask, bool causal,
                                   std::optional<std::int64_t> sliding_window, std::optional<double> scale) {
    const std::string n(id);
    if (failed()) return {0, 0};
    const dtype out = type(q);
    std::vector<edge> in{q, k, v};
    std::vector<setting> settings{flag(attr::is_causal, causal)};
    if (sliding_window) settings.push_back(whole(attr::sliding_window, *sliding_window));
    if (scale) settings.push_back(real(attr::scale, *scale));
    if (!mask || type(*mask) != dtype::boolean) {
        if (mask) in.push_back(*mask);
        return emit(id, op::sdpa, in, out, settings);
    }
    // Readers of the tag alone would add a bool mask as 0 and 1: it is written as what is added, and rows without a key are cleared.
    const dtype real = dtype::f32;
    in.push_back(pointwise(n + "_mask", "where", {*mask, literal(n + "_kept", 0, real), literal(n + "_dropped", -1e30, real)}));
    const edge made = emit(n + "_scores", op::sdpa, in, out, settings);
    const edge any = with_number(n + "_any", "greater", fold(n + "_count", "amax", pointwise(n + "_ones", "copy", {*mask}, real), {-1}, true), 0);
    return pointwise(id, "where", {any, made, literal(n + "_none", 0, out)}, out);
}
EMMY_DECL edge composer::rotary(std::string_view id, edge x, edge cos, edge sin, bool interleaved) {
    const std::string n(id);
    const std::size_t r = rank(x);
    if (failed()) return {0, 0};
    const extent width = r == 0 ? extent(1) : shape(x)[r - 1];
    if (!width.is_number() || width.number() % 2 != 0) return fail(id, "found a last axis of " + width.text(symbol_) + ", expected an even number");
    edge rotated;
    if (interleaved) {
        std::vector<std::string> next = places(r), before = places(r);
        const std::string c = place(r - 1), even = c + " % 2 == 0";
        next[r - 1] = even + " ? " + c + " + 1 : 0";
        before[r - 1] = even + " ? 0 : " + c + " - 1";
        rotated = map(n + "_rotated", {{pointwise(n + "_negative", "negative", {x}), next, even}, {x, before}}, type(x), shape(x));
    } else {
        const std::int64_t middle = width.number() / 2;
        rotated = cat(n + "_rotated",
                      {pointwise(n + "_negative", "negative", {slice(n + "_second", x, -1, middle, std::nullopt)}), slice(n + "_first", x, -1, 0, middle)}, -1);
    }
    return pointwise(id, "add", {pointwise(n + "_cos", "multiply", {x, cos}), pointwise(n + "_sin", "multiply", {rotated, sin})});
}
EMMY_DECL edge composer::route(std::string_view id, edge logits, edge kept) {
    const std::string n(id);
    const dtype out = type(logits);
    const edge p = softmax(n + "_softmax", wide(n + "_wide", logits), -1);
    const edge weights = pointwise(n + "_kept", "where", {kept, p, literal(n + "_zero", 0, type(p))});
    return pointwise(id, "divide", {weights, fold(n + "_sum", "sum", weights, {-1}, true)}, out);
}

EMMY_DECL edge composer::dequantise(std::string_view id, std::string_view form, edge codes, edge scale, std::optional<edge> zero, dtype type) {
    const std::string n(id);
    if (failed()) return {0, 0};
    edge value;
    if (form == "int8") {  // two's complement in u8
        const edge wide_codes = pointwise(n + "_codes", "copy", {codes}, dtype::i32);
        value = with_number(n + "_signed", "subtract", with_number(n + "_flipped", "bitwise_xor", wide_codes, 128), 128);
    } else if (form == "uint8") {
        value = pointwise(n + "_codes", "copy", {codes}, dtype::i32);
    } else if (form == "int4" && this->type(codes) == dtype::i32) {  // eight codes a word, the low one first
        const sizes words = shape(codes);
        if (words.empty() || !words.back().is_number()) return fail(id, "found packed words without a last axis of a stated size, expected one");
        const edge counts = repeat(n + "_counts", range(n + "_places", 0, 32, 4, dtype::i32), {words.back().number()});
        value = with_number(n + "_codes", "bitwise_and", pointwise(n + "_shifted", "right_shift", {repeat_interleave(n + "_words", codes, 8, -1), counts}), 15);
    } else if (form == "int4" || form == "fp4") {
        const edge bytes = pointwise(n + "_bytes", "copy", {codes}, dtype::i32);
        const edge low = with_number(n + "_low", "bitwise_and", bytes, 15);
        const edge high = with_number(n + "_high", "bitwise_and", with_number(n + "_shifted", "right_shift", bytes, 4), 15);
        sizes whole_shape = shape(codes);
        if (failed()) return {0, 0};
        if (whole_shape.empty()) return fail(id, "found packed codes of rank 0, expected at least one axis");
        whole_shape.back() = whole_shape.back() * extent(2);
        value = reshape(n + "_unpacked", stack(n + "_pairs", {low, high}, -1), whole_shape);
        if (form == "fp4") value = pointwise(n + "_decoded", "from_f4e2m1", {value}, dtype::f32);
    } else if (form == "fp8") {
        if (this->type(codes) != dtype::f8e4m3 && this->type(codes) != dtype::f8e5m2)
            return fail(id, "found codes of " + std::string(token(this->type(codes))) + ", expected f8e4m3 or f8e5m2");
        value = pointwise(n + "_decoded", this->type(codes) == dtype::f8e4m3 ? "from_f8e4m3" : "from_f8e5m2", {codes}, dtype::f32);
    } else {
        return fail(id, "found the form " + std::string(form) + ", expected int8, uint8, int4, fp8 or fp4");
    }
    if (failed()) return {0, 0};
    if (is_integer(this->type(value))) value = pointwise(n + "_value", "copy", {value}, dtype::f32);
    const auto per_group = [&](edge e, std::string_view suffix) {  // one for each run of elements along the last axis
        if (failed()) return e;
        if (this->type(e) == dtype::f8e4m3) e = pointwise(n + std::string(suffix) + "_decoded", "from_f8e4m3", {e}, dtype::f32);
        else if (is_integer(this->type(e))) e = pointwise(n + std::string(suffix) + "_real", "copy", {e}, dtype::f32);
        else e = wide(n + std::string(suffix) + "_wide", e);
        const sizes have = shape(e), want = shape(value);
        if (failed() || have.empty() || want.empty() || !have.back().is_number() || !want.back().is_number()) return e;
        const std::int64_t groups = have.back().number(), width = want.back().number();
        if (groups == 1 || groups == width || width % groups != 0) return e;
        return repeat_interleave(n + std::string(suffix) + "_each", e, width / groups, -1);
    };
    if (zero) value = pointwise(n + "_centred", "subtract", {value, per_group(*zero, "_zero")});
    return pointwise(id, "multiply", {value, per_group(scale, "_scale")}, type);
}

}  // namespace emmy::program
