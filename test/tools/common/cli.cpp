#include <common/cli.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy::tools;

namespace {
struct parsed_line {
    std::optional<int> code;
    common_options options;
    std::int64_t count = 5;
    double part = 0.5;
    std::vector<std::string> files;
    bool ran = false;
};
parsed_line parse(std::vector<const char*> words) {
    parsed_line p;
    words.insert(words.begin(), "emmy-test");
    cli line("emmy-test", "a test");
    verb& run = line.add("run", "runs").common(takes::db | takes::device | takes::input | takes::pin | takes::output | takes::dump | takes::progress | takes::seed, p.options);
    run.option("--count", p.count, "how many").option("--part", p.part, "how much").positional("FILE", p.files, "files");
    p.code = line.parse(static_cast<int>(words.size()), words.data());
    p.ran = run.chosen();
    return p;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(tools_cli)

BOOST_AUTO_TEST_CASE(the_vocabulary) {
    const auto p = parse({"run", "a", "--db", "d", "--device=cpu", "--golden", "g", "--realization", "n", "--dynamic", "seq_len=512,m=3", "--dynamic", "k=1", "--pin", "WORK=t128,TILE=f4", "--pin", "TEAM=2",
                          "--format", "md", "--out", "o", "--dump", "x", "-q", "--progress", "never", "--seed", "7", "--count", "9", "b"});
    BOOST_TEST(!p.code.has_value());
    BOOST_TEST(p.ran);
    BOOST_TEST((p.options.db == "d" && p.options.device == "cpu" && p.options.golden == "g" && p.options.realization == "n" && p.options.out == "o" && p.options.dump == "x"));
    BOOST_TEST((p.options.dynamic == std::vector<std::string>{"seq_len=512", "m=3", "k=1"}));
    BOOST_TEST((p.options.pin == std::vector<std::string>{"WORK=t128,TILE=f4", "TEAM=2"}));
    BOOST_TEST((p.options.format == format::md && p.options.quiet && p.options.progress == progress_mode::never && p.options.seed == 7u && p.count == 9));
    BOOST_TEST((p.files == std::vector<std::string>{"a", "b"}));
    const auto j = parse({"run", "--json", "-"});
    BOOST_TEST((j.options.format == format::json && j.options.out == "-"));
    BOOST_TEST(parse({"run", "--op", "softmax(x: f32[512,2048], dim=-1)"}).options.op == "softmax(x: f32[512,2048], dim=-1)");
}

BOOST_AUTO_TEST_CASE(usage_errors_exit_2) {
    for (std::vector<const char*> words : std::vector<std::vector<const char*>>{{}, {"walk"}, {"run", "--colour"}, {"run", "--format", "xml"}, {"run", "--count", "many"}, {"run", "--count", "-1"}, {"run", "--part", "nan"}, {"run", "--part", "inf"}, {"run", "--part", "0"}, {"run", "--dynamic", "n"}, {"run", "--dynamic", "n=0"},
                                                                                {"run", "--json", "a", "--out", "b"}, {"run", "--json", "a", "--format", "csv"}, {"run", "--op", "a", "--realization", "b"}, {"run", "--progress", "fast"}, {"run", "--seed", "-1"}})
        BOOST_TEST(parse(words).code.value_or(-1) == 2);
}

BOOST_AUTO_TEST_CASE(sizes) {
    BOOST_TEST((parse_size("seq_len=512") == std::make_pair(std::string("seq_len"), std::int64_t{512})));
    for (const char* bad : {"", "a", "=3", "a=", "a=0", "a=-1", "a=1x", "a=99999999999999999999"}) BOOST_TEST(!parse_size(bad).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
