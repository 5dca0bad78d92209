#include <support/law_cells.hpp>
#include <support/run_formed.hpp>

#include <emmy/device/cpu/device.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/program/lower/lower.hpp>

#include <unistd.h>

// The CPU device computes what traced programs do: every kernel of every operator, lowered by its default row, compiled and run. One program a cell of
// operator x element type, its form in turn; what has no CPU lowering is counted and named.
namespace {
using namespace emmy;

double tolerance(dtype t) { return t == dtype::bf16 ? 3e-2 : t == dtype::f16 ? 8e-3 : t == dtype::f64 ? 1e-3 : 1e-5; }

std::map<std::string, std::size_t> refused;
std::size_t compiled = 0, bound = 0;

struct cpu {
    std::string cache = "/tmp/emmy-law-device-XXXXXX";
    device::cpu::host_device host;
    fork::cpu_target target;
    cpu() : host((::mkdtemp(cache.data()), cache)) {
        target = device::cpu::schedule_target(host.identify());
    }
    ~cpu() { BOOST_CHECK_EQUAL(std::system(("rm -rf '" + cache + "'").c_str()), 0); }

    result<std::vector<std::vector<std::byte>>> run(const loop::kernel& k, const std::vector<std::vector<std::byte>>& inputs) {
        EMMY_TRY(schedules, fork::cpu_schedules::make(k, target));
        EMMY_TRY(text, kernel::lower_cpu(schedules, schedules.rows()[0]));
        auto machine = loop::interpreter::make(k);  // for the shapes at the symbol's hint
        if (!machine) return refuse(std::move(machine).error());
        std::vector<device::buffer_spec> buffers;
        const auto add = [&](const loop::buffer& b, std::span<const std::int64_t> shape, bool output) {
            std::uint64_t count = 1;
            for (const std::int64_t size : shape) count *= static_cast<std::uint64_t>(size);
            buffers.push_back({b.type, count, output});
        };
        for (std::size_t i = 0; i < k.inputs.size(); ++i) add(k.inputs[i], machine->input_shape(i), false);
        for (std::size_t i = 0; i < k.outputs.size(); ++i) add(k.outputs[i], machine->output_shape(i), true);
        EMMY_TRY(arena, device::tensor_arena::create(buffers));
        for (std::size_t i = 0; i < inputs.size(); ++i) std::copy(inputs[i].begin(), inputs[i].end(), arena[i].begin());
        device::kernel_text source;
        source.entry = text.entry, source.source = text.source, source.optimisation = 0;
        const std::vector<long long> sizes = text.launch_sizes(k, {});
        source.scratch_bytes = text.scratch_bytes(1, sizes);
        arena.poison_outputs();
        EMMY_CHECK_OK(host.run(source, arena, {sizes, 1}));
        ++compiled;
        std::vector<std::vector<std::byte>> out;
        for (std::size_t i = inputs.size(); i < arena.size(); ++i) out.emplace_back(arena[i].begin(), arena[i].end());
        return out;
    }
};

std::string difference(cpu& device, const std::string& text, unsigned seed) {
    const auto document = json::document::parse(text);
    const auto g = document ? program::read_program(document->root()) : result<program::graph>(refuse(document.error()));
    if (!g) return g.error().line();
    const auto p = program::lower(*g);
    if (!p) return p.error().line();
    const auto kernels = loop::fuse(*p);
    if (!kernels) return "fuse: " + kernels.error().line();
    if (kernels->empty()) return ++bound, std::string();  // all of it is known when it is bound
    const auto bytes = test::fill(*g, seed);
    const auto wanted = program::evaluate(*g, bytes.all);
    if (!wanted) return wanted.error().line();
    std::vector<std::vector<std::vector<std::byte>>> made;
    for (const loop::formed& k : *kernels) {
        auto inputs = test::kernel_inputs(*g, *p, k, bytes.all, made);
        if (!inputs) return inputs.error().line();
        auto out = device.run(k.kernel, *inputs);
        if (!out && out.error().message().starts_with("no CPU lowering for ")) return ++refused[out.error().message()], std::string();
        if (!out) return out.error().line();
        made.push_back(std::move(*out));
    }
    const auto& a = (*wanted)[0];
    for (std::size_t k = 0; k < kernels->size(); ++k)
        for (std::size_t o = 0; o < (*kernels)[k].outputs.size(); ++o) {
            if ((*kernels)[k].outputs[o] != p->g.outputs[0].node) continue;
            if (reads_as_integer(a.type)) return made[k][o] == program::to_bytes(a) ? "" : "other integers";
            return test::compare(program::from_bytes(a.type, program::to_bytes(a)), program::from_bytes(a.type, made[k][o]), tolerance(a.type));
        }
    return "no kernel makes the output";
}
}  // namespace

BOOST_AUTO_TEST_CASE(the_cpu_computes_what_programs_do) {
    cpu device;
    std::size_t turn = 0;
    test::for_all_cells("CPU device = traced", 1, [&](const std::string& text, unsigned seed) { return difference(device, text, seed); },
        [&](const test::operator_case&, dtype, test::form f) {
            const std::size_t cell = turn / 4;  // of operator x type: in one form
            const bool mine = static_cast<std::size_t>(f) == (cell + cell / 4) % 4;
            ++turn;
            return mine;
        });
    std::cout << compiled << " kernels compiled and run, " << bound << " programs known when bound\n";
    for (const auto& [why, count] : refused) std::cout << "  " << count << " x " << why << "\n";
}
