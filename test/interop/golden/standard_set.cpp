#include <emmy/golden/document.hpp>

#include <support/data.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

// Where a card record measures a realization of the standard set, it means the same kernel and the same program.
BOOST_AUTO_TEST_CASE(standard_set_agrees_with_a_card_record) {
    const auto record = test::shared_data() / "golden/records/h100_sm90.json";
    if (test::peer_goldens().empty()) return;
    const auto theirs = golden::document::load(record.string());
    const auto ours = golden::document::load(EMMY_SOURCE_DIR "/goldens/standard.json", golden::rules::repository);
    BOOST_REQUIRE_MESSAGE(theirs.has_value(), (theirs ? "" : theirs.error().line()));
    BOOST_REQUIRE_MESSAGE(ours.has_value(), (ours ? "" : ours.error().line()));
    std::size_t same = 0, own = 0;
    for (const golden::row& mine : ours->rows()) {
        bool found = false;
        for (const golden::row& r : theirs->rows()) {
            if (found || r.name != mine.name || !theirs->kernels()[r.kernel].target()) continue;
            found = true;
            BOOST_TEST((*ours->identity(mine.kernel) == *theirs->identity(r.kernel)), mine.name);
            std::string a, b;
            json::writer(a).copy(ours->programs()[ours->kernels()[mine.kernel].traced]);
            json::writer(b).copy(theirs->programs()[theirs->kernels()[r.kernel].traced]);
            BOOST_TEST(a == b, mine.name);
            ++same;
        }
        if (!found) {
            ++own;
            std::cout << "only in the standard set: " << mine.name << "\n";
        }
    }
    BOOST_TEST(same == 34u);
    BOOST_TEST(own == 7u);  // bf16 squares, and the m32 linears that the record measures as pieces of a split
}
