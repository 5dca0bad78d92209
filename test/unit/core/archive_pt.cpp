// .pt files of real PyTorch read bit for bit, and ours read by real PyTorch.
//
// Reading: test/data/pt/*.pt and expected.txt, made by `python3 test/data/pt/make.py` with PyTorch 2.15.0.
// Writing: written_files_are_read_back writes its files into $EMMY_WRITE_PT when that is set. Shown on 2026-11-29 with PyTorch 2.15.0:
//     EMMY_WRITE_PT=/tmp/ours build/test/unit_core --run_test=written_files_are_read_back
//     python3 test/data/pt/check.py /tmp/ours
//     -> "torch 2.15.0+cu132: 107 files load with weights_only=True, mmap off and on, bit for bit as expected.txt says"
// Zip64 sizes, shown the same day: a tensor of 4,504,682,496 bytes of write_pt loads with weights_only=True, mmap off and on, every element
// right, and Python's zipfile.ZipFile(path).testzip() finds nothing.
#include <support/zip.hpp>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

using namespace emmy;
using namespace emmy::archive;
using namespace emmy::test;

namespace {

const std::string fixtures = EMMY_TEST_DATA "/pt/";

std::string hex(bytes_view bytes) {
    std::string out;
    for (const std::byte b : bytes) {
        out += "0123456789abcdef"[static_cast<unsigned>(b) >> 4];
        out += "0123456789abcdef"[static_cast<unsigned>(b) & 15];
    }
    return out.empty() ? "-" : out;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string out;
    for (const std::int64_t s : shape) out += (out.empty() ? "" : ",") + std::to_string(s);
    return out.empty() ? "-" : out;
}

/// A leaf as expected.txt writes it, without the file.
std::string spelled(const pt_file& file, const named_object& leaf) {
    const object& o = leaf.what;
    std::string out = (leaf.path.empty() ? "-" : leaf.path) + " ";
    switch (o.kind()) {
        case object_kind::tensor: {
            const auto bytes = file.read(o);
            BOOST_REQUIRE_MESSAGE(bytes, (bytes ? "" : bytes.error().line()));
            std::vector<std::byte> streamed;
            BOOST_CHECK(file.stream(o, [&](bytes_view chunk) -> result<void> {
                streamed.insert(streamed.end(), chunk.begin(), chunk.end());
                return {};
            }));
            BOOST_CHECK(streamed == *bytes);
            return out + std::string(token(o.type())) + " " + shape_text(o.shape()) + " " + (o.requires_grad() ? "1 " : "0 ") + hex(*bytes);
        }
        case object_kind::none: return out + "none -";
        case object_kind::boolean: return out + "bool " + (o.boolean() ? "1" : "0");
        case object_kind::integer: return out + "int " + std::to_string(o.integer());
        case object_kind::text: return out + "str " + std::string(o.text());
        case object_kind::real: {
            std::ostringstream real;
            if (o.real() == std::numeric_limits<double>::infinity()) return out + "float inf";
            char text[64];
            std::snprintf(text, sizeof text, "%.13a", o.real());
            return out + "float " + text;
        }
        default: return out + std::string(object_kind_name(o.kind()));
    }
}

struct expected_file {
    std::string name, refused;
    std::vector<std::string> leaves;
};
std::vector<expected_file> expectations() {
    std::ifstream in(fixtures + "expected.txt");
    std::vector<expected_file> out;
    for (std::string line; std::getline(in, line);) {
        const std::size_t space = line.find(' ');
        const std::string name = line.substr(0, space), rest = line.substr(space + 1);
        if (out.empty() || out.back().name != name) out.push_back({name, {}, {}});
        if (rest.starts_with("refused ")) out.back().refused = rest.substr(8);
        else out.back().leaves.push_back(rest);
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(files_of_real_pytorch_are_read_bit_for_bit) {
    std::size_t tensors = 0, refused = 0;
    for (const expected_file& e : expectations()) {
        BOOST_TEST_CONTEXT(e.name) {
            const auto file = pt_file::open(fixtures + e.name);
            if (!e.refused.empty()) {
                ++refused;
                BOOST_REQUIRE(!file);
                BOOST_CHECK_MESSAGE(file.error().line().starts_with(fixtures + e.name + ": ") && file.error().line().find(e.refused) != std::string::npos, file.error().line());
                continue;
            }
            BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error().line()));
            const auto leaves = file->leaves();
            BOOST_REQUIRE(leaves);
            BOOST_REQUIRE_EQUAL(leaves->size(), e.leaves.size());
            for (std::size_t i = 0; i < leaves->size(); ++i) {
                BOOST_CHECK_EQUAL(spelled(*file, (*leaves)[i]), e.leaves[i]);
                tensors += (*leaves)[i].what.is(object_kind::tensor);
            }
            BOOST_CHECK_EQUAL(file->archive().checksums(), e.name != "no_checksums.pt");
        }
    }
    BOOST_CHECK_EQUAL(refused, 5u);
    BOOST_CHECK_EQUAL(tensors, 130u);
}

BOOST_AUTO_TEST_CASE(shared_storages_are_one_storage) {
    const auto file = pt_file::open(fixtures + "shared.pt");
    BOOST_REQUIRE(file);
    BOOST_CHECK_EQUAL(file->objects().storages().size(), 1u);
    const object root = file->root();
    BOOST_CHECK_EQUAL(root.find("tail").offset(), 2u);
    BOOST_CHECK_EQUAL(root.find("matrix").storage(), root.find("all").storage());
    BOOST_CHECK(root.find("matrix").strides() == (std::vector<std::int64_t>{1, 3}));
    BOOST_CHECK(root.find("absent").is(object_kind::none));
}

BOOST_AUTO_TEST_CASE(expanded_views_do_not_grow_beyond_what_is_asked) {
    // One stored element seen as 2^40 of them: a legal file of a few hundred bytes.
    std::string pickle("\x80\x02", 2);
    const auto global = [&](const std::string& module, const std::string& name) { pickle += "c" + module + "\n" + name + "\n"; };
    const auto text = [&](const std::string& t) { pickle += "X" + number(t.size(), 4) + t; };
    global("torch._utils", "_rebuild_tensor_v2"), pickle += "((", text("storage"), global("torch", "FloatStorage"), text("0"), text("cpu");
    pickle += "K\x01tQK" + std::string(1, '\0') + "\x8a\x08" + number(std::uint64_t(1) << 40, 8) + "\x85K" + std::string(1, '\0') + "\x85\x89";
    global("collections", "OrderedDict"), pickle += ")RtR.";
    const auto file = pt_file::open(byte_source::of_bytes(zip_of({{"a/data.pkl", pickle}, {"a/data/0", "1234"}}), "a.pt"));
    BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error().line()));
    BOOST_CHECK_EQUAL(file->root().elements(), std::uint64_t(1) << 40);
    const auto read = file->read(file->root());
    BOOST_REQUIRE(!read);
    BOOST_CHECK_EQUAL(read.error().line(), "a.pt: found a tensor of 1099511627776 elements of 4 bytes, expected at most 1048576 bytes");
}

BOOST_AUTO_TEST_CASE(written_files_are_read_back) {
    const scratch_folder own;
    const char* elsewhere = std::getenv("EMMY_WRITE_PT");
    const std::string folder = elsewhere ? elsewhere : own.path.string();
    std::filesystem::create_directories(folder);
    std::ofstream told(folder + "/expected.txt");
    std::size_t written = 0;
    const std::vector<std::vector<std::int64_t>> shapes{{}, {5}, {2, 3}, {2, 3, 2}, {2, 1, 3, 2}, {1, 2, 3, 1, 2}, {0, 4}};
    for (std::size_t t = 1; t < element_table.size(); ++t)
        for (const auto& shape : shapes) {
            const auto type = static_cast<element>(t);
            if (type == element::f4e2m1x2 && shape.size() != 2) continue;  // fewer of what PyTorch knows little about
            std::size_t elements = 1;
            for (const std::int64_t s : shape) elements *= static_cast<std::size_t>(s);
            std::vector<std::byte> bytes(elements * byte_size(type));
            // NaNs with payloads, infinities and signed zeros first, then anything.
            std::uint64_t state = t * 1000 + shape.size();
            for (std::byte& b : bytes) state = state * 6364136223846793005u + 1442695040888963407u, b = type == element::boolean ? std::byte(state >> 40 & 1) : std::byte(state >> 40 & 255);
            const auto put = [&](std::size_t i, std::uint64_t bits) {
                if ((i + 1) * byte_size(type) <= bytes.size()) std::memcpy(bytes.data() + i * byte_size(type), &bits, byte_size(type));
            };
            if (type == element::f64) put(0, 0xfff0000000000001), put(1, 0x8000000000000000), put(2, 0x7ff8000000000123);
            if (type == element::f32) put(0, 0xff800001), put(1, 0x80000000), put(2, 0x7fc00123);
            if (type == element::f16) put(0, 0xfc01), put(1, 0x8000), put(2, 0x7e12);
            if (type == element::bf16) put(0, 0xff81), put(1, 0x8000), put(2, 0x7fc1);
            const std::string name = std::string(token(type)) + "_" + std::to_string(shape.size()) + (elements ? "" : "_empty") + ".pt", path = folder + "/" + name;
            const auto digest = write_pt(path, {type, shape, bytes});
            BOOST_REQUIRE_MESSAGE(digest, (digest ? "" : digest.error().line()));
            const std::string whole = read_file(path).value();
            BOOST_CHECK(*digest == xxh3_128(whole));
            BOOST_CHECK(*write_pt(path, {type, shape, bytes}) == *digest);
            const auto file = pt_file::open(path);
            BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error().line()));
            BOOST_CHECK(file->root().type() == type);
            BOOST_CHECK(file->root().shape() == shape);
            BOOST_CHECK(file->read(file->root()).value() == bytes);
            for (const zip_member& m : file->archive().members()) BOOST_CHECK_EQUAL(m.offset % 64, 0u);
            told << name << " - " << token(type) << " " << shape_text(shape) << " 0 " << hex(bytes) << "\n";
            ++written;
        }
    BOOST_CHECK_EQUAL(written, 107u);
    const std::vector<std::int64_t> shape{3};
    std::byte few[8];
    BOOST_CHECK_EQUAL(write_pt(folder + "/x.pt", {element::f32, shape, few}).error().message(), "found 8 bytes for f32[3]");
    BOOST_CHECK(!std::filesystem::exists(folder + "/x.pt"));
}

BOOST_AUTO_TEST_CASE(archives_that_are_no_tensor_files_are_refused) {
    const auto refused = [](const zip_content& members, const std::string& words) {
        const auto file = pt_file::open(byte_source::of_bytes(zip_of(members), "a.pt"));
        BOOST_REQUIRE(!file);
        BOOST_CHECK_MESSAGE(file.error().line().find(words) != std::string::npos, file.error().line());
    };
    const std::string none = "\x80\x02N.";
    refused({{"a/b", ""}}, "found no <root>/data.pkl among its 1 members");
    refused({{"data.pkl", none}}, "found no <root>/data.pkl");
    refused({{"a/data.pkl", none}, {"b/data.pkl", none}}, "b/data.pkl: found a second data.pkl");
    refused({{"a/data.pkl", none}, {"a/byteorder", "big"}}, "a/byteorder: found \"big\", expected little");
    refused({{"a/data.pkl", none}, {"a/version", "three"}}, "a/version: found \"three\"");
    const auto numbers = pt_file::open(byte_source::of_bytes(zip_of({{"a/data.pkl", none}}), "a.pt"));
    BOOST_REQUIRE(numbers);
    BOOST_CHECK(numbers->root().is(object_kind::none));
    BOOST_CHECK_EQUAL(numbers->read(numbers->root()).error().line(), "a.pt: found None, expected a tensor");
    // A storage that is not there, and one of another size.
    std::string with_storage = read_file(fixtures + "f32_2d.pt").value();
    const auto original = pt_file::open(byte_source::of_bytes(with_storage, "a.pt"));
    const std::string pickle = original->archive().read(*original->archive().find("f32_2d/data.pkl")).value();
    refused({{"a/data.pkl", pickle}}, "a/data/0: found no such member");
    refused({{"a/data.pkl", pickle}, {"a/data/0", "1234"}}, "a/data/0: found 4 bytes, expected the 48 that data.pkl says");
}
