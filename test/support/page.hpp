#pragma once
// A page in a headless browser: its document after its script ran, and how many requests it made.
#include "support/tool.hpp"

#include <cstdlib>
#include <string>

namespace emmy::test {

/// Path of a Chromium, or nothing.
inline std::string browser() {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
        const std::string command = std::string("command -v ") + name + " >/dev/null 2>&1";
        if (std::system(command.c_str()) == 0) return name;
    }
    return {};
}

struct dumped_page {
    std::string dom;
    std::size_t requests = 0;  ///< of http, https or another scheme that leaves the file
};

/// Opens a page from a file of its own. Every host name leads nowhere, so that a request fails and is counted, never answered.
inline dumped_page open_page(const std::string& browser, const std::string& html) {
    const scratch_folder folder;
    std::ofstream(folder / "page.html", std::ios::binary) << html;
    const std::string command = "HOME='" + folder.path.string() + "' timeout 60 '" + browser + "' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --user-data-dir='" + folder / "profile" +
                                "' --host-resolver-rules='MAP * ~NOTFOUND' --log-net-log='" + folder / "net.json" + "' --virtual-time-budget=2000 --dump-dom 'file://" + folder / "page.html" + "' >'" +
                                folder / "dom" + "' 2>'" + folder / "err" + "'";
    const int status = std::system(command.c_str());
    dumped_page out;
    out.dom = slurp(folder / "dom");
    BOOST_REQUIRE_MESSAGE(status == 0 && !out.dom.empty(), browser << " failed: " << slurp(folder / "err"));
    // A page from a file has the origin "null"; what the browser asks for by itself has none.
    const std::string log = slurp(folder / "net.json");
    for (std::size_t at = log.find("\"initiator\":\"null\""); at != std::string::npos; at = log.find("\"initiator\":\"null\"", at + 1)) ++out.requests;
    return out;
}

}  // namespace emmy::test
