// Exported modules on this processor: imported, decided, executed once and checked.
#include <support/tool.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

using namespace emmy::test;

namespace data = boost::unit_test::data;

// Whole layers in one kernel, one of them rounding to f16 all the way; sweeps side by side without a fold; a fold whose cells lie in the lanes; infinite literals.
BOOST_DATA_TEST_CASE(exported_modules_run_on_this_processor, data::make({"qwen3_decode_f32", "llama_decode_f16", "rotary_f32", "softmax_f16", "infinities_f16"}), name) {
    const scratch_folder folder;
    const std::string program = folder / (std::string(name) + ".json");
    const auto imported = run_tool("emmy-import", std::string("'") + EMMY_TEST_DATA "/pt2/" + name + ".pt2' --out '" + program + "'");
    BOOST_REQUIRE_MESSAGE(imported.code == 0, imported.err);
    const auto ran = run_tool("emmy-compile", "'" + program + "' --run --opt 0", "EMMY_DB='" + folder / "store" + "' EMMY_CACHE_DIR='" + folder / "cache" + "'");
    BOOST_TEST(ran.code == 0, ran.err);
    BOOST_TEST(ran.out.find("right answer") != std::string::npos, ran.out);
}
