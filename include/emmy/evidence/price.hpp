#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/evidence/index.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What a kernel costs by measured rows alone: its own, or those of the pieces that stored decisions left of it.
namespace emmy::evidence {

/// A stored decision with a time: every piece of it is measured, itself or through decisions of its own.
struct priced_arm {
    store::knob_list arm;             ///< as stored
    std::vector<digest128> pieces;    ///< in fragment order; one may stand twice
    double us = 0;                    ///< sum over the pieces
};

/// The price of one kernel at one set of sizes by one rank of producers.
struct kernel_price {
    std::optional<double> leaf;            ///< its fastest row
    std::vector<priced_arm> arms;          ///< fastest first; equal ones by canonical key
    std::uint32_t unpriced = 0;            ///< stored decisions with a piece that has no price
    /// min(leaf, arms): a kernel that runs whole before one that is taken apart in the same time.
    std::optional<double> best() const {
        if (arms.empty() || (leaf && *leaf <= arms.front().us)) return leaf;
        return arms.front().us;
    }
};

/// Prices under one snapshot. Each kernel is priced once per sizes; decisions that lead back to a kernel they came from add nothing
/// (a cheapest set of pieces never holds its own whole), so that what a store says, in whatever order, has one price.
/// Rows of exactly these sizes count, restricted to the symbols that a piece has. One thread at a time; outlived by the snapshot.
class price_book {
public:
    EMMY_DECL price_book(const snapshot& evidence, producer_rank rank);
    EMMY_DECL ~price_book();
    EMMY_DECL price_book(price_book&&) noexcept;

    /// The reference lives as long as the book. Errors (store).
    EMMY_DECL result<const kernel_price*> price(const digest128& kernel, const store::binding_list& bindings);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/price.ipp>
#endif
