#pragma once
#include <emmy/device/cuda/measure.hpp>

#include <memory>

namespace emmy::device::cuda {

EMMY_DECL subject subject_of(const context& card, std::vector<launch_step> steps) {
    return {[card, steps = std::move(steps)](void* stream) -> result<void> {
        for (const launch_step& step : steps) EMMY_CHECK_OK(card.launch(step, stream));
        return {};
    }};
}

namespace detail {

/// One subject on its way through the rounds.
struct timed_subject {
    const context* card = nullptr;
    const subject* what = nullptr;
    void* stream = nullptr;
    handle before, after;
    graph recorded;
    int recorded_times = 0;
    bool record = true;
    fault why;  ///< of the last failure

    bool put(int n) {
        if (recorded_times == n) {
            auto done = card->replay(recorded, stream);
            if (!done) why = done.error();
            return done.has_value();
        }
        for (int i = 0; i < n; ++i)
            if (auto done = what->put(stream); !done) {
                why = done.error();
                return false;
            }
        return true;
    }
    double seconds(int n) {
        const auto ok = [&](const auto& done) {
            if (!done) why = done.error();
            return done.has_value();
        };
        if (!ok(card->record(before, stream)) || !put(n) || !ok(card->record(after, stream)) || !ok(card->wait(stream))) return -1;
        const auto us = card->elapsed_us(before, after);
        return ok(us) ? *us * 1e-6 : -1;
    }
};

}  // namespace detail

EMMY_DECL result<timing> time_rounds(const context& card, const std::vector<subject>& subjects, const effort& how) {
    EMMY_TRY(stream, card.make_stream());
    memory flush;
    if (how.cold) {
        EMMY_TRY(room, card.allocate(2 * card.cache_bytes()));
        flush = std::move(room);
    }
    for (const bool record : {true, false}) {
        std::vector<detail::timed_subject> all(subjects.size());
        std::vector<timed> rounds;
        bool recorded = true;
        for (std::size_t i = 0; i < subjects.size(); ++i) {
            detail::timed_subject& one = all[i];
            one.card = &card, one.what = &subjects[i], one.stream = stream.get(), one.record = record;
            EMMY_TRY(before, card.make_event());
            EMMY_TRY(after, card.make_event());
            one.before = std::move(before), one.after = std::move(after);
            timed round;
            round.clock = [&one](int n) { return one.seconds(n); };
            if (how.cold) round.evict = [&] { (void)card.fill(flush.address(), 0, flush.bytes, stream.get()); };
            if (record)
                round.prepare = [&one, &recorded](int n) {
                    auto made = one.card->capture([&](void* on) -> result<void> {
                        for (int k = 0; k < n; ++k) EMMY_CHECK_OK(one.what->put(on));
                        return {};
                    }, one.stream);
                    if (made) one.recorded = std::move(*made), one.recorded_times = n;
                    else recorded = false, one.why = made.error();
                };
            rounds.push_back(std::move(round));
        }
        auto timed_all = device::time_rounds(rounds, how);
        if (!recorded && record) continue;  // all of them again, unrecorded
        if (!timed_all) {
            for (const auto& one : all)
                if (!one.why.message().empty()) return refuse(one.why);
            return refuse(timed_all.error());
        }
        return timing{std::move(*timed_all), recorded && record};
    }
    return refuse(fault_kind::internal, "unreachable");
}

}  // namespace emmy::device::cuda
