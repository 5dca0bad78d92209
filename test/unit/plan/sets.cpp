#include <support/sets_by_hand.hpp>

#include <emmy/explore_kernel_set.hpp>
#include <emmy/loop/typed/kernels.hpp>

// Fork tests on this processor: what structural arms leave of every class of kernel, with sampled rows of each of its kernels, against the
// interpreter of the whole. EMMY_EXPLORE_SETS=64 samples as many (arm, rows) pairs a kernel.
namespace {
using namespace emmy;
namespace sets = test::sets;
using namespace loop::typed;

std::uint64_t wanted(std::uint64_t usual) {
    const char* asked = std::getenv("EMMY_EXPLORE_SETS");
    return asked ? std::strtoull(asked, nullptr, 10) : usual;
}

/// Explores and tells the counts; at least `arms` (the kernel as it is among them) must be there.
void explored(const builder& b, std::string name, std::size_t arms, std::uint64_t sample = 6, std::vector<std::string_view> transposed = {}) {
    const loop::kernel k = sets::made(b, std::move(name));
    explore_set_options how;
    how.sets.sample = wanted(sample), how.transposed = std::move(transposed);
    const set_exploration done = explore_kernel_sets(k, how);
    std::printf("%s: %zu arms, %llu of %llu (arm, rows) pairs ran, %zu failed\n", k.name.c_str(), done.arms, static_cast<unsigned long long>(done.tried), static_cast<unsigned long long>(done.rows), done.failures.size());
    BOOST_TEST(done.arms >= arms);
    BOOST_TEST(done.good());
}

/// y = rms(x) w, the norm inside the product.
builder norm_linear(extent rows, extent columns, extent depth) {
    builder b;
    val<f32> eps = b.input<f32, "eps">(1)(0);
    auto x = b.input<f32, "x">(rows, depth);
    auto g = b.input<f32, "g">(depth);
    auto w = b.input<f32, "w">(depth, columns);
    auto y = b.output<f32, "y">(rows, columns);
    b.loop(rows, [&](axis i) {
        auto squares = b.sum(depth, [&](axis k) { return x(i, k) * x(i, k); });
        auto scale = rsqrt(eps + squares);
        b.loop(columns, [&](axis j) { y(i, j) = b.sum(depth, [&](axis k) { return x(i, k) * scale * g(k) * w(k, j); }); });
    });
    return b;
}
/// out = (silu(x w) * (x u)) d: three products, the last over what the others make.
builder gated_mlp(extent rows, extent wide_columns, extent depth) {
    builder b;
    auto x = b.input<f32, "x">(rows, depth);
    auto w = b.input<f32, "w">(depth, wide_columns);
    auto u = b.input<f32, "u">(depth, wide_columns);
    auto d = b.input<f32, "d">(wide_columns, depth);
    auto y = b.output<f32, "y">(rows, depth);
    b.loop(rows, depth, [&](axis i, axis j) {
        y(i, j) = b.sum(wide_columns, [&](axis n) {
            auto gate = b.accumulate<op::add>(), up = b.accumulate<op::add>();
            b.loop(depth, [&](axis k) {
                gate.fold(x(i, k) * w(k, n));
                up.fold(x(i, k) * u(k, n));
            });
            return silu(gate) * up * d(n, j);
        });
    });
    return b;
}
/// Two products of one row, each into an output of its own.
builder twin_projections(extent rows, extent columns, extent depth) {
    builder b;
    auto x = b.input<f32, "x">(rows, depth);
    auto w = b.input<f32, "w">(depth, columns);
    auto u = b.input<f32, "u">(depth, columns);
    auto p = b.output<f32, "p">(rows, columns);
    auto q = b.output<f32, "q">(rows, columns);
    b.loop(rows, columns, [&](axis i, axis j) {
        auto first = b.accumulate<op::add>(), second = b.accumulate<op::add>();
        b.loop(depth, [&](axis k) {
            first.fold(x(i, k) * w(k, j));
            second.fold(x(i, k) * u(k, j));
        });
        p(i, j) = first;
        q(i, j) = second;
    });
    return b;
}
}  // namespace

BOOST_AUTO_TEST_CASE(sets_of_matmul) { explored(kernels::matmul(f32{}, 6, 32, 64), "k_matmul", 2); }
BOOST_AUTO_TEST_CASE(sets_of_matmul_of_halves) { explored(kernels::matmul(f16{}, 5, 24, 64), "k_matmul_f16", 2); }
BOOST_AUTO_TEST_CASE(sets_of_linear_with_a_turned_weight) { explored(kernels::linear(f32{}, 6, 32, 64), "k_linear", 3, 6, {"linear_wt"}); }
BOOST_AUTO_TEST_CASE(sets_of_norm_and_linear) { explored(norm_linear(5, 24, 64), "k_norm_linear", 3, 8); }
BOOST_AUTO_TEST_CASE(sets_of_gated_mlp) { explored(gated_mlp(4, 24, 32), "k_gated_mlp", 2, 8); }
BOOST_AUTO_TEST_CASE(sets_of_softmax) { explored(kernels::softmax(f32{}, 6, 64), "k_softmax", 1); }
BOOST_AUTO_TEST_CASE(sets_of_rms_norm) { explored(kernels::rms_norm(f32{}, 6, 64), "k_rms_norm", 2); }
BOOST_AUTO_TEST_CASE(sets_of_attention) { explored(kernels::causal_sdpa(f32{}, 2, 16, 16), "k_sdpa", 2, 6); }
BOOST_AUTO_TEST_CASE(sets_of_twin_projections) { explored(twin_projections(5, 24, 32), "k_twins", 2, 6); }

// A wrong set is told with the shortest pin that shows it: here every kernel of an arm gets the rows that the pin says.
BOOST_AUTO_TEST_CASE(pins_narrow_what_is_explored) {
    const loop::kernel k = sets::made(norm_linear(5, 24, 64), "k_norm_linear");
    auto all = emmy::detail::cpu_set_fork::make(k, {});
    BOOST_REQUIRE_MESSAGE(all, (all ? "" : all.error().line()));
    BOOST_REQUIRE(all->arms() >= 2u);
    const std::string arm = all->texts(3)[0];  // of the second arm
    BOOST_TEST(arm.find('@') != std::string::npos, arm);
    explore_set_options narrowed;
    narrowed.sets.pin = arm;
    const auto one = emmy::detail::cpu_set_fork::make(k, narrowed);
    BOOST_REQUIRE(one);
    BOOST_TEST(one->arms() == 1u);
    BOOST_TEST(!all->fails_first(arm));
    BOOST_TEST(!all->fails_first(""));
    BOOST_TEST(!all->fails_first("PLACE@nowhere=cut"));
    narrowed.sets.pin = "PLACE@nowhere=cut";
    BOOST_TEST(!emmy::detail::cpu_set_fork::make(k, narrowed));
}
