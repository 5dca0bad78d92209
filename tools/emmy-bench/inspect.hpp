#pragma once
#include <common/exit.hpp>
#include <common/output.hpp>
#include <common/progress.hpp>
#include <common/table.hpp>

#include <emmy/core/json.hpp>
#include <emmy/golden/snapshot/inspect.hpp>

#include <cmath>

/// `emmy-bench snapshot`: what snapshots hold, and how two differ.
namespace emmy::bench {

namespace detail {

/// Progress of bytes: a bar on a terminal, else one line a GiB.
class byte_progress {
public:
    byte_progress(const tools::common_options& common, std::string what) : unit_(tools::is_terminal(2) ? std::uint64_t(16) << 20 : std::uint64_t(1) << 30), bar_(common, 1, std::move(what)) {}
    void operator()(std::uint64_t done, std::uint64_t total, std::string_view file) {
        bar_.expect(static_cast<std::size_t>(total / unit_));
        for (; told_ < done / unit_; ++told_) bar_.finished(file);
    }

private:
    std::uint64_t unit_, told_ = 0;
    tools::progress bar_;
};

inline std::string shape_json(const std::vector<std::int64_t>& shape) {
    std::string out = "[";
    for (const std::int64_t s : shape) out += (out.size() > 1 ? "," : "") + std::to_string(s);
    return out + "]";
}

inline result<int> show(const tools::common_options& common, const std::string& folder) {
    byte_progress bar(common, "hashing");
    EMMY_TRY(shown, golden::snapshot::show(folder, std::ref(bar)));
    tools::table out("emmy.bench.snapshot-show/1", {{"file"}, {"name"}, {"holds", true, false}, {"dtype", false}, {"shape", false}, {"bytes"}, {"xxh3_128"}, {"state"}, {"error"}});
    bool finding = false;
    std::uint64_t bytes = 0;
    for (const auto& f : shown.files) {
        finding = finding || f.finding(), bytes += f.bytes;
        const bool there = f.error.empty() && f.state != "missing";
        out.add({tools::cell::text(f.path), tools::cell::text(f.path.substr(f.path.find('/') + 1, f.path.size() - f.path.find('/') - 4)), there ? tools::cell::text(f.holds) : tools::cell(),
            f.dtype.empty() ? tools::cell() : tools::cell::text(f.dtype), f.dtype.empty() ? tools::cell() : tools::cell::json(shape_json(f.shape)), f.state == "missing" ? tools::cell() : tools::cell::integer(static_cast<std::int64_t>(f.bytes)),
            f.digest ? tools::cell::text(to_hex(f.digest)) : tools::cell(), tools::cell::text(f.state), f.error.empty() ? tools::cell() : tools::cell::text(f.error)});
    }
    if (shown.told) {
        const auto& m = *shown.told;
        out.fact("tool", tools::cell::text(m.tool)), out.fact("reference", tools::cell::text(m.reference)), out.fact("device", tools::cell::text(m.device)), out.fact("seed", tools::cell::text(std::to_string(m.seed)));
        out.footer("saved by " + m.tool + " on " + m.device + ", seed " + std::to_string(m.seed) + "; reference: " + m.reference);
    } else {
        out.footer("no " + std::string(golden::snapshot::manifest_name) + ": made by another program, or by a run that did not pass");
    }
    out.fact("bytes", tools::cell::integer(static_cast<std::int64_t>(bytes)));
    EMMY_CHECK_OK(tools::emit(common, out.render(common.format)));
    return finding ? tools::exit_finding : tools::exit_fine;
}

inline result<int> diff(const tools::common_options& common, const std::string& a, const std::string& b) {
    byte_progress bar(common, "comparing");
    EMMY_TRY(found, golden::snapshot::diff(a, b, std::ref(bar)));
    tools::table out("emmy.bench.snapshot-diff/1", {{"file"}, {"status"}, {"elements"}, {"max_abs"}, {"max_rel"}, {"over"}, {"first"}, {"a_value"}, {"b_value"}, {"a"}, {"b"}});
    std::size_t differ = 0;
    const auto number = [](double value) { return std::isfinite(value) ? tools::cell::json(json::spell_real(value), golden::snapshot::real_text(value)) : tools::cell::text(golden::snapshot::real_text(value)); };
    for (const auto& d : found) {
        differ += d.status != "equal";
        const bool compared = d.status == "equal" || d.status == "differs", apart = d.status == "differs";
        const auto& v = d.values;
        out.add({tools::cell::text(d.path), tools::cell::text(d.status), compared ? tools::cell::integer(static_cast<std::int64_t>(v.elements)) : tools::cell(), compared ? number(v.max_abs) : tools::cell(),
            compared ? number(v.max_rel) : tools::cell(), compared ? tools::cell::integer(static_cast<std::int64_t>(v.over)) : tools::cell(), apart ? tools::cell::integer(v.first) : tools::cell(),
            apart ? number(v.first_found) : tools::cell(), apart ? number(v.first_wanted) : tools::cell(), d.a.empty() ? tools::cell() : tools::cell::text(d.a), d.b.empty() ? tools::cell() : tools::cell::text(d.b)});
    }
    out.fact("files", tools::cell::integer(static_cast<std::int64_t>(found.size()))), out.fact("differ", tools::cell::integer(static_cast<std::int64_t>(differ)));
    out.footer(differ ? std::to_string(differ) + " of " + std::to_string(found.size()) + " files differ" : "all " + std::to_string(found.size()) + " files hold the same");
    EMMY_CHECK_OK(tools::emit(common, out.render(common.format)));
    return differ ? tools::exit_finding : tools::exit_fine;
}

}  // namespace detail

inline int inspect(std::string_view tool, const tools::common_options& common, const std::vector<std::string>& words) {
    const bool shows = words.size() == 2 && words[0] == "show", compares = words.size() == 3 && words[0] == "diff";
    if (!shows && !compares) return tools::report(tool, fault(fault_kind::user, "expected show DIR or diff A B", "snapshot"));
    const auto done = shows ? detail::show(common, words[1]) : detail::diff(common, words[1], words[2]);
    return done ? *done : tools::report(tool, done.error());
}

}  // namespace emmy::bench
