#pragma once
#include <emmy/kernel/impl/cuda_prelude_copies.hpp>
#include <emmy/kernel/impl/cuda_prelude_matrices.hpp>
#include <emmy/kernel/impl/cuda_prelude_memory.hpp>
#include <emmy/kernel/impl/cuda_prelude_numbers.hpp>
#include <emmy/kernel/impl/cuda_prelude_threads.hpp>

#include <algorithm>
#include <map>

namespace emmy::kernel::cuda {

EMMY_DECL const std::vector<prelude_function>& prelude() {
    static const std::vector<prelude_function> all = [] {
        std::vector<prelude_function> out;
        detail::add_memory(out), detail::add_threads(out), detail::add_copies(out), detail::add_numbers(out), detail::add_matrices(out);
        return out;
    }();
    return all;
}

namespace detail {

constexpr std::string_view common_head = "typedef unsigned char u8;\ntypedef unsigned short u16;\ntypedef unsigned u32;\ntypedef unsigned long long u64;\ntypedef int i32;\ntypedef long long i64;\n"
                                         "struct alignas(8) u32x2 { u32 x, y; };\nstruct alignas(16) u32x4 { u32 x, y, z, w; };\n";

constexpr std::string_view card_head = "struct alignas(64) tensor_map { u64 words[16]; };\n"
                                       "#define KERNEL extern \"C\" __global__ void\n"
                                       "#define THREADS(n) __launch_bounds__(n)\n"
                                       "#define DEV __device__ __forceinline__\n"
                                       "extern __shared__ __align__(1024) u8 pool[];\n";

/// The text's side of the machine: one function, asked with the line of whoever calls.
inline std::string emulated_head() {
    std::string out = "struct tensor_map;\n"
                      "#define KERNEL extern \"C\" void\n"
                      "#define THREADS(n)\n"
                      "#define DEV static inline\n"
                      "#define SI static inline\n"
                      "#define HERE int line = __builtin_LINE()\n"
                      "#define __restrict__\n"
                      "typedef float f32x1;\ntypedef unsigned short u16x1;\ntypedef u8 u8x1;\n"
                      "static thread_local u64 (*the_entry)(void*, u32, const u64*, int);\nstatic thread_local void* the_self;\n"
                      "template <class T, class F> static inline T bits_as(F f) { static_assert(sizeof(T) == sizeof(F)); return __builtin_bit_cast(T, f); }\n"
                      "template <class... A> static inline u64 ask_at(int line, u32 what, A... a) { const u64 words[sizeof...(A) + 1] = {(u64)a...}; return the_entry(the_self, what, words, line); }\n"
                      "template <class... A> static inline u64 ask(u32 what, A... a) { return ask_at(0, what, a...); }\n"
                      "enum : u32 {";
    for (std::size_t i = 0; i < static_cast<std::size_t>(emulated::call::count); ++i) out += (i ? ", call_" : " call_") + std::string(emulated::call_names[i]);
    return out + " };\n";
}

/// Names after "dev::" in a text.
inline std::vector<std::string> called(std::string_view body) {
    std::vector<std::string> out;
    for (std::size_t at = body.find("dev::"); at != std::string_view::npos; at = body.find("dev::", at + 5)) {
        std::size_t end = at + 5;
        while (end < body.size() && ((body[end] >= 'a' && body[end] <= 'z') || (body[end] >= '0' && body[end] <= '9') || body[end] == '_')) ++end;
        out.emplace_back(body.substr(at + 5, end - at - 5));
    }
    return out;
}

}  // namespace detail

EMMY_DECL result<std::string> with_prelude(std::string_view body, form which) {
    static const std::map<std::string, std::size_t> places = [] {
        std::map<std::string, std::size_t> out;
        for (std::size_t i = 0; i < prelude().size(); ++i) out.emplace(prelude()[i].name, i);
        return out;
    }();
    std::vector<std::string> wanted = detail::called(body);
    std::vector<bool> used(prelude().size(), false);
    while (!wanted.empty()) {
        const std::string name = std::move(wanted.back());
        wanted.pop_back();
        const auto found = places.find(name);
        if (found == places.end()) return refuse(fault_kind::internal, "kernel text calls dev::" + name + ", which the prelude does not have");
        if (used[found->second]) continue;
        used[found->second] = true;
        for (const std::string& other : prelude()[found->second].needs) wanted.push_back(other);
    }
    std::string out(detail::common_head);
    out += which == form::card ? std::string(detail::card_head) : detail::emulated_head();
    out += "namespace dev {\n";
    for (std::size_t i = 0; i < used.size(); ++i)
        if (used[i]) out += (which == form::card ? prelude()[i].card : prelude()[i].emulated) + "\n";
    out += "}\n";
    if (which == form::emulated) out += "#line 1 \"kernel\"\n";
    out += body;
    return out;
}

EMMY_DECL result<std::string> emulated_text(std::string_view body, std::string_view name) {
    EMMY_TRY(text, with_prelude(body, form::emulated));
    return std::move(text) + "\ntemplate <int... I> struct ints {};\n"
           "template <int N, int... I> struct up_to : up_to<N - 1, N - 1, I...> {};\n"
           "template <int... I> struct up_to<0, I...> { using type = ints<I...>; };\n"
           "template <class... P, int... I> static void call_with(void (*k)(P...), void** a, ints<I...>) { k(*(P*)a[I]...); }\n"
           "template <class... P> static void call_with(void (*k)(P...), void** a) { call_with(k, a, typename up_to<sizeof...(P)>::type{}); }\n"
           "extern \"C\" void " + std::string(emulated_entry) + "(u64 (*entry)(void*, u32, const u64*, int), void* self, void** arguments) {\n"
           "    the_entry = entry, the_self = self;\n    call_with(" + std::string(name) + ", arguments);\n}\n";
}

}  // namespace emmy::kernel::cuda
