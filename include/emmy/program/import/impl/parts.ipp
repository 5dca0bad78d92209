#pragma once
#include <emmy/program/import/impl/importer.ipp>

#include <algorithm>

namespace emmy::program::pt2 {
namespace detail {

inline bool below(std::string_view path, std::string_view module) { return module.empty() || path == module || (path.starts_with(module) && path[module.size()] == '.'); }
/// Calls that belong to a module: one of the frames they stand in is it, or below it.
inline bool stands_in(const call& node, std::string_view module) {
    if (module.empty()) return true;
    return std::any_of(node.modules.begin(), node.modules.end(), [&](const module_frame& f) { return below(f.path, module); });
}
inline bool is_attention(const call& node) { return node.target.find("scaled_dot_product") != std::string_view::npos; }
inline bool is_projection(const call& node) {
    const std::string_view name = table_name(node.target);
    return name == "aten.linear.default" || name == "aten.mm.default" || name == "aten.addmm.default";
}
inline bool gives_sizes(const call& node) {
    return !node.outputs.empty() && std::all_of(node.outputs.begin(), node.outputs.end(), [](const argument& a) { return a.kind == argument_kind::size || a.kind == argument_kind::truth; });
}
template <class F>
void each_read(const call& node, F&& f) {
    for (const argument& a : node.inputs) {
        if (a.kind == argument_kind::tensor) f(a.text);
        if (a.kind == argument_kind::tensors || a.kind == argument_kind::optional_tensors)
            for (const argument::item& i : a.items)
                if (!i.name.empty()) f(i.name);
    }
}
template <class F>
void each_made(const call& node, F&& f) {
    for (const argument& a : node.outputs) {
        if (a.kind == argument_kind::tensor) f(a.text);
        if (a.kind == argument_kind::tensors)
            for (const argument::item& i : a.items) f(i.name);
    }
}

/// Splits the chosen calls at the attention: what the last projections before it need; from there to its result in the form that the next
/// projection reads; what is left.
inline result<std::vector<bool>> part_of(const exported_program& x, const std::vector<bool>& chosen, layer_part part) {
    std::unordered_map<std::string_view, std::size_t> maker;
    for (std::size_t i = 0; i < x.calls.size(); ++i)
        if (chosen[i]) each_made(x.calls[i], [&](std::string_view n) { maker[n] = i; });
    std::vector<bool> middle(x.calls.size(), false), pre(x.calls.size(), false);
    std::vector<std::size_t> before, behind;  // calls to follow towards inputs: of the middle, of pre
    std::size_t attentions = 0;
    for (std::size_t i = 0; i < x.calls.size(); ++i)
        if (chosen[i] && is_attention(x.calls[i])) {
            ++attentions;
            middle[i] = true;
            before.push_back(i);
        }
    if (attentions != 1)
        return refuse(fault_kind::user, "found " + std::to_string(attentions) + " attentions in it, expected one scaled_dot_product_attention: name one layer (--module)", "--part");
    const auto follow = [&](std::size_t i, auto&& visit) {
        each_read(x.calls[i], [&](std::string_view n) {
            if (const auto at = maker.find(n); at != maker.end()) visit(at->second);
        });
    };
    while (!before.empty()) {
        const std::size_t i = before.back();
        before.pop_back();
        follow(i, [&](std::size_t from) {
            if (is_projection(x.calls[from])) {
                if (!pre[from]) pre[from] = true, behind.push_back(from);
            } else if (!middle[from]) {
                middle[from] = true;
                before.push_back(from);
            }
        });
    }
    if (behind.empty()) return refuse(fault_kind::user, "found no projections before the attention, expected those of q, k and v", "--part");
    while (!behind.empty()) {
        const std::size_t i = behind.back();
        behind.pop_back();
        follow(i, [&](std::size_t from) {
            middle[from] = false;
            if (!pre[from]) pre[from] = true, behind.push_back(from);
        });
    }
    // Forwards: rearrangements of the result up to the next projection.
    std::unordered_map<std::string_view, bool> inside;
    for (std::size_t i = 0; i < x.calls.size(); ++i) {
        if (!chosen[i]) continue;
        if (is_attention(x.calls[i])) each_made(x.calls[i], [&](std::string_view n) { inside[n] = true; });
        if (middle[i] || pre[i] || is_projection(x.calls[i])) continue;
        bool only = false, outside = false;
        each_read(x.calls[i], [&](std::string_view n) { inside.contains(n) ? only = true : outside = true; });
        if (!only || outside) continue;
        middle[i] = true;
        each_made(x.calls[i], [&](std::string_view n) { inside[n] = true; });
    }
    std::vector<bool> out(x.calls.size(), false);
    for (std::size_t i = 0; i < x.calls.size(); ++i)
        out[i] = chosen[i] && (part == layer_part::pre ? pre[i] : part == layer_part::attention ? middle[i] : !pre[i] && !middle[i]);
    return out;
}

inline result<importer::selection> select(const exported_program& x, const import_options& how) {
    importer::selection out;
    out.calls.assign(x.calls.size(), true);
    if (how.module.empty() && how.part == layer_part::whole) return out;
    out.whole = false;
    bool any = false;
    for (std::size_t i = 0; i < x.calls.size(); ++i) {
        out.calls[i] = stands_in(x.calls[i], how.module) && !x.calls[i].outputs.empty();  // an assertion makes nothing
        any = any || out.calls[i];
    }
    if (!any) {
        std::string known;
        std::size_t count = 0;
        for (const module_facts& m : modules_of(x))
            if (!m.path.empty() && ++count <= 8) known += (known.empty() ? "" : ", ") + m.path;
        return refuse(fault_kind::user, "found the module \"" + how.module + "\", expected one of the archive's" + (known.empty() ? "" : ": " + known + (count > 8 ? ", … (--list)" : "")), "--module");
    }
    if (how.part != layer_part::whole) {
        EMMY_TRY(part, part_of(x, out.calls, how.part));
        out.calls = std::move(part);
    }
    // What crosses the boundary. Parameters and buffers do not: each part has its own.
    std::unordered_map<std::string_view, bool> made, read_outside, weights;
    for (const graph_input& i : x.inputs)
        if (i.role != input_role::user) weights[i.what.text] = true;
    for (std::size_t i = 0; i < x.calls.size(); ++i) {
        if (out.calls[i]) each_made(x.calls[i], [&](std::string_view n) { made[n] = true; });
        else if (!x.calls[i].outputs.empty()) each_read(x.calls[i], [&](std::string_view n) { read_outside[n] = true; });
    }
    for (const graph_output& o : x.outputs) read_outside[o.what.text] = true;
    std::unordered_map<std::string_view, bool> user;
    for (const graph_input& i : x.inputs) user[i.what.text] = true;
    for (std::size_t i = 0; i < x.calls.size(); ++i) {
        if (!out.calls[i]) continue;
        each_made(x.calls[i], [&](std::string_view n) {
            if (read_outside.contains(n) && !gives_sizes(x.calls[i])) out.results.push_back(n);
        });
        if (gives_sizes(x.calls[i])) continue;
        each_read(x.calls[i], [&](std::string_view n) {
            if (!made.contains(n) && !user.contains(n) && std::find(out.reads.begin(), out.reads.end(), n) == out.reads.end()) out.reads.push_back(n);
        });
    }
    if (out.results.empty()) return refuse(fault_kind::user, "found no value that anything outside reads, expected a part with results", how.part == layer_part::whole ? "--module" : "--part");
    return out;
}

}  // namespace detail

EMMY_DECL std::vector<module_facts> modules_of(const exported_program& x) {
    std::vector<module_facts> out;
    std::unordered_map<std::string, std::size_t> place;
    for (const call& node : x.calls) {
        std::vector<std::size_t> counted;
        for (const module_frame& f : node.modules) {
            const auto [at, fresh] = place.try_emplace(f.path, out.size());
            if (fresh) out.push_back({f.path, std::string(f.type)});
            if (std::find(counted.begin(), counted.end(), at->second) != counted.end()) continue;
            counted.push_back(at->second);
            ++out[at->second].calls;
            out[at->second].attention = out[at->second].attention || detail::is_attention(node);
        }
    }
    return out;
}

}  // namespace emmy::program::pt2
