#pragma once
#include <common/options.hpp>
#include <common/table.hpp>

#include <emmy/core/json.hpp>
#include <emmy/evidence/import.hpp>
#include <emmy/evidence/regime.hpp>
#include <emmy/evidence/report.hpp>
#include <emmy/store/check.hpp>
#include <emmy/store/tables.hpp>

#include <map>

/// `emmy-db check|stat|rows`: reads a store, writes nothing.
namespace emmy::db {

/// Errors (user): no store named anywhere. (store): none there, damaged, another version.
inline result<store::environment> open(const std::string& named) {
    const std::string path = named.empty() ? evidence::default_store_path() : named;
    if (path.empty()) return refuse(fault_kind::user, "found none, expected the path of a store", "--db");
    return evidence::open_store(path, store::access::read);
}

struct checked {
    tools::table out;
    std::uint64_t failed = 0;
};
inline result<checked> check(const store::environment& db) {
    using tools::cell;
    EMMY_TRY(txn, db.read());
    EMMY_TRY(lines, store::check(txn));
    checked out{{"emmy.db.check/1", {{"check"}, {"tested"}, {"failed"}, {"examples"}}}, 0};
    for (const store::check_line& l : lines) {
        std::string people, machine = "[";
        for (const std::string& e : l.examples) {
            people += (people.empty() ? "" : "; ") + e;
            if (machine.size() > 1) machine += ',';
            json::append_quoted(machine, e);
        }
        out.out.add({cell::text(l.name), cell::integer(static_cast<std::int64_t>(l.tested)), cell::integer(static_cast<std::int64_t>(l.failed)), cell::json(machine + "]", people.empty() ? "-" : people)});
        out.failed += l.failed;
    }
    out.out.footer(out.failed == 0 ? "clean" : std::to_string(out.failed) + " findings");
    return out;
}

/// Entries per table, then measurements by context and by source.
inline result<tools::table> stat(const store::environment& db) {
    using tools::cell;
    EMMY_TRY(txn, db.read());
    tools::table out("emmy.db.stat/1", {{"what"}, {"name"}, {"entries"}});
    const auto add = [&](std::string_view what, std::string_view name, std::uint64_t n) { out.add({cell::text(what), cell::text(name), cell::integer(static_cast<std::int64_t>(n))}); };
    EMMY_TRY(tables, store::sizes(txn));
    for (const store::table_size& t : tables) add("table", t.name, t.entries);
    std::map<std::uint32_t, std::uint64_t> by_context, by_source, failed;
    EMMY_CHECK_OK(store::for_each_measurement(txn, {}, [&](const store::measurement& m) {
        ++by_context[m.key.ctx], ++by_source[m.key.src];
        if (!m.time.ok()) ++failed[m.key.ctx];
        return true;
    }));
    EMMY_TRY(contexts, store::all_contexts(txn));
    for (const auto& [id, c] : contexts) {
        add("lane", c.card + ", " + evidence::lane_text(c), by_context[id]);
        if (failed[id] > 0) add("failed", c.card + ", " + evidence::lane_text(c), failed[id]);
    }
    EMMY_TRY(sources, store::all_sources(txn));
    for (const auto& [id, s] : sources) add("source", s.label + " (" + s.producer + ")", by_source[id]);
    EMMY_TRY(epoch, db.epoch());
    out.fact("kind", cell::text(name(db.kind())));
    out.fact("commits", cell::integer(static_cast<std::int64_t>(epoch)));
    out.footer(std::string(name(db.kind())) + " store, " + std::to_string(epoch) + " commits");
    return out;
}

struct row_filter {
    std::string card, kernel, source;  ///< parts of the names
    std::int64_t limit = 0;            ///< 0 = all
};
/// Measurements in store order: by lane, kernel, sizes; the fastest first.
inline result<tools::table> rows(const store::environment& db, const row_filter& filter) {
    using tools::cell;
    EMMY_TRY(txn, db.read());
    EMMY_TRY(contexts, store::all_contexts(txn));
    EMMY_TRY(sources, store::all_sources(txn));
    std::map<std::uint32_t, store::context> context_of(contexts.begin(), contexts.end());
    std::map<std::uint32_t, store::source_record> source_of(sources.begin(), sources.end());
    std::map<digest128, std::string> names;
    tools::table out("emmy.db.rows/1", {{"card"}, {"lane"}, {"kernel"}, {"identity", false}, {"bindings"}, {"us"}, {"state"}, {"samples"}, {"knobs"}, {"source"}, {"producer"}, {"error", false}});
    result<void> problem;
    EMMY_CHECK_OK(store::for_each_measurement(txn, {}, [&](const store::measurement& m) {
        const auto step = [&]() -> result<bool> {
            const store::context& c = context_of[m.key.ctx];
            const store::source_record& s = source_of[m.key.src];
            if (c.card.find(filter.card) == std::string::npos || s.label.find(filter.source) == std::string::npos) return true;
            auto& kernel = names[m.key.kernel];
            if (kernel.empty()) {
                EMMY_TRY(record, store::read_kernel(txn, m.key.kernel));
                kernel = record.name;
            }
            if (kernel.find(filter.kernel) == std::string::npos) return true;
            EMMY_TRY(knobs, store::read_row(txn, m.key.row));
            EMMY_TRY(sizes, store::read_bindings(txn, m.key.bind));
            EMMY_TRY(error, store::read_failure(txn, m.key));
            const char* state = m.time.how == store::outcome::captured ? "ok" : m.time.how == store::outcome::wall ? "ok, wall time" : "failed";
            const std::string bindings = store::bind_text(sizes);
            out.add({cell::text(c.card), cell::text(evidence::lane_text(c)), cell::text(kernel), cell::text(to_hex(m.key.kernel)), cell::json(bindings, sizes.empty() ? "-" : bindings), cell::real(m.time.median, 3),
                     cell::text(state), cell::integer(m.time.samples), cell::json(store::row_text(knobs), evidence::knobs_text(knobs)), cell::text(s.label), cell::text(s.producer), cell::text(error)});
            return filter.limit == 0 || out.size() < static_cast<std::size_t>(filter.limit);
        };
        auto go_on = step();
        if (!go_on) problem = refuse(std::move(go_on).error());
        return go_on && *go_on;
    }));
    if (!problem) return refuse(std::move(problem).error());
    out.footer(std::to_string(out.size()) + " rows");
    return out;
}

}  // namespace emmy::db
