// The kernels that an arm leaves compute what the kernel computes: random small programs, random arms, pieces cut and split again.
#include "support/kernel_set_run.hpp"
#include "support/law_cells.hpp"

#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/print.hpp>
#include <emmy/program/compose.hpp>
#include <emmy/program/lower/lower.hpp>

using namespace emmy;

namespace {

int drawn(int least, int beyond) { return beyond - least <= 1 ? least : *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, beyond)); }

/// A program of a few operators; which and how large is drawn.
result<program::graph> draw_program() {
    using program::edge;
    program::composer c;
    const dtype type = drawn(0, 3) == 2 ? dtype::f16 : dtype::f32;
    const int rows = drawn(1, 5), k = 2 * drawn(1, 5), n = 2 * drawn(1, 5);
    const auto tensor = [&](const char* id, program::composer::sizes s) { return c.input(id, type, s); };
    const auto weight = [&](const char* id, program::composer::sizes s) { return c.weight(id, id, type, s); };
    edge out{};
    switch (drawn(0, 8)) {
        case 0: out = c.matmul("y", tensor("x", {rows, k}), tensor("w", {k, n})); break;
        case 1: out = c.linear("y", c.rms_norm("norm", tensor("x", {rows, k}), 1, weight("g", {k}), 1e-5), weight("w", {n, k})); break;
        case 2: {
            const edge x = tensor("x", {rows, k}), h = c.rms_norm("norm", x, 1, weight("g", {k}), 1e-5);
            const edge gate = c.activation("act", "silu", c.linear("gate", h, weight("wg", {n, k})));
            const edge up = c.linear("up", h, weight("wu", {n, k}));
            out = c.add("y", x, c.linear("down", c.pointwise("mul", "multiply", {gate, up}), weight("wd", {k, n})));
            break;
        }
        case 3: out = c.softmax("y", tensor("x", {rows, k}), -1); break;
        case 4: {
            const int heads = 2 * drawn(1, 3), groups = drawn(0, 2) ? heads : heads / 2;
            out = c.attention("y", tensor("q", {1, heads, rows, k}), tensor("k", {1, groups, n, k}), tensor("v", {1, groups, n, k}), {}, false, {}, {});
            break;
        }
        case 5: {  // two outputs over one normalised row
            const edge h = c.rms_norm("norm", tensor("x", {rows, k}), 1, weight("g", {k}), 1e-5);
            c.output(c.linear("y1", h, weight("w1", {n, k})));
            out = c.linear("y2", h, weight("w2", {n + 2, k}));
            break;
        }
        case 6: {  // a statistic of a product, as projections that are normalised have
            const edge p = c.linear("p", tensor("x", {rows, k}), weight("w", {n, k}));
            out = c.pointwise("y", "multiply", {c.layer_norm("ln", p, 1, weight("g", {n}), weight("b", {n}), 1e-5), tensor("z", {rows, n})});
            break;
        }
        default: out = c.fold("y", drawn(0, 2) ? "mean" : "amax", c.pointwise("square", "multiply", {tensor("x", {rows, k, n}), tensor("z", {rows, k, n})}), {-1}, false);
    }
    c.output(out);
    return std::move(c).finish();
}

struct counts {
    long programs = 0, kernels = 0, arms = 0, cuts = 0, splits = 0, layouts = 0, joints = 0, pieces = 0, again = 0;
} seen;

std::string trace;  // arms taken and kernels run, for people

/// One arm of the kernel, drawn; nothing where it offers none.
std::optional<knob::routing_row> draw_arm(const fold::kernel_form& k, bool splits) {
    std::vector<std::string> names;
    for (const loop::buffer& b : k.kernel.inputs)  // constants alone have a stored layout of their own
        if (b.shape.size() == 2 && k.kernel.body.text(b.name).find("__") == std::string_view::npos) names.emplace_back(k.kernel.body.text(b.name));
    std::vector<std::string_view> views(names.begin(), names.end());
    fork::structural_request request;
    request.transposed = views, request.splits = splits;
    const auto forks = fork::structural_options(k, request);
    if (!forks || forks->empty()) return std::nullopt;
    const fork::structural_fork& f = (*forks)[static_cast<std::size_t>(drawn(0, static_cast<int>(forks->size())))];
    if (f.family == "PLACE" && drawn(0, 2) == 1) {  // a joint arm of some of the seams
        std::vector<knob::knob_pair> pairs;
        for (const fork::structural_arm& a : f.arms)
            if (a.row.size() == 1 && drawn(0, 2) == 1) pairs.push_back({a.row[0].key, a.row[0].value});
        if (auto joint = knob::routing_row::parse(pairs)) return *joint;
    }
    return f.arms[static_cast<std::size_t>(drawn(1, static_cast<int>(f.arms.size())))].row;
}

std::string run_set(const fold::kernel_form& k, bool splits, int depth, test::buffers_by_name& made, std::map<std::string, std::string>& relaid) {
    const auto arm = depth > 0 ? draw_arm(k, splits) : std::nullopt;
    if (!arm) {
        trace += loop::print(k.kernel);
        const auto ran = test::run_kernel(k.kernel, made, relaid);
        return ran ? "" : k.kernel.name + ": " + ran.error().line();
    }
    const auto set = fork::realise(k, *arm);
    std::string text;
    arm->each([&](std::string_view key, std::string_view value) { text += " " + std::string(key) + "=" + std::string(value); });
    if (!set) return text + ": " + set.error().line();
    trace += k.kernel.name + text + "\n";
    ++seen.arms, seen.pieces += static_cast<long>(set->pieces.size()), seen.again += depth == 1;
    ++((*arm)[0].family() == "PLACE" ? seen.cuts : (*arm)[0].family() == "REDUCE" ? seen.splits : seen.layouts);
    seen.joints += arm->size() > 1;
    for (const auto& r : set->relaid) relaid[r.source] = r.folded;
    for (const fork::piece& p : set->pieces)
        if (const std::string wrong = run_set(p.form, splits && p.splits, depth - 1, made, relaid); !wrong.empty()) return text + " / " + wrong;
    return "";
}

std::string difference() {
    const auto g = draw_program();
    if (!g) return g.error().line();
    const auto lowered = program::lower(*g);
    if (!lowered) return lowered.error().line();
    const auto kernels = loop::fuse(*lowered);
    if (!kernels) return kernels.error().line();
    ++seen.programs;
    for (const loop::formed& formed : *kernels) {
        test::buffers_by_name whole, pieces;
        trace.clear();
        if (const auto ran = test::run_kernel(formed.kernel, whole); !ran) return ran.error().line();
        const auto form = fold::form_of(formed.kernel);
        if (!form) continue;
        ++seen.kernels;
        std::map<std::string, std::string> relaid;
        if (const std::string wrong = run_set(*form, true, 2, pieces, relaid); !wrong.empty()) return wrong + "\n" + loop::print(formed.kernel);
        for (const loop::buffer& b : formed.kernel.outputs) {
            const std::string name(formed.kernel.body.text(b.name));
            if (!pieces.count(name)) return name + " is not made";
            const double tolerance = b.type == dtype::f16 ? 1e-2 : 2e-5;
            if (const std::string wrong = test::compare(program::from_bytes(b.type, whole[name]), program::from_bytes(b.type, pieces[name]), tolerance); !wrong.empty())
                return name + " " + wrong + "\n" + loop::print(formed.kernel) + trace;
        }
    }
    return "";
}

}  // namespace

BOOST_AUTO_TEST_CASE(kernel_sets_compute_what_the_whole_computes) {
    rc::detail::TestParams params;
    params.maxSuccess = std::getenv("EMMY_LAW_RUNS") ? std::atoi(std::getenv("EMMY_LAW_RUNS")) : 400;
    params.seed = 7;
    const auto law = [] {
        if (const std::string wrong = difference(); !wrong.empty()) RC_FAIL(wrong);
    };
    const rc::detail::TestResult outcome = rc::detail::checkTestable(law, rc::detail::TestMetadata{"kernel sets", "kernel sets"}, params);
    if (!outcome.is<rc::detail::SuccessResult>()) {
        std::ostringstream out;
        rc::detail::printResultMessage(outcome, out);
        BOOST_ERROR(out.str());
    }
    std::printf("%ld programs, %ld kernels, %ld arms (%ld cuts, %ld of them joint, %ld splits, %ld layouts; %ld on pieces), %ld pieces\n", seen.programs, seen.kernels, seen.arms, seen.cuts,
                seen.joints, seen.splits, seen.layouts, seen.again, seen.pieces);
}
