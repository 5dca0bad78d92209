#include <emmy/core/expr.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace emmy;

namespace {
std::string respelled(std::string_view text) {
    expr_pool pool;
    text_pool names;
    auto id = parse_expr(text, pool, names);
    if (!id) return "refused: " + id.error().message();
    std::string out;
    spell_expr(out, *id, pool, names);
    return out;
}
std::string repeated(std::string_view part, int count, std::string out = {}) {
    for (int i = 0; i < count; ++i) out += part;
    return out;
}
}  // namespace

BOOST_AUTO_TEST_CASE(canonical_texts_stay_as_they_are) {
    for (const char* text : {"a0", "0", "-3", "1.0", "-0.5", "1e-05", "1e+16", "true", "false", "a0 + a1", "a0 + -128", "-3 + a0", "(a0 + a1) * 2", "a0 * a1 + 2", "a0 - (a1 - a2)", "a0 - a1 - a2",
             "a0 / 4 % 8", "a0 / (4 % 8)", "a0 // 2", "(int)v0 < 0 ? (int)v0 + 256 : (int)v0", "(int)(a0 + 1)", "(int)(-3)", "(int)(float)x", "(int)true", "(int)f(a0)", "a0 < 4 && a1 < 2 || a2 == 0",
             "(a0 < 4 || a1 < 2) && a2 != 0", "a0 < 4 ? a1 < 2 ? 0 : 1 : a2", "(a0 ? a1 : a2) ? 1 : 2", "(a0 ? a1 : a2) + 1", "a0 ? 1 : a1 ? 2 : 3", "min(a0, a1 + 1)", "f()", "max(a0 ? 1 : 2, 3)",
             "thread_idx.x + block_dim.x * block_idx.x", "warp_size", "a0 << 2 >> 1", "a0 == (a1 == a2)", "a0 == a1 == a2", "a0 < (a1 == a2)", "a0 & 7 | a1 ^ 3", "s.part", "a0 / 4 * 4", "-9223372036854775808",
             "9223372036854775807"})
        BOOST_CHECK_EQUAL(respelled(text), text);
}

BOOST_AUTO_TEST_CASE(blanks_and_needless_parentheses_go) {
    BOOST_CHECK_EQUAL(respelled("  ((a0)+ ( a1 *2 ) ) "), "a0 + a1 * 2");
    BOOST_CHECK_EQUAL(respelled("(int) v0<0?( (int)v0 + 1):((int)v0)"), "(int)v0 < 0 ? (int)v0 + 1 : (int)v0");
    BOOST_CHECK_EQUAL(respelled("- 5"), "-5");
    BOOST_CHECK_EQUAL(respelled("-0"), "0");
    BOOST_CHECK_EQUAL(respelled("1."), "1.0");
    BOOST_CHECK_EQUAL(respelled("1.50E+1"), "15.0");
    BOOST_CHECK_EQUAL(respelled("(a0) - 3"), "a0 - 3");  // a group: no number, name or "(" follows
    BOOST_CHECK_EQUAL(respelled("min( a0 ,a1)"), "min(a0, a1)");
    BOOST_CHECK_EQUAL(respelled("a0<=a1"), "a0 <= a1");
}

BOOST_AUTO_TEST_CASE(precedence) {
    expr_pool pool;
    text_pool names;
    auto same = [&](std::string_view a, std::string_view b) {
        auto first = parse_expr(a, pool, names), second = parse_expr(b, pool, names);
        return first && second && *first == *second;
    };
    BOOST_CHECK(same("a + b * c", "a + (b * c)"));
    BOOST_CHECK(same("a - b + c", "(a - b) + c"));
    BOOST_CHECK(same("a < b + 1", "a < (b + 1)"));
    BOOST_CHECK(same("a == b < c", "a == (b < c)"));
    BOOST_CHECK(same("a < b & c", "(a < b) & c"));  // one level, left to right
    BOOST_CHECK(same("a && b || c && d", "(a && b) || (c && d)"));
    BOOST_CHECK(same("(int)a + b", "((int)a) + b"));
    BOOST_CHECK(same("a ? b : c ? d : e", "a ? b : (c ? d : e)"));
    BOOST_CHECK(!same("true", "1"));
    BOOST_CHECK(!same("1.0", "1"));
}

BOOST_AUTO_TEST_CASE(refusals_name_the_offset) {
    BOOST_CHECK_EQUAL(respelled(""), "refused: found the end at offset 0 of the expression \"\", expected a number, a name or \"(\"");
    BOOST_CHECK_EQUAL(respelled("a0 + )"), "refused: found \")\" at offset 5 of the expression \"a0 + )\", expected a number, a name or \"(\"");
    BOOST_CHECK_EQUAL(respelled("a0 a1"), "refused: found \"a\" at offset 3 of the expression \"a0 a1\", expected an operator or the end");
    BOOST_CHECK_EQUAL(respelled("-a0"), "refused: found \"a\" at offset 1 of the expression \"-a0\", expected a number after \"-\"");
    BOOST_CHECK_EQUAL(respelled("(a0 + 1"), "refused: found the end at offset 7 of the expression \"(a0 + 1\", expected \")\"");
    BOOST_CHECK_EQUAL(respelled("a0 ? 1"), "refused: found the end at offset 6 of the expression \"a0 ? 1\", expected \":\"");
    BOOST_CHECK_EQUAL(respelled("f(a0"), "refused: found the end at offset 4 of the expression \"f(a0\", expected \",\" or \")\"");
    BOOST_CHECK_EQUAL(respelled("9223372036854775808"), "refused: found an integer at offset 0 of the expression \"9223372036854775808\", expected one of 64 bits");
    BOOST_CHECK(respelled("1e999").starts_with("refused: found a real number at offset 0"));
    for (const char* text : {"true(1)", "warp_size()", "!a", "a = b", "a.b.c", "3x", ".5", "a ?: b", "()", "a\n\x01"}) BOOST_CHECK_MESSAGE(respelled(text).starts_with("refused: "), text << " gave " << respelled(text));
}

BOOST_AUTO_TEST_CASE(depth_is_bounded) {
    BOOST_CHECK(!respelled(repeated("(", 200) + "a" + repeated(")", 200)).starts_with("refused"));
    for (const std::string& text : {repeated("(", 300) + "a" + repeated(")", 300), repeated("(int)", 300) + "a", repeated(" + a", 300, "a"), repeated("a ? a : ", 300) + "a", repeated("f(", 300) + "a" + repeated(")", 300),
             repeated("(", 1000000), repeated("(int)", 1000000), repeated("a ? ", 1000000), repeated(" * a", 1000000, "a"), repeated("f(", 1000000)})
        BOOST_CHECK_MESSAGE(respelled(text).starts_with("refused: found an expression nested deeper at offset"), text.substr(0, 20) << " gave " << respelled(text));
    BOOST_CHECK(respelled(repeated(", 0", 70, "f(0") + ")").find("expected at most 64") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(calls_are_interned_by_their_arguments) {
    expr_pool pool;
    text_pool names;
    auto a = parse_expr("f(x, 1)", pool, names), b = parse_expr("f(x, 2)", pool, names), again = parse_expr("f( x,1 )", pool, names), other = parse_expr("f(x)", pool, names);
    BOOST_REQUIRE((a && b && again && other));
    BOOST_CHECK_EQUAL(*a, *again);
    BOOST_CHECK_NE(*a, *b);
    BOOST_CHECK_NE(*a, *other);
    BOOST_CHECK_EQUAL(pool.args(pool[*b]).size(), 2u);
}
