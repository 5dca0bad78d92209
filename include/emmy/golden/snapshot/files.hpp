#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/golden/snapshot/spec.hpp>

#include <optional>
#include <utility>

namespace emmy::golden::snapshot {

constexpr std::string_view manifest_name = "snapshot.json", manifest_schema = "emmy.snapshot/1";

/// One file as the manifest tells of it.
struct manifest_file {
    std::string path;        ///< "in/x.pt"
    std::uint64_t bytes = 0; ///< of the file
    digest128 digest;        ///< XXH3-128 of the file
};
struct manifest_tensor {
    std::string name, kind, dtype;
    std::vector<std::int64_t> shape;
    std::vector<manifest_file> files;
};
/// snapshot.json: only a run that passed leaves one.
struct manifest {
    std::string tool, reference, device;
    std::uint64_t seed = 0;
    std::vector<manifest_tensor> tensors;
    EMMY_DECL const manifest_file* find(std::string_view path) const;
};
EMMY_DECL std::string manifest_text(const manifest& m);
EMMY_DECL result<manifest> parse_manifest(std::string_view text, std::string_view file);

/// Elements of one spec: what the run starts from, and what it must give. Empty where the spec has none.
struct tensor_data {
    std::vector<std::byte> initial, wanted;
};

/// What came of reading a snapshot. Nothing was read for good when `missing` or `problems` are there.
struct loaded {
    std::vector<std::string> missing;   ///< every required path that is absent, in spec order
    std::vector<std::string> problems;  ///< a file of another shape, dtype or hash; a manifest that cannot be read: one sentence each, file first
    std::vector<std::string> notes;
    std::vector<tensor_data> data;      ///< one per spec
    std::size_t inputs = 0, outputs = 0;  ///< files read
    bool good() const { return missing.empty() && problems.empty(); }
};
/// Checks all required files of `folder`, then reads them. The folder and its time stamps stay as they are. A folder without a manifest is
/// accepted with a note. Errors: as check(specs).
EMMY_DECL result<loaded> load(const std::string& folder, std::span<const spec> specs);

/// Writes one snapshot, <work_dir>/data: in a temporary sibling that commit() renames, so that a snapshot is whole or absent and a
/// second one replaces the first whole. The destructor removes what was not committed.
class saver {
public:
    /// Makes the work directory too. Errors (input): cannot be made or written.
    EMMY_DECL static result<saver> begin(const std::string& work_dir, std::span<const spec> specs);
    saver(saver&& other) noexcept { swap(other); }
    saver& operator=(saver&& other) noexcept {
        swap(other);
        return *this;
    }
    EMMY_DECL ~saver();

    EMMY_DECL result<void> add(const spec& what, bool out, std::span<const std::byte> bytes);
    /// With a manifest when the run passed. Gives the snapshot's path.
    EMMY_DECL result<std::string> commit(bool passed, std::string reference, std::string device, std::uint64_t seed);
    std::uint64_t bytes() const;  ///< of the files so far

private:
    saver() = default;
    void swap(saver& other) noexcept {
        std::swap(temporary_, other.temporary_), std::swap(target_, other.target_), std::swap(told_, other.told_), std::swap(lock_, other.lock_);
    }
    std::string temporary_, target_;
    int lock_ = -1;  // held on the temporary folder: one that nobody holds belongs to a run that was killed
    manifest told_;
};
inline std::uint64_t saver::bytes() const {
    std::uint64_t sum = 0;
    for (const manifest_tensor& t : told_.tensors)
        for (const manifest_file& f : t.files) sum += f.bytes;
    return sum;
}

/// Both exist and are one file or folder, however they are spelled.
EMMY_DECL bool same_place(const std::string& a, const std::string& b);

/// A new folder <root>/<name>_<date>_<time>, where two never share one. The default root is ./build_output; a root that is made here
/// carries an ignore file, so that snapshots never enter version control.
EMMY_DECL result<std::string> make_work_dir(std::string_view name, const std::string& root = "build_output");

}  // namespace emmy::golden::snapshot

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/snapshot_files.ipp>
#endif
