#pragma once
#include <emmy/loop/wire.hpp>

#include <emmy/core/dim_wire.hpp>
#include <emmy/loop/op_table.hpp>

namespace emmy::loop {
namespace detail {

class kernel_reader {
public:
    result<kernel> read(const json::value& v, const json::path& where) {
        json::fields f(v, where);
        EMMY_TRY(inputs, f.need("inputs"));
        EMMY_TRY(outputs, f.need("outputs"));
        EMMY_TRY(nodes, f.need("nodes"));
        EMMY_CHECK_OK(f.done());
        EMMY_CHECK_OK(read_inputs(*inputs, where / "inputs"));
        EMMY_CHECK_OK(read_nodes(*nodes, where / "nodes"));
        EMMY_CHECK_OK(same_names(*outputs, where / "outputs", k_.outputs, "the outputs of the loop node"));
        return std::move(k_);
    }

private:
    using at = const json::path&;
    name_id intern(std::string_view text) { return k_.body.names.intern(text); }

    static result<std::string_view> read_name(const json::value& v, at where) {
        EMMY_TRY(text, json::read_string(v, where));
        if (text.empty()) return refuse(json::problem(where, "found an empty name, expected one"));
        return text;
    }
    result<name_id> name(const json::value& v, at where) {
        EMMY_TRY(text, read_name(v, where));
        return intern(text);
    }
    result<name_id> name(json::fields& f, std::string_view key) {
        EMMY_TRY(v, f.need(key));
        return name(*v, f.at(key));
    }
    /// A field whose default is absent, null or "".
    static result<std::string_view> optional_text(json::fields& f, std::string_view key) {
        const json::value* v = f.may(key);
        if (!v || v->is(json::kind::null)) return std::string_view();
        return json::read_string(*v, f.at(key));
    }
    result<name_id> optional_name(json::fields& f, std::string_view key) {
        EMMY_TRY(text, optional_text(f, key));
        return intern(text);
    }
    static result<bool> flag(json::fields& f, std::string_view key, bool otherwise) {
        const json::value* v = f.may(key);
        if (!v) return otherwise;
        return json::read_boolean(*v, f.at(key));
    }
    static result<dtype> read_dtype(std::string_view text, at where) {
        if (const dtype t = dtype_from_token(text); t != dtype::none) return t;
        std::string message = "found the dtype ";
        json::append_quoted(message, text.substr(0, 40));
        return refuse(json::problem(where, message + ", expected one of f64 f32 f16 bf16 f8e4m3 f8e5m2 f4e2m1x2 f16x2 i64 i32 i16 u64 u32 u16 u8 bool"));
    }
    static result<dtype> optional_dtype(json::fields& f, std::string_view key) {
        const json::value* v = f.may(key);
        if (!v || v->is(json::kind::null)) return dtype::none;
        EMMY_TRY(text, json::read_string(*v, f.at(key)));
        return read_dtype(text, f.at(key));
    }
    static result<op> read_op(const json::value& v, at where) {
        EMMY_TRY(text, json::read_string(v, where));
        if (const op o = op_from_text(text); o != op::none) return o;
        std::string message = "found the operator ";
        json::append_quoted(message, text.substr(0, 40));
        return refuse(json::problem(where, message + ", expected a known one"));
    }
    result<expr_id> expression(const json::value& v, at where) {
        EMMY_TRY(text, json::read_string(v, where));
        auto out = parse_expr(text, k_.body.exprs, k_.body.names);
        if (!out) return refuse(json::problem(where, out.error().message()));
        return *out;
    }
    result<expr_id> expression(json::fields& f, std::string_view key) {
        EMMY_TRY(v, f.need(key));
        return expression(*v, f.at(key));
    }
    result<expr_id> optional_expression(json::fields& f, std::string_view key) {
        const json::value* v = f.may(key);
        if (!v || v->is(json::kind::null)) return no_expr;
        return expression(*v, f.at(key));
    }
    result<run> names_of(json::fields& f, std::string_view key) {
        EMMY_TRY(v, f.need(key));
        return names_of(*v, f.at(key));
    }
    result<run> names_of(const json::value& v, at where) {
        EMMY_TRY(items, json::read_array(v, where));
        const run out{static_cast<std::uint32_t>(k_.body.name_lists.size()), static_cast<std::uint32_t>(items.size())};
        for (std::size_t i = 0; i < items.size(); ++i) {
            EMMY_TRY(id, name(items[i], where / i));
            k_.body.name_lists.push_back(id);
        }
        return out;
    }
    result<run> one_name(json::fields& f, std::string_view key) {
        EMMY_TRY(id, name(f, key));
        return k_.body.add_names({&id, 1});
    }
    result<run> expressions(json::fields& f, std::string_view key) {
        EMMY_TRY(v, f.need(key));
        const json::path where = f.at(key);
        EMMY_TRY(items, json::read_array(*v, where));
        const run out{static_cast<std::uint32_t>(k_.body.expr_lists.size()), static_cast<std::uint32_t>(items.size())};
        for (std::size_t i = 0; i < items.size(); ++i) {
            EMMY_TRY(id, expression(items[i], where / i));
            k_.body.expr_lists.push_back(id);
        }
        return out;
    }
    result<void> number(const json::value& v, at where, stmt& s) {
        s.seed_is_integer = v.is(json::kind::integer);
        if (s.seed_is_integer) {
            EMMY_TRY(whole, json::read_integer(v, where));
            s.seed_number = static_cast<double>(whole);
            constexpr std::int64_t exact = std::int64_t{1} << 53;
            if (whole < -exact || whole > exact) return refuse(json::expected(where, v, "a whole number of at most 2^53"));
            return {};
        }
        EMMY_TRY(value, json::read_real(v, where));
        s.seed_number = value;
        return {};
    }
    result<axis> read_axis(const json::value& v, at where, bool parent) {
        json::fields f(v, where);
        axis out;
        EMMY_TRY(id, name(f, "name"));
        out.name = id;
        EMMY_TRY(extent, f.need("extent"));
        EMMY_TRY(size, read_dim(*extent, f.at("extent"), k_.body.exprs, k_.body.names));
        out.extent = size;
        const json::value* w = f.may("window");
        EMMY_CHECK_OK(f.done());
        if (!w || w->is(json::kind::null)) return out;
        if (parent) return refuse(json::problem(where / "window", "found a window of a window's parent, expected none"));
        EMMY_TRY(read, read_window(*w, where / "window"));
        out.window = static_cast<std::uint32_t>(k_.body.windows.size());
        k_.body.windows.push_back(read);
        return out;
    }
    result<window> read_window(const json::value& v, at where) {
        json::fields f(v, where);
        window out;
        if (!v.is(json::kind::object)) return refuse(json::expected(where, v, "an object"));
        if (const json::value* p = f.may("parent"); p && !p->is(json::kind::null)) {
            EMMY_TRY(parent, read_axis(*p, f.at("parent"), true));
            out.parent = parent.name;
            out.parent_extent = parent.extent;
        }
        EMMY_TRY(base, optional_expression(f, "base"));
        EMMY_TRY(bound, optional_expression(f, "bound"));
        EMMY_TRY(partition, flag(f, "partition", false));
        EMMY_CHECK_OK(f.done());
        out.base = base;
        out.bound = bound;
        out.partition = partition;
        return out;
    }

    result<run> statements(const json::value& v, at where, int nesting) {
        EMMY_TRY(items, json::read_array(v, where));
        if (nesting > max_nesting) return refuse(json::problem(where, "found statements nested deeper than 64, expected at most 64"));
        const std::size_t mark = pending_.size();
        for (std::size_t i = 0; i < items.size(); ++i) {
            EMMY_TRY(id, statement(items[i], where / i, nesting));
            pending_.push_back(id);
        }
        const run out = k_.body.add_statements({pending_.data() + mark, pending_.size() - mark});
        pending_.resize(mark);
        return out;
    }
    result<stmt_id> statement(const json::value& v, at where, int nesting) {
        EMMY_TRY(members, json::read_object(v, where));
        if (members.size() != 1) return refuse(json::problem(where, "found an object of " + std::to_string(members.size()) + " keys, expected one: a statement's class"));
        const std::string_view kind = members[0].key;
        const json::path inside = where / kind;
        json::fields f(members[0].item, inside);
        const stmt_id id = k_.body.add({});
        stmt s;
        result<void> read;
        if (kind == "Assign") read = read_assign(f, s);
        else if (kind == "Load") read = read_load(f, s);
        else if (kind == "Loop") read = read_loop(f, s, nesting);
        else if (kind == "Accum") read = read_accum(f, s);
        else if (kind == "Write") read = read_write(f, s);
        else if (kind == "Select") read = read_select(f, s);
        else if (kind == "Let") read = read_let(f, s);
        else if (kind == "Pre") read = read_pre(f, s);
        else if (kind == "Carry") read = read_carry(f, s);
        else if (kind == "Cond") read = read_cond(f, s, nesting);
        else if (kind == "Init") read = read_init(f, s);
        else if (kind == "StridedLoop") read = read_strided_loop(f, s, nesting);
        else if (kind == "ZeroPrologue") read = read_zero_prologue(f, s);
        else return refuse(json::problem(inside, "found an unknown statement, expected one of Loop Load Assign Accum Select Write Let Pre Carry Cond Init StridedLoop ZeroPrologue"));
        EMMY_CHECK_OK(std::move(read));
        EMMY_CHECK_OK(f.done());
        k_.body.stmts[id] = s;
        return id;
    }
    result<void> read_loop(json::fields& f, stmt& s, int nesting) {
        if (s.kind != stmt_kind::strided_loop) s.kind = stmt_kind::loop;
        EMMY_TRY(a, f.need("axis"));
        EMMY_TRY(over, read_axis(*a, f.at("axis"), false));
        EMMY_TRY(unroll, flag(f, "unroll", false));
        EMMY_TRY(seed, flag(f, "seed", true));
        EMMY_TRY(body, f.need("body"));
        EMMY_TRY(list, statements(*body, f.at("body"), nesting + 1));
        s.axis = over;
        s.unroll = unroll;
        s.seed = seed;
        s.body = list;
        return {};
    }
    result<void> read_strided_loop(json::fields& f, stmt& s, int nesting) {
        s.kind = stmt_kind::strided_loop;
        EMMY_TRY(start, expression(f, "start"));
        EMMY_TRY(step, expression(f, "step"));
        EMMY_TRY(end, optional_expression(f, "end"));
        s.value = start;
        s.step = step;
        s.end = end;
        return read_loop(f, s, nesting);
    }
    result<void> read_load(json::fields& f, stmt& s) {
        s.kind = stmt_kind::load;
        EMMY_TRY(names, names_of(f, "names"));
        EMMY_TRY(input, name(f, "input"));
        EMMY_TRY(index, expressions(f, "index"));
        EMMY_TRY(type, optional_dtype(f, "dtype"));
        EMMY_TRY(carried, optional_name(f, "carried"));
        if (names.count == 0) return refuse(json::problem(f.at("names"), "found no name, expected at least one"));
        s.name = k_.body.name_lists[names.first];
        if (names.count > 1) s.names = names;
        s.buffer = input;
        s.index = index;
        s.type = type;
        s.carried = carried;
        return {};
    }
    result<void> read_assign(json::fields& f, stmt& s) {
        s.kind = stmt_kind::assign;
        EMMY_TRY(id, name(f, "name"));
        EMMY_TRY(o, f.need("op"));
        EMMY_TRY(which, read_op(*o, f.at("op")));
        EMMY_TRY(args, names_of(f, "args"));
        EMMY_TRY(type, optional_dtype(f, "dtype"));
        s.name = id;
        s.op = which;
        s.args = args;
        s.type = type;
        return {};
    }
    result<void> read_accum(json::fields& f, stmt& s) {
        s.kind = stmt_kind::accum;
        EMMY_TRY(id, name(f, "name"));
        EMMY_TRY(value, one_name(f, "value"));
        s.op = op::add;
        if (const json::value* o = f.may("op")) {
            EMMY_TRY(which, read_op(*o, f.at("op")));
            s.op = which;
        }
        EMMY_TRY(type, optional_dtype(f, "dtype"));
        if (const json::value* a = f.may("axes")) {
            EMMY_TRY(axes, names_of(*a, f.at("axes")));
            s.axes = axes;
        }
        EMMY_TRY(base, optional_name(f, "base"));
        s.name = id;
        s.args = value;
        s.type = type;
        s.base = base;
        return {};
    }
    result<void> read_select(json::fields& f, stmt& s) {
        s.kind = stmt_kind::select;
        EMMY_TRY(id, name(f, "name"));
        EMMY_TRY(b, f.need("branches"));
        const json::path where = f.at("branches");
        EMMY_TRY(branches, json::read_array(*b, where));
        if (branches.empty()) return refuse(json::problem(where, "found no branch, expected at least one"));
        const auto count = static_cast<std::uint32_t>(branches.size());
        s.name = id;
        s.args = {static_cast<std::uint32_t>(k_.body.name_lists.size()), count};
        s.index = {static_cast<std::uint32_t>(k_.body.expr_lists.size()), count};
        for (std::size_t i = 0; i < branches.size(); ++i) {
            const json::path here = where / i;
            json::fields branch(branches[i], here);
            EMMY_TRY(value, name(branch, "value"));
            EMMY_TRY(predicate, expression(branch, "select"));
            EMMY_CHECK_OK(branch.done());
            k_.body.name_lists.push_back(value);
            k_.body.expr_lists.push_back(predicate);
        }
        return {};
    }
    result<void> read_write(json::fields& f, stmt& s) {
        s.kind = stmt_kind::write;
        EMMY_TRY(output, name(f, "output"));
        EMMY_TRY(index, expressions(f, "index"));
        EMMY_TRY(values, names_of(f, "values"));
        EMMY_TRY(type, optional_dtype(f, "value_dtype"));
        EMMY_TRY(atomic, flag(f, "atomic", false));
        EMMY_TRY(swizzle, optional_text(f, "swizzle"));
        if (values.count == 0) return refuse(json::problem(f.at("values"), "found no value, expected at least one"));
        s.buffer = output;
        s.index = index;
        s.args = values;
        s.type = type;
        s.atomic = atomic;
        s.swizzle = swizzle == "NONE" ? no_name : intern(swizzle);
        return {};
    }
    result<void> read_let(json::fields& f, stmt& s) {
        s.kind = stmt_kind::let;
        EMMY_TRY(id, name(f, "name"));
        EMMY_TRY(value, expression(f, "value"));
        EMMY_TRY(type, optional_dtype(f, "dtype"));
        s.name = id;
        s.value = value;
        s.type = type;
        return {};
    }
    result<void> read_pre(json::fields& f, stmt& s) {
        s.kind = stmt_kind::pre;
        EMMY_TRY(id, name(f, "name"));
        EMMY_TRY(carrier, name(f, "carrier"));
        EMMY_TRY(index, expressions(f, "index"));
        s.name = id;
        s.buffer = carrier;
        s.index = index;
        return {};
    }
    result<void> read_carry(json::fields& f, stmt& s) {
        s.kind = stmt_kind::carry;
        EMMY_TRY(id, name(f, "name"));
        EMMY_TRY(value, one_name(f, "value"));
        EMMY_TRY(index, expressions(f, "index"));
        EMMY_TRY(seed, f.need("seed"));
        EMMY_TRY(type, optional_dtype(f, "dtype"));
        s.name = id;
        s.args = value;
        s.index = index;
        s.type = type;
        if (seed->is(json::kind::integer) || seed->is(json::kind::real)) return number(*seed, f.at("seed"), s);
        if (!seed->is(json::kind::string)) return refuse(json::expected(f.at("seed"), *seed, "a number or the name of a buffer"));
        EMMY_TRY(buffer, name(*seed, f.at("seed")));
        s.buffer = buffer;
        s.seed_is_buffer = true;
        return {};
    }
    result<void> read_cond(json::fields& f, stmt& s, int nesting) {
        s.kind = stmt_kind::cond;
        EMMY_TRY(condition, expression(f, "cond"));
        EMMY_TRY(body, f.need("body"));
        EMMY_TRY(list, statements(*body, f.at("body"), nesting + 1));
        s.value = condition;
        s.body = list;
        if (const json::value* other = f.may("else_body")) {
            EMMY_TRY(else_list, statements(*other, f.at("else_body"), nesting + 1));
            s.else_body = else_list;
        }
        return {};
    }
    result<void> read_init(json::fields& f, stmt& s) {
        s.kind = stmt_kind::init;
        EMMY_TRY(id, name(f, "name"));
        EMMY_TRY(identity, f.need("identity"));
        EMMY_CHECK_OK(number(*identity, f.at("identity"), s));
        EMMY_TRY(t, f.need("dtype"));
        EMMY_TRY(text, json::read_string(*t, f.at("dtype")));
        EMMY_TRY(type, read_dtype(text, f.at("dtype")));
        s.name = id;
        s.type = type;
        return {};
    }
    result<void> read_zero_prologue(json::fields& f, stmt& s) {
        s.kind = stmt_kind::zero_prologue;
        EMMY_TRY(dst, name(f, "dst"));
        EMMY_TRY(words, f.need("words"));
        if (!words->is(json::kind::integer)) return refuse(json::expected(f.at("words"), *words, "an integer"));
        EMMY_CHECK_OK(number(*words, f.at("words"), s));
        s.buffer = dst;
        return {};
    }

    result<buffer> read_buffer(const json::value& v, at where) {
        EMMY_TRY(parts, json::read_array(v, where));
        if (parts.size() != 3) return refuse(json::problem(where, "found an array of " + std::to_string(parts.size()) + " items, expected [name, dtype, shape]"));
        buffer out;
        EMMY_TRY(id, name(parts[0], where / std::size_t{0}));
        EMMY_TRY(text, json::read_string(parts[1], where / 1));
        EMMY_TRY(type, read_dtype(text, where / 1));
        out.name = id;
        out.type = type;
        const json::path shape = where / 2;
        EMMY_TRY(dims, json::read_array(parts[2], shape));
        out.shape.reserve(dims.size());
        for (std::size_t i = 0; i < dims.size(); ++i) {
            EMMY_TRY(size, read_dim(dims[i], shape / i, k_.body.exprs, k_.body.names));
            out.shape.push_back(size);
        }
        return out;
    }
    result<void> read_inputs(const json::value& v, at where) {
        EMMY_TRY(items, json::read_array(v, where));
        k_.inputs.resize(items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            EMMY_TRY(id, name(items[i], where / i));
            if (place(id) != 0) return refuse(json::problem(where / i, "found an input for the second time, expected distinct names"));
            places_.resize(k_.body.names.size(), 0);
            places_[id] = static_cast<std::uint32_t>(i + 1);
            k_.inputs[i].name = id;
        }
        return {};
    }
    std::uint32_t place(name_id id) const { return id < places_.size() ? places_[id] : 0; }

    result<void> read_nodes(const json::value& v, at where) {
        EMMY_TRY(nodes, json::read_array(v, where));
        if (nodes.empty()) return refuse(json::problem(where, "found no node, expected exactly one loop node"));
        bool as_declared = true;
        for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
            EMMY_TRY(input, read_input_node(nodes[i], where / i));
            as_declared = as_declared && input == i;
            k_.node_order.push_back(input);
        }
        for (const buffer& b : k_.inputs)
            if (b.type == dtype::none) return refuse(json::problem(where, "found no input node of \"" + std::string(k_.body.text(b.name)) + "\", expected one for each input"));
        if (as_declared) k_.node_order.clear();
        return read_loop_node(nodes.back(), where / (nodes.size() - 1));
    }
    result<void> node_op(const json::value& op, at where, std::string_view expected) {
        EMMY_TRY(text, json::read_string(op, where));
        if (text == expected) return {};
        std::string message = "found a node of op ";
        json::append_quoted(message, text.substr(0, 40));
        return refuse(json::problem(where, message + ", expected \"" + std::string(expected) + "\": input nodes, then one loop node"));
    }
    result<std::uint32_t> read_input_node(const json::value& v, at where) {
        json::fields f(v, where);
        EMMY_TRY(o, f.need("op"));
        EMMY_CHECK_OK(node_op(*o, f.at("op"), "input"));
        EMMY_TRY(id, name(f, "id"));
        EMMY_TRY(list, f.need("outputs"));
        EMMY_CHECK_OK(f.done());
        const json::path outputs = f.at("outputs");
        EMMY_TRY(items, json::read_array(*list, outputs));
        if (items.size() != 1) return refuse(json::problem(outputs, "found " + std::to_string(items.size()) + " outputs of an input node, expected one"));
        EMMY_TRY(read, read_buffer(items[0], outputs / std::size_t{0}));
        if (read.name != id) return refuse(json::problem(outputs / std::size_t{0}, "found an output of another name than the input node's id, expected the same"));
        const std::uint32_t at_place = place(id);
        if (at_place == 0) return refuse(json::problem(f.at("id"), "found an input node that `inputs` does not list, expected one of them"));
        buffer& declared = k_.inputs[at_place - 1];
        if (declared.type != dtype::none) return refuse(json::problem(f.at("id"), "found an input node for the second time, expected one for each input"));
        declared = std::move(read);
        return at_place - 1;
    }
    result<void> read_loop_node(const json::value& v, at where) {
        json::fields f(v, where);
        EMMY_TRY(o, f.need("op"));
        EMMY_CHECK_OK(node_op(*o, f.at("op"), "loop"));
        EMMY_TRY(id, f.need("id"));
        EMMY_TRY(node_id, read_name(*id, f.at("id")));
        EMMY_TRY(attrs, f.need("attrs"));
        EMMY_TRY(inputs, f.need("inputs"));
        EMMY_TRY(outputs, f.need("outputs"));
        EMMY_CHECK_OK(f.done());
        EMMY_CHECK_OK(same_names(*inputs, f.at("inputs"), k_.inputs, "the kernel's inputs"));
        const json::path outputs_at = f.at("outputs");
        EMMY_TRY(items, json::read_array(*outputs, outputs_at));
        if (items.empty()) return refuse(json::problem(outputs_at, "found no output, expected at least one"));
        for (std::size_t i = 0; i < items.size(); ++i) {
            EMMY_TRY(read, read_buffer(items[i], outputs_at / i));
            k_.outputs.push_back(std::move(read));
        }
        if (node_id != k_.body.text(k_.outputs[0].name)) k_.node_id = node_id;

        const json::path attrs_at = f.at("attrs");
        json::fields a(*attrs, attrs_at);
        EMMY_TRY(label, a.need("name"));
        EMMY_TRY(name, json::read_string(*label, a.at("name")));
        EMMY_TRY(body, a.need("body"));
        EMMY_CHECK_OK(a.done());
        k_.name = name;
        EMMY_TRY(top, statements(*body, a.at("body"), 0));
        k_.body.top = top;
        return {};
    }
    result<void> same_names(const json::value& v, at where, const std::vector<buffer>& expected, const char* what) {
        EMMY_TRY(items, json::read_array(v, where));
        bool same = items.size() == expected.size();
        for (std::size_t i = 0; i < items.size(); ++i) {
            EMMY_TRY(text, json::read_string(items[i], where / i));
            same = same && text == k_.body.text(expected[i].name);
        }
        if (!same) return refuse(json::problem(where, std::string("found other names than ") + what + ", expected the same in the same order"));
        return {};
    }

    kernel k_;
    std::vector<stmt_id> pending_;
    std::vector<std::uint32_t> places_;  // by name: place in inputs + 1
};

}  // namespace detail

EMMY_DECL result<kernel> read_kernel(const json::value& loop_ir, const json::path& where) { return detail::kernel_reader().read(loop_ir, where); }

EMMY_DECL result<kernel> parse_kernel(std::string_view loop_ir_text, std::string_view file) {
    EMMY_TRY(document, json::document::parse(loop_ir_text, file));
    auto out = read_kernel(document.root());
    if (!out) return refuse(std::move(out).error().in_file(file));
    return out;
}

}  // namespace emmy::loop
