#pragma once
#include <emmy/device/concept.hpp>

#include <span>
#include <string>

/// What a number must pass before it is believed, beside the pin having been honoured (knob/pin.hpp).
namespace emmy::device {

/// The least that a kernel must do, whatever its schedule.
struct work {
    double flops = 0;             ///< of its contraction; 0 where a cleverer order could do with less
    std::uint64_t bytes = 0;      ///< each input and output once
    dtype type = dtype::f32;      ///< of the arithmetic
};

/// Second gate: "" when the device can do that much in this time, else one sentence with both rates. Ceilings are measured, so
/// a quarter more than them passes for arithmetic and a half more for bytes (a ceiling reads only; a copy also writes).
EMMY_DECL std::string implausible(double median_us, const work& least, const ceilings& most);

/// How far an answer may be from the reference.
struct error_model {
    dtype type = dtype::f32;      ///< of the output
    double terms = 1;             ///< values that one cell combines
    bool fast_math = false;
    /// |found - wanted| <= rounding of the output type + f32 accumulation over `terms` at the scale of the outputs.
    double tolerance(double wanted, double scale) const;
};
/// Third gate, of one output: cells `at` of it against their wanted values. "" when all are inside, else one sentence that
/// names the worst cell. Non-finite cells must be so on both sides.
EMMY_DECL std::string wrong_answer(std::span<const double> found, std::span<const double> wanted, std::span<const std::int64_t> at, const error_model& model);

/// Outputs are poisoned before a run: "3 of 128 cells were never written, the first at 17" of a floating type (all bits set is a NaN of each), else "".
EMMY_DECL std::string unwritten_cells(dtype type, std::uint64_t elements, const std::byte* bytes);

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/gate.ipp>
#endif
