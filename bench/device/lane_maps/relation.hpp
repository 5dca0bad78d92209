#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

/// What a matrix instruction does to single elements, as a relation that needs no document to read: element a of A times element b of B
/// lands in element c of C. The three belong to one row m (a and c), one column n (b and c) and one step k (a and b). Which number an
/// instruction's manual gives a row cannot be seen from outside, so classes are numbered as they are met, C first; a map that is right
/// differs from this one by renaming rows, columns and steps, each one to one.
namespace lane_maps {

/// a, b, c: places of elements (register files: lane, register, part; memory: byte address).
struct triple {
    std::uint32_t a, b, c;
};

class classes {
public:
    explicit classes(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
    std::uint32_t find(std::uint32_t x) {
        while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
        return x;
    }
    void join(std::uint32_t x, std::uint32_t y) { parent_[find(x)] = find(y); }

private:
    std::vector<std::uint32_t> parent_;
};

/// Row, column and step of every element; -1: the instruction does not touch it.
struct labels {
    std::vector<std::pair<int, int>> a, b, c;  // (m, k), (n, k), (m, n)
    int rows = 0, columns = 0, steps = 0;
    bool exact = false;  // the triples are all of rows × columns × steps, each once
};

inline labels label(const std::vector<triple>& all, std::size_t na, std::size_t nb, std::size_t nc) {
    classes m(na + nc), n(nb + nc), k(na + nb);
    std::vector<char> has_a(na), has_b(nb), has_c(nc);
    for (const triple& t : all) {
        m.join(t.a, static_cast<std::uint32_t>(na + t.c));
        n.join(t.b, static_cast<std::uint32_t>(nb + t.c));
        k.join(t.a, static_cast<std::uint32_t>(na + t.b));
        has_a[t.a] = has_b[t.b] = has_c[t.c] = 1;
    }
    labels out;
    out.a.assign(na, {-1, -1}), out.b.assign(nb, {-1, -1}), out.c.assign(nc, {-1, -1});
    std::map<std::uint32_t, int> ms, ns, ks;
    const auto number = [](std::map<std::uint32_t, int>& seen, std::uint32_t root) { return seen.emplace(root, static_cast<int>(seen.size())).first->second; };
    for (std::uint32_t c = 0; c < nc; ++c)
        if (has_c[c]) out.c[c] = {number(ms, m.find(static_cast<std::uint32_t>(na) + c)), number(ns, n.find(static_cast<std::uint32_t>(nb) + c))};
    for (std::uint32_t a = 0; a < na; ++a)
        if (has_a[a]) out.a[a] = {number(ms, m.find(a)), number(ks, k.find(a))};
    for (std::uint32_t b = 0; b < nb; ++b)
        if (has_b[b]) out.b[b] = {number(ns, n.find(b)), number(ks, k.find(static_cast<std::uint32_t>(na) + b))};
    out.rows = static_cast<int>(ms.size()), out.columns = static_cast<int>(ns.size()), out.steps = static_cast<int>(ks.size());
    out.exact = all.size() == static_cast<std::size_t>(out.rows) * out.columns * out.steps;
    return out;
}

/// "A 3: 6,0 6,1 14,0 14,1": one line a lane (or a row of `width` elements of memory), untouched elements as "-".
inline void print(std::FILE* out, const char* which, const std::vector<std::pair<int, int>>& of, std::size_t width) {
    for (std::size_t i = 0; i < of.size(); i += width) {
        bool any = false;
        for (std::size_t j = i; j < std::min(of.size(), i + width); ++j) any = any || of[j].first >= 0;
        if (!any) continue;
        std::fprintf(out, "%s %zu:", which, i / width);
        for (std::size_t j = i; j < std::min(of.size(), i + width); ++j)
            if (of[j].first < 0) std::fputs(" -", out);
            else std::fprintf(out, " %d,%d", of[j].first, of[j].second);
        std::fputc('\n', out);
    }
}

inline void print(std::FILE* out, const std::string& name, const labels& l, std::size_t wa, std::size_t wb, std::size_t wc) {
    std::fprintf(out, "map %s rows %d columns %d steps %d %s\n", name.c_str(), l.rows, l.columns, l.steps, l.exact ? "exact" : "not-exact");
    print(out, "C", l.c, wc);
    print(out, "A", l.a, wa);
    print(out, "B", l.b, wb);
    std::fputs("end\n", out);
}

}  // namespace lane_maps
