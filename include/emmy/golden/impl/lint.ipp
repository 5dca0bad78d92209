#pragma once
#include <emmy/core/file.hpp>
#include <emmy/golden/lint.hpp>
#include <emmy/golden/select.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/loop/identity.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

namespace emmy::golden {
namespace detail {

/// One kernel as the lint rules need it, decoded once.
struct decoded {
    std::set<std::string> symbols;
    std::string identity;  ///< hex; empty when the body is none
};

inline std::string row_place(row_index i) { return "rows[" + std::to_string(i) + "]"; }

inline std::string microseconds(double t) {
    char text[40];
    std::snprintf(text, sizeof text, "%.2f us", t);
    return text;
}

inline std::vector<std::string_view> segments(std::string_view name) {
    std::vector<std::string_view> out;
    for (std::size_t from = 0; from <= name.size();) {
        const std::size_t to = std::min(name.find('.', from), name.size());
        out.push_back(name.substr(from, to - from));
        from = to + 1;
    }
    return out;
}
inline bool has_segment(std::string_view name, std::string_view wanted) {
    const auto all = segments(name);
    return std::find(all.begin(), all.end(), wanted) != all.end();
}
/// Segments that look like an identity's prefix.
inline std::vector<std::string_view> identity_segments(std::string_view name) {
    auto out = segments(name);
    std::erase_if(out, [](std::string_view s) { return s.size() != 12 || s.find_first_not_of("0123456789abcdef") != s.npos; });
    return out;
}

struct linter {
    const document& file;
    std::vector<decoded> kernels = {};
    std::vector<finding> out = {};

    void add(std::string_view rule, std::string place, std::string message) { out.push_back({rule, std::move(place), std::move(message)}); }

    void decode(std::vector<finding>& stale) {
        kernels.resize(file.kernels().size());
        for (kernel_index k = 0; k < kernels.size(); ++k) {
            const auto body = file.body(k);
            if (!body) {
                stale.push_back({"stale-body", body.error().place(), body.error().message()});
                continue;
            }
            for (name_id s : loop::symbols(*body)) kernels[k].symbols.emplace(body->body.text(s));
            kernels[k].identity = to_hex(loop::identity(*body));
        }
    }
    void fast_math() {
        std::map<std::pair<kernel_index, std::string>, double> best;  // of the standard lane
        auto key = [&](const row& r) { return std::make_pair(r.kernel, sorted_text(r.bindings)); };
        for (const row& r : file.rows()) {
            if (!r.measurements || r.fast_math()) continue;
            const auto [at, fresh] = best.emplace(key(r), r.measurements->emmy_us.value);
            if (!fresh) at->second = std::min(at->second, r.measurements->emmy_us.value);
        }
        for (row_index i = 0; i < file.rows().size(); ++i) {
            const row& r = file.rows()[i];
            if (!r.measurements || !r.fast_math()) continue;
            const auto at = best.find(key(r));
            if (at != best.end() && r.measurements->emmy_us.value >= at->second)
                add("fast-math-loses", row_place(i), std::string(r.name) + ": found " + microseconds(r.measurements->emmy_us.value) + ", the best standard row takes " + microseconds(at->second));
        }
    }
    void sizes() {
        for (row_index i = 0; i < file.rows().size(); ++i) {
            const row& r = file.rows()[i];
            const decoded& k = kernels[r.kernel];
            if (k.identity.empty() || !r.measurements) continue;
            for (const std::string& symbol : k.symbols)
                if (!find(r.bindings, symbol)) add("sizes-missing", row_place(i), std::string(r.name) + ": found no size of " + symbol + ", a symbol of its kernel");
        }
        for (row_index i = 0; i < file.rows().size(); ++i) {
            const row& r = file.rows()[i];
            const decoded& k = kernels[r.kernel];
            if (k.identity.empty()) continue;
            for (const json::member& m : r.bindings)
                if (k.symbols.count(std::string(m.key)) == 0) add("sizes-extra", row_place(i), std::string(r.name) + ": found a size of " + std::string(m.key) + ", no symbol of its kernel");
        }
    }
    void duplicates() {
        using evidence = std::pair<kernel_index, std::string>;
        auto key = [&](const row& r) { return evidence(r.kernel, sorted_text(r.bindings) + sorted_text(r.pins) + sorted_text(r.knobs)); };
        std::map<evidence, row_index> measured, proposed;
        for (row_index i = 0; i < file.rows().size(); ++i) {
            if (file.rows()[i].state() != row_state::measured) continue;
            const auto [at, fresh] = measured.emplace(key(file.rows()[i]), i);
            if (!fresh) add("duplicate-evidence", row_place(i), std::string(file.rows()[i].name) + ": repeats " + row_place(at->second));
        }
        for (row_index i = 0; i < file.rows().size(); ++i) {
            const row& r = file.rows()[i];
            if (r.state() != row_state::proposal) continue;
            if (const auto at = measured.find(key(r)); at != measured.end()) {
                add("duplicate-proposal", row_place(i), std::string(r.name) + ": is measured as " + row_place(at->second));
                continue;
            }
            const auto [at, fresh] = proposed.emplace(key(r), i);
            if (!fresh) add("duplicate-proposal", row_place(i), std::string(r.name) + ": repeats " + row_place(at->second));
        }
    }
    void labels() {
        for (row_index i = 0; i < file.rows().size(); ++i) {
            const row& r = file.rows()[i];
            if (has_segment(r.name, "fm") && !r.fast_math()) add("label-lane", row_place(i), std::string(r.name) + ": found a standard row, its name says fast math");
        }
        for (row_index i = 0; i < file.rows().size(); ++i) {
            const row& r = file.rows()[i];
            const json::value* tokens = find(file.kernels()[r.kernel].bindings, "num_tokens");
            if (!tokens) continue;
            for (std::string_view s : segments(r.name))
                if (s.size() > 1 && s[0] == 'm' && s.find_first_not_of("0123456789", 1) == s.npos && s.substr(1) != tokens->text())
                    add("label-size", row_place(i), std::string(r.name) + ": found " + std::string(s) + ", its kernel was specialized to num_tokens=" + std::string(tokens->text()));
        }
        if (file.head().format == 0) return;  // the peer's labels are prefixes of the peer's identities
        for (row_index i = 0; i < file.rows().size(); ++i) {
            const row& r = file.rows()[i];
            const std::string& identity = kernels[r.kernel].identity;
            if (identity.empty()) continue;
            const auto labels = identity_segments(r.name);
            if (!labels.empty() && std::none_of(labels.begin(), labels.end(), [&](std::string_view s) { return identity.starts_with(s); }))
                add("label-identity", row_place(i), std::string(r.name) + ": found " + std::string(labels.back()) + ", the kernel is " + identity.substr(0, 12));
        }
    }
    void reach() {
        for (kernel_index k = 0; k < file.kernels().size(); ++k)
            if (!file.kernels()[k].target() && file.minted_by(k) == none)
                add("unreached-piece", "kernels[" + std::to_string(k) + "]", std::string(file.kernels()[k].ref()) + ": found no decision that mints it");
        std::vector<bool> used(file.programs().size());
        for (const kernel_entry& k : file.kernels())
            if (k.target()) used[k.traced] = true;
        for (program_index p = 0; p < used.size(); ++p)
            if (!used[p]) add("unused-program", "programs[" + std::to_string(p) + "]", "found no kernel that was lowered from it");
    }
    void layout() {
        if (file.file().empty()) return;
        const auto bytes = read_file(file.file());
        if (!bytes) return;
        const std::string wanted = file.text();
        if (*bytes == wanted) return;
        const auto at = static_cast<std::size_t>(std::mismatch(bytes->begin(), bytes->end(), wanted.begin(), wanted.end()).first - bytes->begin());
        const auto line = 1 + std::count(bytes->begin(), bytes->begin() + static_cast<std::ptrdiff_t>(at), '\n');
        add("not-canonical", "line " + std::to_string(line), "found another layout than the canonical one (emmy-restamp fmt writes it)");
    }
};
}  // namespace detail

EMMY_DECL std::vector<finding> lint(const document& file) {
    detail::linter l{file};
    std::vector<finding> stale;
    l.decode(stale);
    l.fast_math();
    l.sizes();
    l.duplicates();
    l.labels();
    l.reach();
    l.out.insert(l.out.end(), stale.begin(), stale.end());
    l.layout();
    return std::move(l.out);
}

}  // namespace emmy::golden
