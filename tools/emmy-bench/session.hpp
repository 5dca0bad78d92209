#pragma once
#include <common/exit.hpp>
#include <common/options.hpp>
#include <common/setting.hpp>
#include <common/subject.hpp>

#include <emmy/device/cpu/device.hpp>
#include <emmy/device/worker.hpp>
#include <emmy/evidence/import.hpp>
#include <emmy/evidence/record.hpp>
#include <emmy/evidence/regime.hpp>
#include <emmy/evidence/scope.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/knob/pin.hpp>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <unistd.h>

namespace emmy::bench {

/// What `emmy-bench` was asked for.
struct settings {
    tools::common_options common;
    bool record = true, again = false, interpret = false, reference = true;
    std::int64_t sample = 0;         ///< options of the schedule space to bench, the default among them
    double seconds = 0.3;            ///< measuring time a row
    std::int64_t least_samples = 20;
    std::vector<std::string> ab;     ///< "K=V,…", one row each
    bool fast_math = false, cold = false;
    std::int64_t opt = -1;
};

/// The text of one row for the device; replaced in tests by kernels that hang, crash or lie.
using text_source = std::function<result<kernel::cpu_text>(const fork::cpu_schedules&, const fork::cpu_row&)>;

/// A compile setting as this device runs it.
struct lane : tools::setting {
    std::string name() const { return regime.fast_math ? "fm" : "std"; }
};

using tools::producer;

/// One run of the tool: the device, the store, what is in scope.
class session {
public:
    static result<session> open(settings asked, device::worker_options worker = {}) {
        if (!asked.common.device.empty() && asked.common.device != "cpu") {
            // A card by name is accepted when it is this one; nothing else can be measured here.
            if (asked.common.device != device::cpu::identify_host().card)
                return refuse(fault_kind::device, "found the device \"" + asked.common.device + "\", expected cpu: nothing else is measured by this build", "--device");
        }
        session out;
        out.asked = std::move(asked);
        if (const char* flags = std::getenv("EMMY_NVCC_FLAGS"); flags && *flags) out.notes.emplace_back("EMMY_NVCC_FLAGS has no meaning on a processor and is ignored");
        EMMY_TRY(list, tools::live_pins(out.asked.common.pin));
        out.pins = std::move(list);
        EMMY_TRY(base, out.lane_of(out.pins));
        out.base = std::move(base);
        out.card = {out.host().card, 0, 0};
        out.target = tools::host_target();
        out.worker = device::worker_device(std::move(worker));
        EMMY_CHECK_OK(out.open_store());
        if (!out.base.regime.deployable()) out.notes.push_back("measured at -O" + std::to_string(out.base.regime.opt) + ": recorded under that setting, where no ordinary compile reads it");
        return out;
    }

    /// Setting of a row: the base one with the regime pins of `own` over it.
    result<lane> lane_of(const knob::pin_list& own) const {
        EMMY_TRY(setting, tools::make_setting({asked.fast_math, asked.cold, asked.opt}, {&pins, &own}, {host().card, 0, 0}));
        return lane{std::move(setting)};
    }
    static const device::identification& host() { return device::cpu::identify_host(); }

    settings asked;
    std::vector<std::string> notes;
    knob::pin_list pins;
    lane base;
    golden::card_id card;
    fork::cpu_target target;
    device::worker_device worker;
    std::optional<store::environment> db;
    evidence::scope scope;
    text_source text = [](const fork::cpu_schedules& schedules, const fork::cpu_row& row) { return kernel::lower_cpu(schedules, row); };

private:
    result<void> open_store() {
        const std::string path = asked.common.db.empty() ? evidence::default_store_path() : asked.common.db;
        if (asked.record) {
            if (path.empty()) return refuse(fault_kind::user, "found no place for the evidence store (HOME and EMMY_DB are not set), expected --db PATH", "--db");
            EMMY_TRY(opened, evidence::open_store(path, store::access::write, store::store_kind::tuning));
            db = std::move(opened);
        } else if (!path.empty() && ::access(path.c_str(), F_OK) == 0) {
            // Goldens in scope may still be new to it; where it cannot be written, what it holds is the evidence.
            auto opened = evidence::open_store(path, store::access::write, store::store_kind::tuning);
            if (!opened) opened = evidence::open_store(path, store::access::read, store::store_kind::tuning);
            if (!opened) return refuse(std::move(opened).error());
            db = std::move(*opened);
        } else {
            EMMY_TRY(empty, evidence::temporary_store());
            db = std::move(empty);
        }
        if (!db->notes().empty()) notes.push_back(db->notes());
        if (!db->writable()) return {};
        // Another card's file is refused as evidence; its programs stay selectable.
        EMMY_TRY(in_scope, evidence::prepare_scope(*db, asked.common.golden, card));
        scope = std::move(in_scope);
        for (const std::string& line : scope.refused) notes.push_back(line);
        for (const std::string& line : scope.notes) notes.push_back(line);
        return {};
    }
};

}  // namespace emmy::bench
