#include <support/operator_cases.hpp>

#include <emmy/program/check.hpp>
#include <emmy/program/lower/bind.hpp>

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>
#include <rapidcheck/detail/Results.h>

#include <cmath>
#include <iostream>

// The lowered program computes what the traced one does, for every operator, element type and form; and it is a well formed program itself.
namespace {
using namespace emmy;
using test::form;

double tolerance(dtype t) { return t == dtype::bf16 ? 2e-2 : t == dtype::f16 ? 2e-3 : 2e-6; }

/// Nothing, or what differs.
std::string difference(const std::string& text, unsigned seed) {
    const auto document = json::document::parse(text);
    if (!document) return document.error().line();
    const auto g = program::read_program(document->root());
    if (!g) return g.error().line();
    const auto p = program::lower(*g);
    if (!p) return p.error().line();
    if (const auto ok = program::check_program(p->g); !ok) return "lowered: " + ok.error().line();
    for (const auto& n : p->g.nodes) {
        const auto k = n.op;
        using program::op;
        if (k != op::input && k != op::constant && k != op::elementwise && k != op::reduce && k != op::scan && k != op::index_map && k != op::gather && k != op::bitcast) return "left: " + std::string(program::text(k));
    }
    const auto bytes = test::fill(*g, seed);
    const auto wanted = program::evaluate(*g, bytes.all);
    if (!wanted) return wanted.error().line();
    const auto found = program::evaluate(*g, *p, bytes.all);
    if (!found) return "lowered: " + found.error().line();
    const auto &a = (*wanted)[0], &b = (*found)[0];
    if (a.type != b.type || a.shape != b.shape || a.integers != b.integers || a.values.size() != b.values.size()) return "another type, shape or integers";
    double size = 1e-3;
    for (const double v : a.values)
        if (std::isfinite(v)) size = std::max(size, std::abs(v));
    for (std::size_t i = 0; i < a.values.size(); ++i) {
        const double x = a.values[i], y = b.values[i];
        if (x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance(a.type) * size) continue;
        return "element " + std::to_string(i) + ": " + std::to_string(x) + " and " + std::to_string(y);
    }
    return {};
}
}  // namespace

BOOST_AUTO_TEST_CASE(lowered_programs_compute_what_traced_ones_do) {
    const auto all = test::operator_cases();
    std::size_t cells = 0, programs = 0, empty = 0;
    const int runs = std::getenv("EMMY_LAW_RUNS") ? std::atoi(std::getenv("EMMY_LAW_RUNS")) : 10;
    std::map<std::string, std::size_t> by_form;
    for (const auto& c : all)
        for (const dtype type : c.types)
            for (const form f : test::forms) {
                std::size_t done = 0;
                std::string last;
                rc::detail::TestParams params;
                params.maxSuccess = runs;
                params.seed = 20;
                const auto law = [&] {
                    const unsigned seed = *rc::gen::inRange(0u, 1000u);
                    test::program_text p([](int least, int beyond) { return beyond - least <= 1 ? least : *rc::gen::inRange(least, beyond); }, f);
                    const std::string text = c.make(p, type);
                    if (text.empty()) return;
                    ++done;
                    last = difference(text, seed);
                    if (!last.empty()) {
                        RC_FAIL(last + "\n" + text);
                    }
                };
                const auto outcome = rc::detail::checkTestable(law, rc::detail::TestMetadata{c.name, c.name}, params);
                if (!outcome.is<rc::detail::SuccessResult>()) {
                    std::ostringstream out;
                    rc::detail::printResultMessage(outcome, out);
                    BOOST_ERROR(c.name << " " << token(type) << " " << test::text(f) << ": " << out.str());
                }
                programs += done;
                by_form[test::text(f)] += done;
                if (done > 0) ++cells;
                else ++empty;
            }
    std::cout << all.size() << " operators x element types x forms: " << cells << " cells, " << programs << " programs (" << empty << " cells without meaning);";
    for (const auto& [name, count] : by_form) std::cout << " " << name << " " << count;
    std::cout << "\n";
}
