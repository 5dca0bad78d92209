#pragma once
#include <emmy/core/capability.hpp>
#include <emmy/golden/compiled/source.hpp>
#include <emmy/golden/emit_header.hpp>
#include <emmy/knob/families.hpp>
#include <emmy/knob/route.hpp>
#include <emmy/knob/rule/gpu.hpp>
#include <emmy/knob/rule/rule.hpp>
#include <emmy/knob/schedule_row.hpp>
#include <emmy/knob/target.hpp>
#include <emmy/loop/identity.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

namespace emmy::golden {
namespace detail {

/// A C++ string literal; long ones go on over several lines. Octal escapes of three digits: what follows them cannot join in.
inline std::string cpp_literal(std::string_view text, std::string_view indent = {}) {
    std::string out = "\"";
    std::size_t column = 0;
    for (const char c : text) {
        if (column >= 140) ((out += "\"\n") += indent) += '"', column = 0;
        const auto u = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            (out += '\\') += c, column += 2;
        } else if (u >= ' ' && u <= '~' && c != '?') {  // ?: no trigraphs
            out += c, ++column;
        } else {
            const char escaped[] = {'\\', static_cast<char>('0' + (u >> 6)), static_cast<char>('0' + (u >> 3 & 7)), static_cast<char>('0' + (u & 7))};
            out.append(escaped, 4), column += 4;
        }
    }
    return out += '"';
}
inline std::string sized_literal(std::string_view text, std::string_view indent) { return "{" + cpp_literal(text, indent) + ", " + std::to_string(text.size()) + "}"; }

inline std::string number_text(double v) {
    char digits[40];
    return {digits, std::to_chars(digits, digits + sizeof digits, v).ptr};
}

/// Distinct texts in the order of their first use.
class dictionary {
public:
    std::size_t place(std::string_view text) {
        const auto [at, fresh] = places_.try_emplace(std::string(text), texts_.size());
        if (fresh) texts_.emplace_back(text);
        return at->second;
    }
    const std::vector<std::string>& texts() const { return texts_; }

private:
    std::map<std::string, std::size_t, std::less<>> places_;
    std::vector<std::string> texts_;
};

/// `inline constexpr std::array<TYPE, N> NAME{{…}};`; arrays may be empty.
inline void array(std::string& out, std::string_view type, std::string_view name, const std::vector<std::string>& items, std::size_t a_line = 1) {
    (((((out += "inline constexpr std::array<") += type) += ", ") += std::to_string(items.size())) += "> ") += name;
    if (items.empty()) {
        out += "{};\n";
        return;
    }
    out += "{{";
    for (std::size_t i = 0; i < items.size(); ++i) {
        out += i % a_line == 0 ? "\n    " : " ";
        (out += items[i]) += ',';
    }
    out += "\n}};\n";
}
inline std::vector<std::string> literals(const std::vector<std::string>& texts) {
    std::vector<std::string> out;
    for (const std::string& text : texts) out.push_back(cpp_literal(text));
    return out;
}
inline std::string knob_value(const json::value& v) { return v.is(json::kind::boolean) ? (v.boolean() ? "true" : "false") : std::string(v.text()); }

inline std::string hex_words(const digest128& d) {
    char text[48];
    std::snprintf(text, sizeof text, "{0x%016llxu, 0x%016llxu}", static_cast<unsigned long long>(d.high), static_cast<unsigned long long>(d.low));
    return text;
}

/// Everything that a header states, gathered from a document.
class header_writer {
public:
    header_writer(const document& file, const header_options& options) : file_(file), options_(options) {}

    result<std::string> write() {
        EMMY_CHECK_OK(check_options());
        EMMY_CHECK_OK(kernels());
        for (row_index r = 0; r < file_.rows().size(); ++r) EMMY_CHECK_OK(row(r));
        routes();
        return text();
    }

private:
    result<void> check_options() const {
        std::string_view rest = options_.name;
        bool good = !rest.empty();
        while (good && !rest.empty()) {
            const std::size_t end = std::min(rest.find("::"), rest.size());
            good = is_identifier(rest.substr(0, end)) && end + 2 != rest.size();
            rest.remove_prefix(std::min(end + 2, rest.size()));
        }
        if (!good) return refuse(fault_kind::user, "found [" + options_.name + "], expected a C++ namespace", "--namespace");
        const auto own = target_text(cc());
        if (!options_.target.empty() && options_.target != own.view())
            return refuse(fault_kind::user, "found " + options_.target + ", expected " + std::string(own.view()) + ", the target of the file's rows", "--target", file_.file());
        return {};
    }
    capability cc() const { return {static_cast<std::uint16_t>(file_.head().compute_major), static_cast<std::uint16_t>(file_.head().compute_minor)}; }

    result<void> kernels() {
        for (kernel_index k = 0; k < file_.kernels().size(); ++k) {
            EMMY_TRY(body, file_.body(k));
            const std::vector<char> bytes = loop::canonical_bytes(body.body, body.inputs, body.outputs);
            const std::string_view text(bytes.data(), bytes.size());
            const std::string place = "kernels[" + std::to_string(k) + "].loop_ir";
            if (text.size() > compiled::longest_text)
                return refuse(fault_kind::input,
                              "found a canonical text of " + std::to_string(text.size()) + " bytes, expected at most " + std::to_string(compiled::longest_text) +
                                  ": the digest of a longer one is no constant expression, leave this kernel out of the header",
                              place, file_.file());
            identities_.push_back(loop::identity(body));
            kernels_.push_back("{" + cpp_literal(file_.kernels()[k].ref()) + ", " + hex_words(identities_.back()) + ",\n     " + sized_literal(text, "     ") + "}");
        }
        return {};
    }

    result<void> row(row_index at) {
        const golden::row& r = file_.rows()[at];
        compiled::sealer seal;
        seal.add(identities_[r.kernel].high).add(identities_[r.kernel].low);
        const std::size_t first_size = sizes_.size();
        for (const json::member& m : r.bindings) {
            const std::int64_t size = m.item.integer().value_or(0);
            sizes_.push_back("{" + cpp_literal(m.key) + ", " + std::to_string(size) + "}");
            seal.add(m.key).add(static_cast<std::uint64_t>(size));
        }
        std::string regime;
        for (const json::member& m : r.pins) ((regime += regime.empty() ? "" : ",") += m.key) += "=" + knob_value(m.item);
        const double us = r.measurements ? r.measurements->emmy_us.value : 0;
        seal.add(std::string_view(regime)).add(us);

        std::vector<std::pair<std::string, std::string>> pairs;
        for (const json::member& m : r.knobs) pairs.emplace_back(m.key, knob_value(m.item));
        std::sort(pairs.begin(), pairs.end());
        const std::size_t first_knob = knobs_.size();
        for (const auto& [key, value] : pairs) {
            const std::string family(knob::split_key(key).family);
            bool known = false;
            knob::schedule_row::families::each([&]<class F>() { known = known || F::name == family; });
            const std::string place = "rows[" + std::to_string(at) + "].knobs." + key;
            if (!known) return refuse(fault_kind::input, "found no schedule family, expected " + std::string(knob::schedule_row::one_of_them), place, file_.file());
            const std::size_t k = keys_.place(key), v = values_[family].place(value);
            if (k > 0xffff || v > 0xffff) return refuse(fault_kind::input, "found more than 65536 distinct texts, expected fewer", place, file_.file());
            knobs_.push_back("{" + std::to_string(k) + ", " + std::to_string(v) + "}");
            seal.add(std::string_view(key)).add(std::string_view(value));
        }
        EMMY_CHECK_OK(rules(pairs, at));
        char sealed[24];
        std::snprintf(sealed, sizeof sealed, "0x%016llxu", static_cast<unsigned long long>(seal.value()));
        const std::size_t numbers[] = {r.kernel, first_knob, pairs.size(), first_size, r.bindings.size(), regimes_.place(regime)};
        std::string line = "{" + cpp_literal(r.name);
        for (const std::size_t n : numbers) line += ", " + std::to_string(n);
        rows_.push_back(line + ", " + number_text(us) + ", " + sealed + "}");
        return {};
    }

    /// What compiling the header would say of the row, said now.
    result<void> rules(const std::vector<std::pair<std::string, std::string>>& pairs, row_index at) const {
        if (pairs.empty()) return {};
        const std::string place = "rows[" + std::to_string(at) + "].knobs";
        std::vector<knob::knob_pair> list;
        for (const auto& [key, value] : pairs) list.push_back({key, value});
        const auto schedule = knob::schedule_row::parse(list);
        if (!schedule) return refuse(fault_kind::input, std::string(schedule.error().message()), place, file_.file());
        if (cc().is_cpu()) return {};
        if (const knob::finding f = knob::gpu::row_rules::first(*schedule, knob::target_of(cc()))) return refuse(fault_kind::input, std::string(knob::sentence(f).view()), place, file_.file());
        return {};
    }

    void routes() {
        std::map<std::string, std::size_t> known;
        for (const decision& d : file_.routing()) {
            const std::size_t first_choice = arms_.size(), first_child = children_.size();
            for (const json::member& m : d.arm) {
                const std::string choice = "{" + cpp_literal(m.key) + ", " + cpp_literal(m.item.text()) + "}";
                const auto [at, fresh] = known.try_emplace(choice, choices_.size());
                if (fresh) choices_.push_back(choice);
                arms_.push_back(std::to_string(at->second));
            }
            for (const kernel_index child : d.children) children_.push_back(std::to_string(child));
            routes_.push_back("{" + std::to_string(d.parent) + ", " + std::to_string(first_choice) + ", " + std::to_string(d.arm.size()) + ", " + std::to_string(first_child) + ", " +
                              std::to_string(d.children.size()) + "}");
        }
    }

    std::string text() {
        const std::string file = file_.file().substr(file_.file().rfind('/') + 1), target(target_text(cc()).view());
        std::string out = "// Made from " + file + " by emmy-import --emit-header. Change the file and make it again: what is changed here does not compile.\n";
        out += "#pragma once\n#include <emmy/golden/compiled.hpp>\n\n#include <array>\n\nnamespace " + options_.name + " {\nnamespace data {\nnamespace compiled = emmy::golden::compiled;\n\n";
        array(out, "std::string_view", "keys", literals(keys_.texts()));
        std::string dictionaries;
        knob::schedule_row::families::each([&]<class F>() {
            std::string name(F::name);
            for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
            array(out, "std::string_view", name, literals(values_[std::string(F::name)].texts()), 4);
        });
        array(out, "std::string_view", "regimes", literals(regimes_.texts()));
        array(out, "compiled::size_of_symbol", "sizes", sizes_, 4);
        array(out, "compiled::knob_at", "knobs", knobs_, 12);
        std::vector<std::string> tables;
        for (std::size_t first = 0; first < rows_.size(); first += compiled::rows_a_table) {
            const std::size_t last = std::min(rows_.size(), first + compiled::rows_a_table);
            tables.push_back("rows_" + std::to_string(tables.size()));
            array(out, "compiled::row_data", tables.back(), std::vector<std::string>(rows_.begin() + static_cast<std::ptrdiff_t>(first), rows_.begin() + static_cast<std::ptrdiff_t>(last)));
        }
        array(out, "std::span<const compiled::row_data>", "tables", tables);
        array(out, "compiled::kernel_data", "kernels", kernels_);
        array(out, "compiled::choice", "choices", choices_);
        array(out, "std::uint32_t", "arms", arms_, 24);
        array(out, "std::uint32_t", "children", children_, 24);
        array(out, "compiled::route_data", "routes", routes_, 6);
        out += "inline constexpr compiled::source source{" + cpp_literal(file) + ", " + cpp_literal(file_.head().gpu_name.value_or("")) + ", {" + std::to_string(cc().generation) + ", " +
               std::to_string(cc().revision) + "}, " + std::to_string(loop::identity_version) +
               ", keys, work, raster, loopify, shared_carry, tile, reduce, stage, regimes, knobs, sizes, tables, kernels, choices, arms, children, routes};\n}  // namespace data\n\n";
        out += "/// Rows of " + file + " for " + target + ": table.find(identity, sizes).\n";
        out += "inline constexpr const emmy::golden::compiled::table& table = emmy::golden::compiled::table_of<data::source>;\n";
        out += "static_assert(emmy::golden::compiled::is_sound<data::source>());\n\n}  // namespace " + options_.name + "\n";
        return out;
    }

    const document& file_;
    const header_options& options_;
    dictionary keys_, regimes_;
    std::map<std::string, dictionary> values_;  // by family
    std::vector<digest128> identities_;
    std::vector<std::string> kernels_, rows_, knobs_, sizes_, choices_, arms_, children_, routes_;
};

}  // namespace detail

EMMY_DECL result<std::string> header_text(const document& file, const header_options& options) { return detail::header_writer(file, options).write(); }

}  // namespace emmy::golden
