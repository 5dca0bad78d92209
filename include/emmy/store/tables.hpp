#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/store/environment.hpp>
#include <emmy/store/layout.hpp>
#include <emmy/store/records.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

/// Typed reads and writes of the named databases. Ids are the store's own and mean nothing outside it.
namespace emmy::store {

using context_id = std::uint32_t;
using row_id = std::uint32_t;
using source_id = std::uint32_t;

// --- text forms -----------------------------------------------------------------------------------------------------------
/// {dim: size} as compact JSON with sorted keys; "{}" when static.
EMMY_DECL std::string bind_text(const binding_list& bindings);
/// 0 for static, else XXH3-64 of the text.
EMMY_DECL std::uint64_t bind_key(const binding_list& bindings);
/// Back from the text. Errors (store): damaged text.
EMMY_DECL result<binding_list> read_bind_text(std::string_view text);
/// {name: value} as compact JSON, names sorted by code point, every value a string.
EMMY_DECL std::string row_text(const knob_list& row);
/// The peer's digest of a row: SHA-256 of ('<row text>',), 64 hex digits.
EMMY_DECL std::string row_digest(const knob_list& row);
/// What breaks ties between rows of equal time (canonical order of knob/, boolean knobs left out).
EMMY_DECL std::string canonical_row_key(const knob_list& row);
/// Does this knob decide the set of kernels (PLACE, LAYOUT, a REDUCE with a cross-CTA stage)?
EMMY_DECL bool is_placement(std::string_view name, std::string_view value);
/// "<prefix>:" + first 12 hex of the SHA-256 of a file's bytes.
EMMY_DECL std::string file_label(std::string_view prefix, std::string_view sha256_hex);

// --- reads ----------------------------------------------------------------------------------------------------------------
EMMY_DECL result<std::optional<context_id>> find_context(const read_transaction& txn, const context& c);
EMMY_DECL result<context> read_context(const read_transaction& txn, context_id id);
EMMY_DECL result<std::vector<std::pair<context_id, context>>> all_contexts(const read_transaction& txn);

EMMY_DECL result<bool> has_kernel(const read_transaction& txn, const digest128& key);
/// Errors (store): absent, or damaged.
EMMY_DECL result<kernel_record> read_kernel(const read_transaction& txn, const digest128& key);

EMMY_DECL result<std::optional<source_id>> find_source(const read_transaction& txn, std::string_view label);
EMMY_DECL result<source_record> read_source(const read_transaction& txn, source_id id);
EMMY_DECL result<std::vector<std::pair<source_id, source_record>>> all_sources(const read_transaction& txn);

EMMY_DECL result<std::optional<row_id>> find_row(const read_transaction& txn, const knob_list& row);
EMMY_DECL result<knob_list> read_row(const read_transaction& txn, row_id id, row_kind* kind = nullptr);
EMMY_DECL result<binding_list> read_bindings(const read_transaction& txn, std::uint64_t bind);

/// The identity computed earlier for these exact body bytes under this identity version.
EMMY_DECL result<std::optional<digest128>> find_identity(const read_transaction& txn, const digest128& body_digest);

/// A remembered fact of this machine ("ceilings cpu: …"); not evidence.
EMMY_DECL result<std::optional<std::string>> find_fact(const read_transaction& txn, std::string_view name);
EMMY_DECL result<void> put_fact(write_transaction& txn, std::string_view name, std::string_view value);

/// One measurement as stored.
struct measurement {
    layout::perf_key key;
    timing time;
};
/// Measurements of (ctx, kernel), or of one size of it, in store order: sizes, then ok before failed, then by time. `visit(measurement) -> bool` goes on while true.
template <class Visit>
result<void> for_each_measurement(const read_transaction& txn, std::string_view key_prefix, Visit&& visit);

EMMY_DECL result<std::optional<measurement>> find_measurement(const read_transaction& txn, context_id ctx, const digest128& kernel, std::uint64_t bind, row_id row, source_id src);
/// Text of a failed measurement; empty when none was kept.
EMMY_DECL result<std::string> read_failure(const read_transaction& txn, const layout::perf_key& key);

struct route {
    digest128 parent;
    row_id arm = 0;
    std::vector<digest128> children;  ///< in fragment order
};
EMMY_DECL result<std::vector<route>> routes_of(const read_transaction& txn, const digest128& parent);
EMMY_DECL result<std::vector<route>> all_routes(const read_transaction& txn);

// --- writes ---------------------------------------------------------------------------------------------------------------
EMMY_DECL result<context_id> put_context(write_transaction& txn, const context& c);
/// Inserts if absent. Errors (store): another body has the same key (check digests differ).
EMMY_DECL result<void> put_kernel(write_transaction& txn, const kernel_record& kernel);
/// New source, or the stored one of this label with its counts and time replaced.
EMMY_DECL result<source_id> put_source(write_transaction& txn, const source_record& source);
/// Errors (user): a placement knob in a schedule row, a schedule knob in an arm, an empty arm, a value that a known family
/// does not spell so; the knob is named. Keys are not checked further (unknown families, addresses): that is the loader's and the fork's part.
EMMY_DECL result<row_id> put_row(write_transaction& txn, row_kind kind, const knob_list& row);
/// Keeps the sizes' text for their key.
EMMY_DECL result<std::uint64_t> put_bindings(write_transaction& txn, const binding_list& bindings);
EMMY_DECL result<void> put_identity(write_transaction& txn, const digest128& body_digest, const digest128& key);
/// Replaces all pieces of (parent, arm). Errors (store): parent or a piece is not a stored kernel.
EMMY_DECL result<void> put_route(write_transaction& txn, const digest128& parent, row_id arm, std::span<const digest128> children);
EMMY_DECL result<void> put_taken(write_transaction& txn, context_id ctx, const digest128& kernel, std::uint64_t bind, row_id arm, source_id src);
/// Keeps the better of the stored and the offered one inside its source (write_rules.hpp). True when the offered one was stored.
/// Errors (store): unknown kernel; (user): a time that is not positive and finite.
EMMY_DECL result<bool> put_measurement(write_transaction& txn, context_id ctx, const digest128& kernel, std::uint64_t bind, row_id row, source_id src,
                                       const timing& time, std::string_view error = {});

namespace detail {
EMMY_DECL fault damaged(const read_transaction& txn, layout::table t, std::string_view what);
}

template <class Visit>
result<void> for_each_measurement(const read_transaction& txn, std::string_view key_prefix, Visit&& visit) {
    EMMY_TRY(at, txn.open_cursor(layout::table::perf));
    EMMY_TRY(found, at.seek(key_prefix));
    bool more = found;
    while (more && at.key().starts_with(key_prefix)) {
        if (at.key().size() != layout::perf_key::size || at.value().size() != layout::perf_value_size)
            return refuse(detail::damaged(txn, layout::table::perf, "an entry of the wrong size"));
        measurement m{layout::perf_key::decode(at.key().data()), {}};
        m.time = layout::decode_timing(at.value().data(), m.key.how);
        if (!visit(m)) break;
        EMMY_TRY(next, at.next());
        more = next;
    }
    return {};
}

}  // namespace emmy::store

#ifdef EMMY_HEADER_ONLY
#include <emmy/store/impl/tables.ipp>
#endif
