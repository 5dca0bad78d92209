#pragma once
#include <emmy/program/import/exported.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace emmy::program::pt2 {
namespace detail {

/// Older exporters write -Infinity, Infinity and NaN bare, newer ones as texts; JSON knows only the latter.
inline std::string quote_specials(std::string text) {
    constexpr std::string_view words[] = {"-Infinity", "Infinity", "NaN"};
    std::string out;
    bool inside = false;
    std::size_t copied = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inside) {
            if (c == '\\') ++i;
            else if (c == '"') inside = false;
            continue;
        }
        if (c == '"') {
            inside = true;
            continue;
        }
        if (c != '-' && c != 'I' && c != 'N') continue;
        for (const std::string_view w : words)
            if (std::string_view(text).substr(i, w.size()) == w) {
                out.append(text, copied, i - copied).append("\"").append(w).append("\"");
                i += w.size() - 1;
                copied = i + 1;
                break;
            }
    }
    if (copied == 0) return text;
    return out.append(text, copied);
}

inline archive::element element_of_code(std::int64_t code) {
    using e = archive::element;
    switch (code) {
        case 1: return e::u8;
        case 2: return e::i8;
        case 3: return e::i16;
        case 4: return e::i32;
        case 5: return e::i64;
        case 6: return e::f16;
        case 7: return e::f32;
        case 8: return e::f64;
        case 12: return e::boolean;
        case 13: return e::bf16;
        case 28: return e::u16;
        case 29: return e::f8e4m3;
        case 30: return e::f8e5m2;
        case 34: return e::u32;
        case 35: return e::u64;
        default: return e::none;
    }
}

/// A number, or one of the texts that stand for what JSON cannot spell.
inline result<double> read_float(const json::value& v, const json::path& where) {
    if (v.is(json::kind::string)) {
        if (v.text() == "Infinity") return std::numeric_limits<double>::infinity();
        if (v.text() == "-Infinity") return -std::numeric_limits<double>::infinity();
        if (v.text() == "NaN") return std::numeric_limits<double>::quiet_NaN();
        return refuse(json::expected(where, v, "a number"));
    }
    return json::read_real(v, where);
}
/// The one member of a union {"as_int": 3} that is not null.
inline result<const json::member*> read_union(const json::value& v, const json::path& where) {
    EMMY_TRY(members, json::read_object(v, where));
    const json::member* found = nullptr;
    for (const json::member& m : members) {
        if (m.item.is(json::kind::null)) continue;
        if (found) return refuse(json::problem(where, "found two kinds of a value, expected one"));
        found = &m;
    }
    if (!found) return refuse(json::problem(where, "found no value, expected one"));
    return found;
}
inline result<std::string_view> read_name(const json::value& v, const json::path& where) {
    json::fields f(v, where);
    EMMY_TRY(name, f.need("name"));
    return json::read_string(*name, where / "name");
}

/// {"as_int": 4} or {"as_expr": {"expr_str": …, "hint": {"as_int": 6}}}.
inline result<size_text> read_size(const json::value& v, const json::path& where) {
    EMMY_TRY(one, read_union(v, where));
    const json::path at = where / one->key;
    if (one->key == "as_int") {
        EMMY_TRY(number, json::read_integer(one->item, at));
        return size_text{.number = number};
    }
    if (one->key != "as_expr") return refuse(json::problem(where, "found " + std::string(one->key) + ", expected as_int or as_expr"));
    EMMY_TRY(members, json::read_object(one->item, at));
    (void)members;
    const json::value* text = one->item.find("expr_str");
    if (!text) return refuse(json::problem(at, "found no expr_str, expected one"));
    EMMY_TRY(expression, json::read_string(*text, at / "expr_str"));
    size_text out{.is_number = false, .expression = expression};
    if (const json::value* hint = one->item.find("hint"); hint && hint->is(json::kind::object))
        if (const json::value* number = hint->find("as_int"); number && number->is(json::kind::integer)) out.number = number->integer().value_or(0);
    return out;
}
inline result<std::vector<size_text>> read_sizes(const json::value& v, const json::path& where) {
    EMMY_TRY(items, json::read_array(v, where));
    std::vector<size_text> out;
    for (std::size_t i = 0; i < items.size(); ++i) {
        EMMY_TRY(size, read_size(items[i], where / i));
        out.push_back(size);
    }
    return out;
}

inline result<tensor_facts> read_tensor_facts(const json::value& v, const json::path& where) {
    EMMY_TRY(members, json::read_object(v, where));
    (void)members;
    const auto need = [&](std::string_view key) -> result<const json::value*> {
        const json::value* f = v.find(key);
        if (!f) return refuse(json::problem(where, "found no " + std::string(key) + ", expected one"));
        return f;
    };
    tensor_facts out;
    EMMY_TRY(dtype, need("dtype"));
    EMMY_TRY(code, json::read_integer(*dtype, where / "dtype"));
    out.type_code = code;
    out.type = element_of_code(code);
    EMMY_TRY(sizes, need("sizes"));
    EMMY_TRY(shape, read_sizes(*sizes, where / "sizes"));
    out.sizes = std::move(shape);
    EMMY_TRY(strides, need("strides"));
    EMMY_TRY(steps, read_sizes(*strides, where / "strides"));
    out.strides = std::move(steps);
    if (const json::value* offset = v.find("storage_offset")) {
        EMMY_TRY(o, read_size(*offset, where / "storage_offset"));
        out.offset = o;
    }
    if (const json::value* layout = v.find("layout")) {
        EMMY_TRY(code_of, json::read_integer(*layout, where / "layout"));
        out.strided = code_of == 7;
    }
    if (const json::value* device = v.find("device"); device && device->is(json::kind::object))
        if (const json::value* type = device->find("type")) out.device = type->text();
    return out;
}

struct argument_reader {
    const json::path& where;
    argument out;

    result<void> integers(const json::value& v, const json::path& at, argument_kind kind) {
        out.kind = kind;
        EMMY_TRY(items, json::read_array(v, at));
        for (std::size_t i = 0; i < items.size(); ++i) {
            argument::item item;
            if (kind == argument_kind::booleans) {
                EMMY_TRY(b, json::read_boolean(items[i], at / i));
                item.number = b;
            } else if (kind == argument_kind::reals) {
                EMMY_TRY(r, read_float(items[i], at / i));
                item.real = r;
            } else {
                EMMY_TRY(n, json::read_integer(items[i], at / i));
                item.number = n;
            }
            out.items.push_back(item);
        }
        return {};
    }
    /// {"as_name": "sym_size_int"} or {"as_int": 3}.
    result<argument::item> symbolic(const json::value& v, const json::path& at) {
        EMMY_TRY(one, read_union(v, at));
        argument::item item;
        if (one->key == "as_name") {
            EMMY_TRY(name, json::read_string(one->item, at / one->key));
            item.name = name;
        } else if (one->key == "as_int") {
            EMMY_TRY(number, json::read_integer(one->item, at / one->key));
            item.number = number;
        } else if (one->key == "as_bool") {
            EMMY_TRY(truth, json::read_boolean(one->item, at / one->key));
            item.number = truth;
        } else if (one->key == "as_float") {
            EMMY_TRY(number, read_float(one->item, at / one->key));
            item.real = number;
        } else {
            return refuse(json::problem(at, "found " + std::string(one->key) + ", expected as_name or a number"));
        }
        return item;
    }
    result<void> read(const json::value& v) {
        EMMY_TRY(one, read_union(v, where));
        const std::string_view key = one->key;
        const json::value& item = one->item;
        const json::path at = where / key;
        using k = argument_kind;
        if (key == "as_none") return {};
        if (key == "as_tensor") {
            out.kind = k::tensor;
            EMMY_TRY(name, read_name(item, at));
            out.text = name;
        } else if (key == "as_tensors" || key == "as_optional_tensors") {
            out.kind = key == "as_tensors" ? k::tensors : k::optional_tensors;
            EMMY_TRY(items, json::read_array(item, at));
            for (std::size_t i = 0; i < items.size(); ++i) {
                const json::path each = at / i;
                argument::item made;
                if (out.kind == k::tensors) {
                    EMMY_TRY(name, read_name(items[i], each));
                    made.name = name;
                } else {
                    EMMY_TRY(kind, read_union(items[i], each));
                    if (kind->key == "as_tensor") {
                        EMMY_TRY(name, read_name(kind->item, each / kind->key));
                        made.name = name;
                    } else if (kind->key != "as_none") {
                        return refuse(json::problem(each, "found " + std::string(kind->key) + ", expected as_tensor or as_none"));
                    }
                }
                out.items.push_back(made);
            }
        } else if (key == "as_optional_tensor") {
            EMMY_TRY(kind, read_union(item, at));
            if (kind->key == "as_tensor") {
                out.kind = k::tensor;
                EMMY_TRY(name, read_name(kind->item, at / kind->key));
                out.text = name;
            }
        } else if (key == "as_int" || key == "as_scalar_type" || key == "as_layout" || key == "as_memory_format") {
            out.kind = key == "as_int" ? k::integer : key == "as_scalar_type" ? k::scalar_type : key == "as_layout" ? k::layout : k::memory_format;
            EMMY_TRY(number, json::read_integer(item, at));
            out.integer = number;
        } else if (key == "as_bool") {
            out.kind = k::boolean;
            EMMY_TRY(b, json::read_boolean(item, at));
            out.integer = b;
        } else if (key == "as_float") {
            out.kind = k::real;
            EMMY_TRY(number, read_float(item, at));
            out.real = number;
        } else if (key == "as_string") {
            out.kind = k::text;
            EMMY_TRY(text, json::read_string(item, at));
            out.text = text;
        } else if (key == "as_ints" || key == "as_floats" || key == "as_bools") {
            return integers(item, at, key == "as_ints" ? k::integers : key == "as_floats" ? k::reals : k::booleans);
        } else if (key == "as_sym_int" || key == "as_sym_float" || key == "as_sym_bool") {
            out.kind = key == "as_sym_int" ? k::size : key == "as_sym_bool" ? k::truth : k::real;
            EMMY_TRY(made, symbolic(item, at));
            if (made.name.empty()) {
                out.kind = key == "as_sym_int" ? k::integer : key == "as_sym_bool" ? k::boolean : k::real;
                out.integer = made.number;
                out.real = made.real;
            } else if (key == "as_sym_float") {
                out.kind = k::other;
            }
            out.text = made.name.empty() && key != "as_sym_float" ? std::string_view() : made.name;
        } else if (key == "as_sym_ints") {
            out.kind = k::sizes;
            EMMY_TRY(items, json::read_array(item, at));
            for (std::size_t i = 0; i < items.size(); ++i) {
                EMMY_TRY(made, symbolic(items[i], at / i));
                out.items.push_back(made);
            }
        } else if (key == "as_device") {
            out.kind = k::device;
            if (const json::value* type = item.find("type")) out.text = type->text();
        } else if (key == "as_graph") {
            out.kind = k::graph;
            out.text = item.is(json::kind::object) && item.find("name") ? item.find("name")->text() : std::string_view();
        } else {  // as_operator, as_custom_obj, as_complex, as_nested_tensors, what later versions add
            out.kind = k::other;
            out.text = key;
        }
        return {};
    }
};
inline result<argument> read_argument(const json::value& v, const json::path& where) {
    argument_reader reader{where, {}};
    EMMY_CHECK_OK(reader.read(v));
    return std::move(reader.out);
}

/// "L['self'].layers.0" of older exporters, "layers.0" of newer ones; indices in brackets become parts of the path.
inline std::string module_path(std::string_view text) {
    if (text.starts_with("L[")) {
        const std::size_t end = text.find(']');
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (text.starts_with('.')) text.remove_prefix(1);
    }
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        if (rest.starts_with("._modules[") || rest.starts_with("[")) {
            const std::size_t open = text.find('[', i), close = text.find(']', open);
            if (close == std::string_view::npos) break;
            std::string_view part = text.substr(open + 1, close - open - 1);
            while (!part.empty() && (part.front() == '\'' || part.front() == '"')) part.remove_prefix(1);
            while (!part.empty() && (part.back() == '\'' || part.back() == '"')) part.remove_suffix(1);
            out += out.empty() ? "" : ".";
            out += part;
            i = close;
        } else {
            out += text[i];
        }
    }
    return out;
}
/// "key,path,type;key,path,type". What a pass put in is no module.
inline std::vector<module_frame> module_frames(std::string_view text) {
    std::vector<module_frame> out;
    while (!text.empty()) {
        const std::size_t end = text.find(';');
        const std::string_view one = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        const std::size_t first = one.find(','), last = one.rfind(',');
        if (first == std::string_view::npos || last == first || one.starts_with("_empty_nn_module_stack")) continue;
        module_frame frame{module_path(one.substr(first + 1, last - first - 1)), one.substr(last + 1)};
        // A module that is called again has "@1" behind its path.
        if (const std::size_t again = frame.path.find('@'); again != std::string::npos) frame.path.erase(again);
        out.push_back(std::move(frame));
    }
    return out;
}

class exported_reader {
public:
    explicit exported_reader(exported_program& out) : out_(out) {}

    result<void> program(const json::value& root) {
        const json::path top;
        EMMY_TRY(members, json::read_object(root, top));
        (void)members;
        EMMY_CHECK_OK(version(root));
        EMMY_TRY(module, need(root, top, "graph_module"));
        const json::path at = top / "graph_module";
        EMMY_TRY(graph, need(*module, at, "graph"));
        EMMY_TRY(signature, need(*module, at, "signature"));
        const json::path graph_at = at / "graph", signature_at = at / "signature";
        EMMY_CHECK_OK(values(*graph, graph_at));
        EMMY_CHECK_OK(ranges(root));
        EMMY_CHECK_OK(inputs(*signature, signature_at));
        EMMY_CHECK_OK(calls(*graph, graph_at));
        return outputs(*signature, signature_at);
    }

private:
    static result<const json::value*> need(const json::value& v, const json::path& where, std::string_view key) {
        if (!v.is(json::kind::object)) return refuse(json::expected(where, v, "an object"));
        const json::value* f = v.find(key);
        if (!f) return refuse(json::problem(where, "found no " + std::string(key) + ", expected one"));
        return f;
    }
    result<void> version(const json::value& root) {
        const json::value* v = root.find("schema_version");
        const json::path top, at = top / "schema_version";
        if (!v) return refuse(json::problem(top, "found no schema_version, expected an exported program of PyTorch 2.4 or later"));
        if (v->is(json::kind::integer)) return refuse(json::problem(at, "found schema version " + std::string(v->text()) + ", expected " + std::to_string(oldest_schema) + " to " + std::to_string(newest_schema) + " (PyTorch 2.4 or later; export it again)"));
        EMMY_TRY(major, need(*v, at, "major"));
        EMMY_TRY(major_number, json::read_integer(*major, at / "major"));
        EMMY_TRY(minor, need(*v, at, "minor"));
        EMMY_TRY(minor_number, json::read_integer(*minor, at / "minor"));
        out_.major = major_number, out_.minor = minor_number;
        if (const json::value* t = root.find("torch_version"); t && t->is(json::kind::string)) out_.torch_version = t->text();
        if (const json::value* d = root.find("dialect"); d && d->is(json::kind::string)) out_.dialect = d->text();
        if (const json::value* d = root.find("verifiers"); d && d->size() > 0) out_.dialect = d->items()[0].text();
        if (major_number >= oldest_schema && major_number <= newest_schema) return {};
        return refuse(json::problem(at, "found schema version " + std::to_string(major_number) + "." + std::to_string(minor_number) + (out_.torch_version.empty() ? "" : " (PyTorch " + std::string(out_.torch_version) + ")") + ", expected " +
                                            std::to_string(oldest_schema) + " to " + std::to_string(newest_schema) + " (PyTorch 2.4 to 2.15)"));
    }
    template <class T>
    static result<void> sorted(std::vector<T>& list, const json::path& where) {
        std::sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.name < b.name; });
        for (std::size_t i = 1; i < list.size(); ++i)
            if (list[i].name == list[i - 1].name) return refuse(json::problem(where, "found the name \"" + std::string(list[i].name) + "\" twice, expected distinct names"));
        return {};
    }
    result<void> values(const json::value& graph, const json::path& where) {
        EMMY_TRY(tensors, need(graph, where, "tensor_values"));
        const json::path tensors_at = where / "tensor_values";
        EMMY_TRY(list, json::read_object(*tensors, tensors_at));
        for (const json::member& m : list) {
            EMMY_TRY(facts, read_tensor_facts(m.item, tensors_at / m.key));
            out_.tensors.push_back({m.key, std::move(facts)});
        }
        EMMY_CHECK_OK(sorted(out_.tensors, tensors_at));
        const json::path sizes_at = where / "sym_int_values";
        if (const json::value* sizes = graph.find("sym_int_values")) {
            EMMY_TRY(named, json::read_object(*sizes, sizes_at));
            for (const json::member& m : named) {
                EMMY_TRY(size, read_size(m.item, sizes_at / m.key));
                out_.sizes.push_back({m.key, size});
            }
        }
        return sorted(out_.sizes, sizes_at);
    }
    result<void> ranges(const json::value& root) {
        const json::path top, at = top / "range_constraints";
        const json::value* v = root.find("range_constraints");
        if (!v) return {};
        EMMY_TRY(members, json::read_object(*v, at));
        for (const json::member& m : members) {
            symbol_range r{m.key};
            const json::path each = at / m.key;
            // Unbounded ends are null, or numbers beyond what a size can be.
            if (const json::value* least = m.item.find("min_val"); least && least->is(json::kind::integer)) r.least = least->integer().value_or(0);
            if (const json::value* most = m.item.find("max_val"); most && most->is(json::kind::integer)) r.most = most->integer().value_or(INT64_MAX);
            if (!m.item.is(json::kind::object)) return refuse(json::expected(each, m.item, "an object"));
            out_.symbols.push_back(r);
        }
        return {};
    }
    result<void> inputs(const json::value& signature, const json::path& where) {
        EMMY_TRY(specs, need(signature, where, "input_specs"));
        const json::path list_at = where / "input_specs";
        EMMY_TRY(list, json::read_array(*specs, list_at));
        for (std::size_t i = 0; i < list.size(); ++i) {
            const json::path at = list_at / i;
            EMMY_TRY(one, read_union(list[i], at));
            const json::path in = at / one->key;
            graph_input made{.kind = one->key};
            const std::string_view path_key = one->key == "parameter" ? "parameter_name" : one->key == "buffer" ? "buffer_name" : one->key == "tensor_constant" ? "tensor_constant_name" : "";
            made.role = one->key == "user_input"     ? input_role::user
                        : one->key == "parameter"    ? input_role::parameter
                        : one->key == "buffer"       ? input_role::buffer
                        : one->key == "tensor_constant" ? input_role::constant
                                                     : input_role::other;
            if (made.role == input_role::other) {
                made.what.kind = argument_kind::other;
                if (const json::value* arg = one->item.find("arg"))
                    if (const json::value* name = arg->find("name")) made.what.text = name->text();
                if (made.kind == "constant_input") {
                    EMMY_TRY(name, need(one->item, in, "name"));
                    EMMY_TRY(text, json::read_string(*name, in / "name"));
                    made.what.text = text;
                }
                out_.inputs.push_back(std::move(made));
                continue;
            }
            EMMY_TRY(arg, need(one->item, in, "arg"));
            if (made.role == input_role::user) {
                EMMY_TRY(what, read_argument(*arg, in / "arg"));
                made.what = std::move(what);
            } else {
                EMMY_TRY(name, read_name(*arg, in / "arg"));
                made.what.kind = argument_kind::tensor;
                made.what.text = name;
                EMMY_TRY(path, need(one->item, in, path_key));
                EMMY_TRY(path_text, json::read_string(*path, in / path_key));
                made.path = path_text;
                if (const json::value* kept = one->item.find("persistent"); kept && kept->is(json::kind::boolean)) made.persistent = kept->boolean();
            }
            if (made.what.kind == argument_kind::tensor) EMMY_CHECK_OK(define(made.what.text, in));
            out_.inputs.push_back(std::move(made));
        }
        return {};
    }
    /// A tensor's name is defined once and described.
    result<void> define(std::string_view name, const json::path& where) {
        const auto at = std::lower_bound(out_.tensors.begin(), out_.tensors.end(), name, [](const named_tensor& t, std::string_view n) { return t.name < n; });
        if (at == out_.tensors.end() || at->name != name) return refuse(json::problem(where, "found the tensor \"" + std::string(name) + "\" that tensor_values does not describe"));
        if (defined_.empty()) defined_.resize(out_.tensors.size(), false);
        const auto place = static_cast<std::size_t>(at - out_.tensors.begin());
        if (defined_[place]) return refuse(json::problem(where, "found the tensor \"" + std::string(name) + "\" a second time, expected each name once"));
        defined_[place] = true;
        return {};
    }
    result<void> known(std::string_view name, const json::path& where) const {
        const auto at = std::lower_bound(out_.tensors.begin(), out_.tensors.end(), name, [](const named_tensor& t, std::string_view n) { return t.name < n; });
        const auto place = static_cast<std::size_t>(at - out_.tensors.begin());
        if (at == out_.tensors.end() || at->name != name || defined_.empty() || !defined_[place])
            return refuse(json::problem(where, "found the tensor \"" + std::string(name) + "\" that nothing before it makes"));
        return {};
    }
    result<void> all_known(const argument& a, const json::path& where) const {
        if (a.kind == argument_kind::tensor) return known(a.text, where);
        if (a.kind == argument_kind::tensors || a.kind == argument_kind::optional_tensors)
            for (const argument::item& i : a.items)
                if (!i.name.empty()) EMMY_CHECK_OK(known(i.name, where));
        return {};
    }
    result<void> calls(const json::value& graph, const json::path& where) {
        EMMY_TRY(nodes, need(graph, where, "nodes"));
        const json::path list_at = where / "nodes";
        EMMY_TRY(list, json::read_array(*nodes, list_at));
        for (std::size_t i = 0; i < list.size(); ++i) {
            const json::path at = list_at / i;
            EMMY_TRY(target, need(list[i], at, "target"));
            call made;
            EMMY_TRY(target_text, json::read_string(*target, at / "target"));
            made.target = target_text;
            EMMY_TRY(inputs, need(list[i], at, "inputs"));
            const json::path inputs_at = at / "inputs", outputs_at = at / "outputs";
            EMMY_TRY(arguments, json::read_array(*inputs, inputs_at));
            for (std::size_t k = 0; k < arguments.size(); ++k) {
                const json::path one = inputs_at / k;
                EMMY_TRY(arg, need(arguments[k], one, "arg"));
                EMMY_TRY(read, read_argument(*arg, one / "arg"));
                if (const json::value* name = arguments[k].find("name"); name && name->is(json::kind::string)) read.name = name->text();
                EMMY_CHECK_OK(all_known(read, one));
                made.inputs.push_back(std::move(read));
            }
            EMMY_TRY(results, need(list[i], at, "outputs"));
            EMMY_TRY(made_list, json::read_array(*results, outputs_at));
            for (std::size_t k = 0; k < made_list.size(); ++k) {
                const json::path one = outputs_at / k;
                EMMY_TRY(read, read_argument(made_list[k], one));
                if (read.kind == argument_kind::tensor) EMMY_CHECK_OK(define(read.text, one));
                if (read.kind == argument_kind::tensors)
                    for (const argument::item& item : read.items) EMMY_CHECK_OK(define(item.name, one));
                made.outputs.push_back(std::move(read));
            }
            if (const json::value* name = list[i].find("name"); name && name->is(json::kind::string)) made.name = name->text();
            if (made.name.empty() && !made.outputs.empty()) made.name = made.outputs[0].text.empty() && !made.outputs[0].items.empty() ? made.outputs[0].items[0].name : made.outputs[0].text;
            if (made.name.empty()) made.name = made.target;
            if (const json::value* metadata = list[i].find("metadata"); metadata && metadata->is(json::kind::object)) {
                if (const json::value* stack = metadata->find("nn_module_stack"); stack && stack->is(json::kind::string)) made.modules = module_frames(stack->text());
                if (const json::value* trace = metadata->find("stack_trace"); trace && trace->is(json::kind::string)) made.source = last_line(trace->text());
            }
            out_.calls.push_back(std::move(made));
        }
        return {};
    }
    static std::string_view last_line(std::string_view text) {
        while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
        if (const std::size_t at = text.rfind('\n'); at != std::string_view::npos) text.remove_prefix(at + 1);
        while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
        return text;
    }
    result<void> outputs(const json::value& signature, const json::path& where) {
        EMMY_TRY(specs, need(signature, where, "output_specs"));
        const json::path list_at = where / "output_specs";
        EMMY_TRY(list, json::read_array(*specs, list_at));
        for (std::size_t i = 0; i < list.size(); ++i) {
            const json::path at = list_at / i;
            EMMY_TRY(one, read_union(list[i], at));
            const json::path in = at / one->key;
            graph_output made{.kind = one->key};
            made.role = one->key == "user_output"             ? output_role::user
                        : one->key == "buffer_mutation"       ? output_role::buffer_mutation
                        : one->key == "user_input_mutation"   ? output_role::input_mutation
                                                              : output_role::other;
            if (made.role != output_role::other) {
                EMMY_TRY(arg, need(one->item, in, "arg"));
                if (made.role == output_role::user) {
                    EMMY_TRY(what, read_argument(*arg, in / "arg"));
                    made.what = std::move(what);
                } else {
                    EMMY_TRY(name, read_name(*arg, in / "arg"));
                    made.what.kind = argument_kind::tensor;
                    made.what.text = name;
                    const std::string_view key = made.role == output_role::buffer_mutation ? "buffer_name" : "user_input_name";
                    EMMY_TRY(path, need(one->item, in, key));
                    EMMY_TRY(path_text, json::read_string(*path, in / key));
                    made.path = path_text;
                }
                EMMY_CHECK_OK(all_known(made.what, in));
            }
            out_.outputs.push_back(std::move(made));
        }
        if (out_.outputs.empty()) return refuse(json::problem(list_at, "found no output, expected one at least"));
        return {};
    }

    exported_program& out_;
    std::vector<bool> defined_;
};

}  // namespace detail

EMMY_DECL const tensor_facts* exported_program::find_tensor(std::string_view name) const {
    const auto at = std::lower_bound(tensors.begin(), tensors.end(), name, [](const named_tensor& t, std::string_view n) { return t.name < n; });
    return at == tensors.end() || at->name != name ? nullptr : &at->facts;
}
EMMY_DECL const size_text* exported_program::find_size(std::string_view name) const {
    const auto at = std::lower_bound(sizes.begin(), sizes.end(), name, [](const named_size& t, std::string_view n) { return t.name < n; });
    return at == sizes.end() || at->name != name ? nullptr : &at->value;
}

EMMY_DECL result<exported_program> read_exported(std::string text, std::string file, std::string member) {
    exported_program out;
    out.file = std::move(file), out.member = std::move(member);
    const auto outward = [&](fault f) { return refuse(out.member.empty() ? std::move(f).in_file(out.file) : std::move(f).at(out.member).in_file(out.file)); };
    auto document = json::document::parse(detail::quote_specials(std::move(text)));
    if (!document) return outward(std::move(document).error());
    out.text = std::move(*document);
    detail::exported_reader reader(out);
    if (auto read = reader.program(out.text.root()); !read) return outward(std::move(read).error());
    return out;
}

}  // namespace emmy::program::pt2
