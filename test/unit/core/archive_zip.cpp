// Zips that lie, and zips that do not.
#include <support/zip.hpp>

#include <sys/stat.h>

using namespace emmy;
using namespace emmy::archive;
using namespace emmy::test;

namespace {

const zip_content three{{"root/first", "hello"}, {"root/second", std::string(300, 'x')}, {"root/empty", ""}};

void refused(const std::string& bytes, const std::string& words, const zip_limits& limits = {}) {
    const std::string line = zip_refusal(bytes, limits);
    BOOST_CHECK_MESSAGE(line.find(words) != std::string::npos, "\"" << line << "\" does not hold \"" << words << "\"");
    BOOST_CHECK_MESSAGE(line.starts_with("a.zip: "), line);
}

}  // namespace

BOOST_AUTO_TEST_CASE(crc_is_the_one_of_zips_however_it_is_cut) {
    BOOST_CHECK_EQUAL(crc32(as_bytes("123456789")), 0xcbf43926u);
    std::string text(1000, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 13);
    std::uint32_t slow = 0;
    for (std::size_t n = 0; n <= text.size(); ++n) {
        BOOST_REQUIRE_EQUAL(crc32(as_bytes(std::string_view(text).substr(0, n))), slow);
        if (n < text.size()) slow = crc32(as_bytes(std::string_view(text).substr(n, 1)), slow);
    }
    BOOST_CHECK_EQUAL(crc32(as_bytes(std::string_view(text).substr(400)), crc32(as_bytes(std::string_view(text).substr(0, 400)))), slow);
}

BOOST_AUTO_TEST_CASE(written_archives_are_read_back) {
    const std::string bytes = zip_of(three);
    BOOST_CHECK(bytes == zip_of(three));
    const auto opened = open_zip(bytes);
    BOOST_REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().line()));
    BOOST_REQUIRE_EQUAL(opened->members().size(), 3u);
    for (std::size_t i = 0; i < three.size(); ++i) {
        const zip_member& m = opened->members()[i];
        BOOST_CHECK_EQUAL(m.name, three[i].first);
        BOOST_CHECK_EQUAL(m.offset % zip_writer::alignment, 0u);
        BOOST_CHECK_EQUAL(opened->read(m).value(), three[i].second);
        BOOST_CHECK(opened->verify(m));
        std::vector<std::byte> into(m.size);
        BOOST_CHECK(opened->read_into(m, into));
        BOOST_CHECK_EQUAL(as_text(into), three[i].second);
    }
    BOOST_CHECK(opened->find("root/second") == &opened->members()[1]);
    BOOST_CHECK(!opened->find("root/third"));
    BOOST_CHECK_EQUAL(opened->need("root/third").error().line(), "a.zip: root/third: found no such member among 3");
    BOOST_CHECK_EQUAL(opened->read(opened->members()[1], 299).error().line(), "a.zip: root/second: found 300 bytes, expected at most 299");
    std::array<std::byte, 3> part;
    BOOST_CHECK(opened->read_at(opened->members()[0], 2, part));
    BOOST_CHECK_EQUAL(as_text(part), "llo");
    BOOST_CHECK(!opened->read_at(opened->members()[0], 3, part));
    BOOST_CHECK_EQUAL(zip_refusal(zip_of({})), "");
}

BOOST_AUTO_TEST_CASE(more_members_than_16_bits_make_a_zip64_directory) {
    zip_content many;
    for (int i = 0; i < 65600; ++i) many.emplace_back("m" + std::to_string(i), "");
    const std::string bytes = zip_of(many);
    BOOST_CHECK(bytes.find("PK\x06\x06") != std::string::npos);
    const auto opened = open_zip(bytes);
    BOOST_REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().line()));
    BOOST_CHECK_EQUAL(opened->members().size(), 65600u);
    refused(bytes, "found 65600 members, expected at most 1000", {.members = 1000});
    // The zip64 record and the end record contradict each other, or it is cut.
    refused(with(bytes, bytes.rfind("PK\x06\x06") + 32, 65599, 8), "several disks");
    refused(with(bytes, bytes.rfind("PK\x06\x06") + 40, 7, 8), "say different things");
    refused(with(bytes, bytes.rfind("PK\x06\x07") + 8, 7, 8), "where no zip64 end record is");
    refused(with(bytes, bytes.rfind("PK\x06\x07") + 8, std::uint64_t(1) << 62, 8), "past the directory");
    refused(with(bytes, bytes.rfind("PK\x06\x06"), 0, 4), "where no zip64 end record is");
}

BOOST_AUTO_TEST_CASE(sizes_of_64_bits_are_read_from_their_field) {
    // One member whose directory entry and header keep sizes and place in zip64 fields, though they would fit.
    const std::string plain = zip_of({{"a", "hello"}});
    const std::size_t entry = entry_at(plain, 0), end = end_at(plain);
    const std::string field = number(1, 2) + number(24, 2) + number(5, 8) + number(5, 8) + number(0, 8);
    std::string bytes = plain.substr(0, end) + field + plain.substr(end);
    for (const int at : {20, 24, 42}) bytes = with(bytes, entry + static_cast<std::size_t>(at), 0xffffffff, 4);
    bytes = with(bytes, entry + 30, field.size(), 2);
    const std::string wide = with(bytes, end_at(bytes) + 12, end - entry + field.size(), 4);
    const auto opened = open_zip(wide);
    BOOST_REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().line()));
    BOOST_CHECK_EQUAL(opened->read(opened->members()[0]).value(), "hello");
    refused(with(wide, end_at(wide) - field.size() + 4, std::uint64_t(1) << 60, 8), "is stored, yet said to be of");
    refused(with(wide, end_at(wide) - field.size() + 2, 8, 2), "its zip64 field is cut");
    refused(with(wide, end_at(wide) - field.size(), 2, 2), "asks for a zip64 field, found none");
}

BOOST_AUTO_TEST_CASE(every_cut_is_refused) {
    const std::string bytes = zip_of(three);
    for (std::size_t size = 0; size < bytes.size(); ++size) BOOST_CHECK_MESSAGE(!zip_refusal(bytes.substr(0, size)).empty(), "opened with " << size << " bytes");
    for (std::size_t size = 1; size < bytes.size(); ++size) BOOST_CHECK_MESSAGE(!zip_refusal(bytes.substr(size)).empty(), "opened without its first " << size << " bytes");
    refused("", "found no zip directory");
    refused("this is not a zip", "found no zip directory");
    refused(bytes + "x", "found no zip directory");
}

BOOST_AUTO_TEST_CASE(directories_that_lie_are_refused) {
    const std::string bytes = zip_of(three);
    const std::size_t end = end_at(bytes), first = entry_at(bytes, 0), second = entry_at(bytes, 1);
    refused(with(bytes, end + 10, 4, 2), "several disks");
    refused(with(with(bytes, end + 10, 4, 2), end + 8, 4, 2), "is said to hold 4 members");
    refused(with(with(bytes, end + 10, 2, 2), end + 8, 2, 2), "bytes more than its members need");
    refused(with(with(bytes, end + 10, 9999, 2), end + 8, 9999, 2), "is said to hold 9999 members");
    refused(with(bytes, end + 12, 10, 4), "the directory is said to be 10 bytes");
    refused(with(bytes, end + 16, 10, 4), "at 10, the end record stands at");
    refused(with(bytes, end + 16, 0xffffffff, 4), "asks for a zip64 record");
    refused(with(bytes, end + 4, 1, 2), "several disks");
    refused(with(bytes, first, 0, 4), "found no directory entry");
    refused(with(bytes, first + 28, 60000, 2), "the directory ends inside it");
    // Sizes and places of a member.
    refused(with(bytes, first + 20, 1u << 30, 4), "root/first: is said to hold 1073741824 bytes of an archive of");
    refused(with(bytes, first + 24, 6, 4), "root/first: is stored, yet said to be of 6 bytes in 5");
    refused(with(with(bytes, first + 24, 6, 4), first + 20, 6, 4), "differ in size or checksum");
    refused(with(with(bytes, first + 24, 700, 4), first + 20, 700, 4), "the members end at");
    refused(with(bytes, first + 42, 1u << 30, 4), "past the members");
    refused(with(bytes, first + 42, 1, 4), "where no member starts");
    refused(with(bytes, second + 42, 0, 4), "root/second: the directory and the member's own header differ: its header names it \"root/first\"");
    refused(with(bytes, first + 16, 1, 4), "differ in size or checksum");
    refused(with(bytes, 18, 6, 4), "differ in size or checksum");
    refused(with(bytes, first + 34, 1, 2), "is on another disk");
    refused(with(bytes, first + 8, 0x0801, 2), "is encrypted");
    refused(with(bytes, first + 10, 12, 2), "found compression method 12");
    refused(with(bytes, first + 10, 8, 2), "differ in method or flags");
}

BOOST_AUTO_TEST_CASE(names_that_lead_elsewhere_or_come_twice_are_refused) {
    const std::string bytes = zip_of({{"root/one", "1"}, {"root/two", "2"}});
    refused(renamed(bytes, "root/two", "root/one"), "root/one: found the name twice");
    refused(renamed(bytes, "root/one", "../..one"), "../..one: the member's name holds \"..\"");
    refused(renamed(bytes, "root/one", "root/../"), "holds \"..\"");
    refused(renamed(bytes, "root/one", "root/./o"), "holds \".\"");
    refused(renamed(bytes, "root/one", "/oot/one"), "is an absolute path");
    refused(renamed(bytes, "root/one", "root//ne"), "holds an empty part");
    refused(renamed(bytes, "root/one", "root\\one"), "holds a backslash");
    refused(renamed(bytes, "root/one", "root/\nne"), "holds a control byte");
    refused(renamed(bytes, "root/one", std::string("root/\0ne", 8)), "holds a NUL");
    BOOST_CHECK(unsafe_member_name("a/..b/c.").empty());
    BOOST_CHECK(!unsafe_member_name(std::string(5000, 'a')).empty());
    BOOST_CHECK(!unsafe_member_name("").empty());
}

BOOST_AUTO_TEST_CASE(members_inside_each_other_are_refused) {
    // The content of the first member is a whole second member; the directory names both.
    const std::string inner = zip_of({{"b", "inner"}}), header_and_content = inner.substr(0, entry_at(inner, 0));
    const std::string bytes = zip_of({{"a", header_and_content}, {"b", "inner"}});
    refused(with(bytes, entry_at(bytes, 1) + 42, bytes.find(header_and_content), 4), "lies inside the one before it");
}

BOOST_AUTO_TEST_CASE(damaged_contents_are_refused_when_read) {
    std::string bytes = zip_of(three);
    bytes[bytes.find("hello")] = 'j';
    const auto opened = open_zip(bytes);
    BOOST_REQUIRE(opened);
    const auto read = opened->read(opened->members()[0]);
    BOOST_REQUIRE(!read);
    BOOST_CHECK_EQUAL(read.error().line(), "a.zip: root/first: its content does not have the checksum that the directory says: damaged");
    BOOST_CHECK(opened->read(opened->members()[1]));
}

BOOST_AUTO_TEST_CASE(deflated_members_are_read_and_bombs_are_not) {
    const std::string bytes = read_file(EMMY_TEST_DATA "/pt/deflated.pt").value();
    auto opened = open_zip(bytes);
    BOOST_REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().line()));
    const zip_member* data = opened->find("archive/data/0");
    BOOST_REQUIRE(data && data->deflated && data->size == 2000 && data->stored_size < 200);
    const auto content = opened->read(*data);
    BOOST_REQUIRE_MESSAGE(content, (content ? "" : content.error().line()));
    BOOST_CHECK_EQUAL(content->size(), 2000u);
    std::byte one[1];
    BOOST_CHECK(!opened->read_at(*data, 0, one));
    refused(bytes, "would grow to more than 1000 bytes", {.expanded_bytes = 1000, .expanded_ratio = 0});
    // The directory and the header both tell a smaller, a larger and an impossible size.
    int entry = 0;
    while (opened->members()[static_cast<std::size_t>(entry)].name != "archive/data/0") ++entry;
    const std::size_t central = entry_at(bytes, entry), local = number_at(bytes, central + 42, 4);
    const auto sized = [&](std::uint64_t size) { return with(with(bytes, central + 24, size, 4), local + 22, size, 4); };
    for (const std::uint64_t size : {100u, 1999u, 2001u, 4000u}) {
        const auto lying = open_zip(sized(size));
        BOOST_REQUIRE_MESSAGE(lying, (lying ? "" : lying.error().line()));
        const auto read = lying->read(*lying->find("archive/data/0"));
        BOOST_REQUIRE(!read);
        BOOST_CHECK_MESSAGE(read.error().line().starts_with("a.zip: archive/data/0: "), read.error().line());
    }
    refused(sized(std::uint64_t(4) << 28), "more than deflate can");
    std::string damaged = bytes;
    damaged[data->offset + 3] = static_cast<char>(damaged[data->offset + 3] ^ 0x55);
    const auto broken = open_zip(damaged);
    BOOST_REQUIRE(broken);
    BOOST_CHECK(!broken->read(*broken->find("archive/data/0")));
}

BOOST_AUTO_TEST_CASE(nothing_of_an_unfinished_archive_stands) {
    const scratch_folder folder;
    {
        auto out = zip_writer::create(folder / "a.zip");
        BOOST_REQUIRE(out);
        BOOST_CHECK(out->add("a", as_bytes("1")));
        BOOST_CHECK(!out->add("a", as_bytes("2")));
        BOOST_CHECK(!out->add("../a", as_bytes("2")));
    }
    BOOST_CHECK(std::filesystem::is_empty(folder.path));
    BOOST_CHECK(!zip_writer::create(folder / "none/a.zip"));
    BOOST_CHECK_EQUAL(byte_source::open(folder.path.string()).error().message(), "found a directory, expected a file");
    BOOST_CHECK(!byte_source::open(folder / "absent"));
    BOOST_REQUIRE_EQUAL(::mkfifo((folder / "fifo").c_str(), 0600), 0);
    BOOST_CHECK_EQUAL(byte_source::open(folder / "fifo").error().message(), "found something that is not a regular file, expected one");
}
