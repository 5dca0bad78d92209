// Every statement of the language through the CPU lowering, every row against the interpreter: what has no fold tree runs in order,
// what would compute values again runs as steps over tables.
#include "../loop/interpret_support.hpp"
#include "support/sampled_rows.hpp"

using namespace emmy;
using namespace emmy::test;

namespace {

void agrees(const loop::kernel& k, fork::cpu_form form, double bound = 1e-5, const std::vector<loop::symbol_size>& sizes = {}) {
    auto schedules = fork::cpu_schedules::make(k, host_target());
    BOOST_REQUIRE_MESSAGE(schedules, (schedules ? "" : schedules.error().line()));
    BOOST_CHECK_MESSAGE(schedules->facts().form == form, "form " << static_cast<int>(schedules->facts().form));
    const auto seen = explore_rows(k, 64, bound, sizes);
    BOOST_CHECK_EQUAL(seen.tried, std::min<std::size_t>(64, schedules->rows().size()));
    const auto equal = equal_texts(*schedules);
    BOOST_CHECK_MESSAGE(equal.empty(), equal.size() << " rows print a text twice, first " << (equal.empty() ? "" : equal.front()));
}
std::string refused(const loop::kernel& k) {
    const auto made = fork::cpu_schedules::make(k, host_target());
    return made ? "" : made.error().line();
}
std::string strided(const std::string& axis, const std::string& start, const std::string& step, int extent, const std::string& body) {
    return R"({"StridedLoop":{"axis":{"name":")" + axis + R"(","extent":)" + std::to_string(extent) + R"(},"start":")" + start + R"(","step":")" + step + R"(","body":[)" + body + "]}}";
}
std::string over_symbol(const std::string& axis, const std::string& body) { return R"({"Loop":{"axis":{"name":")" + axis + R"(","extent":{"sym":"n","hint":3}},"body":[)" + body + "]}}"; }
std::string cond(const std::string& c, const std::string& body, const std::string& otherwise = "") {
    return R"({"Cond":{"cond":")" + c + R"(","body":[)" + body + (otherwise.empty() ? "]}}" : R"(],"else_body":[)" + otherwise + "]}}");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cpu_statements)

BOOST_AUTO_TEST_CASE(conditions_and_init) {
    const std::string inside = join({load("a", "x", {"i", "j"}), accum("s", "a")});
    agrees(kernel_of({{"x", "f32", "[5,9]"}}, {{"y", "f32", "[5]"}}, over("i", 5, join({R"({"Init":{"name":"s","identity":100.0,"dtype":"f32"}})", over("j", 40, cond("j < 9", inside)), write("y", {"i"}, "s")}))), fork::cpu_form::ordered);
    agrees(kernel_of({{"x", "f32", "[9]"}}, {{"y", "f32", "[40]"}}, over("j", 40, cond("j < 9", join({load("a", "x", {"j"}), write("y", {"j"}, "a")}), join({let("z", "9.0"), write("y", {"j"}, "z")})))), fork::cpu_form::ordered);
}
BOOST_AUTO_TEST_CASE(strided_and_unseeded_loops) {
    agrees(kernel_of({{"x", "f32", "[6,50]"}}, {{"y", "f32", "[6]"}}, over("i", 6, join({strided("j", "1", "3", 50, join({load("a", "x", {"i", "j"}), accum("s", "a")})), write("y", {"i"}, "s")}))), fork::cpu_form::ordered);
    const std::string again = R"({"Loop":{"axis":{"name":"k","extent":2},"seed":false,"body":[)" + join({load("b", "x", {"i", "k"}), accum("s", "b")}) + "]}}";
    agrees(kernel_of({{"x", "f32", "[300,3]"}}, {{"y", "f32", "[300]"}}, over("i", 300, join({over("j", 3, join({load("a", "x", {"i", "j"}), accum("s", "a")})), again, write("y", {"i"}, "s")}))), fork::cpu_form::ordered);
}
BOOST_AUTO_TEST_CASE(prefixes_and_several_updates) {
    agrees(kernel_of({{"x", "f32", "[7,30]"}}, {{"y", "f32", "[7,30]"}}, over("i", 7, over("j", 30, join({load("a", "x", {"i", "j"}), accum("s", "a"), write("y", {"i", "j"}, "s")})))), fork::cpu_form::ordered);
    agrees(kernel_of({{"x", "f16", "[30]"}}, {{"y", "f32", "[30]"}}, over("j", 30, join({load("a", "x", {"j"}), assign("t", "add", {"s", "a"}), write("y", {"j"}, "t"), accum("s", "a")}))), fork::cpu_form::ordered);
    agrees(kernel_of({{"x", "i32", "[4,30]"}}, {{"y", "i64", "[4]"}}, over("i", 4, join({over("j", 30, join({load("a", "x", {"i", "j"}), accum("s", "a"), accum("s", "a")})), write("y", {"i"}, "s")}))), fork::cpu_form::ordered);
}
BOOST_AUTO_TEST_CASE(carried_states) {
    const std::string step = over("c", 2, join({R"({"Pre":{"name":"p","carrier":"S","index":["1 - c"]}})", load("a", "x", {"t", "c"}), assign("q", "add", {"p", "a"}), R"({"Carry":{"name":"S","value":"q","index":["c"],"seed":0.0}})", write("y", {"t", "c"}, "q")}));
    agrees(kernel_of({{"x", "f32", "[30,2]"}}, {{"y", "f32", "[30,2]"}}, over("t", 30, step)), fork::cpu_form::ordered);
    const std::string inner = over("c", 2, join({R"({"Pre":{"name":"p","carrier":"S","index":["1 - c"]}})", load("a", "x", {"b", "t", "c"}), assign("q", "add", {"p", "a"}), R"({"Carry":{"name":"S","value":"q","index":["c"],"seed":"z"}})"}));
    agrees(kernel_of({{"x", "f32", "[9,30,2]"}, {"z", "f32", "[2]"}}, {{"y", "f32", "[9,2]"}}, over("b", 9, join({over("t", 30, inner), over("c", 2, join({R"({"Pre":{"name":"last","carrier":"S","index":["c"]}})", write("y", {"b", "c"}, "last")}))}))), fork::cpu_form::ordered);
}
BOOST_AUTO_TEST_CASE(atomic_sums) {
    // Bare indices that cover the output: sums. Anything else: one member, in order.
    agrees(kernel_of({{"x", "f32", "[6,40]"}}, {{"y", "f32", "[40]"}}, over("i", 6, over("j", 40, join({load("a", "x", {"i", "j"}), write("y", {"j"}, "a", R"(,"atomic":true)")})))), fork::cpu_form::staged);
    agrees(kernel_of({{"x", "f32", "[6,40]"}}, {{"y", "f32", "[10]"}}, over("i", 6, over("j", 40, join({load("a", "x", {"i", "j"}), write("y", {"j / 4"}, "a", R"(,"atomic":true)")})))), fork::cpu_form::ordered);
}
BOOST_AUTO_TEST_CASE(vector_loads_and_stores) {
    const std::string body = join({R"({"Load":{"names":["a","b"],"input":"x","index":["i","2 * j"]}})", assign("c", "multiply", {"a", "b"}), R"({"Write":{"output":"y","index":["i","2 * j"],"values":["c","a"]}})"});
    agrees(kernel_of({{"x", "f32", "[4,64]"}}, {{"y", "f32", "[4,64]"}}, over("i", 4, over("j", 32, body))), fork::cpu_form::ordered);
}
BOOST_AUTO_TEST_CASE(online_softmax_becomes_sums) {
    const std::string step = join({load("s", "x", {"i", "j"}), let("one", "1.0"), assign("g", "maximum", {"m", "s"}), assign("d", "subtract", {"m", "g"}), assign("al", "exp", {"d"}), assign("c", "subtract", {"s", "g"}),
                                   assign("be", "exp", {"c"}), assign("lb", "multiply", {"l", "al"}), assign("lv", "multiply", {"be", "one"}), accum("l", "lv", "add", "lb"), accum("m", "s", "maximum")});
    const auto k = kernel_of({{"x", "f32", "[20,100]"}}, {{"y", "f32", "[20]"}, {"top", "f32", "[20]"}}, over("i", 20, join({over("j", 100, step), write("y", {"i"}, "l"), write("top", {"i"}, "m")})));
    agrees(k, fork::cpu_form::staged);
}
BOOST_AUTO_TEST_CASE(values_behind_other_loops_are_tabled) {
    // Σ_j (Σ_k x[j,k]) · w[i,j]: the inner sum does not vary with i; heads share keys.
    const std::string inner = join({over("k", 50, join({load("a", "x", {"j", "k"}), accum("s", "a")})), load("b", "w", {"i", "j"}), assign("p", "multiply", {"s", "b"}), accum("t", "p")});
    agrees(kernel_of({{"x", "f32", "[40,50]"}, {"w", "f32", "[30,40]"}}, {{"y", "f32", "[30]"}}, over("i", 30, join({over("j", 40, inner), write("y", {"i"}, "t")}))), fork::cpu_form::staged, 1e-4);
    const std::string score = over("d", 16, join({load("q", "xq", {"h", "i", "d"}), load("key", "k", {"h / 3", "j", "d"}), assign("p", "multiply", {"q", "key"}), accum("s", "p")}));
    const std::string low = R"({"Select":{"name":"m","branches":[{"value":"zero","select":"j <= i"},{"value":"fill","select":"i < j"}]}})";
    const std::string masked = join({score, low, assign("u", "add", {"s", "m"})});
    const auto attention = kernel_of({{"xq", "f32", "[6,21,16]"}, {"k", "f32", "[2,37,16]"}, {"v", "f32", "[2,37,20]"}, {"z", "f32", "[1]"}, {"f", "f32", "[1]"}}, {{"y", "f32", "[6,21,20]"}},
        join({load("zero", "z", {"0"}), load("fill", "f", {"0"}), over("h", 6, over("i", 21, join({over("j", 37, join({masked, accum("top", "u", "maximum")})),
            over("j", 37, join({masked, assign("w", "subtract", {"u", "top"}), assign("e", "exp", {"w"}), accum("l", "e")})),
            over("c", 20, join({over("j", 37, join({masked, assign("w", "subtract", {"u", "top"}), assign("e", "exp", {"w"}), assign("r", "divide", {"e", "l"}), load("b", "v", {"h / 3", "j", "c"}), assign("o", "multiply", {"b", "r"}), accum("acc", "o")})),
                                write("y", {"h", "i", "c"}, "acc")}))})))}));
    agrees(attention, fork::cpu_form::staged, 1e-4);
}
BOOST_AUTO_TEST_CASE(symbolic_tables) {
    const std::string norm = over_symbol("i", join({over("k", 40, join({load("a", "x", {"i", "k"}), assign("p", "multiply", {"a", "a"}), accum("s", "p")})), assign("r", "rsqrt", {"s"}),
        over("j", 33, join({over("k", 40, join({load("b", "x", {"i", "k"}), assign("u", "multiply", {"b", "r"}), assign("u2", "multiply", {"u", "r"}), load("w", "w", {"k", "j"}), assign("m", "multiply", {"u2", "w"}), accum("t", "m")})), write("y", {"i", "j"}, "t")}))}));
    const auto k = kernel_of({{"x", "f32", R"([{"sym":"n","hint":3},40])"}, {"w", "f32", "[40,33]"}}, {{"y", "f32", R"([{"sym":"n","hint":3},33])"}}, norm);
    agrees(k, fork::cpu_form::staged, 1e-4, {{"n", 17}});
    auto schedules = fork::cpu_schedules::make(k, host_target());
    auto text = kernel::lower_cpu(*schedules, schedules->rows()[0]);
    BOOST_REQUIRE(text);
    const long long small[] = {3}, large[] = {3000};
    BOOST_CHECK_GT(text->scratch_bytes(1, large), text->scratch_bytes(1, small) + 2900 * 4);
}
BOOST_AUTO_TEST_CASE(quotients_of_negative_values_go_down) {
    const std::string body = join({load("a", "x", {"i"}), R"({"Load":{"names":["b"],"input":"w","index":["((int)a - 3) / 2 + 2"]}})", write("y", {"i"}, "b")});
    agrees(kernel_of({{"x", "i32", "[40]"}, {"w", "f32", "[9]"}}, {{"y", "f32", "[40]"}}, over("i", 40, body)), fork::cpu_form::map);
}
BOOST_AUTO_TEST_CASE(what_has_no_lowering_says_why) {
    BOOST_CHECK_EQUAL(refused(kernel_of({{"x", "f32", "[4]"}}, {{"y", "f32", "[4]"}}, join({R"({"ZeroPrologue":{"dst":"y","words":4}})", over("i", 4, join({load("a", "x", {"i"}), write("y", {"i"}, "a")}))}))),
                      "no CPU lowering for scheduled kernel code: ZeroPrologue");
}

BOOST_AUTO_TEST_SUITE_END()
