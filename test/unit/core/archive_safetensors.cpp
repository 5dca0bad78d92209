// Safetensors files: what the package wrote (test/data/safetensors/make.py) is read, what lies is refused by tensor and reason.
#include <emmy/core/archive.hpp>
#include <emmy/core/file.hpp>
#include <emmy/core/numeric.hpp>

#include <support/tool.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace emmy;
using archive::safetensors;

namespace {

const std::string folder = EMMY_TEST_DATA "/safetensors/";

std::string file_of(const std::string& header, std::size_t data) {
    std::string out(8, '\0');
    for (int i = 0; i < 8; ++i) out[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> 8 * i & 255);
    return out + header + std::string(data, 'x');
}
std::string refusal(std::string bytes) {
    const auto opened = safetensors::open(archive::byte_source::of_bytes(std::move(bytes), "a.safetensors"));
    return opened ? std::string("opened") : opened.error().line();
}
std::string refusal(const std::string& header, std::size_t data) { return refusal(file_of(header, data)); }

}  // namespace

BOOST_AUTO_TEST_CASE(safetensors_of_every_type) {
    const auto file = safetensors::open(folder + "types.safetensors");
    BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error().line()));
    BOOST_TEST(file->tensors().size() == 17u);
    const double values[] = {-1.5, 0, 2, 0.25, 1, -3};
    for (const archive::safetensor& t : file->tensors()) {
        const auto bytes = file->read(t);
        BOOST_REQUIRE(bytes);
        if (t.name == "scalar" || t.name == "empty") continue;
        BOOST_TEST((t.shape == std::vector<std::int64_t>{2, 3}), t.name);
        BOOST_TEST(archive::token(t.type) == t.name);
        if (t.name == "i8" || t.name == "bool") continue;
        for (std::size_t i = 0; i < 6; ++i) {
            const double v = t.name.starts_with("u") ? std::abs(values[i]) : values[i];
            const double wanted = t.name.starts_with("u") || t.name.starts_with("i") ? std::trunc(v) : v;
            BOOST_TEST(load_element(archive::dtype_of(t.type), bytes->data(), i) == wanted, t.name << " " << i);
        }
    }
    const archive::safetensor* scalar = file->find("scalar");
    BOOST_REQUIRE(scalar);
    BOOST_TEST(scalar->shape.empty());
    BOOST_TEST(file->find("empty")->bytes == 0u);
    BOOST_TEST(file->find("none") == nullptr);
    BOOST_TEST(file->read(*file->find("f64"), 47).error().line() == folder + "types.safetensors: f64: found a tensor of 48 bytes, expected at most 47");
    std::vector<std::byte> small(4);
    BOOST_TEST(!file->read_into(*file->find("f64"), small));
}

BOOST_AUTO_TEST_CASE(safetensors_in_shards) {
    for (const std::string& path : {folder + "model.safetensors.index.json", folder}) {
        const auto file = safetensors::open(path);
        BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error().line()));
        BOOST_REQUIRE(file->find("weight") && file->find("bias"));
        BOOST_TEST((file->find("weight")->type == archive::element::f16));
        BOOST_TEST(file->file(*file->find("weight")) == folder + "model-00002-of-00002.safetensors");
    }
    const test::scratch_folder dir;
    const auto index = [&](const std::string& text) {
        BOOST_REQUIRE(write_file_atomically(dir / "model.safetensors.index.json", text));
        const auto opened = safetensors::open(dir / "model.safetensors.index.json");
        return opened ? std::string("opened") : opened.error().line().substr(dir.path.string().size() + 1);
    };
    BOOST_TEST(safetensors::open(dir.path.string()).error().message() == "found neither model.safetensors nor model.safetensors.index.json in the directory, expected one");
    BOOST_TEST(index("{}") == "model.safetensors.index.json: found no weight_map, expected the index of a sharded checkpoint");
    BOOST_TEST(index(R"({"weight_map": {"w": "absent.safetensors"}})").starts_with("absent.safetensors: cannot open"));
    BOOST_TEST(index(R"({"weight_map": {"w": "../x"}})").starts_with("model.safetensors.index.json: weight_map.w: found a file name that holds"));
    BOOST_TEST(index(R"({"weight_map": {"w": "sub/x"}})") == "model.safetensors.index.json: weight_map.w: found a file name that holds a slash, expected a file beside the index");
    BOOST_TEST(index(R"({"weight_map": {"w": 3}})") == "model.safetensors.index.json: weight_map.w: found 3, expected a string");
    BOOST_REQUIRE(write_file_atomically(dir / "one.safetensors", file_of(R"({"v":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1)));
    BOOST_TEST(index(R"({"weight_map": {"w": "one.safetensors"}})") == "model.safetensors.index.json: weight_map.w: found no tensor of this name in one.safetensors, expected one");
    BOOST_TEST(index(R"({"weight_map": {"v": "one.safetensors"}})") == "opened");
}

BOOST_AUTO_TEST_CASE(safetensors_that_lie) {
    BOOST_TEST(refusal("1234567") == "a.safetensors: found 7 bytes, expected the length of a header in the first 8");
    BOOST_TEST(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10)) == "a.safetensors: found a header of 9223372036854775807 bytes, expected at most 2");
    BOOST_TEST(refusal("PK\x03\x04" + std::string(100, 'x')) == "a.safetensors: found a zip archive, expected a safetensors file");
    BOOST_TEST(refusal("[]", 0) == "a.safetensors: found a header that is no JSON object, expected {");
    BOOST_TEST(refusal("{", 0).starts_with("a.safetensors: "));
    BOOST_TEST(refusal("{}", 0) == "opened");
    BOOST_TEST(refusal(R"({"__metadata__": {"format": "pt"}})", 0) == "opened");
    BOOST_TEST(refusal("{}", 1) == "a.safetensors: found 1 bytes of no tensor at the end, expected none");
    const auto one = [&](const std::string& type, const std::string& shape, const std::string& offsets, std::size_t data = 8) {
        return refusal(R"({"w":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", data);
    };
    BOOST_TEST(one("F32", "[2]", "[0,8]") == "opened");
    BOOST_TEST(one("F33", "[2]", "[0,8]").starts_with("a.safetensors: w.dtype: found \"F33\", expected F64, F32"));
    BOOST_TEST(one("F32", "[-2]", "[0,8]") == "a.safetensors: w.shape: found a negative size or more than 64 axes, expected a shape");
    BOOST_TEST(one("F32", "[4294967296,4294967296]", "[0,8]") == "a.safetensors: w.shape: found more than 2^56 elements");
    BOOST_TEST(one("F32", "[2.0]", "[0,8]") == "a.safetensors: w.shape[0]: found 2.0, expected an integer");
    BOOST_TEST(one("F32", "[3]", "[0,8]") == "a.safetensors: w.data_offsets: found 8 bytes, expected the 12 of its shape");
    BOOST_TEST(one("F32", "[2]", "[0,9]") == "a.safetensors: w.data_offsets: found 0 to 9, expected a range of the file's 8 bytes of data");
    BOOST_TEST(one("F32", "[2]", "[8,0]") == "a.safetensors: w.data_offsets: found 8 to 0, expected a range of the file's 8 bytes of data");
    BOOST_TEST(one("F32", "[2]", "[-8,0]").starts_with("a.safetensors: w.data_offsets: found -8 to 0"));
    BOOST_TEST(one("F32", "[2]", "[0]") == "a.safetensors: w.data_offsets: found 1 numbers, expected begin and end");
    BOOST_TEST(one("F32", "[1]", "[4,8]") == "a.safetensors: w: found 4 bytes of no tensor before its data, expected none");
    BOOST_TEST(refusal(R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"v":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3) == "a.safetensors: v: found data that another tensor has too, expected bytes of its own");
    BOOST_TEST(refusal(R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2).starts_with("a.safetensors: "));
    BOOST_TEST(refusal(R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"more":1}})", 2).starts_with("a.safetensors: w"));
}
