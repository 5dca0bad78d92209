// Every schedule row of the peer's files on its kernel and card: which rule refuses it, and whether the fork offers it.
#include "interop/loop/files.hpp"

#include <emmy/fork/gpu/kernel_rules.hpp>
#include <emmy/fork/gpu/schedules.hpp>
#include <emmy/knob/row_text.hpp>
#include <emmy/loop/wire.hpp>

#include <cstdio>
#include <map>
#include <optional>
#include <set>

using namespace emmy;
namespace gpu = fork::gpu;

namespace {

knob::target card_of(const test::stored_file& file) {
    const json::value& root = file.document.root();
    const auto number = [](const json::value& v) { return static_cast<std::uint16_t>(std::stoi(std::string(v.text()))); };
    if (const json::value* cc = root.find("compute_cap"); cc && cc->size() == 2) return knob::target_of({number(cc->items()[0]), number(cc->items()[1])});
    const std::string_view path = file.path;  // v100_sm70.json
    const std::string digits(path.substr(path.rfind("_sm") + 3, path.size() - path.rfind("_sm") - 8));
    return knob::target_of(capability_from_target("sm_" + digits).value());
}

struct judged {
    long rows = 0, measured = 0, legal = 0, offered = 0;
    std::vector<std::string> refused, not_offered;  ///< measured ones
    long refused_unmeasured = 0;
    long attention = 0, attention_chunk = 0, attention_rows = 0, attention_column = 0, attention_stages_differ = 0;
    long divisible = 0, indivisible = 0, n8 = 0, packings = 0;
};

const judged& all() {
    static const judged out = [] {
        judged j;
        for (const test::stored_file& file : test::stored_files()) {
            const knob::target card = card_of(file);
            std::map<std::string_view, const test::stored_kernel*> kernels;
            for (const test::stored_kernel& k : file.kernels) kernels.emplace(k.reference, &k);
            std::map<std::string_view, std::optional<fork::gpu_schedules>> known;
            const json::value* list = file.document.root().find("rows");
            if (!list) continue;
            for (const json::value& row : list->items()) {
                const json::value* knobs = row.find("knobs");
                if (!knobs || knobs->members().empty()) continue;
                const std::string_view ref = row.find("kernel")->text();
                auto at = known.find(ref);
                if (at == known.end()) {
                    std::optional<fork::gpu_schedules> made;
                    if (auto k = loop::read_kernel(kernels.at(ref)->loop_ir))
                        if (auto form = fold::form_of(std::move(*k))) {
                            form->formed = kernels.at(ref)->formed;
                            if (auto s = fork::gpu_schedules::make(*form, card)) made = std::move(*s);
                        }
                    at = known.emplace(ref, std::move(made)).first;
                }
                BOOST_REQUIRE_MESSAGE(at->second, file.path + " " + std::string(ref) + " has no schedules");
                const fork::gpu_schedules& fork = *at->second;
                std::vector<std::pair<std::string, std::string>> texts;
                knob::schedule_row r;
                for (const json::member& m : knobs->members()) {
                    BOOST_REQUIRE(!r.put(m.key, m.item.text()));
                    texts.emplace_back(m.key, m.item.text());
                }
                const json::value* measurements = row.find("measurements");
                const bool measured = measurements && measurements->find("emmy_us");
                ++j.rows, j.measured += measured;
                const knob::finding why = fork.check(r);
                j.legal += !why;
                const std::string name = file.path + " " + std::string(ref) + " " + knob::pin_text(r);
                if (why && measured) j.refused.push_back(name + ": " + why.sentence().str());
                if (why && !measured) ++j.refused_unmeasured;
                const bool offered = fork.option_for(texts).has_value();
                j.offered += offered && measured;
                if (!offered && measured && !why) j.not_offered.push_back(name);

                const gpu::kernel& k = fork.kernel();
                for (const gpu::site& s : k.sites) {
                    const knob::tile t = gpu::value_at<knob::TILE>(r, k, s);
                    const knob::reduce d = gpu::value_at<knob::REDUCE>(r, k, s);
                    j.n8 += d.lanes == 8;
                    if (d.coop != knob::coop_mode::none && r.value<knob::WORK>().m > 1) {
                        ++j.packings;
                        BOOST_TEST(r.value<knob::WORK>().units() == 128, name);
                    }
                    if (!t.is_warp()) continue;
                    if (s.chunked && s.score >= 0) {
                        const gpu::site& from = k.sites[static_cast<std::size_t>(s.score)];
                        const knob::tile score = gpu::value_at<knob::TILE>(r, k, from);
                        const knob::work w = r.value<knob::WORK>();
                        ++j.attention;
                        j.attention_chunk += score.columns(w) == t.chunk();
                        j.attention_rows += score.fm == t.fm;
                        j.attention_column += w.n == 1;
                        j.attention_stages_differ += !(gpu::value_at<knob::STAGE>(r, k, s) == gpu::value_at<knob::STAGE>(r, k, from));
                    } else if (s.k > 0 && !s.chunked) {
                        ++(s.k % t.chunk() == 0 ? j.divisible : j.indivisible);
                    }
                }
            }
        }
        return j;
    }();
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(measured_rows_are_legal_and_offered) {
    const judged& j = all();
    if (j.rows == 0) return;
    for (const std::string& line : j.refused) std::printf("  refused: %s\n", line.c_str());
    for (const std::string& line : j.not_offered) std::printf("  not offered: %s\n", line.c_str());
    std::printf("rows %ld, measured %ld: refused %zu, offered %ld; without a measurement %ld, refused %ld\n", j.rows, j.measured, j.refused.size(), j.offered, j.rows - j.measured, j.refused_unmeasured);
    BOOST_TEST(j.refused.size() <= 5u);
    BOOST_TEST(j.not_offered.size() <= 5u);
}

BOOST_AUTO_TEST_CASE(rows_of_rescaled_folds_have_the_stated_form) {
    const judged& j = all();
    if (j.rows == 0) return;
    std::printf("warp-tiled rescaled folds %ld: chunk = columns of the scores %ld, equal fragment rows %ld, one warp column %ld, stages of the two sites differ %ld\n", j.attention, j.attention_chunk,
                j.attention_rows, j.attention_column, j.attention_stages_differ);
    BOOST_TEST(j.attention > 0);
    BOOST_TEST(j.attention_chunk == j.attention);
    BOOST_TEST(j.attention_rows == j.attention);
    BOOST_TEST(j.attention_column == j.attention);
    std::printf("warp tiles over a static reduced axis: of whole chunks %ld, others %ld; packings %ld, coop-t/n8 %ld\n", j.divisible, j.indivisible, j.packings, j.n8);
    BOOST_TEST(j.indivisible <= 4);
    BOOST_TEST(j.n8 <= 1);
}
