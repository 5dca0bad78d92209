// Every routing row of the peer's files, taken again on its parent, as a plan; sampled ones run on this processor beside their parents.
#include "interop/fork/retaken.hpp"

#include <emmy/core/numeric.hpp>
#include <emmy/device/cpu/toolchain.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/plan.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace emmy;
using namespace emmy::test;

namespace {

fork::cpu_target target() { return device::cpu::schedule_target(device::cpu::identify_host()); }

std::string label(const routes& r, const routing_case& c) {
    std::string out = r.path + " " + c.parent;
    for (const auto& choice : c.arm) out += " " + choice.key + "=" + choice.value;
    return out;
}

/// Values that a whole run computes, where each is computed once for what it depends on: of every kernel of a plan.
double evaluations(const plan::executable& p, const plan::binding& at) {
    double sum = 0;
    for (std::size_t i = 0; i < p.launches().size(); ++i) {
        const plan::launch& l = p.launches()[i];
        const loop::kernel& k = *p.source().nodes[l.node].kernel;
        loop::interpret_options options;
        for (const name_id s : loop::symbols(k))
            for (std::size_t j = 0; j < p.symbols().size(); ++j)
                if (p.symbols()[j].name == k.body.text(s)) options.sizes.push_back({p.symbols()[j].name, at.sizes[j]});
        const auto machine = loop::interpreter::make(k, options);
        if (!machine) return HUGE_VAL;
        for (std::size_t o = 0; o < k.outputs.size(); ++o) sum += static_cast<double>(machine->cell_cost(o)) * static_cast<double>(at.buffers[l.buffers[k.inputs.size() + o]].elements);
    }
    return sum;
}
double bytes(const plan::executable& p, const plan::binding& at) {
    double sum = static_cast<double>(at.unshared_bytes);
    for (const std::uint32_t b : p.given()) sum += static_cast<double>(at.buffers[b].bytes);
    return sum;
}

/// How far two ways to compute one thing may be apart, of the root mean square of its values: a rounding to the coarsest type on the way that
/// falls to the other side, a few times over.
double apart(const plan::executable& a, const plan::executable& b) {
    double out = 1e-4;
    for (const plan::executable* p : {&a, &b})
        for (const plan::node& n : p->source().nodes) {
            const auto see = [&](dtype t) { out = std::max(out, t == dtype::f8e4m3 || t == dtype::f8e5m2 ? 0.3 : t == dtype::bf16 ? 0.05 : t == dtype::f16 ? 0.01 : 0.0); };
            for (const loop::buffer& o : n.kernel->outputs) see(o.type);
            for (const loop::stmt& s : n.kernel->body.stmts) {
                see(s.type);
                if (s.op == loop::op::to_f8e4m3) see(dtype::f8e4m3);
                if (s.op == loop::op::to_f4e2m1) out = 0.6;
            }
        }
    return out;
}

/// Outputs of a set beside its parent's: "" or what differs. A few cells in a thousand may be over: where a small value is divided by.
std::string compare(const plan::executable& parent, const device::tensor_arena& a, const device::tensor_arena& b, double tolerance, std::size_t& cells) {
    for (std::size_t i = 0; i < parent.given().size(); ++i) {
        const plan::buffer& out = parent.buffers()[parent.given()[i]];
        if (out.role != plan::role::output) continue;
        const std::size_t n = a.spec(i).elements;
        double squares = 0;
        std::size_t over = 0, first = 0, finite = 0;
        for (std::size_t e = 0; e < n; ++e)
            if (const double v = load_element(out.type, a[i].data(), e); std::isfinite(v)) squares += v * v, ++finite;
        const double scale = finite ? std::sqrt(squares / static_cast<double>(finite)) : 0;
        for (std::size_t e = 0; e < n; ++e) {
            const double x = load_element(out.type, a[i].data(), e), y = load_element(out.type, b[i].data(), e);
            if (x == y || (!std::isfinite(x) && !std::isfinite(y)) || std::abs(x - y) <= tolerance * (std::abs(x) + scale)) continue;
            if (over++ == 0) first = e;
        }
        cells += n;
        if (static_cast<double>(over) > 2e-3 * static_cast<double>(n))
            return out.name + ": " + std::to_string(over) + " of " + std::to_string(n) + " cells, the first at " + std::to_string(first) + ": " + std::to_string(load_element(out.type, b[i].data(), first)) + ", the parent's " +
                   std::to_string(load_element(out.type, a[i].data(), first)) + ", scale " + std::to_string(scale);
    }
    return {};
}

}  // namespace

// EMMY_PLAN_ROUTES="every millions": run every <every>-th row of those that compute at most <millions> of values ("1 6000": all that a processor
// runs in about an hour). Without it: a sample.
BOOST_AUTO_TEST_CASE(routing_rows_are_plans_and_run) {
    if (stored_files().empty()) return;
    std::size_t every = 24, number = 0;
    double millions = 500;
    if (const char* asked = std::getenv("EMMY_PLAN_ROUTES")) std::sscanf(asked, "%zu %lf", &every, &millions);
    every = std::max<std::size_t>(1, every);
    const char* only = std::getenv("EMMY_ROUTES_SHOW");
    const double most_evaluations = millions * 1e6, most_bytes = std::min(most_evaluations, 2.5e9);
    std::size_t rows = 0, other = 0, planned = 0, workspaces = 0, reused = 0, relaid = 0, zeroed = 0, ran = 0, dear = 0, cells = 0, of_kernels = 0;
    std::map<std::string, std::size_t> by_family;
    device::cpu::host_device device;
    for (const stored_file& file : stored_files()) {
        routes r(file);
        retaker again(r);
        for (const routing_case& c : r.rows) {
            if (only && c.parent.find(only) == std::string::npos) continue;
            ++rows;
            const retaken made = again.take(c);
            if (made.how == reading::none || !made.set) {
                ++other;
                continue;
            }
            // A minted parent has the buffers that its own parent's decision named.
            const fold::kernel_form* minted = made.how == reading::minted ? again.tree(c.parent) : nullptr;
            const loop::kernel& parent = minted ? minted->kernel : r.kernel(c.parent);
            auto network = plan::network::of(parent, *made.set);
            BOOST_CHECK_MESSAGE(network, label(r, c) << ": " << (network ? "" : network.error().line()));
            if (!network) continue;
            auto p = plan::executable::make(std::move(*network), target());
            BOOST_CHECK_MESSAGE(p, label(r, c) << ": " << (p ? "" : p.error().line()));
            if (!p) continue;
            ++planned;
            const auto hinted = plan::bind(*p);
            BOOST_CHECK_MESSAGE(hinted, label(r, c) << ": " << (hinted ? "" : hinted.error().line()));
            if (!hinted) continue;
            BOOST_CHECK(hinted->arena_bytes >= hinted->least_bytes);
            for (const plan::buffer& b : p->buffers()) workspaces += b.role == plan::role::workspace, relaid += !b.transposed_of.empty();
            for (const plan::launch& l : p->launches()) zeroed += l.zeroed.size();
            reused += hinted->arena_bytes < hinted->unshared_bytes;

            std::vector<loop::symbol_size> sizes;
            std::optional<plan::binding> at;
            for (const std::int64_t size : {5, 2, 1}) {
                sizes.clear();
                for (const plan::symbol& s : p->symbols()) sizes.push_back({s.name, size});
                auto tried = plan::bind(*p, sizes);
                BOOST_REQUIRE_MESSAGE(tried, label(r, c) << ": " << (tried ? "" : tried.error().line()));
                if (evaluations(*p, *tried) <= most_evaluations && bytes(*p, *tried) <= most_bytes) {
                    at = std::move(*tried);
                    break;
                }
            }
            if (!at) {
                ++dear;
                continue;
            }
            if (number++ % every != 0 && !only) continue;
            auto whole = plan::executable::make(plan::network::of(parent), target());
            BOOST_REQUIRE_MESSAGE(whole, label(r, c) << ": " << (whole ? "" : whole.error().line()));
            std::vector<loop::symbol_size> own;
            for (const loop::symbol_size& s : sizes)
                if (std::any_of(whole->symbols().begin(), whole->symbols().end(), [&](const plan::symbol& have) { return have.name == s.symbol; })) own.push_back(s);
            const auto whole_at = plan::bind(*whole, own);
            BOOST_REQUIRE(whole_at);
            // The parent's inputs; a constant that lies as it is stored is the same one turned.
            auto given = plan::seeded_bytes(*whole, *whole_at, 7);
            BOOST_REQUIRE(given);
            auto arena = plan::make_arena(*whole, *whole_at);
            BOOST_REQUIRE(arena);
            plan::fill(*arena, *whole, *given);
            const auto done = device.run(plan::sequence_of(*whole, *whole_at, false, 1), *arena);
            if (!done && done.error().message().starts_with(device::cpu::compile_overrun)) {  // a whole layer as one kernel, on a busy machine
                ++dear;
                continue;
            }
            BOOST_REQUIRE_MESSAGE(done, label(r, c) << ": " << (done ? "" : done.error().line()));
            std::size_t inputs = given->size();
            for (const std::uint32_t b : p->given()) {
                const plan::buffer& facts = p->buffers()[b];
                if (facts.role == plan::role::output || inputs-- > 0) continue;
                const std::uint32_t folded = p->source().find(facts.transposed_of);
                BOOST_REQUIRE(folded != plan::none);
                std::vector<std::byte> turned(at->buffers[b].bytes);
                const std::size_t element = byte_size(facts.type), wide = static_cast<std::size_t>(at->buffers[b].shape[1]), tall = static_cast<std::size_t>(at->buffers[b].shape[0]);
                for (std::size_t i = 0; i < tall; ++i)
                    for (std::size_t j = 0; j < wide; ++j) std::memcpy(&turned[(i * wide + j) * element], &(*given)[folded][(j * tall + i) * element], element);
                given->push_back(std::move(turned));
            }
            device::tensor_arena result;
            plan::check_options how;
            how.cells = 12, how.interpret_below = 2'000'000, how.optimisation = 1;
            const auto verdict = plan::check_once(device, *p, *at, *given, {}, how, &result);
            BOOST_REQUIRE_MESSAGE(verdict, label(r, c) << ": " << (verdict ? "" : verdict.error().line()));
            BOOST_CHECK_MESSAGE(verdict->wrong.empty(), label(r, c) << ": " << verdict->wrong);
            of_kernels += verdict->cells;
            const std::string unlike = compare(*whole, *arena, result, apart(*whole, *p), cells);
            BOOST_CHECK_MESSAGE(unlike.empty(), label(r, c) << ": " << unlike);
            ++ran, ++by_family[std::string(c.family())];
            if (every < 5 || only) std::printf("ran %s\n", label(r, c).c_str()), std::fflush(stdout);
        }
    }
    std::printf("%zu routing rows: %zu taken again are plans (%zu workspaces, %zu plans reuse memory, %zu relaid constants, %zu sums from zero), %zu leave other children;", rows, planned, workspaces, reused, relaid, zeroed, other);
    std::printf(" %zu ran beside their parents (", ran);
    for (const auto& [family, n] : by_family) std::printf("%s%s %zu", family == by_family.begin()->first ? "" : ", ", family.c_str(), n);
    std::printf("; %zu cells of outputs, %zu cells of kernels), %zu are too dear\n", cells, of_kernels, dear);
    if (only) return;
    BOOST_CHECK_EQUAL(planned + other, rows);
    BOOST_CHECK_GE(ran, every > 30 ? 1u : 5u);
}
