// A writer killed at any moment: every commit it announced is there, nothing half, and the next writer goes on.
#include <emmy/store.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

#include <chrono>
#include <iostream>
#include <thread>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace emmy;
using namespace emmy::store;

namespace {

struct progress {
    std::atomic<std::uint32_t> committed;  ///< last number announced
    std::atomic<std::uint32_t> inside;     ///< 1 while a transaction is open
};
progress& shared_progress() {
    void* page = ::mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    BOOST_REQUIRE(page != MAP_FAILED);
    return *new (page) progress{};
}

constexpr std::uint32_t rows_per_source = 40;

/// Source n: one record and 40 measurements, in one transaction.
result<void> write_source(write_transaction& txn, std::uint32_t n) {
    EMMY_CHECK_OK(put_kernel(txn, test::a_kernel()));
    EMMY_TRY(ctx, put_context(txn, test::a_context()));
    EMMY_TRY(src, put_source(txn, {std::string("golden:").append(std::to_string(n)), "peer", "", n, 0, 0, 0, rows_per_source}));
    for (std::uint32_t i = 0; i < rows_per_source; ++i) {
        EMMY_TRY(row, put_row(txn, row_kind::schedule, {{"WORK", std::string("t").append(std::to_string(32 * (1 + i)))}}));
        EMMY_TRY(stored, put_measurement(txn, ctx, test::one_kernel, 0, row, src, test::time(1 + i + n * 0.001)));
        (void)stored;
    }
    return {};
}

/// Writes sources from `first` on until it is killed.
[[noreturn]] void writer(const std::string& path, std::uint32_t first, progress& seen) {
    const auto db = environment::open(path, {.mode = access::write, .kind = store_kind::dataset});
    if (!db) ::_exit(9);
    for (std::uint32_t n = first;; ++n) {
        const auto done = db->write([&](write_transaction& txn) {
            seen.inside = 1;
            return write_source(txn, n);
        });
        if (!done) ::_exit(8);
        seen.inside = 0;
        seen.committed = n;
    }
}

std::uint32_t sources_in(const environment& db, bool& whole) {
    auto txn = db.read();
    BOOST_REQUIRE_MESSAGE(txn, test::why(txn));
    std::vector<std::uint32_t> rows;
    EMMY_REQUIRE_OK(for_each_measurement(*txn, {}, [&](const measurement& m) {
        if (rows.size() <= m.key.src) rows.resize(m.key.src + 1);
        ++rows[m.key.src];
        return true;
    }));
    const auto sources = all_sources(*txn);
    BOOST_REQUIRE_MESSAGE(sources, test::why(sources));
    for (const auto& [id, s] : *sources) whole = whole && id < rows.size() && rows[id] == rows_per_source;
    return static_cast<std::uint32_t>(sources->size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_hundred_kills) {
    const test::scratch dir;
    progress& seen = shared_progress();
    std::uint32_t inside = 0, announced = 0, first = 1, kills = 0;
    bool whole = true;
    unsigned pause = 12345;
    while (kills < 200) {
        seen.inside = 0;
        const pid_t child = ::fork();
        BOOST_REQUIRE(child >= 0);
        if (child == 0) writer(dir / "db", first, seen);
        // Let it commit at least once now and then, and stop it at an arbitrary moment (inside a transaction most of the time).
        pause = pause * 1103515245u + 12345u;
        const auto start = std::chrono::steady_clock::now();
        const std::uint32_t goal = kills % 4 == 3 ? first : 0;
        while (std::chrono::steady_clock::now() - start < std::chrono::seconds(5) && (seen.committed < goal || !seen.inside)) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(pause >> 16 & 2047));
        ::kill(child, SIGSTOP);
        int status = 0;
        ::waitpid(child, &status, WUNTRACED);
        BOOST_REQUIRE(WIFSTOPPED(status));
        inside += seen.inside;
        announced = seen.committed;
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
        ++kills;
        {
            const auto db = environment::open(dir / "db", {.mode = access::write, .kind = store_kind::dataset});
            BOOST_REQUIRE_MESSAGE(db, test::why(db));
            const std::uint32_t there = sources_in(*db, whole);
            BOOST_REQUIRE_MESSAGE(there >= announced, there << " sources, " << announced << " were announced");
            first = there + 1;
            if (kills % 20 == 0) test::require_clean(*db);
        }
    }
    BOOST_TEST(whole);
    BOOST_TEST(inside >= 100u);
    std::cout << kills << " kills, " << inside << " inside an open transaction, " << first - 1 << " sources stored, " << announced << " announced\n";
}

BOOST_AUTO_TEST_CASE(two_writers_and_four_readers) {
    const test::scratch dir;
    const std::string path = dir / "db";
    { BOOST_REQUIRE(environment::open(path, {.mode = access::write, .kind = store_kind::dataset})); }
    std::vector<pid_t> children;
    constexpr std::uint32_t each = 40;
    for (int w = 0; w < 2; ++w) {
        const pid_t child = ::fork();
        if (child == 0) {
            const auto db = environment::open(path, {.mode = access::write, .kind = store_kind::dataset, .map_bytes = 256 << 10});
            if (!db) ::_exit(1);
            for (std::uint32_t n = 0; n < each; ++n)
                if (!db->write([&](write_transaction& txn) { return write_source(txn, 1000u * static_cast<std::uint32_t>(w + 1) + n); })) ::_exit(2);
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (int r = 0; r < 4; ++r) {
        const pid_t child = ::fork();
        if (child == 0) {
            const auto db = environment::open(path, {.mode = access::read, .map_bytes = 256 << 10});
            if (!db) ::_exit(1);
            for (std::size_t last = 0; last < 2 * each;) {
                auto txn = db->read();
                if (!txn) ::_exit(2);
                std::size_t rows = 0;
                if (!for_each_measurement(*txn, {}, [&](const measurement&) { return ++rows, true; })) ::_exit(3);
                const auto sources = all_sources(*txn);
                if (!sources || rows != sources->size() * rows_per_source || sources->size() < last) ::_exit(4);  // whole sources only, never fewer
                last = sources->size();
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0), "child ended with " << status);
    }
    const auto db = environment::open(path, {.mode = access::read});
    bool whole = true;
    BOOST_TEST(sources_in(*db, whole) == 2 * each);
    BOOST_TEST(whole);
    BOOST_TEST(db->epoch().value() == 2 * each);
    test::require_clean(*db);
}

BOOST_AUTO_TEST_CASE(readers_that_died_are_forgotten) {
    const test::scratch dir;
    const std::string path = dir / "db";
    const auto db = environment::open(path, {.mode = access::write, .kind = store_kind::dataset});
    BOOST_REQUIRE_MESSAGE(db, test::why(db));
    const auto one_dies = [&] {
        const pid_t child = ::fork();
        if (child == 0) {
            const auto own = environment::open(path, {.mode = access::read});
            if (!own) ::_exit(1);
            const auto txn = own->read();
            ::kill(::getpid(), SIGKILL);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        BOOST_TEST(WIFSIGNALED(status));
    };
    one_dies();
    one_dies();  // clears the slot of the first when it opens
    BOOST_TEST(db->clear_stale_readers().value() == 1);
    BOOST_TEST(db->clear_stale_readers().value() == 0);
    one_dies();
    const pid_t child = ::fork();
    if (child == 0) {
        const auto own = environment::open(path, {.mode = access::read});
        ::_exit(own ? own->stale_readers_cleared() : 99);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST(WEXITSTATUS(status) == 1);
}
