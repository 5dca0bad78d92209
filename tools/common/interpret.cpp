#include <common/interpret.hpp>

#include <emmy/loop/sample.hpp>

#include <set>

namespace emmy::tools {

result<cell_list> interpret_cells(const subject& what, std::uint64_t seed, std::vector<std::string>& notes) {
    constexpr std::uint64_t affordable = 100'000'000;
    EMMY_TRY(reference, loop::interpreter::make(what.kernel, {.sizes = what.sizes()}));
    const auto inputs = loop::seeded_inputs(what.kernel, seed + 1);
    EMMY_CHECK_OK(reference.bind(inputs));
    cell_list out;
    std::set<std::size_t> dear;
    for (const loop::sampled_cell& c : loop::sample_cells(reference, seed + 1, 8)) {
        const std::string name(what.kernel.body.text(what.kernel.outputs[c.output].name));
        if (reference.cell_cost(c.output) > affordable) {
            if (dear.insert(c.output).second) notes.push_back("a cell of " + name + " takes more than 10^8 evaluations: not interpreted");
            continue;
        }
        EMMY_TRY(value, reference.cell(c.output, c.at));
        std::string at = name + "[";
        for (std::size_t i = 0; i < c.at.size(); ++i) at += (i ? "," : "") + std::to_string(c.at[i]);
        out.emplace_back(at + "]", value);
    }
    return out;
}

}  // namespace emmy::tools
