#pragma once
// Runs many schedule rows of one kernel on this processor and compares each with the interpreter.
#include <emmy/core/numeric.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/loop/interpret.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace emmy::test {

struct launch_block {
    void* const* buffers;
    const long long* sizes;
    unsigned char* scratch;
    int part, parts;
    void (*barrier)(void*);
    void* team;
};
using entry_point = void (*)(const launch_block*);

/// Vectors as this processor has them, small caches so that every path of blocking is taken.
inline fork::cpu_target host_target() {
    __builtin_cpu_init();
    const int bytes = __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
    return fork::make_cpu_target(bytes, 48 << 10, 2 << 20, 32 << 20, 2);
}

/// Texts compiled into one shared object; unloaded with the object.
class compiled_texts {
public:
    explicit compiled_texts(const std::vector<kernel::cpu_text>& texts, const std::string& optimisation = "-O1") {
        static int number = 0;
        const std::string base = (std::filesystem::temp_directory_path() / ("emmy_explore_" + std::to_string(::getpid()) + "_" + std::to_string(number++))).string();
        std::ofstream source(base + ".cpp");
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::string text = texts[i].source;
            const std::size_t at = text.rfind("extern \"C\" void " + texts[i].entry);
            text.insert(at + std::strlen("extern \"C\" void ") + texts[i].entry.size(), "_" + std::to_string(i));
            source << "namespace text_" << i << " {\n" << text << "}\n";
        }
        source.close();
        const char* compiler = std::getenv("CXX");
        const std::string command = std::string(compiler != nullptr ? compiler : "c++") + " -std=c++20 -w " + optimisation + " -march=native -shared -fPIC -o " + base + ".so " + base + ".cpp";
        const int rc = std::system(command.c_str());
        BOOST_REQUIRE_MESSAGE(rc == 0, command);
        handle_ = ::dlopen((base + ".so").c_str(), RTLD_NOW);
        BOOST_REQUIRE_MESSAGE(handle_ != nullptr, ::dlerror());
        for (std::size_t i = 0; i < texts.size(); ++i) entries_.push_back(reinterpret_cast<entry_point>(::dlsym(handle_, (texts[i].entry + "_" + std::to_string(i)).c_str())));
        std::filesystem::remove(base + ".so");
        std::filesystem::remove(base + ".cpp");
    }
    ~compiled_texts() { ::dlclose(handle_); }
    compiled_texts(const compiled_texts&) = delete;
    entry_point operator[](std::size_t i) const { return entries_[i]; }

private:
    void* handle_ = nullptr;
    std::vector<entry_point> entries_;
};

inline void run_text(entry_point entry, const kernel::cpu_text& text, const std::vector<void*>& buffers, const std::vector<long long>& sizes, int parts) {
    std::vector<unsigned char> room(text.scratch_bytes(parts, sizes) + 128, 0xff);
    auto* scratch = reinterpret_cast<unsigned char*>((reinterpret_cast<std::uintptr_t>(room.data()) + 63) / 64 * 64);
    std::barrier team(parts);
    const auto member = [&](int part) {
        launch_block launch{buffers.data(), sizes.data(), scratch, part, parts, [](void* b) { static_cast<std::barrier<>*>(b)->arrive_and_wait(); }, &team};
        entry(&launch);
    };
    std::vector<std::thread> others;
    for (int part = 1; part < parts; ++part) others.emplace_back(member, part);
    member(0);
    for (std::thread& t : others) t.join();
}

struct explored {
    std::size_t rows = 0, tried = 0;
    double worst = 0;  ///< largest error over its bound
};

/// Compiles and runs `count` rows (all when there are fewer; the default always among them) with a team of one and of three, each on
/// poisoned outputs, and checks every cell against the interpreter in typed mode. `bound`: |error| <= bound · (1 + |expected|).
inline explored explore_rows(const loop::kernel& k, std::size_t count, double bound, const std::vector<loop::symbol_size>& sizes = {}, std::uint64_t seed = 1,
                             const fork::cpu_target& target = host_target()) {
    explored out;
    auto schedules = fork::cpu_schedules::make(k, target);
    BOOST_REQUIRE_MESSAGE(schedules, (schedules ? "" : schedules.error().line()));
    const auto rows = schedules->rows();
    out.rows = rows.size();
    std::vector<std::size_t> chosen;
    if (rows.size() <= count) {
        for (std::size_t i = 0; i < rows.size(); ++i) chosen.push_back(i);
    } else {
        chosen.push_back(0);
        std::mt19937_64 random(seed);
        while (chosen.size() < count)
            if (const std::size_t i = random() % rows.size(); std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
    }
    loop::interpret_options options;
    options.sizes = sizes;
    auto reference = loop::interpreter::make(k, options);
    BOOST_REQUIRE_MESSAGE(reference, (reference ? "" : reference.error().line()));
    std::vector<std::vector<std::byte>> bytes;
    const auto elements = [](std::span<const std::int64_t> shape) {
        std::size_t n = 1;
        for (std::int64_t d : shape) n *= static_cast<std::size_t>(d);
        return n;
    };
    std::mt19937_64 random(seed * 977 + 5);
    for (std::size_t i = 0; i < k.inputs.size(); ++i) {
        const std::size_t n = elements(reference->input_shape(i));
        std::vector<std::byte> b(n * byte_size(k.inputs[i].type));
        for (std::size_t e = 0; e < n; ++e) {
            const double u = static_cast<double>(random() >> 11) / 9007199254740992.0;
            if (is_integer(k.inputs[i].type)) store_integer(k.inputs[i].type, b.data(), e, static_cast<std::int64_t>(random() % 2));
            else store_real(k.inputs[i].type, b.data(), e, n == 1 ? 0.5 + u : 2 * u - 1);
        }
        bytes.push_back(std::move(b));
    }
    std::vector<loop::input_data> bound_inputs;
    for (const auto& b : bytes) bound_inputs.push_back(loop::input_data::of_bytes(b));
    BOOST_REQUIRE(reference->bind(bound_inputs));
    const auto expected = reference->run();
    BOOST_REQUIRE_MESSAGE(expected, (expected ? "" : expected.error().line()));

    constexpr std::size_t batch = 16;
    for (std::size_t first = 0; first < chosen.size(); first += batch) {
        std::vector<kernel::cpu_text> texts;
        for (std::size_t c = first; c < std::min(chosen.size(), first + batch); ++c) {
            auto text = kernel::lower_cpu(*schedules, rows[chosen[c]]);
            BOOST_REQUIRE_MESSAGE(text, (text ? "" : text.error().line()));
            texts.push_back(std::move(*text));
        }
        const compiled_texts code(texts);
        for (std::size_t c = 0; c < texts.size(); ++c)
            for (int parts : {1, 3}) {
                const std::vector<long long> values = texts[c].launch_sizes(k, sizes);
                std::vector<std::vector<std::byte>> results;
                std::vector<void*> buffers;
                for (auto& b : bytes) buffers.push_back(b.data());
                for (const auto& e : *expected) results.emplace_back(e.size(), std::byte{0xff});
                for (auto& r : results) buffers.push_back(r.data());
                run_text(code[c], texts[c], buffers, values, parts);
                double worst = 0;
                std::string where;
                for (std::size_t o = 0; o < results.size(); ++o) {
                    // The port of a carried state is declared and never written.
                    if (std::none_of(k.body.stmts.begin(), k.body.stmts.end(), [&](const loop::stmt& s) { return s.kind == loop::stmt_kind::write && s.buffer == k.outputs[o].name; })) continue;
                    const dtype type = k.outputs[o].type;
                    for (std::size_t e = 0; e < results[o].size() / byte_size(type); ++e) {
                        const double want = load_element(type, (*expected)[o].data(), e), got = load_element(type, results[o].data(), e);
                        double error = std::fabs(got - want) / (bound * (1 + std::fabs(want)));
                        if (std::isnan(want) && std::isnan(got)) error = 0;
                        if (want == got) error = 0;
                        if (!(error <= worst)) worst = std::isnan(error) ? 1e30 : error, where = "element " + std::to_string(e) + ": " + std::to_string(got) + ", expected " + std::to_string(want);
                    }
                }
                std::string row;
                for (const auto& [key, value] : schedules->pairs(rows[chosen[first + c]])) row += key + "=" + value + ",";
                BOOST_CHECK_MESSAGE(worst <= 1, k.name << " " << row << " team " << parts << ": " << where);
                out.worst = std::max(out.worst, worst);
            }
        out.tried += texts.size();
    }
    return out;
}

/// Rows whose text another row of the kernel prints too, as "row = other row".
inline std::vector<std::string> equal_texts(const fork::cpu_schedules& schedules) {
    std::vector<std::string> out;
    std::map<std::string, std::size_t> seen;
    const auto spell = [&](std::size_t i) {
        std::string row;
        for (const auto& [key, value] : schedules.pairs(schedules.rows()[i])) row += key + "=" + value + ",";
        return row;
    };
    for (std::size_t i = 0; i < schedules.rows().size(); ++i) {
        auto text = kernel::lower_cpu(schedules, schedules.rows()[i]);
        if (!text) {
            out.push_back(spell(i) + " does not print: " + text.error().line());
            continue;
        }
        const auto [at, fresh] = seen.emplace(std::move(text->source), i);
        if (!fresh) out.push_back(spell(i) + " = " + spell(at->second));
    }
    return out;
}

}  // namespace emmy::test
