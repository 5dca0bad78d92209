#include <support/sets_by_hand.hpp>
#include <support/random_program.hpp>

#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/program/lower/bind.hpp>

#include <thread>

// Plans of kernel sets: what they hold, what they refuse, what they compute on this processor.
namespace {
using namespace emmy;
namespace sets = test::sets;
using loop::typed::symbol;

fork::cpu_target target() { return device::cpu::schedule_target(device::cpu::identify_host()); }

plan::executable planned(result<plan::network> n) {
    BOOST_REQUIRE_MESSAGE(n, (n ? "" : n.error().line()));
    auto out = plan::executable::make(std::move(*n), target());
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.error().line()));
    return std::move(*out);
}
plan::binding bound(const plan::executable& p, std::vector<loop::symbol_size> sizes = {}) {
    auto out = plan::bind(p, sizes);
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.error().line()));
    return std::move(*out);
}
/// Outputs of a run, and of the interpreter, as doubles.
void agrees(const plan::executable& p, std::vector<loop::symbol_size> sizes, double tolerance) {
    const plan::binding at = bound(p, sizes);
    test::given_data data(p, at, 11);
    const auto wanted = plan::interpret(p.source(), data.inputs(p), {.sizes = sizes});
    BOOST_REQUIRE_MESSAGE(wanted, (wanted ? "" : wanted.error().line()));
    device::cpu::host_device device;
    plan::arena memory;
    for (const int team : {1, 2}) {
        const auto ran = plan::run(device, p, sizes, data.spans, memory, {.team = team, .optimisation = 1, .poison = true});
        BOOST_REQUIRE_MESSAGE(ran, (ran ? "" : ran.error().line()));
        std::size_t o = 0;
        for (std::size_t i = 0; i < p.given().size(); ++i) {
            const plan::buffer& b = p.buffers()[p.given()[i]];
            if (b.role != plan::role::output) continue;
            const auto& w = (*wanted)[o++];
            BOOST_REQUIRE(w.size() == data.bytes[i].size());
            double worst = 0;
            for (std::size_t e = 0; e < w.size() / byte_size(b.type); ++e) worst = std::max(worst, std::abs(load_element(b.type, w.data(), e) - load_element(b.type, data.bytes[i].data(), e)));
            BOOST_TEST(worst <= tolerance, b.name << ": off by " << worst);
        }
    }
    BOOST_TEST(memory.bytes() == at.arena_bytes);
}
std::string refusal(const auto& r) {
    BOOST_REQUIRE(!r);
    return r.error().line();
}
}  // namespace

BOOST_AUTO_TEST_CASE(three_kernels_in_place_of_one) {
    const auto whole = sets::gated(5, 24, 16);
    const auto pieces = sets::gated_in_three(5, 24, 16);
    const auto p = planned(plan::network::of(whole, pieces));
    BOOST_TEST(p.kernels().size() == 2u);  // the products are one text
    BOOST_TEST(p.launches().size() == 3u);
    BOOST_TEST(p.given().size() == 4u);
    const plan::binding at = bound(p);
    BOOST_TEST(at.arena_bytes == 5u * 24 * 4 + 512u);  // two workspaces of 480 bytes, the first rounded up
    BOOST_TEST(at.least_bytes == at.arena_bytes);
    BOOST_TEST(p.launches()[2].buffers[2] == plan::none);  // declared, never read
    agrees(p, {}, 1e-5);
}

BOOST_AUTO_TEST_CASE(order_is_found) {
    const auto whole = sets::gated(5, 24, 16);
    auto pieces = sets::gated_in_three(5, 24, 16);
    std::swap(pieces[0], pieces[2]);  // the join first
    const auto p = planned(plan::network::of(whole, pieces));
    BOOST_TEST(p.kernels().back().name == "k_join");
    agrees(p, {}, 1e-5);
}

BOOST_AUTO_TEST_CASE(symbolic_sizes_are_bound_at_the_run) {
    const symbol rows{"num_tokens", 7};
    const auto p = planned(plan::network::of(sets::gated(rows, 24, 16), sets::gated_in_three(rows, 24, 16)));
    BOOST_REQUIRE(p.symbols().size() == 1u);
    BOOST_TEST(p.symbols()[0].name == "num_tokens");
    BOOST_TEST(p.symbols()[0].hint == 7);
    BOOST_TEST(bound(p).buffers[p.given()[0]].bytes == 7u * 16 * 4);
    BOOST_TEST(bound(p, {{"num_tokens", 3}}).buffers[p.given()[0]].bytes == 3u * 16 * 4);
    agrees(p, {{"num_tokens", 3}}, 1e-5);
    agrees(p, {}, 1e-5);
    BOOST_TEST(refusal(plan::bind(p, std::vector<loop::symbol_size>{{"seq_len", 3}})) == "found a size for \"seq_len\", expected one of the plan's symbols: num_tokens");
    BOOST_TEST(refusal(plan::bind(p, std::vector<loop::symbol_size>{{"num_tokens", 0}})) == "num_tokens: found size 0, expected at least 1");
    BOOST_TEST(refusal(plan::bind(p, std::vector<loop::symbol_size>{{"num_tokens", std::int64_t(1) << 40}})).starts_with("x: found more than 2^40 elements"));
}

BOOST_AUTO_TEST_CASE(workspaces_use_each_others_memory) {
    const std::vector<loop::kernel> chain{sets::step<"x", "a">("k_a", 100), sets::step<"a", "b">("k_b", 100), sets::step<"b", "c">("k_c", 100), sets::step<"c", "y">("k_y", 100)};
    const auto p = planned(plan::network::of(sets::step<"x", "y">("k_whole", 100), chain));
    const plan::binding at = bound(p);
    BOOST_TEST(at.unshared_bytes == 1200u);
    BOOST_TEST(at.arena_bytes == 448u + 400u);
    agrees(p, {}, 1e-6);
}

BOOST_AUTO_TEST_CASE(sums_start_at_zero) {
    const auto p = planned(plan::network::of(sets::row_sums(3, 40), std::vector<loop::kernel>{sets::added_sums<"x">("k_add", 3, 40)}));
    BOOST_TEST(p.launches()[0].zeroed.size() == 1u);
    agrees(p, {}, 1e-4);
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
    const auto whole = sets::gated(5, 24, 16);
    auto pieces = sets::gated_in_three(5, 24, 16);
    const auto of = [&](std::vector<loop::kernel> k) { return refusal(plan::network::of(whole, k)); };
    BOOST_TEST(of({pieces[0], pieces[2]}) == "k_join.up: found a buffer that no kernel writes, expected an output of another one or an input of k_gated");
    BOOST_TEST(of({pieces[0], pieces[1]}) == "k_gated.y: found no kernel that writes the buffer, expected one");
    BOOST_TEST(of({pieces[0], pieces[0], pieces[1], pieces[2]}) == "k_gate.gate: found a second kernel that writes the buffer, expected one");
    const std::vector<loop::kernel> ring{sets::step<"b", "a">("k_a", 4), sets::step<"a", "b">("k_b", 4), sets::step<"x", "y">("k_y", 4)};
    const auto waits = plan::network::of(sets::step<"x", "y">("k_whole", 4), ring);
    BOOST_REQUIRE(waits);
    BOOST_TEST(refusal(plan::executable::make(*waits, target())) == "found kernels that wait for each other: k_a, k_b, expected an order in which every buffer is written before it is read");
    // a reader of another size than the writer
    const std::vector<loop::kernel> unlike{sets::step<"x", "a">("k_a", 100), sets::step<"a", "y">("k_y", 99)};
    const auto p = planned(plan::network::of(sets::step<"x", "y">("k_whole", 100), unlike));
    BOOST_TEST(refusal(plan::bind(p)) == "k_y.a: found 99 elements of f32, expected the 100 of f32 of buffer a");
    test::given_data data(planned(plan::network::of(whole, pieces)), bound(planned(plan::network::of(whole, pieces))), 1);
    device::cpu::host_device device;
    plan::arena memory;
    data.spans[1] = data.spans[1].first(8);
    BOOST_TEST(refusal(plan::run(device, planned(plan::network::of(whole, pieces)), {}, data.spans, memory)) == "w: found 8 bytes, expected 1536");
}

BOOST_AUTO_TEST_CASE(a_kernel_of_a_plan_is_replaced) {
    auto n = plan::network::of(sets::gated(5, 24, 16), std::vector<loop::kernel>{sets::gated(5, 24, 16)});
    BOOST_REQUIRE(n);
    BOOST_REQUIRE(n->replace(0, sets::gated_in_three(5, 24, 16)));
    BOOST_TEST(n->nodes.size() == 3u);
    agrees(planned(std::move(n)), {}, 1e-5);
}

BOOST_AUTO_TEST_CASE(programs_of_several_kernels) {
    test::program_text text([](int least, int) { return least; }, test::form::plain);
    text.input("x", dtype::f32, {"2", "40"});
    text.node("y0", "tensor.elementwise", "\"op\":\"exp\"", {"x"}, dtype::f32, {"2", "40"});
    text.node("y1", "tensor.scan", "\"axis\":-1", {"y0"}, dtype::f32, {"2", "40"});
    text.node("y2", "tensor.elementwise", "\"op\":\"negative\"", {"y1"}, dtype::f32, {"2", "40"});
    const auto document = json::document::parse(text.finish("y2"));
    BOOST_REQUIRE(document);
    const auto g = program::read_program(document->root());
    BOOST_REQUIRE(g);
    const auto primitives = program::lower(*g);
    BOOST_REQUIRE(primitives);
    const auto formed = loop::fuse(*primitives);
    BOOST_REQUIRE(formed);
    const auto p = planned(plan::network::of(*primitives, *formed));
    BOOST_TEST(p.launches().size() == 3u);
    BOOST_TEST(p.given().size() == 2u);
    agrees(p, {}, 1e-4);
}

BOOST_AUTO_TEST_CASE(an_output_that_is_a_view_gets_its_bytes) {
    auto n = plan::network::of(sets::step<"x", "y">("k", 12));
    n.buffers.push_back({.name = "again", .type = dtype::f32, .shape = {number_dim(3), number_dim(4)}, .role = plan::role::output, .view_of = 1});
    n.buffers.push_back({.name = "given", .type = dtype::f32, .shape = {number_dim(12)}, .role = plan::role::output, .view_of = 0});
    const auto p = planned(std::move(n));
    agrees(p, {}, 1e-6);
    auto bad = plan::network::of(sets::step<"x", "y">("k", 12));
    bad.buffers.push_back({.name = "again", .type = dtype::f32, .shape = {number_dim(13)}, .role = plan::role::output, .view_of = 1});
    BOOST_TEST(refusal(plan::bind(planned(std::move(bad)))) == "again: found 52 bytes, expected the 48 of y, of which it is a view");
}

BOOST_AUTO_TEST_CASE(threads_share_a_plan) {
    const auto p = planned(plan::network::of(sets::gated(5, 24, 16), sets::gated_in_three(5, 24, 16)));
    const plan::binding at = bound(p);
    constexpr int threads = 4, runs = 5;
    std::vector<std::vector<std::byte>> results(threads * runs);
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
            device::cpu::host_device device;
            plan::arena memory;
            for (int r = 0; r < runs; ++r) {
                test::given_data data(p, at, 3);
                if (plan::run(device, p, {}, data.spans, memory, {.optimisation = 1, .poison = true})) results[static_cast<std::size_t>(t * runs + r)] = data.bytes.back();
            }
        });
    for (std::thread& w : workers) w.join();
    BOOST_TEST(!results[0].empty());
    for (const auto& r : results) BOOST_TEST((r == results[0]));
}
