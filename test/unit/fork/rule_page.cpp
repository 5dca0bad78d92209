// doc/rules.md lists every rule of a schedule row, with its sentence.
#include <emmy/fork/gpu/kernel_rules.hpp>
#include <support/rule_page.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace emmy;

BOOST_AUTO_TEST_CASE(the_page_of_rules_is_up_to_date) {
    const std::string wanted = knob::rule_page() +
        "\n## A row at a site of a GPU kernel: `fork::gpu::site_rules`\n\n"
        "What a kernel adds. Its facts (sizes, operands, where a fold stands) are a `fork::gpu::kernel`: of closed terms by `facts_of`, or by hand. A letter behind an id of\n"
        "the list above marks the half of that rule that asks the kernel.\n\n" + knob::rule_table<fork::gpu::site_rules>() +
        "\n## A row on a whole GPU kernel: `fork::gpu::kernel_rules`\n\n" + knob::rule_table<fork::gpu::kernel_rules>() +
        "\n`fork::gpu_schedules::check(row)` asks all of these: W2 first, because of other sites nothing can be said, then `gpu::schedule_rules`, the kernel, the sites.\n"
        "`emmy-restamp lint --rule illegal-row` and `emmy-import` name the rows of a file that break one.\n";
    const std::filesystem::path page = std::filesystem::path(EMMY_SOURCE_DIR) / "doc" / "rules.md";
    if (std::getenv("EMMY_APPROVE")) std::ofstream(page) << wanted;
    std::ifstream in(page);
    const std::string found{std::istreambuf_iterator<char>(in), {}};
    BOOST_TEST(found == wanted);
}
