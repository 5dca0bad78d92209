// Archives that are not what they seem: refused as input, with the archive, the member and the reason; nothing is read beyond what is there.
#include <emmy/program/import.hpp>

#include <emmy/core/archive.hpp>
#include <emmy/core/file.hpp>

#include <support/tool.hpp>
#include <support/zip.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>

using namespace emmy;
using namespace emmy::program;

namespace {

const std::string folder = EMMY_TEST_DATA "/pt2/";

test::zip_content members_of(const std::string& path) {
    const auto zip = archive::zip_archive::open(path);
    BOOST_REQUIRE_MESSAGE(zip, (zip ? "" : zip.error().line()));
    test::zip_content out;
    for (const archive::zip_member& m : zip->members()) out.emplace_back(m.name, zip->read(m).value());
    return out;
}
std::string& member(test::zip_content& all, const std::string& end) {
    for (auto& [name, content] : all)
        if (name.ends_with(end)) return content;
    BOOST_FAIL("no member " << end);
    return all[0].second;
}
test::zip_content with(test::zip_content all, const std::string& end, const std::string& from, const std::string& to) {
    std::string& text = member(all, end);
    const std::size_t at = text.find(from);
    BOOST_REQUIRE_MESSAGE(at != std::string::npos, from);
    text.replace(at, from.size(), to);
    return all;
}
/// What opening and importing says; "imported" when nothing is wrong.
std::string said(std::string bytes) {
    const auto file = pt2::pt2_archive::open(archive::byte_source::of_bytes(std::move(bytes), "m.pt2"));
    if (!file) {
        BOOST_TEST((file.error().kind() == fault_kind::input), file.error().line());
        return file.error().line();
    }
    std::vector<pt2::refusal> all;
    const auto made = pt2::import_program(file->program(), {}, &all);
    if (!made) return made.error().line();
    const auto weights = pt2::read_weights(*file, *made);
    return weights ? "imported" : weights.error().line();
}
std::string said(const test::zip_content& all) { return said(test::zip_of(all)); }
void holds(const std::string& text, const std::string& words) { BOOST_TEST(text.find(words) != std::string::npos, "found: " << text << "\nexpected: " << words); }

}  // namespace

BOOST_AUTO_TEST_CASE(other_files) {
    const auto open = [](const std::string& path) {
        const auto file = pt2::pt2_archive::open(path);
        return file ? std::string("opened") : file.error().line();
    };
    const test::scratch_folder dir;
    holds(open(dir.path.string()), dir.path.string() + ": found a directory, expected a file");
    holds(open(dir / "absent.pt2"), dir / "absent.pt2" + ": cannot open");
    holds(said(std::string()), "m.pt2: ");
    holds(said(std::string("PK\x05\x06") + std::string(18, '\0')), "m.pt2: found no member, expected an exported program");
    holds(open(folder + "linear_f16.pt"), "/data.pkl: found a tensor file (torch.save), expected an exported program (torch.export.save)");
    holds(open(folder + "refused_torchscript.pt2"), "found a TorchScript archive (torch.jit.save), expected an exported program (torch.export.save)");
    holds(open(folder + "refused_old_schema.pt2"), "serialized_exported_program.json.schema_version: found schema version 2, expected 5 to 8 (PyTorch 2.4 or later; export it again)");
    holds(said({{"a/b.txt", "x"}, {"a/c.txt", "y"}}), "m.pt2: a/b.txt: found 2 members and no exported program among them, expected <root>/models/<name>.json or serialized_exported_program.json");
    holds(said({{"a/models/one.json", "{}"}, {"a/models/two.json", "{}"}}), "m.pt2: a/models/two.json: found several exported programs (one, two), expected one, or --model to choose it");
    const auto other = pt2::pt2_archive::open(archive::byte_source::of_bytes(test::zip_of({{"a/models/one.json", "{}"}}), "m.pt2"), "three");
    BOOST_TEST(other.error().line() == "--model: found the models one, expected one of them");
    BOOST_TEST((other.error().kind() == fault_kind::user));
}

BOOST_AUTO_TEST_CASE(archives_that_lie) {
    const test::zip_content good = members_of(folder + "linear_f16.pt2");
    const std::string bytes = test::zip_of(good);
    BOOST_TEST(said(bytes) == "imported");
    // Cut anywhere.
    for (std::size_t n = 0; n < bytes.size(); n += 97) BOOST_TEST(said(bytes.substr(0, n)) != "imported");
    // A directory that lies, names twice, names that leave the archive.
    std::string model, weight;
    for (const auto& [name, content] : good) {
        if (name.ends_with("/models/model.json")) model = name;
        if (name.ends_with("/weights/weight_0")) weight = name;
    }
    holds(said(test::renamed(bytes, "weights/weight_1", "weights/weight_0")), "weights/weight_0");
    holds(said(test::renamed(bytes, weight, "../" + weight.substr(3))), "m.pt2: ../");
    const std::size_t directory = test::number_at(bytes, test::end_at(bytes) + 16, 4);  // a .pt among the members has one of its own
    holds(said(test::with(bytes, directory + 24, 1u << 20, 4)), "m.pt2: linear_f16/");
    holds(said(test::with(bytes, test::end_at(bytes) + 10, 1, 2)), "m.pt2: found ");
    // A member whose content is other than its checksum.
    std::string damaged = bytes;
    const std::size_t content = bytes.find("\"graph_module\"");
    damaged[content + 1] = 'G';
    holds(said(damaged), model);
}

BOOST_AUTO_TEST_CASE(bombs) {
    // A member that would grow beyond what is allowed is refused before it is grown: by what the directory says.
    const auto made = pt2::pt2_archive::open(archive::byte_source::of_bytes(*read_file(folder + "two_layers_f16.pt2"), "m.pt2"), {}, archive::zip_limits{.members = 1u << 20, .expanded_bytes = 1000, .expanded_ratio = 1});
    BOOST_REQUIRE(!made);
    holds(made.error().line(), "m.pt2: ");
    const auto crowd = pt2::pt2_archive::open(archive::byte_source::of_bytes(*read_file(folder + "two_layers_f16.pt2"), "m.pt2"), {}, archive::zip_limits{.members = 3});
    BOOST_REQUIRE(!crowd);
    holds(crowd.error().line(), "m.pt2: ");
    // Nested texts and expressions.
    const test::zip_content good = members_of(folder + "linear_bf16_dynamic.pt2");
    std::string deep = std::string(300, '[') + std::string(300, ']');
    holds(said(with(good, "/models/model.json", "\"opset_version\": {", "\"deep\": " + deep + ", \"opset_version\": {")), "/models/model.json");
    std::string nested = "Symbol('s0', positive=True, integer=True)";
    for (int i = 0; i < 100; ++i) nested = "Add(" + nested + ", Integer(1))";
    test::zip_content sizes = good;
    std::string& text = member(sizes, "/models/model.json");
    const std::size_t at = text.find("\"expr_str\": \"") + 13;
    text.replace(at, text.find('"', at) - at, nested);
    holds(said(sizes), "expected nesting up to 64");
}

BOOST_AUTO_TEST_CASE(tables_that_lie) {
    const test::zip_content good = members_of(folder + "linear_f16.pt2");
    const std::string table = "model_weights_config.json", program = "/models/model.json";
    holds(said(with(good, table, "weight_0", "weight_9")), table + ".config.weight: found no member linear_f16/data/weights/weight_9, expected the tensor's bytes");
    holds(said(with(good, table, "\"as_int\": ", "\"as_int\": 9")), "bytes in linear_f16/data/weights/weight_0, expected the storage of f16[");
    holds(said(with(good, table, "\"as_int\": ", "\"as_int\": -")), table);
    holds(said(with(good, table, "\"sizes\"", "\"size\"")), "found no sizes, expected one");
    holds(said(with(good, table, "{\"config\"", "{\"confi\"")), "found no config, expected one");
    holds(said(with(good, "byteorder", "little", "big")), "/byteorder: found big, expected little");
    holds(said(with(good, program, "\"major\": 8", "\"major\": 9")), "schema_version: found schema version 9.");
    holds(said(with(good, program, "\"major\": 8", "\"major\": 9")), "expected 5 to 8 (PyTorch 2.4 to 2.15)");
    holds(said(with(good, program, "\"major\": 8", "\"major\": 4")), "found schema version 4.");
    holds(said(with(good, program, "{\"name\": \"linear\"}}], \"metadata\"", "{\"name\": \"nothing\"}}], \"metadata\"")), "found the tensor \"nothing\" that tensor_values does not describe");
    holds(said(with(good, program, "\"tensor_values\"", "\"tensor_value\"")), "found no tensor_values, expected one");
    holds(said(with(good, program, "torch.ops.aten.linear.default", "torch.ops.aten.linear.other")), "linear: torch.ops.aten.linear.other: found an operator that is not modelled");
    holds(said(with(good, program, "torch.ops.aten.linear.default", "torch.ops.higher_order.cond")), "found a higher-order operator");
    holds(said(with(good, program, "\"name\": \"bias\", \"arg\"", "\"name\": \"bios\", \"arg\"")), "linear: torch.ops.aten.linear.default: bios: found an argument that is not modelled");
    holds(said(with(good, program, "\"name\": \"weight\", \"arg\": {\"as_tensor\": {\"name\": \"p_weight\"}}", "\"name\": \"weight\", \"arg\": {\"as_int\": 3}")), "linear: torch.ops.aten.linear.default: weight: found an int, expected another kind");
}

/// Every byte of a program's text changed once: refused as input, or a program that is well formed.
BOOST_AUTO_TEST_CASE(changed_texts) {
    const test::zip_content good = members_of(folder + "linear_bf16_dynamic.pt2");
    test::zip_content all = good;
    std::string& text = member(all, "/models/model.json");
    const std::string whole = text;
    std::size_t refused = 0;
    for (std::size_t at = 0; at < whole.size(); at += 3) {
        text = whole;
        text[at] = text[at] == '9' ? '0' : '9';
        const auto read = pt2::read_exported(text, "m.pt2", "model.json");
        if (!read) {
            ++refused;
            BOOST_TEST((read.error().kind() == fault_kind::input), read.error().line());
            BOOST_TEST(read.error().file() == "m.pt2", read.error().line());
            continue;
        }
        std::vector<pt2::refusal> list;
        const auto made = pt2::import_program(*read, {}, &list);
        if (!made) {
            ++refused;
            BOOST_TEST((made.error().kind() == fault_kind::input), made.error().line());
        }
    }
    BOOST_TEST(refused > 500u);
}
