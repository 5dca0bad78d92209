#pragma once
#include <emmy/loop/typed/identity.hpp>
#include <emmy/loop/validate.hpp>

namespace emmy::loop::typed {

EMMY_DECL result<loop::kernel> kernel(const builder& b, std::string name) {
    loop::kernel out;
    out.body = b.body();
    if (!b.misuse().empty()) return refuse(fault_kind::user, std::string(b.misuse().view()), "typed kernel " + name);
    out.name = std::move(name);
    out.inputs.assign(b.inputs().begin(), b.inputs().end());
    out.outputs.assign(b.outputs().begin(), b.outputs().end());
    EMMY_CHECK_OK(validate(out));
    return out;
}

}  // namespace emmy::loop::typed
