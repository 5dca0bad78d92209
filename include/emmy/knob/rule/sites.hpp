#pragma once
#include <emmy/knob/row.hpp>
#include <emmy/knob/schedule_row.hpp>
#include <emmy/knob/site.hpp>

#include <concepts>

namespace emmy::knob {

/// A typed row of built-in families as the schedule row that it is; `at<"map.1/inner", TILE>` becomes the key TILE@map.1/inner.
template <family... Fs>
constexpr schedule_row schedule_of(const row<Fs...>& r) {
    schedule_row out;
    (out.template set<plain_family<Fs>>(r.template get<Fs>(), address_of<Fs>.empty() ? route{} : *route::parse(address_of<Fs>)), ...);
    return out;
}

namespace detail {

// What a rule that reads a few families is shown of a row: their values at one place of the kernel, and that for every place.

template <class... Places>
struct place_list {};

struct bare_place {
    static constexpr std::string_view address{};
};
template <family F>
struct place_of {
    static constexpr std::string_view address = address_of<F>;
};

template <class List, class Place>
struct with_place;
template <class... Ps, class Place>
struct with_place<place_list<Ps...>, Place> {
    using type = std::conditional_t<((Ps::address == Place::address) || ...), place_list<Ps...>, place_list<Ps..., Place>>;
};

/// Does a row's family F say what a rule reads as W (at its own place)?
template <family F, family W>
inline constexpr bool stands_for = std::is_same_v<F, W> || std::is_same_v<plain_family<F>, W>;

template <class List, class Reads, family... Fs>
struct places_in {
    using type = List;
};
template <class List, family... Ws, family F, family... Fs>
struct places_in<List, row<Ws...>, F, Fs...> {
    static constexpr bool counts = (stands_for<F, Ws> || ...) && plain_family<F>::where != scope::kernel && !(std::is_same_v<F, Ws> && ... && !address_of<F>.empty());
    using type = typename places_in<typename std::conditional_t<counts, with_place<List, place_of<F>>, std::type_identity<List>>::type, row<Ws...>, Fs...>::type;
};

/// Places of a row that a rule is asked about; the bare one where there is no other.
template <class Row, class Reads>
struct places;
template <family... Fs, class Reads>
struct places<row<Fs...>, Reads> {
    using found = typename places_in<place_list<>, Reads, Fs...>::type;
    using type = std::conditional_t<std::is_same_v<found, place_list<>>, place_list<bare_place>, found>;
};

/// The row's own family for W at a place: there, or the kernel's one; void where it has none. A node family without a place says
/// nothing about other places.
template <class Place, family W, family... Fs>
struct find_there {
    using type = void;
};
template <class Place, family W, family F, family... Fs>
struct find_there<Place, W, F, Fs...> {
    using rest = typename find_there<Place, W, Fs...>::type;
    static constexpr bool exact = std::is_same_v<F, W> && !address_of<F>.empty();
    static constexpr bool here = stands_for<F, W> && address_of<F> == Place::address;
    static constexpr bool bare = std::is_same_v<F, W> && (F::where == scope::kernel || Place::address.empty());
    using type = std::conditional_t<exact || here, F, std::conditional_t<std::is_void_v<rest> && bare, F, rest>>;
};

template <family W>
constexpr bounded_text<240> has_no_off() {
    return bounded_text<240>("row: found no ").append(std::string_view(W::name)).append(", which has no OFF value, expected one because a rule reads it");
}

/// The values of `Reads` at a place.
template <class Reads, class Place>
struct values_at;
template <family... Ws, class Place>
struct values_at<row<Ws...>, Place> {
    template <family W, family... Fs>
    static constexpr typename W::value_type one(const row<Fs...>& r) {
        using there = typename find_there<Place, W, Fs...>::type;
        if constexpr (!std::is_void_v<there>) {
            return r.template get<there>();
        } else {
            if constexpr (!has_off<W>) say<[] { return has_no_off<W>(); }>();
            return W::off;
        }
    }
    template <any_row Row>
    static constexpr row<Ws...> of(const Row& r) {
        if constexpr (sizeof...(Ws) == 0) return {};
        else return row<Ws...>(as_is{}, one<Ws>(r)...);
    }
};

/// Calls f(part) for each place until f says false.
template <class Reads, any_row Row, class Function>
constexpr void each_part(const Row& r, Function&& f) {
    if constexpr (std::same_as<Reads, schedule_row>) {
        f(schedule_of(r));
    } else {
        [&]<class... Places>(place_list<Places...>) { (void)(f(values_at<Reads, Places>::of(r)) && ...); }(typename places<Row, Reads>::type{});
    }
}

template <class Reads>
struct parts_of_schedule;
template <family... Ws>
struct parts_of_schedule<row<Ws...>> {
    static constexpr bool by_site = ((Ws::where != scope::kernel) || ...);
    static constexpr row<Ws...> at(const schedule_row& r, const route& site) {
        if constexpr (sizeof...(Ws) == 0) return {};
        else return row<Ws...>(as_is{}, r.value<Ws>(site)...);
    }
    static constexpr bool has_bare(const schedule_row& r) { return ((Ws::where != scope::kernel && r.get<Ws>()) || ...); }
};
template <class Reads, std::convertible_to<schedule_row> Row, class Function>
    requires(!any_row<Row>)
constexpr void each_part(const Row& row_or_literal, Function&& f) {
    const schedule_row& r = row_or_literal;
    if constexpr (std::same_as<Reads, schedule_row>) {
        f(r);
    } else {
        using parts = parts_of_schedule<Reads>;
        if (!parts::by_site || r.sites() == 0 || parts::has_bare(r))
            if (!f(parts::at(r, route{}))) return;
        if constexpr (parts::by_site)
            for (std::size_t i = 0; i < r.sites(); ++i)
                if (!f(parts::at(r, r.site(i)))) return;
    }
}

}  // namespace detail

}  // namespace emmy::knob
