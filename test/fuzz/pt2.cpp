// Any bytes as an archive of torch.export.save: what opens is imported, what is imported is a program that is well formed and is written and
// read back to the same text; its weights are read. The second half of the inputs is a program's text alone ("J" before it), so that mutated
// texts get past the zip.
#include <emmy/program/check.hpp>
#include <emmy/program/import.hpp>
#include <emmy/program/wire.hpp>

#include <support/memory_bound.hpp>

using namespace emmy;
using namespace emmy::program;

namespace {

int import(const pt2::exported_program& x, const pt2::pt2_archive* file) {
    std::vector<pt2::refusal> refused;
    const auto made = pt2::import_program(x, {}, &refused);
    if (!made) return made.error().kind() == fault_kind::input ? 0 : (std::abort(), 0);
    if (!check_program(made->g)) std::abort();
    std::string text, again;
    json::writer out(text);
    write_program(out, made->g);
    const auto document = json::document::parse(text);
    if (!document) std::abort();
    const auto back = read_program(document->root());
    if (!back) std::abort();
    json::writer second(again);
    write_program(second, *back);
    if (text != again) std::abort();
    if (file && !pt2::read_weights(*file, *made)) return 0;
    return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 0 && data[0] == 'J') {
        const auto x = pt2::read_exported(std::string(reinterpret_cast<const char*>(data) + 1, size - 1), "fuzz.pt2", "model.json");
        if (!x) return x.error().kind() == fault_kind::input ? 0 : (std::abort(), 0);
        return import(*x, nullptr);
    }
    const test::memory_bound bound(size);
    const auto file = pt2::pt2_archive::open(archive::byte_source::of_bytes(std::string(reinterpret_cast<const char*>(data), size), "fuzz.pt2"));
    if (!file) return file.error().kind() == fault_kind::input ? 0 : (std::abort(), 0);
    return import(file->program(), &*file);
}
