#pragma once
// Stores with routes, and what is decided by them: the worked example of the format's documentation and what tests vary of it.
#include <emmy/evidence.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

#include <algorithm>
#include <cmath>

namespace emmy::test::kernel_sets {

using namespace emmy::evidence;

inline const std::string own_producer = "emmy-cpp/1", here = "measured:h:emmy-cpp/1", golden_label_ = "golden:0123456789ab";
inline digest128 id(std::uint64_t n) { return {0x51 * n, n}; }
inline const digest128 P = id(1), A = id(2), B = id(3);
inline const store::knob_list cut{{"PLACE@map.1/inner", "cut"}};
inline store::knob_list coop(const std::string& work) { return {{"RASTER", ""}, {"REDUCE", "coop"}, {"WORK", work}}; }
inline const store::knob_list tiled{{"RASTER", ""}, {"REDUCE", ""}, {"STAGE", "d3/smem-tma"}, {"TILE", "f4x4"}, {"WORK", "t16x8"}};
inline store::context card() { return {"cuda", "Card X", 90, 3, false, "--use_fast_math"}; }
inline const store::binding_list n512{{"n", 512}};

inline void kernels(const store::environment& db, std::initializer_list<digest128> ids) {
    EMMY_REQUIRE_OK(db.write([&](store::write_transaction& txn) -> result<void> {
        for (const digest128& d : ids) EMMY_CHECK_OK(store::put_kernel(txn, test::a_kernel(d, "k_" + std::to_string(d.high))));
        return {};
    }));
}
inline void route(const store::environment& db, const digest128& parent, const store::knob_list& arm, std::vector<digest128> children) {
    EMMY_REQUIRE_OK(db.write([&](store::write_transaction& txn) -> result<void> {
        EMMY_TRY(row, store::put_row(txn, store::row_kind::placement, arm));
        return store::put_route(txn, parent, row, children);
    }));
}
inline void measured(const store::environment& db, const digest128& k, const store::binding_list& sizes, const store::knob_list& row, double us, const std::string& label = here,
              const std::string& producer = own_producer, store::outcome how = store::outcome::captured) {
    test::add(db, row, test::time(us, how), label, "", sizes, card(), k, producer);
}

struct example {
    bool r1 = true, r2 = true, r3 = true, r4 = true;
    store::environment store() const {
        auto db = store::environment::temporary(store::store_kind::tuning);
        BOOST_REQUIRE(db);
        kernels(*db, {P, A, B});
        route(*db, P, cut, {A, B});
        if (r1) measured(*db, P, n512, coop("t256"), 40);
        if (r2) measured(*db, A, n512, coop("t128"), 12);
        if (r3) measured(*db, A, n512, coop("t256"), 9.5);
        if (r4) measured(*db, B, {}, tiled, 21);
        return *db;
    }
};

/// By stored rows and routes; first options exist, so that a fork that nothing measured has an answer.
class small_forks : public stored_forks {
public:
    using stored_forks::stored_forks;
    result<std::unique_ptr<option_space>> schedules(const subject&, const knob::pin_list&, std::span<const store::knob_list> blocked) override {
        struct space final : option_space {
            std::vector<store::knob_list> left;
            std::optional<store::knob_list> option_for(const store::knob_list& row) const override {
                if (std::find(left.begin(), left.end(), row) == left.end()) return {};
                return row;
            }
            result<store::knob_list> first() const override { return left.front(); }
            bool single() const override { return false; }
        };
        auto out = std::make_unique<space>();
        for (const auto& row : {coop("t32"), coop("t128"), coop("t256"), tiled})
            if (std::find(blocked.begin(), blocked.end(), row) == blocked.end()) out->left.push_back(row);
        return std::unique_ptr<option_space>(out->left.empty() ? nullptr : std::move(out));
    }
};

struct asked {
    store::binding_list sizes = n512;
    resolve_options options = {};
    std::vector<std::string> labels = {};
};
inline result<resolution> compile(const store::environment& db, const digest128& k, const asked& a = {}) {
    const auto evidence = snapshot::open(db, card(), a.labels, own_producer);
    BOOST_REQUIRE_MESSAGE(evidence, test::why(evidence));
    small_forks forks(*evidence);
    const std::vector<subject> targets{{"k_p", k, a.sizes}};
    return resolve(targets, &*evidence, forks, a.options);
}
inline resolution must(result<resolution> r) {
    BOOST_REQUIRE_MESSAGE(r, test::why(r));
    return std::move(*r);
}
inline const record& fork_of(const resolution& r, std::size_t kernel = 0) {
    BOOST_REQUIRE(!r.kernels.at(kernel).forks.empty());
    return r.kernels[kernel].forks.front();
}
inline std::string work_of(const resolution& r, std::size_t leaf) { return knobs_text(r.kernels[r.leaves.at(leaf)].schedule.value().chosen); }
inline std::optional<double> price_of(const store::environment& db, const digest128& k, const store::binding_list& sizes = n512, producer_rank rank = producer_rank::own,
                               std::vector<std::string> labels = {}) {
    const auto evidence = snapshot::open(db, card(), labels, own_producer);
    price_book book(*evidence, rank);
    const auto price = book.price(k, sizes);
    BOOST_REQUIRE(price);
    return (*price)->best();
}

}  // namespace emmy::test::kernel_sets
