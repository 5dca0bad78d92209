#pragma once
#include <emmy/evidence/pick.hpp>
#include <emmy/fork/gpu/schedules.hpp>
#include <emmy/knob/pin.hpp>

namespace emmy::evidence {

/// The schedule fork of a GPU kernel as options of a pick, narrowed by pins.
class gpu_options final : public option_space {
public:
    /// `pins`: schedule knobs, (key, value). A complete legal row that the fork does not offer is pinned by naming it whole. `schedules` must
    /// outlive this. Errors (user): a pin that is not canonical, names no site, or that no legal row carries (with the nearest that some does).
    EMMY_DECL static result<gpu_options> make(const fork::gpu_schedules& schedules, const store::knob_list& pins = {});
    /// The same for one kernel of a program: of the pins those that reach it (its C name, its graph node), as pin_list::schedule_for says.
    EMMY_DECL static result<gpu_options> make(const fork::gpu_schedules& schedules, const knob::pin_list& pins, std::string_view kernel_name, std::string_view node_id = {});

    EMMY_DECL std::optional<store::knob_list> option_for(const store::knob_list& measured) const override;
    EMMY_DECL result<store::knob_list> first() const override;
    EMMY_DECL bool single() const override;
    bool pinned() const override { return pinned_; }
    EMMY_DECL std::optional<std::uint64_t> size() const override;
    const fork::gpu_schedules& schedules() const { return schedules_; }  ///< what the pins left

private:
    EMMY_DECL static result<gpu_options> narrowed(const fork::gpu_schedules& schedules, const knob::schedule_row& pins);
    gpu_options(fork::gpu_schedules schedules, bool pinned) : schedules_(std::move(schedules)), pinned_(pinned) {}
    fork::gpu_schedules schedules_;
    std::optional<store::knob_list> only_{};  ///< a pinned row that is not offered
    bool pinned_;
};

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/gpu_options.ipp>
#endif
