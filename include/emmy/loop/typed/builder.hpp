#pragma once
#include <emmy/loop/typed/ops.hpp>

#include <string>
#include <tuple>
#include <utility>

/// Kernels as ordinary constexpr functions.
namespace emmy::loop::typed {

namespace detail {

constexpr sentence fold_names() {
    sentence out("a fold: ");
    bool first = true;
    for (const op_facts& f : op_table)
        if (f.folds) {
            out.append(first ? "" : ", ").append(f.text);
            first = false;
        }
    return out;
}
template <op O, class T>
consteval void check_fold() {
    if constexpr (!facts(O).folds)
        say<[] { return says(text(O), facts(O).associative ? "no identity element" : "no monoid", fold_names().view()); }>();
    else if constexpr (is_storage(T::type))
        say<[] {
            sentence place("fold of ");
            return says(place.append(text(O)).view(), T::name, "values (from_f8e4m3 and its like give the value of a code)");
        }>();
}
template <class First, class Other>
consteval void check_branch() {
    if constexpr (!std::is_same_v<First, Other>)
        say<[] {
            sentence found(First::name);
            return says("select", found.append(" and ").append(Other::name).view(), "branches of one type (widen promotes, cast rounds)");
        }>();
}
template <fixed_string Name>
consteval void check_name() {
    if constexpr (!is_identifier(Name.view()))
        say<[] {
            sentence found("[");
            return says("buffer", found.append(Name.view()).append(']').view(), "a name of letters, digits and underscores");
        }>();
}
template <direction Direction, fixed_string Name>
consteval bool no_scalar() {
    return say<[] { return says(buffer_place<Direction, Name>().view(), "a C++ type", "a type of the typed Loop IR (f32, f16, bf16, i32 and so on)"); }>();
}
}  // namespace detail

/// An accumulator: a fold of one or several that one loop runs, a loop directly inside the body that declares it. Each run of that body starts it anew.
/// Its value may be read inside the loop (so far) and after it (final).
template <op O, scalar T>
class accumulator {
public:
    using type = T;

    constexpr explicit accumulator(detail::recorder* in) : in_(in), place_(in->accumulators.size()) { in->accumulators.push_back({.scope = in->scope()}); }

    /// acc = O(acc, x); with `base` acc = O(base, x), base a rescaled copy of the accumulator.
    template <operand X>
    constexpr void fold(const X& x) { update(x, no_name); }
    template <operand X, operand B>
    constexpr void fold(const X& x, const B& base) {
        check<typename B::type>();
        const auto b = base.value();
        update(x, in_->use(b.owner(), b.handle()));
    }
    constexpr val<T> value() const {
        detail::folding& a = state();
        if (!a.folded && in_->scope() == a.scope) in_->complain("an accumulator", "a read before its loop", "one inside or after it");
        if (!a.folded && a.loop == 0) a.loop = in_->loop_within(a.scope);
        return {in_, a.made};
    }

private:
    template <class X>
    static constexpr void check() {
        if constexpr (!std::is_same_v<X, T>)
            say<[] {
                sentence place("accumulator of ");
                return detail::says(place.append(text(O)).view(), X::name, T::name);
            }>();
    }
    constexpr detail::folding& state() const {
        detail::folding& a = in_->accumulators[place_];
        if (a.made.name == no_name) a.made = {in_->fresh_accumulator(), a.scope, T::type};
        return a;
    }
    template <operand X>
    constexpr void update(const X& x, name_id base) {
        check<typename X::type>();
        detail::folding& declared = in_->accumulators[place_];
        if (!in_->in_loop()) in_->complain("an accumulator", "an update outside every loop", "one inside the loop that it folds");
        else if (in_->outer_scope() != declared.scope)
            in_->complain("an accumulator", in_->scope() == declared.scope ? "an update in the body that declares it" : "an update more than one loop away from its declaration",
                          "one in a loop directly inside the body that declares it");
        else if (declared.loop != 0 && declared.loop != in_->scope())
            in_->complain("an accumulator", declared.folded ? "updates in two loops" : "a read in a loop before the one that folds it", "one loop that folds it (an accumulator for each)");
        declared.loop = in_->scope();
        const auto v = x.value();
        const name_id args[] = {in_->use(v.owner(), v.handle())}, axes[] = {in_->innermost_axis()};
        in_->add({.kind = stmt_kind::accum, .op = O, .name = state().made.name, .base = base, .args = in_->body.add_names(args), .axes = in_->body.add_names(axes)});
        in_->accumulators[place_].folded = true;
    }
    detail::recorder* in_;
    std::size_t place_;  // in recorder::accumulators
};

/// A state that a loop carries from step to step (two slots: a step sees what the step before left). Cells are addressed by axes or 0.
class carried {
public:
    constexpr explicit carried(detail::recorder* in) : in_(in), name_(in->fresh_accumulator()) {}

    template <std::convertible_to<index>... Indices>
    constexpr val<f32> previous(const Indices&... at) const {
        const expr_id list[] = {index(at).in(*in_)..., no_expr};
        const name_id name = in_->fresh_value();
        in_->add({.kind = stmt_kind::pre, .name = name, .buffer = name_, .index = in_->body.add_expressions(std::span(list, sizeof...(at)))});
        return {in_, {name, in_->scope(), dtype::f32}};
    }
    /// Each cell starts as `seed`.
    template <operand X, std::convertible_to<index>... Indices>
    constexpr void next(const X& x, double seed, const Indices&... at) const {
        static_assert(std::is_same_v<typename X::type, f32>, "a carried state holds f32, expected an f32 value");
        const auto v = x.value();
        const name_id args[] = {in_->use(v.owner(), v.handle())};
        const expr_id list[] = {index(at).in(*in_)..., no_expr};
        in_->add({.kind = stmt_kind::carry, .name = name_, .args = in_->body.add_names(args), .index = in_->body.add_expressions(std::span(list, sizeof...(at))), .seed_number = seed});
    }

private:
    detail::recorder* in_;
    name_id name_;
};

/// Makes one kernel. An ordinary constexpr function takes one, or makes and returns one:
///
///   constexpr builder relu(extent rows, extent columns) {
///       builder b;
///       auto x = b.input<f32, "x">(rows, columns);
///       auto y = b.output<f32, "y">(rows, columns);
///       b.loop(rows, columns, [&](axis i, axis j) { y(i, j) = typed::relu(x(i, j)); });
///       return b;
///   }
///
/// At run time kernel() is the body that a file would hold; in a constant expression only its identity escapes (loop/typed/identity.hpp).
/// Handles belong to the builder that made them and do not outlive the function that uses it.
class builder {
public:
    constexpr builder() : in_(new detail::recorder) {}
    constexpr builder(builder&& other) noexcept : in_(other.in_) { other.in_ = nullptr; }
    builder& operator=(builder&&) = delete;
    constexpr ~builder() { delete in_; }

    // --- buffers: row-major, sizes in elements -------------------------------------------------------------------
    template <scalar T, fixed_string Name, class... Sizes>
    constexpr auto input(const Sizes&... sizes) { return declare<direction::input, T, Name>(in_->inputs, sizes...); }
    template <class T, fixed_string Name, class... Sizes>
        requires(!scalar<T>)
    constexpr auto input(const Sizes&...) { return detail::no_scalar<direction::input, Name>(); }
    template <class T, fixed_string Name, class... Sizes>
        requires(!scalar<T>)
    constexpr auto output(const Sizes&...) { return detail::no_scalar<direction::output, Name>(); }
    template <scalar T, fixed_string Name, class... Sizes>
    constexpr auto output(const Sizes&... sizes) { return declare<direction::output, T, Name>(in_->outputs, sizes...); }

    // --- loops ---------------------------------------------------------------------------------------------------
    /// An axis that several loops walk.
    constexpr typed::axis axis(const extent& size) { return {in_, {.name = in_->fresh_axis(), .extent = size.in(*in_)}}; }
    /// One share of a stream of `parent` elements that a split across CTAs cuts (or the axis that merges the shares).
    constexpr typed::axis share(const extent& size, const extent& parent) {
        typed::axis out = axis(size);
        in_->body.windows.push_back({.parent = in_->fresh_parent(), .parent_extent = parent.in(*in_), .partition = true});
        out.axis_.window = static_cast<std::uint32_t>(in_->body.windows.size() - 1);
        return out;
    }
    template <class Body>
    constexpr void loop(const extent& size, Body&& body) { loop(axis(size), body); }
    template <class Body>
    constexpr void loop(const typed::axis& over, Body&& body) {
        in_->open_loop(over.name());
        body(over);
        in_->close_loop(over.axis_);
    }
    /// Two loops, the second inside the first: body(outer, inner).
    template <class Body>
    constexpr void loop(const extent& outer, const extent& inner, Body&& body) {
        loop(outer, [&](const typed::axis& i) { loop(inner, [&](const typed::axis& j) { body(i, j); }); });
    }
    /// Three and more, each inside the one before: loop(a, b, c, [&](axis i, axis j, axis k) { … }).
    template <class... Rest>
        requires(sizeof...(Rest) > 1)
    constexpr void loop(const extent& first, const extent& second, Rest&&... sizes_and_body) {
        [&]<std::size_t... I>(std::index_sequence<I...>, auto&& all) {
            nest(std::array<extent, sizeof...(I) + 2>{first, second, std::get<I>(all)...}, std::get<sizeof...(I)>(all));
        }(std::make_index_sequence<sizeof...(Rest) - 1>(), std::forward_as_tuple(sizes_and_body...));
    }

    // --- folds: the value of `body` over all steps ----------------------------------------------------------------
    template <op O, class Size, class Body>
    constexpr auto fold(const Size& size, Body&& body) {
        const typed::axis over = axis_of(size);
        in_->open_loop(over.name());
        const auto v = body(over).value();
        using X = typename std::remove_cvref_t<decltype(v)>::type;
        detail::check_fold<O, X>();
        using T = tag_of<infer_accum(O, X::type)>;
        const name_id args[] = {in_->use(v.owner(), v.handle())}, axes[] = {over.name()}, name = in_->fresh_accumulator();
        in_->add({.kind = stmt_kind::accum, .op = O, .name = name, .args = in_->body.add_names(args), .axes = in_->body.add_names(axes)});
        in_->close_loop(over.axis_);
        return val<T>(in_, {name, in_->scope(), T::type});
    }
    template <class Size, class Body> constexpr auto sum(const Size& size, Body&& body) { return fold<op::add>(size, body); }
    template <class Size, class Body> constexpr auto largest(const Size& size, Body&& body) { return fold<op::maximum>(size, body); }
    template <class Size, class Body> constexpr auto smallest(const Size& size, Body&& body) { return fold<op::minimum>(size, body); }

    /// For loops with several folds: accumulators, updated inside loop().
    template <op O, scalar T = f32>
    constexpr accumulator<O, T> accumulate() {
        detail::check_fold<O, T>();
        return accumulator<O, T>(in_);
    }
    constexpr carried carry() { return carried(in_); }

    // --- values ----------------------------------------------------------------------------------------------------
    /// A constant, as a statement.
    template <scalar T>
    constexpr val<T> let(double number) {
        if constexpr (!is_floating(T::type) || is_storage(T::type))
            say<[] { return detail::says("let", T::name, "a floating type"); }>();
        const name_id name = in_->fresh_value();
        in_->add({.kind = stmt_kind::let, .type = T::type == dtype::f32 ? dtype::none : T::type, .name = name, .value = in_->body.exprs.real(number)});
        return {in_, {name, in_->scope(), T::type}};
    }
    /// The value of the first predicate that holds, of the last pair otherwise: select(p, a, q, b) or select(p, a, b).
    template <class... Branches>
    constexpr auto select(const predicate& first, const Branches&... rest) {
        std::vector<expr_id> conditions;
        std::vector<name_id> names;
        std::vector<dtype> stored;
        using T = typename detail_first<Branches...>::type;
        const auto take = [&]<class B>(const B& branch) {
            if constexpr (std::is_same_v<B, predicate>) {
                conditions.push_back(branch.id());
            } else {
                detail::check_branch<T, typename B::type>();
                const auto v = branch.value();
                names.push_back(in_->use(v.owner(), v.handle()));
                stored.push_back(v.handle().stored);
            }
        };
        take(first);
        (take(rest), ...);
        if (conditions.size() < names.size()) conditions.push_back(in_->body.exprs.boolean(true));
        const name_id name = in_->fresh_value();
        in_->add({.kind = stmt_kind::select, .name = name, .args = in_->body.add_names(names), .index = in_->body.add_expressions(conditions)});
        using R = tag_of<select_type<T>()>;
        return val<R>(in_, {name, in_->scope(), infer_select(stored)});
    }

    // --- what was built --------------------------------------------------------------------------------------------
    /// The first misuse that only the order of calls shows; empty when there is none. What was left out (a store to an output) shows once body() is called.
    constexpr const sentence& misuse() const { return in_->why; }
    /// Takes the kernel: a statement after it is a misuse.
    constexpr const loop::body& body() const { return closed().body; }
    constexpr std::span<const loop::buffer> inputs() const { return in_->inputs; }
    constexpr std::span<const loop::buffer> outputs() const { return in_->outputs; }

private:
    template <class First, class... Rest>
    struct detail_first {
        using type = typename First::type;
    };
    template <class T>
    static consteval dtype select_type() {
        const dtype list[] = {T::type};
        return infer_select(list);
    }
    template <std::size_t Count, class Body, class... Axes>
    constexpr void nest(const std::array<extent, Count>& sizes, Body& body, const Axes&... open) {
        if constexpr (sizeof...(Axes) == Count) body(open...);
        else loop(sizes[sizeof...(Axes)], [&](const typed::axis& next) { nest(sizes, body, open..., next); });
    }
    constexpr typed::axis axis_of(const typed::axis& a) { return a; }
    constexpr typed::axis axis_of(const extent& size) { return axis(size); }

    constexpr const detail::recorder& closed() const {
        in_->finish();
        return *in_;
    }
    template <direction Direction, scalar T, fixed_string Name, class... Sizes>
    constexpr auto declare(std::vector<loop::buffer>& list, const Sizes&... sizes) {
        detail::check_name<Name>();
        if (in_->finished()) in_->complain(detail::buffer_place<Direction, Name>().view(), "a declaration after the kernel was taken", "one before");
        const name_id name = in_->given("buffer", Name.view());
        for (const auto* declared : {&in_->inputs, &in_->outputs})
            for (const loop::buffer& b : *declared)
                if (b.name == name) in_->complain(detail::buffer_place<Direction, Name>().view(), "a second declaration", "distinct names");
        const std::array<dim, sizeof...(Sizes)> shape{extent(sizes).in(*in_)...};
        list.push_back({.name = name, .type = T::type, .shape = std::vector<dim>(shape.begin(), shape.end())});
        return buffer<Direction, T, sizeof...(Sizes), Name>(in_, name, shape);
    }
    detail::recorder* in_;  // its address stays: handles point to it
};

}  // namespace emmy::loop::typed
