#pragma once
#include <common/evidence.hpp>
#include <common/exit.hpp>
#include <common/options.hpp>
#include <common/prior.hpp>
#include <common/setting.hpp>
#include <common/subject.hpp>
#include <common/target.hpp>

#include <emmy/device/cpu/device.hpp>
#include <emmy/device/worker.hpp>
#include <emmy/evidence/record.hpp>
#include <emmy/evidence/regime.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/store/tables.hpp>
#include <emmy/knob/pin.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace emmy::bench {

/// What `emmy-bench` was asked for.
struct settings {
    tools::common_options common;
    std::string input;               ///< a traced program, or a golden file
    std::string weights;             ///< --weights: an archive or a checkpoint
    tools::prior_flags prior;
    bool record = true, again = false, interpret = false, reference = true;
    std::int64_t sample = 0;         ///< options of the schedule space to bench, the default among them
    double seconds = 0.3;            ///< measuring time a row
    std::int64_t least_samples = 20;
    std::vector<std::string> ab;     ///< "K=V,…", one row each
    bool fast_math = false, cold = false;
    std::int64_t opt = -1;
    bool save_data = false;          ///< --save-data: inputs and reference outputs into <work dir>/data
    std::string golden_data;         ///< --golden-data: a snapshot to replay
    std::string runtime_dir;         ///< --runtime-dir: a work directory whose compiled kernels are used again
    std::string work_dir;            ///< --work-dir; empty: a new one in ./build_output where one is needed
    bool several = false;            ///< kernels: each has a folder of its own in work_dir
    bool snapshots() const { return save_data || !golden_data.empty(); }
    bool keeps_runtime() const { return save_data || !work_dir.empty(); }
};

/// The text of one row for the device; replaced in tests by kernels that hang, crash or lie.
using text_source = std::function<result<kernel::cpu_text>(const fork::cpu_schedules&, const fork::cpu_row&)>;

/// A compile setting as this device runs it.
struct lane : tools::setting {
    std::string name() const { return regime.fast_math ? "fm" : "std"; }
};

using tools::producer;

/// One --ab row as it was asked for.
struct ab_row {
    std::string text;
    store::knob_list asked;  ///< its pins, sorted
    knob::pin_list pins;
    bench::lane lane;
};

/// One run of the tool: the device, the store, what is in scope.
class session {
public:
    static result<session> open(settings asked, device::worker_options worker = {}) {
        EMMY_TRY(wanted, tools::find_target(asked.common.device, "--device"));
        EMMY_CHECK_OK(tools::need_host(wanted));
        session out;
        out.asked = std::move(asked);
        if (const char* flags = std::getenv("EMMY_NVCC_FLAGS"); flags && *flags) out.notes.emplace_back("EMMY_NVCC_FLAGS has no meaning on a processor and is ignored");
        EMMY_TRY(list, tools::live_pins(out.asked.common.pin));
        out.pins = std::move(list);
        EMMY_TRY(base, out.lane_of(out.pins));
        out.base = std::move(base);
        out.card = {out.host().card, 0, 0};
        out.target = tools::host_target();
        out.worker_setup = worker;
        out.worker = device::worker_device(std::move(worker));
        EMMY_TRY(evidence, tools::open_evidence(out.asked.common, out.card, out.asked.record ? tools::store_use::record : tools::store_use::look));
        out.db = std::move(evidence.db), out.scope = std::move(evidence.scope);
        out.notes.insert(out.notes.end(), evidence.notes.begin(), evidence.notes.end());
        EMMY_TRY(prior, tools::open_prior(out.asked.prior, out.target, out.card.name, out.base.team, &*out.db));
        out.prior = std::move(prior);
        if (!out.base.regime.deployable()) out.notes.push_back("measured at -O" + std::to_string(out.base.regime.opt) + ": recorded under that setting, where no ordinary compile reads it");
        return out;
    }

    /// Setting of a row: the base one with the regime pins of `own` over it.
    result<lane> lane_of(const knob::pin_list& own) const {
        EMMY_TRY(setting, tools::make_setting({asked.fast_math, asked.cold, asked.opt}, {&pins, &own}, {host().card, 0, 0}));
        return lane{std::move(setting)};
    }
    /// The ceilings of a team stay in the store, where a compile that predicts finds them.
    result<void> keep(const device::ceilings& c) {
        if (!kept_teams.insert(c.team).second) return {};
        prior::cpu_rates rates;
        rates.team = c.team, rates.flops_f32 = c.flops_f32;
        for (const device::ceilings::level& l : c.bandwidth) rates.bandwidth.push_back({l.footprint, l.bytes_per_second});
        const std::string name = prior::rates_fact(card.name, c.team), text = prior::rates_text(rates);
        {
            EMMY_TRY(txn, db->read());
            EMMY_TRY(known, store::find_fact(txn, name));
            if (known == text) return {};
        }
        return db->write([&](store::write_transaction& txn) { return store::put_fact(txn, name, text); });
    }
    static const device::identification& host() { return device::cpu::identify_host(); }

    settings asked;
    std::vector<std::string> notes;
    knob::pin_list pins;
    lane base;
    golden::card_id card;
    fork::cpu_target target;
    device::worker_options worker_setup;
    device::worker_device worker;
    std::set<int> kept_teams;  ///< whose ceilings are in the store
    std::function<void(std::string_view)> say = [](std::string_view) {};  ///< takes the lines "[RUN] …"
    std::optional<store::environment> db;
    evidence::scope scope;
    tools::prior_in_use prior;
    text_source text = [](const fork::cpu_schedules& schedules, const fork::cpu_row& row) { return kernel::lower_cpu(schedules, row); };

    /// Every --ab text as pins and the setting they ask for. Errors (user): not a list of pins, a setting that is none, one text twice.
    result<std::vector<ab_row>> ab_rows() const {
        std::vector<ab_row> out;
        for (const std::string& text : asked.ab) {
            const std::string place = "--ab " + std::to_string(out.size() + 1);
            auto list = knob::pin_list::parse(text);
            if (!list) return refuse(tools::pin_fault(list.error(), place));
            auto own = lane_of(*list);
            if (!own) return refuse(tools::pin_fault(own.error(), place));
            ab_row row{text, {}, std::move(*list), std::move(*own)};
            for (const knob::pin& p : row.pins) row.asked.emplace_back(p.key(), p.value);
            std::sort(row.asked.begin(), row.asked.end());
            for (std::size_t i = 0; i < out.size(); ++i)
                if (out[i].asked == row.asked) return refuse(fault_kind::user, "found the pins of --ab " + std::to_string(i + 1) + " again, expected other ones", place);
            out.push_back(std::move(row));
        }
        return out;
    }
};

}  // namespace emmy::bench
