#pragma once
#include <emmy/program/impl/evaluate.ipp>
#include <emmy/program/impl/pointwise.ipp>
#include <emmy/program/lower/bind.hpp>
#include <emmy/program/wire.hpp>

#include <cstring>

namespace emmy::program {
namespace detail {

/// One constant of a lowered program, or of a source graph in it, from the traced program's tensors.
class constant_binding {
public:
    constant_binding(const graph& traced, std::span<const named_bytes> given, std::span<const bound_size> sizes) : traced_(traced), given_(given), sizes_(sizes) {}

    result<std::vector<std::byte>> bytes(const graph& g, node_id id) const {
        const node& n = g.nodes[id];
        const auto wrong = [&](std::string what) { return refuse(fault_kind::input, std::move(what), std::string(g.id(id))); };
        if (n.op != op::constant) return wrong("found " + std::string(text(n.op)) + ", expected a constant");
        if (const attribute* inner = g.find(n, attr::source_graph); inner != nullptr && needs_tensors(g.nested[inner->graph])) return computed(g, n, g.nested[inner->graph]);
        if (g.find(n, attr::source_path) == nullptr && g.find(n, attr::source_parts) == nullptr) {
            const evaluation alone(g, {}, sizes_);
            EMMY_TRY(value, alone.constant(n));
            return to_bytes(value);
        }
        // The traced constant of the same tensor whose steps this one's begin with; the rest is done here.
        const std::vector<std::string> wanted = steps(g, n);
        node_id from = no_node;
        std::size_t done = 0;
        for (node_id t = 0; t < traced_.nodes.size(); ++t) {
            const node& candidate = traced_.nodes[t];
            if (candidate.op != op::constant || source(traced_, candidate) != source(g, n)) continue;
            const std::vector<std::string> own = steps(traced_, candidate);
            if (own.size() > wanted.size() || !std::equal(own.begin(), own.end(), wanted.begin()) || (from != no_node && own.size() < done)) continue;
            if (from != no_node && own.size() == done && traced_.id(t) != g.id(id)) continue;
            from = t;
            done = own.size();
        }
        if (from == no_node) return wrong("found no tensor of the traced program with this source, expected one");
        for (const named_bytes& b : given_)
            if (b.id == traced_.id(from)) {
                EMMY_TRY(shape, concrete_shape(traced_, traced_.shape_of(traced_.outputs_of(traced_.nodes[from])[0].shape), sizes_));
                const dtype type = traced_.outputs_of(traced_.nodes[from])[0].type;
                const std::size_t size = static_cast<std::size_t>(count_of(shape)) * byte_size(type);
                if (b.bytes.size() != size) return wrong("found " + std::to_string(b.bytes.size()) + " bytes, expected " + std::to_string(size));
                return stepped(g, n, done, type, std::move(shape), {b.bytes.begin(), b.bytes.end()});
            }
        return wrong("found no bytes of \"" + std::string(traced_.id(from)) + "\", expected some");
    }

private:
    static bool needs_tensors(const graph& g) {
        for (const node& n : g.nodes) {
            if (n.op != op::constant) continue;
            if (g.find(n, attr::source_path) || g.find(n, attr::source_parts)) return true;
            if (const attribute* inner = g.find(n, attr::source_graph); inner != nullptr && needs_tensors(g.nested[inner->graph])) return true;
        }
        return false;
    }
    static std::string source(const graph& g, const node& n) {
        if (const attribute* path = g.find(n, attr::source_path)) return std::string(g.text(path->text));
        std::string out;
        if (const attribute* parts = g.find(n, attr::source_parts))
            for (std::uint32_t i = 0; i < parts->list.count; ++i) (out += '\n') += g.text(g.parts[parts->list.first + i].path);
        return out;
    }
    static std::vector<std::string> steps(const graph& g, const node& n) {
        std::vector<std::string> out;
        if (const attribute* list = g.find(n, attr::load_ops))
            for (std::uint32_t i = 0; i < list->list.count; ++i) {
                const load_op& step = g.load_ops[list->list.first + i];
                std::string line(text(step.op));
                json::writer w(line);
                write_attributes(w, g, {.op = step.op, .attrs = step.attrs});
                out.push_back(std::move(line));
            }
        return out;
    }
    /// The steps from `first` on: turned and reshaped as bytes, functions element by element.
    result<std::vector<std::byte>> stepped(const graph& g, const node& n, std::size_t first, dtype type, sizes_list shape, std::vector<std::byte> bytes) const {
        const attribute* list = g.find(n, attr::load_ops);
        for (std::size_t i = first; list != nullptr && i < list->list.count; ++i) {
            const load_op& step = g.load_ops[list->list.first + i];
            const node as_node{.id = n.id, .op = step.op, .attrs = step.attrs};
            if (step.op == op::transpose) {
                const range axes = g.find(as_node, attr::axes)->list;
                std::vector<std::size_t> order;
                for (std::uint32_t k = 0; k < axes.count; ++k) {
                    const std::int64_t axis = g.integers[axes.first + k];
                    order.push_back(static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis));
                    if (order.back() >= shape.size()) return refuse(fault_kind::input, "found an axis outside the tensor, expected one of it", std::string(g.text(n.id)));
                }
                if (order.size() == 2) {
                    std::vector<std::size_t> full(shape.size());
                    for (std::size_t k = 0; k < full.size(); ++k) full[k] = k;
                    std::swap(full[order[0]], full[order[1]]);
                    order = full;
                }
                turn(shape, order, byte_size(type), bytes);
            } else if (step.op == op::reshape) {
                const range to = g.find(as_node, attr::shape)->list;
                const std::int64_t all = count_of(shape);
                sizes_list made;
                std::int64_t known = 1;
                for (const dim& d : g.shape_of(to)) made.push_back(d.number), known *= d.number == -1 ? 1 : d.number;
                for (std::int64_t& size : made)
                    if (size == -1) size = known == 0 ? 0 : all / known;
                if (count_of(made) != all) return refuse(fault_kind::input, "found a reshape step of another number of elements, expected the tensor's", std::string(g.text(n.id)));
                shape = std::move(made);
            } else {
                const unary_function f = step.op == op::elementwise ? find_unary(g.text(as_node, attr::op)) : nullptr;
                if (f == nullptr) return refuse(fault_kind::user, "no binding step " + std::string(text(step.op)), std::string(g.text(n.id)));
                std::vector<double> values = from_bytes(type, bytes);
                for (double& v : values) v = f(v);
                bytes = to_bytes(type, values);
            }
        }
        return bytes;
    }
    static void turn(sizes_list& shape, const std::vector<std::size_t>& order, std::size_t size, std::vector<std::byte>& bytes) {
        const sizes_list strides = strides_of(shape);
        sizes_list made, steps, at(shape.size(), 0);
        for (const std::size_t axis : order) made.push_back(shape[axis]), steps.push_back(strides[axis]);
        std::vector<std::byte> out(bytes.size());
        for (std::size_t i = 0; i * size < out.size(); ++i, advance(at, made)) {
            std::int64_t place = 0;
            for (std::size_t k = 0; k < at.size(); ++k) place += at[k] * steps[k];
            std::memcpy(out.data() + i * size, bytes.data() + static_cast<std::size_t>(place) * size, size);
        }
        shape = std::move(made);
        bytes = std::move(out);
    }
    result<std::vector<std::byte>> computed(const graph& g, const node& n, const graph& inner) const {
        std::vector<std::vector<std::byte>> kept;
        std::vector<named_bytes> leaves;
        for (node_id i = 0; i < inner.nodes.size(); ++i) {
            if (inner.nodes[i].op != op::constant) continue;
            EMMY_TRY(one, bytes(inner, i));
            kept.push_back(std::move(one));
            if (inner.find(inner.nodes[i], attr::value) == nullptr) leaves.push_back({inner.id(i), kept.back()});
        }
        EMMY_TRY(made, program::evaluate(inner, leaves, sizes_, {.mode = arithmetic::typed}));
        return stepped(g, n, 0, made[0].type, made[0].shape, to_bytes(made[0]));
    }

    const graph& traced_;
    std::span<const named_bytes> given_;
    std::span<const bound_size> sizes_;
};

}  // namespace detail

EMMY_DECL result<std::vector<std::byte>> bind_constant(const graph& traced, const graph& lowered, node_id constant, std::span<const named_bytes> given, std::span<const bound_size> sizes) {
    if (constant >= lowered.nodes.size()) return refuse(fault_kind::input, "found node " + std::to_string(constant) + ", expected one of " + std::to_string(lowered.nodes.size()));
    return detail::constant_binding(traced, given, sizes).bytes(lowered, constant);
}

EMMY_DECL result<std::vector<evaluated>> evaluate(const graph& traced, const primitive_graph& lowered, std::span<const named_bytes> given, std::span<const bound_size> sizes, const evaluate_options& options) {
    std::vector<std::vector<std::byte>> kept;
    std::vector<named_bytes> all;
    kept.reserve(lowered.g.nodes.size());
    for (const node_id n : lowered.g.inputs)
        for (const named_bytes& b : given)
            if (b.id == lowered.g.id(n)) all.push_back(b);
    for (node_id n = 0; n < lowered.g.nodes.size(); ++n) {
        const node& c = lowered.g.nodes[n];
        if (c.op != op::constant || lowered.g.find(c, attr::value) || lowered.g.find(c, attr::context_value)) continue;
        EMMY_TRY(bytes, bind_constant(traced, lowered.g, n, given, sizes));
        kept.push_back(std::move(bytes));
        all.push_back({lowered.g.id(n), kept.back()});
    }
    evaluate_options how = options;
    how.transient = &lowered.transient;
    return evaluate(lowered.g, all, sizes, how);
}

}  // namespace emmy::program
