// core's narrow types against the conversions of a card (test/data/lane_maps/sm_90.txt): every f32 whose low half is one of six patterns.
#include <emmy/core/numeric.hpp>

#include <boost/test/unit_test.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

std::uint64_t fnv(std::uint64_t h, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) h = (h ^ (value >> (8 * i) & 0xff)) * 0x100000001b3ull;
    return h;
}

/// The card's answer: a value that is no number has one pattern, and the 8-bit types stay finite.
std::uint32_t narrow(const std::string& type, float value) {
    if (std::isnan(value)) return type == "f16" || type == "bf16" ? 0x7fff : 0x7f;
    if (type == "f16") return emmy::f64_to_f16(value);
    if (type == "bf16") return emmy::f64_to_bf16(value);
    if (type == "e4m3") return std::isinf(value) ? (value < 0 ? 0xfe : 0x7e) : emmy::f64_to_f8e4m3(value);
    const std::uint32_t code = emmy::f64_to_f8e5m2(value);
    return (code & 0x7f) == 0x7c ? (code & 0x80) | 0x7b : code;
}

}  // namespace

BOOST_AUTO_TEST_CASE(narrow_types_round_as_a_card_does) {
    std::ifstream in(std::string(EMMY_TEST_DATA) + "/lane_maps/sm_90.txt");
    BOOST_REQUIRE(in);
    int digests = 0, samples = 0, widened = 0;
    for (std::string line; std::getline(in, line);) {
        char type[8] = {};
        unsigned bits = 0, tail = 0, wanted = 0;
        unsigned long long digest = 0;
        if (std::sscanf(line.c_str(), "narrow %7s tail %x: %llx", type, &tail, &digest) == 3) {
            const int bytes = type[0] == 'e' ? 1 : 2;
            std::uint64_t h = 0xcbf29ce484222325ull;
            for (std::uint32_t i = 0; i < 65536; ++i) h = fnv(h, narrow(type, std::bit_cast<float>(i << 16 | tail)), bytes);
            BOOST_TEST(h == digest, line);
            ++digests;
        } else if (std::sscanf(line.c_str(), "sample %7s %x %x", type, &bits, &wanted) == 3) {
            BOOST_TEST(narrow(type, std::bit_cast<float>(bits)) == wanted, line);
            ++samples;
        } else if (line.starts_with("widen ")) {
            std::istringstream words(line.substr(6));
            std::string name, word;
            words >> name;
            for (unsigned code = 0; words >> word; ++code) {
                const double value = name == "e4m3" ? emmy::f8e4m3_to_f64(static_cast<std::uint8_t>(code)) : emmy::f8e5m2_to_f64(static_cast<std::uint8_t>(code));
                const auto seen = static_cast<std::uint16_t>(std::stoul(word, nullptr, 16));
                BOOST_TEST((std::isnan(value) ? std::isnan(emmy::f16_to_f64(seen)) : emmy::f16_to_f64(seen) == value), name << " " << code);
                ++widened;
            }
        }
    }
    BOOST_TEST(digests == 24);
    BOOST_TEST(samples == 312);
    BOOST_TEST(widened == 512);
}
