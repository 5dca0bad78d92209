#include <common/table.hpp>

#include <emmy/core/json.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace emmy::tools {
namespace {

std::string quoted(std::string_view text) {
    std::string out;
    json::append_quoted(out, text);
    return out;
}

/// Columns a person sees, counted in code points.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// A hostile name cannot move the cursor or break a line.
std::string printable(std::string_view text) {
    std::string out;
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    return out;
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
    std::string out = "\"";
    for (char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out += '"';
}

}  // namespace

cell cell::text(std::string_view t) {
    cell c;
    c.shown_ = t;
    c.spelled_ = quoted(t);
    return c;
}
cell cell::integer(std::int64_t n) {
    cell c;
    c.shown_ = c.spelled_ = std::to_string(n);
    c.number_ = true;
    return c;
}
cell cell::real(double x, int decimals, std::string_view suffix) {
    cell c;
    c.shown_ = fmt::format("{:.{}f}{}", x, decimals, suffix);
    c.spelled_ = json::spell_real(x);
    c.number_ = true;
    return c;
}
cell cell::boolean(bool b) {
    cell c;
    c.shown_ = b ? "yes" : "no";
    c.spelled_ = b ? "true" : "false";
    return c;
}
cell cell::json(std::string spelled, std::string for_people) {
    cell c;
    c.shown_ = for_people.empty() ? spelled : std::move(for_people);
    c.spelled_ = std::move(spelled);
    return c;
}

std::string table::render(tools::format how) const {
    std::string out;
    if (how == format::json) {
        std::string indent = " ";
        if (!schema_.empty()) {
            out += "{\"schema\": " + quoted(schema_);
            for (const auto& [name, value] : facts_) out += ",\n " + quoted(name) + ": " + (value.empty() ? "null" : value.spelled());
            out += ",\n \"rows\": ";
            indent = "  ";
        }
        out += '[';
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            out += r == 0 ? "\n" : ",\n";
            out += indent + "{";
            bool first = true;
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                if (!columns_[c].machines) continue;
                if (!first) out += ", ";
                first = false;
                out += quoted(columns_[c].name) + ": " + (rows_[r][c].empty() ? "null" : rows_[r][c].spelled());
            }
            out += '}';
        }
        if (!rows_.empty()) out += "\n" + indent.substr(1);
        out += ']';
        if (!schema_.empty()) out += '}';
        return out += '\n';
    }
    if (how == format::csv) {
        auto line = [&](auto&& field) {
            bool first = true;
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                if (!columns_[c].machines) continue;
                if (!first) out += ',';
                first = false;
                out += csv_field(field(c));
            }
            out += '\n';
        };
        line([&](std::size_t c) { return columns_[c].name; });
        for (const auto& row : rows_)
            line([&](std::size_t c) -> std::string {
                const std::string& s = row[c].spelled();
                return !s.empty() && s.front() == '"' ? row[c].shown() : s;  // texts plain, everything else as in JSON
            });
        return out;
    }

    std::vector<std::size_t> shown;
    for (std::size_t c = 0; c < columns_.size(); ++c)
        if (columns_[c].people) shown.push_back(c);
    auto heading = [&](std::size_t c) { return columns_[c].heading.empty() ? columns_[c].name : columns_[c].heading; };
    auto text = [&](const cell& c) { return c.empty() ? std::string("-") : printable(c.shown()); };
    if (how == format::md) {
        auto escaped = [](const std::string& t) {
            std::string e;
            for (char c : t) (c == '|' ? e += '\\' : e) += c;
            return e;
        };
        for (std::size_t c : shown) out += "| " + heading(c) + " ";
        out += "|\n";
        for (std::size_t c : shown) {
            const bool right = std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row[c].number(); });
            out += right ? "| --: " : "| --- ";
        }
        out += "|\n";
        for (const auto& row : rows_) {
            for (std::size_t c : shown) out += "| " + escaped(text(row[c])) + " ";
            out += "|\n";
        }
    } else if (!rows_.empty()) {
        std::vector<std::size_t> widths;
        std::vector<bool> right;
        for (std::size_t c : shown) {
            std::size_t w = width_of(heading(c));
            bool number = false;
            for (const auto& row : rows_) {
                w = std::max(w, width_of(text(row[c])));
                number = number || row[c].number();
            }
            widths.push_back(w);
            right.push_back(number);
        }
        auto line = [&](auto&& field) {
            std::string made;
            for (std::size_t i = 0; i < shown.size(); ++i) {
                if (i > 0) made += "  ";
                const std::string t = field(shown[i]);
                const std::string fill(widths[i] - width_of(t), ' ');
                made += right[i] ? fill + t : t + fill;
            }
            made.erase(made.find_last_not_of(' ') + 1);
            out += made + '\n';
        };
        line(heading);
        for (const auto& row : rows_) line([&](std::size_t c) { return text(row[c]); });
    }
    for (const auto& f : footers_) out += f + '\n';
    return out;
}

}  // namespace emmy::tools
