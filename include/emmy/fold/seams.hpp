#pragma once
#include <emmy/fold/geometry.hpp>
#include <emmy/fold/term.hpp>

/// Where a kernel may be cut in two.
namespace emmy::fold::closed {

/// Where along one axis of a seam's buffers a value stands: at an axis, at a sum s, at s / over, at s % modulo, or at 0 (an axis of extent 1).
struct seam_coordinate {
    name_id axis = no_name;
    std::vector<expr_id> sum{};
    std::int64_t over = 0, modulo = 0;  ///< over = 0: `axis`; modulo = 0: none
    bool is_zero() const { return axis == no_name && sum.empty(); }
    EMMY_DECL expr_id in(expr_pool& pool) const;
    bool operator==(const seam_coordinate&) const = default;
};
/// A term that has the value of a seam: the representative itself first, then terms equal to it at coordinates of their own.
struct seam_member {
    term_id term = no_term;
    std::vector<loop::axis> axes{};                     ///< that it varies with, and axes of extent 1
    std::vector<std::uint32_t> component{};             ///< place in seam::components of each of its components
    std::vector<std::vector<seam_coordinate>> at{};     ///< of each of its components: where in the buffer, one an axis of the seam
};

/// Where a kernel may be cut: a term whose value another kernel can compute. Equal values are one seam with several addresses.
struct seam {
    term_id term = no_term;
    std::vector<seam_member> members{};
    std::string address{};                ///< the representative's
    std::vector<std::string> aliases{};   ///< other routes to it or to an equal value
    bool owned = false;                   ///< it writes outputs of its own: no buffer between the pieces
    bool frontier = false;                ///< the buffer holds encoded bits, the reader decodes
    std::vector<name_id> components{};    ///< values that the buffers hold
    std::vector<dtype> types{};           ///< of the buffers
    std::vector<name_id> axes{};          ///< of the buffers, outermost first: what the value varies with, and axes of extent 1
};
/// In preorder.
EMMY_DECL std::vector<seam> seams(const forest& f);

}  // namespace emmy::fold::closed

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/term_seams.ipp>
#endif
