#pragma once
#include <emmy/loop/fuse/impl/align.ipp>
#include <emmy/loop/fuse/impl/splice.ipp>

namespace emmy::loop::fusion {

/// Chains of alike steps, each made from the one before, become one kernel that carries their state.
class roller {
public:
    roller(program_graph& p, rewriter& rewrite) : p_(p), v_(p.values), rewrite_(rewrite) {}

    std::map<op_index, draft> kernels;  ///< of the rolled operators

    void run() {
        while (roll_one()) {}
    }

private:
    using bits = std::vector<std::uint64_t>;
    static bool has(const bits& set, std::uint32_t i) { return set[i / 64] >> (i % 64) & 1; }
    static void put(bits& set, std::uint32_t i) { set[i / 64] |= std::uint64_t{1} << (i % 64); }
    static std::size_t count(const bits& set) {
        std::size_t n = 0;
        for (const std::uint64_t w : set) n += static_cast<std::size_t>(std::popcount(w));
        return n;
    }
    static bits without(const bits& a, const bits& b) {
        bits out = a;
        for (std::size_t i = 0; i < out.size(); ++i) out[i] &= ~b[i];
        return out;
    }
    buffer_id made(op_index o) const { return p_.ops[o].stores[0]; }
    bool plain(op_index o) const { return p_.ops[o].kind == lifted_kind::pointwise || p_.ops[o].kind == lifted_kind::fold; }

    // Alike operators: one structure with every integer literal left open.
    std::uint64_t open_expr(expr_id id) const {
        const expr& e = v_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer: return 1;
            case expr_kind::name: return mix(2, v_.value_of(e.name) != nothing ? open(v_.value_of(e.name)) : e.name);
            case expr_kind::binary:
                if (e.op == binary_op::add && v_.exprs[e.b].kind == expr_kind::integer) return open_expr(e.a);  // a constant part may be 0
                return mix(mix(mix(3, static_cast<std::uint64_t>(e.op)), open_expr(e.a)), open_expr(e.b));
            case expr_kind::ternary: return mix(mix(mix(4, open_expr(e.a)), open_expr(e.b)), open_expr(e.c));
            case expr_kind::cast: return mix(5, open_expr(e.a));
            default: return mix(6, id);
        }
    }
    std::uint64_t open(value_id v) const {
        const value& x = v_.at(v);
        std::uint64_t h = mix(static_cast<std::uint64_t>(x.kind) << 16 | static_cast<std::uint64_t>(x.op) << 8 | static_cast<std::uint64_t>(x.type), v_.args(v).size());
        for (const expr_id e : v_.index(v)) h = mix(h, open_expr(e));
        std::vector<std::uint64_t> args;
        for (const value_id a : v_.args(v)) args.push_back(open(a));
        if (x.kind == value_kind::op && facts(x.op).commutative) std::sort(args.begin(), args.end());
        for (const std::uint64_t a : args) h = mix(h, a);
        return h;
    }
    std::uint64_t signature(op_index o) const {
        const lifted_op& x = p_.ops[o];
        std::uint64_t h = mix(static_cast<std::uint64_t>(x.kind), static_cast<std::uint64_t>(x.fold_op));
        const buffer_facts& b = p_.buffers[made(o)];
        h = mix(h, static_cast<std::uint64_t>(b.type));
        for (const dim& d : b.shape) h = mix(mix(h, static_cast<std::uint64_t>(d.kind)), static_cast<std::uint64_t>(d.kind == dim::form::number ? d.number : d.kind == dim::form::symbol ? d.symbol : d.value));
        if (x.kind == lifted_kind::fold) return mix(h, open(x.folded));
        return mix(h, open(x.stored));
    }

    bool roll_one() {
        // Ancestors of every buffer, itself included.
        const std::size_t words = (p_.buffers.size() + 63) / 64;
        above_.assign(p_.buffers.size(), bits(words, 0));
        for (buffer_id b = 0; b < p_.buffers.size(); ++b) put(above_[b], b);
        for (const op_index o : p_.order)
            for (const buffer_id b : p_.ops[o].stores)
                for (const buffer_id r : p_.ops[o].reads)
                    for (std::size_t w = 0; w < words; ++w) above_[b][w] |= above_[r][w];
        place_.assign(p_.ops.size(), 0);
        for (std::uint32_t i = 0; i < p_.order.size(); ++i) place_[p_.order[i]] = i;
        std::vector<bool> ordinary(p_.ops.size(), false);  // members of chains that fusion handles as well
        budget_ = 64 * p_.ops.size() + 10000;              // steps looked at: no program of real layers needs more
        std::map<std::uint64_t, std::vector<op_index>> alike;
        std::vector<std::uint64_t> sign(p_.ops.size(), 0);
        for (const op_index o : p_.order)
            if (plain(o) && p_.buffers[made(o)].type == dtype::f32) alike[sign[o] = signature(o)].push_back(o);
        for (const op_index first : p_.order) {
            if (sign[first] == 0 || ordinary[first]) continue;
            const std::vector<op_index>& all = alike[sign[first]];
            std::vector<op_index> chain;
            for (const op_index o : all)
                if (o == first || (!chain.empty() && has(above_[made(o)], made(first)))) chain.push_back(o);
            for (const std::size_t length : {std::size_t{1}, std::size_t{2}}) {
                std::vector<op_index> states;
                for (std::size_t i = 0; i < chain.size(); i += length) states.push_back(chain[i]);
                ordinary_ = false;
                if (states.size() >= 2 && roll(states)) return true;
                if (ordinary_)
                    for (const op_index o : chain) ordinary[o] = true;
                if (budget_ == 0) return false;
            }
        }
        return false;
    }

    struct step {
        bits nodes;
        std::vector<op_index> ops;
        std::vector<buffer_id> reads;  ///< from outside, without the state before
    };
    /// The step as operators; false when it holds anything but plain operators, constants and inputs.
    bool describe(step& s, buffer_id before) const {
        std::vector<op_index> inside;
        for (std::size_t w = 0; w < s.nodes.size(); ++w)
            for (std::uint64_t left = s.nodes[w]; left != 0; left &= left - 1)
                if (const op_index o = p_.buffers[w * 64 + static_cast<std::size_t>(std::countr_zero(left))].producer; o != nothing) inside.push_back(o);
        std::sort(inside.begin(), inside.end(), [&](op_index a, op_index b) { return place_[a] < place_[b]; });
        for (const op_index o : inside) {
            if (!plain(o)) return false;
            s.ops.push_back(o);
            for (const buffer_id r : p_.ops[o].reads)
                if (r != before && !has(s.nodes, r)) s.reads.push_back(r);
        }
        std::sort(s.reads.begin(), s.reads.end());
        s.reads.erase(std::unique(s.reads.begin(), s.reads.end()), s.reads.end());
        return true;
    }
    bool same_shape(buffer_id a, buffer_id b) const {
        const auto &x = p_.buffers[a].shape, &y = p_.buffers[b].shape;
        if (x.size() != y.size()) return false;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (!same_extent(x[i], y[i])) return false;
        return true;
    }

    bool roll(std::vector<op_index> states) {
        std::vector<step> steps;
        for (std::size_t j = 0; j + 1 < states.size(); ++j) {
            step s{.nodes = without(above_[made(states[j + 1])], above_[made(states[j])]), .ops = {}, .reads = {}};
            if (budget_ == 0) return false;
            --budget_;
            if (!steps.empty() && count(s.nodes) != count(steps[0].nodes)) break;
            if (!has(above_[made(states[j + 1])], made(states[j])) || !describe(s, made(states[j]))) break;
            if (!steps.empty() && s.reads != steps[0].reads) break;
            steps.push_back(std::move(s));
        }
        if (steps.empty()) return false;
        states.resize(steps.size() + 1);
        // What the first state was made from.
        bits start = above_[made(states[0])];
        for (const buffer_id r : steps[0].reads) start = without(start, above_[r]);
        buffer_id seed = nothing;
        step first;
        for (buffer_id b = 0; b < p_.buffers.size(); ++b) {
            if (!has(start, b) || b == made(states[0]) || !same_shape(b, made(states[0]))) continue;
            step s{.nodes = without(start, above_[b]), .ops = {}, .reads = {}};
            if (count(s.nodes) != count(steps[0].nodes) || !describe(s, b) || s.reads != steps[0].reads) continue;
            if (seed != nothing) return false;
            seed = b, first = std::move(s);
        }
        if (seed == nothing) return false;
        steps.insert(steps.begin(), std::move(first));
        return build(states, steps, seed);
    }

    bool build(const std::vector<op_index>& states, const std::vector<step>& steps, buffer_id seed) {
        const std::size_t n = steps.size();
        const axis_id turn = v_.axis_in(nothing, number_dim(static_cast<std::int64_t>(n)), axis_role::step);
        splicer splice(p_, rewrite_);
        splice.limit(200000);
        std::vector<std::vector<op_index>> stores(n);
        alignment same(p_, rewrite_, turn, n);
        std::vector<std::vector<draft_store>> bodies(n);
        bool alone = true;  // nobody but the next step reads a state
        for (std::size_t j = 0; j < n; ++j) {
            const buffer_id before = j == 0 ? seed : made(states[j - 1]);
            stores[j].push_back(states[j]);
            std::vector<bool> inside(p_.ops.size(), false), next(p_.ops.size(), false);
            for (const op_index o : steps[j].ops) inside[o] = true;
            if (j + 1 < n)
                for (const op_index o : steps[j + 1].ops) next[o] = true;
            const auto outside = [&](op_index o) {
                bool out = p_.buffers[made(o)].output;
                for (const op_index r : p_.buffers[made(o)].readers) out = out || !inside[r];
                return out;
            };
            for (const op_index o : steps[j].ops)
                if (o != states[j] && outside(o) && has(above_[made(o)], before)) stores[j].push_back(o);
            if (stores[j].size() != stores[0].size()) return false;
            for (const op_index r : p_.buffers[made(states[j])].readers) alone = alone && (j + 1 == n || next[r]);
            splice.region_of.assign(p_.ops.size(), 0);
            for (op_index o = 0; o < p_.ops.size(); ++o) splice.region_of[o] = inside[o] ? 0 : o + 1;
            splice.forget();
            for (const op_index o : stores[j])
                bodies[j].push_back(splice.spliced({.op = o, .axes = p_.ops[o].axes, .index = p_.ops[o].index}, made(o), turn));
            if (splice.outgrown()) return false;
            same.state(j, before);
        }
        draft d{.stores = {}, .step = turn};
        for (std::size_t k = 0; k < stores[0].size(); ++k) {
            std::vector<value_id> values;
            for (std::size_t j = 0; j < n; ++j) {
                if (bodies[j][k].index != bodies[0][k].index || bodies[j][k].scope != bodies[0][k].scope) return false;
                values.push_back(bodies[j][k].stored);
            }
            draft_store s = bodies[0][k];
            s.stored = same.over_steps(values);
            if (s.stored == nothing) return false;
            if (k == 0) {
                draft_store carry = s;
                carry.carry = true;
                d.stores.push_back(carry);
            }
            s.index.insert(s.index.begin(), v_.axis_expr(turn));
            d.stores.push_back(s);
        }
        // A chain that looks nowhere but at its own cell is an ordinary chain of operators.
        if (stores[0].size() == 1 && alone && same.reads_only(bodies[0][0].index)) {
            ordinary_ = true;
            return false;
        }
        replace(states, steps, stores, seed, std::move(d));
        return true;
    }

    bool zeros(buffer_id b) const {
        for (std::size_t guard = 0; guard < p_.ops.size() + 1; ++guard) {
            const buffer_facts& x = p_.buffers[b];
            if (x.literal.kind != program::literal::form::none) return x.literal.as_double() == 0;
            if (x.producer == nothing || p_.ops[x.producer].plain_load == nothing) return false;
            b = p_.ops[x.producer].plain_load;
        }
        return false;
    }

    void replace(const std::vector<op_index>& states, const std::vector<step>& steps, const std::vector<std::vector<op_index>>& stores, buffer_id seed, draft d) {
        const std::size_t n = steps.size();
        const auto index = static_cast<op_index>(p_.ops.size());
        lifted_op rolled{.kind = lifted_kind::rolled, .axes = {}, .stores = {}, .index = {}, .reads = {}};
        const std::string base = p_.text(made(states[0])) + "__steps";
        for (std::size_t k = 0; k < stores[0].size(); ++k) {
            const buffer_facts& one = p_.buffers[made(stores[0][k])];
            buffer_facts all{.name = v_.names.intern(base + std::to_string(k)), .type = one.type, .shape = one.shape, .producer = index, .node = program::no_node, .readers = {}};
            all.shape.insert(all.shape.begin(), number_dim(static_cast<std::int64_t>(n)));
            rolled.stores.push_back(static_cast<buffer_id>(p_.buffers.size()));
            p_.buffers.push_back(std::move(all));
            for (draft_store& s : d.stores)
                if (s.buffer == made(stores[0][k])) s.buffer = rolled.stores.back();
        }
        if (!zeros(seed)) d.seed = seed;
        // It implements what is made from the state and kept by nobody else; the slices implement what they replace, and all of it.
        for (std::size_t j = 0; j < n; ++j)
            for (const op_index o : steps[j].ops) {
                const bool kept = std::find(stores[j].begin(), stores[j].end(), o) != stores[j].end();
                if (!kept && p_.ops[o].node != program::no_node && has(above_[made(o)], j == 0 ? seed : made(states[j - 1]))) rolled.rolled.push_back(p_.ops[o].node);
            }
        placement at(p_, d);
        std::set<buffer_id> reads;
        for (const value_id v : at.values())
            if (v_.at(v).kind == value_kind::load) reads.insert(v_.at(v).target);
        if (d.seed != nothing) reads.insert(d.seed);
        rolled.reads.assign(reads.begin(), reads.end());
        p_.ops.push_back(std::move(rolled));
        kernels[index] = std::move(d);
        // The old buffers become slices of the stacked ones.
        for (std::size_t k = 0; k < stores[0].size(); ++k)
            for (std::size_t j = 0; j < n; ++j) {
                const lifted_op old = p_.ops[stores[j][k]];
                const buffer_id from = p_.ops[index].stores[k];
                lifted_op slice{.axes = old.axes, .stores = old.stores, .index = old.index, .reads = {from}, .plain_load = from, .node = old.node, .rolled = p_.ops[index].rolled};
                std::vector<expr_id> where = old.index;
                where.insert(where.begin(), v_.exprs.integer(static_cast<std::int64_t>(j)));
                slice.stored = v_.load(from, where);
                p_.buffers[old.stores[0]].producer = static_cast<op_index>(p_.ops.size());
                p_.ops.push_back(std::move(slice));
            }
        settle(p_);
    }

public:
    /// Order, readers and liveness after operators were replaced: Kahn's algorithm with a heap of buffer names, inputs and constants included.
    static void settle(program_graph& p) {
        std::vector<bool> live(p.ops.size(), false);
        std::vector<op_index> todo;
        const auto want = [&](buffer_id b) {
            if (const op_index o = p.buffers[b].producer; o != nothing && !live[o]) live[o] = true, todo.push_back(o);
        };
        for (const buffer_id b : p.outputs) want(b);
        while (!todo.empty()) {
            const op_index o = todo.back();
            todo.pop_back();
            for (const buffer_id b : p.ops[o].reads) want(b);
        }
        for (buffer_facts& b : p.buffers) b.readers.clear();
        std::vector<std::size_t> waits(p.ops.size(), 0);
        std::vector<std::vector<op_index>> wakes(p.buffers.size());
        for (op_index o = 0; o < p.ops.size(); ++o)
            for (const buffer_id b : p.ops[o].reads)
                if (live[o]) wakes[b].push_back(o), ++waits[o];
        std::map<std::string_view, std::uint32_t> ready;  // a node: a buffer without producer, or an operator by its first buffer
        for (buffer_id b = 0; b < p.buffers.size(); ++b)
            if (p.buffers[b].producer == nothing) ready[p.values.names.text(p.buffers[b].name)] = b;
        for (op_index o = 0; o < p.ops.size(); ++o)
            if (live[o] && waits[o] == 0) ready[p.values.names.text(p.buffers[p.ops[o].stores[0]].name)] = p.ops[o].stores[0];
        p.order.clear();
        while (!ready.empty()) {
            const buffer_id b = ready.begin()->second;
            ready.erase(ready.begin());
            const op_index o = p.buffers[b].producer;
            std::vector<buffer_id> done{b};
            if (o != nothing) p.order.push_back(o), done = p.ops[o].stores;
            for (const buffer_id d : done)
                for (const op_index next : wakes[d])
                    if (--waits[next] == 0) ready[p.values.names.text(p.buffers[p.ops[next].stores[0]].name)] = p.ops[next].stores[0];
        }
        for (const op_index o : p.order)
            for (const buffer_id b : p.ops[o].reads) p.buffers[b].readers.push_back(o);
    }

private:
    program_graph& p_;
    value_graph& v_;
    rewriter& rewrite_;
    std::vector<bits> above_;
    std::vector<std::uint32_t> place_;  ///< of an operator in the order
    std::size_t budget_ = 0;
    bool ordinary_ = false;
};

}  // namespace emmy::loop::fusion
