// expect: VEC: found \[9\], expected 1 to 8 at offset 0
#include <emmy/knob.hpp>

using namespace emmy::knob;

struct VEC {
    using value_type = int;
    static constexpr std::string_view name = "VEC";
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::integer;
    static constexpr int version = 1;
    static constexpr parsed<int> parse(std::string_view text) {
        if (text.size() == 1 && text[0] >= '1' && text[0] <= '8') return text[0] - '0';
        return refusal{name, text, "1 to 8", 0};
    }
    static constexpr value_text spell(int value) { return value_text().append(value); }
};

#ifdef GOOD
static_assert(value_of<VEC, "4">() == 4);
#else
constexpr auto it = value_of<VEC, "9">();
#endif
