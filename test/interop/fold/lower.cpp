// Every stored body: lifted, lowered again, the same kernel; counted, causes for the others.
#include "interop/loop/files.hpp"

#include <emmy/fold/lower_terms.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/interpret.hpp>
#include <emmy/loop/print.hpp>
#include <emmy/loop/sample.hpp>
#include <emmy/loop/validate.hpp>
#include <emmy/loop/wire.hpp>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>

using namespace emmy;
namespace closed = fold::closed;

namespace {

/// Largest relative difference of sampled cells (loops that reduce run their first steps only), or -1: nothing could be compared.
double difference(const loop::kernel& a, const loop::kernel& b, std::int64_t steps = 24) {
    loop::interpret_options options;
    options.mode = loop::numeric_mode::relaxed_f32, options.reduce_steps = steps, options.budget = 2000000;
    auto x = loop::interpreter::make(a, options), y = loop::interpreter::make(b, options);
    BOOST_REQUIRE(x);
    BOOST_REQUIRE_MESSAGE(y, (y ? std::string() : y.error().line()));
    const auto inputs = loop::seeded_inputs(a, 11);
    BOOST_REQUIRE(x->bind(inputs));
    BOOST_REQUIRE(y->bind(inputs));
    double out = -1;
    for (const loop::sampled_cell& c : loop::sample_cells(*x, 5, 6)) {
        const auto p = x->cell(c.output, c.at), q = y->cell(c.output, c.at);
        if (!p || !q) continue;
        out = std::max(out, std::isnan(*p) && std::isnan(*q) ? 0 : std::abs(*p - *q) / (1e-3 + std::abs(*p)));
    }
    return out >= 0 || steps <= 3 ? out : difference(a, b, steps / 2);
}

}  // namespace

BOOST_AUTO_TEST_CASE(bodies_lift_and_lower_to_themselves) {
    long bodies = 0, equal = 0, twisted = 0, decoded = 0, alike = 0, number = 0;
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
            const auto t0 = std::clock();
            const auto f = closed::lift_terms(*k);
            const auto t1 = std::clock();
            if (!f) {
                ++causes[f.error().line()];
                continue;
            }
            const auto back = closed::lower(*f);
            const auto t2 = std::clock();
            lift_s += static_cast<double>(t1 - t0) / CLOCKS_PER_SEC, lower_s += static_cast<double>(t2 - t1) / CLOCKS_PER_SEC;
            bool twist = false;
            for (const closed::site& s : closed::sites(*f)) twist |= (*f)[s.term].twist != closed::recipe::none;
            std::string cause;
            if (!back) cause = "lowering: " + std::string(back.error().message());
            else if (const auto valid = loop::validate(*back); !valid) cause = "invalid: " + std::string(valid.error().message());
            else if (loop::identity(*back) == loop::identity(*k)) ++equal;
            else {
                // Sums of decoded values leave their factors for after the sum; rescaled folds are another way to the same values.
                const double off = difference(*k, *back);
                bool sums = false;
                for (const closed::site& s : closed::sites(*f))
                    for (const closed::state& st : (*f)[s.term].states) sums |= f->text(st.name).ends_with("__sum");
                if (twist) ++twisted;
                else if (sums) ++decoded;
                else cause = "another identity";
                if (off >= 0 && off < 2e-3) ++alike;
                else cause = "another value: " + std::to_string(off);
            }
            if (++number % 40 == 0 && back && cause.empty()) BOOST_TEST(difference(*k, *back) < 1e-5, stored.reference);
            if (show && stored.reference.find(show) != std::string::npos)
                std::printf("%s\n%s%s", loop::print(*k).c_str(), closed::print(*f).c_str(), back ? loop::print(*back).c_str() : "");
            if (cause.empty()) continue;
            ++causes[cause];
            std::printf("  %s %s: %s\n", file.path.c_str(), stored.reference.c_str(), cause.c_str());
        }
    }
    if (bodies == 0) return;
    std::printf("bodies %ld: equal %ld, rescaled folds %ld, factors after the sum %ld, of these two alike in value %ld; lift %.3f ms, lower %.3f ms a kernel\n", bodies, equal,
                twisted, decoded, alike, 1e3 * lift_s / static_cast<double>(bodies), 1e3 * lower_s / static_cast<double>(bodies));
    for (const auto& [cause, n] : causes) std::printf("  %ld  %s\n", n, cause.c_str());
    if (files) return;
    BOOST_TEST(bodies == 1324);
    BOOST_TEST(equal == 1244);
    BOOST_TEST(twisted == 40);
    BOOST_TEST(decoded == 40);
    BOOST_TEST(alike == twisted + decoded);
    BOOST_TEST(causes.empty());
}
