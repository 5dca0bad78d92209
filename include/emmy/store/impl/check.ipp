#pragma once
#include <emmy/store/check.hpp>
#include <emmy/store/tables.hpp>

#include <emmy/core/card.hpp>
#include <emmy/store/impl/tables.ipp>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace emmy::store {
namespace detail {

class checker {
public:
    explicit checker(const read_transaction& txn) : txn_(txn) {}

    result<std::vector<check_line>> run() {
        EMMY_CHECK_OK(texts());
        EMMY_CHECK_OK(rows());
        EMMY_CHECK_OK(contexts());
        EMMY_CHECK_OK(sources());
        EMMY_CHECK_OK(kernels());
        EMMY_CHECK_OK(measurements());
        EMMY_CHECK_OK(failures());
        EMMY_CHECK_OK(routes());
        EMMY_CHECK_OK(taken());
        EMMY_CHECK_OK(identities());
        return std::vector<check_line>{digests_, references_, cards_, vocabularies_, times_};
    }

private:
    struct hash {
        std::size_t operator()(const digest128& d) const { return static_cast<std::size_t>(d.low); }
    };
    static constexpr std::uint8_t absent = 2;  // else a row_kind

    static void fail(check_line& line, std::string what) {
        ++line.failed;
        if (line.examples.size() < 5) line.examples.push_back(std::move(what));
    }
    template <class Visit>
    result<void> scan(table t, Visit&& visit) {
        EMMY_TRY(at, txn_.open_cursor(t));
        EMMY_TRY(any, at.first());
        for (bool more = any; more;) {
            visit(at.key(), at.value());
            EMMY_TRY(next, at.next());
            more = next;
        }
        return {};
    }
    static bool has(const std::vector<std::uint8_t>& known, std::uint32_t id) { return id < known.size() && known[id]; }
    static void add(std::vector<std::uint8_t>& known, std::uint32_t id) {
        if (id >= (1u << 28)) return;
        if (known.size() <= id) known.resize(std::max<std::size_t>(id + 1, known.size() * 2), 0);
        known[id] = 1;
    }

    result<void> texts() {
        std::vector<std::pair<std::string, std::string>> backward;
        EMMY_CHECK_OK(scan(table::str, [&](std::string_view key, std::string_view value) {
            ++references_.tested;
            const auto tag = static_cast<layout::str_tag>(key[0]);
            if (tag == layout::str_tag::knob_name && key.size() == 3) names_[number(key)] = value;
            else if (tag == layout::str_tag::knob_value && key.size() == 3) values_[number(key)] = value;
            else if (tag == layout::str_tag::bind && key.size() == 9) {
                ++digests_.tested;
                binds_.insert(layout::read_u64(key.data() + 1));
                if (xxh3_64(value) != layout::read_u64(key.data() + 1)) fail(digests_, "str: sizes " + std::string(value) + " under another key");
            } else if (tag == layout::str_tag::find_source && key.size() == 17 && value.size() == 4) labels_[std::string(key.substr(1))] = layout::value_reader(value).get<std::uint32_t>();
            else if ((tag == layout::str_tag::find_name || tag == layout::str_tag::find_value) && key.size() == 17 && value.size() == 2) backward.emplace_back(key, value);
            else fail(references_, "str: an unreadable entry");
        }));
        for (const auto& [key, value] : backward) {
            const auto& table = static_cast<layout::str_tag>(key[0]) == layout::str_tag::find_name ? names_ : values_;
            const auto found = table.find(layout::value_reader(value).get<std::uint16_t>());
            if (found == table.end() || layout::key().digest(xxh3_128(found->second)).view() != std::string_view(key).substr(1)) fail(references_, "str: a text that its number does not name");
        }
        return {};
    }
    static std::uint16_t number(std::string_view key) { return static_cast<std::uint16_t>(static_cast<unsigned char>(key[1]) << 8 | static_cast<unsigned char>(key[2])); }

    result<void> rows() {
        std::unordered_map<std::string, std::uint32_t> by;
        EMMY_CHECK_OK(scan(table::row_by, [&](std::string_view key, std::string_view value) {
            if (key.size() == 16 && value.size() == 4) by[std::string(key)] = layout::value_reader(value).get<std::uint32_t>();
            else fail(digests_, "row_by: an unreadable entry");
        }));
        std::size_t matched = 0;
        EMMY_CHECK_OK(scan(table::row, [&](std::string_view key, std::string_view value) {
            ++digests_.tested;
            const auto row = key.size() == 4 ? decode_row(value) : std::nullopt;
            if (!row) return fail(digests_, "row: an unreadable entry");
            const std::uint32_t id = layout::read_u32(key.data());
            if (id >= (1u << 28)) return fail(digests_, "row " + std::to_string(id) + ": a number out of range");
            if (kinds_.size() <= id) kinds_.resize(std::max<std::size_t>(id + 1, kinds_.size() * 2), absent);
            kinds_[id] = static_cast<std::uint8_t>(row->kind);
            knob_list knobs;
            for (const auto& [name, v] : row->knobs) {
                ++references_.tested;
                const auto n = names_.find(name), t = values_.find(v);
                if (n == names_.end() || t == values_.end()) return fail(references_, "row " + std::to_string(id) + ": a knob without its text");
                knobs.emplace_back(n->second, t->second);
            }
            const std::string text = row_text(knobs);
            const auto found = by.find(std::string(layout::key().digest(xxh3_128(text)).view()));
            if (found == by.end() || found->second != id) fail(digests_, "row " + std::to_string(id) + " " + text + ": its digest names another row");
            else ++matched;
            ++vocabularies_.tested;
            if (row->kind == row_kind::placement && knobs.empty()) fail(vocabularies_, "row " + std::to_string(id) + ": an empty arm");
            for (const auto& [name, v] : knobs)
                if (is_placement(name, v) != (row->kind == row_kind::placement)) {
                    fail(vocabularies_, "row " + std::to_string(id) + ": " + name + "=" + v + " in " + (row->kind == row_kind::placement ? "an arm" : "a schedule row"));
                    break;
                }
        }));
        if (by.size() != matched) fail(digests_, "row_by: " + std::to_string(by.size()) + " digests for " + std::to_string(matched) + " rows");
        return {};
    }

    result<void> contexts() {
        std::unordered_map<std::string, std::uint32_t> by;
        EMMY_CHECK_OK(scan(table::ctx_by, [&](std::string_view key, std::string_view value) {
            by[std::string(key)] = value.size() == 4 ? layout::value_reader(value).get<std::uint32_t>() : 0;
        }));
        EMMY_CHECK_OK(scan(table::ctx, [&](std::string_view key, std::string_view value) {
            ++cards_.tested, ++digests_.tested;
            const auto c = key.size() == 4 ? decode_context(value) : std::nullopt;
            if (!c) return fail(digests_, "ctx: an unreadable entry");
            const std::uint32_t id = layout::read_u32(key.data());
            add(contexts_, id);
            const auto found = by.find(std::string(layout::key().digest(xxh3_128(value)).view()));
            if (found == by.end() || found->second != id) fail(digests_, "ctx " + std::to_string(id) + ": its digest names another context");
            if (!is_known_card(c->card) || canonical_card_name(c->card) != c->card) fail(cards_, "ctx " + std::to_string(id) + ": \"" + c->card + "\" is no card of the registry");
        }));
        return {};
    }

    result<void> sources() {
        std::size_t matched = 0;
        EMMY_CHECK_OK(scan(table::source, [&](std::string_view key, std::string_view value) {
            ++references_.tested;
            const auto s = key.size() == 4 ? decode_source(value) : std::nullopt;
            if (!s) return fail(references_, "source: an unreadable entry");
            const std::uint32_t id = layout::read_u32(key.data());
            add(sources_, id);
            const auto found = labels_.find(std::string(layout::key().digest(xxh3_128(s->label)).view()));
            if (found == labels_.end() || found->second != id) fail(references_, "source " + s->label + ": its label names another source");
            else ++matched;
        }));
        if (matched != labels_.size()) fail(references_, "source: " + std::to_string(labels_.size()) + " labels for " + std::to_string(matched) + " sources");
        return {};
    }

    result<void> kernels() {
        return scan(table::kernel, [&](std::string_view key, std::string_view value) {
            ++references_.tested;
            if (key.size() != 16 || value.size() < 26) return fail(references_, "kernel: an unreadable entry");
            kernels_.insert(layout::read_digest(key.data()));
        });
    }
    bool known(const digest128& k) const { return kernels_.contains(k); }

    /// Order-free sum over the entries of perf and of perf_by: equal when each measurement has its entry and the other way round.
    /// One entry's 36 bytes (ctx … src), class and sort_us.
    static std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
        const auto fold = [](std::uint64_t x, std::uint64_t y) {
            const auto p = static_cast<unsigned __int128>(x) * y;
            return static_cast<std::uint64_t>(p) ^ static_cast<std::uint64_t>(p >> 64);
        };
        return fold(a ^ 0x9e3779b97f4a7c15u, b ^ 0xd6e8feb86659fd93u) ^ fold(c ^ 0xa0761d6478bd642fu, d ^ 0xe7037ed1a0b428dbu);
    }
    static std::uint64_t load(const char* p) {
        std::uint64_t v;
        std::memcpy(&v, p, 8);
        return v;
    }

    result<void> measurements() {
        char last[28] = {};
        bool any = false, group_ok = true;
        std::uint64_t group = 0, sum = 0, entries = 0;
        EMMY_CHECK_OK(scan(table::perf, [&](std::string_view key, std::string_view value) {
            ++entries;
            if (key.size() != layout::perf_key::size || value.size() != layout::perf_value_size) return fail(references_, "perf: an unreadable entry");
            if (!any || std::memcmp(last, key.data(), 28) != 0) {  // context, kernel and sizes stand together
                std::memcpy(last, key.data(), 28);
                any = true;
                group = mix(load(key.data()), load(key.data() + 8), load(key.data() + 16), layout::read_u32(key.data() + 24));
                const layout::perf_key k = layout::perf_key::decode(key.data());
                group_ok = has(contexts_, k.ctx) && known(k.kernel) && (k.bind == 0 || binds_.contains(k.bind));
            }
            const auto how = static_cast<unsigned char>(key[28]);
            const std::uint32_t sort = layout::read_u32(key.data() + 29), row = layout::read_u32(key.data() + 33), src = layout::read_u32(key.data() + 37);
            sum += mix(group, static_cast<std::uint64_t>(how) << 32 | sort, row, src);
            const bool row_ok = row < kinds_.size() && kinds_[row] == static_cast<std::uint8_t>(row_kind::schedule);
            if (!group_ok || !row_ok || !has(sources_, src)) fail(references_, describe(key, !group_ok ? "its context, kernel or sizes" : !row_ok ? "its schedule row" : "its source"));
            double median;
            std::memcpy(&median, value.data(), 8);
            if (how > 2 || !(median > 0) || !std::isfinite(median) || layout::sort_us(median) != sort) fail(times_, describe(key, "a time in its place"));
        }));
        times_.tested += entries, references_.tested += entries;
        std::memset(last, 0, sizeof last);
        any = false;
        std::uint64_t by_entries = 0, by_sum = 0;
        EMMY_CHECK_OK(scan(table::perf_by, [&](std::string_view key, std::string_view value) {
            ++by_entries;
            if (key.size() != layout::perf_key::by_size || value.size() != layout::by_value_size) return fail(references_, "perf_by: an unreadable entry");
            if (!any || std::memcmp(last, key.data(), 28) != 0) {
                std::memcpy(last, key.data(), 28);
                any = true;
                group = mix(load(key.data()), load(key.data() + 8), load(key.data() + 16), layout::read_u32(key.data() + 24));
            }
            std::uint32_t sort;
            std::memcpy(&sort, value.data() + 1, 4);
            by_sum += mix(group, static_cast<std::uint64_t>(static_cast<unsigned char>(value[0])) << 32 | sort, layout::read_u32(key.data() + 28), layout::read_u32(key.data() + 32));
        }));
        references_.tested += by_entries;
        if (sum == by_sum && entries == by_entries) return {};
        return find_unmatched();
    }
    static std::string describe(std::string_view key, const char* missing) {
        const layout::perf_key k = layout::perf_key::decode(key.data());
        return "perf: a measurement of kernel " + to_hex(k.kernel) + " (context " + std::to_string(k.ctx) + ", row " + std::to_string(k.row) + ", source " + std::to_string(k.src) + ") without " + missing;
    }
    /// The slow way, once something is wrong: each measurement's entry, then each entry's measurement.
    result<void> find_unmatched() {
        const std::uint64_t before = references_.failed;
        EMMY_CHECK_OK(scan(table::perf, [&](std::string_view key, std::string_view) {
            if (key.size() != layout::perf_key::size) return;
            const layout::perf_key k = layout::perf_key::decode(key.data());
            const auto by = txn_.get(table::perf_by, k.by());
            if (!by || !*by || **by != layout::value_writer().put(static_cast<std::uint8_t>(k.how)).put(k.sort).out) fail(references_, describe(key, "its entry in perf_by"));
        }));
        EMMY_CHECK_OK(scan(table::perf_by, [&](std::string_view key, std::string_view) {
            if (key.size() != layout::perf_key::by_size) return;
            const auto found = find_measurement(txn_, layout::read_u32(key.data()), layout::read_digest(key.data() + 4), layout::read_u64(key.data() + 20), layout::read_u32(key.data() + 28), layout::read_u32(key.data() + 32));
            if (!found || !*found) fail(references_, "perf_by: an entry whose measurement is missing");
        }));
        if (references_.failed == before) fail(references_, "perf and perf_by differ");
        return {};
    }

    result<void> failures() {
        return scan(table::err, [&](std::string_view key, std::string_view) {
            ++references_.tested;
            const auto by = txn_.get(table::perf_by, key);
            if (!by || !*by || (*by)->size() != layout::by_value_size || (**by)[0] != static_cast<char>(outcome::failed)) fail(references_, "err: a text without its failed measurement");
        });
    }
    bool arm(std::uint32_t row) const { return row < kinds_.size() && kinds_[row] == static_cast<std::uint8_t>(row_kind::placement); }

    result<void> routes() {
        std::unordered_set<std::string> expected;
        EMMY_CHECK_OK(scan(table::route, [&](std::string_view key, std::string_view value) {
            ++references_.tested;
            if (key.size() != 22 || value.size() != 16) return fail(references_, "route: an unreadable entry");
            const digest128 parent = layout::read_digest(key.data());
            if (!known(parent) || !known(layout::read_digest(value.data())) || !arm(layout::read_u32(key.data() + 16))) fail(references_, "route: of kernel " + to_hex(parent) + ", without its parent, arm or piece");
            expected.insert(std::string(value) + std::string(key.substr(0, 20)));
        }));
        std::size_t seen = 0;
        EMMY_CHECK_OK(scan(table::route_up, [&](std::string_view key, std::string_view) {
            ++references_.tested, ++seen;
            if (!expected.contains(std::string(key))) fail(references_, "route_up: a piece that no route mints");
        }));
        if (seen != expected.size()) fail(references_, "route_up: " + std::to_string(seen) + " entries, " + std::to_string(expected.size()) + " expected");
        return {};
    }
    result<void> taken() {
        return scan(table::taken, [&](std::string_view key, std::string_view value) {
            ++references_.tested;
            if (key.size() != 32 || value.size() != 4) return fail(references_, "taken: an unreadable entry");
            const std::uint64_t bind = layout::read_u64(key.data() + 20);
            if (!has(contexts_, layout::read_u32(key.data())) || !known(layout::read_digest(key.data() + 4)) || (bind != 0 && !binds_.contains(bind)) || !arm(layout::read_u32(key.data() + 28)) ||
                !has(sources_, layout::value_reader(value).get<std::uint32_t>()))
                fail(references_, "taken: without its context, kernel, sizes, arm or source");
        });
    }
    result<void> identities() {
        return scan(table::idmap, [&](std::string_view key, std::string_view value) {
            ++references_.tested;
            if (key.size() != 16 || value.size() != 16 || !known(layout::read_digest(value.data()))) fail(references_, "idmap: a body without its kernel");
        });
    }

    const read_transaction& txn_;
    check_line digests_{"digests", 0, 0, {}}, references_{"references", 0, 0, {}}, cards_{"cards", 0, 0, {}}, vocabularies_{"vocabularies", 0, 0, {}}, times_{"times", 0, 0, {}};
    std::unordered_map<std::uint16_t, std::string> names_, values_;
    std::unordered_set<std::uint64_t> binds_;
    std::unordered_map<std::string, std::uint32_t> labels_;
    std::vector<std::uint8_t> contexts_, sources_, kinds_;
    std::unordered_set<digest128, hash> kernels_;
};

}  // namespace detail

EMMY_DECL result<std::vector<check_line>> check(const read_transaction& txn) { return detail::checker(txn).run(); }

EMMY_DECL result<std::vector<table_size>> sizes(const read_transaction& txn) {
    std::vector<table_size> out;
    for (std::size_t i = 0; i < layout::table_count; ++i) {
        EMMY_TRY(entries, txn.count(static_cast<layout::table>(i)));
        out.push_back({std::string(layout::table_names[i]), entries});
    }
    return out;
}

}  // namespace emmy::store
