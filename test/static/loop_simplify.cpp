// The check values of exact simplification as constant expressions; test/unit/loop/simplify.cpp has them as text.
#include <emmy/loop/normal/order.hpp>

using namespace emmy;
using namespace emmy::loop::normal;

namespace {
struct pool_with_axes {
    enum : name_id { a0 = 1, a1, a2, over, size };  // < 64, < 4096, < 3, < size, size >= 1
    expr_pool pool;
    ranges known;
    constexpr pool_with_axes() {
        known.axis(a0, 64, 0), known.axis(a1, 4096, 1), known.axis(a2, 3, 2);
        known.symbol(size), known.symbolic_axis(over, pool.name(size), 3);
    }
};
struct term {
    pool_with_axes* in;
    expr_id id;
    constexpr term make(binary_op op, term b) const { return {in, in->pool.binary(op, id, b.id)}; }
    constexpr term make(binary_op op, std::int64_t b) const { return {in, in->pool.binary(op, id, in->pool.integer(b))}; }
    friend constexpr term operator+(term a, auto b) { return a.make(binary_op::add, b); }
    friend constexpr term operator*(term a, auto b) { return a.make(binary_op::multiply, b); }
    friend constexpr term operator/(term a, auto b) { return a.make(binary_op::divide, b); }
    friend constexpr term operator%(term a, auto b) { return a.make(binary_op::remainder, b); }
    friend constexpr term operator<(term a, auto b) { return a.make(binary_op::less, b); }
};
template <class F>
constexpr bool simplifies(F make) {
    pool_with_axes in;
    auto name = [&](name_id v) { return term{&in, in.pool.name(v)}; };
    auto number = [&](std::int64_t v) { return term{&in, in.pool.integer(v)}; };
    const auto [from, to] = make(name(in.a0), name(in.a1), name(in.a2), name(in.over), name(in.size), number, in);
    simplifier s(in.pool, in.known);
    return s.simplify(from.id) == to.id;
}
struct pair {
    term from, to;
};
#define EMMY_CHECK_VALUE(from, to) static_assert(simplifies([]([[maybe_unused]] term a0, [[maybe_unused]] term a1, [[maybe_unused]] term a2, \
    [[maybe_unused]] term over, [[maybe_unused]] term size, [[maybe_unused]] auto number, [[maybe_unused]] pool_with_axes& in) { return pair{from, to}; }))

EMMY_CHECK_VALUE((a0 * 4096 + a1) / 128 % 32, a1 / 128);
EMMY_CHECK_VALUE((a1 / 128) * 128 + a1 % 128, a1);
EMMY_CHECK_VALUE(a1 / 16 * 8 + a1 % 16 / 2, a1 / 16 * 8 + a1 % 16 / 2);
EMMY_CHECK_VALUE((a0 * 4096 + a1) / 2 % 2048, a1 / 2);
EMMY_CHECK_VALUE((a0 * 8) % 64, a0 % 8 * 8);
EMMY_CHECK_VALUE(size * 128 / (size * 4), number(32));
EMMY_CHECK_VALUE(over % size, over);
EMMY_CHECK_VALUE((a0 * 2 + 1) / 16, a0 / 8);
EMMY_CHECK_VALUE((a1 * 8 + 3) % 8, number(3));
EMMY_CHECK_VALUE((term{&in, in.pool.ternary((a2 < 3).id, a2.id, number(7).id)}), a2);
EMMY_CHECK_VALUE((a0 * 1024 + a1 * 2) / 2048, (a0 * 1024 + a1 * 2) / 2048);

// Canonical order: affine sums by axis, constant last; others keep their tree.
constexpr bool orders() {
    pool_with_axes in;
    auto name = [&](name_id v) { return term{&in, in.pool.name(v)}; };
    auto number = [&](std::int64_t v) { return term{&in, in.pool.integer(v)}; };
    canonical_order order(in.pool, in.known);
    const term a0 = name(in.a0), a1 = name(in.a1);
    return order((number(256) + a1 * 2 + (a0 + 1) * 512).id) == (number(512) * a0 + number(2) * a1 + 768).id  //
           && order((a1 + a1 * -1).id) == number(0).id                                                          //
           && order((number(3) * (a0 / 2)).id) == (a0 / 2 * 3).id                                               //
           && order(a1.make(binary_op::greater, a0).id) == (a0 < a1).id;
}
static_assert(orders());
}  // namespace
