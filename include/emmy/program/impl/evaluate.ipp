#pragma once
#include <emmy/program/evaluate.hpp>
#include <emmy/program/impl/coordinates.ipp>
#include <emmy/program/impl/pointwise.ipp>
#include <emmy/program/impl/product.ipp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace emmy::program {
namespace detail {

using sizes_list = std::vector<std::int64_t>;

inline std::int64_t count_of(const sizes_list& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}
inline std::string shape_text(const sizes_list& shape) {
    std::string out = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) (out += i ? "," : "") += std::to_string(shape[i]);
    return out + "]";
}
inline sizes_list strides_of(const sizes_list& shape) {
    sizes_list out(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * shape[i];
    return out;
}

/// One evaluation: values of the nodes that the outputs need, computed once each.
struct evaluation {
    const graph& g;
    std::span<const named_bytes> given;
    std::span<const bound_size> sizes;
    std::vector<std::unique_ptr<evaluated>> done;

    evaluation(const graph& graph, std::span<const named_bytes> bytes, std::span<const bound_size> bound) : g(graph), given(bytes), sizes(bound), done(graph.nodes.size()) {}

    fault wrong(const node& n, std::string message) const { return fault(fault_kind::input, std::move(message), std::string(g.text(n.id))); }
    result<evaluated> blank(const node& n) const {
        evaluated out;
        out.type = g.outputs_of(n)[0].type;
        auto shape = concrete_shape(g, g.shape_of(g.outputs_of(n)[0].shape), sizes);
        if (!shape) return refuse(std::move(shape).error().at(g.text(n.id)));
        out.shape = std::move(*shape);
        if (count_of(out.shape) > std::int64_t{1} << 32) return refuse(fault_kind::user, "found a tensor of " + std::to_string(count_of(out.shape)) + " elements, expected at most 2^32 for the reference", std::string(g.text(n.id)));
        return out;
    }
    static void allocate(evaluated& e) { e.values.assign(static_cast<std::size_t>(count_of(e.shape)), 0.0); }
    const evaluated& input(const node& n, std::size_t i) const { return *done[g.inputs_of(n)[i].node]; }
    /// A negative axis counts from the end; errors when it is out of range.
    result<std::size_t> axis_of(const node& n, std::int64_t axis, std::size_t rank) const {
        const std::int64_t from_start = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
        if (from_start < 0 || from_start >= static_cast<std::int64_t>(rank))
            return refuse(wrong(n, "found axis " + std::to_string(axis) + ", expected one of " + std::to_string(rank)));
        return static_cast<std::size_t>(from_start);
    }
    result<void> same_shape(const node& n, const sizes_list& found, const sizes_list& wanted) const {
        if (found == wanted) return {};
        return refuse(wrong(n, "found the shape " + shape_text(found) + ", expected " + shape_text(wanted)));
    }

    std::span<const std::byte> bytes_of(const node& n) const {
        for (const named_bytes& b : given)
            if (b.id == g.text(n.id)) return b.bytes;
        return {};
    }
    result<void> check_bytes(const node& n, const evaluated& shape, std::span<const std::byte> bytes) const {
        const std::size_t wanted = static_cast<std::size_t>(count_of(shape.shape)) * byte_size(shape.type);
        if (bytes.size() == wanted) return {};
        return refuse(wrong(n, "found " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(wanted) + " (" + std::string(token(shape.type)) + shape_text(shape.shape) + ")"));
    }
    result<evaluated> stored(const node& n) const {
        EMMY_TRY(out, blank(n));
        const auto bytes = bytes_of(n);
        EMMY_CHECK_OK(check_bytes(n, out, bytes));
        out.values = from_bytes(out.type, bytes);
        return std::move(out);
    }
    result<evaluated> constant(const node& n) const {
        EMMY_TRY(out, blank(n));
        if (const attribute* a = g.find(n, attr::value)) {
            out.values.assign(static_cast<std::size_t>(count_of(out.shape)), round_to(out.type, a->number.as_double()));
            return std::move(out);
        }
        if (const attribute* a = g.find(n, attr::context_value)) {
            EMMY_TRY(value, size_expression(a->value));
            out.values.assign(static_cast<std::size_t>(count_of(out.shape)), static_cast<double>(value));
            return std::move(out);
        }
        if (const attribute* a = g.find(n, attr::source_graph); a && bytes_of(n).empty()) {
            EMMY_TRY(inner, program::evaluate(*g.nested[a->graph], {}, sizes));
            out.values = std::move(inner[0].values);
            if (const attribute* steps = g.find(n, attr::load_ops))
                for (std::uint32_t i = 0; i < steps->list.count; ++i) {
                    const op step = g.load_ops[steps->list.first + i].op;
                    if (step != op::reshape) return refuse(fault_kind::user, "no reference for a computed constant under " + std::string(text(step)), std::string(g.text(n.id)));
                }
            if (static_cast<std::int64_t>(out.values.size()) != count_of(out.shape)) return refuse(wrong(n, "found " + std::to_string(out.values.size()) + " computed values, expected " + shape_text(out.shape)));
            for (double& v : out.values) v = round_to(out.type, v);
            return std::move(out);
        }
        return stored(n);
    }
    result<std::int64_t> size_expression(expr_id e) const {
        const auto value = evaluate_integer(g.exprs, e, [&](name_id n) { return std::optional(size_of(n)); });
        if (!value) return refuse(fault_kind::input, "found a size that does not evaluate, expected integer arithmetic over symbols");
        return *value;
    }
    std::int64_t size_of(name_id symbol) const {
        for (const bound_size& b : sizes)
            if (b.symbol == g.text(symbol)) return b.size;
        return hint_of(g, symbol);
    }

    result<evaluated> pointwise(const node& n) const {
        EMMY_TRY(out, blank(n));
        const auto name = g.text(n, attr::op);
        for (std::size_t i = 0; i < n.inputs.count; ++i) EMMY_CHECK_OK(same_shape(n, input(n, i).shape, out.shape));
        const auto wide = [](dtype t) { return t == dtype::i64 || t == dtype::u64; };
        bool integers = is_integer(out.type);
        for (std::size_t i = 0; i < n.inputs.count; ++i) integers = integers || is_integer(input(n, i).type);
        if (integers && name != "copy" && name != "where")
            for (std::size_t i = 0; i <= n.inputs.count; ++i)
                if (wide(i == n.inputs.count ? out.type : input(n, i).type)) return refuse(fault_kind::user, "no reference for " + std::string(name) + " of 64-bit integers", std::string(g.text(n.id)));
        allocate(out);
        const std::size_t count = out.values.size();
        if (n.inputs.count == 3) {  // where
            const auto &c = input(n, 0).values, &a = input(n, 1).values, &b = input(n, 2).values;
            for (std::size_t i = 0; i < count; ++i) out.values[i] = c[i] != 0 ? a[i] : b[i];
        } else if (n.inputs.count == 2) {
            const binary_function f = find_binary(name);
            if (!f) return refuse(fault_kind::user, "no reference for the pointwise function " + std::string(name), std::string(g.text(n.id)));
            const auto &a = input(n, 0).values, &b = input(n, 1).values;
            const bool all_integers = is_integer(out.type) && is_integer(input(n, 0).type) && is_integer(input(n, 1).type);
            if (all_integers && name == "multiply") {  // 32-bit products need 64 bits, a double has 53
                for (std::size_t i = 0; i < count; ++i)
                    out.values[i] = integer_to_real(out.type, wrap_to(out.type, static_cast<std::int64_t>(static_cast<std::uint64_t>(as_integer(a[i])) * static_cast<std::uint64_t>(as_integer(b[i])))));
            } else {
                for (std::size_t i = 0; i < count; ++i) out.values[i] = f(a[i], b[i]);
            }
        } else {
            const unary_function f = find_unary(name);
            if (!f) return refuse(fault_kind::user, "no reference for the pointwise function " + std::string(name), std::string(g.text(n.id)));
            const auto& a = input(n, 0).values;
            for (std::size_t i = 0; i < count; ++i) out.values[i] = f(a[i]);
        }
        if (is_integer(out.type) && integers)  // integer results wrap in their type
            for (double& v : out.values) v = integer_to_real(out.type, std::abs(v) < 9e18 ? wrap_to(out.type, static_cast<std::int64_t>(v)) : real_to_integer(out.type, v));
        return std::move(out);
    }

    /// Calls body(outer, inner) over all positions with the axis removed: the axis runs at outer * extent * inner_count + k * inner_count + inner.
    template <class Body>
    static void over_axis(const sizes_list& shape, std::size_t axis, Body body) {
        std::int64_t outer = 1, inner = 1;
        for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
        for (std::int64_t o = 0; o < outer; ++o)
            for (std::int64_t i = 0; i < inner; ++i) body(static_cast<std::size_t>(o * shape[axis] * inner + i), static_cast<std::size_t>(inner), static_cast<std::size_t>(o * inner + i));
    }
    result<evaluated> folded(const node& n, std::string_view name, std::int64_t axis_number, bool running, bool divided) const {
        EMMY_TRY(out, blank(n));
        const evaluated& x = input(n, 0);
        EMMY_TRY(axis, axis_of(n, axis_number, x.shape.size()));
        sizes_list wanted = x.shape;
        if (!running) wanted[axis] = 1;
        EMMY_CHECK_OK(same_shape(n, out.shape, wanted));
        enum { sum, product, maximum, minimum } kind = sum;
        if (name == "prod" || name == "multiply") kind = product;
        else if (name == "maximum" || name == "amax" || name == "fmax" || name == "max") kind = maximum;
        else if (name == "minimum" || name == "amin" || name == "fmin" || name == "min") kind = minimum;
        else if (name != "sum" && name != "add") return refuse(fault_kind::user, "no reference for the fold " + std::string(name), std::string(g.text(n.id)));
        allocate(out);
        const auto extent = static_cast<std::size_t>(x.shape[axis]);
        over_axis(x.shape, axis, [&](std::size_t first, std::size_t stride, std::size_t place) {
            double acc = kind == sum ? 0 : kind == product ? 1 : kind == maximum ? -1e30 : 1e30;
            for (std::size_t k = 0; k < extent; ++k) {
                const double v = x.values[first + k * stride];
                acc = kind == sum ? acc + v : kind == product ? acc * v : kind == maximum ? std::fmax(acc, v) : std::fmin(acc, v);
                if (running) out.values[first + k * stride] = acc;
            }
            if (!running) out.values[place] = divided ? acc / static_cast<double>(extent) : acc;
        });
        return std::move(out);
    }
    result<evaluated> softmax(const node& n) const {
        EMMY_TRY(out, blank(n));
        const evaluated& x = input(n, 0);
        EMMY_CHECK_OK(same_shape(n, x.shape, out.shape));
        EMMY_TRY(axis, axis_of(n, g.integer(n, attr::axis), x.shape.size()));
        allocate(out);
        const auto extent = static_cast<std::size_t>(x.shape[axis]);
        over_axis(x.shape, axis, [&](std::size_t first, std::size_t stride, std::size_t) {
            double top = x.values[first], sum = 0;
            for (std::size_t k = 1; k < extent; ++k) top = std::fmax(top, x.values[first + k * stride]);
            for (std::size_t k = 0; k < extent; ++k) sum += out.values[first + k * stride] = std::exp(x.values[first + k * stride] - top);
            for (std::size_t k = 0; k < extent; ++k) out.values[first + k * stride] /= sum;
        });
        return std::move(out);
    }
    /// rms_norm, or layer_norm (centred; weight and bias optional), over the last axis.
    result<evaluated> norm(const node& n, bool centred) const {
        EMMY_TRY(out, blank(n));
        const evaluated& x = input(n, 0);
        EMMY_CHECK_OK(same_shape(n, x.shape, out.shape));
        if (x.shape.empty()) return refuse(wrong(n, "found a tensor of rank 0, expected at least one axis"));
        const std::int64_t width = x.shape.back(), rows = count_of(x.shape) / width;
        const double eps = g.real(n, attr::eps);
        for (std::size_t i = 1; i < n.inputs.count; ++i) EMMY_CHECK_OK(same_shape(n, input(n, i).shape, {width}));
        const double* w = n.inputs.count > 1 ? input(n, 1).values.data() : nullptr;
        const double* b = n.inputs.count > 2 ? input(n, 2).values.data() : nullptr;
        allocate(out);
        for (std::int64_t r = 0; r < rows; ++r) {
            const double* from = x.values.data() + r * width;
            double* to = out.values.data() + r * width;
            double mean = 0, square = 0;
            if (centred) {
                for (std::int64_t k = 0; k < width; ++k) mean += from[k];
                mean /= static_cast<double>(width);
            }
            for (std::int64_t k = 0; k < width; ++k) square += (from[k] - mean) * (from[k] - mean);
            const double scale = 1 / std::sqrt(square / static_cast<double>(width) + eps);
            for (std::int64_t k = 0; k < width; ++k) to[k] = (from[k] - mean) * scale * (w ? w[k] : 1) + (b ? b[k] : 0);
        }
        return std::move(out);
    }

    /// Shapes of a product: batch sizes of the result, and the strides of each operand's batches (0 where it is broadcast).
    struct product_shape {
        sizes_list batch, a_batch, b_batch;  // extents; 1 where broadcast
        std::int64_t m = 1, n = 1, k = 1;
        bool transposed = false;
    };
    result<product_shape> product_of(const node& n, const sizes_list& a, const sizes_list& b, const sizes_list& out) const {
        product_shape p;
        p.transposed = n.op == op::linear;
        if (a.size() < (p.transposed ? 1u : 2u) || b.size() < 2 || (p.transposed && b.size() != 2)) return refuse(wrong(n, "found operands " + shape_text(a) + " and " + shape_text(b) + ", expected matrices"));
        p.k = a.back();
        p.n = p.transposed ? b[0] : b.back();
        const std::int64_t inner = p.transposed ? b[1] : b[b.size() - 2];
        sizes_list wanted;
        if (p.transposed) {
            wanted = a;
            wanted.back() = p.n;
            p.m = count_of(a) / p.k;
        } else {
            p.m = a[a.size() - 2];
            const std::size_t rank = std::max(a.size(), b.size()) - 2;
            p.a_batch.assign(rank, 1);
            p.b_batch.assign(rank, 1);
            std::copy(a.begin(), a.end() - 2, p.a_batch.end() - static_cast<std::ptrdiff_t>(a.size() - 2));
            std::copy(b.begin(), b.end() - 2, p.b_batch.end() - static_cast<std::ptrdiff_t>(b.size() - 2));
            for (std::size_t i = 0; i < rank; ++i) {
                if (p.a_batch[i] != p.b_batch[i] && p.a_batch[i] != 1 && p.b_batch[i] != 1) return refuse(wrong(n, "found operands " + shape_text(a) + " and " + shape_text(b) + ", expected batch sizes that agree"));
                p.batch.push_back(std::max(p.a_batch[i], p.b_batch[i]));
            }
            wanted = p.batch;
            wanted.push_back(p.m);
            wanted.push_back(p.n);
        }
        if (inner != p.k) return refuse(wrong(n, "found operands " + shape_text(a) + " and " + shape_text(b) + ", expected equal inner sizes"));
        EMMY_CHECK_OK(same_shape(n, out, wanted));
        return p;
    }
    /// Number of the operand's matrix that batch `index` of the result reads.
    static std::int64_t batch_place(const sizes_list& batch, const sizes_list& operand, std::int64_t index) {
        std::int64_t place = 0, step = 1;
        for (std::size_t i = batch.size(); i-- > 0;) {
            const std::int64_t c = index % batch[i];
            index /= batch[i];
            if (operand[i] != 1) place += c * step;
            step *= operand[i];
        }
        return place;
    }
    result<evaluated> product_node(const node& n) const {
        EMMY_TRY(out, blank(n));
        const evaluated &a = input(n, 0), &b = input(n, 1);
        EMMY_TRY(p, product_of(n, a.shape, b.shape, out.shape));
        allocate(out);
        const std::int64_t batches = count_of(p.batch);
        for (std::int64_t i = 0; i < batches; ++i)
            product(a.values.data() + batch_place(p.batch, p.a_batch, i) * p.m * p.k, b.values.data() + batch_place(p.batch, p.b_batch, i) * p.k * p.n,
                    out.values.data() + i * p.m * p.n, p.m, p.n, p.k, p.transposed);
        if (n.inputs.count == 3) {
            const evaluated& bias = input(n, 2);
            EMMY_CHECK_OK(same_shape(n, bias.shape, {p.n}));
            for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] += bias.values[i % static_cast<std::size_t>(p.n)];
        }
        return std::move(out);
    }

    /// Copies the element that `source_of` names (a flat position) for each output position.
    template <class SourceOf>
    static void gather_into(evaluated& out, const evaluated& x, SourceOf source_of) {
        allocate(out);
        sizes_list c(out.shape.size(), 0);
        for (double& v : out.values) {
            v = x.values[static_cast<std::size_t>(source_of(c))];
            for (std::size_t i = c.size(); i-- > 0;) {
                if (++c[i] < out.shape[i]) break;
                c[i] = 0;
            }
        }
    }
    result<evaluated> reshaped(const node& n) const {
        EMMY_TRY(out, blank(n));
        const evaluated& x = input(n, 0);
        if (count_of(out.shape) != count_of(x.shape)) return refuse(wrong(n, "found a reshape of " + shape_text(x.shape) + " to " + shape_text(out.shape) + ", expected equal counts"));
        out.values = x.values;
        return std::move(out);
    }
    result<evaluated> transposed(const node& n) const {
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
    result<evaluated> sliced(const node& n) const {
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
    result<evaluated> joined(const node& n) const {
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
    result<evaluated> mapped(const node& n) const {
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
    result<evaluated> gathered(const node& n) const {
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
    result<evaluated> ramp(const node& n) const {
        EMMY_TRY(out, blank(n));
        allocate(out);
        for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] = static_cast<double>(g.integer(n, attr::start) + static_cast<std::int64_t>(i) * g.integer(n, attr::step));
        return std::move(out);
    }

    result<evaluated> compute(const node& n) const {
        switch (n.op) {
            case op::input: return stored(n);
            case op::constant: return constant(n);
            case op::elementwise:
                return pointwise(n);
            case op::cast: return reshaped(n);
            case op::reduce: return folded(n, g.text(n, attr::op), g.integer(n, attr::axis), false, false);
            case op::scan: return folded(n, g.text(n, attr::op), g.integer(n, attr::axis), true, false);
            case op::mean: return folded(n, "sum", g.integer(n, attr::axis), false, true);
            case op::softmax: return softmax(n);
            case op::rms_norm: return norm(n, false);
            case op::layer_norm: return norm(n, true);
            case op::linear:
            case op::matmul: return product_node(n);
            case op::reshape:
            case op::unsqueeze: return reshaped(n);
            case op::transpose: return transposed(n);
            case op::slice: return sliced(n);
            case op::cat: return joined(n);
            case op::index_map: return mapped(n);
            case op::gather: return gathered(n);
            case op::range: return ramp(n);
            default: return refuse(fault_kind::user, "no reference for " + std::string(text(n.op)), std::string(g.text(n.id)));
        }
    }
    static bool narrow(dtype t) { return t != dtype::f64 && t != dtype::f32 && t != dtype::none; }

    /// Everything that `wanted` needs, producers first; the nodes in `wanted` themselves only when `with_wanted`.
    result<void> run(std::span<const node_id> wanted, bool with_wanted) {
        std::vector<bool> needed(g.nodes.size(), false), last(g.nodes.size(), false);
        for (node_id n : wanted) needed[n] = last[n] = true;
        for (node_id n = static_cast<node_id>(g.nodes.size()); n-- > 0;)
            if (needed[n])
                for (const edge e : g.inputs_of(g.nodes[n])) needed[e.node] = true;
        std::vector<bool> read(g.nodes.size(), false);
        for (node_id n = 0; n < g.nodes.size(); ++n)
            for (const edge e : g.inputs_of(g.nodes[n])) read[e.node] = read[e.node] || needed[n];
        for (node_id n = 0; n < g.nodes.size(); ++n) {
            if (!needed[n] || (last[n] && !with_wanted)) continue;
            if (g.nodes[n].outputs.count != 1) return refuse(fault_kind::user, "no reference for an operator of several results", std::string(g.id(n)));
            EMMY_TRY(value, compute(g.nodes[n]));
            if (read[n] && narrow(value.type))  // a tensor of the program is a rounding point
                for (double& v : value.values) v = round_to(value.type, v);
            done[n] = std::make_unique<evaluated>(std::move(value));
        }
        return {};
    }
};

}  // namespace detail

EMMY_DECL std::vector<double> from_bytes(dtype type, std::span<const std::byte> bytes) {
    std::vector<double> out(bytes.size() / byte_size(type));
    if (type == dtype::f32) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(emmy::detail::read_bytes<float>(bytes.data(), i));
        return out;
    }
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = load_element(type, bytes.data(), i);
    return out;
}

EMMY_DECL std::vector<std::byte> to_bytes(dtype type, std::span<const double> values) {
    std::vector<std::byte> out(values.size() * byte_size(type));
    for (std::size_t i = 0; i < values.size(); ++i) store_real(type, out.data(), i, values[i]);
    return out;
}

EMMY_DECL result<std::vector<std::int64_t>> concrete_shape(const graph& g, std::span<const dim> shape, std::span<const bound_size> sizes) {
    const detail::evaluation at(g, {}, sizes);
    std::vector<std::int64_t> out;
    double elements = 1;
    for (const dim& d : shape) {
        std::int64_t size = d.number;
        if (d.kind == dim::form::symbol) size = at.size_of(d.symbol);
        if (d.kind == dim::form::expression) {
            EMMY_TRY(value, at.size_expression(d.value));
            size = value;
        }
        if (size < 1) return refuse(fault_kind::input, "found the size " + std::to_string(size) + " for " + dim_text(d, g.exprs, g.names) + ", expected at least 1");
        elements *= static_cast<double>(size);
        if (elements > 4e18) return refuse(fault_kind::input, "found more elements than 64 bits count, expected a tensor that can exist");
        out.push_back(size);
    }
    return out;
}

EMMY_DECL result<std::int64_t> element_count(const graph& g, std::span<const dim> shape, std::span<const bound_size> sizes) {
    EMMY_TRY(concrete, concrete_shape(g, shape, sizes));
    return detail::count_of(concrete);
}

EMMY_DECL result<std::vector<evaluated>> evaluate(const graph& g, std::span<const named_bytes> given, std::span<const bound_size> sizes) {
    detail::evaluation e(g, given, sizes);
    std::vector<node_id> wanted;
    for (const edge out : g.outputs) wanted.push_back(out.node);
    EMMY_CHECK_OK(e.run(wanted, true));
    std::vector<evaluated> out;
    for (const node_id n : wanted) out.push_back(*e.done[n]);
    return out;
}

EMMY_DECL result<std::vector<double>> evaluate_cells(const graph& g, std::span<const named_bytes> given, std::span<const bound_size> sizes, std::span<const std::int64_t> cells) {
    const node& last = g.nodes[g.outputs[0].node];
    const auto direct = [&](std::size_t i) {
        const node& n = g.nodes[g.inputs_of(last)[i].node];
        return n.op == op::input || (n.op == op::constant && (g.find(n, attr::source_path) || g.find(n, attr::source_parts)));
    };
    std::vector<double> out;
    out.reserve(cells.size());
    const bool by_cell = (last.op == op::matmul || last.op == op::linear) && direct(0) && direct(1) && (last.inputs.count == 2 || direct(2));
    if (!by_cell) {
        EMMY_TRY(all, evaluate(g, given, sizes));
        for (std::int64_t c : cells) {
            if (c < 0 || c >= static_cast<std::int64_t>(all[0].values.size())) return refuse(fault_kind::user, "found the cell " + std::to_string(c) + ", expected one inside the output");
            out.push_back(all[0].values[static_cast<std::size_t>(c)]);
        }
        return out;
    }
    const detail::evaluation e(g, given, sizes);
    EMMY_TRY(whole, e.blank(last));
    std::vector<evaluated> operand;
    std::vector<const std::byte*> bytes;
    for (std::size_t i = 0; i < last.inputs.count; ++i) {
        const node& n = g.nodes[g.inputs_of(last)[i].node];
        EMMY_TRY(shape, e.blank(n));
        EMMY_CHECK_OK(e.check_bytes(n, shape, e.bytes_of(n)));
        operand.push_back(std::move(shape));
        bytes.push_back(e.bytes_of(n).data());
    }
    EMMY_TRY(p, e.product_of(last, operand[0].shape, operand[1].shape, whole.shape));
    if (last.inputs.count == 3) EMMY_CHECK_OK(e.same_shape(last, operand[2].shape, {p.n}));
    const std::int64_t count = detail::count_of(whole.shape);
    for (std::int64_t c : cells) {
        if (c < 0 || c >= count) return refuse(fault_kind::user, "found the cell " + std::to_string(c) + ", expected one inside the output");
        const std::int64_t column = c % p.n, row = c / p.n % p.m, batch = c / (p.n * p.m);
        const std::int64_t a = detail::evaluation::batch_place(p.batch, p.a_batch, batch) * p.m * p.k + row * p.k;
        const std::int64_t b = detail::evaluation::batch_place(p.batch, p.b_batch, batch) * p.k * p.n;
        double sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k)
            sum += load_element(operand[0].type, bytes[0], static_cast<std::size_t>(a + k)) *
                   load_element(operand[1].type, bytes[1], static_cast<std::size_t>(b + (p.transposed ? column * p.k + k : k * p.n + column)));
        out.push_back(sum + (last.inputs.count == 3 ? load_element(operand[2].type, bytes[2], static_cast<std::size_t>(column)) : 0.0));
    }
    return out;
}

}  // namespace emmy::program
