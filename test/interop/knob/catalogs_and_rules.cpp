// Catalogs and rules against every schedule row of the peer's files: sizes, membership, and what no recorded row breaks.
#include "support/data.hpp"

#include <emmy/core/card.hpp>
#include <emmy/core/json.hpp>
#include <emmy/knob.hpp>

#include <fstream>
#include <map>
#include <sstream>

using namespace emmy;
using namespace emmy::knob;

namespace {

struct tally {
    long rows = 0, warp_tiles = 0, warp_strangers = 0, scalar_tiles = 0, scalar_strangers = 0, strangers = 0, reduces = 0, reduce_strangers = 0, stages = 0, stage_strangers = 0;
    std::map<std::string, long> scalar_texts, stranger_texts, findings;
};

void judge_row(const schedule_row& row_here, const target& t, tally& out) {
    ++out.rows;
    for (const finding& f : refusals<gpu::row_rules>(row_here, t)) ++out.findings[std::string(sentence(f).view())];
    work w = row_here.value<WORK>();
    w.producers = 0;
    const auto at_site = [&](const route& at) {
        if (const auto tile_here = row_here.get<TILE>(at)) {
            const row<WORK, TILE> both(w, *tile_here);
            bool member = true;
            if (tile_here->is_warp()) {
                ++out.warp_tiles;
                member = gpu::warp_tiles(tile_here->atom, t).contains(both);
                out.warp_strangers += !member;
            } else if (tile_here->form == tile_form::scalar) {
                ++out.scalar_tiles;
                if (!gpu::scalar_tiles.contains(both)) {
                    ++out.scalar_strangers;
                    ++out.scalar_texts[std::string(TILE::spell(*tile_here).view())];
                    member = w == WORK::off && gpu::strips.contains(row<TILE>(*tile_here));
                }
            }
            if (!member) ++out.strangers, ++out.stranger_texts[std::string(spell(both).view())];
        }
        if (const auto stage_here = row_here.get<STAGE>(at)) {
            ++out.stages;
            out.stage_strangers += !gpu::stages(t).contains(row<STAGE>(*stage_here));
        }
    };
    at_site(route{});
    for (std::size_t i = 0; i < row_here.sites(); ++i) at_site(row_here.site(i));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(knob_catalogs_and_rules)

BOOST_AUTO_TEST_CASE(of_every_recorded_row) {
    const auto files = test::peer_goldens();
    if (files.empty()) return;
    tally all_files;
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        const std::string content = text.str();
        const auto document = json::document::parse(content, file.string());
        BOOST_REQUIRE_MESSAGE(document, file);
        const card_facts* card = card_by_name(document->root().find("gpu_name")->text());
        BOOST_REQUIRE(card);
        for (const json::value& entry : document->root().find("rows")->items()) {
            const json::value* knobs = entry.find("knobs");
            std::vector<knob_pair> pairs;
            if (knobs)
                for (const json::member& m : knobs->members()) pairs.push_back({m.key, m.item.text()});
            if (pairs.empty()) continue;
            const auto row_here = schedule_row::parse(pairs);
            BOOST_REQUIRE_MESSAGE(row_here, file);
            judge_row(*row_here, target_of(card->cc), all_files);
        }
    }
    for (const auto& [text, number] : all_files.findings) BOOST_TEST_MESSAGE(number << " x " << text);
    for (const auto& [text, number] : all_files.stranger_texts) BOOST_TEST_MESSAGE(number << " x " << text);
    BOOST_TEST(all_files.rows == 1874);
    BOOST_TEST(all_files.findings.empty());  // transports, atoms, threads, producers, rasters, stages of the card
    BOOST_TEST(all_files.warp_strangers == 0);
    BOOST_TEST(all_files.scalar_strangers == 7);
    BOOST_TEST(all_files.scalar_texts["f8"] == 7);
    BOOST_TEST(all_files.strangers == 0);
    BOOST_TEST(all_files.stage_strangers == 0);
    BOOST_TEST_MESSAGE(all_files.warp_tiles << " warp tiles, " << all_files.scalar_tiles << " scalar tiles, " << all_files.stages << " stages");
}

BOOST_AUTO_TEST_SUITE_END()
