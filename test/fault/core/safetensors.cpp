// Every truncation of a real file and every changed byte of its header: refused as input, or read to the last tensor.
#include <emmy/core/archive.hpp>
#include <emmy/core/file.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

namespace {

bool reads(const std::string& bytes, std::size_t& refused) {
    const auto file = archive::safetensors::open(archive::byte_source::of_bytes(bytes, "a.safetensors"));
    if (!file) {
        ++refused;
        return file.error().kind() == fault_kind::input && file.error().file() == "a.safetensors";
    }
    for (const archive::safetensor& t : file->tensors()) {
        const auto data = file->read(t);
        if (!data || data->size() != t.bytes) return false;
    }
    return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(cut_and_changed_safetensors) {
    const auto whole = read_file(EMMY_TEST_DATA "/safetensors/types.safetensors");
    BOOST_REQUIRE(whole);
    std::size_t refused = 0, tried = 0;
    for (std::size_t n = 0; n < whole->size(); ++n, ++tried) BOOST_TEST(reads(whole->substr(0, n), refused), n);
    BOOST_TEST(refused == tried);
    std::size_t header = 0;
    for (int i = 8; i-- > 0;) header = header << 8 | static_cast<unsigned char>((*whole)[static_cast<std::size_t>(i)]);
    refused = 0;
    for (std::size_t at = 0; at < header + 8; ++at)
        for (const char c : {'\0', '"', '{', '9', '\xff', ','}) {
            std::string bytes = *whole;
            if (bytes[at] == c) continue;
            bytes[at] = c;
            BOOST_TEST(reads(bytes, refused), at);
        }
    BOOST_TEST(refused > header);  // most places matter
}
