#pragma once
#include <emmy/core/archive/element.hpp>
#include <emmy/core/json.hpp>
#include <emmy/core/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What an exported PyTorch program says of itself (the JSON text of a `.pt2` archive), read and checked, not yet translated.
namespace emmy::program::pt2 {

/// Major versions of the text that are read: those that PyTorch 2.4 (5) to 2.15 (8) write.
constexpr std::int64_t oldest_schema = 5, newest_schema = 8;

/// A size: a number, or an expression over symbols as a text ("2*s0", "Mul(Integer(2), Symbol('s0', …))").
struct size_text {
    bool is_number = true;
    std::int64_t number = 0;      ///< the size, or the expression's hint (0: none)
    std::string_view expression = {};
};

struct tensor_facts {
    archive::element type = archive::element::none;  ///< none: a type that has no tensors here (complex, quantised)
    std::int64_t type_code = 0;                      ///< PyTorch's number of it
    std::vector<size_text> sizes = {}, strides = {};
    size_text offset = {};
    std::string_view device = {};
    bool strided = true;                             ///< else sparse or another layout
};

enum class argument_kind : std::uint8_t { none, tensor, tensors, optional_tensors, integer, integers, real, reals, boolean, booleans, text, texts, size, sizes, truth, scalar_type,
                                          layout, memory_format, device, graph, other };
std::string_view constexpr name_of(argument_kind k) {
    constexpr std::string_view names[] = {"None", "a tensor", "tensors", "tensors or None", "an int", "ints", "a float", "floats", "a bool", "bools", "a str", "strs", "a symbolic int",
                                          "symbolic ints", "a symbolic bool", "a dtype", "a layout", "a memory format", "a device", "a graph", "an argument of another kind"};
    return names[static_cast<std::size_t>(k)];
}
/// One argument or result. Views into the document.
struct argument {
    std::string_view name = {};   ///< of the parameter; of a result: empty
    argument_kind kind = argument_kind::none;
    std::string_view text = {};   ///< tensor, str, device, symbolic size by name: its name; other: the key of the union
    std::int64_t integer = 0;     ///< int, bool, dtype, layout, memory format
    double real = 0;
    struct item {
        std::string_view name = {};  ///< of a tensor, of a symbolic size; empty: None, or `number`
        std::int64_t number = 0;
        double real = 0;
    };
    std::vector<item> items = {};
};

/// A module call that a node stands in, outermost first.
struct module_frame {
    std::string path;        ///< "model.layers.0.self_attn"; "" is the exported module itself
    std::string_view type;   ///< "transformers.models.llama.modeling_llama.LlamaAttention"
};

struct call {
    std::string_view name;    ///< of the node; what its first result is named where the text says none
    std::string_view target;  ///< "torch.ops.aten.linear.default", "_operator.mul"
    std::vector<argument> inputs = {}, outputs = {};
    std::vector<module_frame> modules = {};
    std::string_view source = {};  ///< last line of the stack trace: what was written in Python; may be empty
};

enum class input_role : std::uint8_t { user, parameter, buffer, constant, other };
struct graph_input {
    input_role role = input_role::user;
    argument what = {};                ///< a tensor, or a number that the graph was exported with
    std::string_view path = {};    ///< of a parameter, buffer or constant
    bool persistent = true;        ///< of a buffer: whether checkpoints hold it
    std::string_view kind = {};    ///< as the text spells it
};
enum class output_role : std::uint8_t { user, buffer_mutation, input_mutation, other };
struct graph_output {
    output_role role = output_role::user;
    argument what = {};
    std::string_view path = {};    ///< the buffer, or the user input that is mutated
    std::string_view kind = {};
};

struct named_tensor {
    std::string_view name;
    tensor_facts facts;
};
struct named_size {
    std::string_view name;
    size_text value;
};
/// A symbol's sizes: least and most (INT64_MAX: unbounded).
struct symbol_range {
    std::string_view name;
    std::int64_t least = 0, most = INT64_MAX;
};

struct exported_program {
    json::document text;
    std::string file, member;
    std::int64_t major = 0, minor = 0;
    std::string_view torch_version = {}, dialect = {};
    std::vector<graph_input> inputs;
    std::vector<graph_output> outputs;
    std::vector<call> calls;               ///< in order
    std::vector<named_tensor> tensors;     ///< sorted by name
    std::vector<named_size> sizes;         ///< symbolic ints, sorted by name
    std::vector<symbol_range> symbols;     ///< as the text lists them

    EMMY_DECL const tensor_facts* find_tensor(std::string_view name) const;
    EMMY_DECL const size_text* find_size(std::string_view name) const;
};

/// Reads the text (model.json, serialized_exported_program.json). Errors (input), with member and JSON path: not JSON, a schema version
/// outside those above (both are named), a field that is missing or of another kind, a name defined twice or used before it is defined.
EMMY_DECL result<exported_program> read_exported(std::string text, std::string file = {}, std::string member = {});

}  // namespace emmy::program::pt2

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/import/impl/exported.ipp>
#endif
