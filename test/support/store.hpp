#pragma once
// Small stores for tests: one kernel, one context, rows by hand.
#include <emmy/store.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace emmy::test {

#define EMMY_REQUIRE_OK(...)                                                   \
    do {                                                                       \
        const auto emmy_done = (__VA_ARGS__);                                  \
        BOOST_REQUIRE_MESSAGE(emmy_done, (emmy_done ? std::string() : emmy_done.error().line())); \
    } while (false)

/// Text of a failed result; Boost evaluates messages of passing checks too.
template <class T>
std::string why(const result<T>& r) {
    return r ? std::string("fine") : r.error().line();
}

constexpr digest128 one_kernel{0x1111, 0x2222};

inline store::context a_context() { return {"cuda", "NVIDIA H100 80GB", 90, 3, false, ""}; }
inline store::timing time(double us, store::outcome how = store::outcome::captured) { return {us, us, us, us, 0, 20, 0, how}; }
inline store::kernel_record a_kernel(digest128 key = one_kernel, std::string name = "k_one") {
    return {key, {key.low, key.high}, std::move(name), R"({"inputs":["x"],"outputs":["y"],"nodes":[]})", true};
}

/// An empty directory of its own, removed at the end.
class scratch {
public:
    scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "emmy-test-XXXXXX").string();
        BOOST_REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    scratch(const scratch&) = delete;
    std::string operator/(const char* name) const { return (path_ / name).string(); }
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

inline store::environment store_with_one_kernel() {
    auto db = store::environment::temporary(store::store_kind::tuning);
    BOOST_REQUIRE_MESSAGE(db, why(db));
    EMMY_REQUIRE_OK(db->write([](store::write_transaction& txn) { return store::put_kernel(txn, a_kernel()); }));
    return *db;
}

/// Adds one measurement of `one_kernel` in a_context(); whether it was stored.
inline bool add(const store::environment& db, const store::knob_list& row, const store::timing& t, std::string label, std::string error = {},
                const store::binding_list& sizes = {}, const store::context& where = a_context(), digest128 kernel = one_kernel, std::string producer = "emmy-cpp/1") {
    bool stored = false;
    EMMY_REQUIRE_OK(db.write([&](store::write_transaction& txn) -> result<void> {
        EMMY_TRY(ctx, store::put_context(txn, where));
        EMMY_TRY(id, store::put_row(txn, store::row_kind::schedule, row));
        EMMY_TRY(src, store::put_source(txn, {label, label.starts_with("golden:") ? "peer" : producer, "", 0, 0, 0, 0, 0}));
        EMMY_TRY(bind, store::put_bindings(txn, sizes));
        EMMY_TRY(done, store::put_measurement(txn, ctx, kernel, bind, id, src, t, error));
        stored = done;
        return {};
    }));
    return stored;
}

inline std::vector<store::measurement> measurements(const store::environment& db, std::string_view prefix = {}) {
    std::vector<store::measurement> out;
    auto txn = db.read();
    BOOST_REQUIRE_MESSAGE(txn, why(txn));
    EMMY_REQUIRE_OK(store::for_each_measurement(*txn, prefix, [&](const store::measurement& m) {
        out.push_back(m);
        return true;
    }));
    return out;
}

inline void require_clean(const store::environment& db) {
    auto txn = db.read();
    BOOST_REQUIRE_MESSAGE(txn, why(txn));
    const auto lines = store::check(*txn);
    BOOST_REQUIRE_MESSAGE(lines, why(lines));
    for (const auto& l : *lines) BOOST_CHECK_MESSAGE(l.failed == 0, l.name << ": " << l.failed << " fail, first: " << (l.examples.empty() ? "" : l.examples[0]));
}

}  // namespace emmy::test
