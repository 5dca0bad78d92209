#include <common/progress.hpp>

#include <common/output.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include <sys/ioctl.h>
#include <unistd.h>

namespace emmy::tools {
namespace {

progress::environment live_environment() {
    progress::environment env;
    env.seconds = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
    env.write = [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
    };
    env.terminal = is_terminal(2);
    struct winsize size {};
    if (env.terminal && ::ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) env.width = size.ws_col;
    return env;
}

std::string span(double seconds) {
    const auto s = static_cast<long long>(seconds + 0.5);
    if (s < 60) return fmt::format("{}s", s);
    if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
    return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
}

}  // namespace

progress::progress(const common_options& options, std::size_t total, std::string what) : progress(options, total, std::move(what), live_environment()) {}

progress::progress(const common_options& options, std::size_t total, std::string what, environment env)
    : env_(std::move(env)), what_(std::move(what)), total_(total), start_(env_.seconds()) {
    silent_ = options.quiet || options.progress == progress_mode::never;
    bar_ = env_.terminal;
    if (bar_ && !silent_) draw();
}
progress::~progress() { close(); }

void progress::finished(std::string_view item, std::string_view result, std::string_view best) {
    ++done_;
    item_ = item;
    if (!best.empty()) best_ = best;
    if (silent_) return;
    if (bar_) {
        if (done_ >= total_ || env_.seconds() - drawn_at_ >= 0.1) draw();
        return;
    }
    std::string line = fmt::format("{} {}/{} {}", what_, done_, total_, item);
    if (!result.empty()) (line += ": ") += result;
    if (!best_.empty()) line += "; best " + best_;
    env_.write(line + "\n");
}

void progress::note(std::string_view line) {
    if (silent_) return;
    clear();
    env_.write(std::string(line) + "\n");
    if (bar_) draw();
}

void progress::draw() {
    const double now = env_.seconds();
    const std::size_t of = std::max<std::size_t>(total_, 1);
    const std::size_t filled = 20 * std::min(done_, of) / of;
    std::string line = fmt::format("{} [{}{}] {}/{}", what_, std::string(filled, '#'), std::string(20 - filled, '.'), done_, total_);
    if (done_ > 0 && done_ < total_) line += "  ETA " + span((now - start_) / static_cast<double>(done_) * static_cast<double>(total_ - done_));
    if (!best_.empty()) line += "  best " + best_;
    if (!item_.empty()) line += "  " + item_;
    std::size_t columns = 0, bytes = 0;  // cut to the width at a code point
    while (bytes < line.size()) {
        if ((static_cast<unsigned char>(line[bytes]) & 0xc0) != 0x80 && ++columns >= static_cast<std::size_t>(env_.width)) break;
        ++bytes;
    }
    line.resize(bytes);
    env_.write("\r\x1b[K" + line);
    on_screen_ = true;
    drawn_at_ = now;
}

void progress::clear() {
    if (on_screen_) env_.write("\r\x1b[K");
    on_screen_ = false;
}

void progress::close() {
    if (silent_ || !bar_) return;
    if (on_screen_) env_.write("\n");
    on_screen_ = false;
    silent_ = true;
}

}  // namespace emmy::tools
