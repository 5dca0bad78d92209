#pragma once
#include <emmy/core/capability.hpp>
#include <emmy/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// The cards we know by name. A card's product name is part of every measurement's key: compute capability alone cannot separate
/// cards built on one die (H100 and H200 share it and their SM count).
namespace emmy {

/// What the maker states, dense arithmetic, at boost clock. 0 = not known to us: no gate is drawn from it.
struct card_ceilings {
    double f32_flops = 0;       ///< flop/s of the vector units
    double f16_flops = 0;       ///< flop/s of the matrix units on half precision, the fastest accumulator
    double bytes_per_second = 0;  ///< of the card's memory
};

/// One line of the registry. Sources: the makers' data sheets; aliases are what drivers report.
struct card_facts {
    std::string_view name;        ///< canonical product name, as golden files spell it
    std::string_view alias, second_alias;  ///< other spellings; empty = none
    capability cc;
    int sms = 0;
    int memory_mib = 0;
    card_ceilings peak;
};

inline constexpr card_facts card_table[] = {
    {"NVIDIA Tesla V100 SXM2 16GB", "Tesla V100-SXM2-16GB", "NVIDIA V100-SXM2-16GB", {7, 0}, 80, 16384, {15.7e12, 125e12, 900e9}},
    {"NVIDIA Tesla V100 SXM2 32GB", "Tesla V100-SXM2-32GB", "NVIDIA V100-SXM2-32GB", {7, 0}, 80, 32768, {15.7e12, 125e12, 900e9}},
    {"NVIDIA Tesla V100 SXM3 32GB", "Tesla V100-SXM3-32GB", "NVIDIA V100-SXM3-32GB", {7, 0}, 80, 32768, {}},
    {"NVIDIA Tesla V100 PCIe 16GB", "Tesla V100-PCIE-16GB", "", {7, 0}, 80, 16384, {14e12, 112e12, 900e9}},
    {"NVIDIA Tesla T4", "Tesla T4", "", {7, 5}, 40, 15360, {8.1e12, 65e12, 320e9}},
    {"NVIDIA A100 40GB", "NVIDIA A100-SXM4-40GB", "NVIDIA A100-PCIE-40GB", {8, 0}, 108, 40960, {19.5e12, 312e12, 1555e9}},
    {"NVIDIA A100 80GB", "NVIDIA A100-SXM4-80GB", "", {8, 0}, 108, 81920, {19.5e12, 312e12, 2039e9}},
    {"NVIDIA A100 80GB PCIe", "", "", {8, 0}, 108, 81920, {19.5e12, 312e12, 1935e9}},
    {"NVIDIA A10", "", "", {8, 6}, 72, 23028, {31.2e12, 125e12, 600e9}},
    {"NVIDIA RTX A6000", "", "", {8, 6}, 84, 49140, {38.7e12, 154.8e12, 768e9}},
    {"NVIDIA GeForce RTX 3090", "", "", {8, 6}, 82, 24576, {35.6e12, 142e12, 936e9}},
    {"NVIDIA L4", "", "", {8, 9}, 58, 23034, {30.3e12, 121e12, 300e9}},
    {"NVIDIA L40S", "", "", {8, 9}, 142, 46068, {91.6e12, 362e12, 864e9}},
    {"NVIDIA GeForce RTX 4080", "", "", {8, 9}, 76, 15946, {48.7e12, 194.9e12, 716.8e9}},
    {"NVIDIA GeForce RTX 4090", "", "", {8, 9}, 128, 24564, {82.6e12, 330.3e12, 1008e9}},
    {"NVIDIA H100 80GB", "NVIDIA H100 80GB HBM3", "", {9, 0}, 132, 81559, {66.9e12, 989.4e12, 3.35e12}},
    {"NVIDIA H100 PCIe", "", "", {9, 0}, 114, 81559, {51.2e12, 756e12, 2.0e12}},
    {"NVIDIA H200", "NVIDIA H200 141GB HBM3e", "", {9, 0}, 132, 143771, {66.9e12, 989.4e12, 4.8e12}},
    {"NVIDIA B200", "", "", {10, 0}, 148, 183359, {80e12, 2250e12, 8.0e12}},
    {"NVIDIA GeForce RTX 5090", "", "", {12, 0}, 170, 32607, {104.8e12, 419e12, 1792e9}},
    {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "", "", {12, 0}, 188, 97887, {126e12, 504e12, 1792e9}},
    {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "", "", {12, 0}, 188, 97887, {126e12, 504e12, 1792e9}},
};

/// Any name "cpu: <model> …" is a card of its own, capability {0, 0}, ceilings measured on the machine and kept elsewhere.
constexpr bool is_cpu_name(std::string_view name) { return name.starts_with("cpu: ") && name.size() > 5 && name[5] != ' '; }

/// Lower case, each run of other than letters and digits as one _, none at the ends: "nvidia_h100_80gb".
inline std::string slug_of(std::string_view name) {
    std::string out;
    for (char c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (plain) out += c;
        else if (!out.empty() && out.back() != '_') out += '_';
    }
    if (!out.empty() && out.back() == '_') out.pop_back();
    return out;
}

/// Stem of a card's own files: the slug, then _sm90; a processor's has no _sm.
inline std::string file_slug(std::string_view name, capability cc) {
    std::string out = slug_of(name);
    if (!cc.is_cpu()) out += "_sm" + std::to_string(cc.number());
    return out;
}

/// A card by name: a line of the registry, or a processor.
struct card {
    std::string name;  ///< canonical
    capability cc;
    const card_facts* facts = nullptr;  ///< null for a processor

    std::string file_slug() const { return emmy::file_slug(name, cc); }
    block_limits limits() const { return limits_of(cc); }
    card_ceilings peak() const { return facts ? facts->peak : card_ceilings{}; }
};

/// Registry line by canonical name or alias, exact; nullptr when unknown (also for every "cpu: …").
constexpr const card_facts* card_by_name(std::string_view name) {
    if (name.empty()) return nullptr;
    for (const auto& line : card_table)
        if (line.name == name || line.alias == name || line.second_alias == name) return &line;
    return nullptr;
}

/// The canonical spelling of a card's name: aliases resolved, every other name as it stands.
constexpr std::string_view canonical_card_name(std::string_view name) {
    const card_facts* line = card_by_name(name);
    return line ? line->name : name;
}

/// Is this a name that a measurement may carry: in the registry (aliases included) or "cpu: …".
constexpr bool is_known_card(std::string_view name) { return card_by_name(name) != nullptr || is_cpu_name(name); }

/// By name, alias, slug or file slug ("NVIDIA H100 80GB HBM3", "nvidia_h100_80gb", "nvidia_h100_80gb_sm90", "cpu: …").
/// Error (user): no such card; the known names are listed.
inline result<card> find_card(std::string_view text) {
    if (is_cpu_name(text)) return card{std::string(text), {}, nullptr};
    if (const card_facts* line = card_by_name(text)) return card{std::string(line->name), line->cc, line};
    if (!text.empty())
        for (const auto& line : card_table)
            if (slug_of(line.name) == text || file_slug(line.name, line.cc) == text) return card{std::string(line.name), line.cc, &line};
    std::string known;
    for (const auto& line : card_table) known += (known.empty() ? "" : ", ") + std::string(line.name);
    return refuse(fault_kind::user, "found no card of the name [" + std::string(text.substr(0, 80)) + "], expected one of " + known + ", or cpu: <model>");
}

}  // namespace emmy
