#include <emmy/core/file.hpp>
#include <emmy/golden.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;
using golden::document;

namespace {

std::string own_text() { return read_file(EMMY_TEST_DATA "/golden_every_construct.json").value(); }
document own() { return document::parse(own_text(), "own.json", golden::rules::repository).value(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_document)

BOOST_AUTO_TEST_CASE(every_construct_is_written_back_as_it_was_read) {
    const auto file = document::parse(own_text(), "own.json", golden::rules::repository);
    BOOST_REQUIRE_MESSAGE(file.has_value(), (file ? "" : file.error().line()));
    BOOST_TEST(file->text() == own_text());
    BOOST_TEST(file->head().format == 1);
    BOOST_TEST(*file->head().producer == "emmy-cpp/1");
    BOOST_TEST(file->producer(file->rows()[0]) == "emmy-cpp/1");
    BOOST_TEST(file->producer(file->rows()[4]) == "other/1");
    BOOST_TEST(*file->rows()[4].note == "a \"quoted\" line\nand \xc3\xa9 \xf0\x9f\x98\x80");
    const auto least = document::load(EMMY_TEST_DATA "/golden_least.json");
    BOOST_REQUIRE(least.has_value());
    BOOST_TEST(least->text() == "{\"compute_cap\": [0, 0]}\n");
    BOOST_TEST(least->producer({}) == "peer");
}

BOOST_AUTO_TEST_CASE(another_layout_is_laid_out) {
    const auto file = document::parse("{ \"rows\":[ ],\"compute_cap\":[9 ,0], \"note\":null,\"model\":\"m\"\n}");
    BOOST_REQUIRE(file.has_value());
    BOOST_TEST(file->text() == "{\"compute_cap\": [9, 0],\n \"model\": \"m\"}\n");
}

BOOST_AUTO_TEST_CASE(references_paths_and_roots) {
    const document file = own();
    BOOST_TEST(file.find_kernel("k_matmul_0a1b2c") == 0u);
    BOOST_TEST(file.find_kernel("k_matmul_0a1b2c#2") == 3u);
    BOOST_TEST(file.find_kernel("k_matmul") == golden::none);
    BOOST_TEST(file.path(0).empty());
    BOOST_TEST((file.path(3) == std::vector<golden::decision_index>{0}));
    BOOST_TEST((file.path(4) == std::vector<golden::decision_index>{1}));  // the first decision that mints it
    BOOST_TEST(file.root(3) == 0u);
    BOOST_TEST(file.root(4) == 1u);
    BOOST_TEST(file.routing()[1].children.size() == 2u);
}

BOOST_AUTO_TEST_CASE(an_index_past_the_end_is_refused_or_has_nothing) {
    const document file = own();
    for (const golden::kernel_index past : {golden::none, static_cast<golden::kernel_index>(file.kernels().size())}) {
        BOOST_TEST(file.path(past).empty());
        BOOST_TEST(file.minted_by(past) == golden::none);
        BOOST_TEST(file.root(past) == past);
        const auto body = file.body(past);
        BOOST_REQUIRE(!body);
        BOOST_TEST((body.error().kind() == fault_kind::user));
        BOOST_TEST(body.error().line().find("found the kernel index ") != std::string::npos);
        BOOST_TEST(!file.identity(past));
    }
}

BOOST_AUTO_TEST_CASE(a_path_stops_at_a_repeated_parent) {
    const auto file = document::parse(R"({"compute_cap":[9,0],"kernels":[{"loop_ir":{},"name":"a","formed":true},{"loop_ir":{},"name":"b","formed":true}],
        "routing":[{"parent":"a","arm":{"PLACE":"cut"},"children":["b"]},{"parent":"b","arm":{"PLACE":"cut"},"children":["a"]}]})");
    BOOST_REQUIRE(file.has_value());
    BOOST_TEST(file->path(0).size() == 1u);
    BOOST_TEST(file->path(1).size() == 1u);
    BOOST_TEST(file->root(0) == 1u);
}

BOOST_AUTO_TEST_CASE(states_and_lanes_of_rows) {
    const document file = own();
    using golden::row_state;
    const row_state wanted[] = {row_state::measured, row_state::measured, row_state::proposal, row_state::latency_only, row_state::measured, row_state::proposal};
    for (std::size_t i = 0; i < file.rows().size(); ++i) BOOST_TEST((file.rows()[i].state() == wanted[i]));
    BOOST_TEST(!file.rows()[0].fast_math());
    BOOST_TEST(file.rows()[1].fast_math());
}

BOOST_AUTO_TEST_CASE(listing_and_missing) {
    const document file = own();
    const document* one = &file;
    const auto entries = golden::list(std::span(&one, 1), {});
    BOOST_REQUIRE(entries.size() == 5u);  // three measured rows (one with its own card's latency), two cards of a latency-only row
    BOOST_TEST(std::abs(entries[0].vs_tcompile() - 18.25 / 9.5) < 1e-12);
    BOOST_TEST(golden::list(std::span(&one, 1), {.behind = true}).size() == 1u);
    BOOST_TEST(golden::list(std::span(&one, 1), {.card = "H200"}).size() == 1u);
    BOOST_TEST(golden::list(std::span(&one, 1), {.kernel = "place_"}).size() == 1u);
    const auto missing = golden::missing(std::span(&one, 1), {});
    BOOST_REQUIRE(missing.size() == 3u);
    BOOST_TEST(missing[0].piece);
    BOOST_TEST(!missing[1].piece);
    BOOST_TEST((missing[2].tcompile && file.rows()[missing[2].row].name == "matmul.m64.fm"));
}

BOOST_AUTO_TEST_CASE(walks_are_named_by_the_target_first) {
    const document file = own();
    const auto groups = golden::walk(file);
    BOOST_REQUIRE(groups.size() == 4u);
    BOOST_TEST(groups[0].name == "matmul.m64");
    BOOST_TEST(groups[0].rows.size() == 2u);
    BOOST_TEST(groups[2].name == "relu");
    BOOST_TEST(groups[2].rows.size() == 2u);
    BOOST_TEST(groups[3].pins == R"({"FAST_MATH":true})");
}

BOOST_AUTO_TEST_SUITE_END()
