#include <emmy/core/dim_wire.hpp>
#include <emmy/program/lower/lower.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

// Worked examples of lowering, node by node.
namespace {
using namespace emmy;
using namespace emmy::program;

/// "id: op attrs(inputs) type[sizes]"; a `~` before the id: transient.
std::vector<std::string> listing(const primitive_graph& p) {
    std::vector<std::string> out;
    for (node_id n = 0; n < p.g.nodes.size(); ++n) {
        const node& x = p.g.nodes[n];
        std::string line = (p.transient[n] ? "~" : "") + std::string(p.g.id(n)) + ":";
        if (x.op == op::elementwise || x.op == op::reduce) (line += " ") += p.g.text(x, attr::op);
        if (x.op == op::reduce) line += " axis " + std::to_string(p.g.integer(x, attr::axis));
        if (const attribute* value = p.g.find(x, attr::value)) line += " " + json::spell_real(value->number.as_double());
        if (const attribute* steps = p.g.find(x, attr::load_ops)) {
            for (std::uint32_t i = 0; i < steps->list.count; ++i) {
                const load_op& step = p.g.load_ops[steps->list.first + i];
                (line += " ") += text(step.op);
            }
        }
        if (const attribute* list = p.g.find(x, attr::sources))
            for (std::uint32_t i = 0; i < list->list.count; ++i) {
                const map_source& s = p.g.sources[list->list.first + i];
                line += i ? " |" : " map";
                for (std::uint32_t k = 0; k < s.coord_map.count; ++k) {
                    line += k ? "," : " ";
                    spell_expr(line, p.g.coordinates[s.coord_map.first + k], p.g.exprs, p.g.names);
                }
                if (s.select != no_expr) line += " if ", spell_expr(line, s.select, p.g.exprs, p.g.names);
            }
        line += " (";
        for (const edge e : p.g.inputs_of(x)) line += (line.back() == '(' ? "" : " ") + std::string(p.g.id(e.node));
        line += ") " + std::string(token(p.g.outputs_of(x)[0].type)) + "[";
        for (const dim& d : p.g.shape_of(p.g.outputs_of(x)[0].shape)) line += (line.back() == '[' ? "" : ",") + dim_text(d, p.g.exprs, p.g.names);
        line += "]";
        for (std::size_t at; (at = line.find("out_coord_")) != std::string::npos;) line.replace(at, 10, "c");
        out.push_back(line);
    }
    return out;
}
void check_listing(const primitive_graph& p, const std::vector<std::string>& wanted) {
    const auto found = listing(p);
    BOOST_TEST(found == wanted, boost::test_tools::per_element());
}
using size = builder::size;
}  // namespace

BOOST_AUTO_TEST_CASE(linear_with_bias_over_symbolic_rows) {
    builder b;
    const size rows{512, "S"};
    const edge x = b.input("x", dtype::f16, std::array{rows, size{4}});
    const edge w = b.weight("p_weight", "weight", dtype::f16, std::array{size{6}, size{4}});
    const edge c = b.weight("p_bias", "bias", dtype::f16, std::array{size{6}});
    b.output(b.add("lin", op::linear, std::array{x, w, c}, dtype::f16, std::array{rows, size{6}}, std::array{builder::setting{attr::has_bias, {literal::form::boolean, 1, 0}, {}}}));
    const auto p = lower(std::move(b).finish());
    BOOST_REQUIRE_MESSAGE(p, (p ? "" : p.error().line()));
    check_listing(*p, {
        "~lin_wt: torch.transpose () f16[4,6]",
        "~lin_mm_b_unsq_bc: map c1,c2 (lin_wt) f16[S,4,6]",
        "p_bias: () f16[6]",
        "~p_bias_bc: map c1 (p_bias) f16[S,6]",
        "x: () f16[S,4]",
        "~lin_mm_a_unsq_bc: map c0,c1 (x) f16[S,4,6]",
        "~lin_mm_ew: multiply (lin_mm_a_unsq_bc lin_mm_b_unsq_bc) f32[S,4,6]",
        "~lin_mm_reduce: sum axis -2 (lin_mm_ew) f16[S,1,6]",
        "~lin_mm: map c0,0,c1 (lin_mm_reduce) f16[S,6]",
        "lin: add (lin_mm p_bias_bc) f16[S,6]"});
}

BOOST_AUTO_TEST_CASE(rms_norm_of_f16) {
    builder b;
    const edge x = b.input("x", dtype::f16, std::array{size{3}, size{8}});
    const edge w = b.weight("w", "weight", dtype::f16, std::array{size{8}});
    b.output(b.add("rms", op::rms_norm, std::array{x, w}, dtype::f16, std::array{size{3}, size{8}}, std::array{builder::setting{attr::eps, {literal::form::real, 0, 1e-5}, {}}}));
    const auto p = lower(std::move(b).finish());
    BOOST_REQUIRE(p);
    BOOST_TEST(p->g.nodes.size() == 15u);
    check_listing(*p, {
        "~rms_eps: 1e-05 () f16[1]",
        "~rms_eps_bc: map c1 (rms_eps) f16[3,1]",
        "~rms_mean_count: 8.0 () f16[1]",
        "~rms_mean_count_bc: map c1 (rms_mean_count) f16[3,1]",
        "w: () f16[8]",
        "~w_bc: map c1 (w) f16[3,8]",
        "x: () f16[3,8]",
        "~rms_sq: multiply (x x) f16[3,8]",
        "~rms_mean_sum: sum axis -1 (rms_sq) f16[3,1]",
        "~rms_mean: divide (rms_mean_sum rms_mean_count_bc) f16[3,1]",
        "~rms_add_eps: add (rms_mean rms_eps_bc) f16[3,1]",
        "~rms_rsq: rsqrt (rms_add_eps) f16[3,1]",
        "~rms_rsq_bc: map c0,0 (rms_rsq) f16[3,8]",
        "~rms_norm: multiply (x rms_rsq_bc) f16[3,8]",
        "rms: multiply (rms_norm w_bc) f16[3,8]"});
}

BOOST_AUTO_TEST_CASE(causal_attention_with_grouped_heads) {
    builder b;
    const edge q = b.input("q", dtype::f16, std::array{size{1}, size{4}, size{5}, size{8}});
    const edge k = b.input("k", dtype::f16, std::array{size{1}, size{2}, size{5}, size{8}});
    const edge v = b.input("v", dtype::f16, std::array{size{1}, size{2}, size{5}, size{8}});
    b.output(b.add("att", op::sdpa, std::array{q, k, v}, dtype::f16, std::array{size{1}, size{4}, size{5}, size{8}}, std::array{builder::setting{attr::is_causal, {literal::form::boolean, 1, 0}, {}}}));
    const auto p = lower(std::move(b).finish());
    BOOST_REQUIRE(p);
    BOOST_TEST(p->g.nodes.size() == 27u);
    check_listing(*p, {
        "~att_mask_fill_c: -1000000000.0 () f16[1]",
        "~att_mask_zero_c: 0.0 () f16[1]",
        "~att_cmask: map 0 if c3 <= c2 | 0 if c3 > c2 (att_mask_zero_c att_mask_fill_c) f16[1,4,5,5]",
        "~att_scale: 0.35355339059327373 () f32[1]",
        "~att_scale_bc: map 0 (att_scale) f32[1,4,5,5]",
        "k: () f16[1,2,5,8]",
        "~att_qk_b_unsq_bc: map c0,c1 / 2,c4,c3 (k) f16[1,4,5,8,5]",
        "q: () f16[1,4,5,8]",
        "~att_qk_a_unsq_bc: map c0,c1,c2,c3 (q) f16[1,4,5,8,5]",
        "~att_qk_ew: multiply (att_qk_a_unsq_bc att_qk_b_unsq_bc) f32[1,4,5,8,5]",
        "~att_qk_reduce: sum axis -2 (att_qk_ew) f16[1,4,5,1,5]",
        "~att_qk: map c0,c1,c2,0,c3 (att_qk_reduce) f16[1,4,5,5]",
        "~att_scaled: multiply (att_qk att_scale_bc) f32[1,4,5,5]",
        "~att_masked_c: add (att_scaled att_cmask) f32[1,4,5,5]",
        "~att_softmax_max: maximum axis -1 (att_masked_c) f32[1,4,5,1]",
        "~att_softmax_max_bc: map c0,c1,c2,0 (att_softmax_max) f32[1,4,5,5]",
        "~att_softmax_shifted: subtract (att_masked_c att_softmax_max_bc) f32[1,4,5,5]",
        "~att_softmax_exp: exp (att_softmax_shifted) f32[1,4,5,5]",
        "~att_softmax_sum: sum axis -1 (att_softmax_exp) f32[1,4,5,1]",
        "~att_softmax_sum_bc: map c0,c1,c2,0 (att_softmax_sum) f32[1,4,5,5]",
        "~att_softmax: divide (att_softmax_exp att_softmax_sum_bc) f32[1,4,5,5]",
        "~att_a_unsq_bc: map c0,c1,c2,c3 (att_softmax) f32[1,4,5,5,8]",
        "v: () f16[1,2,5,8]",
        "~att_b_unsq_bc: map c0,c1 / 2,c3,c4 (v) f16[1,4,5,5,8]",
        "~att_ew: multiply (att_a_unsq_bc att_b_unsq_bc) f32[1,4,5,5,8]",
        "~att_reduce: sum axis -2 (att_ew) f16[1,4,5,1,8]",
        "att: map c0,c1,c2,0,c3 (att_reduce) f16[1,4,5,8]"});
}
