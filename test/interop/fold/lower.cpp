// Every stored body: lifted, lowered again, the same kernel; counted, causes for the others.
#include "interop/loop/files.hpp"

#include <emmy/fold/lower_terms.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/print.hpp>
#include <emmy/loop/validate.hpp>
#include <emmy/loop/wire.hpp>

#include <chrono>
#include <cstdio>
#include <map>

using namespace emmy;
namespace closed = fold::closed;

BOOST_AUTO_TEST_CASE(bodies_lift_and_lower_to_themselves) {
    long bodies = 0, equal = 0, twisted = 0;
    std::map<std::string, long> causes;
    const char* show = std::getenv("EMMY_TERM_SHOW");
    const char* files = std::getenv("EMMY_TERM_FILE");
    double lift_s = 0, lower_s = 0;
    for (const test::stored_file& file : test::stored_files()) {
        if (files && file.path.find(files) == std::string::npos) continue;
        for (const test::stored_kernel& stored : file.kernels) {
            const auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            ++bodies;
            const auto t0 = std::chrono::steady_clock::now();
            const auto f = closed::lift_terms(*k);
            const auto t1 = std::chrono::steady_clock::now();
            if (!f) {
                ++causes[f.error().line()];
                continue;
            }
            const auto back = closed::lower(*f);
            const auto t2 = std::chrono::steady_clock::now();
            lift_s += std::chrono::duration<double>(t1 - t0).count(), lower_s += std::chrono::duration<double>(t2 - t1).count();
            bool twist = false;
            for (const closed::site& s : closed::sites(*f)) twist |= (*f)[s.term].twist != closed::recipe::none;
            twisted += twist;
            std::string cause;
            if (!back) cause = "lowering: " + std::string(back.error().message());
            else if (const auto valid = loop::validate(*back); !valid) cause = "invalid: " + std::string(valid.error().message());
            else if (!twist && loop::identity(*back) != loop::identity(*k)) cause = "another identity";
            if (show && stored.reference.find(show) != std::string::npos)
                std::printf("%s\n%s%s", loop::print(*k).c_str(), closed::print(*f).c_str(), back ? loop::print(*back).c_str() : "");
            if (cause.empty()) {
                equal += !twist;
                continue;
            }
            ++causes[cause];
            std::printf("  %s %s: %s\n", file.path.c_str(), stored.reference.c_str(), cause.c_str());
        }
    }
    if (bodies == 0) return;
    std::printf("bodies %ld, equal %ld, twisted %ld; lift %.3f ms, lower %.3f ms a kernel\n", bodies, equal, twisted, 1e3 * lift_s / bodies, 1e3 * lower_s / bodies);
    for (const auto& [cause, n] : causes) std::printf("  %ld  %s\n", n, cause.c_str());
}
