#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/device/answer.hpp>
#include <emmy/device/impl/gate.ipp>
#include <emmy/device/impl/tensor_bytes.hpp>
#include <emmy/loop/sample.hpp>
#include <emmy/program/evaluate.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace emmy::device {

namespace detail {
constexpr double most_evaluations = 1e11;
inline tl::unexpected<fault> too_dear(double evaluations) {
    return refuse(fault_kind::user, "the reference of every cell takes " + number(evaluations) + " evaluations, expected at most " + number(most_evaluations) + ": smaller sizes (--dynamic) would do");
}
}  // namespace detail

EMMY_DECL result<answer> answer::outline(const loop::kernel& k, std::span<const loop::symbol_size> sizes, const answer_options& options) {
    answer out;
    out.fast_math_ = options.fast_math;
    EMMY_TRY(reference, loop::interpreter::make(k, {.mode = loop::numeric_mode::typed, .sizes = {sizes.begin(), sizes.end()}}));
    const auto count = [](std::span<const std::int64_t> shape) {
        std::uint64_t n = 1;
        for (std::int64_t s : shape) n = s > 0 && n < (std::uint64_t(1) << 40) ? n * static_cast<std::uint64_t>(s) : n;
        return n;
    };
    const auto add = [&](const loop::buffer& b, std::span<const std::int64_t> shape, bool output) {
        out.names_.emplace_back(k.body.text(b.name));
        out.shapes_.emplace_back(shape.begin(), shape.end());
        out.buffers_.push_back({b.type, count(shape), output});
    };
    for (std::size_t i = 0; i < k.inputs.size(); ++i) add(k.inputs[i], reference.input_shape(i), false);
    for (std::size_t i = 0; i < k.outputs.size(); ++i) add(k.outputs[i], reference.output_shape(i), true);
    for (const buffer_spec& b : out.buffers_)
        if (b.bytes() > (std::uint64_t(1) << 34)) return refuse(fault_kind::input, "a buffer of " + std::to_string(b.bytes()) + " bytes, expected at most 16 GiB");
    for (std::size_t o = 0; o < k.outputs.size(); ++o) out.terms_ = std::max(out.terms_, static_cast<double>(reference.cell_cost(o)));
    return out;
}

EMMY_DECL result<answer> answer::from_data(const loop::kernel& k, std::span<const loop::symbol_size> sizes, std::vector<std::vector<std::byte>> inputs, std::vector<std::vector<std::byte>> outputs,
                                           std::string label, const answer_options& options) {
    EMMY_TRY(out, outline(k, sizes, options));
    if (inputs.size() != k.inputs.size() || outputs.size() != k.outputs.size()) return refuse(fault_kind::input, "found data of " + std::to_string(inputs.size()) + " inputs and " + std::to_string(outputs.size()) + " outputs of " + k.name);
    for (std::size_t i = 0; i < out.buffers_.size(); ++i) {
        const std::vector<std::byte>& bytes = i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
        if (bytes.size() != out.buffers_[i].bytes()) return refuse(fault_kind::input, "found " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(out.buffers_[i].bytes()), out.names_[i]);
    }
    std::uint64_t cells = 0;
    for (std::size_t o = 0; o < k.outputs.size(); ++o) {
        const buffer_spec& spec = out.buffers_[inputs.size() + o];
        out.wanted_.push_back({o, {}, program::from_bytes(spec.type, outputs[o]), {}});
        out.wanted_.back().bytes = std::move(outputs[o]);
        cells += spec.elements;
    }
    out.inputs_ = std::move(inputs);
    out.reference_ = std::move(label) + ", all " + std::to_string(cells) + " cells";
    return out;
}

EMMY_DECL std::vector<std::byte> answer::wanted_bytes(std::size_t output) const {
    for (const wanted& w : wanted_)
        if (w.output == output && w.at.empty()) return !w.bytes.empty() ? w.bytes : program::to_bytes(buffers_[inputs_.size() + output].type, w.values);
    return {};
}

EMMY_DECL result<answer> answer::prepare(const loop::kernel& k, std::span<const loop::symbol_size> sizes, const program::graph* g, std::span<const loop::kernel_port> ports, const answer_options& options) {
    EMMY_TRY(out, outline(k, sizes, options));
    EMMY_TRY(reference, loop::interpreter::make(k, {.mode = loop::numeric_mode::typed, .sizes = {sizes.begin(), sizes.end()}}));
    std::vector<loop::input_data> bound;
    const auto seeded = loop::seeded_inputs(k, options.seed);
    const bool from_program = g && ports.size() == k.inputs.size();
    for (std::size_t i = 0; i < k.inputs.size(); ++i) {
        std::vector<std::byte> bytes(out.buffers_[i].bytes());
        if (i < options.given.size() && !options.given[i].empty()) {
            if (options.given[i].size() != bytes.size()) return refuse(fault_kind::input, "found " + std::to_string(options.given[i].size()) + " bytes, expected " + std::to_string(bytes.size()), out.names_[i]);
            bytes = options.given[i];
        } else if (from_program && ports[i].from == loop::kernel_port::source::literal)
            for (std::uint64_t e = 0; e < out.buffers_[i].elements; ++e) reads_as_integer(k.inputs[i].type) ? store_integer(k.inputs[i].type, bytes.data(), e, static_cast<std::int64_t>(ports[i].value)) : store_real(k.inputs[i].type, bytes.data(), e, ports[i].value);
        else
            detail::fill_input(bytes, k.inputs[i].type, out.buffers_[i].elements, detail::mixed(options.seed * 1000 + i), i < seeded.size() ? seeded[i].low : -1, i < seeded.size() ? seeded[i].high : 1);
        out.inputs_.push_back(std::move(bytes));
    }
    for (const auto& bytes : out.inputs_) bound.push_back(loop::input_data::of_bytes(bytes));

    // Cells to look at: seeded ones, and the last of each output (tails go wrong first).
    EMMY_CHECK_OK(reference.bind(bound));
    auto cells = loop::sample_cells(reference, options.seed, options.cells);
    const auto flat = [&](const loop::sampled_cell& c) {
        std::int64_t at = 0;
        const auto shape = reference.output_shape(c.output);
        for (std::size_t d = 0; d < c.at.size() && d < shape.size(); ++d) at = at * shape[d] + c.at[d];
        return at;
    };

    if (from_program && k.outputs.size() == 1) {
        std::vector<std::vector<std::byte>> held;  // bytes the program wants in another layout
        held.reserve(ports.size());
        std::vector<program::named_bytes> given;
        for (std::size_t i = 0; i < ports.size(); ++i) {
            if (ports[i].from == loop::kernel_port::source::literal) continue;
            if (ports[i].from == loop::kernel_port::source::transposed_tensor) {
                held.push_back(detail::swapped(out.inputs_[i], out.shapes_[i], byte_size(k.inputs[i].type)));
                given.push_back({ports[i].node, held.back()});
            } else {
                given.push_back({ports[i].node, out.inputs_[i]});
            }
        }
        std::vector<program::bound_size> bound_sizes;
        for (const auto& s : sizes) bound_sizes.push_back({s.symbol, s.size});
        wanted want;
        const auto elements = out.buffers_.back().elements;
        const double evaluations = static_cast<double>(elements) * out.terms_;
        if (options.every_cell && evaluations > detail::most_evaluations) return detail::too_dear(evaluations);
        if (options.every_cell || evaluations <= static_cast<double>(options.whole_below) || elements <= options.cells) {
            if (auto all = program::evaluate(*g, given, bound_sizes); all && all->size() == 1 && all->front().values.size() == elements) {
                want.values = std::move(all->front().values);
                out.reference_ = "program in double, all " + std::to_string(elements) + " cells";
                out.wanted_.push_back(std::move(want));
                return out;
            }
        }
        for (const auto& c : cells) want.at.push_back(flat(c));
        for (std::uint64_t tail = 1; tail <= 16 && tail <= elements; ++tail) want.at.push_back(static_cast<std::int64_t>(elements - tail));
        std::sort(want.at.begin(), want.at.end());
        want.at.erase(std::unique(want.at.begin(), want.at.end()), want.at.end());
        if (options.every_cell) want.at.clear();  // the program has no reference: the interpreter has
        else if (auto some = program::evaluate_cells(*g, given, bound_sizes, want.at); some && some->size() == want.at.size()) {
            want.values = std::move(*some);
            out.reference_ = "program in double, " + std::to_string(want.at.size()) + " cells";
            out.wanted_.push_back(std::move(want));
            return out;
        }
    }

    if (options.every_cell) {
        const double evaluations = static_cast<double>(reference.run_cost());
        if (evaluations > detail::most_evaluations) return detail::too_dear(evaluations);
        EMMY_TRY(all, reference.run());
        std::uint64_t count = 0;
        for (std::size_t o = 0; o < k.outputs.size(); ++o) {
            out.wanted_.push_back({o, {}, program::from_bytes(k.outputs[o].type, all[o]), {}});
            out.wanted_.back().bytes = std::move(all[o]);
            count += out.buffers_[k.inputs.size() + o].elements;
        }
        out.reference_ = "interpreter, all " + std::to_string(count) + " cells";
        return out;
    }
    std::vector<wanted> by_output(k.outputs.size());
    double cost = 0;
    std::size_t taken = 0;
    for (const auto& c : cells) {
        cost += static_cast<double>(reference.cell_cost(c.output));
        if (taken > 0 && cost > static_cast<double>(options.interpret_below)) break;
        EMMY_TRY(value, reference.cell(c.output, c.at));
        by_output[c.output].output = c.output;
        by_output[c.output].at.push_back(flat(c));
        by_output[c.output].values.push_back(value);
        ++taken;
    }
    for (wanted& w : by_output)
        if (!w.values.empty()) out.wanted_.push_back(std::move(w));
    out.reference_ = "interpreter, " + std::to_string(taken) + " cells";
    return out;
}

EMMY_DECL result<tensor_arena> answer::arena() const {
    EMMY_TRY(out, tensor_arena::create(buffers_));
    for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (!inputs_[i].empty()) std::memcpy(out[i].data(), inputs_[i].data(), inputs_[i].size());
    return std::move(out);
}

EMMY_DECL std::string answer::check(const tensor_arena& arena) const {
    for (const wanted& want : wanted_) {
        const std::size_t place = inputs_.size() + want.output;
        const buffer_spec& spec = buffers_[place];
        const std::byte* bytes = arena[place].data();
        const std::string label = names_[place] + ": ";
        // Every cell must have been written, also those that are not compared.
        if (std::string unwritten = unwritten_cells(spec.type, spec.elements, bytes); !unwritten.empty()) return label + unwritten;
        std::vector<double> found;
        if (want.at.empty()) {
            found.reserve(want.values.size());
            for (std::size_t i = 0; i < want.values.size(); ++i) found.push_back(load_element(spec.type, bytes, i));
        } else {
            for (std::int64_t i : want.at) found.push_back(load_element(spec.type, bytes, static_cast<std::size_t>(i)));
        }
        if (std::string wrong = wrong_answer(found, want.values, want.at, {spec.type, terms_, fast_math_}); !wrong.empty()) return label + wrong;
    }
    return {};
}

}  // namespace emmy::device
