#pragma once
#include <common/options.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emmy::tools {

/// One verb of a tool (or the tool itself, when it has none). Variables are bound by reference and must outlive parse().
class verb {
public:
    verb& common(unsigned which, common_options& into);  ///< a union of takes::…
    verb& flag(const std::string& names, bool& into, const std::string& about);              ///< "--check"
    verb& option(const std::string& names, std::string& into, const std::string& about);     ///< "--gpu" or "-g,--gpu"
    verb& option(const std::string& names, std::int64_t& into, const std::string& about, std::int64_t least = 0);  ///< less is a usage error
    verb& option(const std::string& names, double& into, const std::string& about);  ///< finite and more than 0, else a usage error
    verb& option(const std::string& names, std::vector<std::string>& into, const std::string& about);  ///< repeatable
    /// One option with two values: "--diff A B".
    verb& pair(const std::string& name, std::vector<std::string>& into, const std::string& about);
    /// Value out of a closed list; another is a usage error that lists them.
    verb& choice(const std::string& names, std::string& into, const std::vector<std::string>& allowed, const std::string& about);
    verb& positional(const std::string& name, std::string& into, const std::string& about, bool required = true);
    verb& positional(const std::string& name, std::vector<std::string>& into, const std::string& about, bool required = false);
    /// Two options that cannot be given together.
    verb& excludes(const std::string& a, const std::string& b);
    verb& remark(const std::string& word, const std::string& about);          ///< a line "word  about" before the examples
    verb& example(const std::string& command_line, const std::string& what);  ///< printed at the end of --help

    bool chosen() const;                        ///< after parse(): this verb was asked for
    bool given(const std::string& name) const;  ///< after parse(): the flag stood on the command line

    verb(const verb&) = delete;
    struct state;

private:
    friend class cli;
    explicit verb(std::unique_ptr<state> s);

public:
    ~verb();

private:
    std::unique_ptr<state> state_;
};

/// The command line of one tool: its verbs, --help (with examples), --version, one-line usage errors.
///
///   cli line("emmy-db", "reads the evidence store");
///   verb& stat = line.add("stat", "what the store holds").common(takes::db | takes::output, options);
///   if (const auto code = line.parse(argc, argv)) return *code;
///   if (stat.chosen()) …
class cli {
public:
    cli(std::string tool, const std::string& about);
    ~cli();

    verb& self();  ///< the tool without verbs
    verb& add(const std::string& name, const std::string& about);

    /// Nothing when a verb is to run; else the exit code (help and version print to stdout: 0; a usage error prints one line to stderr: 2).
    std::optional<int> parse(int argc, const char* const* argv);
    /// Names of the verbs, in order; the long flags of one.
    std::vector<std::string> verbs() const;
    std::vector<std::string> flags(const std::string& verb_name) const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// "seq_len=512" -> {"seq_len", 512}; positive. Used for --dynamic.
std::optional<std::pair<std::string, std::int64_t>> parse_size(std::string_view text);

}  // namespace emmy::tools
