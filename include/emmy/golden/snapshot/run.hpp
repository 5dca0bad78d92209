#pragma once
#include <emmy/golden/snapshot/compare.hpp>
#include <emmy/golden/snapshot/files.hpp>

namespace emmy::golden::snapshot {

/// One memory a spec, in spec order.
using buffers = std::span<const std::span<std::byte>>;

/// What is run: inputs and scalars are given filled, an inout with its initial content, outputs with all bits set. Gives µs of its
/// executions (may be none). A failure is the run's, not ours.
using function = std::function<result<std::vector<double>>(buffers arguments)>;

/// The reference: `given` as the function gets it (outputs empty); `wanted` to be filled, empty for inputs and scalars.
using golden_function = std::function<result<void>(buffers given, buffers wanted)>;

struct options {
    golden_function golden_fn = {};
    std::string golden_data = {};           ///< a snapshot to replay; wins over golden_fn, and is only ever read
    bool save_data = false;                 ///< write <work_dir>/data
    std::string runtime_dir = {};           ///< run_compiled: a work directory whose compiled function is used again
    std::string work_dir = {};              ///< empty: a new one in ./build_output, made when something is to be written
    std::vector<std::pair<std::string, tolerance>> tolerances = {};  ///< by output; others: default_tolerance
    std::string device = "cpu", reference = "golden_fn";  ///< for the manifest
    std::uint64_t seed = 0;                 ///< for the manifest: what the generators were made from
    std::function<void(std::string_view)> say = {};  ///< takes the lines "[RUN] …"; empty: stdout
};

struct counters {
    std::size_t inputs_generated = 0, references_computed = 0;  ///< of a replay: 0 and 0
    std::size_t inputs_loaded = 0, outputs_loaded = 0;
    std::size_t compiled = 0, compile_reused = 0;
};

struct run_result {
    bool passed = false;
    std::string work_dir;                   ///< empty when nothing was written
    std::string snapshot;                   ///< <work_dir>/data when one was saved
    std::vector<comparison> outputs;        ///< one per output and inout, in spec order
    std::vector<double> timings_us;
    std::vector<std::string> missing;       ///< of an incomplete snapshot: every missing path, in spec order
    std::string message;                    ///< why it did not pass: one sentence, or several joined by "; "
    std::vector<std::string> notes;
    counters counts;
};

/// Inputs and wanted outputs, from the snapshot or from generators and reference; the lines told on the way. A failure that the result
/// should carry (incomplete snapshot, generator, reference) is in missing and message of `into`; nothing otherwise.
EMMY_DECL std::optional<std::vector<tensor_data>> acquire(std::span<const spec> specs, const options& how, run_result& into);

/// Acquires, saves when asked, runs `fn`, compares. Whatever goes wrong is in the result: passed = false and a message.
EMMY_DECL run_result run(const function& fn, std::span<const spec> specs, const options& how);

/// How a program or realization becomes a function. `build` compiles into a folder, `load` takes what lies compiled in one.
struct compilation {
    std::function<result<function>(const std::string& folder)> build, load;
};
/// The same after compiling: with runtime_dir nothing is compiled. The comparison happens in either case.
EMMY_DECL run_result run_compiled(const compilation& made, std::span<const spec> specs, const options& how);

}  // namespace emmy::golden::snapshot

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/snapshot_run.ipp>
#endif
