#pragma once
#include <emmy/fork/structure/impl/assemble.ipp>
#include <emmy/fork/structure/impl/nearest.hpp>

#include <optional>

namespace emmy::fork::structure {

/// Reads of renamed buffers with both indices exchanged. An edit.
struct transposed_reads {
    const std::map<name_id, name_id>& to;
    bool operator()(term& t) const {
        bool changed = false;
        for (pure& s : t.body) {
            const auto at = s.kind == loop::stmt_kind::load ? to.find(s.buffer) : to.end();
            if (at == to.end()) continue;
            s.buffer = at->second;
            std::reverse(s.index.begin(), s.index.end());
            changed = true;
        }
        return changed;
    }
};

/// Index lists of the reads of a buffer; nullopt where a read has not two indices, or there is none.
inline std::optional<std::vector<std::vector<expr_id>>> reads_of(const forest& f, name_id buffer) {
    std::vector<std::vector<expr_id>> out;
    for (const term& t : f.terms)
        for (const pure& s : t.body) {
            if (s.kind != loop::stmt_kind::load || s.buffer != buffer) continue;
            if (s.index.size() != 2) return std::nullopt;
            add_once(out, s.index);
        }
    if (out.empty()) return std::nullopt;
    std::sort(out.begin(), out.end());
    return out;
}
inline const loop::buffer* input_of(const forest& f, std::string_view name) {
    for (const loop::buffer& b : f.inputs)
        if (f.text(b.name) == name) return &b;
    return nullptr;
}

}  // namespace emmy::fork::structure

namespace emmy::fork {

inline result<kernel_set> realise_layout(const fold::kernel_form& k, const knob::routing_row& arm) {
    using namespace structure;
    workbench w{k.terms, {}, {}};
    std::map<name_id, name_id> to;
    std::vector<relaid_input> relaid;
    for (const auto& choice : arm) {
        if (choice.value != "source") return refuse(fault_kind::user, "found " + choice.value + ", expected source", choice.key);
        const loop::buffer* input = input_of(w.f, choice.address());
        if (!input || input->shape.size() != 2 || !reads_of(w.f, input->name)) {
            std::vector<std::string> keys;
            for (const loop::buffer& b : w.f.inputs)
                if (b.shape.size() == 2 && reads_of(w.f, b.name)) keys.push_back("LAYOUT@" + std::string(w.f.text(b.name)));
            return refuse(fault_kind::user, "names no input of " + k.kernel.name + " read with two indices" + nearest_text(choice.key, keys), choice.key);
        }
        const std::string name(choice.address());
        to[input->name] = w.f.names.intern(name + "__source");
        relaid.push_back({name, name + "__source"});
    }
    for (loop::buffer& b : w.f.inputs)
        if (const auto at = to.find(b.name); at != to.end()) b.name = at->second, std::swap(b.shape[0], b.shape[1]);
    replacing<transposed_reads> by{w.f, {to}, {}};
    draft d;
    d.name = k.kernel.name, d.role = piece_role::relaid, d.all_inputs = true;
    d.free = w.f.free, d.stores = w.f.stores;
    d.root = by.at(w.f.root)[0];
    w.drafts.push_back(std::move(d));
    EMMY_TRY(set, assemble(w));
    set.relaid = std::move(relaid);
    return set;
}

}  // namespace emmy::fork
