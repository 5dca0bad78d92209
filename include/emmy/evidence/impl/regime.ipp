#pragma once
#include <emmy/evidence/regime.hpp>

#include <emmy/core/card.hpp>
#include <emmy/core/json.hpp>
#include <emmy/knob/families.hpp>

#include <algorithm>

namespace emmy::evidence {
namespace detail {

constexpr std::string_view fast_math_flag = "--use_fast_math";
/// Precision gates that follow FAST_MATH unless pinned.
constexpr bool follows_fast_math(std::string_view name) { return name == knob::FAST_EXP::name || name == knob::F16_MMA_F32_ACC::name || name == knob::FP8_MMA::name; }
/// Policies that are on unless pinned.
constexpr bool on_by_default(std::string_view name) {
    for (std::string_view n : {"VECTORIZE_LOADS", "VECTORIZE_STORES", "INTERLEAVE_LOADS", "GUARD_REDUCTIONS", "PAIR_LDMATRIX"})
        if (n == name) return true;
    return false;
}

inline std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        const auto start = text.find_first_not_of(" \t\r\n", at);
        if (start == std::string_view::npos) break;
        const auto end = std::min(text.find_first_of(" \t\r\n", start), text.size());
        out.emplace_back(text.substr(start, end - start));
        at = end;
    }
    return out;
}
inline std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& w : words) (out += out.empty() ? "" : " ") += w;
    return out;
}
inline bool level_word(std::string_view w) { return w.size() == 3 && w.starts_with("-O") && w[2] >= '0' && w[2] <= '9'; }

/// One pin into the setting; FAST_MATH must have been seen before the gates that follow it.
inline result<void> add_pin(regime& r, std::string_view name, std::string_view text) {
    const knob::family_info* family = knob::find_family(name);
    if (!family || family->meaning != knob::role::regime) return refuse(fault_kind::user, "found a pin that is no part of the setting, expected a regime family", std::string(name));
    const auto value = family->canonical(text);
    if (!value) return refuse(value.error().as(fault_kind::user));
    const std::string spelled((*value).view());
    if (name == knob::FAST_MATH::name) {
        r.fast_math = spelled == "true";
        return {};
    }
    if (name == knob::COLD_CACHE::name) {
        r.cold = spelled == "true";
        return {};
    }
    const bool by_default = follows_fast_math(name) ? r.fast_math : on_by_default(name);
    const std::string usual = family->kind == knob::value_kind::boolean ? (by_default ? "true" : "false") : name == knob::TEAM::name ? "1" : "";
    std::erase_if(r.words, [&](const auto& w) { return w.first == name; });
    if (spelled != usual) r.words.emplace_back(name, spelled);
    std::sort(r.words.begin(), r.words.end());
    return {};
}
inline result<void> add_pins(regime& r, const store::knob_list& pins) {
    for (const bool followers : {false, true})
        for (const auto& [name, text] : pins)
            if (follows_fast_math(name) == followers) EMMY_CHECK_OK(add_pin(r, name, text));
    return {};
}
inline std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}
}  // namespace detail

EMMY_DECL bool is_regime_pin(std::string_view name) {
    const knob::family_info* family = knob::find_family(name);
    return family && family->meaning == knob::role::regime;
}

EMMY_DECL result<regime> make_regime(const regime_request& asked) {
    regime out;
    int level = asked.opt;
    const auto words = detail::words_of(asked.compiler_flags);
    std::vector<std::string> rest;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool front_end = words[i] == "-Xcicc" && i + 1 < words.size() && detail::level_word(words[i + 1]);
        // -Xptxas -O1 is the assembler's level, and with front-end words left alone the first -O<digit> is the compiler's.
        const bool plain = detail::level_word(words[i]) && (i == 0 || (words[i - 1] != "-Xptxas" && words[i - 1] != "-Xcicc"));
        if (!front_end && !plain) {
            if (words[i] == detail::fast_math_flag) out.fast_math = true;
            else rest.push_back(words[i]);
            continue;
        }
        const int found = words[front_end ? i + 1 : i][2] - '0';
        if (level >= 0 && level != found) return refuse(fault_kind::user, "found -O" + std::to_string(level) + " and -O" + std::to_string(found) + ", expected one optimisation level", "--opt");
        level = found;
        if (front_end) ++i;
    }
    if (level > 3) return refuse(fault_kind::user, "found " + std::to_string(level) + ", expected 0, 1, 2 or 3", "--opt");
    out.opt = level < 0 ? 3 : level;
    out.flags = detail::joined(rest);
    out.fast_math = out.fast_math || asked.fast_math;
    out.cold = asked.cold;
    EMMY_CHECK_OK(detail::add_pins(out, asked.pins));
    return out;
}

EMMY_DECL result<regime> regime_of_pins(std::span<const json::member> pins) {
    store::knob_list texts;
    for (const json::member& m : pins) {
        if (!is_regime_pin(m.key)) continue;  // a pin of another kind narrows options; it is no part of the setting
        std::string text = m.item.is(json::kind::boolean) ? (m.item.boolean() ? "true" : "false") : std::string(m.item.text());
        texts.emplace_back(m.key, std::move(text));
    }
    regime out;
    if (auto done = detail::add_pins(out, texts); !done) return refuse(fault(fault_kind::input, done.error().message(), done.error().place()));
    return out;
}

EMMY_DECL store::knob_list pins_of(const regime& r) {
    store::knob_list out{{"FAST_MATH", r.fast_math ? "true" : "false"}};
    if (r.cold) out.emplace_back("COLD_CACHE", "true");
    for (const auto& w : r.words) out.push_back(w);  // booleans and numbers are spelled alike in JSON
    return out;
}

EMMY_DECL store::context make_context(std::string_view card, int compute_major, int compute_minor, const regime& r) {
    store::context out;
    out.card = canonical_card_name(card);
    out.backend = is_cpu_name(out.card) ? "cpu" : "cuda";
    out.sm = static_cast<std::uint16_t>(compute_major * 10 + compute_minor);
    out.opt = static_cast<std::uint8_t>(r.opt);
    out.cold = r.cold;
    std::vector<std::string> words;
    if (r.fast_math) words.emplace_back(detail::fast_math_flag);
    if (!r.flags.empty()) words.push_back(r.flags);
    for (const auto& [name, value] : r.words) words.push_back(detail::lower(name) + "=" + value);
    out.flags = detail::joined(words);
    return out;
}

EMMY_DECL std::string lane_text(const store::context& c) {
    const bool fast = c.flags.starts_with(detail::fast_math_flag);
    std::string out = fast ? "fast-math" : "standard";
    std::string_view rest = c.flags;
    if (fast) rest.remove_prefix(std::min(rest.size(), detail::fast_math_flag.size() + 1));
    if (!rest.empty()) (out += ' ') += rest;
    if (c.opt != 3) (out += " -O") += std::to_string(c.opt);
    if (c.cold) out += " cold";
    return out;
}
EMMY_DECL std::string lane_text(const regime& r) { return lane_text(make_context("", 0, 0, r)); }

}  // namespace emmy::evidence
