#include <emmy/core/json.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/wire.hpp>

#include <support/tool.hpp>

using emmy::test::run_tool;

namespace {
const char* const operators[] = {"matmul(x0: f16[512,256], x1: f16[256,128])", "matmul(x0: f32[seq_len=512,64], x1: f32[64,128])", "linear(input: f32[32,64], weight: f32[128,64], bias: f32[128])",
    "softmax(x: f32[512,2048], dim=-1)", "sum(x: f32[512,2048])", "mean(x: f32[8,16], keepdim=true)", "rms_norm(x: f32[512,4096])", "relu(x: f32[512,4096])", "add(a: bf16[4,8], b: bf16[8])"};
}

BOOST_AUTO_TEST_CASE(early_stages_are_approved) {
    std::string all;
    for (const char* op : operators)
        for (const char* stage : {"program", "primitive", "loop", "fold"}) {
            const auto ran = run_tool("emmy-compile", "--op '" + std::string(op) + "' --stage " + stage);
            BOOST_TEST(ran.code == 0);
            BOOST_TEST(ran.err == "");
            all += "$ emmy-compile --op '" + std::string(op) + "' --stage " + stage + "\n" + ran.out + "\n";
        }
    emmy::test::approve("emmy-compile/stages", all);
}

BOOST_AUTO_TEST_CASE(machine_forms_are_the_wires) {
    const std::string op = "--op 'softmax(x: f32[8,16])' ";
    const auto program = run_tool("emmy-compile", op + "--stage program --json -");
    const auto parsed = emmy::json::document::parse(program.out);
    BOOST_REQUIRE(parsed.has_value());
    BOOST_TEST(emmy::program::read_program(parsed->root()).has_value());
    const auto primitive = run_tool("emmy-compile", op + "--stage primitive --json -");
    const auto lowered = emmy::json::document::parse(primitive.out);
    BOOST_REQUIRE(lowered);
    BOOST_TEST(lowered->root().find("schema")->text() == "emmy.primitive/1");
    BOOST_TEST(emmy::program::read_program(*lowered->root().find("program")).has_value());
    const auto body = run_tool("emmy-compile", op + "--stage loop --json -");
    BOOST_TEST(emmy::loop::parse_kernel(body.out).has_value());
    const auto fold = run_tool("emmy-compile", op + "--stage fold --json -");
    const auto tree = emmy::json::document::parse(fold.out);
    BOOST_REQUIRE_MESSAGE(tree.has_value(), fold.out << fold.err);
    BOOST_TEST(tree->root().find("schema")->text() == "emmy.compile.fold/1");
    BOOST_TEST(tree->root().find("grid")->items()[0].items()[1].text() == "8");
    BOOST_TEST(tree->root().find("root")->find("terms")->items()[0].find("kind")->text() == "twist");
    BOOST_TEST(tree->root().find("root")->find("terms")->items()[0].find("route")->text() == "map.1/twist");
    // A program file gives what the operator gives.
    const emmy::test::scratch_folder folder;
    std::ofstream(folder / "softmax.json") << program.out;
    BOOST_TEST(run_tool("emmy-compile", folder / "softmax.json" + " --stage loop").out == run_tool("emmy-compile", op + "--stage loop").out);
    BOOST_TEST(run_tool("emmy-compile", folder / "softmax.json" + " --stage loop --out " + folder / "loop.txt").out == "");
    BOOST_TEST(emmy::test::slurp(folder / "loop.txt") == run_tool("emmy-compile", op + "--stage loop").out);
}

// More than one operator: the kernels that fusion forms of the whole program, in launch order.
BOOST_AUTO_TEST_CASE(programs_of_several_operators_are_fused) {
    const std::string program = R"({"inputs":["x"],"outputs":["y"],"nodes":[{"id":"w","op":"constant","attrs":{"name":"w","source_path":"w","source_shape":[8,16],"source_dtype":"float16"},"outputs":[["w","f16",[8,16]]]},)"
        R"({"id":"x","op":"input","outputs":[["x","f16",[4,16]]]},{"id":"l","op":"torch.linear","inputs":["x","w"],"outputs":[["l","f16",[4,8]]]},)"
        R"({"id":"y","op":"tensor.elementwise","attrs":{"op":"silu"},"inputs":["l"],"outputs":[["y","f16",[4,8]]]}]})";
    const emmy::test::scratch_folder folder;
    std::ofstream(folder / "two.json") << program;
    const auto text = run_tool("emmy-compile", folder / "two.json" + " --stage loop");
    BOOST_TEST(text.code == 0);
    BOOST_TEST(text.out.find("v1:f16 = copy(acc0)") != std::string::npos, text.out);
    BOOST_TEST(text.out.find("y[a0, a1] = ") != std::string::npos, text.out);
    BOOST_TEST(text.out.find("k_linear_") == 0u, text.out);
    const auto wire = run_tool("emmy-compile", folder / "two.json" + " --stage loop --json -");
    BOOST_TEST(emmy::loop::parse_kernel(wire.out).has_value());
    const auto fold = run_tool("emmy-compile", folder / "two.json" + " --stage fold");
    BOOST_TEST(fold.code == 0);
    BOOST_TEST(fold.out.find("inner a2 -> acc0 [a0 a1]") != std::string::npos, fold.out);
    BOOST_TEST(fold.out.find("PLACE@map.1/inner  buffers acc0 f16[a0, a1]") != std::string::npos, fold.out);
    const auto terms = run_tool("emmy-compile", folder / "two.json" + " --stage fold --json -");
    const auto listed = emmy::json::document::parse(terms.out);
    BOOST_REQUIRE_MESSAGE(listed.has_value(), terms.out << terms.err);
    BOOST_TEST(listed->root().find("sites")->items()[1].find("address")->text() == "map.1/inner");
    const auto op = run_tool("emmy-compile", "--op 'softmax(x: f32[8,16])' --stage loop --fresh");
    BOOST_TEST(op.out == run_tool("emmy-compile", "--op 'softmax(x: f32[8,16])' --stage loop").out);
    const auto alone = run_tool("emmy-compile", folder / "two.json" + " --fresh");
    BOOST_TEST(alone.code == 2);
}

BOOST_AUTO_TEST_CASE(late_stages_show_the_pick) {
    const emmy::test::scratch_folder folder;
    const std::string op = "--op 'softmax(x: f32[8,64])' -q --db " + folder / "tune.db";
    const auto fork = run_tool("emmy-compile", op + " --stage fork");
    BOOST_TEST(fork.code == 0);
    std::size_t options = 0, picks = 0;
    std::istringstream lines(fork.out);
    for (std::string line; std::getline(lines, line);) {
        options += line.starts_with("   ") || line.starts_with(" * ");
        picks += line.starts_with(" * ");
    }
    BOOST_TEST(options >= 20u);
    BOOST_TEST(picks == 1u);
    const auto ir = run_tool("emmy-compile", op + " --stage kernel");
    BOOST_TEST(ir.out.find("b0: f32 = input x") != std::string::npos);
    BOOST_TEST(ir.out.find("team ") != std::string::npos);
    const auto text = run_tool("emmy-compile", op + " --stage text");
    BOOST_TEST(text.out.find("extern \"C\" void ") != std::string::npos);
    BOOST_TEST(text.out.find("#include") == std::string::npos);
    const auto dumped = run_tool("emmy-compile", op + " --dump " + folder / "dump");
    BOOST_TEST(dumped.code == 0);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "dump")) {
        if (entry.path().filename() == "row0.cpp") BOOST_TEST(emmy::test::slurp(entry.path()).ends_with("\n" + text.out));
        files += entry.is_regular_file();
    }
    BOOST_TEST(files == 3u);  // program, body, text
    const auto stage = run_tool("emmy-compile", op + " --stage text --json -");
    const auto wrapped = emmy::json::document::parse(stage.out);
    BOOST_REQUIRE(wrapped.has_value());
    BOOST_TEST(wrapped->root().find("schema")->text() == "emmy.stage/1");
    BOOST_TEST(wrapped->root().find("stage")->text() == "text");
    BOOST_TEST(wrapped->root().find("text")->text() == text.out);
    const auto pinned = run_tool("emmy-compile", op + " --pin WORK=t4 --stage fork");
    BOOST_TEST(pinned.out.find("WORK=t4") != std::string::npos);
    BOOST_TEST(pinned.out.find("WORK=t16") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(help_is_approved) { emmy::test::approve("emmy-compile/help", run_tool("emmy-compile", "--help").out); }

BOOST_AUTO_TEST_CASE(normal_forms_part_at_a_node) {
    const emmy::test::scratch_folder folder;
    const auto diff = [&](const std::string& a, const std::string& b, const std::string& more = "") { return run_tool("emmy-compile", "--diff '" + a + "' '" + b + "' " + more); };
    const auto same = diff("matmul(x0: f32[64,32], x1: f32[32,16])", "matmul(a: f32[64,32], b: f32[32,16])");
    BOOST_TEST(same.code == 0);
    BOOST_TEST(same.out.starts_with("one kernel: "), same.out);
    const auto other = diff("softmax(x: f32[8,64])", "softmax(x: f32[8,32])");
    BOOST_TEST(other.code == 1);
    BOOST_TEST(other.out.find("\nbuffer at softmax") != std::string::npos, other.out);
    BOOST_TEST(other.out.find("f32[8, 64]") != std::string::npos);
    // A kernel's file against the operator it came from; for machines.
    std::ofstream(folder / "relu.json") << run_tool("emmy-compile", "--op 'relu(x: f32[8,64])' --stage loop --json -").out;
    BOOST_TEST(diff(folder / "relu.json", "relu(x: f32[8,64])").code == 0);
    const auto machine = diff(folder / "relu.json", "exp(x: f32[8,64])", "--json -");
    BOOST_TEST(machine.code == 1);
    const auto parsed = emmy::json::document::parse(machine.out);
    BOOST_REQUIRE(parsed.has_value());
    BOOST_TEST(!parsed->root().find("same")->boolean());
    BOOST_TEST(parsed->root().find("difference")->find("what")->text() == "operator");
    BOOST_TEST(parsed->root().find("difference")->find("first")->text() == "relu(x[i0, i1])");
    BOOST_TEST(parsed->root().find("difference")->find("second")->text() == "exp(x[i0, i1])");
    BOOST_TEST(diff("none.json", "relu(x: f32[8,64])").code == 3);
    BOOST_TEST(run_tool("emmy-compile", "--diff 'relu(x: f32[8,64])'").code == 2);
    BOOST_TEST(run_tool("emmy-compile", "--stage loop --diff 'relu(x: f32[8])' 'relu(x: f32[8])'").code == 2);
}
