#pragma once
#include <emmy/fold/sites.hpp>

#include <emmy/fold/impl/geometry.ipp>
#include <emmy/fold/impl/value_types.ipp>

namespace emmy::fold::closed {
namespace detail {

class site_finder {
public:
    explicit site_finder(const forest& from) : f(from), types{from} {}

    site_model found() {
        site_model out;
        out.geometry = geometry_of(f);
        grid = out.geometry.grid;
        find_shares();
        const std::vector<term_id> roots = kernel_roots(f);
        std::vector<name_id> swept;
        for (const store& s : f.stores)
            for (const loop::axis& a : sweeps_of(f, s))
                if (!has(out.geometry.promoted, a.name)) add_once(swept, a.name);
        for (site& s : closed::sites(f)) {
            const term& t = f[s.term];
            site_facts one;
            one.term = s.term, one.kind = f.kind(s.term);
            one.root = s.term == f.root;
            one.kernel_root = std::find(roots.begin(), roots.end(), s.term) != roots.end();
            one.pointwise = one.root && t.is_map() && t.operands.empty() && swept.empty();
            one.axis = t.axis, one.states = t.states.size();
            one.in_sweep = std::any_of(t.free.begin(), t.free.end(), [&](name_id n) { return has(swept, n); });
            if (!t.is_map()) {
                one.chain = !one.kernel_root && hoisted(s, roots);
                contraction_facts(one, s.path);
            }
            one.address = std::move(s.address);
            out.sites.push_back(std::move(one));
        }
        return out;
    }

private:
    const forest& f;
    value_types types;
    std::vector<loop::axis> grid{};
    std::vector<name_id> shares{};  // axes that part another one: B s + k, k one share of a stream

    void find_shares() {
        for (const term& windowed : f.terms) {
            if (windowed.is_map() || !windowed.axis.has_window() || windowed.axis.extent.kind != dim::form::number) continue;
            for (const term& t : f.terms)
                for (const pure& s : t.body)
                    for (expr_id e : s.index)
                        for (const loop::axis& a : grid) {
                            std::int64_t cs = 0, ck = 0;
                            if (a.name != no_name && linear_in(f, e, a.name, windowed.axis.name, 1, cs, ck) && ck != 0 && cs == ck * windowed.axis.extent.number) add_once(shares, a.name);
                        }
        }
    }

    /// Below a kernel root, and varying with no axis of the folds above: it stands before their loops.
    bool hoisted(const site& s, const std::vector<term_id>& roots) const {
        bool below = false;
        std::vector<name_id> bound;
        for (term_id id : s.path) {
            if (id == s.term) break;
            below |= std::find(roots.begin(), roots.end(), id) != roots.end();
            if (!f[id].is_map()) bound.push_back(f[id].axis.name);
        }
        const term& t = f[s.term];
        return below && std::none_of(t.free.begin(), t.free.end(), [&](name_id n) { return has(bound, n); });
    }

    void contraction_facts(site_facts& one, const std::vector<term_id>& path) {
        const term& t = f[one.term];
        one.roles = roles_of(f, one.term);
        if (!one.roles) return;
        one.whole = t.twist == recipe::none && one.roles.b.size() == t.states.size();
        one.chunked = t.twist == recipe::softmax && one.roles.b.size() == 1 && row_scalars(t, one.roles.b[0]);
        one.a = operand(t, one.roles.a);
        for (term_id b : one.roles.b) one.b.push_back(operand(t, b));
        // Output axes: of the grid, then those of the folds above.
        std::vector<name_id> outer;
        bool row = false;
        for (const loop::axis& x : grid) {
            if (x.name == no_name) row = true;
            else if (!has(shares, x.name)) outer.push_back(x.name);
        }
        for (term_id id : path)
            if (id != one.term && !f[id].is_map()) outer.push_back(f[id].axis.name);
        for (name_id x : outer) {
            if (has(one.roles.left, x)) one.m = x;
            if (has(one.roles.right, x)) one.n = x;
        }
        // One side alone: the other output axis is a row of its own, a batch of rows, or there is none.
        if (one.m == no_name || one.n == no_name) {
            const std::vector<name_id>& side = one.n == no_name ? one.roles.left : one.roles.right;
            one.n = one.m = no_name;
            for (name_id x : outer)
                if (has(side, x)) one.m = one.n, one.n = x;
            const bool batch = std::any_of(one.roles.shared.begin(), one.roles.shared.end(), [&](name_id x) { return has(outer, x); });
            one.one_sided = batch || (one.m != no_name && !row);
            if (row) one.m = no_name;
        }
        one.tiles = (one.whole || one.chunked) && t.observe.empty() && one.n != no_name && !one.one_sided;
    }
    /// States besides the pivot and the product are of the row alone.
    bool row_scalars(const term& t, term_id b) const {
        for (std::size_t i = 1; i < t.states.size(); ++i) {
            const origin from = origin_of(f, t, t.states[i].contribution, b);
            if (from.component_of != b && from.a) return false;
        }
        return true;
    }
    operand_facts operand(const term& reader, term_id id) {
        const term& t = f[id];
        operand_facts out;
        out.term = id;
        out.stored = t.is_slab();
        const name_id value = t.is_map() ? (t.results.empty() ? no_name : t.results[0]) : t.states[0].name;
        out.type = value == no_name ? dtype::none : types.of(t, value);
        const pure* read = out.stored ? &t.body[0] : nullptr;
        if (t.is_map() && !t.body.empty() && std::all_of(t.operands.begin(), t.operands.end(), [&](term_id o) { return f[o].is_slab(); })) {
            // One read, then conversions and decodes.
            std::size_t reads = t.operands.size(), others = 0;
            for (const pure& s : t.body) {
                const bool changes = s.kind == loop::stmt_kind::assign && (s.op == loop::op::copy || s.op == loop::op::from_f8e4m3 || s.op == loop::op::from_f8e5m2);
                reads += s.kind == loop::stmt_kind::load;
                others += s.kind != loop::stmt_kind::load && !changes;
            }
            out.converts = !out.stored && reads == 1 && others == 0;
            if (out.converts) read = t.operands.empty() ? load_of(t) : &f[t.operands[0]].body[0];
        }
        if (read) {
            out.buffer = read->buffer;
            out.storage = read->type;
            for (const loop::buffer& b : f.inputs)
                if (b.name == read->buffer && out.storage == dtype::none) out.storage = b.type;
            if (!read->index.empty()) {
                std::vector<name_id> named;
                f.names_in(read->index.back(), named);
                out.axis_last = has(named, reader.axis.name);
                out.unit_stride = unit(read->index.back());
            }
        } else {
            out.storage = out.type;
            std::vector<term_id> folds;
            for (term_id x : reached(f, id))
                if (!f[x].is_map()) folds.push_back(x);
            out.folds = !folds.empty();
            out.sweeps_axis = out.folds && std::none_of(folds.begin(), folds.end(), [&](term_id x) { return has(f[x].free, reader.axis.name); });
        }
        return out;
    }
    static const pure* load_of(const term& t) {
        for (const pure& s : t.body)
            if (s.kind == loop::stmt_kind::load) return &s;
        return nullptr;
    }
    /// A bare coordinate, plus terms that are multiples or other coordinates of a sum.
    bool unit(expr_id id) const {
        const expr& e = f.exprs[id];
        if (e.kind == expr_kind::name) return f.names_axis(e.name);
        if (e.kind != expr_kind::binary || e.op != binary_op::add) return false;
        return unit(e.a) || unit(e.b);
    }
};

}  // namespace detail

EMMY_DECL site_model site_model_of(const forest& f) { return detail::site_finder(f).found(); }

}  // namespace emmy::fold::closed
