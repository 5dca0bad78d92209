#pragma once
#include <emmy/core/file.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/golden/impl/edit.ipp>
#include <emmy/golden/impl/read.ipp>
#include <emmy/golden/impl/write.ipp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/wire.hpp>

#include <algorithm>

#include <sys/stat.h>

namespace emmy::golden {

EMMY_DECL std::vector<decision_index> document::path(kernel_index kernel) const {
    std::vector<decision_index> out;
    if (kernel >= minter_.size()) return out;
    std::vector<kernel_index> seen{kernel};
    for (kernel_index at = kernel; minter_[at] != none;) {
        const kernel_index parent = routing_[minter_[at]].parent;
        if (std::find(seen.begin(), seen.end(), parent) != seen.end()) break;
        out.push_back(minter_[at]);
        seen.push_back(parent);
        at = parent;
    }
    std::reverse(out.begin(), out.end());
    return out;
}

EMMY_DECL kernel_index document::root(kernel_index kernel) const {
    const auto steps = path(kernel);
    return steps.empty() ? kernel : routing_[steps.front()].parent;
}

EMMY_DECL result<loop::kernel> document::body(kernel_index kernel) const {
    if (kernel >= kernels_.size())
        return refuse(fault_kind::user, "found the kernel index " + (kernel == none ? std::string("none") : std::to_string(kernel)) + ", expected one of " + std::to_string(kernels_.size()) + " kernels", "kernels", file_);
    const json::path root{};
    const json::path kernels = root / "kernels", entry = kernels / std::size_t{kernel}, at = entry / "loop_ir";
    auto out = loop::read_kernel(kernels_[kernel].loop_ir, at);
    if (!out) return refuse(std::move(out).error().in_file(file_));
    return out;
}

EMMY_DECL result<digest128> document::identity(kernel_index kernel) const {
    EMMY_TRY(k, body(kernel));
    return loop::identity(k);
}

EMMY_DECL result<void> document::save(const std::string& path, bool replace) const {
    struct stat info {};
    if (!replace && ::stat(path.c_str(), &info) == 0)
        return refuse(fault_kind::user, "found an existing file, expected none (ask to replace it)", {}, path);
    const std::string bytes = text();
    EMMY_CHECK_OK(parse(bytes, path));  // what is written can be read
    return write_file_atomically(path, bytes);
}

}  // namespace emmy::golden
