// Exact simplification, on text.
#include <emmy/loop/normal/order.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace emmy;
using namespace emmy::loop::normal;

namespace {
struct pool_with_axes {
    expr_pool pool;
    text_pool names;
    ranges known;
    pool_with_axes() {
        auto axis = [&](const char* name, std::int64_t extent, std::uint32_t rank) { known.axis(names.intern(name), extent, rank); };
        axis("a0", 64, 0), axis("a1", 4096, 1), axis("a2", 3, 2);
        known.symbol(names.intern("S"));
        known.symbolic_axis(names.intern("aS"), pool.name(names.intern("S")), 3);
        known.integer_cast = names.intern("int");
    }
    expr_id parse(std::string_view text) {
        auto id = parse_expr(text, pool, names);
        BOOST_REQUIRE_MESSAGE(id, text << ": " << (id ? "" : id.error().message()));
        return *id;
    }
    std::string spell(expr_id id) {
        std::string out;
        spell_expr(out, id, pool, names);
        return out;
    }
    std::string simplified(std::string_view text, strength how = strength::as_stored) {
        simplifier s(pool, known, how);
        return spell(s.simplify(parse(text)));
    }
    std::string ordered(std::string_view text) {
        canonical_order order(pool, known);
        return spell(order(parse(text)));
    }
};
struct row {
    const char *from, *to;
};
}  // namespace

BOOST_AUTO_TEST_CASE(check_values) {
    const row rows[] = {{"(a0 * 4096 + a1) / 128 % 32", "a1 / 128"},
        {"(a1 / 128) * 128 + a1 % 128", "a1"},
        {"a1 / 16 * 8 + a1 % 16 / 2", "a1 / 16 * 8 + a1 % 16 / 2"},
        {"(a0 * 4096 + a1) / 2 % 2048", "a1 / 2"},
        {"(a0 * 8) % 64", "a0 % 8 * 8"},
        {"S * 128 / (S * 4)", "32"},
        {"aS % S", "aS"},
        {"(a0 * 2 + 1) / 16", "a0 / 8"},
        {"(a1 * 8 + 3) % 8", "3"},
        {"a2 < 3 ? a2 : 7", "a2"},
        {"(a0 * 1024 + a1 * 2) / 2048", "(a0 * 1024 + a1 * 2) / 2048"},
        // one line a rule
        {"a0 + 0", "a0"}, {"0 + a0", "a0"}, {"a0 - 0", "a0"}, {"a0 - a0", "0"}, {"a0 * 0", "0"}, {"1 * a0", "a0"}, {"a0 / 1", "a0"}, {"a0 % 1", "0"}, {"0 / a0", "0"},
        {"7 / 2", "3"}, {"-7 / 2", "-4"}, {"-7 % 4", "1"}, {"7 / 0", "7 / 0"}, {"true && a0 < 3", "a0 < 3"}, {"a0 < 3 && false", "0"}, {"false || a0 < 3", "a0 < 3"},
        {"a0 < 64", "1"}, {"a0 >= 64", "0"}, {"64 > a0", "1"}, {"a0 == 64", "0"}, {"a0 <= 63", "1"}, {"a0 < 63", "a0 < 63"}, {"aS < S", "1"}, {"aS >= S", "0"}, {"S > aS", "1"},
        {"a1 / 4 / 8", "a1 / 32"}, {"a1 // 4", "a1 / 4"}, {"x // 4", "x // 4"}, {"x / 4 / 8", "x / 4 / 8"}, {"(int)3", "3"}, {"(float)3", "(float)3"}, {"x < 3 ? a0 : a0", "a0"},
        {"a0 * 6 / 4", "a0 * 3 / 2"}, {"S * 6 % (S * 4)", "S * 2"}, {"a0 * 128 + a1 % 128 + a1 / 128 * 128", "a1 + a0 * 128"},
        {"9223372036854775807 + 1", "9223372036854775807 + 1"}, {"(a0 + 9223372036854775807) / 2 < 0", "(a0 + 9223372036854775807) / 2 < 0"}};
    for (const row& r : rows) {
        pool_with_axes in;
        BOOST_TEST(in.simplified(r.from) == r.to, r.from << " gave " << in.simplified(r.from) << ", expected " << r.to);
    }
}

BOOST_AUTO_TEST_CASE(thorough_rules) {
    const row rows[] = {{"a1 / 8 % 8 * 16 + a1 / 64 * 128 + a0", "a1 / 8 * 16 + a0"}, {"a1 % 8 * 2 + a1 / 8 % 4 * 16", "a1 % 32 * 2"}, {"a1 % 256 / 16", "a1 / 16 % 16"}, {"a1 % 256 % 16", "a1 % 16"},
        {"(a1 < 16 ? a1 : 0) + 4 < 20", "1"}, {"(a1 < 16 ? a1 : 0) + 4 < 4", "0"}, {"(a1 < 16 ? a1 : 0) + 4 < 19", "(a1 < 16 ? a1 : 0) + 4 < 19"}};
    for (const row& r : rows) {
        pool_with_axes in, as_stored;
        BOOST_TEST(in.simplified(r.from, strength::thorough) == r.to, r.from << " gave " << in.simplified(r.from, strength::thorough) << ", expected " << r.to);
        if (std::string(r.from) != r.to) BOOST_TEST(as_stored.simplified(r.from) != r.to, r.from << " is simplified without the thorough rules");
    }
}

BOOST_AUTO_TEST_CASE(canonical_spelling) {
    const row rows[] = {{"a1 + a0", "a0 + a1"}, {"a1 * 128 + a0", "a0 + 128 * a1"}, {"4 + a0 * 2 - a1", "2 * a0 + -1 * a1 + 4"}, {"a0 - 3", "a0 + -3"}, {"a2 > a0", "a0 < a2"},
        {"a2 >= a0", "a0 <= a2"}, {"2 * (a0 / 4)", "a0 / 4 * 2"}, {"256 + a1 % 256 + 512 * (a1 / 256)", "a1 / 256 * 512 + (a1 % 256 + 256)"}, {"(a0 + 1) * (a1 + 1)", "(a0 + 1) * (a1 + 1)"},
        {"a0 - a0", "0"}, {"2 * (a0 + a1) - 2 * a1", "2 * a0"}};
    for (const row& r : rows) {
        pool_with_axes in;
        BOOST_TEST(in.ordered(r.from) == r.to, r.from << " gave " << in.ordered(r.from) << ", expected " << r.to);
    }
}

// Every rewriting keeps the value: all values of the axes, expressions drawn at random.
BOOST_AUTO_TEST_CASE(simplification_keeps_values) {
    std::uint64_t state = 1;
    auto draw = [&](std::uint64_t n) { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33, (state >> 33) % n; };
    long changed = 0;
    for (int round = 0; round < 20000; ++round) {
        expr_pool pool;
        ranges known;
        const std::int64_t extents[] = {static_cast<std::int64_t>(1 + draw(12)), static_cast<std::int64_t>(1 + draw(6)), static_cast<std::int64_t>(1 + draw(4))};
        for (name_id v = 0; v < 3; ++v) known.axis(v + 1, extents[v], v);
        auto make = [&](auto&& self, int depth) -> expr_id {
            if (depth == 0 || draw(5) == 0) return draw(3) != 0 ? pool.name(static_cast<name_id>(1 + draw(3))) : pool.integer(static_cast<std::int64_t>(draw(9)));
            const binary_op ops[] = {binary_op::add, binary_op::add, binary_op::multiply, binary_op::divide, binary_op::remainder, binary_op::subtract, binary_op::less, binary_op::less_equal, binary_op::greater};
            const binary_op op = ops[draw(9)];
            const expr_id a = self(self, depth - 1);
            const bool literal = op == binary_op::multiply || op == binary_op::divide || op == binary_op::remainder;
            const expr_id b = literal ? pool.integer(static_cast<std::int64_t>(1 + draw(8))) : self(self, depth - 1);
            if (draw(12) == 0) return pool.ternary(pool.binary(binary_op::less, a, b), b, a);
            return pool.binary(op, a, b);
        };
        const expr_id from = make(make, 5);
        simplifier s(pool, known, round % 2 == 0 ? strength::as_stored : strength::thorough);
        canonical_order order(pool, known);
        const expr_id to = s.simplify(from), last = order(to);
        changed += to != from;
        const interval range = s.bounds(to);
        std::int64_t at[4] = {};
        auto value = [&](auto&& self, expr_id id) -> std::int64_t {
            const expr e = pool[id];
            switch (e.kind) {
                case expr_kind::name: return at[e.name];
                case expr_kind::binary: break;
                case expr_kind::ternary: return self(self, e.a) != 0 ? self(self, e.b) : self(self, e.c);
                default: return e.integer;
            }
            const std::int64_t a = self(self, e.a), b = self(self, e.b);
            const std::int64_t q = b == 0 ? 0 : a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
            switch (e.op) {
                case binary_op::add: return a + b;
                case binary_op::subtract: return a - b;
                case binary_op::multiply: return a * b;
                case binary_op::divide: return q;
                case binary_op::remainder: return a - q * b;
                case binary_op::less: return a < b;
                case binary_op::less_equal: return a <= b;
                default: return a > b;
            }
        };
        for (at[1] = 0; at[1] < extents[0]; ++at[1])
            for (at[2] = 0; at[2] < extents[1]; ++at[2])
                for (at[3] = 0; at[3] < extents[2]; ++at[3]) {
                    const std::int64_t expected = value(value, from);
                    BOOST_REQUIRE_EQUAL(value(value, to), expected);
                    BOOST_REQUIRE_EQUAL(value(value, last), expected);
                    if (range.known) BOOST_REQUIRE(expected >= range.low && expected <= range.high);
                }
    }
    BOOST_TEST(changed > 5000);
}
