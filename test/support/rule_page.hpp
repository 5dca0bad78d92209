#pragma once
#include <emmy/knob/rule/gpu.hpp>
#include <emmy/knob/rule/split.hpp>

#include <string>

namespace emmy::knob {

namespace detail {
template <class Reads>
struct words_of_reads {
    static std::string text() { return "the whole row"; }
};
template <family... Fs>
struct words_of_reads<row<Fs...>> {
    static std::string text() { return std::string(names_of<Fs...>.view()); }
};
}  // namespace detail

/// A list of rules as a Markdown table: id, families read, sentence. What doc/rules.md is made of.
template <class Rules>
std::string rule_table() {
    std::string out = "| rule | reads | says |\n| --- | --- | --- |\n";
    Rules::each([&]<class R>() {
        (((((out += "| ") += R::id) += " | ") += detail::words_of_reads<typename R::reads>::text()) += " | ") += R::means;
        out += " |\n";
    });
    return out;
}

/// doc/rules.md as far as knob/ decides it; what a kernel adds follows it there.
inline std::string rule_page() {
    return "# Rules\n\n"
           "Written by the test `unit_fork` from `include/emmy/knob/rule/` and `include/emmy/fork/gpu/` (EMMY_APPROVE=1 writes it anew). A rule is asked once a site; one that reads the\n"
           "whole row is asked once. `check<rules>(row, target, kernel)` answers at run time, `legal<rules, row, target>` at compile time, with the same sentence.\n\n"
           "## The form of a row: `form_rules`\n\n" + rule_table<form_rules>() +
           "\n## A row on a card: `gpu::row_rules`\n\n" + rule_table<gpu::row_rules>() +
           "\nA row that lacks a family is judged as if the family were at OFF, so a row without WORK and RASTER passes: of a finished row ask\n`gpu::schedule_rules`, which is `form_rules`, then `gpu::row_rules`.\n" +
           "\n## A cross-CTA split: `split_rules`\n\nStructural: asked of the fold that a REDUCE key names (`split_facts`) before a kernel is split.\n\n" + rule_table<split_rules>() +
           "\n## What catalogs offer: `gpu::catalog_rules`\n\nA row beyond these is legal, but never offered.\n\n" + rule_table<gpu::catalog_rules>();
}

}  // namespace emmy::knob
