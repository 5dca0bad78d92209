#pragma once
#include <emmy/device/cuda/resources.hpp>

#include <charconv>
#include <initializer_list>

namespace emmy::device::cuda {

EMMY_DECL resources read_resources(std::string_view log, std::string_view entry) {
    resources out;
    bool mine = false;
    // "<number> <what>" or "<what> <number>" inside a line.
    const auto number_before = [](std::string_view line, std::string_view what, int& to) {
        const std::size_t at = line.find(what);
        if (at == std::string_view::npos || at == 0) return;
        std::size_t first = at;
        while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') --first;
        std::from_chars(line.data() + first, line.data() + at, to);
    };
    const auto number_after = [](std::string_view line, std::string_view what, int& to) {
        if (const std::size_t at = line.find(what); at != std::string_view::npos) std::from_chars(line.data() + at + what.size(), line.data() + line.size(), to);
    };
    for (std::size_t at = 0; at < log.size();) {
        const std::size_t end = std::min(log.find('\n', at), log.size());
        const std::string_view line = log.substr(at, end - at);
        at = end + 1;
        for (std::string_view note : {"C7504", "C7509", "C7510", "C7511", "C7515"})  // setmaxnreg ignored; wgmma serialised
            if (out.serialised.empty() && line.find(note) != std::string_view::npos) out.serialised = line;
        if (line.find("Compiling entry function") != std::string_view::npos || line.find("Function properties for") != std::string_view::npos) {
            const std::size_t name = line.find(entry);
            const char after = name == std::string_view::npos || name + entry.size() >= line.size() ? ' ' : line[name + entry.size()];
            mine = name != std::string_view::npos && (after == ' ' || after == '\'' || after == '"');
            continue;
        }
        if (!mine) continue;
        number_before(line, " bytes stack frame", out.stack_bytes);
        number_before(line, " bytes spill stores", out.spill_store_bytes);
        number_before(line, " bytes spill loads", out.spill_load_bytes);
        if (line.find("Used ") != std::string_view::npos) {
            number_after(line, "Used ", out.registers);
            number_after(line, "used ", out.barriers);
            number_before(line, " bytes smem", out.shared_bytes);
            out.known = true;
        }
    }
    return out;
}

}  // namespace emmy::device::cuda
