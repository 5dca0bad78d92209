#include <emmy/core/json.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

BOOST_AUTO_TEST_SUITE(json_text)

BOOST_AUTO_TEST_CASE(reals_are_spelled_as_the_files_spell_them) {
    const std::pair<double, const char*> cases[] = {{1e-12, "1e-12"}, {1e-05, "1e-05"}, {15.0, "15.0"}, {0.08838834764831845, "0.08838834764831845"},
                                                    {9.223372036854776e+18, "9.223372036854776e+18"}, {1e15, "1000000000000000.0"}, {1e16, "1e+16"},
                                                    {0.0001, "0.0001"}, {-0.5, "-0.5"}, {0.0, "0.0"}, {123.25, "123.25"}, {1.5e300, "1.5e+300"}};
    for (const auto& [number, text] : cases) BOOST_TEST(json::spell_real(number) == text);
}

BOOST_AUTO_TEST_CASE(a_document_is_written_back_as_it_was_read) {
    const std::string text = R"({"b":[1,-2,3.5,1e-05],"a":{"x":true,"y":null},"s":"\"\\\n\u00e9\ud83d\ude00"})";
    const auto document = json::document::parse(text);
    BOOST_REQUIRE(document.has_value());
    std::string out;
    json::writer(out).copy(document->root());
    BOOST_TEST(out == text);
    BOOST_TEST(document->root().find("b")->items()[2].is(json::kind::real));
    BOOST_TEST(document->root().find("b")->items()[0].is(json::kind::integer));
}

BOOST_AUTO_TEST_CASE(bad_text_is_refused_with_its_path) {
    auto line = [](std::string_view text) {
        const auto document = json::document::parse(text, "f.json");
        return document ? std::string("accepted") : document.error().line();
    };
    BOOST_TEST(line(R"({"rows":[{"a":1},{"b":{"c":1,"c":2}}]})") == "f.json: rows[1].b: found the key \"c\" twice, expected distinct keys");
    BOOST_TEST(line("[1,").find("f.json: [1]: not JSON: ") == 0);
    BOOST_TEST(line(std::string(300, '[')).find("found nesting deeper than 256 at line 1 column 257, expected at most 256") != std::string::npos);
    BOOST_TEST(line("{} x") == "f.json: found text after the document at line 1 column 4, expected its end");
    BOOST_TEST(line("\"\xff\"").find("not JSON") != std::string::npos);
    BOOST_TEST(line("[NaN]").find("not JSON") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(fields_refuse_what_is_missing_unknown_or_of_another_type) {
    const auto document = json::document::parse(R"({"name":"k","size":true,"extra":1})");
    const json::path root{};
    json::fields f(document->root(), root);
    BOOST_TEST((*f.need("name"))->text() == "k");
    BOOST_TEST(f.need("kernel").error().line() == "the key \"kernel\" is missing");
    BOOST_TEST(json::read_integer(*f.may("size"), f.at("size")).error().line() == "size: found true, expected an integer");
    BOOST_TEST(f.done().error().line() == "extra: found an unknown key, expected none of this name");
}

BOOST_AUTO_TEST_SUITE_END()
