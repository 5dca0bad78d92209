#pragma once
#include <emmy/program/check.hpp>

#include <algorithm>

namespace emmy::program::detail {

using shape_list = std::vector<extent>;

/// One node under inference, with what messages need.
struct inference {
    const graph& g;
    const node& n;

    inference(const graph& graph, const node& node) : g(graph), n(node) {}
    std::string symbol() const {  // looked for when something is refused
        const auto known = symbols(g);
        return known.empty() ? "symbol" : std::string(g.text(known[0]));
    }
    tl::unexpected<fault> wrong(std::string_view field, std::string message) const { return refuse(fault_kind::input, std::move(message), std::string(field)); }
    std::string text(const extent& e) const { return e.is_number() ? std::to_string(e.number()) : e.text(symbol()); }
    std::string text(const shape_list& shape) const {
        std::string out = "[";
        for (std::size_t i = 0; i < shape.size(); ++i) (out += i ? "," : "") += text(shape[i]);
        return out + "]";
    }
    std::string op_text() const { return std::string(program::text(n.op)); }

    shape_list input(std::size_t i) const { return extents_of(g, g.shape(g.inputs_of(n)[i])); }
    dtype type(std::size_t i) const { return g.at(g.inputs_of(n)[i]).type; }
    dtype declared() const { return g.outputs_of(n)[0].type; }
    bool literal_input(std::size_t i) const {
        const node& from = g.nodes[g.inputs_of(n)[i].node];
        return from.op == op::constant && g.find(from, attr::value) != nullptr;
    }
    result<std::size_t> axis(std::int64_t a, std::size_t rank, std::string_view field) const {
        const std::int64_t from_start = a < 0 ? a + static_cast<std::int64_t>(rank) : a;
        if (from_start < 0 || from_start >= static_cast<std::int64_t>(rank))
            return wrong(field, "found axis " + std::to_string(a) + ", expected one of " + std::to_string(rank));
        return static_cast<std::size_t>(from_start);
    }
    result<std::int64_t> fixed(const extent& e, std::string_view what) const {
        if (!e.is_number()) return wrong("inputs", "found the size " + text(e) + " for " + std::string(what) + ", expected a number");
        return e.number();
    }
    /// Right-aligned; 1 against anything.
    result<shape_list> broadcast(shape_list a, shape_list b, std::string_view field) const {
        const shape_list left = a, right = b;
        if (a.size() < b.size()) std::swap(a, b);
        for (std::size_t i = 1; i <= b.size(); ++i) {
            extent& x = a[a.size() - i];
            const extent& y = b[b.size() - i];
            if (x == y || y == extent(1)) continue;
            if (!(x == extent(1))) return wrong(field, "found the shapes " + text(left) + " and " + text(right) + ", expected ones that broadcast");
            x = y;
        }
        return a;
    }

    // impl/infer.ipp
    result<shape_list> shape() const;
    result<shape_list> transposed() const;
    result<shape_list> reshaped() const;
    result<shape_list> sliced() const;
    result<shape_list> joined() const;
    result<shape_list> unsqueezed() const;
    result<shape_list> gathered() const;
    result<shape_list> mapped() const;
    result<void> coordinate(expr_id id, std::size_t rank) const;
    result<shape_list> ramp() const;
    result<shape_list> normed() const;
    // impl/infer_products.ipp
    result<shape_list> linear() const;
    result<shape_list> matmul() const;
    result<shape_list> attention() const;
    result<shape_list> convolution(std::size_t spatial, bool transposed) const;
    result<shape_list> einsum() const;
    // impl/infer_types.ipp
    result<void> types() const;
    result<void> pointwise_types() const;
    result<void> constant_types() const;
};

}  // namespace emmy::program::detail
