#pragma once
#include <emmy/core/dim.hpp>
#include <emmy/core/fixed_string.hpp>
#include <emmy/loop/body.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Writes statements into the flat body. Everything typed is checked before it arrives here; what only the order of calls shows (a value
/// read outside its loop, a handle of another builder) is found here and kept as one sentence.
namespace emmy::loop::typed {

using sentence = bounded_text<320>;

namespace detail {

/// A name of the body with what is needed to check its use.
struct handle {
    name_id name = no_name;
    std::uint32_t scope = 0;         ///< number of the scope that holds it
    dtype stored = dtype::none;      ///< type in the body; a widened handle has another type in C++
};

/// An accumulator: the loop that folds it stands directly in the body that declares it, so that what one step leaves is what the next adds to.
struct folding {
    handle made{};            ///< named at its first use
    std::uint32_t scope = 0;  ///< of its declaration
    std::uint32_t loop = 0;   ///< scope of the loop that folds it, or that reads it first; 0 = none yet
    bool folded = false;
};

class recorder {
public:
    constexpr recorder() { open_.push_back({0, 0, no_name, 0}); }

    loop::body body;
    std::vector<buffer> inputs, outputs;
    std::vector<detail::folding> accumulators;
    sentence why;  ///< the first misuse; empty when there is none

    constexpr void complain(std::string_view place, std::string_view found, std::string_view expected) {
        if (!why.empty()) return;
        why.append(place).append(": found ").append(found).append(", expected ").append(expected);
    }

    // --- names -------------------------------------------------------------------------------------------------
    /// A name that the kernel's author chose, of a buffer or of a symbol: none that the builder makes is the same.
    constexpr name_id given(std::string_view what, std::string_view text) {
        const std::size_t before = body.names.size();
        const name_id name = body.names.intern(text);
        if (is_given(name)) return name;
        if (name < before) {
            bounded_text<160> place(what);
            complain(place.append(' ').append(text.substr(0, 120)).view(), "a name that the builder has taken before", "another name (one in use before the first loop is free)");
        }
        given_.push_back(name);
        return name;
    }
    constexpr name_id fresh(std::string_view stem, std::uint32_t& count) {
        for (;;) {
            bounded_text<24> out(stem);
            out.append(count++);
            const name_id name = body.names.intern(out.view());
            if (!is_given(name)) return name;
        }
    }
    constexpr name_id fresh_load() { return fresh("in", loads_); }
    constexpr name_id fresh_accumulator() { return fresh("acc", accumulators_); }
    constexpr name_id fresh_value() { return fresh("v", values_); }
    constexpr name_id fresh_axis() { return fresh("a", axes_); }
    constexpr name_id fresh_parent() { return fresh("p", parents_); }

    // --- scopes ------------------------------------------------------------------------------------------------
    constexpr std::uint32_t scope() const { return open_.back().number; }
    constexpr std::uint32_t outer_scope() const { return open_.size() < 2 ? 0 : open_[open_.size() - 2].number; }
    constexpr name_id innermost_axis() const { return open_.back().axis; }
    constexpr bool in_loop() const { return open_.size() > 1; }
    /// Whether a scope is open at this point.
    constexpr bool is_open(std::uint32_t scope) const {
        for (const frame& f : open_)
            if (f.number == scope) return true;
        return false;
    }
    /// The loop directly in a scope that the present point is in; 0 when there is none.
    constexpr std::uint32_t loop_within(std::uint32_t scope) const {
        for (std::size_t i = 0; i + 1 < open_.size(); ++i)
            if (open_[i].number == scope) return open_[i + 1].number;
        return 0;
    }
    constexpr void open_loop(name_id axis) {
        if (axis_is_open(axis)) complain(body.text(axis), "a loop over it inside its own loop", "an axis of its own (several loops of one axis stand beside each other)");
        for (name_id used : headed_)
            if (used == axis) {
                ++axes_;  // a second loop over an axis takes a number as a loop of its own would
                break;
            }
        headed_.push_back(axis);
        open_.push_back({++scopes_, static_cast<std::uint32_t>(pending_.size()), axis, static_cast<std::uint32_t>(loaded_.size())});
    }
    constexpr void close_loop(const loop::axis& axis) {
        const auto [number, first, name, loaded] = open_.back();
        open_.pop_back();
        const run inside = body.add_statements(std::span<const stmt_id>(pending_).subspan(first));
        pending_.resize(first);
        loaded_.resize(loaded);
        add({.kind = stmt_kind::loop, .body = inside, .axis = axis});
    }
    /// The kernel is complete. What was left out shows now.
    constexpr void finish() {
        if (finished_) return;
        finished_ = true;
        if (in_loop()) complain("a kernel", "taken inside one of its loops", "taken after its last statement");
        for (const folding& a : accumulators)
            if (a.made.name != no_name && !a.folded) complain("an accumulator", "no fold", "one in a loop directly inside the body that declares it");
        for (const buffer& b : outputs)
            if (!is_written(b.name)) {
                bounded_text<160> place("output ");
                complain(place.append(body.text(b.name).substr(0, 120)).view(), "no store", "a value for each element");
            }
        body.top = body.add_statements(pending_);
    }
    constexpr bool finished() const { return finished_; }

    constexpr bool axis_is_open(name_id axis) const {
        for (std::size_t i = 1; i < open_.size(); ++i)
            if (open_[i].axis == axis) return true;
        return false;
    }
    /// The name, once it is sure that this builder defines it where it can be seen.
    constexpr name_id use(const recorder* owner, const handle& h) {
        if (owner != this) {
            complain("a value", "a handle of another builder", "one of the same builder");
            return h.name;
        }
        if (is_open(h.scope)) return h.name;
        complain(body.text(h.name), "a read outside the loop that defines it", "one inside it");
        return h.name;
    }

    // --- statements --------------------------------------------------------------------------------------------
    constexpr void add(const stmt& s) {
        if (finished_) complain("a statement", "one after the kernel was taken", "all of them before (body, identity and kernel take it)");
        pending_.push_back(body.add(s));
    }

    /// An element of an input: one that was loaded before and is still visible is not loaded again.
    constexpr handle load(name_id from, dtype type, std::span<const expr_id> index) {
        for (const load_made& l : loaded_)
            if (l.buffer == from && same(body.expressions(l.index), index)) return {l.name, l.scope, type};
        const load_made made{from, body.add_expressions(index), fresh_load(), scope()};
        add({.kind = stmt_kind::load, .name = made.name, .buffer = from, .index = made.index});
        loaded_.push_back(made);
        return {made.name, made.scope, type};
    }
    constexpr handle assign(op o, std::span<const name_id> args, dtype stated, dtype is) {
        const name_id name = fresh_value();
        add({.kind = stmt_kind::assign, .op = o, .type = stated, .name = name, .args = body.add_names(args)});
        return {name, scope(), is};
    }

private:
    struct frame {
        std::uint32_t number, first;  // first: place in pending_
        name_id axis;
        std::uint32_t loaded;
    };
    struct load_made {
        name_id buffer;
        run index;
        name_id name;
        std::uint32_t scope;
    };
    static constexpr bool same(std::span<const expr_id> a, std::span<const expr_id> b) {
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i] != b[i]) return false;
        return true;
    }
    constexpr bool is_given(name_id name) const {
        for (const name_id g : given_)
            if (g == name) return true;
        return false;
    }
    constexpr bool is_written(name_id buffer) const {
        for (const stmt& s : body.stmts)
            if (s.kind == stmt_kind::write && s.buffer == buffer) return true;
        return false;
    }
    std::vector<frame> open_;
    std::vector<stmt_id> pending_;  // statements of all open scopes
    std::vector<load_made> loaded_;
    std::vector<name_id> headed_;   // axes of the loops so far
    std::vector<name_id> given_;    // buffers and symbols
    bool finished_ = false;
    std::uint32_t scopes_ = 0, axes_ = 0, loads_ = 0, accumulators_ = 0, values_ = 0, parents_ = 0;
};

}  // namespace detail
}  // namespace emmy::loop::typed
