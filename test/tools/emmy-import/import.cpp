// emmy-import as its users run it: what it fills, what it refuses, and that a refused run stores nothing.
#include <emmy/evidence.hpp>

#include <support/store.hpp>
#include <support/tool.hpp>

using namespace emmy;
using test::run_tool;

namespace {
const std::string own = EMMY_TEST_DATA "/golden_every_construct.json", least = EMMY_TEST_DATA "/golden_least.json";
std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }
std::string quiet(const std::string& words) { return words + " --quiet --progress never"; }
}  // namespace

BOOST_AUTO_TEST_CASE(help) {
    test::approve("emmy-import", run_tool("emmy-import", "--help").out);
    BOOST_TEST(run_tool("emmy-import", "--version").out == "emmy-import 0.1.0\n");
}

BOOST_AUTO_TEST_CASE(a_dataset_is_made_filled_and_left_alone) {
    const test::scratch_folder dir;
    const auto dry = run_tool("emmy-import", quiet(own + " --dry-run --db " + dir / "d"));
    BOOST_TEST(dry.code == 0, dry.err);
    BOOST_TEST(!std::filesystem::exists(dir / "d"));
    const auto first = run_tool("emmy-import", quiet(own + " --format csv --db " + dir / "d"));
    BOOST_TEST(first.code == 0, first.err);
    BOOST_TEST(first.err.empty(), first.err);
    BOOST_TEST(lines(first.out) == 2u);
    BOOST_TEST(first.out.find(",imported,") != std::string::npos);
    const auto bytes = test::slurp(dir / "d/data.mdb");
    const auto second = run_tool("emmy-import", quiet(own + " --format csv --db " + dir / "d"));
    BOOST_TEST(second.out.find(",already stored,") != std::string::npos);
    BOOST_TEST(run_tool("emmy-import", quiet(own + " --dry-run --format csv --db " + dir / "d")).out.find(",already stored,") != std::string::npos);
    BOOST_TEST((test::slurp(dir / "d/data.mdb") == bytes));
    BOOST_TEST(run_tool("emmy-db", "check --db " + dir / "d").code == 0);
    const auto folder = run_tool("emmy-import", quiet(EMMY_TEST_DATA " --db " + dir / "e"));
    BOOST_TEST((folder.code == 0 || folder.code == 3));  // other documents of the tests may stand there
    const auto db = evidence::open_store(dir / "d", store::access::read);
    BOOST_REQUIRE_MESSAGE(db, test::why(db));
    BOOST_TEST((db->kind() == store::store_kind::dataset));
}

BOOST_AUTO_TEST_CASE(a_header_of_a_golden_file) {
    const test::scratch_folder dir;
    const std::string file = EMMY_SOURCE_DIR "/doc/examples/typed/softmax_h100.json";
    const auto made = run_tool("emmy-import", file + " --emit-header " + dir / "softmax.golden.hpp");
    BOOST_TEST(made.code == 0, made.err);
    BOOST_TEST((made.out.empty() && made.err.empty()));
    const std::string text = test::slurp(dir / "softmax.golden.hpp");
    BOOST_TEST(text.find("namespace softmax {") != std::string::npos);
    BOOST_TEST(text.find("static_assert(emmy::golden::compiled::is_sound<data::source>());") != std::string::npos);
    const auto other = run_tool("emmy-import", file + " --target sm_80 --emit-header " + dir / "x.hpp");
    BOOST_TEST(other.code == 2);
    BOOST_TEST(other.err.find("--target: found sm_80, expected sm_90, the target of the file's rows") != std::string::npos, other.err);
    BOOST_TEST(!std::filesystem::exists(dir / "x.hpp"));
    BOOST_TEST(run_tool("emmy-import", file + " " + own + " --emit-header " + dir / "x.hpp").code == 2);
    std::string bad = test::slurp(file);
    bad.replace(bad.find("t256"), 4, "t32x64");
    std::ofstream(dir / "bad.json") << bad;
    const auto broken = run_tool("emmy-import", dir / "bad.json --emit-header " + dir / "x.hpp");
    BOOST_TEST(broken.code == 3);
    BOOST_TEST(broken.err.find("rows[1].knobs: K1 WORK: threads of a block is 2048") != std::string::npos, broken.err);
    BOOST_TEST(run_tool("emmy-import", dir / "none.json --emit-header " + dir / "x.hpp").code == 3);
}

BOOST_AUTO_TEST_CASE(usage) {
    const test::scratch_folder dir;
    std::filesystem::create_directories(dir / "empty");
    std::ofstream(dir / "notes.txt") << "x";
    struct { std::string words; int code; const char* says; } const wrong[] = {
        {"--db " + dir / "d", 2, "SOURCE: found no source"},
        {own, 2, "--db: found none"},
        {dir / "absent.json --db " + dir / "d", 3, "found no such file"},
        {dir / "empty --db " + dir / "d", 3, "found no *.json"},
        {dir / "notes.txt --db " + dir / "d", 2, "found no .json file"},
    };
    for (const auto& w : wrong) {
        const auto run = run_tool("emmy-import", w.words, "EMMY_DB=" + dir / "default");
        BOOST_TEST(run.code == w.code, w.words);
        BOOST_TEST(run.out.empty());
        BOOST_TEST(lines(run.err) == 1u, run.err);
        BOOST_TEST(run.err.find(w.says) != std::string::npos, run.err);
    }
    BOOST_TEST(!std::filesystem::exists(dir / "d"));
    BOOST_TEST(!std::filesystem::exists(dir / "default"));
}

BOOST_AUTO_TEST_CASE(a_tuning_store_is_refused) {
    const test::scratch_folder dir;
    { BOOST_REQUIRE(evidence::open_store(dir / "t", store::access::write, store::store_kind::tuning)); }
    const auto bytes = test::slurp(dir / "t/data.mdb");
    for (const char* more : {"", " --dry-run"}) {
        const auto run = run_tool("emmy-import", quiet(own + " --db " + dir / "t" + more));
        BOOST_TEST(run.code == 2, run.err);
        BOOST_TEST(run.err.find("found a tuning store, expected a dataset store") != std::string::npos, run.err);
    }
    BOOST_TEST((test::slurp(dir / "t/data.mdb") == bytes));
}

BOOST_AUTO_TEST_CASE(one_bad_file_and_nothing_is_stored) {
    const test::scratch_folder dir;
    std::ofstream(dir / "bad.json") << "{\"gpu_name\": \"NVIDIA H200\",\n \"compute_cap\": [9, 0],\n \"rows\": [\n  {\"name\":\"a\",\"kernel\":\"none\"}\n ]}\n";
    std::ofstream(dir / "cut.json") << test::slurp(own).substr(0, 500);
    std::ofstream(dir / "deep.json") << std::string(300, '[');
    std::ofstream(dir / "bytes.json") << "{\"gpu_name\": \"\xff\xfe\"}";
    std::ofstream(dir / "lfs.json") << "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
    for (const char* name : {"bad.json", "cut.json", "deep.json", "bytes.json", "lfs.json"}) {
        const auto run = run_tool("emmy-import", quiet(own + " " + dir / name + " --db " + dir / "d"));
        BOOST_TEST(run.code == 3, run.err);
        BOOST_TEST(lines(run.err) == 1u, run.err);
        BOOST_TEST(run.err.find(dir / name) != std::string::npos, run.err);
        BOOST_TEST(!std::filesystem::exists(dir / "d"));
    }
}
