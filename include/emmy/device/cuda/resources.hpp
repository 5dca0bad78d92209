#pragma once
#include <emmy/core/config.hpp>

#include <string>
#include <string_view>

namespace emmy::device::cuda {

/// What the assembler said about one kernel.
struct resources {
    int registers = 0;            ///< a thread
    int stack_bytes = 0;          ///< a thread
    int spill_store_bytes = 0, spill_load_bytes = 0;
    int shared_bytes = 0;         ///< static
    int barriers = 0;
    std::string serialised;       ///< the note that wgmma or setmaxnreg do not work as written: such a kernel counts as failed; empty = none
    bool known = false;           ///< the log held a report of the kernel
    friend bool operator==(const resources&, const resources&) = default;
};

/// Reads the assembler's report (ptxas -v) of `entry` out of a compile log.
EMMY_DECL resources read_resources(std::string_view log, std::string_view entry);

}  // namespace emmy::device::cuda

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cuda_resources.ipp>
#endif
