#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/fork/target.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What a processor can do, as predictions read it.
namespace emmy::prior {

/// Measured ceilings of a team on this processor; what device::ceilings says, as plain values. Empty = not measured.
struct cpu_rates {
    struct level {
        std::uint64_t footprint = 0;   ///< bytes touched
        double bytes_per_second = 0;   ///< of the whole team
    };
    int team = 1;
    double flops_f32 = 0;              ///< flop/s of the whole team; multiply and add count as two
    std::vector<level> bandwidth;      ///< ascending footprint
    bool known() const { return flops_f32 > 0 && !bandwidth.empty(); }
};

/// Rates of one member of the team in its own clock.
struct cpu_machine {
    fork::cpu_target target;
    int team = 1;
    double cycles_per_us = 2600;
    struct level {
        double bytes = 0;              ///< what fits
        double per_cycle = 0;          ///< bytes read a cycle, one member while all of them read
    };
    level l1, l2, last, memory;        ///< memory.bytes is not used
    bool measured = false;             ///< by ceilings; else what processors of this kind have
    const level& holding(double bytes) const { return bytes <= l1.bytes ? l1 : bytes <= l2.bytes ? l2 : bytes <= last.bytes ? last : memory; }
};

/// From the identified processor, its measured ceilings where there are some. A ceiling that was measured on a busy machine is brought
/// back to what is plausible: the clock to 1.2 … 6 GHz, a bandwidth to a quarter … four times the usual.
EMMY_DECL cpu_machine make_cpu_machine(const fork::cpu_target& target, int team = 1, const cpu_rates& rates = {});

/// Ceilings as a text that the evidence store keeps as a fact of the machine, and its name there: "ceilings cpu: … team=2".
EMMY_DECL std::string rates_text(const cpu_rates& rates);
EMMY_DECL result<cpu_rates> parse_rates(std::string_view text);  ///< errors (input): not such a text
EMMY_DECL std::string rates_fact(std::string_view card, int team);

}  // namespace emmy::prior

#ifdef EMMY_HEADER_ONLY
#include <emmy/prior/impl/machine.ipp>
#endif
