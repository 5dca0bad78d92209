// Laws of packing: what is needed at once never overlaps, and nothing is smaller than the bound.
#include <emmy/plan/packing.hpp>

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>

#include <algorithm>

using namespace emmy::plan;

namespace {
std::vector<need> any_needs() {
    return *rc::gen::container<std::vector<need>>(rc::gen::exec([] {
        need n;
        n.first = *rc::gen::inRange<std::uint32_t>(0, 12);
        n.last = n.first + *rc::gen::inRange<std::uint32_t>(0, 6);
        n.bytes = *rc::gen::weightedElement<std::uint64_t>({{1, 0}, {3, 1}, {2, 63}, {2, 64}, {2, 65}, {1, 4096}}) * *rc::gen::inRange<std::uint64_t>(1, 9);
        return n;
    }));
}
bool at_once(const need& a, const need& b) { return a.first <= b.last && b.first <= a.last; }
bool law(const char* what, auto&& body) { return rc::check(what, body); }
}  // namespace

BOOST_AUTO_TEST_CASE(packings) {
    BOOST_TEST(law("needs of one step do not overlap, and lie aligned inside", [] {
        const auto needs = any_needs();
        const std::uint64_t alignment = *rc::gen::element<std::uint64_t>(1, 64, 256);
        const packing p = pack(needs, alignment);
        RC_ASSERT(p.offsets.size() == needs.size());
        for (std::size_t i = 0; i < needs.size(); ++i) {
            if (needs[i].bytes == 0) continue;
            RC_ASSERT(p.offsets[i] % alignment == 0);
            RC_ASSERT(p.offsets[i] + needs[i].bytes <= p.bytes);
            for (std::size_t j = 0; j < i; ++j)
                if (needs[j].bytes && at_once(needs[i], needs[j])) RC_ASSERT(p.offsets[i] + needs[i].bytes <= p.offsets[j] || p.offsets[j] + needs[j].bytes <= p.offsets[i]);
        }
    }));
    BOOST_TEST(law("between the bound and no reuse at all", [] {
        const auto needs = any_needs();
        const packing p = pack(needs, 64);
        std::uint64_t live = 0, all = 0;
        for (std::uint32_t step = 0; step < 20; ++step) {
            std::uint64_t now = 0;
            for (const need& n : needs) now += n.first <= step && step <= n.last ? n.bytes : 0;
            live = std::max(live, now);
        }
        for (const need& n : needs) all += (n.bytes + 63) / 64 * 64;
        RC_ASSERT(p.least >= live);
        RC_ASSERT(p.bytes >= p.least);
        RC_ASSERT(p.bytes <= all);
    }));
    BOOST_TEST(law("needs that are never at once take the largest alone", [] {
        auto needs = any_needs();
        for (std::uint32_t i = 0; i < needs.size(); ++i) needs[i].first = needs[i].last = i;
        std::uint64_t most = 0;
        for (const need& n : needs) most = std::max(most, n.bytes);
        RC_ASSERT(pack(needs, 64).bytes == most);
    }));
    BOOST_TEST(law("needs that are all at once take their sum, the last not rounded up", [] {
        auto needs = any_needs();
        std::erase_if(needs, [](const need& n) { return n.bytes == 0; });
        std::uint64_t sum = 0, slack = 0;
        for (need& n : needs) {
            n.first = 0, n.last = 3;
            const std::uint64_t whole = (n.bytes + 63) / 64 * 64;
            sum += whole, slack = std::max(slack, whole - n.bytes);
        }
        const packing p = pack(needs, 64);
        RC_ASSERT(p.least == sum - slack);
        RC_ASSERT(p.bytes <= sum);
    }));
    BOOST_TEST(law("a function of the needs: the same again", [] {
        const auto needs = any_needs();
        const packing a = pack(needs), b = pack(needs);
        RC_ASSERT(a.offsets == b.offsets && a.bytes == b.bytes);
    }));
}

BOOST_AUTO_TEST_CASE(reuse) {
    // a chain: each lives over two steps, so two places do
    const need chain[] = {{0, 1, 100}, {1, 2, 100}, {2, 3, 100}, {3, 4, 100}};
    const packing p = pack(chain, 64);
    BOOST_TEST(p.bytes == 228u);
    BOOST_TEST(p.least == 228u);
    BOOST_TEST(p.offsets[0] == p.offsets[2]);
    BOOST_TEST(p.offsets[1] == p.offsets[3]);
    BOOST_TEST(pack({}).bytes == 0u);
}
