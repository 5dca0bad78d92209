#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/fork/gpu/kernel.hpp>
#include <emmy/knob/rule/finding.hpp>
#include <emmy/knob/schedule_row.hpp>
#include <emmy/knob/target.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// The schedule fork of a GPU kernel: which rows it has on a card. Needs no GPU.
namespace emmy::fork {

/// What is offered beside what is legal: the policy of precision. A pinned row passes it, a followed measured row does not.
struct gpu_offer {
    bool f16_accumulators = true;  ///< F16_MMA_F32_ACC: atoms whose accumulator has 16 bits
    bool fp8 = true;               ///< FP8_MMA: atoms of 8-bit floats
    constexpr bool operator==(const gpu_offer&) const = default;
};

/// The rows of one kernel on one card, in a fixed order, never materialised: sites in preorder, at each its tiles and then what shares its
/// reduced axis, then their stages, then WORK's producer warps, then RASTER. A row is complete: WORK and RASTER, and every family of every
/// site, OFF values included; the key of a site is bare where its family has one site, else routed.
/// Never changes once made: any number of threads may use one, or copies of it.
class gpu_schedules {
public:
    /// Errors (device_limit): a kernel that has no places of a schedule row.
    EMMY_DECL static result<gpu_schedules> make(const fold::kernel_form& k, const knob::target& target, const gpu_offer& offer = {});
    EMMY_DECL static gpu_schedules make(gpu::kernel facts, const knob::target& target, const gpu_offer& offer = {});

    EMMY_DECL const gpu::kernel& kernel() const;
    EMMY_DECL const knob::target& target() const;

    EMMY_DECL std::uint64_t size() const;  ///< rows; 2^64 - 1 where there are more
    EMMY_DECL bool single() const;
    EMMY_DECL knob::schedule_row unrank(std::uint64_t i) const;  ///< below size()
    EMMY_DECL std::optional<std::uint64_t> rank(const knob::schedule_row& row) const;
    EMMY_DECL bool contains(const knob::schedule_row& row) const;
    /// The first row. Errors (user): there is none, with the pins that left none.
    EMMY_DECL result<knob::schedule_row> first() const;
    /// Calls f(row) in order until it says false.
    template <class Function>
    void walk(Function&& f) const {
        for (std::uint64_t i = 0, n = size(); i < n; ++i)
            if (!f(unrank(i))) return;
    }

    /// A complete row from (key, value) texts, missing families OFF, offered or not. Errors (user): a key that names no site of this kernel,
    /// a value that is not canonical, a rule that the row breaks (its sentence).
    EMMY_DECL result<knob::schedule_row> row(std::span<const std::pair<std::string, std::string>> pairs) const;
    /// What the rules say of a row, in their order, each once; its keys first.
    EMMY_DECL std::vector<knob::finding> findings(const knob::schedule_row& row) const;
    /// The first finding; false where the row is legal.
    EMMY_DECL knob::finding check(const knob::schedule_row& row) const;
    /// The complete offered row that a measured row vouches for: over several sites a bare key may mean any of them, the first in order.
    EMMY_DECL std::optional<knob::schedule_row> option_for(std::span<const std::pair<std::string, std::string>> measured) const;
    /// (key, value) texts of a complete row, canonical order.
    EMMY_DECL std::vector<std::pair<std::string, std::string>> pairs(const knob::schedule_row& row) const;

    /// The rows that honour pins. Errors (user): no row does; the nearest legal values of the first pin that none carries.
    EMMY_DECL result<gpu_schedules> pinned(const knob::schedule_row& pins) const;

    struct state;

private:
    std::shared_ptr<const state> state_;
};

}  // namespace emmy::fork

#ifdef EMMY_HEADER_ONLY
#include <emmy/fork/impl/gpu_schedules.ipp>
#endif
