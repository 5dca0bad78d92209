#pragma once
#include <emmy/device/concept.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace emmy::device {

/// The argument that turns an executable of ours into a worker: `main` calls serve_if_worker first.
constexpr std::string_view worker_argument = "--emmy-device-worker";

/// Runs the worker's loop and returns its exit status when `arguments` name the worker, else -1 at once. The worker talks
/// on descriptor 3, which its parent made.
EMMY_DECL int serve_if_worker(int argc, char** argv);

struct worker_options {
    std::string executable;               ///< "" = this process's own
    std::vector<std::string> arguments{std::string(worker_argument)};
    std::string cache_directory;          ///< "" = the default one
    double compile_seconds = 30, run_seconds = 10, measure_seconds = 60;  ///< each request is killed after this
};

/// Why a request got no answer. Kept apart because they are recorded differently: a compile overrun records nothing, and a worker
/// that could not be started or was lost before the kernel ran says nothing about the kernel.
enum class loss : std::uint8_t { none, refused, crashed, hung, compile_overrun, unavailable };

/// The request failed by its kernel's own doing: crash, hang, diagnostics on its text. Else the compiler, the cache or the machine.
constexpr bool kernels_doing(loss why, fault_kind kind) { return why == loss::crashed || why == loss::hung || (why == loss::refused && kind == fault_kind::device_limit); }

/// A device in a process of its own, started at the first request, killed on a hang, replaced after any failure. Nothing is
/// inherited: no descriptor but the socket, an environment of named variables only. Faults say what happened:
/// (device_limit) the kernel's text cannot be compiled or loaded; (device) anything else; see kernels_doing.
class worker_device {
public:
    EMMY_DECL explicit worker_device(worker_options options = {});
    EMMY_DECL ~worker_device();
    worker_device(worker_device&&) noexcept;
    worker_device& operator=(worker_device&&) noexcept;

    EMMY_DECL const identification& identify();
    EMMY_DECL result<compiled> compile(const kernel_text& text);
    EMMY_DECL result<void> run(const kernel_text& text, tensor_arena& arena, const launch& how);
    EMMY_DECL result<void> run(const sequence& what, tensor_arena& arena);
    EMMY_DECL result<measured> measure(const measure_request& request, tensor_arena& arena);
    EMMY_DECL result<ceilings> measure_ceilings(int team);

    /// Limits of the requests that follow.
    EMMY_DECL void limit(double run_seconds, double measure_seconds);
    EMMY_DECL loss last_loss() const;     ///< of the last request
    EMMY_DECL int process() const;        ///< process id, 0 when none runs
    EMMY_DECL int started() const;        ///< workers started so far
    EMMY_DECL void retire();              ///< ends the process; the next request starts another

private:
    struct state;
    std::unique_ptr<state> state_;
};
static_assert(device<worker_device>);

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/worker.ipp>
#endif
