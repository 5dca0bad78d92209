#pragma once
#include <emmy/device/cpu/device.hpp>
#include <emmy/device/cpu/toolchain.hpp>
#include <emmy/device/frame.hpp>
#include <emmy/device/impl/frame.ipp>
#include <emmy/device/impl/messages.ipp>
#include <emmy/device/impl/process.ipp>
#include <emmy/device/worker.hpp>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace emmy::device {

namespace detail {

constexpr int worker_socket = 3;

inline std::string refusal(const fault& f) {
    std::string out;
    json::writer w(out);
    w.begin_object().key("ok").boolean(false).key("kind").integer(static_cast<int>(f.kind())).key("message").string(f.message()).key("place").string(f.place().empty() ? f.file() : f.place()).end_object();
    return out;
}

/// Answers one request; what it cannot read it refuses.
inline result<std::string> answer(cpu::host_device& device, const frame& request, int& descriptor) {
    EMMY_TRY(doc, json::document::parse(request.payload, "request"));
    const json::path root;
    json::fields f(doc.root(), root);
    EMMY_TRY(op, f.need("op"));
    std::string out;
    json::writer w(out);
    w.begin_object().key("ok").boolean(true);
    if (op->text() == "compile") {
        EMMY_TRY(text_value, f.need("text"));
        EMMY_TRY(text, read_text(*text_value, f.at("text")));
        EMMY_TRY(done, device.compile(text));
        w.key("object").string(done.object).key("cached").boolean(done.cached).key("seconds").real(done.seconds);
    } else if (op->text() == "ceilings") {
        EMMY_TRY(team, f.need("team"));
        EMMY_TRY(parts, json::read_integer(*team, f.at("team")));
        if (parts < 1 || parts > 1024) return refuse(json::problem(f.at("team"), "expected 1 to 1024"));
        EMMY_TRY(c, device.measure_ceilings(static_cast<int>(parts)));
        write_ceilings(w, c);
    } else if (op->text() == "run" || op->text() == "measure") {
        EMMY_TRY(list, f.need("buffers"));
        EMMY_TRY(buffers, read_buffers(*list, f.at("buffers")));
        if (descriptor < 0) return refuse(fault_kind::input, "expected the tensors' descriptor with the request");
        EMMY_TRY(arena, tensor_arena::adopt(std::exchange(descriptor, -1), std::move(buffers)));
        if (f.may("sequence")) {
            EMMY_TRY(many, f.need("sequence"));
            EMMY_TRY(steps, read_sequence(*many, f.at("sequence")));
            EMMY_CHECK_OK(device.run(steps, arena));
        } else if (op->text() == "run") {
            EMMY_TRY(text_value, f.need("text"));
            EMMY_TRY(text, read_text(*text_value, f.at("text")));
            EMMY_TRY(launch_value, f.need("launch"));
            EMMY_TRY(how, read_launch(*launch_value, f.at("launch")));
            EMMY_CHECK_OK(device.run(text, arena, how));
        } else {
            EMMY_TRY(wanted, read_measure(f));
            EMMY_TRY(times, device.measure(wanted, arena));
            write_measured(w, times);
        }
    } else {
        return refuse(fault_kind::input, "found an unknown operation", "op");
    }
    w.end_object();
    return out;
}

inline const char* signal_name(int number) {
    switch (number) {
        case SIGSEGV: return "SIGSEGV (memory it must not touch)";
        case SIGBUS: return "SIGBUS";
        case SIGILL: return "SIGILL (an instruction this processor lacks)";
        case SIGFPE: return "SIGFPE (integer division by zero)";
        case SIGABRT: return "SIGABRT";
        case SIGKILL: return "SIGKILL (out of memory, or killed from outside)";
    }
    return "a signal";
}

}  // namespace detail

EMMY_DECL int serve_if_worker(int argc, char** argv) {
    bool named = false;
    std::string cache;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == worker_argument) named = true;
        if (argument.starts_with("--cache=")) cache = argument.substr(8);
    }
    if (!named) return -1;
    for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::signal(number, SIG_DFL);  // a crash ends the process by its own name
    rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    // A kernel that hangs never reads the socket: this thread notices that the parent is gone and ends the whole group.
    std::thread([] {
        for (;;) {
            pollfd end{detail::worker_socket, 0, 0};
            if (::poll(&end, 1, -1) > 0 && (end.revents & (POLLHUP | POLLERR | POLLNVAL))) {
                if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);
                ::_exit(0);
            }
        }
    }).detach();
    cpu::host_device device(cache);
    std::string greeting;
    json::writer(greeting).begin_object().key("ok").boolean(true).key("card").string(device.identify().card).end_object();
    if (!send_frame(detail::worker_socket, greeting)) ::_exit(1);
    for (frame request;;) {
        if (receive_frame(detail::worker_socket, 0, request) != wait_end::arrived) ::_exit(0);
        int descriptor = std::exchange(request.descriptor, -1);
        const auto reply = detail::answer(device, request, descriptor);
        if (descriptor >= 0) ::close(descriptor);
        if (!send_frame(detail::worker_socket, reply ? *reply : detail::refusal(reply.error()))) ::_exit(0);
    }
}

struct worker_device::state {
    worker_options options;
    pid_t child = 0;
    int socket = -1, errors = -1, started = 0;
    loss last = loss::none;
    std::string tail;

    ~state() { end(); }
    void end() {
        if (child > 0) {
            ::kill(-child, SIGKILL);
            ::kill(child, SIGKILL);
            int status = 0;
            while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
        }
        if (socket >= 0) ::close(socket);
        if (errors >= 0) ::close(errors);
        child = 0, socket = errors = -1;
    }

    result<void> start() {
        if (child > 0) return {};
        std::string self = options.executable;
        if (self.empty()) {
            char path[4096];
            const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
            if (size <= 0) return refuse(fault_kind::device, "cannot find this process's own executable for the worker");
            self.assign(path, static_cast<std::size_t>(size));
        }
        int pair[2], pipe[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return refuse(fault_kind::device, std::string("no socket for the worker: ") + std::strerror(errno));
        if (::pipe2(pipe, O_CLOEXEC) != 0) {
            ::close(pair[0]), ::close(pair[1]);
            return refuse(fault_kind::device, std::string("no pipe for the worker: ") + std::strerror(errno));
        }
        // Only what compiling and loading need; in particular nothing that steers OpenBLAS or the evidence store.
        std::vector<std::string> environment{"LC_ALL=C"};
        for (const char* name : {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "EMMY_CXX", "CXX", "EMMY_CACHE_DIR", "XDG_CACHE_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"})
            if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
        std::vector<std::string> command{self};
        command.insert(command.end(), options.arguments.begin(), options.arguments.end());
        if (!options.cache_directory.empty()) command.push_back("--cache=" + options.cache_directory);

        // The descriptors are moved out of the way of 0-3 first, so that no step closes another's source.
        const int far_socket = ::fcntl(pair[1], F_DUPFD_CLOEXEC, 10), far_pipe = ::fcntl(pipe[1], F_DUPFD_CLOEXEC, 10);
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions, far_pipe, 2);
        ::posix_spawn_file_actions_adddup2(&actions, far_socket, detail::worker_socket);
        ::posix_spawn_file_actions_addclosefrom_np(&actions, detail::worker_socket + 1);
        posix_spawnattr_t attributes;
        ::posix_spawnattr_init(&attributes);
        sigset_t none, all;
        ::sigemptyset(&none), ::sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawnattr_setpgroup(&attributes, 0);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        const int failed = ::posix_spawn(&child, self.c_str(), &actions, &attributes, detail::pointers(command).data(), detail::pointers(environment).data());
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
        ::close(pair[1]), ::close(pipe[1]), ::close(far_socket), ::close(far_pipe);
        socket = pair[0], errors = pipe[0];
        if (failed) {
            child = 0;
            end();
            return refuse(fault_kind::device, std::string("cannot start the worker: ") + std::strerror(failed), {}, self);
        }
        ++started;
        tail.clear();
        frame greeting;
        if (receive_frame(socket, detail::now_seconds() + 20, greeting, errors, &tail) != wait_end::arrived) {
            end();
            return refuse(fault_kind::device, "the worker did not greet (protocol " + std::to_string(worker_protocol) + ")" + said(), {}, self);
        }
        return {};
    }
    std::string said() const {
        std::string out;
        for (char c : tail) out += c == '\n' ? ' ' : static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f ? c : '?';
        while (!out.empty() && out.back() == ' ') out.pop_back();
        return out.empty() ? out : "; it said: " + out.substr(out.size() > 200 ? out.size() - 200 : 0);
    }

    /// One request and its answer. `doing` names it in the fault: "the kernel", "the compilation".
    result<json::document> call(const std::string& payload, int descriptor, double seconds, const char* doing) {
        last = loss::none;
        if (auto up = start(); !up) {
            last = loss::unavailable;
            return refuse(up.error());
        }
        frame reply;
        wait_end how = wait_end::closed;
        if (send_frame(socket, payload, descriptor)) how = receive_frame(socket, detail::now_seconds() + seconds, reply, errors, &tail);
        if (reply.descriptor >= 0) ::close(std::exchange(reply.descriptor, -1));
        if (how == wait_end::overran) {
            last = loss::hung;
            end();
            return refuse(fault_kind::device, std::string(doing) + " gave no answer within " + json::spell_real(seconds) + " s and was killed");
        }
        if (how == wait_end::closed) {
            last = loss::crashed;
            std::string why = "ended without an answer";
            int status = 0;
            ::usleep(1000);
            for (int i = 0; i < 200 && child > 0; ++i) {
                const pid_t ended = ::waitpid(child, &status, WNOHANG);
                if (ended == child) {
                    ::kill(-child, SIGKILL);
                    child = 0;
                    if (WIFSIGNALED(status)) why = std::string("crashed: ") + detail::signal_name(WTERMSIG(status));
                    if (WIFEXITED(status)) why = "ended its process with status " + std::to_string(WEXITSTATUS(status));
                } else {
                    ::usleep(5000);
                }
            }
            const std::string words = said();
            end();
            return refuse(fault_kind::device, std::string(doing) + " " + why + words);
        }
        auto doc = json::document::parse(reply.payload, "the worker's answer");
        const json::value* ok = doc ? doc->root().find("ok") : nullptr;
        if (!ok || !ok->is(json::kind::boolean)) {
            last = loss::crashed;
            end();
            return refuse(fault_kind::device, "the worker's answer is not one");
        }
        if (ok->boolean()) return doc;
        last = loss::refused;
        const json::value* kind = doc->root().find("kind");
        const json::value* message = doc->root().find("message");
        const json::value* place = doc->root().find("place");
        const std::int64_t number = kind ? kind->integer().value_or(3) : 3;
        std::string text(message ? message->text() : std::string_view());
        if (text.starts_with(cpu::compile_overrun)) {
            last = loss::compile_overrun;
            end();  // with the compiler's own children
        }
        return refuse(static_cast<fault_kind>(number >= 0 && number <= static_cast<int>(fault_kind::internal) ? number : 3), std::move(text), std::string(place ? place->text() : std::string_view()));
    }

    result<compiled> compile(const kernel_text& text) {
        std::string payload;
        json::writer w(payload);
        w.begin_object().key("op").string("compile").key("text");
        detail::write_text(w, text);
        w.end_object();
        auto answer = call(payload, -1, options.compile_seconds + 5, "the compilation");
        if (!answer) {  // no kernel ran yet
            if (last == loss::hung) last = loss::compile_overrun;
            if (last == loss::crashed) last = loss::unavailable;
            return refuse(std::move(answer).error());
        }
        const json::document& doc = *answer;
        const json::path root;
        json::fields f(doc.root(), root);
        EMMY_TRY(object, f.need("object"));
        EMMY_TRY(cached, f.need("cached"));
        EMMY_TRY(seconds, f.need("seconds"));
        EMMY_TRY(spent, json::read_real(*seconds, f.at("seconds")));
        return compiled{std::string(object->text()), cached->boolean(), spent};
    }
};

EMMY_DECL worker_device::worker_device(worker_options options) : state_(std::make_unique<state>()) { state_->options = std::move(options); }
EMMY_DECL worker_device::~worker_device() = default;
EMMY_DECL worker_device::worker_device(worker_device&&) noexcept = default;
EMMY_DECL worker_device& worker_device::operator=(worker_device&&) noexcept = default;

EMMY_DECL const identification& worker_device::identify() { return cpu::identify_host(); }
EMMY_DECL result<compiled> worker_device::compile(const kernel_text& text) { return state_->compile(text); }

EMMY_DECL result<void> worker_device::run(const kernel_text& text, tensor_arena& arena, const launch& how) {
    EMMY_CHECK_OK(state_->compile(text).map([](auto&&) {}));  // its own budget; the run then finds it cached
    std::string payload;
    json::writer w(payload);
    w.begin_object().key("op").string("run").key("buffers");
    detail::write_buffers(w, arena.buffers());
    w.key("text");
    detail::write_text(w, text);
    w.key("launch");
    detail::write_launch(w, how);
    w.end_object();
    return state_->call(payload, arena.descriptor(), state_->options.run_seconds, "the kernel").map([](auto&&) {});
}

EMMY_DECL result<void> worker_device::run(const sequence& what, tensor_arena& arena) {
    for (const kernel_text& text : what.kernels) EMMY_CHECK_OK(state_->compile(text).map([](auto&&) {}));
    std::string payload;
    json::writer w(payload);
    w.begin_object().key("op").string("run").key("buffers");
    detail::write_buffers(w, arena.buffers());
    w.key("sequence");
    detail::write_sequence(w, what);
    w.end_object();
    return state_->call(payload, arena.descriptor(), state_->options.run_seconds, what.steps.size() == 1 ? "the kernel" : "a kernel of the sequence").map([](auto&&) {});
}

EMMY_DECL result<measured> worker_device::measure(const measure_request& request, tensor_arena& arena) {
    for (const kernel_text& text : request.kernels) EMMY_CHECK_OK(state_->compile(text).map([](auto&&) {}));
    for (const sequence& many : request.sequences)
        for (const kernel_text& text : many.kernels) EMMY_CHECK_OK(state_->compile(text).map([](auto&&) {}));
    std::string payload;
    json::writer w(payload);
    w.begin_object().key("op").string("measure").key("buffers");
    detail::write_buffers(w, arena.buffers());
    detail::write_measure(w, request);
    w.end_object();
    EMMY_TRY(doc, state_->call(payload, arena.descriptor(), state_->options.measure_seconds, "the measured kernel"));
    const json::path root;
    json::fields f(doc.root(), root);
    EMMY_TRY(out, detail::read_measured(f));
    if (out.kernels.size() != request.kernels.size() + request.sequences.size()) return refuse(fault_kind::device, "the worker's answer has another number of kernels than the request");
    return out;
}

EMMY_DECL result<ceilings> worker_device::measure_ceilings(int team) {
    std::string payload;
    json::writer(payload).begin_object().key("op").string("ceilings").key("team").integer(team).end_object();
    EMMY_TRY(doc, state_->call(payload, -1, state_->options.compile_seconds + state_->options.measure_seconds, "the measurement of the ceilings"));
    const json::path root;
    json::fields f(doc.root(), root);
    return detail::read_ceilings(f);
}

EMMY_DECL void worker_device::limit(double run_seconds, double measure_seconds) { state_->options.run_seconds = run_seconds, state_->options.measure_seconds = measure_seconds; }
EMMY_DECL loss worker_device::last_loss() const { return state_->last; }
EMMY_DECL int worker_device::process() const { return state_->child; }
EMMY_DECL int worker_device::started() const { return state_->started; }
EMMY_DECL void worker_device::retire() { state_->end(); }

}  // namespace emmy::device
