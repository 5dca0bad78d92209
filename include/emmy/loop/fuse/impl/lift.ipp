#pragma once
#include <emmy/core/dim_wire.hpp>
#include <emmy/loop/fuse/impl/lifted.hpp>
#include <emmy/loop/fuse/impl/names.hpp>
#include <emmy/loop/infer.hpp>

namespace emmy::loop::fusion {

/// Type of a pointwise result from the declared types of its operands: the widest integer (unsigned wins ties) for integer algebra on integers,
/// f16 when all are, else f32. What is declared otherwise is stamped on the statement.
inline dtype promoted(loop::op o, std::span<const dtype> args) {
    constexpr loop::op algebra[] = {op::add, op::subtract, op::multiply, op::floor_divide, op::remainder, op::mod, op::left_shift, op::right_shift,
                                    op::bitwise_and, op::bitwise_or, op::bitwise_xor, op::bitwise_count};
    bool integers = false, halves = !args.empty();
    for (const loop::op a : algebra) integers = integers || a == o;
    for (const dtype t : args) integers = integers && is_integer(t) && t != dtype::boolean, halves = halves && t == dtype::f16;
    if (!integers) return halves ? dtype::f16 : dtype::f32;
    dtype widest = args[0];
    for (const dtype t : args.subspan(1))
        if (facts(t).bits > facts(widest).bits || (facts(t).bits == facts(widest).bits && !facts(t).is_signed)) widest = t;
    return widest;
}

class lifter {
public:
    lifter(program_graph& to, const program::primitive_graph& from) : p_(to), v_(to.values), from_(from), g_(from.g) {}

    result<void> run() {
        p_.buffers.resize(g_.nodes.size());
        for (program::node_id n = 0; n < g_.nodes.size(); ++n) declare(n);
        for (const dim& d : g_.dims)
            if (d.kind == dim::form::symbol) p_.indices.symbol(d.symbol);
        for (const program::edge e : g_.outputs) p_.buffers[e.node].output = true;
        for (program::node_id n = 0; n < g_.nodes.size(); ++n) {
            if (g_.nodes[n].outputs.count != 1) return wrong(n, "a node of " + std::to_string(g_.nodes[n].outputs.count) + " outputs, expected one");
            for (const program::edge e : g_.inputs_of(g_.nodes[n]))
                if (e.node >= n) return wrong(n, "an edge to a node that does not come before it, expected canonical order");
            if (g_.nodes[n].op == program::op::input || g_.nodes[n].op == program::op::constant) continue;
            EMMY_CHECK_OK(lift(n));
        }
        for (buffer_id b = 0; b < p_.buffers.size(); ++b)
            if (p_.buffers[b].output) p_.outputs.push_back(b);
        round_stores();
        return {};
    }

private:
    tl::unexpected<fault> wrong(program::node_id n, const std::string& what) const { return refuse(fault_kind::input, "found " + what, std::string(g_.id(n))); }

    void declare(program::node_id n) {
        buffer_facts& b = p_.buffers[n];
        const program::tensor& t = g_.tensors[g_.nodes[n].outputs.first];
        b.name = g_.nodes[n].id;  // the pools are copies of the program's
        b.type = t.type;
        b.shape.assign(g_.shape_of(t.shape).begin(), g_.shape_of(t.shape).end());
        b.transient = n < from_.transient.size() && from_.transient[n];
        b.node = n;
        if (const program::attribute* value = g_.nodes[n].op == program::op::constant ? g_.find(g_.nodes[n], program::attr::value) : nullptr) b.literal = value->number;
    }
    static bool is_one(const dim& d) { return d.kind == dim::form::number && d.number == 1; }
    expr_id zero() { return v_.exprs.integer(0); }
    std::span<const dim> shape(buffer_id b) const { return p_.buffers[b].shape; }

    value_id read(lifted_op& o, buffer_id b, std::span<const expr_id> at) {
        std::vector<expr_id> index(at.begin(), at.end());
        for (std::size_t i = 0; i < index.size(); ++i) index[i] = is_one(shape(b)[i]) ? zero() : p_.indices.simplify(index[i]);
        if (std::find(o.reads.begin(), o.reads.end(), b) == o.reads.end()) o.reads.push_back(b);
        return v_.load(b, index);
    }
    bool same_shape(buffer_id a, buffer_id b) const {
        if (shape(a).size() != shape(b).size()) return false;
        for (std::size_t i = 0; i < shape(a).size(); ++i)
            if (!same_extent(shape(a)[i], shape(b)[i])) return false;
        return true;
    }
    /// Coordinates of operand `b` at the output's coordinates: equal, or right-aligned on equal extents.
    result<std::vector<expr_id>> aligned(program::node_id n, buffer_id b, std::span<const expr_id> at) {
        const auto to = shape(n), from = shape(b);
        if (from.size() > to.size()) return wrong(n, "an operand of rank " + std::to_string(from.size()) + ", expected at most " + std::to_string(to.size()));
        std::vector<expr_id> index;
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::size_t d = to.size() - from.size() + i;
            if (!same_extent(from[i], to[d]) && !is_one(from[i]))
                return wrong(n, "operand " + std::string(v_.names.text(p_.buffers[b].name)) + " of another size in dimension " + std::to_string(i) + ", expected the result's");
            index.push_back(at[d]);
        }
        return index;
    }
    result<std::size_t> axis(program::node_id n, std::size_t rank) const {
        const std::int64_t a = g_.integer(g_.nodes[n], program::attr::axis), r = static_cast<std::int64_t>(rank);
        if (a < -r || a >= r) return wrong(n, "axis " + std::to_string(a) + ", expected one of " + std::to_string(rank));
        return static_cast<std::size_t>(a < 0 ? a + r : a);
    }

    result<void> lift(program::node_id n) {
        const program::node& node = g_.nodes[n];
        lifted_op o{.axes = {}, .stores = {n}, .index = {}, .reads = {}, .node = n};
        std::vector<expr_id> at;
        const auto place = [&](std::size_t skip) {  // own axes and coordinates, `skip` left out
            for (std::size_t d = 0; d < shape(n).size(); ++d) {
                if (d == skip || is_one(shape(n)[d])) {
                    at.push_back(zero());
                    continue;
                }
                const axis_id a = v_.own_axis(static_cast<std::uint32_t>(o.axes.size()), shape(n)[d]);
                o.axes.push_back(a);
                at.push_back(v_.axis_expr(a));
            }
        };
        switch (node.op) {
            case program::op::elementwise:
            case program::op::bitcast: {
                place(nothing);
                EMMY_CHECK_OK(pointwise(o, n, at));
                break;
            }
            case program::op::reduce:
            case program::op::scan: {
                EMMY_CHECK_OK(fold(o, n, at, place));
                break;
            }
            case program::op::index_map: {
                place(nothing);
                EMMY_CHECK_OK(map(o, n, at));
                break;
            }
            case program::op::gather: {
                place(nothing);
                EMMY_CHECK_OK(gather(o, n, at));
                break;
            }
            default: return wrong(n, std::string(program::text(node.op)) + ", expected a tensor primitive");
        }
        o.index = at;
        const auto index = static_cast<op_index>(p_.ops.size());
        if (o.kind == lifted_kind::fold) {
            std::vector<expr_id> own;
            for (const axis_id a : o.axes) own.push_back(v_.axis_expr(a));
            o.stored = v_.call(index, own);
        }
        for (const buffer_id b : o.reads) p_.buffers[b].readers.push_back(index);
        p_.buffers[n].producer = index;
        p_.order.push_back(index);
        p_.ops.push_back(std::move(o));
        return {};
    }

    result<void> pointwise(lifted_op& o, program::node_id n, std::span<const expr_id> at) {
        const program::node& node = g_.nodes[n];
        const bool cast = node.op == program::op::bitcast;
        const std::string_view text = cast ? "bitcast" : g_.text(node, program::attr::op);
        const loop::op f = op_from_text(text);
        if (f == op::none || facts(f).arity != static_cast<int>(node.inputs.count))
            return wrong(n, std::string(text) + " of " + std::to_string(node.inputs.count) + " operands, expected a pointwise operator");
        std::vector<value_id> args;
        std::vector<dtype> types;
        for (const program::edge e : g_.inputs_of(node)) {
            EMMY_TRY(index, aligned(n, e.node, at));
            args.push_back(read(o, e.node, index));
            types.push_back(p_.buffers[e.node].type);
        }
        const dtype declared = p_.buffers[n].type;
        o.stored = v_.apply(f, cast || promoted(f, types) != declared ? declared : dtype::none, args);
        if (o.stored == args[0] && f == op::copy) o.plain_load = g_.inputs_of(node)[0].node;
        return {};
    }

    template <class Place>
    result<void> fold(lifted_op& o, program::node_id n, std::vector<expr_id>& at, Place&& place) {
        const program::node& node = g_.nodes[n];
        const bool scan = node.op == program::op::scan;
        const buffer_id from = g_.inputs_of(node)[0].node;
        EMMY_TRY(folded, axis(n, shape(from).size()));
        if (shape(n).size() != shape(from).size()) return wrong(n, "a fold of another rank than its operand, expected the folded axis to be kept");
        for (std::size_t d = 0; d < shape(n).size(); ++d)
            if (d == folded && !scan ? !is_one(shape(n)[d]) : !same_extent(shape(n)[d], shape(from)[d])) return wrong(n, "a fold of another size in dimension " + std::to_string(d));
        o.fold_op = op_from_text(g_.text(node, program::attr::op));
        if (o.fold_op == op::none || !facts(o.fold_op).folds) return wrong(n, "the fold " + std::string(g_.text(node, program::attr::op)));
        place(folded);
        if (is_one(shape(from)[folded])) {  // nothing is summed: a copy
            o.stored = read(o, from, at);
            return {};
        }
        o.fold_axis = v_.own_fold_axis(static_cast<std::uint32_t>(o.axes.size()), shape(from)[folded]);
        std::vector<expr_id> inner(at.begin(), at.end());
        inner[folded] = v_.axis_expr(o.fold_axis);
        o.folded = read(o, from, inner);
        o.accumulates = true;
        o.kind = scan ? lifted_kind::scan : lifted_kind::fold;
        if (scan) at[folded] = inner[folded], o.stored = v_.fold(o.fold_axis, o.fold_op, o.folded);
        return {};
    }

    result<void> map(lifted_op& o, program::node_id n, std::span<const expr_id> at) {
        const program::node& node = g_.nodes[n];
        const program::attribute* list = g_.find(node, program::attr::sources);
        std::vector<value_id> branches;
        std::vector<expr_id> when;
        const auto placed = [&](expr_id e) {
            return p_.indices.simplify(replace_names(v_.exprs, e, [&](name_id name) -> expr_id {
                const std::string_view text = v_.names.text(name);
                if (!text.starts_with("out_coord_")) return no_expr;
                std::size_t d = 0;
                for (const char c : text.substr(10)) d = d * 10 + static_cast<std::size_t>(c - '0');
                return d < at.size() ? at[d] : no_expr;
            }));
        };
        for (std::uint32_t s = 0; list && s < list->list.count; ++s) {
            const program::map_source source = g_.sources[list->list.first + s];
            if (source.input_idx < 0 || source.input_idx >= static_cast<std::int64_t>(node.inputs.count)) return wrong(n, "source " + std::to_string(source.input_idx) + " of an index map");
            const buffer_id from = g_.inputs_of(node)[static_cast<std::size_t>(source.input_idx)].node;
            if (source.coord_map.count != shape(from).size()) return wrong(n, std::to_string(source.coord_map.count) + " coordinates, expected " + std::to_string(shape(from).size()));
            std::vector<expr_id> index;
            for (std::uint32_t i = 0; i < source.coord_map.count; ++i) index.push_back(is_one(shape(from)[i]) ? zero() : placed(g_.coordinates[source.coord_map.first + i]));
            branches.push_back(read(o, from, index));
            when.push_back(source.select == no_expr ? v_.exprs.boolean(true) : placed(source.select));
        }
        if (branches.empty()) return wrong(n, "an index map without sources");
        if (branches.size() > 1) {
            o.stored = v_.select(branches, when);
            return {};
        }
        o.stored = branches[0];
        o.plain_load = v_.at(branches[0]).target;
        return {};
    }

    result<void> gather(lifted_op& o, program::node_id n, std::span<const expr_id> at) {
        const program::node& node = g_.nodes[n];
        const buffer_id data = g_.inputs_of(node)[0].node, ix = g_.inputs_of(node)[1].node;
        const std::size_t rank = shape(data).size(), ranks = shape(ix).size(), out = shape(n).size();
        EMMY_TRY(a, axis(n, rank));
        std::vector<expr_id> where, index;
        if (rank == ranks && out == rank) {
            where.assign(at.begin(), at.end());
            index = where;
        } else if (out == ranks + rank - 1) {
            where.assign(at.begin() + static_cast<std::ptrdiff_t>(a), at.begin() + static_cast<std::ptrdiff_t>(a + ranks));
            index.assign(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(a));
            index.push_back(zero());
            index.insert(index.end(), at.begin() + static_cast<std::ptrdiff_t>(a + ranks), at.end());
        } else {
            return wrong(n, "a gather of rank " + std::to_string(out));
        }
        const value_id i = read(o, ix, where);
        const expr_id whole = v_.exprs.cast(v_.names.intern("int"), v_.value_expr(i));
        index[a] = v_.exprs.ternary(v_.exprs.binary(binary_op::less, whole, zero()), v_.exprs.binary(binary_op::add, whole, v_.extent_expr(shape(data)[a])), whole);
        o.stored = read(o, data, index);
        return {};
    }

    /// Where a value that was accumulated in f32 is explicitly rounded: at a narrower buffer of the program that something reads.
    void round_stores() {
        for (lifted_op& o : p_.ops) {
            bool accumulator = o.accumulates;
            if (o.plain_load != nothing) {
                const buffer_facts& from = p_.buffers[o.plain_load];
                accumulator = from.transient && from.producer != nothing && p_.ops[from.producer].accumulates;
            }
            const buffer_facts& to = p_.buffers[o.stores[0]];
            if (!accumulator || to.transient || to.type == dtype::f32 || to.readers.empty()) continue;
            o.stored = v_.apply(op::copy, to.type, std::array{o.stored});
            o.rounds = true;
        }
    }

    program_graph& p_;
    value_graph& v_;
    const program::primitive_graph& from_;
    const program::graph& g_;
};

inline result<void> lift(program_graph& to, const program::primitive_graph& from) { return lifter(to, from).run(); }

}  // namespace emmy::loop::fusion
