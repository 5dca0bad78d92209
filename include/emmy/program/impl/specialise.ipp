#pragma once
#include <emmy/core/dim_wire.hpp>
#include <emmy/core/expr_eval.hpp>
#include <emmy/program/specialise.hpp>
#include <emmy/program/wire.hpp>

namespace emmy::program {
namespace detail {

/// Replaces names by numbers in the expressions of one pool; what becomes a number of numbers is folded, the rest keeps its form.
class substitution {
public:
    substitution(graph& g, std::span<const bound_size> sizes) : g_(g), known_(g.exprs.size(), no_expr) {
        for (const bound_size& s : sizes) values_.push_back({g.names.find(s.symbol), s.size});
    }
    std::optional<std::int64_t> value_of(name_id n) const {
        for (const auto& [name, value] : values_)
            if (name == n) return value;
        return std::nullopt;
    }
    expr_id operator()(expr_id id) {
        if (id == no_expr) return id;
        if (id < known_.size() && known_[id] != no_expr) return known_[id];
        const expr e = g_.exprs[id];  // a copy: the pool grows below
        expr_id out = id;
        switch (e.kind) {
            case expr_kind::name:
                if (const auto value = value_of(e.name)) out = g_.exprs.integer(*value);
                break;
            case expr_kind::cast: {
                const expr_id a = (*this)(e.a);
                if (a != e.a) out = g_.exprs.cast(e.name, a);
                break;
            }
            case expr_kind::binary: {
                const expr_id a = (*this)(e.a), b = (*this)(e.b);
                if (a == e.a && b == e.b) break;
                out = g_.exprs.binary(e.op, a, b);
                if (whole(a) && whole(b)) out = folded(out);
                break;
            }
            case expr_kind::ternary: {
                const expr_id a = (*this)(e.a), b = (*this)(e.b), c = (*this)(e.c);
                if (a == e.a && b == e.b && c == e.c) break;
                out = whole(a) ? (g_.exprs[a].integer != 0 ? b : c) : g_.exprs.ternary(a, b, c);
                break;
            }
            case expr_kind::call: {
                std::vector<expr_id> args;
                bool changed = false;
                for (std::size_t i = 0; i < e.arg_count; ++i) {
                    const expr_id old = g_.exprs.args(e)[i];
                    args.push_back((*this)(old));
                    changed = changed || args.back() != old;
                }
                if (changed) out = g_.exprs.call(e.name, args);
                break;
            }
            default: break;
        }
        if (id < known_.size()) known_[id] = out;
        return out;
    }

private:
    bool whole(expr_id id) const { return g_.exprs[id].kind == expr_kind::integer || g_.exprs[id].kind == expr_kind::boolean; }
    expr_id folded(expr_id id) {
        const auto value = evaluate_integer(g_.exprs, id, [](name_id) { return std::optional<std::int64_t>(); });
        if (!value) return id;
        const binary_op op = g_.exprs[id].op;
        const bool truth = op <= binary_op::greater_equal;  // || && and the comparisons
        return truth ? g_.exprs.boolean(*value != 0) : g_.exprs.integer(*value);
    }
    graph& g_;
    std::vector<expr_id> known_;
    std::vector<std::pair<name_id, std::int64_t>> values_;
};

}  // namespace detail

EMMY_DECL result<graph> specialise(const graph& g, std::span<const bound_size> sizes) {
    const std::vector<name_id> own = symbols(g);
    for (const bound_size& s : sizes) {
        const std::string symbol(s.symbol);
        const name_id name = g.names.find(s.symbol);
        bool known = false;
        std::size_t times = 0;
        for (const name_id n : own) known = known || n == name;
        for (const bound_size& other : sizes) times += other.symbol == s.symbol;
        if (!known)
            return refuse(fault_kind::user, "found the size of \"" + symbol + "\", expected a symbol of the program" +
                                                (own.empty() ? ", which has none" : ": " + std::string(g.text(own[0]))));
        if (times > 1) return refuse(fault_kind::user, "found the size of \"" + symbol + "\" twice, expected it once");
        if (s.size < least_symbol_size || s.size > largest_symbol_size)
            return refuse(fault_kind::user,
                          "found the size " + std::to_string(s.size) + " for \"" + symbol + "\", expected 1 to " + std::to_string(largest_symbol_size));
    }
    graph out = g;
    detail::substitution put(out, sizes);
    for (dim& d : out.dims) {
        if (d.kind == dim::form::symbol) {
            if (const auto value = put.value_of(d.symbol)) d = number_dim(*value);
        } else if (d.kind == dim::form::expression) {
            d.value = put(d.value);
            const expr& e = out.exprs[d.value];
            if (e.kind == expr_kind::integer) d = number_dim(e.integer);
        }
        if (d.kind == dim::form::number && d.number < 1 && d.number != -1)  // -1: what a reshape leaves over
            return refuse(fault_kind::input, "found a dim that becomes " + std::to_string(d.number) + ", expected at least 1");
    }
    for (expr_id& e : out.coordinates) e = put(e);
    for (map_source& s : out.sources) s.select = put(s.select);
    for (attribute& a : out.attributes) {
        if (a.kind != attr_kind::expression) continue;
        a.value = put(a.value);
        const expr& e = out.exprs[a.value];
        if (a.key == attr::context_value && e.kind == expr_kind::integer)
            a = {.key = attr::value, .kind = attr_kind::number, .number = {.kind = literal::form::real, .real = static_cast<double>(e.integer)}};
    }
    return out;
}

EMMY_DECL graph prune(const graph& g) {
    const std::vector<bool> live = live_nodes(g);
    graph out = g;
    std::vector<node_id> place(g.nodes.size(), no_node);
    out.nodes.clear();
    for (node_id n = 0; n < g.nodes.size(); ++n) {
        if (!live[n]) continue;
        place[n] = static_cast<node_id>(out.nodes.size());
        out.nodes.push_back(g.nodes[n]);
    }
    for (const node& n : out.nodes)
        for (std::uint32_t i = 0; i < n.inputs.count; ++i) out.edges[n.inputs.first + i].node = place[g.edges[n.inputs.first + i].node];
    for (edge& e : out.outputs) e.node = place[e.node];
    for (node_id& n : out.inputs) n = place[n];
    for (graph& inner : out.nested) inner = prune(inner);
    return out;
}

EMMY_DECL std::string pruned_text(const graph& g) {
    const auto bare = [](const auto& self, graph& one) -> void {
        for (dim& d : one.dims)
            if (d.kind != dim::form::number) d.has_hint = false, d.number = 0;
        for (const node& n : one.nodes) one.tensors[n.outputs.first].name = n.id;
        for (graph& inner : one.nested) self(self, inner);
    };
    graph copy = prune(g);
    bare(bare, copy);
    std::string out;
    json::writer w(out);
    write_program(w, copy);
    return out;
}

EMMY_DECL bool equal_pruned(const graph& a, const graph& b) { return pruned_text(a) == pruned_text(b); }

}  // namespace emmy::program
