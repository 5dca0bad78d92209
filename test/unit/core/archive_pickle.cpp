// The restricted unpickler: what it takes, and how it refuses.
#include <support/zip.hpp>

using namespace emmy;
using namespace emmy::archive;
using namespace emmy::test;

namespace {

std::string text(const std::string& t) { return "X" + number(t.size(), 4) + t; }
std::string pickle(const std::string& body) { return "\x80\x02" + body + "."; }
const std::string zero("K\0", 2), one("K\x01", 2);
std::string storage(const std::string& count, const std::string& type = "ctorch\nFloatStorage\n") { return "(" + text("storage") + type + text("0") + text("cpu") + count + "tQ"; }
std::string tensor(const std::string& offset, const std::string& sizes, const std::string& strides, const std::string& count = "K\x06") {
    return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage(count) + offset + "(" + sizes + "t(" + strides + "t\x89" "ccollections\nOrderedDict\n)RtR";
}

std::string refusal(const std::string& bytes) {
    const auto tree = object_tree::parse(bytes, "a.pt", "a/data.pkl");
    return tree ? std::string() : tree.error().line();
}
void refused(const std::string& body, const std::string& words) {
    const std::string line = refusal(pickle(body));
    BOOST_CHECK_MESSAGE(line.starts_with("a.pt: a/data.pkl byte ") && line.find(words) != std::string::npos, "\"" << line << "\" does not hold \"" << words << "\"");
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_texts_and_containers_are_read) {
    const auto tree = object_tree::parse(pickle("(" + zero + "K\xff" + "M\xff\xff" + "J" + number(0xfffffffe, 4) + std::string("\x8a\x00", 2) + "\x8a\x02" + number(0xff7f, 2) + "G" + std::string("\x3f\xf8\0\0\0\0\0\0", 8) +
                                                text("word") + "N\x88\x89" + "](" + one + one + "e" + "}" + text("k") + one + "s" + ")" + "t"));
    BOOST_REQUIRE_MESSAGE(tree, (tree ? "" : tree.error().line()));
    const object root = tree->root();
    BOOST_REQUIRE(root.is(object_kind::tuple));
    BOOST_REQUIRE_EQUAL(root.size(), 14u);
    const std::int64_t integers[] = {0, 255, 65535, -2, 0, -129};
    for (std::size_t i = 0; i < 6; ++i) BOOST_CHECK_EQUAL(root[i].integer(), integers[i]);
    BOOST_CHECK_EQUAL(root[6].real(), 1.5);
    BOOST_CHECK_EQUAL(root[7].text(), "word");
    BOOST_CHECK(root[8].is(object_kind::none));
    BOOST_CHECK(root[9].boolean() && !root[10].boolean());
    BOOST_CHECK_EQUAL(root[11].size(), 2u);
    BOOST_CHECK_EQUAL(root[12].find("k").integer(), 1);
    BOOST_CHECK_EQUAL(root[13].size(), 0u);
    BOOST_CHECK(root[99].is(object_kind::none));
}

BOOST_AUTO_TEST_CASE(strangers_are_refused_by_name) {
    refused("cos\nsystem\n" + text("true") + "\x85R", "names the global os.system");
    refused("c__builtin__\neval\n", "names the global __builtin__.eval");
    refused("ctorch\nload\n", "names the global torch.load");
    refused("ctorch._utils\n_rebuild_tensor_v2.__globals__\n", "names the global");
    refused(text("os") + text("system") + "\x93", "found opcode 0x93");
    refused("i", "found opcode 0x69 'i'");
    refused("ccollections\nOrderedDict\n", "uses a global as a value");
    refused("(ccollections\nOrderedDict\nl", "found opcode 0x6c");
    refused("ccollections\nOrderedDict\n" + zero + "\x85R", "calls OrderedDict with arguments");
    refused("ctorch\nfloat32\n)R", "calls a dtype, expected a function");
    refused(one + ")R", "calls an int, expected a function");
    refused("}" + zero + "b", "sets attributes that are not a dict");
    BOOST_CHECK(refusal("cos\nsystem\n.").find("protocol 0 or 1") != std::string::npos);
    BOOST_CHECK(refusal("\x80\x04N.").find("protocol 4") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(misuse_of_the_machine_is_refused) {
    refused("", "ends with 0 objects on its stack");
    BOOST_CHECK(refusal("").find("ends early") != std::string::npos);
    for (const std::string& cut : {std::string("X\xff\xff\xff\xff"), std::string("X\x05"), std::string("K"), std::string("cos"), std::string("G123")}) BOOST_CHECK(refusal("\x80\x02" + cut).find("ends early") != std::string::npos);
    refused("NN", "ends with 2 objects on its stack");
    refused("(N", "ends with 1 objects on its stack");
    refused("t", "finds no mark");
    refused("]N(a", "finds nothing on the stack");
    refused("N\x87", "finds nothing on the stack");
    refused("](\x85", "finds nothing on the stack");
    refused("Na", "fills something that is not a list");
    refused("NNa", "fills something that is not a list");
    refused("}Ns", "fills something that is not a dict");
    refused("}NNs", "found None as a key");
    refused("}(Nu", "sets a key without a value");
    refused("h\x07", "asks the memo for 7");
    refused("q\x07", "memoizes nothing");
    refused("\x8a\x09" + std::string(9, '\1'), "found a number of 9 bytes");
    refused("NQ", "found another persistent id");
    refused("(" + text("storage") + text("x") + text("0") + text("cpu") + one + "tQ", "found another persistent id");
}

BOOST_AUTO_TEST_CASE(tensors_outside_their_storage_are_refused) {
    const auto fine = object_tree::parse(pickle(tensor(zero, "K\x02K\x03", "K\x03K\x01")));
    BOOST_REQUIRE_MESSAGE(fine, (fine ? "" : fine.error().line()));
    BOOST_CHECK_EQUAL(fine->root().elements(), 6u);
    BOOST_CHECK_EQUAL(fine->storages()[0].bytes, 24u);
    refused(tensor(one, "K\x02K\x03", "K\x03K\x01"), "reaches element 6 of storage 0, which has 6");
    refused(tensor(zero, "K\x02K\x03", "K\x04K\x01"), "reaches element 6");
    refused(tensor(zero, "K\x07", "K\x01"), "reaches element 6");
    refused(tensor(zero, "J" + number(0xffffffff, 4), one), "found a size that is not a number of at least 0");
    refused(tensor(zero, one, "J" + number(0xffffffff, 4)), "found a stride that is not a number of at least 0");
    refused(tensor("J" + number(0xffffffff, 4), one, one), "found a storage offset");
    refused(tensor(zero, one + one, one), "found 2 sizes and 1 strides");
    const std::string huge = "\x8a\x08" + number(std::uint64_t(1) << 62, 8);
    refused(tensor(zero, huge + huge + huge, zero + zero + zero), "leaves 62 bits");
    refused(tensor(zero, "K\x03", huge), "leaves 62 bits");
    refused(tensor(huge, one, one), "reaches element");
    BOOST_CHECK_EQUAL(refusal(pickle(tensor(huge, zero, one))), "");  // no elements: nothing is touched
    refused(tensor(zero, one, one, huge), "found a storage of 4611686018427387904 elements");
    std::string many;
    for (int i = 0; i < 65; ++i) many += one;
    refused(tensor(zero, many, many), "found a tensor of 65 dimensions");
    refused("(" + storage(one) + storage("K\x02") + "t", "found storage 0 of 8 bytes, before of 4");
    refused("ctorch._utils\n_rebuild_tensor_v2\n(" + storage(one, "ctorch.storage\nUntypedStorage\n") + zero + "))\x89}tR", "found an untyped storage without a dtype");
}

BOOST_AUTO_TEST_CASE(shared_objects_are_counted_not_copied) {
    // Forty levels, each a pair of the one below: 2^40 leaves, 41 objects. And a list that holds itself.
    std::string body = one;
    for (int i = 0; i < 40; ++i) body += "q" + std::string(1, static_cast<char>(i)) + "h" + std::string(1, static_cast<char>(i)) + "\x86";
    for (const std::string& text : {body, std::string("]q\1h\1a")}) {
        const auto file = pt_file::open(byte_source::of_bytes(zip_of({{"a/data.pkl", pickle(text)}}), "a.pt"));
        BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error().line()));
        const auto leaves = file->leaves();
        BOOST_REQUIRE(!leaves);
        BOOST_CHECK_MESSAGE(leaves.error().line().find("shared beyond counting") != std::string::npos, leaves.error().line());
    }
}
