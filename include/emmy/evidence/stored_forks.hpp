#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/evidence/index.hpp>
#include <emmy/evidence/pick.hpp>
#include <emmy/evidence/structure.hpp>

/// Forks as the store knows them: the arms that routes name and what they left, the rows that were measured. Nothing is enumerated, nothing
/// is built; what it decides, evidence decides.
namespace emmy::evidence {

/// Arms of the stored routes of a kernel, in canonical order.
EMMY_DECL result<std::vector<store::knob_list>> stored_arms(const store::read_transaction& txn, const digest128& kernel);

/// Kernels of the store by identity, as what a decision about `whole` left, named after `whole`; with their bodies where asked for.
EMMY_DECL result<std::vector<subject>> stored_pieces(const store::read_transaction& txn, const subject& whole, std::span<const digest128> pieces, bool bodies = false);

/// Sizes of the kernel's own symbols only, hints where the compile names none; of a kernel without a body, what its stored rows name.
EMMY_DECL result<void> fit_sizes(const snapshot* evidence, subject& what);

/// Any measured row is an option as it stands; there is no first option (error device_limit: no schedules are known).
class stored_options final : public option_space {
public:
    /// `pins`: (key, value), as cpu_options takes them.
    stored_options(store::knob_list pins, std::span<const store::knob_list> blocked) : pins_(std::move(pins)), blocked_(blocked) {}
    EMMY_DECL std::optional<store::knob_list> option_for(const store::knob_list& measured) const override;
    EMMY_DECL result<store::knob_list> first() const override;
    bool single() const override { return false; }
    bool pinned() const override { return !pins_.empty(); }

private:
    store::knob_list pins_;
    std::span<const store::knob_list> blocked_;
};

class stored_forks : public fork_source {
public:
    /// `evidence` outlives it.
    explicit stored_forks(const snapshot& evidence) : evidence_(&evidence) {}
    EMMY_DECL result<std::vector<kernel_set_fork>> structural(const subject& whole, std::span<const store::knob_list> recorded) override;
    EMMY_DECL result<realised> realise(const subject& whole, const store::knob_list& arm, std::span<const digest128> expected = {}) override;
    EMMY_DECL result<std::unique_ptr<option_space>> schedules(const subject& leaf, const knob::pin_list& pins, std::span<const store::knob_list> blocked) override;

protected:
    const snapshot* evidence_;
};

/// Pins of a schedule that reach a kernel, as (key, value): what option spaces are narrowed by.
EMMY_DECL store::knob_list schedule_pins_of(const knob::pin_list& pins, const subject& what);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/stored_forks.ipp>
#endif
