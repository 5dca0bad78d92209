#pragma once
#include <emmy/loop/print.hpp>

#include <emmy/core/dim_wire.hpp>
#include <emmy/core/json.hpp>
#include <emmy/loop/op_table.hpp>

namespace emmy::loop {
namespace detail {

class kernel_printer {
public:
    explicit kernel_printer(const kernel& k) : k_(k), body_(k.body) {}

    std::string print() {
        out_ = k_.name + "(";
        const char* separator = "";
        for (const buffer& b : k_.inputs) {
            out_ += separator;
            declaration(b);
            separator = ", ";
        }
        out_ += ") -> ";
        separator = "";
        for (const buffer& b : k_.outputs) {
            out_ += separator;
            declaration(b);
            separator = ", ";
        }
        out_ += '\n';
        statements(body_.top, 0);
        return std::move(out_);
    }

private:
    void name(name_id id) { out_ += body_.text(id); }
    void size(const dim& d) { out_ += dim_text(d, body_.exprs, body_.names); }
    void declaration(const buffer& b) {
        name(b.name);
        ((out_ += ": ") += token(b.type)) += '[';
        for (std::size_t i = 0; i < b.shape.size(); ++i) {
            if (i > 0) out_ += ", ";
            size(b.shape[i]);
        }
        out_ += ']';
    }
    void expression(expr_id id) { spell_expr(out_, id, body_.exprs, body_.names); }
    void index(run r) {
        out_ += '[';
        const char* separator = "";
        for (const expr_id id : body_.expressions(r)) {
            out_ += separator;
            expression(id);
            separator = ", ";
        }
        out_ += ']';
    }
    void names(std::span<const name_id> list, const char* between = ", ") {
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (i > 0) out_ += between;
            name(list[i]);
        }
    }
    void type(dtype t) {
        if (t != dtype::none) (out_ += ':') += token(t);
    }
    void number(const stmt& s) { out_ += s.seed_is_integer ? std::to_string(static_cast<std::int64_t>(s.seed_number)) : json::spell_real(s.seed_number); }
    void assigned(const stmt& s) {
        name(s.name);
        type(s.type);
        out_ += " = ";
    }
    void loop_head(const stmt& s) {
        name(s.axis.name);
        if (s.kind == stmt_kind::strided_loop) {
            out_ += " from ";
            expression(s.value);
            out_ += " step ";
            expression(s.step);
            if (s.end != no_expr) {
                out_ += " to ";
                expression(s.end);
            }
            out_ += ' ';
        }
        out_ += '<';
        size(s.axis.extent);
        if (s.axis.has_window()) {
            const window& w = body_.windows[s.axis.window];
            if (w.partition) out_ += '!';
            if (w.parent != no_name) {
                out_ += " of ";
                name(w.parent);
                out_ += '<';
                size(w.parent_extent);
            }
            for (const auto& [word, id] : {std::pair{" base ", w.base}, std::pair{" bound ", w.bound}})
                if (id != no_expr) {
                    out_ += word;
                    expression(id);
                }
        }
        if (s.unroll) out_ += " unroll";
        if (!s.seed) out_ += " unseeded";
        out_ += ':';
    }

    void statements(run r, int depth) {
        for (const stmt_id id : body_.statements(r)) statement(body_.stmts[id], depth);
    }
    void line(int depth) { out_.append(static_cast<std::size_t>(2 * depth), ' '); }
    void statement(const stmt& s, int depth) {
        line(depth);
        switch (s.kind) {
            case stmt_kind::loop:
            case stmt_kind::strided_loop:
                loop_head(s);
                out_ += '\n';
                return statements(s.body, depth + 1);
            case stmt_kind::cond:
                out_ += "if ";
                expression(s.value);
                out_ += ":\n";
                statements(s.body, depth + 1);
                if (s.else_body.count == 0) return;
                line(depth);
                out_ += "else:\n";
                return statements(s.else_body, depth + 1);
            case stmt_kind::load:
                if (s.names.count > 0) {
                    names(body_.name_list(s.names));
                    type(s.type);
                    out_ += " = ";
                } else {
                    assigned(s);
                }
                name(s.buffer);
                index(s.index);
                if (s.carried != no_name) {
                    out_ += " carried ";
                    name(s.carried);
                }
                break;
            case stmt_kind::assign:
                assigned(s);
                (out_ += text(s.op)) += '(';
                names(body_.name_list(s.args));
                out_ += ')';
                break;
            case stmt_kind::accum:
                name(s.name);
                type(s.type);
                out_ += " <";
                out_ += text(s.op);
                out_ += "- ";
                names(body_.name_list(s.args));
                if (s.base != no_name) {
                    out_ += " base ";
                    name(s.base);
                }
                if (s.axes.count > 0) {
                    out_ += " /";
                    names(body_.name_list(s.axes), ",");
                }
                break;
            case stmt_kind::select:
                name(s.name);
                out_ += " = sel ";
                for (std::uint32_t i = 0; i < s.args.count; ++i) {
                    if (i > 0) out_ += " | ";
                    name(body_.name_list(s.args)[i]);
                    out_ += " if ";
                    expression(body_.expressions(s.index)[i]);
                }
                break;
            case stmt_kind::write:
                name(s.buffer);
                index(s.index);
                type(s.type);
                out_ += s.atomic ? " += " : " = ";
                names(body_.name_list(s.args));
                if (s.swizzle != no_name) {
                    out_ += " swizzle ";
                    name(s.swizzle);
                }
                break;
            case stmt_kind::let:
                assigned(s);
                out_ += "let ";
                expression(s.value);
                break;
            case stmt_kind::pre:
                assigned(s);
                out_ += "pre ";
                name(s.buffer);
                index(s.index);
                break;
            case stmt_kind::carry:
                name(s.name);
                index(s.index);
                type(s.type);
                out_ += " <carry- ";
                names(body_.name_list(s.args));
                out_ += " seed ";
                if (s.seed_is_buffer) name(s.buffer);
                else number(s);
                break;
            case stmt_kind::init:
                assigned(s);
                out_ += "init ";
                number(s);
                break;
            case stmt_kind::zero_prologue:
                out_ += "zero ";
                name(s.buffer);
                out_ += " words ";
                number(s);
                break;
        }
        out_ += '\n';
    }

    const kernel& k_;
    const body& body_;
    std::string out_;
};
}  // namespace detail

EMMY_DECL std::string print(const kernel& k) { return detail::kernel_printer(k).print(); }

}  // namespace emmy::loop
