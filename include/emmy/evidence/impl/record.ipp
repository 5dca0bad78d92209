#pragma once
#include <emmy/evidence/record.hpp>

#include <emmy/evidence/impl/digest.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/wire.hpp>

#include <algorithm>
#include <ctime>
#include <set>

#include <unistd.h>

namespace emmy::evidence {

EMMY_DECL store::kernel_record make_kernel_record(const loop::kernel& kernel, const digest128& identity, bool formed) {
    const std::vector<char> bytes = loop::canonical_bytes(kernel.body, kernel.inputs, kernel.outputs);
    return {identity, detail::sha_digest({bytes.data(), bytes.size()}), kernel.name, loop::kernel_text(kernel), formed};
}

EMMY_DECL std::string local_label(std::string_view producer) {
    char host[256] = "localhost";
    if (::gethostname(host, sizeof host - 1) != 0) std::snprintf(host, sizeof host, "localhost");
    return std::string("measured:") + host + ":" + std::string(producer);
}

EMMY_DECL result<std::uint32_t> record_measurements(const store::environment& store, std::span<const local_measurement> measured, std::string_view producer) {
    if (store.kind() != store::store_kind::tuning) return refuse(fault_kind::user, "found a dataset store, expected the tuning store: a bench writes no other", {}, store.path());
    std::uint32_t stored = 0;
    const auto now = static_cast<std::uint32_t>(std::time(nullptr));
    EMMY_CHECK_OK(store.write([&](store::write_transaction& txn) -> result<void> {
        stored = 0;
        store::source_record source{local_label(producer), std::string(producer), "", now, 0, 0, 0, 0};
        EMMY_TRY(known, store::find_source(txn, source.label));
        if (known) {
            EMMY_TRY(before, store::read_source(txn, *known));
            source.offered = before.offered;
        }
        source.offered += static_cast<std::uint32_t>(measured.size());
        EMMY_TRY(src, store::put_source(txn, source));
        for (const local_measurement& m : measured) {
            EMMY_CHECK_OK(store::put_kernel(txn, m.kernel));
            EMMY_TRY(ctx, store::put_context(txn, m.context));
            EMMY_TRY(bind, store::put_bindings(txn, m.bindings));
            EMMY_TRY(row, store::put_row(txn, store::row_kind::schedule, m.row));
            store::timing time = m.time;
            if (!time.ok()) time = {store::failed_us, store::failed_us, store::failed_us, store::failed_us, 0, 0, time.unix_time, store::outcome::failed};
            if (time.unix_time == 0) time.unix_time = now;
            EMMY_TRY(kept, store::put_measurement(txn, ctx, m.kernel.key, bind, row, src, time, m.error));
            stored += kept;
        }
        return {};
    }));
    return stored;
}

EMMY_DECL result<std::optional<store::timing>> find_local(const store::read_transaction& txn, const store::context& context, const digest128& kernel,
                                                          const store::binding_list& bindings, const store::knob_list& row, std::string_view producer) {
    const std::optional<store::timing> none;
    EMMY_TRY(ctx, store::find_context(txn, context));
    if (!ctx) return none;
    EMMY_TRY(id, store::find_row(txn, row));
    if (!id) return none;
    EMMY_TRY(src, store::find_source(txn, local_label(producer)));
    if (!src) return none;
    EMMY_TRY(found, store::find_measurement(txn, *ctx, kernel, store::bind_key(bindings), *id, *src));
    return found ? std::optional<store::timing>(found->time) : none;
}

EMMY_DECL result<std::uint32_t> tried_schedules(const store::read_transaction& txn, const store::context& context, const digest128& kernel, const store::binding_list& bindings) {
    EMMY_TRY(ctx, store::find_context(txn, context));
    if (!ctx) return 1u;
    std::set<store::row_id> rows;
    const store::layout::perf_key prefix{*ctx, kernel, store::bind_key(bindings)};
    EMMY_CHECK_OK(store::for_each_measurement(txn, prefix.bind_prefix(), [&](const store::measurement& m) {
        if (m.time.ok()) rows.insert(m.key.row);
        return true;
    }));
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(rows.size()));
}

}  // namespace emmy::evidence
