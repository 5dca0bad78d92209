#pragma once
#include <emmy/core/result.hpp>
#include <emmy/fork/structure/kernel_set.hpp>
#include <emmy/knob/routing_row.hpp>

namespace emmy::fork {

/// The kernels that an arm leaves of a kernel. Keys of one family; a key may be any alias of its seam.
/// Names: pieces of a cut `<parent>__place_<10 hex>`, their buffers `<parent's first output>__place_<10 hex>_<n>`; the remainder, a finalize
/// and a relaid kernel keep the parent's name; a split's first piece is `<parent>__partial`, its buffer `<first output>__partial`.
/// Errors (user): a key that names no seam (with the nearest offered keys), rules S1 to S5 by id, a mix of families;
/// (device_limit): a piece that has no body.
EMMY_DECL result<kernel_set> realise(const fold::kernel_form& k, const knob::routing_row& arm);

}  // namespace emmy::fork

#ifdef EMMY_HEADER_ONLY
#include <emmy/fork/structure/impl/structure.ipp>
#endif
