#pragma once
#include <emmy/prior/cpu.hpp>

#include <emmy/fold/access.hpp>
#include <emmy/loop/op_table.hpp>

#include <algorithm>
#include <vector>

namespace emmy::prior::detail {

/// Cycles of evaluating something once: for one element; for a vector, a part that is the same for every width and a part for each lane.
struct cost {
    double scalar = 0, vector = 0, lane = 0;
    cost& operator+=(const cost& c) {
        scalar += c.scalar, vector += c.vector, lane += c.lane;
        return *this;
    }
    double of(int lanes) const { return lanes > 1 ? vector + lane * lanes : scalar; }
};

/// One kernel that one nest of code computes, as numbers.
class part_work {
public:
    part_work(const fork::cpu_part& part, const cpu_machine& machine, const cpu_terms& terms, const store::binding_list& sizes) : part_(part), machine_(machine), t_(terms), tree_(part.tree), body_(part.kernel.body) {
        for (const fold::axis& a : tree_.axes) extents.push_back(size_of(a.extent, sizes));
        for (std::size_t i = 0; i < tree_.grid.size(); ++i) (i + 1 < tree_.grid.size() ? outer : inner) *= extents[tree_.grid[i]];
        cells = outer * inner;
        for (const loop::buffer& b : part.kernel.inputs) bytes_in += bytes_of(b, sizes);
        for (const loop::buffer& b : part.kernel.outputs) bytes_out += bytes_of(b, sizes);
    }

    std::vector<double> extents;           ///< per axis of the tree
    double outer = 1, inner = 1, cells = 1;  ///< of the grid: all axes but the last, the last, all
    double bytes_in = 0, bytes_out = 0;

    const fork::cpu_facts& facts() const { return part_.facts; }
    const fold::tree& tree() const { return tree_; }
    int lanes() const { return machine_.target.lanes(); }
    double footprint() const { return bytes_in + bytes_out; }
    bool varies(fold::value_id v, std::uint32_t axis) const { return axis != fold::none && (tree_.depends[v] >> axis & 1) != 0; }

    /// One statement, vectors along `axis`.
    cost statement(fold::value_id s, std::uint32_t axis) const {
        const loop::stmt& st = body_.stmts[s];
        cost out;
        switch (st.kind) {
            case loop::stmt_kind::load: {
                const dtype type = fold::find_buffer(part_.kernel, st.buffer)->type;
                out.scalar = t_.scalar_memory + scalar_conversion(type);
                out.vector = varies(s, axis) ? t_.load + conversion(type) : out.scalar;
                break;
            }
            case loop::stmt_kind::write: {
                const dtype type = fold::find_buffer(part_.kernel, st.buffer)->type;
                out.scalar = t_.scalar_memory + scalar_conversion(type);
                out.vector = t_.store + conversion(type);
                return out;
            }
            case loop::stmt_kind::assign:
                out = operation(st.op);
                // One divisor for all lanes is multiplied by its reciprocal, and corrected.
                if (st.op == loop::op::divide && varies(s, axis) && !varies(tree_.args[s][1], axis)) out.vector = 3 * t_.arithmetic;
                out.scalar += 2 * scalar_conversion(tree_.types[s]);
                out.vector += 2 * conversion(tree_.types[s]);
                break;
            case loop::stmt_kind::accum: out = operation(st.op); return out;
            case loop::stmt_kind::select:
                out.scalar = 3 * t_.scalar_operation * st.args.count;
                out.vector = 3 * t_.arithmetic * st.args.count;
                break;
            default: out.scalar = out.vector = t_.scalar_operation; break;
        }
        if (varies(s, axis) && fork::cpu_schedules::lane_by_lane(part_, s, axis, lanes())) out.lane = out.scalar + t_.lane, out.vector = 0;
        return out;
    }
    /// Statements of a term's own steps that vary with `with` (every one where it is none); vectors along `axis`.
    cost steps(const fold::term& term, std::uint32_t with, std::uint32_t axis) const {
        cost out;
        for (const fold::step& s : term.steps)
            if (!s.is_term && (with == fold::none || varies(s.id, with) || (body_.stmts[s.id].kind == loop::stmt_kind::accum && term.is_fold()))) out += statement(s.id, axis);
        return out;
    }
    /// What computing one value takes, statements that vary with `with`.
    cost cone(fold::value_id top, std::uint32_t with, std::uint32_t axis) const {
        std::vector<char> seen(body_.stmts.size(), 0);
        std::vector<fold::value_id> open{top};
        cost out;
        while (!open.empty()) {
            const fold::value_id v = open.back();
            open.pop_back();
            if (seen[v]++ != 0 || !varies(v, with)) continue;
            if (body_.stmts[v].kind != loop::stmt_kind::accum) out += statement(v, axis);
            for (fold::value_id x : tree_.args[v]) open.push_back(x);
            for (const auto& g : tree_.gathers[v]) open.push_back(g.second);
        }
        return out;
    }
    /// The bytes that one evaluation of a value loads.
    double loaded(fold::value_id top) const {
        std::vector<char> seen(body_.stmts.size(), 0);
        std::vector<fold::value_id> open{top};
        double out = 0;
        while (!open.empty()) {
            const fold::value_id v = open.back();
            open.pop_back();
            if (seen[v]++ != 0) continue;
            if (body_.stmts[v].kind == loop::stmt_kind::load) out = std::max(out, static_cast<double>(byte_size(fold::find_buffer(part_.kernel, body_.stmts[v].buffer)->type)));
            for (fold::value_id x : tree_.args[v]) open.push_back(x);
        }
        return out;
    }
    /// Cycles between two updates of one accumulator of a fold.
    double latency(const fold::term& term) const {
        double out = 0;
        for (fold::value_id s : term.states) out = std::max(out, loop::facts(body_.stmts[s].op).unit == loop::op_unit::maximum ? t_.maximum_latency : t_.latency);
        return out;
    }
    cost operation(loop::op o) const {
        const auto plain = [](double scalar, double vector) { return cost{scalar, vector, 0}; };
        const double exp = t_.exponential;
        switch (o) {
            case loop::op::exp:
            case loop::op::exp_fast: return plain(t_.library, exp);
            case loop::op::sigmoid:
            case loop::op::silu: return plain(t_.library + 5, exp + t_.divide);
            case loop::op::tanh:
            case loop::op::gelu_tanh: return plain(1.5 * t_.library, 2 * exp + t_.divide);
            case loop::op::sqrt: return plain(6, 1.8 * t_.divide);
            case loop::op::rsqrt: return plain(11, 2.8 * t_.divide);
            case loop::op::relu: return plain(2 * t_.scalar_operation, 2 * t_.arithmetic);
            default: break;
        }
        switch (loop::facts(o).unit) {
            case loop::op_unit::move: return {};
            case loop::op_unit::add:
            case loop::op_unit::multiply: return plain(t_.scalar_operation, t_.arithmetic);
            case loop::op_unit::maximum:
            case loop::op_unit::compare:
            case loop::op_unit::select: return plain(2 * t_.scalar_operation, 2 * t_.arithmetic);
            case loop::op_unit::divide: return plain(5, t_.divide);
            case loop::op_unit::convert: return plain(4 * t_.scalar_operation, t_.narrow);
            case loop::op_unit::integer: return plain(t_.scalar_operation, 0);
            case loop::op_unit::exp: break;
        }
        return {t_.library, 0, t_.library + t_.lane};
    }

private:
    double size_of(const dim& d, const store::binding_list& sizes) const {
        if (d.kind == dim::form::number) return static_cast<double>(d.number);
        if (d.kind == dim::form::symbol)
            for (const auto& [symbol, size] : sizes)
                if (symbol == body_.text(d.symbol)) return static_cast<double>(size);
        return static_cast<double>(d.has_hint ? d.number : default_hint);
    }
    double bytes_of(const loop::buffer& b, const store::binding_list& sizes) const {
        double out = static_cast<double>(byte_size(b.type));
        for (const dim& d : b.shape) out *= size_of(d, sizes);
        return out;
    }
    double conversion(dtype t) const {
        if (t == dtype::f16 || t == dtype::bf16) return t_.narrow;
        return byte_size(t) == 1 && is_floating(t) ? 4 * t_.narrow : 0;
    }
    double scalar_conversion(dtype t) const { return conversion(t) > 0 ? 6 * t_.scalar_operation : 0; }

    const fork::cpu_part& part_;
    const cpu_machine& machine_;
    const cpu_terms& t_;
    const fold::tree& tree_;
    const loop::body& body_;
};

}  // namespace emmy::prior::detail
