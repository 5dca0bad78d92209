#pragma once
#include <emmy/evidence/regime.hpp>
#include <emmy/fork/target.hpp>
#include <emmy/golden/scope.hpp>
#include <emmy/knob/pin.hpp>
#include <emmy/store/records.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

/// The setting a command compiles or measures under, from flags, environment and pins: one reading for every tool.
namespace emmy::tools {

struct setting {
    evidence::regime regime;
    store::context context;
    int team = 1;
};

struct setting_flags {
    bool fast_math = false;  ///< --fast-math; EMMY_FAST_MATH=1 counts too
    bool cold = false;
    std::int64_t opt = -1;   ///< --opt; -1: not given
};

/// A fault of a list of pins, named by where the list was given: "EMMY_KNOBS", "--ab 2".
fault pin_fault(fault f, const std::string& place);
/// $EMMY_KNOBS, then --pin. Errors (user): not a list of pins; one key with two values.
result<knob::pin_list> live_pins(const std::vector<std::string>& flags);
/// The regime that flags and regime pins ask for on this card; a later list of pins wins. Errors (user): a level, a pin or a team that is none.
result<setting> make_setting(const setting_flags& flags, std::initializer_list<const knob::pin_list*> pins, const golden::card_id& card);
/// "emmy-cpp/<version of the code generator>": who measures here.
std::string producer();
/// This processor as a target of schedules.
fork::cpu_target host_target();

/// The schedule pins that reach a kernel, as (key, value).
store::knob_list schedule_pins(const knob::pin_list& pins, const std::string& kernel);

}  // namespace emmy::tools
