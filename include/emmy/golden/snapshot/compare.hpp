#pragma once
#include <emmy/core/archive/chunk.hpp>
#include <emmy/core/archive/element.hpp>
#include <emmy/core/config.hpp>

#include <cstdint>
#include <string>

namespace emmy::golden::snapshot {

/// |found - wanted| <= absolute + relative * |wanted|.
struct tolerance {
    double absolute = 0, relative = 0;
};
/// What a kernel that accumulates in f32 may miss by, where nothing better is known: f64 1e-9, f32 1e-5, f16 2e-3, bf16 1.6e-2, f8 0.13,
/// each relative and absolute; integers and bools not at all.
EMMY_DECL tolerance default_tolerance(dtype type);

/// One tensor against another, element by element.
struct comparison {
    std::string name = {};
    std::uint64_t elements = 0;
    bool equal = true;                 ///< every bit
    double max_abs = 0, max_rel = 0;   ///< of pairs of numbers; rel: to the larger magnitude of the two. NaN or infinity against anything else: infinite
    std::int64_t first = -1;           ///< flat index of the first element whose bits differ
    double first_found = 0, first_wanted = 0;
    std::uint64_t over = 0;            ///< elements over the tolerance
    std::int64_t first_over = -1;
    double found = 0, wanted = 0;      ///< at first_over
};
/// "y: 3 of 128 elements over the tolerance, the first at 17: found 1.5, expected 1"; empty when none is.
EMMY_DECL std::string over_tolerance(const comparison& c);

/// Nine significant digits: every f32 apart.
EMMY_DECL std::string real_text(double value);

/// Takes both tensors piece by piece: pieces of equal length, whole elements. Pieces of equal bits cost a memcmp.
class comparer {
public:
    comparer(archive::element type, tolerance allowed) : type_(type), allowed_(allowed) {}
    EMMY_DECL void add(archive::bytes_view found, archive::bytes_view wanted);
    const comparison& so_far() const { return out_; }

private:
    archive::element type_;
    tolerance allowed_;
    comparison out_;
};

EMMY_DECL comparison compare(archive::element type, archive::bytes_view found, archive::bytes_view wanted, tolerance allowed);

}  // namespace emmy::golden::snapshot

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/snapshot_compare.ipp>
#endif
