#pragma once
// Runs a built tool and holds its words against approved ones.
#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/wait.h>

namespace emmy::test {

struct tool_run {
    int code = -1;
    std::string out, err;
};

inline std::string slurp(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
}

/// A folder of this test's own, removed at its end.
struct scratch_folder {
    std::filesystem::path path;
    scratch_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "emmy_test_XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    ~scratch_folder() {
        std::error_code ec;
        std::filesystem::remove_all(path, ec);
    }
    std::string operator/(const std::string& name) const { return (path / name).string(); }
};

inline std::string tool_path(const std::string& tool) { return std::string(EMMY_BINARY_DIR "/bin/") + tool; }

/// `arguments` is shell text; `environment` goes before the command ("EMMY_GOLDEN_DIR=…").
inline tool_run run_tool(const std::string& tool, const std::string& arguments, const std::string& environment = {}) {
    BOOST_REQUIRE_MESSAGE(std::filesystem::exists(tool_path(tool)), tool_path(tool) << " is not built");
    const scratch_folder folder;
    const std::string command = environment + " '" + tool_path(tool) + "' " + arguments + " >'" + folder / "out" + "' 2>'" + folder / "err" + "' </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(folder / "out"), slurp(folder / "err")};
}

/// Equal to test/approved/<name>.txt; EMMY_APPROVE=1 writes it instead.
inline void approve(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(EMMY_SOURCE_DIR) / "test/approved" / (name + ".txt");
    if (std::getenv("EMMY_APPROVE")) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    BOOST_CHECK_MESSAGE(slurp(path) == text, path.string() << " differs from\n" << text);
}

}  // namespace emmy::test
