#pragma once
#include <emmy/program/impl/op_text_table.ipp>
#include <emmy/program/op_text.hpp>
#include <emmy/program/pointwise.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

/// The grammar of --op (op_text.hpp): a name, tensors, settings.
namespace emmy::program {
namespace detail {

struct op_grammar {
    struct tensor_argument {
        std::string name;
        dtype type = dtype::none;
        std::vector<builder::size> shape;
        std::size_t offset = 0;
    };
    using named_setting = setting_value;

    std::string_view text;
    std::size_t at = 0;
    std::string name;
    std::vector<tensor_argument> tensors;
    std::vector<named_setting> settings;

    static bool word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
    static bool far(std::int64_t v) { return v > std::int64_t{1} << 40 || v < -(std::int64_t{1} << 40); }
    static bool digit(char c) { return c >= '0' && c <= '9'; }
    void blanks() {
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    }
    fault wrong(std::size_t offset, std::string found, std::string_view wanted) const {
        return fault(fault_kind::user, "found " + found + " at offset " + std::to_string(offset) + ", expected " + std::string(wanted), "--op");
    }
    std::string here() const { return at >= text.size() ? "the end" : "\"" + std::string(text.substr(at, std::min<std::size_t>(12, text.size() - at))) + "\""; }
    tl::unexpected<fault> expected(std::string_view wanted) const { return refuse(wrong(at, here(), wanted)); }
    bool take(char c) {
        blanks();
        if (at >= text.size() || text[at] != c) return false;
        ++at;
        return true;
    }
    std::string word() {
        blanks();
        const std::size_t first = at;
        if (at < text.size() && word_start(text[at]))
            while (at < text.size() && (word_start(text[at]) || digit(text[at]))) ++at;
        return std::string(text.substr(first, at - first));
    }
    result<std::int64_t> positive() {
        blanks();
        std::int64_t out = 0;
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), out);
        if (error != std::errc() || out < 1) return expected("a size of at least 1");
        at = static_cast<std::size_t>(end - text.data());
        return out;
    }

    static std::string known() {
        std::string out = "linear, matmul, mean, rms_norm, softmax, sum";
        for (const pointwise_facts& f : pointwise_table)
            if (f.same_type) (out += ", ") += f.name;
        for (const composed_op& o : composed_table)
            if (out.find(" " + std::string(o.name) + ",") == std::string::npos && !out.ends_with(" " + std::string(o.name))) (out += ", ") += o.name;
        for (const pointwise_facts& f : pointwise_table)
            if (!f.same_type && out.find(" " + std::string(f.name) + ",") == std::string::npos) (out += ", ") += f.name;
        return out;
    }

    result<void> parse() {
        blanks();
        const std::size_t start = at;
        name = word();
        if (name.empty()) return expected("an operator name");
        if (!is_known(name)) return refuse(wrong(start, "the operator \"" + name + "\"", "one of: " + known()));
        if (!take('(')) return expected("\"(\"");
        do EMMY_CHECK_OK(argument());
        while (take(','));
        if (!take(')')) return expected("\",\" or \")\"");
        blanks();
        if (at < text.size()) return expected("the end");
        return {};
    }
    static bool is_known(std::string_view name) {
        constexpr std::string_view named[] = {"linear", "matmul", "mean", "rms_norm", "softmax", "sum"};
        if (std::find(std::begin(named), std::end(named), name) != std::end(named)) return true;
        return find_pointwise(name) || find_composed(name);
    }
    result<void> argument() {
        blanks();
        const std::size_t start = at;
        std::string first = word();
        if (first.empty()) return expected("a tensor (f32[512,512]) or a setting (dim=-1)");
        if (take('=')) return setting(std::move(first), start);
        tensor_argument t{.name = {}, .type = dtype::none, .shape = {}, .offset = start};
        if (take(':')) {
            t.name = std::move(first);
            blanks();
            first = word();
        }
        const std::size_t type_offset = at - first.size();
        t.type = dtype_from_alias(first);
        if (t.type == dtype::none) return refuse(wrong(type_offset, first.empty() ? here() : "\"" + first + "\"", "an element type (f32, f16, bf16, …)"));
        if (!take('[')) return expected("\"[\" and a shape");
        double elements = 1;
        while (!take(']')) {
            if (!t.shape.empty() && !take(',')) return expected("\",\" or \"]\"");
            blanks();
            builder::size s;
            if (at < text.size() && word_start(text[at])) {
                s.symbol = word();
                s.number = default_hint;
                if (take('=')) {
                    EMMY_TRY(hint, positive());
                    s.number = hint;
                }
            } else {
                EMMY_TRY(size, positive());
                s.number = size;
            }
            elements *= static_cast<double>(s.number);
            t.shape.push_back(std::move(s));
        }
        if (elements > 1e12) return refuse(wrong(start, "a tensor of more than 10^12 elements", "one that can exist"));
        tensors.push_back(std::move(t));
        return {};
    }
    result<void> setting(std::string key, std::size_t offset) {
        blanks();
        named_setting s{.name = std::move(key), .number = {}, .offset = offset};
        if (at < text.size() && text[at] == '[') return list_setting(std::move(s));
        if (at < text.size() && text[at] == '"') {
            const std::size_t end = text.find('"', at + 1);
            if (end == std::string_view::npos) return expected("a text in quotes");
            s.word = text.substr(at + 1, end - at - 1);
            at = end + 1;
            settings.push_back(std::move(s));
            return {};
        }
        const std::string flag = word();
        if (!flag.empty() && (s.name == "dtype" || s.name == "rounding_mode" || s.name == "approximate")) {
            s.word = flag;
        } else if (flag == "true" || flag == "false") {
            s.number = {.kind = literal::form::boolean, .integer = flag == "true"};
        } else if (!flag.empty()) {
            at -= flag.size();
            return expected("a number, true or false");
        } else {
            const std::size_t first = at;
            while (at < text.size() && (digit(text[at]) || text[at] == '-' || text[at] == '+' || text[at] == '.' || text[at] == 'e' || text[at] == 'E')) ++at;
            const std::string_view number = text.substr(first, at - first);
            const char* last = number.data() + number.size();
            if (number.find_first_of(".eE") == std::string_view::npos) {
                s.number.kind = literal::form::integer;
                const auto [end, error] = std::from_chars(number.data(), last, s.number.integer);
                if (number.empty() || error != std::errc() || end != last) return at = first, expected("a number, true or false");
                if (far(s.number.integer)) return at = first, expected("a number within 2^40");
            } else {
                s.number.kind = literal::form::real;
                const auto [end, error] = std::from_chars(number.data(), last, s.number.real);
                if (error != std::errc() || end != last || !std::isfinite(s.number.real)) return at = first, expected("a number, true or false");
            }
        }
        settings.push_back(std::move(s));
        return {};
    }

    /// "[1,-1,seq_len]"
    result<void> list_setting(named_setting s) {
        s.is_list = true;
        take('[');
        while (!take(']')) {
            if (!s.list.empty() && !take(',')) return expected("\",\" or \"]\"");
            blanks();
            builder::size v;
            if (at < text.size() && word_start(text[at])) {
                v.symbol = word();
            } else {
                const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), v.number);
                if (error != std::errc() || far(v.number)) return expected("a whole number within 2^40, a symbol or \"]\"");
                at = static_cast<std::size_t>(end - text.data());
            }
            s.list.push_back(std::move(v));
        }
        settings.push_back(std::move(s));
        return {};
    }
};

}  // namespace detail
}  // namespace emmy::program
