#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/store/tables.hpp>

#include <optional>
#include <string>
#include <vector>

/// The evidence of one compile: one snapshot of the store, one context, the sources in scope.
namespace emmy::evidence {

/// Rank of a source for a compile; lower decides first.
enum class producer_rank : std::uint8_t { own = 0, other = 1, out_of_scope = 2 };

/// One (kernel, sizes, row, producer) after its sources were merged: ok beats failure, captured beats wall, then the lowest median,
/// then the source label.
struct merged_row {
    std::uint32_t row = 0, source = 0;
    producer_rank rank = producer_rank::other;
    store::timing time;
};

/// Rows of one size of one kernel, ok ones only, each producer's own order: (rank, median, row text).
struct size_rows {
    std::uint64_t bind = 0;
    store::binding_list bindings = {};
    std::vector<merged_row> rows = {};
    std::uint32_t failed = 0;  ///< rows that only ever failed
};

/// The rows in scope, as of one moment. Holds a read transaction: one thread at a time.
class snapshot {
public:
    /// `labels`: golden sources in scope; what was measured here always is. Nothing is known of a context that the store lacks: no error.
    EMMY_DECL static result<snapshot> open(const store::environment& store, const store::context& live, const std::vector<std::string>& labels, std::string_view own_producer);

    const store::context& live() const { return live_; }
    const store::read_transaction& transaction() const { return txn_; }
    EMMY_DECL const store::source_record& source(std::uint32_t id) const;
    std::string_view own_producer() const { return own_producer_; }

    /// Rows of one size. An unknown kernel or size has none.
    EMMY_DECL result<size_rows> rows_at(const digest128& kernel, std::uint64_t bind) const;
    /// All sizes with rows in scope, by bind key.
    EMMY_DECL result<std::vector<std::uint64_t>> sizes_of(const digest128& kernel) const;
    /// Fastest ok row at exactly these sizes and of this rank, in µs: the leaf price.
    EMMY_DECL result<std::optional<double>> leaf_price(const digest128& kernel, const store::binding_list& bindings, producer_rank rank = producer_rank::own) const;
    /// Is there a source of this rank at all? False: nothing has a price by it.
    EMMY_DECL bool any(producer_rank rank) const;
    /// Rows of it are in scope, of any size, and each of them failed.
    EMMY_DECL result<bool> only_failed(const digest128& kernel) const;
    /// Rows of this kernel in other lanes of the same card: (lane, rows), for "none in the live lane".
    EMMY_DECL result<std::vector<std::pair<std::string, std::uint32_t>>> other_lanes(const digest128& kernel) const;

private:
    snapshot(store::read_transaction txn) : txn_(std::move(txn)) {}
    store::read_transaction txn_;
    store::context live_;
    std::optional<store::context_id> ctx_;
    std::string own_producer_;
    std::vector<store::source_record> sources_;   // by id
    std::vector<producer_rank> ranks_;            // by id
    std::vector<std::uint32_t> producers_;        // by id: number of its producer
};

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/index.ipp>
#endif
