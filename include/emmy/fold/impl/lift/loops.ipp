#pragma once
#include <emmy/fold/impl/lift/softmax.ipp>

namespace emmy::fold::closed::detail {

/// Loops of a body, from the inside out.
struct term_lifter : lift_softmax {
    std::vector<name_id> swept{};       // names that sweeps have used
    std::vector<loop::axis> path{};     // sweeps around
    std::vector<store> stores{};

    explicit term_lifter(forest& to) : lift_softmax{{{{to}}}} {}

    // --- loops ---

    result<void> walk(const std::vector<nest>& list, std::vector<const nest*>* effects) {
        for (const nest& n : list) {
            if (n.form == nest::kind::pure) {
                if (n.s.kind == loop::stmt_kind::pre && !has(bound, f.step)) return refuse(no_form("a state read outside its loop"));
                levels.back().entries.push_back({no_term, n.s});
            } else if (n.form == nest::kind::write) {
                // Inside a fold: the running state, stored after it was updated.
                if (effects && !n.carries && !n.s.args.empty() && std::none_of(effects->begin(), effects->end(), [&](const nest* e) { return e->s.name == n.s.args[0]; }))
                    return refuse(no_form("a store inside a reduction"));
                stores.push_back({path, n.s.buffer, n.s.args.empty() ? no_name : n.s.args[0], n.s.index, n.atomic, n.carries});
            } else if (n.form == nest::kind::accum) {
                if (!effects) return refuse(no_form("an accumulator outside a reduction"));
                effects->push_back(&n);
            } else if (n.reduces()) {
                EMMY_TRY(made, fold_of(n));
                for (term_id t : made) levels.back().entries.push_back({t, {}});
            } else {
                EMMY_CHECK_OK(sweep(n));
            }
        }
        return {};
    }

    result<void> sweep(const nest& n) {
        nest own;
        const nest* at = &n;
        if (has(bound, n.axis.name) || has(swept, n.axis.name)) {
            own = n;
            const name_id fresh = fresh_name(f, n.axis.name);
            rename_axis(f, own.body, n.axis.name, fresh);
            own.axis.name = fresh;
            at = &own;
        }
        swept.push_back(at->axis.name);
        bound.push_back(at->axis.name), path.push_back(at->axis);
        const std::size_t first_store = stores.size();
        levels.emplace_back();
        EMMY_CHECK_OK(walk(at->body, nullptr));
        level inside = std::move(levels.back());
        levels.pop_back();
        term map;
        for (level::entry& e : inside.entries) {
            if (e.t != no_term) levels.back().entries.push_back(e);
            else map.body.push_back(std::move(e.s));
        }
        // Written values first, then what nested sweeps store of ours.
        std::vector<name_id> nested;
        for (std::size_t i = first_store; i < stores.size(); ++i) {
            const name_id v = stores[i].value;
            if (!defined(map, v)) continue;
            if (stores[i].sweeps.size() == path.size()) add_once(map.results, v);
            else nested.push_back(v);
        }
        std::sort(nested.begin(), nested.end(), [&](name_id a, name_id b) { return by_text(a, b); });
        for (name_id v : nested) add_once(map.results, v);
        trim(map);
        if (!map.body.empty()) {
            close(map, levels.size());
            levels.back().entries.push_back({f.add(std::move(map)), {}});
        }
        bound.pop_back(), path.pop_back();
        return {};
    }
    /// Statements that no result needs go.
    void trim(term& t) const {
        std::vector<name_id> want = t.results;
        std::vector<pure> kept;
        for (std::size_t i = t.body.size(); i-- > 0;)
            if (has(want, t.body[i].name)) {
                for (name_id r : f.reads(t.body[i])) add_once(want, r);
                kept.push_back(std::move(t.body[i]));
            }
        std::reverse(kept.begin(), kept.end());
        t.body = std::move(kept);
    }

    result<std::vector<term_id>> fold_of(const nest& n) {
        term t;
        t.axis = n.axis;
        bound.push_back(n.axis.name);
        levels.emplace_back();
        std::vector<const nest*> effects;
        const std::size_t first_store = stores.size();
        EMMY_CHECK_OK(walk(n.body, &effects));
        std::vector<name_id> want;
        EMMY_TRY(rescaled, online_softmax(t, effects));
        if (rescaled)
            for (const state& s : t.states) want.push_back(s.contribution);
        for (const nest* e : rescaled ? std::vector<const nest*>{} : effects) {
            const loop::op_facts& facts = loop::op_table[static_cast<std::size_t>(e->s.op)];
            if (e->s.type != dtype::none) return refuse(no_form("an accumulator with a dtype"));
            if (!facts.folds) return refuse(no_form("an accumulator without identity"));
            t.states.push_back({e->s.name, e->s.op, e->s.args[0]});
            want.push_back(e->s.args[0]);
        }
        for (std::size_t i = first_store; i < stores.size(); ++i) {
            bool running = false;
            for (const state& s : t.states)
                if (s.name == stores[i].value) {
                    const name_id copy = f.names.intern(std::string(f.text(s.name)) + "__obs");
                    mark(f.is_value, copy);
                    t.observe.push_back({copy, s.name});
                    stores[i].value = copy;
                    stores[i].sweeps.push_back(n.axis);
                    running = true;
                    break;
                }
            if (!running) return refuse(no_form("a store inside a reduction"));
        }
        keep_read(levels.back(), want);
        level inside = std::move(levels.back());
        levels.pop_back();
        for (const level::entry& e : inside.entries)
            if (e.t != no_term) t.operands.push_back(e.t);
        for (level::entry& e : inside.entries) {
            if (e.t != no_term) continue;
            if ((e.s.kind == loop::stmt_kind::load || e.s.kind == loop::stmt_kind::pre) && f.reads(e.s).empty()) t.operands.push_back(slab(e.s));
            else t.body.push_back(std::move(e.s));
        }
        bound.pop_back();
        std::vector<term_id> out;
        term epilogue;
        if (!rescaled) factor(t, epilogue);
        close(t, levels.size());
        const term_id made = f.add(std::move(t));
        if (epilogue.body.empty()) return std::vector<term_id>{made};
        epilogue.operands = {made};
        close(epilogue, levels.size());
        return std::vector<term_id>{f.add(std::move(epilogue))};
    }
};

}  // namespace emmy::fold::closed::detail
