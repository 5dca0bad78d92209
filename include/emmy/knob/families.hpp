#pragma once
#include <emmy/knob/counts.hpp>
#include <emmy/knob/layout.hpp>
#include <emmy/knob/place.hpp>
#include <emmy/knob/policy.hpp>
#include <emmy/knob/raster.hpp>
#include <emmy/knob/reduce.hpp>
#include <emmy/knob/registry.hpp>
#include <emmy/knob/shared_carry.hpp>
#include <emmy/knob/stage.hpp>
#include <emmy/knob/tile.hpp>
#include <emmy/knob/work.hpp>

namespace emmy::knob {

/// The families of this compiler.
using built_in = registry<WORK, TILE, REDUCE, STAGE, RASTER, LOOPIFY, SHARED_CARRY, PLACE, LAYOUT, TEAM, FAST_MATH, FAST_EXP, F16_MMA_F32_ACC,
                          FP8_MMA, COLD_CACHE, VECTORIZE_LOADS, VECTORIZE_STORES, INTERLEAVE_LOADS, GUARD_REDUCTIONS, PAIR_LDMATRIX, UNROLL>;

/// nullptr when no built-in family has this name.
constexpr const family_info* find_family(std::string_view name) { return built_in::find(name); }

/// Does this choice decide kernels (a placement knob) or a schedule? PLACE, LAYOUT, and REDUCE with a cross-CTA stage do the former.
constexpr bool is_structural(std::string_view family, std::string_view value) {
    if (family == PLACE::name || family == LAYOUT::name) return true;
    if (family != REDUCE::name) return false;
    const auto parsed_value = REDUCE::parse(value);
    return parsed_value && parsed_value->crosses_ctas();
}

}  // namespace emmy::knob
