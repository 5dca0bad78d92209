#include <emmy/core/card.hpp>

#include <boost/test/unit_test.hpp>

#include <set>

using namespace emmy;

BOOST_AUTO_TEST_SUITE(cards)

BOOST_AUTO_TEST_CASE(are_found_by_name_alias_and_slug) {
    for (const char* text : {"NVIDIA H100 80GB", "NVIDIA H100 80GB HBM3", "nvidia_h100_80gb", "nvidia_h100_80gb_sm90"}) {
        const auto found = find_card(text);
        BOOST_REQUIRE(found.has_value());
        BOOST_TEST(found->name == "NVIDIA H100 80GB");
        BOOST_TEST(found->file_slug() == "nvidia_h100_80gb_sm90");
        BOOST_TEST(found->limits().dynamic_smem_bytes == 232448);
        BOOST_TEST(found->peak().f16_flops == 989.4e12);
    }
    BOOST_TEST(find_card("Tesla V100-SXM2-16GB")->name == "NVIDIA Tesla V100 SXM2 16GB");
    BOOST_TEST(find_card("NVIDIA A100-SXM4-40GB")->file_slug() == "nvidia_a100_40gb_sm80");
    BOOST_TEST(find_card("NVIDIA H200")->peak().bytes_per_second == 4.8e12);
    BOOST_TEST(find_card("NVIDIA GeForce RTX 5090")->file_slug() == "nvidia_geforce_rtx_5090_sm120");
    for (const char* text : {"", "H100", "nvidia h100 80gb", "cpu:", "cpu: ", "cpu:x"}) {
        const auto found = find_card(text);
        BOOST_TEST(!found.has_value());
        BOOST_TEST(exit_code(found.error().kind()) == 2);
    }
    BOOST_TEST(find_card("X").error().line().starts_with("found no card of the name [X], expected one of NVIDIA Tesla V100 SXM2 16GB, "));
}

BOOST_AUTO_TEST_CASE(processors_are_cards_of_any_name) {
    const auto found = find_card("cpu: Intel(R) Xeon(R) Platinum 8480C f6m143 avx512 2c 2048K/105M");
    BOOST_REQUIRE(found.has_value());
    BOOST_TEST(found->cc.is_cpu());
    BOOST_TEST(found->file_slug() == "cpu_intel_r_xeon_r_platinum_8480c_f6m143_avx512_2c_2048k_105m");
    BOOST_TEST(target_text(found->cc).view() == "cpu");
    BOOST_TEST(found->peak().f32_flops == 0);
}

BOOST_AUTO_TEST_CASE(names_aliases_and_slugs_are_distinct) {
    std::set<std::string> seen;
    for (const auto& line : card_table) {
        BOOST_TEST(seen.insert(std::string(line.name)).second, line.name);
        for (const auto alias : {line.alias, line.second_alias})
            if (!alias.empty()) BOOST_TEST(seen.insert(std::string(alias)).second, alias);
        BOOST_TEST(seen.insert(slug_of(line.name)).second, line.name);
        BOOST_TEST(find_card(file_slug(line.name, line.cc))->facts == &line);
        BOOST_TEST((capability_from_target(target_text(line.cc).view()) == line.cc));
    }
}

BOOST_AUTO_TEST_SUITE_END()
