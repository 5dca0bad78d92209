#pragma once
#include <emmy/program/import/impl/archive.ipp>
#include <emmy/program/import/impl/importer.ipp>
#include <emmy/program/import/impl/parts.ipp>
#include <emmy/program/specialise.hpp>

namespace emmy::program::pt2 {

EMMY_DECL std::string refusal::line() const {
    std::string out = node + ": " + target;
    if (!argument.empty()) out += ": " + argument;
    out += ": " + reason;
    if (!module.empty()) out += " (in " + module + ")";
    return out;
}

EMMY_DECL result<imported> import_program(const exported_program& from, const import_options& how, std::vector<refusal>* refused) {
    EMMY_TRY(chosen, detail::select(from, how));
    std::vector<std::string_view> states;
    if (chosen.whole)
        for (const graph_output& o : from.outputs)
            for (const graph_input& i : from.inputs)
                if ((o.role == output_role::buffer_mutation && i.role == input_role::buffer && i.path == o.path) || (o.role == output_role::input_mutation && i.role == input_role::user && i.what.text == o.path))
                    states.push_back(i.what.text);
    for (int round = 0; round < 2; ++round) {
        std::vector<refusal> found;
        detail::importer one(from, how);
        auto made = one.run(chosen, states, found);
        if (!made) return made;
        if (!found.empty()) {
            const std::string more = found.size() == 1 ? "" : " (" + std::to_string(found.size()) + " of this kind in all)";
            auto out = refuse(fault_kind::input, found[0].line() + more, {}, from.file);
            if (refused) *refused = std::move(found);
            return out;
        }
        bool all_known = true;
        for (const std::string_view n : one.changed())
            if (std::find(states.begin(), states.end(), n) == states.end()) {
                states.push_back(n);  // its value before is an input then
                all_known = false;
            }
        if (!all_known) continue;
        made->g = prune(made->g);
        return made;
    }
    return refuse(fault_kind::internal, "found other changed buffers in the second round", {}, from.file);
}

EMMY_DECL result<std::vector<std::vector<std::byte>>> read_weights(const pt2_archive& from, const imported& program) {
    std::vector<std::vector<std::byte>> out;
    for (const weight_binding& w : program.weights) {
        const node_id n = program.g.find_node(w.id);
        const stored_tensor* t = from.find(w.stored_path);
        if (!t) return refuse(fault_kind::input, "found no tensor of this path, expected the weight of " + w.id, w.stored_path, from.file());
        if (n != no_node) {
            const tensor& declared = program.g.at({n, 0});
            const auto shape = program.g.shape({n, 0});
            bool fits = archive::dtype_of(t->type) == declared.type && shape.size() == t->shape.size();
            for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i].kind == dim::form::number && shape[i].number == t->shape[i];
            if (!fits) return refuse(fault_kind::input, "found " + archive::describe(t->type, t->shape) + ", expected what the program declares for " + w.id, w.stored_path, from.file());
        }
        EMMY_TRY(bytes, from.read(*t));
        out.push_back(std::move(bytes));
    }
    return out;
}

EMMY_DECL std::vector<operator_facts> operators() {
    std::vector<operator_facts> out;
    for (const detail::row& r : detail::rows()) out.push_back({r.name, r.arguments});
    return out;
}

}  // namespace emmy::program::pt2
