#pragma once
#include <emmy/golden/snapshot/run.hpp>

#include <cstdio>
#include <cstring>

namespace emmy::golden::snapshot {

namespace detail {

inline void say(const options& how, std::string line) {
    if (how.say) return how.say(line);
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

inline std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string out;
    for (const std::string& p : parts) (out += out.empty() ? "" : between) += p;
    return out;
}

inline std::vector<std::span<std::byte>> spans_of(std::vector<std::vector<std::byte>>& memory) { return {memory.begin(), memory.end()}; }

inline std::optional<std::vector<tensor_data>> generate(std::span<const spec> specs, const options& how, run_result& into) {
    const auto failed = [&](std::string why) -> std::optional<std::vector<tensor_data>> {
        into.message = std::move(why);
        return std::nullopt;
    };
    say(how, "[RUN] generate inputs ...");
    if (!how.golden_fn) return failed("nothing to compare with: expected a golden function or a snapshot");
    std::vector<tensor_data> data(specs.size());
    std::vector<std::vector<std::byte>> given(specs.size()), wanted(specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].has_output()) wanted[i].resize(specs[i].bytes());
        if (!specs[i].has_input()) continue;
        if (!specs[i].make) return failed(specs[i].name + ": found no generator, expected one");
        data[i].initial.resize(specs[i].bytes());
        if (auto made = specs[i].make(data[i].initial); !made) return failed(specs[i].name + ": " + made.error().line());
        given[i] = data[i].initial;  // a reference that writes into its inputs changes no snapshot
        ++into.counts.inputs_generated;
    }
    say(how, "[RUN] compute golden ...");
    if (auto done = how.golden_fn(spans_of(given), spans_of(wanted)); !done) return failed("the golden function failed: " + done.error().line());
    ++into.counts.references_computed;
    for (std::size_t i = 0; i < specs.size(); ++i) data[i].wanted = std::move(wanted[i]);
    return data;
}

inline std::optional<std::vector<tensor_data>> replay(std::span<const spec> specs, const options& how, run_result& into) {
    auto read = load(how.golden_data, specs);
    if (!read) {
        into.message = read.error().line();
        return std::nullopt;
    }
    into.notes.insert(into.notes.end(), read->notes.begin(), read->notes.end());
    into.missing = std::move(read->missing);
    if (!into.missing.empty()) into.message = "the snapshot " + how.golden_data + " lacks " + std::to_string(into.missing.size()) + (into.missing.size() == 1 ? " file: " : " files: ") + joined(into.missing, ", ");
    if (!read->problems.empty()) (into.message += into.message.empty() ? "" : "; ") += joined(read->problems, "; ");
    if (!into.message.empty()) return std::nullopt;
    say(how, "[RUN] generate inputs ...");
    say(how, "[RUN]   cache hit: " + how.golden_data + "/in");
    say(how, "[RUN] compute golden ...");
    say(how, "[RUN]   cache hit: " + how.golden_data + "/out");
    into.counts.inputs_loaded = read->inputs, into.counts.outputs_loaded = read->outputs;
    return std::move(read->data);
}

}  // namespace detail

EMMY_DECL std::optional<std::vector<tensor_data>> acquire(std::span<const spec> specs, const options& how, run_result& into) {
    if (auto fine = check(specs); !fine) {
        into.message = fine.error().line();
        return std::nullopt;
    }
    return how.golden_data.empty() ? detail::generate(specs, how, into) : detail::replay(specs, how, into);
}

EMMY_DECL run_result run(const function& fn, std::span<const spec> specs, const options& how) {
    return run_compiled({[&](const std::string&) -> result<function> { return fn; }, {}}, specs, how);
}

EMMY_DECL run_result run_compiled(const compilation& made, std::span<const spec> specs, const options& how) {
    run_result out;
    out.work_dir = how.work_dir;
    auto data = acquire(specs, how, out);
    if (!data) return out;
    const auto failed = [&](std::string why) {
        out.message = std::move(why);
        return out;
    };
    if ((how.save_data || made.load) && out.work_dir.empty()) {
        auto folder = make_work_dir("run");
        if (!folder) return failed(folder.error().line());
        out.work_dir = std::move(*folder);
    }
    if (how.save_data && same_place(out.work_dir + "/data", how.golden_data)) return failed("found the replayed snapshot as the place to save to, expected another work directory: " + how.golden_data);
    std::optional<saver> snapshot;
    if (how.save_data) {
        // Before the run: what it does to its inputs is not saved.
        auto begun = saver::begin(out.work_dir, specs);
        if (!begun) return failed(begun.error().line());
        snapshot = std::move(*begun);
        for (const required_file& f : required_files(specs))
            if (auto added = snapshot->add(specs[f.spec], f.out, f.out ? (*data)[f.spec].wanted : (*data)[f.spec].initial); !added) return failed(added.error().line());
    }
    const bool reuse = !how.runtime_dir.empty();
    if (reuse && !made.load) return failed("found a runtime directory for a function that is not compiled");
    auto fn = reuse ? made.load(how.runtime_dir) : made.build(out.work_dir);
    if (!fn) return failed(fn.error().line());
    if (made.load) ++(reuse ? out.counts.compile_reused : out.counts.compiled);

    std::vector<std::vector<std::byte>> memory(specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].has_input()) memory[i] = std::move((*data)[i].initial);
        else memory[i].assign(specs[i].bytes(), std::byte{0xff});
    }
    auto ran = (*fn)(detail::spans_of(memory));
    std::vector<std::string> wrong;
    if (!ran) {
        wrong.push_back(ran.error().line());
    } else {
        out.timings_us = std::move(*ran);
        for (std::size_t i = 0; i < specs.size(); ++i) {
            if (!specs[i].has_output()) continue;
            tolerance allowed = default_tolerance(specs[i].type);
            for (const auto& [name, own] : how.tolerances)
                if (name == specs[i].name) allowed = own;
            out.outputs.push_back(compare(archive::element_of(specs[i].type), memory[i], (*data)[i].wanted, allowed));
            out.outputs.back().name = specs[i].name;
            if (std::string why = over_tolerance(out.outputs.back()); !why.empty()) wrong.push_back(std::move(why));
        }
    }
    out.passed = wrong.empty();
    out.message = detail::joined(wrong, "; ");
    if (snapshot) {
        auto path = snapshot->commit(out.passed, how.golden_data.empty() ? how.reference : "snapshot " + how.golden_data, how.device, how.seed);
        if (!path) {
            out.passed = false;
            return failed(path.error().line());
        }
        out.snapshot = std::move(*path);
    }
    return out;
}

}  // namespace emmy::golden::snapshot
