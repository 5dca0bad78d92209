#pragma once
#include <emmy/fork/structure/impl/assemble.ipp>
#include <emmy/fork/structure/impl/nearest.hpp>
#include <emmy/fork/structure/impl/squeeze.hpp>

#include <set>

namespace emmy::fork::structure {

using fold::closed::seam;
using fold::closed::seam_member;

/// A seam that an arm names, with the buffers between its producer and its readers.
struct cut_seam {
    seam s{};
    std::string token{};
    std::vector<name_id> buffer{};                   ///< by component; none where nobody takes it
    std::vector<std::vector<squeeze>> squeezes{};    ///< by component, one an axis: what the buffer keeps of the coordinate
    std::vector<draft> drafts{};
};

struct cutter {
    const fold::kernel_form& parent;
    workbench w;
    std::vector<cut_seam> cuts{};

    forest& f() { return w.f; }

    // --- keys ---

    result<void> choose(const knob::routing_row& arm) {
        const std::vector<seam> offered = fold::closed::seams(f());
        std::vector<bool> taken(offered.size());
        for (const auto& choice : arm) {
            if (choice.value != "cut") return refuse(fault_kind::user, "found " + choice.value + ", expected cut", choice.key);
            const auto at = find_seam(f(), offered, choice.address());
            if (!at) {
                std::vector<std::string> keys;
                for (const seam& s : offered) keys.push_back("PLACE@" + s.address);
                return refuse(fault_kind::user, "names no seam of " + parent.kernel.name + nearest_text(choice.key, keys), choice.key);
            }
            taken[*at] = true;
        }
        for (std::size_t i = 0; i < offered.size(); ++i)
            if (taken[i]) cuts.push_back({offered[i], token(parent.kernel, "PLACE@" + offered[i].address), {}, {}, {}});
        return {};
    }
    /// A route names the seam whose value it arrives at, whichever way it takes; no route the unique shallowest one.
    static std::optional<std::size_t> find_seam(const forest& f, const std::vector<seam>& offered, std::string_view address) {
        if (address.empty()) {
            const auto depth = [](const seam& s) { return std::count(s.address.begin(), s.address.end(), '/'); };
            std::optional<std::size_t> best;
            bool unique = true;
            for (std::size_t i = 0; i < offered.size(); ++i) {
                if (best && depth(offered[i]) > depth(offered[*best])) continue;
                unique = !best || depth(offered[i]) < depth(offered[*best]);
                best = i;
            }
            return unique ? best : std::nullopt;
        }
        const auto at = fold::closed::find(f, address);
        if (!at) return std::nullopt;
        for (std::size_t i = 0; i < offered.size(); ++i)
            for (const seam_member& m : offered[i].members)
                if (m.term == *at) return i;
        return std::nullopt;
    }

    // --- buffers ---

    /// Values that somebody but their own term takes.
    std::set<name_id> taken_values() {
        std::set<name_id> out;
        for (const store& s : f().stores) out.insert(s.value);
        for (const term& t : f().terms) {
            const auto from_outside = [&](name_id n) {
                for (const pure& s : t.body)
                    if (s.name == n) return;
                out.insert(n);
            };
            for (const pure& s : t.body)
                for (const name_id r : f().reads(s)) from_outside(r);
            for (const name_id r : t.results) from_outside(r);
            for (const auto& s : t.states) from_outside(s.contribution);
        }
        return out;
    }
    void name_buffers() {
        const std::set<name_id> taken = taken_values();
        const std::string base(f().outputs.empty() ? "" : f().text(f().outputs[0].name));
        for (cut_seam& c : cuts) {
            if (c.s.owned) continue;
            c.buffer.assign(c.s.components.size(), no_name);
            for (const seam_member& m : c.s.members) {
                const std::vector<name_id> exposed = f().components(f()[m.term]);
                for (std::size_t j = 0; j < exposed.size(); ++j)
                    if (taken.count(exposed[j]))
                        c.buffer[m.component[j]] = f().names.intern(base + "__place_" + c.token + "_" + std::to_string(m.component[j]));
            }
        }
    }

    // --- readers ---

    std::vector<expr_id> index_of(const std::vector<fold::closed::seam_coordinate>& at, const std::vector<squeeze>& kept) {
        std::vector<expr_id> out;
        for (std::size_t n = 0; n < at.size(); ++n) out.push_back(kept[n].place(f().exprs, at[n].in(f().exprs)));
        return out;
    }
    /// A read of a member's component j under a name.
    term_id read(const cut_seam& c, const seam_member& m, std::size_t j, name_id value, dtype type = dtype::none) {
        const std::uint32_t i = m.component[j];
        term t;
        t.results = {value};
        t.body = {{loop::stmt_kind::load, loop::op::none, type, value, c.buffer[i], {}, index_of(m.at[j], c.squeezes[i])}};
        return f().add(std::move(t));
    }
    /// What stands for the members of a seam.
    void replace_members(const cut_seam& c, replacing<no_edit>& by) {
        for (const seam_member& m : c.s.members) {
            if (c.s.frontier) {
                const term_id made = decoder(c, m, by);
                by.to[m.term] = {made};
                continue;
            }
            const std::vector<name_id> exposed = f().components(f()[m.term]);
            std::vector<term_id> reads;
            for (std::size_t j = 0; j < exposed.size(); ++j)
                if (c.buffer[m.component[j]] != no_name) reads.push_back(read(c, m, j, exposed[j]));
            by.to[m.term] = std::move(reads);
            conversions(c, m, by);
        }
    }
    /// A map that only converts what it reads of a buffer to the buffer's own type is that read.
    void conversions(const cut_seam& c, const seam_member& m, replacing<no_edit>& by) {
        const std::vector<name_id> exposed = f().components(f()[m.term]);
        const std::size_t count = f().terms.size();
        for (term_id id = m.term + 1; id < count; ++id) {
            const term& t = f()[id];
            if (!t.is_map() || t.operands != std::vector<term_id>{m.term} || t.body.size() != 1 || by.to.count(id)) continue;
            const pure s = t.body[0];
            if (s.kind != loop::stmt_kind::assign || s.op != loop::op::copy || t.results != std::vector<name_id>{s.name}) continue;
            for (std::size_t j = 0; j < exposed.size(); ++j)
                if (exposed[j] == s.args[0] && c.s.types[m.component[j]] == s.type) by.to[id] = {read(c, m, j, s.name)};
        }
    }
    /// The reader of encoded bits: a read of them, the decode and what follows.
    term_id decoder(const cut_seam& c, const seam_member& m, replacing<no_edit>& by) {
        const name_id bits = c.s.components[0];
        term t = f()[m.term];
        std::erase_if(t.body, [&](const pure& s) { return s.name == bits; });
        std::vector<term_id> operands{read(c, m, 0, bits, c.s.types[0])};
        for (const term_id o : t.operands)
            for (const term_id x : by.at(o)) add_once(operands, x);
        t.operands = std::move(operands);
        return f().add(std::move(t));
    }

    // --- pieces ---

    void draft_pieces() {
        replacing<no_edit> by{f(), {}, {}};
        const std::size_t before = f().terms.size();
        // A seam that another's value is made of comes first: the other reads its buffers.
        std::vector<std::size_t> height(before);
        for (term_id id = 0; id < before; ++id)
            for (const term_id o : f()[id].operands) height[id] = std::max(height[id], height[o] + 1);
        std::vector<cut_seam*> order;
        for (cut_seam& c : cuts)
            if (!c.s.owned) order.push_back(&c);
        std::stable_sort(order.begin(), order.end(), [&](const cut_seam* a, const cut_seam* b) { return height[a->s.term] < height[b->s.term]; });
        for (cut_seam* c : order) {
            produce(*c, by.inside(c->s.term));
            replace_members(*c, by);
        }

        const std::vector<fold::closed::region> parts = fold::closed::regions(f());
        // Owned pieces and the remainder keep the parent's grid, its promoted sweeps among it.
        const fold::closed::geometry g = fold::closed::geometry_of(f());
        std::vector<loop::axis> grid = f().free;
        for (const loop::axis& a : g.grid)
            if (holds(g.promoted, a.name)) grid.push_back(a);
        std::vector<store> stores = f().stores;
        for (store& s : stores) std::erase_if(s.sweeps, [&](const loop::axis& a) { return holds(g.promoted, a.name); });
        std::vector<bool> handed(stores.size());
        const term root = f()[f().root];
        for (cut_seam& c : cuts) {
            for (const auto& part : parts) {
                if (!c.s.owned || part.operand != c.s.term) continue;
                draft d;
                d.name = parent.kernel.name + "__place_" + c.token, d.role = piece_role::owned, d.free = grid;
                for (const std::uint32_t s : part.stores) d.stores.push_back(stores[s]), handed[s] = true;
                d.root = branch(root, by.at(part.operand)[0], d.stores);
                c.drafts.push_back(std::move(d));
            }
            for (draft& d : c.drafts) w.drafts.push_back(std::move(d));
        }
        draft rest;
        rest.name = parent.kernel.name, rest.free = grid;
        for (std::size_t i = 0; i < handed.size(); ++i)
            if (!handed[i]) rest.stores.push_back(stores[i]);
        if (rest.stores.empty()) return;
        rest.root = by.at(f().root)[0];
        w.drafts.push_back(std::move(rest));
    }

    /// The kernels that write a seam's buffers: one for all components that keep the same of every coordinate.
    void produce(cut_seam& c, term_id node) {
        if (c.s.frontier) {
            term encoded = f()[node];
            encoded.results = c.s.components;
            node = f().add(std::move(encoded));
        }
        const std::vector<loop::axis>& axes = c.s.members[0].axes;
        c.squeezes.assign(c.buffer.size(), std::vector<squeeze>(axes.size()));
        std::vector<std::vector<squeeze>> groups;
        for (std::size_t i = 0; i < c.buffer.size(); ++i) {
            if (c.buffer[i] == no_name) continue;
            for (std::size_t n = 0; n < axes.size(); ++n)
                if (!is_unit(axes[n])) c.squeezes[i][n] = coordinate_uses(f(), axes[n].name).of(node, c.s.components[i], axes[n].extent);
            add_once(groups, c.squeezes[i]);
        }
        for (std::size_t g = 0; g < groups.size(); ++g) {
            draft d;
            d.name = parent.kernel.name + "__place_" + c.token + (g > 0 ? "_" + std::to_string(g) : ""), d.role = piece_role::workspace;
            d.root = node;
            std::vector<loop::axis> kept = axes;
            std::vector<name_id> values = c.s.components;
            std::vector<expr_id> index;
            for (std::size_t n = 0; n < kept.size(); ++n) {
                if (!groups[g][n].whole()) d.root = squeezed(d.root, kept[n], groups[g][n], values);
                index.push_back(coordinate(f(), kept[n]));
            }
            std::vector<loop::axis> sweeps;  // of the kernel: the buffer keeps its shape where the grid splits an axis
            for (std::size_t n = 0; n < kept.size(); ++n) {
                const std::int64_t low = grid_split(f(), d.root, kept[n]);
                if (low > 0) split_axis(d.root, kept[n], low, sweeps, index[n], values);
                else if (kept[n].name != no_name) sweeps.push_back(kept[n]);  // the unit row has none
            }
            for (std::size_t i = 0; i < c.buffer.size(); ++i) {
                if (c.buffer[i] == no_name || c.squeezes[i] != groups[g]) continue;
                loop::buffer b{c.buffer[i], c.s.types[i], {}};
                for (const loop::axis& a : kept) b.shape.push_back(a.extent);
                w.workspaces.push_back(std::move(b));
                d.stores.push_back({sweeps, c.buffer[i], values[i], index, false});
            }
            c.drafts.push_back(std::move(d));
        }
    }
    /// The term over the places of a squeezed axis, which takes the axis' place.
    term_id squeezed(term_id root, loop::axis& a, const squeeze& s, std::vector<name_id>& values) {
        const name_id place = new_name(f(), std::string(f().text(a.name)), true);
        shifted_copy copy(f(), a.name, s.coordinate(f().exprs, f().exprs.name(place)));
        const term_id out = copy.of(root);
        for (name_id& v : values) v = copy.value(v);
        a.name = place, a.extent = number_dim(s.extent(a.extent.number));
        return out;
    }
    /// i = hi * low + lo in the grid.
    void split_axis(term_id& root, const loop::axis& a, std::int64_t low, std::vector<loop::axis>& sweeps, expr_id& index, std::vector<name_id>& values) {
        loop::axis hi = a, lo = a;
        const std::string name(f().text(a.name));
        hi.name = new_name(f(), name, true), hi.extent = number_dim(a.extent.number / low);
        lo.name = new_name(f(), name, true), lo.extent = number_dim(low);
        expr_pool& x = f().exprs;
        index = x.binary(binary_op::add, x.binary(binary_op::multiply, x.name(hi.name), x.integer(low)), x.name(lo.name));
        shifted_copy copy(f(), a.name, index);
        root = copy.of(root);
        for (name_id& v : values) v = copy.value(v);
        sweeps.push_back(hi), sweeps.push_back(lo);
    }
    /// A map over one operand with the statements of the root that these stores need.
    term_id branch(const term& root, term_id operand, const std::vector<store>& stores) {
        term t;
        t.operands = {operand};
        std::vector<name_id> want;
        for (const store& s : stores) add_once(want, s.value), add_once(t.results, s.value);
        for (std::size_t i = root.body.size(); i-- > 0;)
            if (holds(want, root.body[i].name)) {
                t.body.insert(t.body.begin(), root.body[i]);
                for (const name_id r : f().reads(root.body[i])) add_once(want, r);
            }
        return f().add(std::move(t));
    }
};

}  // namespace emmy::fork::structure

namespace emmy::fork {

inline result<kernel_set> realise_cut(const fold::kernel_form& k, const knob::routing_row& arm) {
    structure::cutter c{k, {k.terms, {}, {}}, {}};
    EMMY_CHECK_OK(c.choose(arm));
    c.name_buffers();
    c.draft_pieces();
    structure::join_producers(c.w);
    return structure::assemble(c.w);
}

}  // namespace emmy::fork
