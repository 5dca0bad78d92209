#include <common/cli.hpp>
#include <common/prior.hpp>

#include <emmy/core/file.hpp>
#include <emmy/store/environment.hpp>
#include <emmy/store/tables.hpp>

#include <cstdlib>

namespace emmy::tools {

void prior_flags::add_to(verb& v) {
    v.option("--prior", file, "Numbers of the analytical prior, which answers where no row decides (else $EMMY_PRIOR; default: the built-in ones)")
        .flag("--no-prior", none, "Nothing is predicted: the first option where no row decides")
        .excludes("--prior", "--no-prior");
}

result<prior_in_use> open_prior(const prior_flags& flags, const fork::cpu_target& target, std::string_view card, int team, const store::environment* db) {
    prior_in_use out;
    if (flags.none) return out;
    prior::model numbers;
    const char* named = std::getenv("EMMY_PRIOR");
    if (const std::string file = !flags.file.empty() ? flags.file : named ? named : ""; !file.empty()) {
        EMMY_TRY(text, read_file(file));
        if (auto read = prior::read_model(text, file)) numbers = std::move(*read);
        else out.refused = prior::refusal_note(file, read.error()) + "; the built-in " + numbers.stamp() + " answers";
    }
    prior::cpu_rates rates;
    if (db) {
        EMMY_TRY(txn, db->read());
        EMMY_TRY(fact, store::find_fact(txn, prior::rates_fact(card, team)));
        if (fact)
            if (auto read = prior::parse_rates(*fact)) rates = std::move(*read);  // another version's words: as if not measured
    }
    out.model = std::make_unique<prior::analytic>(prior::make_cpu_machine(target, team, rates), std::move(numbers));
    return out;
}

}  // namespace emmy::tools
