// What the peer's splits left: the shape of each partial buffer from the geometry of its parent.
#include "interop/loop/files.hpp"

#include <emmy/fold/geometry.hpp>
#include <emmy/loop/print.hpp>
#include <emmy/loop/wire.hpp>

#include <cstdio>
#include <map>

using namespace emmy;
namespace closed = fold::closed;

namespace {

std::string text(const dim& d, const loop::body& b) { return d.kind == dim::form::number ? std::to_string(d.number) : std::string(b.text(d.symbol)); }

}  // namespace

BOOST_AUTO_TEST_CASE(workspaces_of_split_reductions) {
    long rows = 0, equal = 0, unit_rows = 0;
    for (const test::stored_file& file : test::stored_files()) {
        std::map<std::string_view, const test::stored_kernel*> kernels;
        for (const test::stored_kernel& k : file.kernels) kernels.emplace(k.reference, &k);
        const json::value* routing = file.document.root().find("routing");
        if (!routing) continue;
        for (const json::value& d : routing->items()) {
            const json::member& arm = d.find("arm")->members()[0];
            const std::string_view key = arm.key, value = arm.item.text();
            if (!key.starts_with("REDUCE") || value.back() != 'k') continue;
            ++rows;
            const std::string_view parent = d.find("parent")->text(), child = d.find("children")->items()[0].text();
            const auto k = loop::read_kernel(kernels.at(parent)->loop_ir), partial = loop::read_kernel(kernels.at(child)->loop_ir);
            BOOST_REQUIRE(k);
            BOOST_REQUIRE(partial);
            const std::size_t at = key.find('@');
            const std::string_view address = at == std::string_view::npos ? std::string_view() : key.substr(at + 1);
            auto f = closed::lift_terms(*k);
            BOOST_REQUIRE(f);
            closed::term_id head = closed::head_of(*f);
            if (!address.empty()) {
                const auto found = closed::resolve(*k, std::span(&address, 1));
                BOOST_REQUIRE_MESSAGE(found, parent << " " << key);
                f = found->terms, head = found->at[0];
            }
            BOOST_REQUIRE(head != closed::no_term);
            std::vector<std::string> shape, stored;
            if ((*f)[head].states.size() > 1) shape.push_back(std::to_string((*f)[head].states.size()));
            shape.emplace_back(value.substr(1, value.size() - 2));
            for (const loop::axis& a : closed::workspace_order(*f)) {
                shape.push_back(a.extent.kind == dim::form::number ? std::to_string(a.extent.number) : std::string(f->text(a.extent.symbol)));
                unit_rows += a.name == no_name;
            }
            for (const dim& x : partial->outputs[0].shape) stored.push_back(text(x, partial->body));
            equal += shape == stored;
            if (shape == stored) continue;
            std::printf("  %s %s %s:", file.path.c_str(), std::string(parent).c_str(), std::string(key).c_str());
            for (const auto& x : shape) std::printf(" %s", x.c_str());
            std::printf(" stored");
            for (const auto& x : stored) std::printf(" %s", x.c_str());
            std::printf("\n%s%s", std::getenv("EMMY_TERM_SHOW") ? loop::print(*k).c_str() : "", closed::print(*f).c_str());
        }
    }
    if (rows == 0) return;
    std::printf("split rows %ld, partial buffers of the stored shape %ld, with a unit row %ld\n", rows, equal, unit_rows);
    BOOST_TEST(rows == 72);
    BOOST_TEST(equal == rows);
}

// Which children of the peer's decisions are bodies that a lift cannot give back, by what their stored bodies show.
BOOST_AUTO_TEST_CASE(children_that_are_formed_anew) {
    std::map<std::pair<bool, std::string>, long> table;
    long children = 0;
    for (const test::stored_file& file : test::stored_files()) {
        std::map<std::string_view, const test::stored_kernel*> kernels;
        for (const test::stored_kernel& k : file.kernels) kernels.emplace(k.reference, &k);
        const json::value* routing = file.document.root().find("routing");
        if (!routing) continue;
        std::map<std::string_view, bool> seen;
        for (const json::value& d : routing->items())
            for (const json::value& c : d.find("children")->items()) {
                if (!seen.emplace(c.text(), true).second) continue;
                ++children;
                const test::stored_kernel& stored = *kernels.at(c.text());
                const auto k = loop::read_kernel(stored.loop_ir);
                BOOST_REQUIRE(k);
                const bool rescaled = std::any_of(k->body.stmts.begin(), k->body.stmts.end(), [](const loop::stmt& s) { return s.kind == loop::stmt_kind::accum && s.base != no_name; });
                std::string what = rescaled ? "rescaled" : "other";
                if (!rescaled)
                    if (const auto f = closed::lift_terms(*k); f && closed::geometry_of(*f).swept) what = "swept";
                ++table[{stored.formed, what}];
            }
    }
    if (children == 0) return;
    for (const auto& [what, n] : table) std::printf("  formed:%s %s %ld\n", what.first ? "true" : "false", what.second.c_str(), n);
    const std::map<std::pair<bool, std::string>, long> expected{{{false, "rescaled"}, 10}, {{false, "swept"}, 114}, {{false, "other"}, 25}, {{true, "swept"}, 16}, {{true, "other"}, 687}};
    BOOST_TEST((table == expected));
}
