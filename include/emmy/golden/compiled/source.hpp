#pragma once
#include <emmy/core/capability.hpp>
#include <emmy/core/digest.hpp>

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

/// What a generated header states: texts once each, rows as places in them. Data only; golden/compiled/check.hpp lets the compiler check it.
namespace emmy::golden::compiled {

/// A size that a row was measured at.
struct size_of_symbol {
    std::string_view symbol;
    std::int64_t value = 0;
    constexpr bool operator==(const size_of_symbol&) const = default;
};
/// One knob of a row: place of its key in source::keys, place of its value in the dictionary of the key's family.
struct knob_at {
    std::uint16_t key = 0, value = 0;
};
struct row_data {
    std::string_view name;
    std::uint32_t kernel = 0;
    std::uint32_t first_knob = 0, knobs = 0;  ///< in source::knobs, sorted by key text
    std::uint32_t first_size = 0, sizes = 0;  ///< in source::sizes
    std::uint32_t regime = 0;                 ///< in source::regimes
    double us = 0;                            ///< measured; 0 = not measured
    std::uint64_t seal = 0;                   ///< of everything above but the name: what was changed by hand does not compile
};
struct kernel_data {
    std::string_view ref;
    digest128 identity;
    std::string_view text;  ///< canonical bytes, whose digest the identity is
};
/// A choice of an arm.
struct choice {
    std::string_view key, value;
};
struct route_data {
    std::uint32_t parent = 0;
    std::uint32_t first_choice = 0, choices = 0;   ///< in source::arms: places in source::choices
    std::uint32_t first_child = 0, children = 0;   ///< in source::children: kernels
};

/// Rows of one table. Longer ones would come near clang's step limit for one initialiser.
constexpr std::size_t rows_a_table = 250;
/// Bytes of canonical text up to which a digest is a constant expression at the default limits of both compilers (measured: 400 KB).
constexpr std::size_t longest_text = 256 * 1024;

struct source {
    std::string_view file, card;
    capability cc;
    int identity_version = 0;
    std::span<const std::string_view> keys;
    std::span<const std::string_view> work, raster, loopify, shared_carry, tile, reduce, stage;  ///< dictionaries of distinct texts
    std::span<const std::string_view> regimes;                           ///< "FAST_MATH=true", pins joined by commas
    std::span<const knob_at> knobs;
    std::span<const size_of_symbol> sizes;
    std::span<const std::span<const row_data>> tables;                   ///< each but the last full
    std::span<const kernel_data> kernels;
    std::span<const compiled::choice> choices;
    std::span<const std::uint32_t> arms, children;
    std::span<const route_data> routes;

    constexpr std::size_t row_count() const { return tables.empty() ? 0 : (tables.size() - 1) * rows_a_table + tables.back().size(); }
    constexpr const row_data& row(std::size_t i) const { return tables[i / rows_a_table][i % rows_a_table]; }
};

/// Folds what a row says into 64 bits. Generator and compiler use the same.
class sealer {
public:
    constexpr sealer& add(std::uint64_t word) {
        state_ = (state_ ^ word) * 0xff51afd7ed558ccdu;
        state_ ^= state_ >> 32;
        return *this;
    }
    constexpr sealer& add(std::string_view text) {
        std::uint64_t word = text.size();
        std::size_t i = 0;
        for (char c : text) {
            word = word << 8 | static_cast<unsigned char>(c);
            if (++i % 7 == 0) add(word), word = 0;
        }
        return add(word);
    }
    constexpr sealer& add(double number) { return add(std::bit_cast<std::uint64_t>(number)); }
    constexpr std::uint64_t value() const { return state_; }

private:
    std::uint64_t state_ = 0x9e3779b97f4a7c15u;
};

}  // namespace emmy::golden::compiled
