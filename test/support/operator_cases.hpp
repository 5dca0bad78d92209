#pragma once
#include <support/random_program.hpp>

// One case an operator: how to write a small program of it in any form.
namespace emmy::test {

namespace cases {
using shape = program_text::shape;
inline const std::vector<dtype> reals{dtype::f32, dtype::f16, dtype::bf16, dtype::f64};
inline const std::vector<dtype> wholes{dtype::i32, dtype::i64, dtype::u32, dtype::u8, dtype::i16, dtype::u16, dtype::u64};
inline std::string quoted(std::string_view s) { return "\"" + std::string(s) + "\""; }
inline std::string number(int n) { return std::to_string(n); }

/// A shape of this rank at least; rank 0 only where `least` admits it.
inline shape random_shape(program_text& p, int least, int beyond) {
    if (p.shape_form() == form::scalar) return least == 0 ? shape{} : shape(static_cast<std::size_t>(least), "1");
    shape out;
    const int rank = p.draw(std::max(least, 1), beyond);
    for (int i = 0; i < rank; ++i) out.push_back(i == 0 ? p.first() : number(p.draw(1, 5)));
    return out;
}
/// An operand spread to the shape by a map, as importers write it; in the other forms a tensor of the shape.
inline std::string operand(program_text& p, const std::string& id, dtype type, const shape& dims) {
    if (p.shape_form() != form::broadcast) return p.tensor("a_" + id, type, dims);
    shape narrow;
    std::vector<std::string> coordinates;
    const std::size_t skip = dims.empty() ? 0 : static_cast<std::size_t>(p.draw(0, static_cast<int>(dims.size())));
    for (std::size_t i = skip; i < dims.size(); ++i) {
        const bool one = p.coin();
        narrow.push_back(one ? "1" : dims[i]);
        coordinates.push_back(one && dims[i] != "1" ? "\"0\"" : "\"out_coord_" + std::to_string(i) + "\"");
    }
    p.input("a_" + id, type, narrow);
    if (narrow == dims) return "a_" + id;
    return "b_" + id;  // written by spread() once all tensors are there
}
inline void spread(program_text& p, const std::string& id, dtype type, const shape& narrow, const shape& dims) {
    std::vector<std::string> coordinates;
    const std::size_t skip = dims.size() - narrow.size();
    for (std::size_t i = 0; i < narrow.size(); ++i) coordinates.push_back(narrow[i] != dims[i + skip] ? "\"0\"" : "\"out_coord_" + std::to_string(i + skip) + "\"");
    const std::string out_shape = dims.empty() ? "" : "\"out_shape\":" + program_text::list(dims) + ",";
    p.node("b_" + id, "tensor.index_map", out_shape + "\"sources\":[{\"input_idx\":0,\"coord_map\":" + program_text::list(coordinates) + "}]", {"a_" + id}, type, dims);
}
inline shape narrowed(program_text& p, const shape& dims) {
    shape out;
    for (std::size_t i = static_cast<std::size_t>(p.draw(0, static_cast<int>(dims.size()) + 1)); i < dims.size(); ++i) out.push_back(p.coin() ? "1" : dims[i]);
    return out;
}

inline operator_case pointwise(std::string name, int operands, std::vector<dtype> types, dtype operand_type = dtype::none, dtype result = dtype::none) {
    return {name, std::move(types), [=](program_text& p, dtype type) {
        const dtype in = operand_type == dtype::none ? type : operand_type, out = result == dtype::none ? type : result;
        const shape dims = random_shape(p, 0, 4);
        std::vector<shape> given;
        for (int i = 0; i < operands; ++i) {
            given.push_back(p.shape_form() == form::broadcast && operands > 1 ? narrowed(p, dims) : dims);
            p.tensor("a_" + number(i), name == "where" && i == 0 ? dtype::boolean : in, given.back());
        }
        std::vector<std::string> inputs;
        for (int i = 0; i < operands; ++i) {
            const bool same = given[static_cast<std::size_t>(i)] == dims;
            if (!same) spread(p, number(i), name == "where" && i == 0 ? dtype::boolean : in, given[static_cast<std::size_t>(i)], dims);
            inputs.push_back((same ? "a_" : "b_") + number(i));
        }
        return p.finish(p.node("z", "tensor.elementwise", name == "copy" ? "" : "\"op\":" + quoted(name), inputs, out, dims));
    }};
}

inline operator_case power(std::string exponent) {
    return {"pow " + exponent, reals, [=](program_text& p, dtype type) {
        const shape dims = random_shape(p, 0, 4);
        p.input("a_0", dtype::u8, dims);
        p.number("a_1", exponent, type);
        p.node("b_0", "tensor.elementwise", "", {"a_0"}, type, dims);
        spread(p, "1", type, {"1"}, dims.empty() ? shape{"1"} : dims);
        if (dims.empty()) return std::string();
        return p.finish(p.node("z", "tensor.elementwise", "\"op\":\"pow\"", {"b_0", "b_1"}, type, dims));
    }};
}

inline std::string axis_attr(int axis, int fallback, const char* key = "axis") { return axis == fallback ? "" : "\"" + std::string(key) + "\":" + number(axis); }
inline std::string joined(const std::string& a, const std::string& b) { return a.empty() || b.empty() ? a + b : a + "," + b; }

inline operator_case fold(std::string tag, std::string name, std::vector<dtype> types) {
    return {tag + " " + name, std::move(types), [=](program_text& p, dtype type) {
        shape dims = random_shape(p, 1, 4);
        p.tensor("a_0", type, dims);
        const int rank = static_cast<int>(dims.size()), axis = p.draw(-rank, rank);
        if (tag == "reduce") dims[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = "1";
        return p.finish(p.node("z", "tensor." + tag, joined(name == "sum" ? "" : "\"op\":" + quoted(name), axis_attr(axis, 0)), {"a_0"}, type, dims));
    }};
}

inline operator_case along_axis(std::string tag) {
    return {tag, reals, [=](program_text& p, dtype type) {
        shape dims = random_shape(p, 1, 4);
        p.tensor("a_0", type, dims);
        const int rank = static_cast<int>(dims.size()), axis = p.draw(-rank, rank);
        if (tag == "mean") dims[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = "1";
        return p.finish(p.node("z", "torch." + tag, axis_attr(axis, -1), {"a_0"}, type, dims));
    }};
}

inline operator_case norm(std::string tag, int weights) {
    return {tag + (weights == 2 ? " with bias" : weights == 1 ? "" : " bare"), reals, [=](program_text& p, dtype type) {
        const shape dims = random_shape(p, 1, 4);
        std::vector<std::string> inputs{p.input("a_0", type, dims)};
        for (int i = 0; i < weights; ++i) inputs.push_back(p.tensor("a_" + number(i + 1), type, {dims.back()}));
        return p.finish(p.node("z", "torch." + tag, p.coin() ? "\"eps\":0.01" : "", inputs, type, dims));
    }};
}

inline operator_case linear() {
    return {"linear", reals, [](program_text& p, dtype type) {
        shape dims = random_shape(p, 1, 4);
        const std::string wide = number(p.draw(1, 5));
        std::vector<std::string> inputs{p.tensor("a_0", type, dims), p.tensor("a_1", type, {wide, dims.back()})};
        if (dims.back().front() == '{') return std::string();  // the contracted size of a weight is a number
        const bool bias = p.coin();
        if (bias) inputs.push_back(p.tensor("a_2", type, {wide}));
        dims.back() = wide;
        return p.finish(p.node("z", "torch.linear", bias ? "\"has_bias\":true" : "", inputs, type, dims));
    }};
}

inline operator_case matmul(dtype result = dtype::none) {
    return {result == dtype::none ? "matmul" : "matmul to f32", result == dtype::none ? reals : std::vector<dtype>{dtype::f16, dtype::bf16}, [=](program_text& p, dtype type) {
        const dtype out_type = result == dtype::none ? type : result;
        const std::string m = p.first(), k = number(p.draw(1, 5)), n = number(p.draw(1, 5)), batch = number(p.draw(2, 4));
        shape a{m, k}, b{k, n}, out{m, n};
        switch (p.shape_form() == form::scalar ? p.draw(0, 3) : p.shape_form() == form::broadcast ? p.draw(3, 6) : 6 + p.draw(0, 2)) {
            case 0: a = {k}, b = {k}, out = {}; break;
            case 1: a = {k}, out = {n}; break;
            case 2: b = {k}, out = {m}; break;
            case 3: a = {batch, m, k}, out = {batch, m, n}; break;
            case 4: b = {batch, k, n}, out = {batch, m, n}; break;
            case 5: a = {"1", batch, m, k}, b = {"2", "1", k, n}, out = {"2", batch, m, n}; break;
            case 6: a = {batch, m, k}, b = {batch, k, n}, out = {batch, m, n}; break;
            default: break;
        }
        std::vector<std::string> inputs{p.input("a_0", type, a), p.tensor("a_1", type, b)};
        const bool bias = p.coin() && !out.empty();
        if (bias) inputs.push_back(p.tensor("a_2", out_type, {out.back()}));
        return p.finish(p.node("z", "torch.matmul", bias ? "\"has_bias\":true" : "", inputs, out_type, out));
    }};
}

inline operator_case attention(std::string kind) {
    return {"sdpa" + kind, reals, [=](program_text& p, dtype type) {
        const int kv = p.draw(1, 3), groups = kind == " grouped" ? p.draw(2, 4) : 1;
        const std::string rows = p.first(), keys = kind == " cross" ? number(p.draw(1, 5)) : rows, width = number(p.draw(1, 5)), out_width = number(p.draw(1, 5)), batch = number(p.draw(1, 3));
        const bool flat = p.shape_form() == form::scalar;
        const shape lead_q = flat ? shape{} : shape{batch, number(kv * groups)}, lead_k = flat ? shape{} : shape{batch, number(kv)};
        const auto with = [](shape s, const std::string& a, const std::string& b) { s.push_back(a), s.push_back(b); return s; };
        std::vector<std::string> inputs{p.input("a_0", type, with(lead_q, rows, width)), p.input("a_1", type, with(lead_k, keys, width)), p.input("a_2", type, with(lead_k, keys, out_width))};
        std::string attrs;
        if (kind == " causal") attrs = "\"is_causal\":true";
        if (kind == " window") attrs = "\"is_causal\":true,\"sliding_window\":" + number(p.draw(1, 4));
        if (kind == " mask" || kind == " bool mask") {
            const shape full = with(lead_q, rows, keys);
            inputs.push_back(p.input("a_3", kind == " mask" ? type : dtype::boolean, p.shape_form() == form::broadcast ? shape{rows, keys} : full));
        }
        if (p.coin()) attrs = joined(attrs, "\"scale\":0.25");
        return p.finish(p.node("z", "torch.sdpa", attrs, inputs, type, with(lead_q, rows, out_width)));
    }};
}

inline operator_case layout(std::string tag) {
    return {tag, {dtype::f32, dtype::f16, dtype::bf16, dtype::f64, dtype::i32, dtype::i64, dtype::u8, dtype::boolean}, [=](program_text& p, dtype type) {
        const shape dims = random_shape(p, 1, 5);
        const int rank = static_cast<int>(dims.size());
        if (tag == "cat") {
            const int axis = p.draw(p.shape_form() == form::symbolic ? 1 : 0, std::max(rank, 2)), parts = p.draw(1, 4);
            if (axis >= rank) return std::string();
            int length = 0;
            std::vector<std::string> inputs;
            for (int i = 0; i < parts; ++i) {
                shape part = dims;
                const int own = p.draw(1, 4);
                part[static_cast<std::size_t>(axis)] = number(own);
                length += own;
                inputs.push_back(p.input("a_" + number(i), type, part));
            }
            inputs.push_back(p.number("a_x", number(p.coin() ? axis : axis - rank), type == dtype::boolean ? dtype::i64 : type));
            shape whole = dims;
            whole[static_cast<std::size_t>(axis)] = number(length);
            return p.finish(p.node("z", "torch.cat", "", inputs, type, whole));
        }
        const std::string x = p.tensor("a_0", type, dims);
        if (tag == "transpose") {
            std::vector<int> order;
            for (int i = 0; i < rank; ++i) order.insert(order.begin() + p.draw(0, i + 1), i);
            shape out;
            std::string axes;
            if (rank >= 2 && p.coin()) {
                const int a = p.draw(0, rank), b = p.draw(0, rank);
                out = dims;
                std::swap(out[static_cast<std::size_t>(a)], out[static_cast<std::size_t>(b)]);
                axes = "[" + number(a - rank) + "," + number(b) + "]";
            } else {
                if (rank == 2) order = {0, 1};  // two entries are a swap
                for (int a : order) out.push_back(dims[static_cast<std::size_t>(a)]), axes += (axes.empty() ? "[" : ",") + number(a);
                axes += "]";
                if (rank == 2) std::swap(out[0], out[1]);
            }
            return p.finish(p.node("z", "torch.transpose", "\"axes\":" + axes, {x}, type, out));
        }
        if (tag == "unsqueeze") {
            const int at = p.draw(-rank - 1, rank + 1);
            shape out = dims;
            out.insert(out.begin() + (at < 0 ? at + rank + 1 : at), "1");
            return p.finish(p.node("z", "torch.unsqueeze", axis_attr(at, 0, "dim"), {x}, type, out));
        }
        if (tag == "slice") {
            const int axis = p.draw(p.shape_form() == form::symbolic ? 1 : 0, std::max(rank, 2));
            if (axis >= rank) return std::string();
            const int extent = std::stoi(dims[static_cast<std::size_t>(axis)]), start = p.draw(0, extent), length = p.draw(1, extent - start + 1);
            shape out = dims;
            out[static_cast<std::size_t>(axis)] = number(length);
            shape bare = out;
            if (p.shape_form() == form::symbolic) bare[0] = "\"S\"";
            return p.finish(p.node("z", "torch.slice", "\"shape\":" + program_text::list(bare) + ",\"dim\":" + number(axis) + ",\"start\":" + number(start > 0 && p.coin() ? start - extent : start), {x}, type, out));
        }
        // reshape: everything behind the first axis flat, or the flat tail cut
        shape out{dims[0]}, bare{p.shape_form() == form::symbolic ? "\"S\"" : dims[0]};
        int tail = 1;
        for (int i = 1; i < rank; ++i) tail *= std::stoi(dims[static_cast<std::size_t>(i)]);
        int divisor = p.draw(1, tail + 1);
        while (tail % divisor != 0) --divisor;
        out.push_back(number(divisor)), out.push_back(number(tail / divisor));
        bare.push_back(number(divisor)), bare.push_back(p.coin() ? "-1" : number(tail / divisor));
        return p.finish(p.node("z", "torch.reshape", "\"shape\":" + program_text::list(bare), {x}, type, out));
    }};
}

inline operator_case convolution(std::string tag, std::string kind) {
    return {tag + kind, reals, [=](program_text& p, dtype type) {
        const bool two = tag == "conv2d", turned = tag == "conv_transpose1d";
        const int groups = kind == " grouped" ? p.draw(2, 4) : kind == " depthwise" ? p.draw(1, 5) : 1;
        const int per_in = kind == " depthwise" ? 1 : p.draw(1, 4), per_out = kind == " depthwise" ? 1 : p.draw(1, 4);
        const int stride = p.draw(1, 3), padding = p.draw(0, 3), dilation = p.draw(1, 3);
        const std::string batch = p.first();
        shape x{batch, number(groups * per_in)}, w = turned ? shape{number(groups * per_in), number(per_out)} : shape{number(groups * per_out), number(per_in)}, out{batch, number(groups * per_out)};
        for (int i = 0; i < (two ? 2 : 1); ++i) {
            const int taps = p.draw(1, 4), reach = dilation * (taps - 1) + 1;
            int length = p.draw(std::max(1, reach - 2 * padding), reach + 4), result = 0;
            if (turned) {
                while ((result = (length - 1) * stride + reach - 2 * padding) < 1) ++length;
            } else {
                result = (length + 2 * padding - reach) / stride + 1;
            }
            x.push_back(number(length)), w.push_back(number(taps)), out.push_back(number(result));
        }
        std::vector<std::string> inputs{p.input("a_0", type, x), p.tensor("a_1", type, w)};
        if (p.coin()) inputs.push_back(p.tensor("a_2", type, {out[1]}));
        std::string attrs;
        attrs = joined(attrs, axis_attr(stride, 1, "stride"));
        attrs = joined(attrs, axis_attr(padding, 0, "padding"));
        attrs = joined(attrs, axis_attr(dilation, 1, "dilation"));
        attrs = joined(attrs, axis_attr(groups, 1, "groups"));
        return p.finish(p.node("z", "torch." + tag, attrs, inputs, type, out));
    }};
}

inline operator_case einsum() {
    return {"einsum", reals, [](program_text& p, dtype type) {
        constexpr const char* equations[] = {"ij,jk->ik", "ji,jk->ik", "ij,kj->ki", "bij,bjk->bik", "ij,ij->", "ij->ji", "ii->i", "i,j->ij", "bhqd,bhkd->bhqk", "ij,jk,kl->il", "ijk->k"};
        const std::string equation = equations[p.draw(0, 11)];
        std::map<char, std::string> sizes;
        const auto size = [&](char c) -> const std::string& {
            if (!sizes.contains(c)) sizes[c] = sizes.empty() ? p.first() : number(p.draw(1, 5));
            return sizes[c];
        };
        std::vector<std::string> inputs;
        shape now;
        for (const char c : equation) {
            if (c == '>') continue;
            if (c == ',' || c == '-') {
                inputs.push_back(p.tensor("a_" + number(static_cast<int>(inputs.size())), type, now));
                now.clear();
            } else {
                now.push_back(size(c));
            }
        }
        return p.finish(p.node("z", "EinsumOp", "\"equation\":" + quoted(equation), inputs, type, now));
    }};
}

inline operator_case gather(bool same_rank) {
    return {same_rank ? "gather same rank" : "gather", {dtype::f32, dtype::f16, dtype::i32, dtype::u8}, [=](program_text& p, dtype type) {
        shape dims = random_shape(p, 1, 4);
        const int rank = static_cast<int>(dims.size()), axis = p.draw(p.shape_form() == form::symbolic && rank > 1 ? 1 : 0, rank);
        if (dims[static_cast<std::size_t>(axis)].front() == '{') return std::string();
        dims[static_cast<std::size_t>(axis)] = number(p.draw(7, 9));  // indices are 0 … 6
        p.tensor("a_0", type, dims);
        shape index = same_rank ? dims : shape{number(p.draw(1, 4))}, out;
        if (same_rank) {
            index[static_cast<std::size_t>(axis)] = number(p.draw(1, 5));
            out = index;
        } else {
            if (p.shape_form() == form::broadcast) index.push_back(number(p.draw(1, 3)));
            if (rank == 1 && index.size() == 1) index.push_back("2");
            out.assign(dims.begin(), dims.begin() + axis);
            out.insert(out.end(), index.begin(), index.end());
            out.insert(out.end(), dims.begin() + axis + 1, dims.end());
            if (index.size() == dims.size() && out.size() == dims.size()) return std::string();  // would be read as the other form
        }
        p.input("a_1", p.coin() ? dtype::i64 : dtype::i32, index);
        return p.finish(p.node("z", "tensor.gather", axis_attr(axis, 0), {"a_0", "a_1"}, type, out));
    }};
}

inline operator_case scatter(std::string function) {
    return {"scatter" + (function.empty() ? "" : " " + function), function.empty() ? std::vector<dtype>{dtype::f32, dtype::f16, dtype::i32, dtype::u8} : reals, [=](program_text& p, dtype type) {
        shape dims = random_shape(p, 1, 4), index;
        const int rank = static_cast<int>(dims.size()), axis = p.draw(p.shape_form() == form::symbolic && rank > 1 ? 1 : 0, rank);
        if (dims[static_cast<std::size_t>(axis)].front() == '{') return std::string();
        dims[static_cast<std::size_t>(axis)] = number(p.draw(7, 9));  // indices are 0 ... 6
        index = dims;
        index[static_cast<std::size_t>(axis)] = number(p.draw(1, 6));
        p.input("a_0", type, dims);
        p.input("a_1", p.coin() ? dtype::i64 : dtype::i32, index);
        p.tensor("a_2", type, index);
        return p.finish(p.node("z", "tensor.scatter", joined(axis_attr(axis, 0), function.empty() ? "" : "\"reduce_fn\":" + quoted(function)), {"a_0", "a_1", "a_2"}, type, dims));
    }};
}

inline operator_case select_map() {
    return {"index_map of two", {dtype::f32, dtype::f16, dtype::i32, dtype::boolean}, [](program_text& p, dtype type) {
        const std::string rows = p.first(), columns = number(p.draw(2, 6));
        p.input("a_0", type, {rows, columns});
        p.input("a_1", type, {"1"});
        const std::string select = p.coin() ? "out_coord_1 >= 1 && out_coord_0 <= out_coord_1" : "out_coord_1 % 2 == 0";
        return p.finish(p.node("z", "tensor.index_map", "\"out_shape\":" + program_text::list({rows, columns}) + ",\"sources\":[{\"input_idx\":0,\"coord_map\":[\"out_coord_0\",\"out_coord_1 < 1 ? 0 : out_coord_1 - 1\"],\"select\":" + quoted(select) +
            "},{\"input_idx\":1,\"coord_map\":[\"0\"]}]", {"a_0", "a_1"}, type, {rows, columns}));
    }};
}
inline operator_case converting(std::string tag, dtype from, dtype to) {
    return {tag + " " + std::string(token(from)) + "->" + std::string(token(to)), {to}, [=](program_text& p, dtype type) {
        const shape dims = random_shape(p, 0, 4);
        p.tensor("a_0", from, dims);
        if (tag == "copy") return p.finish(p.node("z", "tensor.elementwise", "", {"a_0"}, type, dims));
        if (tag == "cast") return p.finish(p.node("z", "tensor.cast", to == dtype::f32 ? "" : "\"dtype\":" + quoted(token(to)), {"a_0"}, type, dims));
        if (tag == "bitcast") return p.finish(p.node("z", "tensor.bitcast", to == dtype::u16 ? "" : "\"dtype\":" + quoted(token(to)), {"a_0"}, type, dims));
        std::vector<std::string> coordinates;
        for (std::size_t i = 0; i < dims.size(); ++i) coordinates.push_back("\"out_coord_" + std::to_string(i) + "\"");
        return p.finish(p.node("z", "tensor.index_map", (dims.empty() ? "" : "\"out_shape\":" + program_text::list(dims) + ",") + std::string("\"sources\":[{\"input_idx\":0,\"coord_map\":") + program_text::list(coordinates) + "}]", {"a_0"}, type, dims));
    }};
}
}  // namespace cases

/// Every operator that lowers: the pointwise vocabulary, folds, products, norms, layout, gathers, convolutions, conversions.
inline std::vector<operator_case> operator_cases() {
    using namespace cases;
    std::vector<operator_case> out;
    for (const auto& f : program::detail::pointwise_table) {
        const std::string name(f.name);
        if (name == "copy" || name.starts_with("from_") || name.starts_with("to_")) continue;
        if (name == "bitwise_count" || name == "invert" || name == "bitwise_xor" || name.find("shift") != std::string::npos) out.push_back(pointwise(name, f.operands, wholes));
        else if (name == "bitwise_and" || name == "bitwise_or") out.push_back(pointwise(name, 2, {dtype::i32, dtype::u8, dtype::u64, dtype::boolean}));
        else if (name.find("equal") != std::string::npos || name.starts_with("less") || name.starts_with("greater")) out.push_back(pointwise(name, 2, {dtype::f32, dtype::f16, dtype::i32}, dtype::none, dtype::boolean));
        else if (name.starts_with("is") || name == "signbit" || name.starts_with("logical")) out.push_back(pointwise(name, f.operands, {dtype::f32, dtype::f16}, dtype::none, dtype::boolean));
        else if (name == "where" || name == "add" || name == "subtract" || name == "multiply" || name == "maximum" || name == "minimum") {
            std::vector<dtype> types = reals;
            types.insert(types.end(), wholes.begin(), wholes.end());
            out.push_back(pointwise(name, f.operands, types));
        } else out.push_back(pointwise(name, f.operands, reals));
    }
    for (const char* exponent : {"2", "2.0", "-0.5", "0.5", "3.0"}) out.push_back(power(exponent));
    for (const char* name : {"sum", "prod", "maximum", "amax", "minimum", "amin"}) out.push_back(fold("reduce", name, reals));
    out.push_back(fold("scan", "sum", reals));
    for (const char* tag : {"mean", "softmax"}) out.push_back(along_axis(tag));
    out.push_back(norm("rms_norm", 1));
    for (int weights = 0; weights < 3; ++weights) out.push_back(norm("layer_norm", weights));
    out.push_back(linear());
    out.push_back(matmul());
    out.push_back(matmul(dtype::f32));
    for (const char* kind : {"", " causal", " grouped", " cross", " window", " mask", " bool mask"}) out.push_back(attention(kind));
    for (const char* tag : {"transpose", "reshape", "slice", "cat", "unsqueeze"}) out.push_back(layout(tag));
    for (const char* kind : {"", " depthwise", " grouped"}) out.push_back(convolution("conv1d", kind));
    for (const char* kind : {"", " grouped"}) out.push_back(convolution("conv2d", kind)), out.push_back(convolution("conv_transpose1d", kind));
    out.push_back(einsum());
    out.push_back(gather(true));
    out.push_back(gather(false));
    for (const char* function : {"", "sum", "prod", "maximum", "minimum"}) out.push_back(scatter(function));
    out.push_back(select_map());
    using d = dtype;
    for (const auto& [from, to] : {std::pair{d::f32, d::f16}, {d::f16, d::f32}, {d::f32, d::bf16}, {d::bf16, d::f32}, {d::f16, d::bf16}, {d::i32, d::f16}, {d::i32, d::u8}, {d::i64, d::f32}, {d::f32, d::i32}, {d::u8, d::i64}})
        for (const char* tag : {"copy", "cast", "map"}) out.push_back(converting(tag, from, to));
    for (const auto& [from, to] : {std::pair{d::i16, d::u16}, {d::u16, d::f16}, {d::f32, d::u32}, {d::i32, d::f32}, {d::f16, d::i16}}) out.push_back(converting("bitcast", from, to));
    return out;
}

}  // namespace emmy::test
