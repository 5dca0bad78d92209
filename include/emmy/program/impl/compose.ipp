#pragma once
#include <emmy/program/check.hpp>
#include <emmy/program/compose.hpp>
#include <emmy/program/impl/compose_blocks.ipp>
#include <emmy/program/impl/compose_folds.ipp>
#include <emmy/program/impl/compose_layout.ipp>
#include <emmy/program/impl/compose_products.ipp>
#include <emmy/program/impl/compose_values.ipp>
#include <emmy/program/impl/infer_context.ipp>
#include <emmy/program/impl/pointwise.ipp>

#include <cmath>

namespace emmy::program {

EMMY_DECL edge composer::fail(std::string_view id, std::string message) {
    if (!fault_) fault_ = fault(fault_kind::user, std::move(message), std::string(id));
    return {0, 0};
}
EMMY_DECL std::string composer::fresh(std::string_view id) {
    std::string out(id);
    for (std::size_t i = 1;; ++i) {
        const name_id name = g_.names.intern(out);
        if (taken_.size() <= name) taken_.resize(name + 1, false);
        if (!taken_[name]) {
            taken_[name] = true;
            return out;
        }
        out = numbering_ == numbering::minted ? "n" + std::to_string(minted_++) : std::string(id) + "_" + std::to_string(i);
    }
}
EMMY_DECL std::optional<std::size_t> composer::axis_of(std::string_view id, std::int64_t axis, std::size_t rank) {
    const std::int64_t from_start = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
    if (failed() || from_start < 0 || from_start >= static_cast<std::int64_t>(rank)) {
        fail(id, "found axis " + std::to_string(axis) + ", expected one of " + std::to_string(rank));
        return std::nullopt;
    }
    return static_cast<std::size_t>(from_start);
}
EMMY_DECL std::optional<std::vector<std::size_t>> composer::axes_of(std::string_view id, const list& axes, std::size_t rank) {
    std::vector<std::size_t> out;
    for (const std::int64_t a : axes) {
        const auto axis = axis_of(id, a, rank);
        if (!axis) return std::nullopt;
        if (std::find(out.begin(), out.end(), *axis) != out.end()) {
            fail(id, "found axis " + std::to_string(a) + " twice, expected each once");
            return std::nullopt;
        }
        out.push_back(*axis);
    }
    if (axes.empty())
        for (std::size_t i = 0; i < rank; ++i) out.push_back(i);
    return out;
}
/// Dims of a tensor, or extents of an attribute (numbers, the bare symbol, -1).
EMMY_DECL std::optional<program::range> composer::add_dims(std::string_view id, const sizes& shape, bool as_attribute) {
    std::vector<dim> dims;
    for (const extent& e : shape) {
        if (as_attribute && e == extent(-1)) {
            dims.push_back(number_dim(-1));
            continue;
        }
        auto d = e.as_dim(g_, symbol_, hint_);
        if (d && d->kind == dim::form::number && d->number < 1)
            d = refuse(fault_kind::user, "found the size " + std::to_string(d->number) + ", expected at least 1");
        if (d && as_attribute && d->kind == dim::form::expression)
            d = refuse(fault_kind::user, "found the size " + e.text(symbol_) + ", expected a number or the symbol");
        if (!d) {
            fail(id, d.error().message());
            return std::nullopt;
        }
        if (as_attribute && d->kind == dim::form::symbol) d->has_hint = false, d->number = default_hint;
        dims.push_back(*d);
    }
    const program::range out{static_cast<std::uint32_t>(g_.dims.size()), static_cast<std::uint32_t>(dims.size())};
    g_.dims.insert(g_.dims.end(), dims.begin(), dims.end());
    return out;
}

EMMY_DECL edge composer::emit(std::string_view id, program::op tag, std::vector<edge> inputs, dtype type, std::vector<setting> settings, const sizes* shape) {
    if (failed()) return {0, 0};
    const std::string name = fresh(id);
    node n{.id = g_.names.intern(name), .op = tag};
    n.attrs.first = static_cast<std::uint32_t>(g_.attributes.size());
    for (const attr_facts& f : facts(tag).attrs)
        for (const setting& s : settings) {
            if (s.key != f.key) continue;
            attribute a{.key = f.key, .kind = f.kind, .number = s.number};
            if (f.kind == attr_kind::text || f.kind == attr_kind::dtype) a.text = g_.names.intern(s.text);
            const bool at_default = f.when == presence::defaulted && (f.kind == attr_kind::text || f.kind == attr_kind::dtype ? s.text == f.fallback
                                                                      : f.kind == attr_kind::dims                             ? s.extents.empty()
                                                                                                  : s.number.as_double() == f.number);
            if (at_default) continue;
            if (f.kind == attr_kind::integers) {
                a.list = {static_cast<std::uint32_t>(g_.integers.size()), static_cast<std::uint32_t>(s.integers.size())};
                g_.integers.insert(g_.integers.end(), s.integers.begin(), s.integers.end());
            } else if (f.kind == attr_kind::dims || f.kind == attr_kind::extents) {
                const auto dims = add_dims(name, s.extents, f.kind == attr_kind::extents);
                if (!dims) return {0, 0};
                a.list = *dims;
            } else if (f.kind == attr_kind::sources) {  // those that map() put last
                a.list = {static_cast<std::uint32_t>(s.integers[0]), static_cast<std::uint32_t>(s.integers[1])};
            }
            g_.attributes.push_back(a);
        }
    n.attrs.count = static_cast<std::uint32_t>(g_.attributes.size()) - n.attrs.first;
    n.inputs = {static_cast<std::uint32_t>(g_.edges.size()), static_cast<std::uint32_t>(inputs.size())};
    g_.edges.insert(g_.edges.end(), inputs.begin(), inputs.end());
    n.outputs = {static_cast<std::uint32_t>(g_.tensors.size()), 1};
    g_.tensors.push_back({n.id, type, {}});
    sizes inferred;
    if (!shape) {
        auto made = infer_shape(g_, n);
        if (!made) {
            fault_ = std::move(made).error().at(name);
            return {0, 0};
        }
        inferred = std::move(*made);
        shape = &inferred;
    }
    const auto dims = add_dims(name, *shape, false);
    if (!dims) return {0, 0};
    g_.tensors.back().shape = *dims;
    if (auto fits = check_node(g_, n); !fits) {
        fault_ = std::move(fits).error().at(name);
        return {0, 0};
    }
    g_.nodes.push_back(n);
    return {static_cast<node_id>(g_.nodes.size() - 1), 0};
}

EMMY_DECL edge composer::leaf(std::string_view id, std::string_view path, dtype type, std::span<const builder::size> shape) {
    if (failed()) return {0, 0};
    sizes extents;
    for (const builder::size& s : shape) {
        if (s.symbol.empty()) {
            extents.emplace_back(s.number);
            continue;
        }
        if (!symbol_.empty() && symbol_ != s.symbol) return fail(id, "found the symbols \"" + symbol_ + "\" and \"" + s.symbol + "\", expected one at most");
        symbol_ = s.symbol;
        hint_ = s.number;
        extents.push_back(extent::symbol());
    }
    return path.empty() ? input(id, type, extents) : weight(id, path, type, extents);
}
EMMY_DECL edge composer::input(std::string_view id, dtype type, const sizes& shape) {
    const edge out = emit(id, op::input, {}, type, {}, &shape);
    if (!failed()) g_.inputs.push_back(out.node);
    return out;
}
EMMY_DECL edge composer::weight(std::string_view id, std::string_view path, dtype type, const sizes& shape) {
    if (failed()) return {0, 0};
    builder one;
    const edge e = one.weight(id, path, type, {});
    graph made = std::move(one).finish();
    // The builder knows how a checkpoint tensor is spelled; its node moves here.
    const node& from = made.nodes[e.node];
    const std::string name = fresh(id);
    node n{.id = g_.names.intern(name), .op = op::constant};
    n.attrs.first = static_cast<std::uint32_t>(g_.attributes.size());
    for (attribute a : made.attrs_of(from.attrs)) {
        if (a.kind == attr_kind::text) a.text = g_.names.intern(made.text(a.text));
        if (a.kind == attr_kind::dims) {
            const auto dims = add_dims(name, shape, false);
            if (!dims) return {0, 0};
            a.list = *dims;
        }
        g_.attributes.push_back(a);
    }
    n.attrs.count = static_cast<std::uint32_t>(g_.attributes.size()) - n.attrs.first;
    const auto dims = add_dims(name, shape, false);
    if (!dims) return {0, 0};
    n.outputs = {static_cast<std::uint32_t>(g_.tensors.size()), 1};
    g_.tensors.push_back({n.id, type, *dims});
    g_.nodes.push_back(n);
    return {static_cast<node_id>(g_.nodes.size() - 1), 0};
}
EMMY_DECL void composer::unread(edge e, std::span<const edge> literals) {
    if (failed()) return;
    node& n = g_.nodes[e.node];
    const auto first = static_cast<std::uint32_t>(g_.edges.size());
    for (std::uint32_t i = 0; i < n.inputs.count; ++i) g_.edges.push_back(edge(g_.edges[n.inputs.first + i]));
    g_.edges.insert(g_.edges.end(), literals.begin(), literals.end());
    n.inputs = {first, n.inputs.count + static_cast<std::uint32_t>(literals.size())};
}

EMMY_DECL edge composer::literal(std::string_view id, double value, dtype type) {
    if (failed()) return {0, 0};
    const std::string name = fresh(id);
    node n{.id = g_.names.intern(name), .op = op::constant};
    n.attrs = {static_cast<std::uint32_t>(g_.attributes.size()), 2};
    g_.attributes.push_back({.key = attr::name, .kind = attr_kind::text, .text = n.id});
    if (std::isnan(value)) return fail(id, "found nan, expected a number that a program can hold");
    // Wires hold finite numbers: this one is infinite in every type but f64, where it stands for an infinity.
    if (std::isinf(value)) value = std::copysign(1e300, value);
    program::literal number{.kind = program::literal::form::real, .real = value};
    if (is_integer(type))
        number = {.kind = type == dtype::boolean ? program::literal::form::boolean : program::literal::form::integer,
                  .integer = static_cast<std::int64_t>(value)};
    g_.attributes.push_back({.key = attr::value, .kind = attr_kind::number, .number = number});
    const auto dims = add_dims(name, {extent(1)}, false);
    n.outputs = {static_cast<std::uint32_t>(g_.tensors.size()), 1};
    g_.tensors.push_back({n.id, type, *dims});
    g_.nodes.push_back(n);
    return {static_cast<node_id>(g_.nodes.size() - 1), 0};
}
EMMY_DECL edge composer::range(std::string_view id, std::int64_t start, std::int64_t stop, std::int64_t step, dtype type) {
    return emit(id, op::range, {}, type,
                {whole(attr::start, start), whole(attr::stop, stop), whole(attr::step, step), {.key = attr::dtype, .text = std::string(token(type))}});
}

EMMY_DECL result<graph> composer::finish() && {
    if (fault_) return refuse(std::move(*fault_));
    g_.outputs = outputs_;
    const std::vector<node_id> order = canonical_order(g_);
    std::vector<node_id> to(g_.nodes.size(), no_node);
    std::vector<node> sorted;
    for (const node_id n : order) {
        to[n] = static_cast<node_id>(sorted.size());
        sorted.push_back(g_.nodes[n]);
    }
    g_.nodes = std::move(sorted);
    for (edge& e : g_.edges) e.node = to[e.node];
    for (edge& e : g_.outputs) e.node = to[e.node];
    for (node_id& n : g_.inputs) n = to[n];
    EMMY_CHECK_OK(check_program(g_));
    return std::move(g_);
}

EMMY_DECL composer::sizes composer::joined(std::string_view id, const sizes& left, const sizes& right) {
    sizes a = left, b = right;
    if (a.size() < b.size()) std::swap(a, b);
    for (std::size_t i = 1; i <= b.size(); ++i) {
        extent& x = a[a.size() - i];
        const extent& y = b[b.size() - i];
        if (x == y || y == extent(1)) continue;
        if (!(x == extent(1))) {
            const detail::inference at(g_, node{});
            fail(id, "found the shapes " + at.text(left) + " and " + at.text(right) + ", expected ones that broadcast");
            return left;
        }
        x = y;
    }
    return a;
}
/// As frameworks promote: reals over integers, the wider, f32 for f16 with bf16.
inline dtype composer::promoted(std::span<const edge> operands) const {
    dtype out = type(operands[0]);
    for (const edge e : operands.subspan(1)) {
        const dtype t = type(e);
        if (t == out) continue;
        if (is_integer(t) && is_integer(out)) out = detail::integer_promotion(out, t);
        else if (is_integer(out)) out = t;
        else if (!is_integer(t)) out = byte_size(t) == byte_size(out) ? dtype::f32 : byte_size(t) > byte_size(out) ? t : out;
    }
    return out;
}
EMMY_DECL edge composer::wide(std::string_view id, edge x) { return half(type(x)) ? cast(id, x, dtype::f32) : x; }

}  // namespace emmy::program
