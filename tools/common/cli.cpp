#include <common/cli.hpp>

#include <common/exit.hpp>

#include <emmy/core/config.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>

namespace emmy::tools {

struct verb::state {
    CLI::App* app = nullptr;
    std::vector<std::string> remarks, examples;

    void set_footer() {
        std::string footer;
        for (const auto& r : remarks) footer += r + "\n";
        if (!remarks.empty() && !examples.empty()) footer += "\n";
        if (!examples.empty()) footer += "Examples:";
        for (const auto& e : examples) footer += "\n" + e;
        app->footer(footer);
    }
};
struct cli::state {
    explicit state(const std::string& about) : app(about) {}
    CLI::App app;
    std::string tool;
    std::vector<std::unique_ptr<verb>> verbs;
    std::vector<std::string> names;
    std::unique_ptr<verb> self;
};

namespace {

/// Help with the examples at its end; one line for an error.
class house_formatter : public CLI::Formatter {
public:
    house_formatter() {
        column_width(34);
        label("TEXT", "TEXT");
    }
};

CLI::Option* described(CLI::Option* option, const std::string& type) { return option->type_name(type); }

CLI::Option* list_option(CLI::App& app, const std::string& names, std::vector<std::string>& into, const std::string& about, const std::string& type) {
    return described(app.add_option(names, into, about), type)->take_all()->expected(1)->allow_extra_args(false);
}

std::string type_of(const std::string& names) {
    for (const char* word : {"file", "out", "db", "golden"})
        if (names.find(word) != std::string::npos) return "PATH";
    return "TEXT";
}

}  // namespace

verb::verb(std::unique_ptr<state> s) : state_(std::move(s)) {}
verb::~verb() = default;

verb& verb::flag(const std::string& names, bool& into, const std::string& about) {
    state_->app->add_flag(names, into, about);
    return *this;
}
verb& verb::option(const std::string& names, std::string& into, const std::string& about) {
    described(state_->app->add_option(names, into, about), type_of(names));
    return *this;
}
verb& verb::option(const std::string& names, std::int64_t& into, const std::string& about, std::int64_t least) {
    described(state_->app->add_option(names, into, about), "N")->check([least](const std::string& text) {
        std::int64_t n = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
        const bool small = error == std::errc() && end == text.data() + text.size() && n < least;
        return small ? "found \"" + text + "\", expected a number of at least " + std::to_string(least) : std::string();
    });
    return *this;
}
verb& verb::option(const std::string& names, double& into, const std::string& about) {
    described(state_->app->add_option(names, into, about), "X")->check([](const std::string& text) {
        char* end = nullptr;
        const double x = std::strtod(text.c_str(), &end);
        const bool number = end != text.c_str() && *end == 0;
        return number && !(std::isfinite(x) && x > 0) ? "found \"" + text + "\", expected a finite number of more than 0" : std::string();
    });
    return *this;
}
verb& verb::option(const std::string& names, std::vector<std::string>& into, const std::string& about) {
    list_option(*state_->app, names, into, about, type_of(names));
    return *this;
}
verb& verb::pair(const std::string& name, std::vector<std::string>& into, const std::string& about) {
    described(state_->app->add_option(name, into, about), "KERNEL")->expected(2)->allow_extra_args(false);
    return *this;
}
verb& verb::choice(const std::string& names, std::string& into, const std::vector<std::string>& allowed, const std::string& about) {
    std::string list;
    for (const auto& word : allowed) list += (list.empty() ? "" : "|") + word;
    CLI::Option* option = described(state_->app->add_option(names, into, about), list.size() <= 40 ? list : "WORD");
    option->check([allowed, list](const std::string& text) {
        if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return std::string();
        return "found \"" + text + "\", expected " + list;
    });
    return *this;
}
verb& verb::positional(const std::string& name, std::string& into, const std::string& about, bool required) {
    described(state_->app->add_option(name, into, about), "")->required(required);
    return *this;
}
verb& verb::positional(const std::string& name, std::vector<std::string>& into, const std::string& about, bool required) {
    described(state_->app->add_option(name, into, about), "")->required(required);
    return *this;
}
verb& verb::excludes(const std::string& a, const std::string& b) {
    state_->app->get_option(a)->excludes(state_->app->get_option(b));
    return *this;
}
verb& verb::example(const std::string& command_line, const std::string& what) {
    state_->examples.push_back("  " + command_line + "\n      " + what);
    state_->set_footer();
    return *this;
}
verb& verb::remark(const std::string& word, const std::string& about) {
    state_->remarks.push_back("  " + word + std::string(word.size() < 20 ? 20 - word.size() : 1, ' ') + about);
    state_->set_footer();
    return *this;
}
bool verb::chosen() const { return state_->app->parsed(); }
bool verb::given(const std::string& name) const {
    const CLI::Option* option = state_->app->get_option_no_throw(name);
    return option && option->count() > 0;
}

verb& verb::common(unsigned which, common_options& o) {
    CLI::App& app = *state_->app;
    if (which & takes::db) described(app.add_option("--db", o.db, "Evidence store (default: $EMMY_DB, else under $XDG_DATA_HOME)"), "PATH");
    if (which & takes::device) described(app.add_option("--device", o.device, "Device to run on"), "NAME");
    if (which & takes::golden) described(app.add_option("--golden", o.golden, "Golden file whose evidence, kernels and names are in scope"), "FILE");
    if (which & takes::realization) described(app.add_option("--realization", o.realization, "Rows of this name (or the only ones whose name contains it)"), "NAME");
    if (which & takes::op) described(app.add_option("--op", o.op, "One operator: 'softmax(x: f32[512,2048], dim=-1)'"), "TEXT");
    if ((which & takes::realization) && (which & takes::op)) app.get_option("--realization")->excludes(app.get_option("--op"));
    if (which & takes::dynamic) {
        list_option(app, "--dynamic", o.dynamic, "Size of a symbol: seq_len=512 (repeatable, or a comma list)", "NAME=N")->delimiter(',')->check([](const std::string& text) {
            return parse_size(text) ? std::string() : "found \"" + text + "\", expected NAME=N with N of at least 1";
        });
    }
    if (which & takes::pin) list_option(app, "--pin", o.pin, "Knob values to hold: K=V,... (repeatable)", "K=V,...");
    if (which & takes::output) {
        static const std::map<std::string, format> formats{{"table", format::table}, {"json", format::json}, {"csv", format::csv}, {"md", format::md}, {"html", format::html}};
        const bool page = (which & takes::page) != 0;
        CLI::Option* how = described(app.add_option_function<std::string>("--format", [&o](const std::string& text) { o.format = formats.at(text); },
                                                                            std::string("Form of the result (default: ") + (o.format == format::json ? "json)" : "table)")),
                                     page ? "table|json|csv|md|html" : "table|json|csv|md");
        how->check([page](const std::string& text) {
            if (formats.count(text) && (page || text != "html")) return std::string();
            return "found \"" + text + "\", expected table, json, csv" + (page ? ", md or html" : " or md");
        });
        CLI::Option* out = described(app.add_option("--out", o.out, "Where the result goes (default: standard output)"), "PATH");
        CLI::Option* json = described(app.add_option_function<std::string>("--json", [&o](const std::string& path) { o.format = format::json, o.out = path; }, "Short for --format json --out PATH (- = standard output)"), "PATH");
        json->excludes(how)->excludes(out);
    }
    if (which & takes::dump) described(app.add_option("--dump", o.dump, "Keep intermediate texts in this directory"), "DIR");
    if (which & takes::progress) {
        static const std::map<std::string, progress_mode> modes{{"auto", progress_mode::automatic}, {"always", progress_mode::always}, {"never", progress_mode::never}};
        app.add_flag("--quiet,-q", o.quiet, "No notes, no progress");
        described(app.add_option_function<std::string>("--progress", [&o](const std::string& text) { o.progress = modes.at(text); }, "Progress on standard error (default: auto)"), "auto|always|never")
            ->check([](const std::string& text) { return modes.count(text) ? std::string() : "found \"" + text + "\", expected auto, always or never"; });
    }
    if (which & takes::seed) described(app.add_option("--seed", o.seed, "Seed of everything random"), "N")->capture_default_str()->check([](const std::string& text) {
            return text.find_first_not_of("0123456789") == std::string::npos ? std::string() : "found \"" + text + "\", expected a number of at least 0";
        });
    return *this;
}

cli::cli(std::string tool, const std::string& about) : state_(std::make_unique<state>(about)) {
    state_->tool = std::move(tool);
    CLI::App& app = state_->app;
    app.name(state_->tool);
    app.formatter(std::make_shared<house_formatter>());
    app.set_help_flag("-h,--help", "This text");
    app.set_version_flag("--version", state_->tool + " " EMMY_VERSION_TEXT, "The version");
    auto s = std::make_unique<verb::state>();
    s->app = &app;
    state_->self.reset(new verb(std::move(s)));
}
cli::~cli() = default;

verb& cli::self() { return *state_->self; }

verb& cli::add(const std::string& name, const std::string& about) {
    auto s = std::make_unique<verb::state>();
    s->app = state_->app.add_subcommand(name, about);
    s->app->set_help_flag("-h,--help", "This text");
    state_->verbs.emplace_back(new verb(std::move(s)));
    state_->names.push_back(name);
    return *state_->verbs.back();
}

std::vector<std::string> cli::verbs() const { return state_->names; }

std::vector<std::string> cli::flags(const std::string& verb_name) const {
    std::vector<std::string> out;
    const CLI::App* app = verb_name.empty() ? &state_->app : nullptr;
    for (std::size_t i = 0; i < state_->names.size(); ++i)
        if (state_->names[i] == verb_name) app = state_->verbs[i]->state_->app;
    if (!app) return out;
    for (const CLI::Option* o : app->get_options())
        for (const std::string& name : o->get_lnames()) out.push_back("--" + name);
    return out;
}

namespace {

/// What the parser says, as found and expected.
std::string found_and_expected(const CLI::ParseError& e) {
    std::string what = e.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    auto after = [&](std::string_view mark) {
        const auto at = what.find(mark);
        return at == what.npos ? std::string() : what.substr(at + mark.size());
    };
    if (dynamic_cast<const CLI::ExtrasError*>(&e)) return "found \"" + after(": ") + "\", expected no such argument";
    if (dynamic_cast<const CLI::ConversionError*>(&e)) {
        const std::string rest = after("Could not convert: ");
        if (const auto at = rest.find(" = "); at != rest.npos) return rest.substr(0, at) + ": found \"" + rest.substr(at + 3) + "\", expected a number";
    }
    if (dynamic_cast<const CLI::ExcludesError*>(&e)) {
        if (const auto at = what.find(" excludes "); at != what.npos) return "found " + what.substr(0, at) + " and " + what.substr(at + 10) + ", expected one of the two";
    }
    if (dynamic_cast<const CLI::RequiredError*>(&e)) {
        if (const auto at = what.find(" is required"); at != what.npos) return "found no " + what.substr(0, at) + ", expected one";
    }
    return what;
}

std::string usage_line(const CLI::ParseError& e, const cli& line, const std::string& tool, int argc, const char* const* argv) {
    const std::string what = found_and_expected(e);
    const auto verbs = line.verbs();
    if (!verbs.empty()) {
        std::string list;
        for (const auto& v : verbs) list += (list.empty() ? "" : ", ") + v;
        const std::string first = argc > 1 ? argv[1] : "";
        const bool known = std::find(verbs.begin(), verbs.end(), first) != verbs.end();
        if (first.empty()) return "found no verb, expected one of " + list + " (" + tool + " --help)";
        if (!known && first[0] != '-') return "found the verb \"" + first + "\", expected one of " + list + " (" + tool + " --help)";
        if (known) return what + " (" + tool + " " + first + " --help)";
    }
    return what + " (" + tool + " --help)";
}

}  // namespace

std::optional<int> cli::parse(int argc, const char* const* argv) {
    CLI::App& app = state_->app;
    if (!state_->names.empty()) app.require_subcommand(1);
    // The shell's completion asks for the words of a command line position.
    if (argc >= 2 && std::string_view(argv[1]) == "--complete") {
        const std::string of = argc >= 3 ? argv[2] : "";
        if (of.empty())
            for (const auto& name : state_->names) std::printf("%s\n", name.c_str());
        for (const auto& f : flags(of)) std::printf("%s\n", f.c_str());
        return exit_fine;
    }
    try {
        app.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::Success& e) {
        return app.exit(e);  // help and version, on stdout
    } catch (const CLI::ParseError& e) {
        return report(state_->tool, fault(fault_kind::user, usage_line(e, *this, state_->tool, argc, argv)));
    }
}

std::optional<std::pair<std::string, std::int64_t>> parse_size(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == text.npos) return std::nullopt;
    std::int64_t n = 0;
    const char* first = text.data() + equals + 1;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, n);
    if (first == last || error != std::errc() || end != last || n < 1) return std::nullopt;
    return std::make_pair(std::string(text.substr(0, equals)), n);
}

}  // namespace emmy::tools
