#pragma once
// For tests written with Boost.Test that link emmy: schedules of one kernel on this processor, each lowered, compiled, run and compared
// with the interpreter. Include <boost/test/unit_test.hpp> first.
#include <emmy/explore.hpp>

#include <emmy/device/answer.hpp>
#include <emmy/device/cpu/device.hpp>
#include <emmy/evidence/cpu_options.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/text.hpp>

namespace emmy {

struct explore_kernel_options {
    knob::explore_options rows = {};                 ///< how many, which, under which pin ("TILE=f4x8,RASTER=gm8")
    std::vector<loop::symbol_size> sizes = {};       ///< of symbolic kernels; else the hints
    std::vector<int> teams = {1, 3};                 ///< every row runs once with each
    int optimisation = 1;                            ///< of the host compiler
    bool fast_math = false;
};

namespace detail {

/// The schedules of one kernel as something that knob::explore_fork explores.
class cpu_fork {
public:
    static result<cpu_fork> make(const loop::kernel& k, const explore_kernel_options& how) {
        cpu_fork out(how);
        EMMY_TRY(schedules, fork::cpu_schedules::make(k, device::cpu::schedule_target(out.device_->identify())));
        out.schedules_ = std::make_unique<fork::cpu_schedules>(std::move(schedules));
        EMMY_TRY(pins, pins_of(how.rows.pin));
        EMMY_TRY(options, evidence::cpu_options::make(*out.schedules_, pins));
        out.options_ = std::make_unique<evidence::cpu_options>(std::move(options));
        EMMY_TRY(answer, device::answer::prepare(k, how.sizes, nullptr, {}, {.seed = how.rows.seed, .fast_math = how.fast_math}));
        EMMY_TRY(arena, answer.arena());
        out.answer_ = std::make_unique<device::answer>(std::move(answer));
        out.arena_ = std::make_unique<device::tensor_arena>(std::move(arena));
        return out;
    }

    std::uint64_t size() const { return options_->rows().size(); }
    std::vector<std::string> texts(std::uint64_t i) const {
        std::vector<std::string> out;
        for (const auto& [key, value] : schedules_->pairs(options_->rows()[i])) out.push_back(key + "=" + value);
        return out;
    }
    result<void> check(std::uint64_t i) const { return check_row(options_->rows()[i]); }
    bool fails_first(const std::string& pin) const {
        const auto pins = pins_of(pin);
        if (!pins) return false;
        const auto left = evidence::cpu_options::make(*schedules_, *pins);
        return left && !left->rows().empty() && !check_row(left->rows().front());
    }

private:
    explicit cpu_fork(const explore_kernel_options& how) : how_(how), device_(std::make_unique<device::cpu::host_device>()) {}

    /// KEY=VALUE{,KEY=VALUE}, values as the fork spells them.
    static result<store::knob_list> pins_of(std::string_view text) {
        store::knob_list out;
        while (!text.empty()) {
            const std::string_view entry = text.substr(0, text.find(','));
            const std::size_t equals = entry.find('=');
            if (equals == std::string_view::npos) return refuse(fault_kind::user, "found [" + std::string(entry) + "], expected KEY=VALUE", "pin");
            out.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
            text.remove_prefix(std::min(text.size(), entry.size() + 1));
        }
        return out;
    }

    result<void> check_row(const fork::cpu_row& row) const {
        EMMY_TRY(text, kernel::lower_cpu(*schedules_, row));
        const std::vector<long long> sizes = text.launch_sizes(schedules_->kernel(), how_.sizes);
        for (const int team : how_.teams) {
            arena_->poison_outputs();
            const device::kernel_text source{text.source, text.entry, text.scratch_bytes(team, sizes), how_.fast_math, how_.optimisation};
            EMMY_CHECK_OK(device_->run(source, *arena_, {sizes, team}));
            if (const std::string wrong = answer_->check(*arena_); !wrong.empty()) return refuse(fault_kind::internal, "team of " + std::to_string(team) + ": " + wrong);
        }
        return {};
    }

    explore_kernel_options how_;
    std::unique_ptr<device::cpu::host_device> device_;
    std::unique_ptr<fork::cpu_schedules> schedules_;
    std::unique_ptr<evidence::cpu_options> options_;
    std::unique_ptr<device::answer> answer_;
    std::unique_ptr<device::tensor_arena> arena_;
};

}  // namespace detail

/// Explores the schedules of a kernel on this processor and reports. A kernel that has none here is an error of the test.
///   emmy::explore_kernel(kernel, {.rows = {.sample = 16, .pin = "RASTER="}});
inline knob::exploration explore_kernel(const loop::kernel& k, explore_kernel_options how = {}) {
    detail::narrow_by_environment(how.rows);
    auto schedules = detail::cpu_fork::make(k, how);
    BOOST_REQUIRE_MESSAGE(schedules, k.name << ": " << (schedules ? std::string() : schedules.error().line()));
    const knob::exploration done = knob::explore_fork(*schedules, how.rows);
    detail::report(k.name + " ", done);
    return done;
}

}  // namespace emmy
