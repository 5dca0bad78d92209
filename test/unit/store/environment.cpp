// store/environment.hpp: kinds, versions, snapshots, growth, one environment a process.
#include <emmy/store.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

#include <fstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace emmy;
using namespace emmy::store;

namespace {
open_options writer(std::optional<store_kind> kind = store_kind::tuning, std::uint32_t identity = 0) { return {.mode = access::write, .kind = kind, .identity_version = identity}; }
open_options reader(std::optional<store_kind> kind = {}, std::uint32_t identity = 0) { return {.mode = access::read, .kind = kind, .identity_version = identity}; }
std::string refusal(const result<environment>& r) { return r ? "opened" : r.error().line(); }
result<void> put_number(const environment& db, std::uint32_t n) {
    return db.write([&](write_transaction& txn) { return txn.put(layout::table::meta, layout::key().u32(n), "x"); });
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_reader_creates_nothing) {
    const test::scratch dir;
    BOOST_TEST(refusal(environment::open(dir / "none", reader())).find("found no store") != std::string::npos);
    BOOST_TEST(!std::filesystem::exists(dir / "none"));
    std::ofstream(dir / "file") << "x";
    BOOST_TEST(refusal(environment::open(dir / "file", writer())).find("found a file, expected a store directory") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_store_keeps_its_kind) {
    const test::scratch dir;
    BOOST_TEST(refusal(environment::open(dir / "a/b/db", writer({}))).find("kind is not given") != std::string::npos);
    { BOOST_REQUIRE(environment::open(dir / "a/b/db", writer(store_kind::dataset))); }
    BOOST_TEST(refusal(environment::open(dir / "a/b/db", writer(store_kind::tuning))).find("found a dataset store, expected a tuning store") != std::string::npos);
    const auto any = environment::open(dir / "a/b/db/", reader());
    BOOST_REQUIRE(any);
    BOOST_TEST((any->kind() == store_kind::dataset));
    BOOST_TEST(refusal(environment::open(dir / "a/b/db", reader(store_kind::tuning))).find("found a dataset store") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_version_is_refused_or_moved_aside) {
    const test::scratch dir;
    { BOOST_REQUIRE(environment::open(dir / "db", writer())); }
    BOOST_TEST(refusal(environment::open(dir / "db", reader({}, 1))).find("found a store of version 1.0, expected 1.1") != std::string::npos);
    // Another kind is never moved aside.
    BOOST_TEST(refusal(environment::open(dir / "db", writer(store_kind::dataset, 1))).find("found a tuning store of another version") != std::string::npos);
    {
        const auto moved = environment::open(dir / "db", writer(store_kind::tuning, 1));
        BOOST_REQUIRE_MESSAGE(moved, refusal(moved));
        BOOST_REQUIRE_EQUAL(moved->notes().size(), 1u);
        BOOST_TEST(moved->notes().front().find("moved to") != std::string::npos);
    }
    BOOST_TEST(std::filesystem::exists(dir / "db.old-1.0/data.mdb"));
    BOOST_TEST(refusal(environment::open(dir / "db.old-1.0", reader())) == "opened");
    BOOST_TEST(refusal(environment::open(dir / "db", reader({}, 1))) == "opened");
}

BOOST_AUTO_TEST_CASE(a_second_open_shares_the_first) {
    const test::scratch dir;
    auto first = environment::open(dir / "db", writer());
    BOOST_REQUIRE(first);
    std::filesystem::create_directory_symlink(dir / "db", dir / "alias");
    auto second = environment::open(dir / "alias", reader());
    BOOST_REQUIRE_MESSAGE(second, refusal(second));
    auto snapshot = second->read();
    EMMY_REQUIRE_OK(put_number(*first, 1));
    BOOST_TEST(!snapshot->get(layout::table::meta, layout::key().u32(1))->has_value());  // a snapshot does not move
    BOOST_TEST(second->read()->get(layout::table::meta, layout::key().u32(1))->has_value());
    first = environment::open(dir / "db", writer());  // while the second handle keeps it open
    BOOST_TEST(first.has_value());
}

BOOST_AUTO_TEST_CASE(open_for_reading_first_refuses_a_writer) {
    const test::scratch dir;
    { BOOST_REQUIRE(environment::open(dir / "db", writer())); }
    const auto first = environment::open(dir / "db", reader());
    BOOST_REQUIRE(first);
    BOOST_TEST(refusal(environment::open(dir / "db", writer())).find("open for reading") != std::string::npos);
    BOOST_TEST(put_number(*first, 1).error().line().find("opened for reading, asked to write") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_second_writer_in_one_thread_is_refused_instead_of_hanging) {
    const auto db = environment::temporary(store_kind::tuning);
    const auto done = db->write([&](write_transaction&) { return put_number(*db, 1); });
    BOOST_REQUIRE(!done);
    BOOST_TEST((done.error().kind() == fault_kind::internal));
    EMMY_REQUIRE_OK(put_number(*db, 2));
}

BOOST_AUTO_TEST_CASE(the_map_grows_and_the_transaction_runs_again) {
    const auto db = environment::temporary(store_kind::tuning, 0, 64 << 10);
    BOOST_REQUIRE_MESSAGE(db, refusal(db));
    int runs = 0;
    const std::string value(1000, 'v');
    EMMY_REQUIRE_OK(db->write([&](write_transaction& txn) -> result<void> {
        ++runs;
        for (std::uint32_t i = 0; i < 2000; ++i) EMMY_CHECK_OK(txn.put(layout::table::meta, layout::key().u32(i), value));
        return {};
    }));
    BOOST_TEST(runs > 1);
    BOOST_TEST(db->map_bytes() > 2u << 20);
    BOOST_TEST(db->read()->get(layout::table::meta, layout::key().u32(1999))->has_value());
    BOOST_TEST(db->epoch().value() == 1u);
}

BOOST_AUTO_TEST_CASE(growth_waits_for_readers_and_then_says_why_not) {
    const auto db = environment::temporary(store_kind::tuning, 0, 64 << 10);
    const std::string value(1000, 'v');
    const auto fill = [&] {
        return db->write([&](write_transaction& txn) -> result<void> {
            for (std::uint32_t i = 0; i < 200; ++i) EMMY_CHECK_OK(txn.put(layout::table::meta, layout::key().u32(i), value));
            return {};
        });
    };
    {
        auto held = db->read();
        const auto done = fill();
        BOOST_REQUIRE(!done);
        BOOST_TEST(done.error().line().find("transactions of this process are live") != std::string::npos);
    }
    auto held = std::make_unique<result<read_transaction>>(db->read());
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        held.reset();
    });
    const auto done = fill();
    later.join();
    BOOST_TEST(done.has_value());
}

BOOST_AUTO_TEST_CASE(a_failed_body_leaves_no_trace) {
    const auto db = environment::temporary(store_kind::tuning);
    const auto done = db->write([&](write_transaction& txn) -> result<void> {
        EMMY_CHECK_OK(txn.put(layout::table::meta, "k", "v"));
        return refuse(fault_kind::user, "no");
    });
    BOOST_TEST(done.error().line() == "no");
    BOOST_TEST(!db->read()->get(layout::table::meta, "k")->has_value());
    BOOST_TEST(db->epoch().value() == 0u);
}

BOOST_AUTO_TEST_CASE(a_truncated_store_is_refused) {
    const test::scratch dir;
    {
        const auto db = environment::open(dir / "db", writer());
        const std::string value(2000, 'v');
        EMMY_REQUIRE_OK(db->write([&](write_transaction& txn) -> result<void> {
            for (std::uint32_t i = 0; i < 4000; ++i) EMMY_CHECK_OK(txn.put(layout::table::meta, layout::key().u32(i), value));
            return {};
        }));
    }
    std::filesystem::resize_file(dir / "db/data.mdb", 64 << 10);
    BOOST_TEST(refusal(environment::open(dir / "db", reader())).find("truncated") != std::string::npos);
    std::filesystem::resize_file(dir / "db/data.mdb", 100);
    BOOST_TEST(refusal(environment::open(dir / "db", reader())).find("mdb_env_open") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_child_uses_nothing_it_inherited) {
    const test::scratch dir;
    const auto db = environment::open(dir / "db", writer());
    BOOST_REQUIRE(db);
    EMMY_REQUIRE_OK(put_number(*db, 1));
    const pid_t child = ::fork();
    if (child == 0) {
        const auto read = db->read();
        const bool refused = !read && read.error().line().find("across a fork") != std::string::npos;
        auto own = environment::open(dir / "db", reader());  // its own open is fine
        ::_exit(refused && own && own->read()->get(layout::table::meta, layout::key().u32(1))->has_value() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST(WEXITSTATUS(status) == 0);
    EMMY_REQUIRE_OK(put_number(*db, 2));
}

BOOST_AUTO_TEST_CASE(temporary_stores_leave_nothing_behind) {
    std::string path;
    {
        const auto db = environment::temporary(store_kind::tuning);
        path = db->path();
        BOOST_TEST(std::filesystem::exists(path + "/data.mdb"));
    }
    BOOST_TEST(!std::filesystem::exists(path));
}
