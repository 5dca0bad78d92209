#pragma once
#include <emmy/program/check.hpp>
#include <emmy/program/lower/impl/coordinate_algebra.ipp>
#include <emmy/program/lower/impl/workspace.ipp>

#include <algorithm>

namespace emmy::program::detail {

/// What every rule has at hand: the graph under rewriting, coordinates, maps.
struct rewriter {
    workspace w;
    coordinate_algebra c;
    explicit rewriter(const graph& traced) : w(traced), c(w.g) {}

    /// One source of a map: which input, its coordinates, when it is taken.
    struct source {
        std::int64_t input = 0;
        std::vector<expr_id> coordinates;
        expr_id select = no_expr;
    };
    range map_attrs(range shape, std::span<const source> sources) {
        const range list{static_cast<std::uint32_t>(w.g.sources.size()), static_cast<std::uint32_t>(sources.size())};
        for (const source& s : sources) {
            w.g.sources.push_back({s.input, {static_cast<std::uint32_t>(w.g.coordinates.size()), static_cast<std::uint32_t>(s.coordinates.size())}, s.select});
            w.g.coordinates.insert(w.g.coordinates.end(), s.coordinates.begin(), s.coordinates.end());
        }
        const attribute made{.key = attr::sources, .kind = attr_kind::sources, .list = list};
        if (shape.count == 0) return w.make_attrs({made});  // the default is not written
        return w.make_attrs({{.key = attr::out_shape, .kind = attr_kind::dims, .list = shape}, made});
    }
    /// A new map of one source; its type is the source's.
    node_id map(const std::string& wanted, node_id x, range shape, std::vector<expr_id> coordinates) {
        const source s{0, std::move(coordinates), no_expr};
        return w.add(wanted, op::index_map, map_attrs(shape, std::span(&s, 1)), {x}, w.type(x), shape);
    }
    void become_map(node_id n, node_id x, std::vector<expr_id> coordinates) {
        const source s{0, std::move(coordinates), no_expr};
        w.become(n, op::index_map, map_attrs(w.shape(n), std::span(&s, 1)), {x});
    }
    static bool is_one(const dim& d) { return d.kind == dim::form::number && d.number == 1; }
    static bool is_static(std::span<const dim> dims) {
        return std::all_of(dims.begin(), dims.end(), [](const dim& d) { return d.kind == dim::form::number; });
    }

    /// Coordinates of x under a wider shape, aligned on the right: an axis of extent 1 against a larger one, or without a partner, reads 0.
    result<std::vector<expr_id>> broadcast_coordinates(node_id reader, std::span<const dim> from, std::span<const dim> to) {
        std::vector<expr_id> out(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::size_t behind = from.size() - i;
            const bool paired = behind <= to.size();
            if (paired && same_extent(from[i], to[to.size() - behind])) out[i] = c.at(to.size() - behind);
            else if (is_one(from[i])) out[i] = c.number(0);
            else return refuse(w.wrong(reader, "found operands whose sizes do not broadcast, expected equal sizes or 1 on axis " + std::to_string(i)));
        }
        return out;
    }
    /// x at this shape: itself, or a map `<tensor name>_bc`.
    result<node_id> broadcast(node_id reader, node_id x, range shape) {
        if (w.same_shape(w.shape(x), shape)) return x;
        EMMY_TRY(coordinates, broadcast_coordinates(reader, w.dims(x), w.g.shape_of(shape)));
        return map(w.tensor_name(x) + "_bc", x, shape, std::move(coordinates));
    }
    /// A literal at this shape.
    result<node_id> number(node_id reader, const std::string& wanted, double value, dtype type, range shape) { return broadcast(reader, w.number(wanted, value, type), shape); }

    std::vector<expr_id> identity(std::size_t rank) {
        std::vector<expr_id> out(rank);
        for (std::size_t i = 0; i < rank; ++i) out[i] = c.at(i);
        return out;
    }
    // --- layout operators: one map each ---

    result<void> transpose(node_id n) {
        EMMY_TRY(order, transpose_order(w.g, w.g.nodes[n]));
        std::vector<expr_id> coordinates(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) coordinates[order[i]] = c.at(i);
        become_map(n, w.input(n, 0), std::move(coordinates));
        return {};
    }
    /// coordinate_j = flat / stride_j % extent_j, without the remainder on the outermost axis; axis runs of equal size apart where a size is
    /// symbolic, so that a symbol is no stride of what it does not stride ([8, s, 4] to [2, 4, s, 4]).
    result<void> reshape(node_id n) {
        const node_id x = w.input(n, 0);
        const std::vector<dim> from = w.sizes(x), to = w.sizes(n);
        std::vector<expr_id> coordinates = identity(from.size());
        const bool apart = !all_numbers(from) || !all_numbers(to);
        if (!w.same_shape(w.shape(x), w.shape(n)))
            for (const axis_runs& r : runs_of(from, to, apart)) {
                expr_id flat = c.number(0), stride = c.number(1);
                std::vector<expr_id> strides(to.size());
                for (std::size_t i = r.to.first + r.to.count; i-- > r.to.first;) strides[i] = stride, stride = c.multiply(c.extent(to[i]), stride);
                for (std::size_t i = r.to.first; i < r.to.first + r.to.count; ++i)
                    if (!apart || !(to[i] == number_dim(1))) flat = c.add(flat, c.multiply(c.at(i), strides[i]));
                stride = c.number(1);
                for (std::size_t j = r.from.first + r.from.count; j-- > r.from.first;) {
                    coordinates[j] = c.divide(flat, stride);
                    if (j > r.from.first) coordinates[j] = c.remainder(coordinates[j], c.extent(from[j]));
                    stride = c.multiply(c.extent(from[j]), stride);
                }
            }
        become_map(n, x, std::move(coordinates));
        return {};
    }
    struct axis_runs {
        range from, to;
    };
    static bool all_numbers(std::span<const dim> s) {
        return std::all_of(s.begin(), s.end(), [](const dim& d) { return d.kind == dim::form::number; });
    }
    /// The shortest runs of axes, side by side, that hold equally many elements; one of all axes when they shall not be told apart.
    std::vector<axis_runs> runs_of(std::span<const dim> from, std::span<const dim> to, bool apart) const {
        const auto all = [](std::span<const dim> s) { return range{0, static_cast<std::uint32_t>(s.size())}; };
        if (!apart) return {{all(from), all(to)}};
        std::vector<axis_runs> out;
        for (std::uint32_t i = 0, j = 0; i < from.size() || j < to.size();) {
            axis_runs run{{i, 0}, {j, 0}};
            extent a = 1, b = 1;
            do {
                const bool left = i < from.size() && (run.from.count == 0 || j == to.size() || (run.to.count > 0 && a.largest() <= b.largest()));
                if (!left && j == to.size()) return {{all(from), all(to)}};
                if (left) a = a * extent::of(w.g, from[i++]), ++run.from.count;
                else b = b * extent::of(w.g, to[j++]), ++run.to.count;
                if (a.bad() || b.bad()) return {{all(from), all(to)}};
            } while (!(a == b));
            out.push_back(run);
        }
        return out;
    }
    result<void> unsqueeze(node_id n) {
        const std::size_t rank = w.dims(n).size();
        EMMY_TRY(at, w.axis_of(n, w.g.integer(w.g.nodes[n], attr::dim), rank));
        std::vector<expr_id> coordinates;
        for (std::size_t i = 0; i < rank; ++i)
            if (i != at) coordinates.push_back(c.at(i));
        become_map(n, w.input(n, 0), std::move(coordinates));
        return {};
    }
    result<void> slice(node_id n) {
        const node_id x = w.input(n, 0);
        EMMY_TRY(axis, w.axis_of(n, w.g.integer(w.g.nodes[n], attr::dim), w.dims(x).size()));
        std::vector<expr_id> coordinates = identity(w.dims(x).size());
        const std::int64_t start = w.g.integer(w.g.nodes[n], attr::start);
        coordinates[axis] = c.add(coordinates[axis], start < 0 ? c.add(c.extent(w.dims(x)[axis]), c.number(start)) : c.number(start));
        become_map(n, x, std::move(coordinates));
        return {};
    }
    /// Parts side by side: part i is taken where c < end_i, at c - start_i kept inside by zeros.
    result<void> cat(node_id n) {
        EMMY_TRY(cat, cat_of(w.g, w.g.nodes[n]));
        const auto [parts, axis] = cat;
        std::vector<source> sources;
        std::vector<node_id> inputs;
        std::int64_t start = 0;
        const expr_id at = c.at(axis);
        for (std::uint32_t i = 0; i < parts; ++i) {
            const node_id x = w.input(n, i);
            const dim length = w.dims(x)[axis];
            const bool last = i + 1 == parts;
            if (length.kind != dim::form::number && !last) return refuse(w.wrong(n, "found a part of symbolic length before the last, expected split points that are numbers", fault_kind::user));
            source s{i, identity(w.dims(n).size()), no_expr};
            const expr_id inside = c.subtract(at, c.number(start)), zero = c.number(0);
            expr_id kept = inside;
            if (!last) {
                const expr_id before_end = c.compare(binary_op::less, at, c.number(start + length.number));
                s.select = before_end;
                kept = c.choose(before_end, inside, zero);
            }
            if (start > 0) kept = c.choose(c.compare(binary_op::less, at, c.number(start)), zero, kept);
            s.coordinates[axis] = kept;
            sources.push_back(std::move(s));
            inputs.push_back(x);
            start += last ? 0 : length.number;
        }
        w.become(n, op::index_map, map_attrs(w.shape(n), sources), inputs);
        return {};
    }
};

}  // namespace emmy::program::detail
