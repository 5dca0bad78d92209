// The programs of all fixtures are written and read back as they were: nothing in them is beyond what the wire can say.
#include <emmy/program/import.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

using namespace emmy;

BOOST_AUTO_TEST_CASE(exported_programs_survive_the_wire) {
    std::size_t programs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(EMMY_TEST_DATA "/pt2")) {
        if (entry.path().extension() != ".pt2" || entry.path().filename().string().starts_with("refused_")) continue;
        const auto archive = program::pt2::pt2_archive::open(entry.path().string());
        BOOST_REQUIRE_MESSAGE(archive, (archive ? std::string() : archive.error().line()));
        const auto made = program::pt2::import_program(archive->program());
        BOOST_REQUIRE_MESSAGE(made, entry.path() << ": " << (made ? std::string() : made.error().line()));
        std::string first, second;
        json::writer a(first), b(second);
        program::write_program(a, made->g);
        const auto document = json::document::parse(first, entry.path().string());
        BOOST_REQUIRE_MESSAGE(document, (document ? std::string() : document.error().line()));
        const auto again = program::read_program(document->root());
        BOOST_REQUIRE_MESSAGE(again, entry.path() << ": " << (again ? std::string() : again.error().line()));
        program::write_program(b, *again);
        BOOST_TEST(first == second, entry.path());
        ++programs;
    }
    BOOST_TEST(programs >= 56u);
}
