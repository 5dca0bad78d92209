// expect: two families of one name
#include <emmy/knob.hpp>

using namespace emmy::knob;

struct MY {
    using value_type = int;
#ifdef GOOD
    static constexpr std::string_view name = "MY";
#else
    static constexpr std::string_view name = "WORK";
#endif
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::integer;
    static constexpr int version = 1;
    static constexpr parsed<int> parse(std::string_view text) { return text == "1" ? parsed<int>(1) : parsed<int>(refusal{name, text, "1", 0}); }
    static constexpr value_text spell(int value) { return value_text().append(value); }
};

static_assert(built_in::with<MY>::size == built_in::size + 1);
