#pragma once
#include <emmy/core/dim_wire.hpp>
#include <emmy/kernel/ir.hpp>
#include <emmy/loop/body.hpp>
#include <emmy/loop/op_table.hpp>
#include <emmy/program/graph.hpp>
#include <emmy/program/wire.hpp>

#include <string>

/// Programs and Kernel IR for people: one line a node.
namespace emmy::compile {

inline std::string shape_text(const program::graph& g, const program::tensor& t) {
    std::string out = std::string(token(t.type)) + "[";
    bool first = true;
    for (const dim& d : g.shape_of(t.shape)) out += (first ? "" : ", ") + dim_text(d, g.exprs, g.names), first = false;
    return out + "]";
}

///   linear: f32[seq_len, 4096] = torch.linear(input, p_weight)
inline std::string list_program(const program::graph& g) {
    std::string out;
    const auto live = program::live_nodes(g);
    for (program::node_id n = 0; n < g.nodes.size(); ++n) {
        const program::node& node = g.nodes[n];
        out += std::string(g.id(n)) + ": ";
        for (std::size_t i = 0; i < node.outputs.count; ++i) out += (i ? ", " : "") + shape_text(g, g.outputs_of(node)[i]);
        out += " = " + std::string(program::text(node.op));
        if (node.inputs.count > 0 || node.op != program::op::input) {
            out += "(";
            bool first = true;
            for (const program::edge e : g.inputs_of(node)) {
                out += (first ? "" : ", ") + std::string(e.output == 0 ? g.id(e.node) : g.text(g.at(e).name));
                first = false;
            }
            if (node.attrs.count > 0) {
                std::string attrs;
                json::writer w(attrs);
                program::write_attributes(w, g, node);
                out += (first ? "" : ", ") + attrs;
            }
            out += ")";
        }
        if (!live[n]) out += "  (read by no output)";
        out += "\n";
    }
    out += "return ";
    for (std::size_t i = 0; i < g.outputs.size(); ++i) out += (i ? ", " : "") + std::string(g.outputs[i].output == 0 ? g.id(g.outputs[i].node) : g.text(g.at(g.outputs[i]).name));
    return out + "\n";
}

/// The Kernel IR of one row.
class kernel_listing {
public:
    kernel_listing(const kernel::program& p, const loop::kernel& k) : p_(p), k_(k) {}

    std::string text() {
        out_ = p_.entry + "(";
        for (std::size_t i = 0; i < p_.symbols.size(); ++i) out_ += (i ? ", " : "") + p_.symbols[i];
        out_ += ")\n";
        for (kernel::memory_id m = 0; m < p_.memories.size() && m < k_.inputs.size() + k_.outputs.size(); ++m) {
            const bool input = m < k_.inputs.size();
            const loop::buffer& b = input ? k_.inputs[m] : k_.outputs[m - k_.inputs.size()];
            out_ += "  " + memory(m) + ": " + std::string(token(b.type)) + (input ? " = input " : " = output ") + std::string(k_.body.text(b.name)) + "\n";
        }
        statements(p_.body, 1);
        return std::move(out_);
    }

private:
    /// Named as the printers name them: b<place> buffers, s<place> slabs.
    std::string memory(kernel::memory_id m) const {
        const kernel::space where = p_.memories[m].where;
        return (where == kernel::space::part_slab || where == kernel::space::shared_slab ? "s" : "b") + std::to_string(m);
    }
    static std::string v(kernel::value_id id) { return "v" + std::to_string(id); }
    std::string e(expr_id id) const {
        std::string out;
        spell_expr(out, id, p_.exprs, p_.names);
        return out;
    }
    std::string typed(kernel::value_id id) const {
        const kernel::value& value = p_.values[id];
        return v(id) + ": " + std::string(token(value.type)) + (value.lanes > 1 ? "x" + std::to_string(value.lanes) : "");
    }
    std::string place(const kernel::node& n) const { return memory(n.memory) + "[" + e(n.at) + "]" + (n.lanes > 1 ? " x" + std::to_string(n.lanes) + (n.stride != 1 ? " by " + std::to_string(n.stride) : "") : ""); }
    std::string args(const kernel::node& n) const {
        std::string out;
        for (kernel::value_id a : n.args) out += (out.empty() ? "" : ", ") + v(a);
        return out;
    }
    std::string name(loop::op o) const { return std::string(loop::text(o)); }

    void line(int depth, const std::string& text) { out_ += std::string(static_cast<std::size_t>(depth) * 2, ' ') + text + "\n"; }
    void statements(const std::vector<kernel::node_id>& list, int depth) {
        for (kernel::node_id id : list) statement(p_.nodes[id], depth);
    }
    void statement(const kernel::node& n, int depth) {
        switch (n.kind) {
            case kernel::node_kind::load: return line(depth, typed(n.dst) + " = load " + place(n));
            case kernel::node_kind::assign:
                if (n.op == loop::op::none) return line(depth, typed(n.dst) + " = " + (n.condition != no_expr ? e(n.condition) + " ? " + args(n) : json::spell_real(n.number)));
                return line(depth, typed(n.dst) + " = " + name(n.op) + "(" + args(n) + ")" + (n.condition != no_expr ? " where " + e(n.condition) : ""));
            case kernel::node_kind::accum: return line(depth, (n.first ? typed(n.dst) : v(n.dst)) + " <" + name(n.op) + "- " + (n.args.empty() ? json::spell_real(n.number) : args(n)) + (n.first ? "  (first)" : ""));
            case kernel::node_kind::write: return line(depth, place(n) + (n.streaming ? " <= " : " = ") + args(n));
            case kernel::node_kind::loop: {
                line(depth, "loop " + std::string(p_.names.text(n.var)) + " = " + e(n.begin) + " .. " + e(n.end) + " by " + e(n.step) + (n.unroll > 1 ? " unroll " + std::to_string(n.unroll) : ""));
                return statements(n.body, depth + 1);
            }
            case kernel::node_kind::tile: {
                std::string names;
                for (const auto& [id, value] : n.bind) names += (names.empty() ? "" : ", ") + std::string(p_.names.text(id)) + " = " + e(value);
                line(depth, "tile " + names);
                return statements(n.body, depth + 1);
            }
            case kernel::node_kind::slab: {
                const kernel::memory& m = p_.memories[n.memory];
                line(depth, "slab " + memory(n.memory) + ": " + std::string(token(m.type)) + "[" + std::to_string(m.elements) + "]" + (m.where == kernel::space::shared_slab ? " shared by the team" : ""));
                return statements(n.body, depth + 1);
            }
            case kernel::node_kind::team:
                line(depth, "team " + std::string(p_.names.text(n.var)) + " < " + e(n.end) + (n.how == kernel::deal::rounds ? " in rounds" : " in runs"));
                return statements(n.body, depth + 1);
            case kernel::node_kind::guard:
                line(depth, "if " + e(n.condition));
                statements(n.body, depth + 1);
                if (!n.otherwise.empty()) line(depth, "else"), statements(n.otherwise, depth + 1);
                return;
            case kernel::node_kind::fetch: return line(depth, "fetch " + place(n) + (n.streaming ? " to be written" : ""));
            case kernel::node_kind::barrier: return line(depth, "barrier");
        }
    }

    const kernel::program& p_;
    const loop::kernel& k_;
    std::string out_;
};

}  // namespace emmy::compile
