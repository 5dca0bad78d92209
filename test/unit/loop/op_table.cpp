#include <emmy/loop/op_table.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <set>

using namespace emmy;
using loop::op;

BOOST_AUTO_TEST_CASE(every_operator_has_one_spelling) {
    std::set<std::string_view> seen;
    for (const loop::op_facts& f : loop::op_table) {
        if (f.op == op::none) continue;
        BOOST_CHECK_MESSAGE(seen.insert(f.text).second, f.text << " is listed twice");
        BOOST_CHECK_MESSAGE(loop::op_from_text(f.text) == f.op, f.text << " is not found");
        BOOST_CHECK_MESSAGE(f.arity >= 1 && f.arity <= 3, f.text << " has arity " << f.arity);
        BOOST_CHECK_MESSAGE(!f.meaning.empty(), f.text << " has no meaning");
        if (f.folds) BOOST_CHECK_MESSAGE(f.associative && f.commutative, f.text << " folds");
    }
    for (const loop::op_alias& alias : loop::op_aliases) {
        BOOST_CHECK_MESSAGE(seen.insert(alias.text).second, alias.text << " is listed twice");
        BOOST_CHECK_MESSAGE(loop::op_from_text(alias.text) == alias.op, alias.text << " is not found");
    }
    for (const char* text : {"", "Add", "none", "matmul", "sinc", "averyveryveryveryveryverylongname_"}) BOOST_CHECK(loop::op_from_text(text) == op::none);
}

BOOST_AUTO_TEST_CASE(every_scalar_function_of_numpy_is_legal) {
    // The ufuncs of numpy with one result and real or integer arguments.
    for (const char* text : {"absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "bitwise_and", "bitwise_count", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "conj", "conjugate",
             "copysign", "cos", "cosh", "deg2rad", "degrees", "divide", "equal", "exp", "exp2", "expm1", "fabs", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "gcd", "greater", "greater_equal", "heaviside",
             "hypot", "invert", "isfinite", "isinf", "isnan", "lcm", "ldexp", "left_shift", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or",
             "logical_xor", "maximum", "minimum", "mod", "multiply", "negative", "nextafter", "not_equal", "positive", "power", "rad2deg", "radians", "reciprocal", "remainder", "right_shift", "rint", "sign", "signbit", "sin",
             "sinh", "spacing", "sqrt", "square", "subtract", "tan", "tanh", "true_divide", "trunc"})
        BOOST_CHECK_MESSAGE(loop::op_from_text(text) != op::none, text << " is not legal");
}

BOOST_AUTO_TEST_CASE(algebra) {
    BOOST_CHECK_EQUAL(loop::facts(op::add).identity, 0);
    BOOST_CHECK_EQUAL(loop::facts(op::multiply).identity, 1);
    BOOST_CHECK_EQUAL(loop::facts(op::maximum).identity, -1e30);
    BOOST_CHECK_EQUAL(loop::facts(op::minimum).identity, 1e30);
    BOOST_CHECK_EQUAL(loop::facts(op::where).arity, 3);
    int folds = 0;
    for (const loop::op_facts& f : loop::op_table) folds += f.folds;
    BOOST_CHECK_EQUAL(folds, 4);
    BOOST_CHECK(loop::op_from_text("bitwise_right_shift") == op::right_shift);
    BOOST_CHECK(loop::op_from_text("amax") == op::maximum);
    BOOST_CHECK(loop::op_from_text("sum") == op::add);
    BOOST_CHECK_EQUAL(loop::text(op::absolute), "abs");
}
