#pragma once
#include <emmy/fold/geometry.hpp>
#include <emmy/fold/term.hpp>

/// What the places of a schedule row are: which node takes which family, and the facts that its rules speak of.
namespace emmy::fold::closed {

/// What an operand of a contraction is, as staging sees it.
struct operand_facts {
    term_id term = no_term;
    bool stored = false;              ///< a buffer read as it is; else computed
    name_id buffer = no_name;         ///< stored: whose
    dtype storage = dtype::none;      ///< stored: of the buffer's elements (the read's own dtype where it names one); computed: of the value
    dtype type = dtype::none;         ///< of the value the product takes
    bool converts = false;            ///< a read followed by conversions and decodes only
    bool axis_last = false;           ///< stored: the contracted axis is in the last index (K-major)
    bool unit_stride = false;         ///< stored: the last index is one bare coordinate, plus terms without it
    bool folds = false;               ///< computed: its cone holds a fold
    bool sweeps_axis = false;         ///< computed, and its folds do not vary with the contracted axis (a row statistic before the loop)
};

struct site_facts {
    term_id term = no_term;
    std::string address{};            ///< "map.1/inner"
    term_kind kind = term_kind::map;
    bool root = false;                ///< the term itself is the kernel's root
    bool kernel_root = false;         ///< a producing root: the head, or of a region; never a map
    bool chain = false;               ///< a fold that stands directly in a kernel root's cone at the same grid cell: a hoisted chain member
    bool in_sweep = false;            ///< varies with a sweep that stays a sweep
    bool pointwise = false;           ///< a root map without operands and sweeps: takes TILE, one strip of outputs
    loop::axis axis{};                ///< folds: the reduced axis
    std::size_t states = 0;           ///< folds
    bool whole = false;               ///< every state is a product channel
    bool chunked = false;             ///< a rescaled fold with exactly one product channel, scalars of the row for the rest
    bool tiles = false;               ///< takes TILE and STAGE
    closed::roles roles{};            ///< of a contraction, whole or in base coordinates
    /// Outer and inner output axis of a tile: the last of left and of right in the grid, behind it the axes of the folds above. Where one
    /// side has none, n is the other's last and m none: the row is a unit row or missing.
    name_id m = no_name, n = no_name;
    bool one_sided = false;           ///< both output axes stand on one operand and there is no unit row, or B varies with the row of A: no tile
    operand_facts a{};
    std::vector<operand_facts> b{};   ///< one per product channel
};

struct site_model {
    closed::geometry geometry{};
    std::vector<site_facts> sites{};  ///< in preorder, every term but slabs
};
EMMY_DECL site_model site_model_of(const forest& f);

}  // namespace emmy::fold::closed

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/sites.ipp>
#endif
