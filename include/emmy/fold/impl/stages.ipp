#pragma once
#include <emmy/fold/impl/value_graph.ipp>
#include <emmy/fold/stages.hpp>

#include <deque>
#include <set>

namespace emmy::fold {
namespace detail {

/// A value as a function of coordinates, whatever the axes are called: equal keys are equal functions.
struct value_key {
    std::string text;
    std::vector<axis_id> axes;  ///< the free ones in order of first appearance: the function's parameters
};

/// Decides what becomes a table and builds one kernel a table.
class stager {
public:
    explicit stager(const loop::kernel& k) : g_(k) {}

    std::optional<staging> build() {
        if (!g_.build()) return {};
        for (node_id n = 0; n < g_.nodes.size(); ++n)
            if (g_.nodes[n].from == value_node::form::state) class_of(n);
        for (std::size_t c = 0; c < classes_.size(); ++c) choose_factors(c);
        // Writes over the same loops are one part.
        for (std::size_t w = 0; w < g_.writes.size(); ++w) {
            const auto same = std::find_if(roots_.begin(), roots_.end(), [&](const std::vector<std::size_t>& r) { return g_.writes[r[0]].loops == g_.writes[w].loops && products(r) + products({w}) <= 1; });
            if (same != roots_.end()) same->push_back(w);
            else roots_.push_back({w});
        }
        for (std::size_t r = 0; r < roots_.size(); ++r)
            for (std::size_t w : roots_[r]) count(g_.writes[w].value, r);
        for (const auto& writes : roots_)
            if (!root_part(writes)) return {};
        std::stable_sort(out_.stages.begin(), out_.stages.end(), [](const stage& a, const stage& b) { return a.level < b.level; });
        return std::move(out_);
    }

private:
    // ---- equal values
    struct value_class {
        node_id first = nothing;               ///< its first instance
        std::vector<axis_id> axes;             ///< of the first instance, in key order
        std::set<std::size_t> readers;         ///< containers whose values read it
        std::uint32_t table = nothing, level = 0;
        bool kept = false;                     ///< a computed factor: a table even if one place reads it
        bool counted = false;
    };
    struct instance {
        std::uint32_t of = nothing;            ///< class
        std::vector<axis_id> axes;             ///< in the class's key order
    };

    const instance& class_of(node_id n) {
        if (const auto found = instances_.find(n); found != instances_.end()) return found->second;
        const std::vector<axis_id> outer_depends = own_depends_;
        value_key key;
        std::map<node_id, std::uint32_t> seen;
        std::map<axis_id, std::uint32_t> numbers;
        own_depends_ = g_.nodes[n].depends;
        spell(n, key, seen, numbers, true);
        const auto [at, fresh] = by_key_.emplace(key.text, static_cast<std::uint32_t>(classes_.size()));
        if (fresh) {
            value_class c;
            c.first = n, c.axes = key.axes;
            classes_.push_back(std::move(c));
        }
        own_depends_ = outer_depends;
        return instances_[n] = {at->second, key.axes};
    }
    void spell_axis(axis_id a, value_key& key, std::map<axis_id, std::uint32_t>& numbers, bool bound = false) {
        if (g_.axes[a].base != nothing && !has(own_depends_, a)) {
            spell_axis(g_.axes[a].base, key, numbers);
            key.text += "/" + std::to_string(g_.axes[a].divisor);
            return;
        }
        const auto [at, fresh] = numbers.emplace(a, static_cast<std::uint32_t>(numbers.size()));
        key.text += "$" + std::to_string(at->second);
        if (!fresh) return;
        const dim& d = g_.axes[a].extent;
        key.text += d.kind == dim::form::number ? "<" + std::to_string(d.number) : "<s" + std::to_string(d.symbol);
        if (!bound) key.axes.push_back(a);
    }
    void spell_expression(expr_id id, const std::vector<name_meaning>& names, value_key& key, std::map<node_id, std::uint32_t>& seen, std::map<axis_id, std::uint32_t>& numbers) {
        if (id == no_expr) return;
        const expr& e = g_.b.exprs[id];
        if (const axis_id q = g_.quotient(e, names); q != nothing) return spell_axis(q, key, numbers);
        key.text += "(" + std::to_string(static_cast<int>(e.kind));
        switch (e.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: key.text += ":" + std::to_string(e.integer); break;
            case expr_kind::real: key.text += ":" + std::to_string(e.real_bits); break;
            case expr_kind::name:
                for (const name_meaning& m : names)
                    if (m.name == e.name) {
                        if (m.is_axis) spell_axis(m.id, key, numbers);
                        else spell(m.id, key, seen, numbers, false);
                    }
                break;
            case expr_kind::cast: key.text += ":" + std::to_string(e.name); break;
            default: key.text += ":" + std::to_string(static_cast<int>(e.op)); break;
        }
        if (e.kind == expr_kind::binary || e.kind == expr_kind::ternary || e.kind == expr_kind::cast)
            for (expr_id child : {e.a, e.b, e.c})
                if (child != no_expr) spell_expression(child, names, key, seen, numbers);
        key.text += ")";
    }
    void spell(node_id id, value_key& key, std::map<node_id, std::uint32_t>& seen, std::map<axis_id, std::uint32_t>& numbers, bool top) {
        if (const auto found = seen.find(id); found != seen.end()) {
            key.text += "#" + std::to_string(found->second);
            return;
        }
        const value_node& n = g_.nodes[id];
        if (n.from == value_node::form::state && !top) {
            const instance i = class_of(id);
            key.text += "S" + std::to_string(i.of) + "[";
            for (axis_id a : i.axes) spell_axis(a, key, numbers);
            key.text += "]";
        } else if (n.from == value_node::form::state) {
            key.text += "{" + std::to_string(static_cast<int>(n.op)) + "," + std::to_string(static_cast<int>(n.stated)) + " ";
            spell_axis(n.axis, key, numbers, true);
            spell(n.args[0], key, seen, numbers, false);
            key.text += "}";
        } else {
            const loop::stmt& st = g_.b.stmts[n.stmt];
            key.text += "{" + std::to_string(static_cast<int>(st.kind)) + "," + std::to_string(static_cast<int>(n.op)) + "," + std::to_string(static_cast<int>(st.type)) + "," + std::to_string(st.buffer == no_name ? 0 : st.buffer + 1);
            for (expr_id e : g_.b.expressions(st.index)) spell_expression(e, n.names, key, seen, numbers);
            spell_expression(st.value, n.names, key, seen, numbers);
            for (node_id a : n.args) spell(a, key, seen, numbers, false);
            key.text += "}";
        }
        seen.emplace(id, static_cast<std::uint32_t>(seen.size()));
    }

    // ---- products and their factors
    bool is_product(node_id state) const {
        const value_node& n = g_.nodes[state];
        if (n.from != value_node::form::state || n.op != loop::op::add || n.type != dtype::f32 || !g_.is(n.args[0], loop::op::multiply) || g_.nodes[n.args[0]].type != dtype::f32) return false;
        const auto& f = g_.nodes[n.args[0]].args;
        return f[0] != f[1] && has(g_.nodes[f[0]].depends, n.axis) && has(g_.nodes[f[1]].depends, n.axis);
    }
    std::size_t products(const std::vector<std::size_t>& writes) const {
        std::set<std::uint32_t> found;
        for (std::size_t w : writes)
            g_.any_of(g_.writes[w].value, [&](node_id x) {
                if (g_.nodes[x].from == value_node::form::state && is_product(x)) found.insert(instances_.at(x).of);
                return false;
            }, [&](node_id x) { return g_.nodes[x].from == value_node::form::statement; });
        return found.size();
    }
    /// Work of a value beside reading it: operators, divisions and functions counting more; states count as tables.
    std::size_t work(node_id n) const {
        std::size_t out = 0;
        g_.any_of(n, [&](node_id x) {
            const value_node& v = g_.nodes[x];
            if (v.from != value_node::form::statement) return false;
            const loop::stmt& st = g_.b.stmts[v.stmt];
            if (st.kind == loop::stmt_kind::select) out += 2;
            if (st.kind == loop::stmt_kind::load) out += std::any_of(v.names.begin(), v.names.end(), [](const name_meaning& m) { return !m.is_axis; }) ? 2 : 0;
            if (v.op == loop::op::none || v.op == loop::op::copy || v.op == loop::op::pad || v.op == loop::op::from_f8e4m3 || v.op == loop::op::from_f8e5m2) return false;
            const loop::op_unit unit = loop::facts(v.op).unit;
            out += unit == loop::op_unit::exp || unit == loop::op_unit::divide ? 4 : 1;
            return false;
        }, [&](node_id x) { return g_.nodes[x].from == value_node::form::statement; });
        return out;
    }
    std::int64_t cells(const std::vector<axis_id>& axes) const {
        std::int64_t out = 1;
        for (axis_id a : axes) {
            if (out > (std::int64_t{1} << 40)) return out;
            out *= g_.extent(a);
        }
        return out;
    }
    /// A factor that a product would compute many times becomes a table.
    void choose_factors(std::size_t c) {
        const node_id state = classes_[c].first;
        if (!is_product(state)) return;
        const value_node& n = g_.nodes[state];
        std::vector<axis_id> all = n.depends;
        g_.unite(all, {n.axis});
        for (node_id f : g_.nodes[n.args[0]].args) {
            std::int64_t missing = 1;          // how often each value of the factor is read
            for (axis_id a : all) {
                if (has(g_.nodes[f].depends, a) || missing > (std::int64_t{1} << 40)) continue;
                missing *= g_.extent(a);
                for (axis_id q : g_.nodes[f].depends)
                    if (g_.axes[q].base == a) missing /= std::max<std::int64_t>(1, g_.extent(q));
            }
            const std::size_t w = work(f);
            if (missing <= 1 || w < 2 || cells(g_.nodes[f].depends) > (std::int64_t{1} << 28)) continue;
            // Weights that few rows read are decoded where they are read.
            if (missing * static_cast<std::int64_t>(w) < 128) continue;
            if (reads_only_inputs(f) && cells(g_.nodes[f].depends) > (std::int64_t{1} << 22) && missing < 2048) continue;
            const std::uint32_t made = class_of(f).of;
            classes_[made].kept = true;
        }
    }
    bool reads_only_inputs(node_id f) const {
        return !g_.any_of(f, [&](node_id x) { return g_.nodes[x].from == value_node::form::state; }, [&](node_id x) { return g_.nodes[x].from == value_node::form::statement; });
    }
    bool is_kept(node_id n) const {
        const auto found = instances_.find(n);
        return found != instances_.end() && classes_[found->second.of].kept;
    }
    /// A statement that stands for a kept factor elsewhere too: looked up by value when first met.
    bool stops(node_id n) const { return g_.nodes[n].from != value_node::form::statement || is_kept(n); }

    /// Notes who reads each class. Containers: roots by place, then classes.
    void count(node_id value, std::size_t container) {
        g_.any_of(value, [&](node_id x) {
            if (!stops(x)) return false;
            value_class& c = classes_[instances_.at(x).of];
            c.readers.insert(container);
            if (!c.counted) {
                c.counted = true;
                const std::size_t own = roots_.size() + instances_.at(x).of;
                const node_id first = c.first;
                if (g_.nodes[first].from == value_node::form::state) count(g_.nodes[first].args[0], own);
                else
                    for (node_id a : below(first)) count(a, own);
            }
            return false;
        }, [&](node_id x) { return !stops(x); });
    }
    std::vector<node_id> below(node_id n) const {
        std::vector<node_id> out = g_.nodes[n].args;
        for (const name_meaning& m : g_.nodes[n].names)
            if (!m.is_axis) out.push_back(m.id);
        return out;
    }

    // ---- parts
    struct item {
        bool is_write = false;
        std::size_t write = 0;
        std::uint32_t of = nothing;            ///< class whose table is written
        node_id value = nothing;
    };

    std::vector<axis_id> in_nest_order(std::vector<axis_id> axes) const {
        std::stable_sort(axes.begin(), axes.end(), [&](axis_id a, axis_id b) { return g_.axes[a].depth < g_.axes[b].depth || (g_.axes[a].depth == g_.axes[b].depth && a < b); });
        return axes;
    }
    bool root_part(const std::vector<std::size_t>& writes) {
        std::vector<item> items;
        for (std::size_t w : writes) items.push_back({true, w, nothing, g_.writes[w].value});
        std::uint32_t level = 0;
        const std::size_t container = static_cast<std::size_t>(&writes - roots_.data());
        return part(g_.writes[writes[0]].loops, items, nothing, level, container);
    }
    /// The table of a class, built on first use.
    bool table_of(std::uint32_t c) {
        if (classes_[c].table != nothing) return true;
        const node_id first = classes_[c].first;
        const value_node& n = g_.nodes[first];
        std::vector<axis_id> grid = in_nest_order(n.depends);
        if (n.from == value_node::form::state && is_product(first)) {
            // Vectors run along an axis that only one factor has.
            const auto& f = g_.nodes[n.args[0]].args;
            const auto is_private = [&](axis_id a) { return g_.touches(g_.nodes[f[0]].depends, a) != g_.touches(g_.nodes[f[1]].depends, a); };
            for (std::size_t i = grid.size(); i-- > 0;)
                if (is_private(grid[i])) {
                    const axis_id a = grid[i];
                    grid.erase(grid.begin() + static_cast<std::ptrdiff_t>(i));
                    grid.push_back(a);
                    break;
                }
        } else if (n.from == value_node::form::statement) {
            // A factor is read along the reduced axis: that one last, if it is there.
            for (std::size_t i = 0; i < grid.size(); ++i)
                if (has(reduced_, grid[i])) {
                    const axis_id a = grid[i];
                    grid.erase(grid.begin() + static_cast<std::ptrdiff_t>(i));
                    grid.push_back(a);
                    break;
                }
        }
        classes_[c].table = static_cast<std::uint32_t>(out_.tables.size());
        table t;
        t.name = "table " + std::to_string(out_.tables.size());
        t.type = n.type;
        for (axis_id a : grid) t.shape.push_back(g_.axes[a].extent);
        out_.tables.push_back(std::move(t));
        // Place of each key axis in the table.
        std::vector<std::uint32_t> order;
        for (axis_id a : grid) order.push_back(static_cast<std::uint32_t>(std::find(classes_[c].axes.begin(), classes_[c].axes.end(), a) - classes_[c].axes.begin()));
        orders_[c] = order;
        std::uint32_t level = 0;
        if (!part(grid, {{false, 0, c, first}}, first, level, 0)) return false;
        classes_[c].level = level + 1;
        return true;
    }

    /// Whether a state is computed inside the part instead of read from a table.
    bool inlined(node_id x, const std::vector<axis_id>& grid, bool has_sweep, std::size_t product_count, node_id own, const std::set<std::size_t>& containers) const {
        if (x == own) return true;
        const value_class& c = classes_[instances_.at(x).of];
        const value_node& n = g_.nodes[x];
        if (n.from != value_node::form::state) return false;
        if (cells(n.depends) * static_cast<std::int64_t>(std::max<std::size_t>(byte_size(n.type), 1)) > (std::int64_t{1} << 31)) return true;
        if (!std::includes(containers.begin(), containers.end(), c.readers.begin(), c.readers.end())) return false;
        const bool nested = g_.any_of(n.args[0], [&](node_id y) { return stops(y) && y != x; }, [&](node_id y) { return !stops(y); });
        std::vector<axis_id> all = grid;
        std::sort(all.begin(), all.end());
        if (own != nothing && g_.nodes[own].from == value_node::form::state) return false;  // one fold a part, its values read
        if (g_.extent(n.axis) <= 8 && n.depends == all && !nested && product_count == 0) return true;
        if (is_product(x)) return n.depends == all && product_count == 1 && !has_sweep;
        if (n.depends == all) return product_count == 0 && !has_sweep;
        // A row's statistics beside a sweep of the row.
        std::vector<axis_id> outer(grid.begin(), grid.empty() ? grid.end() : grid.end() - 1);
        std::sort(outer.begin(), outer.end());
        return has_sweep && product_count == 0 && n.depends == outer;
    }

    bool part(const std::vector<axis_id>& grid, const std::vector<item>& items, node_id own, std::uint32_t& level, std::size_t container) {
        // What the values read from outside this part.
        std::vector<node_id> stops_found;
        std::set<std::uint32_t> product_classes;
        bool sweep = false;
        std::vector<axis_id> all = grid;
        std::sort(all.begin(), all.end());
        const auto look = [&](node_id x, bool is_top) {
            if (is_top || !stops(x)) return false;
            stops_found.push_back(x);
            const value_node& n = g_.nodes[x];
            if (n.from == value_node::form::state && is_product(x) && n.depends == all && classes_[instances_.at(x).of].readers.size() == 1) product_classes.insert(instances_.at(x).of);
            return false;
        };
        for (const item& i : items) {
            const node_id top = i.value == own && g_.nodes[own].from == value_node::form::statement ? own : nothing;
            g_.any_of(i.value, [&](node_id x) { return look(x, x == top); }, [&](node_id x) { return x == top || !stops(x); });
        }
        // Row statistics of one place: the part is rows with a sweep when all that it would compute itself are such.
        if (!grid.empty() && product_classes.empty() && (own == nothing || g_.nodes[own].from == value_node::form::statement)) {
            std::vector<axis_id> outer(grid.begin(), grid.end() - 1);
            std::sort(outer.begin(), outer.end());
            for (node_id x : stops_found) {
                const value_node& n = g_.nodes[x];
                if (n.from != value_node::form::state || is_product(x) || classes_[instances_.at(x).of].readers.size() > 1) continue;
                sweep = sweep || (n.depends == outer && g_.extent(n.axis) <= 4 * g_.extent(grid.back()) && 4 * g_.extent(n.axis) >= g_.extent(grid.back()));
            }
        }
        // Inside: what only this part reads, itself or through what is inside.
        std::set<node_id> inside;
        std::set<std::size_t> containers{own != nothing ? roots_.size() + instances_.at(own).of : container};
        std::vector<node_id> met = stops_found;
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < met.size(); ++i) {
                const node_id x = met[i];
                if (inside.count(x) != 0 || !inlined(x, grid, sweep, product_classes.size(), own, containers)) continue;
                inside.insert(x);
                containers.insert(roots_.size() + instances_.at(x).of);
                changed = true;
                g_.any_of(g_.nodes[x].args[0], [&](node_id y) {
                    if (stops(y)) met.push_back(y);
                    return false;
                }, [&](node_id y) { return !stops(y); });
            }
        }
        // Everything else is a table; the reduced axes of folds inside say how factors are read.
        std::vector<axis_id> reduced;
        for (node_id x : inside) g_.unite(reduced, {g_.nodes[x].axis});
        std::set<node_id> read;
        const auto visit = [&](auto&& self, node_id v, node_id top) -> void {
            g_.any_of(v, [&](node_id x) {
                if (x == top || !stops(x)) return false;
                if (inside.count(x) != 0) self(self, g_.nodes[x].args[0], nothing);
                else read.insert(x);
                return false;
            }, [&](node_id x) { return x == top || !stops(x); });
        };
        for (const item& i : items) {
            if (inside.count(i.value) != 0) visit(visit, g_.nodes[i.value].args[0], nothing);
            else visit(visit, i.value, i.value == own ? own : nothing);
        }
        for (node_id x : read) {
            const std::vector<axis_id> before = std::exchange(reduced_, reduced);
            const bool made = table_of(instances_.at(x).of);
            reduced_ = before;
            if (!made) return false;
            level = std::max(level, classes_[instances_.at(x).of].level);
        }
        emit(grid, items, own, inside, level);
        return true;
    }

    // ---- text of a part
    struct scope {
        axis_id axis = nothing;
        std::vector<loop::stmt_id> list;
        std::map<node_id, name_id> known;
    };
    struct emission {
        loop::kernel k;
        std::deque<scope> scopes;
        const std::set<node_id>* inside = nullptr;
        node_id own = nothing;
    };

    name_id axis_name(emission& e, axis_id a) const { return e.k.body.names.intern("x" + std::to_string(a)); }
    dim dim_of(emission& e, const dim& d) const {
        dim out = d;
        if (d.kind == dim::form::symbol) out.symbol = e.k.body.names.intern(g_.b.text(d.symbol));
        return out;
    }
    name_id buffer_of(emission& e, std::string_view name, dtype type, const std::vector<dim>& shape, bool output) const {
        const name_id id = e.k.body.names.intern(name);
        auto& list = output ? e.k.outputs : e.k.inputs;
        for (const loop::buffer& x : list)
            if (x.name == id) return id;
        loop::buffer made{id, type, {}};
        for (const dim& d : shape) made.shape.push_back(dim_of(e, d));
        list.push_back(std::move(made));
        return id;
    }
    static bool is_open(const emission& e, axis_id a) {
        return std::any_of(e.scopes.begin(), e.scopes.end(), [&](const scope& s) { return s.axis == a; });
    }
    /// A coordinate in the open scopes: a quotient by its own loop or from its base.
    expr_id coordinate(emission& e, axis_id a) const {
        expr_pool& to = e.k.body.exprs;
        if (g_.axes[a].base == nothing || is_open(e, a)) return to.name(axis_name(e, a));
        return to.binary(binary_op::divide, to.name(axis_name(e, g_.axes[a].base)), to.integer(g_.axes[a].divisor));
    }
    expr_id rebuilt(emission& e, expr_id id, const std::vector<name_meaning>& names) {
        if (id == no_expr) return no_expr;
        const expr x = g_.b.exprs[id];
        expr_pool& to = e.k.body.exprs;
        if (const axis_id q = g_.quotient(x, names); q != nothing) return coordinate(e, q);
        switch (x.kind) {
            case expr_kind::name:
                for (const name_meaning& m : names)
                    if (m.name == x.name) return m.is_axis ? coordinate(e, m.id) : to.name(need(e, m.id));
                return to.integer(0);
            case expr_kind::binary: {
                const expr_id a = rebuilt(e, x.a, names), b = rebuilt(e, x.b, names);
                return to.binary(x.op, a, b);
            }
            case expr_kind::ternary: {
                const expr_id a = rebuilt(e, x.a, names), b = rebuilt(e, x.b, names), c = rebuilt(e, x.c, names);
                return to.ternary(a, b, c);
            }
            case expr_kind::cast: return to.cast(e.k.body.names.intern(g_.b.text(x.name)), rebuilt(e, x.a, names));
            default: return to.add(x);
        }
    }
    /// The name of a value in the innermost open scope, emitted in the outermost one that has its coordinates.
    name_id need(emission& e, node_id n) {
        for (std::size_t i = e.scopes.size(); i-- > 0;)
            if (const auto found = e.scopes[i].known.find(n); found != e.scopes[i].known.end()) return found->second;
        const value_node& v = g_.nodes[n];
        std::size_t at = 0;
        for (std::size_t i = 0; i < e.scopes.size(); ++i)
            if (e.scopes[i].axis != nothing && g_.touches(v.depends, e.scopes[i].axis)) at = i;
        std::deque<scope> deeper;
        while (e.scopes.size() > at + 1) {
            deeper.push_front(std::move(e.scopes.back()));
            e.scopes.pop_back();
        }
        loop::body& b = e.k.body;
        const name_id name = b.names.intern("v" + std::to_string(n));
        loop::stmt st;
        if (n != e.own && stops(n) && e.inside->count(n) == 0) {
            const instance& i = instances_.at(n);
            const table& t = out_.tables[classes_[i.of].table];
            std::vector<expr_id> index;
            for (std::uint32_t place : orders_.at(i.of)) index.push_back(coordinate(e, i.axes[place]));
            st.kind = loop::stmt_kind::load, st.name = name, st.buffer = buffer_of(e, t.name, t.type, t.shape, false), st.index = b.add_expressions(index);
        } else if (v.from == value_node::form::state) {
            e.scopes.push_back({});
            e.scopes.back().axis = v.axis;
            const name_id value = need(e, v.args[0]), names[] = {value};
            loop::stmt acc;
            acc.kind = loop::stmt_kind::accum, acc.name = name, acc.op = v.op, acc.type = v.stated, acc.args = b.add_names(names);
            const name_id axes[] = {axis_name(e, v.axis)};
            acc.axes = b.add_names(axes);
            e.scopes.back().list.push_back(b.add(acc));
            st = closed(e);
        } else {
            const loop::stmt& from = g_.b.stmts[v.stmt];
            st.kind = from.kind, st.op = from.op, st.type = from.type, st.name = name;
            std::vector<name_id> args;
            for (node_id a : v.args) args.push_back(need(e, a));
            std::vector<expr_id> index;
            for (expr_id x : g_.b.expressions(from.index)) index.push_back(rebuilt(e, x, v.names));
            st.args = b.add_names(args), st.index = b.add_expressions(index);
            st.value = rebuilt(e, from.value, v.names);
            if (from.kind == loop::stmt_kind::load) {
                const loop::buffer* buffer = find_buffer(g_.k, from.buffer);
                st.buffer = buffer_of(e, g_.b.text(from.buffer), buffer->type, buffer->shape, false);
            }
        }
        e.scopes.back().list.push_back(b.add(st));
        e.scopes.back().known.emplace(n, name);
        for (scope& s : deeper) e.scopes.push_back(std::move(s));
        return name;
    }
    /// The innermost scope as a loop statement.
    loop::stmt closed(emission& e) {
        loop::stmt st;
        st.kind = loop::stmt_kind::loop;
        st.axis.name = axis_name(e, e.scopes.back().axis);
        st.axis.extent = dim_of(e, g_.axes[e.scopes.back().axis].extent);
        st.body = e.k.body.add_statements(e.scopes.back().list);
        e.scopes.pop_back();
        return st;
    }
    void emit(const std::vector<axis_id>& grid, const std::vector<item>& items, node_id own, const std::set<node_id>& inside, std::uint32_t level) {
        emission e;
        e.inside = &inside;
        e.own = own;
        e.k.name = g_.k.name;
        e.scopes.push_back({});
        for (axis_id a : grid) {
            e.scopes.push_back({});
            e.scopes.back().axis = a;
        }
        for (const item& i : items) {
            loop::body& b = e.k.body;
            loop::stmt st;
            st.kind = loop::stmt_kind::write;
            const name_id values[] = {need(e, i.value)};
            std::vector<expr_id> index;
            if (i.is_write) {
                const graph_write& w = g_.writes[i.write];
                const loop::stmt& from = g_.b.stmts[w.stmt];
                const loop::buffer* buffer = find_buffer(g_.k, from.buffer);
                for (expr_id x : g_.b.expressions(from.index)) index.push_back(rebuilt(e, x, w.names));
                st.type = from.type;
                st.buffer = buffer_of(e, g_.b.text(from.buffer), buffer->type, buffer->shape, true);
            } else {
                const table& t = out_.tables[classes_[i.of].table];
                for (axis_id a : grid) index.push_back(b.exprs.name(axis_name(e, a)));
                st.buffer = buffer_of(e, t.name, t.type, t.shape, true);
            }
            st.args = b.add_names(values), st.index = b.add_expressions(index);
            e.scopes.back().list.push_back(b.add(st));
        }
        while (e.scopes.size() > 1) {
            const loop::stmt st = closed(e);
            e.scopes.back().list.push_back(e.k.body.add(st));
        }
        e.k.body.top = e.k.body.add_statements(e.scopes.back().list);
        out_.stages.push_back({std::move(e.k), level});
    }

    value_graph g_;
    staging out_;
    std::vector<value_class> classes_;
    std::map<node_id, instance> instances_;
    std::map<std::string, std::uint32_t> by_key_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> orders_;
    std::vector<std::vector<std::size_t>> roots_;
    std::vector<axis_id> reduced_;
    std::vector<axis_id> own_depends_;         ///< of the value being spelled
};

}  // namespace detail

EMMY_DECL std::optional<staging> stages(const loop::kernel& k) { return detail::stager(k).build(); }

}  // namespace emmy::fold
