#pragma once
#include <common/options.hpp>

#include <emmy/core/digest.hpp>
#include <emmy/core/result.hpp>
#include <emmy/golden/select.hpp>
#include <emmy/loop/interpret.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/program/graph.hpp>
#include <emmy/store/records.hpp>

#include <optional>
#include <string>
#include <vector>

/// What a command works on: kernels with their sizes, from a golden's realization, a whole golden, or one operator by hand.
namespace emmy::tools {

/// A row that a golden file records for the kernel: benched as a pinned row when its file is of the live card.
struct recorded_row {
    std::string name, producer;
    store::knob_list knobs;       ///< schedule row as written
    bool fast_math = false;       ///< lane its pins state
    double us = 0;                ///< 0: a proposal
};

struct subject {
    std::string name;             ///< of the realization, or the operator's text
    std::string file;             ///< golden it came from; empty for --op
    loop::kernel kernel;
    digest128 identity;
    store::binding_list bindings; ///< sizes of the kernel's symbols, in order of loop::symbols
    std::optional<program::graph> program;     ///< where the kernel is known to compute one: the independent reference
    std::vector<loop::kernel_port> ports;      ///< one per kernel input when `program` is there
    std::vector<std::vector<std::byte>> given = {};  ///< by kernel input: bytes that stand in for seeded ones (weights.hpp); empty: seeded
    std::vector<recorded_row> rows;            ///< of this realization; empty when the file is another card's
    std::string note;             ///< "12 rows of NVIDIA H100 80GB are not for this card"
    bool formed = true;

    std::vector<loop::symbol_size> sizes() const;
    std::vector<long long> launch_sizes(const std::vector<std::string>& symbols) const;  ///< values in the order of a kernel text's symbols
};

/// Resolves --op, or --golden/--realization (whole file: every target kernel; nothing at all: every target of standard.json).
/// --dynamic overrides sizes of symbols. Errors: (user) a wrong combination or name; (input) a bad file.
result<std::vector<subject>> load_subjects(const common_options& options, const golden::card_id& card);

/// A program that holds one operator. Errors (user): no single-operator lowering for it; a size of a symbol it does not have.
result<subject> subject_of_program(std::string name, program::graph graph, const common_options& options);

/// One kernel of a program of several. Sizes asked for symbols that it does not have are another kernel's.
result<subject> subject_of_kernel(std::string name, loop::kernel kernel, const common_options& options);

}  // namespace emmy::tools
