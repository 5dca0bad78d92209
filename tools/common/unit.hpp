#pragma once
#include <common/subject.hpp>

#include <emmy/device/worker.hpp>
#include <emmy/plan.hpp>
#include <emmy/program/lower/lower.hpp>

/// What is compiled and run as one: kernels and what flows between them.
namespace emmy::tools {

struct unit {
    std::string name;
    plan::network network;
    std::vector<subject> kernels;             ///< one a node of the network
    /// Of a program that is more than one operator: the traced program and what its kernels were formed from.
    std::optional<program::graph> traced = {};
    std::optional<program::primitive_graph> lowered = {};
    /// The one kernel that the network stands for, where a structural decision left others of it.
    std::optional<subject> whole = {};
    /// Bytes of tensors of the program, by id, in place of seeded ones (weights.hpp).
    std::vector<std::pair<std::string, std::vector<std::byte>>> given = {};

    std::vector<loop::symbol_size> sizes() const;  ///< of all its kernels' symbols
};

unit unit_of(subject one);
/// Any program: one operator by its own lowering, others fused. Errors: as those; (user): --dynamic names a symbol that no kernel has.
result<unit> unit_of_program(std::string name, program::graph graph, const common_options& options);
/// As load_subjects, but that --op may be a program of several kernels.
result<std::vector<unit>> load_units(const common_options& options, const golden::card_id& card);

/// A program of one file; nothing when the file is a golden document. Errors (input): neither.
result<std::optional<program::graph>> read_program_file(const std::string& path);

/// How one run of a unit's plan came out.
struct unit_run {
    plan::binding at;
    std::string wrong;       ///< empty: right
    std::string reference;   ///< what it was compared with
    device::tensor_arena arena;  ///< as the run left it: to be measured
};
struct unit_run_options {
    std::uint64_t seed = 1;
    int team = 1;
    bool fast_math = false;
    int optimisation = 3;
};
/// Executes a plan in a process that can be killed and checks the answer: one kernel against its program or the interpreter; several besides
/// kernel by kernel, and once with memory reused. Measures nothing.
result<unit_run> run_unit(device::worker_device& worker, const unit& what, const plan::executable& plan, const unit_run_options& how);

}  // namespace emmy::tools
