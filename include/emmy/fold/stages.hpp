#pragma once
#include <emmy/core/config.hpp>
#include <emmy/loop/body.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A body as a sequence of smaller kernels over tables: every value that loops around it would compute again is computed once, over the
/// coordinates it depends on. What an implementation without limits on local memory would do with a whole layer in one kernel.
namespace emmy::fold {

/// Values kept between steps, row-major over the coordinates they depend on. Exact: a table has its values' type.
struct table {
    std::string name;          ///< no name of the kernel's
    dtype type = dtype::none;
    std::vector<dim> shape;    ///< symbols by the original kernel's names
};
/// One kernel of the sequence: reads inputs and tables, writes one table or outputs.
struct stage {
    loop::kernel kernel;       ///< buffers named as the original's and as the tables
    std::uint32_t level = 0;   ///< everything it reads was written on lower levels
};
struct staging {
    std::vector<table> tables;
    std::vector<stage> stages; ///< by level
};

/// Takes a valid body apart. An online softmax (accumulators with `base`, a maximum as pivot) becomes a maximum and sums that read it:
/// the same function. Atomic sums become sums over the loops that their index does not name. Equal values are one, whatever their axes
/// are called. Nothing where the body must run in order: carried states, prefix outputs, conditions, strided loops, ….
EMMY_DECL std::optional<staging> stages(const loop::kernel& k);

}  // namespace emmy::fold

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/stages.ipp>
#endif
