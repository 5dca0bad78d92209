// The tool as its users run it.
#include <emmy/core/file.hpp>
#include <emmy/golden.hpp>

#include <support/peer.hpp>
#include <support/tool.hpp>

using namespace emmy;
using test::run_tool;

namespace {
const std::string own = EMMY_TEST_DATA "/golden_every_construct.json";
std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }
}  // namespace

BOOST_AUTO_TEST_SUITE(emmy_restamp)

BOOST_AUTO_TEST_CASE(help_and_version) {
    test::approve("emmy-restamp", run_tool("emmy-restamp", "--help").out);
    for (const char* verb : {"list", "kernels", "fmt", "lint"}) {
        const auto help = run_tool("emmy-restamp", std::string(verb) + " --help");
        BOOST_TEST(help.code == 0);
        BOOST_TEST(help.err.empty());
        test::approve(std::string("emmy-restamp-") + verb, help.out);
    }
    BOOST_TEST(run_tool("emmy-restamp", "--version").out == "emmy-restamp 0.1.0\n");
    BOOST_TEST(run_tool("emmy-restamp", "--complete").out.starts_with("list\nkernels\nfmt\nlint\n"));
    BOOST_TEST(run_tool("emmy-restamp", "--complete list").out.find("--behind\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(usage) {
    for (const char* words : {"", "check", "write", "list --colour", "kernels", "kernels a b", "list --missing --behind", "fmt --stdout --check x"}) {
        const auto run = run_tool("emmy-restamp", words);
        BOOST_TEST(run.code == 2, words);
        BOOST_TEST(run.out.empty());
        BOOST_TEST(lines(run.err) == 1u, run.err);
    }
    BOOST_TEST(run_tool("emmy-restamp", "check").err == "emmy-restamp: found the verb \"check\", expected one of list, kernels, fmt, lint (emmy-restamp --help)\n");
}

BOOST_AUTO_TEST_CASE(list_of_the_own_document) {
    test::approve("emmy-restamp-list-table", run_tool("emmy-restamp", "list " + own).out);
    const auto machine = run_tool("emmy-restamp", "list " + own + " --json -");
    const auto json = json::document::parse(machine.out);
    BOOST_REQUIRE(json.has_value());
    BOOST_REQUIRE(json->root().items().size() == 5u);
    const char* fields[] = {"file", "card", "row", "kernel", "pins", "knobs", "emmy_us", "reference_us", "reference_backend", "tried", "whole_us", "tcompile_us", "eager_us", "vs_tcompile", "note"};
    for (const json::value& entry : json->root().items()) {
        BOOST_REQUIRE(entry.members().size() == std::size(fields));
        for (std::size_t i = 0; i < std::size(fields); ++i) BOOST_TEST(entry.members()[i].key == fields[i]);
    }
    BOOST_TEST(json->root().items()[0].find("file")->text() == own);
    test::approve("emmy-restamp-list-missing", run_tool("emmy-restamp", "list --missing " + own).out);
    BOOST_TEST(lines(run_tool("emmy-restamp", "list --format csv --gpu H200 " + own).out) == 2u);
    // A file instead of the standard output, in one step.
    const test::scratch_folder folder;
    BOOST_TEST(run_tool("emmy-restamp", "list " + own + " --json " + folder / "out.json").out.empty());
    BOOST_TEST(test::slurp(folder / "out.json") == machine.out);
}

BOOST_AUTO_TEST_CASE(kernels_of_the_own_document) {
    const auto run = run_tool("emmy-restamp", "kernels " + own);
    BOOST_TEST(run.code == 0);
    const auto json = json::document::parse(run.out);
    BOOST_REQUIRE(json.has_value());
    BOOST_REQUIRE(json->root().items().size() == 5u);
    const json::value& piece = json->root().items()[3];
    const char* fields[] = {"ref", "name", "identity", "formed", "role", "rows"};
    for (std::size_t i = 0; i < std::size(fields); ++i) BOOST_TEST(piece.members()[i].key == fields[i]);
    BOOST_TEST(piece.find("ref")->text() == "k_matmul_0a1b2c#2");
    BOOST_TEST(piece.find("identity")->text().size() == 32u);
    BOOST_TEST(piece.find("role")->text() == "piece");
    BOOST_TEST(!piece.find("formed")->boolean());
    BOOST_TEST(json->root().items()[0].find("rows")->text() == "2");
    BOOST_TEST(run_tool("emmy-restamp", "kernels --format table " + own).out.starts_with("ref "));
}

BOOST_AUTO_TEST_CASE(layout) {
    const test::scratch_folder folder;
    const std::string path = folder / "x.json";
    std::string text = test::slurp(own);
    for (auto at = text.find("\n "); at != text.npos; at = text.find("\n ")) text.erase(at, 2);
    BOOST_REQUIRE(write_file_atomically(path, text).has_value());
    BOOST_TEST(run_tool("emmy-restamp", "fmt --check " + path).code == 1);
    BOOST_TEST(test::slurp(path) == text);
    BOOST_TEST(run_tool("emmy-restamp", "fmt --stdout " + path).out == test::slurp(own));
    BOOST_TEST(test::slurp(path) == text);
    // A bad file beside it: nothing is written.
    BOOST_REQUIRE(write_file_atomically(folder / "y.json", "{}").has_value());
    BOOST_TEST(run_tool("emmy-restamp", "fmt " + folder.path.string()).code == 3);
    BOOST_TEST(test::slurp(path) == text);
    BOOST_TEST(run_tool("emmy-restamp", "fmt " + path).code == 0);
    BOOST_TEST(test::slurp(path) == test::slurp(own));
    BOOST_TEST(run_tool("emmy-restamp", "fmt --check " + path).code == 0);
}

BOOST_AUTO_TEST_CASE(lint_says_what_no_loader_refuses) {
    const test::scratch_folder folder;
    std::string text = test::slurp(own);
    auto change = [&](std::string_view from, std::string_view to) {
        const auto at = text.find(from);
        BOOST_REQUIRE(at != text.npos);
        text.replace(at, from.size(), to);
    };
    change("\"emmy_us\":1e-05", "\"emmy_us\":15.5");                                            // fast math loses
    change("{\"name\":\"matmul.partial\"", "{\"name\":\"matmul.fm.0123456789ab\"");              // labels
    change("{\"name\":\"relu.piece\",\"kernel\":\"k_relu_1__place_0123456789\"", "{\"name\":\"relu.m64\",\"kernel\":\"k_relu_1\",\"bindings\":{\"n\":3}");  // sizes of no symbol, another size label
    change(",\n  {\"name\":\"relu.seed\"", ",\n  {\"name\":\"again\",\"kernel\":\"k_matmul_0a1b2c__partial\",\"pins\":{\"FAST_MATH\":false},\"knobs\":{\"WORK\":\"t128\",\"RASTER\":\"\",\"REDUCE\":\"coop/r2\",\"SHARED_CARRY\":\"0\"}},\n {\"name\":\"relu.seed\"");
    BOOST_REQUIRE(write_file_atomically(folder / "x.json", text).has_value());
    const auto run = run_tool("emmy-restamp", "lint --json - " + folder / "x.json");
    BOOST_TEST(run.code == 1);
    const auto json = json::document::parse(run.out);
    BOOST_REQUIRE(json.has_value());
    BOOST_TEST(json->root().find("schema")->text() == "emmy.restamp.lint/1");
    std::string rules;
    for (const json::value& f : json->root().find("rows")->items()) rules += std::string(f.find("rule")->text()) + ' ';
    BOOST_TEST(rules == "fast-math-loses sizes-extra duplicate-proposal label-lane label-size label-identity not-canonical ");
    const auto clean = run_tool("emmy-restamp", "lint " + own);
    BOOST_TEST(clean.code == 0);
    BOOST_TEST(clean.out == "0 finding(s)\n");
}

BOOST_AUTO_TEST_CASE(bad_files_are_one_line_and_exit_3) {
    const test::scratch_folder folder;
    const std::string path = folder / "bad.json";
    for (const char* verb : {"list", "kernels", "fmt", "fmt --stdout", "lint"})
        for (const std::string& text : {std::string("{\"compute_cap\": [9, 0],\n \"rows\": ["), std::string("{\"compute_cap\":[9,0],\"rows\":[{\"name\":\"a\\nb\",\"kernel\":\"c\\nd\"}]}"), std::string("\xff\xfe"), std::string()}) {
            BOOST_REQUIRE(write_file_atomically(path, text).has_value());
            const auto run = run_tool("emmy-restamp", std::string(verb) + ' ' + path);
            BOOST_TEST(run.code == 3);
            BOOST_TEST(run.out.empty());
            BOOST_TEST(lines(run.err) == 1u, run.err);
            BOOST_TEST(run.err.starts_with("emmy-restamp: " + path + ": "), run.err);
            BOOST_TEST(test::slurp(path) == text);
        }
    const auto absent = run_tool("emmy-restamp", "list " + folder / "absent.json");
    BOOST_TEST(absent.code == 3);
    BOOST_TEST(lines(absent.err) == 1u);
}

BOOST_AUTO_TEST_CASE(every_bad_file_is_named_and_nothing_is_written) {
    const test::scratch_folder folder;
    const std::string good = test::slurp(own);
    BOOST_REQUIRE(write_file_atomically(folder / "a.json", "[").has_value());
    BOOST_REQUIRE(write_file_atomically(folder / "b.json", " " + good).has_value());  // would be laid out anew
    BOOST_REQUIRE(write_file_atomically(folder / "c.json", "{}").has_value());
    for (const char* verb : {"list", "fmt", "lint"}) {
        const auto run = run_tool("emmy-restamp", std::string(verb) + ' ' + folder.path.string());
        BOOST_TEST(run.code == 3);
        BOOST_TEST(lines(run.err) == 2u, run.err);
        BOOST_TEST(run.err.find("a.json: ") != std::string::npos);
        BOOST_TEST(run.err.find("c.json: ") != std::string::npos);
        BOOST_TEST(test::slurp(folder / "b.json") == " " + good);
    }
}

BOOST_AUTO_TEST_CASE(without_paths_the_files_that_come_along_are_read) {
    const test::scratch_folder folder;
    std::filesystem::create_directories(folder / "goldens");
    std::filesystem::create_directories(folder / "recipes/some-model/golden");
    std::filesystem::copy_file(own, folder / "goldens/nvidia_h100_80gb_sm90.json");
    std::filesystem::copy_file(own, folder / "recipes/some-model/golden/h100.json");
    const std::string environment = "EMMY_GOLDEN_DIR='" + folder / "goldens'";
    const auto run = run_tool("emmy-restamp", "list --format csv", environment);
    BOOST_TEST(run.code == 0, run.err);
    BOOST_TEST(lines(run.out) == 1u + 2 * 5 + 2);  // a note of two lines in each
    // There the rules of a repository file hold.
    std::string text = test::slurp(own);
    text.replace(text.find(",\"reference_backend\":\"torch-eager\""), 34, "");
    BOOST_REQUIRE(write_file_atomically(folder / "goldens/nvidia_h100_80gb_sm90.json", text).has_value());
    BOOST_TEST(run_tool("emmy-restamp", "list", environment).code == 3);
    BOOST_TEST(run_tool("emmy-restamp", "list", "EMMY_GOLDEN_DIR='" + folder / "nothing/there'").code == 3);
}

BOOST_AUTO_TEST_CASE(the_dispatcher_runs_the_tool) {
    const auto direct = run_tool("emmy-restamp", "list " + own);
    const auto run = run_tool("emmy", "restamp list " + own);
    BOOST_TEST(run.code == 0);
    BOOST_TEST(run.out == direct.out);
    BOOST_TEST(run_tool("emmy", "restamp check").code == 2);
    BOOST_TEST(run_tool("emmy", "").code == 2);
    BOOST_TEST(run_tool("emmy", "nonsense").code == 2);
    BOOST_TEST(run_tool("emmy", "../bin/emmy-restamp").code == 2);
    BOOST_TEST(run_tool("emmy", "--help").out.find("  restamp   list, check and lay out golden files\n") != std::string::npos);
    BOOST_TEST(run_tool("emmy", "--complete").out.find("restamp\n") != std::string::npos);
    BOOST_TEST(run_tool("emmy", "--complete restamp list").out.find("--missing\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_shell_completes_verbs_flags_and_files) {
    const test::scratch_folder folder;
    BOOST_REQUIRE(write_file_atomically(folder / "list.json", "{}").has_value());
    auto complete = [&](const std::string& words) {
        const std::string command = "cd '" + folder.path.string() + "' && PATH='" EMMY_BINARY_DIR "/bin':$PATH bash -c 'source \"" EMMY_SOURCE_DIR
                                    "/tools/emmy/completion.bash\"; COMP_WORDS=(" + words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _emmy; echo \"${COMPREPLY[@]}\"' >out";
        BOOST_REQUIRE(std::system(command.c_str()) == 0);
        return test::slurp(folder / "out");
    };
    BOOST_TEST(complete("emmy-restamp l") == "list lint\n");
    BOOST_TEST(complete("emmy restam") == "restamp\n");
    BOOST_TEST(complete("emmy restamp k") == "kernels\n");
    BOOST_TEST(complete("emmy restamp list --m") == "--missing\n");
    BOOST_TEST(complete("emmy-restamp list --format c") == "csv\n");
    BOOST_TEST(complete("emmy-restamp list li") == "list.json\n");
}

BOOST_AUTO_TEST_CASE(peer_files_are_listed_as_counted) {
    if (test::peer_documents().empty()) return;
    const std::string folder = (test::shared_data() / "golden").string();
    auto json = [](const std::string& text) { return json::document::parse(text).value().root().items().size(); };
    BOOST_TEST(json(run_tool("emmy-restamp", "list --json - " + folder).out) == 1802u);
    BOOST_TEST(json(run_tool("emmy-restamp", "list --behind --json - " + folder).out) == 84u);
    BOOST_TEST(json(run_tool("emmy-restamp", "list --missing --json - " + folder).out) == 391u);
    const auto table = run_tool("emmy-restamp", "list " + folder).out;
    BOOST_TEST(table.find("qwen38-27b-fp8.pre-sym.k_linear_mean_reduce_06bd17 ") < table.find("16.19x"));
    BOOST_TEST(table.ends_with("\n1802 row(s)\n"));
    BOOST_TEST(run_tool("emmy-restamp", "fmt --check " + folder).code == 0);
    BOOST_TEST(json(run_tool("emmy-restamp", "kernels " + folder + "/records/h100_sm90.json").out) == 189u);
}

BOOST_AUTO_TEST_SUITE_END()
