#pragma once
#include <emmy/golden/snapshot/compare.hpp>
#include <emmy/golden/snapshot/files.hpp>

/// Looking into snapshots: as streams, so that ten gigabytes need no memory. Nothing is written.
namespace emmy::golden::snapshot {

/// Told of bytes done so far, of all bytes, and of the file at hand ("in/x.pt").
using progress = std::function<void(std::uint64_t done, std::uint64_t total, std::string_view file)>;

struct shown_file {
    std::string path;                ///< "in/x.pt"
    std::uint64_t bytes = 0;         ///< of the file
    digest128 digest;                ///< XXH3-128 of the file
    std::string dtype, holds;        ///< "f32"; "f32[2, 3]", "an int"
    std::vector<std::int64_t> shape;
    std::string state;               ///< "as saved", "changed" (another hash than the manifest's), "not in the manifest", "missing", "no manifest"
    std::string error;               ///< it cannot be read
    bool finding() const { return !error.empty() || state == "changed" || state == "missing"; }
};
struct shown_snapshot {
    std::optional<manifest> told;
    std::vector<shown_file> files;   ///< in the manifest's order, others after them by name
};
/// Names, shapes, dtypes, hashes, sizes. Errors (input): not a snapshot (neither in/ nor out/), a manifest that cannot be read.
EMMY_DECL result<shown_snapshot> show(const std::string& folder, const progress& tell = {});

struct file_difference {
    std::string path, status;        ///< status: "equal", "differs", "only in A", "only in B", "other shape", "unreadable"
    std::string a, b;                ///< what each holds, or why it cannot be read
    comparison values;               ///< of tensors of one shape and dtype
};
/// Every tensor of A against the one of the same name in B, by default_tolerance (comparison::over). Errors as show().
EMMY_DECL result<std::vector<file_difference>> diff(const std::string& a, const std::string& b, const progress& tell = {});

}  // namespace emmy::golden::snapshot

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/snapshot_inspect.ipp>
#endif
