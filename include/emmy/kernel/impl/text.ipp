#pragma once
#include <emmy/kernel/impl/ordered.ipp>
#include <emmy/kernel/impl/plans.ipp>
#include <emmy/kernel/print_cpu.hpp>
#include <emmy/kernel/text.hpp>

#include <emmy/loop/dims.hpp>
#include <emmy/loop/interpret.hpp>

namespace emmy::kernel {

namespace detail {
inline void build_part(const fork::cpu_part& part, const fork::cpu_row& row, const fork::cpu_target& target, program& p) {
    if (part.facts.form == fork::cpu_form::ordered) ordered_plan(part, row, p).build();
    else if (part.facts.form == fork::cpu_form::contraction && row.tile.form == knob::tile_form::scalar) contraction_plan(part, row, target, p).build();
    else grid_plan(part, row, target, p).build();
}
}  // namespace detail

EMMY_DECL std::vector<long long> cpu_text::launch_sizes(const loop::kernel& k, std::span<const loop::symbol_size> given) const {
    std::vector<long long> out;
    for (const std::string& symbol : symbols) {
        long long size = loop::hint_of(k, k.body.names.find(symbol));
        for (const loop::symbol_size& g : given)
            if (g.symbol == symbol) size = g.size;
        out.push_back(size);
    }
    return out;
}

EMMY_DECL std::uint64_t cpu_text::scratch_bytes(int parts, std::span<const long long> sizes) const {
    const auto total = [&](const std::vector<slab_size>& list) {
        std::uint64_t out = 0;
        for (const slab_size& s : list) {
            std::uint64_t bytes = s.bytes;
            for (std::uint32_t symbol : s.symbols) bytes *= static_cast<std::uint64_t>(sizes[symbol]);
            out += (bytes + 63) / 64 * 64;
        }
        return out;
    };
    return total(shared_slabs) + total(part_slabs) * static_cast<std::uint64_t>(parts);
}

EMMY_DECL result<program> lower_program(const fork::cpu_schedules& schedules, const fork::cpu_row& row) {
    EMMY_CHECK_OK(schedules.check(row));
    program p = detail::empty_program(schedules.kernel());
    if (schedules.facts().form != fork::cpu_form::staged) {
        detail::build_part(schedules.whole(), row, schedules.target(), p);
        return p;
    }
    const fork::cpu_stages& steps = schedules.stages();
    const auto add = [&](node n) {
        p.nodes.push_back(std::move(n));
        return static_cast<node_id>(p.nodes.size() - 1);
    };
    for (const fold::table& t : steps.tables) {
        memory m{space::shared_slab, t.type, t.name, 1, {}};
        for (const dim& d : t.shape) {
            if (d.kind == dim::form::number) m.elements *= static_cast<std::uint64_t>(d.number);
            else
                for (std::uint32_t i = 0; i < p.symbols.size(); ++i)
                    if (p.symbols[i] == schedules.kernel().body.text(d.symbol)) m.symbols.push_back(i);
        }
        p.memories.push_back(std::move(m));
        p.body.push_back(add({.kind = node_kind::slab, .memory = static_cast<memory_id>(p.memories.size() - 1)}));
    }
    for (std::size_t i = 0; i < steps.parts.size(); ++i) {
        if (i > 0 && steps.levels[i] != steps.levels[i - 1]) {
            p.body.push_back(add({.kind = node_kind::barrier}));
            p.uses_barrier = true;
        }
        std::vector<node_id> before = std::move(p.body);
        p.body.clear();
        p.slabs_in_use = 0;
        detail::build_part(steps.parts[i], schedules.part_row(i, row), schedules.target(), p);
        node scope{.kind = node_kind::tile, .body = std::move(p.body)};
        p.body = std::move(before);
        p.body.push_back(add(std::move(scope)));
    }
    return p;
}

EMMY_DECL result<cpu_text> lower_cpu(const fork::cpu_schedules& schedules, const fork::cpu_row& row) {
    EMMY_TRY(made, lower_program(schedules, row));
    printed p = print_cpu(made);
    cpu_text out;
    out.source = std::move(p.source);
    out.entry = made.entry;
    out.symbols = made.symbols;
    out.shared_slabs = std::move(p.shared);
    out.part_slabs = std::move(p.part);
    out.uses_barrier = made.uses_barrier;
    return out;
}

EMMY_DECL result<cpu_text> lower_cpu(const loop::kernel& k, const fork::cpu_row& row, const fork::cpu_target& target) {
    EMMY_TRY(schedules, fork::cpu_schedules::make(k, target));
    return lower_cpu(schedules, row);
}

}  // namespace emmy::kernel
