#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/core/file.hpp>
#include <emmy/core/json.hpp>
#include <emmy/device/cpu/blas.hpp>
#include <emmy/device/cpu/device.hpp>
#include <emmy/device/cpu/memory.hpp>
#include <emmy/device/cpu/team.hpp>
#include <emmy/device/cpu/toolchain.hpp>
#include <emmy/device/impl/cpu_texts.ipp>
#include <emmy/device/impl/messages.ipp>
#include <emmy/device/measure.hpp>

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <map>

namespace emmy::device::cpu {

struct host_device::state {
    std::string cache;
    std::map<std::string, entry_point, std::less<>> loaded;  ///< by object path and entry
    std::unique_ptr<thread_team> team;                       ///< of the last size asked for

    thread_team& team_of(int parts) {
        if (!team || team->parts() != parts) team.reset(), team = std::make_unique<thread_team>(parts);
        return *team;
    }
    result<entry_point> load(const kernel_text& text) {
        EMMY_TRY(object, compile_object(text, cache, identify_host()));
        const std::string key = object.object + " " + text.entry;
        if (const auto found = loaded.find(key); found != loaded.end()) return found->second;
        void* handle = ::dlopen(object.object.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
            const char* why = ::dlerror();
            const bool kernels = why && std::string_view(why).find("undefined symbol") != std::string_view::npos;  // else a cache that nothing may be run from
            return refuse(kernels ? fault_kind::device_limit : fault_kind::device, std::string("cannot load the compiled kernel: ") + (why ? why : "unknown reason"));
        }
        const auto entry = reinterpret_cast<entry_point>(::dlsym(handle, text.entry.c_str()));
        if (!entry) return refuse(fault_kind::device_limit, "the compiled kernel has no entry \"" + text.entry + "\"");
        loaded.emplace(key, entry);
        return entry;
    }
};

namespace detail {

/// Everything one kernel needs to be called many times.
struct prepared {
    entry_point entry = nullptr;
    std::vector<void*> buffers;
    std::vector<long long> sizes;
    aligned_memory scratch;
    int team = 1;
};

inline result<void> check_launch(const launch& how) {
    if (how.team < 1 || how.team > 1024) return refuse(fault_kind::user, "found a team of " + std::to_string(how.team) + ", expected 1 to 1024 threads", "TEAM");
    return {};
}

inline void evict(void* start, std::size_t bytes) {
#if defined(__x86_64__)
    auto* p = static_cast<char*>(start);
    for (std::size_t i = 0; i < bytes; i += 64) __builtin_ia32_clflush(p + i);
    if (bytes) __builtin_ia32_clflush(p + bytes - 1);
    __builtin_ia32_mfence();
#else
    (void)start, (void)bytes;
#endif
}

inline std::string ceilings_path(const std::string& cache, const identification& host, int team) {
    return (cache.empty() ? cache_directory() : cache) + "/ceilings-1-" + to_hex(xxh3_128(host.card + "\n" + host.features + "\n" + std::to_string(team))) + ".json";
}

/// The kept ceilings: what a worker would answer, with the card beside it.
inline result<ceilings> kept_ceilings(const std::string& path, const identification& host) {
    EMMY_TRY(text, read_file(path));
    EMMY_TRY(doc, json::document::parse(text, path));
    const json::path root;
    json::fields f(doc.root(), root);
    EMMY_TRY(card, f.need("card"));
    if (card->text() != host.card) return refuse(fault_kind::input, "ceilings of another card", "card", path);
    return device::detail::read_ceilings(f);
}

inline std::string ceilings_text(const ceilings& c, const identification& host) {
    std::string out;
    json::writer w(out);
    w.begin_object().key("card").string(host.card);
    device::detail::write_ceilings(w, c);
    w.end_object();
    return out + "\n";
}

}  // namespace detail

EMMY_DECL host_device::host_device(std::string cache_directory) : state_(std::make_unique<state>()) { state_->cache = std::move(cache_directory); }
EMMY_DECL host_device::~host_device() = default;
EMMY_DECL host_device::host_device(host_device&&) noexcept = default;
EMMY_DECL host_device& host_device::operator=(host_device&&) noexcept = default;

EMMY_DECL const identification& host_device::identify() { return identify_host(); }

EMMY_DECL result<compiled> host_device::compile(const kernel_text& text) { return compile_object(text, state_->cache, identify_host()); }

EMMY_DECL result<void> host_device::run(const kernel_text& text, tensor_arena& arena, const launch& how) {
    EMMY_CHECK_OK(detail::check_launch(how));
    EMMY_TRY(entry, state_->load(text));
    const aligned_memory scratch(text.scratch_bytes + 64, 0);
    if (!scratch) return refuse(fault_kind::device_limit, "no memory for " + std::to_string(text.scratch_bytes) + " bytes of scratch");
    std::vector<void*> buffers;
    for (std::size_t i = 0; i < arena.size(); ++i) buffers.push_back(arena[i].data());
    arena.poison_outputs();
    std::memset(scratch.data(), 0xff, text.scratch_bytes);
    state_->team_of(how.team).run(entry, buffers.data(), how.sizes.data(), reinterpret_cast<unsigned char*>(scratch.data()));
    return {};
}

EMMY_DECL result<measured> host_device::measure(const measure_request& request, tensor_arena& arena) {
    if (request.kernels.size() != request.launches.size()) return refuse(fault_kind::internal, "as many launches as kernels expected");
    measured out;
    // Private copies: a kernel that writes where it must not cannot change what another process holds.
    std::vector<aligned_memory> memory;
    for (std::size_t i = 0; i < arena.size(); ++i) {
        memory.emplace_back(arena[i].size() + 64, i);
        if (!memory.back()) return refuse(fault_kind::device, "no memory for a buffer of " + std::to_string(arena[i].size()) + " bytes");
        std::memcpy(memory.back().data(), arena[i].data(), arena[i].size());
    }
    const auto evict_all = [&] {
        for (const aligned_memory& m : memory) detail::evict(m.data(), m.bytes().size());
    };
    std::vector<detail::prepared> kernels(request.kernels.size());
    std::vector<timed> subjects;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        EMMY_CHECK_OK(detail::check_launch(request.launches[i]));
        EMMY_TRY(entry, state_->load(request.kernels[i]));
        detail::prepared& k = kernels[i];
        k.entry = entry, k.sizes = request.launches[i].sizes, k.team = request.launches[i].team;
        k.scratch = aligned_memory(request.kernels[i].scratch_bytes + 64, memory.size());
        if (!k.scratch) return refuse(fault_kind::device_limit, "no memory for " + std::to_string(request.kernels[i].scratch_bytes) + " bytes of scratch");
        for (const aligned_memory& m : memory) k.buffers.push_back(m.data());
        subjects.push_back({[this, &k](int n) {
                                thread_team& team = state_->team_of(k.team);
                                for (int j = 0; j < n; ++j) team.run(k.entry, k.buffers.data(), k.sizes.data(), reinterpret_cast<unsigned char*>(k.scratch.data()));
                            },
            evict_all});
    }
    const int team = request.launches.empty() ? 1 : request.launches[0].team;

    // The reference works on memory of its own.
    std::vector<aligned_memory> extra;
    const reference& ref = request.against;
    std::optional<timed> yardstick;
    if (ref.what == reference::kind::gemm) {
        const result<blas>& library = load_blas(identify_host());
        constexpr long long most = 1 << 20;
        if (!library) {
            out.reference_note = library.error().message();
        } else if (ref.m < 1 || ref.n < 1 || ref.k < 1 || ref.batch < 1 || ref.m > most || ref.n > most || ref.k > most || ref.batch > most) {
            out.reference_note = "sizes beyond the reference's";
        } else {
            const auto count = [&](long long a, long long b) { return static_cast<std::size_t>(a * b * ref.batch); };
            const std::size_t counts[] = {count(ref.m, ref.k), count(ref.k, ref.n), count(ref.m, ref.n)};
            for (std::size_t i = 0; i < 3; ++i) {
                extra.emplace_back(counts[i] * sizeof(float), memory.size() + 1 + i);
                if (!extra.back()) return refuse(fault_kind::device, "no memory for the reference");
                auto* values = reinterpret_cast<float*>(extra.back().data());
                for (std::size_t j = 0; i < 2 && j < counts[i]; ++j) values[j] = static_cast<float>(static_cast<int>(j * 2654435761u >> 16 & 255) - 128) / 64.0f;
            }
            library->set_threads(team);
            out.reference_name = "openblas " + library->core + " " + std::to_string(library->threads()) + "t";
            out.reference_note = library->note;
            yardstick = timed{[&, b = &*library](int n) {
                                  const auto* a = reinterpret_cast<const float*>(extra[0].data());
                                  const auto* w = reinterpret_cast<const float*>(extra[1].data());
                                  auto* c = reinterpret_cast<float*>(extra[2].data());
                                  constexpr int row_major = 101, plain = 111, transpose = 112;
                                  for (int j = 0; j < n; ++j)
                                      for (long long i = 0; i < ref.batch; ++i)
                                          b->sgemm(row_major, plain, ref.transposed ? transpose : plain, static_cast<int>(ref.m), static_cast<int>(ref.n), static_cast<int>(ref.k), 1.0f,
                                              a + i * ref.m * ref.k, static_cast<int>(ref.k), w + i * ref.n * ref.k, static_cast<int>(ref.transposed ? ref.k : ref.n), 0.0f, c + i * ref.m * ref.n,
                                              static_cast<int>(ref.n));
                              },
                [&] { for (const aligned_memory& m : extra) detail::evict(m.data(), m.bytes().size()); }};
        }
    } else if (ref.what == reference::kind::copy) {
        EMMY_TRY(entry, state_->load(detail::copy_text(identify_host().limits.vector_bytes)));
        extra.emplace_back(ref.read_bytes + 64, memory.size() + 1);
        extra.emplace_back(ref.write_bytes + 64, memory.size() + 2);
        extra.emplace_back(static_cast<std::size_t>(team) * 64 + 64, memory.size() + 3);
        for (const aligned_memory& m : extra)
            if (!m) return refuse(fault_kind::device, "no memory for the reference");
        std::memset(extra[0].data(), 1, extra[0].bytes().size());
        const std::uint64_t last_cache = identify_host().limits.l3_bytes;
        const long long streaming = last_cache && ref.write_bytes > last_cache;  // the same rule as compiled kernels
        out.reference_name = std::string(streaming ? "copy (streaming) " : "copy ") + std::to_string(team) + "t";
        yardstick = timed{[&, entry, streaming](int n) {
                              void* const buffers[] = {extra[0].data(), extra[1].data()};
                              const long long sizes[] = {static_cast<long long>(ref.read_bytes), static_cast<long long>(ref.write_bytes), streaming};
                              for (int j = 0; j < n; ++j) state_->team_of(team).run(entry, buffers, sizes, reinterpret_cast<unsigned char*>(extra[2].data()));
                          },
            [&] { for (const aligned_memory& m : extra) detail::evict(m.data(), m.bytes().size()); }};
    }

    if (request.interleave) {
        if (yardstick) subjects.push_back(*yardstick);
        EMMY_TRY(all, time_rounds(subjects, request.effort));
        if (yardstick) {
            out.against = all.back();
            all.pop_back();
        }
        out.kernels = std::move(all);
        return out;
    }
    for (const timed& subject : subjects) {
        EMMY_TRY(alone, time_rounds({subject}, request.effort));
        out.kernels.push_back(alone[0]);
    }
    if (yardstick) {
        EMMY_TRY(alone, time_rounds({*yardstick}, request.effort));
        out.against = alone[0];
    }
    return out;
}

EMMY_DECL result<ceilings> host_device::measure_ceilings(int team) {
    EMMY_CHECK_OK(detail::check_launch({{}, team}));
    const identification& host = identify_host();
    const std::string path = detail::ceilings_path(state_->cache, host, team);
    if (auto kept = detail::kept_ceilings(path, host)) return kept;
    ceilings out;
    out.team = team;
    // The best of many short windows: other load only ever makes a window slower, and a ceiling must not be too low.
    const auto best = [&](entry_point entry, void* const* buffers, const std::vector<long long>& sizes) {
        thread_team& threads = state_->team_of(team);
        double least = 1e300;
        for (int i = 0; i < 60; ++i) {
            const auto before = std::chrono::steady_clock::now();
            threads.run(entry, buffers, sizes.data(), nullptr);
            least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
        }
        return std::max(least, 1e-9);
    };
    const int w = host.limits.vector_bytes;
    aligned_memory input(std::size_t(64) << 20, 0), output(static_cast<std::size_t>(team) * 64 + 4096, 0);
    if (!input || !output) return refuse(fault_kind::device, "no memory to measure the ceilings");
    void* const buffers[] = {input.data(), output.data()};
    for (const bool wide : {false, true}) {
        EMMY_TRY(entry, state_->load(detail::peak_text(w, wide)));
        constexpr long long steps = 20000;
        const double seconds = best(entry, buffers, {steps});
        (wide ? out.flops_f64 : out.flops_f32) = 2.0 * 16 * static_cast<double>(steps) * (w / (wide ? 8 : 4)) * team / seconds;
    }
    const auto has = [&](std::string_view flag) { return (" " + host.features + " ").find(" " + std::string(flag) + " ") != std::string::npos; };
    out.flops_f16 = out.flops_f32 * (has("amx_tile") ? 32 : has("avx512_fp16") || has("avx512_bf16") ? 2 : 1);
    std::memset(input.data(), 1, input.bytes().size());
    EMMY_TRY(entry, state_->load(detail::read_text(w)));
    for (const std::uint64_t each : {std::uint64_t(16) << 10, std::uint64_t(512) << 10, std::uint64_t(64) << 20}) {
        const std::uint64_t footprint = std::min<std::uint64_t>(each >= (32u << 20) ? each : each * static_cast<unsigned>(team), input.bytes().size());
        const long long times = std::max<long long>(1, (2 << 20) / static_cast<long long>(footprint));
        const double seconds = best(entry, buffers, {static_cast<long long>(footprint), times});
        out.bandwidth.push_back({footprint, static_cast<double>(footprint) * static_cast<double>(times) / seconds});
    }
    // A slower small footprint is a measuring accident: the rate never grows with the footprint.
    for (std::size_t i = out.bandwidth.size() - 1; i > 0; --i) out.bandwidth[i - 1].bytes_per_second = std::max(out.bandwidth[i - 1].bytes_per_second, out.bandwidth[i].bytes_per_second);
    (void)write_file_atomically(path, detail::ceilings_text(out, host));  // a cache that cannot be written costs time only
    return out;
}

}  // namespace emmy::device::cpu
