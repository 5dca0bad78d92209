// Every loader rule by the one line it refuses with: file, JSON path, found, expected.
#include <emmy/core/file.hpp>
#include <emmy/golden.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

using namespace emmy;
using golden::document;

namespace {

std::string own_text() { return read_file(EMMY_TEST_DATA "/golden_every_construct.json").value(); }

/// The own document with one place changed.
std::string with(std::string_view from, std::string_view to) {
    std::string out = own_text();
    const auto at = out.find(from);
    BOOST_REQUIRE_MESSAGE(at != out.npos, from);
    return out.replace(at, from.size(), to);
}

std::string line(const std::string& text, golden::rules rules = golden::rules::working) {
    const auto file = document::parse(text, "f.json", rules);
    if (file) return "accepted";
    BOOST_TEST(exit_code(file.error().kind()) == 3);
    BOOST_TEST(file.error().line().find('\n') == std::string::npos);
    return file.error().line();
}

/// A document of one kernel `k` (piece) and what follows.
std::string small(const std::string& rest) { return R"({"compute_cap":[9,0],"programs":[{"nodes":[{"id":"n"}]}],"kernels":[{"loop_ir":{},"name":"k","formed":true}])" + rest + "}"; }
std::string row(const std::string& rest) { return small(R"(,"rows":[{"name":"r","kernel":"k")" + rest + "}]"); }
std::string knobs(const std::string& map) { return row(",\"knobs\":{" + map + "}"); }
std::string pins(const std::string& map) { return row(",\"pins\":{" + map + "}"); }
std::string kernels(const std::string& entries) { return R"({"compute_cap":[9,0],"programs":[{"nodes":[{"id":"n"}]}],"kernels":[)" + entries + "]}"; }
std::string arm(const std::string& map) { return small(R"(,"routing":[{"parent":"k","arm":{)" + map + R"(},"children":["k"]}])"); }

bool starts(const std::string& text, std::string_view head) { return text.starts_with(head); }

}  // namespace

#define REFUSED(text, words) BOOST_CHECK_MESSAGE(starts(line(text), words), line(text))

BOOST_AUTO_TEST_SUITE(golden_bad_input)

BOOST_AUTO_TEST_CASE(text_that_is_no_document) {
    REFUSED("", "f.json: not JSON: ");
    REFUSED("[]", "f.json: found an array, expected an object");
    const std::string whole = own_text();
    for (std::size_t size : {std::size_t{1}, std::size_t{25}, std::size_t{100}, whole.size() / 4, whole.size() / 2, whole.size() - 3}) {
        const std::string said = line(whole.substr(0, size));
        BOOST_CHECK_MESSAGE(starts(said, "f.json: ") && said.find("not JSON") != said.npos, said);
    }
    REFUSED(whole + "x", "f.json: found text after the document");
    REFUSED(with("\"relu.seed\"", "\"relu.\xff seed\""), "f.json: rows[5]");
    REFUSED(with("\"formed\":true", "\"formed\":tru"), "f.json: kernels[0].formed: not JSON");
    REFUSED(small(",\"rows\":" + std::string(300, '[') + std::string(300, ']')), "f.json: rows[0][0]");
    BOOST_TEST(line(small(",\"rows\":" + std::string(300, '[') + std::string(300, ']'))).find("found nesting deeper than 256 at line 1 column") != std::string::npos);
    REFUSED(with("\"emmy_us\":15.0", "\"emmy_us\":NaN"), "f.json: rows[0].measurements.emmy_us: not JSON");
}

BOOST_AUTO_TEST_CASE(header) {
    REFUSED("{}", "f.json: the key \"compute_cap\" is missing");
    REFUSED(R"({"compute_cap":9})", "f.json: compute_cap: found 9, expected [major, minor]");
    REFUSED(R"({"compute_cap":[9]})", "f.json: compute_cap: found an array, expected [major, minor]");
    REFUSED(R"({"compute_cap":[9,true]})", "f.json: compute_cap[1]: found true, expected an integer of at least 0");
    REFUSED(R"({"compute_cap":[9,0.0]})", "f.json: compute_cap[1]: found 0.0, expected an integer of at least 0");
    REFUSED(R"({"compute_cap":[9,-1]})", "f.json: compute_cap[1]: found -1, expected an integer of at least 0");
    REFUSED(R"({"compute_cap":[9,99999999999999999999]})", "f.json: compute_cap[1]: found the integer 99999999999999999999, expected one of 64 bits");
    REFUSED(R"({"compute_cap":[9,0],"gpu_name":3})", "f.json: gpu_name: found 3, expected a string");
    REFUSED(R"({"compute_cap":[9,0],"extra":3})", "f.json: extra: found an unknown key, expected none of this name");
    REFUSED(R"({"compute_cap":[9,0],"compute_cap":[9,0]})", "f.json: found the key \"compute_cap\" twice, expected distinct keys");
    REFUSED(R"({"compute_cap":[9,0],"model_quant_digest":"0123"})", "f.json: model_quant_digest: found \"0123\", expected 16 lowercase hex digits");
    REFUSED(R"({"compute_cap":[9,0],"format":2})", "f.json: format: found 2, expected 1");
    REFUSED(R"({"compute_cap":[9,0],"producer":""})", "f.json: producer: found \"\", expected a non-empty string");
    REFUSED(R"({"compute_cap":[9,0],"rows":{}})", "f.json: rows: found an object, expected an array");
    REFUSED(R"({"compute_cap":[9,0],"programs":[1]})", "f.json: programs[0]: found 1, expected a program object");
}

BOOST_AUTO_TEST_CASE(kernels_and_references) {
    REFUSED(kernels("3"), "f.json: kernels[0]: found 3, expected an object");
    REFUSED(kernels(R"({"name":"k","formed":true})"), "f.json: kernels[0]: the key \"loop_ir\" is missing");
    REFUSED(kernels(R"({"loop_ir":[],"name":"k","formed":true})"), "f.json: kernels[0].loop_ir: found an array, expected an object");
    REFUSED(kernels(R"({"loop_ir":{},"name":"","formed":true})"), "f.json: kernels[0].name: found \"\", expected a non-empty string");
    REFUSED(kernels(R"({"loop_ir":{},"name":"k","formed":1})"), "f.json: kernels[0].formed: found 1, expected a boolean");
    REFUSED(kernels(R"({"loop_ir":{},"name":"k","formed":true},{"loop_ir":{},"name":"k","formed":true})"),
            "f.json: kernels[1]: found a second kernel of the reference \"k\", the first is kernels[0], expected distinct references");
    REFUSED(kernels(R"({"loop_ir":{},"name":"j","formed":true,"key":"k"},{"loop_ir":{},"name":"k","formed":true})"), "f.json: kernels[1]: found a second kernel of the reference \"k\"");
    REFUSED(kernels(R"({"loop_ir":{},"name":"k","formed":true,"traced":1})"), "f.json: kernels[0].traced: found 1, expected an index below 1, the number of programs");
    REFUSED(kernels(R"({"loop_ir":{},"name":"k","formed":true,"traced":-1})"), "f.json: kernels[0].traced: found -1, expected an index below 1");
    REFUSED(kernels(R"({"loop_ir":{},"name":"k","formed":true,"traced":true})"), "f.json: kernels[0].traced: found true, expected an integer");
    REFUSED(kernels(R"({"loop_ir":{},"name":"k","formed":true,"origins":["n"]})"), "f.json: kernels[0].origins: found origins without traced, expected none");
    REFUSED(kernels(R"({"loop_ir":{},"name":"k","formed":true,"traced":0,"origins":["m"]})"), "f.json: kernels[0].origins[0]: found \"m\", expected a node id of programs[0]");
    REFUSED(kernels(R"({"loop_ir":{},"name":"k","formed":true,"bindings":{"n":"3"}})"), "f.json: kernels[0].bindings.n: found \"3\", expected an integer");
    REFUSED(kernels(R"({"loop_ir":{},"name":"k","formed":true,"colour":1})"), "f.json: kernels[0].colour: found an unknown key");
}

BOOST_AUTO_TEST_CASE(decisions) {
    REFUSED(small(R"(,"routing":[{"parent":"x","arm":{"PLACE":"cut"},"children":[]}])"), "f.json: routing[0].parent: found \"x\", expected the reference of a kernel of this file");
    REFUSED(small(R"(,"routing":[{"parent":"k","arm":{"PLACE":"cut"},"children":["k","x"]}])"), "f.json: routing[0].children[1]: found \"x\", expected the reference of a kernel of this file");
    REFUSED(small(R"(,"routing":[{"parent":"k","arm":{"PLACE":"cut"}}])"), "f.json: routing[0]: the key \"children\" is missing");
    REFUSED(arm(""), "f.json: routing[0].arm: found an empty arm, expected at least one decision");
    REFUSED(arm(R"("WORK":"t128")"), "f.json: routing[0].arm.WORK: found [WORK], expected a knob that decides kernels (PLACE, LAYOUT or REDUCE)");
    REFUSED(arm(R"("REDUCE":"coop")"), "f.json: routing[0].arm.REDUCE: found [coop], expected a part g<n>k or g<n>a");
    REFUSED(arm(R"("PLACE@map.0/map":"cut")"), "f.json: routing[0].arm.PLACE@map.0/map: found [map.0/map], expected a number from 1 up");
    REFUSED(arm(R"("PLACE":"slice")"), "f.json: routing[0].arm.PLACE: found [slice], expected ");
    REFUSED(arm(R"("PLACE":1)"), "f.json: routing[0].arm.PLACE: found 1, expected a string");
    REFUSED(arm(R"("LAYOUT":"source")"), "f.json: routing[0].arm.LAYOUT: found no buffer, expected LAYOUT@<buffer>");
    REFUSED(arm(R"("BLOCK":"cut")"), "f.json: routing[0].arm.BLOCK: found [BLOCK], expected a knob that decides kernels");
}

BOOST_AUTO_TEST_CASE(rows) {
    REFUSED(small(R"(,"rows":[{"kernel":"k"}])"), "f.json: rows[0]: the key \"name\" is missing");
    REFUSED(small(R"(,"rows":[{"name":"","kernel":"k"}])"), "f.json: rows[0].name: found \"\", expected a non-empty string");
    REFUSED(small(R"(,"rows":[{"name":"r","kernel":""}])"), "f.json: rows[0].kernel: found \"\", expected a non-empty string");
    REFUSED(small(R"(,"rows":[{"name":"r","kernel":"kk"}])"), "f.json: rows[0].kernel: found \"kk\", expected the reference of a kernel of this file");
    REFUSED(row(R"(,"bindings":{"n":0})"), "f.json: rows[0].bindings.n: found 0, expected a size of at least 1");
    REFUSED(row(R"(,"bindings":{"n":true})"), "f.json: rows[0].bindings.n: found true, expected a size of at least 1");
    REFUSED(row(R"(,"measurements":{"emmy_us":1.0})"), "f.json: rows[0].measurements: found measurements without knobs");
    REFUSED(row(R"(,"knobs":null,"measurements":{"emmy_us":1.0})"), "f.json: rows[0].measurements: found measurements without knobs");
    REFUSED(row(R"(,"knobs":{},"measurements":{})"), "f.json: rows[0].measurements: the key \"emmy_us\" is missing");
    REFUSED(row(R"(,"knobs":{},"measurements":{"emmy_us":0})"), "f.json: rows[0].measurements.emmy_us: found 0, expected a time in µs above 0");
    REFUSED(row(R"(,"knobs":{},"measurements":{"emmy_us":-1.5})"), "f.json: rows[0].measurements.emmy_us: found -1.5, expected a time in µs above 0");
    REFUSED(row(R"(,"knobs":{},"measurements":{"emmy_us":"1"})"), "f.json: rows[0].measurements.emmy_us: found \"1\", expected a time in µs above 0");
    REFUSED(row(R"(,"knobs":{},"measurements":{"emmy_us":1e999})"), "f.json: rows[0].measurements.emmy_us: ");
    REFUSED(row(R"(,"knobs":{},"measurements":{"emmy_us":1,"reference_us":0.0})"), "f.json: rows[0].measurements.reference_us: found 0.0, expected a time in µs above 0");
    REFUSED(row(R"(,"knobs":{},"measurements":{"emmy_us":1,"reference_backend":""})"), "f.json: rows[0].measurements.reference_backend: found \"\", expected a non-empty string");
    REFUSED(row(R"(,"knobs":{},"measurements":{"emmy_us":1,"tried":0})"), "f.json: rows[0].measurements.tried: found 0, expected an integer of at least 1");
    REFUSED(row(R"(,"knobs":{},"measurements":{"emmy_us":1,"tried":1.0})"), "f.json: rows[0].measurements.tried: found 1.0, expected an integer of at least 1");
    REFUSED(row(R"(,"knobs":{},"measurements":{"emmy_us":1,"median":1})"), "f.json: rows[0].measurements.median: found an unknown key");
    REFUSED(row(R"(,"latency":{"card":{}})"), "f.json: rows[0].latency.card: the key \"emmy_us\" is missing");
    REFUSED(row(R"(,"latency":{"card":{"emmy_us":1,"eager_us":0}})"), "f.json: rows[0].latency.card.eager_us: found 0, expected a time in µs above 0");
    REFUSED(row(R"(,"note":1)"), "f.json: rows[0].note: found 1, expected a string");
    REFUSED(row(R"(,"state":"measured")"), "f.json: rows[0].state: found an unknown key");
}

BOOST_AUTO_TEST_CASE(pins_of_rows) {
    REFUSED(pins(R"("FAST_MATH":1)"), "f.json: rows[0].pins.FAST_MATH: found 1, expected a boolean");
    REFUSED(pins(R"("FAST_MATH":"true")"), "f.json: rows[0].pins.FAST_MATH: found \"true\", expected a boolean");
    REFUSED(pins(R"("UNROLL":true)"), "f.json: rows[0].pins.UNROLL: found true, expected an integer");
    REFUSED(pins(R"("WORK":4)"), "f.json: rows[0].pins.WORK: found 4, expected a string");
    REFUSED(pins(R"("SPEED":true)"), "f.json: rows[0].pins.SPEED: found [SPEED], expected a registered knob (");
    REFUSED(pins(R"("TEAM":0)"), "f.json: rows[0].pins.TEAM: found ");
    BOOST_TEST(line(pins(R"("FAST_MATH":true,"COLD_CACHE":false,"TEAM":2,"WORK":"t128","REDUCE":"g2k","PLACE":"cut")")) == "accepted");
}

BOOST_AUTO_TEST_CASE(knobs_of_rows) {
    REFUSED(knobs(R"("REDUCE":"g2k")"), "f.json: rows[0].knobs.REDUCE: found [g2k], expected a schedule choice");
    REFUSED(knobs(R"("REDUCE":"g4a/coop")"), "f.json: rows[0].knobs.REDUCE: found [g4a/coop], expected a schedule choice");
    REFUSED(knobs(R"("PLACE@x":"cut")"), "f.json: rows[0].knobs.PLACE@x: found [cut], expected a schedule choice");
    REFUSED(knobs(R"("LAYOUT@x":"source")"), "f.json: rows[0].knobs.LAYOUT@x: found [source], expected a schedule choice");
    REFUSED(knobs(R"("BLOCK":"t128")"), "f.json: rows[0].knobs.BLOCK: found [BLOCK], expected a schedule knob (WORK, ");
    REFUSED(knobs(R"("WORK":"t128x1")"), "f.json: rows[0].knobs.WORK: found [t128x1], expected ");
    REFUSED(knobs(R"("WORK":"t0128")"), "f.json: rows[0].knobs.WORK: found [t0128], expected ");
    REFUSED(knobs(R"("WORK":" t128")"), "f.json: rows[0].knobs.WORK: found [ t128], expected ");
    REFUSED(knobs(R"("TILE":"f4x1")"), "f.json: rows[0].knobs.TILE: found [f4x1], expected ");
    REFUSED(knobs(R"("STAGE":"d1/direct")"), "f.json: rows[0].knobs.STAGE: found [d1/direct], expected ");
    REFUSED(knobs(R"("RASTER":"gm1")"), "f.json: rows[0].knobs.RASTER: found [gm1], expected ");
    REFUSED(knobs(R"("WORK@map":"t128")"), "f.json: rows[0].knobs.WORK@map: found [map], expected no address");
    REFUSED(knobs(R"("TILE@n0":"f4")"), "f.json: rows[0].knobs.TILE@n0: found [n0], expected a node kind");
    REFUSED(knobs(R"("WORK":null)"), "f.json: rows[0].knobs.WORK: found null, expected a string, an integer or a boolean");
    REFUSED(knobs(R"("WORK":"t1","WORK":"t1")"), "f.json: rows[0].knobs: found the key \"WORK\" twice, expected distinct keys");
    REFUSED(knobs("\"WORK\":\"t1\\u0000\\n" + std::string(500, 'x') + "\""), "f.json: rows[0].knobs.WORK: found [t1??xxx");
    BOOST_TEST(line(knobs(R"("WORK":"","RASTER":"","LOOPIFY":0,"SHARED_CARRY":"1","TILE@map.1/twist":"")")) == "accepted");
}

BOOST_AUTO_TEST_CASE(rules_of_repository_files) {
    const auto repository = golden::rules::repository;
    BOOST_TEST(line(row(""), repository) == "f.json: rows[0]: found no knobs, expected a schedule (an empty map at least) in a repository file");
    BOOST_TEST(line(row(R"(,"knobs":{},"measurements":{"emmy_us":1})"), repository) == "f.json: gpu_name: found none, expected the card of the measurements in a repository file");
    const std::string named = R"({"gpu_name":"NVIDIA H200",)" + row(R"(,"knobs":{},"measurements":{"emmy_us":1})").substr(1);
    BOOST_TEST(line(named, repository) == "f.json: rows[0].measurements: found no reference_us, expected one in a repository file");
    BOOST_TEST(line(named) == "accepted");
    BOOST_TEST(line(row(",\"knobs\":{}"), repository) == "accepted");  // proposals need no card
    BOOST_TEST(line(with(",\"reference_backend\":\"torch-eager\"", ""), repository) == "f.json: rows[4].measurements: found no reference_backend, expected one in a repository file");
}

BOOST_AUTO_TEST_CASE(what_is_not_refused) {
    for (const char* rest : {
             R"(,"rows":[{"name":"r","kernel":"k"},{"name":"r","kernel":"k"}])",                                                             // repeated names and rows
             R"(,"rows":[{"name":"r","kernel":"k","bindings":{"zz":3}}])",                                                                      // sizes that the kernel does not have
             R"(,"rows":[{"name":"r","kernel":"k","knobs":{"TILE":"f4"}}])",                                                                    // no WORK
             R"(,"routing":[{"parent":"k","arm":{"PLACE":"cut"},"children":[]},{"parent":"k","arm":{"PLACE":"cut"},"children":[]}])"})  // two equal decisions
        BOOST_TEST(line(small(rest)) == "accepted");
    BOOST_TEST(line(kernels(R"({"loop_ir":{},"name":"k","formed":true,"key":"k#7"})")) == "accepted");  // ordinals with gaps, a body that is none
}

BOOST_AUTO_TEST_CASE(large_arrays_are_read_or_refused_quickly) {
    std::string many = "{\"name\":\"r\",\"kernel\":\"k\"}";
    std::string list;
    for (int i = 0; i < 1'000'000; ++i) list += (i ? "," : "") + many;
    const auto file = document::parse(small(",\"rows\":[" + list + "]"));
    BOOST_REQUIRE(file.has_value());
    BOOST_TEST(file->rows().size() == 1'000'000u);
    std::string numbers = "0";
    for (int i = 1; i < 1'000'000; ++i) numbers += ",0";
    REFUSED(small(",\"rows\":[" + numbers + "]"), "f.json: rows[0]: found 0, expected an object");
    BOOST_TEST(starts(line(row(",\"knobs\":[" + numbers + "]")), "f.json: rows[0].knobs: found an array, expected an object"));
    std::string keys;
    for (int i = 0; i < 1'000'000; ++i) keys += (i ? ",\"" : "\"") + std::to_string(i) + "\":1";
    REFUSED(knobs(keys), "f.json: rows[0].knobs.0: found [0], expected a schedule knob");
    REFUSED("{\"compute_cap\":[9,0]," + keys + "}", "f.json: 0: found an unknown key");
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read) {
    BOOST_TEST(document::load("/nonexistent/x.json").error().line() == "/nonexistent/x.json: cannot open: No such file or directory");
    BOOST_TEST(exit_code(document::load("/nonexistent/x.json").error().kind()) == 3);
    BOOST_TEST(document::load("/tmp").error().line() == "/tmp: found a directory, expected a file");
}

BOOST_AUTO_TEST_SUITE_END()
