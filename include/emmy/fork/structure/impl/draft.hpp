#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/fold/form.hpp>
#include <emmy/fork/structure/impl/replace.hpp>
#include <emmy/fork/structure/kernel_set.hpp>
#include <emmy/loop/impl/written.hpp>

#include <map>
#include <string>
#include <vector>

namespace emmy::fork::structure {

using fold::closed::store;

/// A piece before it is formed: a term of the arm's forest with the stores that it serves.
struct draft {
    term_id root = no_term;
    std::vector<store> stores{};
    std::vector<loop::axis> free{};
    piece_role role = piece_role::remainder;
    std::string name{};
    bool splits = true;
    bool all_inputs = false;  ///< declares every input of the parent, read or not
};

/// What an arm works on: the parent's forest, to which it adds terms, and the buffers that it makes.
struct workbench {
    forest f;
    std::vector<loop::buffer> workspaces{};
    std::vector<draft> drafts{};

    bool is_workspace(name_id buffer) const {
        return std::any_of(workspaces.begin(), workspaces.end(), [&](const loop::buffer& b) { return b.name == buffer; });
    }
};

inline std::vector<name_id> buffers_read(const forest& f) {
    std::vector<bool> seen(f.names.size());
    std::vector<name_id> out;
    for (const term& t : f.terms)
        for (const pure& s : t.body)
            if (s.kind == loop::stmt_kind::load && !seen[s.buffer]) seen[s.buffer] = true, out.push_back(s.buffer);
    return out;
}

/// Every index under what is known of its axes: shifted coordinates become what they are.
inline void simplify(forest& f) {
    loop::normal::ranges known;
    std::map<name_id, dim> extents;
    const auto axis = [&](const loop::axis& a) {
        if (a.name == no_name) return;
        const auto [at, fresh] = extents.emplace(a.name, a.extent);
        if (a.extent.kind == dim::form::number && (fresh || same_extent(at->second, a.extent))) known.axis(a.name, a.extent.number, 0);
        else known.unknown_axis(a.name, 0);
    };
    for (const loop::axis& a : f.free) axis(a);
    for (const store& s : f.stores)
        for (const loop::axis& a : s.sweeps) axis(a);
    for (const term& t : f.terms) axis(t.axis);
    loop::normal::simplifier simple(f.exprs, known);
    for (term& t : f.terms)
        for (pure& s : t.body)
            for (expr_id& e : s.index) e = simple.simplify(e);
    for (store& s : f.stores)
        for (expr_id& e : s.index) e = simple.simplify(e);
}

/// The forest of a draft alone, normal: it reads workspaces first, then the parent's inputs in the parent's order; it writes outputs in
/// the parent's order, then workspaces.
inline forest minted(const workbench& w, const draft& d) {
    forest out = below(w.f, d.root);
    out.free = d.free, out.stores = d.stores, out.kernel_name = d.name;
    simplify(out);
    fold::closed::normalise(out);
    const std::vector<name_id> read = buffers_read(out);
    std::vector<loop::buffer> inputs, outputs;
    for (const loop::buffer& b : w.workspaces)
        if (holds(read, b.name)) inputs.push_back(b);
    for (const loop::buffer& b : w.f.inputs)
        if (d.all_inputs || holds(read, b.name)) inputs.push_back(b);
    for (const auto* list : {&w.f.outputs, &w.workspaces})
        for (const loop::buffer& b : *list)
            if (std::any_of(d.stores.begin(), d.stores.end(), [&](const store& s) { return s.buffer == b.name; })) outputs.push_back(b);
    out.inputs = std::move(inputs), out.outputs = std::move(outputs);
    return out;
}

/// Ten hex digits that tell cuts of one parent apart: of what the parent is, names aside, and of the key.
inline std::string token(const loop::kernel& parent, std::string_view key) {
    const std::vector<char> written = loop::written_bytes(parent.body, parent.inputs, parent.outputs);
    std::string text(written.begin(), written.end());
    text += '\0', text += key;
    return to_hex(xxh3_128(text)).substr(0, 10);
}

}  // namespace emmy::fork::structure
