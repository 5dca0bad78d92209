#pragma once
#include <emmy/core/archive/element.hpp>
#include <emmy/core/config.hpp>
#include <emmy/core/dtype.hpp>
#include <emmy/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>  // generators and references are the caller's code
#include <span>
#include <string>
#include <vector>

/// Snapshots: the inputs and expected outputs of one run as `.pt` files, to be replayed. doc/snapshots.md is the user's page.
namespace emmy::golden::snapshot {

enum class spec_kind : std::uint8_t {
    scalar,  ///< in/<name>.pt, no shape
    input,   ///< in/<name>.pt
    output,  ///< out/<name>.pt
    inout    ///< an output with initial content: in/<name>.pt and out/<name>.pt
};
constexpr std::string_view name(spec_kind k) {
    constexpr std::string_view names[] = {"scalar", "input", "output", "inout"};
    return names[static_cast<std::size_t>(k)];
}

/// Fills one tensor's elements (row-major, the spec's dtype).
using generator = std::function<result<void>(std::span<std::byte>)>;

/// One argument of the function that is run. Order matters: it is the order of arguments, of missing paths, of results.
struct spec {
    spec_kind kind = spec_kind::input;
    std::string name;
    dtype type = dtype::f32;
    std::vector<std::int64_t> shape = {};
    generator make = {};  ///< of scalars, inputs and inouts

    bool has_input() const { return kind != spec_kind::output; }
    bool has_output() const { return kind == spec_kind::output || kind == spec_kind::inout; }
    EMMY_DECL std::uint64_t elements() const;
    std::uint64_t bytes() const { return elements() * byte_size(type); }
};

EMMY_DECL spec scalar(std::string name, dtype type, double value);
EMMY_DECL spec scalar(std::string name, dtype type, generator make);
EMMY_DECL spec input(std::string name, std::vector<std::int64_t> shape, dtype type, generator make);
EMMY_DECL spec output(std::string name, std::vector<std::int64_t> shape, dtype type);
EMMY_DECL spec inout(std::string name, std::vector<std::int64_t> shape, dtype type, generator make);

/// Uniform in [low, high), integers in low … high - 1: the same elements for one seed on every machine.
EMMY_DECL generator uniform(dtype type, std::uint64_t seed, double low = -1, double high = 1);
EMMY_DECL generator constant(dtype type, double value);

/// Names become file names. Errors (user): empty or longer than 200 bytes, a path separator, "..", NUL or another control byte, two
/// names that differ in case alone; a dtype that files do not have (f16x2); a shape with a negative size or of 2^56 bytes and more.
EMMY_DECL result<void> check(std::span<const spec> specs);

/// One file that a snapshot of `specs` must hold.
struct required_file {
    std::size_t spec = 0;
    bool out = false;
    std::string path;  ///< "in/x.pt", below the snapshot
};
/// In spec order; of an inout, in/ before out/.
EMMY_DECL std::vector<required_file> required_files(std::span<const spec> specs);

}  // namespace emmy::golden::snapshot

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/snapshot_spec.ipp>
#endif
