#pragma once
#include <emmy/store/records.hpp>

namespace emmy::store {

/// What the write rule reads of a stored or an offered measurement.
struct write_claim {
    bool local = false;  ///< measured here, not read from a file
    outcome how = outcome::captured;
    double median = 0;
};

enum class write_decision : std::uint8_t { keep_stored, store_offered };

struct write_verdict {
    write_decision decision;
    int step;  ///< the rule's step that decided, 2 … 7 (1 = nothing stored yet)
};

/// The peer's keep-best rule between two measurements of one key. The store applies it inside one source only (sources are part
/// of the key), where step 2 never fires; readers of the peer's single-source tables need the whole of it.
constexpr write_verdict decide_write(const write_claim& stored, const write_claim& offered) {
    using enum write_decision;
    const bool stored_ok = stored.how != outcome::failed, offered_ok = offered.how != outcome::failed;
    if (stored.local && !offered.local) return {keep_stored, 2};
    if (stored_ok && !offered_ok) return {keep_stored, 3};
    if (stored_ok && offered_ok && stored.how != offered.how)
        return stored.how == outcome::captured ? write_verdict{keep_stored, 4} : write_verdict{store_offered, 5};
    if (stored_ok && offered_ok && offered.median >= stored.median) return {keep_stored, 6};
    return {store_offered, 7};
}

}  // namespace emmy::store
