#pragma once
#include <emmy/core/result.hpp>
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/fuse/impl/indices.hpp>
#include <emmy/loop/fuse/impl/values.hpp>

#include <string>
#include <vector>

/// The program as lifted operators over buffers: what regions, rolling and splicing work on.
namespace emmy::loop::fusion {

/// A buffer of the program. Numbers are the primitive graph's node numbers; what rolling makes comes after them.
struct buffer_facts {
    name_id name = no_name;          ///< in value_graph::names
    dtype type = dtype::none;
    std::vector<dim> shape;          ///< in the value graph's pools
    bool transient = false;
    bool output = false;             ///< of the program
    op_index producer = nothing;     ///< nothing: input or constant
    program::node_id node = program::no_node;
    std::vector<op_index> readers = {};  ///< distinct, in topological order
    program::literal literal = {};   ///< of a literal constant
};

enum class lifted_kind : std::uint8_t {
    pointwise,  ///< one store of a value over its own axes
    fold,       ///< the same, the value holds a call of the operator's own fold
    scan,       ///< stores the running accumulator inside its loop
    rolled      ///< a recurrence: its kernel is complete (roll.ipp)
};

/// One primitive as a loop nest over its own axes, or what rolling made of many.
struct lifted_op {
    lifted_kind kind = lifted_kind::pointwise;
    std::vector<axis_id> axes;          ///< own free axes, outermost first, in normal-form order
    std::vector<buffer_id> stores;      ///< buffers written; one, unless rolled
    std::vector<expr_id> index;         ///< of the store, one entry per dimension: an axis or 0 (a layout chain retargets it in the root)
    value_id stored = nothing;          ///< over own axes; reads of other operators are loads
    axis_id fold_axis = nothing;        ///< fold, scan: own axis
    loop::op fold_op = op::none;
    value_id folded = nothing;          ///< fold, scan: what is accumulated
    std::vector<buffer_id> reads;       ///< distinct, in order of first read
    bool accumulates = false;           ///< the stored value was an accumulator when it was lifted (a fold of extent > 1, a scan)
    buffer_id plain_load = nothing;     ///< the stored value is one load of this buffer and nothing else, before rounding
    bool rounds = false;                ///< store rounding put a copy before the store
    program::node_id node = program::no_node;
    std::uint32_t level = 0;            ///< fold: 1 + levels of the folds it uses; known once its cone is
    std::vector<program::node_id> rolled = {};  ///< primitives that a recurrence stands for
};

/// Everything that fusion knows of one program.
struct program_graph {
    value_graph values;
    index_rules indices;
    std::vector<buffer_facts> buffers;
    std::vector<lifted_op> ops;         ///< topological order; what rolling adds is appended and `order` says where it belongs
    std::vector<op_index> order;        ///< live operators in topological order
    std::vector<buffer_id> outputs;     ///< of the program, distinct, in the order of their nodes

    program_graph(const text_pool& names, const expr_pool& exprs, bool unit_factors) : values(names, exprs, unit_factors), indices(values) {}
    std::string text(buffer_id b) const { return std::string(values.names.text(buffers[b].name)); }
};

/// Lifts every primitive and spells store rounding. Errors (input): the node is named.
inline result<void> lift(program_graph& to, const program::primitive_graph& from);

}  // namespace emmy::loop::fusion
