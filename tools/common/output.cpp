#include <common/output.hpp>

#include <emmy/core/file.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace emmy::tools {

result<void> emit(const common_options& options, std::string_view text) {
    if (options.out.empty() || options.out == "-") {
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
            return refuse(fault_kind::input, std::string("cannot write: ") + std::strerror(errno), {}, "standard output");
        return {};
    }
    struct stat info {};
    if (::stat(options.out.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {  // a device or a pipe is written, not replaced
        std::FILE* out = std::fopen(options.out.c_str(), "wb");
        if (!out) return refuse(fault_kind::input, std::string("cannot open: ") + std::strerror(errno), {}, options.out);
        const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
        if (std::fclose(out) != 0 || !written) return refuse(fault_kind::input, std::string("cannot write: ") + std::strerror(errno), {}, options.out);
        return {};
    }
    return write_file_atomically(options.out, text);
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

}  // namespace emmy::tools
