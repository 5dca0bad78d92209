#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/device/gate.hpp>
#include <emmy/device/impl/short_number.hpp>
#include <emmy/device/impl/tensor_bytes.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/loop/sample.hpp>
#include <emmy/plan/check.hpp>
#include <emmy/program/lower/bind.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace emmy::plan {

namespace detail {

inline bool is_given_in(const buffer& b) { return b.role == role::input || b.role == role::constant; }

/// Sizes of the plan's symbols that a kernel has.
inline std::vector<loop::symbol_size> sizes_for(const loop::kernel& k, const executable& plan, const binding& at) {
    std::vector<loop::symbol_size> out;
    for (const name_id id : loop::symbols(k))
        for (std::size_t s = 0; s < plan.symbols().size(); ++s)
            if (plan.symbols()[s].name == k.body.text(id)) out.push_back({plan.symbols()[s].name, at.sizes[s]});
    return out;
}

struct range {
    double low = -1, high = 1;
};
/// What the kernels that read a buffer need it to hold; the narrowest of several.
inline std::vector<range> ranges(const executable& plan) {
    std::vector<range> out(plan.buffers().size());
    std::vector<bool> known(out.size(), false);
    for (const launch& l : plan.launches()) {
        const loop::kernel& k = *plan.source().nodes[l.node].kernel;
        const auto seeded = loop::seeded_inputs(k, 1);
        for (std::size_t i = 0; i < k.inputs.size(); ++i) {
            const std::uint32_t b = l.buffers[i];
            if (b == none || i >= seeded.size()) continue;
            const range need{seeded[i].low, seeded[i].high};
            out[b] = known[b] ? range{std::max(out[b].low, need.low), std::min(out[b].high, need.high)} : need;
            known[b] = true;
        }
    }
    for (range& r : out)
        if (r.low >= r.high) r = {r.high - 1, r.high};
    return out;
}

/// The coarsest floating type that any value of the plan is rounded to.
inline dtype coarsest(const executable& plan) {
    dtype out = dtype::f32;
    const auto rank = [](dtype t) { return t == dtype::f8e5m2 ? 4 : t == dtype::f8e4m3 ? 3 : t == dtype::bf16 ? 2 : t == dtype::f16 ? 1 : 0; };
    const auto see = [&](dtype t) {
        if (rank(t) > rank(out)) out = t;
    };
    for (const node& n : plan.source().nodes) {
        for (const loop::buffer& b : n.kernel->outputs) see(b.type);
        for (const loop::stmt& s : n.kernel->body.stmts) {
            see(s.type);
            if (s.op == loop::op::to_f8e4m3) see(dtype::f8e4m3);
            if (s.op == loop::op::to_f8e5m2) see(dtype::f8e5m2);
        }
    }
    return out;
}

inline std::size_t arena_place(const executable& plan, std::uint32_t b) {
    for (std::size_t i = 0; i < plan.given().size(); ++i)
        if (plan.given()[i] == b) return i;
    return plan.given().size();
}
inline std::span<const std::byte> bytes_of(const executable& plan, const binding& at, const device::tensor_arena& arena, std::uint32_t b) {
    return arena[arena_place(plan, b)].subspan(plan.buffers()[b].role == role::workspace ? static_cast<std::size_t>(at.buffers[b].offset) : 0, static_cast<std::size_t>(at.buffers[b].bytes));
}

}  // namespace detail

EMMY_DECL result<given_bytes> seeded_bytes(const executable& plan, const binding& at, std::uint64_t seed) {
    const std::vector<detail::range> need = detail::ranges(plan);
    given_bytes out;
    for (const std::uint32_t b : plan.given()) {
        if (!detail::is_given_in(plan.buffers()[b])) continue;
        std::vector<std::byte> bytes(at.buffers[b].bytes);
        device::detail::fill_input(bytes, plan.buffers()[b].type, at.buffers[b].elements, device::detail::mixed(seed * 1000 + b), need[b].low, need[b].high);
        out.push_back(std::move(bytes));
    }
    return out;
}

EMMY_DECL result<given_bytes> program_bytes(const program::graph& traced, const program::primitive_graph& lowered, const executable& plan, const binding& at, std::uint64_t seed,
                                            std::vector<std::vector<double>>* wanted, double most_evaluations, std::span<const program::named_bytes> known) {
    const std::vector<detail::range> need = detail::ranges(plan);
    std::vector<program::bound_size> sizes;
    for (std::size_t s = 0; s < plan.symbols().size(); ++s) sizes.push_back({plan.symbols()[s].name, at.sizes[s]});
    std::vector<std::vector<std::byte>> kept;
    std::vector<program::named_bytes> named;
    kept.reserve(traced.nodes.size());
    for (program::node_id n = 0; n < traced.nodes.size(); ++n) {
        const program::node& node = traced.nodes[n];
        const bool tensor = node.op == program::op::constant && (traced.find(node, program::attr::source_path) || traced.find(node, program::attr::source_parts));
        if (node.op != program::op::input && !tensor) continue;
        const program::tensor& t = traced.outputs_of(node)[0];
        EMMY_TRY(count, program::element_count(traced, traced.shape_of(t.shape), sizes));
        const std::uint32_t b = plan.source().find(traced.id(n));
        detail::range range = reads_as_integer(t.type) ? detail::range{0, t.type == dtype::boolean ? 2.0 : t.type == dtype::f4e2m1x2 || t.type == dtype::u8 ? 256.0 : 7.0} : detail::range{};
        if (b != none && detail::is_given_in(plan.buffers()[b])) range = need[b];
        std::vector<std::byte> bytes(static_cast<std::size_t>(count) * byte_size(t.type));
        const auto own = std::find_if(known.begin(), known.end(), [&](const program::named_bytes& k) { return k.id == traced.id(n); });
        if (own != known.end() && own->bytes.size() != bytes.size()) return refuse(fault_kind::input, "found " + std::to_string(own->bytes.size()) + " bytes, expected " + std::to_string(bytes.size()), std::string(own->id));
        if (own != known.end()) std::copy(own->bytes.begin(), own->bytes.end(), bytes.begin());
        else device::detail::fill_input(bytes, t.type, static_cast<std::uint64_t>(count), device::detail::mixed(seed * 1000 + n), range.low, range.high);
        kept.push_back(std::move(bytes));
        named.push_back({traced.id(n), kept.back()});
    }
    given_bytes out;
    for (const std::uint32_t b : plan.given()) {
        const buffer& facts = plan.buffers()[b];
        if (!detail::is_given_in(facts)) continue;
        program::node_id node = program::no_node;
        const std::string& source = facts.transposed_of.empty() ? facts.name : facts.transposed_of;
        for (program::node_id n = 0; n < lowered.g.nodes.size(); ++n)
            if (lowered.g.id(n) == source) node = n;
        if (node == program::no_node) return refuse(fault_kind::input, "found no node of the program with this name, expected one", source);
        std::vector<std::byte> bytes;
        if (lowered.g.nodes[node].op == program::op::constant) {
            EMMY_TRY(bound, program::bind_constant(traced, lowered.g, node, named, sizes));
            bytes = std::move(bound);
        } else {
            for (const program::named_bytes& have : named)
                if (have.id == source) bytes.assign(have.bytes.begin(), have.bytes.end());
        }
        if (!facts.transposed_of.empty()) {
            std::vector<std::int64_t> folded(at.buffers[b].shape.rbegin(), at.buffers[b].shape.rend());
            bytes = device::detail::swapped(bytes, folded, byte_size(facts.type));
        }
        if (bytes.size() != at.buffers[b].bytes) return refuse(fault_kind::input, "found " + std::to_string(bytes.size()) + " bytes of the program's tensor, expected " + std::to_string(at.buffers[b].bytes), facts.name);
        out.push_back(std::move(bytes));
    }
    if (!wanted) return out;
    double evaluations = 0;
    for (const program::node& n : lowered.g.nodes) {
        EMMY_TRY(count, program::element_count(lowered.g, lowered.g.shape_of(lowered.g.outputs_of(n)[0].shape), sizes));
        evaluations += static_cast<double>(count);
    }
    wanted->clear();
    if (evaluations > most_evaluations) return out;
    EMMY_TRY(values, program::evaluate(traced, lowered, named, sizes));
    for (program::evaluated& v : values) wanted->push_back(std::move(v.values));
    return out;
}

EMMY_DECL result<given_bytes> answer_bytes(const executable& plan, const binding& at, const device::answer& answer) {
    given_bytes out;
    for (const std::uint32_t b : plan.given()) {
        const buffer& facts = plan.buffers()[b];
        if (!detail::is_given_in(facts)) continue;
        const std::string& source = facts.transposed_of.empty() ? facts.name : facts.transposed_of;
        std::size_t place = 0;
        while (place < answer.inputs().size() && answer.names()[place] != source) ++place;
        if (place == answer.inputs().size()) return refuse(fault_kind::input, "found a buffer that the kernel does not have, expected one of its inputs", source);
        out.push_back(facts.transposed_of.empty() ? answer.inputs()[place] : device::detail::swapped(answer.inputs()[place], answer.shapes()[place], byte_size(facts.type)));
        if (out.back().size() != at.buffers[b].bytes) return refuse(fault_kind::input, "found " + std::to_string(out.back().size()) + " bytes, expected " + std::to_string(at.buffers[b].bytes), source);
    }
    return out;
}

EMMY_DECL void fill(device::tensor_arena& arena, const executable& plan, const given_bytes& given) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < plan.given().size() && next < given.size(); ++i)
        if (detail::is_given_in(plan.buffers()[plan.given()[i]])) {
            const std::vector<std::byte>& bytes = given[next++];
            if (!bytes.empty()) std::memcpy(arena[i].data(), bytes.data(), std::min(bytes.size(), arena[i].size()));
        }
}

EMMY_DECL std::string unlike(const executable& plan, const device::tensor_arena& a, const device::tensor_arena& b) {
    for (std::size_t i = 0; i < plan.given().size(); ++i) {
        if (plan.buffers()[plan.given()[i]].role != role::output) continue;
        const auto x = a[i], y = b[i];
        for (std::size_t e = 0; e < x.size(); ++e)
            if (x[e] != y[e]) return plan.buffers()[plan.given()[i]].name + ": other bytes where memory is reused, the first at " + std::to_string(e);
    }
    return {};
}

EMMY_DECL result<verdict> check_kernels(const executable& plan, const binding& kept, const device::tensor_arena& arena, const check_options& how) {
    verdict out;
    std::size_t dear = 0;
    for (const launch& l : plan.launches()) {
        const loop::kernel& k = *plan.source().nodes[l.node].kernel;
        const auto own = [&](fault f) { return refuse(std::move(f).at(k.name)); };
        auto machine = loop::interpreter::make(k, {.sizes = detail::sizes_for(k, plan, kept), .bounds = true});
        if (!machine) return own(std::move(machine).error());
        std::vector<loop::input_data> data;
        for (std::size_t i = 0; i < k.inputs.size(); ++i) data.push_back(l.buffers[i] == none ? loop::input_data{} : loop::input_data::of_bytes(detail::bytes_of(plan, kept, arena, l.buffers[i])));
        if (auto bound = machine->bind(data); !bound) return own(std::move(bound).error());
        std::vector<bool> written(k.outputs.size(), false);
        for (const loop::stmt& s : k.body.stmts)
            for (std::size_t o = 0; o < k.outputs.size(); ++o)
                if (s.kind == loop::stmt_kind::write && s.buffer == k.outputs[o].name) written[o] = true;
        struct cell {
            double value = 0, bound = 0;
            std::int64_t at = 0;
        };
        std::vector<std::vector<cell>> cells(k.outputs.size());
        std::uint64_t cost = 0;
        for (const loop::sampled_cell& c : loop::sample_cells(*machine, how.seed, how.cells)) {
            cost += std::min(machine->cell_cost(c.output), how.interpret_below + 1);
            if (cost > how.interpret_below) {
                dear += out.cells == 0 || cells[c.output].empty();
                break;
            }
            auto value = machine->bounded_cell(c.output, c.at);
            if (!value) return own(std::move(value).error());
            std::int64_t flat = 0;
            for (std::size_t d = 0; d < c.at.size(); ++d) flat = flat * machine->output_shape(c.output)[d] + c.at[d];
            cells[c.output].push_back({value->value, value->bound, flat});
        }
        for (std::size_t o = 0; o < k.outputs.size(); ++o) {
            const std::uint32_t b = l.buffers[k.inputs.size() + o];
            const std::span<const std::byte> bytes = detail::bytes_of(plan, kept, arena, b);
            const std::string label = k.name + "." + plan.buffers()[b].name + ": ";
            if (written[o])
                if (const std::string unwritten = device::unwritten_cells(k.outputs[o].type, kept.buffers[b].elements, bytes.data()); !unwritten.empty()) {
                    out.wrong = label + unwritten;
                    return out;
                }
            double squares = 0;
            std::size_t finite = 0;
            for (const cell& c : cells[o])
                if (std::isfinite(c.value)) squares += c.value * c.value, ++finite;
            const double scale = finite ? std::sqrt(squares / static_cast<double>(finite)) : 0;
            const device::error_model model{k.outputs[o].type, static_cast<double>(machine->cell_cost(o)), how.fast_math};
            for (const cell& c : cells[o]) {
                if (std::isinf(c.bound)) continue;  // a code made of rounded values: nothing can be said
                ++out.cells;
                const double found = load_element(k.outputs[o].type, bytes.data(), static_cast<std::size_t>(c.at));
                const double allowed = model.tolerance(c.value, scale) + 1.5 * c.bound * (how.fast_math ? 16 : 1);
                if (found == c.value || (std::isnan(found) && std::isnan(c.value)) || std::abs(found - c.value) <= allowed) continue;
                out.wrong = label + "cell " + std::to_string(c.at) + ": found " + device::detail::number(found) + ", expected " + device::detail::number(c.value) + " +- " + device::detail::number(allowed);
                return out;
            }
        }
    }
    out.reference = "interpreter, " + std::to_string(out.cells) + " cells of " + std::to_string(plan.launches().size()) + (plan.launches().size() == 1 ? " kernel" : " kernels") +
                    (plan.launches().size() == 1 ? "" : ", each on what it was given") + (dear ? "; cells of " + std::to_string(dear) + " are too dear" : "");
    return out;
}

namespace detail {
/// Values on the way that are rounded to less than f32: each may fall to the other side of the reference's, and a later one sees that.
inline double rounding_points(const executable& plan) {
    double out = 0;
    for (const node& n : plan.source().nodes)
        for (const loop::stmt& s : n.kernel->body.stmts) out += s.type == dtype::f16 || s.type == dtype::bf16 || s.type == dtype::f8e4m3 || s.type == dtype::f8e5m2;
    return out;
}
}  // namespace detail

EMMY_DECL result<std::string> check_outputs(const executable& plan, const binding& at, const device::tensor_arena& arena, std::span<const std::vector<double>> wanted, bool fast_math) {
    double terms = 1;
    for (const launch& l : plan.launches()) {
        const loop::kernel& k = *plan.source().nodes[l.node].kernel;
        EMMY_TRY(machine, loop::interpreter::make(k, {.sizes = detail::sizes_for(k, plan, at)}));
        double most = 0;
        for (std::size_t o = 0; o < k.outputs.size(); ++o) most = std::max(most, static_cast<double>(machine.cell_cost(o)));
        terms += most;
    }
    const dtype rounded = detail::coarsest(plan);
    const double ways = std::sqrt(std::max(1.0, detail::rounding_points(plan)));
    std::size_t next = 0;
    for (std::size_t i = 0; i < plan.given().size() && next < wanted.size(); ++i) {
        const buffer& b = plan.buffers()[plan.given()[i]];
        if (b.role != role::output) continue;
        const std::vector<double>& values = wanted[next++];
        if (values.empty()) continue;
        if (values.size() != at.buffers[plan.given()[i]].elements) return refuse(fault_kind::internal, "found " + std::to_string(values.size()) + " wanted values", b.name);
        double squares = 0;
        std::size_t finite = 0;
        for (const double v : values)
            if (std::isfinite(v)) squares += v * v, ++finite;
        const double scale = finite ? std::sqrt(squares / static_cast<double>(finite)) : 0;
        // Values on the way are rounded at their own size: a cell near zero is no more exact than the others.
        const device::error_model model{is_integer(b.type) ? b.type : rounded, terms, fast_math};
        for (std::size_t e = 0; e < values.size(); ++e) {
            const double found = load_element(b.type, arena[i].data(), e), allowed = ways * model.tolerance(std::max(std::abs(values[e]), scale), scale);
            if (found == values[e] || (std::isnan(found) && std::isnan(values[e])) || std::abs(found - values[e]) <= allowed) continue;
            return b.name + ": cell " + std::to_string(e) + ": found " + device::detail::number(found) + ", expected " + device::detail::number(values[e]) + " +- " + device::detail::number(allowed);
        }
    }
    return std::string();
}

}  // namespace emmy::plan
