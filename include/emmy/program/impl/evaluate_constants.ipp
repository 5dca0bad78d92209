#pragma once
#include <emmy/program/impl/evaluate_layout.ipp>
#include <emmy/program/impl/pointwise.ipp>

namespace emmy::program::detail {

inline result<evaluated> evaluation::constant(const node& n) const {
    const attribute* value = g.find(n, attr::value);
    const attribute* context = g.find(n, attr::context_value);
    if (!value && !context) {
        const attribute* inner = g.find(n, attr::source_graph);
        return inner && bytes_of(n).empty() ? computed(n, g.nested[inner->graph]) : stored(n);
    }
    EMMY_TRY(out, blank(n));
    allocate(out);
    literal number = value ? value->number : literal{};
    if (context) {
        EMMY_TRY(size, size_expression(context->value));
        number = {.kind = literal::form::integer, .integer = size};
    }
    if (!reads_as_integer(out.type)) {
        std::fill(out.values.begin(), out.values.end(), round_to(out.type, number.as_double()));
    } else {
        const std::int64_t whole = number.kind == literal::form::real ? real_to_integer(out.type, number.real) : wrap_to(out.type, number.integer);
        std::fill(out.integers.begin(), out.integers.end(), whole);
    }
    return std::move(out);
}

/// A nested program's result under its load steps.
inline result<evaluated> evaluation::computed(const node& n, const graph& inner) const {
    EMMY_TRY(out, blank(n));
    EMMY_TRY(made, program::evaluate(inner, {}, sizes));
    evaluated now = std::move(made[0]);
    if (reads_as_integer(now.type)) now.values.clear();
    if (const attribute* steps = g.find(n, attr::load_ops))
        for (std::uint32_t i = 0; i < steps->list.count; ++i) {
            const load_op& step = g.load_ops[steps->list.first + i];
            const node as_node{.id = n.id, .op = step.op, .attrs = step.attrs};
            if (step.op == op::reshape) {  // the counts were checked
                sizes_list to;
                std::int64_t rest = 1;
                for (const dim& d : g.shape_of(g.find(as_node, attr::shape)->list)) {
                    to.push_back(d.kind == dim::form::symbol ? size_of(d.symbol) : d.number);
                    rest *= to.back() == -1 ? 1 : to.back();
                }
                for (std::int64_t& v : to)
                    if (v == -1) v = count_of(now.shape) / rest;
                now.shape = std::move(to);
                continue;
            }
            if (step.op == op::transpose) {
                const auto axes = g.find(as_node, attr::axes)->list;
                std::vector<std::size_t> order(now.shape.size());
                for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
                std::vector<std::size_t> given_axes;
                for (std::uint32_t k = 0; k < axes.count; ++k) {
                    EMMY_TRY(axis, axis_of(n, g.integers[axes.first + k], now.shape.size()));
                    given_axes.push_back(axis);
                }
                if (given_axes.size() == 2) std::swap(order[given_axes[0]], order[given_axes[1]]);
                else order = given_axes;
                now = permuted(now, order);
                continue;
            }
            const unary_function f = step.op == op::elementwise ? find_unary(g.text(as_node, attr::op)) : nullptr;
            if (!f || reads_as_integer(now.type))
                return refuse(fault_kind::user, "no reference for a computed constant under " + std::string(text(step.op)), std::string(g.text(n.id)));
            for (double& v : now.values) v = f(v);
        }
    evaluated last = converted(now, out.type);
    last.shape = out.shape;
    if (static_cast<std::int64_t>(std::max(last.values.size(), last.integers.size())) != count_of(out.shape))
        return refuse(wrong(n, "found " + std::to_string(last.values.size()) + " computed values, expected " + shape_text(out.shape)));
    round(last);
    return last;
}

inline result<evaluated> evaluation::ramp(const node& n) const {
    EMMY_TRY(out, blank(n));
    allocate(out);
    const std::int64_t start = g.integer(n, attr::start), step = g.integer(n, attr::step);
    for (std::int64_t i = 0; i < count_of(out.shape); ++i) {
        const std::int64_t v = start + i * step;
        if (reads_as_integer(out.type)) out.integers[static_cast<std::size_t>(i)] = wrap_to(out.type, v);
        else out.values[static_cast<std::size_t>(i)] = static_cast<double>(v);
    }
    return std::move(out);
}

}  // namespace emmy::program::detail
