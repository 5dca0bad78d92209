#include <common/structure.hpp>

#include <emmy/evidence/cpu_forks.hpp>
#include <emmy/evidence/resolve.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/plan/decided.hpp>

#include <algorithm>

namespace emmy::tools {

namespace {

/// Constants of a program whose last bind-time step is a transpose of two axes.
std::vector<std::string> turned_constants(const program::primitive_graph& lowered) {
    std::vector<std::string> out;
    const program::graph& g = lowered.g;
    for (program::node_id n = 0; n < g.nodes.size(); ++n) {
        const program::attribute* steps = g.nodes[n].op == program::op::constant ? g.find(g.nodes[n], program::attr::load_ops) : nullptr;
        if (!steps || steps->list.count == 0 || g.shape({n, 0}).size() != 2) continue;
        if (g.load_ops[steps->list.first + steps->list.count - 1].op == program::op::transpose) out.emplace_back(g.id(n));
    }
    return out;
}

}  // namespace

bool structural(const knob::pin_list& pins) {
    return std::any_of(pins.begin(), pins.end(), [](const knob::pin& p) { return p.structural(); });
}

result<void> take_apart(unit& what, const knob::pin_list& pins, const fork::cpu_target& target, std::vector<std::string>& notes) {
    if (!structural(pins)) return {};
    std::vector<evidence::subject> targets;
    for (const subject& k : what.kernels) {
        evidence::subject s;
        s.name = k.kernel.name, s.node_id = k.kernel.node_id, s.identity = k.identity, s.bindings = k.bindings;
        s.body = std::make_shared<const loop::kernel>(k.kernel);
        targets.push_back(std::move(s));
    }
    evidence::cpu_forks forks(target);
    if (what.lowered) forks.transposed_constants(turned_constants(*what.lowered));
    evidence::resolve_options options;
    options.pins = &pins;
    EMMY_TRY(decided, evidence::resolve(targets, nullptr, forks, options));
    notes.insert(notes.end(), decided.notes.begin(), decided.notes.end());
    EMMY_TRY(made, plan::apply(what.network, decided));
    if (made.leaves == decided.roots) return {};
    std::vector<subject> kernels;
    for (std::size_t n = 0; n < made.leaves.size(); ++n) {
        const std::uint32_t leaf = made.leaves[n];
        if (const auto root = std::find(decided.roots.begin(), decided.roots.end(), leaf); root != decided.roots.end()) {
            kernels.push_back(what.kernels[static_cast<std::size_t>(root - decided.roots.begin())]);
            continue;
        }
        subject piece;
        piece.kernel = *made.network.nodes[n].kernel;
        piece.name = what.name + " " + piece.kernel.name, piece.identity = decided.kernels[leaf].what.identity;
        for (const name_id id : loop::symbols(piece.kernel))
            for (const auto& [symbol, size] : decided.kernels[leaf].what.bindings)
                if (symbol == piece.kernel.body.text(id)) piece.bindings.emplace_back(symbol, size);
        kernels.push_back(std::move(piece));
    }
    if (!what.lowered) what.whole = std::move(what.kernels.front());
    what.kernels = std::move(kernels), what.network = std::move(made.network);
    return {};
}

}  // namespace emmy::tools
