#include <common/progress.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy::tools;

namespace {
struct screen {
    double now = 100;
    std::string text;
    progress::environment environment(bool terminal, int width = 80) {
        return {[this] { return now; }, [this](std::string_view t) { text += t; }, terminal, width};
    }
};
}  // namespace

BOOST_AUTO_TEST_SUITE(tools_progress)

BOOST_AUTO_TEST_CASE(a_line_an_item_without_a_terminal) {
    screen s;
    {
        progress p({}, 2, "bench", s.environment(false));
        p.finished("matmul", "10.0 us", "10.0 us");
        p.note("a note");
        p.finished("softmax");
    }
    BOOST_TEST(s.text == "bench 1/2 matmul: 10.0 us; best 10.0 us\na note\nbench 2/2 softmax; best 10.0 us\n");
}

BOOST_AUTO_TEST_CASE(a_bar_on_a_terminal_drawn_ten_times_a_second_at_most) {
    screen s;
    progress p({}, 4, "bench", s.environment(true));
    BOOST_TEST(s.text == "\r\x1b[Kbench [....................] 0/4");
    s.text.clear();
    s.now += 0.05;
    p.finished("a");
    BOOST_TEST(s.text.empty());
    s.now += 9.95;
    p.finished("b", "", "3.5 us");
    BOOST_TEST(s.text == "\r\x1b[Kbench [##########..........] 2/4  ETA 10s  best 3.5 us  b");
    s.text.clear();
    p.note("hello");
    BOOST_TEST(s.text.starts_with("\r\x1b[Khello\n\r\x1b[Kbench ["));
    s.text.clear();
    p.finished("c");
    p.finished("d");
    p.close();
    BOOST_TEST(s.text == "\r\x1b[Kbench [####################] 4/4  best 3.5 us  d\n");
}

BOOST_AUTO_TEST_CASE(a_bar_is_cut_to_the_terminal) {
    screen s;
    progress p({}, 1, "\xc3\xa9\xc3\xa9", s.environment(true, 4));
    BOOST_TEST(s.text == "\r\x1b[K\xc3\xa9\xc3\xa9 ");
}

BOOST_AUTO_TEST_CASE(silence) {
    for (const bool quiet : {true, false}) {
        screen s;
        common_options o;
        o.quiet = quiet;
        if (!quiet) o.progress = progress_mode::never;
        progress p(o, 1, "bench", s.environment(true));
        p.finished("a");
        p.note("n");
        p.close();
        BOOST_TEST(s.text.empty());
    }
}

BOOST_AUTO_TEST_SUITE_END()
