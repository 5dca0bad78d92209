#pragma once
#include <emmy/program/lower/impl/coordinate_algebra.ipp>
#include <emmy/program/lower/impl/workspace.ipp>

#include <algorithm>
#include <numeric>

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
        return w.make_attrs({{.key = attr::out_shape, .kind = attr_kind::dims, .list = shape}, {.key = attr::sources, .kind = attr_kind::sources, .list = list}});
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
    result<void> check_rank(node_id n, std::size_t wanted) {
        if (w.dims(n).size() == wanted) return {};
        return refuse(w.wrong(n, "found a result of rank " + std::to_string(w.dims(n).size()) + ", expected rank " + std::to_string(wanted)));
    }
    result<void> check_sizes(node_id n, std::span<const dim> wanted) {
        EMMY_CHECK_OK(check_rank(n, wanted.size()));
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (!same_extent(w.dims(n)[i], wanted[i])) return refuse(w.wrong(n, "found another size than the operands give on axis " + std::to_string(i) + ", expected them equal"));
        return {};
    }

    // --- layout operators: one map each ---

    /// The permutation that the attribute says: two entries swap these axes, else out[i] = in[axes[i]].
    result<std::vector<std::size_t>> permutation(node_id n, range list, std::size_t rank) {
        std::vector<std::size_t> order;
        for (std::uint32_t i = 0; i < list.count; ++i) {
            EMMY_TRY(axis, w.axis_of(n, w.g.integers[list.first + i], rank));
            order.push_back(axis);
        }
        if (order.size() == 2) {
            std::vector<std::size_t> full(rank);
            std::iota(full.begin(), full.end(), std::size_t{0});
            std::swap(full[order[0]], full[order[1]]);
            return full;
        }
        std::vector<bool> seen(rank, false);
        for (const std::size_t axis : order) seen[axis] = true;
        if (order.size() != rank || std::find(seen.begin(), seen.end(), false) != seen.end()) return refuse(w.wrong(n, "found axes that are no permutation, expected each axis once"));
        return order;
    }
    result<void> transpose(node_id n) {
        const node_id x = w.input(n, 0);
        const std::size_t rank = w.dims(x).size();
        EMMY_TRY(order, permutation(n, w.g.find(w.g.nodes[n], attr::axes)->list, rank));
        std::vector<dim> wanted;
        std::vector<expr_id> coordinates(rank);
        for (std::size_t i = 0; i < rank; ++i) wanted.push_back(w.dims(x)[order[i]]), coordinates[order[i]] = c.at(i);
        EMMY_CHECK_OK(check_sizes(n, wanted));
        become_map(n, x, std::move(coordinates));
        return {};
    }
    /// coordinate_j = flat / stride_j % extent_j, without the remainder on the outermost axis.
    result<void> reshape(node_id n) {
        const node_id x = w.input(n, 0);
        const std::vector<dim> from = w.sizes(x), to = w.sizes(n);
        std::vector<expr_id> coordinates = identity(from.size());
        if (!w.same_shape(w.shape(x), w.shape(n))) {
            if (is_static(from) && is_static(to)) {
                const auto count = [](const std::vector<dim>& dims) { return std::accumulate(dims.begin(), dims.end(), 1.0, [](double a, const dim& d) { return a * static_cast<double>(d.number); }); };
                if (count(from) != count(to)) return refuse(w.wrong(n, "found a reshape between different numbers of elements, expected equal ones"));
            }
            expr_id flat = c.number(0), stride = c.number(1);
            std::vector<expr_id> strides(to.size());
            for (std::size_t i = to.size(); i-- > 0;) strides[i] = stride, stride = c.multiply(c.extent(to[i]), stride);
            for (std::size_t i = 0; i < to.size(); ++i) flat = c.add(flat, c.multiply(c.at(i), strides[i]));
            stride = c.number(1);
            for (std::size_t j = from.size(); j-- > 0;) {
                coordinates[j] = c.divide(flat, stride);
                if (j > 0) coordinates[j] = c.remainder(coordinates[j], c.extent(from[j]));
                stride = c.multiply(c.extent(from[j]), stride);
            }
        }
        become_map(n, x, std::move(coordinates));
        return {};
    }
    result<void> unsqueeze(node_id n) {
        const node_id x = w.input(n, 0);
        const std::size_t rank = w.dims(x).size() + 1;
        EMMY_TRY(at, w.axis_of(n, w.g.integer(w.g.nodes[n], attr::dim), rank));
        std::vector<dim> wanted = w.sizes(x);
        wanted.insert(wanted.begin() + static_cast<std::ptrdiff_t>(at), number_dim(1));
        EMMY_CHECK_OK(check_sizes(n, wanted));
        std::vector<expr_id> coordinates;
        for (std::size_t i = 0; i < rank; ++i)
            if (i != at) coordinates.push_back(c.at(i));
        become_map(n, x, std::move(coordinates));
        return {};
    }
    result<void> slice(node_id n) {
        const node_id x = w.input(n, 0);
        EMMY_CHECK_OK(check_rank(n, w.dims(x).size()));
        EMMY_TRY(axis, w.axis_of(n, w.g.integer(w.g.nodes[n], attr::dim), w.dims(x).size()));
        std::vector<expr_id> coordinates = identity(w.dims(x).size());
        const std::int64_t start = w.g.integer(w.g.nodes[n], attr::start);
        const dim extent = w.dims(x)[axis], length = w.dims(n)[axis];
        const expr_id first = start < 0 ? c.add(c.extent(extent), c.number(start)) : c.number(start);
        if (const auto f = c.whole(first); f && extent.kind == dim::form::number && length.kind == dim::form::number && (*f < 0 || length.number > extent.number - *f))
            return refuse(w.wrong(n, "found a slice that leaves its input, expected start and length inside " + std::to_string(extent.number)));
        coordinates[axis] = c.add(coordinates[axis], first);
        become_map(n, x, std::move(coordinates));
        return {};
    }
    /// Parts side by side: part i is taken where c < end_i, at c - start_i kept inside by zeros.
    result<void> cat(node_id n) {
        const std::size_t parts = w.input_count(n) - 1;
        const auto axis_number = parts > 0 ? w.number(w.input(n, parts)) : std::nullopt;
        if (!axis_number) return refuse(w.wrong(n, "found no axis constant after the parts, expected one"));
        EMMY_TRY(axis, w.axis_of(n, static_cast<std::int64_t>(axis_number->as_double()), w.dims(n).size()));
        std::vector<source> sources;
        std::vector<node_id> inputs;
        std::int64_t start = 0;
        const expr_id at = c.at(axis);
        for (std::size_t i = 0; i < parts; ++i) {
            const node_id x = w.input(n, i);
            if (w.dims(x).size() != w.dims(n).size()) return refuse(w.wrong(n, "found parts of different rank, expected the result's"));
            const dim length = w.dims(x)[axis];
            const bool last = i + 1 == parts;
            if (length.kind != dim::form::number && !last) return refuse(w.wrong(n, "found a part of symbolic length before the last, expected split points that are numbers", fault_kind::user));
            source s{static_cast<std::int64_t>(i), identity(w.dims(n).size()), no_expr};
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
            if (!last) start += length.number;
            else if (const dim& whole = w.dims(n)[axis]; length.kind == dim::form::number && (whole.kind != dim::form::number || whole.number != start + length.number))
                return refuse(w.wrong(n, "found parts whose lengths do not add up to the result, expected " + std::to_string(start + length.number)));
        }
        w.become(n, op::index_map, map_attrs(w.shape(n), sources), inputs);
        return {};
    }
};

}  // namespace emmy::program::detail
