#include <emmy/core/file.hpp>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace emmy;

namespace {
struct folder {
    std::string path = "/tmp/emmy-unit-file-XXXXXX";
    folder() { BOOST_REQUIRE(::mkdtemp(path.data())); }
    ~folder() { std::filesystem::remove_all(path); }
    std::string operator/(const char* name) const { return path + "/" + name; }
    std::size_t entries() const { return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {})); }
};
}  // namespace

BOOST_AUTO_TEST_SUITE(file)

BOOST_FIXTURE_TEST_CASE(a_file_is_replaced_whole_and_keeps_its_mode, folder) {
    BOOST_REQUIRE(write_file_atomically(*this / "a", "one"));
    BOOST_REQUIRE(::chmod((*this / "a").c_str(), 0640) == 0);
    BOOST_REQUIRE(write_file_atomically(*this / "a", "two"));
    BOOST_TEST(*read_file(*this / "a") == "two");
    struct stat info {};
    BOOST_REQUIRE(::stat((*this / "a").c_str(), &info) == 0);
    BOOST_TEST((info.st_mode & 07777) == 0640u);
    BOOST_TEST(entries() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_link_is_written_through, folder) {
    BOOST_REQUIRE(write_file_atomically(*this / "target", "one"));
    std::filesystem::create_symlink("target", *this / "link");
    BOOST_REQUIRE(write_file_atomically(*this / "link", "two"));
    BOOST_TEST(std::filesystem::is_symlink(*this / "link"));
    BOOST_TEST(*read_file(*this / "target") == "two");
}

BOOST_FIXTURE_TEST_CASE(what_cannot_be_written_leaves_the_old_file, folder) {
    BOOST_REQUIRE(write_file_atomically(*this / "a", "one"));
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    BOOST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
    const rlimit small{1000, old.rlim_max};
    BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto done = write_file_atomically(*this / "a", std::string(5000, 'x'));
    BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
    BOOST_REQUIRE(!done);
    BOOST_TEST(done.error().line().find("cannot write") != std::string::npos);
    BOOST_TEST(*read_file(*this / "a") == "one");
    BOOST_TEST(entries() == 1u);
}

BOOST_FIXTURE_TEST_CASE(folders_and_absent_files_are_refused, folder) {
    BOOST_TEST(read_file(path).error().message() == "found a directory, expected a file");
    BOOST_TEST(read_file(*this / "none").error().line() == *this / "none" + ": cannot open: No such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()
