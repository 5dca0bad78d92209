#pragma once
#include <emmy/core/result.hpp>
#include <emmy/program/graph.hpp>
#include <emmy/program/import/archive.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Exported PyTorch programs as traced programs: doc/import.md says which operators, and what becomes of what.
namespace emmy::program::pt2 {

/// Which part of a decoder layer: what makes q, k and v; from them to the attention's result; the rest.
enum class layer_part : std::uint8_t { whole, pre, attention, post };

struct import_options {
    std::string symbol = {};  ///< name of the one symbolic size; empty: as the archive names it
    std::int64_t hint = 0;    ///< its hint; 0: the archive's
    std::vector<std::pair<std::string, std::int64_t>> sizes = {};       ///< symbols of the archive (or `symbol`) that become numbers
    std::vector<std::pair<std::string, std::string>> renames = {};      ///< of weight paths, by prefix: {"attn", "self_attn"}
    std::string module = {};  ///< path of a submodule; empty: the whole program
    layer_part part = layer_part::whole;
};

/// A call that has no place in a program.
struct refusal {
    std::string node, target;   ///< "topk", "torch.ops.aten.topk.default"
    std::string argument = {};  ///< the one that is to blame; may be empty
    std::string reason;
    std::string module = {};    ///< path of the innermost module that the call stands in
    std::string source = {};    ///< its Python line; may be empty
    EMMY_DECL std::string line() const;
};

/// What the program's inputs and outputs are to the exported one.
enum class port_role : std::uint8_t {
    user,      ///< an argument, or a result, of the exported program
    state,     ///< a buffer, or an argument, that calls change: its value before, and after (outputs of this kind follow the others)
    boundary   ///< of a selected part: a value that another part makes, or reads
};
struct port {
    std::string id = {};        ///< of the node
    port_role role = port_role::user;
    std::string name = {};      ///< of the archive: argument, buffer path, value
    std::size_t position = 0;   ///< among the exported program's arguments or results, where it is one
};
struct weight_binding {
    std::string id;             ///< of the constant
    std::string stored_path;    ///< in the archive
    std::string path;           ///< in the program: renamed
};
struct symbol_facts {
    std::string stored_name, name;  ///< empty: a static program
    std::int64_t least = 1, most = largest_symbol_size, hint = default_hint;
};

struct imported {
    graph g;
    std::vector<port> inputs, outputs;      ///< in the program's order
    std::vector<weight_binding> weights;    ///< in the order of the archive's signature
    symbol_facts symbol;
    std::vector<std::string> notes;         ///< what a reader should know: sizes beyond what a program can say, state
};

/// The program of an exported one, or of the part that is asked for. Nothing is half done: any refusal leaves no program.
/// Errors (user): an option that fits nothing; (input): what cannot be expressed: the first refusal, with how many there are; all of them are
/// put into `refused`.
EMMY_DECL result<imported> import_program(const exported_program& from, const import_options& how = {}, std::vector<refusal>* refused = nullptr);

/// Element bytes of every weight of the program, converted to nothing: as the archive holds them, in the order of imported::weights.
/// Errors (input): a weight without bytes, or of another type or shape than the program declares.
EMMY_DECL result<std::vector<std::vector<std::byte>>> read_weights(const pt2_archive& from, const imported& program);

/// Modules of the exported program, in order of first call, with how many calls each holds (those of its children too).
struct module_facts {
    std::string path, type;
    std::size_t calls = 0;
    bool attention = false;  ///< one of its calls is an attention: layer parts can be asked for
};
EMMY_DECL std::vector<module_facts> modules_of(const exported_program& from);

/// The operators that are read: "aten.linear.default" and its arguments, for documentation and tests.
struct operator_facts {
    std::string_view name, arguments;
};
EMMY_DECL std::vector<operator_facts> operators();

}  // namespace emmy::program::pt2

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/import/impl/import.ipp>
#endif
