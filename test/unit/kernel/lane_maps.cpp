// The emulated device's maps against what a card was seen to do (test/data/lane_maps/sm_90.txt).
#include <emmy/kernel/emulated/lane_map.hpp>
#include <emmy/kernel/emulated/matrix_memory.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace emmy::kernel::emulated;

namespace {

using pair = std::pair<int, int>;
constexpr pair nothing{-1, -1};

/// One "map" of the table: per line (lane, thread or 16-byte piece) its elements.
struct seen_map {
    std::map<int, std::vector<pair>> a, b, c;
};
/// One "copy" or "box": per line its words.
using seen_lines = std::vector<std::pair<int, std::vector<std::string>>>;

struct table {
    std::map<std::string, seen_map> maps;
    std::map<std::string, seen_lines> lines;
    std::vector<std::string> order;

    static const table& read() {
        static const table one = [] {
            table out;
            std::ifstream in(std::string(EMMY_TEST_DATA) + "/lane_maps/sm_90.txt");
            BOOST_REQUIRE(in);
            std::string line, name;
            seen_map current;
            std::map<int, std::vector<pair>> last_c;
            bool map = false;
            while (std::getline(in, line)) {
                std::istringstream words(line);
                std::string first;
                words >> first;
                if (first == "map") {
                    name = line.substr(4, line.find(" rows") - 4), current = {}, map = true;
                } else if (first == "copy" || first == "box") {
                    name = line, map = false;
                } else if (first == "end" && map) {
                    if (current.c.empty()) current.c = last_c;
                    last_c = current.c;
                    out.maps.emplace(name, current), out.order.push_back(name), map = false;
                } else if (map) {
                    int number = 0, x = 0, y = 0;
                    words >> number;
                    words.ignore(1);
                    auto& to = (first == "A" ? current.a : first == "B" ? current.b : current.c)[number];
                    for (std::string word; words >> word;) to.push_back(std::sscanf(word.c_str(), "%d,%d", &x, &y) == 2 ? pair{x, y} : nothing);
                } else if (first == "lane" || first == "row" || first == "line") {
                    int number = 0;
                    words >> number;
                    words.ignore(1);
                    std::vector<std::string> all;
                    for (std::string word; words >> word;) all.push_back(word);
                    out.lines[name].push_back({number, all});
                }
            }
            return out;
        }();
        return one;
    }
};

/// Our number of a row, column or step against the table's: one to one.
class renaming {
public:
    bool agree(int ours, int theirs) { return to_.emplace(ours, theirs).first->second == theirs && from_.emplace(theirs, ours).first->second == ours; }
    std::size_t size() const { return to_.size(); }

private:
    std::map<int, int> to_, from_;
};

struct naming {
    renaming m, n, k;
    bool a(place ours, pair theirs) { return m.agree(ours.major, theirs.first) && k.agree(ours.minor, theirs.second); }
    bool b(place ours, pair theirs) { return n.agree(ours.major, theirs.first) && k.agree(ours.minor, theirs.second); }
    bool c(place ours, pair theirs) { return m.agree(ours.major, theirs.first) && n.agree(ours.minor, theirs.second); }
};

/// Registers: every element of every line through f.
template <class F>
void each(const std::map<int, std::vector<pair>>& lines, F f) {
    for (const auto& [line, elements] : lines)
        for (std::size_t e = 0; e < elements.size(); ++e) BOOST_REQUIRE_MESSAGE(f(line, static_cast<int>(e), elements[e]), "line " << line << " element " << e);
}

struct layout {
    bool steps_adjacent = true;
    matrix_descriptor fields;
};
std::optional<layout> parse_layout(const std::string& name, const char* key) {
    const auto at = name.find(key);
    if (at == std::string::npos) return {};
    layout out;
    char major[4] = {};
    unsigned swizzle = 0, leading = 0, stride = 0, start = 0;
    BOOST_REQUIRE_EQUAL(std::sscanf(name.c_str() + at + 2, "%2[kmn]-major,swizzle%u,leading%u,stride%u,start%u", major, &swizzle, &leading, &stride, &start), 5);
    out.steps_adjacent = major[0] == 'k';
    out.fields = {start, leading, stride, swizzle};
    return out;
}

/// The elements of an operand in memory: at the address that the descriptor gives, and nowhere else.
template <class Agree>
void in_memory(const std::map<int, std::vector<pair>>& lines, const layout& l, int outer, int steps, std::uint32_t bytes, Agree agree) {
    std::map<std::uint32_t, place> ours;
    for (int o = 0; o < outer; ++o)
        for (int s = 0; s < steps; ++s) {
            const std::uint32_t at = l.steps_adjacent ? l.fields.steps_adjacent(o, s, bytes) : l.fields.outer_adjacent(o, s);
            BOOST_REQUIRE(ours.emplace(at, place{o, s}).second);
        }
    std::size_t seen = 0;
    for (const auto& [line, elements] : lines)
        for (std::size_t e = 0; e < elements.size(); ++e) {
            const std::uint32_t address = static_cast<std::uint32_t>(line) * 16 + static_cast<std::uint32_t>(e) * bytes;
            const auto found = ours.find(address);
            BOOST_REQUIRE_MESSAGE((found != ours.end()) == (elements[e] != nothing), "address " << address);
            if (elements[e] == nothing) continue;
            BOOST_REQUIRE_MESSAGE(agree(found->second, elements[e]), "address " << address << " is (" << found->second.major << ", " << found->second.minor << ") here");
            ++seen;
        }
    BOOST_TEST(seen == ours.size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lane_maps)

BOOST_AUTO_TEST_CASE(mma_16x8_is_what_the_card_does) {
    const std::pair<const char*, int> kinds[] = {{"mma_m16n8k8_f16", 2}, {"mma_m16n8k16_f16", 2}, {"mma_m16n8k16_bf16", 2}, {"mma_m16n8k16_f16_f16", 2}, {"mma_m16n8k8_tf32", 1}, {"mma_m16n8k32_e4m3", 4}, {"mma_m16n8k32_e5m2", 4}};
    for (const auto& [name, parts] : kinds) BOOST_TEST_CONTEXT(name) {
        const seen_map& seen = table::read().maps.at(name);
        const mma_16x8 map{parts};
        naming names;
        BOOST_TEST(seen.a.size() == 32u);
        each(seen.a, [&](int lane, int e, pair p) { return names.a(map.a(lane, e), p); });
        each(seen.b, [&](int lane, int e, pair p) { return names.b(map.b(lane, e), p); });
        each(seen.c, [&](int lane, int e, pair p) { return names.c(map.c(lane, e), p); });
        BOOST_TEST(names.m.size() == 16u);
        BOOST_TEST(names.n.size() == 8u);
    }
}

BOOST_AUTO_TEST_CASE(mma_8x8x4_is_what_the_card_does) {
    for (const bool a_columns : {false, true})
        for (const bool b_columns : {false, true})
            for (const bool f16 : {false, true}) {
                const std::string name = std::string("mma_m8n8k4_") + (a_columns ? "col" : "row") + (b_columns ? "_col" : "_row") + (f16 ? "_f16" : "");
                BOOST_TEST_CONTEXT(name) {
                    const seen_map& seen = table::read().maps.at(name);
                    const mma_8x8x4 map{a_columns, b_columns};
                    naming names;
                    // Four products, told apart by 100 a group.
                    const auto of = [&](int lane, place p) { return place{p.major + 100 * map.group(lane), p.minor + 100 * map.group(lane)}; };
                    each(seen.a, [&](int lane, int e, pair p) { return names.a(of(lane, map.a(lane, e)), p); });
                    each(seen.b, [&](int lane, int e, pair p) { return names.b(of(lane, map.b(lane, e)), p); });
                    each(seen.c, [&](int lane, int e, pair p) { return names.c(of(lane, f16 ? map.c_f16(lane, e) : map.c_f32(lane, e)), p); });
                    BOOST_TEST(names.m.size() == 32u);
                    BOOST_TEST(names.n.size() == 32u);
                    BOOST_TEST(names.k.size() == 16u);
                }
            }
}

BOOST_AUTO_TEST_CASE(wgmma_and_its_descriptors_are_what_the_card_does) {
    int maps = 0;
    for (const std::string& name : table::read().order) {
        int n = 0, k = 0;
        if (std::sscanf(name.c_str(), "wgmma_m64n%dk%d", &n, &k) != 2) continue;
        BOOST_TEST_CONTEXT(name) {
            const seen_map& seen = table::read().maps.at(name);
            const std::uint32_t bytes = static_cast<std::uint32_t>(32 / k);
            const wgmma_64 map{static_cast<int>(4 / bytes)};
            naming names;
            BOOST_TEST(seen.c.size() == 128u);
            each(seen.c, [&](int thread, int e, pair p) { return names.c(map.c(thread, e), p); });
            if (const auto a = parse_layout(name, "a=")) in_memory(seen.a, *a, 64, k, bytes, [&](place o, pair p) { return names.a(o, p); });
            else each(seen.a, [&](int thread, int e, pair p) { return names.a(map.a(thread, e), p); });
            in_memory(seen.b, parse_layout(name, "b=").value(), n, k, bytes, [&](place o, pair p) { return names.b(o, p); });
            BOOST_TEST(names.m.size() == 64u);
            BOOST_TEST(names.n.size() == static_cast<std::size_t>(n));
            BOOST_TEST(names.k.size() == static_cast<std::size_t>(k));
        }
        ++maps;
    }
    BOOST_TEST(maps == 30);
}

BOOST_AUTO_TEST_CASE(matrix_loads_and_stores_are_what_the_card_does) {
    for (const int n : {1, 2, 4})
        for (const bool transposed : {false, true}) {
            const std::string tail = "_x" + std::to_string(n) + (transposed ? "_trans" : "");
            BOOST_TEST_CONTEXT(tail) {
                const seen_lines& loads = table::read().lines.at("copy ldmatrix" + tail);
                BOOST_TEST(loads.size() == 32u);
                for (const auto& [lane, words] : loads)
                    for (int e = 0; e < 2 * n; ++e) {
                        const place p = matrix_part(lane, e, transposed);
                        BOOST_TEST(std::stoi(words.at(static_cast<std::size_t>(e))) == p.major * 8 + p.minor);
                    }
                const seen_lines& stores = table::read().lines.at("copy stmatrix" + tail);
                BOOST_TEST(stores.size() == static_cast<std::size_t>(8 * n));
                for (int lane = 0; lane < 32; ++lane)
                    for (int e = 0; e < 2 * n; ++e) {
                        const place p = matrix_part(lane, e, transposed);
                        BOOST_TEST(std::stoi(stores.at(static_cast<std::size_t>(p.major)).second.at(static_cast<std::size_t>(p.minor))) == lane * 2 * n + e);
                    }
            }
        }
}

// Tensor copies: row r, 16-byte piece p of a box of `inner` bytes lands at swizzled(start + r * inner + 16 p); outside the tensor lie zeros.
BOOST_AUTO_TEST_CASE(tensor_copies_are_what_the_card_does) {
    int boxes = 0;
    for (const auto& [name, lines] : table::read().lines) {
        int element = 0, swizzle = 0, inner = 0, rows = 0, planes = 0, x = 0, y = 0, z = 0;
        unsigned start = 0, bytes = 0;
        if (std::sscanf(name.c_str(), "box element %d swizzle %d inner %d rows %d planes %d at %d,%d,%d start %u bytes %u", &element, &swizzle, &inner, &rows, &planes, &x, &y, &z, &start, &bytes) != 10) continue;
        BOOST_TEST_CONTEXT(name) {
            BOOST_TEST(name.ends_with("landed"));
            const int width = inner * element, pitch = swizzle != 0 ? std::max(width, swizzle) : width;
            std::map<std::uint32_t, std::string> ours;
            for (int plane = 0; plane < std::max(planes, 1); ++plane)
                for (int r = 0; r < rows; ++r)
                    for (int p = 0; p < width / 16; ++p) {
                        const int column = x * element / 16 + p, row = y + r;
                        const bool inside = column >= 0 && column < 32 && row >= 0 && row < 64;
                        const std::string what = !inside ? "z" : (planes > 0 ? std::to_string(z + plane) + "." : "") + std::to_string(row) + "." + std::to_string(column);
                        ours[swizzled(start + static_cast<std::uint32_t>((plane * rows + r) * pitch + 16 * p), static_cast<std::uint32_t>(swizzle))] = what;
                    }
            std::size_t seen = 0;
            for (const auto& [line, words] : lines)
                for (std::size_t p = 0; p < words.size(); ++p) {
                    const auto found = ours.find(static_cast<std::uint32_t>(line) * 128 + static_cast<std::uint32_t>(p) * 16);
                    BOOST_TEST(words[p] == (found == ours.end() ? "-" : found->second));
                    seen += words[p] != "-";
                }
            BOOST_TEST(seen == ours.size());
        }
        ++boxes;
    }
    BOOST_TEST(boxes == 23);
}

BOOST_AUTO_TEST_CASE(descriptors_read_back) {
    const matrix_descriptor d{0x2400, 16, 1024, 128};
    BOOST_TEST(d.encode() == 0x4000004000010240u);
    const matrix_descriptor back = matrix_descriptor::decode(d.encode());
    BOOST_TEST(back.start == d.start);
    BOOST_TEST(back.leading == d.leading);
    BOOST_TEST(back.stride == d.stride);
    BOOST_TEST(back.swizzle == d.swizzle);
}

BOOST_AUTO_TEST_SUITE_END()
