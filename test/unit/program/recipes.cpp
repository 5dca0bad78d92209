// The programs of recipes/ are what their archives say (recipes/make --from-archives), to the byte; serving files are of the form that is read.
#include <emmy/core/file.hpp>
#include <emmy/program/import.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <map>
#include <sstream>

using namespace emmy;

namespace {

std::string wire(const program::graph& g) {
    std::string out;
    json::writer w(out);
    program::write_program(w, g);
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recipes)

BOOST_AUTO_TEST_CASE(programs_are_what_their_archives_say) {
    std::size_t programs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(EMMY_TEST_DATA "/pt2/recipes")) {
        const std::string stem = entry.path().stem().string();  // <model>.<program>; a model's name may hold points
        const std::size_t dot = stem.rfind('.');
        const std::string path = EMMY_SOURCE_DIR "/recipes/" + stem.substr(0, dot) + "/programs/" + stem.substr(dot + 1) + ".json";
        const auto archive = program::pt2::pt2_archive::open(entry.path().string());
        BOOST_REQUIRE_MESSAGE(archive, (archive ? std::string() : archive.error().line()));
        const auto text = read_file(path);
        BOOST_REQUIRE_MESSAGE(text, (text ? std::string() : text.error().line()));
        const auto document = json::document::parse(*text, path);
        BOOST_REQUIRE(document);
        const auto stored = program::read_program(document->root());
        BOOST_REQUIRE_MESSAGE(stored, path << ": " << (stored ? std::string() : stored.error().line()));
        program::pt2::import_options how;
        const auto symbols = program::symbols(*stored);
        if (!symbols.empty()) how.symbol = stored->text(symbols.front());
        const auto made = program::pt2::import_program(archive->program(), how);
        BOOST_REQUIRE_MESSAGE(made, entry.path() << ": " << (made ? std::string() : made.error().line()));
        BOOST_TEST(wire(made->g) == wire(*stored), path);
        BOOST_TEST(made->notes.empty());
        ++programs;
    }
    BOOST_TEST(programs == 44u);
}

BOOST_AUTO_TEST_CASE(serving_files_have_their_keys) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(EMMY_SOURCE_DIR "/recipes")) {
        if (entry.path().extension() != ".env") continue;
        std::map<std::string, std::string> values;
        std::istringstream lines(read_file(entry.path().string()).value());
        for (std::string line; std::getline(lines, line);) {
            if (line.empty() || line.front() == '#') continue;
            const std::size_t at = line.find('=');
            BOOST_REQUIRE_NE(at, std::string::npos);
            const std::string key = line.substr(0, at), value = line.substr(at + 1);
            BOOST_TEST(key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos, line);
            BOOST_TEST(value.find_first_of("$`") == std::string::npos, line);
            BOOST_TEST((value.find(' ') == std::string::npos || (value.front() == '"' && value.back() == '"')), line);
            BOOST_TEST(values.emplace(key, value).second, line);
        }
        for (const char* key : {"SERVE_MODEL", "SERVE_GPU", "SERVE_GOLDEN_FILE", "SERVE_DECODE_BUCKET", "SERVE_MAX_NUM_BATCHED_TOKENS"}) BOOST_TEST(values.contains(key), entry.path() << " lacks " << key);
        // Every width that is served has its programs.
        const std::filesystem::path programs = entry.path().parent_path().parent_path() / "programs";
        for (const std::string& width : {values["SERVE_DECODE_BUCKET"], values["SERVE_PREFILL_BUCKET"], std::string("1"), std::string("-sym")})
            for (const char* part : {"pre", "post", "lm_head"}) BOOST_TEST(std::filesystem::exists(programs / (part + width + ".json")), part << width);
        ++files;
    }
    BOOST_TEST(files == 4u);
}

BOOST_AUTO_TEST_SUITE_END()
