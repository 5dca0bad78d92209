#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/fold/tree.hpp>
#include <emmy/loop/body.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The closed form of a kernel: every input of a term is a term, a buffer read too, in a list whose positions are what routes name.
/// What structural decisions (cuts, splits) are spoken in; fold/tree.hpp is the other, statement-based tree that lowering schedules.
namespace emmy::fold::closed {

using term_id = std::uint32_t;
constexpr term_id no_term = 0xffffffffu;

/// A pure statement of a lift body: Load, Assign, Select, Let, or Pre (`buffer` names the carried state; varies with its step).
struct pure {
    loop::stmt_kind kind = loop::stmt_kind::assign;
    loop::op op = loop::op::none;
    dtype type = dtype::none;
    name_id name = no_name, buffer = no_name;
    std::vector<name_id> args{};   ///< values
    std::vector<expr_id> index{};  ///< Load: indices; Select: predicates; Let: the value
    bool operator==(const pure&) const = default;
};

/// One accumulated component: `name` becomes op(name, contribution) at every step, from the identity of `op`.
struct state {
    name_id name = no_name;
    loop::op op = loop::op::add;
    name_id contribution = no_name;
    bool operator==(const state&) const = default;
};

/// A running state copied out at every step.
struct observer {
    name_id name = no_name, of = no_name;
    bool operator==(const observer&) const = default;
};

enum class recipe : std::uint8_t { none, softmax, welford };

/// λ(axis, operands' components, free coordinates). A term without axis is a map and exposes `results`; a fold exposes its states, then
/// what it observes. Operands are bound under the names that they expose: a name means one value in the whole forest.
struct term {
    loop::axis axis{};                ///< name no_name: none
    std::vector<term_id> operands{};
    std::vector<pure> body{};
    std::vector<name_id> results{};   ///< maps
    std::vector<state> states{};      ///< folds
    std::vector<observer> observe{};
    recipe twist = recipe::none;
    std::vector<name_id> free{};      ///< free coordinates, kept by forest::add: by name id

    bool is_map() const { return axis.name == no_name; }
    bool is_slab() const {
        return is_map() && operands.empty() && body.size() == 1 && (body[0].kind == loop::stmt_kind::load || body[0].kind == loop::stmt_kind::pre);
    }
};

/// A store of the kernel, below the sweeps on its path (outermost first).
struct store {
    std::vector<loop::axis> sweeps{};
    name_id buffer = no_name, value = no_name;
    std::vector<expr_id> index{};
    bool atomic = false;
    bool carries = false;            ///< no buffer: the next state of a recurrence; `buffer` is its name, `index` its cells
};

/// A state that an ordered loop hands from step to step.
struct carried_state {
    name_id name = no_name;
    name_id seed_buffer = no_name;   ///< what the first step finds: this buffer's cells, else `seed`
    double seed = 0;
    bool seed_is_integer = false;
    dtype type = dtype::none;
};

/// The terms of one kernel and its buffers; operands have smaller ids than their readers.
struct forest {
    std::string kernel_name{};            ///< C name: a label
    std::vector<loop::buffer> inputs{}, outputs{};  ///< as declared, names in `names`, expression sizes in `exprs`
    text_pool names{};
    expr_pool exprs{};
    std::vector<loop::window> windows{};
    std::vector<term> terms{};
    term_id root = no_term;
    std::vector<loop::axis> free{};       ///< peeled axes, outermost first
    std::vector<store> stores{};
    name_id step = no_name;               ///< the free axis or sweep that hands `carried` on, in order; most kernels have none
    std::vector<carried_state> carried{};
    std::vector<bool> is_axis{}, is_value{};  ///< by name: what a name in an expression means (neither: a symbolic size)

    const term& operator[](term_id id) const { return terms[id]; }
    std::string_view text(name_id id) const { return names.text(id); }
    bool names_axis(name_id n) const { return n < is_axis.size() && is_axis[n]; }
    bool names_value(name_id n) const { return n < is_value.size() && is_value[n]; }
    /// Names in an expression, with repeats, in reading order.
    void names_in(expr_id e, std::vector<name_id>& out) const { names_in(exprs, e, out); }
    EMMY_DECL static void names_in(const expr_pool& exprs, expr_id e, std::vector<name_id>& out);
    /// Values that a statement reads: arguments, then values named in its expressions.
    EMMY_DECL std::vector<name_id> reads(const pure& s) const;
    /// Coordinates that a statement reads.
    EMMY_DECL std::vector<name_id> coordinates(const pure& s) const;
    /// Places a term; fills `free`.
    EMMY_DECL term_id add(term t);
    /// What a reader binds.
    EMMY_DECL std::vector<name_id> components(const term& t) const;
    EMMY_DECL term_kind kind(term_id id) const;
};

/// Operands of a contraction in the order of its first product, or none where the fold is none.
struct contraction {
    term_id a = no_term, b = no_term;
    explicit operator bool() const { return a != no_term; }
};
EMMY_DECL contraction as_contraction(const forest& f, term_id id);
/// Every state is a channel of the contraction, and the fold is not twisted.
EMMY_DECL bool is_whole(const forest& f, term_id id);

/// Which order of equals a body is read in. Positions of operands hang on orders that the normal form leaves to ties: of the arguments of a
/// commutative product, of the accumulators of a loop, of loops that do not need each other. Routes were written over several of them.
enum class spelling : std::uint8_t { stored, products_reversed, states_reversed, loops_reversed };
constexpr spelling spellings[] = {spelling::stored, spelling::products_reversed, spelling::states_reversed, spelling::loops_reversed};

/// Lifts a body in normal form, statement order as it stands (or as `how` says), and normalises the forest.
/// Rescaled accumulators of the online softmax step become one fold again. A recurrence is the terms of its step: the ordered loop is a
/// coordinate (forest::step), a Pre is read like a buffer.
/// Errors (device_limit): "no fold term for <what>": other rescaled and converting accumulators, a state read outside its loop, conditions,
/// statements after stores.
EMMY_DECL result<forest> lift_terms(const loop::kernel& k, spelling how = spelling::stored);
/// To fixpoint: share equal terms, dissolve maps that only pass on, split states over different coordinates, drop what nobody reads.
EMMY_DECL void normalise(forest& f);

/// Joins a maximum and the sums of exp(score - maximum), times values or not, over one more pass into one rescaled fold (softmax), to
/// fixpoint. Factors that do not vary leave the sum first. Part of lift_terms().
EMMY_DECL void twist(forest& f);

/// A term that an address can name: every term but slabs, in preorder, at the first route that reaches it.
struct site {
    term_id term = no_term;
    std::string address{};           ///< "map.1/inner.2/map"
    std::vector<term_id> path{};     ///< root first, the term itself last
};
EMMY_DECL std::vector<site> sites(const forest& f);
/// The term of an address, kinds checked on the way; any route to a shared term. Errors (input): wrong kind, no such operand, a slab.
EMMY_DECL result<term_id> find(const forest& f, std::string_view address);

/// The first spelling in which every address names a site. Errors: of the stored spelling.
struct resolved {
    forest terms{};
    spelling how = spelling::stored;
    std::vector<term_id> at{};       ///< per address
};
EMMY_DECL result<resolved> resolve(const loop::kernel& k, std::span<const std::string_view> addresses);

/// Branches of a map root that produce outputs alone: one per operand, with the stores (places in forest::stores) it owns. Empty where
/// the stores do not part.
struct region {
    term_id operand = no_term;
    std::vector<std::uint32_t> stores{};
    term_id producer = no_term;      ///< the operand itself, or the only fold among a map's operands; none otherwise
};
EMMY_DECL std::vector<region> regions(const forest& f);

/// The type of a value, as a workspace would hold it or a product takes it; none where nothing says. `t` exposes or defines `n`.
EMMY_DECL dtype type_of(const forest& f, term_id t, name_id n);

/// For people: one line a term.
EMMY_DECL std::string print(const forest& f);

}  // namespace emmy::fold::closed

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/term.ipp>
#include <emmy/fold/impl/term_lift.ipp>
#include <emmy/fold/impl/term_normal.ipp>
#include <emmy/fold/impl/term_twist.ipp>
#include <emmy/fold/impl/value_types.ipp>
#endif
