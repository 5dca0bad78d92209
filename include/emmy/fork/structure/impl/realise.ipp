#pragma once
#include <emmy/fork/structure/impl/cut.ipp>
#include <emmy/fork/structure/impl/relay.ipp>
#include <emmy/fork/structure/impl/split.ipp>
#include <emmy/fork/structure/realise.hpp>

namespace emmy::fork {

EMMY_DECL result<kernel_set> realise(const fold::kernel_form& k, const knob::routing_row& arm) {
    if (arm.size() == 0) return refuse(fault_kind::user, "found an arm without a choice, expected one or more", k.kernel.name);
    const std::string_view family = arm[0].family();
    for (const auto& c : arm)
        if (c.family() != family) return refuse(fault_kind::user, "found " + c.key + " beside " + arm[0].key + ", expected keys of one family", c.key);
    if (family == "PLACE") return realise_cut(k, arm);
    return family == "LAYOUT" ? realise_layout(k, arm) : realise_split(k, arm);
}

}  // namespace emmy::fork
