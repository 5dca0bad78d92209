#pragma once
#include <emmy/program/impl/evaluation.ipp>

#include <algorithm>
#include <numeric>

namespace emmy::program::detail {

/// Copies the element that `source_of` names (a flat position) for each output position.
template <class SourceOf>
void gather_into(evaluated& out, const evaluated& x, SourceOf source_of) {
    evaluation::allocate(out);
    sizes_list c(out.shape.size(), 0);
    for (double& v : out.values) {
        v = x.values[static_cast<std::size_t>(source_of(c))];
        for (std::size_t i = c.size(); i-- > 0;) {
            if (++c[i] < out.shape[i]) break;
            c[i] = 0;
        }
    }
}

inline result<evaluated> evaluation::reshaped(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    if (count_of(out.shape) != count_of(x.shape)) return refuse(wrong(n, "found a reshape of " + shape_text(x.shape) + " to " + shape_text(out.shape) + ", expected equal counts"));
    out.values = x.values;
    return std::move(out);
}

inline result<evaluated> evaluation::transposed(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    const attribute& a = *g.find(n, attr::axes);
    std::vector<std::size_t> order;
    for (std::uint32_t i = 0; i < a.list.count; ++i) {
        EMMY_TRY(axis, axis_of(n, g.integers[a.list.first + i], x.shape.size()));
        order.push_back(axis);
    }
    if (order.size() == 2) {  // a swap of two axes
        std::vector<std::size_t> full(x.shape.size());
        std::iota(full.begin(), full.end(), std::size_t{0});
        std::swap(full[order[0]], full[order[1]]);
        order = full;
    }
    std::vector<std::size_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    bool permutation = sorted.size() == x.shape.size();
    for (std::size_t i = 0; permutation && i < sorted.size(); ++i) permutation = sorted[i] == i;
    if (!permutation) return refuse(wrong(n, "found axes that are no permutation, expected each axis once"));
    sizes_list wanted, strides;
    const sizes_list in = strides_of(x.shape);
    for (std::size_t axis : order) wanted.push_back(x.shape[axis]), strides.push_back(in[axis]);
    EMMY_CHECK_OK(same_shape(n, out.shape, wanted));
    gather_into(out, x, [&](const sizes_list& c) { return std::inner_product(c.begin(), c.end(), strides.begin(), std::int64_t{0}); });
    return std::move(out);
}

inline result<evaluated> evaluation::sliced(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    EMMY_TRY(axis, axis_of(n, g.integer(n, attr::dim), x.shape.size()));
    std::int64_t start = g.integer(n, attr::start);
    if (start < 0) start += x.shape[axis];
    sizes_list wanted = x.shape;
    wanted[axis] = out.shape.size() == x.shape.size() ? out.shape[axis] : 0;
    EMMY_CHECK_OK(same_shape(n, out.shape, wanted));
    if (start < 0 || start + out.shape[axis] > x.shape[axis]) return refuse(wrong(n, "found a slice that leaves " + shape_text(x.shape) + ", expected one inside"));
    const sizes_list strides = strides_of(x.shape);
    gather_into(out, x, [&](const sizes_list& c) { return std::inner_product(c.begin(), c.end(), strides.begin(), start * strides[axis]); });
    return std::move(out);
}

inline result<evaluated> evaluation::joined(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated& last = input(n, n.inputs.count - 1);
    const std::size_t parts = n.inputs.count - 1;
    if (parts == 0 || last.values.size() != 1) return refuse(wrong(n, "found no axis constant after the parts, expected one"));
    EMMY_TRY(axis, axis_of(n, static_cast<std::int64_t>(last.values[0]), out.shape.size()));
    allocate(out);
    std::int64_t offset = 0;
    const sizes_list strides = strides_of(out.shape);
    for (std::size_t i = 0; i < parts; ++i) {
        const evaluated& x = input(n, i);
        sizes_list wanted = out.shape;
        wanted[axis] = x.shape.size() == out.shape.size() ? x.shape[axis] : 0;
        EMMY_CHECK_OK(same_shape(n, x.shape, wanted));
        if (offset + x.shape[axis] > out.shape[axis]) return refuse(wrong(n, "found parts longer than the result " + shape_text(out.shape) + ", expected equal lengths"));
        const std::int64_t run = x.shape[axis] * strides[axis], jump = out.shape[axis] * strides[axis];
        for (std::int64_t o = 0; o * run < static_cast<std::int64_t>(x.values.size()); ++o)
            std::copy_n(x.values.data() + o * run, run, out.values.data() + o * jump + offset * strides[axis]);
        offset += x.shape[axis];
    }
    if (offset != out.shape[axis]) return refuse(wrong(n, "found parts of length " + std::to_string(offset) + ", expected " + std::to_string(out.shape[axis])));
    return std::move(out);
}

inline result<evaluated> evaluation::mapped(const node& n) const {
    EMMY_TRY(out, blank(n));
    const auto places = coordinate_places(g, out.shape.size());
    const coordinate_evaluator run(g, places);
    const attribute& list = *g.find(n, attr::sources);
    struct prepared {
        const evaluated* x;
        std::span<const expr_id> coordinates;
        expr_id select;
        sizes_list strides;
        bool plain = true;            // every coordinate is a name or a number: a walk with strides
        sizes_list per_axis;          // stride of each output axis
        std::int64_t offset = 0;
    };
    std::vector<prepared> sources;
    for (std::uint32_t i = 0; i < list.list.count; ++i) {
        const map_source& s = g.sources[list.list.first + i];
        prepared p{&input(n, static_cast<std::size_t>(s.input_idx)), {g.coordinates.data() + s.coord_map.first, s.coord_map.count}, s.select, {}, true, sizes_list(out.shape.size(), 0), 0};
        p.strides = strides_of(p.x->shape);
        for (std::size_t d = 0; d < p.coordinates.size(); ++d) {
            if (auto ok = run.check(p.coordinates[d]); !ok) return refuse(wrong(n, ok.error().message()));
            const expr& e = g.exprs[p.coordinates[d]];
            if (p.x->shape[d] == 1) continue;  // an input axis of extent 1 always reads 0
            if (e.kind == expr_kind::name) {
                const auto axis = static_cast<std::size_t>(places[e.name]);
                p.plain = p.plain && out.shape[axis] <= p.x->shape[d];
                p.per_axis[axis] += p.strides[d];
            } else if (e.kind == expr_kind::integer && e.integer >= 0 && e.integer < p.x->shape[d]) {
                p.offset += e.integer * p.strides[d];
            } else {
                p.plain = false;
            }
        }
        if (p.select != no_expr)
            if (auto ok = run.check(p.select); !ok) return refuse(wrong(n, ok.error().message()));
        sources.push_back(std::move(p));
    }
    allocate(out);
    sizes_list c(out.shape.size(), 0);
    for (double& v : out.values) {
        for (const prepared& p : sources) {
            if (p.select != no_expr && run(p.select, c.data()) == 0) continue;
            std::int64_t place = p.offset;
            if (p.plain) {
                for (std::size_t i = 0; i < c.size(); ++i) place += c[i] * p.per_axis[i];
            } else {
                place = 0;
                for (std::size_t d = 0; d < p.coordinates.size(); ++d)  // what lies outside is never selected in a valid map: clipped
                    place += std::clamp<std::int64_t>(run(p.coordinates[d], c.data()), 0, p.x->shape[d] - 1) * p.strides[d];
            }
            v = p.x->values[static_cast<std::size_t>(place)];
            break;
        }
        for (std::size_t i = c.size(); i-- > 0;) {
            if (++c[i] < out.shape[i]) break;
            c[i] = 0;
        }
    }
    return std::move(out);
}

inline result<evaluated> evaluation::gathered(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated &x = input(n, 0), &index = input(n, 1);
    EMMY_TRY(axis, axis_of(n, g.integer(n, attr::axis), x.shape.size()));
    const bool elementwise = index.shape.size() == x.shape.size() && out.shape.size() == x.shape.size();
    sizes_list wanted = x.shape;
    if (elementwise) {
        wanted = index.shape;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (i != axis && index.shape[i] > x.shape[i]) return refuse(wrong(n, "found an index " + shape_text(index.shape) + " wider than the data " + shape_text(x.shape) + ", expected it inside"));
    } else {
        wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(axis));
        wanted.insert(wanted.begin() + static_cast<std::ptrdiff_t>(axis), index.shape.begin(), index.shape.end());
    }
    EMMY_CHECK_OK(same_shape(n, out.shape, wanted));
    const sizes_list strides = strides_of(x.shape), index_strides = strides_of(index.shape);
    bool inside = true;
    gather_into(out, x, [&](const sizes_list& c) {
        std::int64_t at = 0, place = 0;
        if (elementwise) at = std::inner_product(c.begin(), c.end(), index_strides.begin(), std::int64_t{0});
        else for (std::size_t i = 0; i < index.shape.size(); ++i) at += c[axis + i] * index_strides[i];
        auto chosen = static_cast<std::int64_t>(index.values[static_cast<std::size_t>(at)]);
        if (chosen < 0) chosen += x.shape[axis];
        if (chosen < 0 || chosen >= x.shape[axis]) inside = false, chosen = 0;
        for (std::size_t d = 0; d < x.shape.size(); ++d) {
            const std::int64_t coordinate = d == axis ? chosen : elementwise || d < axis ? c[d] : c[d + index.shape.size() - 1];
            place += coordinate * strides[d];
        }
        return place;
    });
    if (!inside) return refuse(wrong(n, "found an index outside the data, expected 0 to " + std::to_string(x.shape[axis] - 1)));
    return std::move(out);
}

inline result<evaluated> evaluation::ramp(const node& n) const {
    EMMY_TRY(out, blank(n));
    allocate(out);
    for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] = static_cast<double>(g.integer(n, attr::start) + static_cast<std::int64_t>(i) * g.integer(n, attr::step));
    return std::move(out);
}

}  // namespace emmy::program::detail
