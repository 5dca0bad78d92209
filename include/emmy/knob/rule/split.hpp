#pragma once
#include <emmy/knob/catalog/gpu.hpp>
#include <emmy/knob/rule/rule.hpp>

/// Legality of a cross-CTA split: shares of a reduced axis in blocks of their own. The same for every target.
namespace emmy::knob {

/// What a fold that may be split is, as the rules ask it.
struct split_facts {
    std::int64_t extent = 0;        ///< of the reduced axis; 0: known at run time only
    bool head = true;               ///< the root, or an operand of it
    bool on_grid = true;            ///< varies with no output coordinate that is swept inside a block
    bool axis_free_below = true;    ///< no operand of it reduces an axis of the same name
    bool own_outputs = true;        ///< where several folds make outputs, each output comes of one
    bool of_split = false;          ///< the kernel is itself a piece of a split
    bool carried = false;           ///< its state goes from step to step
    bool affine = true;             ///< of a carried state: a step is a linear function of it
    std::uint32_t states = 1;
    bool additive = true;           ///< every state is a sum
    bool linear = true;             ///< stores are multiples of the sum: no constant beside it, nothing but factors
    bool half_output = false;       ///< an output is f16 or bf16
};

struct S1 {
    static constexpr std::string_view id = "S1", means = "A split axis has a size known when compiling, and the number of shares divides it.";
    using reads = row<gpu::SPLIT>;
    static constexpr finding test(const auto& r, const auto&, const split_facts& k) {
        const reduce& d = r.template get<gpu::SPLIT>();
        if (!d.crosses_ctas()) return fine;
        return first_of(need<gpu::SPLIT>(r, k.extent > 0, "a reduced axis of static size"), multiple_of("REDUCE", "size of the split axis", k.extent, d.ctas));
    }
};
struct S2 {
    static constexpr std::string_view id = "S2",
                                      means = "A split fold is the head of its outputs: nothing of them sweeps inside a block, and no operand of it reduces an "
                                              "axis of the same name.";
    using reads = row<gpu::SPLIT>;
    static constexpr finding test(const auto& r, const auto&, const split_facts& k) {
        const bool splits = r.template get<gpu::SPLIT>().crosses_ctas();
        return first_of(need<gpu::SPLIT>(r, !splits || k.head, "the root or an operand of it"),
                        need<gpu::SPLIT>(r, !splits || k.on_grid, "a fold that varies with no swept output axis"),
                        need<gpu::SPLIT>(r, !splits || k.axis_free_below, "no operand that reduces an axis of the same name"),
                        need<gpu::SPLIT>(r, !splits || k.own_outputs, "outputs that each come of one fold"));
    }
};
struct S3 {
    static constexpr std::string_view id = "S3", means = "Shares added into the output are one sum, stored as a multiple of it, in no f16 or bf16.";
    using reads = row<gpu::SPLIT>;
    static constexpr finding test(const auto& r, const auto&, const split_facts& k) {
        const bool adds = r.template get<gpu::SPLIT>().split == split_mode::atomic;
        return first_of(need<gpu::SPLIT>(r, !adds || k.states == 1, "one state"), need<gpu::SPLIT>(r, !adds || k.additive, "a sum"),
                        need<gpu::SPLIT>(r, !adds || k.linear, "stores of multiples of the sum"),
                        need<gpu::SPLIT>(r, !adds || !k.half_output, "no f16 or bf16 output"));
    }
};
struct S4 {
    static constexpr std::string_view id = "S4", means = "A piece of a split never splits again.";
    using reads = row<gpu::SPLIT>;
    static constexpr finding test(const auto& r, const auto&, const split_facts& k) {
        return need<gpu::SPLIT>(r, !r.template get<gpu::SPLIT>().crosses_ctas() || !k.of_split, "a kernel that is no piece of a split");
    }
};
struct S5 {
    static constexpr std::string_view id = "S5", means = "A carried state splits through a workspace only, and only where its step is linear.";
    using reads = row<gpu::SPLIT>;
    static constexpr finding test(const auto& r, const auto&, const split_facts& k) {
        const reduce& d = r.template get<gpu::SPLIT>();
        const bool splits = d.crosses_ctas() && k.carried;
        return first_of(need<gpu::SPLIT>(r, !splits || d.split == split_mode::kernel, "a split through a workspace"),
                        need<gpu::SPLIT>(r, !splits || k.affine, "a linear step"));
    }
};
using split_rules = rules<S1, S2, S3, S4, S5>;

}  // namespace emmy::knob
