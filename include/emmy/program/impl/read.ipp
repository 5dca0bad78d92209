#pragma once
#include <emmy/core/dim_wire.hpp>
#include <emmy/program/impl/check.ipp>
#include <emmy/program/pointwise.hpp>
#include <emmy/program/wire.hpp>

#include <string>
#include <unordered_map>

namespace emmy::program {
namespace detail {

/// Reads one program into `g`; lists of a nested value are complete before the list that holds them grows.
struct reader {
    graph g;
    int depth = 0;

    template <class T>
    static range appended(std::vector<T>& to, const std::vector<T>& list) {
        const range out{static_cast<std::uint32_t>(to.size()), static_cast<std::uint32_t>(list.size())};
        to.insert(to.end(), list.begin(), list.end());
        return out;
    }

    result<name_id> name(const json::value& v, const json::path& where, std::string_view what) {
        EMMY_TRY(text, json::read_string(v, where));
        if (text.empty()) return refuse(json::problem(where, "found an empty text, expected " + std::string(what)));
        return g.names.intern(text);
    }
    result<range> shape(const json::value& v, const json::path& where) {
        EMMY_TRY(items, json::read_array(v, where));
        std::vector<dim> out;
        double elements = 1;
        for (std::size_t i = 0; i < items.size(); ++i) {
            EMMY_TRY(d, read_dim(items[i], where / i, g.exprs, g.names));
            if (d.kind == dim::form::number && d.number < 1) return refuse(json::expected(where / i, items[i], "a size of at least 1"));
            elements *= static_cast<double>(d.kind == dim::form::number ? d.number : 1);
            if (elements > 4e18) return refuse(json::problem(where, "found more elements than 64 bits count, expected a tensor that can exist"));
            out.push_back(d);
        }
        return appended(g.dims, out);
    }
    result<range> extents(const json::value& v, const json::path& where) {
        EMMY_TRY(items, json::read_array(v, where));
        std::vector<dim> out;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (items[i].is(json::kind::string)) {
                EMMY_TRY(symbol, name(items[i], where / i, "a symbol"));
                out.push_back({.kind = dim::form::symbol, .number = default_hint, .symbol = symbol});
            } else {
                EMMY_TRY(number, json::read_integer(items[i], where / i));
                if (number < 1 && number != -1) return refuse(json::expected(where / i, items[i], "a size of at least 1, -1 or a symbol"));
                out.push_back(number_dim(number));
            }
        }
        return appended(g.dims, out);
    }
    result<expr_id> expression(const json::value& v, const json::path& where) {
        EMMY_TRY(text, json::read_string(v, where));
        auto parsed = parse_expr(text, g.exprs, g.names);
        if (!parsed) return refuse(json::problem(where, parsed.error().message()));
        return *parsed;
    }
    result<literal> number(const json::value& v, const json::path& where) {
        literal out;
        if (v.is(json::kind::boolean)) {
            out = {.kind = literal::form::boolean, .integer = v.boolean()};
        } else if (v.is(json::kind::integer)) {
            EMMY_TRY(integer, json::read_integer(v, where));
            out = {.kind = literal::form::integer, .integer = integer};
        } else if (v.is(json::kind::real)) {
            EMMY_TRY(real, json::read_real(v, where));
            out = {.kind = literal::form::real, .real = real};
        } else {
            return refuse(json::expected(where, v, "a number or a boolean"));
        }
        return out;
    }

    result<range> map_sources(const json::value& v, const json::path& where) {
        EMMY_TRY(items, json::read_array(v, where));
        if (items.empty()) return refuse(json::problem(where, "found no source, expected at least one"));
        std::vector<map_source> out;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const json::path here = where / i;
            json::fields f(items[i], here);
            map_source s;
            EMMY_TRY(index, f.need("input_idx"));
            EMMY_TRY(input, json::read_integer(*index, f.at("input_idx")));
            s.input_idx = input;
            EMMY_TRY(coord_map, f.need("coord_map"));
            const json::path coords = f.at("coord_map");
            EMMY_TRY(texts, json::read_array(*coord_map, coords));
            std::vector<expr_id> exprs;
            for (std::size_t c = 0; c < texts.size(); ++c) {
                EMMY_TRY(e, expression(texts[c], coords / c));
                exprs.push_back(e);
            }
            s.coord_map = appended(g.coordinates, exprs);
            if (const json::value* select = f.may("select")) {
                EMMY_TRY(e, expression(*select, f.at("select")));
                s.select = e;
            }
            EMMY_CHECK_OK(f.done());
            out.push_back(s);
        }
        return appended(g.sources, out);
    }
    result<range> load_steps(const json::value& v, const json::path& where) {
        EMMY_TRY(items, json::read_array(v, where));
        std::vector<load_op> out;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const json::path here = where / i;
            EMMY_TRY(members, json::read_object(items[i], here));
            if (members.size() != 1) return refuse(json::problem(here, "found " + std::to_string(members.size()) + " keys, expected one operator"));
            const op tag = op_from_text(members[0].key);
            if (tag == op::count_ || tag == op::constant || tag == op::input)
                return refuse(json::problem(here, "found the operator \"" + std::string(members[0].key) + "\", expected a layout or pointwise operator"));
            EMMY_TRY(list, attributes(tag, members[0].item, here / members[0].key));
            out.push_back({tag, list});
        }
        return appended(g.load_ops, out);
    }
    result<range> source_parts(const json::value& v, const json::path& where) {
        EMMY_TRY(items, json::read_array(v, where));
        std::vector<source_part> out;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const json::path here = where / i;
            EMMY_TRY(pair, json::read_array(items[i], here));
            if (pair.size() != 2) return refuse(json::problem(here, "found " + std::to_string(pair.size()) + " entries, expected [path, shape]"));
            EMMY_TRY(path, name(pair[0], here / 0, "a checkpoint path"));
            EMMY_TRY(sizes, shape(pair[1], here / 1));
            out.push_back({path, sizes});
        }
        return appended(g.parts, out);
    }
    result<std::uint32_t> nested(const json::value& v, const json::path& where) {
        if (depth >= 8) return refuse(json::problem(where, "found source graphs nested deeper than 8, expected at most 8"));
        reader inner;
        inner.depth = depth + 1;
        EMMY_CHECK_OK(inner.program(v, where));
        if (!inner.g.inputs.empty()) return refuse(json::problem(where, "found a source graph with inputs, expected one of constants only"));
        g.nested.push_back(std::move(inner.g));
        return static_cast<std::uint32_t>(g.nested.size() - 1);
    }

    result<attribute> read_attribute(const attr_facts& f, const json::value& v, const json::path& where) {
        attribute a{.key = f.key, .kind = f.kind};
        switch (f.kind) {
            case attr_kind::text: {
                EMMY_TRY(text, name(v, where, "a name"));
                a.text = text;
                break;
            }
            case attr_kind::dtype: {
                EMMY_TRY(text, json::read_string(v, where));
                if (dtype_from_token(text) == dtype::none) return refuse(json::expected(where, v, "an element type"));
                a.text = g.names.intern(text);
                break;
            }
            case attr_kind::integer: {
                EMMY_TRY(value, json::read_integer(v, where));
                a.number = {.kind = literal::form::integer, .integer = value};
                break;
            }
            case attr_kind::boolean: {
                EMMY_TRY(value, json::read_boolean(v, where));
                a.number = {.kind = literal::form::boolean, .integer = value};
                break;
            }
            case attr_kind::real: {
                if (!v.is(json::kind::integer) && !v.is(json::kind::real)) return refuse(json::expected(where, v, "a number"));
                EMMY_TRY(value, number(v, where));
                a.number = value;
                break;
            }
            case attr_kind::number: {
                EMMY_TRY(value, number(v, where));
                a.number = value;
                break;
            }
            case attr_kind::integers: {
                EMMY_TRY(items, json::read_array(v, where));
                std::vector<std::int64_t> list;
                for (std::size_t i = 0; i < items.size(); ++i) {
                    EMMY_TRY(value, json::read_integer(items[i], where / i));
                    list.push_back(value);
                }
                a.list = appended(g.integers, list);
                break;
            }
            case attr_kind::dims: {
                EMMY_TRY(list, shape(v, where));
                a.list = list;
                break;
            }
            case attr_kind::extents: {
                EMMY_TRY(list, extents(v, where));
                a.list = list;
                break;
            }
            case attr_kind::expression: {
                EMMY_TRY(value, expression(v, where));
                a.value = value;
                break;
            }
            case attr_kind::sources: {
                EMMY_TRY(list, map_sources(v, where));
                a.list = list;
                break;
            }
            case attr_kind::load_ops: {
                EMMY_TRY(list, load_steps(v, where));
                a.list = list;
                break;
            }
            case attr_kind::parts: {
                EMMY_TRY(list, source_parts(v, where));
                a.list = list;
                break;
            }
            case attr_kind::graph: {
                EMMY_TRY(place, nested(v, where));
                a.graph = place;
                break;
            }
        }
        return a;
    }
    bool at_default(const attr_facts& f, const attribute& a) const {
        if (f.when != presence::defaulted) return false;
        switch (f.kind) {
            case attr_kind::text:
            case attr_kind::dtype: return g.text(a.text) == f.fallback;
            case attr_kind::integer:
            case attr_kind::boolean:
            case attr_kind::real: return a.number.as_double() == f.number;
            default: return a.list.count == 0;
        }
    }
    /// The attributes of one operator, in table order; `object` may be null (no attributes).
    result<range> attributes(op tag, const json::value& object, const json::path& where) {
        json::fields f(object, where);
        std::vector<attribute> out;
        for (const attr_facts& facts : facts(tag).attrs) {
            const json::value* v = f.may(facts.text);
            if (!v) {
                if (facts.when == presence::required) return refuse(json::problem(where, "the attribute \"" + std::string(facts.text) + "\" of " + std::string(text(tag)) + " is missing"));
                continue;
            }
            const json::path here = where / facts.text;
            EMMY_TRY(a, read_attribute(facts, *v, here));
            if (at_default(facts, a)) return refuse(json::problem(here, "found the default value written out, expected the attribute to be omitted"));
            out.push_back(a);
        }
        EMMY_CHECK_OK(f.done());
        return appended(g.attributes, out);
    }

    /// A constant is bound in exactly one way.
    result<void> check_constant(const node& n, const json::path& where) const {
        const auto has = [&](attr key) { return g.find(n, key) != nullptr; };
        const int bindings = (has(attr::value) || has(attr::context_value)) + (has(attr::source_path) || has(attr::source_parts)) + has(attr::source_graph);
        if (bindings != 1 || (has(attr::value) && has(attr::context_value)) || (has(attr::source_path) && has(attr::source_parts)))
            return refuse(json::problem(where, "found a constant bound in " + std::to_string(bindings) + " ways, expected one of value, source_path, source_graph"));
        const bool stored = !has(attr::value) && !has(attr::context_value);
        if (stored != has(attr::source_shape) || stored != has(attr::source_dtype))
            return refuse(json::problem(where, "found " + std::string(stored ? "no source_shape and source_dtype beside a stored tensor" : "a source shape or type beside a literal") + ", expected both with a stored tensor only"));
        if (has(attr::load_ops) && !stored) return refuse(json::problem(where, "found load_ops beside a literal, expected them with a stored tensor only"));
        if (const attribute* type = g.find(n, attr::source_dtype); type && dtype_from_alias(g.text(type->text)) == dtype::none)
            return refuse(json::problem(where / "source_dtype", "found \"" + std::string(g.text(type->text)) + "\", expected an element type"));
        return {};
    }
    result<void> check_node(const node& n, const json::path& where) const {
        const json::path attrs = where / "attrs", inputs = where / "inputs";
        const op_facts& f = facts(n.op);
        const auto wrong_count = [&](std::string_view who, std::size_t least, std::size_t most) {
            std::string wanted = std::to_string(least);
            if (most != least) wanted += most == 255 ? " or more" : " to " + std::to_string(most);
            return json::problem(inputs, "found " + std::to_string(n.inputs.count) + " inputs of " + std::string(who) + ", expected " + wanted);
        };
        if (n.inputs.count < f.min_inputs || (f.max_inputs != 255 && n.inputs.count > f.max_inputs)) return refuse(wrong_count(f.text, f.min_inputs, f.max_inputs));
        if (n.op == op::constant) return check_constant(n, attrs);
        if (n.op == op::elementwise) {
            const auto name = g.text(n, attr::op);
            const pointwise_facts* p = find_pointwise(name);
            if (!p) return refuse(json::problem(attrs / "op", "found \"" + std::string(name) + "\", expected a pointwise function"));
            if (n.inputs.count != p->operands) return refuse(wrong_count(name, p->operands, p->operands));
        }
        if ((n.op == op::reduce || n.op == op::scan) && !is_fold_name(g.text(n, attr::op)))
            return refuse(json::problem(attrs / "op", "found \"" + std::string(g.text(n, attr::op)) + "\", expected a fold (sum, prod, maximum, minimum)"));
        if ((n.op == op::linear || n.op == op::matmul) && n.inputs.count != (g.boolean(n, attr::has_bias) ? 3u : 2u))
            return refuse(wrong_count(f.text, g.boolean(n, attr::has_bias) ? 3 : 2, g.boolean(n, attr::has_bias) ? 3 : 2));
        if (n.op == op::index_map) {
            const attribute& list = *g.find(n, attr::sources);
            for (std::uint32_t i = 0; i < list.list.count; ++i) {
                const map_source& s = g.sources[list.list.first + i];
                if (s.input_idx < 0 || s.input_idx >= static_cast<std::int64_t>(n.inputs.count))
                    return refuse(json::problem((attrs / "sources") / i, "found input_idx " + std::to_string(s.input_idx) + ", expected one of " + std::to_string(n.inputs.count) + " inputs"));
                const auto rank = g.shape(g.inputs_of(n)[static_cast<std::size_t>(s.input_idx)]).size();
                if (s.coord_map.count != rank)
                    return refuse(json::problem((attrs / "sources") / i, "found " + std::to_string(s.coord_map.count) + " coordinates, expected the input's rank " + std::to_string(rank)));
            }
        }
        return {};
    }

    result<void> program(const json::value& v, const json::path& where) {
        json::fields f(v, where);
        EMMY_TRY(inputs, f.need("inputs"));
        EMMY_TRY(outputs, f.need("outputs"));
        EMMY_TRY(nodes, f.need("nodes"));
        EMMY_CHECK_OK(f.done());
        const json::path list = f.at("nodes");
        EMMY_TRY(items, json::read_array(*nodes, list));
        std::unordered_map<std::string_view, edge> buffers;  // texts of the document, not of the pool
        for (std::size_t i = 0; i < items.size(); ++i) {
            const json::path here = list / i;
            EMMY_CHECK_OK(read_node(items[i], here, buffers));
        }
        const auto order = canonical_order(g);
        for (std::size_t i = 0; i < order.size(); ++i)
            if (order[i] != i) {
                const json::path here = list / i;
                return refuse(json::problem(here, "found the node \"" + std::string(g.id(static_cast<node_id>(i))) + "\", expected \"" + std::string(g.id(order[i])) + "\" (nodes are ordered by readiness, then id)"));
            }
        EMMY_CHECK_OK(read_ports(*inputs, f.at("inputs"), *outputs, f.at("outputs"), buffers));
        const auto placed = [&](const fault& found, node_id n) {
            return refuse(fault(found.kind(), found.message() + " (node \"" + std::string(g.id(n)) + "\")", found.place()).at((list / n).text()));
        };
        if (const auto wrong = symbol_fault(g)) return placed(wrong->what, wrong->where);
        for (node_id n = 0; n < g.nodes.size(); ++n)
            if (auto ok = program::check_node(g, g.nodes[n]); !ok) return placed(ok.error(), n);
        return {};
    }
    result<void> read_node(const json::value& v, const json::path& here, std::unordered_map<std::string_view, edge>& buffers) {
        json::fields f(v, here);
        node n;
        EMMY_TRY(id, f.need("id"));
        EMMY_TRY(id_name, name(*id, f.at("id"), "an id"));
        n.id = id_name;
        EMMY_TRY(tag, f.need("op"));
        EMMY_TRY(tag_text, json::read_string(*tag, f.at("op")));
        n.op = op_from_text(tag_text);
        if (n.op == op::count_) return refuse(json::expected(f.at("op"), *tag, "an operator (torch.matmul, tensor.reduce, …)"));
        const json::value none = json::value::make_object(nullptr, 0);
        const json::value* attrs = f.may("attrs");
        EMMY_TRY(attr_list, attributes(n.op, attrs ? *attrs : none, f.at("attrs")));
        n.attrs = attr_list;
        std::vector<edge> edges;
        if (const json::value* inputs = f.may("inputs")) {
            const json::path where = f.at("inputs");
            EMMY_TRY(items, json::read_array(*inputs, where));
            for (std::size_t k = 0; k < items.size(); ++k) {
                EMMY_TRY(buffer, json::read_string(items[k], where / k));
                const auto found = buffers.find(buffer);
                if (found == buffers.end()) return refuse(json::expected(where / k, items[k], "the buffer of an earlier node"));
                edges.push_back(found->second);
            }
        }
        n.inputs = appended(g.edges, edges);
        EMMY_TRY(outputs, f.need("outputs"));
        const json::path where = f.at("outputs");
        EMMY_TRY(items, json::read_array(*outputs, where));
        if (items.empty()) return refuse(json::problem(where, "found no output, expected at least one tensor"));
        EMMY_CHECK_OK(f.done());
        std::vector<tensor> tensors;
        for (std::size_t k = 0; k < items.size(); ++k) {
            EMMY_TRY(t, read_tensor(items[k], where / k));
            tensors.push_back(t);
            const std::string_view buffer = k == 0 ? id->text() : items[k].items()[0].text();
            if (!buffers.emplace(buffer, edge{static_cast<node_id>(g.nodes.size()), static_cast<std::uint32_t>(k)}).second)
                return refuse(json::problem(k == 0 ? f.at("id") : where / k, "found the buffer \"" + std::string(buffer) + "\" twice, expected distinct ids"));
        }
        n.outputs = appended(g.tensors, tensors);
        EMMY_CHECK_OK(check_node(n, here));
        g.nodes.push_back(n);
        return {};
    }
    result<tensor> read_tensor(const json::value& v, const json::path& here) {
        EMMY_TRY(parts, json::read_array(v, here));
        if (parts.size() != 3) return refuse(json::problem(here, "found " + std::to_string(parts.size()) + " entries, expected [name, dtype, shape]"));
        tensor t;
        EMMY_TRY(id, name(parts[0], here / 0, "a tensor name"));
        t.name = id;
        EMMY_TRY(type, json::read_string(parts[1], here / 1));
        t.type = dtype_from_alias(type);
        if (t.type == dtype::none) return refuse(json::expected(here / 1, parts[1], "an element type"));
        EMMY_TRY(sizes, shape(parts[2], here / 2));
        t.shape = sizes;
        return t;
    }
    result<void> read_ports(const json::value& inputs, const json::path& in, const json::value& outputs, const json::path& out, const std::unordered_map<std::string_view, edge>& buffers) {
        EMMY_TRY(ins, json::read_array(inputs, in));
        std::vector<bool> listed(g.nodes.size(), false);
        for (std::size_t i = 0; i < ins.size(); ++i) {
            EMMY_TRY(name, json::read_string(ins[i], in / i));
            const auto found = buffers.find(name);
            if (found == buffers.end() || g.nodes[found->second.node].op != op::input) return refuse(json::expected(in / i, ins[i], "the id of an input node"));
            if (listed[found->second.node]) return refuse(json::expected(in / i, ins[i], "each input once"));
            listed[found->second.node] = true;
            g.inputs.push_back(found->second.node);
        }
        for (node_id n = 0; n < g.nodes.size(); ++n)
            if (g.nodes[n].op == op::input && !listed[n]) return refuse(json::problem(in, "found no entry for the input node \"" + std::string(g.id(n)) + "\", expected all of them"));
        EMMY_TRY(outs, json::read_array(outputs, out));
        if (outs.empty()) return refuse(json::problem(out, "found no output, expected at least one"));
        for (std::size_t i = 0; i < outs.size(); ++i) {
            EMMY_TRY(name, json::read_string(outs[i], out / i));
            const auto found = buffers.find(name);
            if (found == buffers.end()) return refuse(json::expected(out / i, outs[i], "the buffer of a node"));
            g.outputs.push_back(found->second);
        }
        return {};
    }
};

}  // namespace detail

EMMY_DECL result<graph> read_program(const json::value& v, const json::path& where) {
    detail::reader r;
    EMMY_CHECK_OK(r.program(v, where));
    return std::move(r.g);
}

}  // namespace emmy::program
