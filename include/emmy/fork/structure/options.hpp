#pragma once
#include <emmy/core/result.hpp>
#include <emmy/fold/kernel_form.hpp>
#include <emmy/knob/routing_row.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Structural forks of one kernel: which kernels there are.
namespace emmy::fork {

/// One option of a structural fork; an empty row keeps the kernel as it is.
struct structural_arm {
    knob::routing_row row{};
    bool keeps() const { return row.size() == 0; }
};

/// The arms of one family (PLACE, LAYOUT, REDUCE), in the order offered; the first keeps.
struct structural_fork {
    std::string_view family;
    std::vector<structural_arm> arms;
};

struct structural_request {
    std::span<const knob::routing_row> routes{};           ///< arms known from elsewhere (measured); joint ones are offered where they name seams
    std::span<const std::string_view> transposed{};        ///< inputs that are 2-D constants whose last bind-time transform is a transpose
    bool splits = true;                                    ///< false: a piece of a split, which never splits again
};

/// PLACE, LAYOUT, REDUCE in this order, those without a choice left out. PLACE: keep; one arm a seam, in preorder; the full projection, if
/// any; joint arms of given routes. LAYOUT: the first transposed constant that every read takes with two indices, alone and with those
/// read alike. REDUCE: unsplit, then the catalog's shares that rules S1 to S5 allow.
/// A kernel whose order is a carried state has no PLACE and no LAYOUT.
EMMY_DECL result<std::vector<structural_fork>> structural_options(const fold::kernel_form& k, const structural_request& request = {});

}  // namespace emmy::fork

#ifdef EMMY_HEADER_ONLY
#include <emmy/fork/structure/impl/structure.ipp>
#endif
