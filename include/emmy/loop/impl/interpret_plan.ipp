#pragma once
#include <emmy/loop/impl/interpret_program.ipp>

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

/// Value graph to program: a nest of blocks in which every value stands as far outside as its dependences allow. A reduction that does
/// not vary with a loop around it, but with one further inside, is computed once into a table before that loop.
namespace emmy::loop::interp {

class planner {
public:
    planner(const model& m) : m_(m) {}

    result<plan> whole() {
        for (const write& w : m_.writes) need(w.value), need(w.address);
        for (const state& s : m_.states) need(s.value), need(s.address);
        start();
        eager_ = effects_ = true;
        walk(m_.top, none, {}, context_root());
        return finish();
    }
    result<plan> cell(std::uint32_t write) { return target({item::what::write, write}, m_.writes[write].loop, m_.writes[write].value); }
    result<plan> state_step(std::uint32_t state) { return target({item::what::carry, state}, m_.states[state].inner, m_.states[state].value); }

    /// Values that a target needs, directly or not, states through their Carry.
    std::vector<bool> needed(value_id target) {
        needed_.assign(m_.values.size(), false);
        through_states_ = true;
        need(target);
        return needed_;
    }

private:
    struct frame {
        int depth = -1;
        loop_id loop = none;
        std::uint32_t block = 0;
        std::int64_t count = 1;
        bool plain = true;  ///< a loop whose iterations may be repeated elsewhere
        reg axis = none;
        std::unordered_map<value_id, reg> values;
        std::unordered_map<std::uint32_t, reg> accumulators;
        std::unordered_map<value_id, std::uint32_t> tables;
    };
    using context = std::vector<frame*>;

    void need(value_id v) {
        std::vector<value_id> stack{v};
        needed_.resize(m_.values.size());
        while (!stack.empty()) {
            const value_id at = stack.back();
            stack.pop_back();
            if (at == none || needed_[at]) continue;
            needed_[at] = true;
            const value& x = m_.values[at];
            if (x.kind == value_kind::final || x.kind == value_kind::running) {
                const accumulator& a = m_.accumulators[x.aux];
                stack.push_back(a.start), stack.push_back(a.final);
                for (const update& u : m_.updates)
                    if (u.accumulator == x.aux) {
                        stack.push_back(u.value), stack.push_back(u.base);
                        for (loop_id l = u.loop; l != a.loop && l != none; l = m_.loops[l].parent) stack.push_back(m_.loops[l].condition);
                    }
                const loop_node& l = m_.loops[a.loop];
                stack.push_back(l.start), stack.push_back(l.step), stack.push_back(l.end);
            } else if (x.kind == value_kind::pre) {
                stack.push_back(x.a);
                if (through_states_) stack.push_back(m_.states[x.aux].value);
            } else {
                stack.push_back(x.a), stack.push_back(x.b), stack.push_back(x.c);
            }
        }
    }

    void start() {
        needed_.resize(m_.values.size());
        frames_.clear();
        out_ = plan{};
        out_.blocks.emplace_back();
        frames_.push_back(std::make_unique<frame>());
        in_order_.assign(1, true);
    }
    context context_root() { return {frames_[0].get()}; }

    reg new_reg(std::uint32_t block) {
        home_.push_back(block);
        return static_cast<reg>(home_.size() - 1);
    }
    step& append(frame& f, step s, std::uint64_t varies) {
        s.varies = varies;
        out_.blocks[f.block].steps.push_back(s);
        return out_.blocks[f.block].steps.back();
    }
    frame& open(int depth, loop_id l) {
        frames_.push_back(std::make_unique<frame>());
        frame& f = *frames_.back();
        f.depth = depth, f.loop = l, f.block = static_cast<std::uint32_t>(out_.blocks.size());
        out_.blocks.emplace_back();
        in_order_.push_back(false);
        return f;
    }

    std::size_t level(std::uint64_t dep, const context& c) const {
        for (std::size_t i = c.size(); i-- > 1;)
            if ((dep >> c[i]->depth & 1) != 0) return i;
        return 0;
    }

    reg emit(value_id id, const context& c) {
        const value& x = m_.values[id];
        if (failed_) return 0;
        if (x.kind == value_kind::integer || x.kind == value_kind::real) {
            const auto [it, fresh] = constants_.try_emplace(id, 0);
            if (fresh) {
                it->second = new_reg(0);
                if (x.kind == value_kind::integer) out_.integers.emplace_back(it->second, x.imm);
                else out_.reals.emplace_back(it->second, x.real);
            }
            return it->second;
        }
        if (x.kind == value_kind::running) {
            for (std::size_t i = c.size(); i-- > 0;)
                if (const auto found = c[i]->accumulators.find(x.aux); found != c[i]->accumulators.end()) return found->second;
            return fail("a running accumulator is read outside its loop");
        }
        const std::size_t at = level(x.dep, c);
        frame& f = *c[at];
        if (const auto found = f.values.find(id); found != f.values.end()) return found->second;
        if (x.kind == value_kind::axis) return fail("an axis is read outside its loop");
        if (++nesting_ > 20000) return fail("values depend on each other in a chain of more than 20000");
        const context here(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        reg out = 0;
        if (x.kind == value_kind::final) {
            out = final_value(id, here);
        } else {
            step s;
            s.kind = x.kind, s.op = x.op, s.bop = x.bop, s.type = x.type, s.from = x.from, s.is_integer = x.is_integer;
            s.aux = x.aux, s.buffer = x.buffer, s.dimension = x.dimension, s.imm = x.imm, s.extent = x.extent, s.stmt = x.stmt;
            if (x.a != none) s.a = emit(x.a, here);
            if (x.kind == value_kind::pre) {
                s.imm = x.b == 0 ? 0 : 1;
                if (!eager_ && x.b != none) outer_axes(x, s, here);
            } else {
                if (x.b != none) s.b = emit(x.b, here);
                if (x.c != none) s.c = emit(x.c, here);
            }
            out = s.dst = new_reg(f.block);
            append(f, s, x.dep);
        }
        --nesting_;
        f.values[id] = out;
        return out;
    }
    /// A state read on demand names its step by the axes around it.
    void outer_axes(const value& x, step& s, const context& c) {
        const state& st = m_.states[x.aux];
        std::vector<reg> axes;
        for (loop_id l : m_.chain(st.loop)) {
            if (m_.loops[l].is_branch()) continue;
            if (l == st.loop && x.b == 0) break;
            axes.push_back(emit(m_.loops[l].axis_value, c));
        }
        out_.outer.push_back(axes);
        s.extent = static_cast<std::int64_t>(out_.outer.size() - 1);
    }
    reg fail(std::string text) {
        if (!failed_) failed_ = true, failure_ = std::move(text);
        return 0;
    }

    // ---- reductions
    std::vector<std::uint32_t> together(const accumulator& a) const {
        const loop_node& l = m_.loops[a.loop];
        std::vector<std::uint32_t> out;
        for (std::uint32_t other : l.accumulators)
            if (needed_[m_.accumulators[other].final] && (l.running_read || m_.accumulators[other].dep == a.dep)) out.push_back(other);
        return out;
    }
    reg final_value(value_id id, const context& c) {
        const accumulator& a = m_.accumulators[m_.values[id].aux];
        const std::vector<std::uint32_t> group = together(a);
        // A hole: a loop around that the value does not vary with, though it varies with one further inside.
        std::size_t hole = 0;
        for (std::size_t i = 1; i < c.size() && hole == 0; ++i)
            if ((a.dep >> c[i]->depth & 1) == 0 && c[i]->plain) hole = i;
        std::uint64_t size = 1;
        bool possible = hole != 0 && !a.ordered;
        for (std::size_t i = hole + 1; possible && i < c.size(); ++i) {
            if ((a.dep >> c[i]->depth & 1) == 0) continue;
            possible = c[i]->plain;
            size = times(size, static_cast<std::uint64_t>(c[i]->count));
        }
        if (possible && size <= (1u << 22)) {
            fill_tables(group, a.dep, hole, size, c);
            for (std::uint32_t g : group) {
                const value_id final = m_.accumulators[g].final;
                frame& f = *c.back();
                step s;
                s.code = code::table_load, s.aux = c[hole - 1]->tables.at(final), s.a = table_place(c, hole, a.dep, f);
                s.dst = new_reg(f.block), s.is_integer = m_.accumulators[g].is_integer;
                append(f, s, a.dep);
                f.values[final] = s.dst;
            }
            return c.back()->values.at(id);
        }
        reduce(a.loop, group, a.dep, c);
        return c.back()->values.at(id);
    }
    /// Row-major place in a table over the loops behind the hole that the value varies with.
    reg table_place(const context& c, std::size_t hole, std::uint64_t dep, frame& f) {
        reg sum = none;
        std::int64_t stride = 1;
        for (std::size_t i = c.size(); i-- > hole;) {
            if ((dep >> c[i]->depth & 1) == 0) continue;
            step s;
            s.kind = value_kind::address, s.a = sum, s.b = c[i]->axis, s.imm = stride, s.extent = c[i]->count, s.dst = new_reg(f.block), s.is_integer = true;
            stride *= c[i]->count;
            sum = append(f, s, dep).dst;
        }
        return sum;
    }
    void fill_tables(const std::vector<std::uint32_t>& group, std::uint64_t dep, std::size_t hole, std::uint64_t size, const context& c) {
        if (c[hole - 1]->tables.count(m_.accumulators[group[0]].final) != 0) return;
        context inner(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(hole));
        for (std::size_t i = hole + 1; i < c.size(); ++i) {
            if ((dep >> c[i]->depth & 1) == 0) continue;
            frame& f = open(c[i]->depth, c[i]->loop);
            f.count = c[i]->count, f.axis = new_reg(f.block);
            f.values[m_.loops[f.loop].axis_value] = f.axis;
            inner.push_back(&f);
        }
        frame& last = *inner.back();
        for (std::uint32_t g : group) {
            const value_id final = m_.accumulators[g].final;
            step s;
            s.code = code::table_store, s.a = emit(final, inner), s.aux = static_cast<std::uint32_t>(out_.tables.size());
            s.b = table_place(inner, hole, dep, last);
            out_.tables.push_back(size);
            append(last, s, dep);
            c[hole - 1]->tables[final] = s.aux;
        }
        for (; inner.size() > hole; inner.pop_back()) {
            frame& f = *inner.back();
            close(f, *inner[inner.size() - 2], dep, [&](nest& n) { n.axis = f.axis, n.count = f.count; });
        }
    }
    template <class Adjust>
    void close(frame& f, frame& parent, std::uint64_t varies, const Adjust& adjust) {
        nest n;
        n.block = f.block, n.in_order = in_order_[f.block];
        adjust(n);
        step s;
        s.code = code::nest, s.aux = static_cast<std::uint32_t>(out_.nests.size());
        out_.nests.push_back(std::move(n));
        append(parent, s, varies);
    }
    void seed(const std::vector<std::uint32_t>& group, frame& inside, frame& parent, std::uint64_t varies, const context& c) {
        for (std::uint32_t g : group) {
            const accumulator& a = m_.accumulators[g];
            step s;
            s.code = code::seed, s.dst = new_reg(parent.block), s.real = a.seed, s.is_integer = a.is_integer;
            if (a.start != none) s.a = emit(a.start, c);
            inside.accumulators[g] = s.dst;
            append(parent, s, varies);
        }
    }
    void set_range(nest& n, const loop_node& l, const context& c) {
        n.count = l.extent;
        if (l.is_strided()) n.start = emit(l.start, c), n.step = emit(l.step, c), n.end = emit(l.end, c);
    }
    /// One reduce loop with some of its accumulators, in the block of the last frame.
    void reduce(loop_id id, const std::vector<std::uint32_t>& group, std::uint64_t varies, context c) {
        const loop_node& l = m_.loops[id];
        frame& parent = *c.back();
        frame& f = open(l.depth, id);
        nest range;
        set_range(range, l, c);
        f.count = l.extent, f.plain = !l.is_strided() && !l.running_read && l.states.empty();
        f.axis = new_reg(f.block);
        f.values[l.axis_value] = f.axis;
        in_order_[f.block] = l.running_read || l.is_strided();
        seed(group, f, parent, varies, c);
        c.push_back(&f);
        const bool effects = std::exchange(effects_, false);
        walk(l.items, id, group, c);
        effects_ = effects;
        close(f, parent, varies, [&](nest& n) { const auto b = n.block; const bool o = n.in_order; n = range, n.block = b, n.in_order = o, n.axis = f.axis; });
        for (std::uint32_t g : group) parent.values[m_.accumulators[g].final] = f.accumulators.at(g);
    }

    bool updates(loop_id branch, const std::vector<std::uint32_t>& group) const {
        for (const item& i : m_.loops[branch].items) {
            if (i.kind == item::what::update && std::find(group.begin(), group.end(), m_.updates[i.id].accumulator) != group.end()) return true;
            if (i.kind == item::what::loop && m_.loops[i.id].is_branch() && updates(i.id, group)) return true;
        }
        return false;
    }
    /// Statements of a loop body in their order; what is only computed on demand is skipped.
    void walk(const std::vector<item>& items, loop_id in, const std::vector<std::uint32_t>& group, const context& c) {
        loop_id real = in;
        while (real != none && m_.loops[real].is_branch()) real = m_.loops[real].parent;
        const bool ordered = real != none && m_.loops[real].running_read;
        for (const item& i : items) {
            if (failed_) return;
            switch (i.kind) {
                case item::what::value:
                    if (ordered && needed_[i.id] && m_.values[i.id].ordered) emit(i.id, c);
                    break;
                case item::what::update: {
                    const update& u = m_.updates[i.id];
                    if (std::find(group.begin(), group.end(), u.accumulator) == group.end()) break;
                    const accumulator& a = m_.accumulators[u.accumulator];
                    step s;
                    s.code = code::accumulate, s.op = a.op, s.type = a.type, s.is_integer = a.is_integer, s.stmt = u.stmt;
                    s.a = emit(u.value, c);
                    if (u.base != none) s.b = emit(u.base, c);
                    for (std::size_t k = c.size(); k-- > 0 && s.dst == none;)
                        if (const auto found = c[k]->accumulators.find(u.accumulator); found != c[k]->accumulators.end()) s.dst = found->second;
                    append(*c.back(), s, ~0ull);
                    break;
                }
                case item::what::write:
                    if (effects_) {
                        const write& w = m_.writes[i.id];
                        step s;
                        s.code = code::write, s.aux = w.output, s.atomic = w.atomic, s.stmt = w.stmt;
                        s.is_integer = m_.values[w.value].is_integer, s.from = m_.values[w.value].type;
                        s.a = emit(w.address, c), s.b = emit(w.value, c);
                        append(*c.back(), s, ~0ull);
                    } else if (target_.kind == i.kind && target_.id == i.id) {
                        capture(c);
                    }
                    break;
                case item::what::carry:
                    if (effects_) {
                        const state& st = m_.states[i.id];
                        step s;
                        s.code = code::carry, s.aux = i.id, s.stmt = st.carry;
                        s.a = emit(st.address, c), s.b = emit(st.value, c);
                        append(*c.back(), s, ~0ull);
                    } else if (target_.kind == i.kind && target_.id == i.id) {
                        capture(c);
                    }
                    break;
                case item::what::loop: nested(i.id, ordered, group, c); break;
            }
        }
    }
    void nested(loop_id id, bool ordered, const std::vector<std::uint32_t>& group, const context& c) {
        const loop_node& l = m_.loops[id];
        if (!eager_ && std::find(path_.begin(), path_.end(), id) != path_.end()) return descend(id, c);
        if (l.is_branch()) {
            if ((effects_ && l.effects) || updates(id, group)) branch(id, c, [&](const context& inside) { walk(l.items, id, group, inside); });
        } else if (effects_ && l.effects) {
            effects(id, c);
        } else if (ordered) {
            for (std::uint32_t a : l.accumulators)
                if (const value_id final = m_.accumulators[a].final; needed_[final] && m_.values[final].ordered) emit(final, c);
        }
    }
    template <class Inside>
    void branch(loop_id id, context c, const Inside& inside) {
        const loop_node& l = m_.loops[id];
        frame& parent = *c.back();
        const reg condition = emit(l.condition, c);
        frame& f = open(l.depth, id);
        f.plain = false;
        in_order_[f.block] = true;
        c.push_back(&f);
        inside(c);
        close(f, parent, ~0ull, [&](nest& n) { n.condition = condition, n.negated = l.negated; });
    }
    std::vector<std::uint32_t> needed_accumulators(const loop_node& l) const {
        std::vector<std::uint32_t> out;
        for (std::uint32_t a : l.accumulators)
            if (needed_[m_.accumulators[a].final]) out.push_back(a);
        return out;
    }
    /// A loop that writes or carries: stands where the body has it.
    void effects(loop_id id, context c) {
        const loop_node& l = m_.loops[id];
        frame& parent = *c.back();
        const std::vector<std::uint32_t> group = l.running_read ? needed_accumulators(l) : std::vector<std::uint32_t>{};
        frame& f = open(l.depth, id);
        nest range;
        set_range(range, l, c);
        f.count = l.extent, f.plain = !l.is_strided() && !l.running_read && l.states.empty();
        f.axis = new_reg(f.block);
        f.values[l.axis_value] = f.axis;
        in_order_[f.block] = l.running_read || l.is_strided() || !l.states.empty();
        seed(group, f, parent, ~0ull, c);
        c.push_back(&f);
        walk(l.items, id, group, c);
        close(f, parent, ~0ull, [&](nest& n) { const auto b = n.block; const bool o = n.in_order; n = range, n.block = b, n.in_order = o, n.axis = f.axis, n.states = l.states; });
    }

    // ---- one cell
    result<plan> target(item which, loop_id innermost, value_id wanted) {
        need(wanted);
        start();
        target_ = which;
        wanted_ = wanted;
        path_ = m_.chain(innermost);
        frame& root = *frames_[0];
        for (loop_id l : path_)
            if (!m_.loops[l].is_branch()) {
                const reg r = new_reg(0);
                out_.parameters.emplace_back(l, r);
                if (!runs_prefix(l)) root.values[m_.loops[l].axis_value] = r;
            }
        if (path_.empty()) capture(context_root());
        else descend(path_[0], context_root());
        return finish();
    }
    /// The target reads an accumulator of a loop around it: that loop runs up to the cell's step.
    bool runs_prefix(loop_id l) const {
        for (value_id v = 0; v < m_.values.size(); ++v)
            if (needed_[v] && m_.values[v].kind == value_kind::running && m_.accumulators[m_.values[v].aux].loop == l) return true;
        return false;
    }
    void descend(loop_id id, context c) {
        const loop_node& l = m_.loops[id];
        const bool last = id == path_.back();
        const loop_id next = last ? none : path_[static_cast<std::size_t>(std::find(path_.begin(), path_.end(), id) - path_.begin()) + 1];
        if (l.is_branch()) {
            branch(id, c, [&](const context& inside) { last ? capture(inside) : descend(next, inside); });
        } else if (!runs_prefix(id)) {
            last ? capture(c) : descend(next, c);
        } else {
            frame& parent = *c.back();
            frame& f = open(l.depth, id);
            nest range;
            set_range(range, l, c);
            f.plain = false;
            f.axis = new_reg(f.block);
            f.values[l.axis_value] = f.axis;
            in_order_[f.block] = true;
            const std::vector<std::uint32_t> group = needed_accumulators(l);
            seed(group, f, parent, ~0ull, c);
            c.push_back(&f);
            walk(l.items, id, group, c);
            reg limit = none;
            for (const auto& [loop, r] : out_.parameters)
                if (loop == id) limit = r;
            close(f, parent, ~0ull, [&](nest& n) { const auto b = n.block; n = range, n.block = b, n.in_order = true, n.axis = f.axis, n.limit = limit; });
        }
    }
    void capture(const context& c) {
        step s;
        s.code = code::capture, s.a = emit(wanted_, c), s.is_integer = m_.values[wanted_].is_integer, s.from = m_.values[wanted_].type;
        append(*c.back(), s, ~0ull);
    }

    // ---- registers
    result<plan> finish() {
        if (failed_) return refuse(fault_kind::internal, failure_);
        std::vector<bool> lanes(out_.blocks.size(), false);
        for (const nest& n : out_.nests) {
            bool straight = !n.in_order && n.condition == none && n.limit == none && n.start == none && n.states.empty();
            std::unordered_set<std::uint64_t> targets;
            for (const step& s : out_.blocks[n.block].steps) {
                straight = straight && s.code != code::nest && s.code != code::capture && s.code != code::seed && !(s.code == code::accumulate && s.b != none);
                if (s.code == code::write || s.code == code::carry) straight = straight && targets.insert(static_cast<std::uint64_t>(s.code) << 32 | s.aux).second;
            }
            lanes[n.block] = straight && n.count > 1;
        }
        std::vector<reg> place(home_.size());
        for (std::size_t r = 0; r < home_.size(); ++r) {
            place[r] = static_cast<reg>(out_.slots);
            out_.slots += lanes[home_[r]] ? plan::lane_count : 1;
        }
        const auto fix = [&](reg& r, std::uint8_t* stride) {
            if (r == none) return;
            if (stride != nullptr) *stride = lanes[home_[r]] ? 1 : 0;
            r = place[r];
        };
        for (std::size_t b = 0; b < out_.blocks.size(); ++b) {
            block& bl = out_.blocks[b];
            bl.lanes = lanes[b];
            for (step& s : bl.steps) {
                fix(s.dst, &s.sd), fix(s.a, &s.sa), fix(s.b, &s.sb), fix(s.c, &s.sc);
                if (s.code == code::accumulate || s.code == code::write || s.code == code::carry || s.code == code::capture || (s.code == code::value && s.stmt != none && s.kind != value_kind::address) ||
                    (s.code == code::value && (s.kind == value_kind::choose || s.kind == value_kind::round)))
                    ++bl.weight;
            }
        }
        for (nest& n : out_.nests) fix(n.axis, nullptr), fix(n.limit, nullptr), fix(n.start, nullptr), fix(n.step, nullptr), fix(n.end, nullptr), fix(n.condition, nullptr);
        for (auto& [r, v] : out_.integers) r = place[r];
        for (auto& [r, v] : out_.reals) r = place[r];
        for (auto& [l, r] : out_.parameters) r = place[r];
        for (auto& axes : out_.outer)
            for (reg& r : axes) outer_fix_.push_back(lanes[home_[r]]), r = place[r];
        std::size_t k = 0;
        for (auto& axes : out_.outer)
            for (reg& r : axes)
                if (outer_fix_[k++]) r |= 0x80000000u;  // one per lane
        return std::move(out_);
    }

    const model& m_;
    plan out_;
    std::vector<std::unique_ptr<frame>> frames_;
    std::vector<std::uint32_t> home_;  // block that sets a register
    std::vector<bool> in_order_;       // per block
    std::vector<bool> outer_fix_;
    std::unordered_map<value_id, reg> constants_;
    std::vector<bool> needed_;
    std::vector<loop_id> path_;
    value_id wanted_ = none;
    item target_{item::what::loop, none};  ///< the Write or Carry that a cell plan captures
    bool eager_ = false;                   ///< states are kept in two slots, not read on demand
    bool effects_ = false;                 ///< writes and carries are emitted
    bool through_states_ = false, failed_ = false;
    int nesting_ = 0;
    std::string failure_;
};

}  // namespace emmy::loop::interp
