// Worked decisions of the peer's files: buffers, names, shapes, who reads what.
#include "interop/fork/retaken.hpp"

using namespace emmy;
using namespace emmy::test;

namespace {

const stored_file* file_of(const char* path) {
    for (const stored_file& f : stored_files())
        if (f.path == path) return &f;
    return nullptr;
}
const routing_case& row(const routes& r, const std::string& parent, std::string_view key = {}) {
    for (const routing_case& c : r.rows)
        if (c.parent == parent && (key.empty() || !c.arm.get(key).empty())) return c;
    BOOST_FAIL("no row of " + parent);
    return r.rows[0];
}
std::string shape(const loop::kernel& k, const loop::buffer& b) {
    std::string out = std::string(token(b.type)) + "[";
    for (std::size_t i = 0; i < b.shape.size(); ++i) {
        out += i ? "," : "";
        out += b.shape[i].kind == dim::form::number ? std::to_string(b.shape[i].number) : std::string(k.body.text(b.shape[i].symbol));
    }
    return out + "]";
}
std::string workspace_shape(const fork::kernel_set& s, std::size_t i) { return shape(s.pieces[s.workspaces[i].producer].form.kernel, s.buffer(s.workspaces[i])); }

}  // namespace

BOOST_AUTO_TEST_CASE(shares_of_a_product) {  // a split of K over two kernels, of a matmul and of a twin contraction with a unit row
    const stored_file* f = file_of("records/rtx5090_sm120.json");
    if (!f) return;
    routes r(*f);
    retaker again(r);
    const auto made = again.take(r.rows[0]);
    BOOST_REQUIRE(made.set);
    BOOST_TEST(made.set->pieces.size() == 2u);
    BOOST_TEST(workspace_shape(*made.set, 0) == "f32[2,512,512]");
    BOOST_TEST(made.set->workspaces[0].name == "matmul__partial");
    BOOST_TEST(made.set->pieces[0].form.kernel.name == "k_matmul_2967be__partial");
    BOOST_TEST(!made.set->pieces[0].splits);
    BOOST_TEST(made.set->workspaces[0].readers.size() == 1u);
    BOOST_TEST(made.set->workspaces[0].readers[0].piece == 1u);
    const auto sdpa = again.take(row(r, "k_sdpa_d6fdb1"));
    BOOST_TEST(workspace_shape(*sdpa.set, 0) == "f32[3,16,8,8,128]");
    BOOST_TEST(workspace_shape(*again.take(row(r, "k_sdpa_c7e9f2")).set, 0) == "f32[3,16,8,8,8,128]");
    const stored_file* gemma = file_of("gemma-4-12B-it/rtx5090_sm120.json");
    BOOST_REQUIRE(gemma);
    routes g(*gemma);
    retaker twin(g);
    BOOST_TEST(workspace_shape(*twin.take(row(g, "k_linear_mean_reduce_e7a4a8__place_a62a10d3cb#2")).set, 0) == "f32[2,2,1,2048]");
}

BOOST_AUTO_TEST_CASE(every_split_has_its_workspace) {
    long kernels = 0, atomic = 0, shapes = 0;
    for (const stored_file& file : stored_files()) {
        routes r(file);
        retaker again(r);
        for (const routing_case& c : r.rows) {
            if (c.family() != "REDUCE") continue;
            const auto made = again.take(c);
            BOOST_REQUIRE(made.set);
            if (c.arm[0].value.back() == 'a') {
                ++atomic;
                BOOST_TEST(made.set->pieces.size() == 1u);
                BOOST_TEST(made.set->workspaces.empty());
                continue;
            }
            ++kernels;
            BOOST_TEST(made.set->pieces.size() == 2u);
            const loop::kernel& partial = r.kernel(c.children[0]);
            BOOST_TEST(partial.outputs.size() == 1u);
            shapes += shape(partial, partial.outputs[0]) == workspace_shape(*made.set, 0);
        }
    }
    if (kernels == 0) return;
    BOOST_TEST(kernels == 72);
    BOOST_TEST(atomic == 6);
    BOOST_TEST(shapes == 72);
}

BOOST_AUTO_TEST_CASE(one_parent_two_arms) {  // a statistic in f32; a product whose every reader rounds it to bf16, read in two loops
    const stored_file* f = file_of("Qwen3.8-27B-NVFP4/rtx5090_sm120.json");
    if (!f) return;
    routes r(*f);
    retaker again(r);
    const std::string parent = "k_linear_mean_reduce_a2ccb7";
    const auto statistic = again.take(row(r, parent, "PLACE@map.1/map.1/reduce"));
    BOOST_TEST(workspace_shape(*statistic.set, 0).starts_with("f32[4,"));
    const auto product = again.take(row(r, parent, "PLACE@map.1/map.1/reduce.1/inner"));
    BOOST_TEST(workspace_shape(*product.set, 0).starts_with("bf16[4,"));
    BOOST_TEST(workspace_shape(*product.set, 0).ends_with(",256]"));
    const auto form = fold::form_of(r.kernel(parent));
    BOOST_REQUIRE(form);
    bool found = false;
    for (const auto& s : fold::closed::seams(form->terms)) {
        if (s.address != "map.1/map.1/reduce.1/inner") continue;
        found = true;
        BOOST_TEST(s.members.size() == 2u);
        for (const std::string& alias : s.aliases) {  // any key of the class gives the same kernels
            const std::string key = "PLACE@" + alias;
            const knob::knob_pair named[] = {{key, "cut"}};
            const auto arm = knob::routing_row::parse(named);
            BOOST_REQUIRE(arm);
            const auto same = fork::realise(*form, *arm);
            BOOST_REQUIRE(same);
            BOOST_TEST(same_set(identities(*same), identities(*product.set)));
        }
    }
    BOOST_TEST(found);
}

BOOST_AUTO_TEST_CASE(encoded_activations) {  // two buffers of encoded bits, one merged producer; its second cut has buffers of rank 0
    const stored_file* f = file_of("records/h100_sm90.json");
    if (!f) return;
    routes r(*f);
    retaker again(r);
    const auto made = again.take(row(r, "k_linear_mean_reduce_f63f0c"));
    BOOST_TEST(made.set->workspaces.size() == 2u);
    for (std::size_t i = 0; i < made.set->workspaces.size(); ++i) BOOST_TEST(workspace_shape(*made.set, i) == "f8e4m3[1,5120]");
    BOOST_TEST(made.set->workspaces[0].producer == made.set->workspaces[1].producer);
    BOOST_TEST(made.set->pieces.size() == 3u);
    const auto second = again.take(row(r, "k_linear_mean_reduce_f63f0c__place_b1734be9fe"));
    BOOST_TEST(second.set->workspaces.size() == 2u);
    for (std::size_t i = 0; i < second.set->workspaces.size(); ++i) BOOST_TEST(workspace_shape(*second.set, i) == "f32[]");
    BOOST_TEST(r.rows[30].arm.size() == 11u);
    BOOST_TEST(again.take(r.rows[30]).set->pieces.size() == 10u);
    BOOST_TEST(r.rows[14].arm.size() == 5u);
    const auto five = again.take(r.rows[14]);
    BOOST_TEST(five.set->pieces.size() == 5u);
    long owned = 0, producers = 0;
    for (const fork::piece& p : five.set->pieces) owned += p.role == fork::piece_role::owned, producers += p.role == fork::piece_role::workspace;
    BOOST_TEST(owned == 2);
    BOOST_TEST(producers == 3);
}

BOOST_AUTO_TEST_CASE(constants_as_stored) {
    long rows = 0, one = 0, two = 0, inputs = 0;
    for (const stored_file& file : stored_files()) {
        routes r(file);
        retaker again(r);
        for (const routing_case& c : r.rows) {
            if (c.family() != "LAYOUT") continue;
            ++rows, one += c.arm.size() == 1, two += c.arm.size() == 2;
            const auto made = again.take(c);
            BOOST_TEST(made.set->relaid.size() == c.arm.size());
            const loop::kernel& k = made.set->pieces[0].form.kernel;
            for (const auto& moved : made.set->relaid)
                for (const loop::buffer& b : k.inputs)
                    if (k.body.text(b.name) == moved.source && moved.source == moved.folded + "__source")
                        for (const loop::buffer& old : r.kernel(c.parent).inputs)
                            if (r.kernel(c.parent).body.text(old.name) == moved.folded) inputs += old.shape[0].number == b.shape[1].number && old.shape[1].number == b.shape[0].number;
        }
    }
    if (rows == 0) return;
    BOOST_TEST(rows == 13);
    BOOST_TEST(one == 10);
    BOOST_TEST(two == 3);
    BOOST_TEST(inputs == 16);
}

BOOST_AUTO_TEST_CASE(keys_that_name_nothing) {
    const stored_file* f = file_of("records/rtx5090_sm120.json");
    if (!f) return;
    routes r(*f);
    const auto form = fold::form_of(r.kernel("k_softmax_eba8b4"));
    BOOST_REQUIRE(form);
    BOOST_TEST(fold::closed::print(form->terms).find("twist") != std::string::npos);
    const auto refused = [&](const char* key, const char* value) {
        const knob::knob_pair pairs[] = {{key, value}};
        const auto arm = knob::routing_row::parse(pairs);
        BOOST_REQUIRE(arm);
        const auto set = fork::realise(*form, *arm);
        BOOST_REQUIRE(!set);
        return set.error().line();
    };
    BOOST_TEST(refused("PLACE@map.1/reduce", "cut") == "PLACE@map.1/reduce: names no seam of k_softmax_eba8b4, nearest: PLACE@map.1/twist");
    BOOST_TEST(refused("REDUCE@map.2/reduce", "g2k") == "REDUCE@map.2/reduce: names no fold of k_softmax_eba8b4, nearest: REDUCE");
    BOOST_TEST(refused("LAYOUT@w", "source").starts_with("LAYOUT@w: names no input of k_softmax_eba8b4 read with two indices"));
    BOOST_TEST(refused("REDUCE", "g2a").starts_with("S3 REDUCE: found [g2a], expected one state"));
    BOOST_TEST(refused("REDUCE", "g7k").find("S1 REDUCE: size of the split axis is ") == 0u);
}
