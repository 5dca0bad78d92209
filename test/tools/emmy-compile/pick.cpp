#include <emmy/core/json.hpp>

#include <support/tool.hpp>

using emmy::test::run_tool;

BOOST_AUTO_TEST_CASE(the_first_compile_says_that_nothing_is_measured_and_the_second_names_the_row) {
    const emmy::test::scratch_folder folder;
    const std::string store = " --db " + folder / "tune.db", op = "--op 'softmax(x: f32[16,64])'" + store;
    const auto first = run_tool("emmy-compile", op);
    BOOST_TEST(first.code == 0);
    BOOST_TEST(first.out.find(" schedule: prior analytic/") != std::string::npos);
    BOOST_TEST(run_tool("emmy-compile", op + " --no-prior").out.find(" schedule: first option ") != std::string::npos);
    BOOST_TEST(first.err.find("no measured row decides the schedule of k_softmax_") != std::string::npos);
    const auto strict = run_tool("emmy-compile", op + " --strict-evidence");
    BOOST_TEST(strict.code == 1);
    BOOST_TEST(strict.out == "");
    BOOST_TEST(strict.err.find("k_softmax_") != std::string::npos);
    BOOST_TEST(strict.err.find("schedule") != std::string::npos);
    const auto bench = run_tool("emmy-bench", "run " + op + " -q --no-reference --seconds 0.02 --sample 2");
    BOOST_TEST(bench.code == 0, bench.err + bench.out);
    const auto second = run_tool("emmy-compile", op + " --strict-evidence --own-only --explain");
    BOOST_TEST(second.code == 0, second.err);
    BOOST_TEST(second.err == "");
    BOOST_TEST(second.out.find(" schedule: own row ") != std::string::npos);
    BOOST_TEST(second.out.find("    measured  ") != std::string::npos);
    BOOST_TEST(second.out.find("    next      ") != std::string::npos);
    const auto machine = run_tool("emmy-compile", op + " --json -");
    const auto parsed = emmy::json::document::parse(machine.out);
    BOOST_REQUIRE(parsed.has_value());
    BOOST_TEST(parsed->root().find("schema")->text() == "emmy.compile/1");
    BOOST_TEST(parsed->root().find("kernels")->items()[0].find("record")->find("tier")->text() == "own row");
    // Another regime has no row, and says which has.
    const auto fast = run_tool("emmy-compile", op + " --fast-math --explain");
    BOOST_TEST(fast.out.find(" schedule: prior analytic/") != std::string::npos);
    BOOST_TEST(fast.out.find("    predicted ") != std::string::npos);
    BOOST_TEST(fast.out.find("standard") != std::string::npos);
}

// Numbers of another version never decide, and the compile says so even when it is quiet.
BOOST_AUTO_TEST_CASE(a_prior_of_another_version_is_refused_aloud) {
    const emmy::test::scratch_folder folder;
    const std::string rest = "--op 'softmax(x: f32[16,64])' -q --db " + folder / "tune.db";
    std::ofstream(folder / "later.json") << R"({"format": "emmy-prior", "version": 2, "kind": "analytic", "label": "later", "cpu": {"what": "else"}})";
    std::ofstream(folder / "mine.json") << R"({"format": "emmy-prior", "version": 1, "kind": "analytic", "label": "mine", "cpu": {"latency": 3.5}})";
    const auto later = run_tool("emmy-compile", rest + " --prior " + folder / "later.json");
    BOOST_TEST(later.code == 0);
    BOOST_TEST(later.err == "emmy-compile: note: prior: " + folder / "later.json" + " refused: version 2, expected 1; the built-in analytic/1 answers\n");
    BOOST_TEST(later.out.find(" schedule: prior analytic/1 ") != std::string::npos);
    const auto mine = run_tool("emmy-compile", rest, "EMMY_PRIOR=" + folder / "mine.json");
    BOOST_TEST(mine.err == "");
    BOOST_TEST(mine.out.find(" schedule: prior analytic/1:mine ") != std::string::npos);
    BOOST_TEST(run_tool("emmy-compile", rest + " --prior " + folder / "absent.json").code == 3);
    BOOST_TEST(run_tool("emmy-compile", rest + " --no-prior --prior " + folder / "mine.json").code == 2);
}

BOOST_AUTO_TEST_CASE(one_checked_run) {
    const emmy::test::scratch_folder folder;
    const std::string rest = " -q --db " + folder / "tune.db" + " --run";
    for (const char* op : {"matmul(x0: f32[33,65], x1: f32[65,17])", "linear(input: f16[rows=7,64], weight: f16[48,64], bias: f16[48])", "rms_norm(x: bf16[5,96])", "relu(x: f32[1000,3])", "sum(x: f32[9,77])"}) {
        const auto ran = run_tool("emmy-compile", "--op '" + std::string(op) + "'" + rest);
        BOOST_TEST(ran.code == 0, ran.err);
        BOOST_TEST(ran.out.find("ran once  right answer (program in double") != std::string::npos, ran.out);
    }
    const auto sized = run_tool("emmy-compile", "--op 'relu(x: f32[rows,8])' --dynamic rows=3" + rest);
    BOOST_TEST(sized.out.find("all 24 cells") != std::string::npos, sized.out);
    const auto realization = run_tool("emmy-compile", "--realization pointwise.n4096.dynM --dynamic seq_len=5" + rest);
    BOOST_TEST(realization.out.find("all 20480 cells") != std::string::npos, realization.out);
    const auto pinned = run_tool("emmy-compile", "--op 'softmax(x: f32[8,64])' --pin WORK=t4" + rest);
    BOOST_TEST(pinned.out.find("WORK=t4") != std::string::npos, pinned.out);
}

BOOST_AUTO_TEST_CASE(cells_are_interpreted) {
    const emmy::test::scratch_folder folder;
    const auto ran = run_tool("emmy-compile", "--op 'add(a: f32[2,2], b: f32[2,2])' -q --interpret --db " + folder / "tune.db");
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(ran.out.find("interpreted add[") != std::string::npos);
}

// Programs of several kernels: every kernel is picked, the plan runs once, each kernel is right on what it was given.
BOOST_AUTO_TEST_CASE(programs_of_several_kernels_run) {
    const std::string program = R"({"inputs":["x"],"outputs":["y2"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[{"sym":"rows","hint":3},40]]]},)"
        R"({"id":"y0","op":"tensor.elementwise","attrs":{"op":"exp"},"inputs":["x"],"outputs":[["y0","f32",[{"sym":"rows","hint":3},40]]]},)"
        R"({"id":"y1","op":"tensor.scan","attrs":{"axis":-1},"inputs":["y0"],"outputs":[["y1","f32",[{"sym":"rows","hint":3},40]]]},)"
        R"({"id":"y2","op":"tensor.elementwise","attrs":{"op":"negative"},"inputs":["y1"],"outputs":[["y2","f32",[{"sym":"rows","hint":3},40]]]}]})";
    const emmy::test::scratch_folder folder;
    std::ofstream(folder / "three.json") << program;
    std::ofstream(folder / "none.json") << R"({"inputs":["x"],"outputs":["x"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[4]]]}]})";
    const std::string rest = " -q --db " + folder / "tune.db";
    const auto ran = run_tool("emmy-compile", folder / "three.json" + " --run --dynamic rows=5" + rest);
    BOOST_TEST(ran.code == 0, ran.err);
    BOOST_TEST(ran.out.find(": 3 kernels\n    ran once  right answer (interpreter, ") != std::string::npos, ran.out);
    BOOST_TEST(ran.out.find("; program in double)") != std::string::npos, ran.out);
    const auto plan = run_tool("emmy-compile", folder / "three.json" + " --stage plan" + rest);
    BOOST_TEST(plan.out.find(": 3 launches of 3 kernels, 2 buffers given, workspaces 992 bytes (no reuse 960, at least 992), team 1, rows=3\n") != std::string::npos, plan.out);
    BOOST_TEST(plan.out.find("workspace  f32  y0[rows, 40]  480 B at 0, launches 0-1") != std::string::npos, plan.out);
    const auto wire = run_tool("emmy-compile", folder / "three.json" + " --stage plan --json - --dynamic rows=4" + rest);
    const auto parsed = emmy::json::document::parse(wire.out);
    BOOST_REQUIRE_MESSAGE(parsed.has_value(), wire.out);
    const auto& root = parsed->root();
    BOOST_TEST(root.find("schema")->text() == "emmy.plan/1");
    BOOST_TEST(root.find("launches")->size() == 3u);
    BOOST_TEST(root.find("symbols")->items()[0].find("size")->integer().value() == 4);
    BOOST_TEST(root.find("arena")->find("bytes")->integer().value() == 1280);
    const auto machine = run_tool("emmy-compile", folder / "three.json" + " --run --json -" + rest);
    const auto told = emmy::json::document::parse(machine.out);
    BOOST_REQUIRE_MESSAGE(told.has_value(), machine.out);
    BOOST_TEST(told->root().find("programs")->items()[0].find("right")->boolean());
    // an output that is an input: nothing to launch
    const auto none = run_tool("emmy-compile", folder / "none.json" + " --run" + rest);
    BOOST_TEST(none.code == 0, none.err);
    BOOST_TEST(none.out.find("no kernel: every output is an input or a constant") != std::string::npos, none.out);
    BOOST_TEST(none.out.find("right answer") != std::string::npos, none.out);
}

// One line each: file or flag, what was found, what was expected; nothing on standard output.
BOOST_AUTO_TEST_CASE(refusals_are_approved) {
    const emmy::test::scratch_folder folder;
    std::ofstream(folder / "no.json") << "{\"inputs\": [";
    std::ofstream(folder / "bad.json") << R"({"inputs":[],"outputs":["y"],"nodes":[{"id":"y","op":"torch.frob","outputs":[["y","f32",[4]]]}]})";
    std::ofstream(folder / "two.json") << R"({"inputs":["x"],"outputs":["x"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[4]]]}]})";
    std::string all;
    for (const std::string& arguments : std::vector<std::string>{"--op 'softmx(f32[4])'", "--op 'softmax(f32[4,0])'", "--op 'softmax(f32[4,4])' --stage nowhere",
             "--op 'softmax(f32[4,4])' --target sm_90 --stage text", "--op 'softmax(f32[4,4])' --target 'NVIDIA H100 80GB HBM3'", "--op 'softmax(f32[4,4])' --pin WORK=t3", "--op 'softmax(f32[4,4])' --pin WROK=t4",
             "--op 'softmax(f32[4,4])' --pin WORK=w04x1", "--op 'softmax(f32[4,4])' --pin TEAM=0", "--op 'softmax(f32[4,4])' --dynamic rows=4", "--op 'softmax(f32[4,4])' --own-only", "--op 'softmax(f32[4,4])' --run --stage loop", "--op 'softmax(f32[4,4])' --explain --stage loop", "--op 'softmax(f32[4,4])' --stage fold --format csv", "--op 'softmax(f32[4,4])' --device cuda", "--op 'softmax(f32[4,4])' --device emulated", "--op 'softmax(f32[n=4,4])' --dynamic n=4 --dynamic n=5", "--op 'softmax(f32[4,4])' --opt 7",
             "--realization nothing.of.this.name --golden @/goldens/standard.json --device cpu", "--realization softmax --golden @/goldens/standard.json --device cpu", "%/absent.json", "%/no.json", "%/bad.json", "%/two.json --op 'relu(f32[4])'"}) {
        std::string line = arguments;
        for (std::size_t at; (at = line.find('%')) != std::string::npos;) line.replace(at, 1, folder.path.string());
        for (std::size_t at; (at = line.find("@/")) != std::string::npos;) line.replace(at, 1, EMMY_SOURCE_DIR);
        const auto ran = run_tool("emmy-compile", line + " --db " + folder / "tune.db");
        BOOST_TEST(ran.out == "");
        std::string err = ran.err;
        for (std::size_t at; (at = err.find(folder.path.string())) != std::string::npos;) err.replace(at, folder.path.string().size(), "%");
        for (std::size_t at; (at = err.find(EMMY_SOURCE_DIR)) != std::string::npos;) err.replace(at, std::string(EMMY_SOURCE_DIR).size(), "@");
        all += "$ emmy-compile " + arguments + "\n" + err + "exit " + std::to_string(ran.code) + "\n";
    }
    emmy::test::approve("emmy-compile/refusals", all);
}
