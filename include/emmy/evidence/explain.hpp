#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/evidence/resolve.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace emmy::json {
class value;
class writer;
}  // namespace emmy::json

/// The report of a compile: per fork what decided, by which row and by what margin; for people, for machines, as one page.
namespace emmy::evidence {

/// What a report is about.
struct explained {
    std::string target;    ///< card, processor, sm_NN
    std::string lane;      ///< "standard", …
    std::string producer;  ///< whose rows are own
    std::string program = {};  ///< what was compiled; may be empty
    const resolution* decided = nullptr;
    std::vector<std::string> notes = {};
};

/// The lines below line(r): identity, how it was decided, rows, what was missing.
EMMY_DECL std::string explain_record(const record& r);
/// The whole kernel set, each kernel below the one it came from; a set of one kernel has no heading.
EMMY_DECL std::string explain_table(const explained& e);

/// {"schema":"emmy.explain/1","target","lane","producer","program","attempts","expected_us":{"own","other"} (null: not measured),
/// "kernels":[{"id","parent","name","identity","bindings","runs","children":[id],"forks":[record + "id"]}],"unmeasured","notes"}.
/// A fork's id is "<kernel id>.<place>". No clock, no path, no number of the store in it: equal decisions give equal bytes.
EMMY_DECL void explain_json(json::writer& out, const explained& e);
EMMY_DECL std::string explain_json(const explained& e);
/// One HTML file that asks for nothing: the kernel set as a tree, a bar for each kernel that runs, a click shows what decided a fork.
EMMY_DECL std::string explain_page(const explained& e);

/// Forks that another tier, row or arm answers than before, forks that are new or gone, one line each; empty: as before. Times alone are no
/// difference. Both are roots of explain_json documents. Errors (input): one of them is none (the fault names the path).
EMMY_DECL result<std::vector<std::string>> differences(const json::value& before, const json::value& now);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/explain.ipp>
#include <emmy/evidence/impl/explain_page.ipp>
#include <emmy/evidence/impl/differences.ipp>
#endif
