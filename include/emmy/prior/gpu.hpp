#pragma once
#include <emmy/core/card.hpp>
#include <emmy/core/config.hpp>
#include <emmy/evidence/report.hpp>  // store::binding_list
#include <emmy/knob/schedule_row.hpp>
#include <emmy/loop/body.hpp>
#include <emmy/prior/model.hpp>

#include <vector>

namespace emmy::prior {

/// What predictions read of a card; numbers that its registry line lacks are those of its generation.
struct gpu_machine {
    capability cc;
    int sms = 1;
    double vector_flops = 0, matrix_flops = 0;  ///< of one multiprocessor a µs; matrix: half precision
    double memory = 0;                          ///< bytes the card's memory moves a µs
    double cache_bytes = 0;                     ///< second cache
    double shared_bytes = 0;                    ///< shared memory of a multiprocessor
    double clocks = 0;                          ///< a µs
};
EMMY_DECL gpu_machine make_gpu_machine(const card& c, const gpu_terms& terms = {});

/// Predicted time of schedule rows of one kernel on a card: tiles and their reuse, the chunks of k that a ring of slots hides, occupancy by
/// threads, registers and shared memory, waves and their tail, lanes and chains of a cooperative fold, bytes from memory or the second
/// cache, the launch. Needs no card.
class gpu_estimate {
public:
    /// Sizes of symbols: `sizes`, else their hints. A kernel without a fold tree is judged by its loops and buffers alone.
    EMMY_DECL gpu_estimate(const loop::kernel& k, const gpu_machine& machine, const gpu_terms& terms = {}, const store::binding_list& sizes = {});
    EMMY_DECL double us(const knob::schedule_row& row) const;

    /// The kernel as the terms see it.
    struct work {
        double cells = 1;              ///< output cells: the product of the grid
        double reduced = 1;            ///< steps of folds behind one cell
        double inner = 1;              ///< extent of the last axis of the grid
        double m = 1, n = 1, k = 1, batch = 1;  ///< of a product of two operands
        double products = 0;           ///< how many are summed side by side (channels; scores and values of attention)
        double a_bytes = 2, b_bytes = 2;
        double operations = 0;         ///< all others, of the whole kernel
        double bytes_in = 0, bytes_out = 0;
        double exponentials = 0;       ///< of the whole kernel
        bool along = true;             ///< folds read adjacent elements
        bool twist = false;
    };
    const work& what() const { return work_; }

private:
    gpu_machine machine_;
    gpu_terms terms_;
    work work_;
};

}  // namespace emmy::prior

#ifdef EMMY_HEADER_ONLY
#include <emmy/prior/impl/gpu.ipp>
#endif
