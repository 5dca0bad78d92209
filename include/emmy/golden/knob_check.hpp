#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/json.hpp>

#include <string>
#include <string_view>

/// What the knob registry says about one key and value of a golden file, alone (the row's own WORK is not looked at). Each
/// answers the refusal, "found …, expected …", or nothing.
namespace emmy::golden {

/// `knobs` of a row: a registered family that decides no kernels, at a route if it has sites, its value (text, integer or boolean) in canonical spelling.
EMMY_DECL std::string check_row_knob(std::string_view key, const json::value& value);
/// `pins` of a row: a registered family with a value of its own JSON type.
EMMY_DECL std::string check_pin(std::string_view key, const json::value& value);
/// `arm` of a decision: PLACE, LAYOUT, or REDUCE whose value crosses CTAs.
EMMY_DECL std::string check_arm(std::string_view key, std::string_view value);

}  // namespace emmy::golden

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/knob_check.ipp>
#endif
