#pragma once
// For tests written with Boost.Test that link emmy: what structural arms leave of one kernel on this processor. Every arm with sampled rows
// of each of its kernels is planned, compiled, run and compared with the interpreter of the whole. Include <boost/test/unit_test.hpp> first.
#include <emmy/explore.hpp>

#include <emmy/device/answer.hpp>
#include <emmy/device/cpu/device.hpp>
#include <emmy/evidence/cpu_options.hpp>
#include <emmy/fold/kernel_form.hpp>
#include <emmy/fork/structure.hpp>
#include <emmy/plan.hpp>

#include <map>
#include <memory>

namespace emmy {

struct explore_set_options {
    /// How many (arm, rows) pairs, the first rows of the kernel itself always among them. A pin is structural (PLACE@map.1/inner=cut: this arm) or of
    /// the n-th kernel that the arm leaves, in launch order from 0 (1:TILE=f4x8).
    knob::explore_options sets = {};
    std::uint64_t rows = 3;                          ///< an arm stands that often in what is sampled: once with every kernel's first row, else random ones
    std::vector<loop::symbol_size> sizes = {};       ///< of symbolic kernels; else the hints
    std::vector<int> teams = {1, 2};
    std::vector<std::string_view> transposed = {};   ///< inputs that are constants whose last bind-time transform is a transpose
    int optimisation = 1;
};

namespace detail {

/// The sets that arms leave of one kernel as something that knob::explore_fork explores.
class cpu_set_fork {
public:
    static result<cpu_set_fork> make(const loop::kernel& k, const explore_set_options& how) {
        cpu_set_fork out(how);
        out.target_ = device::cpu::schedule_target(out.device_->identify());
        device::answer_options options;
        options.seed = how.sets.seed, options.every_cell = true;
        EMMY_TRY(answer, device::answer::prepare(k, how.sizes, nullptr, {}, options));
        out.answer_ = std::make_unique<device::answer>(std::move(answer));
        out.whole_ = std::make_unique<loop::kernel>(k);
        EMMY_TRY(form, fold::form_of(k));
        EMMY_TRY(forks, fork::structural_options(form, {.transposed = how.transposed}));
        EMMY_CHECK_OK(out.add(knob::routing_row{}, plan::network::of(k)));
        for (const fork::structural_fork& f : forks)
            for (const fork::structural_arm& a : f.arms) {
                if (a.keeps()) continue;
                EMMY_TRY(set, fork::realise(form, a.row));
                EMMY_TRY(network, plan::network::of(k, set));
                EMMY_CHECK_OK(out.add(a.row, std::move(network)));
            }
        EMMY_TRY(pins, out.read(how.sets.pin));
        std::erase_if(out.arms_, [&](const arm& a) { return !pins.takes(a); });
        if (out.arms_.empty()) return refuse(fault_kind::user, "found no arm of " + k.name + " under [" + how.sets.pin + "]", "pin");
        out.narrowed_ = std::move(pins);
        return out;
    }

    std::size_t arms() const { return arms_.size(); }
    std::uint64_t size() const { return arms_.size() * std::max<std::uint64_t>(how_.rows, 1); }
    std::vector<std::string> texts(std::uint64_t i) const {
        std::vector<std::string> out;
        const arm& a = arms_[i / std::max<std::uint64_t>(how_.rows, 1)];
        for (const auto& choice : a.row) out.push_back(choice.key + "=" + choice.value);
        for (std::size_t n = 0; n < a.kernels.size(); ++n)
            for (const auto& [key, value] : a.kernels[n]->pairs(row_of(a, i, n))) out.push_back(std::to_string(n) + ":" + key + "=" + value);
        return out;
    }
    result<void> check(std::uint64_t i) const {
        const arm& a = arms_[i / std::max<std::uint64_t>(how_.rows, 1)];
        std::vector<fork::cpu_row> rows;
        for (std::size_t n = 0; n < a.kernels.size(); ++n) rows.push_back(row_of(a, i, n));
        return check_rows(a, rows);
    }
    bool fails_first(const std::string& pin) const {
        const auto pins = read(pin);
        if (!pins) return false;
        for (const arm& a : arms_) {
            if (pins->arm.empty() ? a.row.size() != 0 : !pins->takes(a)) continue;
            std::vector<fork::cpu_row> rows;
            for (std::size_t n = 0; n < a.kernels.size(); ++n) {
                const auto left = evidence::cpu_options::make(*a.kernels[n], pins->of(n));
                if (!left || left->rows().empty()) return false;
                rows.push_back(left->rows().front());
            }
            return !check_rows(a, rows);
        }
        return false;
    }

private:
    struct arm {
        knob::routing_row row;
        plan::network network;
        std::vector<std::uint32_t> order;                                 ///< nodes in launch order
        std::vector<std::shared_ptr<const fork::cpu_schedules>> kernels;  ///< in launch order
    };
    struct pin_texts {
        store::knob_list arm;
        std::map<std::size_t, store::knob_list> rows;
        bool takes(const cpu_set_fork::arm& a) const {
            return std::all_of(arm.begin(), arm.end(), [&](const auto& p) {
                bool found = false;
                for (const auto& choice : a.row) found = found || (choice.key == p.first && choice.value == p.second);
                return found;
            });
        }
        store::knob_list of(std::size_t kernel) const {
            const auto at = rows.find(kernel);
            return at == rows.end() ? store::knob_list() : at->second;
        }
    };

    explicit cpu_set_fork(const explore_set_options& how) : how_(how), device_(std::make_unique<device::cpu::host_device>()) {}

    result<void> add(knob::routing_row row, plan::network n) {
        arm out{std::move(row), std::move(n), {}, {}};
        EMMY_TRY(order, plan::launch_order(out.network));
        for (const std::uint32_t at : order) {
            EMMY_TRY(schedules, fork::cpu_schedules::make(*out.network.nodes[at].kernel, target_));
            out.kernels.push_back(std::make_shared<fork::cpu_schedules>(std::move(schedules)));
        }
        out.order = std::move(order);
        arms_.push_back(std::move(out));
        return {};
    }

    static result<pin_texts> read(std::string_view text) {
        pin_texts out;
        while (!text.empty()) {
            std::string_view entry = text.substr(0, text.find(','));
            text.remove_prefix(std::min(text.size(), entry.size() + 1));
            const std::size_t equals = entry.find('='), colon = entry.substr(0, std::min(entry.size(), equals)).find(':');
            if (equals == std::string_view::npos) return refuse(fault_kind::user, "found [" + std::string(entry) + "], expected KEY=VALUE or n:KEY=VALUE", "pin");
            store::knob_list* into = &out.arm;
            if (colon != std::string_view::npos) {
                std::size_t kernel = 0;
                for (const char c : entry.substr(0, colon)) kernel = c >= '0' && c <= '9' && kernel < 1000 ? kernel * 10 + static_cast<std::size_t>(c - '0') : 100000;
                into = &out.rows[kernel];
                entry.remove_prefix(colon + 1);
            }
            const std::size_t at = entry.find('=');
            into->emplace_back(entry.substr(0, at), entry.substr(at + 1));
        }
        return out;
    }

    /// The first row of every kernel, else random ones: the same for one seed.
    fork::cpu_row row_of(const arm& a, std::uint64_t i, std::size_t kernel) const {
        const auto pinned = evidence::cpu_options::make(*a.kernels[kernel], narrowed_.of(kernel));
        const std::span<const fork::cpu_row> rows = pinned && !pinned->rows().empty() ? pinned->rows() : a.kernels[kernel]->rows();
        if (i % std::max<std::uint64_t>(how_.rows, 1) == 0) return rows[0];
        knob::seed g(how_.sets.seed * 1000003 + i * 101 + kernel);
        return rows[static_cast<std::size_t>(knob::uniform_below(g, rows.size()))];
    }

    result<void> check_rows(const arm& a, std::span<const fork::cpu_row> rows) const {
        std::vector<plan::choice> chosen(a.kernels.size());
        for (std::size_t n = 0; n < a.kernels.size(); ++n) chosen[a.order[n]] = {a.kernels[n].get(), rows[n]};
        EMMY_TRY(planned, plan::executable::make(a.network, target_, chosen));
        for (const int team : how_.teams) {
            EMMY_TRY(at, plan::bind(planned, sizes_of(planned), team));
            EMMY_TRY(given, plan::answer_bytes(planned, at, *answer_));
            EMMY_TRY(arena, plan::make_arena(planned, at));
            plan::fill(arena, planned, given);
            EMMY_CHECK_OK(device_->run(plan::sequence_of(planned, at, false, how_.optimisation), arena));
            if (const std::string wrong = answer_->check(arena); !wrong.empty()) return refuse(fault_kind::internal, "team of " + std::to_string(team) + ": " + wrong);
        }
        return {};
    }
    std::vector<loop::symbol_size> sizes_of(const plan::executable& p) const {
        std::vector<loop::symbol_size> out = how_.sizes;
        std::erase_if(out, [&](const loop::symbol_size& s) { return std::none_of(p.symbols().begin(), p.symbols().end(), [&](const plan::symbol& have) { return have.name == s.symbol; }); });
        return out;
    }

    explore_set_options how_;
    fork::cpu_target target_;
    std::unique_ptr<device::cpu::host_device> device_;
    std::unique_ptr<loop::kernel> whole_;
    std::unique_ptr<device::answer> answer_;
    std::vector<arm> arms_;
    pin_texts narrowed_;
};

}  // namespace detail

struct set_exploration : knob::exploration {
    std::size_t arms = 0;  ///< the kernel as it is among them
};

/// Explores what arms leave of a kernel on this processor and reports. Gives the counts.
///   emmy::explore_kernel_sets(kernel, {.sets = {.sample = 16, .pin = "PLACE@map.1/inner=cut"}});
inline set_exploration explore_kernel_sets(const loop::kernel& k, explore_set_options how = {}) {
    detail::narrow_by_environment(how.sets);
    auto sets = detail::cpu_set_fork::make(k, how);
    BOOST_REQUIRE_MESSAGE(sets, k.name << ": " << (sets ? std::string() : sets.error().line()));
    const knob::exploration done = knob::explore_fork(*sets, how.sets);
    detail::report(k.name + " ", done);
    set_exploration out;
    static_cast<knob::exploration&>(out) = done;
    out.arms = sets->arms();
    return out;
}

}  // namespace emmy
