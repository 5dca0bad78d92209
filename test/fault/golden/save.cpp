// Saves that are killed or run out of room: no data/ half there, the one before untouched, the next one whole.
#include <emmy/core/archive/pt.hpp>
#include <emmy/core/file.hpp>
#include <emmy/golden/snapshot.hpp>

#include <support/tool.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace emmy;
using namespace emmy::golden::snapshot;
using emmy::test::scratch_folder;

namespace {

constexpr std::int64_t elements = 1 << 18;  // a MiB a tensor

std::vector<spec> specs() { return {input("x", {elements}, dtype::f32, uniform(dtype::f32, 1)), output("y", {elements}, dtype::f32), inout("z", {elements}, dtype::f32, uniform(dtype::f32, 2))}; }

/// y = x, z = 2 z, and `on_the_way` in the middle of it.
run_result save(const std::string& work_dir, std::uint64_t seed, const std::function<void()>& on_the_way = [] {}) {
    options how;
    how.work_dir = work_dir, how.save_data = true, how.seed = seed;
    how.say = [](std::string_view) {};
    const auto compute = [](buffers in, buffers out) {
        std::memcpy(out[1].data(), in[0].data(), in[0].size());
        for (std::size_t i = 0; i < elements; ++i) {
            float z = 0;
            std::memcpy(&z, in[2].data() + 4 * i, 4);
            z *= 2;
            std::memcpy(out[2].data() + 4 * i, &z, 4);
        }
    };
    how.golden_fn = [&](buffers given, buffers wanted) -> result<void> { return compute(given, wanted), result<void>(); };
    return run([&](buffers b) -> result<std::vector<double>> { return on_the_way(), compute(b, b), std::vector<double>{}; }, specs(), how);
}

/// Runs in a child; its exit code, or 128 and its signal.
template <class Body>
int in_child(Body&& body) {
    std::cout.flush();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
int failed(const std::string& what) {
    std::cout << what << std::endl;
    return 1;
}

std::size_t entries(const std::string& folder) { return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {})); }
bool whole(const std::string& data) {
    const auto read = load(data, specs());
    return read && read->good() && read->notes.empty();
}
std::uint64_t seed_of(const std::string& data) { return parse_manifest(read_file(data + "/snapshot.json").value(), "")->seed; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_killed_save_leaves_no_snapshot_and_the_next_one_is_whole) {
    const scratch_folder folder;
    const std::string work = folder / "work", data = work + "/data";
    // In the run, after everything was written.
    BOOST_CHECK_EQUAL(in_child([&] { return save(work, 1, [] { ::raise(SIGKILL); }).passed; }), 128 + SIGKILL);
    BOOST_CHECK(!std::filesystem::exists(data));
    BOOST_CHECK_EQUAL(entries(work), 1u);  // what it had written
    // While files are written: at growing times, as far as a whole save takes.
    int killed = 0;
    for (int microseconds = 500; microseconds < 2'000'000; microseconds = microseconds * 3 / 2) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(save(work, 2).passed ? 0 : 1);
        ::usleep(static_cast<unsigned>(microseconds));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        if (!WIFSIGNALED(status)) break;
        ++killed;
        if (std::filesystem::exists(data)) BOOST_CHECK(whole(data));  // killed after it was done
        std::filesystem::remove_all(data);
    }
    BOOST_CHECK_GT(killed, 0);
    ::sleep(3);  // what was made a moment ago may belong to a run that is just starting
    BOOST_CHECK(save(work, 3).passed);
    BOOST_CHECK(whole(data));
    BOOST_CHECK_EQUAL(entries(work), 1u);  // and what killed runs left is gone
    BOOST_CHECK_EQUAL(seed_of(data), 3u);
    // A killed one beside a whole one.
    BOOST_CHECK_EQUAL(in_child([&] { return save(work, 4, [] { ::raise(SIGKILL); }).passed; }), 128 + SIGKILL);
    BOOST_CHECK(whole(data));
    BOOST_CHECK_EQUAL(seed_of(data), 3u);
    BOOST_CHECK(save(work, 5).passed);
    BOOST_CHECK_EQUAL(seed_of(data), 5u);
}

BOOST_AUTO_TEST_CASE(a_limit_on_file_size_cuts_writes_short) {
    const scratch_folder folder;
    const std::string work = folder / "work", data = work + "/data";
    BOOST_REQUIRE(save(work, 1).passed);
    BOOST_CHECK_EQUAL(in_child([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        // The first write gives fewer bytes than asked for, the next one none.
        for (const rlim_t most : {rlim_t(0), rlim_t(100), rlim_t(1000), rlim_t(1 << 19), rlim_t((1 << 20) + 500)}) {
            const rlimit limit{most, RLIM_INFINITY};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            const run_result r = save(work, 2);
            if (r.passed || r.message.find(data + "/in/x.pt: cannot write: File too large") == std::string::npos) return failed(std::to_string(most) + ": " + r.message);
            const std::vector<std::int64_t> shape{elements};
            const auto alone = archive::write_pt(work + "/alone.pt", {archive::element::f32, shape, std::vector<std::byte>(4 * elements)});
            if (alone || std::filesystem::exists(work + "/alone.pt")) return failed("half a file");
        }
        return 0;
    }), 0);
    BOOST_CHECK_EQUAL(entries(work), 1u);
    BOOST_CHECK(whole(data));
    BOOST_CHECK_EQUAL(seed_of(data), 1u);
}

BOOST_AUTO_TEST_CASE(a_full_file_system) {
    const scratch_folder folder;
    const int code = in_child([&] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || ::mount("tmpfs", folder.path.c_str(), "tmpfs", 0, "size=6m") != 0) {
            std::cout << "skipped: a 6 MiB tmpfs cannot be mounted here (" << std::strerror(errno) << ")\n";
            return 77;
        }
        const std::string work = folder / "work", data = work + "/data";
        if (!save(work, 1).passed || !whole(data)) return failed("the first one does not fit");
        const run_result r = save(work, 2);  // four MiB each
        if (r.passed || r.message.find("No space left on device") == std::string::npos || r.message.find(data + "/") == std::string::npos) return failed(r.message);
        if (!whole(data) || seed_of(data) != 1 || entries(work) != 1) return failed("the first one was touched, or the second left something");
        ::mount("tmpfs", folder.path.c_str(), "tmpfs", MS_REMOUNT, "size=16m");
        return save(work, 3).passed && whole(data) && seed_of(data) == 3 ? 0 : failed("does not save when there is room");
    });
    BOOST_CHECK(code == 0 || code == 77);
}
