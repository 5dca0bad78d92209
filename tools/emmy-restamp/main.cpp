#include <emmy-restamp/format.hpp>
#include <emmy-restamp/list.hpp>

#include <common/cli.hpp>
#include <common/exit.hpp>
#include <common/output.hpp>

using namespace emmy;

namespace {

constexpr std::string_view tool = "emmy-restamp";
const char* const paths_about = "Golden files or directories (default: all of the repository or installation)";

int finish(const tools::common_options& options, std::string_view text, int code = tools::exit_fine) {
    if (auto written = tools::emit(options, text); !written) return tools::report(tool, written.error());
    return code;
}

/// Every file's fault, one line each; the exit code, 0 without any.
int report_all(const std::vector<fault>& faults) {
    int code = tools::exit_fine;
    for (const fault& f : faults) code = tools::report(tool, f);
    return code;
}

int fmt(const tools::common_options& options, const std::vector<std::string>& paths, bool to_stdout, bool check) {
    auto found = restamp::layouts_of(paths);
    if (!found) return tools::report(tool, found.error());
    const int bad = report_all(found->bad);
    if (bad && !check) return bad;  // nothing is written beside a file that cannot be read
    if (to_stdout) {
        if (found->files.size() != 1) return tools::report(tool, fault(fault_kind::user, "found " + std::to_string(found->files.size()) + " files, expected one", "--stdout"));
        return finish(options, found->files.front().canonical);
    }
    std::string out;
    bool differs = false;
    for (const restamp::layout& l : found->files) {
        if (l.current) continue;
        differs = true;
        if (!check) {
            if (auto changed = restamp::rewrite(l.path); !changed) return tools::report(tool, changed.error());
        }
        out += l.path + (check ? ": not in the canonical layout\n" : ": rewritten\n");
    }
    return finish(options, out, bad ? bad : check && differs ? tools::exit_finding : tools::exit_fine);
}

}  // namespace

int main(int argc, char** argv) {
    tools::common_options options, kernel_options;
    kernel_options.format = tools::format::json;
    golden::list_filter filter;
    std::vector<std::string> paths;
    std::string rule;
    bool missing = false, to_stdout = false, check = false;

    tools::cli line(std::string(tool), "Reads, lists, checks and lays out golden files; writes nothing but what fmt lays out.");
    tools::verb& list = line.add("list", "Measured rows beside torch.compile, slowest relative to it first");
    list.positional("PATH", paths, paths_about)
        .option("--gpu", filter.card, "Only cards whose name contains this")
        .option("--kernel", filter.kernel, "Only rows whose name, or whose kernel's reference, contains this")
        .flag("--behind", filter.behind, "Only rows slower than torch.compile")
        .flag("--missing", missing, "What is not measured yet: proposals, targets without a torch.compile time")
        .excludes("--missing", "--behind")
        .common(tools::takes::output, options)
        .example("emmy-restamp list goldens --behind", "every row that torch.compile beats, worst first")
        .example("emmy-restamp list file.json --kernel softmax --json -", "the rows of the softmax kernels, for a machine");
    tools::verb& kernels = line.add("kernels", "Reference, identity, role and number of rows of each kernel of a file");
    kernels.positional("FILE", paths, "Golden file", true).common(tools::takes::output, kernel_options).example("emmy-restamp kernels file.json", "a JSON array of ref, name, identity, formed, role, rows");
    tools::verb& layout = line.add("fmt", "Writes files in the canonical layout");
    layout.positional("PATH", paths, "Golden files or directories to rewrite (with --check default: all of the repository or installation)")
        .flag("--stdout", to_stdout, "Print the one file named instead of writing it")
        .flag("--check", check, "Write nothing; exit 1 when a file is not in the canonical layout")
        .excludes("--stdout", "--check")
        .example("emmy-restamp fmt --check goldens", "is every file laid out as its writer would do it");
    std::vector<std::string> rules;
    for (const golden::lint_rule& r : golden::lint_rules) rules.emplace_back(r.name);
    rules.emplace_back(evidence::row_rule.name);
    tools::verb& lint = line.add("lint", "Editorial rules that no loader enforces; exit 1 when there are findings");
    lint.positional("PATH", paths, paths_about).choice("--rule", rule, rules, "Only findings of this rule").common(tools::takes::output, options);
    for (const golden::lint_rule& r : golden::lint_rules) lint.remark(std::string(r.name), std::string(r.sentence));
    lint.remark(std::string(evidence::row_rule.name), std::string(evidence::row_rule.sentence));
    lint.example("emmy-restamp lint file.json --rule fast-math-loses", "fast-math rows that a standard row beats");
    if (const auto code = line.parse(argc, argv)) return *code;

    if (layout.chosen() && paths.empty() && !check) return tools::report(tool, fault(fault_kind::user, "found no path, expected the files to rewrite (without one only --check looks at all)", "PATH"));
    if (layout.chosen()) return fmt(options, paths, to_stdout, check);
    if (kernels.chosen() && paths.size() != 1) return tools::report(tool, fault(fault_kind::user, "found " + std::to_string(paths.size()) + " files, expected one", "FILE"));
    auto in = restamp::open(paths);
    if (!in) return tools::report(tool, in.error());
    const int bad = report_all(in->bad);
    if (bad && in->documents.empty()) return bad;
    if (kernels.chosen()) return finish(kernel_options, restamp::kernels_table(in->documents.front()).render(kernel_options.format));
    if (lint.chosen()) {
        const auto table = restamp::lint_table(*in, rule);
        return finish(options, table.render(options.format), bad ? bad : table.size() > 0 ? tools::exit_finding : tools::exit_fine);
    }
    const auto table = missing ? restamp::missing_table(*in, filter) : restamp::list_table(*in, filter);
    return finish(options, table.render(options.format), bad);
}
