#pragma once
#include <emmy/core/dim_wire.hpp>
#include <emmy/loop/infer.hpp>
#include <emmy/loop/single_op.hpp>

#include <algorithm>
#include <limits>

namespace emmy::loop::detail {

/// Builds one kernel in the form that stored bodies have. Axes of the kernel are numbers: the free axes in the order of the output, then
/// inner ones (a reduction, a second pass); an axis of static extent 1 has no loop and reads 0.
class stored_form {
protected:
    explicit stored_form(const program::graph& graph) : g(graph) {}

    static constexpr int no_axis = -1;
    struct axis_plan {
        dim extent;
        bool unit = false;            ///< static extent 1
        name_id loop = no_name;       ///< loop axis that holds it
        std::int64_t inner = 1, own = 0;  ///< place in a fused loop: (loop / inner) % own; own 0: no remainder
    };
    struct access {
        std::string buffer;
        dtype type = dtype::none;
        std::vector<int> axes;  ///< per dimension; no_axis reads 0
    };

    const program::node& node(program::edge e) const { return g.nodes[e.node]; }
    bool is_weight(program::edge e) const { return node(e).op == program::op::constant && !g.find(node(e), program::attr::value); }

    // Names and expressions of the body.
    loop::body& body() { return out.kernel.body; }
    name_id name(std::string_view prefix, int number) { return body().names.intern(std::string(prefix) + std::to_string(number)); }
    dim converted(const dim& d) {
        dim to = d;
        if (d.kind == dim::form::symbol) to.symbol = body().names.intern(g.text(d.symbol));
        if (d.kind == dim::form::expression) to.value = *parse_expr(dim_text(d, g.exprs, g.names), body().exprs, body().names);
        return to;
    }
    static bool is_one(const dim& d) { return d.kind == dim::form::number && d.number == 1; }
    static bool is_static(const dim& d) { return d.kind == dim::form::number; }

    void add_buffer(std::vector<buffer>& to, std::string_view id, dtype type, std::span<const dim> shape) {
        buffer b{.name = body().names.intern(id), .type = type, .shape = {}};
        for (const dim& d : shape) b.shape.push_back(converted(d));
        to.push_back(std::move(b));
    }
    void add_port(std::string_view id, program::edge e, kernel_port::source from = kernel_port::source::tensor) {
        std::vector<dim> shape(g.shape(e).begin(), g.shape(e).end());
        if (from == kernel_port::source::transposed_tensor) std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
        const bool literal = node(e).op == program::op::constant && !is_weight(e);
        add_buffer(out.kernel.inputs, id, g.at(e).type, shape);
        out.ports.push_back({std::string(id), literal ? kernel_port::source::literal : from, std::string(g.id(e.node)),
                             literal ? g.find(node(e), program::attr::value)->number.as_double() : 0});
    }
    void add_number(const std::string& id, dtype type, double value) {
        const dim one = number_dim(1);
        add_buffer(out.kernel.inputs, id, type, std::span(&one, 1));
        out.ports.push_back({id, kernel_port::source::literal, {}, value});
    }

    // Axes.
    int add_axis(const dim& extent) {
        axes.push_back({.extent = extent, .unit = is_one(extent), .loop = no_name, .inner = 1, .own = 0});
        return static_cast<int>(axes.size() - 1);
    }
    /// Whether every access still reads row-major runs when p and q become one axis: it reads both, q just inside p, or neither.
    bool fuses(int p, int q, std::span<const access> accesses) const {
        for (const access& a : accesses) {
            int at_p = no_axis, at_q = no_axis, place = 0;
            for (int axis : a.axes) {
                if (axis == no_axis || axes[static_cast<std::size_t>(axis)].unit) continue;
                if (axis == p) at_p = place;
                if (axis == q) at_q = place;
                ++place;
            }
            if ((at_p == no_axis) != (at_q == no_axis) || (at_p != no_axis && at_q != at_p + 1)) return false;
        }
        return true;
    }
    struct loop_plan {
        name_id name;
        dim extent;
        std::vector<int> axes;
    };
    /// Loops over the free axes, outermost first; adjacent static axes become one where the accesses allow it.
    std::vector<loop_plan> plan(std::span<const int> free, std::span<const access> accesses) {
        std::vector<loop_plan> loops;
        for (int axis : free) {
            axis_plan& a = axes[static_cast<std::size_t>(axis)];
            if (a.unit) continue;
            if (!loops.empty() && is_static(a.extent) && is_static(loops.back().extent) && fuses(loops.back().axes.back(), axis, accesses) &&
                loops.back().extent.number <= std::numeric_limits<std::int64_t>::max() / a.extent.number) {
                loops.back().extent.number *= a.extent.number;
                loops.back().axes.push_back(axis);
            } else {
                loops.push_back({no_name, a.extent, {axis}});
            }
        }
        for (loop_plan& l : loops) {
            l.name = name("a", next_axis++);
            std::int64_t inner = 1;
            for (std::size_t i = l.axes.size(); i-- > 0;) {
                axis_plan& a = axes[static_cast<std::size_t>(l.axes[i])];
                a.loop = l.name;
                a.inner = inner;
                a.own = i == 0 ? 0 : a.extent.number;
                if (l.axes.size() > 1) inner *= a.extent.number;
            }
        }
        return loops;
    }
    void open(int axis, name_id loop) { axes[static_cast<std::size_t>(axis)].loop = loop; }

    expr_id coordinate(int axis) {
        expr_pool& pool = body().exprs;
        if (axis == no_axis || axes[static_cast<std::size_t>(axis)].unit) return pool.integer(0);
        const axis_plan& a = axes[static_cast<std::size_t>(axis)];
        expr_id e = pool.name(a.loop);
        if (a.inner != 1) e = pool.binary(binary_op::divide, e, pool.integer(a.inner));
        if (a.own != 0) e = pool.binary(binary_op::remainder, e, pool.integer(a.own));
        return e;
    }
    loop::run index(const access& a) {
        std::vector<expr_id> entries;
        for (int axis : a.axes) entries.push_back(coordinate(axis));
        return body().add_expressions(entries);
    }

    // Statements.
    struct value {
        name_id name = no_name;
        dtype type = dtype::none;
    };
    value load(std::vector<stmt_id>& to, const access& a) {
        stmt s{.kind = stmt_kind::load, .name = name("in", next_load++), .buffer = body().names.intern(a.buffer)};
        s.index = index(a);
        to.push_back(body().add(s));
        return {s.name, a.type};
    }
    value assign(std::vector<stmt_id>& to, op o, std::initializer_list<value> args, dtype stamp = dtype::none) {
        std::vector<name_id> names;
        std::vector<dtype> types;
        for (const value& v : args) names.push_back(v.name), types.push_back(v.type);
        stmt s{.kind = stmt_kind::assign, .op = o, .type = stamp, .name = name("v", next_value++)};
        s.args = body().add_names(names);
        to.push_back(body().add(s));
        const bool same = names.size() == 2 && names[0] == names[1];
        return {s.name, stamp != dtype::none ? stamp : infer_assign(o, types, same)};
    }
    value accum(std::vector<stmt_id>& to, op o, value v, name_id axis) {
        stmt s{.kind = stmt_kind::accum, .op = o, .name = name("acc", next_accum++)};
        s.args = body().add_names(std::span(&v.name, 1));
        s.axes = body().add_names(std::span(&axis, 1));
        to.push_back(body().add(s));
        return {s.name, infer_accum(o, v.type)};
    }
    void write(std::vector<stmt_id>& to, const access& a, value v) {
        stmt s{.kind = stmt_kind::write, .buffer = body().names.intern(a.buffer)};
        s.index = index(a);
        s.args = body().add_names(std::span(&v.name, 1));
        to.push_back(body().add(s));
    }
    stmt_id loop_over(name_id axis, const dim& extent, std::span<const stmt_id> statements) {
        stmt s{.kind = stmt_kind::loop};
        s.axis.name = axis;
        s.axis.extent = converted(extent);
        s.body = body().add_statements(statements);
        return body().add(s);
    }
    /// Wraps the innermost statements in the planned loops; `before` holds, per loop depth, what stands ahead of the next loop.
    void nest(std::span<const loop_plan> loops, std::vector<std::vector<stmt_id>> before) {
        std::vector<stmt_id> inner = std::move(before[loops.size()]);
        for (std::size_t i = loops.size(); i-- > 0;) {
            const stmt_id l = loop_over(loops[i].name, loops[i].extent, inner);
            inner = std::move(before[i]);
            inner.push_back(l);
        }
        body().top = body().add_statements(inner);
    }
    /// The dtype an Assign states: none when inference from the operands' declared types gives it already.
    static dtype stamp_of(op o, dtype declared, std::initializer_list<dtype> types) {
        const std::vector<dtype> list(types);
        return infer_assign(o, list) == declared ? dtype::none : declared;
    }
    result<void> nest_flat(std::span<const loop_plan> loops, std::vector<stmt_id> inner) {
        std::vector<std::vector<stmt_id>> before(loops.size() + 1);
        before.back() = std::move(inner);
        nest(loops, std::move(before));
        return {};
    }

    /// On the wire input nodes stand in the order of their names.
    void order_nodes() {
        std::vector<std::uint32_t>& order = out.kernel.node_order;
        for (std::uint32_t i = 0; i < out.kernel.inputs.size(); ++i) order.push_back(i);
        const auto by_name = [&](std::uint32_t a, std::uint32_t b) { return body().text(out.kernel.inputs[a].name) < body().text(out.kernel.inputs[b].name); };
        if (std::is_sorted(order.begin(), order.end(), by_name)) order.clear();  // empty = as declared
        else std::sort(order.begin(), order.end(), by_name);
    }

    const program::graph& g;
    single_op_kernel out;
    std::vector<axis_plan> axes;
    int next_axis = 0, next_load = 0, next_value = 0, next_accum = 0;
};

}  // namespace emmy::loop::detail
