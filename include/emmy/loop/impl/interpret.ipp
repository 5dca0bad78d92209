#pragma once
#include <emmy/loop/impl/interpret_machine.ipp>
#include <emmy/loop/impl/interpret_resolve.ipp>
#include <emmy/loop/impl/interpret_solve.ipp>
#include <emmy/loop/interpret.hpp>
#include <emmy/loop/sample.hpp>
#include <emmy/loop/validate.hpp>

namespace emmy::loop {

struct interpreter::implementation {
    struct cell_program {
        interp::plan plan;
        interp::activation running;
        cell_program(interp::plan p, bool keep_bounds) : plan(std::move(p)), running(plan, keep_bounds) {}
        cell_program(const cell_program&) = delete;  // `running` points into it
    };

    interp::model model;
    std::uint64_t budget = 0, evaluations = 0;
    bool bounds = false;
    std::vector<input_data> inputs;
    std::vector<std::unique_ptr<cell_program>> cells;  // per Write, made on first use
    std::vector<std::unique_ptr<interp::plan>> state_plans;
    std::unique_ptr<interp::machine> sampler;          // keeps states between cells
    std::vector<std::uint64_t> costs;                  // per output

    std::uint64_t cost(const interp::write& w) const;
    result<std::optional<bounded_value>> evaluate(std::size_t write, std::span<const std::int64_t> axes);
};

EMMY_DECL interpreter::interpreter(std::unique_ptr<implementation> made) : impl_(std::move(made)) {}
EMMY_DECL interpreter::interpreter(interpreter&&) noexcept = default;
EMMY_DECL interpreter& interpreter::operator=(interpreter&&) noexcept = default;
EMMY_DECL interpreter::~interpreter() = default;

EMMY_DECL result<interpreter> interpreter::make(const kernel& k, const interpret_options& options) {
    EMMY_CHECK_OK(validate(k));
    auto out = std::make_unique<implementation>();
    interp::resolver names(k, options, out->model);
    EMMY_CHECK_OK(names.resolve());
    out->budget = options.budget;
    out->bounds = options.bounds;
    out->cells.resize(out->model.writes.size());
    out->state_plans.resize(out->model.states.size());
    out->inputs.resize(out->model.inputs.size());
    out->costs.assign(out->model.outputs.size(), 0);
    for (const interp::write& w : out->model.writes) out->costs[w.output] = std::max(out->costs[w.output], out->cost(w));
    return interpreter(std::move(out));
}

EMMY_DECL result<void> interpreter::bind(std::span<const input_data> inputs) {
    interp::model& m = impl_->model;
    if (inputs.size() != m.inputs.size())
        return refuse(fault_kind::user, "found " + std::to_string(inputs.size()) + " inputs, expected " + std::to_string(m.inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::size_t wanted = static_cast<std::size_t>(m.inputs[i].elements) * byte_size(m.inputs[i].type);
        if (inputs[i].from == input_data::form::bytes && inputs[i].bytes.size() != wanted)
            return refuse(fault_kind::user, "found " + std::to_string(inputs[i].bytes.size()) + " bytes, expected " + std::to_string(wanted), m.inputs[i].name);
        if (inputs[i].from == input_data::form::computed && inputs[i].compute == nullptr) return refuse(fault_kind::user, "found no function", m.inputs[i].name);
    }
    impl_->inputs.assign(inputs.begin(), inputs.end());
    for (auto& c : impl_->cells)
        if (c != nullptr) c->running.primed = false;
    impl_->sampler.reset();
    return {};
}

EMMY_DECL std::span<const std::int64_t> interpreter::input_shape(std::size_t input) const { return impl_->model.inputs[input].shape; }
EMMY_DECL std::span<const std::int64_t> interpreter::output_shape(std::size_t output) const { return impl_->model.outputs[output].shape; }
EMMY_DECL std::uint64_t interpreter::run_cost() const { return impl_->model.run_cost; }
EMMY_DECL std::uint64_t interpreter::cell_cost(std::size_t output) const { return impl_->costs[output]; }
EMMY_DECL std::uint64_t interpreter::evaluations() const { return impl_->evaluations; }

EMMY_DECL result<std::vector<std::vector<std::byte>>> interpreter::run() {
    implementation& self = *impl_;
    const interp::model& m = self.model;
    std::vector<std::vector<std::byte>> out;
    for (const interp::bound_buffer& b : m.outputs) {
        const std::uint64_t bytes = interp::times(static_cast<std::uint64_t>(b.elements), byte_size(b.type));
        if (bytes > (1ull << 36)) return refuse(fault_kind::user, "found an output of more than 64 GiB: ask for cells instead", b.name);
        out.emplace_back(static_cast<std::size_t>(bytes));
    }
    interp::planner make(m);
    EMMY_TRY(plan, make.whole());
    interp::activation running(plan);
    interp::machine machine(m, self.inputs);
    machine.outputs = &out;
    if (self.budget > 0) machine.limit = self.budget;
    auto ran = machine.run(running, {});
    self.evaluations = interp::plus(self.evaluations, machine.evaluations);
    if (!ran) return refuse(std::move(ran).error());
    return out;
}

/// Nothing when a condition around the Write does not hold.
EMMY_DECL result<std::optional<bounded_value>> interpreter::implementation::evaluate(std::size_t write, std::span<const std::int64_t> axes) {
    std::unique_ptr<cell_program>& program = cells[write];
    if (program == nullptr) {
        interp::planner make(model);
        EMMY_TRY(plan, make.cell(static_cast<std::uint32_t>(write)));
        program = std::make_unique<cell_program>(std::move(plan), bounds);
    }
    if (sampler == nullptr) {
        sampler = std::make_unique<interp::machine>(model, inputs);
        sampler->state_plans = &state_plans;
        sampler->keep_bounds = bounds;
    }
    const std::uint64_t before = sampler->evaluations;
    sampler->limit = budget > 0 ? interp::plus(before, budget) : interp::saturated;
    auto ran = sampler->run(program->running, axes);
    evaluations = interp::plus(evaluations, sampler->evaluations - before);
    if (!ran) return refuse(std::move(ran).error());
    if (!program->running.captured) return std::optional<bounded_value>();
    const interp::write& w = model.writes[write];
    const interp::value& v = model.values[w.value];
    const interp::slot got = program->running.captured_value;
    const dtype t = model.outputs[w.output].type;
    bounded_value out;
    out.bound = bounds ? program->running.captured_bound : interp::no_bound;
    if (v.is_integer && reads_as_integer(t)) {
        out.value = integer_to_real(t, wrap_to(t, got.integer));
        return std::optional(out);
    }
    const double real = v.is_integer ? integer_to_real(v.type, got.integer) : got.real;
    out.value = model.mode == numeric_mode::typed || reads_as_integer(t) ? round_to(t, real) : real;
    if (reads_as_integer(t)) out.bound += out.bound > 0 ? 1 : 0;
    else if (t != dtype::f32 && t != dtype::f64) out.bound += std::fabs(out.value - real);
    if (out.bound != out.bound) out.bound = interp::no_bound;
    return std::optional(out);
}

EMMY_DECL result<double> interpreter::cell(std::size_t output, std::span<const std::int64_t> at) {
    EMMY_TRY(out, bounded_cell(output, at));
    return out.value;
}
EMMY_DECL result<bounded_value> interpreter::bounded_cell(std::size_t output, std::span<const std::int64_t> at) {
    implementation& self = *impl_;
    const interp::model& m = self.model;
    if (output >= m.outputs.size()) return refuse(fault_kind::user, "found output " + std::to_string(output) + ", expected one of " + std::to_string(m.outputs.size()));
    const interp::bound_buffer& b = m.outputs[output];
    bool inside = at.size() == b.shape.size();
    for (std::size_t i = 0; inside && i < at.size(); ++i) inside = at[i] >= 0 && at[i] < b.shape[i];
    if (!inside) return refuse(fault_kind::user, "the cell lies outside the output", b.name);
    interp::axis_solver solver(m);
    for (std::size_t w = m.writes.size(); w-- > 0;) {
        if (m.writes[w].output != output) continue;
        EMMY_TRY(axes, solver.solve(m.writes[w], at));
        if (!axes) continue;
        if (!m.writes[w].atomic) {
            EMMY_TRY(value, self.evaluate(w, *axes));
            if (value) return *value;
            continue;
        }
        // Every iteration of the loops that the index does not name adds to the cell, in program order.
        std::vector<interp::loop_id> loops;
        for (interp::loop_id l : m.chain(m.writes[w].loop))
            if (!m.loops[l].is_branch()) loops.push_back(l);
        std::uint64_t named = 0;
        for (interp::value_id v : m.writes[w].index) named |= m.values[v].dep;
        std::vector<std::size_t> summed;
        std::uint64_t total = 1;
        for (std::size_t i = 0; i < loops.size(); ++i)
            if ((named >> m.loops[loops[i]].depth & 1) == 0) summed.push_back(i), total = interp::times(total, static_cast<std::uint64_t>(m.loops[loops[i]].extent));
        if (total > 1000000) return refuse(fault_kind::user, "more than 10^6 atomic additions to one cell: run the whole kernel instead", b.name);
        bounded_value sum;
        double magnitude = 0;
        for (std::uint64_t i = 0; i < total; ++i) {
            std::uint64_t rest = i;
            for (std::size_t k = summed.size(); k-- > 0;) {
                const auto extent = static_cast<std::uint64_t>(m.loops[loops[summed[k]]].extent);
                (*axes)[summed[k]] = static_cast<std::int64_t>(rest % extent), rest /= extent;
            }
            EMMY_TRY(value, self.evaluate(w, *axes));
            if (!value) continue;
            sum.value = static_cast<double>(static_cast<float>(sum.value + value->value));
            if (m.mode == numeric_mode::typed) sum.value = round_to(b.type, sum.value);
            magnitude += std::fabs(value->value) + value->bound;
            sum.bound += value->bound + interp::half_step(b.type, magnitude) + 2 * interp::half_step(dtype::f32, magnitude);
        }
        return sum;
    }
    return refuse(fault_kind::user, "no statement writes this cell", b.name);
}

/// Σ over the statements that the Write needs of Π over the varying loops each depends on. An axis that the Write's index names does not
/// vary; in the steps of a state it does, unless every Pre reads that dimension at the Carry's own axis.
EMMY_DECL std::uint64_t interpreter::implementation::cost(const interp::write& w) const {
    using namespace interp;
    planner plan(model);
    const std::vector<bool> needed = plan.needed(w.value);
    std::vector<bool> named(model.loops.size(), false), pinned(model.loops.size(), true);
    std::vector<value_id> stack(w.index.begin(), w.index.end());
    while (!stack.empty()) {
        const value_id v = stack.back();
        stack.pop_back();
        if (v == none) continue;
        const value& x = model.values[v];
        if (x.kind == value_kind::axis) named[x.aux] = true;
        else if (x.kind == value_kind::integer_op || x.kind == value_kind::choose || x.kind == value_kind::to_integer) stack.push_back(x.a), stack.push_back(x.b), stack.push_back(x.c);
    }
    // Values that a Carry needs are computed at every step (and at every cell of the dimensions that mix).
    std::vector<bool> in_state(model.values.size(), false);
    std::vector<bool> carried(model.states.size(), false);
    for (value_id v = 0; v < model.values.size(); ++v) {
        if (!needed[v] || model.values[v].kind != value_kind::pre) continue;
        const state& st = model.states[model.values[v].aux];
        carried[model.values[v].aux] = true;
        named[st.loop] = false;
        for (value_id a = model.values[v].a; a != none && model.values[a].kind == value_kind::address; a = model.values[a].a) {
            const value& x = model.values[a];
            const loop_id cell = x.dimension < st.cells.size() ? st.cells[x.dimension] : none;
            if (cell == none) continue;
            const value* index = &model.values[x.b];
            if (index->kind == value_kind::choose && model.values[index->c].kind == value_kind::integer) index = &model.values[index->b];
            if (index->kind != value_kind::axis || index->aux != cell) pinned[cell] = false;
        }
    }
    for (const state& st : model.states)
        for (loop_id l : st.cells)
            if (l != none && carried[static_cast<std::size_t>(&st - model.states.data())] && !pinned[l]) named[l] = false;
    std::uint64_t total = 1;
    std::vector<bool> counted(model.values.size(), false);
    const auto add = [&](std::uint64_t dep, loop_id in) {
        std::uint64_t product = 1;
        for (loop_id l = in; l != none; l = model.loops[l].parent)
            if ((dep >> model.loops[l].depth & 1) != 0 && !named[l] && !model.loops[l].is_branch()) product = times(product, static_cast<std::uint64_t>(model.loops[l].extent));
        total = plus(total, product);
    };
    const auto visit = [&](const auto& again, const std::vector<item>& items, loop_id in) -> void {
        for (const item& i : items) {
            if (i.kind == item::what::loop) again(again, model.loops[i.id].items, i.id);
            if (i.kind == item::what::value && needed[i.id] && !counted[i.id] && model.values[i.id].kind != value_kind::load) counted[i.id] = true, add(model.values[i.id].dep, in);
            if (i.kind == item::what::update) {
                const update& u = model.updates[i.id];
                const accumulator& a = model.accumulators[u.accumulator];
                if (!needed[a.final]) continue;
                add(model.values[u.value].dep | (u.base != none ? model.values[u.base].dep : 0) | 1ull << model.loops[a.loop].depth, in);
            }
        }
    };
    visit(visit, model.top, none);
    return total;
}

EMMY_DECL std::vector<sampled_cell> sample_cells(const interpreter& compiled, std::uint64_t seed, std::size_t count) {
    const interp::model& m = compiled.impl_->model;
    std::vector<std::size_t> usable;
    const interp::axis_solver solver(m);
    for (std::size_t w = 0; w < m.writes.size(); ++w) {
        bool pure = true;
        for (interp::value_id v : m.writes[w].index) pure = pure && solver.pure(v);
        for (interp::loop_id l : m.chain(m.writes[w].loop)) pure = pure && !m.loops[l].is_strided();
        if (pure) usable.push_back(w);
    }
    std::vector<sampled_cell> out;
    for (std::size_t i = 0; i < count && !usable.empty(); ++i) {
        const interp::write& w = m.writes[usable[i % usable.size()]];
        std::vector<std::int64_t> axes(m.loops.size(), 0);
        for (interp::loop_id l : m.chain(w.loop))
            axes[l] = static_cast<std::int64_t>(interp::seeded_bits(seed, i * 64 + static_cast<std::uint64_t>(m.loops[l].depth)) % static_cast<std::uint64_t>(m.loops[l].extent));
        sampled_cell cell{w.output, {}};
        for (interp::value_id v : w.index) cell.at.push_back(solver.evaluate(v, axes));
        out.push_back(std::move(cell));
    }
    return out;
}

}  // namespace emmy::loop
