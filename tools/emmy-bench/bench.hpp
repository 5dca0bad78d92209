#pragma once
#include <emmy-bench/rows.hpp>

namespace emmy::bench {

/// Benches one kernel: picks, measures what is asked, records each row as soon as it is clean, picks again.
class runner {
public:
    /// Rows that will be reported, as far as is known: told anew when it changes.
    std::function<void(std::size_t)> expected = [](std::size_t) {};
    /// Called after each row: label, what came of it.
    std::function<void(const bench_row&)> finished = [](const bench_row&) {};

    explicit runner(session& s) : s_(s) {}

    result<bench_result> run(tools::subject what, bool ab) {
        bench_result out;
        out.what = std::move(what);
        std::vector<bench::ab_row> pinned;
        if (ab) {
            EMMY_TRY(rows, s_.ab_rows());
            pinned = std::move(rows);
        }
        if (!out.what.note.empty()) out.notes.push_back(out.what.note);
        auto made = fork::cpu_schedules::make(out.what.kernel, s_.target);
        if (!made) {
            if (made.error().kind() != fault_kind::device_limit) return refuse(made.error());
            out.refused = made.error().line();
            if (s_.asked.interpret) {
                EMMY_TRY(cells, tools::interpret_cells(out.what, s_.asked.common.seed, out.notes));
                out.interpreted = std::move(cells);
            }
            return out;
        }
        space_ = std::move(*made);
        answer_.reset();

        const store::knob_list pins = tools::schedule_pins(s_.pins, out.what.kernel.name);
        EMMY_TRY(options, evidence::cpu_options::make(*space_, pins));
        EMMY_TRY(first, pick(out, s_.base, options));
        out.first = std::move(first);
        data_.reset();
        if (s_.asked.snapshots() || s_.asked.keeps_runtime() || !s_.asked.runtime_dir.empty()) {
            data_ = std::make_unique<kernel_snapshot>(s_, out.what.kernel.name);
            EMMY_CHECK_OK(data_->begin(out.data.emplace()));
        }
        EMMY_CHECK_OK(prepare(out));
        if (!answer_) return out;  // the snapshot cannot be replayed: the report says why
        const std::vector<std::size_t> samples = sample_options(options.rows().size(), s_.asked.sample, s_.asked.common.seed);
        std::size_t rows = 1 + pinned.size() + out.what.rows.size() + samples.size();
        expected(rows);

        bench_row own = row_of("pick", s_.base, out.first->chosen);
        EMMY_CHECK_OK(measure(out, own, again()));
        if (data_) EMMY_CHECK_OK(data_->commit(own.believed(), out.checked_by, s_.asked.common.seed, *out.data));
        const double pick_us = own.believed() ? own.time.median : 0;
        out.rows.push_back(std::move(own));

        int number = 0;
        for (const bench::ab_row& one : pinned) EMMY_CHECK_OK(pinned_row(out, one, "ab " + std::to_string(++number)));
        for (const tools::recorded_row& recorded : out.what.rows) EMMY_CHECK_OK(golden_row(out, recorded));
        // Fresh pinned rows are compared with a pick measured alone beside them, not with an older number.
        if (out.rows.front().status == status::cached && std::any_of(out.rows.begin() + 1, out.rows.end(), [](const bench_row& r) { return r.status == status::ok; })) {
            bench_row again = row_of("pick", s_.base, out.first->chosen);
            expected(++rows);
            EMMY_CHECK_OK(measure(out, again, true));
            out.rows.front() = std::move(again);
        }
        for (const std::size_t i : samples) {
            const store::knob_list knobs = space_->pairs(options.rows()[i]);
            if (std::any_of(out.rows.begin(), out.rows.end(), [&](const bench_row& r) { return r.record_knobs == knobs && r.lane.context == s_.base.context; })) {
                expected(--rows);
                continue;
            }
            bench_row row = row_of("sample", s_.base, knobs);
            // A row that is thirty times slower than the pick has lost and need not run to its end; five times, and two samples do.
            if (pick_us > 0) s_.worker.limit(std::clamp(30 * pick_us * 1e-6, 2.0, 10.0), 60);
            EMMY_CHECK_OK(measure(out, row, again(), pick_us > 0 ? std::max(5 * pick_us * 1e-6, 0.02) : 0));
            s_.worker.limit(10, 60);
            out.rows.push_back(std::move(row));
        }
        EMMY_TRY(second, pick(out, s_.base, options));
        out.second = std::move(second);
        if (s_.asked.reference) EMMY_CHECK_OK(beside_reference(out));
        if (ab) EMMY_CHECK_OK(confirm(out));
        return out;
    }

private:
    bench_row row_of(std::string label, const lane& l, store::knob_list knobs) const {
        bench_row row;
        row.label = std::move(label), row.lane = l, row.record_knobs = std::move(knobs);
        return row;
    }

    result<evidence::record> pick(const bench_result& out, const lane& l, const evidence::cpu_options& options) {
        EMMY_TRY(evidence_now, evidence::snapshot::open(*s_.db, l.context, s_.scope.labels, producer()));
        evidence::schedule_fork fork;
        fork.kernel = out.what.kernel.name, fork.identity = out.what.identity, fork.bindings = out.what.bindings;
        fork.options = &options;
        return evidence::pick_schedule(&evidence_now, fork, evidence::strictness::off, s_.prior.hook());
    }

    /// A saved or replayed run runs: what was measured before is no comparison.
    bool again() const { return s_.asked.again || data_; }

    result<void> prepare(bench_result& out) {
        device::answer_options options;
        options.seed = s_.asked.common.seed + 1, options.fast_math = s_.base.regime.fast_math, options.given = out.what.given;
        if (s_.asked.snapshots()) {
            EMMY_TRY(answer, data_->acquire(out.what, options, *out.data));
            out.notes.insert(out.notes.end(), data_->notes.begin(), data_->notes.end());
            answer_ = std::move(answer);
            if (!answer_) return {};
        } else {
            EMMY_TRY(answer, device::answer::prepare(out.what.kernel, out.what.sizes(), out.what.program ? &*out.what.program : nullptr, out.what.ports, options));
            answer_ = std::move(answer);
        }
        EMMY_TRY(arena, answer_->arena());
        arena_ = std::move(arena);
        work_ = workload_of(*space_, out.what, *answer_);
        out.checked_by = answer_->reference();
        return {};
    }

    device::effort effort(const lane& l) const {
        device::effort out;
        out.budget_seconds = s_.asked.seconds, out.cold = l.regime.cold;
        out.least_samples = static_cast<int>(s_.asked.least_samples);
        return out;
    }
    /// A row that is abandoned as slow has two samples' time.
    quality asked_quality(double slow_seconds) const {
        return {static_cast<int>(s_.asked.least_samples), slow_seconds > 0 ? std::min(s_.asked.seconds, 2 * slow_seconds) : s_.asked.seconds};
    }

    result<device::kernel_text> text_of(const tools::subject& what, const fork::cpu_row& row, const lane& l, std::vector<std::string>& symbols) {
        EMMY_TRY(text, s_.text(*space_, row));
        device::kernel_text out;
        out.source = std::move(text.source), out.entry = std::move(text.entry);
        out.scratch_bytes = text.scratch_bytes(l.team, what.launch_sizes(text.symbols));
        out.fast_math = l.regime.fast_math, out.optimisation = l.regime.opt;
        symbols = std::move(text.symbols);
        return out;
    }

    /// One row through all gates; recorded when it is clean and well measured, or when it failed by itself. Faults: of the store; of
    /// the compiler, its cache or the machine, which say nothing about the row (device).
    result<void> measure(bench_result& out, bench_row& row, bool again, double slow_seconds = 0) {
        if (!again) {
            EMMY_TRY(txn, s_.db->read());
            EMMY_TRY(known, evidence::find_local(txn, row.lane.context, out.what.identity, out.what.bindings, row.record_knobs, producer()));
            if (known && known->ok() && asked_quality(slow_seconds).enough(static_cast<int>(known->samples), known->mean)) {
                row.status = status::cached;
                row.time.median = known->median, row.time.min = known->min, row.time.max = known->max, row.time.mean = known->mean, row.time.variance = known->variance;
                row.time.low = row.time.high = known->median;
                row.time.samples = static_cast<int>(known->samples);
                finished(row);
                return {};
            }
            if (known && !known->ok()) {
                row.status = status::bench_fail, row.reason = "failed when it was measured before (--again tries it once more)";
                finished(row);
                return {};
            }
        }
        EMMY_CHECK_OK(measure_now(out, row, slow_seconds));
        if ((row.status == status::ok && row.worth) || row.status == status::bench_fail) EMMY_CHECK_OK(record(out, row));
        finished(row);
        return {};
    }

    result<void> measure_now(bench_result& out, bench_row& row, double slow_seconds) {
        const auto fail = [&](status s, std::string reason) -> result<void> {
            row.status = s, row.reason = std::move(reason);
            return {};
        };
        const auto lost = [&](const fault& f) -> result<void> {
            const device::loss why = s_.worker.last_loss();
            if (why == device::loss::compile_overrun) return fail(status::compile_timeout, f.line());
            if (device::kernels_doing(why, f.kind())) return fail(status::bench_fail, f.line());
            return refuse(f);
        };
        // First gate: the row that is printed is the row that was asked for.
        const auto exact = space_->row(row.record_knobs);
        if (!exact || space_->pairs(*exact) != row.record_knobs) return fail(status::pin_unmatched, exact ? "realised as " + evidence::knobs_text(space_->pairs(*exact)) : exact.error().line());
        std::vector<std::string> symbols;
        auto text = text_of(out.what, *exact, row.lane, symbols);
        if (!text) return fail(status::bench_fail, text.error().line());
        if (!s_.asked.common.dump.empty()) row.dump = text->source;
        const device::launch how{out.what.launch_sizes(symbols), row.lane.team};
        if (data_) EMMY_CHECK_OK(data_->before_compile(*text, *out.data));
        // Third gate before any time is taken: a wrong kernel is not worth measuring.
        if (auto ran = s_.worker.run(*text, arena_, how); !ran) return lost(ran.error());
        if (s_.asked.snapshots() && out.rows.empty()) data_->compare(*answer_, arena_, out.what.kernel.inputs.size(), row.lane.regime.fast_math, *out.data);
        if (std::string wrong = answer_->check(arena_); !wrong.empty()) return fail(status::flagged, "wrong answer: " + wrong);
        device::measure_request request;
        request.kernels = {std::move(*text)}, request.launches = {how}, request.effort = effort(row.lane);
        request.effort.slow_seconds = slow_seconds;
        auto times = s_.worker.measure(request, arena_);
        if (!times) return lost(times.error());
        row.time = times->kernels.front();
        if (row.time.disturbed * 2 > row.time.samples) row.reason = "the machine was busy during " + std::to_string(row.time.disturbed) + " of " + std::to_string(row.time.samples) + " samples";
        // Second gate.
        if (const auto most = s_.worker.measure_ceilings(row.lane.team)) {
            if (s_.asked.record) EMMY_CHECK_OK(s_.keep(*most));
            if (std::string why = device::implausible(row.time.median, work_.least, *most); !why.empty()) return fail(status::flagged, "impossible: " + why);
        } else {
            out.notes.push_back("the speed could not be judged: " + most.error().line());
        }
        row.worth = asked_quality(slow_seconds).enough(row.time.samples, row.time.mean, row.time.disturbed);
        if (!row.worth && s_.asked.record) row.reason += (row.reason.empty() ? "" : "; ") + std::to_string(row.time.samples) + " samples only: not recorded";
        return {};
    }

    result<void> record(bench_result& out, const bench_row& row) {
        if (!s_.asked.record) return {};
        evidence::local_measurement m;
        m.context = row.lane.context;
        m.kernel = evidence::make_kernel_record(out.what.kernel, out.what.identity, out.what.formed);
        m.bindings = out.what.bindings, m.row = row.record_knobs;
        if (row.status == status::ok) {
            const device::statistics& t = row.time;
            m.time = {t.median, t.min, t.max, t.mean, t.variance, static_cast<std::uint32_t>(t.samples), 0, store::outcome::captured};
        } else {
            m.time.how = store::outcome::failed;
            m.error = row.reason;
        }
        return evidence::record_measurements(*s_.db, {&m, 1}, producer()).map([](auto) {});
    }

    result<void> pinned_row(bench_result& out, const bench::ab_row& one, std::string label) {
        bench_row row;
        row.label = std::move(label), row.lane = one.lane, row.asked = one.asked;
        const store::knob_list wanted = tools::schedule_pins(one.pins, out.what.kernel.name);
        const auto options = evidence::cpu_options::make(*space_, wanted);
        if (!options) {
            row.status = status::pin_unmatched;
            row.reason = "unreproducible pin " + one.text + ": " + options.error().line();
            finished(row);
        } else {
            EMMY_TRY(chosen, pick(out, row.lane, *options));
            row.record_knobs = std::move(chosen.chosen);
            EMMY_CHECK_OK(measure(out, row, again()));
        }
        out.rows.push_back(std::move(row));
        return {};
    }

    /// A row of a golden of this card: benched as it stands.
    result<void> golden_row(bench_result& out, const tools::recorded_row& recorded) {
        bench_row row;
        row.label = recorded.name, row.asked = recorded.knobs;
        knob::pin_list lane_pins;
        if (recorded.fast_math)
            if (auto pin = knob::parse_pin("FAST_MATH", "true")) EMMY_CHECK_OK(lane_pins.add(std::move(*pin)));
        EMMY_TRY(own, s_.lane_of(lane_pins));
        row.lane = std::move(own);
        const auto exact = space_->row(recorded.knobs);
        if (!exact) {
            row.status = status::pin_unmatched, row.reason = "unreproducible row: " + exact.error().line();
            finished(row);
        } else {
            row.record_knobs = space_->pairs(*exact);
            EMMY_CHECK_OK(measure(out, row, again()));
        }
        out.rows.push_back(std::move(row));
        return {};
    }

    /// The chosen row and the reference in alternating windows: the ratio shown, never recorded.
    result<void> beside_reference(bench_result& out) {
        if (work_.against.what == device::reference::kind::none || !out.second) return {};
        // A pick that failed would fail again, after the worker's whole time.
        const bool failed = std::any_of(out.rows.begin(), out.rows.end(), [&](const bench_row& r) { return !r.believed() && r.lane.context == s_.base.context && r.record_knobs == out.second->chosen; });
        const auto row = space_->row(out.second->chosen);
        if (!row || failed) return {};
        std::vector<std::string> symbols;
        auto text = text_of(out.what, *row, s_.base, symbols);
        if (!text) return {};
        device::measure_request request;
        request.kernels = {std::move(*text)}, request.launches = {{out.what.launch_sizes(symbols), s_.base.team}};
        request.against = work_.against, request.interleave = true, request.effort = effort(s_.base);
        auto times = s_.worker.measure(request, arena_);
        if (!times) {
            out.notes.push_back("no reference: " + times.error().line());
            return {};
        }
        if (!times->against) {
            out.notes.push_back("no reference: " + times->reference_note);
            return {};
        }
        out.reference = yardstick{times->reference_name, times->reference_note, *times->against, times->kernels.front(), out.second->chosen};
        return {};
    }

    /// The best pinned row of the pick's lane against the pick, in alternating windows: is the difference more than noise?
    result<void> confirm(bench_result& out) {
        const bench_row& own = out.rows.front();
        const bench_row* best = nullptr;
        for (const bench_row& r : out.rows)
            if (&r != &own && r.believed() && r.lane.context == own.lane.context && r.record_knobs != own.record_knobs && (!best || r.time.median < best->time.median)) best = &r;
        if (!best || !own.believed()) return {};
        device::measure_request request;
        std::vector<std::string> symbols;
        for (const bench_row* r : {&own, best}) {
            const auto row = space_->row(r->record_knobs);
            if (!row) return {};
            auto text = text_of(out.what, *row, r->lane, symbols);
            if (!text) return {};
            request.kernels.push_back(std::move(*text));
            request.launches.push_back({out.what.launch_sizes(symbols), r->lane.team});
        }
        request.interleave = true, request.effort = effort(own.lane);
        const auto times = s_.worker.measure(request, arena_);
        if (!times) return {};
        const device::statistics &a = times->kernels[0], &b = times->kernels[1];
        const bool apart = a.high < b.low || b.high < a.low;
        char text[200];
        std::snprintf(text, sizeof text, "%s against pick, alternating: %.2f us against %.2f us, %.3f x%s", best->label.c_str(), b.median, a.median, a.median / b.median,
            apart ? (b.median < a.median ? ", faster" : ", slower") : ", within the noise");
        out.confirmation = text;
        return {};
    }

    session& s_;
    std::optional<fork::cpu_schedules> space_;
    std::optional<device::answer> answer_;
    std::unique_ptr<kernel_snapshot> data_;
    device::tensor_arena arena_;
    workload work_;
};

}  // namespace emmy::bench
