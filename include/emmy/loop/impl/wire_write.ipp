#pragma once
#include <emmy/loop/wire.hpp>

#include <emmy/core/dim_wire.hpp>
#include <emmy/loop/op_table.hpp>

namespace emmy::loop {
namespace detail {

class kernel_writer {
public:
    kernel_writer(json::writer& out, const kernel& k) : out_(out), k_(k), body_(k.body) {}

    void write() {
        out_.begin_object();
        buffer_names("inputs", k_.inputs);
        buffer_names("outputs", k_.outputs);
        out_.key("nodes").begin_array();
        for (std::size_t i = 0; i < k_.inputs.size(); ++i) input_node(k_.inputs[k_.node_order.empty() ? i : k_.node_order[i]]);
        loop_node();
        out_.end_array().end_object();
    }

private:
    std::string_view text(name_id id) const { return body_.text(id); }

    void buffer_names(std::string_view key, const std::vector<buffer>& list) {
        out_.key(key).begin_array();
        for (const buffer& b : list) out_.string(text(b.name));
        out_.end_array();
    }
    void declaration(const buffer& b) {
        out_.begin_array().string(text(b.name)).string(token(b.type)).begin_array();
        for (const dim& d : b.shape) write_dim(out_, d, body_.exprs, body_.names);
        out_.end_array().end_array();
    }
    void input_node(const buffer& b) {
        out_.begin_object().key("id").string(text(b.name)).key("op").string("input").key("outputs").begin_array();
        declaration(b);
        out_.end_array().end_object();
    }
    void loop_node() {
        out_.begin_object().key("id").string(k_.node_id.empty() && !k_.outputs.empty() ? text(k_.outputs[0].name) : std::string_view(k_.node_id));
        out_.key("op").string("loop").key("attrs").begin_object().key("body");
        statements(body_.top);
        out_.key("name").string(k_.name).end_object();
        buffer_names("inputs", k_.inputs);
        out_.key("outputs").begin_array();
        for (const buffer& b : k_.outputs) declaration(b);
        out_.end_array().end_object();
    }

    void statements(run r) {
        out_.begin_array();
        for (const stmt_id id : body_.statements(r)) statement(body_.stmts[id]);
        out_.end_array();
    }
    void name(std::string_view key, name_id id) { out_.key(key).string(text(id)); }
    void optional_name(std::string_view key, name_id id) {
        if (id != no_name) name(key, id);
    }
    void names(std::string_view key, std::span<const name_id> list) {
        out_.key(key).begin_array();
        for (const name_id id : list) out_.string(text(id));
        out_.end_array();
    }
    void type(std::string_view key, dtype t) {
        if (t != dtype::none) out_.key(key).string(token(t));
    }
    void expression_text(expr_id id) {
        spelling_.clear();
        spell_expr(spelling_, id, body_.exprs, body_.names);
        out_.string(spelling_);
    }
    void expression(std::string_view key, expr_id id) {
        if (id == no_expr) return;
        out_.key(key);
        expression_text(id);
    }
    void index(run r) {
        out_.key("index").begin_array();
        for (const expr_id id : body_.expressions(r)) expression_text(id);
        out_.end_array();
    }
    void number(std::string_view key, const stmt& s) {
        out_.key(key);
        if (s.seed_is_integer) out_.integer(static_cast<std::int64_t>(s.seed_number));
        else out_.real(s.seed_number);
    }
    void axis_of(const axis& a) {
        out_.key("axis").begin_object();
        name("name", a.name);
        out_.key("extent");
        write_dim(out_, a.extent, body_.exprs, body_.names);
        if (a.has_window()) {
            const window& w = body_.windows[a.window];
            out_.key("window").begin_object();
            if (w.parent != no_name) {
                out_.key("parent").begin_object();
                name("name", w.parent);
                out_.key("extent");
                write_dim(out_, w.parent_extent, body_.exprs, body_.names);
                out_.end_object();
            }
            expression("base", w.base);
            expression("bound", w.bound);
            if (w.partition) out_.key("partition").boolean(true);
            out_.end_object();
        }
        out_.end_object();
    }
    void open(std::string_view kind) { out_.begin_object().key(kind).begin_object(); }

    void statement(const stmt& s) {
        switch (s.kind) {
            case stmt_kind::loop:
                open("Loop");
                axis_of(s.axis);
                out_.key("body");
                statements(s.body);
                if (s.unroll) out_.key("unroll").boolean(true);
                if (!s.seed) out_.key("seed").boolean(false);
                break;
            case stmt_kind::strided_loop:
                open("StridedLoop");
                axis_of(s.axis);
                expression("start", s.value);
                expression("step", s.step);
                out_.key("body");
                statements(s.body);
                if (s.unroll) out_.key("unroll").boolean(true);
                expression("end", s.end);
                if (!s.seed) out_.key("seed").boolean(false);
                break;
            case stmt_kind::load:
                open("Load");
                names("names", s.names.count > 0 ? body_.name_list(s.names) : std::span<const name_id>(&s.name, 1));
                name("input", s.buffer);
                index(s.index);
                type("dtype", s.type);
                optional_name("carried", s.carried);
                break;
            case stmt_kind::assign:
                open("Assign");
                name("name", s.name);
                out_.key("op").string(loop::text(s.op));
                names("args", body_.name_list(s.args));
                type("dtype", s.type);
                break;
            case stmt_kind::accum:
                open("Accum");
                name("name", s.name);
                name("value", body_.name_list(s.args)[0]);
                if (s.op != op::add) out_.key("op").string(loop::text(s.op));
                type("dtype", s.type);
                if (s.axes.count > 0) names("axes", body_.name_list(s.axes));
                optional_name("base", s.base);
                break;
            case stmt_kind::select:
                open("Select");
                name("name", s.name);
                out_.key("branches").begin_array();
                for (std::uint32_t i = 0; i < s.args.count; ++i) {
                    out_.begin_object();
                    name("value", body_.name_list(s.args)[i]);
                    expression("select", body_.expressions(s.index)[i]);
                    out_.end_object();
                }
                out_.end_array();
                break;
            case stmt_kind::write:
                open("Write");
                name("output", s.buffer);
                index(s.index);
                names("values", body_.name_list(s.args));
                type("value_dtype", s.type);
                if (s.atomic) out_.key("atomic").boolean(true);
                optional_name("swizzle", s.swizzle);
                break;
            case stmt_kind::let:
                open("Let");
                name("name", s.name);
                expression("value", s.value);
                type("dtype", s.type);
                break;
            case stmt_kind::pre:
                open("Pre");
                name("name", s.name);
                name("carrier", s.buffer);
                index(s.index);
                break;
            case stmt_kind::carry:
                open("Carry");
                name("name", s.name);
                name("value", body_.name_list(s.args)[0]);
                index(s.index);
                if (s.seed_is_buffer) name("seed", s.buffer);
                else number("seed", s);
                type("dtype", s.type);
                break;
            case stmt_kind::cond:
                open("Cond");
                expression("cond", s.value);
                out_.key("body");
                statements(s.body);
                if (s.else_body.count > 0) {
                    out_.key("else_body");
                    statements(s.else_body);
                }
                break;
            case stmt_kind::init:
                open("Init");
                name("name", s.name);
                number("identity", s);
                type("dtype", s.type);
                break;
            case stmt_kind::zero_prologue:
                open("ZeroPrologue");
                name("dst", s.buffer);
                number("words", s);
                break;
        }
        out_.end_object().end_object();
    }

    json::writer& out_;
    const kernel& k_;
    const body& body_;
    std::string spelling_;
};
}  // namespace detail

EMMY_DECL void write_kernel(json::writer& out, const kernel& k) { detail::kernel_writer(out, k).write(); }

EMMY_DECL std::string kernel_text(const kernel& k, json::writer::layout style) {
    std::string out;
    json::writer writer(out, style);
    write_kernel(writer, k);
    return out;
}

}  // namespace emmy::loop
