#pragma once
// Where two kernels part: the first statement, outside in, that has no counterpart.
#include <support/scope_tree.hpp>

#include <emmy/core/dim_wire.hpp>

#include <string>

namespace emmy::test {

/// A statement in the words of loop::print, without its nested ones.
inline std::string statement_text(const loop::kernel& k, loop::stmt_id id) {
    const loop::body& b = k.body;
    const loop::stmt& s = b.stmts[id];
    std::string out;
    const auto list = [&](loop::run r) {
        std::string text;
        for (const expr_id e : b.expressions(r)) text += text.empty() ? "" : ", ", spell_expr(text, e, b.exprs, b.names);
        return text;
    };
    std::string args;
    for (const name_id a : b.name_list(s.args)) args += (args.empty() ? "" : ", ") + std::string(b.text(a));
    switch (s.kind) {
        case loop::stmt_kind::loop: return "loop " + std::string(b.text(s.axis.name)) + " < " + dim_text(s.axis.extent, b.exprs, b.names);
        case loop::stmt_kind::load: return std::string(b.text(s.buffer)) + "[" + list(s.index) + "]";
        case loop::stmt_kind::write: return std::string(b.text(s.buffer)) + "[" + list(s.index) + "] = " + args;
        case loop::stmt_kind::assign: return std::string(loop::facts(s.op).text) + (s.type != dtype::none ? ":" + std::string(token(s.type)) : "") + "(" + args + ")";
        case loop::stmt_kind::accum: return "accumulate " + std::string(loop::facts(s.op).text) + "(" + args + ")";
        case loop::stmt_kind::select: return "select " + args + " if " + list(s.index);
        case loop::stmt_kind::pre: return "pre [" + list(s.index) + "]";
        case loop::stmt_kind::carry: return "carry [" + list(s.index) + "] = " + args;
        default: return "statement";
    }
}

namespace detail {
inline std::string parting(const loop::kernel& a, const std::vector<scope_node>& x, const loop::kernel& b, const std::vector<scope_node>& y, const std::string& where) {
    std::map<std::uint64_t, int> count;
    for (const scope_node& n : x) ++count[n.hash];
    for (const scope_node& n : y) --count[n.hash];
    std::vector<const scope_node*> left, right;  // loops without a counterpart
    const scope_node *leaf = nullptr, *other = nullptr;
    auto more = count;
    for (const scope_node& n : x)
        if (more[n.hash] > 0) --more[n.hash], n.members.empty() ? void(leaf = leaf ? leaf : &n) : left.push_back(&n);
    for (const scope_node& n : y)
        if (more[n.hash] < 0) ++more[n.hash], n.members.empty() ? void(other = other ? other : &n) : right.push_back(&n);
    // What stands inside a loop explains what is made of its result.
    for (const scope_node* l : left)
        for (const scope_node* r : right)
            if (same_extent(a.body.stmts[l->statement].axis.extent, b.body.stmts[r->statement].axis.extent))
                return parting(a, l->members, b, r->members, where + statement_text(a, l->statement) + ": ");
    const auto text = [](const loop::kernel& k, const scope_node* n) { return n ? statement_text(k, n->statement) : std::string("nothing"); };
    return where + text(a, leaf ? leaf : left.empty() ? nullptr : left[0]) + " | " + text(b, other ? other : right.empty() ? nullptr : right[0]);
}
}  // namespace detail

/// "loop a0 < 48: multiply(v1, v2) | divide(v1, v2)": the first kernel's statement, then the second's.
inline std::string first_difference(const loop::kernel& a, const loop::kernel& b) { return detail::parting(a, scope_tree(a).top(), b, scope_tree(b).top(), ""); }

}  // namespace emmy::test
