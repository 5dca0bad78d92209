#pragma once
#include <cstdio>

namespace lane_maps {

void dump_mma(std::FILE* out);          ///< register maps of mma.sync
void dump_wgmma(std::FILE* out);        ///< register maps and descriptors of wgmma
void dump_copies(std::FILE* out);       ///< ldmatrix, stmatrix, tensor copies with swizzle
void dump_conversions(std::FILE* out);  ///< rounding and packing of narrow types

}  // namespace lane_maps
