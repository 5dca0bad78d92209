#include <emmy/core/file.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/wire.hpp>

#include <support/data.hpp>

#include <boost/test/unit_test.hpp>

#include <map>

// Which stored targets our one-operator kernels equal: by the whole `loop_ir` (label aside), by identity, or not at all with the reason.
BOOST_AUTO_TEST_CASE(stored_single_operator_targets) {
    std::size_t equal = 0, same_identity = 0, h100_equal = 0;
    std::map<std::string, std::vector<std::string>> refused;
    const auto files = emmy::test::peer_goldens();
    for (const auto& file : files) {
        const bool h100 = file.filename() == "h100_sm90.json";
        const auto bytes = emmy::read_file(file.string());
        BOOST_REQUIRE(bytes);
        const auto document = emmy::json::document::parse(*bytes, file.string());
        BOOST_REQUIRE(document);
        const auto programs = document->root().find("programs")->items();
        for (const auto& entry : document->root().find("kernels")->items()) {
            const auto* traced = entry.find("traced");
            if (!traced) continue;
            const std::string ref(entry.find(entry.find("key") ? "key" : "name")->text());
            const auto program = emmy::program::read_program(programs[static_cast<std::size_t>(*traced->integer())]);
            const auto stored = emmy::loop::read_kernel(*entry.find("loop_ir"));
            BOOST_REQUIRE(program && stored);
            auto ours = emmy::loop::lower_single_op(*program);
            if (!ours) {
                if (h100) refused[ours.error().message()].push_back(ref);
                continue;
            }
            std::vector<std::string> origins;
            for (const auto& o : entry.find("origins")->items()) origins.emplace_back(o.text());
            BOOST_TEST(ours->origins == origins, boost::test_tools::per_element());
            BOOST_TEST(ours->ports.size() == ours->kernel.inputs.size());
            ours->kernel.name = stored->name;
            if (emmy::loop::kernel_text(ours->kernel) == emmy::loop::kernel_text(*stored)) {
                ++equal;
                h100_equal += h100;
            }
            const bool identical = emmy::loop::identity(ours->kernel) == emmy::loop::identity(*stored);
            same_identity += identical;
            BOOST_TEST(identical, file.filename().string() << " " << ref << "\n" << emmy::loop::kernel_text(ours->kernel) << "\n" << emmy::loop::kernel_text(*stored));
            if (h100 && identical) std::cout << "  equal: " << ref << "\n";
        }
    }
    if (files.empty()) return;
    std::cout << equal << " stored targets equal to the letter, " << same_identity << " by identity (h100_sm90.json: " << h100_equal << ")\n";
    for (const auto& [reason, refs] : refused) {
        std::cout << "  left to the lowering, " << reason << ":";
        for (const auto& r : refs) std::cout << " " << r;
        std::cout << "\n";
    }
    BOOST_TEST(equal == 281u);
    BOOST_TEST(h100_equal == 49u);
}
