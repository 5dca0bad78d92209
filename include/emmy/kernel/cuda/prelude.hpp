#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The functions that CUDA kernel text may call, all in namespace dev. Kernel text holds no assembly and includes nothing: each function has a definition for
/// a card and one for the emulated machine, side by side.
namespace emmy::kernel::cuda {

struct prelude_function {
    std::string name;                    ///< as called: dev::<name>
    std::string card, emulated;          ///< definitions, without the namespace
    std::vector<std::string> needs{};    ///< other functions that the definitions call
};

/// Every function, needed ones before those that need them. What each does, with its units: the comment at its row (impl/cuda_prelude_*.hpp).
EMMY_DECL const std::vector<prelude_function>& prelude();

enum class form : std::uint8_t { card, emulated };

/// Text in front of `body`: types, then the functions that it calls and what those need. `body` is kernel text that calls dev::….
/// Errors (internal): it calls dev::x and there is no such function.
EMMY_DECL result<std::string> with_prelude(std::string_view body, form which);

/// `body` for the emulated machine, with the function that it calls once a thread: `extern "C" void emulated_entry(entry, self, arguments)`, which calls the
/// kernel `name` with the values that `arguments` point to (kernel/emulated/calls.hpp).
EMMY_DECL result<std::string> emulated_text(std::string_view body, std::string_view name);
constexpr std::string_view emulated_entry = "emmy_emulated_entry";

}  // namespace emmy::kernel::cuda

#ifdef EMMY_HEADER_ONLY
#include <emmy/kernel/impl/cuda_prelude.ipp>
#endif
