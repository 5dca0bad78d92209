#include <emmy-bench/inspect.hpp>
#include <emmy-bench/report.hpp>

#include <common/cli.hpp>
#include <common/output.hpp>
#include <common/progress.hpp>
#include <common/structure.hpp>
#include <common/weights.hpp>

using namespace emmy;

namespace {

constexpr std::string_view tool = "emmy-bench";

/// What is benched: of --op, --golden and --realization, or of a file.
result<std::vector<tools::unit>> load(bench::session& s) {
    tools::common_options& common = s.asked.common;
    const std::string& input = s.asked.input;
    if (input.empty()) return tools::load_units(common, s.card);
    if (!common.op.empty() || !common.golden.empty()) return refuse(fault_kind::user, "found a file beside --op or --golden, expected one of them", input);
    EMMY_TRY(program, tools::read_program_file(input));
    if (!program) {
        common.golden = input;
        return tools::load_units(common, s.card);
    }
    if (!common.realization.empty()) return refuse(fault_kind::user, "found --realization beside a program file, expected a golden file", "--realization");
    auto one = tools::unit_of_program(input, std::move(*program), common);
    if (!one) return refuse(std::move(one).error().in_file(input));
    std::vector<tools::unit> out;
    out.push_back(std::move(*one));
    return out;
}

int bench_all(bench::settings asked, bool ab) {
    auto s = bench::session::open(std::move(asked));
    if (!s) return tools::report(tool, s.error());
    const tools::common_options& common = s->asked.common;
    if (ab)
        if (auto rows = s->ab_rows(); !rows) return tools::report(tool, rows.error());
    auto units = load(*s);
    if (!units) return tools::report(tool, units.error());
    if (!s->asked.weights.empty())
        for (tools::unit& u : *units)
            if (const auto bound = tools::bind_weights(u, s->asked.weights); !bound) return tools::report(tool, bound.error());
    std::size_t kernels = 0;
    for (tools::unit& u : *units) {
        if (auto apart = tools::take_apart(u, s->pins, s->target, s->notes); !apart) return tools::report(tool, apart.error());
        kernels += u.kernels.size();
    }
    if (!s->prior.refused.empty()) tools::note(tool, s->prior.refused);  // quiet or not
    if (!common.quiet)
        for (const std::string& n : s->notes) tools::note(tool, n);

    std::vector<bench::bench_result> results;
    std::vector<bench::program_result> programs;
    // A person sees each kernel when it is done; a machine's document and a file are written whole.
    const bool as_it_goes = (common.out.empty() || common.out == "-") && (common.format == tools::format::table || common.format == tools::format::md);
    if (!common.quiet)  // a machine's document stands alone on stdout
        s->say = [as_it_goes](std::string_view line) {
            std::fprintf(as_it_goes ? stdout : stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
            std::fflush(as_it_goes ? stdout : stderr);
        };
    s->asked.several = kernels > 1;
    if (s->asked.several && !s->asked.golden_data.empty())
        return tools::report(tool, fault(fault_kind::user, "found " + std::to_string(kernels) + " kernels to replay one snapshot for, expected one (--op or --realization)", "--golden-data"));
    bool finding = false, none = kernels > 0;
    for (const tools::unit& u : *units) {
        for (const tools::subject& what : u.kernels) {
            tools::progress bar(common, 1, what.name);
            bench::runner one(*s);
            double best = 0;
            one.expected = [&](std::size_t rows) { bar.expect(rows); };
            one.finished = [&](const bench::bench_row& row) {
                if (row.believed() && (best == 0 || row.time.median < best)) best = row.time.median;
                bar.finished(row.label + " " + evidence::knobs_text(row.record_knobs.empty() ? row.asked : row.record_knobs),
                    row.believed() ? std::string(name(row.status)) + " " + bench::fixed(row.time.median, 2) + " us" : std::string(name(row.status)), best > 0 ? bench::fixed(best, 2) + " us" : "");
            };
            auto done = one.run(what, ab);
            bar.close();
            if (!done) return tools::report(tool, done.error());
            finding = finding || done->finding();
            none = none && !done->refused.empty() && done->interpreted.empty();
            if (!common.dump.empty())
                if (auto dumped = bench::dump(*s, *done); !dumped) return tools::report(tool, dumped.error());
            if (as_it_goes) {
                std::string text = results.empty() ? s->host().card + "\n" : std::string();
                text += bench::people(*s, *done, common.format);
                if (auto written = tools::emit(common, text); !written) return tools::report(tool, written.error());
            }
            results.push_back(std::move(*done));
        }
        if (u.kernels.size() < 2) continue;
        auto whole = bench::bench_program(*s, u, std::span(results).last(u.kernels.size()));
        if (!whole) return tools::report(tool, whole.error());
        finding = finding || whole->finding();
        if (as_it_goes)
            if (auto written = tools::emit(common, bench::people(*whole)); !written) return tools::report(tool, written.error());
        programs.push_back(std::move(*whole));
    }
    std::string text;
    if (as_it_goes) return none ? tools::exit_device : finding ? tools::exit_finding : tools::exit_fine;
    switch (common.format) {
        case tools::format::json: text = bench::machines(*s, results, programs); break;
        case tools::format::csv: text = bench::lines(results); break;
        default:
            text = s->host().card + "\n";
            for (const bench::bench_result& r : results) text += bench::people(*s, r, common.format);
            for (const bench::program_result& p : programs) text += bench::people(p);
    }
    if (auto written = tools::emit(common, text); !written) return tools::report(tool, written.error());
    if (none) return tools::exit_device;
    return finding ? tools::exit_finding : tools::exit_fine;
}

}  // namespace

int main(int argc, char** argv) {
    if (const int served = device::serve_if_worker(argc, argv); served >= 0) return served;
    bench::settings asked;
    bool no_record = false, no_reference = false;
    tools::cli line(std::string(tool), "Measures kernels in a process that can be killed, checks their answers, and records what is clean.");
    const auto add = [&](tools::verb& v) -> tools::verb& {
        asked.prior.add_to(v);
        return v
            .positional("FILE", asked.input, "A traced program, or a golden file", false)
            .common(tools::takes::db | tools::takes::device | tools::takes::input | tools::takes::pin | tools::takes::output | tools::takes::dump | tools::takes::progress | tools::takes::seed, asked.common)
            .flag("--no-record", no_record, "Record nothing")
            .flag("--no-reference", no_reference, "Do not time OpenBLAS or a copy beside the pick")
            .flag("--again", asked.again, "Measure rows that are measured already")
            .flag("--interpret", asked.interpret, "Where a kernel has no lowering for this device, interpret some cells")
            .flag("--fast-math", asked.fast_math, "Relaxed floating point: another lane, never compared with the standard one")
            .flag("--cold", asked.cold, "Evict a kernel's buffers from the caches before every launch: another setting")
            .option("--opt", asked.opt, "Level of the host compiler, 0 to 3 (default 3; another one is another setting)")
            .flag("--save-data", asked.save_data, "Write inputs and every cell of the reference to <work dir>/data, to be replayed")
            .option("--weights", asked.weights, "Weights of the program by path, from an archive (.pt2) or a safetensors file, index or directory; default seeded ones")
            .option("--golden-data", asked.golden_data, "Replay a snapshot: its in/ and out/ instead of generated inputs and a computed reference")
            .option("--runtime-dir", asked.runtime_dir, "Use the compiled kernels of a work directory; nothing is compiled")
            .option("--work-dir", asked.work_dir, "Where --save-data writes and compiled kernels are kept (default: a new directory in ./build_output)")
            .option("--sample", asked.sample, "Bench this many options of the schedule space, the default among them")
            .option("--seconds", asked.seconds, "Measuring time of a row (default 0.3)")
            .option("--samples", asked.least_samples, "Least samples of a row (default 20; with fewer nothing is recorded)", 1)
            .remark("recorded", "rows of at least --samples samples; fewer when they filled --seconds and the machine was not busy for most of them")
            .remark("lane", "std or fm (--fast-math) in this tool's tables and JSON; emmy-compile and emmy-db spell a setting whole");
    };
    tools::verb& run = add(line.add("run", "Bench the pick beside its reference and record it; without --op, --golden or --realization every kernel of standard.json"));
    run.example("emmy-bench run --op 'softmax(x: f32[512,2048], dim=-1)' --sample 8", "eight options of a softmax; the next compile picks the fastest")
        .example("emmy-bench run --realization matmul.square.512 --pin TEAM=2", "with two threads")
        .example("emmy-bench run layer.json --weights layer.pt2", "an imported program with its archive's weights");
    tools::verb& ab = add(line.add("ab", "Bench hand-pinned rows beside the pick"));
    ab.option("--ab", asked.ab, "One pinned row, KEY=VALUE,… (repeatable)")
        .example("emmy-bench ab --realization matmul.square.512 --ab WORK=t8x8 --ab WORK=t16x4", "two rows beside the pick");
    std::vector<std::string> words;
    tools::verb& snapshots = line.add("snapshot", "Look into snapshots: show DIR, diff A B");
    snapshots.common(tools::takes::output | tools::takes::progress, asked.common)
        .positional("WHAT", words, "show DIR: names, shapes, dtypes, hashes, sizes; diff A B: per tensor equal, max abs, max rel, first difference", true)
        .example("emmy-bench snapshot show build_output/k_softmax_81c0d1_20261129_180000/data", "what a snapshot holds, every file hashed")
        .example("emmy-bench snapshot diff before/data after/data", "exit code 1 when a tensor differs");
    if (const auto code = line.parse(argc, argv)) return *code;
    if (snapshots.chosen()) return bench::inspect(tool, asked.common, words);
    asked.record = !no_record, asked.reference = !no_reference;
    if (asked.seconds <= 0 || asked.seconds > 60) return tools::report(tool, fault(fault_kind::user, "found " + bench::fixed(asked.seconds, 3) + ", expected more than 0 and at most 60", "--seconds"));
    if (asked.record && ab.chosen() && asked.least_samples < 20) return tools::report(tool, fault(fault_kind::user, "found " + std::to_string(asked.least_samples) + ", expected at least 20 samples for rows that are recorded (or --no-record)", "--samples"));
    if (asked.record && asked.least_samples < 20) {
        tools::note(tool, "fewer than 20 samples a row: nothing is recorded");
        asked.record = false;
    }
    if (ab.chosen() && asked.ab.empty()) return tools::report(tool, fault(fault_kind::user, "found no row, expected --ab KEY=VALUE,…", "--ab"));
    return bench_all(std::move(asked), ab.chosen());
}
