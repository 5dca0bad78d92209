// Check of 10^6 measurements against a raw LMDB cursor scan of the same named databases (own process): CPU time, medians of
// alternating pairs.
#include "yardstick.hpp"

#include <emmy/store.hpp>

#include <lmdb.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <unistd.h>

using namespace emmy;
using namespace emmy::bench;

namespace {

/// `--scan PATH`: every entry of every named database but meta, one byte of key and value touched; prints ms.
int scan(const char* path) {
    MDB_env* env = nullptr;
    mdb_env_create(&env);
    mdb_env_set_maxdbs(env, 16);
    mdb_env_set_mapsize(env, std::size_t{4} << 30);
    if (mdb_env_open(env, path, MDB_RDONLY | MDB_NOTLS, 0644) != 0) return 1;
    MDB_txn* txn = nullptr;
    mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn);
    unsigned char sum = 0;
    std::uint64_t entries = 0;
    const double start = cpu_ms();
    for (std::size_t i = 1; i < store::layout::table_count; ++i) {
        MDB_dbi dbi;
        if (mdb_dbi_open(txn, store::layout::table_names[i].data(), 0, &dbi) != 0) return 1;
        MDB_cursor* at = nullptr;
        mdb_cursor_open(txn, dbi, &at);
        MDB_val k, v;
        while (mdb_cursor_get(at, &k, &v, MDB_NEXT) == 0) {
            sum = static_cast<unsigned char>(sum + *static_cast<unsigned char*>(k.mv_data) + (v.mv_size ? *static_cast<unsigned char*>(v.mv_data) : 0));
            ++entries;
        }
        mdb_cursor_close(at);
    }
    std::printf("%.4f %llu %u\n", cpu_ms() - start, static_cast<unsigned long long>(entries), sum);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return 0;
}
double scan_ms(const std::string& self, const std::string& path, unsigned long long& entries) {
    FILE* out = ::popen((self + " --scan '" + path + "'").c_str(), "r");
    double ms = 0;
    const int got = out ? std::fscanf(out, "%lf %llu", &ms, &entries) : 0;
    if (out) ::pclose(out);
    return got == 2 ? ms : 0;
}
}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--scan") == 0) return scan(argv[2]);
    const std::string path = (std::filesystem::temp_directory_path() / ("emmy-bench-check-" + std::to_string(::getpid()))).string();
    constexpr std::uint32_t kernels = 2000, sizes = 5, rows = 100;
    {
        const auto db = store::environment::open(path, {.mode = store::access::write, .kind = store::store_kind::dataset, .durable = false});
        if (!db) return std::fprintf(stderr, "%s\n", db.error().line().c_str()), 1;
        const double start = cpu_ms();
        const auto done = db->write([&](store::write_transaction& txn) -> result<void> {
            EMMY_TRY(ctx, store::put_context(txn, {"cuda", "NVIDIA H100 80GB", 90, 3, false, ""}));
            EMMY_TRY(src, store::put_source(txn, {"golden:0123456789ab", "peer", "", 0, 0, 0, 0, 0}));
            std::vector<store::row_id> ids;
            for (std::uint32_t r = 0; r < rows; ++r) {
                EMMY_TRY(id, store::put_row(txn, store::row_kind::schedule, {{"RASTER", ""}, {"WORK", "t" + std::to_string(32 * (1 + r))}}));
                ids.push_back(id);
            }
            std::uint32_t random = 1;
            for (std::uint32_t k = 0; k < kernels; ++k) {
                const digest128 key{0x9e3779b97f4a7c15u * (k + 1), k};
                EMMY_CHECK_OK(store::put_kernel(txn, {key, {k, k}, "k_" + std::to_string(k), "{}", true}));
                for (std::uint32_t s = 0; s < sizes; ++s) {
                    EMMY_TRY(bind, store::put_bindings(txn, {{"seq_len", 128 << s}}));
                    for (const store::row_id id : ids) {
                        random = random * 1664525u + 1013904223u;
                        const double us = 5 + (random >> 8) * 1e-6;
                        EMMY_TRY(stored, store::put_measurement(txn, ctx, key, bind, id, src, {us, us, us, us, 0, 20, 0, store::outcome::captured}));
                        (void)stored;
                    }
                }
            }
            return {};
        });
        if (!done) return std::fprintf(stderr, "%s\n", done.error().line().c_str()), 1;
        std::error_code ignored;
        std::printf("10^6 measurements written in %.1f s CPU, %.0f bytes each\n", (cpu_ms() - start) / 1e3, static_cast<double>(std::filesystem::file_size(path + "/data.mdb", ignored)) / 1e6);
    }
    std::vector<double> ours, theirs;
    unsigned long long entries = 0;
    {
        const auto db = store::environment::open(path, {.mode = store::access::read, .kind = {}});
        for (int i = 0; i < 11; ++i) {
            theirs.push_back(scan_ms(argv[0], path, entries));
            const double start = cpu_ms();
            auto txn = db->read();
            const auto lines = store::check(*txn);
            ours.push_back(cpu_ms() - start);
            if (!lines) return std::fprintf(stderr, "%s\n", lines.error().line().c_str()), 1;
            for (const auto& l : *lines)
                if (l.failed > 0) return std::fprintf(stderr, "%s: %llu fail\n", l.name.c_str(), static_cast<unsigned long long>(l.failed)), 1;
        }
    }
    std::filesystem::remove_all(path);
    std::printf("check: median %.1f ms CPU; raw cursor scan of %llu entries: %.1f ms CPU; ratio %.3f (goal 2)\n", median(ours), entries, median(theirs), median(ours) / median(theirs));
    return 0;
}
