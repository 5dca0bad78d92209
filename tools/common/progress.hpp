#pragma once
#include <common/options.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace emmy::tools {

/// Progress of counted work on stderr: a bar on a terminal, one line per finished item otherwise; silent when quiet or `never`.
class progress {
public:
    struct environment {  ///< replaced in tests
        std::function<double()> seconds;              ///< a clock that does not go back
        std::function<void(std::string_view)> write;  ///< stderr
        bool terminal = false;
        int width = 80;
    };
    progress(const common_options& options, std::size_t total, std::string what);
    progress(const common_options& options, std::size_t total, std::string what, environment env);
    ~progress();

    /// The work turned out to be this much.
    void expect(std::size_t total) { total_ = total; }
    /// One item is finished; `best` (may be empty) is shown as the best so far, `result` what came of it.
    void finished(std::string_view item, std::string_view result = {}, std::string_view best = {});
    /// A line above the bar.
    void note(std::string_view line);
    /// Ends the bar; the destructor does too.
    void close();

private:
    void draw();
    void clear();
    environment env_;
    std::string what_, best_, item_;
    std::size_t done_ = 0, total_ = 0;
    double start_ = 0, drawn_at_ = -1;
    bool silent_ = false, bar_ = false, on_screen_ = false;
};

}  // namespace emmy::tools
