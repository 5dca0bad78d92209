#include <common/table.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy::tools;

namespace {
table sample(const char* schema) {
    table t(schema, {{"row"}, {"knobs", false}, {"emmy_us", true, true, "us"}, {"ok"}, {"note", true, false}});
    t.add({cell::text("a|b"), cell::json("{\"WORK\":\"t128\"}"), cell::real(15.0), cell::boolean(true), cell::text("n")});
    t.add({cell::text("x,\"y\"\n\x1b[2J\xc3\xa9"), cell(), cell::real(1e-05, 3, "x"), cell::boolean(false), cell()});
    t.fact("total", cell::integer(2));
    t.footer("2 row(s)");
    return t;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(tools_table)

BOOST_AUTO_TEST_CASE(for_people) {
    BOOST_TEST(sample("").render(format::table) ==
               "row                    us  ok   note\n"
               "a|b                 15.00  yes  n\n"
               "x,\"y\"\\x0a\\x1b[2J\xc3\xa9  0.000x  no   -\n"
               "2 row(s)\n");
    BOOST_TEST(sample("").render(format::md) ==
               "| row | us | ok | note |\n"
               "| --- | --: | --- | --- |\n"
               "| a\\|b | 15.00 | yes | n |\n"
               "| x,\"y\"\\x0a\\x1b[2J\xc3\xa9 | 0.000x | no | - |\n"
               "2 row(s)\n");
}

BOOST_AUTO_TEST_CASE(for_machines) {
    BOOST_TEST(sample("s/1").render(format::json) ==
               "{\"schema\": \"s/1\",\n \"total\": 2,\n \"rows\": [\n"
               "  {\"row\": \"a|b\", \"knobs\": {\"WORK\":\"t128\"}, \"emmy_us\": 15.0, \"ok\": true},\n"
               "  {\"row\": \"x,\\\"y\\\"\\n\\u001b[2J\\u00e9\", \"knobs\": null, \"emmy_us\": 1e-05, \"ok\": false}\n ]}\n");
    BOOST_TEST(sample("").render(format::json).starts_with("[\n {\"row\": \"a|b\""));
    BOOST_TEST(sample("").render(format::json).ends_with("}\n]\n"));
    BOOST_TEST(sample("").render(format::csv) ==
               "row,knobs,emmy_us,ok\n"
               "a|b,\"{\"\"WORK\"\":\"\"t128\"\"}\",15.0,true\n"
               "\"x,\"\"y\"\"\n\x1b[2J\xc3\xa9\",,1e-05,false\n");
}

BOOST_AUTO_TEST_CASE(of_nothing) {
    const table t("s/1", {{"a"}});
    BOOST_TEST(t.render(format::json) == "{\"schema\": \"s/1\",\n \"rows\": []}\n");
    BOOST_TEST(t.render(format::table).empty());
    BOOST_TEST(t.render(format::csv) == "a\n");
}

BOOST_AUTO_TEST_SUITE_END()
