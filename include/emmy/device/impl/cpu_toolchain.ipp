#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/core/directory.hpp>
#include <emmy/core/file.hpp>
#include <emmy/device/cpu/toolchain.hpp>
#include <emmy/device/impl/cache.ipp>
#include <emmy/device/process.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace emmy::device::cpu {

namespace detail {

/// Removes a flat folder of ours.
inline void remove_folder(const std::string& path) {
    if (DIR* folder = ::opendir(path.c_str())) {
        while (const dirent* entry = ::readdir(folder)) {
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..") ::unlink((path + "/" + entry->d_name).c_str());
        }
        ::closedir(folder);
    }
    ::rmdir(path.c_str());
}

/// Working folders of compilations that were killed: gone after a day.
inline void sweep(const std::string& root) {
    DIR* folder = ::opendir(root.c_str());
    if (!folder) return;
    while (const dirent* entry = ::readdir(folder)) {
        if (!std::string_view(entry->d_name).starts_with(".tmp-")) continue;
        const std::string path = root + "/" + entry->d_name;
        struct stat facts{};
        if (::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && std::time(nullptr) - facts.st_mtime > 86400) remove_folder(path);
    }
    ::closedir(folder);
}

/// An entry is good when its seal is the digest of its object and the key it stands under.
inline bool valid_entry(const std::string& folder, const std::string& key) {
    const auto object = read_file(folder + "/kernel.so"), seal = read_file(folder + "/seal");
    return object && seal && *seal == key + " " + to_hex(xxh3_128(*object)) + "\n";
}

inline std::string first_lines(const std::string& text, int most) {
    std::string out;
    for (char c : text) {
        if (c == '\n' && --most == 0) break;
        if (c == '\n')
            out += " | ";
        else if (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f)
            out += c;
        if (out.size() > 600) break;
    }
    return out;
}

/// What one compiler says about itself, without where it is installed.
inline std::string signature_of(const std::string& path) {
    const auto version = run_process({path, "--version"}, 10), machine = run_process({path, "-dumpmachine"}, 10);
    if (!version || version->exit_code != 0 || !machine || machine->exit_code != 0) return {};
    std::string out;
    for (std::size_t at = 0; at < version->output.size();) {  // clang names its folder in the version text
        const std::size_t end = std::min(version->output.find('\n', at), version->output.size());
        const std::string line = version->output.substr(at, end - at);
        if (!line.starts_with("InstalledDir")) out += line + "\n";
        at = end + 1;
    }
    return out + machine->output;
}

}  // namespace detail

EMMY_DECL result<toolchain> find_toolchain() {
    std::string looked;
    const auto take = [&](const std::string& name, const std::string& label) -> toolchain {
        looked += (looked.empty() ? "" : ", ") + label;
        toolchain out;
        out.path = find_program(name);
        if (!out.path.empty()) out.signature = detail::signature_of(out.path);
        return out;
    };
    for (const char* named : {"EMMY_CXX", "CXX"})
        if (const std::string value = device::detail::environment(named); !value.empty()) {
            toolchain found = take(value, "$" + std::string(named) + " (" + value + ")");
            if (!found.signature.empty()) return found;
            // A compiler asked for by name is not silently replaced by another one.
            if (std::string_view(named) == "EMMY_CXX") return refuse(fault_kind::device, "found no working C++ compiler at \"" + value + "\", expected one", "EMMY_CXX");
        }
    for (const char* name : {"g++", "g++-14", "g++-13", "g++-12", "clang++", "clang++-18", "clang++-17", "clang++-16", "clang++-15", "clang++-14", "c++"})
        if (toolchain found = take(name, name); !found.signature.empty()) return found;
    return refuse(fault_kind::device, "no C++ compiler to compile kernels for the processor; looked for " + looked + " on PATH (Debian: apt install g++)");
}

EMMY_DECL std::vector<std::string> compile_flags(const kernel_text& text) {
    std::vector<std::string> out{"-std=c++20", "-O" + std::to_string(text.optimisation), "-march=native", "-mprefer-vector-width=512", "-ffp-contract=fast",
        "-fno-math-errno", "-fno-trapping-math", "-fno-exceptions", "-fno-rtti", "-fno-plt", "-fPIC", "-shared", "-w"};
    if (text.fast_math) out.emplace_back("-ffast-math");
#if !defined(__x86_64__)
    std::erase(out, "-mprefer-vector-width=512");
#endif
    return out;
}

EMMY_DECL std::string cache_key(const kernel_text& text, const toolchain& compiler, const identification& host) {
    std::string all = "emmy cpu object 1";
    const auto add = [&](std::string_view part) {
        all += '\n';
        all += std::to_string(part.size());
        all += ':';
        all += part;
    };
    add(text.source), add(text.entry), add(compiler.signature), add(host.isa), add(host.features);
    add(host.card);  // -march=native also reads the model and its caches
    for (const std::string& flag : compile_flags(text)) add(flag);
    return to_hex(xxh3_128(all));
}

namespace detail {
/// Asked once a process: it costs two processes.
inline const result<toolchain>& the_toolchain() {
    static const result<toolchain> compiler = find_toolchain();
    return compiler;
}
}  // namespace detail

EMMY_DECL result<std::string> find_object(const kernel_text& text, const std::string& cache, const identification& host) {
    const result<toolchain>& compiler = detail::the_toolchain();
    if (!compiler) return refuse(compiler.error());
    const std::string key = cache_key(text, *compiler, host), folder = (cache.empty() ? cache_directory() : cache) + "/cpu/" + key;
    return detail::valid_entry(folder, key) ? folder + "/kernel.so" : std::string();
}

EMMY_DECL result<compiled> compile_object(const kernel_text& text, const std::string& cache, const identification& host, double budget_seconds) {
    const result<toolchain>& compiler = detail::the_toolchain();
    if (!compiler) return refuse(compiler.error());
    const std::string key = cache_key(text, *compiler, host), root = (cache.empty() ? cache_directory() : cache) + "/cpu", folder = root + "/" + key;
    compiled out{folder + "/kernel.so", true, 0};
    if (detail::valid_entry(folder, key)) return out;

    EMMY_CHECK_OK(make_directories(root, fault_kind::device));
    detail::sweep(root);
    std::string work = root + "/.tmp-XXXXXX";
    if (!::mkdtemp(work.data())) return refuse(fault_kind::device, std::string("cannot write the kernel cache: ") + std::strerror(errno), {}, root);
    const auto give_up = [&](std::string message, fault_kind whose = fault_kind::device) {
        detail::remove_folder(work);
        return refuse(whose, std::move(message));
    };
    if (auto written = write_file_atomically(work + "/kernel.cpp", text.source); !written) return give_up(written.error().line());
    std::vector<std::string> command{compiler->path};
    for (std::string& flag : compile_flags(text)) command.push_back(std::move(flag));
    for (std::string part : {std::string("-o"), work + "/kernel.so", work + "/kernel.cpp", std::string("-lm")}) command.push_back(std::move(part));
    timespec before{}, after{};
    ::clock_gettime(CLOCK_MONOTONIC, &before);
    auto ran = run_process(command, budget_seconds);
    ::clock_gettime(CLOCK_MONOTONIC, &after);
    if (!ran) return give_up(ran.error().line());
    if (ran->overran) return give_up(std::string(compile_overrun) + ": the host compiler took more than " + std::to_string(static_cast<int>(budget_seconds)) + " s", fault_kind::device_limit);
    if (ran->exit_code != 0) {
        // Diagnostics on its text are the kernel's doing; a full disk or a missing assembler is not.
        const bool kernels = ran->output.find("kernel.cpp:") != std::string::npos && ran->output.find("No space left") == std::string::npos;
        return give_up((kernels ? "the host compiler refused the kernel text: " : "the host compiler failed: ") + detail::first_lines(ran->output, 4), kernels ? fault_kind::device_limit : fault_kind::device);
    }
    const auto object = read_file(work + "/kernel.so");
    if (!object) return give_up("the host compiler left no object");
    if (auto sealed = write_file_atomically(work + "/seal", key + " " + to_hex(xxh3_128(*object)) + "\n"); !sealed) return give_up(sealed.error().line());
    // Published in one step. Someone else may have been faster: theirs is as good, unless it is damaged.
    if (::rename(work.c_str(), folder.c_str()) != 0) {
        if (!detail::valid_entry(folder, key)) {
            const std::string damaged = work + "-old";
            ::rename(folder.c_str(), damaged.c_str());
            detail::remove_folder(damaged);
            if (::rename(work.c_str(), folder.c_str()) != 0 && !detail::valid_entry(folder, key))
                return give_up(std::string("cannot publish into the kernel cache: ") + std::strerror(errno));
        }
        detail::remove_folder(work);
    }
    out.cached = false;
    out.seconds = static_cast<double>(after.tv_sec - before.tv_sec) + static_cast<double>(after.tv_nsec - before.tv_nsec) * 1e-9;
    return out;
}

}  // namespace emmy::device::cpu
