#pragma once
#include <emmy/program/impl/compose.ipp>
#include <emmy/program/import/impl/symbolic.ipp>
#include <emmy/program/import/import.hpp>

#include <functional>
#include <unordered_map>

namespace emmy::program::pt2::detail {

using sizes = composer::sizes;

/// What a name of the exported graph stands for. A tensor is a whole storage, or a view of another value: the call that made it, made anew
/// when what it views has changed.
struct value {
    enum class form : std::uint8_t { absent, tensor, refused };
    form kind = form::absent;
    std::string_view name = {};
    edge now = {};                      ///< its elements, as of `seen`
    std::size_t viewed = npos;          ///< value that it is a view of
    edge seen = {};                     ///< that value's elements when `now` was made
    const call* maker = nullptr;        ///< of a view
    std::size_t result = 0;             ///< which result of the maker
    bool changed = false;               ///< a whole storage that was written to
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);
};

/// How a row of the operator table takes one argument.
struct parameter {
    std::string_view name, kinds;
    bool may_lack = false;
};

class site;
struct row {
    std::string_view name, arguments;
    void (*build)(site&);
    bool view = false;      ///< results are views of the first argument
};
EMMY_DECL const row* find_row(std::string_view name);

/// Parameters of a row: "self:T other:TN alpha:N?". Kinds: T a tensor, L tensors, O tensors or None, Z a size (number or symbolic), A sizes,
/// I an integer, N a number (also a symbolic size), F a real or integer, B a bool, D a dtype, S a text, _ anything, for it changes no value.
inline std::vector<parameter> parameters_of(std::string_view text) {
    std::vector<parameter> out;
    while (!text.empty()) {
        const std::size_t end = text.find(' ');
        std::string_view one = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        parameter p;
        if (one.ends_with('?')) p.may_lack = true, one.remove_suffix(1);
        const std::size_t colon = one.find(':');
        p.name = one.substr(0, colon), p.kinds = one.substr(colon + 1);
        out.push_back(p);
    }
    return out;
}
inline bool kind_fits(std::string_view kinds, argument_kind k) {
    const auto any = [&](std::string_view of) { return kinds.find_first_of(of) != std::string_view::npos; };
    switch (k) {
        case argument_kind::tensor: return any("T_");
        case argument_kind::tensors: return any("LO_") || (any("T") && any("L"));
        case argument_kind::optional_tensors: return any("O_");
        case argument_kind::integer: return any("IZNF_");
        case argument_kind::real: return any("NF_");
        case argument_kind::boolean: return any("BN_");
        case argument_kind::text: return any("S_");
        case argument_kind::size: return any("ZN_");
        case argument_kind::integers: return any("A_") || kinds == "J";
        case argument_kind::sizes: return any("A_");
        case argument_kind::scalar_type: return any("D_");
        default: return any("_");
    }
}

inline dtype dtype_of_code(std::int64_t code) { return archive::dtype_of(element_of_code(code)); }

class importer;

/// One call while it is translated: its arguments by name, its results. Arguments were checked against the row.
class site {
public:
    site(importer& owner, const call& what, const row& as) : im(owner), node(what), op(as), id(what.name) {}

    importer& im;
    const call& node;
    const row& op;
    std::string id;  ///< of the call's node in the program
    std::vector<edge> made;

    composer& c() const;
    const argument* find(std::string_view name) const {
        const std::vector<parameter> list = parameters_of(op.arguments);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const std::string_view called = node.inputs[i].name.empty() || positional() ? (i < list.size() ? list[i].name : std::string_view()) : node.inputs[i].name;
            if (called == name) return node.inputs[i].kind == argument_kind::none ? nullptr : &node.inputs[i];
        }
        return nullptr;
    }
    bool positional() const { return !node.target.starts_with("torch.ops."); }
    bool has(std::string_view name) const { return find(name) != nullptr; }
    bool is_tensor(std::string_view name) const {
        const argument* a = find(name);
        return a && a->kind == argument_kind::tensor;
    }

    edge named(std::string_view tensor);  ///< a tensor of the exported graph, of a list
    edge tensor(std::string_view name);
    std::optional<edge> maybe(std::string_view name) { return has(name) ? std::optional(tensor(name)) : std::nullopt; }
    std::vector<edge> tensors(std::string_view name);
    extent size(std::string_view name, extent fallback = extent(0));
    sizes extents(std::string_view name);
    std::int64_t integer(std::string_view name, std::int64_t fallback = 0);
    std::vector<std::int64_t> integers(std::string_view name);
    double number(std::string_view name, double fallback = 0);
    bool boolean(std::string_view name, bool fallback = false) const {
        const argument* a = find(name);
        return a ? a->integer != 0 : fallback;
    }
    std::string_view text(std::string_view name) const {
        const argument* a = find(name);
        return a ? a->text : std::string_view();
    }
    dtype type(std::string_view name, dtype fallback) const;

    /// A number as a constant of one element: `<node>_c<position>`. Halves that do not hold the number exactly get f32.
    edge literal(std::string_view name, dtype type);
    edge literal_of(std::size_t position, double number, dtype type);
    /// Place of an argument among tensors and numbers, those of lists one by one; None, bools, lists of numbers and texts do not count.
    std::size_t position(std::string_view name) const;
    /// A tensor, or the number as a literal for an operation with `beside`.
    edge operand(std::string_view name, dtype beside);

    dtype out_type(std::size_t result = 0) const;
    sizes out_shape(std::size_t result = 0) const;
    bool is_read(std::size_t result) const;  ///< whether anything needs this result
    void out(edge e) { made.push_back(e); }
    void refuse(std::string_view argument, std::string reason);
    /// The operand's own number of axes, and an axis from 0.
    std::int64_t axis(std::int64_t a, edge x) const { return a < 0 ? a + static_cast<std::int64_t>(c().rank(x)) : a; }
};

}  // namespace emmy::program::pt2::detail
