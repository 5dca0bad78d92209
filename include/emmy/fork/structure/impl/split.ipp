#pragma once
#include <emmy/fold/geometry.hpp>
#include <emmy/fork/structure/impl/assemble.ipp>
#include <emmy/fork/structure/impl/split_site.hpp>

namespace emmy::fork::structure {

/// A cross-CTA split of a fold: `shares` kernels' worth of its axis each in an own cell.
struct splitter {
    const fold::kernel_form& parent;
    workbench w;
    term_id head = no_term;
    loop::axis shares{}, cut{};        ///< the grid axis that tells shares apart; the fold's axis within one
    std::vector<loop::axis> grid{};    ///< of the parent, in the order of the workspace

    forest& f() { return w.f; }

    /// The head over one share: k becomes share * B + k in everything that varies with it.
    term_id sliced(std::int64_t g) {
        const term h = f()[head];
        const std::int64_t b = h.axis.extent.number / g;
        shares.name = new_name(f(), "s", true), shares.extent = number_dim(g);
        cut = h.axis;
        cut.extent = number_dim(b);
        const loop::window whole{h.axis.name, h.axis.extent, no_expr, no_expr, true, false};
        cut.window = add_window(h.axis.has_window() ? outer(f().windows[h.axis.window]) : whole);
        expr_pool& x = f().exprs;
        const expr_id share = x.name(shares.name);
        loop::normal::substitution map(x);
        map.set(h.axis.name, x.binary(binary_op::add, x.binary(binary_op::multiply, x.integer(b), share), x.name(h.axis.name)));
        replacing<coordinate_replaced> by{f(), {h.axis.name, map}, {}};  // what does not vary with k stays whole in each share
        const term_id made = by.inside(head);
        term t = f()[made];
        t.axis = cut;
        return f().add(std::move(t));
    }
    static loop::window outer(loop::window w) {
        w.partition = true;
        return w;
    }
    std::uint32_t add_window(const loop::window& x) {
        f().windows.push_back(x);
        return static_cast<std::uint32_t>(f().windows.size() - 1);
    }

    void through_workspace(std::int64_t g) {
        const term h = f()[head];
        grid = fold::closed::workspace_order(f());
        const term_id part = sliced(g);
        const std::string base(f().text(f().outputs[0].name));
        loop::buffer b{f().names.intern(base + "__partial"), dtype::f32, {}};
        if (h.states.size() > 1) b.shape.push_back(number_dim(static_cast<std::int64_t>(h.states.size())));
        b.shape.push_back(shares.extent);
        for (const loop::axis& a : grid) b.shape.push_back(a.extent);
        w.workspaces.push_back(b);

        draft first;
        first.name = parent.kernel.name + "__partial", first.role = piece_role::partial, first.root = part;
        first.splits = false, first.all_inputs = true;
        first.free.push_back(shares);
        for (const loop::axis& a : grid)
            if (a.name != no_name) first.free.push_back(a);  // the unit row has none
        for (std::size_t i = 0; i < h.states.size(); ++i)
            first.stores.push_back({{}, b.name, h.states[i].name, cell(h.states.size(), i, coordinate(f(), shares)), false});

        draft second;
        second.name = parent.kernel.name, second.role = piece_role::finalize, second.splits = false;
        second.free = f().free, second.stores = f().stores;
        replacing<no_edit> by{f(), {}, {}};
        by.to[head] = {merge(h, g, b.name)};
        second.root = by.at(f().root)[0];
        w.drafts.push_back(std::move(first));
        add_with_regions(std::move(second));
    }
    /// Index of state i of a share in the workspace.
    std::vector<expr_id> cell(std::size_t states, std::size_t i, expr_id share) {
        std::vector<expr_id> out;
        if (states > 1) out.push_back(f().exprs.integer(static_cast<std::int64_t>(i)));
        out.push_back(share);
        for (const loop::axis& a : grid) out.push_back(coordinate(f(), a));
        return out;
    }
    /// The fold over finished shares that stands for the head.
    term_id merge(const term& h, std::int64_t g, name_id buffer) {
        term t;
        t.axis.name = h.axis.name, t.axis.extent = number_dim(g);
        t.axis.window = add_window({h.axis.name, t.axis.extent, no_expr, no_expr, true, false});
        t.twist = h.twist;
        for (std::size_t i = 0; i < h.states.size(); ++i) {
            const name_id read = new_name(f(), std::string(f().text(h.states[i].name)) + "__share", false);
            term slab;
            slab.results = {read};
            slab.body = {{loop::stmt_kind::load, loop::op::none, dtype::none, read, buffer, {}, cell(h.states.size(), i, coordinate(f(), t.axis))}};
            t.operands.push_back(f().add(std::move(slab)));
            t.states.push_back({h.states[i].name, h.states[i].op, read});
        }
        return f().add(std::move(t));
    }

    void by_adding(std::int64_t g) {
        const term_id part = sliced(g);
        replacing<no_edit> by{f(), {}, {}};
        by.to[head] = {part};
        draft d;
        d.name = parent.kernel.name, d.role = piece_role::atomic, d.splits = false;
        d.root = by.at(f().root)[0];
        d.free.push_back(shares);
        d.free.insert(d.free.end(), f().free.begin(), f().free.end());
        d.stores = f().stores;
        for (store& s : d.stores) s.atomic = true;
        add_with_regions(std::move(d));
    }

    /// Regions that do not hold the head are pieces of their own, whole.
    void add_with_regions(draft d) {
        const std::vector<fold::closed::region> parts = fold::closed::regions(f());
        std::size_t folding = 0;
        for (const auto& r : parts) folding += r.producer != no_term;
        if (folding < 2) {
            w.drafts.push_back(std::move(d));
            return;
        }
        const std::vector<store> all = d.stores;
        std::vector<draft> others;
        d.stores.clear();
        for (const auto& r : parts) {
            const bool mine = below_of(f(), r.operand, head);
            draft other;
            other.name = parent.kernel.name + "__region_" + std::to_string(others.size()), other.role = piece_role::region;
            other.root = f().root, other.free = f().free, other.splits = false;
            for (const std::uint32_t s : r.stores) (mine ? d.stores : other.stores).push_back(mine ? all[s] : f().stores[s]);
            if (!mine) others.push_back(std::move(other));
        }
        w.drafts.push_back(std::move(d));
        for (draft& o : others) w.drafts.push_back(std::move(o));
    }
};

}  // namespace emmy::fork::structure

namespace emmy::fork {

inline result<kernel_set> realise_split(const fold::kernel_form& k, const knob::routing_row& arm) {
    if (arm.size() != 1) return refuse(fault_kind::user, "found " + std::to_string(arm.size()) + " keys, expected one split", arm[0].key);
    const auto value = knob::gpu::SPLIT::parse(arm[0].value);
    if (!value) return emmy::refuse(value.error());
    structure::splitter s{k, {k.terms, {}, {}}};
    EMMY_TRY(site, structure::find_split_site(s.f(), k.kernel.name, arm[0].key, arm[0].address()));
    EMMY_CHECK_OK(result<void>(knob::check<knob::split_rules>(knob::row<knob::gpu::SPLIT>(*value), knob::no_target{}, site.facts)));
    s.head = site.head;
    if (value->split == knob::split_mode::atomic) s.by_adding(value->ctas);
    else s.through_workspace(value->ctas);
    return structure::assemble(s.w);
}

}  // namespace emmy::fork
