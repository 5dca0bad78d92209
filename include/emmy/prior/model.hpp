#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <string>
#include <string_view>

/// The numbers of the analytical prior, their version, and the files that carry other numbers.
namespace emmy::prior {

/// Raised whenever a term means something else or a number is added: numbers of another version are refused, never read askew.
constexpr int analytic_version = 1;

/// Of a processor. Cycles of one core unless said otherwise.
struct cpu_terms {
    double arithmetic = 0.5;          ///< one vector operation: add, multiply, compare, select
    double load = 0.5, store = 1;     ///< one vector
    double narrow = 1.5;              ///< to or from 16-bit reals, one vector; 8-bit ones four times that
    double divide = 10;               ///< one vector
    double exponential = 7;           ///< exp of one vector; tanh, sigmoid and their kin twice that
    double library = 18;              ///< one scalar call of the C library
    double scalar_operation = 0.4, scalar_memory = 0.6;
    double lane = 1.6;                ///< an element that a vector gathers or computes by itself
    double latency = 4;               ///< of an add: what one accumulator waits
    double maximum_latency = 5;       ///< of a maximum and its choice
    double across = 14;               ///< all lanes of one accumulator in one
    double iteration = 1.2;           ///< of a loop
    double row = 18;                  ///< entering a fold or a sweep
    double item = 14;                 ///< dealing one item: its coordinates by division
    double page = 35;                 ///< touching a page that the last iteration did not
    double strip_waste = 0.45;        ///< of a level's bandwidth, where lines are read singly, a page apart
    double pack_scatter = 1.3;        ///< storing one element of a vector into a panel by itself
    double edge_cell = 9;             ///< a cell beyond the whole register tiles
    double overlap = 0.4;             ///< part of the lesser of computing and moving that is not hidden
    double fetched = 0.5;             ///< what remains of moving where the next row is fetched ahead
    double launch_us = 0.6, member_us = 1.5;  ///< of a launch; of waking each further member
    double barrier_us = 1.5;
};

/// Of a card with matrix units.
struct gpu_terms {
    double launch_us = 0.7;           ///< of a launch inside a graph
    double matrix = 0.72;             ///< of the matrix units' ceiling that a staged warp tile reaches
    double wgmma = 0.85;              ///< the same where whole warp groups issue
    double scalar = 0.7;              ///< of the vector units'
    double memory = 0.85;             ///< of the memory's bandwidth
    double cache = 3;                 ///< bandwidth of the second cache, in memory bandwidths
    double shared_per_clock = 128;    ///< bytes a multiprocessor moves a clock between shared memory and registers
    double fill_per_clock = 64;       ///< bytes a multiprocessor takes from the second cache a clock
    double clock_ghz = 1.7;
    double latency_us = 0.5;          ///< of a dependent access to memory, with its address arithmetic
    double warps_to_hide = 12;        ///< warps of a multiprocessor that hide it, without stages
    double barrier_us = 0.02;
};

struct model {
    std::string label;                ///< of the file; empty: the built-in numbers
    cpu_terms cpu;
    gpu_terms gpu;
    /// "analytic/1", "analytic/1:mine".
    EMMY_DECL std::string stamp() const;
};

/// A file of numbers: {"format": "emmy-prior", "kind": "analytic", "version": 1, "label": "mine", "cpu": {"latency": 3.5}, "gpu": {}}. Numbers left
/// out keep their built-in value. Errors (input): "version 2, expected 1" where the version is another one, before anything else is read;
/// an unknown number or kind; a number below 0.
EMMY_DECL result<model> read_model(std::string_view text, std::string_view file = {});
/// Every number, in order.
EMMY_DECL std::string model_text(const model& m);

/// The sentence of a refusal, shown by every compile that was given the file: "prior: mine.json refused: version 2, expected 1".
EMMY_DECL std::string refusal_note(std::string_view file, const fault& why);

}  // namespace emmy::prior

#ifdef EMMY_HEADER_ONLY
#include <emmy/prior/impl/model.ipp>
#endif
