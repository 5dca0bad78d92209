// Every knob of the peer's files through our values, counted; recount.py counts the same without the library.
#include "support/data.hpp"

#include <emmy/core/card.hpp>
#include <emmy/core/json.hpp>
#include <emmy/knob.hpp>
#include <emmy/knob/row_digest.hpp>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace emmy;
using namespace emmy::knob;

namespace {

std::string content(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

struct counts {
    std::vector<std::pair<std::string, long>> lines;
    void add(std::string name, long number) { lines.emplace_back(std::move(name), number); }
    std::string text() const {
        std::string out;
        for (const auto& [name, number] : lines) out += name + " = " + std::to_string(number) + "\n";
        return out;
    }
};

/// What the counting walk gathers over all files.
struct census {
    long rows = 0, empty = 0, measured = 0, fast = 0, refused = 0, mixed = 0, over_1024 = 0, producers = 0, coop = 0, coop_not_t = 0, packings = 0, packings_128 = 0,
         n8 = 0, carry = 0, rasters = 0, raster_tiled = 0, twist = 0, twist_width = 0, twist_chunk = 0, twist_fm = 0, twist_stages = 0, f16_acc = 0, f16_fast = 0, fp8 = 0,
         fp8_fast = 0, dangling = 0, split_k = 0, split_k2 = 0, split_a = 0, split_a1 = 0, layout_1 = 0, arms = 0;
    std::map<std::string, std::map<std::string, long>> values, routed;
    std::map<std::array<long, 3>, long> shapes;
    std::map<std::string, long> arm_kinds, arm_keys, arm_values;
    std::set<std::string> arm_texts, row_texts;
    std::map<long, long> depth, joint;

    void schedule(const schedule_row& row, bool fast_math);
    void routing(const routing_row& row, std::size_t children);
    void document(const std::filesystem::path& file);
    counts lines() const;
};

void census::schedule(const schedule_row& row, bool fast_math) {
    std::map<std::string_view, long> keys;
    std::map<std::string_view, std::set<bool>> bare_and_routed;
    bool tiled = false;
    const work w = row.value<WORK>();
    row.each([&](std::string_view key, std::string_view value) {
        const split_key name(key);
        ++values[std::string(name.family)][std::string(value)];
        if (name.addressed) ++routed[std::string(name.family)][std::string(key)];
        const std::string_view family = find_family(name.family)->name;
        ++keys[family];
        bare_and_routed[family].insert(name.addressed);
        if (family == TILE::name) {
            const tile t = *TILE::parse(value);
            tiled |= t.form != tile_form::cell;
            if (t.is_warp() && facts(t.atom).result == dtype::f16) ++f16_acc, f16_fast += fast_math;
            if (t.is_warp() && byte_size(facts(t.atom).operand) == 1 && facts(t.atom).operand != dtype::f4e2m1x2) ++fp8, fp8_fast += fast_math;
        }
        if (family == REDUCE::name) {
            const reduce r = *REDUCE::parse(value);
            if (r.coop != coop_mode::none) {
                ++coop;
                coop_not_t += w.form != work_form::threads;
                if (w.m > 1) ++packings, packings_128 += w.threads() == 128;
                n8 += r.lanes == 8;
            }
        }
    });
    ++shapes[{keys["TILE"], keys["REDUCE"], keys["STAGE"]}];
    for (const auto& [family, kinds] : bare_and_routed) mixed += kinds.size() > 1;
    over_1024 += w.threads() > 1024;
    producers += w.producers > 0;
    carry += row.value<SHARED_CARRY>();
    if (row.value<RASTER>() != RASTER::off) ++rasters, raster_tiled += tiled;
    for (std::size_t i = 0; i < row.sites(); ++i) {
        const route at = row.site(i);
        const tile t = row.value<TILE>(at);
        if (at.arrives_at() != node_kind::twist || !t.is_warp()) continue;
        route below = at;
        below.append(node_kind::inner, 1);
        const tile score = row.value<TILE>(below);
        ++twist;
        twist_width += w.form == work_form::warps && w.n == 1;
        twist_chunk += score.is_warp() && t.chunk() == std::int64_t{score.fn} * facts(score.atom).n;
        twist_fm += score.is_warp() && t.fm == score.fm;
        twist_stages += row.value<STAGE>(at) != row.value<STAGE>(below);
    }
}

void census::routing(const routing_row& row, std::size_t children) {
    ++arms;
    arm_texts.insert(row_text(row));
    std::set<std::string_view> families;
    for (const auto& choice : row) {
        families.insert(choice.family());
        ++arm_keys[choice.key];
        ++arm_values[std::string(choice.family()) + "=" + choice.value];
        if (choice.family() == PLACE::name) ++depth[static_cast<long>(route::parse(choice.address())->size())];
        if (choice.family() == REDUCE::name) {
            const bool kernel = REDUCE::parse(choice.value)->split == split_mode::kernel;
            (kernel ? split_k : split_a) += 1;
            (kernel ? split_k2 : split_a1) += children == (kernel ? 2u : 1u);
        }
    }
    const std::string kind(families.size() == 1 ? *families.begin() : "mixed");
    ++arm_kinds[kind];
    if (kind == "PLACE") ++joint[static_cast<long>(row.size())];
    layout_1 += kind == "LAYOUT" && children == 1;
}

void census::document(const std::filesystem::path& file) {
    const auto parsed_document = json::document::parse(content(file), file.string());
    BOOST_REQUIRE_MESSAGE(parsed_document, file);
    const json::value& root = parsed_document->root();
    const std::string_view name = root.find("gpu_name")->text();
    const card_facts* facts = card_by_name(name);
    BOOST_REQUIRE_MESSAGE(facts, name);
    BOOST_TEST(facts->name == name);  // files spell the canonical name
    BOOST_TEST(facts->cc.generation == *root.find("compute_cap")->items()[0].integer());
    BOOST_TEST(facts->cc.revision == *root.find("compute_cap")->items()[1].integer());
    std::set<std::string_view> refs;
    for (const json::value& kernel : root.find("kernels")->items()) refs.insert((kernel.find("key") ? kernel.find("key") : kernel.find("name"))->text());
    for (const json::value& entry : root.find("rows")->items()) {
        ++rows;
        const json::value* math = entry.find("pins")->find("FAST_MATH");
        const bool fast_math = math && math->boolean();
        fast += fast_math && entry.find("pins")->size() == 1;
        measured += entry.find("measurements") != nullptr;
        dangling += !refs.count(entry.find("kernel")->text());
        std::vector<knob_pair> pairs;
        if (const json::value* knobs = entry.find("knobs"))
            for (const json::member& m : knobs->members()) pairs.push_back({m.key, m.item.text()});
        if (pairs.empty()) {
            ++empty;
            continue;
        }
        const auto row = schedule_row::parse(pairs, row_check::under_own_work);
        if (!row) {
            ++refused;
            BOOST_ERROR(file.string() + ": " + row.error().line());
            continue;
        }
        // Written back, every pair is as it was read.
        std::map<std::string, std::string> read, written;
        for (const auto& [key, value] : pairs) read[std::string(key)] = value;
        row->each([&](std::string_view key, std::string_view value) { written[std::string(key)] = value; });
        BOOST_TEST(read == written);
        BOOST_TEST(row->is_complete().has_value());
        BOOST_TEST(agrees(*row, *row));
        BOOST_TEST(same_choice(*row, decisions(*row)));
        BOOST_TEST(honours(*row, *row));
        const auto again = pin_list::parse(pin_text(*row));
        BOOST_REQUIRE(again.has_value());
        BOOST_TEST((again->schedule_for("k") == *row));
        row_texts.insert(row_text(*row));
        schedule(*row, fast_math);
    }
    if (const json::value* decisions_taken = root.find("routing"))
        for (const json::value& entry : decisions_taken->items()) {
            dangling += !refs.count(entry.find("parent")->text());
            for (const json::value& child : entry.find("children")->items()) dangling += !refs.count(child.text());
            std::vector<knob_pair> pairs;
            for (const json::member& m : entry.find("arm")->members()) pairs.push_back({m.key, m.item.text()});
            const auto row = routing_row::parse(pairs);
            if (!row) {
                ++refused;
                BOOST_ERROR(file.string() + ": " + row.error().line());
                continue;
            }
            routing(*row, entry.find("children")->size());
        }
}

counts census::lines() const {
    counts out;
    const auto sum = [](const auto& numbers) {
        long total = 0;
        for (const auto& [key, number] : numbers) total += number;
        return total;
    };
    const auto of = [](const auto& table, const std::string& key) {
        const auto found = table.find(key);
        return found == table.end() ? typename std::decay_t<decltype(table)>::mapped_type{} : found->second;
    };
    const std::pair<const char*, const char*> must_refuse[] = {
        {"WORK", "t32x1"}, {"WORK", "w4"}, {"WORK", "w2x2+p0"}, {"WORK", "T128"}, {"WORK", " t128"}, {"TILE", "f4x1"}, {"TILE", "mma_m16n8k16_f16_f32/f1x1/k1"}, {"REDUCE", "g4"},
        {"REDUCE", "coop/v1"}, {"REDUCE", "r2/coop"}, {"REDUCE", "coop-t/n32"}, {"STAGE", "d2"}, {"STAGE", "d2/smem/p1"}, {"STAGE", "d2/reg"}, {"RASTER", "gm1"}};
    long refusals = 0;
    for (const auto& [family, text] : must_refuse) refusals += !find_family(family)->canonical(text).has_value();
    out.add("spellings that must be refused and are", refusals);
    out.add("rows", rows), out.add("rows with an empty map", empty), out.add("measured rows", measured), out.add("fast-math rows", fast);
    out.add("refused values, routes and keys", refused);
    const std::vector<std::string> five{"WORK", "RASTER", "TILE", "REDUCE", "STAGE"};
    long total = 0;
    for (const auto& family : five) total += sum(of(values, family));
    out.add("values of the five schedule families", total);
    for (const std::string family : {"WORK", "RASTER", "TILE", "REDUCE", "STAGE", "LOOPIFY", "SHARED_CARRY"}) {
        out.add(family + " values", sum(of(values, family)));
        out.add(family + " distinct values", static_cast<long>(of(values, family).size()));
    }
    for (const std::string family : {"TILE", "REDUCE", "STAGE"}) out.add(family + " routed keys", sum(of(routed, family)));
    out.add("rows that mix bare and routed keys of a family", mixed);
    for (const auto& [shape, number] : shapes)
        out.add("rows with " + std::to_string(shape[0]) + " TILE, " + std::to_string(shape[1]) + " REDUCE, " + std::to_string(shape[2]) + " STAGE keys", number);
    out.add("rows over 1024 threads", over_1024), out.add("rows with producer warps", producers);
    out.add("coop choices", coop), out.add("coop choices without WORK t", coop_not_t);
    out.add("packings", packings), out.add("packings of 128 threads", packings_128);
    out.add("n8 choices", n8), out.add("SHARED_CARRY=1", carry);
    out.add("rasters", rasters), out.add("rasters beside a tile", raster_tiled);
    out.add("warp-tiled twists", twist), out.add("of WORK w<M>x1", twist_width), out.add("of chunk = score N tile", twist_chunk), out.add("of equal FM", twist_fm);
    out.add("whose stages differ", twist_stages);
    out.add("16-bit accumulators", f16_acc), out.add("of them under FAST_MATH", f16_fast), out.add("fp8 atoms", fp8), out.add("of these under FAST_MATH", fp8_fast);
    out.add("arms", arms);
    for (const std::string kind : {"PLACE", "REDUCE", "LAYOUT", "mixed"}) out.add(kind + " arms", of(arm_kinds, kind));
    out.add("arm keys", sum(arm_keys)), out.add("distinct arms", static_cast<long>(arm_texts.size()));
    long places = 0;
    for (const auto& [key, number] : arm_keys) places += key.starts_with("PLACE");
    out.add("PLACE keys", sum(depth)), out.add("distinct PLACE keys", places);
    for (const auto& [value, number] : arm_values) out.add(value, number);
    for (const auto& [nodes, number] : depth) out.add("PLACE routes of " + std::to_string(nodes) + " nodes", number);
    for (const auto& [size, number] : joint) out.add("PLACE arms of " + std::to_string(size) + " keys", number);
    out.add("dangling references", dangling);
    out.add("splits by kernel", split_k), out.add("of them with 2 children", split_k2), out.add("splits by atomics", split_a), out.add("of them with 1 child", split_a1);
    out.add("LAYOUT arms with 1 child", layout_1);
    return out;
}

std::string output_of(const std::string& command) {
    std::string out;
    if (FILE* pipe = popen(command.c_str(), "r")) {
        char buffer[4096];
        while (const std::size_t got = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, got);
        if (pclose(pipe) != 0) out += "(failed)\n";
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(knob_values_of_real_files)

BOOST_AUTO_TEST_CASE(all_parse_re_spell_and_count_as_stated) {
    const auto files = test::peer_goldens();
    if (files.empty()) return;
    BOOST_TEST(files.size() == 14u);
    census all;
    for (const auto& file : files) all.document(file);
    const std::string ours = all.lines().text();
    const std::string approved = content(std::filesystem::path(EMMY_SOURCE_DIR) / "test/approved/knob_recount.txt");
    BOOST_TEST(ours == approved);

    const auto number = [&](const std::string& name) {
        for (const auto& [key, value] : all.lines().lines)
            if (key == name) return value;
        return -1l;
    };
    BOOST_TEST(number("values of the five schedule families") == 7669);
    BOOST_TEST(number("WORK distinct values") == 31);
    BOOST_TEST(number("RASTER distinct values") == 2);
    BOOST_TEST(number("TILE distinct values") == 151);
    BOOST_TEST(number("REDUCE distinct values") == 9);
    BOOST_TEST(number("STAGE distinct values") == 22);
    BOOST_TEST(number("PLACE arms") == 204);
    BOOST_TEST(number("REDUCE arms") == 78);
    BOOST_TEST(number("LAYOUT arms") == 13);
    BOOST_TEST(number("arm keys") == 770);
    BOOST_TEST(number("distinct arms") == 67);
    std::printf("%ld knob values, %zu distinct rows, %ld arms\n", number("values of the five schedule families"), all.row_texts.size(), all.arms);
}

BOOST_AUTO_TEST_CASE(an_independent_count_agrees) {
    if (test::peer_goldens().empty()) return;
    const std::string script = std::string(EMMY_SOURCE_DIR) + "/test/interop/knob/recount.py";
    const std::string theirs = output_of("python3 '" + script + "' '" + (test::shared_data() / "golden").string() + "'");
    BOOST_TEST(theirs == content(std::filesystem::path(EMMY_SOURCE_DIR) / "test/approved/knob_recount.txt"));
}

BOOST_AUTO_TEST_SUITE_END()
