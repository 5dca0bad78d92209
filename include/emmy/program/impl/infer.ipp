#pragma once
#include <emmy/program/impl/infer_context.ipp>

#include <charconv>
#include <cmath>
#include <numeric>

namespace emmy::program {

EMMY_DECL result<cat_parts> cat_of(const graph& g, const node& n) {
    const detail::inference at(g, n);
    if (n.inputs.count < 2)
        return at.wrong("inputs", "found " + std::to_string(n.inputs.count) + " inputs of torch.cat, expected parts and the literal of their axis");
    const edge last = g.inputs_of(n)[n.inputs.count - 1];
    const node& from = g.nodes[last.node];
    const attribute* value = from.op == op::constant ? g.find(from, attr::value) : nullptr;
    const double number = value ? value->number.as_double() : 0.5;
    if (!(number == std::floor(number) && std::fabs(number) < 1e6))
        return at.wrong("inputs", "found no whole literal after the parts of torch.cat, expected their axis");
    EMMY_TRY(axis, at.axis(static_cast<std::int64_t>(number), g.shape(g.inputs_of(n)[0]).size(), "inputs"));
    return cat_parts{n.inputs.count - 1, axis};
}

EMMY_DECL result<std::vector<std::size_t>> transpose_order(const graph& g, const node& n) {
    const detail::inference at(g, n);
    const std::size_t rank = g.shape(g.inputs_of(n)[0]).size();
    const attribute& a = *g.find(n, attr::axes);
    std::vector<std::size_t> order;
    for (std::uint32_t i = 0; i < a.list.count; ++i) {
        EMMY_TRY(axis, at.axis(g.integers[a.list.first + i], rank, "attrs.axes"));
        order.push_back(axis);
    }
    if (order.size() == 2) {  // a swap of two axes
        std::vector<std::size_t> full(rank);
        std::iota(full.begin(), full.end(), std::size_t{0});
        std::swap(full[order[0]], full[order[1]]);
        return full;
    }
    std::vector<bool> seen(rank, false);
    bool permutation = order.size() == rank;
    for (std::size_t axis : order) {
        permutation = permutation && !seen[axis];
        seen[axis] = true;
    }
    if (!permutation)
        return at.wrong("attrs.axes", "found axes that are no permutation, expected each of " + std::to_string(rank) + " axes once or a pair to swap");
    return order;
}

namespace detail {

inline result<shape_list> inference::transposed() const {
    EMMY_TRY(order, transpose_order(g, n));
    const shape_list in = input(0);
    shape_list out;
    for (std::size_t axis : order) out.push_back(in[axis]);
    return out;
}

inline result<shape_list> inference::reshaped() const {
    const shape_list in = input(0);
    const attribute& a = *g.find(n, attr::shape);
    shape_list out;
    std::size_t open = a.list.count;
    extent rest(1);
    for (std::uint32_t i = 0; i < a.list.count; ++i) {
        const dim& d = g.dims[a.list.first + i];
        if (d.kind == dim::form::number && d.number == -1) {
            if (open != a.list.count) return wrong("attrs.shape", "found -1 twice, expected one size at most that is left over");
            open = i;
            out.emplace_back(1);
            continue;
        }
        out.push_back(extent::of(g, d));
        rest = rest * out.back();
    }
    const extent all = count_of(in);
    if (open != a.list.count) {
        out[open] = all / rest;
        if (out[open].bad() || out[open].least() < 1 || !(out[open] * rest == all))
            return wrong("attrs.shape", "found " + text(in) + " reshaped with " + text(rest) + " elements beside -1, expected a divisor of " + text(all));
    } else if (!(rest == all)) {
        return wrong("attrs.shape", "found a reshape of " + text(in) + " to " + text(out) + ", expected equal counts");
    }
    return out;
}

inline result<shape_list> inference::sliced() const {
    const shape_list in = input(0);
    EMMY_TRY(axis, this->axis(g.integer(n, attr::dim), in.size(), "attrs.dim"));
    const shape_list out = extents_of(g, g.shape_of(g.find(n, attr::shape)->list));
    bool same = out.size() == in.size();
    for (std::size_t i = 0; same && i < in.size(); ++i) same = i == axis || out[i] == in[i];
    if (!same) return wrong("attrs.shape", "found " + text(out) + ", expected " + text(in) + " but for axis " + std::to_string(axis));
    const std::int64_t start = g.integer(n, attr::start);
    const extent first = start < 0 ? in[axis] + extent(start) : extent(start), beyond = in[axis] - first - out[axis];
    // Of a symbolic axis the largest size decides: smaller ones are refused when they are bound.
    const std::int64_t size = largest_symbol_size;
    if (first.bad() || beyond.bad() || first.at(size) < 0 || beyond.at(size) < 0 || out[axis].at(size) < 1)
        return wrong("attrs.start", "found a slice of " + text(out[axis]) + " from " + std::to_string(start) + ", expected one inside " + text(in[axis]));
    return out;
}

inline result<shape_list> inference::joined() const {
    EMMY_TRY(cat, cat_of(g, n));
    shape_list out = input(0);
    for (std::uint32_t i = 1; i < cat.parts; ++i) {
        const shape_list part = input(i);
        bool same = part.size() == out.size();
        for (std::size_t k = 0; same && k < out.size(); ++k) same = k == cat.axis || part[k] == out[k];
        if (!same)
            return wrong("inputs", "found the parts " + text(out) + " and " + text(part) + ", expected equal sizes but for axis " + std::to_string(cat.axis));
        out[cat.axis] = out[cat.axis] + part[cat.axis];
    }
    return out;
}

inline result<shape_list> inference::unsqueezed() const {
    shape_list out = input(0);
    EMMY_TRY(axis, this->axis(g.integer(n, attr::dim), out.size() + 1, "attrs.dim"));
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), extent(1));
    return out;
}

inline result<shape_list> inference::gathered() const {
    const shape_list data = input(0), index = input(1);
    EMMY_TRY(axis, this->axis(g.integer(n, attr::axis), data.size(), "attrs.axis"));
    const std::size_t rank = g.shape_of(g.outputs_of(n)[0].shape).size();
    if (data.size() == index.size() && (rank == index.size())) {  // one element of data for each of index
        for (std::size_t i = 0; i < data.size(); ++i)
            if (i != axis && (data[i] - index[i]).at(largest_symbol_size) < 0)
                return wrong("inputs", "found an index " + text(index) + " wider than the data " + text(data) + ", expected it inside");
        return index;
    }
    shape_list out(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
    out.insert(out.end(), index.begin(), index.end());
    out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
    return out;
}

/// Integer arithmetic over out_coord_0 … out_coord_<rank - 1> and the program's symbol.
inline result<void> inference::coordinate(expr_id id, std::size_t rank) const {
    const expr& e = g.exprs[id];
    switch (e.kind) {
        case expr_kind::integer:
        case expr_kind::boolean: return {};
        case expr_kind::name: {
            const std::string_view name = g.text(e.name);
            std::size_t place = 0;
            if (name.starts_with("out_coord_")) {
                const auto [end, error] = std::from_chars(name.data() + 10, name.data() + name.size(), place);
                if (error == std::errc() && end == name.data() + name.size() && place < rank) return {};
            } else if (const auto known = symbols(g); std::find(known.begin(), known.end(), e.name) != known.end()) {
                return {};
            }
            return refuse(fault_kind::input, "found the name \"" + std::string(name) + "\", expected a coordinate of the result or the program's symbol");
        }
        case expr_kind::cast: return coordinate(e.a, rank);
        case expr_kind::binary:
            EMMY_CHECK_OK(coordinate(e.a, rank));
            return coordinate(e.b, rank);
        case expr_kind::ternary:
            EMMY_CHECK_OK(coordinate(e.a, rank));
            EMMY_CHECK_OK(coordinate(e.b, rank));
            return coordinate(e.c, rank);
        default: return refuse(fault_kind::input, "found a real number, a call or a built-in name, expected integer arithmetic");
    }
}

inline result<shape_list> inference::mapped() const {
    const attribute* shape = g.find(n, attr::out_shape);
    const shape_list out = shape ? extents_of(g, g.shape_of(shape->list)) : shape_list{};
    const attribute& list = *g.find(n, attr::sources);
    for (std::uint32_t i = 0; i < list.list.count; ++i) {
        const map_source& s = g.sources[list.list.first + i];
        const auto at = "source " + std::to_string(i) + ": ";
        if (s.input_idx < 0 || s.input_idx >= static_cast<std::int64_t>(n.inputs.count))
            return wrong("attrs.sources",
                         at + "found input_idx " + std::to_string(s.input_idx) + ", expected one of " + std::to_string(n.inputs.count) + " inputs");
        const auto rank = g.shape(g.inputs_of(n)[static_cast<std::size_t>(s.input_idx)]).size();
        if (s.coord_map.count != rank)
            return wrong("attrs.sources",
                         at + "found " + std::to_string(s.coord_map.count) + " coordinates, expected the input's rank " + std::to_string(rank));
        for (std::uint32_t c = 0; c < s.coord_map.count; ++c)
            if (auto ok = coordinate(g.coordinates[s.coord_map.first + c], out.size()); !ok) return wrong("attrs.sources", at + ok.error().message());
        if (s.select != no_expr)
            if (auto ok = coordinate(s.select, out.size()); !ok) return wrong("attrs.sources", at + ok.error().message());
        const bool last = i + 1 == list.list.count;
        if (!last && s.select == no_expr) return wrong("attrs.sources", at + "found no select, expected one on every source but the last");
        if (last && i == 0 && s.select != no_expr) return wrong("attrs.sources", at + "found a select, expected an only source to be taken everywhere");
    }
    return out;
}

inline result<shape_list> inference::ramp() const {
    const std::int64_t start = g.integer(n, attr::start), stop = g.integer(n, attr::stop), step = g.integer(n, attr::step);
    constexpr std::int64_t most = std::int64_t{1} << 40;
    const auto far = [](std::int64_t v) { return v > most || v < -most; };
    if (step == 0) return wrong("attrs.step", "found step 0, expected another");
    if (far(start) || far(stop) || far(step)) return wrong("attrs.stop", "found a ramp beyond 2^40, expected a shorter one");
    const std::int64_t span = step > 0 ? stop - start : start - stop, stride = step > 0 ? step : -step;
    if (span < 1) return wrong("attrs.stop", "found an empty ramp, expected at least one element");
    return shape_list{extent((span + stride - 1) / stride)};
}

/// rms_norm, layer_norm: the last axis; weights have its size.
inline result<shape_list> inference::normed() const {
    const shape_list x = input(0);
    if (x.empty()) return wrong("inputs", "found a tensor of rank 0, expected at least one axis");
    for (std::size_t i = 1; i < n.inputs.count; ++i)
        if (const shape_list w = input(i); w.size() != 1 || !(w[0] == x.back()))
            return wrong("inputs", "found the weight " + text(w) + ", expected [" + text(x.back()) + "]");
    if (!(g.real(n, attr::eps) >= 0)) return wrong("attrs.eps", "found a negative eps, expected at least 0");
    return x;
}

inline result<shape_list> inference::shape() const {
    switch (n.op) {
        case op::input:
        case op::constant: return extents_of(g, g.shape_of(g.outputs_of(n)[0].shape));
        case op::elementwise: {
            const shape_list first = input(0);
            for (std::size_t i = 1; i < n.inputs.count; ++i)
                if (const shape_list other = input(i); other != first)
                    return wrong("inputs", "found the shapes " + text(first) + " and " + text(other) + ", expected equal ones");
            return first;
        }
        case op::cast:
        case op::bitcast: return input(0);
        case op::scatter: return input(0);
        case op::reduce:
        case op::scan:
        case op::mean:
        case op::softmax: {
            shape_list out = input(0);
            EMMY_TRY(axis, this->axis(g.integer(n, attr::axis), out.size(), "attrs.axis"));
            if (n.op == op::reduce || n.op == op::mean) out[axis] = extent(1);
            return out;
        }
        case op::rms_norm:
        case op::layer_norm: return normed();
        case op::index_map: return mapped();
        case op::gather: return gathered();
        case op::range: return ramp();
        case op::linear: return linear();
        case op::matmul: return matmul();
        case op::sdpa: return attention();
        case op::transpose: return transposed();
        case op::reshape: return reshaped();
        case op::slice: return sliced();
        case op::cat: return joined();
        case op::unsqueeze: return unsqueezed();
        case op::conv1d: return convolution(1, false);
        case op::conv2d: return convolution(2, false);
        case op::conv_transpose1d: return convolution(1, true);
        case op::einsum: return einsum();
        case op::count_: break;
    }
    return wrong("op", "found no operator, expected one");
}

}  // namespace detail
}  // namespace emmy::program
