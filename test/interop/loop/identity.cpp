// Our classes of kernels are the peer's.
#include "files.hpp"

#include <map>
#include <set>

using namespace emmy;
using namespace emmy::test;

BOOST_AUTO_TEST_CASE(identity_has_the_peers_classes) {
    if (stored_files().empty()) return;
    auto text = read_file((shared_data() / "identity.json").string());
    BOOST_REQUIRE(text);
    auto document = json::document::parse(*text);
    BOOST_REQUIRE(document);
    const json::value& peer = *document->root().find("files");

    std::map<digest128, std::set<std::int64_t>> ours;
    std::map<std::int64_t, std::set<digest128>> theirs;
    long kernels = 0;
    for (const stored_file& file : stored_files()) {
        const json::value* classes = peer.find(file.path);
        BOOST_REQUIRE_MESSAGE(classes, file.path << " has no classes");
        std::map<digest128, std::string> in_file;
        for (const stored_kernel& stored : file.kernels) {
            auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            const digest128 id = loop::identity(*k);
            const json::value* number = classes->find(stored.reference);
            BOOST_REQUIRE_MESSAGE(number, file.path << ' ' << stored.reference << " has no class");
            ours[id].insert(*number->integer());
            theirs[*number->integer()].insert(id);
            const auto [first, fresh] = in_file.emplace(id, stored.reference);
            BOOST_CHECK_MESSAGE(fresh, file.path << ": " << stored.reference << " and " << first->second << " have one identity");
            ++kernels;
        }
    }
    long split = 0;
    for (const auto& [id, classes] : ours) BOOST_CHECK_MESSAGE(classes.size() == 1, to_hex(id) << " spans " << classes.size() << " classes of the peer");
    for (const auto& [number, ids] : theirs) split += ids.size() > 1;
    std::cout << "identity version " << loop::identity_version << ": " << kernels << " kernels, " << ours.size() << " classes of ours, " << theirs.size() << " of the peer, " << split
              << " of the peer's split\n";
    BOOST_CHECK_EQUAL(kernels, 1324);
    BOOST_CHECK_EQUAL(theirs.size(), 959u);
    BOOST_CHECK_EQUAL(ours.size(), 959u);
    BOOST_CHECK_EQUAL(split, 0);
}

BOOST_AUTO_TEST_CASE(names_say_nothing_and_buffer_names_do_not_count) {
    if (stored_files().empty()) return;
    std::map<std::string, digest128> ids;
    for (const stored_file& file : stored_files())
        for (const stored_kernel& stored : file.kernels) {
            auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            ids[file.path + " " + stored.reference] = loop::identity(*k);
        }
    const std::string h100 = "records/h100_sm90.json ";
    std::set<digest128> sums;
    for (const char* name : {"k_sum_1_reduce", "k_sum_1_reduce#2", "k_sum_1_reduce#3", "k_sum_1_reduce#4"}) sums.insert(ids.at(h100 + name));
    BOOST_CHECK_EQUAL(sums.size(), 4u);
    BOOST_CHECK(ids.at("records/a100_sm80.json k_softmax_eba8b4") == ids.at(h100 + "k_softmax_eba8b4"));
}
