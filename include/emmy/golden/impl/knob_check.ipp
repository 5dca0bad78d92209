#pragma once
#include <emmy/golden/knob_check.hpp>
#include <emmy/knob/families.hpp>
#include <emmy/knob/route.hpp>

namespace emmy::golden {
namespace detail {


inline std::string family_names() {
    std::string out;
    for (const knob::family_info& f : knob::built_in::table) out += (out.empty() ? "" : ", ") + std::string(f.name);
    return out;
}

inline std::string kind_of(const json::value& v) { return std::string(json::kind_name(v.type())); }

/// The value alone in its canonical spelling.
inline std::string check_value(const knob::family_info& family, std::string_view text) {
    const auto canonical = family.canonical(text);
    if (!canonical) return std::string(canonical.error().message().view());
    if (canonical->view() != text) return std::string(knob::refusal{family.name, text, "the canonical spelling"}.message().view()) + " \"" + std::string(canonical->view()) + '"';
    return {};
}

/// What follows @ must fit the family's scope.
inline std::string check_address(const knob::family_info& family, const knob::split_key& key) {
    if (!key.addressed) return family.where == knob::scope::buffer ? "found no buffer, expected " + std::string(family.name) + "@<buffer>" : std::string();
    switch (family.where) {
        case knob::scope::kernel: return std::string(knob::refusal{family.name, key.address, "no address (the family is one choice of the whole kernel)"}.message().view());
        case knob::scope::buffer:
            if (knob::is_buffer_name(key.address)) return {};
            return std::string(knob::refusal{family.name, key.address, "the name of a buffer"}.message().view());
        case knob::scope::node:
        case knob::scope::edge: {
            const auto route = knob::route::parse(key.address, family.name);
            return route ? std::string() : std::string(route.error().message().view());
        }
    }
    return {};
}
inline std::string unknown(std::string_view family, std::string_view wanted) {
    return std::string(knob::refusal{{}, family, wanted}.message().view()) + " (" + family_names() + ")";
}
}  // namespace detail

EMMY_DECL std::string check_row_knob(std::string_view key, const json::value& value) {
    const knob::split_key parts(key);
    const knob::family_info* family = knob::find_family(parts.family);
    if (!family) return detail::unknown(parts.family, "a schedule knob");
    std::string_view text;
    switch (value.type()) {
        case json::kind::string:
        case json::kind::integer: text = value.text(); break;
        case json::kind::boolean: text = value.boolean() ? "true" : "false"; break;
        default: return "found " + detail::kind_of(value) + ", expected a string, an integer or a boolean";
    }
    if (knob::is_structural(parts.family, text))
        return std::string(knob::refusal{{}, text, "a schedule choice (this one decides kernels and belongs into routing)"}.message().view());
    if (std::string problem = detail::check_address(*family, parts); !problem.empty()) return problem;
    return detail::check_value(*family, text);
}

EMMY_DECL std::string check_pin(std::string_view key, const json::value& value) {
    const knob::split_key parts(key);
    const knob::family_info* family = knob::find_family(parts.family);
    if (!family) return detail::unknown(parts.family, "a registered knob");
    const json::path here{};
    auto wrong = [&](std::string_view wanted) { return json::expected(here, value, wanted).message(); };
    switch (family->kind) {
        case knob::value_kind::boolean: return value.is(json::kind::boolean) ? std::string() : wrong("a boolean");
        case knob::value_kind::integer: return value.is(json::kind::integer) ? detail::check_value(*family, value.text()) : wrong("an integer");
        case knob::value_kind::text: return value.is(json::kind::string) ? detail::check_value(*family, value.text()) : wrong("a string");
    }
    return {};
}

EMMY_DECL std::string check_arm(std::string_view key, std::string_view value) {
    const knob::split_key parts(key);
    const knob::family_info* family = knob::find_family(parts.family);
    if (!family || (family->meaning != knob::role::structural && parts.family != knob::REDUCE::name))
        return std::string(knob::refusal{{}, parts.family, "a knob that decides kernels (PLACE, LAYOUT or REDUCE)"}.message().view());
    if (std::string problem = detail::check_address(*family, parts); !problem.empty()) return problem;
    if (std::string problem = detail::check_value(*family, value); !problem.empty()) return problem;
    if (!knob::is_structural(parts.family, value)) return std::string(knob::refusal{family->name, value, "a part g<n>k or g<n>a (within a kernel REDUCE belongs into the knobs of a row)"}.message().view());
    return {};
}

}  // namespace emmy::golden
