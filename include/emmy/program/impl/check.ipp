#pragma once
#include <emmy/program/check.hpp>
#include <emmy/program/impl/check_form.ipp>
#include <emmy/program/impl/infer.ipp>
#include <emmy/program/impl/infer_products.ipp>
#include <emmy/program/impl/infer_types.ipp>

namespace emmy::program {
namespace detail {

/// Ranks, sizes at the symbol's largest value, counts.
inline result<void> check_sizes(const graph& g, const node& n) {
    const inference at(g, n);
    for (const tensor& t : g.outputs_of(n)) {
        const auto shape = g.shape_of(t.shape);
        if (shape.size() > largest_rank) return at.wrong("outputs", "found a tensor of rank " + std::to_string(shape.size()) + ", expected at most " + std::to_string(largest_rank));
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
    std::vector<name_id> all = symbols(g);  // bare ones
    const auto names = [&](const auto& self, expr_id id) -> void {
        const expr& e = g.exprs[id];
        if (e.kind == expr_kind::name && std::find(all.begin(), all.end(), e.name) == all.end()) all.push_back(e.name);
        if (e.kind == expr_kind::binary || e.kind == expr_kind::ternary || e.kind == expr_kind::cast) self(self, e.a);
        if (e.kind == expr_kind::binary || e.kind == expr_kind::ternary) self(self, e.b);
        if (e.kind == expr_kind::ternary) self(self, e.c);
    };
    for (const dim& d : g.dims)
        if (d.kind == dim::form::expression) names(names, d.value);
    if (all.size() > 1) return refuse(fault_kind::input, "found the symbols \"" + std::string(g.text(all[0])) + "\" and \"" + std::string(g.text(all[1])) + "\", expected one at most");
    if (all.empty()) return {};
    for (const dim& d : g.dims)  // extents of attributes are bare names: they state no size
        if (d.kind == dim::form::symbol && d.has_hint) return {};
    for (const node& n : g.nodes)
        if (n.op == op::input)
            for (const tensor& t : g.outputs_of(n))
                for (const dim& d : g.shape_of(t.shape))
                    if (d.kind == dim::form::symbol) return {};  // without a hint: default_hint
    return refuse(fault_kind::input, "found the symbol \"" + std::string(g.text(all[0])) + "\" without a hint and without an input that has it, expected a size to run it at");
}

EMMY_DECL result<void> check_program(const graph& g) {
    EMMY_CHECK_OK(check_form(g));
    EMMY_CHECK_OK(check_symbols(g));
    for (const node& n : g.nodes)
        if (auto ok = check_node(g, n); !ok) return refuse(std::move(ok).error().at(g.text(n.id)));
    return {};
}

}  // namespace emmy::program
