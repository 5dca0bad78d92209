#pragma once
#include <string_view>

/// What the fields of a schedule row mean on a CPU: the one statement of it. doc/cpu-knobs.md is this table as a page, and checked against it.
namespace emmy::fork {

struct cpu_knob_meaning {
    std::string_view form;    ///< kernels it belongs to: map, rows, columns, contraction, cells, ordered, staged; all
    std::string_view field;   ///< as spelled, with letters for numbers
    std::string_view meaning;
};

/// VL = f32 values in a vector register. An item is what one member of the team is dealt at a time; TEAM alone sets the number of members.
constexpr cpu_knob_meaning cpu_knob_table[] = {
    {"all", "WORK=\"\"", "Output cells (register tiles of a contraction, rows of a rows kernel) are dealt in one neighbouring run a member."},
    {"map, cells", "WORK=t<n>", "An item is n strips (cells) of the inner axis; items are dealt in turn, one a member."},
    {"ordered", "WORK=t<n>", "An item is n cells of the outer free loops; items are dealt in turn, one a member."},
    {"rows", "WORK=t<w>x<q>", "w lanes share one reduced axis (w <= VL); q neighbouring rows are one item, dealt in turn; q = 1: one run of rows a member."},
    {"columns", "WORK=t<32s>x<q>", "The reduced axis is cut into s interleaved slices with accumulators of their own; q strips of columns are one item."},
    {"contraction", "WORK=t<n>x<m>", "A macro tile of n x m register tiles is one item: the block that packed panels serve."},
    {"map", "TILE=\"\"", "One cell at a time, no vectors."},
    {"map", "TILE=f<fn>", "A strip of fn vectors of the inner axis at a time."},
    {"contraction", "TILE=\"\"", "One output cell at a time, no vectors."},
    {"contraction", "TILE=f<fn>x<fm>", "A register tile of fn vectors along the inner output axis times fm rows, all its accumulators in registers."},
    {"all", "REDUCE=\"\"", "A fold runs in order in one accumulator."},
    {"rows, cells", "REDUCE=r<n>", "n accumulators take turns, combined at the end."},
    {"rows", "REDUCE=coop/r<n>", "The lanes of WORK split the reduced axis (interleaved), n vector accumulators take turns; lanes are combined at the end. Sweeps of the same row use the same lanes and step."},
    {"columns", "REDUCE=coop-t/v<n>", "Lanes sweep the output axis: n vectors of adjacent columns are folded together down the reduced axis."},
    {"rows", "STAGE=\"\"", "A softmax is one streaming fold (maximum and rescaled sum together); later sweeps compute its exponentials again."},
    {"rows", "STAGE=d1/smem", "The maximum first, then the exponentials, kept in a slab of the row that the later sweep reads."},
    {"rows", "STAGE=d2/smem", "The same, and two rows under way: while the exponentials are computed, the lines that the next row reads are fetched."},
    {"rows", "STAGE=d2/smem-async", "Nothing kept, two rows under way: the lines that the next row reads are fetched during the sweep."},
    {"contraction", "STAGE=\"\"", "Operands are read in place."},
    {"contraction", "STAGE=d<n>/smem", "k in chunks of 128 n; the inner operand's chunk is packed into panels of register-tile width."},
    {"contraction", "STAGE=d<n>/smem-async", "The same, and the outer operand's chunk is packed too."},
    {"contraction", "STAGE=d<n>/smem-tma", "As smem-async, the inner operand's panels packed once by the whole team and shared (barriers)."},
    {"staged", "WORK, TILE, REDUCE, STAGE=\"\"", "Every step has the default of its own form."},
    {"staged", "WORK=t<n>x<m>", "The macro tile of every contraction among the steps for which it is legal."},
    {"staged", "TILE=f<fn>x<fm>", "The register tile of every contraction among the steps for which it is legal."},
    {"staged", "STAGE=d<n>/smem-async", "The chunk of k of every contraction among the steps for which it is legal."},
    {"staged", "REDUCE=r<n>", "The accumulators of every rows step for which they are legal."},
    {"contraction", "RASTER=\"\"", "Items follow one another along the inner output axis."},
    {"contraction", "RASTER=gm<g>", "g items along the outer axis come first inside a stripe."},
};

}  // namespace emmy::fork
