#pragma once
#include <emmy/loop/fuse/impl/layout.ipp>
#include <emmy/loop/fuse/impl/regions.ipp>

#include <map>
#include <set>
#include <tuple>

namespace emmy::loop::fusion {

/// The order in which a kernel lists its inputs. Nothing depends on it; most stored kernels have the one that this finds: what the outputs need
/// is asked for breadth first, each value once, and read in the opposite order, outer loops before inner ones; a reduction stands where it is
/// asked for with the reads of its own cone.
class read_order {
public:
    template <class Together>
    read_order(program_graph& p, const region& r, Together&& together) : p_(p), v_(p.values), inside_(r.ops.begin(), r.ops.end()) {
        std::vector<demand> roots;
        for (const buffer_id b : r.outputs) {
            const layout_root root = root_of(p, b, together);
            demand d{root.op, p.ops[root.op].stored, {}};
            for (const axis_id own : p.ops[root.op].axes) d.depths.push_back(1 + static_cast<int>(std::find(root.axes.begin(), root.axes.end(), own) - root.axes.begin()));
            roots.push_back(std::move(d));
        }
        found_ = listed(std::move(roots), true);
    }
    const std::vector<buffer_id>& buffers() const { return found_; }

private:
    /// A value of an operator; by the operator's axes, how many loops of the kernel their coordinates need.
    struct demand {
        op_index op;
        value_id value;
        std::vector<int> depths;
        auto key() const { return std::tuple(op, value, depths); }
    };
    struct event {
        bool reduction;
        std::uint32_t what;  ///< operator, else buffer
        int depth;
    };
    static constexpr int innermost = 1 << 20;

    int depth_of(std::span<const expr_id> list, const demand& d) const {
        int out = 0;
        for (const expr_id e : list)
            each_name(v_.exprs, e, [&](name_id n) {
                const lifted_op& o = p_.ops[d.op];
                if (const axis_id a = v_.axis_of(n); a != nothing) {
                    if (o.fold_axis == a) out = innermost;
                    for (std::size_t i = 0; i < o.axes.size(); ++i)
                        if (o.axes[i] == a) out = std::max(out, d.depths[i]);
                }
                if (const value_id gathered = v_.value_of(n); gathered != nothing) out = std::max(out, depth_of(v_.index(gathered), d));
            });
        return out;
    }
    /// Operands as the operator's own body has them: those of commutative operators reductions first, then reads by name.
    std::vector<value_id> operands(value_id x) const {
        std::vector<value_id> list(v_.args(x).begin(), v_.args(x).end());
        if (v_.at(x).kind == value_kind::op && facts(v_.at(x).op).commutative) {
            const auto rank = [&](value_id a) {
                const value_kind k = v_.at(a).kind;
                return std::pair(k == value_kind::call ? 0 : k == value_kind::load ? 1 : 2, k == value_kind::load ? p_.text(v_.at(a).target) : std::string());
            };
            std::stable_sort(list.begin(), list.end(), [&](value_id a, value_id b) { return rank(a) < rank(b); });
        }
        for (const expr_id e : v_.index(x))
            each_name(v_.exprs, e, [&](name_id n) {
                if (const value_id gathered = v_.value_of(n); gathered != nothing) list.push_back(gathered);
            });
        return list;
    }
    const std::vector<buffer_id>& cone(op_index o) {
        if (const auto at = cones_.find(o); at != cones_.end()) return at->second;
        return cones_[o] = listed({{o, p_.ops[o].folded, std::vector<int>(p_.ops[o].axes.size(), 0)}}, false);
    }

    std::vector<buffer_id> listed(std::vector<demand> level, bool by_loops) {
        std::vector<event> events;
        std::set<std::tuple<op_index, value_id, std::vector<int>>> once;
        while (!level.empty()) {
            std::vector<demand> next;
            for (const demand& d : level) {
                if (!once.insert(d.key()).second) continue;
                const value x = v_.at(d.value);
                const int depth = depth_of(v_.index(d.value), d);
                if (x.kind == value_kind::call) {
                    events.push_back({true, x.target, depth});
                } else if (x.kind != value_kind::load) {
                    for (const value_id a : operands(d.value)) next.push_back({d.op, a, d.depths});
                } else if (const op_index from = p_.buffers[x.target].producer; from == nothing || !inside_.contains(from)) {
                    events.push_back({false, x.target, depth});
                } else {
                    demand producer{from, p_.ops[from].stored, {}};
                    const auto index = v_.index(d.value);
                    for (std::size_t i = 0; i < index.size(); ++i)  // each store entry is one of the producer's axes, in order, or 0
                        if (v_.exprs[p_.ops[from].index[i]].kind == expr_kind::name) producer.depths.push_back(depth_of(index.subspan(i, 1), d));
                    producer.depths.resize(p_.ops[from].axes.size(), 0);
                    next.push_back(std::move(producer));
                }
            }
            level = std::move(next);
        }
        std::reverse(events.begin(), events.end());
        if (by_loops) std::stable_sort(events.begin(), events.end(), [](const event& a, const event& b) { return a.depth < b.depth; });
        std::vector<buffer_id> out;
        std::set<buffer_id> known;
        const auto add = [&](buffer_id b) {
            if (known.insert(b).second) out.push_back(b);
        };
        for (const event& e : events) {
            if (!e.reduction) add(e.what);
            else
                for (const buffer_id b : cone(e.what)) add(b);
        }
        return out;
    }

    program_graph& p_;
    value_graph& v_;
    std::set<op_index> inside_;
    std::map<op_index, std::vector<buffer_id>> cones_;
    std::vector<buffer_id> found_;
};

}  // namespace emmy::loop::fusion
