#pragma once
#include <emmy/program/impl/infer_context.ipp>
#include <emmy/program/pointwise.hpp>

#include <cmath>

namespace emmy::program::detail {

/// Reals that operators compute with; f8 and the packed types are storage, read through decodes and copies.
constexpr bool is_real(dtype t) { return t == dtype::f64 || t == dtype::f32 || t == dtype::f16 || t == dtype::bf16; }
constexpr bool is_number_type(dtype t) { return is_real(t) || is_integer(t); }

inline result<void> inference::pointwise_types() const {
    const std::string name(g.text(n, attr::op));
    const auto takes = [&](std::size_t i, std::string_view wanted) {
        return wrong("inputs",
                     "found " + std::string(token(type(i))) + " as operand " + std::to_string(i) + " of " + name + ", expected " + std::string(wanted));
    };
    const auto gives = [&](std::string_view wanted) {
        return wrong("outputs", "found " + std::string(token(declared())) + " as the result of " + name + ", expected " + std::string(wanted));
    };
    const pointwise_facts* known = find_pointwise(name);
    if (!known) return wrong("attrs.op", "found \"" + name + "\", expected a pointwise function");
    if (n.inputs.count != known->operands)
        return wrong("inputs", "found " + std::to_string(n.inputs.count) + " inputs of " + name + ", expected " + std::to_string(known->operands));
    const dtype out = declared();
    if (name == "copy" || name == "pad") return {};
    if (name.starts_with("from_f8")) {
        const dtype wanted = name == "from_f8e4m3" ? dtype::f8e4m3 : dtype::f8e5m2;
        if (type(0) != wanted) return takes(0, token(wanted));
        return is_real(out) ? result<void>() : result<void>(gives("a real type"));
    }
    if (name.starts_with("to_f8")) {
        const dtype wanted = name == "to_f8e4m3" ? dtype::f8e4m3 : dtype::f8e5m2;
        if (!is_real(type(0))) return takes(0, "a real type");
        return out == wanted ? result<void>() : result<void>(gives(token(wanted)));
    }
    if (name == "from_f4e2m1") {
        if (!is_integer(type(0))) return takes(0, "integer codes");
        return is_real(out) ? result<void>() : result<void>(gives("a real type"));
    }
    if (name == "to_f4e2m1") {
        if (!is_real(type(0))) return takes(0, "a real type");
        return is_integer(out) ? result<void>() : result<void>(gives("integer codes"));
    }
    for (std::size_t i = 0; i < n.inputs.count; ++i)
        if (!is_number_type(type(i))) return takes(i, "a type to compute with (decode or copy it first)");
    if (!is_number_type(out)) return gives("a type to compute with");
    if (name == "where") return type(0) == dtype::boolean ? result<void>() : result<void>(takes(0, "bool"));
    const bool shifts = name == "left_shift" || name == "right_shift" || name == "__rshift__" || name == "bitwise_right_shift";
    if (shifts || name == "bitwise_count" || name == "invert" || name == "bitwise_xor")
        for (std::size_t i = 0; i < n.inputs.count; ++i)
            if (!is_integer(type(i))) return takes(i, "an integer type");
    if (name == "bitwise_and" || name == "bitwise_or")
        if (is_integer(type(0)) != is_integer(type(1))) return takes(1, "the kind of operand 0");
    return {};
}

inline result<void> inference::constant_types() const {
    const auto shape = g.shape_of(g.outputs_of(n)[0].shape);
    if (const attribute* value = g.find(n, attr::value)) {
        if (shape.size() != 1 || shape[0].kind != dim::form::number || shape[0].number != 1)
            return wrong("outputs", "found a literal of shape " + text(extents_of(g, shape)) + ", expected [1]");
        const double v = value->number.as_double();
        if (is_integer(declared()) && v != std::floor(v))
            return wrong("attrs.value", "found a fraction for " + std::string(token(declared())) + ", expected a whole number");
        return {};
    }
    const attribute* stored = g.find(n, attr::source_shape);
    if (!stored) return {};
    shape_list now = extents_of(g, g.shape_of(stored->list));
    if (const attribute* parts = g.find(n, attr::source_parts)) {
        shape_list whole;
        for (std::uint32_t i = 0; i < parts->list.count; ++i) {
            const shape_list part = extents_of(g, g.shape_of(g.parts[parts->list.first + i].shape));
            bool fits = !part.empty() && (i == 0 || part.size() == whole.size());
            for (std::size_t k = 1; fits && i > 0 && k < part.size(); ++k) fits = part[k] == whole[k];
            if (!fits) return wrong("attrs.source_parts", "found parts that do not join along axis 0, expected equal sizes behind it");
            if (i == 0) whole = part;
            else whole[0] = whole[0] + part[0];
        }
        if (whole != now) return wrong("attrs.source_parts", "found parts of " + text(whole) + ", expected " + text(now));
    }
    if (const attribute* inner = g.find(n, attr::source_graph)) {
        const graph& made = g.nested[inner->graph];
        if (made.outputs.size() != 1 || !made.inputs.empty())
            return wrong("attrs.source_graph", "found " + std::to_string(made.inputs.size()) + " inputs and " + std::to_string(made.outputs.size()) +
                                                   " outputs, expected none and one");
        if (const shape_list result = extents_of(made, made.shape(made.outputs[0])); result != now)
            return wrong("attrs.source_graph", "found a result of " + text(result) + ", expected " + text(now));
    }
    if (const attribute* steps = g.find(n, attr::load_ops))
        for (std::uint32_t i = 0; i < steps->list.count; ++i) {
            const load_op& step = g.load_ops[steps->list.first + i];
            node as_node{.id = n.id, .op = step.op, .attrs = step.attrs};
            if (step.op == op::reshape) {
                shape_list next;
                extent rest(1);
                std::size_t open = 0, at = 0;
                for (const dim& d : g.shape_of(g.find(as_node, attr::shape)->list)) {
                    const bool left_over = d.kind == dim::form::number && d.number == -1;
                    open += left_over;
                    if (left_over) at = next.size();
                    next.push_back(left_over ? extent(1) : extent::of(g, d));
                    rest = rest * next.back();
                }
                if (open == 1) next[at] = count_of(now) / rest;
                if (open > 1 || !(count_of(next) == count_of(now)))
                    return wrong("attrs.load_ops", "found a reshape of " + text(now) + " to " + text(next) + ", expected equal counts");
                now = next;
            } else if (step.op == op::transpose) {
                const auto axes = g.find(as_node, attr::axes)->list;
                std::vector<std::size_t> order;
                for (std::uint32_t k = 0; k < axes.count; ++k) {
                    EMMY_TRY(a, this->axis(g.integers[axes.first + k], now.size(), "attrs.load_ops"));
                    order.push_back(a);
                }
                shape_list next = now;
                if (order.size() == 2) std::swap(next[order[0]], next[order[1]]);
                else if (order.size() != now.size())
                    return wrong("attrs.load_ops", "found " + std::to_string(order.size()) + " axes, expected " + std::to_string(now.size()));
                else for (std::size_t k = 0; k < order.size(); ++k) next[k] = now[order[k]];
                now = next;
            }
        }
    if (const shape_list out = extents_of(g, shape); out != now) return wrong("outputs", "found " + text(out) + ", expected what is stored, " + text(now));
    return {};
}

inline result<void> inference::types() const {
    const dtype out = declared();
    const auto clash = [&](std::size_t i, std::string_view wanted) {
        return wrong("inputs",
                     "found " + std::string(token(type(i))) + " as input " + std::to_string(i) + " of " + op_text() + ", expected " + std::string(wanted));
    };
    const auto gives = [&](std::string_view wanted) {
        return wrong("outputs", "found " + std::string(token(out)) + " as the result of " + op_text() + ", expected " + std::string(wanted));
    };
    const auto all_real = [&](std::size_t first, std::size_t count) -> result<void> {
        for (std::size_t i = first; i < count; ++i)
            if (!is_real(type(i))) return clash(i, "a real type");
        return is_real(out) ? result<void>() : result<void>(gives("a real type"));
    };
    switch (n.op) {
        case op::constant: return constant_types();
        case op::elementwise: return pointwise_types();
        case op::transpose:
        case op::reshape:
        case op::slice:
        case op::unsqueeze:
        case op::gather:
        case op::scatter:
            if (n.op == op::gather && !is_integer(type(1))) return clash(1, "integer indices");
            return out == type(0) ? result<void>() : result<void>(gives(token(type(0))));
        case op::cat: {
            for (std::uint32_t i = 1; i + 1 < n.inputs.count; ++i)
                if (type(i) != type(0)) return clash(i, token(type(0)));
            return out == type(0) ? result<void>() : result<void>(gives(token(type(0))));
        }
        case op::index_map:
            for (std::uint32_t i = 1; i < n.inputs.count; ++i)
                if (type(i) != type(0)) return clash(i, token(type(0)));
            return {};
        case op::cast:
        case op::range: {
            const dtype wanted = dtype_from_token(g.text(n, attr::dtype));
            return out == wanted ? result<void>() : result<void>(gives(token(wanted)));
        }
        case op::bitcast: {
            const dtype wanted = dtype_from_token(g.text(n, attr::dtype));
            if (out != wanted) return gives(token(wanted));
            return byte_size(type(0)) == byte_size(out) ? result<void>() : result<void>(clash(0, "a type as wide as " + std::string(token(out))));
        }
        case op::reduce:
        case op::scan:
            if (!is_number_type(type(0))) return clash(0, "a type to compute with");
            return is_number_type(out) && is_real(out) == is_real(type(0)) ? result<void>()
                                                                           : result<void>(gives(is_real(type(0)) ? "a real type" : "an integer type"));
        case op::mean:
        case op::softmax: return all_real(0, 1);
        case op::rms_norm:
        case op::layer_norm: return all_real(0, n.inputs.count);
        case op::linear:
        case op::matmul:
        case op::conv1d:
        case op::conv2d:
        case op::conv_transpose1d:
        case op::einsum: {
            const std::size_t operands = n.op == op::einsum ? n.inputs.count : 2;
            for (std::size_t i = 1; i < operands; ++i)
                if (type(i) != type(0)) return clash(i, token(type(0)));
            if (!is_number_type(type(0))) return clash(0, "a type to compute with");
            for (std::size_t i = operands; i < n.inputs.count; ++i)
                if (!is_number_type(type(i)) || is_real(type(i)) != is_real(type(0))) return clash(i, "a bias of the operands' kind");
            return is_number_type(out) && is_real(out) == is_real(type(0)) ? result<void>() : result<void>(gives("the operands' kind"));
        }
        case op::sdpa: {
            for (std::size_t i = 1; i < 3; ++i)
                if (type(i) != type(0)) return clash(i, token(type(0)));
            if (const std::uint32_t mask = sdpa_mask(g, n); mask != 0 && !is_real(type(mask)) && type(mask) != dtype::boolean)
                return clash(mask, "a mask of bool or a real type");
            return all_real(0, 3);
        }
        default: return {};
    }
}

}  // namespace emmy::program::detail
