#pragma once
#include <emmy/device/concept.hpp>
#include <emmy/fork/target.hpp>

#include <string_view>

namespace emmy::device::cpu {

/// Cache sizes as sysfs spells them ("48K"), empty where unknown.
struct cache_text {
    std::string_view l1, l2, l3;
};

/// `cpu: <model> f<family>m<model> <ISA level> <cores>c <L2>/<L3>` from the text of /proc/cpuinfo and sysfs. Texts are
/// untrusted: control characters dropped, blanks collapsed, the model name cut at 64 characters, numbers bounded.
EMMY_DECL identification identify_from(std::string_view cpuinfo, const cache_text& caches, int usable_cores);

/// This machine's.
EMMY_DECL const identification& identify_host();

/// What schedules depend on, of an identified processor.
inline fork::cpu_target schedule_target(const identification& of) {
    const limits& l = of.limits;
    return fork::make_cpu_target(l.vector_bytes, l.l1_bytes, l.l2_bytes, l.l3_bytes, l.cores);
}

}  // namespace emmy::device::cpu

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cpu_identify.ipp>
#endif
