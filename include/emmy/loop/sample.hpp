#pragma once
#include <emmy/loop/interpret.hpp>

#include <cstdint>
#include <vector>

/// Seeded inputs and seeded output cells: what a check of a kernel of any size feeds and looks at.
namespace emmy::loop {

/// One seeded source per declared input. Reals are uniform in [-1, 1) rounded to the buffer's type; buffers of one element (eps, counts,
/// scales) in [0.5, 1.5), so that no root or divisor is negative; integers that a gather index reads lie inside the dimension they
/// index, others in 0 … 6 (bool: 0 or 1; packed bytes: any).
EMMY_DECL std::vector<input_data> seeded_inputs(const kernel& k, std::uint64_t seed);

struct sampled_cell {
    std::size_t output = 0;
    std::vector<std::int64_t> at;
};
/// `count` coordinates that some statement writes, one Write after the other: its axes drawn uniformly from their loops (as far as
/// reduce_steps lets them run). Deterministic in the seed. A coordinate may be drawn twice.
EMMY_DECL std::vector<sampled_cell> sample_cells(const interpreter& compiled, std::uint64_t seed, std::size_t count);

/// Index expressions of every Load, Write and Pre at drawn axes: are they inside, is every dividend of / and % at least 0?
struct index_samples {
    std::uint64_t evaluated = 0;           ///< index entries
    std::uint64_t outside = 0;             ///< of them, out of bounds
    std::uint64_t negative_dividends = 0;
    std::uint64_t gathers = 0;             ///< statements whose index is computed from data: skipped
    std::string first;                     ///< the first finding: statement, buffer, index
};
/// Every statement `draws` times. Errors: as interpreter::make.
EMMY_DECL result<index_samples> sample_indices(const kernel& k, const interpret_options& options, std::uint64_t seed, std::size_t draws);

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/impl/sample.ipp>
#endif
