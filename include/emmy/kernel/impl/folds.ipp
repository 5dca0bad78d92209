#pragma once
#include <emmy/kernel/impl/builder.ipp>
#include <emmy/fork/schedule.hpp>

namespace emmy::kernel::detail {

/// Folds, sweeps and stores under one row: what the plans of all forms share.
class lowering : public builder {
public:
    lowering(const fork::cpu_part& s, const fork::cpu_row& row, const fork::cpu_target& target, program& p) : builder(s.kernel, s.tree, p), part_(s), row_(row), target_(target), facts_(s.facts) {
        coop_ = row.reduce.coop != knob::coop_mode::none;
        chains_ = row.reduce.coop == knob::coop_mode::transposed ? row.work.n / 32 : row.reduce.accumulators;
        fetch_ahead_ = facts_.form == fork::cpu_form::rows && row.stage.depth == 2;
        lanes_ = coop_ && facts_.form == fork::cpu_form::rows ? row.work.n : 1;
    }

    /// All steps of a term at several points of one block: folds and sweeps in order, stores last computed on demand.
    void run(const fold::term& term, std::span<point* const> at) {
        for (const fold::step& s : term.steps) {
            if (s.is_term) {
                if (t_.terms[s.id].is_fold()) fold_at(s.id, at);
                else
                    for (point* p : at) sweep(t_.terms[s.id], *p);
            } else if (k_.body.stmts[s.id].kind == loop::stmt_kind::write) {
                for (point* p : at) write(s.id, *p);
            }
        }
    }

    void write(fold::value_id s, point& p) {
        const loop::stmt& st = k_.body.stmts[s];
        const value_id v = value_of(t_.args[s][0], p);
        const int lanes = lanes_of(s, p);
        store(*p.where, memory_of(st.buffer), offset(s, p), v, lanes, streaming_ && lanes == target_.lanes() && may_stream(s));
    }

    /// Every store of this statement starts at a multiple of a vector, if its buffer does.
    bool may_stream(fold::value_id s) const {
        const loop::stmt& st = k_.body.stmts[s];
        const loop::buffer* b = fold::find_buffer(k_, st.buffer);
        if (b->type != dtype::f32 || p_.memories[memory_of(st.buffer)].where != space::output) return false;
        const auto terms = fold::flatten(k_, b->shape, k_.body.expressions(st.index));
        for (const fold::offset_term& term : *terms) {
            const bool axis = term.atom != no_expr && k_.body.exprs[term.atom].kind == expr_kind::name && term.coefficient == 1 && term.symbols.empty();
            if (!axis && term.coefficient % target_.lanes() != 0) return false;
        }
        return true;
    }

protected:
    /// What the first fold of the next row will read around coordinate `at`, each line once. (Fetching what a row will store, for
    /// writing, was measured and lost: 8 % of a softmax, nothing gained for a norm.)
    void fetch_next_row(block& b, point& row, expr_id at) {
        for (const fold::step& s : t_.terms[t_.root].steps) {
            if (!s.is_term || !t_.terms[s.id].is_fold()) continue;
            std::vector<std::pair<std::uint32_t, expr_id>> fetched;
            for (const fold::step& x : t_.terms[s.id].steps) {
                if (x.is_term || k_.body.stmts[x.id].kind != loop::stmt_kind::load) continue;
                const fold::axis_set both_axes = fold::axis_set{1} << t_.grid.back() | fold::axis_set{1} << t_.terms[s.id].axes[0];
                if ((t_.depends[x.id] & both_axes) != both_axes) continue;
                point& p = new_point(&row, b);
                bind(p, t_.grid.back(), add(coordinate(t_.grid.back(), row), num(1)));
                bind(p, t_.terms[s.id].axes[0], at);
                const std::pair<std::uint32_t, expr_id> line{memory_of(k_.body.stmts[x.id].buffer), offset(x.id, p)};
                if (std::find(fetched.begin(), fetched.end(), line) != fetched.end()) continue;
                fetched.push_back(line);
                add(b, {.kind = node_kind::fetch, .memory = line.first, .at = line.second});
            }
            return;
        }
    }
    bool is_last_fold(const fold::term& term) const {
        const fold::term* last = nullptr;
        for (const fold::step& s : t_.terms[t_.root].steps)
            if (s.is_term && t_.terms[s.id].is_fold()) last = &t_.terms[s.id];
        return last == &term;
    }

    bool is_lane_by_lane(fold::value_id s, std::uint32_t axis, int lanes) const override { return fork::cpu_schedules::lane_by_lane(part_, s, axis, lanes); }
    void on_fold(fold::term_id term, point& p) override {
        point* one[] = {&p};
        fold_at(term, one);
    }

    point& step_point(point& up, block& where, std::uint32_t axis, expr_id at, int lanes) {
        point& p = new_point(&up, where);
        bind(p, axis, at, lanes);
        return p;
    }

    void fold_at(fold::term_id id, std::span<point* const> at) {
        const fold::term& term = t_.terms[id];
        if (term.kind == fold::term_kind::twist) {
            for (point* p : at) {
                if (row_.stage.by == knob::transport::smem && is_scalar(*p) && facts_.kept == t_.args[term.states[1]][0]) twist_kept(term, *p);
                else twist(term, *p);
            }
            return;
        }
        plain_fold(term, term.states, at, kernel::none);
    }

    /// Whether nothing around the point runs in lanes: only then may a fold take them for its own axis.
    static bool is_scalar(const point& p) {
        for (const point* q = &p; q != nullptr; q = q->up)
            if (q->lanes != 1) return false;
        return true;
    }

    double identity(fold::value_id state) const { return loop::facts(k_.body.stmts[state].op).identity; }

    /// Folds `states` of a term over its axis; with a slab, the value folded is kept there too.
    void plain_fold(const fold::term& term, std::span<const fold::value_id> states, std::span<point* const> at, memory_id keep) {
        const std::uint32_t axis = term.axes[0];
        const expr_id end = extent(axis);
        const bool scalar_points = std::all_of(at.begin(), at.end(), [](const point* p) { return is_scalar(*p); });
        const int lanes = scalar_points ? lanes_ : 1, chains = chains_;
        const std::int64_t step = std::int64_t{lanes} * chains;

        // acc[point][state][chain], declared where the point is.
        std::vector<value_id> acc;
        const auto slot = [&](std::size_t p, std::size_t s, int c) -> value_id& { return acc[(p * states.size() + s) * static_cast<std::size_t>(chains) + static_cast<std::size_t>(c)]; };
        acc.resize(at.size() * states.size() * static_cast<std::size_t>(chains));
        for (std::size_t p = 0; p < at.size(); ++p)
            for (std::size_t s = 0; s < states.size(); ++s) {
                const int width = std::max(lanes, lanes_of(states[s], *at[p]));
                for (int c = 0; c < chains; ++c) slot(p, s, c) = start(*at[p]->where, t_.types[states[s]], width, identity(states[s]));
            }
        block& outer = *at[0]->where;
        const bool ahead = fetch_ahead_ && is_last_fold(term) && keep != kernel::none;
        const auto steps = [&](expr_id begin, expr_id limit, std::int64_t by, int count, int width, const auto& target_of) {
            block& body = new_block();
            const name_id k = fresh("k");
            for (int c = 0; c < count; ++c)
                for (std::size_t p = 0; p < at.size(); ++p) {
                    const expr_id place = add(p_.exprs.name(k), num(std::int64_t{c} * width));
                    if (ahead && width > 1) fetch_next_row(body, *at[p], place);
                    point& here = step_point(*at[p], body, axis, place, width);
                    for (std::size_t s = 0; s < states.size(); ++s) {
                        const value_id v = value_of(t_.args[states[s]][0], here);
                        if (keep != kernel::none) store(body, keep, place, v, width);
                        update(body, target_of(p, s, c), k_.body.stmts[states[s]].op, {v});
                    }
                }
            loop(outer, k, begin, limit, by, body);
        };
        const expr_id main_end = whole(end, step);
        if (step > 1) steps(num(0), main_end, step, chains, lanes, [&](std::size_t p, std::size_t s, int c) { return slot(p, s, c); });
        else steps(num(0), end, 1, 1, 1, [&](std::size_t p, std::size_t s, int) { return slot(p, s, 0); });
        expr_id done = step > 1 ? main_end : end;
        if (chains > 1 && lanes > 1 && !divides(step, end)) {
            const expr_id next = whole(end, lanes);
            steps(done, next, lanes, 1, lanes, [&](std::size_t p, std::size_t s, int) { return slot(p, s, 0); });
            done = next;
        }
        for (std::size_t p = 0; p < at.size(); ++p)
            for (std::size_t s = 0; s < states.size(); ++s) {
                for (int c = 1; c < chains; ++c) update(outer, slot(p, s, 0), k_.body.stmts[states[s]].op, {slot(p, s, c)});
                if (lanes > 1) slot(p, s, 0) = across(outer, slot(p, s, 0), k_.body.stmts[states[s]].op);
            }
        if (step > 1 && !divides(lanes > 1 ? lanes : step, end))
            steps(done, end, 1, 1, 1, [&](std::size_t p, std::size_t s, int) { return slot(p, s, 0); });
        for (std::size_t p = 0; p < at.size(); ++p)
            for (std::size_t s = 0; s < states.size(); ++s) at[p]->values[states[s]] = slot(p, s, 0);
    }

    /// All lanes of a vector state in one scalar state.
    value_id across(block& b, value_id v, loop::op o) {
        const value_id out = new_value(facts(v).type, 1, b, true);
        add(b, {.kind = node_kind::accum, .op = o, .dst = out, .args = {v}, .first = true, .lanes = facts(v).lanes});
        return out;
    }

    /// maximum and rescaled sum in one pass: `chains` vectors are folded per rescaling.
    void twist(const fold::term& term, point& p) {
        const std::uint32_t axis = term.axes[0];
        const expr_id end = extent(axis);
        const fold::value_id pivot = term.states[0], sum = term.states[1];
        block& outer = *p.where;
        const int lanes = is_scalar(p) ? lanes_ : 1;
        const std::int64_t step = std::int64_t{lanes} * chains_;
        value_id m = start(outer, dtype::f32, std::max(lanes, lanes_of(pivot, p)), identity(pivot));
        value_id l = start(outer, dtype::f32, std::max(lanes, lanes_of(sum, p)), 0);
        const auto steps = [&](expr_id begin, expr_id limit, std::int64_t by, int count, int width) {
            block& body = new_block();
            const name_id k = fresh("k");
            const value_id next = start_as(body, m);
            std::vector<point*> here;
            for (int c = 0; c < count; ++c) {
                const expr_id place = add(p_.exprs.name(k), num(std::int64_t{c} * width));
                here.push_back(&step_point(p, body, axis, place, width));
                update(body, next, loop::op::maximum, {value_of(t_.args[pivot][0], *here.back())});
            }
            const value_id scale = apply(body, loop::op::exp, {apply(body, loop::op::subtract, {m, next})});
            update(body, l, loop::op::multiply, {scale});
            for (point* x : here) {
                x->values[pivot] = next;
                update(body, l, loop::op::add, {value_of(t_.args[sum][0], *x)});
            }
            update(body, m, loop::op::none, {next});
            loop(outer, k, begin, limit, by, body);
        };
        steps(num(0), whole(end, step), step, chains_, lanes);
        expr_id done = whole(end, step);
        if (chains_ > 1 && lanes > 1 && !divides(step, end)) {
            steps(done, whole(end, lanes), lanes, 1, lanes);
            done = whole(end, lanes);
        }
        if (lanes > 1) {
            const value_id top = across(outer, m, loop::op::maximum);
            const value_id part = apply(outer, loop::op::multiply, {l, apply(outer, loop::op::exp, {apply(outer, loop::op::subtract, {m, top})})});
            l = across(outer, part, loop::op::add);
            m = top;
        }
        if (step > 1 && !divides(lanes > 1 ? lanes : step, end)) steps(done, end, 1, 1, 1);
        p.values[pivot] = m;
        p.values[sum] = l;
    }

    /// The maximum first, then the sum, its exponentials kept in a slab of the row.
    void twist_kept(const fold::term& term, point& p) {
        point* one[] = {&p};
        const std::span<const fold::value_id> states(term.states);
        if (kept_ == kernel::none) kept_ = slab(*p.where, space::part_slab, static_cast<std::uint64_t>(t_.axes[term.axes[0]].extent.number));
        plain_fold(term, states.subspan(0, 1), one, kernel::none);
        plain_fold(term, states.subspan(1, 1), one, kept_);
    }

    /// Free loops inside a cell: the last axis in vectors where the row has lanes.
    void sweep(const fold::term& term, point& up, std::size_t depth = 0) {
        const std::uint32_t axis = term.axes[depth];
        const expr_id end = extent(axis);
        const auto steps = [&](expr_id begin, expr_id limit, std::int64_t by, int count, int width) {
            block& body = new_block();
            const name_id i = fresh("i");
            std::vector<point*> here;
            for (int c = 0; c < count; ++c) {
                point& x = step_point(up, body, axis, add(p_.exprs.name(i), num(std::int64_t{c} * width)), width);
                if (kept_ != kernel::none && facts_.kept_again != fold::none && (t_.depends[facts_.kept_again] >> axis & 1) != 0)
                    x.values[facts_.kept_again] = load(body, kept_, add(p_.exprs.name(i), num(std::int64_t{c} * width)), width);
                here.push_back(&x);
                if (fetch_ahead_ && kept_ == kernel::none && width > 1 && depth == 0) fetch_next_row(body, up, add(p_.exprs.name(i), num(std::int64_t{c} * width)));
            }
            if (depth + 1 < term.axes.size())
                for (point* x : here) sweep(term, *x, depth + 1);
            else run(term, here);
            loop(*up.where, i, begin, limit, by, body);
        };
        if (depth + 1 < term.axes.size() || lanes_ == 1) return steps(num(0), end, 1, 1, 1);
        const std::int64_t step = std::int64_t{lanes_} * chains_;
        expr_id done = whole(end, step);
        steps(num(0), done, step, chains_, lanes_);
        if (chains_ > 1 && !divides(step, end)) {
            steps(done, whole(end, lanes_), lanes_, 1, lanes_);
            done = whole(end, lanes_);
        }
        if (!divides(lanes_, end)) steps(done, end, 1, 1, 1);
    }

    const fork::cpu_part& part_;
    const fork::cpu_row& row_;
    const fork::cpu_target& target_;
    const fork::cpu_facts& facts_;
    bool coop_ = false, streaming_ = false, fetch_ahead_ = false;
    int chains_ = 1, lanes_ = 1;
    memory_id kept_ = kernel::none;
};

}  // namespace emmy::kernel::detail
