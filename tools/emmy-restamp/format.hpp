#pragma once
#include <emmy-restamp/files.hpp>
#include <emmy/core/file.hpp>

namespace emmy::restamp {

/// What `fmt` found of one file.
struct layout {
    std::string path, canonical;
    bool current = false;
};

inline result<layout> layout_of(const std::string& path) {
    EMMY_TRY(bytes, read_file(path));
    EMMY_TRY(file, golden::document::parse(bytes, path, golden::is_repository_path(path) ? golden::rules::repository : golden::rules::working));
    layout out{path, file.text(), false};
    out.current = out.canonical == bytes;
    return out;
}

struct layouts {
    std::vector<layout> files;
    std::vector<fault> bad;  ///< what cannot be read
};

/// Every file is read before the first is written.
inline result<layouts> layouts_of(const std::vector<std::string>& paths) {
    EMMY_TRY(expanded, golden::expand(paths));
    layouts out;
    for (const std::string& path : expanded) {
        auto one = layout_of(path);
        one ? out.files.push_back(std::move(*one)) : out.bad.push_back(one.error());
    }
    return out;
}

/// Rewrites one file in the canonical layout, under its lock. True when it was changed.
inline result<bool> rewrite(const std::string& path) {
    const auto lock = file_lock::acquire(path);
    if (!lock) return refuse(lock.error());
    EMMY_TRY(now, layout_of(path));  // again: it may have changed before the lock was held
    if (now.current) return false;
    EMMY_CHECK_OK(write_file_atomically(path, now.canonical));
    return true;
}

}  // namespace emmy::restamp
