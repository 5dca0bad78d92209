#pragma once
#include <emmy/fold/seams.hpp>

#include <emmy/fold/impl/geometry.ipp>
#include <emmy/fold/impl/seam_rules.ipp>
#include <emmy/fold/impl/term_alias.ipp>
#include <emmy/fold/impl/term_twist.ipp>
#include <emmy/fold/impl/value_types.ipp>

namespace emmy::fold::closed {
namespace detail {

/// Where a term stands: the axes of the folds on one route to it, outermost first.
struct occurrence {
    std::vector<loop::axis> bound{};
    std::string address{};
};

struct seam_finder {
    const forest& f;
    std::vector<std::vector<occurrence>> at;
    std::vector<std::vector<term_id>> readers;
    std::size_t visits;
    value_types types;

    static constexpr std::size_t most_visits = 100000;  // routes of shared terms multiply

    void walk(term_id id, occurrence here) {
        if (f[id].is_slab() || ++visits > most_visits) return;
        here.address += std::string(kind_word(f.kind(id)));
        at[id].push_back(here);
        if (!f[id].is_map()) here.bound.push_back(f[id].axis);
        const std::string prefix = here.address;
        for (std::size_t i = 0; i < f[id].operands.size(); ++i) {
            here.address = prefix + "." + std::to_string(i + 1) + "/";
            walk(f[id].operands[i], here);
        }
    }
    void gather() {
        at.resize(f.terms.size()), readers.resize(f.terms.size());
        walk(f.root, {});
        for (term_id id = 0; id < f.terms.size(); ++id)
            if (!at[id].empty())
                for (term_id o : f[id].operands) readers[o].push_back(id);
    }

    bool stored(name_id n) const {
        return std::any_of(f.stores.begin(), f.stores.end(), [&](const store& s) { return s.value == n; });
    }
    dtype workspace(const term& t, name_id n) {
        if (t.is_map()) return types.of(t, n);
        dtype narrow = dtype::none;
        if (stored(n)) return dtype::f32;
        for (term_id id = 0; id < f.terms.size(); ++id)
            if (!at[id].empty()) {
                for (const pure& s : f[id].body)
                    for (name_id r : f.reads(s)) {
                        if (r != n) continue;
                        const bool copies = s.kind == loop::stmt_kind::assign && s.op == loop::op::copy && s.type != dtype::none && emmy::facts(s.type).bits < 32;
                        if (!copies || (narrow != dtype::none && narrow != s.type)) return dtype::f32;
                        narrow = s.type;
                    }
                for (const state& s : f[id].states)
                    if (s.contribution == n) return dtype::f32;
            }
        return narrow == dtype::none ? dtype::f32 : narrow;
    }
    /// A map under a contraction that decodes, once and last, bits that it makes itself.
    const pure* frontier(term_id id) const {
        const term& t = f[id];
        if (!t.is_map() || t.results.size() != 1) return nullptr;
        const pure* decode = nullptr;
        for (const pure& s : t.body) {
            if (s.kind != loop::stmt_kind::load && s.kind != loop::stmt_kind::assign) return nullptr;
            if (s.op != loop::op::from_f8e4m3 && s.op != loop::op::from_f8e5m2) continue;
            if (decode) return nullptr;
            decode = &s;
        }
        if (!decode) return nullptr;
        const pure* bits = defined(t, decode->args[0]);
        if (!bits || bits->kind != loop::stmt_kind::assign) return nullptr;
        for (term_id r : readers[id])
            if (as_contraction(f, r)) return decode;
        return nullptr;
    }

    static bool is_unit(const loop::axis& a) { return a.extent.kind == dim::form::number && a.extent.number == 1; }
    static bool has_axis(const std::vector<loop::axis>& list, name_id n) {
        return std::any_of(list.begin(), list.end(), [&](const loop::axis& a) { return a.name == n; });
    }
    static void open_once(std::vector<loop::axis>& list, const loop::axis& a) {
        if (!has_axis(list, a.name)) list.push_back(a);
    }

    std::vector<seam> found() {
        gather();
        std::vector<loop::axis> open = geometry_of(f).grid;
        for (const store& s : f.stores)
            for (const loop::axis& a : s.sweeps) open_once(open, a);
        std::vector<seam> out;
        if (f.step != no_name) return out;
        const std::vector<region> parts = regions(f);
        for (const site& s : sites(f)) {
            if (s.path.size() < 2) continue;
            const term& t = f[s.term];
            if (!t.observe.empty()) continue;
            const std::vector<loop::axis>& bound = at[s.term].front().bound;
            if (!std::all_of(t.free.begin(), t.free.end(), [&](name_id n) { return has_axis(open, n) || has_axis(bound, n); })) continue;
            if (t.is_map() && ((t.operands.empty() && t.free.empty()) ||
                               std::all_of(t.body.begin(), t.body.end(), [](const pure& p) { return p.kind == loop::stmt_kind::load; })))
                continue;
            seam one;
            one.term = s.term, one.address = s.address;
            for (const region& r : parts) one.owned |= r.operand == s.term;
            const pure* decode = one.owned ? nullptr : frontier(s.term);
            bool typed = true;
            if (decode) {
                one.frontier = true;
                one.components = {decode->args[0]};
                one.types = {decode->op == loop::op::from_f8e4m3 ? dtype::f8e4m3 : dtype::f8e5m2};
            } else {
                one.components = f.components(t);
                for (name_id n : one.components) one.types.push_back(workspace(t, n)), typed &= one.types.back() != dtype::none;
            }
            if (!typed && !one.owned) continue;
            if (is_packed_operand(f, s.term, readers[s.term]) || (!one.owned && strands_store(f, s.term))) continue;
            std::vector<loop::axis> axes = open;
            for (const occurrence& o : at[s.term])
                for (const loop::axis& a : o.bound) open_once(axes, a);
            std::erase_if(axes, [&](const loop::axis& a) { return !has(t.free, a.name) && !is_unit(a); });
            for (const loop::axis& a : axes) one.axes.push_back(a.name);
            seam_member self{s.term, std::move(axes), {}, {}};
            for (std::uint32_t i = 0; i < f.components(t).size(); ++i) self.component.push_back(decode ? 0 : i), self.at.push_back(own(self.axes));
            one.members = {std::move(self)};
            for (std::size_t i = 1; i < at[s.term].size(); ++i) one.aliases.push_back(at[s.term][i].address);
            out.push_back(std::move(one));
        }
        return cluster(out);
    }

    static std::vector<seam_coordinate> own(const std::vector<loop::axis>& axes) {
        std::vector<seam_coordinate> out;
        for (const loop::axis& a : axes) out.push_back(is_unit(a) ? seam_coordinate{} : seam_coordinate{a.name, {}, 0, 0});
        return out;
    }
    /// Every component of every member of `b` as a component of `a`; false where one is none.
    bool absorbs(const seam& a, seam& b, const std::vector<std::uint64_t>& of_a, value_print& prints) const {
        alias_match match(f, a.members[0].axes);
        std::vector<seam_member> made = b.members;
        for (seam_member& m : made)
            for (std::uint32_t j = 0; j < m.component.size(); ++j) {
                const std::uint64_t print = prints.component(m.term, j);
                std::optional<std::vector<seam_coordinate>> at;
                for (std::uint32_t i = 0; i < a.components.size() && !at; ++i) {
                    if (a.members[0].component[i] != i || of_a[i] != print || a.types[i] != b.types[m.component[j]]) continue;
                    at = match.component(a.term, i, m.term, j, m.axes);
                    if (at) m.component[j] = i, m.at[j] = *at;
                }
                if (!at) return false;
            }
        b.members = std::move(made);
        return true;
    }

    /// A component that is another one read elsewhere stores nothing.
    void drop_equal_components(seam& a, const std::vector<std::uint64_t>& of_a) const {
        seam_member& self = a.members[0];
        for (std::uint32_t i = static_cast<std::uint32_t>(a.components.size()); i-- > 0;)
            for (std::uint32_t other = 0; other < a.components.size() && self.component[i] == i; ++other) {
                if (other == i || self.component[other] != other || of_a[other] != of_a[i] || a.types[other] != a.types[i]) continue;
                alias_match match(f, self.axes);
                if (const auto at = match.component(a.term, other, a.term, i, self.axes)) self.component[i] = other, self.at[i] = *at;
            }
    }

    /// Two seams of equal values are one: most components first, then preorder.
    std::vector<seam> cluster(std::vector<seam>& all) const {
        const twister reach{const_cast<forest&>(f)};  // asks only
        value_print prints(f);
        std::vector<bool> gone(all.size());
        std::vector<std::size_t> by(all.size());
        for (std::size_t i = 0; i < by.size(); ++i) by[i] = i;
        std::stable_sort(by.begin(), by.end(), [&](std::size_t a, std::size_t b) { return all[a].components.size() > all[b].components.size(); });
        for (const std::size_t x : by) {
            seam& a = all[x];
            if (gone[x] || a.owned || a.frontier) continue;
            std::vector<std::uint64_t> of_a;
            for (std::size_t i = 0; i < a.components.size(); ++i) of_a.push_back(prints.component(a.term, i));
            drop_equal_components(a, of_a);
            for (const std::size_t y : by) {
                seam& b = all[y];
                if (y == x || gone[y] || b.owned || b.frontier) continue;
                if (std::find(of_a.begin(), of_a.end(), prints.component(b.term, 0)) == of_a.end()) continue;
                if (reach.reaches(a.term, b.term) || reach.reaches(b.term, a.term) || !absorbs(a, b, of_a, prints)) continue;
                gone[y] = true;
                for (seam_member& m : b.members) a.members.push_back(std::move(m));
                a.aliases.push_back(b.address);
                a.aliases.insert(a.aliases.end(), b.aliases.begin(), b.aliases.end());
            }
        }
        std::vector<seam> out;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (!gone[i]) out.push_back(std::move(all[i]));
        return out;
    }
};

}  // namespace detail

EMMY_DECL std::vector<seam> seams(const forest& f) {
    return detail::seam_finder{f, {}, {}, 0, detail::value_types{f, {}, true}}.found();
}

}  // namespace emmy::fold::closed
