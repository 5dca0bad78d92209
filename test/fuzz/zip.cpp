// Any bytes as a zip: opened or refused, every member read or refused; no crash, no memory beyond what the bytes imply.
#include <emmy/core/archive.hpp>

#include <support/memory_bound.hpp>

using namespace emmy;
using namespace emmy::archive;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const test::memory_bound bound(size);
    const auto file = zip_archive::open(byte_source::of_bytes(std::string(reinterpret_cast<const char*>(data), size), "fuzz.zip"));
    if (!file) return file.error().kind() == fault_kind::input ? 0 : (std::abort(), 0);
    std::uint64_t stored = 0;
    for (const zip_member& m : file->members()) {
        if (!unsafe_member_name(m.name).empty()) std::abort();
        if (m.offset > size || m.stored_size > size - m.offset) std::abort();
        stored += m.stored_size;
        if (const auto content = file->read(m); content && content->size() != m.size) std::abort();
    }
    if (stored > size) std::abort();  // members never overlap
    return 0;
}
