#pragma once
#include <emmy/program/check.hpp>
#include <emmy/program/lower/impl/compose_maps.ipp>
#include <emmy/program/lower/impl/fold_constants.ipp>
#include <emmy/program/lower/impl/scatter_rules.ipp>

namespace emmy::program {
namespace detail {

class lowering {
public:
    explicit lowering(const graph& traced) : traced_(traced), r_(traced), w_(r_.w) {}

    result<primitive_graph> run() {
        std::size_t before = 0;
        do {
            before = w_.changes;
            EMMY_CHECK_OK(round());
        } while (w_.changes != before);
        for (const node_id n : all_maps()) w_.pending[static_cast<std::size_t>(op::index_map)].push_back(n);
        split_casts(r_);
        map_composition(r_).run();
        return finish();
    }

private:
    using rule = result<void> (*)(rewriter&, node_id);
    /// One rule at every node of one operator; nodes it makes of that operator come in turn.
    result<void> each(op tag, rule apply) {
        auto& list = w_.pending[static_cast<std::size_t>(tag)];
        for (std::size_t i = 0; i < list.size(); ++i) {
            const node_id n = list[i];
            if (!w_.alive(n) || w_.kind(n) != tag) continue;
            w_.enter(n);
            EMMY_CHECK_OK(apply(r_, n));
        }
        list.clear();
        return {};
    }
    /// One pointwise function by its name.
    result<void> each_named(std::initializer_list<std::string_view> names, rule apply) {
        const auto& list = w_.pending[static_cast<std::size_t>(op::elementwise)];
        for (std::size_t i = 0; i < list.size(); ++i) {
            const node_id n = list[i];
            if (!w_.alive(n) || w_.kind(n) != op::elementwise) continue;
            const std::string_view own = w_.g.text(w_.g.nodes[n], attr::op);
            if (std::find(names.begin(), names.end(), own) == names.end()) continue;
            w_.enter(n);
            EMMY_CHECK_OK(apply(r_, n));
        }
        return {};
    }
    void bind_layouts(op tag) {
        auto& list = w_.pending[static_cast<std::size_t>(tag)];
        for (std::size_t i = 0; i < list.size(); ++i)
            if (w_.alive(list[i]) && w_.kind(list[i]) == tag) bind_layout(r_, list[i]);
    }
    /// The rules in their one order; see doc/lowering.md.
    result<void> round() {
        EMMY_CHECK_OK(each(op::cast, [](rewriter& r, node_id n) { r.w.become_pointwise(n, "copy", {r.w.input(n, 0)}); return result<void>(); }));
        EMMY_CHECK_OK(each(op::einsum, lower_einsum));
        EMMY_CHECK_OK(each(op::conv1d, lower_conv1d));
        EMMY_CHECK_OK(each(op::conv_transpose1d, lower_conv_transpose1d));
        EMMY_CHECK_OK(each(op::conv2d, lower_conv2d));
        EMMY_CHECK_OK(each(op::scatter, lower_scatter));
        EMMY_CHECK_OK(each(op::sdpa, lower_sdpa));
        EMMY_CHECK_OK(each_named({"silu"}, lower_silu));
        EMMY_CHECK_OK(each_named({"softplus"}, lower_softplus));
        EMMY_CHECK_OK(each_named({"pow", "power"}, lower_power));
        constant_folding(r_).run();
        EMMY_CHECK_OK(each(op::linear, lower_linear));
        bind_layouts(op::transpose);
        bind_layouts(op::reshape);
        EMMY_CHECK_OK(each(op::matmul, lower_matmul));
        EMMY_CHECK_OK(each(op::rms_norm, lower_rms_norm));
        EMMY_CHECK_OK(each(op::layer_norm, lower_layer_norm));
        EMMY_CHECK_OK(each(op::mean, lower_mean));
        EMMY_CHECK_OK(each(op::softmax, lower_softmax));
        EMMY_CHECK_OK(each(op::unsqueeze, [](rewriter& r, node_id n) { return r.unsqueeze(n); }));
        EMMY_CHECK_OK(each(op::transpose, [](rewriter& r, node_id n) { return r.transpose(n); }));
        EMMY_CHECK_OK(each(op::reshape, [](rewriter& r, node_id n) { return r.reshape(n); }));
        EMMY_CHECK_OK(each(op::slice, [](rewriter& r, node_id n) { return r.slice(n); }));
        EMMY_CHECK_OK(each(op::cat, [](rewriter& r, node_id n) { return r.cat(n); }));
        EMMY_CHECK_OK(each_named({"gelu"}, lower_gelu));
        EMMY_CHECK_OK(each_named({"gelu_tanh"}, lower_gelu_tanh));
        w_.pending[static_cast<std::size_t>(op::elementwise)].clear();
        return {};
    }
    std::vector<node_id> all_maps() {
        std::vector<node_id> out;
        w_.take(op::index_map);
        for (node_id n = 0; n < w_.size(); ++n)
            if (w_.alive(n) && w_.kind(n) == op::index_map) out.push_back(n);
        return out;
    }
    static bool primitive(op tag) {
        switch (tag) {
            case op::input: case op::constant: case op::elementwise: case op::reduce: case op::scan: case op::index_map: case op::gather: case op::bitcast: return true;
            default: return false;
        }
    }
    result<primitive_graph> finish() {
        primitive_graph out;
        transplant move(w_.g, out.g, false);
        for (node_id n = 0; n < w_.size(); ++n) {
            if (!w_.alive(n)) continue;
            if (!primitive(w_.kind(n))) return refuse(w_.wrong(n, "no lowering for " + std::string(text(w_.kind(n))), fault_kind::user));
            move.copy(n);
        }
        std::vector<node_id> order;
        out.g.names = std::move(w_.g.names);
        out.g.exprs = std::move(w_.g.exprs);
        move.finish(&order);
        for (const edge e : traced_.outputs) out.g.outputs.push_back({move.place(e.node), 0});
        for (const node_id n : traced_.inputs) out.g.inputs.push_back(move.place(n));
        for (const node_id n : order) {
            out.transient.push_back(w_.transient(n));
            std::vector<node_id>& from = w_.origins(n);
            std::sort(from.begin(), from.end());
            out.origins.push_back({static_cast<std::uint32_t>(out.origin_list.size()), static_cast<std::uint32_t>(from.size())});
            for (const node_id o : from) out.origin_list.push_back({o, traced_.nodes[o].id, traced_.nodes[o].op});
        }
        return out;
    }

    const graph& traced_;
    rewriter r_;
    workspace& w_;
};

}  // namespace detail

EMMY_DECL result<primitive_graph> lower(const graph& traced) {
    EMMY_CHECK_OK(check_program(traced));
    for (const node& n : traced.nodes)
        if (n.outputs.count != 1) return refuse(fault_kind::user, "no lowering for an operator of several results", std::string(traced.text(n.id)));
    return detail::lowering(traced).run();
}

}  // namespace emmy::program
