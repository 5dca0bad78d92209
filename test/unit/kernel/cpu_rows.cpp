#include "support/fork_explore.hpp"

#include <emmy/loop/single_op.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/op_text.hpp>

using namespace emmy;

namespace {

loop::kernel kernel_of(const std::string& op) {
    auto graph = program::parse_op(op);
    BOOST_REQUIRE_MESSAGE(graph, op << ": " << (graph ? "" : graph.error().line()));
    auto made = loop::lower_single_op(*graph);
    BOOST_REQUIRE_MESSAGE(made, op << ": " << (made ? "" : made.error().line()));
    return std::move(made->kernel);
}

struct trial {
    const char* op;
    std::size_t least_rows;
    double bound;
    std::int64_t seq_len = 0;
};

void explore(const trial& t, std::size_t count = 64) {
    const loop::kernel k = kernel_of(t.op);
    std::vector<loop::symbol_size> sizes;
    if (t.seq_len != 0) sizes.push_back({"seq_len", t.seq_len});
    const auto seen = test::explore_rows(k, count, t.bound, sizes);
    BOOST_TEST_MESSAGE(t.op << ": " << seen.rows << " rows, " << seen.tried << " run, worst error " << seen.worst << " of its bound");
    BOOST_CHECK_GE(seen.rows, t.least_rows);
}

}  // namespace

BOOST_AUTO_TEST_CASE(pointwise_rows) {
    explore({"relu(x: f32[33,96])", 8, 0});
    explore({"relu(x: f32[7,45])", 8, 0});
    explore({"exp(x: f32[seq_len=9,50])", 8, 1e-6, 13});
    explore({"add(x: f16[17,40], y: f16[40])", 8, 0});
    explore({"multiply(x: bf16[17,40], y: bf16[17,40])", 8, 0});
}
BOOST_AUTO_TEST_CASE(reduce_rows) {
    explore({"sum(x: f32[9,200], dim=-1)", 20, 1e-5});
    explore({"sum(x: f16[9,203], dim=-1)", 20, 2e-3});
    explore({"sum(x: f32[200,57], dim=0)", 20, 1e-5});
    explore({"mean(x: f32[seq_len=5,64], dim=-1)", 20, 1e-5, 7});
}
BOOST_AUTO_TEST_CASE(softmax_rows) {
    explore({"softmax(x: f32[10,256], dim=-1)", 20, 1e-6});
    explore({"softmax(x: f32[seq_len=5,77], dim=-1)", 20, 1e-6, 6});
    explore({"softmax(x: f16[10,100], dim=-1)", 20, 2e-3});
}
BOOST_AUTO_TEST_CASE(rms_norm_rows) {
    explore({"rms_norm(x: f32[10,128], weight: f32[128])", 20, 2e-6});
    explore({"rms_norm(x: f16[seq_len=5,100], weight: f16[100])", 20, 4e-3, 6});
    explore({"rms_norm(x: bf16[6,96], weight: bf16[96])", 20, 2e-2});
}
BOOST_AUTO_TEST_CASE(matmul_rows) {
    explore({"matmul(f32[256,256],f32[256,256])", 200, 3e-6});
    explore({"matmul(f32[seq_len=70,300],f32[300,75])", 200, 3e-6, 53});
    explore({"matmul(f16[70,150],f16[150,96])", 200, 2e-3});
    explore({"matmul(bf16[40,150],bf16[150,64])", 200, 2e-2});
}
BOOST_AUTO_TEST_CASE(linear_rows) {
    explore({"linear(input: f32[50,200], weight: f32[72,200], bias: f32[72])", 200, 3e-6});
    explore({"linear(input: f32[50,200], weight: f32[64,200])", 200, 3e-6});
}
BOOST_AUTO_TEST_CASE(rows_of_narrower_vectors) {
    for (int bytes : {16, 32}) {
        const fork::cpu_target target = fork::make_cpu_target(bytes, 32 << 10, 256 << 10, 2 << 20, 2);
        for (const char* op : {"softmax(x: f32[5,77], dim=-1)", "sum(x: f16[40,33], dim=0)", "gelu_tanh(x: bf16[9,70])", "matmul(f16[30,140],f16[140,45])"})
            test::explore_rows(kernel_of(op), 24, 2e-2, {}, 3, target);
    }
}
BOOST_AUTO_TEST_CASE(outputs_beyond_the_last_cache_stream) {
    fork::cpu_target target = test::host_target();
    target.last_cache_bytes = 4096;
    for (const char* op : {"relu(x: f32[64,96])", "relu(x: f32[seq_len=9,48])", "add(x: f32[31,33], y: f32[33])"}) {
        const auto seen = test::explore_rows(kernel_of(op), 12, 0, {}, 4, target);
        BOOST_CHECK_GE(seen.tried, 8u);
    }
    auto schedules = fork::cpu_schedules::make(kernel_of("relu(x: f32[64,96])"), target);
    BOOST_REQUIRE(schedules);
    auto text = kernel::lower_cpu(*schedules, schedules->rows()[0]);
    BOOST_REQUIRE(text);
    BOOST_CHECK(text->source.find("stream_f32_") != std::string::npos);
}
BOOST_AUTO_TEST_CASE(no_two_rows_print_one_text) {
    for (const char* op : {"relu(x: f32[512,4096])", "sum(x: f32[512,2048], dim=-1)", "softmax(x: f32[512,2048], dim=-1)", "rms_norm(x: f32[512,4096], weight: f32[4096])",
                           "sum(x: f32[200,57], dim=0)", "matmul(f32[256,256],f32[256,256])", "matmul(f32[seq_len=70,300],f32[300,75])"}) {
        auto schedules = fork::cpu_schedules::make(kernel_of(op), test::host_target());
        BOOST_REQUIRE(schedules);
        const auto equal = test::equal_texts(*schedules);
        BOOST_TEST_MESSAGE(op << ": " << schedules->rows().size() << " rows");
        BOOST_CHECK_MESSAGE(equal.empty(), op << ": " << equal.size() << " rows, first " << (equal.empty() ? "" : equal.front()));
    }
}
