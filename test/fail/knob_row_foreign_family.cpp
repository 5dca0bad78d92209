// expect: expected one of these families
#include <emmy/knob.hpp>

using namespace emmy::knob;

struct MY {
    using value_type = stage;
    static constexpr std::string_view name = "MY";
    static constexpr scope where = scope::node;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::text;
    static constexpr int version = 1;
    static constexpr stage off{};
    static constexpr parsed<stage> parse(std::string_view text) { return STAGE::parse(text); }
    static constexpr value_text spell(const stage& value) { return STAGE::spell(value); }
};

#ifdef GOOD
using family_here = STAGE;
#else
using family_here = MY;
#endif

schedule_row staged() {
    schedule_row row;
    row.set<family_here>({});
    return row;
}
