#pragma once
// Families, a rule and a card of a user, for the cases of this folder.
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

struct VEC : choice<"VEC", 1, 2, 4, 8> {};
struct blk {
    int m = 1, n = 1, k = 1;
    bool operator==(const blk&) const = default;
};
struct BLK : grammar<"BLK", blk, word<"b">, num<&blk::m>, word<"x">, num<&blk::n>, opt<"/k", &blk::k, 1>> {
    static constexpr blk catalog[] = {{8, 8}, {16, 8}, {32, 8}};
};
struct my_card {
    int smem = 256;
};
struct R1 {
    static constexpr std::string_view id = "R1", means = "A tile fits the memory of the card.";
    using reads = row<BLK, VEC>;
    static constexpr finding test(const auto& r, const my_card& card) {
        const blk b = r.template get<BLK>();
        return at_most("BLK", "bytes of a tile", b.m * b.n * r.template get<VEC>(), card.smem);
    }
};
