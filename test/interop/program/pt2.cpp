// Freshly exported modules are, to the letter, the programs of the peer's file for the same modules: ids, attributes and literals, dead ones aside.
#include <emmy/core/file.hpp>
#include <emmy/program/import.hpp>
#include <emmy/program/specialise.hpp>
#include <emmy/program/wire.hpp>

#include <support/data.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;
using namespace emmy::program;

namespace {

/// An archive (in test/data/pt2), its symbol's name, and the place of the peer's program.
struct pair {
    const char *archive, *symbol;
    std::size_t place;
};
constexpr pair pairs[] = {{"peer/h100_0", "", 0}, {"peer/h100_14", "", 14}, {"peer/h100_15", "", 15}, {"peer/h100_18", "", 18}, {"peer/h100_21", "", 21}, {"peer/h100_23", "seq_len", 23},
    {"peer/h100_32", "", 32}, {"peer/h100_34", "", 34}, {"peer/h100_40", "", 40}, {"peer/h100_48", "seq_len", 48}, {"recipes/qwen3-0.6b.layer1", "", 37}, {"recipes/qwen3-0.6b.layer512", "", 38},
    {"recipes/llama-3.1-8b.post-sym", "num_tokens", 55}, {"recipes/llama-3.1-8b.post1", "", 56}, {"recipes/llama-3.1-8b.post8", "", 57}, {"recipes/llama-3.1-8b.pre-sym", "num_tokens", 58},
    {"recipes/llama-3.1-8b.pre1", "", 59}, {"recipes/llama-3.1-8b.pre8", "", 60}, {"recipes/llama-3.1-8b.norm1", "", 61}, {"recipes/llama-3.1-8b.embed1", "", 62}, {"recipes/llama-3.1-8b.lm_head1", "", 63}};

}  // namespace

BOOST_AUTO_TEST_CASE(exported_modules_are_the_peers_programs) {
    const auto path = test::shared_data() / "golden/records/h100_sm90.json";
    const auto text = read_file(path.string());
    if (!text) {
        BOOST_TEST_MESSAGE("skipped: no " << path);
        std::printf("exported_modules_are_the_peers_programs: skipped, no %s\n", path.c_str());
        return;
    }
    const auto document = json::document::parse(*text);
    BOOST_REQUIRE(document);
    const auto programs = document->root().find("programs")->items();
    for (const pair& p : pairs) {
        const auto file = pt2::pt2_archive::open(EMMY_TEST_DATA "/pt2/" + std::string(p.archive) + ".pt2");
        BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error().line()));
        pt2::import_options how;
        how.symbol = p.symbol;
        const auto made = pt2::import_program(file->program(), how);
        BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().line()));
        const auto wanted = read_program(programs[p.place]);
        BOOST_REQUIRE(wanted);
        BOOST_CHECK_MESSAGE(equal_pruned(made->g, *wanted), p.archive << " is another program than " << p.place << "\n" << pruned_text(made->g) << "\n" << pruned_text(*wanted));
        // And at a size: the symbolic program's twin.
        if (p.place != 55) continue;
        how.sizes = {{"num_tokens", 8}};
        const auto twin = pt2::import_program(file->program(), how);
        const auto eight = read_program(programs[57]);
        BOOST_REQUIRE(twin && eight);
        BOOST_CHECK(equal_pruned(twin->g, *eight));
    }
}
