#pragma once
#include <emmy/core/result.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace emmy::archive {

using bytes_view = std::span<const std::byte>;

/// Somebody who takes bytes piece by piece and may refuse: a callable `result<void>(bytes_view)`, seen without owning it. Passed down
/// a call, never kept.
class chunk_sink {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, chunk_sink>)
    chunk_sink(F&& f)
        : state_(const_cast<void*>(static_cast<const void*>(&f))),
          call_([](void* state, bytes_view chunk) -> result<void> { return (*static_cast<std::remove_reference_t<F>*>(state))(chunk); }) {}
    result<void> operator()(bytes_view chunk) const { return call_(state_, chunk); }

private:
    void* state_;
    result<void> (*call_)(void*, bytes_view);
};

inline bytes_view as_bytes(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }
inline std::string_view as_text(bytes_view bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace emmy::archive
