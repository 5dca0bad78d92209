// How the analytical prior orders the measured GPU rows of the golden files; no card is needed.
//   bench_prior_quality [--least 4] [--prior FILE] [--verbose]
// A pool is what one card measured of one kernel at one size: its distinct rows (lane and schedule; the median of equal ones). Per pool of at least
// --least rows: Spearman's rank correlation of predicted and measured times, and regret@1: the measured time of the row predicted to be fastest ÷ the
// fastest measured. Beside it what choosing without a prior loses: the row that comes first by its text, and one row at random (the mean).
// Over all rows of a card: the correlation across kernels, which is what structural forks ask.
#include <emmy/core/card.hpp>
#include <emmy/core/file.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/prior.hpp>

#include "yardstick.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

using namespace emmy;

namespace {

struct one_row {
    std::string text;
    std::vector<double> measured;
    double predicted = 0;
    double us() const { return bench::median(measured); }
};
struct pool {
    std::string name;
    std::map<std::string, one_row> rows;
};

std::vector<double> ranks(const std::vector<double>& v) {
    std::vector<double> out(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
        double below = 0, same = 0;
        for (double x : v) below += x < v[i], same += x == v[i];
        out[i] = below + (same - 1) / 2;
    }
    return out;
}
/// Of ranks, ties shared; nothing (2) where one side is constant.
double spearman(const std::vector<double>& a, const std::vector<double>& b) {
    const std::vector<double> x = ranks(a), y = ranks(b);
    const double mean = (static_cast<double>(a.size()) - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) xy += (x[i] - mean) * (y[i] - mean), xx += (x[i] - mean) * (x[i] - mean), yy += (y[i] - mean) * (y[i] - mean);
    return xx == 0 || yy == 0 ? 2 : xy / std::sqrt(xx * yy);
}
double share(std::vector<double> v, double part) {
    std::sort(v.begin(), v.end());
    return v[std::min(v.size() - 1, static_cast<std::size_t>(part * static_cast<double>(v.size())))];
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t least = 4;
    bool verbose = false;
    std::string numbers;
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        if (flag == "--least" && i + 1 < argc) least = static_cast<std::size_t>(std::max(2, std::atoi(argv[++i])));
        else if (flag == "--prior" && i + 1 < argc) numbers = argv[++i];
        else if (flag == "--verbose") verbose = true;
        else return std::fprintf(stderr, "bench_prior_quality: unknown flag %s\n", flag.c_str()), 2;
    }
    const char* named = std::getenv("EMMY_SHARED_DATA");
    const std::string root = std::string(named ? named : EMMY_SHARED_DATA) + "/golden";
    if (!std::filesystem::is_directory(root)) return std::printf("no golden files at %s (set EMMY_SHARED_DATA)\n", root.c_str()), 0;
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
        if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());

    prior::model model;
    if (!numbers.empty()) {
        const auto text = read_file(numbers);
        auto read = text ? prior::read_model(*text, numbers) : result<prior::model>(refuse(text.error()));
        if (!read) return std::printf("%s\n", read.error().line().c_str()), 2;
        model = *read;
    }
    std::map<std::string, pool> pools;
    std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> by_card;  // predicted, measured
    std::size_t rows = 0, unread = 0;
    double cost = 0;
    for (const std::string& file : files) {
        const auto document = golden::document::load(file);
        if (!document || !document->head().gpu_name) continue;
        const auto found = find_card(*document->head().gpu_name);
        if (!found) continue;
        const prior::gpu_machine machine = prior::make_gpu_machine(*found, model.gpu);
        std::map<golden::kernel_index, std::pair<loop::kernel, std::string>> bodies;
        for (const golden::row& r : document->rows()) {
            if (!r.measurements || r.knobs.empty()) continue;
            ++rows;
            std::vector<std::pair<std::string, std::string>> texts;
            for (const json::member& m : r.knobs)
                if (m.key != "LOOPIFY" && m.key != "SHARED_CARRY") texts.emplace_back(m.key, m.item.text());
            std::sort(texts.begin(), texts.end());
            std::vector<knob::knob_pair> pairs;
            for (const auto& [name, value] : texts) pairs.push_back({name, value});
            const auto row = knob::schedule_row::parse(pairs, knob::row_check::values_alone);
            if (!row) {
                ++unread;
                continue;
            }
            if (!bodies.contains(r.kernel)) {
                auto body = document->body(r.kernel);
                if (!body) {
                    ++unread;
                    continue;
                }
                std::string identity = to_hex(loop::identity(*body));
                bodies.emplace(r.kernel, std::pair(std::move(*body), std::move(identity)));
            }
            const auto& [body, identity] = bodies.at(r.kernel);
            store::binding_list sizes;
            std::string key = found->name + " " + identity;
            for (const json::member& m : r.bindings)
                if (const auto size = m.item.integer()) sizes.emplace_back(m.key, *size), key += " " + std::string(m.key) + "=" + std::to_string(*size);
            const double start = bench::cpu_us();
            const double us = prior::gpu_estimate(body, machine, model.gpu, sizes).us(*row);
            cost += bench::cpu_us() - start;
            std::string text = r.fast_math() ? "fm " : "std ";
            for (const auto& [name, value] : texts) text += name + "=" + value + " ";
            pool& p = pools[key];
            p.name = found->name + " " + body.name + " " + std::string(r.name);
            one_row& one = p.rows[text];
            one.text = text, one.predicted = us;
            one.measured.push_back(r.measurements->emmy_us.value);
            by_card[found->name].first.push_back(us), by_card[found->name].second.push_back(r.measurements->emmy_us.value);
        }
    }
    std::vector<double> correlations, regrets, first, random, worst;
    std::size_t best_found = 0;
    for (const auto& [key, p] : pools) {
        if (p.rows.size() < least) continue;
        std::vector<double> predicted, measured;
        for (const auto& [text, one] : p.rows) predicted.push_back(one.predicted), measured.push_back(one.us());
        const double best = *std::min_element(measured.begin(), measured.end());
        // The worst of rows that the prior cannot tell apart.
        double picked = 0, mean = 0;
        const double lowest = *std::min_element(predicted.begin(), predicted.end());
        for (std::size_t i = 0; i < predicted.size(); ++i) {
            if (predicted[i] == lowest) picked = std::max(picked, measured[i]);
            mean += measured[i] / static_cast<double>(predicted.size());
        }
        const double rho = spearman(predicted, measured);
        if (rho <= 1) correlations.push_back(rho);
        regrets.push_back(picked / best), first.push_back(measured.front() / best), random.push_back(mean / best), worst.push_back(*std::max_element(measured.begin(), measured.end()) / best);
        best_found += picked == best;
        if (verbose) {
            std::printf("%s: spearman %.2f, regret@1 %.2f x, first %.2f x, random %.2f x\n", p.name.c_str(), rho, regrets.back(), first.back(), random.back());
            for (const auto& [text, one] : p.rows) std::printf("    %9.2f us measured %9.2f us predicted  %s\n", one.us(), one.predicted, text.c_str());
        }
    }
    std::printf("%zu measured rows (%zu not read), %zu kernels at a size on a card, prior %s, %.1f us of CPU a row\n", rows, unread, pools.size(), model.stamp().c_str(), cost / static_cast<double>(std::max<std::size_t>(rows, 1)));
    for (const auto& [card, both] : by_card)
        if (both.first.size() >= 10) {
            std::vector<double> ratio;
            for (std::size_t i = 0; i < both.first.size(); ++i) ratio.push_back(both.first[i] / both.second[i]);
            std::printf("  %-52s %4zu rows: spearman across kernels %.3f, predicted / measured median %.2f (10 %% %.2f, 90 %% %.2f)\n", card.c_str(), ratio.size(), spearman(both.first, both.second), share(ratio, 0.5), share(ratio, 0.1), share(ratio, 0.9));
        }
    if (regrets.empty()) return std::printf("no kernel has %zu distinct rows\n", least), 0;
    const auto line = [&](const char* what, const std::vector<double>& v) { std::printf("  %-24s median %.3f x, mean %.3f x, 90 %% %.3f x, worst %.3f x\n", what, share(v, 0.5), [&] { double s = 0; for (double x : v) s += x / static_cast<double>(v.size()); return s; }(), share(v, 0.9), share(v, 1)); };
    std::printf("kernels with >= %zu distinct rows: %zu; spearman median %.3f (of %zu); best row found %zu\n", least, regrets.size(), correlations.empty() ? 0 : share(correlations, 0.5), correlations.size(), best_found);
    line("regret@1 of the prior", regrets), line("first by text", first), line("one at random", random), line("the slowest", worst);
    return 0;
}
