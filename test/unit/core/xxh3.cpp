#include <emmy/core/xxh3.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace emmy;

namespace {
std::string noise(std::size_t size) {
    std::string out(size, '\0');
    std::uint64_t state = 0x2545f4914f6cdd1du;
    for (char& c : out) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        c = static_cast<char>(state >> 32);
    }
    return out;
}
template <std::size_t Size>
constexpr digest128 at_compile_time() {
    char text[Size]{};
    for (std::size_t i = 0; i < Size; ++i) text[i] = static_cast<char>(i * 31 + i / 7);
    return constant_xxh3_128(text, Size);
}
template <std::size_t Size>
void check_constant() {
    constexpr digest128 constant = at_compile_time<Size>();
    std::string text(Size, '\0');
    for (std::size_t i = 0; i < Size; ++i) text[i] = static_cast<char>(i * 31 + i / 7);
    BOOST_CHECK_EQUAL(to_hex(constant), to_hex(xxh3_128(text)));
}
}  // namespace

BOOST_AUTO_TEST_CASE(equals_the_library_for_every_length) {
    const std::string bytes = noise(200000);
    for (std::size_t size = 0; size <= 5000; ++size)
        BOOST_REQUIRE_MESSAGE(constant_xxh3_128(bytes.data(), size) == xxh3_128({bytes.data(), size}), size << " bytes differ");
    for (const std::size_t size : {16384u, 20000u, 65536u, 70000u, 200000u}) BOOST_CHECK_MESSAGE(constant_xxh3_128(bytes.data(), size) == xxh3_128({bytes.data(), size}), size << " bytes differ");
}

BOOST_AUTO_TEST_CASE(the_compiler_computes_the_same) {
    check_constant<1>();
    check_constant<7>();
    check_constant<16>();
    check_constant<100>();
    check_constant<200>();
    check_constant<2000>();
    check_constant<20000>();
}
