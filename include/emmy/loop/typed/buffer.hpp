#pragma once
#include <emmy/loop/typed/value.hpp>

#include <array>

/// Buffers of a kernel: what it reads and what it writes are different types.
namespace emmy::loop::typed {

enum class direction : std::uint8_t { input, output };
constexpr std::string_view name_of(direction d) { return d == direction::input ? "input" : "output"; }

namespace detail {
template <direction Direction, fixed_string Name>
constexpr sentence buffer_place() {
    sentence out(name_of(Direction));
    out.append(' ').append(Name.view());
    return out;
}
constexpr sentence says(std::string_view place, std::string_view found, std::string_view expected) {
    sentence out(place);
    out.append(": found ").append(found).append(", expected ").append(expected);
    return out;
}
/// What is no value where one is needed: a number of C++ or an index.
template <class X>
concept no_value = std::is_arithmetic_v<X> || indexing<X>;
template <no_value X>
constexpr sentence no_value_sentence(std::string_view place) {
    if constexpr (indexing<X>) return says(place, "an index", "a value (none is made of an index: read it from an input that holds 0, 1, 2 and so on)");
    else return says(place, "a C++ number", "a value (b.let<f32>(2) makes one)");
}
}  // namespace detail

template <direction Direction, scalar T, std::size_t Rank, fixed_string Name>
class buffer;

/// One element: of an input an operand (loaded where it is used), of an output a place to store to.
///   y(i, j) = v;             v has the type of y
///   y(i, j) = rounded(v);    the store rounds
///   y(i, j) += v;            adds atomically into zeroed memory
template <direction Direction, scalar T, std::size_t Rank, fixed_string Name>
class element {
public:
    using type = T;

    constexpr element(detail::recorder* in, name_id buffer, const std::array<expr_id, Rank>& at) : in_(in), buffer_(buffer), at_(at) {}
    element(const element&) = default;
    element& operator=(const element&) = delete;  // store a value, not an element of the same buffer

    constexpr val<T> value() const {
        if constexpr (Direction != direction::input)
            say<[] { return detail::says(detail::buffer_place<Direction, Name>().view(), "a read of an output", "an input to read from"); }>();
        return {in_, in_->load(buffer_, T::type, at_)};
    }
    constexpr operator val<T>() const { return value(); }

    template <operand X>
    constexpr void operator=(const X& x) const { store(check_type(x.value()), false); }
    template <detail::no_value X>
    constexpr void operator=(const X&) const { say<[] { return detail::no_value_sentence<X>(detail::buffer_place<Direction, Name>().view()); }>(); }
    template <detail::no_value X>
    constexpr void operator+=(const X&) const { say<[] { return detail::no_value_sentence<X>(detail::buffer_place<Direction, Name>().view()); }>(); }
    template <direction Other, scalar U, std::size_t N, fixed_string Of>
    constexpr void operator=(const buffer<Other, U, N, Of>&) const {
        say<[] { return detail::says(detail::buffer_place<Direction, Name>().view(), "a whole buffer", "one element of it, x(i, j)"); }>();
    }
    template <scalar From>
    constexpr void operator=(const rounded_value<From>& x) const { store(check_rounding(x.from), false); }
    template <operand X>
    constexpr void operator+=(const X& x) const { store(check_type(x.value()), true); }
    template <scalar From>
    constexpr void operator+=(const rounded_value<From>& x) const { store(check_rounding(x.from), true); }

private:
    template <scalar From>
    static constexpr const val<From>& check_type(const val<From>& x) {
        if constexpr (Direction == direction::output && !std::is_same_v<From, T>)
            say<[] {
                sentence expected(T::name);
                expected.append(" (rounded rounds in the store, cast<").append(T::name).append("> before it)");
                return detail::says(detail::buffer_place<Direction, Name>().view(), From::name, expected.view());
            }>();
        return x;
    }
    template <scalar From>
    static constexpr const val<From>& check_rounding(const val<From>& x) {
        if constexpr (Direction == direction::output && (!is_floating(From::type) || !is_floating(T::type)))
            say<[] {
                sentence found("rounded ");
                found.append(From::name).append(" for ").append(T::name);
                return detail::says(detail::buffer_place<Direction, Name>().view(), found.view(), "floating types (cast converts)");
            }>();
        return x;
    }
    template <scalar From>
    constexpr void store(const val<From>& x, bool atomic) const {
        if constexpr (Direction != direction::output)
            say<[] { return detail::says(detail::buffer_place<Direction, Name>().view(), "a store to an input", "an output to store to"); }>();
        const name_id values[] = {in_->use(x.owner(), x.handle())};
        in_->add({.kind = stmt_kind::write, .atomic = atomic, .buffer = buffer_, .args = in_->body.add_names(values), .index = in_->body.add_expressions(at_)});
    }
    detail::recorder* in_;
    name_id buffer_;
    std::array<expr_id, Rank> at_;
};

/// A declared buffer. Made by builder::input and builder::output.
template <direction Direction, scalar T, std::size_t Rank, fixed_string Name>
class buffer {
public:
    template <class U = T>
    constexpr buffer() {
        static_assert(std::is_same_v<U, T>);
        if constexpr (std::is_same_v<U, T>)
            say<[] {
                sentence expected("builder::");
                expected.append(name_of(Direction)).append("<").append(U::name).append(", name>(sizes)");
                return detail::says(detail::buffer_place<Direction, Name>().view(), "no declaration", expected.view());
            }>();
    }
    constexpr buffer(detail::recorder* in, name_id name, const std::array<dim, Rank>& shape) : in_(in), name_(name), shape_(shape) {}

    template <class... Indices>
    constexpr element<Direction, T, Rank, Name> operator()(const Indices&... indices) const {
        if constexpr (sizeof...(Indices) != Rank)
            say<[] {
                sentence found, expected;
                found.append(sizeof...(Indices)).append(sizeof...(Indices) == 1 ? " index" : " indices");
                expected.append(Rank).append(", its rank");
                return detail::says(detail::buffer_place<Direction, Name>().view(), found.view(), expected.view());
            }>();
        else if constexpr (!(std::is_convertible_v<Indices, index> && ...))
            say<[] {
                constexpr bool fits[] = {std::is_convertible_v<Indices, index>...};
                std::size_t at = 0;
                while (fits[at]) ++at;
                sentence found("a value as index ");
                found.append(at);
                return detail::says(detail::buffer_place<Direction, Name>().view(), found.view(), "axes and integers (index_of reads an integer value)");
            }>();
        else
            return at(std::array<index, Rank>{index(indices)...});
        return {in_, name_, {}};
    }

private:
    constexpr element<Direction, T, Rank, Name> at(const std::array<index, Rank>& indices) const {
        std::array<expr_id, Rank> out{};
        for (std::size_t i = 0; i < Rank; ++i) {
            out[i] = indices[i].in(*in_);
            if (indices[i].comes_below_zero() || indices[i].comes_beyond(shape_[i])) {
                const bool below = indices[i].comes_below_zero();
                sentence place(detail::buffer_place<Direction, Name>().view()), expected;
                sentence found(below ? "an index below 0 of dimension " : "an index beyond the end of dimension ");
                if (below) expected.append("0 or more (choose(p, a, b) takes another index where p says so)");
                else expected.append("one below ").append(shape_[i].number);
                in_->complain(place.view(), found.append(i).view(), expected.view());
            }
        }
        return {in_, name_, out};
    }
    detail::recorder* in_ = nullptr;
    name_id name_ = no_name;
    std::array<dim, Rank> shape_{};
};

}  // namespace emmy::loop::typed
