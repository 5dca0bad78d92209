#pragma once
#include <emmy/program/impl/coordinates.ipp>
#include <emmy/program/impl/evaluate_folds.ipp>
#include <emmy/program/impl/evaluation.ipp>

#include <algorithm>
#include <numeric>

namespace emmy::program::detail {

/// Copies the element that `source_of` names (a flat position) for each output position.
template <class SourceOf>
void gather_into(evaluated& out, const evaluated& x, SourceOf source_of) {
    evaluation::allocate(out);
    sizes_list c(out.shape.size(), 0);
    const auto walk = [&](auto& to, const auto& from) {
        for (auto& v : to) {
            v = from[static_cast<std::size_t>(source_of(c))];
            advance(c, out.shape);
        }
    };
    if (reads_as_integer(out.type)) walk(out.integers, x.integers);
    else walk(out.values, x.values);
}
/// Out axis i is axis order[i] of x.
inline evaluated permuted(const evaluated& x, const std::vector<std::size_t>& order) {
    evaluated out{.type = x.type};
    sizes_list strides;
    const sizes_list in = strides_of(x.shape);
    for (std::size_t axis : order) out.shape.push_back(x.shape[axis]), strides.push_back(in[axis]);
    gather_into(out, x, [&](const sizes_list& c) { return std::inner_product(c.begin(), c.end(), strides.begin(), std::int64_t{0}); });
    return out;
}

inline result<evaluated> evaluation::reshaped(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    if (count_of(out.shape) != count_of(x.shape))
        return refuse(wrong(n, "found a reshape of " + shape_text(x.shape) + " to " + shape_text(out.shape) + ", expected equal counts"));
    out.values = x.values;
    out.integers = x.integers;
    return std::move(out);
}

inline result<evaluated> evaluation::transposed(const node& n) const {
    EMMY_TRY(order, transpose_order(g, n));
    return permuted(input(n, 0), order);
}

inline result<evaluated> evaluation::sliced(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    EMMY_TRY(axis, axis_of(n, g.integer(n, attr::dim), x.shape.size()));
    std::int64_t start = g.integer(n, attr::start);
    if (start < 0) start += x.shape[axis];
    if (start < 0 || start + out.shape[axis] > x.shape[axis])
        return refuse(wrong(n, "found a slice that leaves " + shape_text(x.shape) + ", expected one inside"));
    const sizes_list strides = strides_of(x.shape);
    gather_into(out, x, [&](const sizes_list& c) { return std::inner_product(c.begin(), c.end(), strides.begin(), start * strides[axis]); });
    return std::move(out);
}

inline result<evaluated> evaluation::joined(const node& n) const {
    EMMY_TRY(out, blank(n));
    EMMY_TRY(cat, cat_of(g, n));
    allocate(out);
    std::int64_t offset = 0;
    const sizes_list strides = strides_of(out.shape);
    const auto put = [&](auto& to, const auto& from, std::int64_t length) {
        const std::int64_t run = length * strides[cat.axis], jump = out.shape[cat.axis] * strides[cat.axis];
        for (std::int64_t o = 0; o * run < static_cast<std::int64_t>(from.size()); ++o)
            std::copy_n(from.data() + o * run, run, to.data() + o * jump + offset * strides[cat.axis]);
    };
    for (std::uint32_t i = 0; i < cat.parts; ++i) {
        const evaluated& x = input(n, i);
        if (reads_as_integer(out.type)) put(out.integers, x.integers, x.shape[cat.axis]);
        else put(out.values, x.values, x.shape[cat.axis]);
        offset += x.shape[cat.axis];
    }
    return std::move(out);
}

inline result<evaluated> evaluation::mapped(const node& n) const {
    EMMY_TRY(out, blank(n));
    auto places = coordinate_places(g, out.shape.size());
    sizes_list c(out.shape.size(), 0);  // coordinates, then the sizes of symbols
    for (const name_id s : symbols(g)) {
        if (places[s] >= 0) continue;
        places[s] = static_cast<std::int32_t>(c.size());
        c.push_back(size_of(s));
    }
    const std::size_t rank = out.shape.size();
    const coordinate_evaluator run(g, places);
    const attribute& list = *g.find(n, attr::sources);
    struct prepared {
        evaluated x;  // in the result's type
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
        prepared p{converted(input(n, static_cast<std::size_t>(s.input_idx)), out.type),
                   {g.coordinates.data() + s.coord_map.first, s.coord_map.count},
                   s.select,
                   {},
                   true,
                   sizes_list(rank, 0),
                   0};
        p.strides = strides_of(p.x.shape);
        for (std::size_t d = 0; d < p.coordinates.size(); ++d) {
            if (auto ok = run.check(p.coordinates[d]); !ok) return refuse(wrong(n, ok.error().message()));
            const expr& e = g.exprs[p.coordinates[d]];
            if (p.x.shape[d] == 1) continue;  // an input axis of extent 1 always reads 0
            if (e.kind == expr_kind::name && static_cast<std::size_t>(places[e.name]) < rank) {
                const auto axis = static_cast<std::size_t>(places[e.name]);
                p.plain = p.plain && out.shape[axis] <= p.x.shape[d];
                p.per_axis[axis] += p.strides[d];
            } else if (e.kind == expr_kind::integer && e.integer >= 0 && e.integer < p.x.shape[d]) {
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
    const auto count = static_cast<std::size_t>(detail::count_of(out.shape));
    for (std::size_t at = 0; at < count; ++at) {
        for (const prepared& p : sources) {
            if (p.select != no_expr && run(p.select, c.data()) == 0) continue;
            std::int64_t place = p.offset;
            if (p.plain) {
                for (std::size_t i = 0; i < rank; ++i) place += c[i] * p.per_axis[i];
            } else {
                place = 0;
                for (std::size_t d = 0; d < p.coordinates.size(); ++d)  // what lies outside is never selected in a valid map: clipped
                    place += std::clamp<std::int64_t>(run(p.coordinates[d], c.data()), 0, p.x.shape[d] - 1) * p.strides[d];
            }
            if (reads_as_integer(out.type)) out.integers[at] = p.x.integers[static_cast<std::size_t>(place)];
            else out.values[at] = p.x.values[static_cast<std::size_t>(place)];
            break;
        }
        for (std::size_t i = rank; i-- > 0;) {
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
    for (std::size_t i = 0; elementwise && i < x.shape.size(); ++i)
        if (i != axis && index.shape[i] > x.shape[i])
            return refuse(wrong(n, "found an index " + shape_text(index.shape) + " wider than the data " + shape_text(x.shape) + ", expected it inside"));
    const sizes_list strides = strides_of(x.shape), index_strides = strides_of(index.shape);
    bool inside = true;
    gather_into(out, x, [&](const sizes_list& c) {
        std::int64_t at = 0, place = 0;
        if (elementwise) at = std::inner_product(c.begin(), c.end(), index_strides.begin(), std::int64_t{0});
        else for (std::size_t i = 0; i < index.shape.size(); ++i) at += c[axis + i] * index_strides[i];
        std::int64_t chosen = index.integers[static_cast<std::size_t>(at)];
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

/// data, index, values: data with values[c] put at the index along the axis, in row-major order of c; reduce_fn folds instead of replacing.
inline result<evaluated> evaluation::scattered(const node& n) const {
    const evaluated &x = input(n, 0), &index = input(n, 1), from = converted(input(n, 2), x.type);
    EMMY_TRY(axis, axis_of(n, g.integer(n, attr::axis), x.shape.size()));
    const attribute* reduce = g.find(n, attr::reduce_fn);
    const auto known = reduce ? fold_of(g.text(reduce->text)) : std::optional(fold_kind::sum);
    const fold_kind kind = known.value_or(fold_kind::sum);
    if (!known) return refuse(wrong(n, "found reduce_fn " + std::string(g.text(reduce->text)) + ", expected sum, prod, maximum or minimum"));
    if (index.shape.size() != x.shape.size() || index.shape != from.shape)
        return refuse(
            wrong(n, "found an index " + shape_text(index.shape) + " of values " + shape_text(from.shape) + ", expected equal shapes of the data's rank"));
    evaluated out = x;
    const sizes_list strides = strides_of(x.shape);
    sizes_list c(index.shape.size(), 0);
    for (std::size_t i = 0; i < index.integers.size(); ++i, advance(c, index.shape)) {
        std::int64_t place = 0;
        for (std::size_t d = 0; d < c.size(); ++d) {
            std::int64_t at = d == axis ? index.integers[i] : c[d];
            if (d == axis && at < 0) at += x.shape[d];
            if (at < 0 || at >= x.shape[d]) return refuse(wrong(n, "found an index outside the data, expected 0 to " + std::to_string(x.shape[d] - 1)));
            place += at * strides[d];
        }
        const auto to = static_cast<std::size_t>(place);
        if (reads_as_integer(x.type))
            out.integers[to] = reduce ? wrap_to(x.type, folded_integer(kind, out.integers[to], from.integers[i], !facts(x.type).is_signed)) : from.integers[i];
        else out.values[to] = reduce ? folded_real(kind, out.values[to], from.values[i]) : from.values[i];
    }
    return out;
}

inline result<evaluated> evaluation::bitcast(const node& n) const {
    EMMY_TRY(out, blank(n));
    const std::vector<std::byte> bytes = to_bytes(input(n, 0));
    allocate(out);
    const auto count = static_cast<std::size_t>(detail::count_of(out.shape));
    for (std::size_t i = 0; i < count; ++i) {
        if (reads_as_integer(out.type)) out.integers[i] = load_integer(out.type, bytes.data(), i);
        else out.values[i] = load_real(out.type, bytes.data(), i);
    }
    return std::move(out);
}

}  // namespace emmy::program::detail
