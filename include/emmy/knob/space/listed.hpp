#pragma once
#include <emmy/knob/space/space.hpp>

#include <array>
#include <vector>

namespace emmy::knob {

/// The space of no row: absorbs in products, unit of sums. `zero<VEC>`.
template <any_row Row>
struct empty_space : space_base<empty_space<Row>, Row> {
    static constexpr std::uint64_t raw_size() { return 0; }
    static constexpr std::uint64_t size() { return 0; }
    static constexpr std::optional<std::uint64_t> raw_rank(const Row&) { return std::nullopt; }
    static constexpr Row at_raw(std::uint64_t) { return {}; }
    template <class Function>
    static constexpr bool walk(Function&&) { return true; }
};
template <family... Fs>
inline constexpr empty_space<row<Fs...>> zero{};

/// The space of the one row without families: unit of products.
struct unit_space : space_base<unit_space, row<>> {
    static constexpr std::uint64_t raw_size() { return 1; }
    static constexpr std::uint64_t size() { return 1; }
    static constexpr std::optional<std::uint64_t> raw_rank(const row<>&) { return 0; }
    static constexpr row<> at_raw(std::uint64_t) { return {}; }
    template <class Function>
    static constexpr bool walk(Function&& f) { return f(std::uint64_t{0}, row<>{}); }
};
inline constexpr unit_space one{};

namespace detail {

/// Values of one family in a row of memory: size, rank, unrank of a list.
template <class Self, family F>
struct listed_base : space_base<Self, row<F>> {
    using value_type = typename F::value_type;

    constexpr std::uint64_t raw_size() const { return list().size(); }
    constexpr std::uint64_t size() const { return list().size(); }
    constexpr std::optional<std::uint64_t> raw_rank(const row<F>& r) const {
        const value_type& wanted = r.template get<F>();
        for (std::size_t i = 0; i < list().size(); ++i)
            if (list()[i] == wanted) return i;
        return std::nullopt;
    }
    constexpr std::optional<std::uint64_t> rank(const row<F>& r) const { return this->self().raw_rank(r); }
    constexpr row<F> at_raw(std::uint64_t raw) const { return raw < list().size() ? row<F>(as_is{}, list()[static_cast<std::size_t>(raw)]) : row<F>(); }
    constexpr row<F> unrank(std::uint64_t i) const { return at_raw(i); }
    template <class Function>
    constexpr bool walk(Function&& f) const {
        for (std::size_t i = 0; i < list().size(); ++i)
            if (!f(static_cast<std::uint64_t>(i), row<F>(as_is{}, list()[i]))) return false;
        return true;
    }

private:
    constexpr const auto& list() const { return this->self().values; }
};

/// Position of the first value that stands twice; `count` where none does.
template <class Values>
constexpr std::size_t first_repeated(const Values& values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (values[i] == values[j]) return i;
    return count;
}

}  // namespace detail

/// A few values of a family, as written: `of<VEC>(4, 2)`.
template <family F, std::size_t Count>
struct listed : detail::listed_base<listed<F, Count>, F> {
    std::array<typename F::value_type, Count> values;
    constexpr explicit listed(const std::array<typename F::value_type, Count>& v) : values(v) {}
};

/// Values known at run time, a repeated one dropped. Ranks are searched.
template <family F>
struct listed_vector : detail::listed_base<listed_vector<F>, F> {
    std::vector<typename F::value_type> values;
    constexpr explicit listed_vector(std::vector<typename F::value_type> v) : values(std::move(v)) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            bool seen = false;
            for (std::size_t j = 0; j < kept && !seen; ++j) seen = values[j] == values[i];
            if (!seen) values[kept++] = values[i];
        }
        values.resize(kept);
    }
};

namespace detail {
/// Called by of() with a repeated value: stops a constant expression, which must say each value once. At run time it does nothing.
inline void a_value_is_listed_twice() {}

/// "SIZE: found a value that is spelled [s8], the spelling of another value, expected each value to read back"; no text of one that does.
template <family F>
constexpr bounded_text<480> why_not_read_back(const typename F::value_type& value, std::string_view what) {
    if (reads_back<F>(value)) return {};
    const value_text text = F::spell(value);
    bounded_text<480> out(F::name);
    out.append(": found ").append(what).append(" that is spelled [").append(text.view());
    return out.append(F::parse(text.view()) ? "], the spelling of another value, expected each value to read back" : "], which parse refuses, expected each value to read back");
}
}  // namespace detail

/// Values of a family in this order. A value listed twice, or one that does not read back from its spelling, does not compile in a
/// constant expression; at run time the array stays as it is: values that may repeat belong into of_vec, texts into parse or pin_by.
template <family F, class... Values>
    requires(std::convertible_to<Values, typename F::value_type> && ...)
constexpr auto of(const Values&... values) {
    listed<F, sizeof...(Values)> out({static_cast<typename F::value_type>(values)...});
    if (detail::first_repeated(out.values, sizeof...(Values)) != sizeof...(Values)) detail::a_value_is_listed_twice();
    if (std::is_constant_evaluated())
        for (const auto& value : out.values)
            if (!detail::reads_back<F>(value)) detail::a_value_does_not_read_back_from_its_spelling();
    return out;
}
/// Not looked at, but for repeats: for values that a program has computed. What people gave goes through of_checked.
template <family F>
constexpr listed_vector<F> of_vec(std::vector<typename F::value_type> values) { return listed_vector<F>(std::move(values)); }
/// Error (user): a value that the family cannot spell and read back, 3 of a choice of 1, 2, 4, 8.
template <family F>
result<listed_vector<F>> of_checked(std::vector<typename F::value_type> values) {
    for (const auto& value : values)
        if (const auto why = detail::why_not_read_back<F>(value, "a value"); !why.empty()) return emmy::refuse(fault_kind::user, why.str());
    return listed_vector<F>(std::move(values));
}

namespace detail {
template <family F, fixed_string... Texts>
constexpr bounded_text<480> why_not_listed() {
    const std::array<std::string_view, sizeof...(Texts)> texts{Texts.view()...};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (const auto value = F::parse(texts[i]); !value) return bounded_text<480>(value.error().sentence().view());
        for (std::size_t j = 0; j < i; ++j)
            if (texts[i] == texts[j]) return bounded_text<480>(F::name).append(": found [").append(texts[i]).append("] twice, expected each value once");
    }
    return {};
}
}  // namespace detail

/// The same from texts: `of_text<STAGE, "d2/smem", "d3/smem-tma">`. A wrong or a repeated one does not compile.
template <family F, fixed_string... Texts>
inline constexpr auto of_text = [] {
    if constexpr (!detail::why_not_listed<F, Texts...>().empty()) say<[] { return detail::why_not_listed<F, Texts...>(); }>();
    return listed<F, sizeof...(Texts)>({*F::parse(Texts.view())...});
}();

/// What `all<F>` lists: a member `catalog` of the family (an array of its values), true and false of a family of bool, or a
/// specialisation with a member `values` (an array) or `space()` (a space over row<F>).
template <family F>
struct catalog_of {};
template <family F>
    requires requires { F::catalog[0]; }
struct catalog_of<F> {
    static constexpr auto values = [] {
        std::array<typename F::value_type, std::size(F::catalog)> out{};
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = F::catalog[i];
        return out;
    }();
};
template <family F>
    requires(std::same_as<typename F::value_type, bool> && !requires { F::catalog[0]; })
struct catalog_of<F> {
    static constexpr std::array<bool, 2> values{false, true};
};
template <class F>
concept has_catalog = family<F> && (requires { catalog_of<F>::values[0]; } || requires { { catalog_of<F>::space() } -> row_space; });

/// Every value of a family that a fork may offer, in catalog order. Holds no data: the values are a table of the family.
template <has_catalog F>
struct catalog_space : detail::listed_base<catalog_space<F>, F> {
    static constexpr const auto& values = catalog_of<F>::values;
};

namespace detail {
/// Rows of a catalog that gives a space which the compiler looks at: more would take it to its limits.
inline constexpr std::uint64_t checked_of_a_space = 64;

/// The first value of a catalog that does not read back, in words; empty where all do.
template <family F>
constexpr bounded_text<480> why_not_a_catalog() {
    bounded_text<480> out;
    const auto see = [&](const typename F::value_type& value) {
        out = why_not_read_back<F>(value, "a catalog value");
        return out.empty();
    };
    if constexpr (requires { catalog_of<F>::space(); }) {
        std::uint64_t left = checked_of_a_space;
        catalog_of<F>::space().walk([&](std::uint64_t, const row<F>& r) { return see(r.template get<F>()) && --left > 0; });
    } else {
        for (const auto& value : catalog_of<F>::values)
            if (!see(value)) break;
    }
    return out;
}
template <family F>
consteval auto all_of() {
    if constexpr (!has_catalog<F>) {
        say<[] { return bounded_text<240>(F::name).append(": found no catalog, expected a member catalog or of<>(values)"); }>();
        return empty_space<row<F>>{};
    } else if constexpr (requires { catalog_of<F>::space(); }) {
        if constexpr (!why_not_a_catalog<F>().empty()) say<[] { return why_not_a_catalog<F>(); }>();
        return catalog_of<F>::space();
    } else {
        static_assert(first_repeated(catalog_of<F>::values, catalog_of<F>::values.size()) == catalog_of<F>::values.size(), "a catalog lists a value twice, expected each once");
        if constexpr (!why_not_a_catalog<F>().empty()) say<[] { return why_not_a_catalog<F>(); }>();
        return catalog_space<F>{};
    }
}
}  // namespace detail
template <family F>
inline constexpr auto all = detail::all_of<F>();

}  // namespace emmy::knob
