#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/device/cache.hpp>
#include <emmy/device/cuda/compiler.hpp>
#include <emmy/device/cuda/library.hpp>

#include <algorithm>

namespace emmy::device::cuda {

namespace detail {

/// NVRTC's functions that we call, by its public interface. Results: 0 is success, 6 a text that does not compile.
struct nvrtc_functions {
    using program = void*;
    int (*version)(int*, int*) = nullptr;
    int (*count_targets)(int*) = nullptr;
    int (*targets)(int*) = nullptr;
    const char* (*error_text)(int) = nullptr;
    int (*create)(program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*destroy)(program*) = nullptr;
    int (*compile)(program, int, const char* const*) = nullptr;
    int (*cubin_size)(program, std::size_t*) = nullptr;
    int (*cubin)(program, char*) = nullptr;
    int (*log_size)(program, std::size_t*) = nullptr;
    int (*log)(program, char*) = nullptr;

    bool take(const shared_library& from) {
        const auto get = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(from.find(name));
            return function != nullptr;
        };
        return get(version, "nvrtcVersion") && get(count_targets, "nvrtcGetNumSupportedArchs") && get(targets, "nvrtcGetSupportedArchs") && get(error_text, "nvrtcGetErrorString") &&
               get(create, "nvrtcCreateProgram") && get(destroy, "nvrtcDestroyProgram") && get(compile, "nvrtcCompileProgram") && get(cubin_size, "nvrtcGetCUBINSize") && get(cubin, "nvrtcGetCUBIN") &&
               get(log_size, "nvrtcGetProgramLogSize") && get(log, "nvrtcGetProgramLog");
    }
};

struct loaded_compiler {
    compiler_facts facts;
    nvrtc_functions call;
};

/// The lines of a log that say what is wrong, on one line.
inline std::string diagnostics(std::string_view log) {
    std::string out;
    int lines = 0;
    for (std::size_t at = 0; at < log.size() && lines < 3;) {
        const std::size_t end = std::min(log.find('\n', at), log.size());
        const std::string_view line = log.substr(at, end - at);
        at = end + 1;
        if (line.find("error") == std::string_view::npos && line.find("fatal") == std::string_view::npos) continue;
        out += (out.empty() ? "" : " | ") + std::string(line.substr(0, 200));
        ++lines;
    }
    return out.empty() ? std::string(log.substr(0, 200)) : out;
}

}  // namespace detail

struct compilers::state {
    std::vector<detail::loaded_compiler> all;
    std::string looked;  ///< for the message when nothing serves
};

EMMY_DECL std::string architecture(const source& s) { return "sm_" + std::to_string(s.target.number()) + (s.specific ? "a" : ""); }

EMMY_DECL std::vector<std::string> options(const source& s) {
    std::vector<std::string> out{"--gpu-architecture=" + architecture(s), "--std=c++17", "--ptxas-options=-v", "--device-as-default-execution-space", "--no-source-include"};
    if (s.optimisation != 3) out.push_back("--ptxas-options=-O" + std::to_string(s.optimisation));
    if (s.fast_math) out.push_back("--use_fast_math");
    out.insert(out.end(), s.flags.begin(), s.flags.end());
    return out;
}

EMMY_DECL std::string compiler_facts::text() const {
    std::string out = std::to_string(major) + "." + std::to_string(minor);
    if (!targets.empty()) out += " (sm_" + std::to_string(targets.front()) + " … sm_" + std::to_string(targets.back()) + ")";
    return out + " " + path;
}

EMMY_DECL compilers compilers::of(const std::vector<std::string>& paths) {
    auto made = std::make_shared<state>();
    for (const std::string& path : paths) {
        const auto library = shared_library::open_file(path);
        detail::loaded_compiler one;
        one.facts.path = path;
        if (!library || !one.call.take(*library) || one.call.version(&one.facts.major, &one.facts.minor) != 0) {
            made->looked += (made->looked.empty() ? "" : ", ") + path + " (does not load)";
            continue;
        }
        int count = 0;
        if (one.call.count_targets(&count) == 0 && count > 0 && count < 1000) {
            one.facts.targets.resize(static_cast<std::size_t>(count));
            if (one.call.targets(one.facts.targets.data()) != 0) one.facts.targets.clear();
            std::sort(one.facts.targets.begin(), one.facts.targets.end());
        }
        made->looked += (made->looked.empty() ? "" : ", ") + one.facts.text();
        made->all.push_back(std::move(one));
    }
    std::stable_sort(made->all.begin(), made->all.end(), [](const auto& a, const auto& b) { return std::pair(a.facts.major, a.facts.minor) > std::pair(b.facts.major, b.facts.minor); });
    if (paths.empty()) {
        for (const std::string& folder : search_folders()) made->looked += (made->looked.empty() ? "" : ", ") + folder;
        made->looked = "no libnvrtc.so in " + (made->looked.empty() ? "any folder" : made->looked) + " (EMMY_CUDA_PATH names another folder; pip install nvidia-cuda-nvrtc brings one)";
    }
    compilers out;
    out.state_ = std::move(made);
    return out;
}

EMMY_DECL const compilers& compilers::of_this_machine() {
    static const compilers all = of(find_all({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}));
    return all;
}

EMMY_DECL std::vector<compiler_facts> compilers::list() const {
    std::vector<compiler_facts> out;
    for (const auto& one : state_->all) out.push_back(one.facts);
    return out;
}

namespace detail {
inline result<const loaded_compiler*> serving(const std::vector<loaded_compiler>& all, const std::string& looked, const source& s) {
    for (const loaded_compiler& one : all)
        if (std::binary_search(one.facts.targets.begin(), one.facts.targets.end(), s.target.number())) return &one;
    return refuse(fault_kind::device, "no CUDA compiler for " + architecture(s) + "; found " + looked);
}
}  // namespace detail

EMMY_DECL result<compiler_facts> compilers::for_target(const source& s) const {
    EMMY_TRY(one, detail::serving(state_->all, state_->looked, s));
    return one->facts;
}

EMMY_DECL result<cubin> compilers::compile(const source& s) const {
    EMMY_TRY(one, detail::serving(state_->all, state_->looked, s));
    const detail::nvrtc_functions& call = one->call;
    detail::nvrtc_functions::program program = nullptr;
    if (const int code = call.create(&program, s.text.c_str(), (s.entry + ".cu").c_str(), 0, nullptr, nullptr); code != 0)
        return refuse(fault_kind::device, std::string("the CUDA compiler failed: ") + call.error_text(code), {}, one->facts.path);
    const std::vector<std::string> words = options(s);
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    const int code = call.compile(program, static_cast<int>(arguments.size()), arguments.data());
    cubin out;
    const auto read = [&](int (*size_of)(detail::nvrtc_functions::program, std::size_t*), int (*get)(detail::nvrtc_functions::program, char*), std::string& to) {
        std::size_t size = 0;
        if (size_of(program, &size) != 0 || size > (std::size_t{1} << 30)) return false;
        to.resize(size);
        return size == 0 || get(program, to.data()) == 0;
    };
    read(call.log_size, call.log, out.log);
    while (!out.log.empty() && (out.log.back() == '\0' || out.log.back() == '\n')) out.log.pop_back();
    const bool made = code == 0 && read(call.cubin_size, call.cubin, out.bytes) && !out.bytes.empty();
    call.destroy(&program);
    if (!made) {
        const bool texts = code == 6 || code == 5;  // does not compile; an option that this compiler does not take
        return refuse(texts ? fault_kind::device_limit : fault_kind::device,
                      (texts ? "the CUDA compiler refused the text: " : std::string("the CUDA compiler failed (") + call.error_text(code) + "): ") + detail::diagnostics(out.log), s.entry);
    }
    out.used = read_resources(out.log, s.entry);
    if (!out.used.serialised.empty()) return refuse(fault_kind::device_limit, "the assembler does not run it as written: " + out.used.serialised, s.entry);
    return out;
}

EMMY_DECL result<cubin> compilers::compile_cached(const source& s, const std::string& folder) const {
    EMMY_TRY(one, detail::serving(state_->all, state_->looked, s));
    std::string all = "emmy cubin 1";
    const auto add = [&](std::string_view part) { all += "\n" + std::to_string(part.size()) + ":" + std::string(part); };
    add(s.text), add(s.entry), add(std::to_string(one->facts.major) + "." + std::to_string(one->facts.minor));
    for (const std::string& word : options(s)) add(word);
    const std::string key = to_hex(xxh3_128(all)), path = (folder.empty() ? cache_directory() : folder) + "/cuda/" + key + ".cubin";
    // The log stands before the machine code, which begins with the mark of an ELF file.
    if (const auto kept = read_sealed(path, key)) {
        if (const std::size_t elf = kept->find("\177ELF"); elf != std::string::npos) {
            cubin out{kept->substr(elf), kept->substr(0, elf), {}, true};
            out.used = read_resources(out.log, s.entry);
            return out;
        }
    }
    EMMY_TRY(made, compile(s));
    EMMY_CHECK_OK(write_sealed(path, key, made.log + made.bytes));
    return std::move(made);
}

}  // namespace emmy::device::cuda
