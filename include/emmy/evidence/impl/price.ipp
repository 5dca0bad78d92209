#pragma once
#include <emmy/evidence/price.hpp>

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace emmy::evidence {
namespace detail {

/// A stored size is this compile's when everything it names has the size that the compile gives it: sizes restricted to a piece's symbols.
inline bool restricted(const store::binding_list& stored, const store::binding_list& asked) {
    return std::all_of(stored.begin(), stored.end(), [&](const auto& s) { return std::find(asked.begin(), asked.end(), s) != asked.end(); });
}

/// Fastest row of one rank at these sizes.
inline result<std::optional<double>> leaf_at(const snapshot& evidence, producer_rank rank, const digest128& kernel, const store::binding_list& sizes) {
    std::optional<double> out;
    EMMY_TRY(binds, evidence.sizes_of(kernel));
    for (const std::uint64_t bind : binds) {
        EMMY_TRY(stored, store::read_bindings(evidence.transaction(), bind));
        if (!restricted(stored, sizes)) continue;
        EMMY_TRY(rows, evidence.rows_at(kernel, bind));
        for (const merged_row& m : rows.rows)
            if (m.rank == rank && (!out || m.time.median < *out)) out = m.time.median;
    }
    return out;
}

struct digest_hash {
    std::size_t operator()(const digest128& d) const { return static_cast<std::size_t>(d.low ^ d.high); }
};

/// Prices of one set of sizes.
struct size_prices {
    store::binding_list sizes;
    std::unordered_map<digest128, kernel_price, digest_hash> of;  // addresses stay
};

}  // namespace detail

struct price_book::state {
    const snapshot* evidence;
    producer_rank rank;
    std::unordered_map<std::uint64_t, detail::size_prices> by_sizes;

    result<void> settle(detail::size_prices& book, const digest128& from) const;
};

/// Everything that stored decisions reach from here, cheapest first: a kernel has its price once the kernels that make it cheaper have
/// theirs (sums of positive times only grow), so loops in a store end by themselves and no order of visit shows in a price.
result<void> price_book::state::settle(detail::size_prices& book, const digest128& from) const {
    constexpr std::uint32_t whole = 0xffffffffu;
    struct arm {
        std::uint32_t parent;
        store::knob_list knobs;
        std::string key;
        std::vector<digest128> pieces;
        std::uint32_t waits = 0;   // pieces without a price, each counted as often as it stands there
        bool circular = false;
    };
    struct node {
        digest128 id;
        std::optional<double> leaf, best;
        std::uint32_t by = whole;             // arm that made `best`
        std::vector<std::uint32_t> arms, readers;  // readers: arms that it is a piece of, once per place
    };
    std::vector<node> nodes;
    std::vector<arm> arms;
    std::unordered_map<digest128, std::uint32_t, detail::digest_hash> place;
    const auto reach = [&](const digest128& id) {
        const auto [at, fresh] = place.try_emplace(id, static_cast<std::uint32_t>(nodes.size()));
        if (fresh) nodes.push_back({id, {}, {}, whole, {}, {}});
        return at->second;
    };
    reach(from);
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        const digest128 id = nodes[n].id;
        if (const auto known = book.of.find(id); known != book.of.end()) {  // all that it reaches has its price too
            nodes[n].best = known->second.best();
            continue;
        }
        EMMY_TRY(leaf, detail::leaf_at(*evidence, rank, id, book.sizes));
        nodes[n].leaf = leaf;
        EMMY_TRY(routes, store::routes_of(evidence->transaction(), id));
        for (store::route& r : routes) {
            EMMY_TRY(knobs, store::read_row(evidence->transaction(), r.arm));
            std::string key = store::canonical_row_key(knobs);
            const auto a = static_cast<std::uint32_t>(arms.size());
            arms.push_back({n, std::move(knobs), std::move(key), r.children, static_cast<std::uint32_t>(r.children.size()), false});
            nodes[n].arms.push_back(a);
            for (const digest128& c : r.children) nodes[reach(c)].readers.push_back(a);  // reach() may move nodes
        }
    }
    // Candidates, cheapest first; of equal ones the kernel that stays whole, then the arm's canonical key, then the kernel.
    struct offer {
        double us;
        std::uint32_t node, arm;
    };
    const auto later = [&](const offer& a, const offer& b) {
        if (a.us != b.us) return a.us > b.us;
        if ((a.arm == whole) != (b.arm == whole)) return b.arm == whole;
        if (a.arm != whole && arms[a.arm].key != arms[b.arm].key) return arms[a.arm].key > arms[b.arm].key;
        return nodes[b.node].id < nodes[a.node].id;
    };
    std::priority_queue<offer, std::vector<offer>, decltype(later)> queue(later);
    const auto sum = [&](const arm& a) {
        double us = 0;
        for (const digest128& c : a.pieces) us += *nodes[place.at(c)].best;
        return us;
    };
    const auto settled = [&](std::uint32_t n) {
        for (const std::uint32_t a : nodes[n].readers)
            if (--arms[a].waits == 0) queue.push({sum(arms[a]), arms[a].parent, a});
    };
    // Does the cheapest way to run this piece run that kernel?
    const auto runs = [&](std::uint32_t piece, std::uint32_t kernel) {
        std::vector<std::uint32_t> open{piece};
        std::vector<bool> seen(nodes.size(), false);
        while (!open.empty()) {
            const std::uint32_t n = open.back();
            open.pop_back();
            if (n == kernel) return true;
            if (seen[n]) continue;
            seen[n] = true;
            if (nodes[n].by == whole) continue;
            for (const digest128& c : arms[nodes[n].by].pieces) open.push_back(place.at(c));
        }
        return false;
    };
    const std::size_t total = nodes.size();
    for (std::uint32_t n = 0; n < total; ++n)
        if (nodes[n].leaf) queue.push({*nodes[n].leaf, n, whole});
    for (std::uint32_t n = 0; n < total; ++n)
        if (nodes[n].best) settled(n);
    while (!queue.empty()) {
        const offer next = queue.top();
        queue.pop();
        if (next.arm != whole)
            for (const digest128& c : arms[next.arm].pieces) arms[next.arm].circular = arms[next.arm].circular || runs(place.at(c), next.node);
        if (nodes[next.node].best || (next.arm != whole && arms[next.arm].circular)) continue;
        nodes[next.node].best = next.us;
        nodes[next.node].by = next.arm;
        settled(next.node);
    }
    for (const node& n : nodes) {
        if (book.of.contains(n.id)) continue;
        kernel_price& out = book.of[n.id];
        out.leaf = n.leaf;
        for (const std::uint32_t a : n.arms) {
            if (arms[a].waits != 0 || arms[a].circular) ++out.unpriced;
            else out.arms.push_back({arms[a].knobs, arms[a].pieces, sum(arms[a])});
        }
        std::sort(out.arms.begin(), out.arms.end(), [](const priced_arm& a, const priced_arm& b) {
            return a.us != b.us ? a.us < b.us : store::canonical_row_key(a.arm) < store::canonical_row_key(b.arm);
        });
    }
    return {};
}

EMMY_DECL price_book::price_book(const snapshot& evidence, producer_rank rank) : state_(std::make_unique<state>()) {
    state_->evidence = &evidence;
    state_->rank = rank;
}
EMMY_DECL price_book::~price_book() = default;
EMMY_DECL price_book::price_book(price_book&&) noexcept = default;

EMMY_DECL result<const kernel_price*> price_book::price(const digest128& kernel, const store::binding_list& bindings) {
    detail::size_prices& book = state_->by_sizes[store::bind_key(bindings)];
    if (book.of.empty()) book.sizes = bindings;
    auto found = book.of.find(kernel);
    if (found == book.of.end()) {
        EMMY_CHECK_OK(state_->settle(book, kernel));
        found = book.of.find(kernel);
    }
    return &found->second;
}

}  // namespace emmy::evidence
