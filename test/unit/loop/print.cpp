#include "support/loop_text.hpp"

#include <emmy/loop/dims.hpp>
#include <emmy/loop/print.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

BOOST_AUTO_TEST_CASE(every_statement_has_a_line) {
    const std::string body =
        R"({"Init":{"name":"m","identity":-1e30,"dtype":"f32"}},{"Let":{"name":"one","value":"1.0"}},{"Loop":{"axis":{"name":"i","extent":2,"window":{"parent":{"name":"g","extent":4},"partition":true}},"body":[)"
        R"({"Loop":{"axis":{"name":"j","extent":8},"body":[{"Load":{"names":["p"],"input":"x","index":["2 * i","j"],"dtype":"i32"}},{"Assign":{"name":"q","op":"copy","args":["p"],"dtype":"f16"}},)"
        R"({"Accum":{"name":"l","value":"q","op":"maximum","axes":["j"],"base":"one"}}],"unroll":true}},{"Select":{"name":"s","branches":[{"value":"l","select":"i < 1"},{"value":"one","select":"true"}]}},)"
        R"({"Loop":{"axis":{"name":"t","extent":{"sym":"n","hint":8}},"body":[{"Pre":{"name":"a","carrier":"S","index":["0"]}},{"Carry":{"name":"S","value":"a","index":["0"],"seed":0.0}}]}},)"
        R"({"Cond":{"cond":"i == 0","body":[{"Write":{"output":"y","index":["i","0"],"values":["s"],"atomic":true}}],"else_body":[{"Write":{"output":"y","index":["i","1"],"values":["s"],"value_dtype":"f16"}}]}},)"
        R"({"StridedLoop":{"axis":{"name":"u","extent":8},"start":"i","step":"2","body":[{"ZeroPrologue":{"dst":"y","words":4}}],"end":"8"}}]}})";
    auto k = loop::parse_kernel(test::loop_ir(body));
    BOOST_REQUIRE_MESSAGE(k, (k ? std::string() : k.error().line()));
    BOOST_CHECK_EQUAL(loop::print(*k), R"(k(x: f32[4, 8], c: f32[1]) -> y: f32[4, 8]
m:f32 = init -1e+30
one = let 1.0
i<2! of g<4:
  j<8 unroll:
    p:i32 = x[2 * i, j]
    q:f16 = copy(p)
    l <maximum- q base one /j
  s = sel l if i < 1 | one if true
  t<n:
    a = pre S[0]
    S[0] <carry- a seed 0.0
  if i == 0:
    y[i, 0] += s
  else:
    y[i, 1]:f16 = s
  u from i step 2 to 8 <8:
    zero y words 4
)");
    BOOST_REQUIRE_EQUAL(loop::symbols(*k).size(), 1u);
    BOOST_CHECK_EQUAL(k->body.text(loop::symbols(*k)[0]), "n");
    BOOST_CHECK_EQUAL(loop::hint_of(*k, loop::symbols(*k)[0]), 8);
    BOOST_CHECK_EQUAL(loop::hint_of(*k, k->body.names.find("one")), default_hint);
}
