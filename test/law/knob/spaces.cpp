// The laws of spaces over random parts of every family's catalog, at run time; the functions are those of test/static/knob_laws.cpp.
#include "support/knob_laws.hpp"

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>

#include <map>
#include <random>

using namespace emmy::knob;
using namespace emmy::test;

namespace {

bool law(const char* what, auto&& body) { return rc::check(what, body); }

/// A random part of a family's catalog in random order, as a vector known at run time; at most `most` values.
template <family F>
listed_vector<F> any_space(std::size_t most) {
    static const auto everything = freeze(all<F>);
    const auto wanted = *rc::gen::inRange<std::size_t>(0, std::min<std::size_t>(most, everything.size()) + 1);
    seed random(*rc::gen::arbitrary<std::uint64_t>());
    std::vector<typename F::value_type> values;
    for (std::size_t i = 0; i < wanted; ++i) values.push_back(everything.sample(random).template get<F>());
    return of_vec<F>(std::move(values));
}

template <family F>
void laws_of() {
    BOOST_TEST_CONTEXT(std::string_view(F::name)) {
        BOOST_TEST(law("every law over random parts of a catalog", [] {
            const auto a = any_space<F>(12), a1 = any_space<F>(8), a2 = any_space<F>(8), a3 = any_space<F>(8);
            const auto wide = a + a1 + a2;
            const char* broken = nullptr;
            [&]<int... Law>(std::integer_sequence<int, Law...>) {
                ((broken = broken ? broken : laws::broken<Law + 1, F>(wide, a1, a2, a3)), ...);
            }(std::make_integer_sequence<int, laws::count>{});
            if (broken) RC_LOG() << broken;
            RC_ASSERT(broken == nullptr);
        }));
        const auto whole = freeze(all<F>);  // L10 over the whole catalog
        BOOST_TEST(laws::frozen_is(all<F>, whole));
        BOOST_TEST(laws::spellings_are_distinct<F>(whole));
        const auto by_vector = [&] {
            std::vector<typename F::value_type> values;
            for (const auto& r : whole) values.push_back(r.template get<F>());
            return of_vec<F>(std::move(values));
        }();
        BOOST_TEST(laws::digest(by_vector) == laws::digest(all<F>));  // L13
    }
}

/// L12: what a family reads of any text it spells the same (families that read one spelling only).
template <family F>
void any_text_reads_back() {
    if constexpr (F::kind != value_kind::boolean) {
        static const auto everything = freeze(all<F>);
        BOOST_TEST_CONTEXT(std::string_view(F::name)) {
            BOOST_TEST(law("random text is refused or spells itself", [] {
                std::string text(F::spell(everything.unrank(*rc::gen::inRange<std::uint64_t>(0, everything.size())).template get<F>()).view());
                for (int edits = *rc::gen::inRange(1, 4); edits > 0; --edits) {
                    const auto at = static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(text.size()) + 1));
                    const char c = *rc::gen::elementOf(std::string("wtfxkgpcdrnav0123456789/+-_ .T"));
                    if (*rc::gen::arbitrary<bool>() || at == text.size()) text.insert(at, 1, c);
                    else if (*rc::gen::arbitrary<bool>()) text[at] = c;
                    else text.erase(at, 1);
                }
                const auto value = F::parse(text);
                RC_ASSERT(!value || F::spell(*value).view() == text);
                RC_ASSERT(value || (!value.error().expected.empty() && value.error().offset <= text.size()));
            }));
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(knob_space_laws)

BOOST_AUTO_TEST_CASE(of_every_family) {
    built_in::each([]<class F>() { laws_of<F>(); });
    laws_of<laws::VEC>();
    laws_of<laws::BLK>();
    laws_of<at<"map.1/inner", STAGE>>();
}

BOOST_AUTO_TEST_CASE(of_spellings) {
    built_in::each([]<class F>() { any_text_reads_back<F>(); });
    any_text_reads_back<laws::VEC>();
    any_text_reads_back<laws::BLK>();
}

BOOST_AUTO_TEST_CASE(one_definition_serves_the_compiler_and_the_run) {  // L13
    const auto blocks = all<laws::BLK> * all<laws::VEC> % where<laws::BLK, laws::VEC>([](const laws::block_size& b, int v) { return b.n % v == 0 && b.m * v <= 64; });
    BOOST_TEST(laws::digest(blocks) == 0xea1fda2a5e1a6c65u);  // the number in test/static/knob_laws.cpp
    BOOST_TEST(laws::digest(freeze(blocks)) == 0xea1fda2a5e1a6c65u);
    std::vector<laws::block_size> sizes(std::begin(laws::BLK::catalog), std::end(laws::BLK::catalog));
    sizes.push_back(sizes.front());  // dropped
    const auto from_run = of_vec<laws::BLK>(sizes) * of_vec<laws::VEC>({1, 2, 4, 8}) %
                          where<laws::BLK, laws::VEC>([](const laws::block_size& b, int v) { return b.n % v == 0 && b.m * v <= 64; });
    BOOST_TEST(laws::digest(from_run) == 0xea1fda2a5e1a6c65u);
}

BOOST_AUTO_TEST_CASE(samples_are_uniform) {  // L11: chi-squared at fixed seeds
    const auto s = all<laws::BLK> * all<laws::VEC> % laws::odd<laws::BLK>{3} + all<laws::BLK> * all<laws::VEC> % laws::odd<laws::VEC>{4};
    const auto list = freeze(s);
    const auto cells = static_cast<std::size_t>(list.size());
    BOOST_REQUIRE(cells > 10u);
    const auto chi2 = [&](auto& random) {
        const std::size_t draws = 200 * cells;
        std::vector<double> seen(cells);
        for (std::size_t i = 0; i < draws; ++i) seen[static_cast<std::size_t>(*list.rank(s.sample(random)))] += 1;
        double out = 0;
        for (double n : seen) out += (n - 200) * (n - 200) / 200;
        return out;
    };
    // Mean cells - 1, deviation sqrt(2 (cells - 1)): five deviations.
    const double bound = static_cast<double>(cells) - 1 + 5 * std::sqrt(2.0 * (static_cast<double>(cells) - 1));
    seed ours(7);
    std::mt19937 thirty_two(7);
    std::mt19937_64 sixty_four(7);
    BOOST_TEST(chi2(ours) < bound);
    BOOST_TEST(chi2(thirty_two) < bound);
    BOOST_TEST(chi2(sixty_four) < bound);
}

BOOST_AUTO_TEST_SUITE_END()
