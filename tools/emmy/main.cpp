// emmy VERB … runs emmy-VERB …
#include "verbs.hpp"

#include <common/exit.hpp>

#include <emmy/core/config.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace emmy;

int main(int, char** argv) {
    const std::string here = dispatch::own_directory();
    const char* search_path = std::getenv("PATH");
    std::vector<dispatch::tool_line> present;
    for (const auto& t : dispatch::tools)
        if (!dispatch::find_tool(t.verb, here, search_path).empty()) present.push_back(t);

    const std::string_view verb = argv[0] && argv[1] ? argv[1] : "";
    if (verb == "--version") {
        std::puts("emmy " EMMY_VERSION_TEXT);
        return tools::exit_fine;
    }
    if (verb == "--complete" && !argv[2]) {
        for (const auto& t : present) std::printf("%s\n", t.verb.data());
        std::puts("--help\n--version");
        return tools::exit_fine;
    }
    const bool help_of = verb == "help" && argv[2];  // emmy help VERB = emmy VERB --help
    if (!help_of && (verb == "-h" || verb == "--help" || verb == "help")) {
        std::puts("A measured-evidence kernel compiler.\n\nUsage: emmy VERB [ARGUMENTS]     (the same as emmy-VERB [ARGUMENTS])\n");
        for (const auto& t : present) std::printf("  %-9s %s\n", t.verb.data(), t.about.data());
        std::puts("\nemmy VERB --help tells more; exit codes: 0 fine, 1 finding, 2 usage, 3 bad input, 4 device, 5 store, 70 internal.");
        return tools::exit_fine;
    }
    std::string known;
    for (const auto& t : present) known += (known.empty() ? "" : ", ") + std::string(t.verb);
    if (verb.empty()) return tools::report("emmy", fault(fault_kind::user, "found no verb, expected one of " + known + " (emmy --help)"));

    // emmy --complete VERB … asks the tool itself.
    const bool completing = verb == "--complete";
    const std::string_view wanted = completing || help_of ? argv[2] : verb;
    const bool one_of_us = std::any_of(present.begin(), present.end(), [&](const auto& t) { return t.verb == wanted; });
    const std::string path = one_of_us ? dispatch::find_tool(wanted, here, search_path) : std::string();
    if (path.empty()) return tools::report("emmy", fault(fault_kind::user, "found the verb \"" + std::string(wanted) + "\", expected one of " + known + " (emmy --help)"));
    std::vector<char*> arguments{const_cast<char*>(path.c_str())};
    if (completing) arguments.push_back(argv[1]);
    for (char** a = argv + (completing || help_of ? 3 : 2); *a; ++a) arguments.push_back(*a);
    std::string help = "--help";
    if (help_of) arguments.push_back(help.data());
    arguments.push_back(nullptr);
    ::execv(path.c_str(), arguments.data());
    return tools::report("emmy", fault(fault_kind::internal, std::string("cannot run: ") + std::strerror(errno), {}, path));
}
