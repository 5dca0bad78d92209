#pragma once
#include <common/options.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emmy::tools {

/// One cell: what a person reads and what a machine reads.
class cell {
public:
    cell() = default;  ///< nothing: "-" for a person, null in JSON, empty in CSV
    static cell text(std::string_view t);
    static cell integer(std::int64_t n);
    static cell real(double x, int decimals = 2, std::string_view suffix = {});  ///< decimals and suffix for a person; machines get shortest round-trip digits
    static cell boolean(bool b);
    static cell json(std::string spelled, std::string for_people = {});  ///< compact JSON of a nested value; CSV gets it as text

    const std::string& shown() const { return shown_; }
    const std::string& spelled() const { return spelled_; }  ///< JSON
    bool empty() const { return spelled_.empty(); }
    bool number() const { return number_; }

private:
    std::string shown_, spelled_;
    bool number_ = false;
};

/// Rows under named columns, printed for a person (table, md) or a machine (json, csv). Byte-stable: no dates, no widths in machine formats.
class table {
public:
    struct column {
        std::string name;
        bool people = true, machines = true;  ///< where it shows
        std::string heading = {};             ///< for people; empty = name
    };
    /// `schema` names the machine format and its version ("emmy.db.rows/1"); empty: JSON is a bare array (formats fixed elsewhere).
    table(std::string schema, std::vector<column> columns) : schema_(std::move(schema)), columns_(std::move(columns)) {}

    void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }  ///< one cell a column
    void fact(std::string name, cell value) { facts_.emplace_back(std::move(name), std::move(value)); }  ///< top-level JSON fields beside "rows"; not shown to people
    void footer(std::string line) { footers_.push_back(std::move(line)); }  ///< people only
    std::size_t size() const { return rows_.size(); }

    std::string render(tools::format how) const;

private:
    std::string schema_;
    std::vector<column> columns_;
    std::vector<std::vector<cell>> rows_;
    std::vector<std::pair<std::string, cell>> facts_;
    std::vector<std::string> footers_;
};

}  // namespace emmy::tools
