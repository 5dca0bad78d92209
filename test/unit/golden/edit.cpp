#include <emmy/core/file.hpp>
#include <emmy/golden.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

using namespace emmy;
using golden::document;

namespace {

document own() { return document::load(EMMY_TEST_DATA "/golden_every_construct.json").value(); }
std::string entry(const document& file, golden::kernel_index k, const std::string& rest) {
    std::string out = "{\"loop_ir\":";
    json::writer(out).copy(file.kernels()[k].loop_ir);
    return out + ",\"name\":\"" + std::string(file.kernels()[k].name) + "\",\"formed\":true" + rest + "}";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_edit)

BOOST_AUTO_TEST_CASE(a_document_can_be_made_from_nothing) {
    const document source = own();
    document file = document::create("cpu: test f1m1 avx2 2c 1M/2M", 0, 0);
    BOOST_REQUIRE(file.set_producer("emmy-cpp/1").has_value());
    BOOST_REQUIRE(file.set_note("line\n\"two\"").has_value());
    BOOST_TEST(!file.set_note("\xff").has_value());
    std::string program;
    json::writer(program).copy(source.programs()[1]);
    BOOST_REQUIRE(file.add_program(program).has_value());
    BOOST_TEST(file.add_kernel(entry(source, 1, ",\"traced\":0,\"origins\":[\"relu\"]")).value() == 0u);
    BOOST_REQUIRE(file.add_row(R"({"name":"relu","kernel":"k_relu_1","pins":{"FAST_MATH":false,"TEAM":2},"knobs":{"WORK":"","RASTER":""},"measurements":{"emmy_us":1.5}})").has_value());
    const auto again = document::parse(file.text(), "again.json");
    BOOST_REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().line()));
    BOOST_TEST(again->text() == file.text());
    BOOST_TEST(file.text().starts_with("{\"gpu_name\": \"cpu: test f1m1 avx2 2c 1M/2M\",\n \"compute_cap\": [0, 0],\n \"note\": \"line\\n\\\"two\\\"\",\n \"format\": 1,\n \"producer\": \"emmy-cpp/1\",\n \"programs\": [\n"));
    BOOST_TEST(file.text().ends_with("\n ]}\n"));
}

BOOST_AUTO_TEST_CASE(a_kernel_is_stored_once_and_another_of_its_name_gets_the_next_reference) {
    document file = own();
    BOOST_TEST(file.add_kernel(entry(file, 2, "")).value() == 2u);
    BOOST_TEST(file.kernels().size() == 5u);
    // The piece becomes a target when it is added as one.
    BOOST_TEST(file.add_kernel(entry(file, 4, ",\"traced\":1,\"origins\":[\"relu\"]")).value() == 4u);
    BOOST_TEST(file.kernels()[4].target());
    // Another body under a taken name.
    std::string other = entry(file, 4, "");
    for (auto at = other.find("k_relu_1__place_0123456789"); at != other.npos; at = other.find("k_relu_1__place_0123456789")) other.replace(at, 26, "k_matmul_0a1b2c");
    other.replace(other.find("negative"), 8, "absolute");
    const auto added = file.add_kernel(other);
    BOOST_REQUIRE_MESSAGE(added.has_value(), (added ? "" : added.error().line()));
    BOOST_TEST(file.kernels()[*added].ref() == "k_matmul_0a1b2c#3");
    BOOST_TEST(file.find_kernel("k_matmul_0a1b2c#3") == *added);
    BOOST_TEST(document::parse(file.text()).value().text() == file.text());
}

BOOST_AUTO_TEST_CASE(a_decision_replaces_the_one_of_equal_parent_and_arm) {
    document file = own();
    const std::string same = R"({"parent":"k_relu_1","arm":{"PLACE@map":"cut","PLACE@map.1/map":"cut"},"children":["k_matmul_0a1b2c__partial"]})";
    BOOST_TEST(file.add_decision(same).value() == 1u);
    BOOST_TEST(file.routing().size() == 3u);
    BOOST_TEST(file.minted_by(4) == 2u);  // now first minted by the third
    BOOST_TEST(file.minted_by(2) == 0u);
    BOOST_TEST(file.add_decision(R"({"parent":"k_relu_1","arm":{"PLACE@map":"cut"},"children":[]})").value() == 3u);
}

BOOST_AUTO_TEST_CASE(edits_go_through_the_rules) {
    document file = own();
    BOOST_TEST(file.add_row(R"({"name":"r","kernel":"none"})").error().line().find("rows[6].kernel: found \"none\"") != std::string::npos);
    BOOST_TEST(file.rows().size() == 6u);
    BOOST_TEST(!file.add_kernel("{\"loop_ir\":{},\"name\":\"k\",\"formed\":true}").has_value());
    BOOST_TEST(file.kernels().size() == 5u);
    BOOST_REQUIRE(file.replace_row(5, R"({"name":"r","kernel":"k_relu_1"})").has_value());
    BOOST_TEST(file.rows()[5].name == "r");
    file.remove_row(0);
    BOOST_TEST(file.rows().size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_file_is_saved_in_one_step_and_not_over_another_unasked) {
    const auto folder = std::filesystem::temp_directory_path() / ("emmy_golden_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const std::string path = (folder / "x.json").string();
    const document file = own();
    BOOST_REQUIRE(file.save(path, false).has_value());
    BOOST_TEST(read_file(path).value() == file.text());
    const auto refused = file.save(path, false);
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST(exit_code(refused.error().kind()) == 2);
    BOOST_TEST(file.save(path, true).has_value());
    BOOST_REQUIRE(golden::update(path, [](document& d) -> result<void> { return d.set_note("changed"); }).has_value());
    BOOST_TEST(*document::load(path).value().head().note == "changed");
    BOOST_TEST(!golden::update(path, [](document&) -> result<void> { return refuse(fault_kind::user, "no"); }).has_value());
    BOOST_TEST(*document::load(path).value().head().note == "changed");
    std::filesystem::remove_all(folder);
}

BOOST_AUTO_TEST_SUITE_END()
