#pragma once
#include <emmy/fork/structure/impl/assemble.ipp>
#include <emmy/fork/structure/impl/nearest.hpp>

#include <set>

namespace emmy::fork::structure {

using fold::closed::seam;
using fold::closed::seam_member;

/// A seam that an arm names, with the buffers between its producer and its readers.
struct cut_seam {
    seam s{};
    std::string token{};
    std::vector<loop::axis> axes{};           ///< of the buffers
    std::vector<name_id> buffer{};            ///< by component; none where nobody takes it
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
            if (taken[i]) cuts.push_back({offered[i], token(parent.kernel, "PLACE@" + offered[i].address), {}, {}});
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
    void make_buffers() {
        const std::set<name_id> taken = taken_values();
        const std::string base(f().outputs.empty() ? "" : f().text(f().outputs[0].name));
        for (cut_seam& c : cuts) {
            if (c.s.owned) continue;
            c.axes = c.s.members[0].axes;
            c.buffer.assign(c.s.components.size(), no_name);
            for (const seam_member& m : c.s.members) {
                const std::vector<name_id> exposed = f().components(f()[m.term]);
                for (std::size_t j = 0; j < exposed.size(); ++j)
                    if (taken.count(exposed[j])) c.buffer[m.component[j]] = 1;
            }
            for (std::size_t i = 0; i < c.buffer.size(); ++i) {
                if (c.buffer[i] == no_name) continue;
                c.buffer[i] = f().names.intern(base + "__place_" + c.token + "_" + std::to_string(i));
                loop::buffer b{c.buffer[i], c.s.types[i], {}};
                for (const loop::axis& a : c.axes) b.shape.push_back(a.extent);
                w.workspaces.push_back(std::move(b));
            }
        }
    }

    // --- readers ---

    std::vector<expr_id> index_of(const std::vector<loop::axis>& axes) {
        std::vector<expr_id> out;
        for (const loop::axis& a : axes) out.push_back(coordinate(f(), a));
        return out;
    }
    std::vector<expr_id> index_of(const std::vector<fold::closed::seam_coordinate>& at) {
        expr_pool& x = f().exprs;
        std::vector<expr_id> out;
        for (const fold::closed::seam_coordinate& c : at) {
            expr_id e = c.is_zero() ? x.integer(0) : c.over == 0 ? x.name(c.axis) : c.e;
            if (c.over > 1) e = x.binary(binary_op::divide, e, x.integer(c.over));
            if (c.modulo > 0) e = x.binary(binary_op::remainder, e, x.integer(c.modulo));
            out.push_back(e);
        }
        return out;
    }
    term_id read(name_id value, name_id buffer, const std::vector<fold::closed::seam_coordinate>& at, dtype type = dtype::none) {
        term t;
        t.results = {value};
        t.body = {{loop::stmt_kind::load, loop::op::none, type, value, buffer, {}, index_of(at)}};
        return f().add(std::move(t));
    }
    /// What stands for the members of every workspace seam.
    template <class Edit>
    void replace_members(replacing<Edit>& by) {
        for (const cut_seam& c : cuts) {
            if (c.s.owned) continue;
            for (const seam_member& m : c.s.members) {
                if (c.s.frontier) continue;
                const std::vector<name_id> exposed = f().components(f()[m.term]);
                std::vector<term_id> reads;
                for (std::size_t j = 0; j < exposed.size(); ++j)
                    if (c.buffer[m.component[j]] != no_name) reads.push_back(read(exposed[j], c.buffer[m.component[j]], m.at[j]));
                by.to[m.term] = std::move(reads);
            }
        }
        conversions(by);
        // Inner ones first (operands have smaller ids): a decoder is made over what stands for its operands.
        std::vector<std::pair<term_id, std::pair<const cut_seam*, const seam_member*>>> decoders;
        for (const cut_seam& c : cuts)
            if (c.s.frontier)
                for (const seam_member& m : c.s.members) decoders.push_back({m.term, {&c, &m}});
        std::sort(decoders.begin(), decoders.end());
        for (const auto& [id, d] : decoders) by.to[id] = {decoder(*d.first, *d.second, by)};
    }
    /// A map that only converts what it reads of a buffer to the buffer's own type is that read.
    template <class Edit>
    void conversions(replacing<Edit>& by) {
        const std::size_t count = f().terms.size();
        for (term_id id = 0; id < count; ++id) {
            const term t = f()[id];
            if (!t.is_map() || t.operands.size() != 1 || t.body.size() != 1 || t.results != std::vector<name_id>{t.body[0].name} || by.to.count(id)) continue;
            const pure& s = t.body[0];
            if (s.kind != loop::stmt_kind::assign || s.op != loop::op::copy) continue;
            for (const cut_seam& c : cuts)
                for (const seam_member& m : c.s.members) {
                    if (m.term != t.operands[0] || c.s.owned || c.s.frontier) continue;
                    const std::vector<name_id> exposed = f().components(f()[m.term]);
                    for (std::size_t j = 0; j < exposed.size(); ++j)
                        if (exposed[j] == s.args[0] && c.s.types[m.component[j]] == s.type) by.to[id] = {read(s.name, c.buffer[m.component[j]], m.at[j])};
                }
        }
    }
    /// The reader of encoded bits: a read of them, the decode and what follows.
    template <class Edit>
    term_id decoder(const cut_seam& c, const seam_member& m, replacing<Edit>& by) {
        const name_id bits = c.s.components[0];
        term t = f()[m.term];
        std::erase_if(t.body, [&](const pure& s) { return s.name == bits; });
        std::vector<term_id> operands{read(bits, c.buffer[0], m.at[0], c.s.types[0])};
        for (const term_id o : t.operands)
            for (const term_id x : by.at(o)) add_once(operands, x);
        t.operands = std::move(operands);
        return f().add(std::move(t));
    }

    // --- pieces ---

    void draft_pieces() {
        const std::vector<fold::closed::region> parts = fold::closed::regions(f());
        replacing<no_edit> by{f(), {}, {}};
        replace_members(by);
        // Owned pieces and the remainder keep the parent's grid, its promoted sweeps among it.
        const fold::closed::geometry g = fold::closed::geometry_of(f());
        std::vector<loop::axis> grid = f().free;
        for (const loop::axis& a : g.grid)
            if (holds(g.promoted, a.name)) grid.push_back(a);
        std::vector<store> stores = f().stores;
        for (store& s : stores) std::erase_if(s.sweeps, [&](const loop::axis& a) { return holds(g.promoted, a.name); });
        std::vector<bool> handed(stores.size());
        const term root = f()[f().root];
        for (const cut_seam& c : cuts) {
            draft d;
            d.name = parent.kernel.name + "__place_" + c.token;
            if (c.s.owned) {
                d.role = piece_role::owned, d.free = grid;
                for (const auto& part : parts) {
                    if (part.operand != c.s.term) continue;
                    for (const std::uint32_t s : part.stores) d.stores.push_back(stores[s]), handed[s] = true;
                    d.root = branch(root, by.inside(part.operand), d.stores);
                }
            } else {
                d.role = piece_role::workspace;
                term_id node = by.inside(c.s.term);
                if (c.s.frontier) {
                    term encoded = f()[node];
                    encoded.results = c.s.components;
                    node = f().add(std::move(encoded));
                }
                d.root = node;
                for (std::size_t i = 0; i < c.buffer.size(); ++i)
                    if (c.buffer[i] != no_name) d.stores.push_back({swept(c.axes), c.buffer[i], c.s.components[i], index_of(c.axes), false});
            }
            w.drafts.push_back(std::move(d));
        }
        draft rest;
        rest.name = parent.kernel.name, rest.free = grid;
        for (std::size_t i = 0; i < handed.size(); ++i)
            if (!handed[i]) rest.stores.push_back(stores[i]);
        if (rest.stores.empty()) return;
        rest.root = by.at(f().root)[0];
        w.drafts.push_back(std::move(rest));
    }
    static std::vector<loop::axis> swept(const std::vector<loop::axis>& axes) {
        std::vector<loop::axis> out;
        for (const loop::axis& a : axes)
            if (a.name != no_name) out.push_back(a);  // the unit row has none
        return out;
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
    c.make_buffers();
    c.draft_pieces();
    structure::join_producers(c.w);
    return structure::assemble(c.w);
}

}  // namespace emmy::fork
