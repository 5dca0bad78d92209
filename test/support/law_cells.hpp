#pragma once
#include <support/operator_cases.hpp>

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>
#include <rapidcheck/detail/Results.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <sstream>

// A law over operators x element types x forms, shrinking what fails; counts printed as a matrix.
namespace emmy::test {

/// "" or the first difference, beyond `relative` times the largest value; whole numbers are compared exactly.
inline std::string compare(const std::vector<double>& wanted, const std::vector<double>& found, double relative) {
    if (wanted.size() != found.size()) return std::to_string(found.size()) + " elements, expected " + std::to_string(wanted.size());
    double size = 0.1;  // inputs are of this size at least
    for (const double v : wanted)
        if (std::isfinite(v)) size = std::max(size, std::abs(v));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double x = wanted[i], y = found[i];
        if (x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= relative * size) continue;
        return "element " + std::to_string(i) + ": " + std::to_string(y) + ", expected " + std::to_string(x);
    }
    return {};
}

/// `check(text, seed)` gives "" or what is wrong with the program of this text.
template <class Check>
void for_all_cells(const char* what, int default_runs, Check check, const std::function<bool(const operator_case&, dtype, form)>& wanted = {}) {
    const auto all = operator_cases();
    const int runs = std::getenv("EMMY_LAW_RUNS") ? std::atoi(std::getenv("EMMY_LAW_RUNS")) : default_runs;
    std::size_t cells = 0, programs = 0, without = 0;
    std::map<std::string, std::map<std::string, std::size_t>> matrix;  // type -> form -> programs
    for (const auto& c : all)
        for (const dtype type : c.types)
            for (const form f : forms) {
                if (wanted && !wanted(c, type, f)) continue;
                std::size_t done = 0;
                rc::detail::TestParams params;
                params.maxSuccess = runs;
                params.seed = 20;
                const auto law = [&] {
                    const unsigned seed = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0u, 1000u));
                    program_text p([](int least, int beyond) { return beyond - least <= 1 ? least : *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, beyond)); }, f);
                    const std::string text = c.make(p, type);
                    if (text.empty()) return;  // the form has no meaning for these sizes
                    ++done;
                    if (const std::string wrong = check(text, seed); !wrong.empty()) RC_FAIL(wrong + "\n" + text);
                };
                const rc::detail::TestResult outcome = rc::detail::checkTestable(law, rc::detail::TestMetadata{c.name, c.name}, params);
                if (!outcome.is<rc::detail::SuccessResult>()) {
                    std::ostringstream out;
                    rc::detail::printResultMessage(outcome, out);
                    const std::string text = out.str();
                    const std::size_t at = text.find("RC_FAIL");
                    BOOST_ERROR(c.name << " " << token(type) << " " << emmy::test::text(f) << ": " << text.substr(at == std::string::npos ? 0 : text.find('\n', at) + 1));
                }
                programs += done;
                matrix[std::string(token(type))][emmy::test::text(f)] += done;
                ++(done > 0 ? cells : without);
            }
    std::cout << what << ": " << all.size() << " operators, " << cells << " cells of operator x element type x form, " << programs << " programs (" << without << " cells without meaning)\n";
    for (const auto& [type, row] : matrix) {
        std::cout << "  " << type;
        for (const auto& [name, count] : row) std::cout << "  " << name << " " << count;
        std::cout << "\n";
    }
}

}  // namespace emmy::test
