#pragma once
#include <emmy/loop/dims.hpp>
#include <emmy/loop/impl/interpret_machine.ipp>
#include <emmy/loop/impl/interpret_resolve.ipp>
#include <emmy/loop/impl/interpret_solve.ipp>
#include <emmy/loop/sample.hpp>
#include <emmy/loop/validate.hpp>

#include <map>

namespace emmy::loop {

namespace detail {

/// Smallest dimension that an integer value of each name indexes, over all statements: names are looked up as written, so a name that
/// stands for several values gets the smallest bound of all.
struct gather_bounds {
    const loop::body& b;
    std::map<name_id, std::int64_t> of_name;

    void note(expr_id id, std::int64_t extent) {
        if (id == no_expr) return;
        const expr& e = b.exprs[id];
        if (e.kind == expr_kind::name) {
            const auto [it, fresh] = of_name.try_emplace(e.name, extent);
            if (!fresh) it->second = std::min(it->second, extent);
        }
        if (e.kind == expr_kind::binary || e.kind == expr_kind::ternary || e.kind == expr_kind::cast) note(e.a, extent), note(e.b, extent);
        if (e.kind == expr_kind::ternary) note(e.c, extent);
    }
    static std::int64_t least(const dim& d) {
        if (d.kind == dim::form::number) return d.number;
        return 1;  // a symbol's size is at least that
    }
};

}  // namespace detail

EMMY_DECL std::vector<input_data> seeded_inputs(const kernel& k, std::uint64_t seed) {
    const body& b = k.body;
    detail::gather_bounds bounds{b, {}};
    std::map<name_id, const buffer*> inputs;
    for (const buffer& i : k.inputs) inputs[i.name] = &i;
    for (const stmt& s : b.stmts) {
        if (s.kind != stmt_kind::load) continue;
        const auto index = b.expressions(s.index);
        const auto found = inputs.find(s.buffer);
        for (std::size_t d = 0; found != inputs.end() && d < index.size() && d < found->second->shape.size(); ++d)
            bounds.note(index[d], detail::gather_bounds::least(found->second->shape[d]));
    }
    std::map<name_id, std::int64_t> of_buffer;
    for (const stmt& s : b.stmts) {
        if (s.kind != stmt_kind::load) continue;
        const auto bound = bounds.of_name.find(s.name);
        if (bound == bounds.of_name.end()) continue;
        const auto [it, fresh] = of_buffer.try_emplace(s.buffer, bound->second);
        if (!fresh) it->second = std::min(it->second, bound->second);
    }
    std::vector<input_data> out;
    for (std::size_t i = 0; i < k.inputs.size(); ++i) {
        const buffer& in = k.inputs[i];
        bool scalar = true;
        for (const dim& d : in.shape) scalar = scalar && d.kind == dim::form::number && d.number == 1;
        double low = -1, high = 1;
        if (reads_as_integer(in.type)) {
            low = 0, high = 7;
            if (in.type == dtype::boolean) high = 2;
            if (in.type == dtype::f4e2m1x2 || in.type == dtype::f16x2 || in.type == dtype::u8) high = 256;
            if (const auto bound = of_buffer.find(in.name); bound != of_buffer.end()) high = static_cast<double>(bound->second);
        } else if (scalar) {
            low = 0.5, high = 1.5;
        }
        out.push_back(input_data::of_seed(interp::seeded_bits(seed, i), low, high));
    }
    return out;
}

namespace detail {

/// An index expression under given axes, watching its dividends.
struct watched_index {
    const interp::model& m;
    const std::vector<std::int64_t>& axes;
    std::uint64_t negative = 0;

    std::int64_t operator()(interp::value_id v) {
        const interp::value& x = m.values[v];
        switch (x.kind) {
            case interp::value_kind::integer: return x.imm;
            case interp::value_kind::axis: return axes[x.aux];
            case interp::value_kind::choose: return (*this)((*this)(x.a) != 0 ? x.b : x.c);
            default: {
                const std::int64_t a = (*this)(x.a);
                if ((x.bop == binary_op::logical_and && a == 0) || (x.bop == binary_op::logical_or && a != 0)) return a != 0;
                const std::int64_t b = (*this)(x.b);
                const bool divides = x.bop == binary_op::divide || x.bop == binary_op::floor_divide || x.bop == binary_op::remainder;
                if (divides && a < 0) ++negative;
                return apply(x.bop, a, b);
            }
        }
    }
};

}  // namespace detail

EMMY_DECL result<index_samples> sample_indices(const kernel& k, const interpret_options& options, std::uint64_t seed, std::size_t draws) {
    EMMY_CHECK_OK(validate(k));
    interp::model m;
    interp::resolver names(k, options, m);
    EMMY_CHECK_OK(names.resolve());
    const interp::axis_solver solver(m);
    std::vector<interp::value_id> addresses;
    for (const interp::value& v : m.values)
        if (v.kind == interp::value_kind::load || v.kind == interp::value_kind::pre) addresses.push_back(v.a);
    for (const interp::write& w : m.writes) addresses.push_back(w.address);
    index_samples out;
    std::vector<std::int64_t> axes(m.loops.size());
    for (std::size_t draw = 0; draw <= draws; ++draw) {
        for (std::size_t l = 0; l < axes.size(); ++l)
            axes[l] = static_cast<std::int64_t>(interp::seeded_bits(seed, draw * axes.size() + l) % static_cast<std::uint64_t>(m.loops[l].extent));
        for (interp::value_id address : addresses) {
            bool gathers = false;
            for (interp::value_id a = address; a != interp::none && m.values[a].kind == interp::value_kind::address; a = m.values[a].a) {
                const interp::value& x = m.values[a];
                if (!solver.pure(x.b)) {
                    gathers = true;
                    continue;
                }
                if (draw == draws) continue;
                detail::watched_index index{m, axes};
                const std::int64_t i = index(x.b);
                ++out.evaluated, out.negative_dividends += index.negative;
                if (i >= 0 && i < x.extent) continue;
                if (out.outside++ == 0) out.first = interp::statement_text(m.body, x.stmt) + ": index " + std::to_string(i) + " of dimension " + std::to_string(x.dimension) + ", size " + std::to_string(x.extent);
            }
            if (gathers && draw == draws) ++out.gathers;  // counted once, in a pass of its own
        }
    }
    return out;
}

}  // namespace emmy::loop
