#pragma once
#include <emmy/core/refused.hpp>
#include <emmy/core/xxh3.hpp>
#include <emmy/golden/compiled/table.hpp>
#include <emmy/knob/rule/gpu.hpp>
#include <emmy/knob/rule/rule.hpp>
#include <emmy/knob/target.hpp>
#include <emmy/loop/identity_version.hpp>

#include <array>
#include <type_traits>
#include <utility>

/// Lets the compiler check a source: every text spelled right and of a family that may stand there, every row whole, legal under the
/// rules of a target and as it was sealed, every digest the one of its text. What is wrong is said in one sentence.
namespace emmy::golden::compiled {

using sentence = bounded_text<720>;

namespace detail {

constexpr sentence at_place(std::string_view what, std::size_t place, std::string_view name = {}) {
    sentence out(what);
    out.append(' ').append(place);
    if (!name.empty()) out.append(" [").append(name).append(']');
    return out.append(": ");
}
constexpr void append_hex(sentence& out, std::uint64_t half) {
    for (int shift = 60; shift >= 0; shift -= 4) out.append("0123456789abcdef"[half >> shift & 15]);
}
constexpr sentence range(sentence out, std::string_view what, std::size_t found, std::size_t count) {
    return out.append("found ").append(what).append(' ').append(found).append(", expected one below ").append(count);
}

// --- dictionaries: parsed once each ----------------------------------------------------------------------------------------

constexpr sentence why_key(std::string_view key, std::size_t place) {
    sentence out = at_place("key", place);
    const knob::split_key name(key);
    const auto info = knob::find_family(name.family);
    if (!info) return out.append("found [").append(key).append("], expected ").append(knob::schedule_row::one_of_them);
    bool schedule = false;
    knob::schedule_row::families::each([&]<class F>() { schedule = schedule || F::name == name.family; });
    if (!schedule) return out.append(key).append(info->meaning == knob::role::structural ? ": found a structural family" : ": found a regime family").append(", expected ").append(knob::schedule_row::only_schedule);
    if (!name.addressed) return {};
    if (info->where == knob::scope::kernel) return out.append(key).append(": found an address, expected the bare key, one choice a kernel");
    if (const auto at = knob::route::parse(name.address, key); !at) return out.append(at.error().sentence().view());
    return {};
}
constexpr parsed_key parse_key(std::string_view key) {
    parsed_key out;
    const knob::split_key name(key);
    std::uint8_t i = 0;
    knob::schedule_row::families::each([&]<class F>() {
        if (F::name == name.family) out.family = i;
        ++i;
    });
    if (name.addressed) out.at = *knob::route::parse(name.address, key);
    return out;
}
// What is evaluated stands in variable templates, not in constexpr locals: clang would evaluate those again with the function.
template <const source& Source>
inline constexpr std::size_t bad_key = [] {
    std::size_t i = 0;
    while (i < Source.keys.size() && why_key(Source.keys[i], i).empty()) ++i;
    return i;
}();
template <const source& Source>
consteval auto parsed_keys() {
    if constexpr (bad_key<Source> < Source.keys.size()) say<[] { return why_key(Source.keys[bad_key<Source>], bad_key<Source>); }>();
    std::array<parsed_key, Source.keys.size()> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = parse_key(Source.keys[i]);
    return out;
}

template <knob::schedule_family F>
constexpr sentence why_value(std::string_view text, std::size_t place) {
    sentence out(F::name);
    out.append(" value ").append(place).append(": ");
    const auto value = F::parse(text);
    if (!value) return out.append(value.error().message().view());
    if constexpr (std::is_same_v<F, knob::REDUCE>)
        if (value->crosses_ctas()) return out.append("found [").append(text).append("], a structural choice (a cross-CTA split), expected ").append(knob::schedule_row::only_schedule);
    return {};
}
template <const source& Source, knob::schedule_family F>
inline constexpr std::size_t bad_value = [] {
    const std::span<const std::string_view> texts = table::dictionary<F>(Source);
    std::size_t i = 0;
    while (i < texts.size() && why_value<F>(texts[i], i).empty()) ++i;
    return i;
}();
template <const source& Source, knob::schedule_family F>
consteval auto parsed_values() {
    if constexpr (bad_value<Source, F> < table::dictionary<F>(Source).size()) say<[] { return why_value<F>(table::dictionary<F>(Source)[bad_value<Source, F>], bad_value<Source, F>); }>();
    std::array<typename F::value_type, table::dictionary<F>(Source).size()> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = *F::parse(table::dictionary<F>(Source)[i]);
    return out;
}

template <const source& Source>
struct parsed_source {
    static constexpr auto keys = parsed_keys<Source>();
    template <knob::schedule_family F>
    static constexpr auto values = parsed_values<Source, F>();
};

// --- rows --------------------------------------------------------------------------------------------------------------------

constexpr std::uint64_t seal_of(const source& s, const row_data& r, const row& view) {
    sealer out;
    out.add(s.kernels[r.kernel].identity.high).add(s.kernels[r.kernel].identity.low);
    for (const size_of_symbol& size : view.sizes()) out.add(size.symbol).add(static_cast<std::uint64_t>(size.value));
    out.add(view.regime()).add(r.us);
    view.each([&](std::string_view key, std::string_view value) { out.add(key).add(value); });
    return out.value();
}

constexpr sentence why_pins(std::string_view pins, std::size_t place) {
    for (std::string_view rest = pins; !rest.empty();) {
        const std::string_view pin = rest.substr(0, rest.find(','));
        rest.remove_prefix(pin.size() == rest.size() ? rest.size() : pin.size() + 1);
        const std::size_t equals = pin.find('=');
        const auto info = knob::find_family(pin.substr(0, equals));
        if (equals == std::string_view::npos || !info) return at_place("regime", place).append("found [").append(pin).append("], expected a registered family and its value");
        const std::string_view value = pin.substr(equals + 1);
        const auto text = info->canonical(value);
        if (!text) return at_place("regime", place).append(text.error().sentence().view());
        if (text->view() != value) return at_place("regime", place).append(info->name).append(": found [").append(value).append("], expected its canonical spelling ").append(text->view());
    }
    return {};
}

/// First thing wrong with a row: places, repeated keys, values under the row's own WORK, rules, seal.
template <class Rules>
constexpr sentence why_row(const table& t, std::size_t place) {
    const source& s = *t.source;
    const row_data& r = s.row(place);
    const auto here = [&] { return at_place("row", place, r.name); };
    if (r.kernel >= s.kernels.size()) return range(here(), "kernel", r.kernel, s.kernels.size());
    if (r.regime >= s.regimes.size()) return range(here(), "regime", r.regime, s.regimes.size());
    if (r.first_size + r.sizes > s.sizes.size()) return range(here(), "size", r.first_size + r.sizes - 1, s.sizes.size());
    if (r.first_knob + r.knobs > s.knobs.size()) return range(here(), "knob", r.first_knob + r.knobs - 1, s.knobs.size());
    knob::schedule_row schedule;
    sentence why;
    for (const knob_at& k : s.knobs.subspan(r.first_knob, r.knobs)) {
        if (k.key >= s.keys.size()) return range(here(), "key", k.key, s.keys.size());
        const parsed_key& key = t.keys[k.key];
        table::with_family(key.family, [&]<class F>() {
            if (k.value >= t.values<F>().size()) why = range(here(), F::name, k.value, t.values<F>().size());
            else if (schedule.template get<F>(key.at)) why = here().append(s.keys[k.key]).append(": found the key twice, expected it once");
            else schedule.template set<F>(t.values<F>()[k.value], key.at);
        });
        if (!why.empty()) return why;
    }
    if (r.knobs != 0) {
        if (const knob::finding f = Rules::first(schedule, knob::target_of(s.cc))) return here().append(knob::sentence(f).view());
    }
    const std::uint64_t found = seal_of(s, r, row(t, r));
    if (found == r.seal) return {};
    sentence out = here();
    out.append("found seal ");
    append_hex(out, found);
    out.append(", expected ");
    append_hex(out, r.seal);
    return out.append(": its kernel, sizes, regime, knobs or time were changed by hand");
}

/// Rows that one constant expression checks: a row with many sites under all rules takes clang up to 100,000 of its 1,048,576 steps.
constexpr std::size_t rows_a_step = 4;

template <const table& Table, class Rules, std::size_t First>
inline constexpr std::size_t bad_row = [] {
    for (std::size_t i = First; i < First + rows_a_step && i < Table.size(); ++i)
        if (!why_row<Rules>(Table, i).empty()) return i;
    return Table.size();
}();
template <const table& Table, class Rules, std::size_t First>
consteval bool rows_are_good() {
    if constexpr (bad_row<Table, Rules, First> < Table.size()) say<[] { return why_row<Rules>(Table, bad_row<Table, Rules, First>); }>();
    return true;
}

// --- kernels and routes --------------------------------------------------------------------------------------------------------

constexpr sentence why_kernel(const source& s, std::size_t place) {
    const kernel_data& k = s.kernels[place];
    if (k.text.size() > longest_text) {
        sentence out = at_place("kernel", place, k.ref);
        return out.append("found a canonical text of ").append(k.text.size()).append(" bytes, expected at most ").append(longest_text).append(": the digest of a longer one is no constant expression");
    }
    const digest128 found = constant_xxh3_128(k.text.data(), k.text.size());
    if (found == k.identity) return {};
    sentence out = at_place("kernel", place, k.ref);
    out.append("identity of its text is ");
    append_hex(out, found.high), append_hex(out, found.low);
    out.append(", expected ");
    append_hex(out, k.identity.high), append_hex(out, k.identity.low);
    return out;
}
/// One constant expression a kernel.
template <const source& Source, std::size_t Place>
inline constexpr bool bad_kernel = !why_kernel(Source, Place).empty();
template <const source& Source, std::size_t Place>
consteval bool kernel_is_good() {
    if constexpr (bad_kernel<Source, Place>) say<[] { return why_kernel(Source, Place); }>();
    return true;
}

constexpr sentence why_route(const source& s, std::size_t place) {
    const route_data& r = s.routes[place];
    const auto here = [&] { return at_place("routing", place); };
    if (r.parent >= s.kernels.size()) return range(here(), "kernel", r.parent, s.kernels.size());
    if (r.choices == 0) return here().append("found no choice, expected one or more structural choices");
    if (r.first_choice + r.choices > s.arms.size()) return range(here(), "arm", r.first_choice + r.choices - 1, s.arms.size());
    if (r.first_child + r.children > s.children.size()) return range(here(), "child", r.first_child + r.children - 1, s.children.size());
    for (const std::uint32_t choice : s.arms.subspan(r.first_choice, r.choices))
        if (choice >= s.choices.size()) return range(here(), "choice", choice, s.choices.size());
    for (const std::uint32_t child : s.children.subspan(r.first_child, r.children))
        if (child >= s.kernels.size()) return range(here(), "kernel", child, s.kernels.size());
    return {};
}
constexpr sentence why_choice(const source& s, std::size_t place) {
    if (const auto why = knob::routing_row::check(s.choices[place].key, s.choices[place].value)) return at_place("choice", place).append(why->sentence().view());
    return {};
}
constexpr sentence why_version(const source& s, std::size_t) {
    if (s.identity_version == loop::identity_version) return {};
    sentence out(s.file);
    return out.append(": found identity version ").append(s.identity_version).append(", expected ").append(loop::identity_version).append(": make the header again");
}
template <const source& Source, auto Why, std::size_t Count>
inline constexpr std::size_t bad_item = [] {
    std::size_t i = 0;
    while (i < Count && Why(Source, i).empty()) ++i;
    return i;
}();
template <const source& Source, auto Why, std::size_t Count>
consteval bool all_good() {
    if constexpr (bad_item<Source, Why, Count> < Count) say<[] { return Why(Source, bad_item<Source, Why, Count>); }>();
    return true;
}

}  // namespace detail

/// The table of a source, texts parsed.
template <const source& Source>
inline constexpr table table_of = [] {
    using parsed = detail::parsed_source<Source>;
    table out;
    out.source = &Source;
    out.keys = parsed::keys;
    knob::schedule_row::families::each([&]<class F>() { static_cast<detail::column<F>&>(out).values = parsed::template values<F>; });
    return out;
}();

/// What rows of a source must obey: on a card the rules of its rows, on a processor nothing beyond their spelling (its own options say
/// what a kernel offers there).
template <const source& Source>
using rules_of = std::conditional_t<Source.cc.is_cpu(), knob::rules<>, knob::gpu::row_rules>;

/// True, or a compile error that says what is wrong. `Rules` are asked about every row that has knobs, on the source's own target.
///   static_assert(is_sound<data>());
template <const source& Source, class Rules = rules_of<Source>>
consteval bool is_sound() {
    constexpr std::size_t rows = Source.row_count();
    const auto kernels = []<std::size_t... I>(std::index_sequence<I...>) {
        const bool good[] = {true, detail::kernel_is_good<Source, I>()...};
        return good[0];
    };
    const auto tables = []<std::size_t... I>(std::index_sequence<I...>) {
        const bool good[] = {true, detail::rows_are_good<table_of<Source>, Rules, I * detail::rows_a_step>()...};
        return good[0];
    };
    constexpr auto why_regime = [](const source& s, std::size_t i) { return detail::why_pins(s.regimes[i], i); };
    return detail::all_good<Source, detail::why_version, 1>() && detail::all_good<Source, why_regime, Source.regimes.size()>() && detail::all_good<Source, detail::why_choice, Source.choices.size()>() &&
           detail::all_good<Source, detail::why_route, Source.routes.size()>() && tables(std::make_index_sequence<(rows + detail::rows_a_step - 1) / detail::rows_a_step>()) &&
           kernels(std::make_index_sequence<Source.kernels.size()>());
}

}  // namespace emmy::golden::compiled
