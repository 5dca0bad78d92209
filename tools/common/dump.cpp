#include <common/dump.hpp>

#include <emmy/core/file.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/wire.hpp>

#include <filesystem>

namespace emmy::tools {

result<void> dump_kernel(const std::string& directory, const subject& what, const std::vector<std::pair<std::string, std::string>>& texts) {
    std::string name = what.kernel.name.empty() ? "kernel" : what.kernel.name;
    for (char& c : name)  // a file's name for its kernel leads nowhere else
        if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
    if (name.front() == '.') name.front() = '_';
    const std::string folder = directory + "/" + name;
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) return refuse(fault_kind::input, "cannot make the folder: " + failed.message(), "--dump", folder);
    if (what.program) {
        std::string text;
        json::writer w(text);
        program::write_program(w, *what.program);
        EMMY_CHECK_OK(write_file_atomically(folder + "/program.json", text + "\n"));
    }
    EMMY_CHECK_OK(write_file_atomically(folder + "/body.json", loop::kernel_text(what.kernel) + "\n"));
    for (const auto& [file, text] : texts) EMMY_CHECK_OK(write_file_atomically(folder + "/" + file, text));
    return {};
}

}  // namespace emmy::tools
