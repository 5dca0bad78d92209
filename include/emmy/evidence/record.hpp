#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/store/tables.hpp>

#include <optional>
#include <span>
#include <string>

namespace emmy::loop {
struct kernel;
}

/// What a bench writes, and what it need not measure again.
namespace emmy::evidence {

/// One measured or failed kernel.
struct local_measurement {
    store::context context;
    store::kernel_record kernel;     ///< key = its identity, body = its wire
    store::binding_list bindings = {};    ///< sizes of its symbols
    store::knob_list row;            ///< the whole schedule row
    store::timing time;              ///< of a failure: how = failed (times are filled in)
    std::string error = {};          ///< of a failure; kept to 300 characters, blanks collapsed
};

/// A kernel as the store keeps it: its wire, and the second digest that guards its identity.
EMMY_DECL store::kernel_record make_kernel_record(const loop::kernel& kernel, const digest128& identity, bool formed);

/// "measured:<host>:<producer>" of this machine.
EMMY_DECL std::string local_label(std::string_view producer);

/// All of them in one durable transaction, under local_label(producer). A better row of the same key stays.
/// How many were stored. Errors (user): a placement knob in a row, a dataset store; (store).
EMMY_DECL result<std::uint32_t> record_measurements(const store::environment& store, std::span<const local_measurement> measured, std::string_view producer);

/// The local measurement of exactly this row under this producer (ok or failed), to report it as cached: the caller compares the
/// samples with the quality it was asked for.
EMMY_DECL result<std::optional<store::timing>> find_local(const store::read_transaction& txn, const store::context& context, const digest128& kernel,
                                                          const store::binding_list& bindings, const store::knob_list& row, std::string_view producer);

/// Number of distinct ok schedules stored for (context, kernel, sizes), at least 1: `tried` of a promoted row.
EMMY_DECL result<std::uint32_t> tried_schedules(const store::read_transaction& txn, const store::context& context, const digest128& kernel, const store::binding_list& bindings);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/record.ipp>
#endif
