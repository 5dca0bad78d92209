#pragma once
#include <emmy/knob/own/choice.hpp>

#include <limits>

namespace emmy::knob {

// Parts of a spelling. A part reads and writes, both from one statement, so a text is canonical by construction:
//   read(scanner&, Value&)   consumes what it describes, or records what it expected and returns false
//   write(text&, Value)      appends it
//   starts(rest)             may it begin here (alternatives are told apart by it)
//   expected                 words for what it begins with

namespace detail {

template <class Member>
struct member_of;
template <class Class, class Type>
struct member_of<Type Class::*> {
    using owner = Class;
    using type = Type;
};
template <auto Member>
using member_type = typename member_of<decltype(Member)>::type;

template <class Part, class... More>
constexpr std::string_view first_expected() { return Part::expected; }

/// Reads a number into a member of any integer type.
template <auto Member, class Value>
constexpr bool read_number(scanner& in, Value& out, std::uint16_t least) {
    const std::size_t at = in.offset();
    std::uint16_t number = 0;
    if (!(least == 1 ? in.number(number) : in.number(number, least, "a number without leading zero"))) return false;
    if (number < least) return in.fail_at(at, "a larger number");
    if (static_cast<std::uint64_t>(number) > static_cast<std::uint64_t>(std::numeric_limits<member_type<Member>>::max())) return in.fail_at(at, "a smaller number");
    out.*Member = static_cast<member_type<Member>>(number);
    return true;
}

}  // namespace detail

/// Fixed text: `word<"x">`.
template <fixed_string Text>
struct word {
    static constexpr fixed_string text = Text;
    static constexpr std::string_view expected = text.view();
    template <class Value>
    static constexpr bool read(scanner& in, Value&) { return in.need(Text.view(), expected); }
    template <class Value>
    static constexpr void write(value_text& out, const Value&) { out.append(Text.view()); }
    static constexpr bool starts(std::string_view rest) { return rest.starts_with(Text.view()); }
};

/// A number of at least `Least`, at most 65535 and what the member holds: `num<&blk::m>`.
template <auto Member, std::uint16_t Least = 1>
struct num {
    static constexpr std::string_view expected = "a number";
    template <class Value>
    static constexpr bool read(scanner& in, Value& out) { return detail::read_number<Member>(in, out, Least); }
    template <class Value>
    static constexpr void write(value_text& out, const Value& value) { out.append(value.*Member); }
    static constexpr bool starts(std::string_view rest) { return !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; }
};

/// A number that is left out at its default: `opt<"/s", &swz::shift, 1>` spells nothing, or /s and a number other than 1.
template <fixed_string Lead, auto Member, auto Default, std::uint16_t Least = 1>
struct opt {
    static constexpr fixed_string text = Lead;
    static constexpr std::string_view expected = text.view();
    template <class Value>
    static constexpr bool read(scanner& in, Value& out) {
        const std::size_t at = in.offset();
        out.*Member = static_cast<detail::member_type<Member>>(Default);
        if (!in.take(Lead.view())) return true;
        if (!detail::read_number<Member>(in, out, Least)) return false;
        return out.*Member != static_cast<detail::member_type<Member>>(Default) || in.fail_at(at, "no explicit default (spell it without)");
    }
    template <class Value>
    static constexpr void write(value_text& out, const Value& value) {
        if (value.*Member != static_cast<detail::member_type<Member>>(Default)) out.append(Lead.view()).append(value.*Member);
    }
    static constexpr bool starts(std::string_view) { return true; }
};

/// A text that is there or not: `flag<"/t", &blk::transposed>`.
template <fixed_string Text, auto Member>
struct flag {
    static constexpr fixed_string text = Text;
    static constexpr std::string_view expected = text.view();
    template <class Value>
    static constexpr bool read(scanner& in, Value& out) {
        out.*Member = in.take(Text.view());
        return true;
    }
    template <class Value>
    static constexpr void write(value_text& out, const Value& value) {
        if (value.*Member) out.append(Text.view());
    }
    static constexpr bool starts(std::string_view) { return true; }
};

/// One of several words, by the order of an enumeration: `pick<&stage::by, "smem", "smem-async">`. The longest that fits is taken.
template <auto Member, fixed_string... Texts>
struct pick {
    static constexpr std::array<std::string_view, sizeof...(Texts)> texts{Texts.view()...};
    static constexpr auto one_of = detail::list_texts<Texts...>();
    static constexpr std::string_view expected = one_of.view();
    template <class Value>
    static constexpr bool read(scanner& in, Value& out) {
        std::size_t best = texts.size();
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (in.rest().starts_with(texts[i]) && (best == texts.size() || texts[i].size() > texts[best].size())) best = i;
        if (best == texts.size()) return in.fail(expected);
        in.take(texts[best]);
        out.*Member = static_cast<detail::member_type<Member>>(best);
        return true;
    }
    template <class Value>
    static constexpr void write(value_text& out, const Value& value) { out.append(texts[static_cast<std::size_t>(value.*Member)]); }
    static constexpr bool starts(std::string_view rest) {
        for (const std::string_view text : texts)
            if (rest.starts_with(text)) return true;
        return false;
    }
};

/// One arm of an alternative: the member has this value and the parts follow. Without parts: no text at all.
template <auto Is, class... Parts>
struct when {
    static constexpr auto is = Is;
    static constexpr bool none = sizeof...(Parts) == 0;
    static constexpr std::string_view expected = [] {
        if constexpr (none) return std::string_view("no text");
        else return detail::first_expected<Parts...>();
    }();
    template <class Value>
    static constexpr bool read(scanner& in, Value& out) { return (Parts::read(in, out) && ...); }
    template <class Value>
    static constexpr void write(value_text& out, const Value& value) { (Parts::write(out, value), ...); }
    static constexpr bool starts(std::string_view rest) {
        if constexpr (none) return rest.empty();
        else return first_starts<Parts...>(rest);
    }

private:
    template <class First, class...>
    static constexpr bool first_starts(std::string_view rest) { return First::starts(rest); }
};

/// Alternatives told apart by what they begin with, in order; a member says which one a value is:
///   alt<&work::form, when<form::cell>, when<form::warps, word<"w">, num<&work::m>>, when<form::threads, word<"t">, num<&work::n>>>
template <auto Member, class... Whens>
struct alt {
    static constexpr auto one_of = [] {
        bounded_text<32 + 40 * sizeof...(Whens)> out;
        std::size_t n = 0;
        ((out.append(n++ == 0 ? "" : n == sizeof...(Whens) ? " or " : ", ").append(Whens::expected)), ...);
        return out;
    }();
    static constexpr std::string_view expected = one_of.view();
    template <class Value>
    static constexpr bool read(scanner& in, Value& out) {
        bool found = false, good = false;
        ((found || !Whens::starts(in.rest()) ? void() : void((found = true, out.*Member = Whens::is, good = Whens::read(in, out)))), ...);
        return found ? good : in.fail(expected);
    }
    template <class Value>
    static constexpr void write(value_text& out, const Value& value) {
        ((value.*Member == Whens::is ? Whens::write(out, value) : void()), ...);
    }
    static constexpr bool starts(std::string_view rest) { return (Whens::starts(rest) || ...); }
};

/// A family from the parts of its spelling; both directions follow from them.
///   struct swz { int bits = 0, base = 1, shift = 1; bool operator==(const swz&) const = default; };
///   struct SWIZZLE : grammar<"SWIZZLE", swz, word<"b">, num<&swz::bits>, word<"x">, num<&swz::base>, opt<"/s", &swz::shift, 1>> {};
/// A derived struct may add `off`, `catalog`, and a context: `using under = OTHER; static const char* misfit(value, value of OTHER)`.
template <fixed_string Name, class Value, class... Parts>
struct grammar : detail::family_defaults<Name> {
    using value_type = Value;

    static constexpr parsed<Value> parse(std::string_view text) {
        scanner in(grammar::name, text);
        Value out{};
        if (!(Parts::read(in, out) && ...) || !in.end("the end")) return in.refused();
        return out;
    }
    static constexpr value_text spell(const Value& value) {
        value_text out;
        (Parts::write(out, value), ...);
        return out;
    }
};

}  // namespace emmy::knob
