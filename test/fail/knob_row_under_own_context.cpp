// expect: LANES: found \[8\], expected at most as many lanes as the block is wide
#include "fail/own_families.hpp"

struct LANES : choice<"LANES", 1, 8> {
    using under = BLK;
    static constexpr const char* misfit(int lanes, const blk& b) { return lanes <= b.n ? nullptr : "at most as many lanes as the block is wide"; }
};

#ifdef GOOD
constexpr auto it = lit_of<row<BLK, LANES>, "BLK=b8x8", "LANES=8">;
#else
constexpr auto it = lit_of<row<BLK, LANES>, "BLK=b8x4", "LANES=8">;
#endif
