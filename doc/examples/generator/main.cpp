// A generator with knobs of its own: lists its space, prints and checks a kernel for each row, measures them, keeps the evidence in a
// store and picks from it. Usage: generator STORE_DIRECTORY [ROWS COLUMNS]
#include "print.hpp"

#include <emmy/device/cpu/device.hpp>
#include <emmy/evidence/record.hpp>
#include <emmy/evidence/regime.hpp>
#include <emmy/evidence/space_options.hpp>

#include <cstdio>
#include <cstdlib>

namespace {
using namespace transposition;
using emmy::result;

constexpr std::string_view producer = "transposition/1";
static_assert(producer.back() == static_cast<char>(48 + print_version));

/// Runs a row on numbered input and compares every element.
result<void> check_answer(const problem& p, emmy::device::cpu::host_device& device, const emmy::device::kernel_text& text, emmy::device::tensor_arena& arena) {
    arena.poison_outputs();
    EMMY_CHECK_OK(device.run(text, arena, {}));
    const auto* x = reinterpret_cast<const float*>(arena[0].data());
    const auto* y = reinterpret_cast<const float*>(arena[1].data());
    for (int i = 0; i < p.rows; ++i)
        for (int j = 0; j < p.columns; ++j)
            if (y[static_cast<long>(j) * p.rows + i] != x[static_cast<long>(i) * p.columns + j])
                return emmy::refuse(emmy::fault_kind::internal, "found a wrong element " + std::to_string(i) + ", " + std::to_string(j) + " in the answer, expected the input's");
    return {};
}

/// What the store knows of this problem decides the row; without it the first of the space does.
template <class Space>
result<emmy::evidence::record> pick(const emmy::store::environment& store, const emmy::store::context& live, const problem& p, const Space& space) {
    EMMY_TRY(evidence, emmy::evidence::snapshot::open(store, live, {}, producer));
    const emmy::evidence::space_options options(space);
    return emmy::evidence::pick_schedule(&evidence, {.kernel = "transpose", .identity = emmy::xxh3_128(canonical_text(p)), .options = &options});
}

result<int> generate(const std::string& directory, const problem& p) {
    emmy::device::cpu::host_device device;
    const auto& machine_here = device.identify();
    const auto rows = freeze(space_on(machine{static_cast<int>(machine_here.limits.l1_bytes)}));
    const auto live = emmy::evidence::make_context(machine_here.card, 0, 0, {});
    EMMY_TRY(store, emmy::store::environment::open(directory, {.mode = emmy::store::access::write, .kind = emmy::store::store_kind::tuning}));

    EMMY_TRY(before, pick(store, live, p, rows));
    std::printf("%s\n", emmy::evidence::line(before).c_str());

    const auto elements = static_cast<std::uint64_t>(p.rows) * static_cast<std::uint64_t>(p.columns);
    EMMY_TRY(arena, emmy::device::tensor_arena::create({{emmy::dtype::f32, elements, false}, {emmy::dtype::f32, elements, true}}));
    auto* x = reinterpret_cast<float*>(arena[0].data());
    for (std::uint64_t e = 0; e < elements; ++e) x[e] = static_cast<float>(e % 16777216);

    std::vector<emmy::evidence::local_measurement> measured;
    for (const auto& r : rows) {
        const emmy::device::kernel_text text{.source = print(p, r), .entry = "transpose"};
        EMMY_CHECK_OK(check_answer(p, device, text, arena));
        EMMY_TRY(times, device.measure({.kernels = {text}, .launches = {{}}, .effort = {.most_samples = 30, .budget_seconds = 0.05}}, arena));
        const auto& t = times.kernels[0];
        emmy::evidence::local_measurement m;
        m.context = live;
        m.kernel = {.key = emmy::xxh3_128(canonical_text(p)), .check = emmy::xxh3_128("check " + canonical_text(p)), .name = "transpose", .body = canonical_text(p)};
        m.row = emmy::evidence::texts_of(r);
        m.time = {t.median, t.min, t.max, t.mean, t.variance, static_cast<std::uint32_t>(t.samples)};
        measured.push_back(std::move(m));
    }
    EMMY_TRY(stored, emmy::evidence::record_measurements(store, measured, producer));
    std::printf("%u of %zu rows measured and stored\n", stored, static_cast<std::size_t>(rows.size()));

    EMMY_TRY(after, pick(store, live, p, rows));
    std::printf("%s\n", emmy::evidence::line(after).c_str());
    return 0;
}
}  // namespace

int main(int argc, char** argv) {
    const problem p = argc == 4 ? problem{std::atoi(argv[2]), std::atoi(argv[3])} : problem{1024, 768};
    if ((argc != 2 && argc != 4) || p.rows <= 0 || p.columns <= 0 || p.rows > 32768 || p.columns > 32768) {
        std::fprintf(stderr, "usage: generator STORE_DIRECTORY [ROWS COLUMNS]   (sizes 1 ... 32768)\n");
        return 2;
    }
    const auto done = generate(argv[1], p);
    if (done) return *done;
    std::fprintf(stderr, "%s\n", done.error().line().c_str());
    return emmy::exit_code(done.error().kind());
}
