#include <emmy/core/file.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/specialise.hpp>
#include <emmy/program/wire.hpp>

#include <support/data.hpp>

#include <boost/test/unit_test.hpp>

#include <bit>
#include <fstream>
#include <map>
#include <set>

// What the traced programs of the real files hold, counted with the library and (recount.py, counts.txt) without it.

using namespace emmy;

namespace {

struct peer_program {
    std::string file, path;
    program::graph g;
};
const std::vector<peer_program>& programs() {
    static const std::vector<peer_program> all = [] {
        std::vector<peer_program> out;
        for (const auto& file : test::peer_goldens()) {
            const auto bytes = read_file(file.string());
            const auto document = json::document::parse(*bytes, file.string());
            for (const auto& item : document->root().find("programs")->items()) {
                auto g = program::read_program(item);
                if (g) out.push_back({file.filename().string(), file.string(), std::move(*g)});
                else BOOST_ERROR(file.string() << ": " << g.error().line());
            }
        }
        return out;
    }();
    return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(counts_equal_an_independent_recount) {
    if (programs().empty()) return;
    std::map<std::string, std::int64_t> have, want;
    std::ifstream in(std::string(EMMY_SOURCE_DIR) + "/test/interop/program/counts.txt");
    for (std::string line; std::getline(in, line);) want[line.substr(line.find('\t') + 1)] = std::stoll(line);
    have["files"] = static_cast<std::int64_t>(test::peer_goldens().size());
    std::map<std::string, std::multiset<std::string>> texts;  // what equal_pruned compares, by file
    std::map<std::string, std::set<std::string>> written;
    std::set<std::string> coordinates, selects;
    for (const auto& [file, path, g] : programs()) texts[path].insert(program::pruned_text(g));
    for (const char* key : {"nodes of several outputs", "duplicate programs"}) have[key] = 0;
    for (const auto& [file, path, g] : programs()) {
        ++have["programs"];
        std::string text;
        json::writer w(text);
        program::write_program(w, g);
        have["duplicate programs"] += !written[path].insert(text).second;
        bool ordered = true;
        const auto order = program::canonical_order(g);
        for (std::size_t i = 0; i < order.size(); ++i) ordered = ordered && order[i] == i;
        have["programs in canonical order"] += ordered;
        const auto live = program::live_nodes(g);
        std::vector<bool> read(g.nodes.size(), false);
        for (const auto& n : g.nodes)
            for (const auto e : g.inputs_of(n)) read[e.node] = true;
        for (const auto e : g.outputs) read[e.node] = true;
        if (const auto symbols = program::symbols(g); !symbols.empty()) {
            BOOST_TEST(symbols.size() == 1u);
            BOOST_TEST(program::hint_of(g, symbols[0]) == 512);
            ++have["symbolic programs"];
            ++have["symbolic " + file];
            std::int64_t twins = 0;
            for (const std::int64_t size : {1, 8, 16, 32, 64, 128, 192, 512, 1024, 2048, 4096}) {
                const program::bound_size bound{g.text(symbols[0]), size};
                const auto fixed = program::specialise(g, std::span(&bound, 1));
                BOOST_REQUIRE_MESSAGE(fixed, (fixed ? "" : fixed.error().line()));
                BOOST_TEST(program::symbols(*fixed).empty());
                const auto valid = program::check_program(*fixed);
                BOOST_TEST(valid.has_value(), (valid ? "" : valid.error().line()));
                twins += texts[path].contains(program::pruned_text(*fixed));
            }
            have["exact twins"] += twins;
            have["symbolic programs with a twin"] += twins > 0;
        }
        for (program::node_id i = 0; i < g.nodes.size(); ++i) {
            const program::node& n = g.nodes[i];
            ++have["nodes"];
            ++have["op " + std::string(program::text(n.op))];
            have["nodes of several outputs"] += n.outputs.count > 1;
            have["nodes whose tensor has another name"] += g.outputs_of(n)[0].name != n.id;
            if (!live[i]) ++have["dead " + std::string(program::text(n.op))];
            if (n.op == program::op::input && !read[i]) ++have["unread inputs"];
            if (n.op == program::op::constant) {
                if (const auto* value = g.find(n, program::attr::value)) {
                    const std::string kind = value->number.kind == program::literal::form::boolean ? "boolean" : value->number.kind == program::literal::form::integer ? "integer" : "real";
                    const auto shape = g.shape_of(g.outputs_of(n)[0].shape);
                    ++have["literals"];
                    have["literals of shape [1]"] += shape.size() == 1 && shape[0] == number_dim(1);
                    ++have["literal " + kind + " of " + std::string(token(g.outputs_of(n)[0].type))];
                }
                have["constants with load_ops"] += g.find(n, program::attr::load_ops) != nullptr;
                have["constants with source_graph"] += g.find(n, program::attr::source_graph) != nullptr;
            } else if (n.op != program::op::input) {
                const auto inferred = program::infer_shape(g, n);
                have["operator nodes"] += inferred && *inferred == program::extents_of(g, g.shape_of(g.outputs_of(n)[0].shape));
            }
            if (n.op == program::op::elementwise)
                for (const auto e : g.inputs_of(n)) {
                    ++have["pointwise edges"];
                    const auto a = g.shape(e), b = g.shape({i, 0});
                    bool equal = a.size() == b.size();
                    for (std::size_t d = 0; equal && d < a.size(); ++d) equal = same_extent(a[d], b[d]);
                    have["pointwise edges of equal dims"] += equal;
                }
            if (n.op == program::op::index_map)
                for (const auto& s : std::span(g.sources).subspan(g.find(n, program::attr::sources)->list.first, g.find(n, program::attr::sources)->list.count)) {
                    const auto spelled = [&g = g](expr_id e) {
                        std::string text;
                        spell_expr(text, e, g.exprs, g.names);
                        return text;
                    };
                    for (std::uint32_t c = 0; c < s.coord_map.count; ++c) coordinates.insert(spelled(g.coordinates[s.coord_map.first + c]));
                    if (s.select != no_expr) selects.insert(spelled(s.select));
                }
        }
    }
    have["distinct coordinates"] = static_cast<std::int64_t>(coordinates.size());
    have["distinct selects"] = static_cast<std::int64_t>(selects.size());
    for (const auto& [key, value] : want) BOOST_TEST(have[key] == value, key << ": " << have[key] << ", recounted " << value);
    for (const auto& [key, value] : have)
        if (!want.contains(key)) BOOST_TEST(value == 0, key << ": " << value << ", not recounted");
    std::cout << have["programs"] << " programs, " << have["operator nodes"] << " operator nodes inferred as declared, " << have["exact twins"] << " exact size twins of " << have["symbolic programs"] << " symbolic programs\n";
}

// The named twins: h100 #39 at 512 and 32, #55 at 1 and 8, #64 at 32 and 4096.
BOOST_AUTO_TEST_CASE(named_size_twins) {
    std::vector<const program::graph*> h100;
    for (const auto& [file, path, g] : programs())
        if (file == "h100_sm90.json") h100.push_back(&g);
    if (h100.empty()) return;
    for (const auto& [from, size, to] : {std::tuple{39, 512, 40}, {39, 32, 41}, {55, 1, 56}, {55, 8, 57}, {64, 32, 66}, {64, 4096, 67}}) {
        const program::graph& g = *h100[static_cast<std::size_t>(from)];
        const program::bound_size bound{g.text(program::symbols(g)[0]), size};
        const auto fixed = program::specialise(g, std::span(&bound, 1));
        BOOST_REQUIRE(fixed);
        BOOST_TEST(program::equal_pruned(*fixed, *h100[static_cast<std::size_t>(to)]), from << " at " << size << " is not " << to);
        BOOST_TEST(!program::equal_pruned(*fixed, *h100[static_cast<std::size_t>(to) - 1]));
    }
}

// Computed constants are the values that they must be: pair tables of the packed 4-bit format, ramps.
BOOST_AUTO_TEST_CASE(computed_constants_evaluate) {
    std::size_t tables = 0, ramps = 0;
    for (const auto& [file, path, g] : programs())
        for (const auto& inner : g.nested) {
            const auto made = program::evaluate(inner, {});
            BOOST_REQUIRE_MESSAGE(made.has_value(), file << ": " << (made ? "" : made.error().line()));
            const program::evaluated& t = (*made)[0];
            if (t.shape == std::vector<std::int64_t>{256, 2}) {
                ++tables;
                BOOST_REQUIRE(t.type == dtype::bf16);
                for (unsigned b = 0; b < 256; ++b) {
                    BOOST_REQUIRE_EQUAL(t.values[2 * b], f4e2m1_to_f64(b & 15));
                    BOOST_REQUIRE_EQUAL(t.values[2 * b + 1], f4e2m1_to_f64(b >> 4));
                }
                const auto bytes = program::to_bytes(t);
                BOOST_TEST(emmy::detail::read_bytes<std::uint16_t>(bytes.data(), 2 * 0x2D) == 0xC040);
                BOOST_TEST(emmy::detail::read_bytes<std::uint16_t>(bytes.data(), 2 * 0x2D + 1) == 0x3F80);
            } else {
                ++ramps;
                for (std::size_t i = 0; i < t.integers.size(); ++i) BOOST_REQUIRE_EQUAL(t.integers[i], static_cast<std::int64_t>(i));
            }
        }
    if (!programs().empty()) BOOST_TEST(tables + ramps == 94u);
    std::cout << tables << " pair tables, " << ramps << " ramps\n";
}

// Every pointwise function in every combination of element types that the files hold has a reference.
BOOST_AUTO_TEST_CASE(every_pointwise_combination_has_a_reference) {
    std::set<std::string> seen;
    for (const auto& one : programs()) {
        std::vector<const program::graph*> all{&one.g};
        for (const auto& inner : one.g.nested) all.push_back(&inner);
        for (const program::graph* g : all)
            for (const auto& n : g->nodes) {
                if (n.op != program::op::elementwise) continue;
                std::string key(g->text(n, program::attr::op));
                for (const auto e : g->inputs_of(n)) key += " " + std::string(token(g->at(e).type));
                const dtype result = g->outputs_of(n)[0].type;
                if (!seen.insert(key + " " + std::string(token(result))).second) continue;
                program::builder build;
                const program::builder::size four[] = {{.number = 4, .symbol = {}}};
                std::vector<program::edge> in;
                std::vector<std::vector<std::byte>> held;
                for (const auto e : g->inputs_of(n)) {
                    in.push_back(build.input("x" + std::to_string(in.size()), g->at(e).type, four));
                    held.push_back(program::to_bytes(g->at(e).type, std::vector<double>{1, 2, 3, 1}));
                }
                const program::builder::setting name{.key = program::attr::op, .number = {}, .text = std::string(g->text(n, program::attr::op))};
                build.output(build.add("y", program::op::elementwise, in, result, four, std::span(&name, 1)));
                const program::graph tiny = std::move(build).finish();
                std::vector<program::named_bytes> given;
                std::vector<std::string> ids;
                for (std::size_t i = 0; i < held.size(); ++i) ids.push_back("x" + std::to_string(i));
                for (std::size_t i = 0; i < held.size(); ++i) given.push_back({ids[i], held[i]});
                const auto out = program::evaluate(tiny, given, {}, {.mode = program::arithmetic::typed});
                BOOST_TEST(out.has_value(), key << ": " << (out ? "" : out.error().line()));
            }
    }
    std::cout << seen.size() << " combinations of pointwise functions and element types\n";
}
