#pragma once
#include <emmy/loop/fuse/impl/lifted.hpp>
#include <emmy/loop/fuse/impl/names.hpp>

#include <optional>

namespace emmy::loop::fusion {

/// The operator whose loops write an output, and where it stores: behind a chain of layout copies that nobody else reads.
struct layout_root {
    op_index op = nothing;
    std::vector<axis_id> axes;    ///< own axes of the operator, outermost first
    std::vector<expr_id> index;   ///< store, in the output's shape
};

/// Order of free axes around a store: an axis further left in storage stands further out. An axis that no entry mentions, or with a factor,
/// stands before all of them.
inline std::vector<axis_id> storage_order(const program_graph& p, std::vector<axis_id> axes, std::span<const std::vector<expr_id>> stores) {
    constexpr std::uint32_t unresolved = 0xffffffffu;
    const value_graph& v = p.values;
    std::vector<std::uint32_t> depth(axes.size(), unresolved);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const name_id name = v.axes[axes[i]].name;
        bool resolved = true, first = true;
        for (const std::vector<expr_id>& index : stores) {
            std::uint32_t at = unresolved;
            for (std::size_t d = 0; d < index.size(); ++d) {
                bool here = false;
                each_name(v.exprs, index[d], [&](name_id n) { here = here || n == name; });
                if (here) at = static_cast<std::uint32_t>(index.size() - 1 - d);
                // an affine mention `c * a`, c != 1
                const auto factored = [&](const auto& self, expr_id e) -> bool {
                    const expr& x = v.exprs[e];
                    if (x.kind != expr_kind::binary) return false;
                    if (x.op == binary_op::add || x.op == binary_op::subtract) return self(self, x.a) || self(self, x.b);
                    const auto is_axis = [&](expr_id q) { return v.exprs[q].kind == expr_kind::name && v.exprs[q].name == name; };
                    return x.op == binary_op::multiply && (is_axis(x.a) || is_axis(x.b));
                };
                if (here && factored(factored, index[d])) resolved = false;
            }
            if (at == unresolved || (!first && at != depth[i])) resolved = false;
            if (first) depth[i] = at;
            first = false;
        }
        if (!resolved) depth[i] = unresolved;
    }
    std::vector<std::size_t> order(axes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return depth[a] > depth[b]; });  // unresolved is the largest
    std::vector<axis_id> out;
    for (const std::size_t i : order) out.push_back(axes[i]);
    return out;
}

/// Strides of the source's dimensions in the row-major address of the copy's output, when `o` is a bijective reshape or permutation of static
/// sizes (one leading symbolic dimension may be kept as it is). Empty otherwise.
inline std::optional<std::vector<std::int64_t>> bijective_copy(program_graph& p, const lifted_op& o) {
    value_graph& v = p.values;
    const buffer_facts &to = p.buffers[o.stores[0]], &from = p.buffers[o.plain_load];
    const std::vector<expr_id> read(v.index(o.stored).begin(), v.index(o.stored).end());
    std::size_t lead = 0;
    if (!to.shape.empty() && !from.shape.empty() && to.shape[0].kind != dim::form::number) {
        if (!same_extent(to.shape[0], from.shape[0]) || read[0] != o.index[0]) return std::nullopt;
        lead = 1;
    }
    std::int64_t cells = 1, made = 1;
    for (std::size_t d = to.shape.size(); d-- > lead;)
        if (to.shape[d].kind != dim::form::number || __builtin_mul_overflow(cells, to.shape[d].number, &cells)) return std::nullopt;
    expr_id flat = v.exprs.integer(0);
    std::int64_t stride = cells;
    for (std::size_t d = lead; d < to.shape.size(); ++d) {
        stride /= to.shape[d].number;
        flat = v.exprs.binary(binary_op::add, flat, v.exprs.binary(binary_op::multiply, o.index[d], v.exprs.integer(stride)));
    }
    std::vector<std::int64_t> strides(from.shape.size(), 0);
    std::vector<bool> known(from.shape.size(), false);
    for (std::size_t d = 0; d < from.shape.size(); ++d) {
        if (d >= lead && from.shape[d].kind != dim::form::number) return std::nullopt;
        known[d] = d < lead || from.shape[d].number == 1;
    }
    for (bool found = true; found;) {  // the digits of the address, innermost first
        found = false;
        for (std::size_t d = lead; d < from.shape.size() && !found; ++d) {
            if (known[d]) continue;
            const expr_id digit = v.exprs.binary(binary_op::remainder, v.exprs.binary(binary_op::divide, flat, v.exprs.integer(made)), v.exprs.integer(from.shape[d].number));
            if (p.indices.simplify(digit) != read[d]) continue;
            known[d] = found = true;
            strides[d] = made;
            if (__builtin_mul_overflow(made, from.shape[d].number, &made)) return std::nullopt;
        }
    }
    for (const bool k : known)
        if (!k) return std::nullopt;
    if (made != cells) return std::nullopt;
    return strides;
}

/// Walks back from a region's output over layout copies. `together(a, b)`: both operators are in one region.
template <class Together>
layout_root root_of(program_graph& p, buffer_id output, Together&& together) {
    value_graph& v = p.values;
    op_index at = p.buffers[output].producer;
    struct link {
        op_index copy;
        std::vector<std::int64_t> strides;
    };
    std::vector<link> chain;
    if (p.buffers[output].readers.empty())
        while (true) {
            const lifted_op& o = p.ops[at];
            if (o.kind != lifted_kind::pointwise || o.plain_load == nothing || o.rounds) break;
            const buffer_facts& from = p.buffers[o.plain_load];
            if (from.output || from.producer == nothing || from.readers.size() != 1 || from.type != p.buffers[o.stores[0]].type || !together(from.producer, at)) break;
            const auto strides = bijective_copy(p, o);
            if (!strides) break;
            chain.push_back({at, *strides});
            at = from.producer;
        }
    const lifted_op& source = p.ops[at];
    layout_root out{.op = at, .axes = source.axes, .index = source.index};
    for (std::size_t i = chain.size(); i-- > 0;) {
        const std::vector<dim>& shape = p.buffers[p.ops[chain[i].copy].stores[0]].shape;
        const std::size_t lead = !shape.empty() && shape[0].kind != dim::form::number ? 1 : 0;
        expr_id flat = v.exprs.integer(0);
        for (std::size_t d = lead; d < out.index.size(); ++d)
            flat = v.exprs.binary(binary_op::add, flat, v.exprs.binary(binary_op::multiply, out.index[d], v.exprs.integer(chain[i].strides[d])));
        std::vector<expr_id> index;
        std::int64_t stride = 1;
        for (std::size_t d = lead; d < shape.size(); ++d) stride *= shape[d].number;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (d < lead) {
                index.push_back(out.index[d]);
                continue;
            }
            stride /= shape[d].number;
            index.push_back(p.indices.simplify(v.exprs.binary(binary_op::remainder, v.exprs.binary(binary_op::divide, flat, v.exprs.integer(stride)), v.exprs.integer(shape[d].number))));
        }
        out.index = std::move(index);
    }
    if (!chain.empty()) out.axes = storage_order(p, out.axes, std::span(&out.index, 1));
    return out;
}

}  // namespace emmy::loop::fusion
