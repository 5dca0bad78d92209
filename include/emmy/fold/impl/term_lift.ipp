#pragma once
#include <emmy/fold/impl/lift/loops.ipp>

namespace emmy::fold::closed {

EMMY_DECL result<forest> lift_terms(const loop::kernel& k, spelling how) {
    forest f;
    f.kernel_name = k.name, f.inputs = k.inputs, f.outputs = k.outputs;
    f.names = k.body.names, f.exprs = k.body.exprs, f.windows = k.body.windows;
    EMMY_TRY(body, detail::read_nest(f, k.body));
    detail::respell(f, body, how);
    detail::fuse_free_axes(f, k, body);

    detail::term_lifter lift(f);
    lift.levels.emplace_back();
    const std::vector<detail::nest>* at = &body;
    for (;;) {  // peel
        std::size_t loops = 0, others = 0;
        for (const detail::nest& n : *at) {
            loops += n.form == detail::nest::kind::loop;
            others += n.form != detail::nest::kind::loop && n.form != detail::nest::kind::pure;
        }
        if (loops != 1 || others != 0 || at->back().form != detail::nest::kind::loop || at->back().reduces()) break;
        for (const detail::nest& n : *at)
            if (n.form == detail::nest::kind::pure) lift.levels[0].entries.push_back({no_term, n.s});
        f.free.push_back(at->back().axis);
        lift.bound.push_back(at->back().axis.name);
        at = &at->back().body;
    }
    EMMY_CHECK_OK(lift.walk(*at, nullptr));
    f.stores = std::move(lift.stores);
    std::vector<name_id> stored;
    for (const store& s : f.stores) detail::add_once(stored, s.value);
    lift.keep_read(lift.levels[0], stored);
    term root;
    for (const detail::level::entry& e : lift.levels[0].entries) {
        if (e.t != no_term) root.operands.push_back(e.t);
        else root.body.push_back(e.s);
    }
    root.results = stored;
    f.root = f.add(std::move(root));
    normalise(f);
    twist(f);
    return f;
}

EMMY_DECL result<resolved> resolve(const loop::kernel& k, std::span<const std::string_view> addresses) {
    fault first;
    for (const spelling how : spellings) {
        auto f = lift_terms(k, how);
        if (!f) return refuse(std::move(f).error());
        resolved out{std::move(*f), how, {}};
        for (const std::string_view a : addresses) {
            const auto at = find(out.terms, a);
            if (!at) {
                if (how == spelling::stored) first = at.error();
                break;
            }
            out.at.push_back(*at);
        }
        if (out.at.size() == addresses.size()) return out;
    }
    return refuse(std::move(first));
}

}  // namespace emmy::fold::closed
