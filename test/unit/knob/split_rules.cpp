// Rules of cross-CTA splits: for each rule what breaks it alone is refused with its id, and what stays just inside is legal.
#include <emmy/knob/rule/split.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>

using namespace emmy::knob;

namespace {

struct mutation {
    std::string_view id;
    std::function<void(split_facts&, const reduce&)> spoil;
    bool atomic_only = false;
    bool carried = false;  // asked of a carried state
};

const mutation mutations[] = {
    {"S1", [](split_facts& k, const reduce&) { k.extent = 0; }},
    {"S1", [](split_facts& k, const reduce&) { k.extent += 1; }},
    {"S1", [](split_facts& k, const reduce& d) { k.extent = 7 * d.ctas - 1; }},
    {"S2", [](split_facts& k, const reduce&) { k.head = false; }},
    {"S2", [](split_facts& k, const reduce&) { k.on_grid = false; }},
    {"S2", [](split_facts& k, const reduce&) { k.axis_free_below = false; }},
    {"S2", [](split_facts& k, const reduce&) { k.own_outputs = false; }},
    {"S3", [](split_facts& k, const reduce&) { k.states = 2; }, true},
    {"S3", [](split_facts& k, const reduce&) { k.additive = false; }, true},
    {"S3", [](split_facts& k, const reduce&) { k.linear = false; }, true},
    {"S3", [](split_facts& k, const reduce&) { k.half_output = true; }, true},
    {"S4", [](split_facts& k, const reduce&) { k.of_split = true; }},
    {"S5", [](split_facts& k, const reduce&) { k.affine = false; }, false, true},
};

}  // namespace

BOOST_AUTO_TEST_CASE(each_rule_alone) {
    long mutants = 0, twins = 0;
    for (std::uint64_t i = 0; i < gpu::splits.size(); ++i) {
        const row<gpu::SPLIT> r = gpu::splits.unrank(i);
        const reduce d = r.get<gpu::SPLIT>();
        if (!d.crosses_ctas()) continue;
        for (const std::int64_t factor : {1, 3, 16})
            for (const mutation& m : mutations) {
                split_facts k;
                k.extent = factor * d.ctas;
                k.carried = m.carried;
                if (k.carried && d.split == split_mode::atomic) continue;
                BOOST_TEST(bool(check<split_rules>(r, no_target{}, k)));
                ++twins;
                m.spoil(k, d);
                const verdict why = check<split_rules>(r, no_target{}, k);
                if (m.atomic_only && d.split != split_mode::atomic) {
                    BOOST_TEST(bool(why));  // through a workspace it does not matter
                    continue;
                }
                BOOST_TEST(!bool(why));
                BOOST_TEST(why.why.id == m.id);
                BOOST_TEST((refusals<split_rules>(r, no_target{}, k).size() == 1u));
                ++mutants;
            }
    }
    BOOST_TEST(mutants >= 300);
    BOOST_TEST(twins >= mutants);
    split_facts carried;
    carried.extent = 64, carried.carried = true;
    BOOST_TEST(check<split_rules>(row<gpu::SPLIT>(*gpu::SPLIT::parse("g2a")), no_target{}, carried).why.id == "S5");
}

BOOST_AUTO_TEST_CASE(sentences) {
    split_facts k;
    k.extent = 100;
    const auto says = [&](const char* text) { return std::string(check<split_rules>(row<gpu::SPLIT>(*gpu::SPLIT::parse(text)), no_target{}, k).sentence().view()); };
    BOOST_TEST(says("g8k") == "S1 REDUCE: size of the split axis is 100, must be a multiple of 8");
    k.extent = 64, k.half_output = true;
    BOOST_TEST(says("g8a") == "S3 REDUCE: found [g8a], expected no f16 or bf16 output");
    BOOST_TEST(bool(check<split_rules>(row<gpu::SPLIT>(*gpu::SPLIT::parse("g8k")), no_target{}, k)));
    k.of_split = true;
    BOOST_TEST(says("g8k") == "S4 REDUCE: found [g8k], expected a kernel that is no piece of a split");
}
