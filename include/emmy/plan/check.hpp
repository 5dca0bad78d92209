#pragma once
#include <emmy/device/answer.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/plan/bind.hpp>
#include <emmy/program/lower/lower.hpp>

/// Is what a plan computes right?
namespace emmy::plan {

/// Bytes of every input and constant of plan.given(), in that order.
using given_bytes = std::vector<std::vector<std::byte>>;

/// Seeded: reals in [-1, 1), indices inside what they index, as the kernels that read them need it.
EMMY_DECL result<given_bytes> seeded_bytes(const executable& plan, const binding& at, std::uint64_t seed);
/// Of a program: inputs and checkpoint tensors seeded, every constant as the program binds it. `traced` lowers to `lowered`, whose kernels the plan runs.
/// `wanted`, where asked for: what the program's own reference computes in double for each output buffer of plan.given(); left empty when that
/// takes more than `most_evaluations`. `known`: bytes of tensors of the traced program, by id, that are not seeded. Errors: as bind_constant; (input): known
/// bytes of another size.
EMMY_DECL result<given_bytes> program_bytes(const program::graph& traced, const program::primitive_graph& lowered, const executable& plan, const binding& at, std::uint64_t seed,
                                            std::vector<std::vector<double>>* wanted = nullptr, double most_evaluations = 3e8, std::span<const program::named_bytes> known = {});
/// The inputs of an answer (of the one kernel that the plan stands for); constants that lie as they are stored are turned.
EMMY_DECL result<given_bytes> answer_bytes(const executable& plan, const binding& at, const device::answer& answer);

struct check_options {
    std::uint64_t seed = 1;
    std::size_t cells = 64;                    ///< sampled, of each kernel
    std::uint64_t interpret_below = 100'000'000;  ///< evaluations that one kernel's cells may cost
    bool fast_math = false;
    int optimisation = 3;
};

struct verdict {
    std::string wrong;                         ///< one sentence; empty: right
    std::string reference;                     ///< "interpreter, 128 cells of 3 kernels, each on what it was given; the same bytes with memory reused"
    std::size_t cells = 0;
};

/// A plan's launches in an arena where nothing is reused, each kernel's sampled cells against the interpreter on the very bytes that the kernel
/// was given. `arena`: make_arena() of such a binding, after the run. Errors: as the interpreter's.
EMMY_DECL result<verdict> check_kernels(const executable& plan, const binding& kept, const device::tensor_arena& arena, const check_options& how = {});

/// The outputs of plan.given() against values in double, the further apart the more values on the way are rounded to less than f32. An empty
/// list is not compared.
EMMY_DECL result<std::string> check_outputs(const executable& plan, const binding& at, const device::tensor_arena& arena, std::span<const std::vector<double>> wanted, bool fast_math = false);

EMMY_DECL void fill(device::tensor_arena& arena, const executable& plan, const given_bytes& given);
/// Equal bytes in every output? "" or one sentence.
EMMY_DECL std::string unlike(const executable& plan, const device::tensor_arena& a, const device::tensor_arena& b);

/// Runs a plan twice on a device, without and with reuse of memory: every kernel is right on what it was given, both runs give the same bytes,
/// and (where `wanted` is not empty) outputs are what they should be. `out`, where asked for, is the arena of the second run.
template <device::device D>
result<verdict> check_once(D& device, const executable& plan, const binding& at, const given_bytes& given, std::span<const std::vector<double>> wanted, const check_options& how, device::tensor_arena* out = nullptr) {
    const binding kept = without_reuse(plan, at);
    EMMY_TRY(apart, make_arena(plan, kept));
    EMMY_TRY(packed, make_arena(plan, at));
    fill(apart, plan, given), fill(packed, plan, given);
    EMMY_CHECK_OK(device.run(sequence_of(plan, kept, how.fast_math, how.optimisation), apart));
    EMMY_CHECK_OK(device.run(sequence_of(plan, at, how.fast_math, how.optimisation), packed));
    EMMY_TRY(verdict, check_kernels(plan, kept, apart, how));
    if (verdict.wrong.empty()) verdict.wrong = unlike(plan, apart, packed);
    if (verdict.wrong.empty() && !wanted.empty()) {
        EMMY_TRY(wrong, check_outputs(plan, at, packed, wanted, how.fast_math));
        verdict.wrong = std::move(wrong);
        verdict.reference += "; program in double";
    }
    if (out) *out = std::move(packed);
    return std::move(verdict);
}

}  // namespace emmy::plan

#ifdef EMMY_HEADER_ONLY
#include <emmy/plan/impl/check.ipp>
#endif
