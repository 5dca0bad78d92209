#pragma once
#include <emmy/core/fault.hpp>

#include <tl/expected.hpp>

namespace emmy {

/// A value or a fault. Pure code returns this; exceptions are for programming errors and allocation only.
template <class T>
using result = tl::expected<T, fault>;

/// `return refuse(fault_kind::input, "found 3, expected a string", "rows[2].name");`
inline tl::unexpected<fault> refuse(fault_kind kind, std::string message, std::string place = {}, std::string file = {}) {
    return tl::unexpected<fault>(fault(kind, std::move(message), std::move(place), std::move(file)));
}
inline tl::unexpected<fault> refuse(fault f) { return tl::unexpected<fault>(std::move(f)); }

}  // namespace emmy

/// Unwraps a result into a new variable or returns its fault from the enclosing function.
#define EMMY_TRY(variable, ...)                                          \
    auto variable##_or_fault = (__VA_ARGS__);                            \
    if (!variable##_or_fault) return ::emmy::refuse(std::move(variable##_or_fault).error()); \
    auto& variable = *variable##_or_fault
/// The same for a result<void>.
#define EMMY_CHECK_OK(...)                                               \
    do {                                                                 \
        if (auto emmy_ok = (__VA_ARGS__); !emmy_ok) return ::emmy::refuse(std::move(emmy_ok).error()); \
    } while (false)
