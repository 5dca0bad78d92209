#pragma once
#include <emmy/loop/dims.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/plan/plan.hpp>

#include <algorithm>
#include <map>

namespace emmy::plan {

namespace detail {

/// Every buffer has at most one writer (sums: several that add), workspaces and outputs at least one.
inline result<void> check_writers(const network& n) {
    struct writer {
        const loop::kernel* kernel = nullptr;
        bool adds = false;
    };
    std::vector<writer> writers(n.buffers.size());
    for (const node& made : n.nodes) {
        const std::vector<bool> adds = outputs_added(*made.kernel);
        for (std::size_t o = 0; o < made.outputs.size(); ++o) {
            const std::uint32_t at = n.root(made.outputs[o]);
            const buffer& b = n.buffers[at];
            if (b.role == role::input || b.role == role::constant) return refuse(fault_kind::input, "found a kernel that writes it, expected an " + std::string(name(b.role)) + " to be read only", made.kernel->name + "." + b.name);
            writer& w = writers[at];
            if (w.kernel && !(w.adds && adds[o])) return refuse(fault_kind::input, "found a second kernel that writes it beside " + w.kernel->name + ", expected one", made.kernel->name + "." + b.name);
            w.kernel = made.kernel.get(), w.adds = adds[o];
        }
    }
    for (const node& made : n.nodes) {
        const std::vector<bool> read = inputs_read(*made.kernel);
        for (std::size_t i = 0; i < made.inputs.size(); ++i) {
            if (!read[i]) continue;
            const std::uint32_t at = made.inputs[i] == none ? none : n.root(made.inputs[i]);
            if (at == none || ((n.buffers[at].role == role::workspace || n.buffers[at].role == role::output) && !writers[at].kernel))
                return refuse(fault_kind::input, "found a buffer that no kernel writes, expected one that does", made.kernel->name + "." + std::string(made.kernel->body.text(made.kernel->inputs[i].name)));
        }
    }
    for (std::size_t i = 0; i < n.buffers.size(); ++i)
        if (n.buffers[i].role == role::output && n.buffers[i].view_of == none && !writers[i].kernel) return refuse(fault_kind::input, "found no kernel that writes the output, expected one", n.buffers[i].name);
    return {};
}

}  // namespace detail

EMMY_DECL result<executable> executable::make(network n, const fork::cpu_target& target, std::span<const choice> chosen) {
    if (!chosen.empty() && chosen.size() != n.nodes.size()) return refuse(fault_kind::internal, "found " + std::to_string(chosen.size()) + " choices for " + std::to_string(n.nodes.size()) + " kernels");
    EMMY_CHECK_OK(detail::check_writers(n));
    EMMY_TRY(order, launch_order(n));
    executable out;
    std::map<std::string, std::uint32_t, std::less<>> by_text, symbol_at;
    const auto symbol_place = [&](const loop::kernel& k, const std::string& text) {
        const auto [at, fresh] = symbol_at.emplace(text, static_cast<std::uint32_t>(out.symbols_.size()));
        if (fresh) out.symbols_.push_back({text, loop::hint_of(k, k.body.names.find(text))});
        return at->second;
    };
    for (const std::uint32_t at : order) {
        const loop::kernel& k = *n.nodes[at].kernel;
        const auto own = [&](fault f) { return refuse(std::move(f).at(k.name)); };
        std::optional<fork::cpu_schedules> made;
        const fork::cpu_schedules* schedules = chosen.empty() ? nullptr : chosen[at].schedules;
        if (!schedules) {
            auto fresh = fork::cpu_schedules::make(k, target);
            if (!fresh) return own(std::move(fresh).error());
            made = std::move(*fresh);
            schedules = &*made;
        }
        const fork::cpu_row row = !chosen.empty() && chosen[at].row ? *chosen[at].row : schedules->rows()[0];
        auto text = kernel::lower_cpu(*schedules, row);
        if (!text) return own(std::move(text).error());

        launch step;
        step.node = at;
        for (const std::string& s : text->symbols) step.symbols.push_back(symbol_place(k, s));
        for (const name_id s : loop::symbols(k)) symbol_place(k, std::string(k.body.text(s)));
        const auto [known, fresh] = by_text.emplace(text->source, static_cast<std::uint32_t>(out.kernels_.size()));
        if (fresh) out.kernels_.push_back({k.name, loop::identity(k), schedules->pairs(row), std::move(*text)});
        step.kernel = known->second;
        const std::vector<bool> read = inputs_read(k), added = outputs_added(k);
        for (std::size_t i = 0; i < k.inputs.size(); ++i) {
            const std::uint32_t b = n.nodes[at].inputs[i];
            step.buffers.push_back(b == none || !read[i] ? none : n.root(b));
        }
        for (std::size_t o = 0; o < k.outputs.size(); ++o) {
            const std::uint32_t b = n.root(n.nodes[at].outputs[o]);
            step.buffers.push_back(b);
            if (added[o]) step.zeroed.push_back(b);
        }
        out.launches_.push_back(std::move(step));
    }
    out.lifetimes_.resize(n.buffers.size());
    std::vector<bool> begun(n.buffers.size(), false);
    for (std::uint32_t i = 0; i < out.launches_.size(); ++i) {
        launch& step = out.launches_[i];
        // A sum of several kernels starts once.
        std::erase_if(step.zeroed, [&](std::uint32_t b) { return begun[b]; });
        for (const std::uint32_t b : step.zeroed) begun[b] = true;
        for (const std::uint32_t b : step.buffers) {
            if (b == none || n.buffers[b].role != role::workspace) continue;
            lifetime& life = out.lifetimes_[b];
            if (life.empty()) life.first = i;
            life.last = i;
        }
    }
    for (std::uint32_t i = 0; i < n.buffers.size(); ++i)
        if (n.buffers[i].role != role::workspace) out.given_.push_back(i);
    out.network_ = std::move(n);
    return out;
}

}  // namespace emmy::plan
