// Families from parts: what the built-in WORK reads by hand, a grammar reads from a list of parts.
#include <emmy/knob.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace emmy;
using namespace emmy::knob;

namespace {

struct GRID : grammar<"WORK", work,
                      alt<&work::form, when<work_form::cell>,
                          when<work_form::warps, word<"w">, num<&work::m>, word<"x">, num<&work::n>, opt<"+p", &work::producers, 0>>,
                          when<work_form::threads, word<"t">, num<&work::n>, opt<"x", &work::m, 1>>>> {};

struct ring {
    int depth = 1;
    transport by = transport::smem;
    std::uint8_t pipeline = 1;
    bool transposed = false;
    bool operator==(const ring&) const = default;
};
struct RING : grammar<"RING", ring, word<"d">, num<&ring::depth>, word<"/">, pick<&ring::by, "direct", "reg", "smem", "smem-async", "smem-tma">, flag<"/t", &ring::transposed>,
                      opt<"/p", &ring::pipeline, 1>> {};

enum class order { row, column };
struct ORDER : named<"ORDER", order, "row", "column"> {};

std::string why(const auto& value) { return value ? "accepted" : std::string(value.error().sentence().view()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(knob_own_families)

BOOST_AUTO_TEST_CASE(a_grammar_reads_and_writes_what_work_does) {
    all<WORK>.each([](const row<WORK>& r) {
        const value_text text = WORK::spell(r.get<WORK>());
        BOOST_TEST(GRID::spell(r.get<WORK>()).view() == text.view());
        BOOST_REQUIRE(GRID::parse(text.view()).has_value());
        BOOST_TEST((*GRID::parse(text.view()) == r.get<WORK>()));
    });
    seed random(5);
    std::size_t accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string text;
        for (std::uint64_t n = uniform_below(random, 7); n > 0; --n) text += std::string("wtx+p0123 ")[uniform_below(random, 10)];
        const auto by_hand = WORK::parse(text), by_parts = GRID::parse(text);
        BOOST_REQUIRE_MESSAGE(by_hand.has_value() == by_parts.has_value(), text);
        if (by_hand) BOOST_REQUIRE((*by_hand == *by_parts));
        accepted += by_hand.has_value();
    }
    BOOST_TEST(accepted > 100u);
    BOOST_TEST(why(GRID::parse("x4")) == "WORK: found [x4], expected no text, w or t at offset 0");
    BOOST_TEST(why(GRID::parse("t32x1")) == "WORK: found [t32x1], expected no explicit default (spell it without) at offset 3");
    BOOST_TEST(why(GRID::parse("w2x2+p0")) == "WORK: found [w2x2+p0], expected a number from 1 up, no leading zero at offset 6");
}

BOOST_AUTO_TEST_CASE(parts_of_every_kind_spell_one_way) {
    for (const char* text : {"d1/smem", "d2/smem-async", "d2/smem-tma/t", "d4/reg/t/p2", "d65535/direct/p255"}) {
        BOOST_REQUIRE_MESSAGE(RING::parse(text).has_value(), text);
        BOOST_TEST(RING::spell(*RING::parse(text)).view() == text);
    }
    BOOST_TEST(why(RING::parse("d2/smem/p2/t")) == "RING: found [d2/smem/p2/t], expected the end at offset 10");
    BOOST_TEST(why(RING::parse("d2/smem/p256")) == "RING: found [d2/smem/p256], expected a smaller number at offset 9");
    BOOST_TEST(why(RING::parse("d2/memory")) == "RING: found [d2/memory], expected one of direct, reg, smem, smem-async, smem-tma at offset 3");
    BOOST_TEST(why(ORDER::parse("Row")) == "ORDER: found [Row], expected one of row, column at offset 0");
    BOOST_TEST((*ORDER::parse("column") == order::column));
    BOOST_TEST(all<ORDER>.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_value_without_a_text_is_not_read_back) {
    BOOST_TEST(ORDER::spell(static_cast<order>(2)).view() == "?");
    BOOST_TEST(!ORDER::parse("?").has_value());
    BOOST_TEST(knob::detail::reads_back<ORDER>(order::column));
    BOOST_TEST(!knob::detail::reads_back<ORDER>(static_cast<order>(7)));
    BOOST_TEST(!knob::detail::reads_back<UNROLL>(0));
}

BOOST_AUTO_TEST_CASE(an_empty_space_gives_a_row_made_by_default) {
    const auto none = of_vec<ORDER>({}), some = of_vec<ORDER>({order::column});
    const auto check = [](const auto& space) {
        BOOST_TEST(space.empty());
        BOOST_TEST(space.size() == 0u);
        BOOST_TEST((space.unrank(0) == row_of<std::remove_cvref_t<decltype(space)>>()));
        BOOST_TEST((space.sample(seed{7}) == row_of<std::remove_cvref_t<decltype(space)>>()));
    };
    const auto nothing = some % where<ORDER>([](order) { return false; });
    check(none);
    check(none * all<RASTER>);
    check(all<RASTER> * none);
    check(none + none);
    check(all<RASTER> * nothing);
    check(nothing >> [](const row<ORDER>&) { return all<RASTER>; });
    check(freeze(all<RASTER> * none));
    check(freeze(nothing));
    check(indexed(all<RASTER> * nothing));
    check(indexed(nothing >> [](const row<ORDER>&) { return all<RASTER>; }));
    check(gpu::warp_tiles(atom::scalar, target_of({9, 0})));
    BOOST_TEST(!gpu::warp_tiles(*parse_atom("mma_m16n8k16_f16_f32"), target_of({9, 0})).empty());
}

BOOST_AUTO_TEST_CASE(a_row_reads_in_any_order_and_says_what_is_wrong) {
    using both = row<RING, ORDER>;
    const auto read = parse<both>("ORDER=column,RING=d2/smem");
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(spell(*read).view() == "RING=d2/smem,ORDER=column");
    BOOST_TEST((row<ORDER, RING>(*read).get<RING>().depth == 2));
    BOOST_TEST(why(parse<both>("RING=d2/smem")) == "ORDER: found no value, expected every family of the row");
    BOOST_TEST(why(parse<both>("RING=d2/smem,RING=d2/smem,ORDER=row")) == "RING: found the key twice, expected it once");
    BOOST_TEST(why(parse<both>("RING=d2/smem,ORDER")) == "row: found [ORDER], expected KEY=VALUE at offset 5");
    BOOST_TEST(why(parse<both>("")) == "RING: found no value, expected every family of the row");
    BOOST_TEST(why(parse<both>("WORK=t32")) == "row: found [WORK], expected one of RING, ORDER at offset 0");
    const result<both> as_result = parse<both>("RING=d0/smem,ORDER=row");
    BOOST_TEST(as_result.error().line() == "RING: found [d0/smem], expected a number from 1 up, no leading zero at offset 1");
    BOOST_TEST(row_text(*read) == R"({"ORDER":"column","RING":"d2/smem"})");
    BOOST_TEST(why(parse<row<REDUCE>>("REDUCE=g4k")) == "REDUCE: found [g4k], expected a value that this row's role takes");
    BOOST_TEST(why(parse<row<gpu::SPLIT>>("REDUCE=coop")) == "REDUCE: found [coop], expected g and a number of CTAs alone at offset 0");
}

BOOST_AUTO_TEST_CASE(values_known_at_run_time_are_checked_on_request) {
    BOOST_TEST(of_checked<catalog::FM>({1, 4}).value().size() == 2u);
    BOOST_TEST(of_checked<catalog::FM>({1, 5}).error().line() == "FM: found a value that is spelled [5], which parse refuses, expected each value to read back");
    BOOST_TEST(row<catalog::FM>(5).get<catalog::FM>() == 5);  // at run time a row takes what it is given
}

// The compiler looks at the first rows of a catalog that is a space; here all of them.
BOOST_AUTO_TEST_CASE(every_built_in_catalog_reads_back_whole) {
    std::size_t seen = 0;
    built_in::each([&]<class F>() {
        if constexpr (has_catalog<F>) {
            all<F>.each([&](const row<F>& r) {
                ++seen;
                if (!knob::detail::reads_back<F>(r.template get<F>())) BOOST_ERROR(std::string(F::name) + " " + F::spell(r.template get<F>()).str());
            });
        }
    });
    BOOST_TEST(seen > 1500u);
}

BOOST_AUTO_TEST_CASE(texts_of_bounded_length_serve_c_and_strings) {
    const auto said = WORK::parse("w4y1").error().sentence();
    BOOST_TEST(said.str() == "WORK: found [w4y1], expected x and the second dimension at offset 2");
    BOOST_TEST(std::string(said.c_str()) == said.str());
}

namespace {
struct FAST_EXP_MINE : choice<"FAST_EXP", 1, 2> {};
}  // namespace
BOOST_AUTO_TEST_CASE(a_tie_is_broken_by_the_families_of_the_row_itself) {
    const std::string nul(1, '\0');
    BOOST_TEST(canonical_key(row<FAST_EXP_MINE>(2)) == "FAST_EXP" + nul + "2" + nul);  // FAST_EXP of the built-in ones is a boolean and left out
}

BOOST_AUTO_TEST_SUITE_END()
