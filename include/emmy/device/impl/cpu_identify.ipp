#pragma once
#include <emmy/device/cpu/identify.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sched.h>
#include <set>
#include <sstream>
#include <unistd.h>

namespace emmy::device::cpu {

namespace detail {

inline std::string printable(std::string_view text, std::size_t most) {
    std::string out;
    for (char c : text) {
        const bool blank = c == ' ' || c == '\t';
        if (!blank && (c < 0x21 || c > 0x7e)) continue;  // also drops every byte of non-ASCII text
        if (blank && (out.empty() || out.back() == ' ')) continue;
        out += blank ? ' ' : c;
        if (out.size() >= most) break;
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

/// The value after "key<blanks>:" of the first line that has the key.
inline std::string_view cpuinfo_field(std::string_view text, std::string_view key) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (!line.starts_with(key)) continue;
        line.remove_prefix(key.size());
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
        if (line.empty() || line.front() != ':') continue;
        line.remove_prefix(1);
        while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
        return line;
    }
    return {};
}

inline std::string number_text(std::string_view text) {
    unsigned value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && value < 100000 ? std::to_string(value) : "0";
}

/// "48K", "2M" in bytes; 0 when it is not that.
inline std::uint64_t cache_bytes(std::string_view text) {
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || value > (std::uint64_t(1) << 32)) return 0;
    const char unit = read.ptr == text.data() + text.size() ? ' ' : *read.ptr;
    return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : unit == 'G' ? value << 30 : value;
}

inline std::string cache_spelling(std::uint64_t bytes) {
    if (bytes == 0) return "?";
    if (bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + "M";
    return std::to_string(bytes >> 10) + "K";
}

/// The psABI level of a flags line.
inline std::string isa_level(const std::set<std::string, std::less<>>& flags) {
    const auto all = [&](std::initializer_list<std::string_view> names) { return std::all_of(names.begin(), names.end(), [&](std::string_view n) { return flags.contains(n); }); };
    if (!all({"sse2"})) return {};
    if (!all({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"})) return "x86-64";
    if (!all({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"})) return "x86-64-v2";
    if (!all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return "x86-64-v3";
    return "x86-64-v4";
}

inline std::string small_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string out(1 << 20, '\0');
    in.read(out.data(), static_cast<std::streamsize>(out.size()));
    out.resize(static_cast<std::size_t>(in.gcount()));
    return out;
}

/// Distinct (package, core) pairs of cpuinfo; 0 when it does not say.
inline int physical_cores(std::string_view cpuinfo) {
    std::set<std::pair<std::string, std::string>> cores;
    std::string package;
    for (std::size_t at = 0; at < cpuinfo.size();) {
        const std::size_t end = std::min(cpuinfo.find('\n', at), cpuinfo.size());
        const std::string_view line = cpuinfo.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("physical id")) package = printable(cpuinfo_field(line, "physical id"), 16);
        if (line.starts_with("core id")) cores.emplace(package, printable(cpuinfo_field(line, "core id"), 16));
        if (cores.size() > 4096) break;
    }
    return static_cast<int>(cores.size());
}

}  // namespace detail

EMMY_DECL identification identify_from(std::string_view cpuinfo, const cache_text& caches, int usable_cores) {
    identification out;
    out.backend = "cpu";
    std::set<std::string, std::less<>> flags;
    std::string_view list = detail::cpuinfo_field(cpuinfo, "flags");
    if (list.empty()) list = detail::cpuinfo_field(cpuinfo, "Features");
    for (std::size_t at = 0; at < list.size() && flags.size() < 1024;) {
        const std::size_t end = std::min(list.find(' ', at), list.size());
        if (std::string word = detail::printable(list.substr(at, end - at), 32); !word.empty()) flags.insert(std::move(word));
        at = end + 1;
    }
    for (const std::string& f : flags) out.features += (out.features.empty() ? "" : " ") + f;

    std::string model = detail::printable(detail::cpuinfo_field(cpuinfo, "model name"), 64);
    std::string family = detail::number_text(detail::cpuinfo_field(cpuinfo, "cpu family")), number = detail::number_text(detail::cpuinfo_field(cpuinfo, "model"));
    out.isa = detail::isa_level(flags);
    if (out.isa.empty()) {  // not x86: Arm names implementer and part instead
        out.isa = flags.contains("sve") ? "aarch64-sve" : flags.contains("asimd") ? "aarch64" : "generic";
        const std::string implementer = detail::printable(detail::cpuinfo_field(cpuinfo, "CPU implementer"), 16), part = detail::printable(detail::cpuinfo_field(cpuinfo, "CPU part"), 16);
        if (model.empty() && !part.empty()) model = "implementer " + implementer + " part " + part;
    }
    if (model.empty()) model = "unknown processor";

    out.limits.l1_bytes = detail::cache_bytes(caches.l1), out.limits.l2_bytes = detail::cache_bytes(caches.l2), out.limits.l3_bytes = detail::cache_bytes(caches.l3);
    const int physical = detail::physical_cores(cpuinfo);
    out.limits.cores = std::clamp(physical > 0 ? std::min(physical, std::max(usable_cores, 1)) : usable_cores, 1, 4096);
    out.limits.vector_bytes = out.isa == "x86-64-v4" ? 64 : out.isa == "x86-64-v3" ? 32 : 16;
    out.card = "cpu: " + model + " f" + family + "m" + number + " " + out.isa + " " + std::to_string(out.limits.cores) + "c " +
               detail::cache_spelling(out.limits.l2_bytes) + "/" + detail::cache_spelling(out.limits.l3_bytes);
    return out;
}

EMMY_DECL const identification& identify_host() {
    static const identification host = [] {
        std::string levels[4];
        for (int i = 0; i < 8; ++i) {
            const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
            const std::string level = detail::small_file(folder + "level"), type = detail::small_file(folder + "type");
            if (level.empty() || type.starts_with("Instruction")) continue;
            if (level[0] >= '1' && level[0] <= '3') levels[level[0] - '0'] = detail::printable(detail::small_file(folder + "size"), 16);
        }
        // Where /sys is not mounted (containers) the C library asks the processor itself: one machine, one name.
        constexpr int names[4] = {0, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
        for (int level = 1; level <= 3; ++level)
            if (const long bytes = levels[level].empty() ? ::sysconf(names[level]) : 0; bytes >= 1024) levels[level] = std::to_string(bytes / 1024) + "K";
        cpu_set_t usable;
        CPU_ZERO(&usable);
        const int count = ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
        return identify_from(detail::small_file("/proc/cpuinfo"), {levels[1], levels[2], levels[3]}, count);
    }();
    return host;
}

}  // namespace emmy::device::cpu
