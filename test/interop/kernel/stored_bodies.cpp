// Every stored body through the CPU lowering: it prints, or is refused with a reason; small ones run and equal the interpreter.
#include "../loop/files.hpp"
#include "support/fork_explore.hpp"

#include <emmy/loop/validate.hpp>

#include <algorithm>
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
            constexpr const char* names[] = {"map", "rows", "columns", "contraction", "cells", "ordered"};
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
