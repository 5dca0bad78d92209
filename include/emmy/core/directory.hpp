#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <string>

namespace emmy {

/// Makes a directory and those above it; one that is there already is fine. Errors (of the given kind): the first part that cannot be made, with the reason.
EMMY_DECL result<void> make_directories(const std::string& path, fault_kind kind);

}  // namespace emmy

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/directory.ipp>
#endif
