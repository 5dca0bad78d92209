#include <support/law_cells.hpp>
#include <support/run_formed.hpp>

#include <emmy/program/lower/lower.hpp>

// Traced program, primitive graph and fused kernels agree, for every operator, element type and form: the kernels in the interpreter, with every
// rounding of their bodies and with everything in f32.
namespace {
using namespace emmy;

/// Kernels round where their bodies say so: f16 chains at each step, bf16 at each stamped one.
double tolerance(dtype t) {
    if (t == dtype::f64) return 1e-3;  // sums are f32 whatever the type, and a norm over one element divides by the root of eps
    return t == dtype::bf16 ? 3e-2 : t == dtype::f16 ? 8e-3 : 1e-5;
}

std::string difference(const std::string& text, unsigned seed) {
    const auto document = json::document::parse(text);
    const auto g = document ? program::read_program(document->root()) : result<program::graph>(refuse(document.error()));
    if (!g) return g.error().line();
    const auto p = program::lower(*g);
    if (!p) return p.error().line();
    const auto kernels = loop::fuse(*p);
    if (!kernels) return "fuse: " + kernels.error().line();
    const auto bytes = test::fill(*g, seed);
    const auto wanted = program::evaluate(*g, bytes.all);
    if (!wanted) return wanted.error().line();
    const auto& a = (*wanted)[0];
    for (const auto mode : {loop::numeric_mode::typed, loop::numeric_mode::relaxed_f32}) {
        // Bits of a rounded value are not those of an unrounded one.
        if (mode == loop::numeric_mode::relaxed_f32 && text.find("tensor.bitcast") != std::string::npos) continue;
        const std::string name = mode == loop::numeric_mode::typed ? "typed: " : "relaxed: ";
        const auto found = test::interpret_formed(*g, *p, *kernels, bytes.all, mode);
        if (!found) return name + found.error().line();
        if (found->size() != 1) return name + "found " + std::to_string(found->size()) + " outputs, expected 1";
        if (reads_as_integer(a.type)) {
            if ((*found)[0] != program::to_bytes(a)) return name + "other integers";
            continue;
        }
        if (const auto wrong = test::compare(program::from_bytes(a.type, program::to_bytes(a)), program::from_bytes(a.type, (*found)[0]), tolerance(a.type)); !wrong.empty()) return name + wrong;
    }
    return {};
}
}  // namespace

BOOST_AUTO_TEST_CASE(fused_kernels_compute_what_programs_do) { test::for_all_cells("fused kernels, both modes = traced", 4, difference); }
