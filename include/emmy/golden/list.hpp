#pragma once
#include <emmy/core/config.hpp>
#include <emmy/golden/document.hpp>

/// What `emmy-restamp list` shows: measured rows and whole-target times, slowest against torch.compile first; what is missing.
namespace emmy::golden {

struct list_filter {
    std::string card;    ///< part of the card's name; empty = all
    std::string kernel = {};  ///< part of the row's name or of the kernel's reference
    bool behind = false; ///< only entries slower than torch.compile
};

/// One (row, card): each card of the row's latency, and the file's own card when the row is measured.
struct list_entry {
    const document* file = nullptr;
    row_index row = none;
    std::string_view card;
    bool own_card = false;                ///< the row's measurement belongs to this card
    const golden::latency* whole = nullptr;

    double vs_tcompile() const { return whole && whole->tcompile_us ? whole->emmy_us.value / whole->tcompile_us.value : 0; }
};
/// Sorted: vs_tcompile descending (none = 0), then emmy_us (else the whole target's) descending; stable.
EMMY_DECL std::vector<list_entry> list(std::span<const document* const> files, const list_filter& filter);

/// A proposal to measure, or a group (root target, pins) that has neither a proposal nor a torch.compile time.
struct missing_entry {
    const document* file = nullptr;
    row_index row = none;
    bool tcompile = false;  ///< what is missing: torch.compile's time, else ours
    bool piece = false;     ///< the row's kernel is no target
};
/// Proposals first.
EMMY_DECL std::vector<missing_entry> missing(std::span<const document* const> files, const list_filter& filter);

}  // namespace emmy::golden

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/list.ipp>
#endif
