// Every stored body evaluated: sampled cells in both numeric modes, whole runs of the small ones, indices of all.
#include "files.hpp"

#include <emmy/core/numeric.hpp>
#include <emmy/loop/interpret.hpp>
#include <emmy/loop/sample.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <ctime>
#include <iostream>
#include <optional>

using namespace emmy;
using loop::interpret_options;
using loop::interpreter;
using loop::numeric_mode;

namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class T>
std::string trouble(const result<T>& r) {
    return r ? std::string() : r.error().line();
}
interpreter made(const loop::kernel& k, const interpret_options& options, std::span<const loop::input_data> data) {
    auto it = interpreter::make(k, options);
    BOOST_REQUIRE_MESSAGE(it.has_value(), k.name << ": " << trouble(it));
    BOOST_REQUIRE(it->bind(data).has_value());
    return std::move(*it);
}
std::size_t flat(std::span<const std::int64_t> at, std::span<const std::int64_t> shape) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < at.size(); ++i) out = out * static_cast<std::size_t>(shape[i]) + static_cast<std::size_t>(at[i]);
    return out;
}

/// What the cells of one class of bodies showed.
struct tally {
    std::uint64_t bodies = 0, cells = 0, equal = 0, bounded = 0, tight = 0, unbounded = 0, not_numbers = 0, computed = 0;
    double seconds = 0;
};

/// Cells in both modes: |typed - relaxed| <= the running bound of impl/interpret_bound.ipp.
void compare(const loop::kernel& k, std::span<const loop::input_data> data, std::uint64_t seed, std::size_t count, std::int64_t reduce_steps, tally& t) {
    interpret_options options;
    options.reduce_steps = reduce_steps;
    options.bounds = true;
    interpreter typed = made(k, options, data);
    options.bounds = false;
    options.mode = numeric_mode::relaxed_f32;
    interpreter relaxed = made(k, options, data);
    const double start = cpu_seconds();
    for (const loop::sampled_cell& c : loop::sample_cells(typed, seed, count)) {
        const auto a = typed.bounded_cell(c.output, c.at);
        const auto b = relaxed.cell(c.output, c.at);
        BOOST_REQUIRE_MESSAGE(a.has_value() && b.has_value(), k.name << ": " << trouble(a) << trouble(b));
        ++t.cells;
        const double apart = std::fabs(a->value - *b);
        if (a->value == *b) ++t.equal;
        if (a->value != a->value || *b != *b) {
            // Not a number in one mode alone only where a rounding overflowed: then nothing is claimed.
            BOOST_REQUIRE_MESSAGE((a->value != a->value && *b != *b) || std::isinf(a->bound), k.name << ": " << a->value << " typed, " << *b << " relaxed, bound " << a->bound);
            ++t.not_numbers;
        } else if (std::isinf(a->bound)) {
            ++t.unbounded;
        } else {
            BOOST_REQUIRE_MESSAGE(apart <= a->bound, k.name << ": " << a->value << " typed, " << *b << " relaxed, bound " << a->bound);
            ++t.bounded;
            if (a->bound <= 0.1 * std::fabs(*b) + 1e-3) ++t.tight;
        }
    }
    t.seconds += cpu_seconds() - start;
    t.computed += typed.evaluations() + relaxed.evaluations();
    ++t.bodies;
}

void print(const char* what, const tally& t) {
    std::cout << what << ": " << t.bodies << " bodies, " << t.cells << " cells, " << t.equal << " equal in both modes, " << t.bounded << " within their bound (" << t.tight
              << " with a bound below 10 % or 0.001), " << t.unbounded << " without one, " << t.not_numbers << " not a number, " << static_cast<double>(t.computed) / 1e6 << " M values, " << t.seconds << " s CPU\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loop_interpret_cells)

BOOST_AUTO_TEST_CASE(sampled_cells_in_both_modes) {
    tally cheap, middle, dear, whole;
    std::uint64_t seed = 0, dearest_cheap = 0;
    const double start = cpu_seconds();
    for (const auto& file : test::stored_files())
        for (const auto& stored : file.kernels) {
            auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE_MESSAGE(k.has_value(), stored.reference << ": " << trouble(k));
            const std::vector<loop::input_data> data = loop::seeded_inputs(*k, ++seed);
            const interpreter plain = made(*k, {}, data);
            std::uint64_t cost = 0;  // the class goes by the last output that is written (a carried state's port is not)
            for (std::size_t o = k->outputs.size(); o-- > 0 && cost == 0;) cost = plain.cell_cost(o);
            for (std::size_t o = 0; o < k->outputs.size() && cost <= 1000000; ++o) dearest_cheap = std::max(dearest_cheap, plain.cell_cost(o));
            if (cost <= 1000000) compare(*k, data, seed, 16, 0, cheap);
            else if (cost <= 100000000) compare(*k, data, seed, 1, 0, middle);
            else compare(*k, data, seed, 16, 4, dear);
            if (plain.run_cost() > 1000000) continue;
            // The whole kernel, in both modes, against its own cells.
            const double before = cpu_seconds();
            for (const numeric_mode mode : {numeric_mode::typed, numeric_mode::relaxed_f32}) {
                interpret_options options;
                options.mode = mode;
                interpreter it = made(*k, options, data);
                const auto out = it.run();
                BOOST_REQUIRE_MESSAGE(out.has_value(), stored.reference << ": " << trouble(out));
                for (const loop::sampled_cell& c : loop::sample_cells(it, seed, 16)) {
                    const auto cell = it.cell(c.output, c.at);
                    BOOST_REQUIRE_MESSAGE(cell.has_value(), stored.reference << ": " << trouble(cell));
                    const dtype type = k->outputs[c.output].type;
                    const double stood = load_element(type, (*out)[c.output].data(), flat(c.at, it.output_shape(c.output))), alone = round_to(type, *cell);
                    BOOST_REQUIRE_MESSAGE(stood == alone || (stood != stood && alone != alone), stored.reference << ": " << stood << " in the whole run, " << alone << " alone");
                    ++whole.cells;
                }
                whole.computed += it.evaluations();
            }
            whole.seconds += cpu_seconds() - before;
            ++whole.bodies;
        }
    if (seed == 0) return;
    const double all = cpu_seconds() - start;
    print("a cell of up to 10^6 evaluations", cheap);
    print("up to 10^8 (one cell each)", middle);
    print("dearer (every reduce loop cut to its first 4 steps, in both modes)", dear);
    std::cout << "whole runs of up to 10^6 statement executions: " << whole.bodies << " bodies, " << whole.cells << " cells equal, " << whole.seconds << " s CPU\n"
              << "together " << all << " s CPU; the dearest output of a body of the first class costs " << dearest_cheap << "\n";
    BOOST_TEST(cheap.bodies == 1198u);
    BOOST_TEST(middle.bodies == 74u);
    BOOST_TEST(dear.bodies == 52u);
    BOOST_TEST(whole.bodies == 192u);
    const std::uint64_t cells = cheap.cells + middle.cells + dear.cells;
    BOOST_TEST(cells == 16u * (1198 + 52) + 74);
    BOOST_TEST(cheap.unbounded + middle.unbounded + dear.unbounded < cells / 50);
    BOOST_TEST(cheap.tight + middle.tight + dear.tight > cells * 17 / 20);
    BOOST_TEST(cheap.not_numbers + middle.not_numbers + dear.not_numbers < cells / 100);
    BOOST_TEST(all < 60);
}

BOOST_AUTO_TEST_CASE(indices_are_inside_without_a_guard) {
    loop::index_samples sum;
    std::uint64_t bodies = 0;
    for (const auto& file : test::stored_files())
        for (const auto& stored : file.kernels) {
            auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k.has_value());
            const auto seen = loop::sample_indices(*k, {}, ++bodies, 4);
            BOOST_REQUIRE_MESSAGE(seen.has_value(), trouble(seen));
            BOOST_TEST(seen->outside == 0u, stored.reference << ": " << seen->first);
            sum.evaluated += seen->evaluated, sum.outside += seen->outside, sum.negative_dividends += seen->negative_dividends, sum.gathers += seen->gathers;
        }
    if (bodies == 0) return;
    std::cout << sum.evaluated << " sampled indices: " << sum.outside << " out of bounds, " << sum.negative_dividends << " negative dividends, " << sum.gathers << " gather statements skipped\n";
    BOOST_TEST(sum.negative_dividends == 0u);
    BOOST_TEST(sum.gathers == 276u);
}

BOOST_AUTO_TEST_SUITE_END()
