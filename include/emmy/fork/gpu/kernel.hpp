#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/dtype.hpp>
#include <emmy/fold/kernel_form.hpp>
#include <emmy/knob/route.hpp>

#include <array>
#include <cstdint>
#include <vector>

/// What legality and enumeration of GPU schedules ask about a kernel: plain facts, made from its closed terms or by hand (tests, generators).
namespace emmy::fork::gpu {

/// An axis of the kernel by number; none where there is none.
using axis_id = std::uint8_t;
constexpr axis_id no_axis = 255;

/// An operand of a contraction. Sizes in elements; 0 = symbolic.
struct operand {
    bool stored = true;           ///< a buffer read as it is; else computed by threads
    dtype storage = dtype::none;  ///< of the stored elements; computed: of the value
    dtype type = dtype::none;     ///< of the value that the product takes
    dtype raw = dtype::none;      ///< elements of a byte or less that the value is decoded from; none where it is not
    bool converts = false;        ///< stored elements are converted on their way, nothing else is done to them
    bool k_last = false;          ///< the contracted axis is the inner one in memory
    bool unit_stride = true;      ///< its inner index steps by one along an output axis or k
    std::int64_t inner = 0;       ///< size of its innermost dimension
    std::uint8_t rank = 2;        ///< dimensions of the buffer
    bool affine = true;           ///< every index is one coordinate and a constant: a box of TMA
    bool folds = false;           ///< computed, and its computation holds a fold
    bool per_row = false;         ///< computed, its folds are statistics of a row, before the loop over k
    constexpr bool operator==(const operand&) const = default;
};

/// A place of the kernel that takes families.
struct site {
    knob::route at;
    knob::node_kind kind = knob::node_kind::map;
    bool has_tile = false;        ///< takes TILE: a contraction that tiles, or the strip of a pointwise kernel
    bool has_reduce = false;      ///< takes REDUCE: it has a reduced axis
    bool has_stage = false;       ///< takes STAGE: a contraction that tiles
    bool root = false;            ///< produces outputs of the kernel
    bool chain = false;           ///< hoisted before the loop of a root: a member of its chain
    bool in_sweep = false;        ///< stands inside an output sweep
    bool carries = false;         ///< its state goes from step to step of an ordered loop
    bool observed = false;        ///< a scan: every running state is written
    bool finalize = false;        ///< combines the shares of a split
    bool chunked = false;         ///< a rescaled fold that takes its reduced axis chunk by chunk
    // Sizes; 0 = symbolic, 1 where there is no such axis.
    std::int64_t m = 1, n = 1, k = 1;
    axis_id m_axis = no_axis, n_axis = no_axis, k_axis = no_axis;
    std::int64_t strip = 0;       ///< of a pointwise kernel: size of the innermost free axis
    std::uint8_t channels = 1;    ///< products that share operand A
    operand a, b;                 ///< b: of every channel, the least favourable of them
    bool rest_uniform_m = true, rest_uniform_n = true;  ///< the operands beside a and b do not vary along m, n
    bool straight_epilogue = true;  ///< what follows in the cell is one straight line a fragment
    bool loop_in_epilogue = false;  ///< a loop stands behind the fold in its cell
    bool free_axis = true;        ///< an output axis of more than one element
    std::uint8_t free_axes = 2;   ///< output axes
    std::int8_t score = -1;       ///< of a chunked site: place of the contraction whose results it rescales, in gpu::kernel::sites
    constexpr bool operator==(const site&) const = default;

    constexpr bool tiles() const { return has_stage; }
};

/// Sites in preorder, and what concerns all of them.
struct kernel {
    std::vector<site> sites;
    bool outputs_sweep = false;   ///< every output owns a sweep
    bool sweepable = false;       ///< so it does, or a piece of a cut may have it so: a pointwise kernel
    bool shares_outputs = true;   ///< the roots can stand in one block
    bool split_piece = false;     ///< a share of a split
    bool formed = true;           ///< the body says where its sites are; false: it only comes near, addresses of rows may be others
    bool register_program = false;  ///< carried state, its whole loop in fragments: WORK, TILE and STAGE=d1/reg
    bool operator==(const kernel&) const = default;

    bool has_product() const {
        for (const site& s : sites)
            if (s.tiles()) return true;
        return false;
    }
};

/// The facts of a kernel, from its closed terms.
EMMY_DECL kernel facts_of(const fold::kernel_form& k);

}  // namespace emmy::fork::gpu

#ifdef EMMY_HEADER_ONLY
#include <emmy/fork/impl/gpu_kernel.ipp>
#endif
