#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/loop/impl/stored_form.ipp>
#include <emmy/loop/single_op.hpp>
#include <emmy/loop/validate.hpp>
#include <emmy/loop/wire.hpp>

#include <algorithm>
#include <optional>

namespace emmy::loop {
namespace detail {

/// One operator's program as a kernel: which operator it is, what it reads where, and its statements.
class single_op_lowering : private stored_form {
public:
    explicit single_op_lowering(const program::graph& graph) : stored_form(graph), live(program::live_nodes(graph)) {}

    result<single_op_kernel> lowered() {
        if (g.outputs.size() != 1) return unsupported("a program of " + std::to_string(g.outputs.size()) + " outputs");
        main = g.outputs[0];
        if (node(main).op == program::op::index_map) {  // a fold whose axis is dropped
            squeeze = main;
            main = g.inputs_of(node(main))[0];
            if (!is_fold(node(main).op)) return unsupported("torch.index_map of " + tag(main));
        }
        for (program::node_id n = 0; n < g.nodes.size(); ++n) {
            const program::op o = g.nodes[n].op;
            if (!live[n] || o == program::op::input || o == program::op::constant) continue;
            if (n != main.node && !(squeeze && n == squeeze->node) && !is_operand_map(n)) return unsupported(std::string(program::text(o)) + " beside " + tag(main));
            out.origins.emplace_back(g.id(n));
        }
        std::sort(out.origins.begin(), out.origins.end());
        EMMY_CHECK_OK(lower());
        order_nodes();
        finish_name();
        EMMY_CHECK_OK(validate(out.kernel));  // names of a program may clash with those that a kernel mints, or be no identifiers
        return std::move(out);
    }

private:
    // The program.
    std::string tag(program::edge e) const {
        const program::node& n = node(e);
        return n.op == program::op::elementwise ? std::string(g.text(n, program::attr::op)) : std::string(program::text(n.op));
    }
    tl::unexpected<fault> unsupported(const std::string& what) const { return refuse(fault_kind::user, "no single-operator lowering for " + what); }
    tl::unexpected<fault> misfit(std::string_view what) const {
        return refuse(fault_kind::input, "found shapes of " + tag(main) + " that do not fit together (" + std::string(what) + "), expected its operands' sizes to agree", std::string(g.id(main.node)));
    }
    static bool is_fold(program::op o) { return o == program::op::reduce || o == program::op::mean; }
    bool is_operand_map(program::node_id n) const {
        if (node(main).op != program::op::elementwise || g.nodes[n].op != program::op::index_map) return false;
        for (const program::edge e : g.inputs_of(node(main)))
            if (e.node == n) return true;
        return false;
    }
    bool is_source(program::edge e) const { return node(e).op == program::op::input || (node(e).op == program::op::constant && !g.find(node(e), program::attr::context_value)); }

    // Operators.
    dtype out_type() const { return g.at(squeeze ? *squeeze : main).type; }
    std::string out_id() const { return std::string(g.id((squeeze ? *squeeze : main).node)); }
    void declare_output() { add_buffer(out.kernel.outputs, out_id(), out_type(), g.shape(squeeze ? *squeeze : main)); }
    result<void> reducible(const dim& extent) const {
        if (is_one(extent)) return unsupported(tag(main) + " over an axis of extent 1");
        return {};
    }

    result<void> lower() {
        for (const program::edge e : g.inputs_of(node(main)))
            if (!is_source(e) && !is_operand_map(e.node)) return unsupported(tag(main) + " of " + tag(e));
        switch (node(main).op) {
            case program::op::matmul:
            case program::op::linear: return product();
            case program::op::softmax: return softmax();
            case program::op::rms_norm: return rms_norm();
            case program::op::reduce:
            case program::op::mean: return fold();
            case program::op::elementwise: return pointwise();
            default: return unsupported(tag(main));
        }
    }

    result<void> product() {
        const auto inputs = g.inputs_of(node(main));
        const program::edge a = inputs[0], b = inputs[1];
        const bool linear = node(main).op == program::op::linear, bias = inputs.size() == 3;
        const bool bound_weight = linear && is_weight(b);  // transposed when it is bound
        const auto as = g.shape(a), bs = g.shape(b), os = g.shape(main);
        if (as.empty() || bs.size() < 2 || (linear && bs.size() != 2) || (!linear && as.size() < 2)) return misfit("ranks");
        const dim &k = as.back(), &bk = linear ? bs[1] : bs[bs.size() - 2], &n = linear ? bs[0] : bs.back();
        if (os.size() != std::max(as.size(), bs.size()) || !same_extent(k, bk) || !same_extent(os.back(), n)) return misfit("inner sizes");
        EMMY_CHECK_OK(reducible(k));
        std::vector<int> free;
        for (const dim& d : os) free.push_back(add_axis(d));
        const int inner = add_axis(k);
        access left{std::string(g.id(a.node)), g.at(a).type, {}}, right{std::string(g.id(b.node)), g.at(b).type, {}}, add{}, to{out_id(), out_type(), free};
        for (std::size_t i = 0; i + 1 < as.size(); ++i) {
            const std::size_t d = os.size() - as.size() + i;
            if (!same_extent(as[i], os[d]) && !is_one(as[i])) return misfit("rows");
            left.axes.push_back(is_one(as[i]) ? no_axis : free[d]);
        }
        left.axes.push_back(inner);
        if (!linear)
            for (std::size_t i = 0; i + 2 < bs.size(); ++i) {
                const std::size_t d = os.size() - bs.size() + i;
                if (!same_extent(bs[i], os[d]) && !is_one(bs[i])) return misfit("stacks");
                right.axes.push_back(is_one(bs[i]) ? no_axis : free[d]);
            }
        if (linear && !bound_weight) right.axes = {free.back(), inner};
        else right.axes.insert(right.axes.end(), {inner, free.back()});
        if (bound_weight) right.buffer = out_id() + "_wt";
        add_port(right.buffer, b, bound_weight ? kernel_port::source::transposed_tensor : kernel_port::source::tensor);
        if (a != b) add_port(left.buffer, a);
        std::vector<access> all{left, right, to};
        if (bias) {
            if (g.shape(inputs[2]).size() != 1 || !same_extent(g.shape(inputs[2])[0], n)) return misfit("bias");
            add = {std::string(g.id(inputs[2].node)), g.at(inputs[2]).type, {free.back()}};
            add_port(add.buffer, inputs[2]);
            all.push_back(add);
        }
        declare_output();
        const auto loops = plan(free, all);
        const name_id step = name("a", next_axis++);
        open(inner, step);
        std::vector<stmt_id> stream, rest;
        const value x = load(stream, left), w = load(stream, right);
        const dtype contraction = linear ? g.at(a).type : out_type();
        const value p = assign(stream, op::multiply, {x, w}, contraction == dtype::f16 || contraction == dtype::bf16 ? dtype::f32 : stamp_of(op::multiply, contraction, {x.type, w.type}));
        value sum = accum(stream, op::add, p, step);
        rest.push_back(loop_over(step, k, stream));
        if (bias) {
            const value c = load(rest, add);
            sum = assign(rest, op::add, {sum, c}, stamp_of(op::add, out_type(), {out_type(), c.type}));
        }
        write(rest, to, sum);
        return nest_flat(loops, rest);
    }
    result<std::size_t> axis_of(std::int64_t axis, std::size_t rank) const {
        const std::int64_t place = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
        if (place < 0 || place >= static_cast<std::int64_t>(rank)) return misfit("axis");
        return static_cast<std::size_t>(place);
    }

    result<void> softmax() {
        const program::edge x = g.inputs_of(node(main))[0];
        const auto shape = g.shape(x), os = g.shape(main);
        EMMY_TRY(axis, axis_of(g.integer(node(main), program::attr::axis), shape.size()));
        if (shape.size() != os.size()) return misfit("ranks");
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (!same_extent(shape[i], os[i])) return misfit("sizes");
        EMMY_CHECK_OK(reducible(shape[axis]));
        std::vector<int> free, all;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            all.push_back(add_axis(shape[i]));
            if (i != axis) free.push_back(all.back());
        }
        const access from{std::string(g.id(x.node)), g.at(x).type, all}, to{out_id(), out_type(), all};
        add_port(from.buffer, x);
        declare_output();
        const access accesses[] = {from, to};
        const auto loops = plan(free, accesses);
        // Scores leave f16 before they are exponentiated; every other type computes in f32 anyway.
        const dtype wide = g.at(x).type == dtype::f16 ? dtype::f32 : dtype::none;
        std::vector<stmt_id> rest, stream;
        const name_id pass = name("a", next_axis++);
        open(all[axis], pass);
        const value top = accum(stream, op::maximum, load(stream, from), pass);
        rest.push_back(loop_over(pass, shape[axis], stream));
        ++next_axis;  // the second pass takes the first one's name
        stream.clear();
        value e = load(stream, from);
        e = assign(stream, op::subtract, {e, top}, wide);
        e = assign(stream, op::exp, {e});
        const value sum = accum(stream, op::add, e, pass);
        rest.push_back(loop_over(pass, shape[axis], stream));
        stream.clear();
        const name_id last = name("a", next_axis++);
        open(all[axis], last);
        e = load(stream, from);
        e = assign(stream, op::subtract, {e, top}, wide);
        e = assign(stream, op::exp, {e});
        write(stream, to, assign(stream, op::divide, {e, sum}));
        rest.push_back(loop_over(last, shape[axis], stream));
        return nest_flat(loops, rest);
    }

    result<void> rms_norm() {
        const auto inputs = g.inputs_of(node(main));
        const program::edge x = inputs[0], w = inputs[1];
        const auto shape = g.shape(x), os = g.shape(main);
        if (shape.empty() || shape.size() != os.size() || g.shape(w).size() != 1 || !same_extent(g.shape(w)[0], shape.back())) return misfit("sizes");
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (!same_extent(shape[i], os[i])) return misfit("sizes");
        const dim& extent = shape.back();
        EMMY_CHECK_OK(reducible(extent));
        if (!is_static(extent)) return unsupported("torch.rms_norm over a symbolic axis");
        std::vector<int> all;
        for (const dim& d : shape) all.push_back(add_axis(d));
        const std::vector<int> free(all.begin(), all.end() - 1);
        const access from{std::string(g.id(x.node)), g.at(x).type, all}, to{out_id(), out_type(), all}, scale{std::string(g.id(w.node)), g.at(w).type, {all.back()}};
        const dtype numbers = dtype::f32;  // eps and counts of an f16 program would not survive f16
        const access count{out_id() + "_mean_count", numbers, {no_axis}}, eps{out_id() + "_eps", numbers, {no_axis}};
        add_number(count.buffer, numbers, static_cast<double>(extent.number));
        add_number(eps.buffer, numbers, g.real(node(main), program::attr::eps));
        add_port(from.buffer, x);
        if (w != x) add_port(scale.buffer, w);
        declare_output();
        const access accesses[] = {from, to};
        const auto loops = plan(free, accesses);
        std::vector<std::vector<stmt_id>> before(loops.size() + 1);
        std::vector<stmt_id> rest, stream;
        std::vector<stmt_id>& top = before.front();
        const value e = load(top, eps), c = load(top, count);
        const name_id pass = name("a", next_axis++);
        open(all.back(), pass);
        value v = load(stream, from);
        v = assign(stream, op::multiply, {v, v});
        const value sum = accum(stream, op::add, v, pass);
        rest.push_back(loop_over(pass, extent, stream));
        v = assign(rest, op::divide, {sum, c});
        v = assign(rest, op::add, {e, v});
        const value factor = assign(rest, op::rsqrt, {v});
        const name_id last = name("a", next_axis++);
        open(all.back(), last);
        stream.clear();
        v = assign(stream, op::multiply, {load(stream, from), factor});
        write(stream, to, assign(stream, op::multiply, {load(stream, scale), v}));
        rest.push_back(loop_over(last, extent, stream));
        before.back().insert(before.back().end(), rest.begin(), rest.end());
        nest(loops, std::move(before));
        return {};
    }

    result<void> fold() {
        const program::edge x = g.inputs_of(node(main))[0];
        const auto shape = g.shape(x), ms = g.shape(main);
        EMMY_TRY(axis, axis_of(g.integer(node(main), program::attr::axis), shape.size()));
        if (ms.size() != shape.size()) return misfit("ranks");
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (i == axis ? !is_one(ms[i]) : !same_extent(shape[i], ms[i])) return misfit("sizes");
        EMMY_CHECK_OK(reducible(shape[axis]));
        const bool mean = node(main).op == program::op::mean;
        if (mean && !is_static(shape[axis])) return unsupported("torch.mean over a symbolic axis");
        const op combine = mean ? op::add : op_from_text(g.text(node(main), program::attr::op));
        if (combine == op::none || !facts(combine).folds) return unsupported("the fold " + std::string(g.text(node(main), program::attr::op)));
        std::vector<int> all, free, kept;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            all.push_back(add_axis(shape[i]));
            if (i != axis) free.push_back(all.back());
            kept.push_back(i == axis ? no_axis : all.back());
        }
        if (squeeze) {
            EMMY_TRY(dropped, squeezed(kept, axis));
            kept = dropped;
        }
        const access from{std::string(g.id(x.node)), g.at(x).type, all}, to{out_id(), out_type(), kept};
        access count{std::string(g.id(main.node)) + "_count", dtype::f32, {no_axis}};
        if (mean) add_number(count.buffer, dtype::f32, static_cast<double>(shape[axis].number));
        add_port(from.buffer, x);
        declare_output();
        const access accesses[] = {from, to};
        const auto loops = plan(free, accesses);
        std::vector<std::vector<stmt_id>> before(loops.size() + 1);
        std::vector<stmt_id> stream, rest;
        const value divisor = mean ? load(before.front(), count) : value{};
        const name_id pass = name("a", next_axis++);
        open(all[axis], pass);
        value sum = accum(stream, combine, load(stream, from), pass);
        rest.push_back(loop_over(pass, shape[axis], stream));
        if (mean) sum = assign(rest, op::divide, {sum, divisor});
        write(rest, to, sum);
        before.back().insert(before.back().end(), rest.begin(), rest.end());
        nest(loops, std::move(before));
        return {};
    }
    /// The axes of the output after the map that drops the folded one.
    result<std::vector<int>> squeezed(const std::vector<int>& kept, std::size_t axis) const {
        const program::node& n = node(*squeeze);
        const program::attribute& list = *g.find(n, program::attr::sources);
        const program::map_source& s = g.sources[list.list.first];
        std::vector<int> wanted;
        bool plain = list.list.count == 1 && n.inputs.count == 1 && s.select == no_expr && s.coord_map.count == kept.size();
        for (std::size_t i = 0; plain && i < kept.size(); ++i) {
            const expr& e = g.exprs[g.coordinates[s.coord_map.first + i]];
            if (i == axis) plain = e.kind == expr_kind::integer && e.integer == 0;
            else plain = e.kind == expr_kind::name && g.text(e.name) == "out_coord_" + std::to_string(wanted.size());
            if (i != axis) wanted.push_back(kept[i]);
        }
        const auto os = g.shape(*squeeze), ms = g.shape(main);
        plain = plain && os.size() == wanted.size();
        for (std::size_t i = 0; plain && i < os.size(); ++i) plain = same_extent(os[i], ms[i < axis ? i : i + 1]);
        if (!plain) return unsupported("an index map that does more than drop the folded axis");
        return wanted;
    }

    result<void> pointwise() {
        const op o = op_from_text(g.text(node(main), program::attr::op));
        if (o == op::none) return unsupported(tag(main));
        const auto os = g.shape(main);
        std::vector<int> free;
        for (const dim& d : os) free.push_back(add_axis(d));
        std::vector<access> operands;
        for (const program::edge e : g.inputs_of(node(main))) {
            EMMY_TRY(a, operand(e, free, os));
            operands.push_back(a);
        }
        const access to{out_id(), out_type(), free};
        declare_output();
        std::vector<access> all = operands;
        all.push_back(to);
        const auto loops = plan(free, all);
        std::vector<std::vector<stmt_id>> before(loops.size() + 1);
        // Each operand is read at the shallowest loop that knows its coordinates; the same read is one value.
        std::vector<value> values(operands.size());
        for (std::size_t depth = 0; depth <= loops.size(); ++depth)
            for (std::size_t i = 0; i < operands.size(); ++i) {
                if (depth_of(operands[i], loops) != depth) continue;
                for (std::size_t k = 0; k < i; ++k)
                    if (operands[k].buffer == operands[i].buffer && operands[k].axes == operands[i].axes) values[i] = values[k];
                if (values[i].name == no_name) values[i] = load(before[depth], operands[i]);
            }
        std::vector<dtype> types;
        std::vector<name_id> names;
        for (const value& v : values) types.push_back(v.type), names.push_back(v.name);
        stmt s{.kind = stmt_kind::assign, .op = o, .type = infer_assign(o, types, names.size() == 2 && names[0] == names[1]) == out_type() ? dtype::none : out_type(), .name = name("v", next_value++)};
        s.args = body().add_names(names);
        if (o == op::copy && s.type == dtype::none) {  // a copy that converts nothing is its operand
            write(before.back(), to, values[0]);
        } else {
            before.back().push_back(body().add(s));
            write(before.back(), to, {s.name, out_type()});
        }
        nest(loops, std::move(before));
        return {};
    }
    std::size_t depth_of(const access& a, std::span<const loop_plan> loops) const {
        std::size_t depth = 0;
        for (int axis : a.axes)
            for (std::size_t i = 0; axis != no_axis && i < loops.size(); ++i)
                if (std::find(loops[i].axes.begin(), loops[i].axes.end(), axis) != loops[i].axes.end()) depth = std::max(depth, i + 1);
        return depth;
    }
    /// An operand as it is, or through the broadcast in front of it.
    result<access> operand(program::edge e, std::span<const int> free, std::span<const dim> os) {
        access a;
        program::edge source = e;
        if (node(e).op == program::op::index_map) {
            const program::attribute& list = *g.find(node(e), program::attr::sources);
            const program::map_source& s = g.sources[list.list.first];
            if (list.list.count != 1 || s.select != no_expr || node(e).inputs.count != 1) return unsupported("an index map of several sources");
            source = g.inputs_of(node(e))[0];
            if (!is_source(source)) return unsupported(tag(main) + " of " + tag(source));
            if (g.at(source).type != g.at(e).type) return unsupported("an index map that converts");
            for (std::uint32_t i = 0; i < s.coord_map.count; ++i) {
                const expr& c = g.exprs[g.coordinates[s.coord_map.first + i]];
                const dim& extent = g.shape(source)[i];
                int axis = no_axis;
                bool plain = c.kind == expr_kind::integer && c.integer == 0 && is_one(extent);
                for (std::size_t d = 0; d < free.size() && !plain; ++d)
                    if (c.kind == expr_kind::name && g.text(c.name) == "out_coord_" + std::to_string(d)) {
                        axis = free[d];
                        plain = same_extent(extent, os[d]);
                    }
                if (!plain) return unsupported("an index map that does more than broadcast");
                a.axes.push_back(axis);
            }
        } else {
            if (g.shape(e).size() != os.size()) return misfit("ranks");
            for (std::size_t d = 0; d < os.size(); ++d)
                if (!same_extent(g.shape(e)[d], os[d])) return misfit("sizes");
            a.axes.assign(free.begin(), free.end());
        }
        a.buffer = g.id(source.node);
        a.type = g.at(source).type;
        bool known = false;
        for (const kernel_port& p : out.ports) known = known || p.buffer == a.buffer;
        if (!known) add_port(a.buffer, source);
        return a;
    }

    /// k_<operator>_<6 digits of the body's digest>, or k_<node>_<reduce|pointwise> where no framework operator names it.
    void finish_name() {
        const program::op o = node(main).op;
        if (o == program::op::reduce || o == program::op::elementwise) {
            out.kernel.name = "k_" + out_id() + (o == program::op::reduce ? "_reduce" : "_pointwise");
            return;
        }
        out.kernel.name.clear();
        const std::string digits = to_hex(xxh3_128(kernel_text(out.kernel))).substr(0, 6);
        out.kernel.name = "k_" + std::string(program::text(o).substr(6)) + "_" + digits;
    }

    std::vector<bool> live;
    program::edge main;
    std::optional<program::edge> squeeze;
};

}  // namespace detail

EMMY_DECL result<single_op_kernel> lower_single_op(const program::graph& g) { return detail::single_op_lowering(g).lowered(); }

}  // namespace emmy::loop
