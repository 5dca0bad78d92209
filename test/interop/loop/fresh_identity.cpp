// Kernels formed anew from the traced programs have the identities of the stored ones, old spellings included.
#include "files.hpp"

#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/program/wire.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace emmy;
using namespace emmy::test;

BOOST_AUTO_TEST_CASE(fresh_kernels_have_the_stored_identities) {
    if (stored_files().empty()) return;
    long programs = 0, traced = 0, equal = 0, unformed = 0, small = 0;
    for (const stored_file& file : stored_files()) {
        const auto& list = file.document.root().find("programs")->items();
        std::map<std::int64_t, std::vector<const stored_kernel*>> of;
        for (std::size_t i = 0; i < file.kernels.size(); ++i)
            if (const json::value* t = file.document.root().find("kernels")->items()[i].find("traced"); t && t->is(json::kind::integer)) of[*t->integer()].push_back(&file.kernels[i]);
        long here = 0, same = 0;
        for (std::int64_t p = 0; p < static_cast<std::int64_t>(list.size()); ++p) {
            if (of[p].empty()) continue;
            const auto g = program::read_program(list[static_cast<std::size_t>(p)]);
            BOOST_REQUIRE(g);
            ++programs;
            const auto lowered = program::lower(*g);
            BOOST_REQUIRE(lowered);
            const auto kernels = loop::fuse(*lowered);
            std::set<digest128> fresh;
            if (kernels)
                for (const loop::formed& k : *kernels) fresh.insert(loop::identity(k.kernel));
            else
                ++unformed, std::cout << file.path << " program " << p << ": " << kernels.error().line() << "\n";
            for (const stored_kernel* k : of[p]) {
                auto stored = loop::read_kernel(k->loop_ir);
                BOOST_REQUIRE(stored);
                ++here;
                if (fresh.contains(loop::identity(*stored))) ++same, small += g->nodes.size() <= 240;
                else std::cout << "  " << file.path << " program " << p << " (" << g->nodes.size() << " nodes, " << fresh.size() << " kernels): " << k->reference << " differs\n";
            }
        }
        std::cout << file.path << ": " << same << " of " << here << " traced kernels\n";
        traced += here, equal += same;
    }
    BOOST_CHECK_EQUAL(programs, 416);
    BOOST_CHECK_EQUAL(traced, 473);
    BOOST_CHECK_EQUAL(unformed, 0);
    BOOST_CHECK_GE(small, 423);   // every one of the programs of at most 240 nodes, the nine old spellings among them
    BOOST_CHECK_GE(equal, 472);
    std::cout << programs << " programs, " << traced << " stored traced kernels, " << equal << " with the identity of a fresh one, " << unformed << " programs not formed\n";
}
