// Pieces of routing rows taken again: which of them are formed anew, against what the peer's files say of the same kernels.
#include "interop/fork/retaken.hpp"

#include <cstdio>
#include <cstdlib>

using namespace emmy;
using namespace emmy::test;

BOOST_AUTO_TEST_CASE(pieces_formed_anew) {
    std::map<std::tuple<std::string_view, bool, bool>, long> table;  // role, ours, the file's
    const char* show = std::getenv("EMMY_ROUTES_SHOW");
    long pieces = 0, equal = 0, rescaled = 0;
    for (const stored_file& file : stored_files()) {
        routes r(file);
        retaker again(r);
        for (const routing_case& c : r.rows) {
            const retaken made = again.take(c);
            if (made.how == reading::none || !made.set) continue;
            std::vector<bool> taken(c.children.size());
            for (const fork::piece& p : made.set->pieces)
                for (std::size_t i = 0; i < c.children.size(); ++i) {
                    if (taken[i] || r.identity(c.children[i]) != loop::identity(p.form.kernel)) continue;
                    taken[i] = true;
                    const bool stored = r.stored(c.children[i]).formed;
                    constexpr std::string_view roles[] = {"owned", "workspace", "remainder", "partial", "finalize", "atomic", "region", "relaid"};
                    ++table[{roles[static_cast<std::size_t>(p.role)], p.form.formed, stored}];
                    ++pieces, equal += p.form.formed == stored;
                    for (const loop::stmt& s : p.form.kernel.body.stmts)
                        if (s.kind == loop::stmt_kind::accum && s.base != no_name) {
                            ++rescaled;
                            BOOST_TEST(!p.form.formed, c.children[i]);
                            break;
                        }
                    if (show && p.form.formed != stored) std::printf("%s %s -> %s: ours %d stored %d\n", file.path.c_str(), c.parent.c_str(), c.children[i].c_str(), p.form.formed, stored);
                    break;
                }
        }
    }
    if (pieces == 0) return;
    std::printf("pieces equal to stored children %ld, formed alike %ld, with rescaled folds %ld\n", pieces, equal, rescaled);
    for (const auto& [what, n] : table)
        std::printf("  %s: formed here %d, in the file %d: %ld\n", std::string(std::get<0>(what)).c_str(), std::get<1>(what), std::get<2>(what), n);
    BOOST_TEST(equal + 4 >= pieces);
    BOOST_TEST(pieces >= 939);
    BOOST_TEST(rescaled == 10);
}
