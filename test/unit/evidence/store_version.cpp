// A store keeps the version of the identities in it: measurements never join kernels that another version told apart or united.
#include <emmy/evidence/import.hpp>
#include <emmy/loop/identity.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

using namespace emmy;

BOOST_AUTO_TEST_CASE(a_store_of_an_older_identity_is_refused_by_readers_and_moved_by_writers) {
    BOOST_TEST(loop::identity_version == 1);
    const test::scratch dir;
    {
        const auto old = store::environment::open(dir / "tune.db", {.mode = store::access::write, .kind = store::store_kind::tuning, .identity_version = 0});
        BOOST_REQUIRE_MESSAGE(old, test::why(old));
        EMMY_REQUIRE_OK(old->write([&](store::write_transaction& txn) { return store::put_kernel(txn, test::a_kernel()); }));
    }
    const auto reader = evidence::open_store(dir / "tune.db", store::access::read);
    BOOST_REQUIRE(!reader);
    BOOST_TEST(reader.error().line().find("found a store of version 1.0, expected 1.1 (schema.identity)") != std::string::npos, reader.error().line());
    {
        const auto writer = evidence::open_store(dir / "tune.db", store::access::write, store::store_kind::tuning);
        BOOST_REQUIRE_MESSAGE(writer, test::why(writer));
        BOOST_REQUIRE_EQUAL(writer->notes().size(), 1u);
        BOOST_TEST(writer->notes().front().find(dir / "tune.db.old-1.0") != std::string::npos, writer->notes().front());
        BOOST_TEST(writer->read()->count(store::layout::table::kernel).value() == 0u);
    }
    // The old one is whole under its new name.
    const auto aside = store::environment::open(dir / "tune.db.old-1.0", {.mode = store::access::read, .kind = {}, .identity_version = 0});
    BOOST_REQUIRE_MESSAGE(aside, test::why(aside));
    BOOST_TEST(aside->read()->count(store::layout::table::kernel).value() == 1u);
    const auto reads = evidence::open_store(dir / "tune.db", store::access::read);
    BOOST_TEST(reads.has_value(), test::why(reads));
}
