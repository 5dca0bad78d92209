#pragma once
#include <emmy/loop/fuse/impl/lifted.hpp>

#include <map>
#include <numeric>

namespace emmy::loop::fusion {

/// Operators that become one kernel.
struct region {
    std::vector<op_index> ops;           ///< topological order
    std::vector<buffer_id> outputs;      ///< program outputs and buffers read outside, topological order
};

/// One kernel each, in launch order. `region_of`: by operator, the place in the result.
inline std::vector<region> form_regions(const program_graph& p, std::vector<std::uint32_t>& region_of) {
    const std::size_t n = p.ops.size();
    const auto fusable = [&](op_index o) { return p.ops[o].kind == lifted_kind::pointwise || p.ops[o].kind == lifted_kind::fold; };
    const auto stops = [&](op_index o) { return fusable(o) && p.buffers[p.ops[o].stores[0]].type == dtype::f4e2m1x2; };

    // What stands between an operator and the inputs: equal sets keep a region convex.
    list_table sets;
    std::vector<std::uint32_t> boundary(n, 0);
    std::vector<op_index> parent(n);
    std::iota(parent.begin(), parent.end(), 0u);
    const auto root = [&](op_index o) {
        while (parent[o] != o) o = parent[o] = parent[parent[o]];
        return o;
    };
    for (const op_index o : p.order) {
        std::vector<std::uint32_t> set;
        for (const buffer_id b : p.ops[o].reads) {
            const op_index from = p.buffers[b].producer;
            if (from == nothing) continue;
            const auto before = sets.at(boundary[from]);
            set.insert(set.end(), before.begin(), before.end());
            if (stops(from) || !fusable(from)) set.push_back(from);
        }
        std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
        boundary[o] = sets.intern(set);
        for (const buffer_id b : p.ops[o].reads)
            if (const op_index from = p.buffers[b].producer; from != nothing && fusable(o) && fusable(from) && boundary[from] == boundary[o]) parent[root(o)] = root(from);
    }
    std::vector<op_index> group(n, nothing);
    for (const op_index o : p.order)
        if (fusable(o)) group[o] = root(o);

    // An operator that serves one other region alone belongs to it.
    for (std::size_t i = p.order.size(); i-- > 0;) {
        const op_index o = p.order[i];
        if (!fusable(o) || stops(o)) continue;
        const std::vector<op_index>& readers = p.buffers[p.ops[o].stores[0]].readers;
        bool one = !readers.empty();
        for (const op_index r : readers) one = one && group[r] != nothing && group[r] == group[readers[0]];
        if (one) group[o] = group[readers[0]];
    }

    // Connected parts.
    std::iota(parent.begin(), parent.end(), 0u);
    for (const op_index o : p.order)
        for (const buffer_id b : p.ops[o].reads)
            if (const op_index from = p.buffers[b].producer; from != nothing && group[o] != nothing && group[from] == group[o]) parent[root(o)] = root(from);

    // Launch order: a part follows all that it reads; among those ready, the one whose first operator is first.
    std::map<op_index, std::vector<op_index>> parts;  // by root
    std::vector<std::uint32_t> place(n, 0);
    for (std::uint32_t i = 0; i < p.order.size(); ++i) place[p.order[i]] = i, parts[root(p.order[i])].push_back(p.order[i]);
    std::map<op_index, std::vector<op_index>> after;
    std::map<op_index, std::size_t> waits;
    for (const auto& [r, ops] : parts) {
        std::vector<op_index> from;
        for (const op_index o : ops)
            for (const buffer_id b : p.ops[o].reads)
                if (const op_index made = p.buffers[b].producer; made != nothing && root(made) != r) from.push_back(root(made));
        std::sort(from.begin(), from.end());
        from.erase(std::unique(from.begin(), from.end()), from.end());
        waits[r] = from.size();
        for (const op_index f : from) after[f].push_back(r);
    }
    std::map<std::uint32_t, op_index> ready;  // by the place of the first operator
    for (const auto& [r, ops] : parts)
        if (waits[r] == 0) ready[place[ops[0]]] = r;
    std::vector<region> out;
    region_of.assign(n, nothing);
    while (!ready.empty()) {
        const op_index r = ready.begin()->second;
        ready.erase(ready.begin());
        for (const op_index o : parts[r]) region_of[o] = static_cast<std::uint32_t>(out.size());
        out.push_back({.ops = parts[r], .outputs = {}});
        for (const op_index next : after[r])
            if (--waits[next] == 0) ready[place[parts[next][0]]] = next;
    }
    for (region& r : out)
        for (const op_index o : r.ops)
            for (const buffer_id b : p.ops[o].stores) {
                bool outside = p.buffers[b].output;
                for (const op_index reader : p.buffers[b].readers) outside = outside || region_of[reader] != region_of[o];
                if (outside) r.outputs.push_back(b);
            }
    return out;
}

}  // namespace emmy::loop::fusion
