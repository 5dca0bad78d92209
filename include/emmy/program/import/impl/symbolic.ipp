#pragma once
#include <emmy/program/impl/extent.ipp>
#include <emmy/program/import/symbolic.hpp>

#include <algorithm>
#include <charconv>

namespace emmy::program::pt2 {
namespace detail {

class size_parser {
public:
    size_parser(std::string_view text, std::span<const symbol_meaning> symbols) : text_(text), symbols_(symbols) {}
    result<extent> all() {
        EMMY_TRY(out, sum());
        skip();
        if (at_ != text_.size()) return wrong("expected the end");
        if (out.bad()) return wrong("expected sizes within 62 bits at every size of the symbol");
        return out;
    }

private:
    tl::unexpected<fault> wrong(std::string_view wanted) const {
        return refuse(fault_kind::input, "found the size expression \"" + std::string(text_.substr(0, 200)) + "\" at offset " + std::to_string(at_) + ", " + std::string(wanted));
    }
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    bool take(std::string_view token) {
        skip();
        if (!text_.substr(at_).starts_with(token)) return false;
        at_ += token.size();
        return true;
    }
    static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

    result<extent> sum() {
        if (++depth_ > 64) return wrong("expected nesting up to 64");
        EMMY_TRY(out, product());
        while (true) {
            skip();
            if (take("+")) {
                EMMY_TRY(next, product());
                out = out + next;
            } else if (take("-")) {
                EMMY_TRY(next, product());
                out = out - next;
            } else {
                --depth_;
                return std::move(out);
            }
        }
    }
    result<extent> product() {
        EMMY_TRY(out, power());
        while (true) {
            if (take("//")) {
                EMMY_TRY(next, power());
                out = out / next;
            } else if (text_.substr(std::min(at_, text_.size())).starts_with("**")) {
                return wrong("expected one power");
            } else if (take("*")) {
                EMMY_TRY(next, power());
                out = out * next;
            } else if (take("/")) {  // exact where an exporter writes it
                EMMY_TRY(next, power());
                const extent whole = out / next;
                if (!(whole * next == out)) return wrong("expected a division without a rest");
                out = whole;
            } else if (take("%")) {
                EMMY_TRY(next, power());
                out = out - out / next * next;
            } else {
                return std::move(out);
            }
        }
    }
    result<extent> power() {
        if (take("-")) {
            EMMY_TRY(out, power());
            return extent(0) - out;
        }
        EMMY_TRY(out, atom());
        if (!take("**")) return std::move(out);
        EMMY_TRY(by, atom());
        return raised(out, by);
    }
    result<extent> raised(const extent& base, const extent& by) const {
        if (!by.is_number() || by.number() < 0 || by.number() > 8) return wrong("expected a whole power from 0 to 8");
        extent out(1);
        for (std::int64_t i = 0; i < by.number(); ++i) out = out * base;
        return out;
    }
    result<extent> atom() {
        skip();
        if (take("(")) {
            EMMY_TRY(out, sum());
            if (!take(")")) return wrong("expected )");
            return std::move(out);
        }
        if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            std::int64_t number = 0;
            const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
            if (error != std::errc()) return wrong("expected an integer of 64 bits");
            at_ = static_cast<std::size_t>(end - text_.data());
            return extent(number);
        }
        const std::size_t first = at_;
        while (at_ < text_.size() && letter(text_[at_])) ++at_;
        std::string_view name = text_.substr(first, at_ - first);
        if (name.empty()) return wrong("expected a number, a symbol or a function");
        if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
        if (!take("(")) return symbol(name);
        if (name == "Symbol") return quoted_symbol();
        std::vector<extent> arguments;
        while (!take(")")) {
            if (!arguments.empty() && !take(",")) return wrong("expected , or )");
            EMMY_TRY(next, sum());
            arguments.push_back(next);
            if (arguments.size() > 64) return wrong("expected up to 64 arguments");
        }
        return function(name, arguments);
    }
    result<extent> symbol(std::string_view name) const {
        for (const symbol_meaning& s : symbols_)
            if (s.name == name) return s.value;
        return refuse(fault_kind::input, "found the symbol " + std::string(name) + " in \"" + std::string(text_.substr(0, 200)) + "\", expected one that the program's inputs bind");
    }
    result<extent> quoted_symbol() {
        skip();
        const char quote = at_ < text_.size() ? text_[at_] : ' ';
        if (quote != '\'' && quote != '"') return wrong("expected a quoted name");
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) return wrong("expected a quoted name");
        const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
        const std::size_t close = text_.find(')', end);  // what is assumed of it (positive=True) says nothing new
        if (close == std::string_view::npos) return wrong("expected )");
        at_ = close + 1;
        return symbol(name);
    }
    result<extent> function(std::string_view name, std::span<const extent> a) const {
        if (name == "Integer" && a.size() == 1) return a[0];
        if (name == "Add" || name == "Mul") {
            extent out(name == "Add" ? 0 : 1);
            for (const extent& e : a) out = name == "Add" ? out + e : out * e;
            return out;
        }
        if (name == "Pow" && a.size() == 2) return raised(a[0], a[1]);
        if ((name == "FloorDiv" || name == "CleanDiv" || name == "FloorDiv_") && a.size() == 2) return a[0] / a[1];
        if ((name == "Mod" || name == "PythonMod") && a.size() == 2) return a[0] - a[0] / a[1] * a[1];
        if ((name == "Max" || name == "Min") && !a.empty()) {
            extent out = a[0];
            for (const extent& e : a.subspan(1)) {
                if (out.bad() || e.bad()) return wrong("expected sizes within 62 bits");
                const std::int64_t least = (out - e).least(), most = (out - e).largest();
                if (least >= 0) out = name == "Max" ? out : e;
                else if (most <= 0) out = name == "Max" ? e : out;
                else return wrong("expected a " + std::string(name) + " with one side that is never the other's");
            }
            return out;
        }
        return wrong("expected Add, Mul, Pow, FloorDiv, Mod, Min, Max, Integer or Symbol, found " + std::string(name) + " of " + std::to_string(a.size()));
    }

    std::string_view text_;
    std::span<const symbol_meaning> symbols_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace detail

EMMY_DECL result<extent> parse_size(std::string_view text, std::span<const symbol_meaning> symbols) { return detail::size_parser(text, symbols).all(); }

EMMY_DECL std::vector<std::string_view> symbols_in(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; };
    std::vector<std::string_view> out;
    const auto add = [&](std::string_view name) {
        if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    };
    for (std::size_t i = 0; i < text.size();) {
        if (!letter(text[i])) {
            ++i;
            continue;
        }
        const std::size_t first = i;
        while (i < text.size() && letter(text[i])) ++i;
        const std::string_view name = text.substr(first, i - first);
        if (i < text.size() && text[i] == '(') {
            if (!name.ends_with("Symbol")) continue;
            const std::size_t open = i + 1, end = open < text.size() ? text.find(text[open], open + 1) : std::string_view::npos;
            if (end == std::string_view::npos) return out;
            add(text.substr(open + 1, end - open - 1));
            const std::size_t close = text.find(')', end);
            i = close == std::string_view::npos ? text.size() : close;
        } else if (!(name[0] >= '0' && name[0] <= '9')) {
            add(name);
        }
    }
    return out;
}

}  // namespace emmy::program::pt2
