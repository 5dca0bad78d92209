#include <emmy/core/file.hpp>
#include <emmy/golden.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <stdlib.h>

using namespace emmy;
namespace fs = std::filesystem;

namespace {

/// A repository of a standard file, two cards' files and a recipe, named by EMMY_GOLDEN_DIR.
struct repository {
    fs::path home;
    repository() {
        std::string name = (fs::temp_directory_path() / "emmy_scope_XXXXXX").string();
        home = ::mkdtemp(name.data());
        write("goldens/standard.json", R"("compute_cap": [0, 0])", "softmax.k2048", "");
        write("goldens/nvidia_h100_80gb_sm90.json", R"("gpu_name": "NVIDIA H100 80GB", "compute_cap": [9, 0])", "matmul.square.512", ",\"measurements\":{\"emmy_us\":1,\"reference_us\":1,\"reference_backend\":\"cublas\"}");
        write("goldens/nvidia_h200_sm90.json", R"("gpu_name": "NVIDIA H200", "compute_cap": [9, 0])", "matmul.other", "");
        write("recipes/m/golden/h100.json", R"("gpu_name": "NVIDIA H100 80GB HBM3", "compute_cap": [9, 0])", "pre16.matmul", "");
        ::setenv("EMMY_GOLDEN_DIR", (home / "goldens").c_str(), 1);
        ::unsetenv("EMMY_GOLDEN_FILE");
    }
    ~repository() {
        ::unsetenv("EMMY_GOLDEN_DIR");
        ::unsetenv("EMMY_GOLDEN_FILE");
        std::error_code ec;
        fs::remove_all(home, ec);
    }
    void write(const std::string& name, const std::string& head, const std::string& row, const std::string& rest) const {
        fs::create_directories((home / name).parent_path());
        const std::string text = "{" + head + R"(,"kernels":[{"loop_ir":{},"name":"k","formed":true}],"rows":[{"name":")" + row + R"(","kernel":"k","knobs":{})" + rest + "}]}";
        BOOST_REQUIRE(write_file_atomically((home / name).string(), golden::document::parse(text).value().text()).has_value());
    }
    std::string at(const std::string& name) const { return (home / name).string(); }
};

const golden::card_id h100{"NVIDIA H100 80GB HBM3", 9, 0}, cpu{"cpu: any f6m1 avx2 2c 1M/2M", 0, 0};

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_scope)

BOOST_AUTO_TEST_CASE(files_that_come_along) {
    const repository here;
    BOOST_TEST(golden::repository_files().size() == 4u);
    BOOST_TEST(golden::standard_file() == here.at("goldens/standard.json"));
    BOOST_TEST(golden::is_repository_path(here.at("goldens/nvidia_h200_sm90.json")));
    BOOST_TEST(golden::is_repository_path(here.at("recipes/m/golden/h100.json")));
    BOOST_TEST(!golden::is_repository_path(here.at("x.json")));
    BOOST_TEST(golden::opening_card(here.at("goldens/standard.json")).value() == "");
    BOOST_TEST(golden::opening_card(here.at("goldens/nvidia_h200_sm90.json")).value() == "NVIDIA H200");
    BOOST_REQUIRE(write_file_atomically(here.at("wide.json"), "{\"compute_cap\":[9,0], \"gpu_name\":\"NVIDIA H200\"}").has_value());
    BOOST_TEST(golden::opening_card(here.at("wide.json")).value() == "NVIDIA H200");
    BOOST_REQUIRE(write_file_atomically(here.at("bad.json"), "{").has_value());
    BOOST_TEST(!golden::opening_card(here.at("bad.json")).has_value());
}

BOOST_AUTO_TEST_CASE(evidence_of_a_card) {
    const repository here;
    BOOST_TEST((golden::evidence_files("", h100).value() == std::vector<std::string>{here.at("goldens/nvidia_h100_80gb_sm90.json"), here.at("recipes/m/golden/h100.json")}));
    BOOST_TEST(golden::evidence_files("", cpu).value().empty());
    BOOST_TEST((golden::evidence_files("named.json", h100).value() == std::vector<std::string>{"named.json"}));
    ::setenv("EMMY_GOLDEN_FILE", "other.json", 1);
    BOOST_TEST((golden::evidence_files("", h100).value() == std::vector<std::string>{"other.json"}));
    ::setenv("EMMY_GOLDEN_FILE", "", 1);
    BOOST_TEST(golden::evidence_files("", h100).value().empty());
    const auto file = golden::document::load(here.at("goldens/nvidia_h100_80gb_sm90.json")).value();
    BOOST_TEST(golden::same_card(file.head(), h100));
    BOOST_TEST(!golden::same_card(file.head(), {"NVIDIA H200", 9, 0}));
    BOOST_TEST(!golden::same_card(file.head(), {"NVIDIA H100 80GB", 8, 0}));
}

BOOST_AUTO_TEST_CASE(realizations_are_looked_up_in_order) {
    const repository here;
    const auto of_card = golden::open_search("", h100).value();
    BOOST_TEST(of_card.stages.size() == 2u);
    BOOST_TEST(golden::select(of_card, "matmul.square.512").value().file().file() == here.at("goldens/nvidia_h100_80gb_sm90.json"));
    BOOST_TEST(golden::select(of_card, "softmax.k2048").value().file().file() == here.at("goldens/standard.json"));
    BOOST_TEST(golden::select(of_card, "k2048").value().name == "softmax.k2048");
    const auto other_card = golden::select(of_card, "matmul.other");
    BOOST_REQUIRE(!other_card.has_value());
    BOOST_TEST(exit_code(other_card.error().kind()) == 2);
    BOOST_TEST(other_card.error().line() == "--realization: found no realization \"matmul.other\", expected one of: matmul.square.512, pre16.matmul, softmax.k2048");
    // A processor without a file of its own: the standard set, then everything.
    const auto of_cpu = golden::open_search("", cpu).value();
    BOOST_TEST(golden::select(of_cpu, "softmax.k2048").value().file().file() == here.at("goldens/standard.json"));
    BOOST_TEST(golden::select(of_cpu, "matmul.other").value().rows.size() == 1u);
    BOOST_TEST(golden::select(of_cpu, "matmul").error().line() == "--realization: found 3 realizations whose name contains \"matmul\", expected one of: matmul.other, matmul.square.512, pre16.matmul");
    // A named file alone.
    const auto named = golden::open_search(here.at("goldens/nvidia_h200_sm90.json"), h100).value();
    BOOST_TEST(!golden::select(named, "softmax.k2048").has_value());
    BOOST_TEST(!golden::open_search(here.at("absent.json"), h100).has_value());
}

BOOST_AUTO_TEST_CASE(rows_of_one_name_on_several_kernels) {
    const auto file = golden::document::parse(R"({"compute_cap":[9,0],"kernels":[{"loop_ir":{},"name":"a","formed":true},{"loop_ir":{},"name":"b","formed":true}],
        "rows":[{"name":"r","kernel":"a"},{"name":"r","kernel":"b"},{"name":"r.x","kernel":"a","knobs":{},"latency":{"c":{"emmy_us":1}}},{"name":"r.x","kernel":"a","knobs":{"WORK":"t32"}}]})").value();
    const golden::document* one = &file;
    BOOST_TEST(golden::select(std::span(&one, 1), "r").error().line() == "--realization: found rows named \"r\" on several kernels (a, b), expected one kernel");
    const auto found = golden::select(std::span(&one, 1), "r.x").value();
    BOOST_TEST(found.rows.size() == 2u);
    BOOST_REQUIRE(found.pinned().size() == 1u);
    BOOST_TEST(found.pinned()[0].row == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
