#pragma once
#include <emmy/fork/structure/impl/draft.hpp>
#include <emmy/fork/structure/impl/order.hpp>

#include <set>

namespace emmy::fork::structure {

/// Axes of a draft's stores under names that another's have with another extent are renamed apart.
inline void rename_apart(forest& f, draft& d, const std::vector<store>& beside) {
    for (std::size_t i = 0; i < d.stores.size(); ++i)
        for (std::size_t n = 0; n < d.stores[i].sweeps.size(); ++n) {
            const loop::axis mine = d.stores[i].sweeps[n];
            const bool clash = std::any_of(beside.begin(), beside.end(), [&](const store& s) {
                return std::any_of(s.sweeps.begin(), s.sweeps.end(),
                                   [&](const loop::axis& a) { return a.name == mine.name && !same_extent(a.extent, mine.extent); });
            });
            if (!clash) continue;
            const name_id fresh = new_name(f, std::string(f.text(mine.name)), true);
            shifted_copy copy(f, mine.name, f.exprs.name(fresh));
            d.root = copy.of(d.root);
            for (store& s : d.stores) {
                s.value = copy.value(s.value);
                for (loop::axis& a : s.sweeps)
                    if (a.name == mine.name) a.name = fresh;
                for (expr_id& e : s.index) e = copy.expression(e);
            }
        }
}

/// Workspace producers that read from the same producers of the arm are one kernel: their equal values are computed once.
inline void join_producers(workbench& w) {
    std::map<name_id, std::size_t> made_by;
    for (std::size_t i = 0; i < w.drafts.size(); ++i)
        for (const store& s : w.drafts[i].stores) made_by[s.buffer] = i;
    std::vector<std::set<std::size_t>> reads(w.drafts.size());
    for (std::size_t i = 0; i < w.drafts.size(); ++i)
        if (w.drafts[i].role == piece_role::workspace)
            for (const name_id b : buffers_read(minted(w, w.drafts[i])))
                if (w.is_workspace(b)) reads[i].insert(made_by[b]);
    std::vector<draft> out;
    std::vector<bool> joined(w.drafts.size());
    for (std::size_t i = 0; i < w.drafts.size(); ++i) {
        if (joined[i]) continue;
        draft d = w.drafts[i];
        std::vector<term_id> roots{d.root};
        for (std::size_t j = i + 1; j < w.drafts.size() && d.role == piece_role::workspace; ++j) {
            if (joined[j] || w.drafts[j].role != piece_role::workspace || reads[j] != reads[i]) continue;
            joined[j] = true;
            draft other = w.drafts[j];
            rename_apart(w.f, other, d.stores);
            add_once(roots, other.root);
            d.stores.insert(d.stores.end(), other.stores.begin(), other.stores.end());
        }
        if (roots.size() > 1 || d.stores.size() != w.drafts[i].stores.size()) {
            term both;
            both.operands = roots;
            for (const store& s : d.stores) add_once(both.results, s.value);
            d.root = w.f.add(std::move(both));
            std::string text;
            for (const store& s : d.stores) text += std::string(w.f.text(s.buffer)) + '\0';
            const std::size_t stem = d.name.rfind("__place_");
            d.name = d.name.substr(0, stem) + "__place_" + to_hex(xxh3_128(text)).substr(0, 10);
        }
        out.push_back(std::move(d));
    }
    w.drafts = std::move(out);
}

/// Forms the drafts, orders them, tells which buffer goes where.
inline result<kernel_set> assemble(workbench& w) {
    std::vector<piece> made;
    std::vector<node> nodes;
    for (const draft& d : w.drafts) {
        auto form = fold::closed::form(minted(w, d));
        if (!form) return refuse(std::move(form).error().at(d.name));
        made.push_back({std::move(*form), d.role, d.splits});
        const loop::kernel& k = made.back().form.kernel;
        const std::string_view first = k.outputs.empty() ? std::string_view() : k.body.text(k.outputs[0].name);
        const bool of_parent = std::any_of(w.f.outputs.begin(), w.f.outputs.end(), [&](const loop::buffer& b) { return w.f.text(b.name) == first; });
        nodes.push_back({node_id(first, of_parent), {}});
    }
    kernel_set out;
    for (const loop::buffer& b : w.workspaces) {
        const std::string_view name = w.f.text(b.name);
        for (std::uint32_t p = 0; p < made.size(); ++p)
            for (std::uint32_t o = 0; o < made[p].form.kernel.outputs.size(); ++o)
                if (made[p].form.kernel.body.text(made[p].form.kernel.outputs[o].name) == name) {
                    workspace x{std::string(name), p, o, {}};
                    for (std::uint32_t r = 0; r < made.size(); ++r)
                        for (std::uint32_t i = 0; i < made[r].form.kernel.inputs.size(); ++i)
                            if (made[r].form.kernel.body.text(made[r].form.kernel.inputs[i].name) == name) {
                                x.readers.push_back({r, i});
                                nodes[r].after.push_back(p);
                            }
                    out.workspaces.push_back(std::move(x));
                }
    }
    const std::vector<std::uint32_t> order = child_order(nodes);
    if (order.size() != made.size()) return refuse(fault_kind::internal, "pieces of " + w.f.kernel_name + " that read each other's buffers in a circle");
    std::vector<std::uint32_t> place(made.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        place[order[i]] = i;
        out.pieces.push_back(std::move(made[order[i]]));
    }
    for (workspace& x : out.workspaces) {
        x.producer = place[x.producer];
        for (workspace::reader& r : x.readers) r.piece = place[r.piece];
    }
    return out;
}

}  // namespace emmy::fork::structure
