#pragma once
#include <emmy/store/records.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

/// The bytes of the store: named databases, key and value layouts. Keys are big-endian, so byte order is logical order; values are
/// little-endian and copied out (LMDB aligns nothing).
namespace emmy::store::layout {

constexpr std::uint32_t schema_version = 1;

/// Named databases of one environment.
enum class table : std::uint8_t { meta, kernel, ctx, ctx_by, row, row_by, str, perf, perf_by, err, route, route_up, taken, source, idmap };
constexpr std::string_view table_names[] = {"meta", "kernel", "ctx", "ctx_by", "row", "row_by", "str", "perf", "perf_by", "err", "route", "route_up", "taken", "source", "idmap"};
constexpr std::size_t table_count = std::size(table_names);
constexpr std::string_view name(table t) { return table_names[static_cast<std::size_t>(t)]; }

/// First byte of a key in `str`.
enum class str_tag : std::uint8_t { knob_name = 1, knob_value = 2, bind = 3, find_name = 0x11, find_value = 0x12, find_source = 0x14 };

/// A key built field by field, at most 64 bytes.
class key {
public:
    constexpr key() = default;
    constexpr key& u8(std::uint8_t v) { chars_[size_++] = static_cast<char>(v); return *this; }
    constexpr key& u16(std::uint16_t v) { return u8(static_cast<std::uint8_t>(v >> 8)).u8(static_cast<std::uint8_t>(v)); }
    constexpr key& u32(std::uint32_t v) { return u16(static_cast<std::uint16_t>(v >> 16)).u16(static_cast<std::uint16_t>(v)); }
    constexpr key& u64(std::uint64_t v) { return u32(static_cast<std::uint32_t>(v >> 32)).u32(static_cast<std::uint32_t>(v)); }
    constexpr key& digest(const digest128& d) { return u64(d.high).u64(d.low); }
    constexpr std::string_view view() const { return {chars_.data(), size_}; }
    constexpr operator std::string_view() const { return view(); }

private:
    std::array<char, 64> chars_{};
    std::size_t size_ = 0;
};

inline std::uint32_t read_u32(const char* p) {
    std::uint32_t v;
    std::memcpy(&v, p, 4);
    return std::endian::native == std::endian::little ? __builtin_bswap32(v) : v;
}
inline std::uint64_t read_u64(const char* p) {
    std::uint64_t v;
    std::memcpy(&v, p, 8);
    return std::endian::native == std::endian::little ? __builtin_bswap64(v) : v;
}
inline digest128 read_digest(const char* p) { return {read_u64(p), read_u64(p + 8)}; }

/// Monotone 32-bit order of positive times: the bits of the float nearest to the median.
inline std::uint32_t sort_us(double median) { return std::bit_cast<std::uint32_t>(static_cast<float>(median)); }

/// Key of `perf`: ctx · kernel · bind · class · sort_us · row · src, 41 bytes; the first entry of a prefix is the fastest row.
struct perf_key {
    std::uint32_t ctx = 0;
    digest128 kernel;
    std::uint64_t bind = 0;
    outcome how = outcome::captured;
    std::uint32_t sort = 0, row = 0, src = 0;

    static constexpr std::size_t size = 41;
    key encode() const { return key().u32(ctx).digest(kernel).u64(bind).u8(static_cast<std::uint8_t>(how)).u32(sort).u32(row).u32(src); }
    key kernel_prefix() const { return key().u32(ctx).digest(kernel); }
    key bind_prefix() const { return kernel_prefix().u64(bind); }
    /// Of bytes of the right size.
    static perf_key decode(const char* p) {
        return {read_u32(p), read_digest(p + 4), read_u64(p + 20), static_cast<outcome>(p[28]), read_u32(p + 29), read_u32(p + 33), read_u32(p + 37)};
    }
    /// Key of `perf_by` and `err`: ctx · kernel · bind · row · src, 36 bytes.
    static constexpr std::size_t by_size = 36;
    key by() const { return bind_prefix().u32(row).u32(src); }
};

/// Value of `perf`: five f64, samples, time; 48 bytes.
constexpr std::size_t perf_value_size = 48;
inline std::array<char, perf_value_size> encode_timing(const timing& t) {
    std::array<char, perf_value_size> out;
    const double times[] = {t.median, t.min, t.max, t.mean, t.variance};
    std::memcpy(out.data(), times, 40);
    std::memcpy(out.data() + 40, &t.samples, 4);
    std::memcpy(out.data() + 44, &t.unix_time, 4);
    return out;
}
inline timing decode_timing(const char* p, outcome how) {
    timing out;
    double times[5];
    std::memcpy(times, p, 40);
    out.median = times[0], out.min = times[1], out.max = times[2], out.mean = times[3], out.variance = times[4];
    std::memcpy(&out.samples, p + 40, 4);
    std::memcpy(&out.unix_time, p + 44, 4);
    out.how = how;
    return out;
}

/// Value of `perf_by`: class, sort_us; 5 bytes.
constexpr std::size_t by_value_size = 5;

/// Appends little-endian fields to a value.
class value_writer {
public:
    template <class Integer>
    value_writer& put(Integer v) {
        for (std::size_t i = 0; i < sizeof v; ++i) out.push_back(static_cast<char>(static_cast<std::uint64_t>(v) >> (8 * i)));
        return *this;
    }
    value_writer& text(std::string_view t) {
        put(static_cast<std::uint32_t>(t.size()));
        out += t;
        return *this;
    }
    value_writer& digest(const digest128& d) { return put(d.high).put(d.low); }
    std::string out;
};

/// Reads them back with bounds; `ok()` is false once anything was missing.
class value_reader {
public:
    explicit value_reader(std::string_view bytes) : rest_(bytes) {}
    template <class Integer>
    Integer get() {
        if (rest_.size() < sizeof(Integer)) return fail(), Integer{};
        std::uint64_t v = 0;
        for (std::size_t i = 0; i < sizeof(Integer); ++i) v |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
        rest_.remove_prefix(sizeof(Integer));
        return static_cast<Integer>(v);
    }
    std::string_view text() {
        const auto size = get<std::uint32_t>();
        if (rest_.size() < size) return fail(), std::string_view();
        const auto out = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return out;
    }
    digest128 digest() {
        const auto high = get<std::uint64_t>();
        return {high, get<std::uint64_t>()};
    }
    std::string_view rest() const { return rest_; }
    bool ok() const { return ok_; }

private:
    void fail() { ok_ = false, rest_ = {}; }
    std::string_view rest_;
    bool ok_ = true;
};

}  // namespace emmy::store::layout
