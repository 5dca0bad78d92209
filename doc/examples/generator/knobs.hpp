#pragma once
// The choices of a generator of matrix transpositions: two families of its own, a rule, a space. Nothing but the algebra is included.
#include <emmy/knob.hpp>

namespace transposition {
using namespace emmy::knob;

struct tile {
    int rows = 8, columns = 8;
    constexpr bool operator==(const tile&) const = default;
};
/// BLK=b16x64: the part of the matrix that is turned at once, inside the first cache.
struct BLK : grammar<"BLK", tile, word<"b">, num<&tile::rows>, word<"x">, num<&tile::columns>> {
    static constexpr tile catalog[] = {{8, 8}, {8, 64}, {16, 16}, {16, 64}, {32, 32}, {64, 8}, {64, 64}, {128, 128}};
};
/// UNROLL=4: columns that one step of the inner loop writes.
struct UNROLL : choice<"UNROLL", 1, 2, 4, 8, 16> {};

struct machine {
    int cache = 48 << 10;  ///< bytes of the first cache
    constexpr bool operator==(const machine&) const = default;
};
struct G1 {
    static constexpr std::string_view id = "G1", means = "A tile and its turned copy fit the first cache.";
    using reads = row<BLK>;
    static constexpr finding test(const auto& r, const machine& m) {
        const tile& t = r.template get<BLK>();
        return at_most("BLK", "bytes of a tile, twice", 2LL * t.rows * t.columns * 4, m.cache);
    }
};
struct G2 {
    static constexpr std::string_view id = "G2", means = "An unrolled step divides the columns of a tile.";
    using reads = row<BLK, UNROLL>;
    static constexpr finding test(const auto& r) { return multiple_of("BLK", "columns of a tile", r.template get<BLK>().columns, r.template get<UNROLL>()); }
};
using legality = rules<G1, G2>;
constexpr auto space_on(const machine& m) { return all<BLK> * all<UNROLL> % holds<legality>(m); }
}  // namespace transposition
