#pragma once
#include <emmy/device/cuda/driver.hpp>
#include <emmy/device/measure.hpp>

#include <functional>  // one indirect call per launch, and only while a graph is recorded
#include <vector>

namespace emmy::device::cuda {

/// Something to time: what puts it on a stream once. Recorded as a graph of as many repetitions as fill a window, and replayed; where it cannot
/// be recorded it is put on the stream again and again (`replayed` then says no).
struct subject {
    std::function<result<void>(void* stream)> put;
};
EMMY_DECL subject subject_of(const context& card, std::vector<launch_step> steps);

struct timing {
    std::vector<statistics> subjects;  ///< µs per launch on the card's clock
    bool replayed = true;              ///< all of them as graphs: one that is not would be compared unfairly, so then none is
};

/// Times subjects in alternating rounds, each window between two events (device/measure.hpp holds the rule). `cold`: each launch alone after
/// writing twice the L2. Errors: of the launches.
EMMY_DECL result<timing> time_rounds(const context& card, const std::vector<subject>& subjects, const effort& how);

}  // namespace emmy::device::cuda

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cuda_measure.ipp>
#endif
