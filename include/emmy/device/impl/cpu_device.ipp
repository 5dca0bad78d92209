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
    std::map<std::string, entry_point, std::less<>> known;   ///< by text and flags: what was loaded once needs no look at the cache
    aligned_memory scratch;                                  ///< of sequences run over a caller's memory, kept

    result<entry_point> find(const kernel_text& text) {
        const std::string key = to_hex(xxh3_128(text.source)) + " " + text.entry + (text.fast_math ? " fast " : " ") + std::to_string(text.optimisation);
        if (const auto at = known.find(key); at != known.end()) return at->second;
        EMMY_TRY(entry, load(text));
        known.emplace(key, entry);
        return entry;
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

/// A sequence with its code loaded and its slices as addresses: to be called many times.
class prepared_sequence {
public:
    struct step {
        entry_point entry = nullptr;
        std::vector<void*> buffers;
        std::vector<std::span<std::byte>> zeroed;
        const launch* how = nullptr;
    };
    prepared_sequence(const sequence& what, std::span<const std::span<std::byte>> buffers, std::span<const entry_point> entries) {
        const auto at = [&](const slice& s) { return buffers[s.buffer].subspan(static_cast<std::size_t>(s.offset), static_cast<std::size_t>(s.bytes)); };
        for (const sequence::step& s : what.steps) {
            step out;
            out.entry = entries[s.kernel], out.how = &s.how;
            for (const slice& b : s.buffers) out.buffers.push_back(at(b).data());
            for (const slice& z : s.zeroed) out.zeroed.push_back(at(z));
            steps_.push_back(std::move(out));
        }
        for (const sequence::copy& c : what.copied) copied_.emplace_back(at(c.from), at(c.to));
    }
    template <class TeamOf>
    void run(const TeamOf& team_of, unsigned char* scratch) const {
        for (const step& s : steps_) {
            for (std::span<std::byte> z : s.zeroed)
                if (!z.empty()) std::memset(z.data(), 0, z.size());
            team_of(s.how->team).run(s.entry, s.buffers.data(), s.how->sizes.data(), scratch);
        }
        for (const auto& [from, to] : copied_)
            if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
    }

private:
    std::vector<step> steps_;
    std::vector<std::pair<std::span<std::byte>, std::span<std::byte>>> copied_;
};

inline std::uint64_t most_scratch(const sequence& what) {
    std::uint64_t most = 0;
    for (const kernel_text& k : what.kernels) most = std::max(most, k.scratch_bytes);
    return most;
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

EMMY_DECL result<void> host_device::run(const sequence& what, std::span<const std::span<std::byte>> buffers) {
    std::vector<std::uint64_t> sizes;
    for (std::span<std::byte> b : buffers) sizes.push_back(b.size());
    EMMY_CHECK_OK(check(what, sizes));
    std::vector<entry_point> entries;
    for (const kernel_text& text : what.kernels) {
        EMMY_TRY(entry, state_->find(text));
        entries.push_back(entry);
    }
    const std::uint64_t scratch = detail::most_scratch(what);
    if (!state_->scratch || state_->scratch.bytes().size() < scratch + 64) state_->scratch = aligned_memory(scratch + 64, 0);
    if (!state_->scratch) return refuse(fault_kind::device_limit, "no memory for " + std::to_string(scratch) + " bytes of scratch");
    detail::prepared_sequence(what, buffers, entries).run([this](int parts) -> thread_team& { return state_->team_of(parts); }, reinterpret_cast<unsigned char*>(state_->scratch.data()));
    return {};
}

EMMY_DECL result<void> host_device::run(const sequence& what, tensor_arena& arena) {
    arena.poison_outputs();
    std::vector<std::span<std::byte>> buffers;
    for (std::size_t i = 0; i < arena.size(); ++i) buffers.push_back(arena[i]);
    return run(what, buffers);
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
    std::vector<detail::prepared_sequence> sequences;
    std::vector<aligned_memory> sequence_scratch;
    sequences.reserve(request.sequences.size());
    for (const sequence& many : request.sequences) {
        std::vector<std::span<std::byte>> buffers;
        std::vector<std::uint64_t> sizes;
        for (std::size_t i = 0; i < arena.size(); ++i) buffers.emplace_back(memory[i].data(), arena[i].size()), sizes.push_back(arena[i].size());
        EMMY_CHECK_OK(check(many, sizes));
        std::vector<entry_point> entries;
        for (const kernel_text& text : many.kernels) {
            EMMY_TRY(entry, state_->find(text));
            entries.push_back(entry);
        }
        const std::uint64_t scratch = detail::most_scratch(many);
        sequence_scratch.emplace_back(scratch + 64, memory.size());
        if (!sequence_scratch.back()) return refuse(fault_kind::device_limit, "no memory for " + std::to_string(scratch) + " bytes of scratch");
        sequences.emplace_back(many, buffers, entries);
        subjects.push_back({[this, prepared = &sequences.back(), room = sequence_scratch.back().data()](int n) {
                                for (int j = 0; j < n; ++j) prepared->run([this](int parts) -> thread_team& { return state_->team_of(parts); }, reinterpret_cast<unsigned char*>(room));
                            },
            evict_all});
    }
    const auto first_team = [&] {
        if (!request.launches.empty()) return request.launches[0].team;
        for (const sequence& many : request.sequences)
            if (!many.steps.empty()) return many.steps[0].how.team;
        return 1;
    };
    const int team = first_team();

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
