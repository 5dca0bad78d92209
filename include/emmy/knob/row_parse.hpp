#pragma once
#include <emmy/knob/detail/entries.hpp>
#include <emmy/knob/route.hpp>
#include <emmy/knob/row.hpp>

#include <optional>

namespace emmy::knob {

namespace detail {

/// Values whose role is not the family's (REDUCE=g4k in a schedule row).
template <family F>
constexpr bool plays_another_role(const typename F::value_type& value) {
    if constexpr (requires { { F::role_of(value) } -> std::same_as<role>; }) return F::role_of(value) != F::meaning;
    else return false;
}

/// Fills a row from KEY=VALUE texts in any order; each family once.
template <class Row>
class row_reader;
template <family... Fs>
class row_reader<row<Fs...>> {
public:
    /// KEY=VALUE{,KEY=VALUE}, or with blanks between.
    constexpr std::optional<refusal> add(std::string_view text) {
        return each_pair(text, "row", [&](std::string_view key, std::string_view value) { return add(key, value); });
    }
    constexpr std::optional<refusal> add(std::string_view key, std::string_view value) {
        std::optional<refusal> why;
        const bool known = ((Fs::name == key ? (why = put<Fs>(key, value), true) : false) || ...);
        if (!known) return refusal{"row", key, registry<Fs...>::one_of_them.view(), 0};
        return why;
    }
    constexpr parsed<row<Fs...>> finish() const {
        std::optional<refusal> why;
        ((why = why ? why : lacking<Fs>()), ...);
        ((why = why ? why : misfit<Fs>()), ...);
        if (why) return *why;
        return out_;
    }

private:
    template <family F>
    constexpr std::optional<refusal> put(std::string_view key, std::string_view text) {
        constexpr std::size_t i = row<Fs...>::template index_of<F>;
        const auto value = F::parse(text);
        if (!value) {
            refusal why = value.error();
            why.place = key;
            return why;
        }
        if (plays_another_role<F>(*value)) return refusal{key, text, "a value that this row's role takes"};
        if (seen_[i]) return refusal{key, "the key twice", "it once", refusal::nowhere, false};
        seen_[i] = true;
        texts_[i] = text;
        out_ = out_.template with<F>(*value);
        return std::nullopt;
    }
    template <family F>
    constexpr std::optional<refusal> lacking() const {
        if (seen_[row<Fs...>::template index_of<F>]) return std::nullopt;
        return refusal{F::name, "no value", "every family of the row", refusal::nowhere, false};
    }
    template <family F>
    constexpr std::optional<refusal> misfit() const {
        if constexpr (contextual<F>) {
            if constexpr (row<Fs...>::template has<typename F::under>) {
                if (const char* expected = F::misfit(out_.template get<F>(), out_.template get<typename F::under>()))
                    return refusal{F::name, texts_[row<Fs...>::template index_of<F>], expected};
            }
        }
        return std::nullopt;
    }

    row<Fs...> out_;
    std::array<bool, sizeof...(Fs) + 1> seen_{};
    std::array<std::string_view, sizeof...(Fs) + 1> texts_{};
};

}  // namespace detail

/// `parse<row<BLK, VEC>>("BLK=b32x8,VEC=4")`: every family once, in any order, nothing else. The refusal holds views of the text.
template <any_row Row>
constexpr parsed<Row> parse(std::string_view text) {
    detail::row_reader<Row> in;
    if (const auto why = in.add(text)) return *why;
    return in.finish();
}

/// "BLK=b32x8,VEC=4": families in the order of the row; parse reads it back.
template <family... Fs>
constexpr bounded_text<96 * sizeof...(Fs) + 1> spell(const row<Fs...>& r) {
    bounded_text<96 * sizeof...(Fs) + 1> out;
    ((out.append(out.empty() ? "" : ",").append(std::string_view(Fs::name)).append('=').append(Fs::spell(r.template get<Fs>()).view())), ...);
    return out;
}

namespace detail {
template <any_row Row, fixed_string... Pairs>
constexpr parsed<Row> read_literal() {
    row_reader<Row> in;
    std::optional<refusal> why;
    ((why = why ? why : in.add(Pairs.view())), ...);
    if (why) return *why;
    return in.finish();
}
template <any_row Row, fixed_string... Pairs>
consteval Row literal() {
    if constexpr (!read_literal<Row, Pairs...>()) say<[] { return read_literal<Row, Pairs...>().error().sentence(); }>();
    return *read_literal<Row, Pairs...>();
}
}  // namespace detail

/// A row from literals; a wrong one does not compile and the diagnostic says what was expected and where.
///   constexpr auto r = lit_of<row<BLK, VEC>, "BLK=b32x8", "VEC=4">;
template <any_row Row, fixed_string... Pairs>
inline constexpr Row lit_of = detail::literal<Row, Pairs...>();

}  // namespace emmy::knob
