#pragma once
#include <emmy/program/graph.hpp>

#include <algorithm>
#include <queue>

namespace emmy::program {

EMMY_DECL std::vector<node_id> canonical_order(const graph& g) {
    const auto count = static_cast<node_id>(g.nodes.size());
    std::vector<std::uint32_t> waiting(count, 0);
    std::vector<std::uint32_t> first_reader(count + 1, 0);
    for (const node& n : g.nodes)
        for (const edge e : g.inputs_of(n))
            if (e.node < count) ++first_reader[e.node + 1];
    for (node_id n = 0; n < count; ++n) first_reader[n + 1] += first_reader[n];
    std::vector<node_id> readers(g.edges.size());
    std::vector<std::uint32_t> next(first_reader.begin(), first_reader.end() - (first_reader.empty() ? 0 : 1));
    for (node_id n = 0; n < count; ++n)
        for (const edge e : g.inputs_of(g.nodes[n]))
            if (e.node < count) readers[next[e.node]++] = n, ++waiting[n];
    const auto later = [&](node_id a, node_id b) { return g.id(a) > g.id(b); };
    std::priority_queue<node_id, std::vector<node_id>, decltype(later)> ready(later);
    for (node_id n = 0; n < count; ++n)
        if (waiting[n] == 0) ready.push(n);
    std::vector<node_id> out;
    out.reserve(count);
    while (!ready.empty()) {
        const node_id n = ready.top();
        ready.pop();
        out.push_back(n);
        for (std::uint32_t r = first_reader[n]; r < first_reader[n + 1]; ++r)
            if (--waiting[readers[r]] == 0) ready.push(readers[r]);
    }
    return out;
}

EMMY_DECL std::vector<bool> live_nodes(const graph& g) {
    std::vector<bool> live(g.nodes.size(), false);
    for (const edge e : g.outputs) live[e.node] = true;
    for (const node_id n : g.inputs) live[n] = true;
    for (node_id n = static_cast<node_id>(g.nodes.size()); n-- > 0;)  // producers come first
        if (live[n])
            for (const edge e : g.inputs_of(g.nodes[n])) live[e.node] = true;
    return live;
}

EMMY_DECL std::vector<name_id> symbols(const graph& g) {
    std::vector<name_id> out;
    const auto take = [&](const dim& d) {
        if (d.kind == dim::form::symbol && std::find(out.begin(), out.end(), d.symbol) == out.end()) out.push_back(d.symbol);
    };
    for (const node_id n : g.inputs)
        for (const tensor& t : g.outputs_of(g.nodes[n]))
            for (const dim& d : g.shape_of(t.shape)) take(d);
    for (const dim& d : g.dims) take(d);
    return out;
}

EMMY_DECL std::int64_t hint_of(const graph& g, name_id symbol) {
    for (const dim& d : g.dims)
        if (d.kind == dim::form::symbol && d.symbol == symbol && d.has_hint) return d.number;
    return default_hint;
}

EMMY_DECL range builder::add_shape(std::span<const size> shape) {
    const range out{static_cast<std::uint32_t>(g_.dims.size()), static_cast<std::uint32_t>(shape.size())};
    for (const size& s : shape) g_.dims.push_back(s.symbol.empty() ? number_dim(s.number) : symbol_dim(g_.names.intern(s.symbol), s.number));
    return out;
}

EMMY_DECL edge builder::add_node(std::string_view id, op tag, range attrs, std::span<const edge> inputs, dtype type, std::span<const size> shape) {
    node n{.id = g_.names.intern(id), .op = tag, .attrs = attrs};
    n.inputs = {static_cast<std::uint32_t>(g_.edges.size()), static_cast<std::uint32_t>(inputs.size())};
    g_.edges.insert(g_.edges.end(), inputs.begin(), inputs.end());
    n.outputs = {static_cast<std::uint32_t>(g_.tensors.size()), 1};
    g_.tensors.push_back({n.id, type, add_shape(shape)});
    g_.nodes.push_back(n);
    return {static_cast<node_id>(g_.nodes.size() - 1), 0};
}

EMMY_DECL edge builder::input(std::string_view id, dtype type, std::span<const size> shape) {
    const edge out = add_node(id, op::input, {}, {}, type, shape);
    g_.inputs.push_back(out.node);
    return out;
}

EMMY_DECL edge builder::weight(std::string_view id, std::string_view path, dtype type, std::span<const size> shape) {
    // Frameworks' own spelling of the stored type, as traced programs carry it.
    constexpr std::pair<dtype, std::string_view> stored[] = {{dtype::f32, "float32"}, {dtype::f16, "float16"}, {dtype::bf16, "bfloat16"}, {dtype::f64, "float64"}};
    std::string_view stored_type = token(type);
    for (const auto& [t, name] : stored)
        if (t == type) stored_type = name;
    const range attrs{static_cast<std::uint32_t>(g_.attributes.size()), 4};
    g_.attributes.push_back({.key = attr::name, .kind = attr_kind::text, .text = g_.names.intern(id)});
    g_.attributes.push_back({.key = attr::source_path, .kind = attr_kind::text, .text = g_.names.intern(path)});
    g_.attributes.push_back({.key = attr::source_shape, .kind = attr_kind::dims, .list = add_shape(shape)});
    g_.attributes.push_back({.key = attr::source_dtype, .kind = attr_kind::text, .text = g_.names.intern(stored_type)});
    return add_node(id, op::constant, attrs, {}, type, shape);
}

EMMY_DECL edge builder::add(std::string_view id, op tag, std::span<const edge> inputs, dtype type, std::span<const size> shape, std::span<const setting> settings) {
    const auto first = static_cast<std::uint32_t>(g_.attributes.size());
    for (const attr_facts& f : facts(tag).attrs)
        for (const setting& s : settings) {
            if (s.key != f.key) continue;
            const bool at_default = f.when == presence::defaulted && (f.kind == attr_kind::text ? s.text == f.fallback : s.number.as_double() == f.number);
            if (!at_default) g_.attributes.push_back({.key = f.key, .kind = f.kind, .number = s.number, .text = g_.names.intern(s.text)});
        }
    for (const setting& s : settings) {  // kept, so that check_form names it
        if (find_attr(tag, s.key) != nullptr) continue;
        const attr_kind kind = s.number.kind == literal::form::none ? attr_kind::text : attr_kind::number;
        g_.attributes.push_back({.key = s.key, .kind = kind, .number = s.number, .text = g_.names.intern(s.text)});
    }
    return add_node(id, tag, {first, static_cast<std::uint32_t>(g_.attributes.size()) - first}, inputs, type, shape);
}

EMMY_DECL edge builder::map(std::string_view id, edge from, dtype type, std::span<const size> shape, std::span<const std::string> coordinates) {
    map_source source;
    source.coord_map = {static_cast<std::uint32_t>(g_.coordinates.size()), static_cast<std::uint32_t>(coordinates.size())};
    for (const std::string& text : coordinates) {
        const auto parsed = parse_expr(text, g_.exprs, g_.names);
        g_.coordinates.push_back(parsed ? *parsed : no_expr);  // texts come from the program, never from a user
    }
    g_.sources.push_back(source);
    const range attrs{static_cast<std::uint32_t>(g_.attributes.size()), 2};
    g_.attributes.push_back({.key = attr::out_shape, .kind = attr_kind::dims, .list = add_shape(shape)});
    g_.attributes.push_back({.key = attr::sources, .kind = attr_kind::sources, .list = {static_cast<std::uint32_t>(g_.sources.size() - 1), 1}});
    return add_node(id, op::index_map, attrs, std::span(&from, 1), type, shape);
}

EMMY_DECL graph builder::finish() && {
    const std::vector<node_id> order = canonical_order(g_);
    std::vector<node_id> place(g_.nodes.size(), no_node);
    std::vector<node> sorted;
    for (node_id n : order) {
        place[n] = static_cast<node_id>(sorted.size());
        sorted.push_back(g_.nodes[n]);
    }
    g_.nodes = std::move(sorted);
    const auto move = [&](node_id n) { return n < place.size() ? place[n] : no_node; };
    for (edge& e : g_.edges) e.node = move(e.node);
    for (edge& e : g_.outputs) e.node = move(e.node);
    for (node_id& n : g_.inputs) n = place[n];
    return std::move(g_);
}

}  // namespace emmy::program
