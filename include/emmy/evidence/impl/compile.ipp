#pragma once
#include <emmy/evidence/compile.hpp>

#include <emmy/loop/identity.hpp>

namespace emmy::evidence {

EMMY_DECL subject make_subject(loop::kernel k, store::binding_list sizes) {
    subject out;
    out.name = k.name, out.node_id = k.node_id, out.bindings = std::move(sizes);
    out.identity = loop::identity(k);
    out.body = std::make_shared<const loop::kernel>(std::move(k));
    return out;
}

EMMY_DECL result<compiled_program> compile_program(const program::graph& traced, const store::binding_list& sizes, const snapshot* evidence, fork_source& forks, const resolve_options& options) {
    EMMY_TRY(lowered, program::lower(traced));
    EMMY_TRY(formed, loop::fuse(lowered));
    compiled_program out{std::move(lowered), std::move(formed), {}, {}};
    for (const loop::formed& f : out.kernels) out.targets.push_back(make_subject(f.kernel, sizes));
    EMMY_TRY(decided, resolve(out.targets, evidence, forks, options));
    out.decided = std::move(decided);
    return out;
}

}  // namespace emmy::evidence
