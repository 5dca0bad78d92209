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

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/impl/sample.ipp>
#endif
