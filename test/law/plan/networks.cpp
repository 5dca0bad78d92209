// Random networks of exact kernels: what a plan computes on this processor is what the interpreter computes, to the bit, with memory reused,
// at every run.
#include <support/sets_by_hand.hpp>

#include <rapidcheck.h>

#include <algorithm>
#include <map>

using namespace emmy;

namespace {
using namespace loop::typed;

/// z[i] = x[i] + y[i]; z[i] = x[i / 2] + 1; z[i] = x[2 i] + x[2 i + 1]: integers stay exact.
enum class shape_of_kernel { sum, wider, narrower };
loop::kernel made(shape_of_kernel what, std::int64_t n) {
    builder b;
    if (what == shape_of_kernel::sum) {
        auto x = b.input<f32, "x">(n);
        auto y = b.input<f32, "y">(n);
        auto z = b.output<f32, "z">(n);
        b.loop(n, [&](axis i) { z(i) = x(i) + y(i); });
    } else if (what == shape_of_kernel::wider) {
        auto x = b.input<f32, "x">(n / 2);
        auto z = b.output<f32, "z">(n);
        b.loop(n, [&](axis i) { z(i) = x(i / 2) + b.let<f32>(1); });
    } else {
        auto x = b.input<f32, "x">(n * 2);
        auto z = b.output<f32, "z">(n);
        b.loop(n, [&](axis i) { z(i) = x(2 * i) + x(2 * i + 1); });
    }
    return test::sets::made(b, "k");
}
std::shared_ptr<const loop::kernel> kernel_of(shape_of_kernel what, std::int64_t n) {
    static std::map<std::pair<shape_of_kernel, std::int64_t>, std::shared_ptr<const loop::kernel>> kept;
    auto& at = kept[{what, n}];
    if (!at) at = std::make_shared<const loop::kernel>(made(what, n));
    return at;
}

struct drawn {
    plan::network network;
    std::vector<std::int64_t> sizes;  ///< per buffer
};
drawn any_network() {
    drawn out;
    const auto add = [&](std::int64_t n, plan::role role) {
        out.network.buffers.push_back({.name = "b" + std::to_string(out.sizes.size()), .type = dtype::f32, .shape = {number_dim(n)}, .role = role});
        out.sizes.push_back(n);
        return static_cast<std::uint32_t>(out.sizes.size() - 1);
    };
    const int inputs = *rc::gen::inRange(1, 4), kernels = *rc::gen::inRange(1, 12);
    for (int i = 0; i < inputs; ++i) add(std::int64_t(8) << *rc::gen::inRange(0, 4), plan::role::input);
    for (int i = 0; i < kernels; ++i) {
        const auto what = static_cast<shape_of_kernel>(*rc::gen::inRange(0, 3));
        const auto x = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(out.sizes.size()));
        const std::int64_t n = what == shape_of_kernel::sum ? out.sizes[x] : what == shape_of_kernel::wider ? out.sizes[x] * 2 : out.sizes[x] / 2;
        if (n < 4 || n > 256) continue;
        plan::node node{kernel_of(what, n), {x}, {}};
        if (what == shape_of_kernel::sum) {
            std::vector<std::uint32_t> fit;
            for (std::uint32_t b = 0; b < out.sizes.size(); ++b)
                if (out.sizes[b] == n) fit.push_back(b);
            node.inputs.push_back(*rc::gen::elementOf(fit));
        }
        node.outputs = {add(n, *rc::gen::weightedElement<plan::role>({{3, plan::role::workspace}, {1, plan::role::output}}))};
        out.network.nodes.push_back(std::move(node));
    }
    // whatever nobody reads is what the network is for
    for (std::uint32_t b = 0; b < out.sizes.size(); ++b) {
        const bool read = std::any_of(out.network.nodes.begin(), out.network.nodes.end(), [&](const plan::node& n) { return std::find(n.inputs.begin(), n.inputs.end(), b) != n.inputs.end(); });
        if (!read && out.network.buffers[b].role == plan::role::workspace) out.network.buffers[b].role = plan::role::output;
    }
    // nodes in any order
    for (std::size_t i = out.network.nodes.size(); i > 1; --i) std::swap(out.network.nodes[i - 1], out.network.nodes[*rc::gen::inRange<std::size_t>(0, i)]);
    return out;
}

device::cpu::host_device& host() {
    static device::cpu::host_device device;
    return device;
}
}  // namespace

BOOST_AUTO_TEST_CASE(networks) {
    const fork::cpu_target target = device::cpu::schedule_target(device::cpu::identify_host());
    BOOST_TEST(rc::check("a plan computes what the interpreter computes, in no more memory than its peak, and again", [&] {
        drawn n = any_network();
        const plan::network copy = n.network;
        const auto p = plan::executable::make(std::move(n.network), target);
        RC_ASSERT(p.has_value());
        const auto at = plan::bind(*p);
        RC_ASSERT(at.has_value());
        // every launch comes after those that write what it reads
        std::vector<int> written(p->buffers().size(), -1);
        for (std::size_t i = 0; i < p->launches().size(); ++i) {
            const plan::launch& l = p->launches()[i];
            for (std::size_t b = 0; b + 1 < l.buffers.size(); ++b) RC_ASSERT(p->buffers()[l.buffers[b]].role == plan::role::input || written[l.buffers[b]] >= 0);
            written[l.buffers.back()] = static_cast<int>(i);
        }
        // buffers of one launch do not share memory
        for (const plan::launch& l : p->launches())
            for (const std::uint32_t a : l.buffers)
                for (const std::uint32_t b : l.buffers)
                    if (a != b && p->buffers()[a].role == plan::role::workspace && p->buffers()[b].role == plan::role::workspace)
                        RC_ASSERT(at->buffers[a].offset + at->buffers[a].bytes <= at->buffers[b].offset || at->buffers[b].offset + at->buffers[b].bytes <= at->buffers[a].offset);
        test::given_data data(*p, *at, 5);
        for (std::size_t i = 0; i < data.bytes.size(); ++i)  // small integers: sums are exact
            for (std::size_t e = 0; e < data.bytes[i].size() / 4; ++e) store_real(dtype::f32, data.bytes[i].data(), e, static_cast<double>((e * 7 + i * 3) % 11) - 5);
        const auto wanted = plan::interpret(copy, data.inputs(*p));
        RC_ASSERT(wanted.has_value());
        plan::arena memory;
        for (int run = 0; run < 2; ++run) {
            RC_ASSERT(plan::run(host(), *p, {}, data.spans, memory, {.optimisation = 1, .poison = true}).has_value());
            std::size_t o = 0;
            for (std::size_t i = 0; i < p->given().size(); ++i)
                if (p->buffers()[p->given()[i]].role == plan::role::output) RC_ASSERT(data.bytes[i] == (*wanted)[o++]);
        }
        RC_ASSERT(memory.bytes() == at->arena_bytes);
        RC_ASSERT(at->arena_bytes >= at->least_bytes);
        RC_TAG(at->arena_bytes < at->unshared_bytes ? "reuses memory" : "does not");
    }));
}
