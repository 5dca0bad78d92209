#pragma once
#include <emmy/loop/dims.hpp>
#include <emmy/loop/impl/interpret_values.ipp>
#include <emmy/loop/infer.hpp>
#include <emmy/loop/op_table.hpp>

#include <algorithm>

/// Flat body to value graph: names become values, index expressions become values, types and dependences are settled.
namespace emmy::loop::interp {

class resolver : value_builder {
public:
    resolver(const kernel& k, const interpret_options& options, model& out) : value_builder(k.body, out), k_(k), options_(options) {}

    result<void> resolve() {
        m_.mode = options_.mode;
        m_.body = k_.body;
        EMMY_CHECK_OK(sizes());
        EMMY_CHECK_OK(buffers(k_.inputs, m_.inputs));
        EMMY_CHECK_OK(buffers(k_.outputs, m_.outputs));
        visible_.assign(b_.names.size(), none);
        std::vector<stmt_id> chain;
        EMMY_CHECK_OK(find_states(b_.top, chain));
        EMMY_CHECK_OK(statements(b_.top, none, 1));
        return {};
    }

private:
    // ---- sizes and buffers
    result<void> sizes() {
        const std::vector<name_id> known = symbols(k_);
        for (name_id s : known) sizes_[s] = hint_of(k_, s);
        for (const symbol_size& given : options_.sizes) {
            const name_id id = b_.names.find(given.symbol);
            if (std::find(known.begin(), known.end(), id) == known.end())
                return refuse(fault_kind::user, "the kernel has no symbol " + given.symbol + (known.empty() ? ": all its sizes are numbers" : ""), given.symbol);
            if (given.size < 1) return refuse(fault_kind::user, "found " + std::to_string(given.size) + ", expected a size of at least 1", given.symbol);
            sizes_[id] = given.size;
        }
        return {};
    }
    result<std::int64_t> size_of(const dim& d, std::string_view place) const {
        const auto n = evaluate_dim(d, b_.exprs, [&](name_id s) -> std::optional<std::int64_t> {
            const auto found = sizes_.find(s);
            return found == sizes_.end() ? std::nullopt : std::optional(found->second);
        });
        if (!n || *n < 1 || *n > (std::int64_t{1} << 48)) return refuse(fault_kind::input, "found a size that is no number from 1 to 2^48", std::string(place));
        return *n;
    }
    result<void> buffers(const std::vector<buffer>& from, std::vector<bound_buffer>& to) const {
        for (const buffer& f : from) {
            bound_buffer out{std::string(b_.text(f.name)), f.type, {}, 1};
            for (const dim& d : f.shape) {
                EMMY_TRY(n, size_of(d, out.name));
                if (n > (std::int64_t{1} << 56) / out.elements) return refuse(fault_kind::input, "found more than 2^56 elements", out.name);
                out.shape.push_back(n);
                out.elements *= n;
            }
            to.push_back(std::move(out));
        }
        return {};
    }
    static std::uint32_t place(const std::vector<buffer>& list, name_id name) {
        for (std::uint32_t i = 0; i < list.size(); ++i)
            if (list[i].name == name) return i;
        return none;
    }

    // ---- statements
    void define(name_id name, value_id v) {
        undo_.emplace_back(name, visible_[name]);
        visible_[name] = v;
    }
    void leave(std::size_t mark) {
        for (; undo_.size() > mark; undo_.pop_back()) visible_[undo_.back().first] = undo_.back().second;
    }
    result<value_id> named(name_id name, stmt_id s) const {
        if (visible_[name] == none) return bad(s, "found " + std::string(b_.text(name)) + ", expected a name that is visible here");
        return visible_[name];
    }

    /// Which loop carries each state, and its shape: a Pre may stand before the Carry.
    result<void> find_states(loop::run r, std::vector<stmt_id>& chain) {
        for (stmt_id id : b_.statements(r)) {
            const stmt& s = b_.stmts[id];
            const bool is_loop = s.kind == stmt_kind::loop || s.kind == stmt_kind::strided_loop;
            if (is_loop || s.kind == stmt_kind::cond) {
                if (is_loop) chain.push_back(id);
                EMMY_CHECK_OK(find_states(s.body, chain));
                EMMY_CHECK_OK(find_states(s.else_body, chain));
                if (is_loop) chain.pop_back();
            }
            if (s.kind != stmt_kind::carry) continue;
            state out;
            out.name = s.name, out.carry = id, out.seed = s.seed_number;
            if (s.type != dtype::none) out.type = s.type;
            if (s.seed_is_buffer) out.seed_input = place(k_.inputs, s.buffer);
            for (expr_id e : b_.expressions(s.index)) {
                const expr& x = b_.exprs[e];
                out.cell_axes.push_back(x.kind == expr_kind::name ? x.name : no_name);
                out.shape.push_back(1);
                for (stmt_id l : chain)
                    if (x.kind == expr_kind::name && b_.stmts[l].axis.name == x.name) {
                        if (b_.stmts[l].kind == stmt_kind::strided_loop) return bad(id, "found a state over a strided loop: it is not interpreted");
                        EMMY_TRY(n, size_of(b_.stmts[l].axis.extent, b_.text(x.name)));
                        out.shape.back() = n;
                    }
            }
            stmt_id carrying = none;
            for (auto l = chain.rbegin(); l != chain.rend() && carrying == none; ++l)
                if (std::find(out.cell_axes.begin(), out.cell_axes.end(), b_.stmts[*l].axis.name) == out.cell_axes.end()) carrying = *l;
            if (carrying == none) return bad(id, "found a Carry whose every loop is a cell, expected a carrying loop");
            if (b_.stmts[carrying].kind == stmt_kind::strided_loop) return bad(id, "found a strided carrying loop: it is not interpreted");
            if (out.elements() > (1ull << 32)) return bad(id, "found a state of more than 2^32 cells");
            carried_.emplace(carrying, static_cast<std::uint32_t>(m_.states.size()));
            m_.states.push_back(std::move(out));
        }
        return {};
    }
    /// Accums of a loop body; under a Cond they do not start with the loop, but go on from what Init gave.
    void find_accumulators(loop::run r, bool direct, std::vector<std::pair<stmt_id, bool>>& out) const {
        for (stmt_id id : b_.statements(r)) {
            const stmt& s = b_.stmts[id];
            if (s.kind == stmt_kind::accum) out.emplace_back(id, direct);
            if (s.kind == stmt_kind::cond) find_accumulators(s.body, false, out), find_accumulators(s.else_body, false, out);
        }
    }
    std::vector<item>& items(loop_id l) { return l == none ? m_.top : m_.loops[l].items; }
    void mark_effects(loop_id l) {
        for (; l != none; l = m_.loops[l].parent) m_.loops[l].effects = true;
    }

    result<void> statements(loop::run r, loop_id in, std::uint64_t executions) {
        for (stmt_id id : b_.statements(r)) {
            const stmt& s = b_.stmts[id];
            const bool nests = s.kind == stmt_kind::loop || s.kind == stmt_kind::strided_loop || s.kind == stmt_kind::cond;
            if (!nests) m_.run_cost = plus(m_.run_cost, executions);
            EMMY_CHECK_OK(nests ? nested(id, in, executions) : simple(id, in));
        }
        return {};
    }

    result<void> nested(stmt_id id, loop_id in, std::uint64_t executions) {
        const stmt& s = b_.stmts[id];
        if (m_.depth_below(in) >= 62) return bad(id, "found loops nested deeper than 62");
        if (s.kind == stmt_kind::cond) {
            EMMY_TRY(condition, expression(s.value, id));
            for (bool negated : {false, true}) {
                if (negated && s.else_body.count == 0) continue;
                loop_node branch;
                branch.stmt = id, branch.parent = in, branch.depth = m_.depth_below(in), branch.condition = truth(condition), branch.negated = negated;
                const auto l = static_cast<loop_id>(m_.loops.size());
                m_.loops.push_back(std::move(branch));
                const std::size_t mark = undo_.size();
                EMMY_CHECK_OK(statements(negated ? s.else_body : s.body, l, executions));
                leave(mark);
                items(in).push_back({item::what::loop, l});
            }
            return {};
        }
        const auto l = static_cast<loop_id>(m_.loops.size());
        loop_node node;
        node.stmt = id, node.parent = in, node.depth = m_.depth_below(in), node.axis = s.axis.name;
        EMMY_TRY(extent, size_of(s.axis.extent, b_.text(s.axis.name)));
        node.extent = node.uncut = extent;
        std::uint64_t dep = 1ull << node.depth;
        if (s.kind == stmt_kind::strided_loop) {
            EMMY_TRY(start, expression(s.value, id));
            EMMY_TRY(step, expression(s.step, id));
            node.start = as_integer(start), node.step = as_integer(step), node.end = integer(extent);
            if (s.end != no_expr) {
                EMMY_TRY(end, expression(s.end, id));
                node.end = as_integer(end);
            }
            dep |= at(node.start).dep | at(node.step).dep | at(node.end).dep;
        }
        std::vector<std::pair<stmt_id, bool>> accums;
        find_accumulators(s.body, true, accums);
        std::stable_partition(accums.begin(), accums.end(), [](const auto& a) { return a.second; });
        for (auto [it, end] = carried_.equal_range(id); it != end; ++it) node.states.push_back(it->second), m_.states[it->second].loop = l;
        node.reduces = !accums.empty() || !node.states.empty();
        if (node.reduces && options_.reduce_steps > 0) node.extent = std::min(node.extent, options_.reduce_steps);
        value axis;
        axis.kind = value_kind::axis, axis.aux = l, axis.dep = dep;
        node.axis_value = add(axis, false);
        m_.loops.push_back(std::move(node));

        const std::size_t mark = undo_.size();
        define(s.axis.name, m_.loops[l].axis_value);
        for (const auto& [a, direct] : accums) EMMY_CHECK_OK(start_accumulator(a, l, s.seed && direct));
        EMMY_CHECK_OK(statements(s.body, l, times(executions, static_cast<std::uint64_t>(extent))));
        leave(mark);
        items(in).push_back({item::what::loop, l});
        finish_accumulators(l);
        return {};
    }

    result<void> start_accumulator(stmt_id id, loop_id l, bool seeded) {
        const stmt& s = b_.stmts[id];
        for (std::uint32_t a : m_.loops[l].accumulators)
            if (m_.accumulators[a].name == s.name) return {};
        accumulator out;
        out.name = s.name, out.loop = l, out.op = s.op, out.stmt = id;
        out.type = s.type != dtype::none && !reads_as_integer(s.type) ? rounding(s.type) : s.type;
        if (!seeded) {
            out.start = visible_[s.name];
            if (out.start == none || (at(out.start).dep >> m_.loops[l].depth) != 0) return bad(id, "found an accumulator that was started outside another loop around this one: it is not interpreted");
        }
        const double identity = facts(s.op).identity;
        out.seed = identity;
        const auto a = static_cast<std::uint32_t>(m_.accumulators.size());
        m_.accumulators.push_back(out);
        m_.loops[l].accumulators.push_back(a);
        define(s.name, running(a, l));
        return {};
    }
    value_id running(std::uint32_t a, loop_id l) {
        value v;
        v.kind = value_kind::running, v.aux = a, v.dep = 1ull << m_.loops[l].depth, v.ordered = true;
        // Read before its first update (base) a maximum counts as f32; everything else knows its type by then.
        v.type = m_.accumulators[a].type == dtype::none ? dtype::f32 : m_.accumulators[a].type;
        v.is_integer = reads_as_integer(v.type);
        return add(v, false);
    }
    void settle_accumulator(accumulator& a, dtype value) {
        if (a.type == dtype::none) a.type = infer_accum(a.op, value);
        if (a.type != dtype::none && reads_as_integer(a.type) && m_.loops[a.loop].running_read && m_.body.stmts[a.stmt].type == dtype::none) a.type = dtype::f32;
        if (!reads_as_integer(a.type)) a.type = rounding(a.type);
        a.is_integer = reads_as_integer(a.type);
        a.seed = a.is_integer ? static_cast<double>(real_to_integer(a.type, a.seed)) : round_to(a.type, a.seed);
    }
    void finish_accumulators(loop_id l) {
        const loop_node& node = m_.loops[l];
        const std::uint64_t outer = (1ull << node.depth) - 1;
        std::uint64_t all = 0;
        bool any_ordered = false;
        for (std::uint32_t id : node.accumulators) {
            accumulator& a = m_.accumulators[id];
            a.dep = node.axis_value == none ? 0 : at(node.axis_value).dep;
            if (a.start != none) a.dep |= at(a.start).dep, a.ordered = a.ordered || at(a.start).ordered;
            for (const update& u : m_.updates) {
                if (u.accumulator != id) continue;
                a.dep |= at(u.value).dep | (u.base != none ? at(u.base).dep : 0);
                a.ordered = a.ordered || reads_outer_order(u.value, l) || (u.base != none && reads_outer_order(u.base, l));
                for (loop_id branch = u.loop; branch != l && branch != none; branch = m_.loops[branch].parent) a.dep |= at(m_.loops[branch].condition).dep;
            }
            a.dep &= outer;
            all |= a.dep, any_ordered = any_ordered || a.ordered;
        }
        for (std::uint32_t id : node.accumulators) {
            accumulator& a = m_.accumulators[id];
            if (node.running_read) a.dep = all, a.ordered = a.ordered || any_ordered;
            value v;
            v.kind = value_kind::final, v.aux = id, v.type = a.type, v.is_integer = a.is_integer, v.dep = a.dep, v.ordered = a.ordered;
            a.final = add(v, false);
            define(a.name, a.final);
        }
    }
    /// Ordered through something other than the accumulators of loop l itself: conservative.
    bool reads_outer_order(value_id v, loop_id l) const { return at(v).ordered && !(m_.loops[l].running_read && m_.loops[l].states.empty() && only_own_running(v, l, 0)); }
    bool only_own_running(value_id v, loop_id l, int depth) const {
        if (v == none || !at(v).ordered) return true;
        if (depth > 64) return false;
        const value& x = at(v);
        if (x.kind == value_kind::running) return m_.accumulators[x.aux].loop == l;
        if (x.kind == value_kind::pre || x.kind == value_kind::final) return false;
        return only_own_running(x.a, l, depth + 1) && only_own_running(x.b, l, depth + 1) && only_own_running(x.c, l, depth + 1);
    }
    result<void> simple(stmt_id id, loop_id in) {
        const stmt& s = b_.stmts[id];
        switch (s.kind) {
            case stmt_kind::load: return load(id, in);
            case stmt_kind::assign: return assign(id, in);
            case stmt_kind::accum: return accum(id, in);
            case stmt_kind::select: return select(id, in);
            case stmt_kind::write: return write_out(id, in);
            case stmt_kind::let: {
                EMMY_TRY(v, expression(s.value, id));
                value_id out = v;
                if (s.type != dtype::none) out = to_type(v, s.type);
                else if (!at(v).is_integer) out = to_type(v, dtype::f32);
                return bind(id, in, out);
            }
            case stmt_kind::init: {
                const bool whole = reads_as_integer(s.type);
                return bind(id, in, whole ? to_type(integer(real_to_integer(s.type, s.seed_number)), s.type) : real_typed(round_to(rounding(s.type), s.seed_number), rounding(s.type)));
            }
            case stmt_kind::pre: return pre(id, in);
            case stmt_kind::carry: return carry(id, in);
            default: return bad(id, "found ZeroPrologue: scheduled code is not interpreted");
        }
    }
    /// Loads and states inside a Cond stay there, address and all: outside the condition they may be out of bounds.
    std::uint64_t guards(loop_id in) const {
        std::uint64_t bits = 0;
        for (; in != none; in = m_.loops[in].parent)
            if (m_.loops[in].is_branch()) bits |= 1ull << m_.loops[in].depth;
        return bits;
    }
    /// Defines a statement's name.
    result<void> bind(stmt_id id, loop_id in, value_id v, name_id name = no_name) {
        define(name == no_name ? b_.stmts[id].name : name, v);
        items(in).push_back({item::what::value, v});
        return {};
    }

    result<void> load(stmt_id id, loop_id in) {
        const stmt& s = b_.stmts[id];
        const std::uint32_t input = place(k_.inputs, s.buffer);
        if (input == none) return bad(id, "found a read of " + std::string(b_.text(s.buffer)) + ", expected a declared input");
        const bound_buffer& buffer = m_.inputs[input];
        if (s.type != dtype::none && byte_size(s.type) != byte_size(buffer.type))
            return bad(id, "found dtype " + std::string(token(s.type)) + " of a " + std::string(token(buffer.type)) + " buffer, expected elements of equal size");
        EMMY_TRY(index, indices(s.index, id));
        const auto names = b_.name_list(s.names);
        for (std::size_t lane = 0; lane < std::max<std::size_t>(1, names.size()); ++lane) {
            std::vector<value_id> shifted = index;
            if (lane > 0) shifted.back() = integer_op(binary_op::add, index.back(), integer(static_cast<std::int64_t>(lane)));
            value v;
            v.kind = value_kind::load, v.aux = input, v.a = address(shifted, buffer.shape, input, id, guards(in)), v.stmt = id;
            v.from = s.type != dtype::none ? s.type : buffer.type;
            v.is_integer = reads_as_integer(v.from);
            v.type = v.is_integer || typed() ? v.from : v.from == dtype::f8e4m3 || v.from == dtype::f8e5m2 ? v.from : dtype::f32;
            EMMY_CHECK_OK(bind(id, in, add(v, false), names.empty() ? s.name : names[lane]));
        }
        return {};
    }

    result<void> assign(stmt_id id, loop_id in) {
        const stmt& s = b_.stmts[id];
        const auto names = b_.name_list(s.args);
        value_id args[3] = {none, none, none};
        dtype types[3] = {};
        for (std::size_t i = 0; i < names.size() && i < 3; ++i) {
            EMMY_TRY(v, named(names[i], id));
            note_running_reads(v);
            args[i] = v, types[i] = at(v).type;
        }
        const std::span<const dtype> have(types, names.size());
        const bool same = names.size() == 2 && args[0] == args[1];
        const dtype inferred = infer_assign(s.op, have, same), stated = s.type;
        const dtype wanted = stated != dtype::none ? stated : inferred;
        bool integers = facts(s.op).integer_capable;
        for (std::size_t i = s.op == op::where ? 1 : 0; i < names.size(); ++i) integers = integers && at(args[i]).is_integer;
        if (s.op == op::where && at(args[0]).is_integer == false) args[0] = truth(args[0]);
        value_id out = none;
        switch (s.op) {
            case op::copy:
            case op::pad:
            case op::positive:
            case op::conjugate: out = stated == dtype::none ? args[0] : to_type(args[0], stated); break;
            case op::next: out = stated == dtype::none ? args[1] : to_type(args[1], stated); break;
            case op::where: {
                const bool whole = at(args[1]).is_integer && at(args[2]).is_integer;
                const bool wide = types[1] == dtype::f64 || types[2] == dtype::f64 || at(args[1]).is_integer != at(args[2]).is_integer;
                out = choose(args[0], whole ? args[1] : as_real(args[1]), whole ? args[2] : as_real(args[2]), wide && !whole ? dtype::f64 : inferred);
                out = to_type(out, wanted);
                break;
            }
            case op::from_f8e4m3:
            case op::from_f8e5m2: {  // an f8 value is held decoded; an integer is its code
                const dtype f8 = s.op == op::from_f8e4m3 ? dtype::f8e4m3 : dtype::f8e5m2;
                out = at(args[0]).is_integer ? convert(value_kind::from_bits, args[0], at(args[0]).type, f8, false) : args[0];
                out = to_type(out, wanted);
                break;
            }
            case op::to_f8e4m3:
            case op::to_f8e5m2: {
                const dtype f8 = s.op == op::to_f8e4m3 ? dtype::f8e4m3 : dtype::f8e5m2;
                value encode;
                encode.kind = value_kind::round, encode.op = s.op, encode.a = to_type(args[0], dtype::f32), encode.from = dtype::f32, encode.type = f8;
                encode.is_integer = false;
                out = add(encode);
                if (reads_as_integer(wanted)) out = to_type(convert(value_kind::to_bits, out, f8, dtype::u8, true), wanted);
                break;
            }
            case op::bitcast: {
                if (stated == dtype::none) return bad(id, "found a bitcast without dtype");
                if (byte_size(stated) != byte_size(types[0])) return bad(id, "found a bitcast from " + std::string(token(types[0])) + " to " + std::string(token(stated)) + ", expected types of equal size");
                out = at(args[0]).is_integer ? args[0] : convert(value_kind::to_bits, args[0], types[0], dtype::i64, true);
                out = reads_as_integer(stated) ? convert(value_kind::wrap, out, dtype::i64, stated, true) : convert(value_kind::from_bits, out, dtype::i64, stated, false);
                break;
            }
            default: {
                value v;
                v.kind = value_kind::assign, v.op = s.op, v.stmt = id;
                const bool gives_code = s.op == op::to_f4e2m1, takes_code = s.op == op::from_f4e2m1;
                v.is_integer = integers || gives_code;
                for (std::size_t i = 0; i < names.size(); ++i) args[i] = integers || takes_code ? as_integer(args[i]) : as_real(args[i]);
                v.a = args[0], v.b = args[1], v.c = args[2];
                if (v.is_integer) {
                    v.type = gives_code ? dtype::i32 : stated != dtype::none && is_integer(stated) ? stated : inferred;
                    out = to_type(add(v, false), wanted);
                } else {
                    // Computed in f32 (f64 where that is stated), then rounded once to the type.
                    v.type = wanted == dtype::f64 && typed() ? dtype::f64 : dtype::f32;
                    out = to_type(add(v, false), wanted);
                }
            }
        }
        return bind(id, in, out);
    }

    result<void> select(stmt_id id, loop_id in) {
        const stmt& s = b_.stmts[id];
        std::vector<value_id> values;
        std::vector<dtype> types;
        for (name_id n : b_.name_list(s.args)) {
            EMMY_TRY(v, named(n, id));
            note_running_reads(v);
            values.push_back(v), types.push_back(at(v).type);
        }
        EMMY_TRY(predicates, indices_as_truth(s.index, id));
        const dtype type = infer_select(types);
        for (value_id& v : values) v = reads_as_integer(type) ? as_integer(v) : as_real(v);
        value_id out = values.back();
        for (std::size_t i = values.size() - 1; i-- > 0;) out = choose(predicates[i], values[i], out, type);
        // A mixed choice is f32: bf16 and f16 values are f32 values already, f64 and wide integers are rounded.
        if (!reads_as_integer(type)) {
            bool exact = true;
            for (dtype t : types) exact = exact && (t == dtype::f32 || t == dtype::f16 || t == dtype::bf16 || t == dtype::f8e4m3 || t == dtype::f8e5m2);
            if (!exact || at(out).type != type) out = convert(value_kind::round, out, exact ? type : dtype::f64, rounding(type), false);
        }
        return bind(id, in, out);
    }
    result<void> accum(stmt_id id, loop_id in) {
        const stmt& s = b_.stmts[id];
        loop_id l = in;
        while (l != none && m_.loops[l].is_branch()) l = m_.loops[l].parent;
        if (l == none) return bad(id, "found an Accum outside every loop");
        update u;
        u.stmt = id, u.loop = in, u.accumulator = none;
        for (std::uint32_t a : m_.loops[l].accumulators)
            if (m_.accumulators[a].name == s.name) u.accumulator = a;
        if (u.accumulator == none) return bad(id, "found an accumulator that its loop does not start", fault_kind::internal);
        EMMY_TRY(v, named(b_.name_list(s.args)[0], id));
        note_running_reads(v);
        accumulator& a = m_.accumulators[u.accumulator];
        if (std::find(settled_.begin(), settled_.end(), u.accumulator) == settled_.end()) settle_accumulator(a, at(v).type), settled_.push_back(u.accumulator);
        u.value = a.is_integer ? as_integer(v) : as_real(v);
        if (s.base != no_name) {
            EMMY_TRY(base, named(s.base, id));
            note_running_reads(base);
            u.base = a.is_integer ? as_integer(base) : as_real(base);
        }
        items(in).push_back({item::what::update, static_cast<std::uint32_t>(m_.updates.size())});
        m_.updates.push_back(u);
        const value_id now = running(u.accumulator, l);
        // Visible after the branch too: the accumulator's own binding changes, not the branch's scope.
        visible_[s.name] = now;
        return {};
    }

    result<void> write_out(stmt_id id, loop_id in) {
        const stmt& s = b_.stmts[id];
        const std::uint32_t output = place(k_.outputs, s.buffer);
        if (output == none) return bad(id, "found a write of " + std::string(b_.text(s.buffer)) + ", expected a declared output");
        EMMY_TRY(index, indices(s.index, id));
        const auto names = b_.name_list(s.args);
        for (std::size_t lane = 0; lane < names.size(); ++lane) {
            write w;
            w.stmt = id, w.output = output, w.loop = in, w.atomic = s.atomic, w.type = s.type, w.index = index;
            if (lane > 0) w.index.back() = integer_op(binary_op::add, index.back(), integer(static_cast<std::int64_t>(lane)));
            EMMY_TRY(v, named(names[lane], id));
            note_running_reads(v);
            w.value = v;
            if (typed() && s.type != dtype::none) w.value = to_type(v, s.type);
            w.address = address(w.index, m_.outputs[output].shape, static_cast<std::uint32_t>(m_.inputs.size()) + output, id, guards(in));
            items(in).push_back({item::what::write, static_cast<std::uint32_t>(m_.writes.size())});
            m_.writes.push_back(std::move(w));
        }
        mark_effects(in);
        return {};
    }

    result<void> pre(stmt_id id, loop_id in) {
        const stmt& s = b_.stmts[id];
        std::uint32_t which = none;
        for (std::uint32_t i = 0; i < m_.states.size(); ++i)
            if (m_.states[i].name == s.buffer && m_.states[i].loop != none) which = i;
        if (which == none) return bad(id, "found a Pre of " + std::string(b_.text(s.buffer)) + ", expected a carried state");
        const state& st = m_.states[which];
        EMMY_TRY(index, indices(s.index, id));
        bool inside = false;
        for (loop_id l = in; l != none; l = m_.loops[l].parent) inside = inside || l == st.loop;
        value v;
        v.kind = value_kind::pre, v.aux = which, v.a = address(index, st.shape, none, id, guards(in)), v.b = inside ? 1 : 0, v.stmt = id;
        v.is_integer = false, v.ordered = true, v.type = rounding(st.type);
        v.dep = at(v.a).dep | ((1ull << (m_.loops[st.loop].depth + (inside ? 1 : 0))) - 1);
        return bind(id, in, add(v, false));
    }
    result<void> carry(stmt_id id, loop_id in) {
        const stmt& s = b_.stmts[id];
        for (std::uint32_t i = 0; i < m_.states.size(); ++i) {
            state& st = m_.states[i];
            if (st.carry != id) continue;
            st.inner = in;
            for (name_id axis : st.cell_axes) {
                st.cells.push_back(none);
                for (loop_id l = in; l != none; l = m_.loops[l].parent)
                    if (axis != no_name && m_.loops[l].axis == axis) st.cells.back() = l;
            }
            if (s.seed_is_buffer && (st.seed_input == none || m_.inputs[st.seed_input].shape != st.shape))
                return bad(id, "found a seed buffer whose shape is not the state's");
            EMMY_TRY(v, named(b_.name_list(s.args)[0], id));
            note_running_reads(v);
            if (at(v).is_integer) v = as_real(v);
            st.value = to_type(v, st.type);
            EMMY_TRY(index, indices(s.index, id));
            st.address = address(index, st.shape, none, id, guards(in));
            items(in).push_back({item::what::carry, i});
        }
        mark_effects(in);
        return {};
    }

    const kernel& k_;
    const interpret_options& options_;
    std::unordered_map<name_id, std::int64_t> sizes_;
    std::vector<std::pair<name_id, value_id>> undo_;
    std::unordered_multimap<stmt_id, std::uint32_t> carried_;
    std::vector<std::uint32_t> settled_;
};

}  // namespace emmy::loop::interp
