#pragma once
#include <emmy/program/impl/op_text_grammar.ipp>
#include <emmy/program/impl/pointwise.ipp>

namespace emmy::program {
namespace detail {

/// What each operator makes of its tensors and settings.
struct op_parser : op_grammar {
    // What the operators ask of their arguments.
    result<void> count(std::size_t least, std::size_t most) const {
        if (tensors.size() >= least && tensors.size() <= most) return {};
        const std::string wanted = least == most ? std::to_string(least) : std::to_string(least) + " or " + std::to_string(most);
        return refuse(fault_kind::user, "found " + std::to_string(tensors.size()) + " tensors of " + name + ", expected " + wanted, "--op");
    }
    /// The setting under any of these names; every other setting is refused by `only`.
    const named_setting* find(std::initializer_list<std::string_view> names) const {
        for (const named_setting& s : settings)
            if (std::find(names.begin(), names.end(), s.name) != names.end()) return &s;
        return nullptr;
    }
    result<void> only(std::initializer_list<std::string_view> names) const {
        for (const named_setting& s : settings)
            if (std::find(names.begin(), names.end(), s.name) == names.end()) {
                std::string wanted;
                for (std::string_view n : names) (wanted += wanted.empty() ? "" : ", ") += n;
                return refuse(wrong(s.offset, "the setting \"" + s.name + "\" of " + name, wanted.empty() ? "no setting" : wanted));
            }
        return {};
    }
    result<std::int64_t> axis(std::int64_t fallback, std::size_t rank) const {
        const named_setting* s = find({"dim", "axis"});
        if (!s) return fallback;
        const auto r = static_cast<std::int64_t>(rank);
        if (s->number.kind != literal::form::integer || s->number.integer < -r || s->number.integer >= r)
            return refuse(wrong(s->offset, "an axis that is none of the tensor's " + std::to_string(rank),
                                "an integer from " + std::to_string(-r) + " to " + std::to_string(r - 1)));
        return s->number.integer < 0 ? s->number.integer : s->number.integer - r;  // counted from the end, as traces spell it
    }
    static bool same_size(const builder::size& a, const builder::size& b) { return a.symbol == b.symbol && (!a.symbol.empty() || a.number == b.number); }
    static std::string shape_text(std::span<const builder::size> shape) {
        std::string out = "[";
        for (std::size_t i = 0; i < shape.size(); ++i) (out += i ? "," : "") += shape[i].symbol.empty() ? std::to_string(shape[i].number) : shape[i].symbol;
        return out + "]";
    }
    fault misfit(const tensor_argument& t, std::string_view wanted) const { return wrong(t.offset, std::string(token(t.type)) + shape_text(t.shape), wanted); }
    void name_tensors(std::initializer_list<std::string_view> names) {
        auto next = names.begin();
        for (tensor_argument& t : tensors) {
            if (t.name.empty()) t.name = next != names.end() ? std::string(*next) : "x" + std::to_string(&t - tensors.data());
            if (next != names.end()) ++next;
        }
    }
    result<void> distinct(std::string_view result_id) const {
        for (const tensor_argument& t : tensors) {
            if (t.name == result_id || t.name == std::string(result_id) + "_keepdim")
                return refuse(wrong(t.offset, "a tensor named \"" + t.name + "\" like the result", "another name"));
            for (const tensor_argument& other : tensors)
                if (&other != &t && other.name == t.name)
                    return refuse(wrong(std::max(t.offset, other.offset), "the name \"" + t.name + "\" twice", "distinct names"));
        }
        return {};
    }
    result<void> one_type() const {
        for (const tensor_argument& t : tensors)
            if (t.type != tensors[0].type) return refuse(misfit(t, "the element type of the first tensor, " + std::string(token(tensors[0].type))));
        return {};
    }

    result<graph> matmul() {
        EMMY_CHECK_OK(count(2, 2));
        EMMY_CHECK_OK(only({}));
        name_tensors({"x0", "x1"});
        EMMY_CHECK_OK(distinct("matmul"));
        EMMY_CHECK_OK(one_type());
        const auto &a = tensors[0].shape, &b = tensors[1].shape;
        if (a.size() < 2) return refuse(misfit(tensors[0], "a matrix [M,K] or a stack of them"));
        if (b.size() < 2 || b.size() > a.size()) return refuse(misfit(tensors[1], "a matrix [K,N], or a stack like the first operand's"));
        if (!same_size(a.back(), b[b.size() - 2]))
            return refuse(misfit(tensors[1], "a second-last size that equals the first operand's last, " + shape_text(std::span(&a.back(), 1))));
        for (std::size_t i = 3; i <= b.size(); ++i)
            if (!same_size(a[a.size() - i], b[b.size() - i])) return refuse(misfit(tensors[1], "the stacks of the first operand, " + shape_text(a)));
        std::vector<builder::size> shape(a.begin(), a.end() - 1);
        shape.push_back(b.back());
        builder build;
        const edge in[] = {build.input(tensors[0].name, tensors[0].type, a), build.input(tensors[1].name, tensors[1].type, b)};
        build.output(build.add("matmul", op::matmul, in, tensors[0].type, shape));
        return std::move(build).finish();
    }
    result<graph> linear() {
        EMMY_CHECK_OK(count(2, 3));
        EMMY_CHECK_OK(only({}));
        name_tensors({"input", "weight", "bias"});
        EMMY_CHECK_OK(distinct("linear"));
        EMMY_CHECK_OK(one_type());
        const auto &x = tensors[0].shape, &w = tensors[1].shape;
        const bool bias = tensors.size() == 3;
        if (w.size() != 2 || !same_size(w[1], x.back()))
            return refuse(misfit(tensors[1], "a weight [N,K] with the input's last size, " + shape_text(std::span(&x.back(), 1))));
        for (const builder::size& s : w)
            if (!s.symbol.empty()) return refuse(misfit(tensors[1], "a weight of stated sizes"));
        if (bias && (tensors[2].shape.size() != 1 || !same_size(tensors[2].shape[0], w[0])))
            return refuse(misfit(tensors[2], "a bias " + shape_text(std::span(w.data(), 1))));
        std::vector<builder::size> shape = x;
        shape.back() = w[0];
        builder build;
        std::vector<edge> in{build.input(tensors[0].name, tensors[0].type, x)};
        for (std::size_t i = 1; i < tensors.size(); ++i) in.push_back(build.weight("p_" + tensors[i].name, tensors[i].name, tensors[i].type, tensors[i].shape));
        const builder::setting has_bias{.key = attr::has_bias, .number = {.kind = literal::form::boolean, .integer = bias}};
        build.output(build.add("linear", op::linear, in, tensors[0].type, shape, std::span(&has_bias, 1)));
        return std::move(build).finish();
    }
    result<graph> rms_norm() {
        EMMY_CHECK_OK(count(1, 2));
        EMMY_CHECK_OK(only({"eps"}));
        name_tensors({"x", "weight"});
        EMMY_CHECK_OK(distinct("rms_norm"));
        EMMY_CHECK_OK(one_type());
        const auto x = tensors[0].shape;
        if (!x.back().symbol.empty()) return refuse(misfit(tensors[0], "a last size that is a number"));
        if (tensors.size() == 1) tensors.push_back({.name = "weight", .type = tensors[0].type, .shape = {x.back()}, .offset = 0});
        if (tensors[1].shape.size() != 1 || !same_size(tensors[1].shape[0], x.back()))
            return refuse(misfit(tensors[1], "a weight of the last size, " + shape_text(std::span(&x.back(), 1))));
        literal eps = {.kind = literal::form::real, .real = 1e-6};
        if (const named_setting* s = find({"eps"})) {
            eps.real = s->number.as_double();
            if (s->number.kind == literal::form::boolean || !(eps.real >= 0))
                return refuse(wrong(s->offset, "an eps that is no number of at least 0", "e.g. 1e-6"));
        }
        builder build;
        const edge in[] = {build.input(tensors[0].name, tensors[0].type, x),
                           build.weight("p_" + tensors[1].name, tensors[1].name, tensors[1].type, tensors[1].shape)};
        const builder::setting set{.key = attr::eps, .number = eps};
        build.output(build.add("rms_norm", op::rms_norm, in, tensors[0].type, x, std::span(&set, 1)));
        return std::move(build).finish();
    }
    result<graph> softmax() {
        EMMY_CHECK_OK(count(1, 1));
        EMMY_CHECK_OK(only({"dim", "axis"}));
        name_tensors({"x"});
        EMMY_CHECK_OK(distinct("softmax"));
        EMMY_TRY(dim, axis(-1, tensors[0].shape.size()));
        builder build;
        const edge in = build.input(tensors[0].name, tensors[0].type, tensors[0].shape);
        const builder::setting set{.key = attr::axis, .number = {.kind = literal::form::integer, .integer = dim}};
        build.output(build.add("softmax", op::softmax, std::span(&in, 1), tensors[0].type, tensors[0].shape, std::span(&set, 1)));
        return std::move(build).finish();
    }
    /// sum and mean over one axis, dropped from the shape unless keepdim=true.
    result<graph> fold(bool mean) {
        EMMY_CHECK_OK(count(1, 1));
        EMMY_CHECK_OK(only({"dim", "axis", "keepdim"}));
        name_tensors({"x"});
        const std::string id = mean ? "mean" : "sum_1";
        EMMY_CHECK_OK(distinct(id));
        const auto& x = tensors[0];
        EMMY_TRY(dim, axis(-1, x.shape.size()));
        const named_setting* keep = find({"keepdim"});
        if (keep && keep->number.kind != literal::form::boolean) return refuse(wrong(keep->offset, "a keepdim that is no boolean", "true or false"));
        const bool kept = keep && keep->number.integer != 0;
        std::vector<builder::size> shape = x.shape;
        const auto place = static_cast<std::size_t>(dim + static_cast<std::int64_t>(shape.size()));
        shape[place] = {.number = 1, .symbol = {}};
        builder build;
        const edge in = build.input(x.name, x.type, x.shape);
        const builder::setting set{.key = attr::axis, .number = {.kind = literal::form::integer, .integer = dim}};
        edge out = build.add(kept ? id : id + "_keepdim", mean ? op::mean : op::reduce, std::span(&in, 1), x.type, shape, std::span(&set, 1));
        if (!kept) {
            std::vector<std::string> coordinates;
            for (std::size_t i = 0; i < x.shape.size(); ++i) coordinates.push_back(i == place ? "0" : "out_coord_" + std::to_string(i < place ? i : i - 1));
            shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(place));
            out = build.map(id, out, x.type, shape, coordinates);
        }
        build.output(out);
        return std::move(build).finish();
    }
    result<graph> pointwise() {
        const std::size_t operands = find_pointwise(name)->operands;
        EMMY_CHECK_OK(count(operands, operands));
        EMMY_CHECK_OK(only({}));
        if (operands == 1) name_tensors({"x"});
        else name_tensors({"x0", "x1", "x2"});
        EMMY_CHECK_OK(distinct(name));
        EMMY_CHECK_OK(one_type());
        std::vector<builder::size> shape;
        for (const tensor_argument& t : tensors) {  // right-aligned, 1 against anything
            while (shape.size() < t.shape.size()) shape.insert(shape.begin(), {.number = 1, .symbol = {}});
            for (std::size_t i = 1; i <= t.shape.size(); ++i) {
                builder::size& s = shape[shape.size() - i];
                const builder::size& d = t.shape[t.shape.size() - i];
                if (s.symbol.empty() && s.number == 1) s = d;
                else if (!(d.symbol.empty() && d.number == 1) && !same_size(s, d)) return refuse(misfit(t, "a shape that broadcasts to " + shape_text(shape)));
            }
        }
        builder build;
        std::vector<edge> in;
        for (const tensor_argument& t : tensors) {
            const edge e = build.input(t.name, t.type, t.shape);
            bool equal = t.shape.size() == shape.size();
            std::vector<std::string> coordinates;
            for (std::size_t i = 0; i < t.shape.size(); ++i) {
                const std::size_t d = shape.size() - t.shape.size() + i;
                const bool passes = same_size(t.shape[i], shape[d]);
                equal = equal && passes;
                coordinates.push_back(passes ? "out_coord_" + std::to_string(d) : "0");
            }
            in.push_back(equal ? e : build.map(t.name + "_bc", e, t.type, shape, coordinates));
        }
        const builder::setting set{.key = attr::op, .number = {}, .text = name};
        build.output(build.add(name, op::elementwise, in, tensors[0].type, shape, std::span(&set, 1)));
        return std::move(build).finish();
    }
    /// A name of the list "x *weight": its place's, without the star.
    static std::pair<std::string, bool> tensor_name(std::string_view names, std::size_t place) {
        std::string_view now;
        std::size_t i = 0;
        while (!names.empty()) {
            const std::size_t end = std::min(names.find(' '), names.size());
            now = names.substr(0, end);
            names.remove_prefix(std::min(end + 1, names.size()));
            if (i++ == place) break;
        }
        const bool weight = now.starts_with('*');
        if (weight) now.remove_prefix(1);
        return {std::string(now) + (i <= place ? std::to_string(place) : ""), weight};
    }
    /// Settings of the list "dim !dtype": known ones only, and all that must be given.
    result<void> check_settings(const composed_op& o) const {
        std::vector<std::string_view> known;
        for (std::string_view rest = o.settings; !rest.empty();) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            std::string_view one = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            const bool needed = one.starts_with('!');
            if (needed) one.remove_prefix(1);
            known.push_back(one);
            if (needed && !find({one})) return refuse(fault_kind::user, "found no " + std::string(one) + " of " + name + ", expected it", "--op");
        }
        for (const named_setting& s : settings) {
            std::string wanted;
            for (std::string_view k : known) (wanted += wanted.empty() ? "" : ", ") += k;
            if (std::find(known.begin(), known.end(), s.name) == known.end())
                return refuse(wrong(s.offset, "the setting \"" + s.name + "\" of " + name, wanted.empty() ? "no setting" : wanted));
            if (s.name == "dtype" && dtype_from_alias(s.word) == dtype::none)
                return refuse(wrong(s.offset, "the dtype \"" + s.word + "\"", "an element type (f32, f16, bf16, …)"));
        }
        return {};
    }
    result<graph> composed(const composed_op& o) {
        EMMY_CHECK_OK(count(o.least, o.most));
        EMMY_CHECK_OK(check_settings(o));
        const std::string id = name == "sum" ? "sum_1" : name;
        composer c;
        std::vector<edge> x;
        std::vector<bool> weights;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const auto [given, weight] = tensor_name(o.tensors, i);
            if (tensors[i].name.empty()) tensors[i].name = o.most > 4 ? "x" + std::to_string(i) : given;
            weights.push_back(weight);
        }
        EMMY_CHECK_OK(distinct(id));
        std::string symbol;
        for (const tensor_argument& t : tensors)
            for (const builder::size& v : t.shape)
                if (!v.symbol.empty()) symbol = v.symbol;
        for (const named_setting& s : settings)
            for (const builder::size& v : s.list)
                if (!v.symbol.empty() && v.symbol != symbol)
                    return refuse(wrong(s.offset, "the symbol \"" + v.symbol + "\"",
                                        symbol.empty() ? "numbers: no tensor has a symbol" : "the tensors' symbol, " + symbol));
        for (std::size_t i = 0; i < tensors.size(); ++i)
            x.push_back(weights[i] ? c.weight("p_" + tensors[i].name, tensors[i].name, tensors[i].type, tensors[i].shape)
                                   : c.input(tensors[i].name, tensors[i].type, tensors[i].shape));
        edge made = o.make(call{c, id, x, settings, name});
        for (const edge e : x)
            if (e == made && !c.failed()) {  // nothing to do: a result of its own all the same
                std::vector<std::string> places;
                for (std::size_t i = 0; i < c.rank(made); ++i) places.push_back("out_coord_" + std::to_string(i));
                made = c.map(id, {{made, places}}, c.type(made), c.shape(made));
                break;
            }
        c.output(made);
        auto g = std::move(c).finish();
        if (!g) return refuse(fault(fault_kind::user, g.error().message(), g.error().place()).at("--op"));
        return g;
    }
    /// Whether the plain form (tensors of one real type, the settings of that form) is what was asked for.
    bool plain() const {
        for (const named_setting& s : settings)
            if (s.is_list || !s.word.empty() || s.name == "dims" || s.name == "alpha" || s.name == "other" || s.name == "beta" || s.name == "axes" ||
                s.name == "dtype")
                return false;
        const bool integers = std::any_of(tensors.begin(), tensors.end(), [](const tensor_argument& t) { return is_integer(t.type); });
        const bool mixed = std::any_of(tensors.begin(), tensors.end(), [&](const tensor_argument& t) { return t.type != tensors[0].type; });
        if ((integers && name == "sum") || ((integers || mixed) && find_pointwise(name))) return false;
        const bool scalar = std::any_of(tensors.begin(), tensors.end(), [](const tensor_argument& t) { return t.shape.empty(); });
        return !scalar || !(find_pointwise(name) || name == "sum" || name == "mean");
    }
    result<graph> make() {
        constexpr std::string_view forms[] = {"linear", "matmul", "mean", "rms_norm", "softmax", "sum"};
        const pointwise_facts* function = find_pointwise(name);
        const composed_op* other = find_composed(name);
        const bool formed = std::find(std::begin(forms), std::end(forms), name) != std::end(forms) || (function && function->same_type);
        if (!formed || !plain()) {
            const bool direct = function && settings.empty() && tensors.size() == function->operands;
            if (other && !direct) return composed(*other);
            if (function)
                return composed({name, function->operands, function->operands, function->operands == 1 ? "x" : "x0 x1 x2", "",
                                 [](const call& a) { return a.c.pointwise(a.id, a.function, a.x); }});
        }
        for (const tensor_argument& t : tensors)
            if (!is_floating(t.type) || byte_size(t.type) < 2 || t.type == dtype::f16x2) return refuse(misfit(t, "an element type of f64, f32, f16, bf16"));
        for (const tensor_argument& t : tensors)
            if (t.shape.empty()) return refuse(misfit(t, "at least one axis"));
        if (name == "matmul") return matmul();
        if (name == "linear") return linear();
        if (name == "rms_norm") return rms_norm();
        if (name == "softmax") return softmax();
        if (name == "sum") return fold(false);
        if (name == "mean") return fold(true);
        return pointwise();
    }
};

}  // namespace detail

EMMY_DECL result<graph> parse_op(std::string_view text) {
    detail::op_parser p;
    p.text = text;
    EMMY_CHECK_OK(p.parse());
    return p.make();
}

}  // namespace emmy::program
