#pragma once
#include <emmy/core/expr.hpp>
#include <emmy/core/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace emmy {
namespace detail {

constexpr int max_expr_depth = 256;
constexpr std::size_t max_call_args = 64;

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool in_name(char c) { return starts_name(c) || is_digit(c); }

class expr_parser {
public:
    expr_parser(std::string_view text, expr_pool& pool, text_pool& names) : text_(text), pool_(pool), names_(names) {}

    result<expr_id> parse() {
        node out;
        if (expression(out, 0)) {
            skip();
            if (at_ == text_.size()) return out.id;
            fail("an operator or the end");
        }
        std::string message = "found ";
        if (!found_.empty()) {
            message += found_;
        } else if (fault_at_ < text_.size()) {
            json::append_quoted(message, text_.substr(fault_at_, 1));
        } else {
            message += "the end";
        }
        message += " at offset " + std::to_string(fault_at_) + " of the expression ";
        json::append_quoted(message, text_.substr(0, 80));
        return refuse(fault_kind::input, message + ", expected " + wanted_);
    }

private:
    struct node {
        expr_id id = no_expr;
        int depth = 1;
    };
    bool fail(const char* wanted, std::string found = {}) {
        fault_at_ = at_;
        wanted_ = wanted;
        found_ = std::move(found);
        return false;
    }
    void skip() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }
    char peek() {
        skip();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    /// The operator at the current place, if it binds at `level` or tighter.
    const binary_facts* binary_at(int level) {
        skip();
        const std::string_view rest = text_.substr(at_);
        const binary_facts* best = nullptr;
        for (const binary_facts& f : binary_table)
            if (rest.starts_with(f.text) && (!best || f.text.size() > best->text.size())) best = &f;
        return best && best->level >= level ? best : nullptr;
    }
    bool made(node& out, expr_id id, int depth) {
        if (depth > max_expr_depth) return fail("at most 256 levels", "an expression nested deeper");
        out = {id, depth};
        return true;
    }

    bool expression(node& out, int nesting) {
        if (nesting > max_expr_depth) return fail("at most 256 levels", "an expression nested deeper");
        if (!binary(out, 1, nesting)) return false;
        if (!take('?')) return true;
        node then, otherwise;
        if (!expression(then, nesting + 1)) return false;
        if (!take(':')) return fail("\":\"");
        if (!expression(otherwise, nesting + 1)) return false;
        return made(out, pool_.ternary(out.id, then.id, otherwise.id), 1 + std::max({out.depth, then.depth, otherwise.depth}));
    }
    bool binary(node& out, int level, int nesting) {
        if (!operand(out, nesting)) return false;
        while (const binary_facts* f = binary_at(level)) {
            at_ += f->text.size();
            node right;
            if (!binary(right, f->level + 1, nesting)) return false;
            if (!made(out, pool_.binary(static_cast<binary_op>(f - binary_table), out.id, right.id), 1 + std::max(out.depth, right.depth))) return false;
        }
        return true;
    }
    bool operand(node& out, int nesting) {
        const char c = peek();
        if (is_digit(c)) return number(out, false);
        if (c == '-') {
            ++at_;
            return is_digit(peek()) ? number(out, true) : fail("a number after \"-\"");
        }
        if (starts_name(c)) return named(out, nesting);
        if (c != '(') return fail("a number, a name or \"(\"");
        ++at_;
        const std::size_t inside = at_;
        if (starts_name(peek())) {
            const std::string_view type = name();
            if (type != "true" && type != "false" && !is_builtin_name(type) && take(')')) {
                const char next = peek();
                if (is_digit(next) || starts_name(next) || next == '(') {
                    const name_id id = names_.intern(type);
                    node of;
                    if (nesting >= max_expr_depth) return fail("at most 256 levels", "an expression nested deeper");
                    return operand(of, nesting + 1) && made(out, pool_.cast(id, of.id), 1 + of.depth);
                }
            }
            at_ = inside;
        }
        if (!expression(out, nesting + 1)) return false;
        return take(')') || fail("\")\"");
    }
    bool number(node& out, bool negative) {
        const std::size_t start = at_;
        auto digits = [&] {
            while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        };
        digits();
        bool real = false;
        if (at_ < text_.size() && text_[at_] == '.') {
            real = true;
            ++at_;
            digits();
        }
        if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            std::size_t digit = at_ + 1;
            if (digit < text_.size() && (text_[digit] == '+' || text_[digit] == '-')) ++digit;
            if (digit < text_.size() && is_digit(text_[digit])) {
                real = true;
                at_ = digit;
                digits();
            }
        }
        const char* first = text_.data() + start;
        const char* last = text_.data() + at_;
        if (real) {
            double value = 0;
            const auto [end, error] = std::from_chars(first, last, value);
            if (error != std::errc() || end != last) return at_ = start, fail("one within the range of a double", "a real number");
            return made(out, pool_.real(negative ? -value : value), 1);
        }
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(first, last, value);
        if (error != std::errc() || end != last || value > (std::uint64_t{1} << 63) - (negative ? 0 : 1)) return at_ = start, fail("one of 64 bits", "an integer");
        return made(out, pool_.integer(static_cast<std::int64_t>(negative ? 0 - value : value)), 1);
    }
    std::string_view name() {
        const std::size_t start = at_;
        while (at_ < text_.size() && in_name(text_[at_])) ++at_;
        if (at_ + 1 < text_.size() && text_[at_] == '.' && starts_name(text_[at_ + 1]))
            for (++at_; at_ < text_.size() && in_name(text_[at_]);) ++at_;
        return text_.substr(start, at_ - start);
    }
    bool named(node& out, int nesting) {
        const std::size_t start = at_;
        const std::string_view word = name();
        const bool call = peek() == '(';
        if (word == "true" || word == "false" || is_builtin_name(word)) {
            if (call) return at_ = start, fail("the name of a function", "a call of " + std::string(word));
            if (is_builtin_name(word)) return made(out, pool_.builtin(names_.intern(word)), 1);
            return made(out, pool_.boolean(word == "true"), 1);
        }
        const name_id id = names_.intern(word);
        if (!call) return made(out, pool_.name(id), 1);
        ++at_;
        std::vector<expr_id> args;
        int depth = 0;
        if (!take(')')) {
            do {
                node arg;
                if (!expression(arg, nesting + 1)) return false;
                if (args.size() == max_call_args) return fail("at most 64", "more arguments");
                args.push_back(arg.id);
                depth = std::max(depth, arg.depth);
            } while (take(','));
            if (!take(')')) return fail("\",\" or \")\"");
        }
        return made(out, pool_.call(id, args), 1 + depth);
    }

    std::string_view text_;
    expr_pool& pool_;
    text_pool& names_;
    std::size_t at_ = 0, fault_at_ = 0;
    const char* wanted_ = "";
    std::string found_;
};

/// `level` is the precedence the place asks for: 0 anything, 1 … 6 a binary operator of that level or tighter, 7 an operand.
inline void spell_expr_at(std::string& out, expr_id id, int level, const expr_pool& pool, const text_pool& names) {
    const expr& e = pool[id];
    auto grouped = [&](bool group, auto&& inner) {
        if (group) out += '(';
        inner();
        if (group) out += ')';
    };
    switch (e.kind) {
        case expr_kind::integer: grouped(level == 7 && e.integer < 0, [&] { out += std::to_string(e.integer); }); return;
        case expr_kind::real: grouped(level == 7 && std::signbit(e.real()), [&] { out += json::spell_real(e.real()); }); return;
        case expr_kind::boolean: out += e.integer ? "true" : "false"; return;
        case expr_kind::name:
        case expr_kind::builtin: out += names.text(e.name); return;
        case expr_kind::binary: {
            const binary_facts& f = facts(e.op);
            grouped(f.level < level, [&] {
                spell_expr_at(out, e.a, f.level, pool, names);
                ((out += ' ') += f.text) += ' ';
                spell_expr_at(out, e.b, f.level + 1, pool, names);
            });
            return;
        }
        case expr_kind::ternary:
            grouped(level > 0, [&] {
                spell_expr_at(out, e.a, 1, pool, names);
                out += " ? ";
                spell_expr_at(out, e.b, 0, pool, names);
                out += " : ";
                spell_expr_at(out, e.c, 0, pool, names);
            });
            return;
        case expr_kind::call: {
            (out += names.text(e.name)) += '(';
            const char* separator = "";
            for (const expr_id a : pool.args(e)) {
                out += separator;
                spell_expr_at(out, a, 0, pool, names);
                separator = ", ";
            }
            out += ')';
            return;
        }
        case expr_kind::cast:
            ((out += '(') += names.text(e.name)) += ')';
            spell_expr_at(out, e.a, 7, pool, names);
            return;
    }
}
}  // namespace detail

EMMY_DECL result<expr_id> parse_expr(std::string_view text, expr_pool& pool, text_pool& names) { return detail::expr_parser(text, pool, names).parse(); }

EMMY_DECL void spell_expr(std::string& out, expr_id id, const expr_pool& pool, const text_pool& names) { detail::spell_expr_at(out, id, 0, pool, names); }

}  // namespace emmy
