#pragma once
#include <emmy/evidence/index.hpp>

#include <emmy/evidence/regime.hpp>

#include <algorithm>

namespace emmy::evidence {
namespace detail {

/// Of two measurements of one row by one producer: captured before wall, then the lower median, then the source label.
inline bool better(const merged_row& a, const merged_row& b, const std::vector<store::source_record>& sources) {
    if (a.time.how != b.time.how) return a.time.how < b.time.how;
    if (a.time.median != b.time.median) return a.time.median < b.time.median;
    return sources[a.source].label < sources[b.source].label;
}

/// Slots by (row, producer): open addressing, made for one size of one kernel.
class row_slots {
public:
    explicit row_slots(std::size_t expected) : slots_(16) {
        while (slots_.size() < expected * 2) slots_.resize(slots_.size() * 2);
    }
    /// Place of the merged row of (row, producer); `fresh` when there was none.
    std::uint32_t& at(std::uint32_t row, std::uint32_t producer, bool& fresh) {
        const std::uint64_t key = (static_cast<std::uint64_t>(row) << 20 | producer) + 1;
        for (std::size_t i = key * 0x9e3779b97f4a7c15u >> 32 & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
            if (slots_[i].key == 0) {
                slots_[i].key = key;
                fresh = true;
                return slots_[i].place;
            }
            if (slots_[i].key == key) {
                fresh = false;
                return slots_[i].place;
            }
        }
    }

private:
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t place = 0;
    };
    std::vector<slot> slots_;
};
}  // namespace detail

EMMY_DECL result<snapshot> snapshot::open(const store::environment& store, const store::context& live, const std::vector<std::string>& labels, std::string_view own_producer) {
    EMMY_TRY(txn, store.read());
    snapshot out(std::move(txn));
    out.live_ = live;
    out.own_producer_ = own_producer;
    EMMY_TRY(ctx, store::find_context(out.txn_, live));
    out.ctx_ = ctx;
    EMMY_TRY(sources, store::all_sources(out.txn_));
    std::vector<std::string> producers;
    for (auto& [id, source] : sources) {
        if (id >= 1u << 20) return refuse(fault_kind::store, "found a source of number " + std::to_string(id) + ", expected fewer", "source", store.path());
        out.sources_.resize(id + 1);
        out.ranks_.resize(id + 1, producer_rank::out_of_scope);
        out.producers_.resize(id + 1, 0);
        // A file's rows of another producer stand under "<label>:<producer>".
        const bool in_scope = source.local() || std::any_of(labels.begin(), labels.end(), [&](const std::string& label) {
            return source.label.starts_with(label) && (source.label.size() == label.size() || source.label[label.size()] == ':');
        });
        if (in_scope) out.ranks_[id] = source.producer == own_producer ? producer_rank::own : producer_rank::other;
        const auto at = std::find(producers.begin(), producers.end(), source.producer);
        out.producers_[id] = static_cast<std::uint32_t>(at - producers.begin());
        if (at == producers.end()) producers.push_back(source.producer);
        out.sources_[id] = std::move(source);
    }
    return out;
}

EMMY_DECL const store::source_record& snapshot::source(std::uint32_t id) const {
    static const store::source_record unknown;
    return id < sources_.size() ? sources_[id] : unknown;
}

EMMY_DECL result<size_rows> snapshot::rows_at(const digest128& kernel, std::uint64_t bind) const {
    size_rows out;
    out.bind = bind;
    if (!ctx_) return out;
    std::vector<merged_row>& rows = out.rows;
    rows.reserve(64);
    std::vector<merged_row> all;
    all.reserve(256);
    const store::layout::perf_key prefix{*ctx_, kernel, bind};
    EMMY_CHECK_OK(store::for_each_measurement(txn_, prefix.bind_prefix(), [&](const store::measurement& m) {
        const producer_rank rank = m.key.src < ranks_.size() ? ranks_[m.key.src] : producer_rank::out_of_scope;
        if (rank != producer_rank::out_of_scope) all.push_back({m.key.row, m.key.src, rank, m.time});
        return true;
    }));
    if (all.empty()) return out;
    detail::row_slots slots(all.size());
    for (const merged_row& m : all) {  // in store order: ok before failed, fast before slow
        bool fresh = false;
        std::uint32_t& place = slots.at(m.row, producers_[m.source], fresh);
        if (fresh) {
            place = static_cast<std::uint32_t>(rows.size());
            rows.push_back(m);
        } else if (detail::better(m, rows[place], sources_)) {
            rows[place] = m;
        }
    }
    const auto ok_end = std::stable_partition(rows.begin(), rows.end(), [](const merged_row& m) { return m.time.ok(); });
    out.failed = static_cast<std::uint32_t>(rows.end() - ok_end);
    rows.erase(ok_end, rows.end());
    std::sort(rows.begin(), rows.end(), [](const merged_row& a, const merged_row& b) {
        if (a.rank != b.rank) return a.rank < b.rank;
        return a.time.median != b.time.median ? a.time.median < b.time.median : a.row < b.row;
    });
    // Equal times: by content, never by the store's numbers.
    for (std::size_t i = 0; i < rows.size();) {
        std::size_t end = i + 1;
        while (end < rows.size() && rows[end].rank == rows[i].rank && rows[end].time.median == rows[i].time.median) ++end;
        if (end - i > 1) {
            std::vector<std::pair<std::string, merged_row>> tied;
            for (std::size_t k = i; k < end; ++k) {
                EMMY_TRY(knobs, store::read_row(txn_, rows[k].row));
                tied.emplace_back(store::canonical_row_key(knobs) + '\1' + sources_[rows[k].source].producer, rows[k]);
            }
            std::sort(tied.begin(), tied.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            for (std::size_t k = i; k < end; ++k) rows[k] = tied[k - i].second;
        }
        i = end;
    }
    EMMY_TRY(bindings, store::read_bindings(txn_, bind));
    out.bindings = std::move(bindings);
    return out;
}

EMMY_DECL result<std::vector<std::uint64_t>> snapshot::sizes_of(const digest128& kernel) const {
    std::vector<std::uint64_t> out;
    if (!ctx_) return out;
    EMMY_TRY(at, txn_.open_cursor(store::layout::table::perf));
    store::layout::perf_key from{*ctx_, kernel, 0};
    const auto prefix = from.kernel_prefix();
    for (;;) {
        EMMY_TRY(found, at.seek(from.bind_prefix()));
        if (!found || !at.key().starts_with(prefix.view()) || at.key().size() != store::layout::perf_key::size) return out;
        from.bind = store::layout::perf_key::decode(at.key().data()).bind;
        out.push_back(from.bind);
        if (++from.bind == 0) return out;
    }
}

EMMY_DECL result<std::optional<double>> snapshot::leaf_price(const digest128& kernel, const store::binding_list& bindings, producer_rank rank) const {
    EMMY_TRY(rows, rows_at(kernel, store::bind_key(bindings)));
    for (const merged_row& m : rows.rows)
        if (m.rank == rank) return std::optional<double>(m.time.median);
    return std::optional<double>();
}

EMMY_DECL bool snapshot::any(producer_rank rank) const { return ctx_ && std::find(ranks_.begin(), ranks_.end(), rank) != ranks_.end(); }

EMMY_DECL result<bool> snapshot::only_failed(const digest128& kernel) const {
    if (!ctx_) return false;
    bool failed = false, ok = false;
    const store::layout::perf_key prefix{*ctx_, kernel};
    EMMY_CHECK_OK(store::for_each_measurement(txn_, prefix.kernel_prefix(), [&](const store::measurement& m) {
        if (m.key.src >= ranks_.size() || ranks_[m.key.src] == producer_rank::out_of_scope) return true;
        (m.time.ok() ? ok : failed) = true;
        return !ok;
    }));
    return failed && !ok;
}

EMMY_DECL result<std::vector<std::pair<std::string, std::uint32_t>>> snapshot::other_lanes(const digest128& kernel) const {
    std::vector<std::pair<std::string, std::uint32_t>> out;
    EMMY_TRY(contexts, store::all_contexts(txn_));
    for (const auto& [id, c] : contexts) {
        if ((ctx_ && id == *ctx_) || c.backend != live_.backend || c.card != live_.card || c.sm != live_.sm) continue;
        std::uint32_t rows = 0;
        const store::layout::perf_key prefix{id, kernel};
        EMMY_CHECK_OK(store::for_each_measurement(txn_, prefix.kernel_prefix(), [&](const store::measurement& m) {
            rows += m.time.ok() && m.key.src < ranks_.size() && ranks_[m.key.src] != producer_rank::out_of_scope;
            return true;
        }));
        if (rows > 0) out.emplace_back(lane_text(c), rows);
    }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace emmy::evidence
