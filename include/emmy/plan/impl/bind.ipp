#pragma once
#include <emmy/core/expr_eval.hpp>
#include <emmy/plan/bind.hpp>

#include <algorithm>

namespace emmy::plan {

namespace detail {

constexpr std::uint64_t most_bytes = std::uint64_t(1) << 40;

/// Elements of a shape whose names `lookup` knows. Errors (input) name the buffer.
template <class Lookup>
result<std::uint64_t> element_count(std::span<const dim> shape, const expr_pool& exprs, const Lookup& lookup, const std::string& place, std::vector<std::int64_t>* sizes = nullptr) {
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const auto size = evaluate_dim(shape[d], exprs, lookup);
        if (!size || *size < 1) return refuse(fault_kind::input, "found " + (size ? "size " + std::to_string(*size) : std::string("a size that does not evaluate")) + " in dimension " + std::to_string(d) + ", expected at least 1", place);
        if (static_cast<std::uint64_t>(*size) > most_bytes / count) return refuse(fault_kind::input, "found more than 2^40 elements, expected fewer", place);
        count *= static_cast<std::uint64_t>(*size);
        if (sizes) sizes->push_back(*size);
    }
    return count;
}

}  // namespace detail

EMMY_DECL result<binding> bind(const executable& plan, std::span<const loop::symbol_size> sizes, int team) {
    if (team < 1 || team > 1024) return refuse(fault_kind::user, "found a team of " + std::to_string(team) + ", expected 1 to 1024 threads", "TEAM");
    binding out;
    out.team = team;
    for (const symbol& s : plan.symbols()) out.sizes.push_back(s.hint);
    for (const loop::symbol_size& s : sizes) {
        const auto at = std::find_if(plan.symbols().begin(), plan.symbols().end(), [&](const symbol& have) { return have.name == s.symbol; });
        if (at == plan.symbols().end()) {
            std::string have;
            for (const symbol& known : plan.symbols()) have += (have.empty() ? "" : ", ") + known.name;
            return refuse(fault_kind::user, "found a size for \"" + s.symbol + "\", expected one of the plan's symbols: " + (have.empty() ? "it has none" : have));
        }
        if (s.size < 1) return refuse(fault_kind::user, "found size " + std::to_string(s.size) + ", expected at least 1", s.symbol);
        out.sizes[static_cast<std::size_t>(at - plan.symbols().begin())] = s.size;
    }
    const auto size_of = [&](std::string_view symbol) -> std::optional<std::int64_t> {
        for (std::size_t i = 0; i < plan.symbols().size(); ++i)
            if (plan.symbols()[i].name == symbol) return out.sizes[i];
        return {};
    };
    const network& n = plan.source();
    std::uint64_t all = 0;
    for (const buffer& b : plan.buffers()) {
        placed p;
        EMMY_TRY(elements, detail::element_count(b.shape, n.exprs, [&](name_id id) { return size_of(n.names.text(id)); }, b.name, &p.shape));
        p.elements = elements, p.bytes = elements * byte_size(b.type);
        all += p.bytes;
        if (all > detail::most_bytes) return refuse(fault_kind::input, "found buffers of more than 1 TiB together, expected less", b.name);
        out.buffers.push_back(std::move(p));
    }
    for (std::size_t i = 0; i < plan.buffers().size(); ++i)
        if (const std::uint32_t root = n.root(static_cast<std::uint32_t>(i)); out.buffers[i].bytes != out.buffers[root].bytes)
            return refuse(fault_kind::input, "found " + std::to_string(out.buffers[i].bytes) + " bytes, expected the " + std::to_string(out.buffers[root].bytes) + " of " + plan.buffers()[root].name + ", of which it is a view", plan.buffers()[i].name);

    for (const launch& step : plan.launches()) {
        const loop::kernel& k = *n.nodes[step.node].kernel;
        const auto lookup = [&](name_id id) { return size_of(k.body.text(id)); };
        for (std::size_t i = 0; i < step.buffers.size(); ++i) {
            if (step.buffers[i] == none) continue;
            const loop::buffer& b = i < k.inputs.size() ? k.inputs[i] : k.outputs[i - k.inputs.size()];
            EMMY_TRY(elements, detail::element_count(b.shape, k.body.exprs, lookup, k.name + "." + std::string(k.body.text(b.name))));
            if (elements != out.buffers[step.buffers[i]].elements || b.type != plan.buffers()[step.buffers[i]].type)
                return refuse(fault_kind::input, "found " + std::to_string(elements) + " elements of " + std::string(token(b.type)) + ", expected the " + std::to_string(out.buffers[step.buffers[i]].elements) + " of " +
                                                     std::string(token(plan.buffers()[step.buffers[i]].type)) + " of buffer " + plan.buffers()[step.buffers[i]].name,
                              k.name + "." + std::string(k.body.text(b.name)));
        }
        std::vector<long long> launch_sizes;
        for (const std::uint32_t s : step.symbols) launch_sizes.push_back(out.sizes[s]);
        out.scratch_bytes = std::max(out.scratch_bytes, plan.kernels()[step.kernel].text.scratch_bytes(team, launch_sizes));
        out.launch_sizes.push_back(std::move(launch_sizes));
    }

    std::vector<need> needs;
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
        if (plan.buffers()[i].role != role::workspace || plan.lifetimes()[i].empty()) continue;
        needs.push_back({plan.lifetimes()[i].first, plan.lifetimes()[i].last, out.buffers[i].bytes});
        whose.push_back(i);
        out.unshared_bytes += out.buffers[i].bytes;
    }
    const packing packed = pack(needs);
    for (std::size_t i = 0; i < whose.size(); ++i) out.buffers[whose[i]].offset = packed.offsets[i];
    out.arena_bytes = packed.bytes, out.least_bytes = packed.least;
    return out;
}

EMMY_DECL binding without_reuse(const executable& plan, const binding& at) {
    binding out = at;
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
        if (plan.buffers()[i].role != role::workspace) continue;
        out.buffers[i].offset = end;
        end = (end + out.buffers[i].bytes + 63) / 64 * 64;
    }
    out.arena_bytes = end;
    return out;
}

EMMY_DECL device::sequence sequence_of(const executable& plan, const binding& at, bool fast_math, int optimisation) {
    device::sequence out;
    std::vector<std::uint32_t> place(plan.buffers().size(), 0);
    for (std::uint32_t i = 0; i < plan.given().size(); ++i) place[plan.given()[i]] = i;
    const auto slice_of = [&](std::uint32_t b) -> device::slice {
        if (b == none) return {0, 0, 0};
        if (plan.buffers()[b].role == role::workspace) return {static_cast<std::uint32_t>(plan.given().size()), at.buffers[b].offset, at.buffers[b].bytes};
        return {place[b], 0, at.buffers[b].bytes};
    };
    for (const planned_kernel& k : plan.kernels()) out.kernels.push_back({k.text.source, k.text.entry, 0, fast_math, optimisation});
    for (std::size_t i = 0; i < plan.launches().size(); ++i) {
        const launch& l = plan.launches()[i];
        device::sequence::step step;
        step.kernel = l.kernel, step.how = {at.launch_sizes[i], at.team};
        out.kernels[l.kernel].scratch_bytes = std::max(out.kernels[l.kernel].scratch_bytes, plan.kernels()[l.kernel].text.scratch_bytes(at.team, at.launch_sizes[i]));
        for (const std::uint32_t b : l.buffers) step.buffers.push_back(slice_of(b));
        for (const std::uint32_t b : l.zeroed) step.zeroed.push_back(slice_of(b));
        out.steps.push_back(std::move(step));
    }
    for (const std::uint32_t b : plan.given())
        if (plan.buffers()[b].view_of != none) out.copied.push_back({slice_of(plan.source().root(b)), slice_of(b)});
    return out;
}

EMMY_DECL result<device::tensor_arena> make_arena(const executable& plan, const binding& at) {
    std::vector<device::buffer_spec> specs;
    for (const std::uint32_t b : plan.given()) specs.push_back({plan.buffers()[b].type, at.buffers[b].elements, plan.buffers()[b].role == role::output});
    specs.push_back({dtype::u8, at.arena_bytes, true});
    return device::tensor_arena::create(std::move(specs));
}

}  // namespace emmy::plan
