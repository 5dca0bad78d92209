// expect: family<no_version>|constraints not satisfied|constraint
#include <emmy/knob.hpp>

struct no_version {
    using value_type = int;
    static constexpr std::string_view name = "NO";
};

#ifdef GOOD
using it = emmy::knob::built_in::with<>;
#else
using it = emmy::knob::built_in::with<no_version>;
#endif
static_assert(it::size > 0);
