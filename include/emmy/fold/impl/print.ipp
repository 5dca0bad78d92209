#pragma once
#include <emmy/fold/tree.hpp>


namespace emmy::fold {
namespace detail {

inline bool find_route(const tree& t, term_id from, term_id wanted, std::string& out) {
    out += kind_word(t.terms[from].kind);
    if (from == wanted) return true;
    const std::size_t mark = out.size();
    std::size_t place = t.terms[from].operands.size();  // nested terms that no statement of this one reads (sweeps) follow the operands
    const auto enter = [&](std::size_t index, term_id child) {
        out.resize(mark);
        out += "." + std::to_string(index) + "/";
        if (find_route(t, child, wanted, out)) return true;
        out.resize(mark);
        return false;
    };
    for (std::size_t i = 0; i < t.terms[from].operands.size(); ++i) {
        const operand& o = t.terms[from].operands[i];
        if (o.from == operand::form::state && o.term != from && enter(i + 1, o.term)) return true;
    }
    for (const step& s : t.terms[from].steps)
        if (s.is_term && enter(++place, s.id)) return true;
    out.resize(mark - kind_word(t.terms[from].kind).size());
    return false;
}

}  // namespace detail

EMMY_DECL std::string tree::route(term_id id) const {
    std::string out;
    detail::find_route(*this, root, id, out);
    return out;
}

namespace detail {

inline std::string extent_text(const loop::kernel& k, const axis& a) {
    return std::string(k.body.text(a.name)) + "<" + (a.extent.kind == dim::form::number ? std::to_string(a.extent.number) : std::string(k.body.text(a.extent.symbol)));
}

inline void print_term(std::string& out, const loop::kernel& k, const tree& t, term_id id, std::size_t depth) {
    const term& x = t.terms[id];
    out += std::string(depth * 2, ' ') + std::string(kind_word(x.kind));
    for (std::uint32_t a : x.axes) out += " " + extent_text(k, t.axes[a]);
    for (value_id s : x.states) out += " " + std::string(k.body.text(k.body.stmts[s].name)) + ":" + std::string(token(t.types[s]));
    std::size_t slabs = 0, stores = 0;
    for (const operand& o : x.operands) slabs += o.from == operand::form::slab;
    for (const step& s : x.steps) stores += !s.is_term && k.body.stmts[s.id].kind == loop::stmt_kind::write;
    out += " (" + std::to_string(slabs) + " slabs, " + std::to_string(stores) + " stores)\n";
    for (const step& s : x.steps)
        if (s.is_term) print_term(out, k, t, s.id, depth + 1);
}

}  // namespace detail

EMMY_DECL std::string print(const loop::kernel& k, const tree& t) {
    std::string out = k.name + ": grid";
    for (std::uint32_t a : t.grid) out += " " + detail::extent_text(k, t.axes[a]);
    out += '\n';
    detail::print_term(out, k, t, t.root, 1);
    return out;
}

}  // namespace emmy::fold
