#pragma once
#include <emmy/program/check.hpp>
#include <emmy/program/impl/check_form.ipp>
#include <emmy/program/impl/infer.ipp>
#include <emmy/program/impl/infer_products.ipp>
#include <emmy/program/impl/infer_types.ipp>

#include <optional>

namespace emmy::program {
namespace detail {

/// Ranks, sizes at the symbol's largest value, counts.
inline result<void> check_sizes(const graph& g, const node& n) {
    const inference at(g, n);
    for (const tensor& t : g.outputs_of(n)) {
        const auto shape = g.shape_of(t.shape);
        if (shape.size() > largest_rank)
            return at.wrong("outputs", "found a tensor of rank " + std::to_string(shape.size()) + ", expected at most " + std::to_string(largest_rank));
        if (t.type == dtype::none) return at.wrong("outputs", "found no element type, expected one");
        double elements = 1;
        for (const dim& d : shape) {
            const extent e = extent::of(g, d);
            if (e.bad()) return at.wrong("outputs", "found a size that does not evaluate, expected arithmetic over the symbol");
            const std::int64_t size = e.at(largest_symbol_size);
            if (size < 1) return at.wrong("outputs", "found the size " + at.text(e) + ", expected at least 1");
            elements *= static_cast<double>(size);
            if (elements > 4e18) return at.wrong("outputs", "found more elements than 64 bits count, expected a tensor that can exist");
        }
    }
    return {};
}

/// A fault of the program's symbols, at "outputs" or "attrs.<key>" of a node.
struct placed_fault {
    node_id where = no_node;
    fault what;
};
inline std::optional<placed_fault> symbol_fault(const graph& g) {
    name_id first = no_name;
    node_id seen = no_node;
    std::string_view seen_at;
    bool sized = false;  // by a hint, or by an input whose dim it is (512 without a hint)
    for (node_id n = 0; n < g.nodes.size(); ++n) {
        std::optional<placed_fault> wrong;
        const auto meet = [&](name_id name, std::string_view field) {
            if (first == no_name) first = name, seen = n, seen_at = field;
            if (name == first || wrong) return;
            wrong = placed_fault{
                n, fault(fault_kind::input,
                         "found the symbol \"" + std::string(g.text(name)) + "\" beside \"" + std::string(g.text(first)) + "\", expected one in a program",
                         std::string(field))};
        };
        const auto expression = [&](const auto& self, expr_id id, std::string_view field) -> void {
            const expr& e = g.exprs[id];
            if (e.kind == expr_kind::name) meet(e.name, field);
            if (e.kind == expr_kind::binary || e.kind == expr_kind::ternary || e.kind == expr_kind::cast) self(self, e.a, field);
            if (e.kind == expr_kind::binary || e.kind == expr_kind::ternary) self(self, e.b, field);
            if (e.kind == expr_kind::ternary) self(self, e.c, field);
        };
        const auto dims = [&](std::span<const dim> list, std::string_view field) {
            for (const dim& d : list) {
                if (d.kind == dim::form::symbol) meet(d.symbol, field);
                if (d.kind == dim::form::expression) expression(expression, d.value, field);
                sized = sized || (d.kind == dim::form::symbol && (d.has_hint || g.nodes[n].op == op::input));
            }
        };
        for (const tensor& t : g.outputs_of(g.nodes[n])) dims(g.shape_of(t.shape), "outputs");
        for (const attribute& a : g.attrs_of(g.nodes[n].attrs)) {
            if (a.kind == attr_kind::dims) dims(g.shape_of(a.list), a.key == attr::out_shape ? "attrs.out_shape" : "attrs.source_shape");
            if (a.kind == attr_kind::extents) dims(g.shape_of(a.list), "attrs.shape");
            if (a.kind == attr_kind::expression) expression(expression, a.value, "attrs.context_value");
        }
        if (wrong) return wrong;
    }
    if (first == no_name || sized) return std::nullopt;
    return placed_fault{
        seen, fault(fault_kind::input,
                    "found the symbol \"" + std::string(g.text(first)) + "\" without a hint and without an input that has it, expected a size to run it at",
                    std::string(seen_at))};
}

}  // namespace detail

EMMY_DECL result<std::vector<extent>> infer_shape(const graph& g, const node& n) { return detail::inference(g, n).shape(); }

EMMY_DECL result<void> check_node(const graph& g, const node& n) {
    EMMY_CHECK_OK(detail::check_sizes(g, n));
    const detail::inference at(g, n);
    if (n.op == op::input) return {};
    EMMY_TRY(shape, at.shape());
    if (const auto declared = extents_of(g, g.shape_of(g.outputs_of(n)[0].shape)); declared != shape)
        return at.wrong("outputs", "found the shape " + at.text(declared) + ", expected " + at.text(shape) + " from " + at.op_text());
    return at.types();
}

EMMY_DECL result<void> check_symbols(const graph& g) {
    const auto wrong = detail::symbol_fault(g);
    if (!wrong) return {};
    return refuse(fault(wrong->what).at(g.id(wrong->where)));
}

EMMY_DECL result<void> check_program(const graph& g) {
    EMMY_CHECK_OK(check_form(g));
    EMMY_CHECK_OK(check_symbols(g));
    for (const node& n : g.nodes)
        if (auto ok = check_node(g, n); !ok) return refuse(std::move(ok).error().at(g.text(n.id)));
    return {};
}

}  // namespace emmy::program
