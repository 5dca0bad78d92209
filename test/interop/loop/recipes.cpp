// The programs of recipes/ are those of the peer's files for the same layers, names aside, and form the same kernels.
#include <emmy/core/file.hpp>
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/program/lower/lower.hpp>
#include <emmy/program/wire.hpp>

#include <support/data.hpp>
#include <support/program_shape.hpp>

#include <boost/test/unit_test.hpp>

#include <map>
#include <set>
#include <sstream>

using namespace emmy;

namespace {

program::graph read_recipe(const std::filesystem::path& path) {
    const auto text = read_file(path.string());
    BOOST_REQUIRE(text);
    const auto document = json::document::parse(*text, path.string());
    BOOST_REQUIRE_MESSAGE(document, (document ? std::string() : document.error().line()));
    auto g = program::read_program(document->root());
    BOOST_REQUIRE_MESSAGE(g, path.string() << ": " << (g ? std::string() : g.error().line()));
    return std::move(*g);
}

std::multiset<digest128> kernels_of(const program::graph& g, const std::string& name) {
    std::multiset<digest128> out;
    const auto lowered = program::lower(g);
    BOOST_REQUIRE_MESSAGE(lowered, name << ": " << (lowered ? std::string() : lowered.error().line()));
    const auto kernels = loop::fuse(*lowered);
    BOOST_REQUIRE_MESSAGE(kernels, name << ": " << (kernels ? std::string() : kernels.error().line()));
    for (const loop::formed& k : *kernels) out.insert(loop::identity(k.kernel));
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(recipes_are_the_peers_programs) {
    std::map<std::string, program::graph> recipes;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(EMMY_SOURCE_DIR "/recipes"))
        if (entry.path().extension() == ".json" && entry.path().parent_path().filename() == "programs")
            recipes.emplace(entry.path().parent_path().parent_path().filename().string() + "." + entry.path().stem().string(), read_recipe(entry.path()));
    BOOST_REQUIRE_EQUAL(recipes.size(), 44u);

    std::map<std::string, std::string> peer;  // shape: "file#program"
    std::map<std::string, program::graph> graphs;
    const auto files = test::peer_goldens();
    for (const auto& file : files) {
        const auto text = read_file(file.string());
        const auto document = json::document::parse(*text, file.string());
        std::size_t i = 0;
        for (const json::value& item : document->root().find("programs")->items()) {
            auto g = program::read_program(item);
            BOOST_REQUIRE(g);
            const std::string where = std::filesystem::relative(file, test::shared_data() / "golden").string() + "#" + std::to_string(i++);
            if (peer.emplace(test::program_shape(*g), where).second) graphs.emplace(where, std::move(*g));
        }
    }
    if (files.empty()) return;

    std::set<std::string> found;
    for (const auto& [name, g] : recipes) {
        const auto kernels = kernels_of(g, name);
        const auto same = peer.find(test::program_shape(g));
        if (same == peer.end()) {
            std::cout << name << ": " << g.nodes.size() << " nodes, " << kernels.size() << " kernels; not in the peer's files\n";
            continue;
        }
        found.insert(name);
        const program::graph& theirs = graphs.at(same->second);
        std::cout << name << ": " << g.nodes.size() << " nodes, " << kernels.size() << " kernels; is " << same->second << (program::equal_pruned(g, theirs) ? ", names too\n" : "\n");
        BOOST_TEST((kernels == kernels_of(theirs, same->second)), name);
    }
    // Every layer that both have. The rest are sizes, or parts, that no file holds.
    const std::set<std::string> shared{"llama-3.1-8b.pre-sym",  "llama-3.1-8b.pre1",  "llama-3.1-8b.pre8",  "llama-3.1-8b.post-sym", "llama-3.1-8b.post1",   "llama-3.1-8b.post8",
                                       "llama-3.1-8b.norm1",    "llama-3.1-8b.embed1", "llama-3.1-8b.lm_head1", "qwen3-0.6b.layer1",   "qwen3-0.6b.layer512"};
    for (const std::string& name : shared) BOOST_TEST(found.contains(name), name << " is no program of the peer's files");
    std::cout << found.size() << " of " << recipes.size() << " recipes are programs of the peer's files\n";
}

// A static program is the symbolic one at its size, wherever attention does not tell one row from many.
BOOST_AUTO_TEST_CASE(static_recipes_are_the_symbolic_ones_at_a_size) {
    for (const std::string model : {"llama-3.1-8b", "qwen3-0.6b"}) {
        const std::filesystem::path folder = std::string(EMMY_SOURCE_DIR "/recipes/") + model + "/programs";
        for (const std::string part : {"pre", "post", "lm_head", "attention"}) {
            const program::graph any = read_recipe(folder / (part + "-sym.json"));
            for (const int rows : {1, 8, 512}) {
                if (part == "attention" && rows != 512) continue;
                const std::vector<program::bound_size> sizes{{"num_tokens", rows}};
                const auto at = program::specialise(any, sizes);
                BOOST_REQUIRE(at);
                BOOST_TEST(test::first_difference(test::program_shape(*at), test::program_shape(read_recipe(folder / (part + std::to_string(rows) + ".json")))) == "same",
                           model << " " << part << rows);
            }
        }
    }
}
