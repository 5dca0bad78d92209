// Reviewed texts of one kernel of every form: a change of the generator shows here. EMMY_APPROVE=1 writes them anew.
#include <boost/test/unit_test.hpp>

#include <emmy/core/file.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/program/op_text.hpp>

#include <cstdlib>
#include <fstream>

using namespace emmy;

namespace {

void approve(const std::string& name, const std::string& op, const fork::knob_pairs& pairs) {
    auto graph = program::parse_op(op);
    BOOST_REQUIRE(graph);
    auto made = loop::lower_single_op(*graph);
    BOOST_REQUIRE(made);
    auto schedules = fork::cpu_schedules::make(made->kernel, fork::make_cpu_target(64, 48 << 10, 2 << 20, 32 << 20, 2));
    BOOST_REQUIRE(schedules);
    auto row = schedules->row(pairs);
    BOOST_REQUIRE_MESSAGE(row, (row ? "" : row.error().line()));
    auto text = kernel::lower_cpu(*schedules, *row);
    BOOST_REQUIRE(text);
    const std::string path = EMMY_SOURCE_DIR "/test/approved/kernel_" + name + ".txt";
    if (std::getenv("EMMY_APPROVE") != nullptr) std::ofstream(path) << text->source;
    auto approved = read_file(path);
    BOOST_REQUIRE_MESSAGE(approved, path);
    BOOST_CHECK_MESSAGE(*approved == text->source, name << ": the text changed; look at it, raise codegen_version, then run with EMMY_APPROVE=1");
}

}  // namespace

BOOST_AUTO_TEST_CASE(texts_as_reviewed) {
    approve("relu", "relu(x: f32[512,4096])", {{"TILE", "f4"}});
    approve("relu_streaming", "relu(x: f32[seq_len,4096])", {{"TILE", "f2"}, {"WORK", "t64"}});
    approve("sum_rows", "sum(x: f16[512,2000], dim=-1)", {{"WORK", "t16x4"}, {"REDUCE", "coop/r2"}});
    approve("sum_columns", "sum(x: f32[512,2048], dim=0)", {{"WORK", "t64"}, {"REDUCE", "coop-t/v2"}});
    approve("softmax_streaming", "softmax(x: f32[512,seq_len], dim=-1)", {{"WORK", "t16"}, {"REDUCE", "coop/r4"}});
    approve("softmax_kept", "softmax(x: f32[512,2048], dim=-1)", {{"WORK", "t16"}, {"REDUCE", "coop/r2"}, {"STAGE", "d2/smem"}});
    approve("rms_norm", "rms_norm(x: f32[512,4096], weight: f32[4096])", {{"WORK", "t16"}, {"REDUCE", "coop/r2"}, {"STAGE", "d2/smem-async"}});
    approve("matmul", "matmul(f32[512,512],f32[512,512])", {{"WORK", "t8x22"}, {"TILE", "f2x4"}, {"STAGE", "d2/smem-async"}, {"RASTER", "gm8"}});
    approve("linear", "linear(input: bf16[seq_len,256], weight: bf16[100,256], bias: bf16[100])", {{"WORK", "t4x8"}, {"TILE", "f2x2"}, {"STAGE", "d1/smem"}});
}
