#pragma once
#include <emmy/loop/validate.hpp>

#include <emmy/core/dim_wire.hpp>
#include <emmy/loop/op_table.hpp>

#include <algorithm>

namespace emmy::loop {
namespace detail {

class validator {
public:
    explicit validator(const kernel& k)
        : k_(k), body_(k.body), seen_(k.body.names.size(), seen::nothing), folds_(k.body.names.size()), states_(k.body.names.size()), buffers_(k.body.names.size(), 0) {}

    result<void> check(const json::path& where) {
        const json::path nodes = where / "nodes", node = nodes / k_.inputs.size(), attrs = node / "attrs", outputs = node / "outputs", inputs = where / "inputs";
        if (!is_identifier(k_.name)) return refuse(json::problem(attrs / "name", "found the kernel name " + quoted(k_.name) + ", expected an identifier"));
        for (std::size_t i = 0; i < k_.inputs.size(); ++i) EMMY_CHECK_OK(declare(k_.inputs[i], i + 1, inputs / i));
        for (std::size_t i = 0; i < k_.outputs.size(); ++i) EMMY_CHECK_OK(declare(k_.outputs[i], k_.inputs.size() + i + 1, outputs / i));
        find_states(body_.top);
        std::sort(carried_.begin(), carried_.end());
        return statements(body_.top, attrs / "body");
    }

private:
    using at = const json::path&;
    static constexpr std::int64_t max_elements = std::int64_t{1} << 56;
    static constexpr std::uint32_t max_vector = 16;
    enum class seen : std::uint8_t { nothing, axis, value, accumulator, state };
    struct fold {
        loop::op op = op::none;
        dtype type = dtype::none;
        const stmt* loop = nullptr;  // that started it; none for Init
    };
    struct state {
        std::uint32_t carries = 0;
        const stmt* carry = nullptr;
        const stmt* carrying = nullptr;  // the loop whose steps it crosses
        std::size_t cell_loops = 0;      // loops between that one and the Carry
    };

    static std::string quoted(std::string_view text) {
        std::string out;
        json::append_quoted(out, text.substr(0, 60));
        return out;
    }
    std::string quoted(name_id id) const { return quoted(body_.text(id)); }
    static std::string_view what(seen s) {
        constexpr std::string_view words[] = {"no visible name", "an axis", "a value", "an accumulator", "a carried state"};
        return words[static_cast<std::size_t>(s)];
    }

    // Names and scopes.
    result<void> define(name_id id, seen as, at where) {
        if (!is_identifier(body_.text(id))) return refuse(json::problem(where, "found the name " + quoted(id) + ", expected an identifier"));
        if (seen_[id] != seen::nothing) return refuse(json::problem(where, "found " + quoted(id) + " for the second time (it is " + std::string(what(seen_[id])) + " here), expected a new name"));
        seen_[id] = as;
        visible_.push_back(id);
        return {};
    }
    void leave(std::size_t mark) {
        for (; visible_.size() > mark; visible_.pop_back()) {
            seen_[visible_.back()] = seen::nothing;
            folds_[visible_.back()] = {};
        }
    }
    result<void> use(name_id id, at where) const {
        if (seen_[id] == seen::value || seen_[id] == seen::accumulator) return {};
        return refuse(json::problem(where, "found " + quoted(id) + ", which is " + std::string(what(seen_[id])) + " here, expected a value defined before"));
    }

    // Buffers.
    result<void> declare(const buffer& b, std::size_t place, at where) {
        if (!is_identifier(body_.text(b.name))) return refuse(json::problem(where, "found the buffer name " + quoted(b.name) + ", expected an identifier"));
        if (buffers_[b.name] != 0) return refuse(json::problem(where, "found the buffer " + quoted(b.name) + " for the second time, expected distinct names"));
        if (b.type == dtype::none) return refuse(json::problem(where, "found a buffer without a dtype, expected one"));
        buffers_[b.name] = static_cast<std::uint32_t>(place);
        std::int64_t elements = 1;
        for (const dim& d : b.shape) {
            EMMY_CHECK_OK(size(d, where));
            if (d.kind != dim::form::number) continue;
            if (d.number > max_elements / elements) return refuse(json::problem(where, "found more than 2^56 elements in " + quoted(b.name) + ", expected at most 2^56"));
            elements *= d.number;
        }
        return {};
    }
    result<void> size(const dim& d, at where) const {
        if (d.kind == dim::form::expression) return symbolic(d.value, where);
        if (d.kind == dim::form::symbol && !is_identifier(body_.text(d.symbol))) return refuse(json::problem(where, "found the symbol " + quoted(d.symbol) + ", expected an identifier"));
        if (d.kind == dim::form::number && (d.number < 1 || d.number > max_elements))
            return refuse(json::problem(where, "found the size " + std::to_string(d.number) + ", expected 1 to 2^56"));
        return {};
    }
    const buffer* input(name_id id) const {
        const std::uint32_t place = buffers_[id];
        return place != 0 && place <= k_.inputs.size() ? &k_.inputs[place - 1] : nullptr;
    }
    const buffer* output(name_id id) const {
        const std::uint32_t place = buffers_[id];
        return place > k_.inputs.size() ? &k_.outputs[place - 1 - k_.inputs.size()] : nullptr;
    }

    // Expressions.
    result<void> expression(expr_id id, at where) const { return whole(id, where, false); }
    result<void> unusable(const std::string& found, at where) const { return refuse(json::problem(where, "found " + found + ", expected axes, values cast to an integer, and whole numbers")); }
    result<void> whole(expr_id id, at where, bool under_cast) const {
        const expr& e = body_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: return {};
            case expr_kind::real: return unusable("the real number " + json::spell_real(e.real()), where);
            case expr_kind::builtin: return unusable("the builtin " + std::string(body_.text(e.name)), where);
            case expr_kind::call: return unusable("a call of " + quoted(e.name), where);
            case expr_kind::name:
                if (seen_[e.name] == seen::axis) return {};
                if (seen_[e.name] == seen::nothing || seen_[e.name] == seen::state) return unusable(quoted(e.name) + ", which is " + std::string(what(seen_[e.name])) + " here", where);
                if (!under_cast) return unusable(std::string(what(seen_[e.name])) + " " + quoted(e.name) + " without a cast", where);
                return {};
            case expr_kind::cast:
                if (!is_integer(dtype_from_alias(body_.text(e.name)))) return unusable("a cast to " + quoted(e.name), where);
                return whole(e.a, where, body_.exprs[e.a].kind == expr_kind::name);
            case expr_kind::binary:
                EMMY_CHECK_OK(divisor(e, where));
                EMMY_CHECK_OK(whole(e.a, where, false));
                return whole(e.b, where, false);
            case expr_kind::ternary:
                EMMY_CHECK_OK(whole(e.a, where, false));
                EMMY_CHECK_OK(whole(e.b, where, false));
                return whole(e.c, where, false);
        }
        return {};
    }
    result<void> divisor(const expr& e, at where) const {
        if (e.op != binary_op::divide && e.op != binary_op::floor_divide && e.op != binary_op::remainder) return {};
        const expr& by = body_.exprs[e.b];
        if ((by.kind == expr_kind::integer || by.kind == expr_kind::boolean) && by.integer == 0) return refuse(json::problem(where, "found a division by zero, expected another divisor"));
        return {};
    }
    result<void> symbolic(expr_id id, at where) const {
        const expr& e = body_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: return {};
            case expr_kind::name:
                if (is_identifier(body_.text(e.name))) return {};
                break;
            case expr_kind::binary:
                EMMY_CHECK_OK(divisor(e, where));
                EMMY_CHECK_OK(symbolic(e.a, where));
                return symbolic(e.b, where);
            case expr_kind::ternary:
                EMMY_CHECK_OK(symbolic(e.a, where));
                EMMY_CHECK_OK(symbolic(e.b, where));
                return symbolic(e.c, where);
            default: break;
        }
        return refuse(json::problem(where, "found something else in the expression of a size, expected symbols and whole numbers"));
    }
    result<void> expressions(run r, at where) const {
        std::size_t i = 0;
        for (const expr_id id : body_.expressions(r)) EMMY_CHECK_OK(expression(id, where / i++));
        return {};
    }
    result<void> rank(const buffer& b, const stmt& s, at where) const {
        if (s.index.count == b.shape.size()) return {};
        return refuse(json::problem(where / "index", "found " + std::to_string(s.index.count) + " indices into " + quoted(b.name) + ", expected " + std::to_string(b.shape.size())));
    }

    // Statements.
    void find_states(run r) {
        for (const stmt_id id : body_.statements(r)) {
            const stmt& s = body_.stmts[id];
            if (s.kind == stmt_kind::carry) note_carry(s);
            const bool loop = s.kind == stmt_kind::loop || s.kind == stmt_kind::strided_loop;
            if (loop) loops_.push_back(&s);
            find_states(s.body);
            find_states(s.else_body);
            if (loop) loops_.pop_back();
        }
    }
    void note_carry(const stmt& s) {
        state& found = states_[s.name];
        ++found.carries;
        found.carry = &s;
        for (std::size_t i = loops_.size(); i-- > 0;) {
            if (indexes(s, loops_[i]->axis.name)) continue;
            found.carrying = loops_[i];
            found.cell_loops = loops_.size() - 1 - i;
            carried_.emplace_back(static_cast<std::size_t>(loops_[i] - body_.stmts.data()), s.name);
            break;
        }
    }
    bool indexes(const stmt& carry, name_id axis) const {
        for (const expr_id id : body_.expressions(carry.index))
            if (body_.exprs[id].kind == expr_kind::name && body_.exprs[id].name == axis) return true;
        return false;
    }

    result<void> statements(run r, at where) {
        if (depth_ > 256) return refuse(json::problem(where, "found statements nested deeper than 256, expected at most 256"));
        ++depth_;
        const std::size_t mark = visible_.size();
        std::size_t i = 0;
        for (const stmt_id id : body_.statements(r)) {
            const json::path here = where / i++;
            EMMY_CHECK_OK(statement(body_.stmts[id], here));
        }
        leave(mark);
        --depth_;
        return {};
    }
    result<void> statement(const stmt& s, at where) {
        switch (s.kind) {
            case stmt_kind::loop: return loop(s, where / "Loop");
            case stmt_kind::strided_loop: return loop(s, where / "StridedLoop");
            case stmt_kind::load: return load(s, where / "Load");
            case stmt_kind::assign: return assign(s, where / "Assign");
            case stmt_kind::accum: return accum(s, where / "Accum");
            case stmt_kind::select: return select(s, where / "Select");
            case stmt_kind::write: return write(s, where / "Write");
            case stmt_kind::let: return let(s, where / "Let");
            case stmt_kind::pre: return pre(s, where / "Pre");
            case stmt_kind::carry: return carry(s, where / "Carry");
            case stmt_kind::cond: return cond(s, where / "Cond");
            case stmt_kind::init: return init(s, where / "Init");
            case stmt_kind::zero_prologue: return zero_prologue(s, where / "ZeroPrologue");
        }
        return {};
    }
    result<void> loop(const stmt& s, at where) {
        const json::path axis = where / "axis", body = where / "body";
        EMMY_CHECK_OK(size(s.axis.extent, axis / "extent"));
        if (s.axis.has_window()) {
            const window& w = body_.windows[s.axis.window];
            const json::path window = axis / "window";
            if (w.parent != no_name) {
                if (!is_identifier(body_.text(w.parent))) return refuse(json::problem(window / "parent", "found the name " + quoted(w.parent) + ", expected an identifier"));
                EMMY_CHECK_OK(size(w.parent_extent, window / "parent"));
            }
            if (w.base != no_expr) EMMY_CHECK_OK(expression(w.base, window / "base"));
            if (w.bound != no_expr) EMMY_CHECK_OK(expression(w.bound, window / "bound"));
        }
        if (s.kind == stmt_kind::strided_loop) {
            EMMY_CHECK_OK(expression(s.value, where / "start"));
            EMMY_CHECK_OK(expression(s.step, where / "step"));
            if (s.end != no_expr) EMMY_CHECK_OK(expression(s.end, where / "end"));
            const expr& step = body_.exprs[s.step];
            if ((step.kind == expr_kind::integer || step.kind == expr_kind::boolean) && step.integer < 1)
                return refuse(json::problem(where / "step", "found the step " + std::to_string(step.integer) + ", expected at least 1"));
        }
        EMMY_CHECK_OK(start_accumulators(s, body));
        const auto place = static_cast<std::size_t>(&s - body_.stmts.data());
        for (auto it = std::lower_bound(carried_.begin(), carried_.end(), std::pair(place, name_id{0})); it != carried_.end() && it->first == place; ++it)
            EMMY_CHECK_OK(define(it->second, seen::state, where));
        const std::size_t mark = visible_.size();
        EMMY_CHECK_OK(define(s.axis.name, seen::axis, axis / "name"));
        loops_.push_back(&s);
        EMMY_CHECK_OK(statements(s.body, body));
        loops_.pop_back();
        leave(mark);
        return {};
    }
    /// Entry of a loop starts the accumulators of its immediate body; they stay visible behind it.
    result<void> start_accumulators(const stmt& s, at where) {
        std::size_t i = 0;
        for (const stmt_id id : body_.statements(s.body)) {
            const json::path here = where / i++, inside = here / "Accum";
            const stmt& a = body_.stmts[id];
            if (a.kind != stmt_kind::accum) continue;
            if (!s.seed) {
                if (seen_[a.name] != seen::accumulator) return refuse(json::problem(inside / "name", "found the accumulator " + quoted(a.name) + " of an unseeded loop that nothing started, expected Init or an earlier loop"));
                continue;
            }
            if (folds_[a.name].loop == &s) continue;
            EMMY_CHECK_OK(define(a.name, seen::accumulator, inside / "name"));
            folds_[a.name] = {a.op, a.type, &s};
        }
        return {};
    }
    result<void> load(const stmt& s, at where) {
        const buffer* b = input(s.buffer);
        if (!b) return refuse(json::problem(where / "input", "found the buffer " + quoted(s.buffer) + ", expected a declared input"));
        EMMY_CHECK_OK(rank(*b, s, where));
        EMMY_CHECK_OK(expressions(s.index, where / "index"));
        if (s.type != dtype::none && byte_size(s.type) != byte_size(b->type))
            return refuse(json::problem(where / "dtype", "found " + std::string(token(s.type)) + " of a buffer of " + std::string(token(b->type)) + ", expected a dtype of the same width"));
        if (s.carried != no_name) return refuse(json::problem(where / "carried", "found " + quoted(s.carried) + ", expected none: it has a meaning in scheduled code only"));
        if (s.names.count == 0) return define(s.name, seen::value, where / "names");
        EMMY_CHECK_OK(vector(s.names.count, *b, where / "names"));
        for (const name_id id : body_.name_list(s.names)) EMMY_CHECK_OK(define(id, seen::value, where / "names"));
        return {};
    }
    static result<void> vector(std::uint32_t count, const buffer& b, at where) {
        if (count <= max_vector && !b.shape.empty()) return {};
        return refuse(json::problem(where, "found " + std::to_string(count) + " values, expected one, or 2 to 16 along a last dimension"));
    }
    result<void> arguments(run r, at where) const {
        std::size_t i = 0;
        for (const name_id id : body_.name_list(r)) EMMY_CHECK_OK(use(id, where / i++));
        return {};
    }
    result<void> assign(const stmt& s, at where) {
        const op_facts& f = facts(s.op);
        if (s.op == op::none || s.op == op::next) return refuse(json::problem(where / "op", "found the operator " + quoted(f.text) + ", expected one of values"));
        if (s.args.count != static_cast<std::uint32_t>(f.arity))
            return refuse(json::problem(where / "args", "found " + std::to_string(s.args.count) + " arguments of " + std::string(f.text) + ", expected " + std::to_string(f.arity)));
        EMMY_CHECK_OK(arguments(s.args, where / "args"));
        return define(s.name, seen::value, where / "name");
    }
    result<void> accum(const stmt& s, at where) {
        const op_facts& f = facts(s.op);
        if (!f.folds) return refuse(json::problem(where / "op", "found the operator " + quoted(f.text) + ", expected a fold: add multiply maximum minimum"));
        if (s.args.count != 1) return refuse(json::problem(where / "value", "found " + std::to_string(s.args.count) + " values, expected one"));
        EMMY_CHECK_OK(use(body_.name_list(s.args)[0], where / "value"));
        if (s.base != no_name) EMMY_CHECK_OK(use(s.base, where / "base"));
        if (seen_[s.name] != seen::accumulator) return refuse(json::problem(where / "name", "found the accumulator " + quoted(s.name) + ", which nothing started, expected Init or a loop that holds it directly"));
        fold& started = folds_[s.name];
        if (started.op == op::none) started.op = s.op;  // by Init
        if (started.op != s.op) return refuse(json::problem(where / "op", "found " + quoted(f.text) + " into " + quoted(s.name) + ", expected " + quoted(facts(started.op).text) + " as before"));
        if (started.type != s.type && (started.loop || s.type != dtype::none)) return refuse(json::problem(where / "dtype", "found another dtype of " + quoted(s.name) + " than before, expected the same"));
        if (s.axes.count == 0) return {};
        if (loops_.empty()) return refuse(json::problem(where / "axes", "found an axis outside of every loop, expected none"));
        if (s.axes.count != 1 || body_.name_list(s.axes)[0] != loops_.back()->axis.name)
            return refuse(json::problem(where / "axes", "found " + quoted(body_.name_list(s.axes)[0]) + (s.axes.count > 1 ? " and more" : "") + ", expected the innermost loop's axis " + quoted(loops_.back()->axis.name)));
        return {};
    }
    result<void> select(const stmt& s, at where) {
        const json::path branches = where / "branches";
        if (s.args.count == 0 || s.args.count != s.index.count) return refuse(json::problem(branches, "found no branch, expected at least one"));
        for (std::uint32_t i = 0; i < s.args.count; ++i) {
            const json::path branch = branches / std::size_t{i};
            EMMY_CHECK_OK(use(body_.name_list(s.args)[i], branch / "value"));
            EMMY_CHECK_OK(expression(body_.expressions(s.index)[i], branch / "select"));
        }
        return define(s.name, seen::value, where / "name");
    }
    result<void> write(const stmt& s, at where) const {
        const buffer* b = output(s.buffer);
        if (!b) return refuse(json::problem(where / "output", "found the buffer " + quoted(s.buffer) + ", expected a declared output"));
        EMMY_CHECK_OK(rank(*b, s, where));
        EMMY_CHECK_OK(expressions(s.index, where / "index"));
        EMMY_CHECK_OK(arguments(s.args, where / "values"));
        if (s.args.count != 1) EMMY_CHECK_OK(vector(s.args.count, *b, where / "values"));
        if (s.swizzle != no_name) return refuse(json::problem(where / "swizzle", "found " + quoted(s.swizzle) + ", expected NONE: it has a meaning in scheduled code only"));
        return {};
    }
    result<void> let(const stmt& s, at where) {
        if (body_.exprs[s.value].kind != expr_kind::real) EMMY_CHECK_OK(expression(s.value, where / "value"));
        return define(s.name, seen::value, where / "name");
    }
    result<void> pre(const stmt& s, at where) {
        if (seen_[s.buffer] != seen::state) return refuse(json::problem(where / "carrier", "found " + quoted(s.buffer) + ", which is " + std::string(what(seen_[s.buffer])) + " here, expected a carried state, inside its loop or after it"));
        const std::uint32_t want = states_[s.buffer].carry->index.count;
        if (s.index.count != want) return refuse(json::problem(where / "index", "found " + std::to_string(s.index.count) + " indices into " + quoted(s.buffer) + ", expected " + std::to_string(want)));
        EMMY_CHECK_OK(expressions(s.index, where / "index"));
        return define(s.name, seen::value, where / "name");
    }
    result<void> carry(const stmt& s, at where) const {
        const state& known = states_[s.name];
        const json::path index = where / "index";
        if (known.carries != 1) return refuse(json::problem(where / "name", "found " + std::to_string(known.carries) + " Carry statements of " + quoted(s.name) + ", expected one"));
        if (!known.carrying) return refuse(json::problem(index, "found no enclosing loop whose axis is not an index, expected the loop that carries the state"));
        if (s.args.count != 1) return refuse(json::problem(where / "value", "found " + std::to_string(s.args.count) + " values, expected one"));
        EMMY_CHECK_OK(use(body_.name_list(s.args)[0], where / "value"));
        if (known.carrying->kind != stmt_kind::loop) return refuse(json::problem(where, "found a state carried by a StridedLoop, expected a Loop"));
        const buffer* seed = s.seed_is_buffer ? input(s.buffer) : nullptr;
        if (s.seed_is_buffer && !seed) return refuse(json::problem(where / "seed", "found the buffer " + quoted(s.buffer) + ", expected a declared input"));
        if (seed && seed->shape.size() != s.index.count)
            return refuse(json::problem(where / "seed", "found a seed of rank " + std::to_string(seed->shape.size()) + ", expected the state's, " + std::to_string(s.index.count)));
        const auto cells = std::span(loops_).last(known.cell_loops);
        std::vector<name_id> used;
        for (std::uint32_t i = 0; i < s.index.count; ++i) {
            const expr& e = body_.exprs[body_.expressions(s.index)[i]];
            const json::path here = index / std::size_t{i};
            dim extent = number_dim(1);
            if (e.kind == expr_kind::name) {
                const auto cell = std::find_if(cells.begin(), cells.end(), [&](const stmt* l) { return l->axis.name == e.name; });
                if (cell == cells.end()) return refuse(json::problem(here, "found " + quoted(e.name) + ", expected 0 or the axis of a loop inside the carrying one"));
                if ((*cell)->kind != stmt_kind::loop) return refuse(json::problem(here, "found the axis of a StridedLoop, expected a Loop"));
                if (std::find(used.begin(), used.end(), e.name) != used.end()) return refuse(json::problem(here, "found " + quoted(e.name) + " for the second time, expected distinct axes"));
                used.push_back(e.name);
                extent = (*cell)->axis.extent;
            } else if (e.kind != expr_kind::integer || e.integer != 0) {
                return refuse(json::problem(here, "found an expression, expected 0 or the axis of a loop inside the carrying one"));
            }
            if (seed && !same_extent(seed->shape[i], extent))
                return refuse(json::problem(where / "seed", "found the size " + dim_text(seed->shape[i], body_.exprs, body_.names) + " at dimension " + std::to_string(i) + ", expected the state's, " + dim_text(extent, body_.exprs, body_.names)));
        }
        return {};
    }
    result<void> cond(const stmt& s, at where) {
        EMMY_CHECK_OK(expression(s.value, where / "cond"));
        EMMY_CHECK_OK(statements(s.body, where / "body"));
        return statements(s.else_body, where / "else_body");
    }
    result<void> init(const stmt& s, at where) {
        if (s.type == dtype::none) return refuse(json::problem(where / "dtype", "found no dtype, expected one"));
        EMMY_CHECK_OK(define(s.name, seen::accumulator, where / "name"));
        folds_[s.name] = {op::none, s.type, nullptr};
        return {};
    }
    result<void> zero_prologue(const stmt& s, at where) const {
        if (!output(s.buffer)) return refuse(json::problem(where / "dst", "found the buffer " + quoted(s.buffer) + ", expected a declared output"));
        if (s.seed_number < 0) return refuse(json::problem(where / "words", "found a negative number, expected at least 0"));
        return {};
    }

    const kernel& k_;
    const body& body_;
    std::vector<seen> seen_;             // by name: what it is at this place
    std::vector<fold> folds_;            // by name, of visible accumulators
    std::vector<state> states_;          // by name
    std::vector<std::uint32_t> buffers_; // by name: place in inputs, then outputs, + 1
    std::vector<name_id> visible_;
    std::vector<std::pair<std::size_t, name_id>> carried_;  // carrying loop (place in stmts), state; sorted
    std::vector<const stmt*> loops_;
    int depth_ = 0;
};
}  // namespace detail

EMMY_DECL result<void> validate(const kernel& k, const json::path& where) { return detail::validator(k).check(where); }

}  // namespace emmy::loop
