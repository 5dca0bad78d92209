// No room: limits on file size, full file systems, stores that cannot be written. What was stored stays, the fault names the cause.
#include <emmy/store.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

#include <cerrno>
#include <cstring>
#include <iostream>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace emmy;
using namespace emmy::store;

namespace {
result<void> put_block(const environment& db, std::uint32_t n, std::size_t bytes) {
    const std::string value(bytes, static_cast<char>('a' + n % 26));
    return db.write([&](write_transaction& txn) { return txn.put(layout::table::meta, layout::key().u32(n), value); });
}

/// Runs in a child; 0 = fine. Prints what failed.
template <class Body>
int in_child(Body&& body) {
    std::cout.flush();
    const pid_t child = ::fork();
    if (child == 0) {
        const int code = body();
        std::cout.flush();
        ::_exit(code);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
int failed(const char* what) {
    std::cout << what << '\n';
    return 1;
}

/// Fills until a write fails; then everything announced must be readable, and small writes work again once there is room.
template <class MakeRoom>
int fill(const std::string& path, const char* cause, MakeRoom&& make_room) {
    std::uint32_t written = 0;
    {
        const auto db = environment::open(path, {.mode = access::write, .kind = store_kind::dataset});
        if (!db) return failed(db.error().line().c_str());
        for (; written < 1000; ++written) {
            const auto done = put_block(*db, written, 100'000);
            if (done) continue;
            if (done.error().kind() != fault_kind::store || done.error().line().find(cause) == std::string::npos || done.error().file() != path) return failed(done.error().line().c_str());
            break;
        }
        if (written == 0 || written == 1000) return failed("nothing was refused");
        for (std::uint32_t n = 0; n < written; ++n)
            if (!db->read()->get(layout::table::meta, layout::key().u32(n)).value()) return failed("an announced block is gone");
        make_room();
        if (!put_block(*db, written, 100'000)) return failed("no write after there was room again");
    }
    const auto again = environment::open(path, {.mode = access::read});
    if (!again) return failed(again.error().line().c_str());
    auto txn = again->read();
    for (std::uint32_t n = 0; n <= written; ++n)
        if (!txn->get(layout::table::meta, layout::key().u32(n)).value()) return failed("a block is gone after opening again");
    std::cout << written << " blocks of 100 kB fitted\n";
    return 0;
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_limit_on_file_size) {
    const test::scratch dir;
    BOOST_TEST(in_child([&] {
        rlimit limit{2 << 20, RLIM_INFINITY};
        ::setrlimit(RLIMIT_FSIZE, &limit);  // SIGXFSZ stays at its default: the end of the process
        return fill(dir / "db", "the limit on file size is 2097152 bytes", [] {
            rlimit none{RLIM_INFINITY, RLIM_INFINITY};
            ::setrlimit(RLIMIT_FSIZE, &none);
        });
    }) == 0);
}

BOOST_AUTO_TEST_CASE(a_full_file_system) {
    const test::scratch dir;
    const int code = in_child([&] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || ::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
            std::cout << "skipped: a 4 MiB tmpfs cannot be mounted here (" << std::strerror(errno) << ")\n";
            return 77;
        }
        return fill(dir / "db", "the file system is full", [&] { ::mount("tmpfs", dir.path().c_str(), "tmpfs", MS_REMOUNT, "size=16m"); });
    });
    BOOST_TEST((code == 0 || code == 77));
}

BOOST_AUTO_TEST_CASE(a_store_that_may_only_be_read) {
    const test::scratch dir;
    const std::string path = dir / "db";
    {
        const auto db = environment::open(path, {.mode = access::write, .kind = store_kind::dataset});
        BOOST_REQUIRE_MESSAGE(db, test::why(db));
        EMMY_REQUIRE_OK(put_block(*db, 1, 10));
    }
    ::chmod(dir.path().c_str(), 0755);
    ::chmod((path + "/data.mdb").c_str(), 0444);
    ::chmod((path + "/lock.mdb").c_str(), 0444);
    ::chmod(path.c_str(), 0555);
    const int code = in_child([&] {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return failed("cannot become nobody");
        const auto written = environment::open(path, {.mode = access::write, .kind = store_kind::dataset});
        if (written || written.error().kind() != fault_kind::store || written.error().line().find("Permission denied") == std::string::npos) return failed("a writer was not refused");
        const auto db = environment::open(path, {.mode = access::read});
        if (!db) return failed(db.error().line().c_str());
        if (db->notes().empty() || db->notes().front().find("without a reader lock") == std::string::npos) return failed("no note on the missing lock");
        return db->read()->get(layout::table::meta, layout::key().u32(1)).value() ? 0 : failed("not readable");
    });
    BOOST_TEST(code == 0);
    ::chmod(path.c_str(), 0755);
}
