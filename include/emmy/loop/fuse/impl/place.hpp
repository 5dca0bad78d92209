#pragma once
#include <emmy/loop/fuse/impl/draft.hpp>

#include <map>
#include <set>
#include <tuple>

namespace emmy::loop::fusion {

/// Where everything of a kernel stands: each value at the outermost loop that binds what it depends on, each reduction's loop as far out as
/// all that it sums allows. Reductions that share a loop stay together.
class placement {
public:
    placement(program_graph& p, const draft& d) : v_(p.values), step_(d.step) {
        for (const draft_store& s : d.stores) {
            for (const expr_id e : s.index) reach_names(e);
            reach(s.stored);
            for (axis_id a = s.scope; a != nothing; a = v_.axes[a].parent) free_.insert({v_.axes[a].depth, a});
        }
    }

    std::span<const value_id> values() const { return order_; }                                   ///< operands before users
    const std::map<axis_id, std::vector<value_id>>& folds() const { return folds_; }  ///< by loop axis
    std::vector<axis_id> free_axes() const {                                                       ///< outer before inner
        std::vector<axis_id> out;
        for (const auto& [depth, a] : free_) out.push_back(a);
        return out;
    }

    /// Axes that a value depends on, ascending numbers.
    std::span<const axis_id> needs(value_id v) { return sets_.at(need(v)); }
    /// The loop whose body defines the value; nothing: outside all. A fold is defined where its loop stands.
    axis_id home(value_id v) { return deepest(need(v)); }
    /// The loop around a loop.
    axis_id parent(axis_id a) { return v_.axes[a].role == axis_role::fold ? deepest(group_need(a)) : v_.axes[a].parent; }
    /// Loops above.
    std::uint32_t depth(axis_id a) {
        if (const auto known = depths_.find(a); known != depths_.end()) return known->second;
        const axis_id above = parent(a);
        return depths_[a] = above == nothing ? 0 : depth(above) + 1;
    }

    /// Whether two sums of equal extent read some buffer at the same walk along one of its dimensions.
    bool walks_alike(axis_id a, axis_id b) {
        if (!same_extent(v_.axes[a].extent, v_.axes[b].extent)) return false;
        find_walks();
        const auto &x = walks_[a], &y = walks_[b];
        for (const auto& step : x)
            if (y.contains(step)) return true;
        return false;
    }

private:
    using walk = std::tuple<buffer_id, std::uint32_t, expr_id>;  ///< buffer, dimension, entry with a blank for the axis
    void find_walks() {
        if (walked_) return;
        walked_ = true;
        const expr_id blank = v_.exprs.name(v_.names.intern("$"));
        for (const value_id v : order_) {
            if (v_.at(v).kind != value_kind::load) continue;
            const std::vector<expr_id> index(v_.index(v).begin(), v_.index(v).end());
            for (std::uint32_t d = 0; d < index.size(); ++d) {
                std::vector<axis_id> axes;
                each_name(v_.exprs, index[d], [&](name_id n) {
                    if (const axis_id a = v_.axis_of(n); a != nothing && v_.axes[a].role == axis_role::fold) axes.push_back(a);
                });
                for (const axis_id a : axes)
                    walks_[a].insert({v_.at(v).target, d, replace_names(v_.exprs, index[d], [&](name_id n) { return n == v_.axes[a].name ? blank : no_expr; })});
            }
        }
    }
    void reach_names(expr_id e) {
        each_name(v_.exprs, e, [&](name_id name) {
            if (const value_id inside = v_.value_of(name); inside != nothing) reach(inside);
        });
    }
    void reach(value_id v) {
        if (needs_.contains(v)) return;
        needs_[v] = nothing;
        for (const value_id a : v_.args(v)) reach(a);  // interns nothing
        for (const expr_id e : v_.index(v)) reach_names(e);
        if (v_.at(v).kind == value_kind::fold) folds_[v_.at(v).target].push_back(v);
        order_.push_back(v);
    }
    void add_names(std::vector<axis_id>& set, expr_id e) {
        each_name(v_.exprs, e, [&](name_id name) {
            if (const axis_id a = v_.axis_of(name); a != nothing) set.push_back(a);
            if (const value_id inside = v_.value_of(name); inside != nothing) add(set, need(inside));
        });
    }
    void add(std::vector<axis_id>& set, std::uint32_t other) {
        const auto items = sets_.at(other);
        set.insert(set.end(), items.begin(), items.end());
    }
    std::uint32_t intern(std::vector<axis_id>& set) {
        std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
        return sets_.intern(set);
    }
    std::uint32_t need(value_id v) {
        std::uint32_t& known = needs_[v];
        if (known != nothing) return known;
        const value at = v_.at(v);
        if (at.kind == value_kind::fold) return needs_[v] = group_need(at.target);
        std::vector<axis_id> set;
        for (const value_id a : v_.args(v)) add(set, need(a));
        for (const expr_id e : v_.index(v)) add_names(set, e);
        if (at.kind == value_kind::pre) set.push_back(step_);
        return needs_[v] = intern(set);
    }
    std::uint32_t group_need(axis_id a) {
        if (const auto known = group_needs_.find(a); known != group_needs_.end()) return known->second;
        std::vector<axis_id> set;
        for (const value_id v : folds_[a]) add(set, need(v_.args(v)[0]));
        std::erase(set, a);
        return group_needs_[a] = intern(set);
    }
    axis_id deepest(std::uint32_t set) {
        axis_id found = nothing;
        const std::vector<axis_id> items(sets_.at(set).begin(), sets_.at(set).end());
        for (const axis_id a : items)
            if (found == nothing || depth(a) > depth(found)) found = a;
        return found;
    }

    value_graph& v_;
    axis_id step_;
    list_table sets_;
    std::vector<value_id> order_;
    std::map<value_id, std::uint32_t> needs_;
    std::map<axis_id, std::uint32_t> group_needs_, depths_;
    std::map<axis_id, std::vector<value_id>> folds_;
    std::set<std::pair<std::uint32_t, axis_id>> free_;
    std::map<axis_id, std::set<walk>> walks_;
    bool walked_ = false;
};

}  // namespace emmy::loop::fusion
