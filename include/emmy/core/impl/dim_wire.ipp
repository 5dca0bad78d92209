#pragma once
#include <emmy/core/dim_wire.hpp>

namespace emmy {

EMMY_DECL result<dim> read_dim(const json::value& v, const json::path& where, expr_pool& exprs, text_pool& names) {
    dim out;
    if (v.is(json::kind::integer)) {
        EMMY_TRY(number, json::read_integer(v, where));
        out.number = number;
        return out;
    }
    if (!v.is(json::kind::object)) return refuse(json::expected(where, v, "an integer, {\"sym\"} or {\"expr\"}"));
    json::fields f(v, where);
    const json::value* symbol = f.may("sym");
    const json::value* text = f.may("expr");
    const json::value* hint = f.may("hint");
    if (!symbol == !text) return refuse(json::problem(where, "found a dimension with " + std::string(symbol ? "both \"sym\" and \"expr\"" : "neither \"sym\" nor \"expr\"") + ", expected one of them"));
    if (symbol) {
        EMMY_TRY(name, json::read_string(*symbol, where / "sym"));
        if (name.empty()) return refuse(json::problem(where / "sym", "found an empty symbol, expected a name"));
        out.kind = dim::form::symbol;
        out.symbol = names.intern(name);
    } else {
        EMMY_TRY(spelling, json::read_string(*text, where / "expr"));
        auto parsed = parse_expr(spelling, exprs, names);
        if (!parsed) return refuse(json::problem(where / "expr", parsed.error().message()));
        out.kind = dim::form::expression;
        out.value = *parsed;
    }
    out.number = default_hint;
    if (hint) {
        EMMY_TRY(size, json::read_integer(*hint, where / "hint"));
        if (size < 1) return refuse(json::expected(where / "hint", *hint, "a size of at least 1"));
        out.number = size;
        out.has_hint = true;
    }
    EMMY_CHECK_OK(f.done());
    return out;
}

EMMY_DECL void write_dim(json::writer& out, const dim& d, const expr_pool& exprs, const text_pool& names) {
    if (d.kind == dim::form::number) {
        out.integer(d.number);
        return;
    }
    out.begin_object();
    if (d.kind == dim::form::symbol) {
        out.key("sym").string(names.text(d.symbol));
    } else {
        std::string text;
        spell_expr(text, d.value, exprs, names);
        out.key("expr").string(text);
    }
    if (d.has_hint) out.key("hint").integer(d.number);
    out.end_object();
}

EMMY_DECL std::string dim_text(const dim& d, const expr_pool& exprs, const text_pool& names) {
    if (d.kind == dim::form::number) return std::to_string(d.number);
    if (d.kind == dim::form::symbol) return std::string(names.text(d.symbol));
    std::string text;
    spell_expr(text, d.value, exprs, names);
    return text;
}

}  // namespace emmy
