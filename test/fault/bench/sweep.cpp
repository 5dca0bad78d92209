#include "common.hpp"

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace emmy;

namespace {

constexpr int sweep_rows = 42;
constexpr const char* sweep_argument = "--sweep=";

/// The sweep as a process of its own: one line a finished row on stdout.
int sweep(const std::string& folder) {
    auto asked = test::settings_of(folder);
    asked.sample = sweep_rows, asked.common.seed = 3;
    test::no_goldens();
    auto s = bench::session::open(asked, test::worker_of(folder));
    if (!s) return std::printf("%s\n", s.error().line().c_str()), 1;
    s->text = [](const fork::cpu_schedules&, const fork::cpu_row&) -> result<kernel::cpu_text> { return test::matmul_text("", "s"); };
    auto found = tools::load_subjects(s->asked.common, s->card);
    if (!found) return std::printf("%s\n", found.error().line().c_str()), 1;
    bench::runner runner(*s);
    runner.finished = [](const bench::bench_row& row) {
        // The row is durable when its line is out.
        const std::string line = std::string(name(row.status)) + " " + evidence::knobs_text(row.record_knobs) + "\n";
        if (::write(1, line.data(), line.size()) < 0) ::_exit(9);
    };
    const auto done = runner.run(std::move(found->front()), false);
    if (!done) return std::printf("%s\n", done.error().line().c_str()), 1;
    return done->finding() ? 1 : 0;
}

struct serve {
    serve() {
        auto& suite = boost::unit_test::framework::master_test_suite();
        if (const int status = device::serve_if_worker(suite.argc, suite.argv); status >= 0) ::_exit(status);
        for (int i = 1; i < suite.argc; ++i)
            if (const std::string_view argument = suite.argv[i]; argument.starts_with(sweep_argument)) {
                for (int number : {SIGSEGV, SIGABRT}) ::signal(number, SIG_DFL);
                const int status = sweep(std::string(argument.substr(std::string_view(sweep_argument).size())));
                std::fflush(stdout);
                ::_exit(status);
            }
    }
};
BOOST_TEST_GLOBAL_FIXTURE(serve);

struct sweep_run {
    int cached = 0, measured = 0, other = 0, status = 0;
    std::string said;
};

/// Runs the sweep, kills it with SIGKILL after `kill_after` freshly measured rows (0 = lets it end).
sweep_run run_sweep(const std::string& folder, int kill_after) {
    int pipe[2];
    BOOST_REQUIRE_EQUAL(::pipe2(pipe, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
    const std::string argument = sweep_argument + folder;
    char self[4096] = {};
    BOOST_REQUIRE_GT(::readlink("/proc/self/exe", self, sizeof self - 1), 0);
    char* const arguments[] = {self, const_cast<char*>("--"), const_cast<char*>(argument.c_str()), nullptr};
    pid_t child = 0;
    BOOST_REQUIRE_EQUAL(::posix_spawn(&child, self, &actions, nullptr, arguments, environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    sweep_run out;
    std::string pending;
    bool killed = false;
    for (char chunk[4096];;) {
        const ssize_t got = ::read(pipe[0], chunk, sizeof chunk);
        if (got <= 0) break;
        pending.append(chunk, static_cast<std::size_t>(got));
        for (std::size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
            const std::string line = pending.substr(0, end);
            if (line.starts_with("Running ")) continue;  // the test runner's own line
            out.said += line + "\n";
            (line.starts_with("cached") ? out.cached : line.starts_with("ok") ? out.measured : out.other)++;
        }
        if (kill_after > 0 && out.measured >= kill_after && !killed) {
            ::kill(child, SIGKILL);
            killed = true;
        }
    }
    ::close(pipe[0]);
    BOOST_REQUIRE_EQUAL(::waitpid(child, &out.status, 0), child);
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sweep_killed_after_each_row_resumes_with_the_rest) {
    const test::folder at;
    // Each run dies right after its first fresh row was printed; the next one must find all that were printed before.
    int durable = 0, runs = 0;
    for (; durable < sweep_rows; ++runs) {
        BOOST_REQUIRE_LT(runs, sweep_rows + 1);
        const sweep_run r = run_sweep(at.path, 1);
        BOOST_REQUIRE_MESSAGE(r.other == 0, r.said);
        BOOST_CHECK_MESSAGE(r.cached >= durable, "run " << runs << ": " << r.cached << " rows cached, " << durable << " were recorded");
        // A kill may come while the next row is already stored but not yet printed: at most one more.
        BOOST_CHECK_LE(r.cached, durable + 1);
        durable = r.cached + r.measured;
    }
    BOOST_TEST_MESSAGE(runs << " runs for " << sweep_rows << " rows");
    const sweep_run last = run_sweep(at.path, 0);
    BOOST_CHECK_EQUAL(last.cached, sweep_rows);
    BOOST_CHECK_EQUAL(last.measured, 0);
    BOOST_CHECK(WIFEXITED(last.status) && WEXITSTATUS(last.status) == 0);
}

BOOST_AUTO_TEST_CASE(sweep_in_one_go_measures_every_row_once) {
    const test::folder at;
    const sweep_run all = run_sweep(at.path, 0);
    BOOST_CHECK_MESSAGE(all.other == 0, all.said);
    BOOST_CHECK_EQUAL(all.measured, sweep_rows);
    BOOST_CHECK_EQUAL(all.cached, 0);
}
