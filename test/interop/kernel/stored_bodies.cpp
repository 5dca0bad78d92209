// Every stored body through the CPU lowering: it prints, or is refused with a reason; small ones run and equal the interpreter.
#include "../loop/files.hpp"
#include "support/sampled_rows.hpp"

#include <emmy/loop/validate.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>

using namespace emmy;
using namespace emmy::test;

BOOST_AUTO_TEST_CASE(every_stored_body_prints_or_says_why_not) {
    if (stored_files().empty()) return;
    std::map<std::string, int> forms, refusals;
    int kernels = 0, printed = 0;
    std::size_t longest = 0;
    for (const stored_file& file : stored_files())
        for (const stored_kernel& stored : file.kernels) {
            auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            ++kernels;
            auto schedules = fork::cpu_schedules::make(*k, host_target());
            if (!schedules) {
                BOOST_CHECK_MESSAGE(schedules.error().message().starts_with("no CPU lowering for "), schedules.error().line());
                BOOST_CHECK(schedules.error().kind() == fault_kind::device_limit);
                std::string why = schedules.error().message();
                if (const std::size_t quote = why.find('\''); quote != std::string::npos) why.resize(quote);
                ++refusals[why];
                continue;
            }
            constexpr const char* names[] = {"map", "rows", "columns", "contraction", "cells", "ordered", "staged"};
            ++forms[names[static_cast<int>(schedules->facts().form)]];
            auto text = kernel::lower_cpu(*schedules, schedules->rows()[0]);
            BOOST_CHECK_MESSAGE(text, file.path << " " << stored.reference << ": " << (text ? "" : text.error().line()));
            if (text) ++printed, longest = std::max(longest, text->source.size());
        }
    std::cout << "CPU lowering of " << kernels << " stored bodies: " << printed << " print (longest " << longest << " characters)";
    for (const auto& [form, n] : forms) std::cout << ", " << form << " " << n;
    std::cout << "\n";
    for (const auto& [why, n] : refusals) std::cout << "  " << n << " x " << why << "\n";
    BOOST_CHECK_EQUAL(kernels, 1324);
    BOOST_CHECK_EQUAL(printed, 1324);
}

// Loops cut to a few steps, so that the largest layers run; buffers and indices stay. EMMY_CHECK_BODIES="every rows": of each form every
// <every>-th distinct body with <rows> rows; "1 64" is the whole check (hours).
BOOST_AUTO_TEST_CASE(cut_bodies_equal_the_interpreter) {
    if (stored_files().empty()) return;
    std::size_t every = 24, rows = 2;
    if (const char* asked = std::getenv("EMMY_CHECK_BODIES")) std::sscanf(asked, "%zu %zu", &every, &rows);
    std::map<int, std::size_t> met;
    std::set<digest128> seen;
    sampled total;
    std::size_t bodies = 0;
    for (const stored_file& file : stored_files())
        for (const stored_kernel& stored : file.kernels) {
            auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            if (!seen.insert(loop::identity(*k)).second) continue;
            sampled_options options;
            options.rows = rows;
            const loop::kernel cut = affordable(*k, options.sizes, 2'000'000, 200'000);
            auto schedules = fork::cpu_schedules::make(cut, options.target);
            BOOST_REQUIRE_MESSAGE(schedules, file.path << " " << stored.reference << ": " << (schedules ? "" : schedules.error().line()));
            if (met[static_cast<int>(schedules->facts().form)]++ % every != 0) continue;
            const sampled one = check_sampled_rows(cut, options);
            BOOST_CHECK_MESSAGE(one.wrong == 0, file.path << " " << stored.reference << ": " << one.wrong << " of " << one.cells << " cells, first " << one.first_wrong);
            ++bodies, total.tried += one.tried, total.runs += one.runs, total.cells += one.cells;
        }
    std::cout << bodies << " of " << seen.size() << " distinct bodies, loops cut: " << total.tried << " rows, teams of 1 and 3, " << total.cells << " cells compared\n";
    BOOST_CHECK_GE(bodies, 7u);
}

BOOST_AUTO_TEST_CASE(small_stored_bodies_run) {
    if (stored_files().empty()) return;
    std::set<digest128> seen;
    int ran = 0;
    for (const stored_file& file : stored_files())
        for (const stored_kernel& stored : file.kernels) {
            auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            auto machine = loop::interpreter::make(*k);
            if (!machine || machine->run_cost() > 1'000'000) continue;
            auto schedules = fork::cpu_schedules::make(*k, host_target());
            if (!schedules || !seen.insert(loop::identity(*k)).second) continue;
            // Values rounded to 16 bits on the way may fall to the other side when a sum runs in another order.
            bool narrow = false;
            for (dtype t : schedules->tree().types) narrow = narrow || t == dtype::f16 || t == dtype::bf16;
            for (const loop::buffer& b : k->outputs) narrow = narrow || b.type == dtype::f16 || b.type == dtype::bf16;
            // A finalize takes the root of a sum of random signs: near zero that multiplies the rounding of the sum.
            explore_rows(*k, 2, narrow ? 2e-2 : 1e-3);
            ++ran;
        }
    std::cout << ran << " distinct small stored bodies ran\n";
    BOOST_CHECK_GE(ran, 20);
}
