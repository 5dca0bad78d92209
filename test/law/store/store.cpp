// Laws of the store: byte order is logical order, what is written is read back, the write rule does not depend on order.
#include <emmy/store.hpp>

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>

using namespace emmy;
using namespace emmy::store;

namespace {
layout::perf_key any_key() {
    const auto small = [] { return *rc::gen::inRange<std::uint32_t>(0, 3); };  // collisions are the interesting part
    return {small(), {small(), small()}, small(), static_cast<outcome>(small()), layout::sort_us(1 + small()), small(), small()};
}
auto order_of(const layout::perf_key& k) { return std::tuple(k.ctx, k.kernel, k.bind, k.how, k.sort, k.row, k.src); }
bool law(const char* what, auto&& body) { return rc::check(what, body); }
}  // namespace

BOOST_AUTO_TEST_CASE(keys) {
    BOOST_TEST(law("a key decodes to itself", [] {
        const layout::perf_key k{*rc::gen::arbitrary<std::uint32_t>(), {*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()}, *rc::gen::arbitrary<std::uint64_t>(), outcome::wall,
                                 *rc::gen::arbitrary<std::uint32_t>(), *rc::gen::arbitrary<std::uint32_t>(), *rc::gen::arbitrary<std::uint32_t>()};
        const auto bytes = k.encode();
        RC_ASSERT(bytes.view().size() == layout::perf_key::size);
        RC_ASSERT(k.by().view().size() == layout::perf_key::by_size);
        RC_ASSERT(order_of(layout::perf_key::decode(bytes.view().data())) == order_of(k));
    }));
    BOOST_TEST(law("byte order is logical order", [] {
        const auto a = any_key(), b = any_key();
        RC_ASSERT((a.encode().view() < b.encode().view()) == (order_of(a) < order_of(b)));
        RC_ASSERT(a.encode().view().starts_with(a.bind_prefix().view()));
        RC_ASSERT(a.encode().view().starts_with(a.kernel_prefix().view()));
    }));
    BOOST_TEST(law("times sort as their floats", [] {
        const double a = std::exp2(*rc::gen::inRange(-200, 200) / 10.0), b = std::exp2(*rc::gen::inRange(-200, 200) / 10.0);
        RC_ASSERT((layout::sort_us(a) < layout::sort_us(b)) == (static_cast<float>(a) < static_cast<float>(b)));
    }));
}

BOOST_AUTO_TEST_CASE(values) {
    BOOST_TEST(law("fields are read as they were written, and never beyond the end", [] {
        const auto text = *rc::gen::arbitrary<std::string>();
        const auto number = *rc::gen::arbitrary<std::uint64_t>();
        const std::string bytes = layout::value_writer().put(number).text(text).put(static_cast<std::uint16_t>(number)).digest({number, ~number}).out;
        layout::value_reader whole(bytes);
        RC_ASSERT(whole.get<std::uint64_t>() == number);
        RC_ASSERT(whole.text() == text);
        RC_ASSERT(whole.get<std::uint16_t>() == static_cast<std::uint16_t>(number));
        RC_ASSERT((whole.digest() == digest128{number, ~number}));
        RC_ASSERT(whole.ok() && whole.rest().empty());
        layout::value_reader cut(std::string_view(bytes).substr(0, *rc::gen::inRange<std::size_t>(0, bytes.size())));
        cut.get<std::uint64_t>(), cut.text(), cut.get<std::uint16_t>(), cut.digest();
        RC_ASSERT(!cut.ok());
    }));
    BOOST_TEST(law("sizes survive their text", [] {
        binding_list sizes;
        for (int i = 0, n = *rc::gen::inRange(0, 4); i < n; ++i) sizes.emplace_back(std::string(1, static_cast<char>('a' + i)), *rc::gen::inRange<std::int64_t>(1, 1'000'000));
        RC_ASSERT(read_bind_text(bind_text(sizes)).value() == sizes);
        auto shuffled = sizes;
        std::reverse(shuffled.begin(), shuffled.end());
        RC_ASSERT(bind_key(shuffled) == bind_key(sizes));
    }));
}

BOOST_AUTO_TEST_CASE(write_rule) {
    const auto claim = [] { return write_claim{*rc::gen::arbitrary<bool>(), static_cast<outcome>(*rc::gen::inRange(0, 3)), static_cast<double>(*rc::gen::inRange(1, 5))}; };
    BOOST_TEST(law("an ok measurement never gives way to a failure, nor captured to wall", [&] {
        const auto stored = claim(), offered = claim();
        const auto kept = decide_write(stored, offered).decision == write_decision::store_offered ? offered : stored;
        RC_ASSERT(stored.how == outcome::failed || kept.how <= stored.how);
    }));
    BOOST_TEST(law("inside one source the best of all is left, whatever the order", [&] {
        const auto db = environment::temporary(store_kind::dataset).value();
        std::map<std::uint32_t, write_claim> best;
        std::vector<std::pair<std::uint32_t, write_claim>> offers;
        for (int i = 0, n = *rc::gen::inRange(1, 12); i < n; ++i) offers.emplace_back(*rc::gen::inRange<std::uint32_t>(0, 3), claim());
        const auto done = db.write([&](write_transaction& txn) -> result<void> {
            EMMY_CHECK_OK(put_kernel(txn, {{1, 2}, {3, 4}, "k", "{}", true}));
            EMMY_TRY(ctx, put_context(txn, {"cuda", "NVIDIA H200", 90, 3, false, ""}));
            EMMY_TRY(src, put_source(txn, {"golden:0", "peer", "", 0, 0, 0, 0, 0}));
            for (const auto& [r, offer] : offers) {
                EMMY_TRY(row, put_row(txn, row_kind::schedule, {{"WORK", "t" + std::to_string(32 * (r + 1))}}));
                EMMY_TRY(stored, put_measurement(txn, ctx, {1, 2}, 0, row, src, {offer.median, offer.median, offer.median, offer.median, 0, 1, 0, offer.how}));
                (void)stored;
                const auto better = [](const write_claim& a, const write_claim& b) { return a.how != b.how ? a.how < b.how : a.how != outcome::failed && a.median < b.median; };
                if (const auto [at, fresh] = best.emplace(row, offer); !fresh && (better(offer, at->second) || offer.how == outcome::failed)) {
                    if (better(offer, at->second) || at->second.how == outcome::failed) at->second = offer;
                }
            }
            return {};
        });
        RC_ASSERT(done.has_value());
        auto txn = db.read();
        std::size_t seen = 0;
        RC_ASSERT(for_each_measurement(*txn, {}, [&](const measurement& m) {
            ++seen;
            const write_claim& b = best.at(m.key.row);
            RC_ASSERT(m.time.how == b.how);
            RC_ASSERT(b.how == outcome::failed || m.time.median == b.median);
            return true;
        }).has_value());
        RC_ASSERT(seen == best.size());
        const auto lines = check(*txn);
        for (const auto& l : *lines) RC_ASSERT(l.failed == 0u);
    }));
}
