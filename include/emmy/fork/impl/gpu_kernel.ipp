#pragma once
#include <emmy/fork/gpu/kernel.hpp>

#include <emmy/fold/sites.hpp>

#include <algorithm>
#include <string_view>

namespace emmy::fork::gpu {
namespace detail {

class fact_finder {
public:
    explicit fact_finder(const fold::kernel_form& from) : f(from.terms), model(fold::closed::site_model_of(from.terms)) {}

    kernel found() {
        kernel out;
        const std::vector<fold::closed::site> paths = fold::closed::sites(f);
        for (std::size_t i = 0; i < model.sites.size(); ++i) {
            const fold::closed::site_facts& from = model.sites[i];
            const bool tile = from.tiles || (from.pointwise && from.root);
            if (!tile && from.kind == fold::term_kind::map) continue;
            out.sites.push_back(site_of(from, tile));
            if (i < paths.size() && paths[i].term == from.term) place_in_kernel(out.sites.back(), paths[i]);
        }
        for (std::size_t i = 0; i < out.sites.size(); ++i)
            if (out.sites[i].chunked && out.sites[i].tiles()) take_scores(out, i);
        out.outputs_sweep = !f.stores.empty() && std::all_of(f.stores.begin(), f.stores.end(), [&](const fold::closed::store& s) {
            return std::any_of(s.sweeps.begin(), s.sweeps.end(), [&](const loop::axis& a) { return !promoted(a.name); });
        });
        out.sweepable = out.outputs_sweep || std::none_of(f.terms.begin(), f.terms.end(), [](const fold::closed::term& t) { return !t.is_map(); });
        out.register_program = std::any_of(out.sites.begin(), out.sites.end(), [](const site& s) { return s.carries; });
        return out;
    }

private:
    const fold::closed::forest& f;
    fold::closed::site_model model;
    std::vector<name_id> axes_{};

    bool promoted(name_id n) const { return std::find(model.geometry.promoted.begin(), model.geometry.promoted.end(), n) != model.geometry.promoted.end(); }
    static bool has(const std::vector<name_id>& list, name_id n) { return std::find(list.begin(), list.end(), n) != list.end(); }
    static std::int64_t size_of(const dim& d) { return d.kind == dim::form::number ? d.number : 0; }
    axis_id number_of(name_id n) {
        if (n == no_name) return no_axis;
        const auto at = std::find(axes_.begin(), axes_.end(), n);
        if (at == axes_.end()) axes_.push_back(n);
        return static_cast<axis_id>(std::min<std::ptrdiff_t>(at - axes_.begin(), no_axis - 1));
    }
    /// Size of an output axis: of the grid, or of a fold above.
    std::int64_t extent_of(name_id n) const {
        if (n == no_name) return 1;
        for (const loop::axis& a : model.geometry.grid)
            if (a.name == n) return size_of(a.extent);
        for (const fold::closed::term& t : f.terms)
            if (!t.is_map() && t.axis.name == n) return size_of(t.axis.extent);
        for (const fold::closed::store& s : f.stores)
            for (const loop::axis& a : s.sweeps)
                if (a.name == n) return size_of(a.extent);
        return 0;
    }
    std::int64_t extent_of(const std::vector<name_id>& axes) const {
        std::int64_t out = 1;
        for (const name_id n : axes) {
            const std::int64_t one = extent_of(n);
            if (one == 0 || __builtin_mul_overflow(out, one, &out)) return 0;
        }
        return out;
    }
    /// The narrow type of a weight that its operand is decoded from: the read along k of fewest bits, of elements of a byte or less.
    dtype raw_of(fold::closed::term_id id, name_id k) const {
        dtype out = dtype::none;
        const auto look = [&](const fold::closed::pure& load) {
            const loop::buffer* b = buffer_of(load.buffer);
            if (b == nullptr || byte_size(b->type) != 1) return;
            std::vector<name_id> named;
            for (const expr_id e : load.index) f.names_in(e, named);
            if (has(named, k) && (out == dtype::none || b->type == dtype::f4e2m1x2)) out = b->type;
        };
        for (const fold::closed::pure& s : f[id].body)
            if (s.kind == loop::stmt_kind::load) look(s);
        for (const fold::closed::term_id o : f[id].operands)
            if (f[o].is_slab()) look(f[o].body[0]);
        return out;
    }
    const loop::buffer* buffer_of(name_id n) const {
        for (const auto* list : {&f.inputs, &f.outputs})
            for (const loop::buffer& b : *list)
                if (b.name == n) return &b;
        return nullptr;
    }
    static knob::node_kind kind_of(fold::term_kind k) {
        switch (k) {
            case fold::term_kind::map: return knob::node_kind::map;
            case fold::term_kind::reduce: return knob::node_kind::reduce;
            case fold::term_kind::inner: return knob::node_kind::inner;
            case fold::term_kind::twist: return knob::node_kind::twist;
            case fold::term_kind::scan: return knob::node_kind::scan;
        }
        return knob::node_kind::map;
    }
    /// At most one coordinate of the tile in every index.
    bool is_affine(const fold::closed::pure& load, const fold::closed::site_facts& of) const {
        for (const expr_id e : load.index) {
            std::vector<name_id> named;
            f.names_in(e, named);
            std::size_t own = 0;
            for (const name_id n : named) own += n == of.m || n == of.n || n == of.axis.name;
            if (own > 1) return false;
        }
        return true;
    }
    const fold::closed::pure* load_in(fold::closed::term_id id) const {
        for (const fold::closed::pure& s : f[id].body)
            if (s.kind == loop::stmt_kind::load) return &s;
        for (const fold::closed::term_id o : f[id].operands)
            if (f[o].is_slab()) return &f[o].body[0];
        return nullptr;
    }
    operand operand_of(const fold::closed::operand_facts& from, const fold::closed::site_facts& of) const {
        operand out;
        out.stored = from.stored || from.converts;
        out.storage = from.storage, out.type = from.type, out.converts = from.converts || (from.stored && from.storage != from.type);
        out.k_last = from.axis_last, out.unit_stride = from.unit_stride;
        out.raw = raw_of(from.term, of.axis.name);
        out.folds = from.folds, out.per_row = from.sweeps_axis;
        if (const loop::buffer* b = buffer_of(from.buffer)) {
            out.rank = static_cast<std::uint8_t>(std::min<std::size_t>(b->shape.size(), 255));
            out.inner = b->shape.empty() ? 1 : size_of(b->shape.back());
            if (const fold::closed::pure* load = load_in(from.term)) out.affine = is_affine(*load, of);
        }
        return out;
    }
    /// Of two channels' operands the one that asks for more.
    static operand less_favourable(const operand& x, const operand& y) {
        if (x.stored != y.stored) return x.stored ? y : x;
        if (x.converts != y.converts) return x.converts ? x : y;
        if (x.affine != y.affine) return x.affine ? y : x;
        return x;
    }
    site site_of(const fold::closed::site_facts& from, bool tile) {
        site out;
        if (const auto at = knob::route::parse(from.address)) out.at = *at;
        const fold::closed::term& t = f[from.term];
        out.kind = kind_of(from.kind);
        out.has_tile = tile, out.has_stage = from.tiles, out.has_reduce = from.kind != fold::term_kind::map;
        out.in_sweep = from.in_sweep;
        out.observed = !t.observe.empty(), out.chunked = from.chunked;
        for (const loop::buffer& b : f.inputs) out.finalize |= !t.is_map() && f.text(b.name).ends_with("__partial");
        if (!t.is_map()) out.k = size_of(t.axis.extent), out.k_axis = number_of(t.axis.name);
        std::size_t wide = 0;
        for (const loop::axis& a : model.geometry.grid) wide += size_of(a.extent) != 1;
        out.free_axis = wide > 0;
        out.free_axes = static_cast<std::uint8_t>(std::min<std::size_t>(model.geometry.grid.size(), 255));
        out.loop_in_epilogue = model.geometry.swept;
        if (from.pointwise) out.strip = model.geometry.grid.empty() ? 1 : size_of(model.geometry.grid.back().extent);
        if (from.roles) {
            out.m_axis = number_of(from.m), out.n_axis = number_of(from.n);
            out.m = from.roles.left.empty() ? extent_of(from.m) : extent_of(from.roles.left), out.n = from.roles.right.empty() ? extent_of(from.n) : extent_of(from.roles.right);
            out.channels = static_cast<std::uint8_t>(std::min<std::size_t>(from.b.size(), 255));
            out.a = operand_of(from.a, from);
            for (std::size_t i = 0; i < from.b.size(); ++i) out.b = i == 0 ? operand_of(from.b[0], from) : less_favourable(out.b, operand_of(from.b[i], from));
            for (const fold::closed::term_id o : t.operands) {
                if (o == from.roles.a || has_term(from.roles.b, o)) continue;
                if (has(f[o].free, from.m)) out.rest_uniform_m = false;
                if (has(f[o].free, from.n)) out.rest_uniform_n = false;
            }
        }
        return out;
    }
    static bool has_term(const std::vector<fold::closed::term_id>& list, fold::closed::term_id t) { return std::find(list.begin(), list.end(), t) != list.end(); }
    /// The contraction whose results a rescaled fold takes chunk by chunk: the tiling one below it. Its columns are the fold's steps.
    void take_scores(kernel& k, std::size_t of) const {
        site& s = k.sites[of];
        const auto below = s.at.spell();
        for (std::size_t i = 0; i < k.sites.size() && i < 127; ++i) {
            site& from = k.sites[i];
            if (i == of || !from.tiles() || !from.at.spell().view().starts_with(below.view())) continue;
            s.score = static_cast<std::int8_t>(i);
            from.n = s.k, from.n_axis = s.k_axis, from.m = s.m, from.m_axis = s.m_axis;
            return;
        }
    }
    /// A root is a fold that only maps stand above; a member of its chain stands below one and varies with no axis of a fold above.
    void place_in_kernel(site& out, const fold::closed::site& s) const {
        std::vector<name_id> bound;
        for (const fold::closed::term_id id : s.path)
            if (id != s.term && !f[id].is_map()) bound.push_back(f[id].axis.name);
        const auto& free = f[s.term].free;
        out.root = bound.empty();
        out.chain = !out.root && !f[s.term].is_map() && std::none_of(free.begin(), free.end(), [&](name_id n) { return has(bound, n); });
    }
};

}  // namespace detail

EMMY_DECL kernel facts_of(const fold::kernel_form& k) {
    kernel out = detail::fact_finder(k).found();
    out.formed = k.formed;
    return out;
}

}  // namespace emmy::fork::gpu
