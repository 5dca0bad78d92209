#pragma once
#include <emmy/core/config.hpp>
#include <emmy/evidence/pick.hpp>

#include <vector>

namespace emmy::fork {
class cpu_schedules;
struct cpu_row;
}  // namespace emmy::fork

namespace emmy::evidence {

/// The schedule fork of the CPU device as options of a pick, narrowed by pins.
class cpu_options : public option_space {
public:
    /// `pins`: schedule knobs, (key, value); an OFF value also matches a row without the key. `schedules` must outlive this.
    /// A row that the fork does not list is pinned by naming every family of the kernel. Errors (user): the fork's own refusal (unknown
    /// key, value, bound), or no listed row has these values (names the first pin that none has).
    /// `blocked` rows (whole ones) are left out; none may be left then.
    EMMY_DECL static result<cpu_options> make(const fork::cpu_schedules& schedules, const store::knob_list& pins = {}, std::span<const store::knob_list> blocked = {});

    EMMY_DECL std::optional<store::knob_list> option_for(const store::knob_list& measured) const override;
    EMMY_DECL result<store::knob_list> first() const override;
    EMMY_DECL bool single() const override;
    EMMY_DECL bool pinned() const override;
    EMMY_DECL std::optional<std::uint64_t> size() const override;
    const cpu_options* as_cpu() const override { return this; }
    const fork::cpu_schedules& schedules() const { return *schedules_; }

    /// Rows left, in the fork's order.
    EMMY_DECL std::span<const fork::cpu_row> rows() const;

    EMMY_DECL cpu_options(cpu_options&& other) noexcept;
    EMMY_DECL cpu_options& operator=(cpu_options&& other) noexcept;
    EMMY_DECL ~cpu_options() override;

private:
    EMMY_DECL explicit cpu_options(const fork::cpu_schedules& schedules);
    const fork::cpu_schedules* schedules_;
    store::knob_list pins_;
    std::vector<fork::cpu_row> left_;  // only where narrowed
    bool narrowed_ = false;
    std::vector<fork::cpu_row> blocked_;
};

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/cpu_options.ipp>
#endif
