#include <emmy/core/json.hpp>

#include <support/tool.hpp>

using emmy::test::run_tool;

// A program of several kernels: each is benched, then the whole is run, checked and timed as one.
BOOST_AUTO_TEST_CASE(programs_of_several_kernels_are_run_whole) {
    const emmy::test::scratch_folder folder;
    std::ofstream(folder / "three.json") << R"({"inputs":["x"],"outputs":["y2"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[8,40]]]},)"
        R"({"id":"y0","op":"tensor.elementwise","attrs":{"op":"exp"},"inputs":["x"],"outputs":[["y0","f32",[8,40]]]},)"
        R"({"id":"y1","op":"tensor.scan","attrs":{"axis":-1},"inputs":["y0"],"outputs":[["y1","f32",[8,40]]]},)"
        R"({"id":"y2","op":"tensor.elementwise","attrs":{"op":"negative"},"inputs":["y1"],"outputs":[["y2","f32",[8,40]]]}]})";
    const std::string rest = " --no-record --no-reference -q --seconds 0.02 --db " + folder / "tune.db";
    const auto ran = run_tool("emmy-bench", "run " + folder / "three.json" + rest);
    BOOST_TEST(ran.code == 0, ran.err);
    BOOST_TEST(ran.out.find(": 3 kernels\n  whole        ") != std::string::npos, ran.out);
    BOOST_TEST(ran.out.find("each on what it was given; program in double") != std::string::npos, ran.out);
    const auto machine = run_tool("emmy-bench", "run " + folder / "three.json" + rest + " --json -");
    const auto told = emmy::json::document::parse(machine.out);
    BOOST_REQUIRE_MESSAGE(told.has_value(), machine.out << machine.err);
    BOOST_TEST(told->root().find("results")->size() == 3u);
    const emmy::json::value& whole = told->root().find("programs")->items()[0];
    BOOST_TEST(whole.find("kernels")->size() == 3u);
    BOOST_TEST(whole.find("us")->real().value() > 0);
    BOOST_TEST(whole.find("workspace_bytes")->integer().value() == 2560);
    BOOST_TEST(run_tool("emmy-bench", "run " + folder / "three.json" + " --op 'relu(f32[4])'" + rest).code == 2);
}

// Structural pins take a kernel apart; what they leave is benched kernel by kernel, and run whole against the kernel as it was.
BOOST_AUTO_TEST_CASE(structural_pins_take_a_kernel_apart) {
    const emmy::test::scratch_folder folder;
    const std::string rest = " --no-record --no-reference -q --seconds 0.02 --db " + folder / "tune.db";
    const auto ran = run_tool("emmy-bench", "run --op 'matmul(a: f32[16,64], b: f32[64,24])' --pin REDUCE=g4k" + rest);
    BOOST_TEST(ran.code == 0, ran.err);
    BOOST_TEST(ran.out.find("__partial") != std::string::npos, ran.out);
    BOOST_TEST(ran.out.find(": 2 kernels\n  whole        ") != std::string::npos, ran.out);
    BOOST_TEST(ran.out.find("program in double, all 384 cells; interpreter, ") != std::string::npos, ran.out);
}
