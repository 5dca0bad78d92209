#pragma once
#include <emmy/core/result.hpp>
#include <emmy/fork/target.hpp>
#include <emmy/prior/analytic.hpp>

#include <memory>
#include <string>

namespace emmy::store {
class environment;
}

namespace emmy::tools {

class verb;

struct prior_flags {
    std::string file;   ///< --prior FILE, else $EMMY_PRIOR
    bool none = false;  ///< --no-prior
    void add_to(verb& v);
};

/// What answers where no row decides.
struct prior_in_use {
    std::unique_ptr<prior::analytic> model;  ///< null with --no-prior
    std::string refused;                     ///< "prior: FILE refused: version 2, expected 1; …": shown by every command, quiet or not
    const evidence::prior_hook* hook() const { return model.get(); }
};

/// The ceilings of this processor are taken from the store where a bench has left them there. Errors (user): both flags; (input): a file
/// that cannot be read. A file of another version or that is no prior is refused in words, and the built-in numbers answer.
result<prior_in_use> open_prior(const prior_flags& flags, const fork::cpu_target& target, std::string_view card, int team, const store::environment* db);

}  // namespace emmy::tools
