#pragma once
#include <emmy/program/import/impl/operator_table.ipp>
#include <emmy/program/import/impl/site.ipp>

#include <algorithm>
#include <cmath>

namespace emmy::program::pt2::detail {

/// Translates the calls of one selection, in order.
class importer {
public:
    importer(const exported_program& from, const import_options& how) : x(from), how_(how), c(composer::numbering::minted) {}

    const exported_program& x;

    /// Which calls, what they read from outside, what others read of them. Without boundary: the program's own inputs and outputs.
    struct selection {
        std::vector<bool> calls;                       ///< by call
        bool whole = true;
        std::vector<std::string_view> reads, results;  ///< names at the boundary
    };

    result<imported> run(const selection& chosen, const std::vector<std::string_view>& states, std::vector<refusal>& refused);
    const std::vector<std::string_view>& changed() const { return changed_; }

    // What sites ask for.
    composer& graph() { return c; }
    edge read(std::string_view name) {
        const auto at = place_.find(name);
        if (at == place_.end()) return {0, 0};
        return read(at->second);
    }
    extent size_of(std::string_view name) {
        const size_text* s = x.find_size(name);
        if (!s) {
            lost_ = "found the symbolic size " + std::string(name) + " that the archive does not describe";
            return extent(1);
        }
        return size_of(*s);
    }
    extent size_of(const size_text& s) {
        if (s.is_number) return extent(s.number);
        auto e = parse_size(s.expression, meanings_);
        if (!e) {
            lost_ = e.error().message();
            return extent(1);
        }
        return *e;
    }
    void refuse_call(const call& node, std::string_view argument, std::string reason) {
        refusal r{std::string(node.name), std::string(node.target), std::string(argument), std::move(reason)};
        if (!node.modules.empty()) r.module = node.modules.back().path;
        r.source = node.source;
        refused_->push_back(std::move(r));
        blamed_ = true;
    }
    bool is_wanted(std::string_view name) const { return wanted_.contains(name); }
    std::size_t value_of(std::string_view name) const {
        const auto at = place_.find(name);
        return at == place_.end() ? value::npos : at->second;
    }

private:
    edge read(std::size_t v) {
        value& of = values_[v];
        if (of.viewed == value::npos) return of.now;
        const edge base = read(of.viewed);
        if (values_[v].seen == base) return values_[v].now;
        // What it views has changed since: the same call on the new elements.
        const call& maker = *values_[v].maker;
        site again(*this, maker, *find_row(table_name(maker.target)));
        again.op.build(again);
        const edge now = values_[v].result < again.made.size() ? again.made[values_[v].result] : edge{0, 0};
        values_[v].now = now, values_[v].seen = base;
        return now;
    }
    void write(std::size_t v, edge now) {
        if (values_[v].viewed == value::npos) {
            values_[v].now = now;
            values_[v].changed = true;
            return;
        }
        const std::size_t base = values_[v].viewed;
        const edge whole = unview(v, read(base), now);
        write(base, whole);
        values_[v].now = now, values_[v].seen = read(base);
    }
    /// The viewed value with these elements in the view's place.
    edge unview(std::size_t v, edge base, edge part);

    result<void> bind_symbols(const selection& chosen);
    std::string first_use(std::string_view symbol) const;
    void bind_inputs(const selection& chosen, const std::vector<std::string_view>& states, imported& out);
    std::vector<bool> needed_calls(const selection& chosen);
    void translate(const call& node);
    bool check_arguments(const call& node, const row& as);
    void results(const selection& chosen, const std::vector<std::string_view>& states, imported& out);
    void add_value(std::string_view name, value v) {
        v.name = name;
        place_[name] = values_.size();
        values_.push_back(v);
    }
    edge add_leaf(std::string_view name, std::string_view path, std::string_view what);
    std::string renamed(std::string_view path) const {
        for (const auto& [from, to] : how_.renames) {
            if (path == from) return to;
            if (path.starts_with(from) && (from.empty() || from.ends_with('.') || path[from.size()] == '.')) return to + std::string(path.substr(from.size()));
        }
        return std::string(path);
    }
    static bool in_place(std::string_view target) {
        const std::string_view name = table_name(target);
        const std::size_t dot = name.rfind('.');
        return !find_row(name) && name.starts_with("aten.") && dot != std::string_view::npos && dot > 0 && name[dot - 1] == '_' && !name.starts_with("aten.__");
    }
    static std::string without_underscore(std::string_view name) {
        const std::size_t dot = name.rfind('.');
        return std::string(name.substr(0, dot - 1)) + std::string(name.substr(dot));
    }
    /// Takes what the composer could not do as the call's refusal.
    bool composed(const call& node) {
        auto f = c.recover();
        if (!lost_.empty()) {
            refuse_call(node, {}, std::exchange(lost_, {}));
            return false;
        }
        if (!f) return true;
        if (!blamed_) refuse_call(node, {}, f->message());
        return false;
    }

    const import_options& how_;
    composer c;
    std::vector<symbol_meaning> meanings_;
    symbol_facts symbol_;
    std::vector<value> values_;
    std::unordered_map<std::string_view, std::size_t> place_;
    std::unordered_map<std::string_view, bool> wanted_;  // names that a result needs
    std::vector<std::string_view> changed_;
    std::vector<refusal>* refused_ = nullptr;
    std::string lost_;
    bool blamed_ = false;
};

// ---- sites

inline composer& site::c() const { return im.graph(); }
inline edge site::named(std::string_view tensor) { return im.read(tensor); }
inline edge site::tensor(std::string_view name) {
    const argument* a = find(name);
    return a && a->kind == argument_kind::tensor ? im.read(a->text) : edge{0, 0};
}
inline std::vector<edge> site::tensors(std::string_view name) {
    std::vector<edge> out;
    if (const argument* a = find(name))
        for (const argument::item& i : a->items) out.push_back(im.read(i.name));
    return out;
}
inline extent site::size(std::string_view name, extent fallback) {
    const argument* a = find(name);
    if (!a) return fallback;
    return a->kind == argument_kind::size ? im.size_of(a->text) : extent(a->integer);
}
inline sizes site::extents(std::string_view name) {
    sizes out;
    if (const argument* a = find(name))
        for (const argument::item& i : a->items) out.push_back(i.name.empty() ? extent(i.number) : im.size_of(i.name));
    return out;
}
inline std::int64_t site::integer(std::string_view name, std::int64_t fallback) {
    const argument* a = find(name);
    if (!a) return fallback;
    if (a->kind != argument_kind::size) return a->integer;
    const extent e = im.size_of(a->text);
    if (!e.is_number()) refuse(name, "found a size that is not known before a call, expected a number");
    return e.is_number() ? e.number() : fallback;
}
inline std::vector<std::int64_t> site::integers(std::string_view name) {
    std::vector<std::int64_t> out;
    for (const extent& e : extents(name)) {
        if (!e.is_number()) refuse(name, "found a size that is not known before a call, expected numbers");
        out.push_back(e.is_number() ? e.number() : 1);
    }
    return out;
}
inline double site::number(std::string_view name, double fallback) {
    const argument* a = find(name);
    if (!a) return fallback;
    if (a->kind == argument_kind::real) return a->real;
    return static_cast<double>(integer(name));
}
inline dtype site::type(std::string_view name, dtype fallback) const {
    const argument* a = find(name);
    return a ? dtype_of_code(a->integer) : fallback;
}
inline std::size_t site::position(std::string_view name) const {
    const argument* wanted = find(name);
    std::size_t out = 0;
    for (const argument& a : node.inputs) {
        if (&a == wanted) return out;
        switch (a.kind) {
            case argument_kind::tensor:
            case argument_kind::integer:
            case argument_kind::real:
            case argument_kind::size: ++out; break;
            case argument_kind::tensors:
            case argument_kind::optional_tensors:
                for (const argument::item& i : a.items) out += !i.name.empty();
                break;
            default: break;
        }
    }
    return out;
}
inline edge site::literal_of(std::size_t position, double number, dtype type) {
    if (type == dtype::f16 || type == dtype::bf16)
        if (round_to(type, number) != number && std::isfinite(number)) type = dtype::f32;  // the operation's own precision
    return c().literal(id + "_c" + std::to_string(position), number, type);
}
inline edge site::literal(std::string_view name, dtype type) {
    const argument* a = find(name);
    if (a && a->kind == argument_kind::size) {
        const extent e = im.size_of(a->text);
        if (!e.is_number()) {  // a size as a value: as many ones, added
            const edge ones = c().full(id + "_ones", 1, dtype::i64, {e});
            const edge count = c().fold(id + "_count", "sum", ones, {0}, true);
            return is_integer(type) ? count : c().pointwise(id + "_size", "copy", {count}, byte_size(type) < 4 ? dtype::f32 : type);
        }
        return literal_of(position(name), static_cast<double>(e.number()), type);
    }
    return literal_of(position(name), number(name), type);
}
inline edge site::operand(std::string_view name, dtype beside) {
    if (is_tensor(name)) return tensor(name);
    const argument* a = find(name);
    if (is_integer(beside) && a && a->kind == argument_kind::real) beside = dtype::f32;
    if (beside == dtype::boolean && a && a->kind != argument_kind::boolean) beside = dtype::i64;
    return literal(name, beside);
}
inline dtype site::out_type(std::size_t result) const {
    std::size_t at = 0;
    for (const argument& a : node.outputs) {
        if (a.kind == argument_kind::tensor && at++ == result) return archive::dtype_of(im.x.find_tensor(a.text)->type);
        for (const argument::item& i : a.items)
            if (at++ == result) return archive::dtype_of(im.x.find_tensor(i.name)->type);
    }
    return dtype::f32;
}
inline sizes site::out_shape(std::size_t result) const {
    std::size_t at = 0;
    const auto shape = [&](std::string_view name) {
        sizes out;
        for (const size_text& s : im.x.find_tensor(name)->sizes) out.push_back(im.size_of(s));
        return out;
    };
    for (const argument& a : node.outputs) {
        if (a.kind == argument_kind::tensor && at++ == result) return shape(a.text);
        for (const argument::item& i : a.items)
            if (at++ == result) return shape(i.name);
    }
    return {};
}
inline bool site::is_read(std::size_t result) const {
    return result < node.outputs.size() && im.is_wanted(node.outputs[result].text);
}
inline void site::refuse(std::string_view argument, std::string reason) { im.refuse_call(node, argument, std::move(reason)); }

// ---- importer

/// " (axis 0 of x)": the argument that a symbol is read from; archives do not keep the names that their makers gave it.
inline std::string importer::first_use(std::string_view symbol) const {
    for (const graph_input& i : x.inputs) {
        const tensor_facts* t = i.what.kind == argument_kind::tensor ? x.find_tensor(i.what.text) : nullptr;
        for (std::size_t a = 0; t && a < t->sizes.size(); ++a)
            if (!t->sizes[a].is_number && symbols_in(t->sizes[a].expression) == std::vector{symbol}) return " (axis " + std::to_string(a) + " of " + std::string(i.what.text) + ")";
    }
    return {};
}
inline result<void> importer::bind_symbols(const selection& chosen) {
    std::vector<std::string_view> names;
    const auto collect = [&](std::string_view tensor) {
        if (const tensor_facts* t = x.find_tensor(tensor))
            for (const size_text& s : t->sizes)
                if (!s.is_number)
                    for (const std::string_view n : symbols_in(s.expression))
                        if (std::find(names.begin(), names.end(), n) == names.end()) names.push_back(n);
    };
    for (const graph_input& i : x.inputs)
        if (i.role == input_role::user && i.what.kind == argument_kind::tensor && chosen.whole) collect(i.what.text);
    for (const std::string_view n : chosen.reads) collect(n);
    std::vector<std::string_view> open;
    std::vector<bool> used(how_.sizes.size(), false);
    for (const std::string_view n : names) {
        bool pinned = false;
        for (std::size_t i = 0; i < how_.sizes.size(); ++i)
            if (how_.sizes[i].first == n || (!how_.symbol.empty() && how_.sizes[i].first == how_.symbol && names.size() == 1)) {
                if (pinned) return refuse(fault_kind::user, "found " + std::string(n) + " twice, expected one size", "--dynamic");
                meanings_.push_back({n, extent(how_.sizes[i].second)});
                used[i] = pinned = true;
            }
        for (const symbol_range& r : x.symbols)
            if (!pinned && r.name == n && r.least == r.most) meanings_.push_back({n, extent(r.least)}), pinned = true;
        if (!pinned) open.push_back(n);
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
        std::string known;
        for (const std::string_view n : names) (known += known.empty() ? "" : ", ") += n;
        if (!used[i]) return refuse(fault_kind::user, "found " + how_.sizes[i].first + ", expected " + (known.empty() ? "none: all sizes are numbers" : "one of the symbols " + known), "--dynamic");
    }
    for (const auto& [name, size] : how_.sizes)
        if (size < 1 || size > largest_symbol_size) return refuse(fault_kind::user, "found the size " + std::to_string(size) + " of " + name + ", expected 1 to " + std::to_string(largest_symbol_size), "--dynamic");
    if (open.size() > 1) {
        std::string all;
        for (const std::string_view n : open) (all += all.empty() ? "" : ", ") += std::string(n) + first_use(n);
        return refuse(fault_kind::input, "found the symbolic sizes " + all + ", expected one at most: give the others numbers (--dynamic " + std::string(open.front()) + "=8)", "range_constraints", x.file);
    }
    if (open.empty()) return {};
    symbol_.stored_name = open.front();
    symbol_.name = how_.symbol.empty() ? symbol_.stored_name : how_.symbol;
    if (!is_identifier(symbol_.name)) return refuse(fault_kind::user, "found the symbol \"" + symbol_.name + "\", expected an identifier", "--symbol");
    symbol_.least = least_symbol_size, symbol_.most = largest_symbol_size;
    for (const symbol_range& r : x.symbols)
        if (r.name == open.front()) symbol_.least = std::max<std::int64_t>(r.least, 1), symbol_.most = r.most;
    meanings_.push_back({open.front(), extent::symbol()});
    symbol_.hint = how_.hint;
    if (symbol_.hint == 0)
        for (const named_tensor& t : x.tensors)
            for (const size_text& s : t.facts.sizes)
                if (!s.is_number && s.number > 0 && symbol_.hint == 0) {
                    const auto e = parse_size(s.expression, meanings_);
                    if (e && e->is_symbol()) symbol_.hint = s.number;
                }
    if (symbol_.hint < 1 || symbol_.hint > largest_symbol_size) symbol_.hint = default_hint;
    c.symbol(symbol_.name, symbol_.hint);
    return {};
}

inline edge importer::add_leaf(std::string_view name, std::string_view path, std::string_view what) {
    const tensor_facts& t = *x.find_tensor(name);
    const call pseudo{.name = name, .target = what};
    const dtype type = archive::dtype_of(t.type);
    sizes shape;
    for (const size_text& s : t.sizes) shape.push_back(size_of(s));
    if (type == dtype::none) {
        refuse_call(pseudo, {}, "found a tensor of " + (t.type == archive::element::none ? "PyTorch's type " + std::to_string(t.type_code) : std::string(archive::token(t.type))) + ", expected a type with kernels");
        return {0, 0};
    }
    if (!t.strided) {
        refuse_call(pseudo, {}, "found a sparse or packed layout, expected a strided one");
        return {0, 0};
    }
    const edge e = path.empty() ? c.input(name, type, shape) : c.weight(name, path, type, shape);
    if (!composed(pseudo)) return {0, 0};
    return e;
}

inline void importer::bind_inputs(const selection& chosen, const std::vector<std::string_view>& states, imported& out) {
    std::size_t position = 0;
    // Which of them anything reads: parameters that nobody does are left out, arguments stay.
    std::vector<std::string_view> read;
    const std::vector<bool> needed = needed_calls(chosen);
    for (std::size_t i = 0; i < x.calls.size(); ++i) {
        if (!needed[i]) continue;
        for (const argument& a : x.calls[i].inputs) {
            if (a.kind == argument_kind::tensor) read.push_back(a.text);
            for (const argument::item& item : a.items)
                if (!item.name.empty()) read.push_back(item.name);
        }
    }
    if (chosen.whole)
        for (const graph_output& o : x.outputs)
            if (o.what.kind == argument_kind::tensor) read.push_back(o.what.text);
    for (const std::string_view n : chosen.results) read.push_back(n);
    std::sort(read.begin(), read.end());
    const auto is_read = [&](std::string_view n) { return std::binary_search(read.begin(), read.end(), n); };
    const auto add = [&](std::string_view name, std::string_view path, std::string_view what) {
        blamed_ = false;
        const edge e = add_leaf(name, path, what);
        add_value(name, {.kind = blamed_ ? value::form::refused : value::form::tensor, .now = e});
        return e;
    };
    for (const graph_input& i : x.inputs) {
        const std::string_view name = i.what.text;
        if (i.role == input_role::other) {
            if (i.kind == "constant_input" && !is_read(name)) {  // None, a number, a text: an argument, and part of the trace
                ++position;
                continue;
            }
            if (is_read(name) || chosen.whole) refuse_call({.name = name, .target = i.kind}, {}, "found an input of this kind, expected tensors");
            continue;
        }
        const bool is_state = std::find(states.begin(), states.end(), name) != states.end();
        if (i.role == input_role::user) {
            const std::size_t here = position++;
            if (!chosen.whole && !is_read(name)) continue;
            if (i.what.kind != argument_kind::tensor) continue;  // numbers and texts are part of the trace
            add(name, {}, "user_input");
            out.inputs.push_back({std::string(name), is_state ? port_role::state : port_role::user, std::string(name), here});
            continue;
        }
        if (!is_read(name)) continue;
        if (is_state) {
            add(name, {}, i.kind);
            out.inputs.push_back({std::string(name), port_role::state, std::string(i.path), 0});
            continue;
        }
        const std::string path = renamed(i.path);
        add(name, path, i.kind);
        out.weights.push_back({std::string(name), std::string(i.path), path});
    }
    for (const std::string_view name : chosen.reads) {
        if (place_.contains(name)) continue;
        add(name, {}, "boundary");
        out.inputs.push_back({std::string(name), port_role::boundary, std::string(name), 0});
    }
}

/// Calls that a result needs, those that write in place among them.
inline std::vector<bool> importer::needed_calls(const selection& chosen) {
    auto& wanted = wanted_;
    wanted.clear();
    if (chosen.whole)
        for (const graph_output& o : x.outputs) wanted[o.what.text] = true;
    for (const std::string_view n : chosen.results) wanted[n] = true;
    std::vector<bool> out(x.calls.size(), false);
    for (std::size_t i = x.calls.size(); i-- > 0;) {
        const call& node = x.calls[i];
        if (!chosen.calls[i]) continue;
        bool needed = in_place(node.target) && !node.outputs.empty();  // what it writes may be read by another name
        for (const argument& a : node.outputs) {
            needed = needed || wanted.contains(a.text);
            for (const argument::item& item : a.items) needed = needed || wanted.contains(item.name);
        }
        if (!needed) continue;
        out[i] = true;
        for (const argument& a : node.inputs) {
            if (a.kind == argument_kind::tensor) wanted[a.text] = true;
            for (const argument::item& item : a.items)
                if (!item.name.empty()) wanted[item.name] = true;
        }
    }
    return out;
}

inline bool importer::check_arguments(const call& node, const row& as) {
    const std::vector<parameter> list = parameters_of(as.arguments);
    const bool positional = !node.target.starts_with("torch.ops.");
    std::vector<bool> given(list.size(), false);
    bool good = true;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const argument& a = node.inputs[i];
        std::size_t at = list.size();
        if (a.name.empty() || positional) at = i;
        else
            for (std::size_t k = 0; k < list.size(); ++k)
                if (list[k].name == a.name) at = k;
        if (at >= list.size()) {
            if (a.kind == argument_kind::none) continue;
            refuse_call(node, a.name, "found an argument that is not modelled");
            good = false;
            continue;
        }
        given[at] = true;
        if (a.kind == argument_kind::none ? !list[at].may_lack && list[at].kinds.find('_') == std::string_view::npos : !kind_fits(list[at].kinds, a.kind)) {
            refuse_call(node, list[at].name, "found " + std::string(name_of(a.kind)) + ", expected another kind");
            good = false;
        }
    }
    for (std::size_t k = 0; k < list.size(); ++k)
        if (!given[k] && !list[k].may_lack) {
            refuse_call(node, list[k].name, "found none, expected this argument");
            good = false;
        }
    return good;
}

inline void importer::translate(const call& node) {
    blamed_ = false;
    const bool only_sizes = !node.outputs.empty() && std::all_of(node.outputs.begin(), node.outputs.end(), [](const argument& a) { return a.kind == argument_kind::size || a.kind == argument_kind::truth; });
    if (only_sizes) return;  // the archive says what each is
    const auto outputs_refused = [&] {
        for (const argument& a : node.outputs) {
            if (a.kind == argument_kind::tensor) add_value(a.text, {.kind = value::form::refused});
            for (const argument::item& i : a.items) add_value(i.name, {.kind = value::form::refused});
        }
    };
    const bool changes = in_place(node.target);
    const std::string_view spelled = table_name(node.target);
    const row* as = find_row(spelled);
    if (!as && changes) as = find_row(without_underscore(spelled));
    if (!as) {
        refuse_call(node, {}, node.target.find("higher_order") != std::string_view::npos ? "found a higher-order operator, expected a graph without branches and wrapped functions" : "found an operator that is not modelled");
        return outputs_refused();
    }
    if (!check_arguments(node, *as)) return outputs_refused();
    for (const argument& a : node.inputs) {
        const auto bad = [&](std::string_view name) {
            const std::size_t v = value_of(name);
            return v == value::npos || values_[v].kind != value::form::tensor;
        };
        bool refused_before = a.kind == argument_kind::tensor && bad(a.text);
        for (const argument::item& i : a.items) refused_before = refused_before || ((a.kind == argument_kind::tensors || a.kind == argument_kind::optional_tensors) && !i.name.empty() && bad(i.name));
        if (refused_before) return outputs_refused();  // named already
    }
    site at(*this, node, *as);
    at.op.build(at);
    if (!composed(node) || blamed_) return outputs_refused();
    std::vector<std::string_view> names;
    for (const argument& a : node.outputs) {
        if (a.kind == argument_kind::tensor) names.push_back(a.text);
        for (const argument::item& i : a.items) names.push_back(i.name);
    }
    if (changes) {
        const std::size_t self = value_of(node.inputs.front().text);
        if (at.made.size() != 1 || names.size() > 1) {
            refuse_call(node, {}, "found an operator that changes its argument and gives several results, expected one");
            return outputs_refused();
        }
        edge now = at.made[0];
        const edge before = read(self);
        now = c.broadcast(at.id + "_bc", c.cast(at.id + "_typed", now, c.type(before)), c.shape(before));
        write(self, now);
        if (!composed(node) || blamed_) return outputs_refused();
        for (const std::string_view n : names) place_[n] = self;  // the result is the argument
        return;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i >= at.made.size()) {
            add_value(names[i], {.kind = value::form::refused});  // a second result that this table does not make: who reads it is refused
            continue;
        }
        const edge e = at.made[i];
        const dtype declared = at.out_type(i);
        const sizes shape = at.out_shape(i), have = c.shape(e);
        if (!composed(node)) return outputs_refused();
        if (c.type(e) != declared || have != shape) {
            std::string text;
            for (const extent& s : have) text += (text.empty() ? "" : ", ") + s.text(symbol_.name);
            refuse_call(node, {}, "found that it makes " + std::string(token(c.type(e))) + "[" + text + "], expected the " + std::string(token(declared)) + " tensor of rank " + std::to_string(shape.size()) + " that the archive declares");
            add_value(names[i], {.kind = value::form::refused});
            continue;
        }
        value made{.kind = value::form::tensor, .now = e};
        if (as->view && !node.inputs.empty()) {
            made.viewed = value_of(node.inputs.front().text);
            made.seen = read(made.viewed);
            made.maker = &node, made.result = i;
        }
        add_value(names[i], made);
    }
}

inline edge importer::unview(std::size_t v, edge base, edge part) {
    const value of = values_[v];
    const call& maker = *of.maker;
    site at(*this, maker, *find_row(table_name(maker.target)));
    const std::string id = std::string(maker.name) + "_back";
    const std::string_view name = table_name(maker.target);
    const sizes whole = c.shape(base);
    if (part == of.now) return base;
    if (name == "aten.slice.Tensor") {
        const std::int64_t axis = at.integer("dim"), step = at.integer("step", 1);
        const extent start = at.size("start");
        if (step == 1 && start.is_number()) return c.slice_scatter(id, base, part, axis, start.number());
    } else if (name == "aten.narrow.default") {
        const extent start = at.size("start");
        if (start.is_number()) return c.slice_scatter(id, base, part, at.integer("dim"), start.number());
    } else if (name == "aten.select.int") {
        const extent index = at.size("index");
        const std::int64_t axis = at.axis(at.integer("dim"), base);
        if (index.is_number()) return c.slice_scatter(id, base, c.unsqueeze(id + "_part", part, axis), axis, index.number());
    } else if (name == "aten.transpose.int") {
        return c.transpose(id, part, at.integer("dim0"), at.integer("dim1"));
    } else if (name == "aten.t.default" || name == "aten.numpy_T.default") {
        return c.rank(part) < 2 ? part : c.transpose(id, part, 0, 1);
    } else if (name == "aten.permute.default") {
        const std::vector<std::int64_t> axes = at.integers("dims");
        std::vector<std::int64_t> back(axes.size());
        for (std::size_t i = 0; i < axes.size(); ++i) back[static_cast<std::size_t>(at.axis(axes[i], part))] = static_cast<std::int64_t>(i);
        return c.permute(id, part, back);
    } else if (name.starts_with("aten.view.") || name == "aten._unsafe_view.default" || name.starts_with("aten.unsqueeze.") || name.starts_with("aten.squeeze.") || name.starts_with("aten.flatten.") ||
               name.starts_with("aten.unflatten.") || name == "aten.view_as.default") {
        return c.reshape(id, part, whole);
    } else if (name.starts_with("aten.split") || name.starts_with("aten.chunk.")) {
        const std::int64_t axis = at.axis(at.integer("dim", 0), base);
        at.op.build(at);
        extent start(0);
        for (std::size_t i = 0; i < of.result && i < at.made.size(); ++i) start = start + c.shape(at.made[i])[static_cast<std::size_t>(axis)];
        if (start.is_number()) return c.slice_scatter(id, base, part, axis, start.number());
    } else if (name.starts_with("aten.unbind.")) {
        const std::int64_t axis = at.axis(at.integer("dim", 0), base);
        return c.slice_scatter(id, base, c.unsqueeze(id + "_part", part, axis), axis, static_cast<std::int64_t>(of.result));
    } else if (c.shape(part) == whole && c.type(part) == c.type(base) && (name.starts_with("aten.detach") || name.starts_with("aten.alias") || name.starts_with("aten.lift_fresh") || name == "aten.contiguous.default" || name.starts_with("aten.to."))) {
        return part;
    }
    lost_ = "found a write through the view " + std::string(maker.name) + " (" + std::string(maker.target) + "), expected one through slices, selections and rearranged axes";
    return base;
}

inline void importer::results(const selection& chosen, const std::vector<std::string_view>& states, imported& out) {
    std::vector<edge> given;
    const auto add = [&](std::string_view name, edge e, port p) {
        // A result has a node of its own: an argument or a result given twice is copied.
        if (c.is_leaf(e) || std::find(given.begin(), given.end(), e) != given.end()) e = c.pointwise(std::string(name) + "_result", "copy", {e}, c.type(e));
        given.push_back(e);
        if (!composed({.name = name, .target = "output"})) return;
        p.id = c.id_of(e);
        c.output(e);
        out.outputs.push_back(std::move(p));
    };
    const auto give = [&](std::string_view name, port p) {
        blamed_ = false;
        const std::size_t v = value_of(name);
        if (v == value::npos || values_[v].kind != value::form::tensor) return;  // refused already
        add(name, read(v), std::move(p));
    };
    std::size_t position = 0;
    if (chosen.whole) {
        for (const graph_output& o : x.outputs) {
            if (o.role == output_role::other) refuse_call({.name = o.what.text, .target = o.kind}, {}, "found an output of this kind, expected results and changed buffers");
            if (o.role != output_role::user) continue;
            const std::size_t here = position++;
            if (o.what.kind == argument_kind::size) {
                refuse_call({.name = o.what.text, .target = "output"}, {}, "found a symbolic size as a result, expected tensors");
                continue;
            }
            if (o.what.kind != argument_kind::tensor) continue;  // a number or None that the trace knows
            give(o.what.text, {.role = port_role::user, .name = std::string(o.what.text), .position = here});
        }
        for (const graph_output& o : x.outputs)
            if (o.role == output_role::buffer_mutation || o.role == output_role::input_mutation) give(o.what.text, {.role = port_role::state, .name = std::string(o.path)});
    }
    for (const std::string_view n : chosen.results) give(n, {.role = port_role::boundary, .name = std::string(n)});
    for (const graph_input& i : x.inputs) {
        const std::size_t v = value_of(i.what.text);
        if (i.what.kind != argument_kind::tensor || v == value::npos || !values_[v].changed) continue;
        changed_.push_back(i.what.text);
        blamed_ = false;
        if (std::find(states.begin(), states.end(), i.what.text) != states.end())
            add(i.what.text, values_[v].now, {.role = port_role::state, .name = std::string(i.role == input_role::user ? i.what.text : i.path)});
    }
}

inline result<imported> importer::run(const selection& chosen, const std::vector<std::string_view>& states, std::vector<refusal>& refused) {
    refused_ = &refused;
    EMMY_CHECK_OK(bind_symbols(chosen));
    imported out;
    out.symbol = symbol_;
    bind_inputs(chosen, states, out);
    const std::vector<bool> needed = needed_calls(chosen);
    for (std::size_t i = 0; i < x.calls.size(); ++i)
        if (needed[i]) translate(x.calls[i]);
    results(chosen, states, out);
    if (!refused.empty()) return out;
    for (const std::string_view n : changed_)
        if (std::find(states.begin(), states.end(), n) == states.end()) return out;  // once more, with this one as state
    if (out.outputs.empty()) return refuse(fault_kind::input, "found no tensor among the results, expected one at least", "output_specs", x.file);
    auto g = std::move(c).finish();
    if (!g) return refuse(fault(fault_kind::input, g.error().message(), g.error().place(), x.file));
    out.g = std::move(*g);
    if (!symbol_.name.empty() && (symbol_.least > 1 || symbol_.most < largest_symbol_size))
        out.notes.push_back(symbol_.name + " is exported for " + std::to_string(symbol_.least) + " to " + (symbol_.most == INT64_MAX ? "any size" : std::to_string(symbol_.most)) +
                            "; a program says no range, kernels of other sizes would run");
    if (!symbol_.name.empty() && symbol_.most > largest_symbol_size) out.notes.push_back(symbol_.name + " runs up to " + std::to_string(largest_symbol_size) + " here");
    for (const port& p : out.outputs)
        if (p.role == port_role::state) out.notes.push_back(p.name + " is changed: its value before is an input, its value after the output " + p.id);
    return out;
}

}  // namespace emmy::program::pt2::detail
