// Snapshots: what is required, saved, replayed, compared and refused.
#include <emmy/core/archive/pt.hpp>
#include <emmy/core/file.hpp>
#include <emmy/core/hasher.hpp>
#include <emmy/core/json.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/golden/snapshot.hpp>

#include <support/tool.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include <sys/stat.h>

using namespace emmy;
using namespace emmy::golden::snapshot;
using emmy::test::scratch_folder;

namespace {

/// One of each row of the table: y = a * x, z += x.
std::vector<spec> every_kind() {
    return {scalar("a", dtype::f32, 3), input("x", {4, 5}, dtype::f32, uniform(dtype::f32, 7)), output("y", {4, 5}, dtype::f32), inout("z", {4, 5}, dtype::f32, uniform(dtype::f32, 8))};
}
void compute(std::span<const std::span<std::byte>> in, std::span<const std::span<std::byte>> out, const std::span<std::byte> z) {
    for (std::size_t i = 0; i < 20; ++i) {
        const double x = load_real(dtype::f32, in[1].data(), i);
        store_real(dtype::f32, out[2].data(), i, load_real(dtype::f32, in[0].data(), 0) * x);
        store_real(dtype::f32, out[3].data(), i, load_real(dtype::f32, z.data(), i) + x);
    }
}
struct harness {
    scratch_folder folder;
    std::vector<spec> specs = every_kind();
    std::vector<std::string> said;
    int ran = 0;
    function fn = [this](buffers b) -> result<std::vector<double>> {
        ++ran;
        compute(b, b, b[3]);
        std::memset(b[1].data(), 0, b[1].size());  // a run may do to its inputs what it likes
        return std::vector<double>{1.5, 2.5};
    };
    options base() {
        options out;
        out.work_dir = folder / "work";
        out.seed = 7;
        out.say = [this](std::string_view line) { said.emplace_back(line); };
        out.golden_fn = [](buffers given, buffers wanted) -> result<void> {
            compute(given, wanted, given[3]);
            return {};
        };
        return out;
    }
    std::string save() {
        options how = base();
        how.save_data = true;
        const run_result r = run(fn, specs, how);
        BOOST_REQUIRE_MESSAGE(r.passed, r.message);
        BOOST_CHECK_EQUAL(r.snapshot, folder / "work/data");
        said.clear();
        return r.snapshot;
    }
    run_result replay(const std::string& data) {
        options how = base();
        how.golden_data = data, how.work_dir.clear();
        return run(fn, specs, how);
    }
};

/// Every byte and every time stamp below a folder.
std::map<std::string, std::string> everything(const std::string& folder) {
    std::map<std::string, std::string> out;
    std::vector<std::string> names{folder};
    for (const auto& e : std::filesystem::recursive_directory_iterator(folder)) names.push_back(e.path().string());
    for (const std::string& name : names) {
        struct stat s {};
        BOOST_REQUIRE_EQUAL(::stat(name.c_str(), &s), 0);
        const auto stamp = [](const timespec& t) { return std::to_string(t.tv_sec) + "." + std::to_string(t.tv_nsec) + " "; };
        out[name] = stamp(s.st_atim) + stamp(s.st_mtim) + stamp(s.st_ctim) + std::to_string(s.st_mode) + " " + std::to_string(s.st_size);
    }
    return out;
}

std::vector<std::byte> floats(std::initializer_list<float> values) {
    std::vector<std::byte> out(values.size() * 4);
    std::memcpy(out.data(), values.begin(), out.size());
    return out;
}
archive::element f32 = archive::element::f32;

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_saved_run_holds_what_the_table_says_and_replays, harness) {
    const std::string data = save();
    std::vector<std::string> files;
    for (const required_file& f : required_files(specs)) files.push_back(f.path);
    BOOST_CHECK((files == std::vector<std::string>{"in/a.pt", "in/x.pt", "out/y.pt", "in/z.pt", "out/z.pt"}));
    for (const std::string& f : files) BOOST_CHECK(std::filesystem::exists(data + "/" + f));
    // Inputs are those of before the run; an inout's initial content; outputs are the reference's.
    std::vector<std::byte> x(80), z(80);
    BOOST_CHECK(specs[1].make(x) && specs[3].make(z));
    const auto in_x = archive::pt_file::open(data + "/in/x.pt");
    BOOST_REQUIRE(in_x);
    BOOST_CHECK(in_x->read(in_x->root()).value() == x);
    const auto in_z = archive::pt_file::open(data + "/in/z.pt");
    BOOST_CHECK(in_z->read(in_z->root()).value() == z);
    const auto in_a = archive::pt_file::open(data + "/in/a.pt");
    BOOST_CHECK(in_a->root().shape().empty());
    // The manifest beside them.
    const auto text = read_file(data + "/snapshot.json");
    BOOST_REQUIRE(text);
    const auto told = parse_manifest(*text, "snapshot.json");
    BOOST_REQUIRE_MESSAGE(told, (told ? "" : told.error().line()));
    BOOST_CHECK_EQUAL(told->seed, 7u);
    BOOST_CHECK_EQUAL(told->reference, "golden_fn");
    BOOST_CHECK_EQUAL(told->tool, "emmy " EMMY_VERSION_TEXT);
    BOOST_REQUIRE_EQUAL(told->tensors.size(), 4u);
    BOOST_CHECK_EQUAL(told->tensors[3].kind, "inout");
    for (const std::string& f : files) BOOST_CHECK(told->find(f) && told->find(f)->digest == xxh3_128(read_file(data + "/" + f).value()));
    BOOST_CHECK_EQUAL(manifest_text(*told), *text);

    const run_result r = replay(data);
    BOOST_CHECK_MESSAGE(r.passed, r.message);
    const std::vector<std::string> lines{"[RUN] generate inputs ...", "[RUN]   cache hit: " + data + "/in", "[RUN] compute golden ...", "[RUN]   cache hit: " + data + "/out"};
    BOOST_CHECK(said == lines);
    BOOST_CHECK_EQUAL(r.counts.inputs_generated, 0u);
    BOOST_CHECK_EQUAL(r.counts.references_computed, 0u);
    BOOST_CHECK_EQUAL(r.counts.inputs_loaded, 3u);
    BOOST_CHECK_EQUAL(r.counts.outputs_loaded, 2u);
    BOOST_CHECK((r.timings_us == std::vector<double>{1.5, 2.5}));
    BOOST_REQUIRE_EQUAL(r.outputs.size(), 2u);
    BOOST_CHECK(r.outputs[0].equal && r.outputs[1].equal);
    BOOST_CHECK_EQUAL(r.outputs[1].name, "z");
    BOOST_CHECK(r.notes.empty());
}

BOOST_FIXTURE_TEST_CASE(without_replay_inputs_and_reference_are_made_and_nothing_is_written, harness) {
    const run_result r = run(fn, specs, base());
    BOOST_CHECK(r.passed);
    BOOST_CHECK((said == std::vector<std::string>{"[RUN] generate inputs ...", "[RUN] compute golden ..."}));
    BOOST_CHECK_EQUAL(r.counts.inputs_generated, 3u);
    BOOST_CHECK_EQUAL(r.counts.references_computed, 1u);
    BOOST_CHECK(!std::filesystem::exists(folder / "work"));
}

BOOST_FIXTURE_TEST_CASE(snapshot_wins_over_the_reference, harness) {
    const std::string data = save();
    options how = base();
    how.golden_data = data;
    how.golden_fn = [](buffers, buffers) -> result<void> { throw std::runtime_error("the reference was asked"); };
    for (spec& s : specs)
        if (s.make) s.make = [](std::span<std::byte>) -> result<void> { throw std::runtime_error("a generator was asked"); };
    BOOST_CHECK(run(fn, specs, how).passed);
}

BOOST_FIXTURE_TEST_CASE(each_missing_file_is_named_and_nothing_runs, harness) {
    const std::string data = save();
    const auto files = required_files(specs);
    const int before = ran;
    // Each alone, then every subset: the list is exact and in spec order.
    for (unsigned set = 1; set < 1u << files.size(); ++set) {
        std::vector<std::string> gone;
        for (std::size_t i = 0; i < files.size(); ++i)
            if (set >> i & 1) {
                gone.push_back(data + "/" + files[i].path);
                std::filesystem::rename(gone.back(), gone.back() + ".away");
            }
        const run_result r = replay(data);
        BOOST_CHECK(!r.passed);
        BOOST_CHECK(r.missing == gone);
        BOOST_CHECK(said.empty());
        for (const std::string& path : gone) {
            BOOST_CHECK(r.message.find(path) != std::string::npos);
            std::filesystem::rename(path + ".away", path);
        }
    }
    BOOST_CHECK_EQUAL(ran, before);
    BOOST_CHECK_EQUAL(replay(folder / "nowhere").missing.size(), 5u);
    const run_result above = replay(folder / "work");
    BOOST_CHECK_EQUAL(above.missing.size(), 5u);
    BOOST_CHECK(!above.notes.empty() && above.notes[0].find(data) != std::string::npos);
    // Kinds one at a time.
    const std::pair<spec, std::vector<std::string>> rows[] = {{specs[0], {"in/a.pt"}}, {specs[1], {"in/x.pt"}}, {specs[2], {"out/y.pt"}}, {specs[3], {"in/z.pt", "out/z.pt"}}};
    for (const auto& [one, paths] : rows) {
        const auto read = load(folder / "nowhere", std::vector<spec>{one});
        BOOST_REQUIRE(read);
        BOOST_REQUIRE_EQUAL(read->missing.size(), paths.size());
        for (std::size_t i = 0; i < paths.size(); ++i) BOOST_CHECK_EQUAL(read->missing[i], (folder / "nowhere") + "/" + paths[i]);
    }
}

BOOST_FIXTURE_TEST_CASE(a_changed_output_fails_by_name_and_place, harness) {
    const std::string data = save();
    std::filesystem::remove(data + "/snapshot.json");
    const auto file = archive::pt_file::open(data + "/out/y.pt");
    auto bytes = file->read(file->root()).value();
    const double old = load_real(dtype::f32, bytes.data(), 13);
    store_real(dtype::f32, bytes.data(), 13, old + 1e-6);
    BOOST_REQUIRE(archive::write_pt(data + "/out/y.pt", {f32, specs[2].shape, bytes}));
    const run_result near = replay(data);
    BOOST_CHECK_MESSAGE(near.passed, near.message);
    BOOST_CHECK_EQUAL(near.outputs[0].first, 13);
    BOOST_REQUIRE_EQUAL(near.notes.size(), 1u);
    BOOST_CHECK(near.notes[0].find("has no snapshot.json") != std::string::npos);
    store_real(dtype::f32, bytes.data(), 13, old + 0.5);
    BOOST_REQUIRE(archive::write_pt(data + "/out/y.pt", {f32, specs[2].shape, bytes}));
    const run_result far = replay(data);
    BOOST_CHECK(!far.passed);
    BOOST_CHECK_MESSAGE(far.message.starts_with("y: 1 of 20 elements over the tolerance, the first at 13: found "), far.message);
    BOOST_CHECK_EQUAL(far.outputs[0].over, 1u);
    BOOST_CHECK_EQUAL(far.outputs[1].over, 0u);
    options how = base();
    how.golden_data = data, how.tolerances = {{"y", {1, 0}}};
    BOOST_CHECK(run(fn, specs, how).passed);
}

BOOST_FIXTURE_TEST_CASE(changed_files_other_shapes_and_strange_files_are_named, harness) {
    const std::string data = save(), kept = read_file(data + "/in/x.pt").value();
    const auto expect = [&](const std::string& words) {
        const run_result r = replay(data);
        BOOST_CHECK(!r.passed && r.missing.empty());
        BOOST_CHECK_MESSAGE(r.message.find(words) != std::string::npos, r.message);
        BOOST_CHECK(said.empty());
    };
    std::string changed = kept;
    changed[changed.find("FB")] = 'G';
    BOOST_REQUIRE(write_file_atomically(data + "/in/x.pt", changed));
    expect(data + "/in/x.pt: found hash ");
    expect("of snapshot.json: it was changed after it was saved");
    const std::string manifest = read_file(data + "/snapshot.json").value();
    std::string other = manifest;
    other.replace(other.find("in/x.pt"), 7, "in/w.pt");
    BOOST_REQUIRE(write_file_atomically(data + "/snapshot.json", other));
    expect(data + "/in/x.pt: snapshot.json tells nothing of it");
    BOOST_REQUIRE(write_file_atomically(data + "/snapshot.json", "{"));
    expect(data + "/snapshot.json: ");
    std::filesystem::remove(data + "/snapshot.json");
    const std::vector<std::int64_t> shape{5, 4};
    BOOST_REQUIRE(archive::write_pt(data + "/in/x.pt", {f32, shape, std::vector<std::byte>(80)}));
    expect(data + "/in/x.pt: found f32[5, 4], expected f32[4, 5]");
    BOOST_REQUIRE(archive::write_pt(data + "/in/x.pt", {archive::element::i32, specs[1].shape, std::vector<std::byte>(80)}));
    expect(data + "/in/x.pt: found i32[4, 5], expected f32[4, 5]");
    BOOST_REQUIRE(write_file_atomically(data + "/in/x.pt", kept.substr(0, kept.size() - 5)));
    expect(data + "/in/x.pt: found no zip directory at its end");
    std::filesystem::copy_file(EMMY_TEST_DATA "/pt/stranger.pt", data + "/in/x.pt", std::filesystem::copy_options::overwrite_existing);
    expect("names the global __builtin__.eval");
    std::filesystem::copy_file(EMMY_TEST_DATA "/pt/shared.pt", data + "/in/x.pt", std::filesystem::copy_options::overwrite_existing);
    expect(data + "/in/x.pt: found a dict, expected f32[4, 5]");
    BOOST_REQUIRE(write_file_atomically(data + "/in/x.pt", kept));
    BOOST_CHECK(replay(data).passed);
}

BOOST_FIXTURE_TEST_CASE(plain_python_numbers_are_scalars, harness) {
    const std::string data = save();
    std::filesystem::remove(data + "/snapshot.json");
    const auto put = [&](const char* fixture) { std::filesystem::copy_file(std::string(EMMY_TEST_DATA "/pt/") + fixture, data + "/in/a.pt", std::filesystem::copy_options::overwrite_existing); };
    put("float.pt");  // -2.5
    auto read = load(data, specs);
    BOOST_REQUIRE(read && read->good());
    BOOST_CHECK_EQUAL(load_real(dtype::f32, read->data[0].initial.data(), 0), -2.5);
    put("int.pt");
    read = load(data, specs);
    BOOST_REQUIRE_EQUAL(read->problems.size(), 1u);
    BOOST_CHECK_EQUAL(read->problems[0], data + "/in/a.pt: found an int 3, expected f32[]");
    specs[0].type = dtype::u8;
    BOOST_CHECK_EQUAL(load_integer(dtype::u8, load(data, specs)->data[0].initial.data(), 0), 3);
    put("long.pt");
    BOOST_CHECK(!load(data, specs)->good());
    specs[0].type = dtype::boolean;
    put("bool.pt");
    BOOST_CHECK(load(data, specs)->good());
}

BOOST_FIXTURE_TEST_CASE(replay_leaves_every_byte_and_time_stamp, harness) {
    const std::string data = save();
    for (const auto& e : std::filesystem::recursive_directory_iterator(data)) std::filesystem::permissions(e.path(), e.is_directory() ? std::filesystem::perms(0555) : std::filesystem::perms(0444));
    std::filesystem::permissions(data, std::filesystem::perms(0555));
    const auto before = everything(data);
    std::map<std::string, std::string> contents;
    BOOST_CHECK(replay(data).passed);
    BOOST_CHECK(show(data));
    BOOST_CHECK(diff(data, data));
    const auto after = everything(data);
    BOOST_CHECK(before == after);
    options how = base();
    how.golden_data = data, how.save_data = true;  // into its own place
    const run_result r = run(fn, specs, how);
    BOOST_CHECK(!r.passed && r.message.find("as the place to save to") != std::string::npos);
    how.work_dir = folder / "elsewhere";
    BOOST_CHECK(run(fn, specs, how).passed);
    const auto same = diff(data, folder / "elsewhere/data");
    BOOST_REQUIRE(same);
    for (const file_difference& d : *same) BOOST_CHECK_EQUAL(d.status, "equal");
    BOOST_CHECK(everything(data) == after);
    for (const auto& e : std::filesystem::recursive_directory_iterator(data))
        if (e.is_directory()) std::filesystem::permissions(e.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(data, std::filesystem::perms(0755));
}

BOOST_FIXTURE_TEST_CASE(only_a_passing_run_marks_its_snapshot, harness) {
    options how = base();
    how.save_data = true;
    const function wrong = [&](buffers b) -> result<std::vector<double>> {
        compute(b, b, b[3]);
        store_real(dtype::f32, b[2].data(), 3, 1e6);
        return std::vector<double>{};
    };
    const run_result r = run(wrong, specs, how);
    BOOST_CHECK(!r.passed);
    BOOST_CHECK(std::filesystem::exists(r.snapshot + "/out/y.pt"));
    BOOST_CHECK(!std::filesystem::exists(r.snapshot + "/snapshot.json"));
    // A second save replaces the first whole: also files that the first alone had.
    std::ofstream(r.snapshot + "/in/stray.pt") << "x";
    BOOST_CHECK(run(fn, specs, how).passed);
    BOOST_CHECK(!std::filesystem::exists(r.snapshot + "/in/stray.pt"));
    BOOST_CHECK(std::filesystem::exists(r.snapshot + "/snapshot.json"));
    BOOST_CHECK_EQUAL(std::distance(std::filesystem::directory_iterator(folder / "work"), {}), 1);
}

BOOST_FIXTURE_TEST_CASE(whatever_fails_is_in_the_result, harness) {
    options how = base();
    const function failing = [](buffers) -> result<std::vector<double>> { return refuse(fault_kind::device, "the kernel hung"); };
    run_result r = run(failing, specs, how);
    BOOST_CHECK(!r.passed);
    BOOST_CHECK_EQUAL(r.message, "the kernel hung");
    how.golden_fn = {};
    BOOST_CHECK(run(fn, specs, how).message.starts_with("nothing to compare with"));
    how.golden_fn = [](buffers, buffers) -> result<void> { return refuse(fault_kind::user, "no reference"); };
    BOOST_CHECK_EQUAL(run(fn, specs, how).message, "the golden function failed: no reference");
    how = base();
    how.runtime_dir = folder / "compiled";
    BOOST_CHECK(run(fn, specs, how).message.find("not compiled") != std::string::npos);
    specs[1].make = {};
    BOOST_CHECK_EQUAL(run(fn, specs, base()).message, "x: found no generator, expected one");
    how = base();
    how.save_data = true, how.work_dir = "/proc/none";
    specs = every_kind();
    BOOST_CHECK(run(fn, specs, how).message.find("/proc/none") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(snapshot_and_runtime_directory_are_independent, harness) {
    std::vector<std::string> built, found;
    const compilation made{[&](const std::string& dir) -> result<function> { return built.push_back(dir), fn; }, [&](const std::string& dir) -> result<function> { return found.push_back(dir), fn; }};
    options how = base();
    how.save_data = true;
    run_result r = run_compiled(made, specs, how);
    BOOST_REQUIRE_MESSAGE(r.passed, r.message);
    const std::string data = r.snapshot, work = r.work_dir;
    BOOST_CHECK((built == std::vector<std::string>{work}));
    for (const bool replayed : {false, true})
        for (const bool reused : {false, true}) {
            built.clear(), found.clear();
            how = base();
            if (replayed) how.golden_data = data;
            if (reused) how.runtime_dir = work;
            r = run_compiled(made, specs, how);
            BOOST_CHECK(r.passed && r.outputs.size() == 2);
            BOOST_CHECK_EQUAL(built.size(), reused ? 0u : 1u);
            BOOST_CHECK_EQUAL(found.size(), reused ? 1u : 0u);
            BOOST_CHECK_EQUAL(r.counts.compiled, reused ? 0u : 1u);
            BOOST_CHECK_EQUAL(r.counts.compile_reused, reused ? 1u : 0u);
            BOOST_CHECK_EQUAL(r.counts.references_computed, replayed ? 0u : 1u);
        }
}

BOOST_AUTO_TEST_CASE(names_that_are_no_file_names_are_refused) {
    const auto refused = [](std::initializer_list<const char*> names, const std::string& words) {
        std::vector<spec> specs;
        for (const char* n : names) specs.push_back(input(n, {1}, dtype::f32, {}));
        const auto checked = check(specs);
        BOOST_REQUIRE(!checked);
        BOOST_CHECK_MESSAGE(checked.error().line().find(words) != std::string::npos, checked.error().line());
    };
    refused({""}, "name of 0 bytes");
    refused({"a/b"}, "path separator");
    refused({"a\\b"}, "path separator");
    refused({".."}, "\"..\"");
    refused({"x..y"}, "\"..\"");
    refused({"."}, "\"..\" or \".\"");
    refused({"a\nb"}, "control byte");
    refused({"x", "Y", "X"}, "spec 2 \"X\": found a name that is another one's but for its case");
    std::vector<spec> specs{input(std::string("a\0b", 3), {1}, dtype::f32, {})};
    BOOST_CHECK(!check(specs));
    specs = {input(std::string(201, 'a'), {1}, dtype::f32, {})};
    BOOST_CHECK(!check(specs));
    specs = {input("a", {1}, dtype::f16x2, {})};
    BOOST_CHECK(check(specs).error().line().find("found dtype \"f16x2\"") != std::string::npos);
    specs = {input("a", {-1}, dtype::f32, {})};
    BOOST_CHECK(!check(specs));
    specs = {input("a", {std::int64_t(1) << 40, std::int64_t(1) << 40}, dtype::f32, {})};
    BOOST_CHECK(!check(specs));
    specs = {input("a", {std::int64_t(1) << 40, 0, std::int64_t(1) << 40}, dtype::f32, {}), input("b.c", {2}, dtype::f32, {})};
    BOOST_CHECK(check(specs));
}

BOOST_AUTO_TEST_CASE(comparisons_count_what_differs) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const auto of = [](std::initializer_list<float> found, std::initializer_list<float> wanted, tolerance allowed = {}) { return compare(f32, floats(found), floats(wanted), allowed); };
    comparison c = of({1, 2, 3}, {1, 2, 3});
    BOOST_CHECK(c.equal && c.first == -1 && c.over == 0 && c.elements == 3);
    c = of({1, 2.5f, 3}, {1, 2, 4});
    BOOST_CHECK(!c.equal && c.first == 1 && c.over == 2 && c.first_over == 1);
    BOOST_CHECK_EQUAL(c.max_abs, 1);
    BOOST_CHECK_EQUAL(c.max_rel, 0.25);
    BOOST_CHECK_EQUAL(c.found, 2.5);
    c = of({1, 2.5f, 3}, {1, 2, 4}, {0.5, 0});
    BOOST_CHECK(c.over == 1 && c.first == 1 && c.first_over == 2 && c.wanted == 4);
    c = of({0.0f, nan, inf}, {-0.0f, -nan, inf});  // other bits, the same values
    BOOST_CHECK(!c.equal && c.over == 0 && c.max_abs == 0 && c.first == 0);
    BOOST_CHECK_EQUAL(of({nan}, {1}, {1e30, 0}).over, 1u);
    BOOST_CHECK_EQUAL(of({inf}, {-inf}, {1e30, 1}).over, 1u);
    BOOST_CHECK_EQUAL(of({3e38f}, {inf}, {1e30, 1}).over, 1u);
    // 64-bit integers that one double holds both.
    const std::int64_t a[] = {std::int64_t(1) << 62, -1}, b[] = {(std::int64_t(1) << 62) + 1, -1};
    c = compare(archive::element::i64, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), {});
    BOOST_CHECK(c.max_abs == 1 && c.over == 1 && c.first == 0);
    const std::int8_t i[] = {-128}, j[] = {127};
    BOOST_CHECK_EQUAL(compare(archive::element::i8, std::as_bytes(std::span(i)), std::as_bytes(std::span(j)), {}).max_abs, 255);
    // In pieces as in one.
    comparer pieces(f32, {});
    pieces.add(floats({1, 2}), floats({1, 2}));
    pieces.add(floats({3}), floats({4}));
    BOOST_CHECK(pieces.so_far().first == 2 && pieces.so_far().elements == 3);
}

BOOST_FIXTURE_TEST_CASE(show_and_diff_tell_what_is_there, harness) {
    const std::string data = save();
    std::uint64_t last = 0, of = 0;
    auto shown = show(data, [&](std::uint64_t done, std::uint64_t total, std::string_view) { last = done, of = total; });
    BOOST_REQUIRE(shown);
    BOOST_REQUIRE_EQUAL(shown->files.size(), 5u);
    BOOST_CHECK_EQUAL(last, of);
    BOOST_CHECK_EQUAL(shown->files[1].path, "in/x.pt");
    BOOST_CHECK_EQUAL(shown->files[1].holds, "f32[4, 5]");
    BOOST_CHECK_EQUAL(shown->files[1].state, "as saved");
    BOOST_CHECK(shown->files[1].digest == xxh3_128(read_file(data + "/in/x.pt").value()));
    // Another snapshot: one element changed, one file of another shape, one absent, one strange, one more.
    const std::string other = folder / "other";
    std::filesystem::copy(data, other, std::filesystem::copy_options::recursive);
    const auto file = archive::pt_file::open(other + "/in/x.pt");
    auto bytes = file->read(file->root()).value();
    store_real(dtype::f32, bytes.data(), 7, 9);
    BOOST_REQUIRE(archive::write_pt(other + "/in/x.pt", {f32, specs[1].shape, bytes}));
    const std::vector<std::int64_t> shape{20};
    BOOST_REQUIRE(archive::write_pt(other + "/in/z.pt", {f32, shape, bytes}));
    std::filesystem::remove(other + "/out/y.pt");
    std::filesystem::copy_file(EMMY_TEST_DATA "/pt/stranger.pt", other + "/out/z.pt", std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(EMMY_TEST_DATA "/pt/views.pt", other + "/in/more.pt");
    const auto d = diff(data, other);
    BOOST_REQUIRE_MESSAGE(d, (d ? "" : d.error().line()));
    std::map<std::string, file_difference> by;
    for (const file_difference& one : *d) by[one.path] = one;
    BOOST_CHECK_EQUAL(by["in/a.pt"].status, "equal");
    BOOST_CHECK_EQUAL(by["in/x.pt"].status, "differs");
    BOOST_CHECK_EQUAL(by["in/x.pt"].values.first, 7);
    BOOST_CHECK_EQUAL(by["in/x.pt"].values.name, "x");
    BOOST_CHECK_EQUAL(by["in/z.pt"].status, "other shape");
    BOOST_CHECK_EQUAL(by["in/z.pt"].b, "f32[20]");
    BOOST_CHECK_EQUAL(by["out/y.pt"].status, "only in A");
    BOOST_CHECK_EQUAL(by["in/more.pt"].status, "only in B");
    BOOST_CHECK_EQUAL(by["out/z.pt"].status, "unreadable");
    shown = show(other);
    BOOST_REQUIRE(shown);
    std::map<std::string, std::string> states;
    for (const shown_file& f : shown->files) states[f.path] = f.state + (f.error.empty() ? "" : " !");
    BOOST_CHECK_EQUAL(states["in/x.pt"], "changed");
    BOOST_CHECK_EQUAL(states["out/y.pt"], "missing");
    BOOST_CHECK_EQUAL(states["in/more.pt"], "not in the manifest");
    BOOST_CHECK_EQUAL(states["out/z.pt"], "changed !");
    BOOST_CHECK_EQUAL(states["in/a.pt"], "as saved");
    BOOST_CHECK(!show(folder / "nowhere"));
    BOOST_CHECK(!diff(data, folder.path.string()));
}

BOOST_AUTO_TEST_CASE(work_directories_are_new_and_ignored_by_version_control) {
    const scratch_folder folder;
    const std::string root = folder / "build_output";
    const auto first = make_work_dir("k_softmax 81/c", root), second = make_work_dir("k_softmax 81/c", root);
    BOOST_REQUIRE(first && second);
    BOOST_CHECK_NE(*first, *second);
    BOOST_CHECK(first->starts_with(root + "/k_softmax_81_c_"));
    BOOST_CHECK_EQUAL(read_file(root + "/.gitignore").value(), "*\n");
    BOOST_CHECK_EQUAL(std::system(("cd '" + folder.path.string() + "' && git init -q . && touch '" + *first + "/x.pt' && test -z \"$(git status --porcelain)\"").c_str()), 0);
}
