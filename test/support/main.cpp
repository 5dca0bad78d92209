#define BOOST_TEST_MODULE emmy
#include <boost/test/unit_test.hpp>
