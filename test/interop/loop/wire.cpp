// Every stored body is read, valid, and written back equal; what the files hold is counted twice, here and by recount.py.
#include "files.hpp"

#include <emmy/core/expr.hpp>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>
#include <set>

using namespace emmy;
using namespace emmy::test;

namespace {
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::map<std::string, long> recounted() {
    std::map<std::string, long> out;
    std::ifstream in(std::string(EMMY_SOURCE_DIR) + "/test/interop/loop/counts.txt");
    std::string name;
    for (long count = 0; in >> name >> count;) out[name] = count;
    return out;
}

struct counter {
    std::map<std::string, long> counts;
    std::set<std::string> texts;
    std::vector<long> sizes;

    static constexpr std::string_view class_names[] = {"Loop", "Load", "Assign", "Accum", "Select", "Write", "Let", "Pre", "Carry", "Cond", "Init", "StridedLoop", "ZeroPrologue"};

    void add(const loop::kernel& k) {
        const loop::body& b = k.body;
        ++counts["kernels"];
        counts["input_nodes"] += static_cast<long>(k.inputs.size());
        sizes.push_back(static_cast<long>(b.stmts.size()));
        std::set<name_id> read, written;
        for (const loop::stmt& s : b.stmts) {
            const std::string kind(class_names[static_cast<std::size_t>(s.kind)]);
            ++counts[kind];
            auto text = [&](expr_id id) {
                std::string out;
                spell_expr(out, id, b.exprs, b.names);
                texts.insert(std::move(out));
                ++counts["texts"];
                ++counts["texts_" + kind];
            };
            for (const expr_id id : b.expressions(s.index)) text(id);
            switch (s.kind) {
                case loop::stmt_kind::assign:
                    ++counts["op_" + std::string(loop::text(s.op))];
                    if (s.type != dtype::none) ++counts["dtype_" + std::string(token(s.type))];
                    break;
                case loop::stmt_kind::select: counts["branches"] += s.args.count; break;
                case loop::stmt_kind::accum:
                    ++counts["fold_" + std::string(loop::text(s.op))];
                    counts["based"] += s.base != no_name;
                    break;
                case loop::stmt_kind::loop:
                    counts["windows"] += s.axis.has_window();
                    counts["symbolic_loops"] += s.axis.extent.kind != dim::form::number;
                    break;
                case loop::stmt_kind::write:
                    counts["atomic"] += s.atomic;
                    written.insert(s.buffer);
                    break;
                case loop::stmt_kind::load: read.insert(s.buffer); break;
                case loop::stmt_kind::carry:
                    if (s.seed_is_buffer) read.insert(s.buffer);
                    break;
                case loop::stmt_kind::let: text(s.value); break;
                default: break;
            }
        }
        auto missing = [](const std::vector<loop::buffer>& all, const std::set<name_id>& seen) {
            return std::any_of(all.begin(), all.end(), [&](const loop::buffer& buffer) { return !seen.contains(buffer.name); });
        };
        counts["kernels_with_unread_input"] += missing(k.inputs, read);
        counts["kernels_with_unwritten_output"] += missing(k.outputs, written);
    }
};
}  // namespace

BOOST_AUTO_TEST_CASE(every_body_is_read_valid_and_written_back_equal) {
    if (stored_files().empty()) return;
    counter found;
    double reading = 0, validating = 0, identifying = 0;
    for (const stored_file& file : stored_files()) {
        double file_read = 0, file_identity = 0;
        for (const stored_kernel& stored : file.kernels) {
            ++found.counts[stored.formed ? "formed" : "not_formed"];
            const double start = cpu_seconds();
            auto k = loop::read_kernel(stored.loop_ir);
            const double read = cpu_seconds();
            BOOST_REQUIRE_MESSAGE(k, stored.file << ' ' << stored.reference << ": " << k.error().place() << ' ' << k.error().message());
            const auto valid = loop::validate(*k);
            const double validated = cpu_seconds();
            BOOST_CHECK_MESSAGE(valid, stored.file << ' ' << stored.reference << ": " << valid.error().place() << ' ' << valid.error().message());
            const digest128 id = loop::identity(*k);
            const double identified = cpu_seconds();
            file_read += read - start;
            validating += validated - read;
            file_identity += identified - validated;
            found.add(*k);

            const std::string text = loop::kernel_text(*k);
            auto again = json::document::parse(text);
            BOOST_REQUIRE(again);
            BOOST_CHECK_MESSAGE(same_json(stored.loop_ir, again->root()), stored.file << ' ' << stored.reference << " is written differently");
            auto reread = loop::read_kernel(again->root());
            BOOST_REQUIRE(reread);
            BOOST_CHECK(loop::identity(*reread) == id);
            BOOST_CHECK(!loop::print(*k).empty());
        }
        reading += file_read;
        identifying += file_identity;
        if (file.path.find("h100_sm90") != std::string::npos)
            std::cout << file.path << ": " << file.kernels.size() << " kernels, read " << file_read * 1e3 << " ms, identity " << file_identity * 1e3 << " ms CPU\n";
    }
    std::cout << found.counts["kernels"] << " kernels: read " << reading * 1e3 << " ms, validate " << validating * 1e3 << " ms, identity " << identifying * 1e3 << " ms CPU\n";

    std::sort(found.sizes.begin(), found.sizes.end());
    found.counts["files"] = static_cast<long>(stored_files().size());
    found.counts["smallest_body"] = found.sizes.front();
    found.counts["largest_body"] = found.sizes.back();
    found.counts["median_body"] = found.sizes[found.sizes.size() / 2];
    found.counts["distinct_texts"] = static_cast<long>(found.texts.size());
    for (const auto& [name, count] : recounted()) {
        if (name.starts_with("distinct_") && name != "distinct_texts") continue;  // of raw JSON; see identity.cpp
        BOOST_CHECK_MESSAGE(found.counts[name] == count, name << ": found " << found.counts[name] << ", expected " << count);
        found.counts.erase(name);
    }
    for (const auto& [name, count] : found.counts) BOOST_CHECK_MESSAGE(count == 0, name << ": found " << count << ", expected none");
}

BOOST_AUTO_TEST_CASE(counts_of_the_set) {
    if (stored_files().empty()) return;
    const auto counts = recounted();
    const std::pair<const char*, long> expected[] = {{"files", 14}, {"kernels", 1324}, {"formed", 1175}, {"not_formed", 149}, {"Loop", 5611}, {"Load", 11554},
        {"Assign", 23048}, {"Accum", 3705}, {"Write", 1746}, {"Select", 689}, {"Pre", 32}, {"Let", 12}, {"Carry", 8}};
    for (const auto& [name, count] : expected) BOOST_CHECK_MESSAGE(counts.at(name) == count, name << ": found " << counts.at(name) << ", expected " << count);
}

BOOST_AUTO_TEST_CASE(every_expression_text_is_respelled_byte_for_byte) {
    if (stored_files().empty()) return;
    std::set<std::string> texts;
    long total = 0;
    auto visit = [&](auto&& self, const json::value& v, bool is_text) -> void {
        if (v.is(json::kind::string) && is_text) ++total, texts.insert(std::string(v.text()));
        for (const json::value& item : v.items()) self(self, item, is_text);
        for (const json::member& m : v.members()) self(self, m.item, m.key == "index" || m.key == "select" || (m.key == "value" && v.size() == 2 && v.find("name") && !v.find("axes")));
    };
    for (const stored_file& file : stored_files())
        for (const stored_kernel& stored : file.kernels) visit(visit, stored.loop_ir, false);
    for (const std::string& text : texts) {
        expr_pool pool;
        text_pool names;
        auto id = parse_expr(text, pool, names);
        BOOST_REQUIRE_MESSAGE(id, text << ": " << id.error().message());
        std::string again;
        spell_expr(again, *id, pool, names);
        BOOST_CHECK_EQUAL(again, text);
    }
    BOOST_CHECK_EQUAL(total, recounted().at("texts"));
    BOOST_CHECK_EQUAL(static_cast<long>(texts.size()), recounted().at("distinct_texts"));
}
