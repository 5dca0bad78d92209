// What the prior's pick loses where nothing was measured: every single-operator target of the golden files, its sampled schedule rows
// measured on this processor, the pick beside them.
//   bench_cold_pick [--rows 64] [--targets N] [--most-ms 20] [--match TEXT] [--from FILE] [--to FILE] [--prior FILE] [--list]
// --targets N: that many, evenly over all. --most-ms: targets whose pick is predicted to run longer are left out, and counted. --to writes every
// measured row (target, us, knobs), --from takes them instead of measuring: numbers of the prior can then be tried in seconds.
#include "yardstick.hpp"

#include <emmy/core/file.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/device.hpp>
#include <emmy/device/answer.hpp>
#include <emmy/device/cpu/team.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/prior.hpp>
#include <emmy/program/wire.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

using namespace emmy;

namespace {

struct target {
    std::string name;
    loop::kernel kernel;
    fork::cpu_schedules schedules;
    store::binding_list sizes;
};

std::string spelled(const fork::cpu_schedules& s, const fork::cpu_row& row) {
    std::string out;
    for (const auto& [key, value] : s.pairs(row))
        if (!value.empty()) out += (out.empty() ? "" : ",") + key + "=" + value;
    return out.empty() ? "(all off)" : out;
}

/// Every distinct kernel that a program of the files lowers to by itself.
std::vector<target> load(const std::vector<std::string>& files, const fork::cpu_target& machine) {
    std::vector<target> out;
    std::set<std::string> seen;
    for (const std::string& file : files) {
        const auto bytes = read_file(file);
        if (!bytes) continue;
        const auto document = json::document::parse(*bytes, file);
        if (!document) continue;
        const auto programs = document->root().find("programs")->items();
        for (const auto& entry : document->root().find("kernels")->items()) {
            const auto* traced = entry.find("traced");
            if (!traced || traced->is(json::kind::null)) continue;
            const auto program = program::read_program(programs[static_cast<std::size_t>(*traced->integer())]);
            if (!program) continue;
            auto lowered = loop::lower_single_op(*program);
            if (!lowered || !seen.insert(to_hex(loop::identity(lowered->kernel))).second) continue;
            auto schedules = fork::cpu_schedules::make(lowered->kernel, machine);
            if (!schedules) continue;
            store::binding_list sizes;
            for (name_id s : loop::symbols(lowered->kernel)) sizes.emplace_back(std::string(lowered->kernel.body.text(s)), loop::hint_of(lowered->kernel, s));
            std::string name = lowered->kernel.name;
            for (const loop::buffer& b : lowered->kernel.inputs) {
                name += " " + std::string(token(b.type)) + "[";
                for (const dim& d : b.shape) name += (name.back() == '[' ? "" : "x") + std::to_string(d.number);
                name += "]";
            }
            out.push_back({std::move(name), std::move(lowered->kernel), std::move(*schedules), std::move(sizes)});
        }
    }
    return out;
}

/// Buffers of plain small values; indices stay 0.
result<device::tensor_arena> buffers(const target& t) {
    std::vector<loop::symbol_size> sizes;
    for (const auto& [symbol, size] : t.sizes) sizes.push_back({symbol, size});
    EMMY_TRY(outline, device::answer::outline(t.kernel, sizes));
    EMMY_TRY(arena, device::tensor_arena::create(outline.buffers()));
    for (std::size_t b = 0; b < arena.size(); ++b) {
        const device::buffer_spec& spec = arena.spec(b);
        auto bytes = arena[b];
        if (spec.output) {
            std::memset(bytes.data(), 1, bytes.size());  // pages that are there
            continue;
        }
        if (is_integer(spec.type)) continue;
        const std::size_t period = std::min<std::size_t>(spec.elements, 4093);
        for (std::size_t i = 0; i < period; ++i) store_real(spec.type, bytes.data(), i, 0.25 + static_cast<double>(i * 7919 % 1000) / 1000.0);
        for (std::size_t at = period * byte_size(spec.type); at < bytes.size(); at += period * byte_size(spec.type))
            std::memcpy(bytes.data() + at, bytes.data(), std::min(period * byte_size(spec.type), bytes.size() - at));
    }
    return std::move(arena);
}

/// Rows in this process, timed by the CPU time of the thread: other load on the machine takes the core away, not cycles from the row.
class measurer {
public:
    device::cpu::host_device device;

    /// µs of a launch, per row: the median of rounds in which every row runs once. A row whose first run takes longer than `slow_us` keeps that.
    result<std::vector<double>> measure(const target& t, device::tensor_arena& arena, const std::vector<const fork::cpu_row*>& rows, double slow_us) {
        std::vector<loaded> code(rows.size());
        std::vector<void*> memory;
        for (std::size_t b = 0; b < arena.size(); ++b) memory.push_back(arena[b].data());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EMMY_TRY(text, kernel::lower_cpu(t.schedules, *rows[i]));
            std::vector<loop::symbol_size> given;
            for (const auto& [symbol, size] : t.sizes) given.push_back({symbol, size});
            code[i].sizes = text.launch_sizes(t.kernel, given);
            const std::uint64_t scratch = text.scratch_bytes(1, code[i].sizes);
            EMMY_TRY(object, device.compile({std::move(text.source), text.entry, scratch}));
            code[i].handle = ::dlopen(object.object.c_str(), RTLD_NOW | RTLD_LOCAL);
            code[i].entry = code[i].handle ? reinterpret_cast<device::cpu::entry_point>(::dlsym(code[i].handle, text.entry.c_str())) : nullptr;
            if (!code[i].entry) return refuse(fault_kind::device, "cannot load " + object.object);
            code[i].scratch.resize(scratch + 64);
        }
        std::vector<std::vector<double>> times(rows.size());
        std::vector<int> repeats(rows.size(), 1);
        double spent = 0;
        const int rounds = rows.size() > 1 ? 9 : 5;
        for (int round = 0; round < rounds && (round < 2 || spent < 0.4e6); ++round)
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const double us = run(code[i], memory, repeats[i]);
                spent += us * repeats[i];
                if (round == 0) {
                    repeats[i] = static_cast<int>(std::clamp(2000 / std::max(us, 1.0), 1.0, 1000.0));
                    if (slow_us > 0 && us > slow_us) return std::vector<double>{us};
                    if (us > 5000) times[i].push_back(us);  // a long one is warm by itself
                } else {
                    times[i].push_back(us);
                }
            }
        std::vector<double> out;
        for (const auto& list : times) out.push_back(bench::median(list));
        return out;
    }

private:
    struct loaded {
        void* handle = nullptr;
        device::cpu::entry_point entry = nullptr;
        std::vector<long long> sizes;
        std::vector<unsigned char> scratch;
        ~loaded() {
            if (handle) ::dlclose(handle);
        }
    };
    double run(loaded& code, const std::vector<void*>& memory, int repeats) {
        auto* scratch = reinterpret_cast<unsigned char*>((reinterpret_cast<std::uintptr_t>(code.scratch.data()) + 63) / 64 * 64);
        const emmy_launch launch{memory.data(), code.sizes.data(), scratch, 0, 1, [](void*) {}, nullptr};
        const double start = bench::cpu_us();
        for (int i = 0; i < repeats; ++i) code.entry(&launch);
        return (bench::cpu_us() - start) / repeats;
    }
};

double share(std::vector<double> v, double part) {
    std::sort(v.begin(), v.end());
    return v[std::min(v.size() - 1, static_cast<std::size_t>(part * static_cast<double>(v.size())))];
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t wanted = 0, sample = 64;
    double most_ms = 20;
    std::string match, from, to, numbers;
    bool list = false;
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
        if (flag == "--rows") sample = static_cast<std::size_t>(std::atoi(value()));
        else if (flag == "--targets") wanted = static_cast<std::size_t>(std::atoi(value()));
        else if (flag == "--most-ms") most_ms = std::atof(value());
        else if (flag == "--match") match = value();
        else if (flag == "--from") from = value();
        else if (flag == "--to") to = value();
        else if (flag == "--prior") numbers = value();
        else if (flag == "--list") list = true;
        else return std::fprintf(stderr, "bench_cold_pick: unknown flag %s\n", flag.c_str()), 2;
    }
    prior::model model;
    if (!numbers.empty()) {
        const auto text = read_file(numbers);
        auto read = text ? prior::read_model(*text, numbers) : result<prior::model>(refuse(text.error()));
        if (!read) return std::printf("%s\n", read.error().line().c_str()), 2;
        model = *read;
    }
    std::vector<std::string> files;
    const char* named = std::getenv("EMMY_SHARED_DATA");
    for (const std::string& root : {std::string(named ? named : EMMY_SHARED_DATA) + "/golden", std::string(EMMY_SOURCE_DIR) + "/goldens"})
        if (std::filesystem::is_directory(root))
            for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
                if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());

    measurer m;
    const fork::cpu_target here = device::cpu::schedule_target(m.device.identify());
    prior::cpu_rates rates;
    if (const auto c = m.device.measure_ceilings(1)) {
        rates.team = c->team, rates.flops_f32 = c->flops_f32;
        for (const auto& l : c->bandwidth) rates.bandwidth.push_back({l.footprint, l.bytes_per_second});
    }
    const prior::cpu_machine machine = prior::make_cpu_machine(here, 1, rates);
    std::printf("%s, %.0f cycles a us, bytes a cycle L1 %.0f L2 %.0f last %.1f memory %.1f, prior %s\n", m.device.identify().card.c_str(), machine.cycles_per_us, machine.l1.per_cycle, machine.l2.per_cycle,
        machine.last.per_cycle, machine.memory.per_cycle, model.stamp().c_str());

    std::vector<target> all = load(files, here);
    std::map<std::string, std::map<std::string, double>> known;  // target, row: us
    if (!from.empty()) {
        std::ifstream in(from);
        for (std::string line; std::getline(in, line);) {
            const std::size_t a = line.find('\t'), b = line.find('\t', a + 1);
            if (b != std::string::npos) known[line.substr(0, a)][line.substr(b + 1)] = std::atof(line.c_str() + a + 1);
        }
    }
    std::ofstream out;
    if (!to.empty()) out.open(to, std::ios::app);

    std::vector<const target*> chosen;
    std::size_t long_ones = 0, single = 0;
    for (const target& t : all) {
        if (!match.empty() && t.name.find(match) == std::string::npos) continue;
        if (t.schedules.rows().size() == 1) {
            ++single;
            continue;
        }
        if (prior::cpu_estimate(t.schedules, machine, model.cpu, t.sizes).least_us() > most_ms * 1000) {
            ++long_ones;
            continue;
        }
        chosen.push_back(&t);
    }
    std::printf("%zu distinct targets, %zu with one row, %zu left out as longer than %.0f ms\n", all.size(), single, long_ones, most_ms);
    if (wanted > 0 && wanted < chosen.size()) {
        std::vector<const target*> spread;
        for (std::size_t i = 0; i < wanted; ++i) spread.push_back(chosen[i * chosen.size() / wanted]);
        chosen = std::move(spread);
    }

    constexpr const char* forms[] = {"map", "rows", "columns", "contraction", "cells", "ordered", "staged"};
    std::vector<double> lost, lost_first, lost_median;
    std::map<std::string, std::vector<double>> by_form;
    std::printf("%-12s %6s %10s %10s %7s %7s %7s  %s\n", "form", "rows", "best us", "pick us", "pick", "first", "middle", "target: pick <- best");
    for (const target* t : chosen) {
        const auto rows = t->schedules.rows();
        const prior::cpu_estimate estimate(t->schedules, machine, model.cpu, t->sizes);
        const char* form = forms[static_cast<std::size_t>(t->schedules.facts().form)];
        const fork::cpu_row* pick = nullptr;
        double predicted = 0;
        std::map<std::string, const fork::cpu_row*> by_text;
        for (const fork::cpu_row& row : rows) {
            const double us = estimate.us(row);
            if (!pick || us < predicted) pick = &row, predicted = us;
        }
        if (list) {
            std::printf("%-12s %6zu %10.1f  %s: %s\n", form, rows.size(), predicted, t->name.c_str(), spelled(t->schedules, *pick).c_str());
            continue;
        }
        std::map<std::string, double> times = known[t->name];
        std::vector<const fork::cpu_row*> drawn{&rows[0]};
        std::mt19937_64 random(1);
        while (drawn.size() < std::min(sample, rows.size()))
            if (const fork::cpu_row* row = &rows[random() % rows.size()]; std::find(drawn.begin(), drawn.end(), row) == drawn.end()) drawn.push_back(row);
        std::optional<device::tensor_arena> arena;
        double best = 0;
        std::string best_text;
        std::vector<double> sampled;
        bool failed = false;
        const auto time_of = [&](const fork::cpu_row* row) {
            const std::string text = spelled(t->schedules, *row);
            if (const auto at = times.find(text); at != times.end()) return at->second;
            if (!arena) {
                auto made = buffers(*t);
                if (!made) return 0.0;
                arena = std::move(*made);
            }
            const auto us = m.measure(*t, *arena, {row}, best > 0 ? 5 * best : 0);
            if (!us) return std::printf("%s: %s\n", t->name.c_str(), us.error().line().c_str()), 0.0;
            if (out) out << t->name << '\t' << us->front() << '\t' << text << std::endl;
            return times[text] = us->front();
        };
        const fork::cpu_row* best_row = nullptr;
        for (const fork::cpu_row* row : drawn) {
            if (!from.empty() && !times.contains(spelled(t->schedules, *row))) continue;
            const double us = time_of(row);
            if (us == 0) {
                failed = true;
                break;
            }
            sampled.push_back(us);
            if (best == 0 || us < best) best = us, best_row = row, best_text = spelled(t->schedules, *row);
        }
        if (failed || sampled.empty()) continue;
        double pick_us = 0;
        if (from.empty() || times.contains(spelled(t->schedules, *pick))) {
            pick_us = time_of(pick);
            // Both beside each other in alternating rounds: other load on the machine falls on both.
            if (arena && pick != best_row) {
                if (const auto pair = m.measure(*t, *arena, {pick, best_row}, 0)) pick_us = (*pair)[0] / (*pair)[1] * best;
            }
        } else {  // only from measured rows: the best predicted of those
            const fork::cpu_row* offered = nullptr;
            double least = 0;
            for (const fork::cpu_row& row : rows)
                if (times.contains(spelled(t->schedules, row)))
                    if (const double us = estimate.us(row); !offered || us < least) offered = &row, least = us;
            pick = offered, predicted = least, pick_us = times[spelled(t->schedules, *offered)];
        }
        lost.push_back(pick_us / best), lost_first.push_back(sampled[0] / best), lost_median.push_back(bench::median(sampled) / best);
        by_form[form].push_back(lost.back());
        std::printf("%-12s %6zu %10.1f %10.1f %6.2fx %6.2fx %6.2fx  %s: %s (predicted %.1f us)%s%s (predicted %.1f us)\n", form, rows.size(), best, pick_us, lost.back(), lost_first.back(), lost_median.back(), t->name.c_str(),
            spelled(t->schedules, *pick).c_str(), predicted, pick == best_row ? "" : " <- ", pick == best_row ? "" : best_text.c_str(), estimate.us(*best_row));
        std::fflush(stdout);
    }
    if (lost.empty()) return 0;
    for (const auto& [form, ratios] : by_form) std::printf("%-12s %zu targets: median %.2f x, 90 %% %.2f x, worst %.2f x\n", form.c_str(), ratios.size(), share(ratios, 0.5), share(ratios, 0.9), share(ratios, 1));
    std::printf("pick / best of %zu sampled rows over %zu targets: median %.2f x, 90 %% %.2f x, worst %.2f x; first option: median %.2f x, 90 %% %.2f x; a row of the middle: median %.2f x\n", sample, lost.size(), share(lost, 0.5),
        share(lost, 0.9), share(lost, 1), share(lost_first, 0.5), share(lost_first, 0.9), share(lost_median, 0.5));
    return share(lost, 0.5) <= 1.5 ? 0 : 1;
}
