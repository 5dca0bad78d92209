// Any bytes as a .pt file: every tensor of a file that opens is read, whole and as a stream, and both agree. The seeds carry no
// checksums (torch.serialization.set_crc32_options(False)), so that mutated contents are read and not only refused.
//
// Run on 2026-11-29, address and undefined-behaviour sanitizers on, from the seeds in corpus/pt (command in doc/snapshots.md):
//     fuzz_pt -runs=1000000 -max_len=4096 corpus/pt      -> 1000000 inputs in 1035 s, no finding
#include <emmy/core/archive.hpp>

#include <support/memory_bound.hpp>

using namespace emmy;
using namespace emmy::archive;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const test::memory_bound bound(size);
    const auto file = pt_file::open(byte_source::of_bytes(std::string(reinterpret_cast<const char*>(data), size), "fuzz.pt"));
    if (!file) return file.error().kind() == fault_kind::input ? 0 : (std::abort(), 0);
    const auto leaves = file->leaves();
    if (!leaves) return 0;
    int tensors = 0;
    for (const named_object& leaf : *leaves) {
        if (!leaf.what.is(object_kind::tensor) || ++tensors > 20) continue;
        const auto bytes = file->read(leaf.what);
        if (!bytes) continue;
        if (bytes->size() != leaf.what.elements() * byte_size(leaf.what.type())) std::abort();
        std::size_t at = 0;
        const auto streamed = file->stream(leaf.what, [&](bytes_view chunk) -> result<void> {
            if (chunk.size() > bytes->size() - at || as_text(chunk) != as_text(bytes_view(*bytes).subspan(at, chunk.size()))) std::abort();
            at += chunk.size();
            return {};
        });
        if (!streamed || at != bytes->size()) std::abort();
    }
    return 0;
}
