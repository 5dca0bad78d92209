#include <emmy/prior/machine.hpp>
#include <emmy/prior/model.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

BOOST_AUTO_TEST_CASE(numbers_travel_whole) {
    prior::model m;
    m.label = "mine";
    m.cpu.latency = 3.25, m.gpu.wgmma = 0.5;
    const auto back = prior::read_model(prior::model_text(m), "mine.json");
    BOOST_REQUIRE_MESSAGE(back, (back ? "" : back.error().line()));
    BOOST_TEST(prior::model_text(*back) == prior::model_text(m));
    BOOST_TEST(back->stamp() == "analytic/1:mine");
    BOOST_TEST(prior::model().stamp() == "analytic/1");
    const auto some = prior::read_model(R"({"format":"emmy-prior","version":1,"kind":"analytic","label":"some","cpu":{"page":2}})");
    BOOST_REQUIRE(some);
    BOOST_TEST(some->cpu.page == 2);
    BOOST_TEST(some->cpu.latency == prior::cpu_terms().latency);
}

BOOST_AUTO_TEST_CASE(another_version_is_refused_before_anything_else_is_read) {
    for (const auto& [text, line] : std::vector<std::pair<std::string, std::string>>{
             {R"({"format":"emmy-prior","version":2,"kind":"trees","cpu":[1]})", "m.json: version 2, expected 1"},
             {R"({"format":"emmy-prior","version":0,"kind":"analytic"})", "m.json: version 0, expected 1"},
             {R"({"format":"weights","version":1})", "m.json: format: found \"weights\", expected \"emmy-prior\""},
             {R"({"format":"emmy-prior","version":1,"kind":"trees","label":"x"})", "m.json: kind: found \"trees\", expected \"analytic\""},
             {R"({"format":"emmy-prior","version":1,"kind":"analytic","label":"x","cpu":{"latency":-1}})", "m.json: cpu.latency: found a number below 0, expected cycles, a rate or a share"}}) {
        const auto read = prior::read_model(text, "m.json");
        BOOST_REQUIRE(!read);
        BOOST_TEST(read.error().line() == line);
    }
    for (const char* text : {"", "[]", "{}", R"({"format":"emmy-prior","version":1,"kind":"analytic","label":"x","cpu":{"latancy":1}})", R"({"format":"emmy-prior","version":1,"kind":"analytic","label":"x","more":1})",
             R"({"format":"emmy-prior","version":1,"kind":"analytic","label":""})", R"({"format":"emmy-prior","version":1,"kind":"analytic","label":"x","cpu":{"latency":"4"}})"})
        BOOST_TEST(!prior::read_model(text), text);
    BOOST_TEST(prior::refusal_note("mine.json", prior::read_model(R"({"format":"emmy-prior","version":7})", "mine.json").error()) == "prior: mine.json refused: version 7, expected 1");
}

BOOST_AUTO_TEST_CASE(ceilings_travel_and_are_brought_back_to_what_is_plausible) {
    const fork::cpu_target target = fork::make_cpu_target(64, 48 << 10, 2 << 20, 64 << 20, 2);
    prior::cpu_rates rates;
    rates.team = 2, rates.flops_f32 = 384e9;  // 3 GHz
    rates.bandwidth = {{32768, 500e9}, {1 << 20, 200e9}, {64 << 20, 40e9}};
    const auto back = prior::parse_rates(prior::rates_text(rates));
    BOOST_REQUIRE(back);
    BOOST_TEST(prior::rates_text(*back) == prior::rates_text(rates));
    const prior::cpu_machine m = prior::make_cpu_machine(target, 2, *back);
    BOOST_TEST(m.measured);
    BOOST_TEST(m.cycles_per_us == 3000, boost::test_tools::tolerance(1e-9));
    BOOST_TEST((m.l1.per_cycle >= m.l2.per_cycle && m.l2.per_cycle >= m.last.per_cycle && m.last.per_cycle >= m.memory.per_cycle));
    rates.flops_f32 = 1e9, rates.bandwidth = {{32768, 1e6}, {64 << 20, 1e15}};
    const prior::cpu_machine busy = prior::make_cpu_machine(target, 2, rates), usual = prior::make_cpu_machine(target, 2);
    BOOST_TEST(busy.cycles_per_us == 1200);
    BOOST_TEST(busy.l1.per_cycle >= usual.l1.per_cycle / 4);
    for (const char* text : {"", "{}", R"({"team":0,"flops_f32":1,"bandwidth":[]})", R"({"team":1,"flops_f32":1,"bandwidth":[[1]]})", R"({"team":1,"flops_f32":1,"bandwidth":[[-1,2]]})"}) BOOST_TEST(!prior::parse_rates(text), text);
}
