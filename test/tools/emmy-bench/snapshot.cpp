// --save-data, --golden-data, --runtime-dir and `snapshot`, through the built tool.
#include <emmy/core/archive/pt.hpp>
#include <emmy/core/file.hpp>
#include <emmy/core/json.hpp>
#include <emmy/core/numeric.hpp>

#include <support/tool.hpp>

#include <sys/stat.h>

using namespace emmy;
using emmy::test::scratch_folder;
using emmy::test::tool_run;

namespace {

constexpr const char* softmax = "--op 'softmax(x: f32[24,48], dim=-1)' --seconds 0.01 --no-reference";

struct place {
    scratch_folder folder;
    std::string work = folder / "work", data = work + "/data";
    std::string environment() const { return "cd '" + folder.path.string() + "' && EMMY_GOLDEN_FILE= EMMY_KNOBS= EMMY_DB='" + (folder / "store") + "' EMMY_CACHE_DIR='" + (folder / "cache") + "'"; }
    tool_run bench(const std::string& arguments) const { return test::run_tool("emmy-bench", arguments, environment()); }
    void save(const std::string& more = {}) const {
        const tool_run r = bench(std::string("run ") + softmax + " --save-data --work-dir '" + work + "' " + more);
        BOOST_REQUIRE_MESSAGE(r.code == 0, r.out + r.err);
    }
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const json::value& at(const json::value& v, std::string_view key) {
    const json::value* found = v.find(key);
    BOOST_REQUIRE_MESSAGE(found, "no \"" << key << "\"");
    return *found;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_replay_generates_nothing_and_says_so, place) {
    save();
    const tool_run r = bench(std::string("run ") + softmax + " --golden-data '" + data + "'");
    BOOST_CHECK_MESSAGE(r.code == 0, r.out + r.err);
    BOOST_CHECK_MESSAGE(r.out.starts_with("[RUN] generate inputs ...\n[RUN]   cache hit: " + data + "/in\n[RUN] compute golden ...\n[RUN]   cache hit: " + data + "/out\n"), r.out);
    BOOST_CHECK_MESSAGE(holds(r.out, "1 inputs and 1 outputs loaded, 0 inputs generated, 0 references computed"), r.out);
    BOOST_CHECK_MESSAGE(holds(r.out, "checked by   snapshot " + data + ", all 1152 cells"), r.out);
    // A machine's document stands alone on stdout, with counters.
    const tool_run m = bench(std::string("ab --ab 'FAST_MATH=true' ") + softmax + " --format json --golden-data '" + data + "'");
    const auto doc = json::document::parse(m.out);
    BOOST_REQUIRE_MESSAGE(doc, m.out + m.err);
    BOOST_CHECK(holds(m.err, "[RUN]   cache hit: " + data + "/out\n"));
    const json::value& s = at(doc->root(), "snapshot");
    for (const auto& [key, value] : {std::pair{"inputs_generated", "0"}, {"references_computed", "0"}, {"inputs_loaded", "1"}, {"outputs_loaded", "1"}}) BOOST_CHECK_EQUAL(at(s, key).text(), value);
    BOOST_CHECK_EQUAL(at(s, "outputs").size(), 1u);
    BOOST_CHECK_EQUAL(at(at(s, "outputs").items()[0], "over").text(), "0");
    BOOST_CHECK(!holds(bench(std::string("run ") + softmax + " --quiet --golden-data '" + data + "'").out, "[RUN]"));
}

BOOST_FIXTURE_TEST_CASE(an_incomplete_snapshot_fails_with_every_path, place) {
    save();
    std::filesystem::remove(data + "/in/x.pt");
    std::filesystem::remove(data + "/out/softmax.pt");
    const tool_run r = bench(std::string("run ") + softmax + " --golden-data '" + data + "'");
    BOOST_CHECK_EQUAL(r.code, 1);
    BOOST_CHECK_MESSAGE(holds(r.out, "FAILED       the snapshot " + data + " is incomplete\n  missing      " + data + "/in/x.pt\n  missing      " + data + "/out/softmax.pt\n"), r.out);
    BOOST_CHECK(!holds(r.out, "[RUN]"));
    const tool_run m = bench(std::string("run ") + softmax + " --format json --golden-data '" + data + "'");
    const auto doc = json::document::parse(m.out);
    BOOST_REQUIRE(doc);
    BOOST_CHECK_EQUAL(at(at(doc->root(), "snapshot"), "missing").size(), 2u);
    BOOST_CHECK_EQUAL(m.code, 1);
}

BOOST_FIXTURE_TEST_CASE(one_changed_element_fails_by_name_and_index, place) {
    save();
    std::filesystem::remove(data + "/snapshot.json");
    const auto file = archive::pt_file::open(data + "/out/softmax.pt");
    auto bytes = file->read(file->root()).value();
    store_real(dtype::f32, bytes.data(), 77, load_real(dtype::f32, bytes.data(), 77) + 0.25);
    BOOST_REQUIRE(archive::write_pt(data + "/out/softmax.pt", {archive::element::f32, file->root().shape(), bytes}));
    const tool_run r = bench(std::string("run ") + softmax + " --golden-data '" + data + "'");
    BOOST_CHECK_EQUAL(r.code, 1);
    BOOST_CHECK_MESSAGE(holds(r.out, "wrong answer: softmax: 1 of 1152 cells are wrong, the worst at 77: found "), r.out);
    BOOST_CHECK_MESSAGE(holds(r.out, "1 over the tolerance, the first at 77"), r.out);
    BOOST_CHECK(holds(r.out, "has no snapshot.json"));
    // Saved inputs of another shape.
    const tool_run other = bench("run --op 'softmax(x: f32[48,24], dim=-1)' --no-reference --golden-data '" + data + "'");
    BOOST_CHECK_EQUAL(other.code, 1);
    BOOST_CHECK_MESSAGE(holds(other.out, data + "/in/x.pt: found f32[24, 48], expected f32[48, 24]"), other.out);
}

BOOST_FIXTURE_TEST_CASE(a_runtime_directory_compiles_nothing, place) {
    save();
    const std::string objects = work + "/runtime/cpu";
    struct stat before {}, after {};
    BOOST_REQUIRE_EQUAL(::stat(objects.c_str(), &before), 0);
    for (const std::string more : {std::string(), " --golden-data '" + data + "'"}) {
        const tool_run r = bench(std::string("run ") + softmax + " --format json --runtime-dir '" + work + "'" + more);
        const auto doc = json::document::parse(r.out);
        BOOST_REQUIRE_MESSAGE(doc, r.out + r.err);
        BOOST_CHECK_EQUAL(r.code, 0);
        BOOST_CHECK_EQUAL(at(at(doc->root(), "snapshot"), "compiled").text(), "0");
        BOOST_CHECK_EQUAL(at(at(doc->root(), "snapshot"), "compile_reused").text(), "1");
        BOOST_CHECK(holds(r.err, "[RUN] compile ...\n[RUN]   cache hit: " + work + "/runtime\n"));
        BOOST_CHECK_EQUAL(at(at(doc->root(), "greedy"), "status").text(), "ok");
    }
    BOOST_REQUIRE_EQUAL(::stat(objects.c_str(), &after), 0);
    BOOST_CHECK(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    BOOST_CHECK(!std::filesystem::exists(folder / "cache/cpu"));
    const tool_run none = bench("run --op 'relu(x: f32[8,8])' --no-reference --runtime-dir '" + work + "'");
    BOOST_CHECK_EQUAL(none.code, 3);
    BOOST_CHECK_MESSAGE(holds(none.err, work + "/runtime: holds no compiled kernel of this row"), none.err);
}

BOOST_FIXTURE_TEST_CASE(the_default_place_is_ignored_by_version_control, place) {
    const tool_run r = bench(std::string("run ") + softmax + " --save-data");
    BOOST_REQUIRE_MESSAGE(r.code == 0, r.out + r.err);
    BOOST_CHECK_EQUAL(read_file(folder / "build_output/.gitignore").value(), "*\n");
    BOOST_CHECK_MESSAGE(holds(r.out, "saved        build_output/"), r.out);
    BOOST_CHECK_EQUAL(bench(std::string("run --save-data ") + softmax + " --golden-data x --quiet").code, 1);
}

BOOST_FIXTURE_TEST_CASE(flags_that_cannot_be_meant_are_refused, place) {
    save();
    const tool_run own = bench(std::string("run ") + softmax + " --save-data --work-dir '" + work + "' --golden-data '" + data + "'");
    BOOST_CHECK_EQUAL(own.code, 2);
    BOOST_CHECK_MESSAGE(holds(own.err, "found the replayed snapshot as the place to save to"), own.err);
    const tool_run many = bench("run --golden-data '" + data + "'");
    BOOST_CHECK_EQUAL(many.code, 2);
    BOOST_CHECK_MESSAGE(holds(many.err, "--golden-data: found ") && holds(many.err, "kernels to replay one snapshot for"), many.err);
    BOOST_CHECK_EQUAL(bench("snapshot show").code, 2);
    BOOST_CHECK_EQUAL(bench("snapshot list a").code, 2);
    BOOST_CHECK_EQUAL(bench("snapshot show nowhere").code, 3);
    BOOST_CHECK_EQUAL(bench("snapshot diff '" + data + "' nowhere").code, 3);
}

BOOST_FIXTURE_TEST_CASE(show_and_diff_are_tables_and_documents, place) {
    save();
    const tool_run shown = bench("snapshot show '" + data + "'");
    BOOST_CHECK_EQUAL(shown.code, 0);
    BOOST_CHECK_MESSAGE(holds(shown.out, "in/x.pt") && holds(shown.out, "f32[24, 48]") && holds(shown.out, "as saved"), shown.out);
    const auto doc = json::document::parse(bench("snapshot show --format json '" + data + "'").out);
    BOOST_REQUIRE(doc);
    BOOST_CHECK_EQUAL(at(doc->root(), "schema").text(), "emmy.bench.snapshot-show/1");
    const json::value& row = at(doc->root(), "rows").items()[0];
    BOOST_CHECK_EQUAL(at(row, "dtype").text(), "f32");
    BOOST_CHECK_EQUAL(at(row, "shape").size(), 2u);
    BOOST_CHECK_EQUAL(at(row, "xxh3_128").text(), to_hex(xxh3_128(read_file(data + "/" + std::string(at(row, "file").text())).value())));
    BOOST_CHECK_EQUAL(bench("snapshot diff '" + data + "' '" + data + "'").code, 0);
    const std::string other = folder / "other";
    std::filesystem::copy(data, other, std::filesystem::copy_options::recursive);
    const auto file = archive::pt_file::open(other + "/in/x.pt");
    auto bytes = file->read(file->root()).value();
    store_real(dtype::f32, bytes.data(), 5, 2.5);
    BOOST_REQUIRE(archive::write_pt(other + "/in/x.pt", {archive::element::f32, file->root().shape(), bytes}));
    const tool_run apart = bench("snapshot diff --format json '" + data + "' '" + other + "'");
    BOOST_CHECK_EQUAL(apart.code, 1);
    const auto told = json::document::parse(apart.out);
    BOOST_REQUIRE_MESSAGE(told, apart.out);
    BOOST_CHECK_EQUAL(at(told->root(), "differ").text(), "1");
    const json::value& first = at(told->root(), "rows").items()[0];
    BOOST_CHECK_EQUAL(at(first, "file").text(), "in/x.pt");
    BOOST_CHECK_EQUAL(at(first, "status").text(), "differs");
    BOOST_CHECK_EQUAL(at(first, "first").text(), "5");
    BOOST_CHECK_EQUAL(at(first, "b_value").text(), "2.5");
    BOOST_CHECK_EQUAL(bench("snapshot show '" + other + "'").code, 1);  // changed since it was saved
}
