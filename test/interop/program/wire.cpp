#include <emmy/core/file.hpp>
#include <emmy/program/wire.hpp>

#include <support/data.hpp>

#include <boost/test/unit_test.hpp>

// Every traced program of the real files is read and written back byte for byte (its canonical order is checked by the reader).
BOOST_AUTO_TEST_CASE(programs_are_reproduced) {
    std::size_t programs = 0, nodes = 0, nested = 0, dead = 0, symbolic = 0, renamed = 0;
    const auto files = emmy::test::peer_goldens();
    for (const auto& file : files) {
        const auto bytes = emmy::read_file(file.string());
        BOOST_REQUIRE(bytes);
        const auto document = emmy::json::document::parse(*bytes, file.string());
        BOOST_REQUIRE(document);
        const emmy::json::path root, list = root / "programs";
        std::size_t i = 0;
        for (const auto& item : document->root().find("programs")->items()) {
            const auto where = list / i++;
            const auto g = emmy::program::read_program(item, where);
            BOOST_REQUIRE_MESSAGE(g, file.string() << ": " << (g ? "" : g.error().line()));
            std::string ours, theirs;
            emmy::json::writer a(ours), b(theirs);
            emmy::program::write_program(a, *g);
            b.copy(item);
            BOOST_REQUIRE_EQUAL(ours, theirs);
            ++programs;
            nodes += g->nodes.size();
            nested += g->nested.size();
            symbolic += !emmy::program::symbols(*g).empty();
            for (const auto& n : g->nodes) renamed += g->outputs_of(n)[0].name != n.id;
            for (bool live : emmy::program::live_nodes(*g)) dead += !live;
        }
    }
    if (files.empty()) return;
    BOOST_TEST(files.size() == 14u);
    BOOST_TEST(programs == 416u);
    BOOST_TEST(nodes == 25122u);
    BOOST_TEST(nested == 94u);
    std::cout << symbolic << " symbolic programs, " << dead << " dead nodes, " << renamed << " nodes whose tensor has another name\n";
}
