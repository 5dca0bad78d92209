// The kernels that the arms of real routing rows leave compute what the parent computes: every cell of the parents that are cheap to run.
#include "interop/fork/retaken.hpp"
#include "support/kernel_set_run.hpp"

#include <emmy/program/evaluate.hpp>

#include <cmath>
#include <cstdio>

using namespace emmy;
using namespace emmy::test;

namespace {

/// "" or the first element further away than `relative` times the largest value.
std::string apart(const std::vector<double>& wanted, const std::vector<double>& found, double relative) {
    if (wanted.size() != found.size()) return std::to_string(found.size()) + " elements, expected " + std::to_string(wanted.size());
    double size = 0.1;
    for (const double v : wanted)
        if (std::isfinite(v)) size = std::max(size, std::abs(v));
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (!(wanted[i] == found[i] || (std::isnan(wanted[i]) && std::isnan(found[i])) || std::abs(wanted[i] - found[i]) <= relative * size))
            return "element " + std::to_string(i) + ": " + std::to_string(found[i]) + ", expected " + std::to_string(wanted[i]);
    return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(children_compute_what_the_parent_computes) {
    constexpr std::uint64_t most = 30000000;  // statements that a whole run may execute
    long rows = 0, run = 0, dear = 0, cells = 0;
    std::string wrongs;
    for (const stored_file& file : stored_files()) {
        routes r(file);
        retaker again(r);
        std::map<std::string, buffers_by_name> whole;
        for (const routing_case& c : r.rows) {
            ++rows;
            const loop::kernel& parent = r.kernel(c.parent);
            auto machine = loop::interpreter::make(parent);
            if (!machine || machine->run_cost() > most) {
                ++dear;
                continue;
            }
            const retaken made = again.take(c);
            if (made.how == reading::none || made.how == reading::fresh) continue;  // other buffers than the stored parent's
            if (!whole.count(c.parent)) BOOST_REQUIRE(run_kernel(parent, whole[c.parent]));
            std::map<std::string, std::string> relaid;
            for (const auto& l : made.set->relaid) relaid[l.source] = l.folded;
            buffers_by_name pieces;
            bool fine = true;
            for (const fork::piece& p : made.set->pieces) {
                const auto ran = run_kernel(p.form.kernel, pieces, relaid);
                if (!ran) wrongs += c.parent + ": " + ran.error().line() + "\n", fine = false;
            }
            if (!fine) continue;
            ++run;
            for (const loop::buffer& b : parent.outputs) {
                const std::string name(parent.body.text(b.name));
                const auto wanted = program::from_bytes(b.type, whole[c.parent][name]), found = program::from_bytes(b.type, pieces[name]);
                cells += static_cast<long>(wanted.size());
                // Encoded outputs may differ by a step of the code where a sum is added in another order.
                const double tolerance = b.type == dtype::f32 ? 1e-4 : b.type == dtype::f16 ? 2e-2 : b.type == dtype::bf16 ? 6e-2 : 0.3;
                if (const std::string wrong = apart(wanted, found, tolerance); !wrong.empty()) wrongs += file.path + " " + c.parent + " " + name + " " + wrong + "\n";
            }
        }
    }
    if (rows == 0) return;
    std::printf("%ld rows, %ld run (%ld cells), %ld dearer than %lu statements\n%s", rows, run, cells, dear, static_cast<unsigned long>(most), wrongs.c_str());
    BOOST_TEST(wrongs == "");
    BOOST_TEST(run >= 10);
}
