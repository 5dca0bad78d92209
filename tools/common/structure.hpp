#pragma once
#include <common/unit.hpp>

#include <emmy/fork/target.hpp>
#include <emmy/knob/pin.hpp>

/// Kernels that pins take apart.
namespace emmy::tools {

bool structural(const knob::pin_list& pins);

/// Structural pins (PLACE@map.1/inner=cut, REDUCE=g4k, LAYOUT@w=source) replace kernels of the unit by what the arms leave; nothing else is
/// decided: what no pin names stays whole. `notes`: pins that named nothing. Errors (user): as of the arm; no arm is left.
result<void> take_apart(unit& what, const knob::pin_list& pins, const fork::cpu_target& target, std::vector<std::string>& notes);

}  // namespace emmy::tools
