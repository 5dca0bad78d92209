#include <support/operator_cases.hpp>
#include <support/run_kernels.hpp>

#include <emmy/loop/validate.hpp>

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>
#include <rapidcheck/detail/Results.h>

#include <cmath>
#include <iostream>

// The kernels of a program, run by the interpreter, compute what the program's evaluator does: for every operator, element type and form.
namespace {
using namespace emmy;
using test::form;

double tolerance(dtype t) { return t == dtype::bf16 ? 2e-2 : t == dtype::f16 ? 4e-3 : t == dtype::f64 ? 1e-4 : 4e-6; }  // sums of f64 are kept in f32

/// Nothing, or what differs.
std::string difference(const std::string& text, unsigned seed) {
    const auto document = json::document::parse(text);
    if (!document) return document.error().line();
    const auto g = program::read_program(document->root());
    if (!g) return g.error().line();
    const auto p = program::lower(*g);
    if (!p) return p.error().line();
    const auto kernels = loop::fuse(*p);
    if (!kernels) return "fused: " + kernels.error().line();
    for (const auto& k : *kernels)
        if (const auto valid = loop::validate(k.kernel); !valid) return k.kernel.name + ": " + valid.error().line();
    const auto given = test::fill(*g, seed);
    const auto wanted = program::evaluate(*g, given.all);
    if (!wanted) return wanted.error().line();
    std::map<program::node_id, std::vector<std::byte>> bytes;
    for (program::node_id n = 0; n < p->g.nodes.size(); ++n) {
        if (p->g.nodes[n].op == program::op::input) {
            for (const auto& b : given.all)
                if (b.id == p->g.id(n)) bytes[n].assign(b.bytes.begin(), b.bytes.end());
        } else if (p->g.nodes[n].op == program::op::constant) {
            auto bound = program::bind_constant(*g, p->g, n, given.all);
            if (!bound) return "bound: " + bound.error().line();
            bytes[n] = std::move(*bound);
        }
    }
    const auto found = test::run_kernels(*p, *kernels, bytes);
    if (!found) return "run: " + found.error().line();
    const auto& a = (*wanted)[0];
    const std::vector<double> b = program::from_bytes(a.type, (*found)[0]);
    if (a.values.size() != b.size()) return "another number of elements";
    double size = 1e-3;
    for (const double v : a.values)
        if (std::isfinite(v)) size = std::max(size, std::abs(v));
    for (std::size_t i = 0; i < b.size(); ++i) {
        const double x = round_to(a.type, a.values[i]), y = b[i];
        if (x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance(a.type) * size) continue;
        return "element " + std::to_string(i) + ": " + std::to_string(x) + " and " + std::to_string(y);
    }
    return {};
}
}  // namespace

BOOST_AUTO_TEST_CASE(kernels_compute_what_programs_do) {
    const auto all = test::operator_cases();
    std::size_t cells = 0, programs = 0;
    const int runs = std::getenv("EMMY_LAW_RUNS") ? std::atoi(std::getenv("EMMY_LAW_RUNS")) : 4;
    std::map<std::string, std::size_t> by_form;
    for (const auto& c : all)
        for (const dtype type : c.types)
            for (const form f : test::forms) {
                std::size_t done = 0;
                rc::detail::TestParams params;
                params.maxSuccess = runs;
                params.seed = 21;
                const auto law = [&] {
                    const unsigned seed = *rc::gen::inRange(0u, 1000u);
                    test::program_text p([](int least, int beyond) { return beyond - least <= 1 ? least : *rc::gen::inRange(least, beyond); }, f);
                    const std::string text = c.make(p, type);
                    if (text.empty()) return;
                    ++done;
                    if (const std::string d = difference(text, seed); !d.empty()) RC_FAIL(d + "\n" + text);
                };
                const auto outcome = rc::detail::checkTestable(law, rc::detail::TestMetadata{c.name, c.name}, params);
                if (!outcome.is<rc::detail::SuccessResult>()) {
                    std::ostringstream out;
                    rc::detail::printResultMessage(outcome, out);
                    BOOST_ERROR(c.name << " " << token(type) << " " << test::text(f) << ": " << out.str());
                }
                programs += done;
                by_form[test::text(f)] += done;
                cells += done > 0;
            }
    std::cout << all.size() << " operators x element types x forms: " << cells << " cells, " << programs << " programs;";
    for (const auto& [name, count] : by_form) std::cout << " " << name << " " << count;
    std::cout << "\n";
}
