#pragma once
#include <emmy/loop/fuse/impl/place.hpp>

namespace emmy::loop::fusion {

/// Sibling sums that walk a buffer alike become one loop, unless one needs the other.
class sibling_merge {
public:
    sibling_merge(program_graph& p, rewriter& rewrite) : v_(p.values), p_(p), rewrite_(rewrite) {}

    void run(draft& d) {
        while (merge_one(d)) {}
    }

private:
    bool merge_one(draft& d) {
        placement at(p_, d);
        std::map<std::pair<axis_id, std::uint32_t>, std::vector<axis_id>> siblings;  // by scope and depth: parents before children
        for (const auto& [a, folds] : at.folds()) siblings[{at.parent(a), at.depth(a)}].push_back(a);
        for (const auto& [scope, loops] : siblings)
            for (std::size_t i = 0; i < loops.size(); ++i)
                for (std::size_t k = i + 1; k < loops.size(); ++k) {
                    const axis_id a = loops[i], b = loops[k];
                    if (!at.walks_alike(a, b) || uses(at, a, b) || uses(at, b, a)) continue;
                    const expr_id to = v_.axis_expr(a);
                    const rewriter::sigma s = rewrite_.substitution(std::array{b}, std::array{to});
                    for (draft_store& store : d.stores) {
                        store.stored = rewrite_.normalised(rewrite_.substitute(store.stored, s));
                        if (store.sum == b) store.sum = a;
                    }
                    return true;
                }
        return false;
    }
    /// Whether what `a` sums needs a result of `b`.
    bool uses(placement& at, axis_id a, axis_id b) {
        std::set<value_id> seen;
        const auto needs = [&](const auto& self, value_id v) -> bool {
            if (!seen.insert(v).second) return false;
            if (v_.at(v).kind == value_kind::fold && v_.at(v).target == b) return true;
            for (const value_id x : v_.args(v))
                if (self(self, x)) return true;
            bool found = false;
            for (const expr_id e : v_.index(v))
                each_name(v_.exprs, e, [&](name_id n) {
                    if (const value_id inside = v_.value_of(n); inside != nothing) found = found || self(self, inside);
                });
            return found;
        };
        for (const value_id v : at.folds().at(a))
            if (needs(needs, v_.args(v)[0])) return true;
        return false;
    }

    value_graph& v_;
    program_graph& p_;
    rewriter& rewrite_;
};

}  // namespace emmy::loop::fusion
