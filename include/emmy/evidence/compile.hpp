#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/evidence/resolve.hpp>
#include <emmy/loop/fuse/fuse.hpp>

#include <vector>

/// From a traced program to decided kernels: the one road that tools, benches and tests take.
namespace emmy::evidence {

struct compiled_program {
    program::primitive_graph lowered;
    std::vector<loop::formed> kernels;   ///< as fusion formed them, in launch order: what flows between them
    std::vector<subject> targets;        ///< one a kernel
    resolution decided;                  ///< roots: one a kernel, same order
};

/// One kernel as a target. `sizes`: of at least its symbols; hints where they name none.
EMMY_DECL subject make_subject(loop::kernel k, store::binding_list sizes = {});

/// Lowers, fuses, decides. `sizes`: of the program's symbols, hints where they name none. Errors: as of program::lower, loop::fuse, resolve.
EMMY_DECL result<compiled_program> compile_program(const program::graph& traced, const store::binding_list& sizes, const snapshot* evidence, fork_source& forks, const resolve_options& options = {});

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/compile.ipp>
#endif
