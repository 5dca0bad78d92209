#pragma once
#include <emmy/core/fixed_string.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

/// A composed sentence as a compile error: a static_assert of C++20 takes a fixed text only. Knob literals, the typed Loop IR and compiled-in
/// golden files say what was found and what was expected through it.
namespace emmy {

/// Never defined: naming it makes a compiler print the sentence, in pieces short enough for clang, which cuts at 36 characters.
template <fixed_string... Sentence>
struct refused;

namespace detail::sentence {

struct piece_list {
    std::size_t begin[32]{}, size[32]{}, count = 0;
};
/// Pieces of at most 32 characters, cut after a blank where there is one. Concatenated they are the sentence.
constexpr piece_list cut(std::string_view sentence) {
    piece_list out;
    std::size_t at = 0;
    while (at < sentence.size() && out.count < 32) {
        std::size_t length = sentence.size() - at;
        if (length > 32) {
            length = 32;
            while (length > 0 && sentence[at + length - 1] != ' ') --length;
            if (length == 0) length = 32;
        }
        out.begin[out.count] = at;
        out.size[out.count++] = length;
        at += length;
    }
    return out;
}
template <fixed_string Sentence, std::size_t I>
consteval auto piece() {
    constexpr piece_list pieces = cut(Sentence.view());
    fixed_string<pieces.size[I]> out;
    for (std::size_t i = 0; i < out.size(); ++i) out.chars[i] = Sentence.chars[pieces.begin[I] + i];
    out.chars[out.size()] = '\0';  // stored, not left over: clang prints such an array as text
    return out;
}
template <auto Compose>
consteval auto shrunk() {
    constexpr auto text = Compose();
    fixed_string<text.size()> out;
    for (std::size_t i = 0; i < out.size(); ++i) out.chars[i] = text.view()[i];
    out.chars[out.size()] = '\0';
    return out;
}
template <fixed_string Sentence, std::size_t... I>
consteval bool print(std::index_sequence<I...>) {
    refused<piece<Sentence, I>()...> emmy_refused;
    return sizeof(emmy_refused) != 0;
}

}  // namespace detail::sentence

/// Fails to compile with the sentence that Compose() returns (a captureless closure, result a bounded_text). Name it only on a path
/// that is wrong.
template <auto Compose>
consteval bool say() {
    constexpr auto text = detail::sentence::shrunk<Compose>();
    return detail::sentence::print<text>(std::make_index_sequence<detail::sentence::cut(text.view()).count>());
}

}  // namespace emmy
