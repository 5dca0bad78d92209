#include <support/law_cells.hpp>

#include <emmy/program/check.hpp>
#include <emmy/program/lower/bind.hpp>

// The lowered program computes what the traced one does, for every operator, element type and form; and it is a well formed program itself.
namespace {
using namespace emmy;

/// The literals of f16 and bf16 chains (eps, factors) are held in those types.
double tolerance(dtype t) { return t == dtype::bf16 ? 2e-2 : t == dtype::f16 ? 2e-3 : 2e-6; }

bool primitive(program::op o) {
    using program::op;
    return o == op::input || o == op::constant || o == op::elementwise || o == op::reduce || o == op::scan || o == op::index_map || o == op::gather || o == op::bitcast;
}

std::string difference(const std::string& text, unsigned seed) {
    const auto document = json::document::parse(text);
    if (!document) return document.error().line();
    const auto g = program::read_program(document->root());
    if (!g) return g.error().line();
    const auto p = program::lower(*g);
    if (!p) return p.error().line();
    if (const auto ok = program::check_program(p->g); !ok) return "lowered: " + ok.error().line();
    for (const auto& n : p->g.nodes)
        if (!primitive(n.op)) return "left: " + std::string(program::text(n.op));
    const auto bytes = test::fill(*g, seed);
    const auto wanted = program::evaluate(*g, bytes.all);
    if (!wanted) return wanted.error().line();
    const auto found = program::evaluate(*g, *p, bytes.all);
    if (!found) return "lowered: " + found.error().line();
    const auto &a = (*wanted)[0], &b = (*found)[0];
    if (a.type != b.type || a.shape != b.shape || a.integers != b.integers) return "another type, shape or integers";
    return test::compare(a.values, b.values, tolerance(a.type));
}
}  // namespace

BOOST_AUTO_TEST_CASE(lowered_programs_compute_what_traced_ones_do) { test::for_all_cells("lowered = traced", 10, difference); }
