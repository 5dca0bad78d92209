#include <emmy-db/db.hpp>

#include <common/cli.hpp>
#include <common/exit.hpp>
#include <common/output.hpp>

using namespace emmy;

int main(int argc, char** argv) {
    constexpr std::string_view tool = "emmy-db";
    tools::common_options options;
    db::row_filter filter;

    tools::cli line(std::string(tool), "Reads an evidence store and checks it; writes nothing.");
    tools::verb& check = line.add("check", "Digests, references, cards, vocabularies and times of all tables; exit 1 when anything fails");
    check.common(tools::takes::db | tools::takes::output, options).example("emmy-db check --db dataset.db", "one line a check");
    tools::verb& stat = line.add("stat", "What the store holds: entries per table, lane and source");
    stat.common(tools::takes::db | tools::takes::output, options).example("emmy-db stat --db dataset.db --format csv", "counts for a spreadsheet");
    tools::verb& rows = line.add("rows", "The measurements, fastest first within a kernel and size");
    rows.option("--gpu", filter.card, "Only cards whose name contains this")
        .option("--kernel", filter.kernel, "Only kernels whose name contains this")
        .option("--source", filter.source, "Only sources whose label contains this")
        .option("--limit", filter.limit, "At most this many rows (0 = all)")
        .common(tools::takes::db | tools::takes::output, options)
        .example("emmy-db rows --kernel softmax --json -", "the softmax rows for a machine");
    if (const auto code = line.parse(argc, argv)) return *code;

    auto store = db::open(options.db);
    if (!store) return tools::report(tool, store.error());
    if (!options.quiet)
        for (const std::string& n : store->notes()) tools::note(tool, n);
    std::string text;
    int code = tools::exit_fine;
    if (check.chosen()) {
        auto found = db::check(*store);
        if (!found) return tools::report(tool, found.error());
        text = found->out.render(options.format);
        if (found->failed > 0) code = tools::exit_finding;
    } else {
        auto found = stat.chosen() ? db::stat(*store) : db::rows(*store, filter);
        if (!found) return tools::report(tool, found.error());
        text = found->render(options.format);
    }
    if (auto written = tools::emit(options, text); !written) return tools::report(tool, written.error());
    return code;
}
