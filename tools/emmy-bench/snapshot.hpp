#pragma once
#include <emmy-bench/session.hpp>

#include <emmy/core/numeric.hpp>
#include <emmy/device/answer.hpp>
#include <emmy/device/cpu/toolchain.hpp>
#include <emmy/golden/snapshot.hpp>

#include <cmath>
#include <optional>

/// --save-data, --golden-data and --runtime-dir: the inputs and wanted outputs of one kernel from and into snapshots, its compiled
/// kernels from and into work directories.
namespace emmy::bench {

namespace snapshot = golden::snapshot;

struct snapshot_report {
    std::string replayed, saved, work_dir, runtime;  ///< folders; empty where there is none
    bool usable = false;                             ///< the saved one carries its manifest
    std::uint64_t saved_bytes = 0;
    std::vector<snapshot::comparison> outputs;       ///< of the pick
    snapshot::counters counts;
    std::vector<std::string> missing;
    std::string message;                             ///< why nothing was benched
};

/// Files of a kernel: its buffers by their names.
inline std::vector<snapshot::spec> specs_of(const device::answer& outline) {
    std::vector<snapshot::spec> out;
    for (std::size_t i = 0; i < outline.buffers().size(); ++i) {
        const device::buffer_spec& b = outline.buffers()[i];
        snapshot::spec s;
        s.kind = b.output ? snapshot::spec_kind::output : snapshot::spec_kind::input;
        s.name = outline.names()[i], s.type = b.type, s.shape = outline.shapes()[i];
        out.push_back(std::move(s));
    }
    return out;
}

/// What the flags mean for one kernel of a session, from its inputs to its saved snapshot.
class kernel_snapshot {
public:
    kernel_snapshot(session& s, const std::string& kernel) : s_(s), kernel_(kernel) {}

    /// The work directory, and a worker that keeps its compiled kernels there (or takes them from --runtime-dir).
    result<void> begin(snapshot_report& report) {
        if (s_.asked.keeps_runtime()) {
            report.work_dir = s_.asked.work_dir;
            if (report.work_dir.empty()) {
                EMMY_TRY(made, snapshot::make_work_dir(kernel_));
                report.work_dir = std::move(made);
            } else if (s_.asked.several) {
                report.work_dir += "/" + kernel_;
            }
        }
        if (s_.asked.runtime_dir.empty() && report.work_dir.empty()) return {};
        report.runtime = (s_.asked.runtime_dir.empty() ? report.work_dir : s_.asked.runtime_dir) + "/runtime";
        device::worker_options own = s_.worker_setup;
        own.cache_directory = report.runtime;
        s_.worker = device::worker_device(std::move(own));
        return {};
    }

    /// Inputs and wanted outputs. Nothing and a message in the report where the snapshot cannot be replayed.
    result<std::optional<device::answer>> acquire(const tools::subject& what, device::answer_options options, snapshot_report& report) {
        std::optional<device::answer> out;
        if (!s_.asked.golden_data.empty()) {
            EMMY_TRY(outline, device::answer::outline(what.kernel, what.sizes(), options));
            snapshot::options how;
            how.golden_data = s_.asked.golden_data, how.say = s_.say;
            snapshot::run_result read;
            auto data = snapshot::acquire(specs_of(outline), how, read);
            report.counts = read.counts, report.missing = std::move(read.missing), report.message = std::move(read.message);
            notes = std::move(read.notes);
            report.replayed = s_.asked.golden_data;
            if (!data) return out;
            std::vector<std::vector<std::byte>> inputs, outputs;
            for (std::size_t i = 0; i < data->size(); ++i)
                i < what.kernel.inputs.size() ? inputs.push_back(std::move((*data)[i].initial)) : outputs.push_back(std::move((*data)[i].wanted));
            EMMY_TRY(made, device::answer::from_data(what.kernel, what.sizes(), std::move(inputs), std::move(outputs), "snapshot " + s_.asked.golden_data, options));
            out = std::move(made);
        } else {
            options.every_cell = true;
            s_.say("[RUN] generate inputs ...");
            s_.say("[RUN] compute golden ...");
            EMMY_TRY(made, device::answer::prepare(what.kernel, what.sizes(), what.program ? &*what.program : nullptr, what.ports, options));
            out = std::move(made);
            report.counts.inputs_generated = what.kernel.inputs.size(), report.counts.references_computed = 1;
        }
        if (s_.asked.save_data) {
            const std::vector<snapshot::spec> specs = specs_of(*out);
            if (snapshot::same_place(report.work_dir + "/data", s_.asked.golden_data)) return refuse(fault_kind::user, "found the replayed snapshot as the place to save to, expected another work directory", "--save-data", s_.asked.golden_data);
            EMMY_TRY(begun, snapshot::saver::begin(report.work_dir, specs));
            saver_ = std::move(begun);
            for (std::size_t i = 0; i < specs.size(); ++i) {
                const bool output = specs[i].has_output();
                const std::size_t inputs = what.kernel.inputs.size();
                EMMY_CHECK_OK(output ? saver_->add(specs[i], true, out->wanted_bytes(i - inputs)) : saver_->add(specs[i], false, out->inputs()[i]));
            }
        }
        return out;
    }

    /// With --runtime-dir every kernel must lie there compiled. Errors (input): it does not.
    result<void> before_compile(const device::kernel_text& text, snapshot_report& report) {
        if (report.runtime.empty()) return {};
        EMMY_TRY(object, device::cpu::find_object(text, report.runtime, session::host()));
        if (!s_.asked.runtime_dir.empty() && !told_) s_.say("[RUN] compile ...");
        if (object.empty()) {
            if (!s_.asked.runtime_dir.empty()) return refuse(fault_kind::input, "holds no compiled kernel of this row (its text, compiler or processor is another one): bench it without --runtime-dir", {}, report.runtime);
            ++report.counts.compiled;
            return {};
        }
        if (!s_.asked.runtime_dir.empty() && !told_) s_.say("[RUN]   cache hit: " + report.runtime);
        told_ = true;
        ++report.counts.compile_reused;
        return {};
    }

    /// The pick's outputs against the wanted ones.
    void compare(const device::answer& answer, const device::tensor_arena& arena, std::size_t inputs, bool fast_math, snapshot_report& report) const {
        report.outputs.clear();
        for (std::size_t i = inputs; i < answer.buffers().size(); ++i) {
            const std::vector<std::byte> wanted = answer.wanted_bytes(i - inputs);
            if (wanted.empty() && answer.buffers()[i].elements) continue;
            const device::error_model model{answer.buffers()[i].type, answer.terms(), fast_math};
            double squares = 0;
            for (std::uint64_t e = 0; e < answer.buffers()[i].elements; ++e)
                if (const double w = load_element(answer.buffers()[i].type, wanted.data(), e); std::isfinite(w)) squares += w * w;
            const double scale = answer.buffers()[i].elements ? std::sqrt(squares / static_cast<double>(answer.buffers()[i].elements)) : 0;
            // What the gate allows at zero, and in proportion beyond.
            snapshot::tolerance allowed{model.tolerance(0, scale), model.tolerance(1, 1)};
            report.outputs.push_back(snapshot::compare(archive::element_of(answer.buffers()[i].type), arena[i], wanted, allowed));
            report.outputs.back().name = answer.names()[i];
        }
    }

    result<void> commit(bool passed, const std::string& reference, std::uint64_t seed, snapshot_report& report) {
        if (!saver_) return {};
        report.saved_bytes = saver_->bytes();
        EMMY_TRY(path, saver_->commit(passed, reference, session::host().card, seed));
        report.saved = std::move(path), report.usable = passed;
        return {};
    }

    std::vector<std::string> notes;

private:
    session& s_;
    std::string kernel_;
    std::optional<snapshot::saver> saver_;
    bool told_ = false;
};

}  // namespace emmy::bench
