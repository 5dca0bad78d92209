#pragma once
#include <emmy/core/directory.hpp>

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace emmy {

EMMY_DECL result<void> make_directories(const std::string& path, fault_kind kind) {
    for (std::size_t at = 1; at <= path.size(); ++at) {
        if (at != path.size() && path[at] != '/') continue;
        const std::string part = path.substr(0, at);
        if (::mkdir(part.c_str(), 0777) == 0 || errno == EEXIST) continue;
        const int why = errno;
        if (struct stat facts{}; ::stat(part.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) continue;  // not ours to make, but there
        return refuse(kind, std::string("cannot create the directory: ") + std::strerror(why), {}, part);
    }
    return {};
}

}  // namespace emmy
