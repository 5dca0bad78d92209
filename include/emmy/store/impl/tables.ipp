#pragma once
#include <emmy/store/tables.hpp>
#include <emmy/store/write_rules.hpp>

#include <emmy/core/json.hpp>
#include <emmy/knob/families.hpp>
#include <emmy/knob/row_digest.hpp>
#include <emmy/knob/row_text.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include <zstd.h>

namespace emmy::store {
namespace detail {
using layout::table;

EMMY_DECL fault damaged(const read_transaction& txn, table t, std::string_view what) {
    return fault(fault_kind::store, "the store is damaged: found " + std::string(what), std::string(layout::name(t)), txn.path());
}

inline layout::key text_key(layout::str_tag tag, std::string_view text) { return layout::key().u8(static_cast<std::uint8_t>(tag)).digest(xxh3_128(text)); }
inline layout::key number_key(layout::str_tag tag, std::uint16_t id) { return layout::key().u8(static_cast<std::uint8_t>(tag)).u16(id); }
inline layout::key bind_text_key(std::uint64_t bind) { return layout::key().u8(static_cast<std::uint8_t>(layout::str_tag::bind)).u64(bind); }

/// A list of pairs as a row that the text forms of knob/ take.
struct sorted_row {
    std::vector<const knob_text*> knobs;
    explicit sorted_row(const knob_list& row) {
        knobs.reserve(row.size());
        for (const knob_text& k : row) knobs.push_back(&k);
        std::sort(knobs.begin(), knobs.end(), [](auto* a, auto* b) { return a->first < b->first; });
    }
    template <class Function>
    void each(Function&& f) const {
        for (const knob_text* k : knobs) f(std::string_view(k->first), std::string_view(k->second));
    }
};
/// Knob texts stand in row texts unescaped.
constexpr bool plain_text(std::string_view text) {
    for (char c : text)
        if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '\'') return false;
    return true;
}

/// One past the last id of a table keyed by u32; ids start at 1.
inline result<std::uint32_t> next_id(const read_transaction& txn, table t) {
    EMMY_TRY(at, txn.open_cursor(t));
    EMMY_TRY(any, at.last());
    if (!any) return 1u;
    if (at.key().size() != 4) return refuse(damaged(txn, t, "a key of the wrong size"));
    const std::uint32_t last = layout::read_u32(at.key().data());
    if (last == 0xffffffffu) return refuse(fault_kind::store, "no number is left", std::string(layout::name(t)), txn.path());
    return last + 1;
}

inline result<std::optional<std::uint32_t>> get_id(const read_transaction& txn, table t, std::string_view key) {
    EMMY_TRY(found, txn.get(t, key));
    if (!found) return std::optional<std::uint32_t>();
    if (found->size() != 4) return refuse(damaged(txn, t, "a number of the wrong size"));
    return std::optional<std::uint32_t>(layout::value_reader(*found).get<std::uint32_t>());
}
inline std::string id_value(std::uint32_t id) { return layout::value_writer().put(id).out; }

inline std::string encode(const context& c) {
    return layout::value_writer().put(c.sm).put(c.opt).put(static_cast<std::uint8_t>(c.cold)).text(c.backend).text(c.card).text(c.flags).out;
}
inline std::optional<context> decode_context(std::string_view bytes) {
    layout::value_reader in(bytes);
    context out;
    out.sm = in.get<std::uint16_t>();
    out.opt = in.get<std::uint8_t>();
    out.cold = in.get<std::uint8_t>() != 0;
    out.backend = in.text(), out.card = in.text(), out.flags = in.text();
    if (!in.ok() || !in.rest().empty()) return {};
    return out;
}

inline std::string encode(const source_record& s) {
    return layout::value_writer().text(s.label).text(s.producer).text(s.sha256).put(s.unix_time).put(s.kernels).put(s.routes).put(s.taken).put(s.offered).out;
}
inline std::optional<source_record> decode_source(std::string_view bytes) {
    layout::value_reader in(bytes);
    source_record out;
    out.label = in.text(), out.producer = in.text(), out.sha256 = in.text();
    out.unix_time = in.get<std::uint32_t>();
    out.kernels = in.get<std::uint32_t>(), out.routes = in.get<std::uint32_t>(), out.taken = in.get<std::uint32_t>(), out.offered = in.get<std::uint32_t>();
    if (!in.ok() || !in.rest().empty()) return {};
    return out;
}

struct stored_row {
    row_kind kind = row_kind::schedule;
    std::vector<std::pair<std::uint16_t, std::uint16_t>> knobs;  // name, value numbers
};
inline std::optional<stored_row> decode_row(std::string_view bytes) {
    layout::value_reader in(bytes);
    stored_row out;
    const auto kind = in.get<std::uint8_t>();
    const auto count = in.get<std::uint16_t>();
    if (kind > 1 || in.rest().size() != std::size_t{count} * 4) return {};
    out.kind = static_cast<row_kind>(kind);
    for (std::uint16_t i = 0; i < count; ++i) {
        const auto name = in.get<std::uint16_t>();
        out.knobs.emplace_back(name, in.get<std::uint16_t>());
    }
    return out;
}

/// Number of a name or value in `str`, given one when new.
inline result<std::uint16_t> intern(write_transaction& txn, layout::str_tag by_number, layout::str_tag by_text, std::string_view text) {
    const auto find = text_key(by_text, text);
    EMMY_TRY(known, txn.get(table::str, find));
    if (known) {
        if (known->size() != 2) return refuse(damaged(txn, table::str, "a number of the wrong size"));
        return layout::value_reader(*known).get<std::uint16_t>();
    }
    std::uint16_t id = 0;
    {
        // The last number of this tag stands before the first key of the next tag.
        EMMY_TRY(at, txn.open_cursor(table::str));
        EMMY_TRY(beyond, at.seek(number_key(by_number, 0xffff)));
        if (beyond && at.key() == number_key(by_number, 0xffff).view()) return refuse(fault_kind::store, "more than 65535 different knob texts", "str", txn.path());
        auto before = beyond ? at.previous() : at.last();
        if (!before) return refuse(std::move(before).error());
        if (*before && at.key().size() == 3 && at.key()[0] == static_cast<char>(by_number))
            id = static_cast<std::uint16_t>(1 + (static_cast<unsigned char>(at.key()[1]) << 8 | static_cast<unsigned char>(at.key()[2])));
    }
    EMMY_CHECK_OK(txn.put(table::str, number_key(by_number, id), text));
    EMMY_CHECK_OK(txn.put(table::str, find, layout::value_writer().put(id).out));
    return id;
}

inline std::string compress(std::string_view body) {
    thread_local const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
    std::string out(ZSTD_compressBound(body.size()), '\0');
    const std::size_t size = ZSTD_compressCCtx(context.get(), out.data(), out.size(), body.data(), body.size(), 1);
    out.resize(ZSTD_isError(size) ? 0 : size);
    return out;
}
constexpr std::uint32_t largest_body = 256u << 20;
inline std::optional<std::string> decompress(std::string_view bytes, std::uint32_t size) {
    if (size > largest_body || (size != 0 && ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != size)) return {};
    std::string out(size, '\0');
    const std::size_t got = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(got) || got != size) return {};
    return out;
}

constexpr std::uint8_t formed_flag = 1, zstd_codec = 1;

inline std::string collapse(std::string_view text) {
    std::string out;
    for (char c : text) {
        const bool blank = static_cast<unsigned char>(c) <= ' ';
        if (blank && (out.empty() || out.back() == ' ')) continue;
        out += blank ? ' ' : c;
    }
    if (!out.empty() && out.back() == ' ') out.pop_back();
    if (out.size() > 300) {
        out.resize(300);
        while (!out.empty() && (out.back() & 0xc0) == 0x80) out.pop_back();  // no half character
        if (!out.empty() && (out.back() & 0x80)) out.pop_back();
    }
    return out;
}
}  // namespace detail

// --- text forms -----------------------------------------------------------------------------------------------------------
EMMY_DECL std::string bind_text(const binding_list& bindings) {
    std::vector<const std::pair<std::string, std::int64_t>*> sorted;
    for (const auto& b : bindings) sorted.push_back(&b);
    std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->first < b->first; });
    std::string out;
    json::writer w(out);
    w.begin_object();
    for (const auto* b : sorted) w.key(b->first).integer(b->second);
    w.end_object();
    return out;
}
EMMY_DECL std::uint64_t bind_key(const binding_list& bindings) { return bindings.empty() ? 0 : xxh3_64(bind_text(bindings)); }
EMMY_DECL result<binding_list> read_bind_text(std::string_view text) {
    EMMY_TRY(document, json::document::parse(text));
    const json::path root;
    EMMY_TRY(members, json::read_object(document.root(), root));
    binding_list out;
    for (const json::member& m : members) {
        EMMY_TRY(size, json::read_integer(m.item, root / m.key));
        out.emplace_back(m.key, size);
    }
    return out;
}

EMMY_DECL std::string row_text(const knob_list& row) { return knob::row_text(detail::sorted_row(row)); }
EMMY_DECL std::string row_digest(const knob_list& row) { return knob::row_digest(detail::sorted_row(row)); }
EMMY_DECL std::string canonical_row_key(const knob_list& row) { return knob::canonical_key(detail::sorted_row(row)); }
EMMY_DECL bool is_placement(std::string_view name, std::string_view value) { return knob::is_structural(knob::split_key(name).family, value); }
EMMY_DECL std::string file_label(std::string_view prefix, std::string_view sha256_hex) { return std::string(prefix) + ":" + std::string(sha256_hex.substr(0, 12)); }

// --- reads ----------------------------------------------------------------------------------------------------------------
EMMY_DECL result<std::optional<context_id>> find_context(const read_transaction& txn, const context& c) {
    return detail::get_id(txn, layout::table::ctx_by, layout::key().digest(xxh3_128(detail::encode(c))));
}
EMMY_DECL result<context> read_context(const read_transaction& txn, context_id id) {
    EMMY_TRY(found, txn.get(layout::table::ctx, layout::key().u32(id)));
    if (found)
        if (auto c = detail::decode_context(*found)) return *c;
    return refuse(detail::damaged(txn, layout::table::ctx, (found ? "an unreadable context " : "no context ") + std::to_string(id)));
}
EMMY_DECL result<std::vector<std::pair<context_id, context>>> all_contexts(const read_transaction& txn) {
    EMMY_TRY(at, txn.open_cursor(layout::table::ctx));
    EMMY_TRY(any, at.first());
    std::vector<std::pair<context_id, context>> out;
    for (bool more = any; more;) {
        auto c = detail::decode_context(at.value());
        if (at.key().size() != 4 || !c) return refuse(detail::damaged(txn, layout::table::ctx, "an unreadable context"));
        out.emplace_back(layout::read_u32(at.key().data()), std::move(*c));
        EMMY_TRY(next, at.next());
        more = next;
    }
    return out;
}

EMMY_DECL result<bool> has_kernel(const read_transaction& txn, const digest128& key) {
    EMMY_TRY(found, txn.get(layout::table::kernel, layout::key().digest(key)));
    return found.has_value();
}
EMMY_DECL result<kernel_record> read_kernel(const read_transaction& txn, const digest128& key) {
    EMMY_TRY(found, txn.get(layout::table::kernel, layout::key().digest(key)));
    if (!found) return refuse(fault_kind::store, "found no kernel " + to_hex(key), "kernel", txn.path());
    layout::value_reader in(*found);
    kernel_record out;
    out.key = key;
    out.formed = (in.get<std::uint8_t>() & detail::formed_flag) != 0;
    const auto codec = in.get<std::uint8_t>();
    out.check = in.digest();
    const auto size = in.get<std::uint32_t>();
    out.name = in.text();
    auto body = in.ok() && codec == detail::zstd_codec ? detail::decompress(in.rest(), size) : std::nullopt;
    if (!body) return refuse(detail::damaged(txn, layout::table::kernel, "an unreadable kernel " + to_hex(key)));
    out.body = std::move(*body);
    return out;
}

EMMY_DECL result<std::optional<source_id>> find_source(const read_transaction& txn, std::string_view label) {
    return detail::get_id(txn, layout::table::str, detail::text_key(layout::str_tag::find_source, label));
}
EMMY_DECL result<source_record> read_source(const read_transaction& txn, source_id id) {
    EMMY_TRY(found, txn.get(layout::table::source, layout::key().u32(id)));
    if (found)
        if (auto s = detail::decode_source(*found)) return *s;
    return refuse(detail::damaged(txn, layout::table::source, (found ? "an unreadable source " : "no source ") + std::to_string(id)));
}
EMMY_DECL result<std::vector<std::pair<source_id, source_record>>> all_sources(const read_transaction& txn) {
    EMMY_TRY(at, txn.open_cursor(layout::table::source));
    EMMY_TRY(any, at.first());
    std::vector<std::pair<source_id, source_record>> out;
    for (bool more = any; more;) {
        auto s = detail::decode_source(at.value());
        if (at.key().size() != 4 || !s) return refuse(detail::damaged(txn, layout::table::source, "an unreadable source"));
        out.emplace_back(layout::read_u32(at.key().data()), std::move(*s));
        EMMY_TRY(next, at.next());
        more = next;
    }
    return out;
}

EMMY_DECL result<std::optional<row_id>> find_row(const read_transaction& txn, const knob_list& row) {
    return detail::get_id(txn, layout::table::row_by, layout::key().digest(xxh3_128(row_text(row))));
}
EMMY_DECL result<knob_list> read_row(const read_transaction& txn, row_id id, row_kind* kind) {
    EMMY_TRY(found, txn.get(layout::table::row, layout::key().u32(id)));
    const auto row = found ? detail::decode_row(*found) : std::nullopt;
    if (!row) return refuse(detail::damaged(txn, layout::table::row, (found ? "an unreadable row " : "no row ") + std::to_string(id)));
    if (kind) *kind = row->kind;
    knob_list out;
    out.reserve(row->knobs.size());
    for (const auto& [name, value] : row->knobs) {
        EMMY_TRY(name_text, txn.get(layout::table::str, detail::number_key(layout::str_tag::knob_name, name)));
        EMMY_TRY(value_text, txn.get(layout::table::str, detail::number_key(layout::str_tag::knob_value, value)));
        if (!name_text || !value_text) return refuse(detail::damaged(txn, layout::table::row, "a knob without its text in row " + std::to_string(id)));
        out.emplace_back(*name_text, *value_text);
    }
    return out;
}
EMMY_DECL result<binding_list> read_bindings(const read_transaction& txn, std::uint64_t bind) {
    if (bind == 0) return binding_list();
    EMMY_TRY(found, txn.get(layout::table::str, detail::bind_text_key(bind)));
    if (!found) return refuse(detail::damaged(txn, layout::table::str, "sizes without their text"));
    auto out = read_bind_text(*found);
    if (!out) return refuse(detail::damaged(txn, layout::table::str, "unreadable sizes"));
    return out;
}

EMMY_DECL result<std::optional<digest128>> find_identity(const read_transaction& txn, const digest128& body_digest) {
    EMMY_TRY(found, txn.get(layout::table::idmap, layout::key().digest(body_digest)));
    if (!found) return std::optional<digest128>();
    if (found->size() != 16) return refuse(detail::damaged(txn, layout::table::idmap, "an identity of the wrong size"));
    return std::optional<digest128>(layout::read_digest(found->data()));
}

EMMY_DECL result<std::optional<std::string>> find_fact(const read_transaction& txn, std::string_view name) {
    EMMY_TRY(found, txn.get(layout::table::meta, "fact:" + std::string(name)));
    return found ? std::optional<std::string>(*found) : std::nullopt;
}
EMMY_DECL result<void> put_fact(write_transaction& txn, std::string_view name, std::string_view value) {
    return txn.put(layout::table::meta, "fact:" + std::string(name), value);
}

EMMY_DECL result<std::optional<measurement>> find_measurement(const read_transaction& txn, context_id ctx, const digest128& kernel, std::uint64_t bind, row_id row, source_id src) {
    measurement out{{ctx, kernel, bind, outcome::captured, 0, row, src}, {}};
    EMMY_TRY(by, txn.get(layout::table::perf_by, out.key.by()));
    if (!by) return std::optional<measurement>();
    layout::value_reader in(*by);
    const auto how = in.get<std::uint8_t>();
    out.key.sort = in.get<std::uint32_t>();
    if (!in.ok() || how > 2) return refuse(detail::damaged(txn, layout::table::perf_by, "an unreadable entry"));
    out.key.how = static_cast<outcome>(how);
    EMMY_TRY(found, txn.get(layout::table::perf, out.key.encode()));
    if (!found || found->size() != layout::perf_value_size) return refuse(detail::damaged(txn, layout::table::perf_by, "an entry whose measurement is missing"));
    out.time = layout::decode_timing(found->data(), out.key.how);
    return std::optional<measurement>(out);
}
EMMY_DECL result<std::string> read_failure(const read_transaction& txn, const layout::perf_key& key) {
    EMMY_TRY(found, txn.get(layout::table::err, key.by()));
    return found ? std::string(*found) : std::string();
}

namespace detail {
inline result<std::vector<route>> collect_routes(const read_transaction& txn, std::string_view prefix) {
    EMMY_TRY(at, txn.open_cursor(table::route));
    EMMY_TRY(found, at.seek(prefix));
    std::vector<route> out;
    for (bool more = found; more && at.key().starts_with(prefix);) {
        if (at.key().size() != 22 || at.value().size() != 16) return refuse(damaged(txn, table::route, "an entry of the wrong size"));
        const digest128 parent = layout::read_digest(at.key().data());
        const row_id arm = layout::read_u32(at.key().data() + 16);
        if (out.empty() || out.back().parent != parent || out.back().arm != arm) out.push_back({parent, arm, {}});
        out.back().children.push_back(layout::read_digest(at.value().data()));
        EMMY_TRY(next, at.next());
        more = next;
    }
    return out;
}
}  // namespace detail
EMMY_DECL result<std::vector<route>> routes_of(const read_transaction& txn, const digest128& parent) { return detail::collect_routes(txn, layout::key().digest(parent)); }
EMMY_DECL result<std::vector<route>> all_routes(const read_transaction& txn) { return detail::collect_routes(txn, {}); }

// --- writes ---------------------------------------------------------------------------------------------------------------
EMMY_DECL result<context_id> put_context(write_transaction& txn, const context& c) {
    const std::string bytes = detail::encode(c);
    const auto by = layout::key().digest(xxh3_128(bytes));
    EMMY_TRY(known, detail::get_id(txn, layout::table::ctx_by, by));
    if (known) return *known;
    EMMY_TRY(id, detail::next_id(txn, layout::table::ctx));
    EMMY_CHECK_OK(txn.put(layout::table::ctx, layout::key().u32(id), bytes));
    EMMY_CHECK_OK(txn.put(layout::table::ctx_by, by, detail::id_value(id)));
    return id;
}

EMMY_DECL result<void> put_kernel(write_transaction& txn, const kernel_record& kernel) {
    const auto key = layout::key().digest(kernel.key);
    EMMY_TRY(known, txn.get(layout::table::kernel, key));
    if (known) {
        layout::value_reader in(*known);
        in.get<std::uint16_t>();
        if (const digest128 check = in.digest(); in.ok() && check == kernel.check) return {};
        return refuse(fault_kind::store, "two different kernels have the identity " + to_hex(kernel.key) + ": \"" + kernel.name + "\" is not stored", "kernel", txn.path());
    }
    if (kernel.body.size() > detail::largest_body) return refuse(fault_kind::input, "found a body of " + std::to_string(kernel.body.size()) + " bytes, expected at most 256 MiB", kernel.name);
    layout::value_writer out;
    out.put(static_cast<std::uint8_t>(kernel.formed ? detail::formed_flag : 0)).put(detail::zstd_codec).digest(kernel.check);
    out.put(static_cast<std::uint32_t>(kernel.body.size())).text(kernel.name);
    out.out += detail::compress(kernel.body);
    return txn.put(layout::table::kernel, key, out.out);
}

EMMY_DECL result<source_id> put_source(write_transaction& txn, const source_record& source) {
    EMMY_TRY(known, find_source(txn, source.label));
    source_id id = known.value_or(0);
    if (!known) {
        EMMY_TRY(fresh, detail::next_id(txn, layout::table::source));
        id = fresh;
        EMMY_CHECK_OK(txn.put(layout::table::str, detail::text_key(layout::str_tag::find_source, source.label), detail::id_value(id)));
    }
    EMMY_CHECK_OK(txn.put(layout::table::source, layout::key().u32(id), detail::encode(source)));
    return id;
}

EMMY_DECL result<row_id> put_row(write_transaction& txn, row_kind kind, const knob_list& row) {
    if (kind == row_kind::placement && row.empty()) return refuse(fault_kind::user, "found an empty arm, expected at least one of PLACE, LAYOUT or a cross-CTA REDUCE");
    if (row.size() > 0xffff) return refuse(fault_kind::user, "found " + std::to_string(row.size()) + " knobs in one row, expected at most 65535");
    for (const auto& [name, value] : row) {
        if (name.empty() || !detail::plain_text(name) || !detail::plain_text(value)) return refuse(fault_kind::user, "found a knob that is not printable ASCII without quotes and backslashes", "row");
        if (kind == row_kind::schedule && is_placement(name, value))
            return refuse(fault_kind::user, "found \"" + value + "\", which decides the set of kernels, expected schedule knobs only in a measured row", name);
        if (kind == row_kind::placement && !is_placement(name, value))
            return refuse(fault_kind::user, "found \"" + value + "\", a schedule knob, expected only knobs that decide the set of kernels in an arm", name);
    }
    const std::string text = row_text(row);
    const auto by = layout::key().digest(xxh3_128(text));
    EMMY_TRY(known, detail::get_id(txn, layout::table::row_by, by));
    if (known) return *known;
    for (const auto& [name, value] : row)
        if (const knob::family_info* family = knob::find_family(knob::split_key(name).family)) {
            const auto canonical = family->canonical(value);
            if (!canonical || canonical->view() != value) {
                const std::string expected = canonical ? "the canonical spelling \"" + std::string(canonical->view()) + '"' : "a value of " + std::string(family->name);
                return refuse(fault_kind::user, "found \"" + value + "\", expected " + expected, name);
            }
        }
    knob_list sorted = row;
    std::sort(sorted.begin(), sorted.end());
    layout::value_writer out;
    out.put(static_cast<std::uint8_t>(kind)).put(static_cast<std::uint16_t>(sorted.size()));
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i > 0 && sorted[i].first == sorted[i - 1].first) return refuse(fault_kind::user, "found the knob twice in one row, expected it once", sorted[i].first);
        EMMY_TRY(name, detail::intern(txn, layout::str_tag::knob_name, layout::str_tag::find_name, sorted[i].first));
        EMMY_TRY(value, detail::intern(txn, layout::str_tag::knob_value, layout::str_tag::find_value, sorted[i].second));
        out.put(name).put(value);
    }
    EMMY_TRY(id, detail::next_id(txn, layout::table::row));
    EMMY_CHECK_OK(txn.put(layout::table::row, layout::key().u32(id), out.out));
    EMMY_CHECK_OK(txn.put(layout::table::row_by, by, detail::id_value(id)));
    return id;
}

EMMY_DECL result<std::uint64_t> put_bindings(write_transaction& txn, const binding_list& bindings) {
    if (bindings.empty()) return std::uint64_t{0};
    for (const auto& [symbol, size] : bindings)
        if (size <= 0) return refuse(fault_kind::user, "found " + std::to_string(size) + ", expected a positive size", symbol);
    const std::string text = bind_text(bindings);
    const std::uint64_t bind = xxh3_64(text);
    const auto key = detail::bind_text_key(bind);
    EMMY_TRY(known, txn.get(layout::table::str, key));
    if (known && *known != text) return refuse(fault_kind::store, "two different sets of sizes have one key", "str", txn.path());
    if (!known) EMMY_CHECK_OK(txn.put(layout::table::str, key, text));
    return bind;
}

EMMY_DECL result<void> put_identity(write_transaction& txn, const digest128& body_digest, const digest128& key) {
    return txn.put(layout::table::idmap, layout::key().digest(body_digest), layout::key().digest(key));
}

EMMY_DECL result<void> put_route(write_transaction& txn, const digest128& parent, row_id arm, std::span<const digest128> children) {
    if (children.size() > 0xffff) return refuse(fault_kind::user, "found " + std::to_string(children.size()) + " pieces, expected at most 65535");
    const auto known_kernel = [&](const digest128& k) -> result<void> {
        EMMY_TRY(known, has_kernel(txn, k));
        if (known) return {};
        return refuse(fault_kind::store, "found no kernel " + to_hex(k) + ", expected parent and pieces of a route to be stored", "route", txn.path());
    };
    EMMY_CHECK_OK(known_kernel(parent));
    for (const digest128& child : children) EMMY_CHECK_OK(known_kernel(child));
    row_kind kind{};
    EMMY_TRY(arm_row, read_row(txn, arm, &kind));
    if (kind != row_kind::placement || arm_row.empty()) return refuse(fault_kind::user, "found a schedule row, expected an arm", "route");

    const std::string prefix(layout::key().digest(parent).u32(arm).view());
    EMMY_TRY(before, detail::collect_routes(txn, prefix));
    if (!before.empty()) {
        for (std::size_t i = 0; i < before[0].children.size(); ++i) EMMY_CHECK_OK(txn.erase(layout::table::route, layout::key().digest(parent).u32(arm).u16(static_cast<std::uint16_t>(i))));
        std::sort(before[0].children.begin(), before[0].children.end());
        before[0].children.erase(std::unique(before[0].children.begin(), before[0].children.end()), before[0].children.end());
        for (const digest128& child : before[0].children) EMMY_CHECK_OK(txn.erase(layout::table::route_up, layout::key().digest(child).digest(parent).u32(arm)));
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
        EMMY_CHECK_OK(txn.put(layout::table::route, layout::key().digest(parent).u32(arm).u16(static_cast<std::uint16_t>(i)), layout::key().digest(children[i])));
        EMMY_CHECK_OK(txn.put(layout::table::route_up, layout::key().digest(children[i]).digest(parent).u32(arm), {}));
    }
    return {};
}

EMMY_DECL result<void> put_taken(write_transaction& txn, context_id ctx, const digest128& kernel, std::uint64_t bind, row_id arm, source_id src) {
    return txn.put(layout::table::taken, layout::key().u32(ctx).digest(kernel).u64(bind).u32(arm), detail::id_value(src));
}

EMMY_DECL result<bool> put_measurement(write_transaction& txn, context_id ctx, const digest128& kernel, std::uint64_t bind, row_id row, source_id src, const timing& time,
                                       std::string_view error) {
    for (const double us : {time.median, time.min, time.max, time.mean})
        if (!(us > 0) || !std::isfinite(us)) return refuse(fault_kind::user, "found a time of " + json::spell_real(us) + " us, expected a positive one");
    if (!(time.variance >= 0) || !std::isfinite(time.variance)) return refuse(fault_kind::user, "found a variance of " + json::spell_real(time.variance) + ", expected none below 0");
    EMMY_TRY(known, has_kernel(txn, kernel));
    if (!known) return refuse(fault_kind::store, "found no kernel " + to_hex(kernel) + ", expected a measured kernel to be stored", "perf", txn.path());
    EMMY_TRY(row_bytes, txn.get(layout::table::row, layout::key().u32(row)));
    if (!row_bytes || row_bytes->empty() || (*row_bytes)[0] != static_cast<char>(row_kind::schedule)) return refuse(fault_kind::user, "found an arm, expected a schedule row", "perf");

    const layout::perf_key key{ctx, kernel, bind, time.how, layout::sort_us(time.median), row, src};
    EMMY_TRY(before, find_measurement(txn, ctx, kernel, bind, row, src));
    if (before) {
        const write_claim stored{.how = before->time.how, .median = before->time.median}, offered{.how = time.how, .median = time.median};
        if (decide_write(stored, offered).decision == write_decision::keep_stored) return false;
        EMMY_CHECK_OK(txn.erase(layout::table::perf, before->key.encode()));
        if (!before->time.ok() && time.ok()) {
            EMMY_TRY(text, txn.get(layout::table::err, key.by()));
            if (text) EMMY_CHECK_OK(txn.erase(layout::table::err, key.by()));
        }
    }
    const auto value = layout::encode_timing(time);
    EMMY_CHECK_OK(txn.put(layout::table::perf, key.encode(), {value.data(), value.size()}));
    EMMY_CHECK_OK(txn.put(layout::table::perf_by, key.by(), layout::value_writer().put(static_cast<std::uint8_t>(time.how)).put(key.sort).out));
    if (!time.ok() && !error.empty()) EMMY_CHECK_OK(txn.put(layout::table::err, key.by(), detail::collapse(error)));
    return true;
}

}  // namespace emmy::store
