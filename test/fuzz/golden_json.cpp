// A golden document of any bytes is refused with one line, or is read, written, read again and asked everything that can be asked.
#include <emmy/golden.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void insist(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace emmy;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = golden::document::parse(text, "fuzz.json");
    if (!file) {
        insist(exit_code(file.error().kind()) == 3, "a refusal is bad input");
        insist(file.error().line().starts_with("fuzz.json: "), "a refusal names the file");
        return 0;
    }
    const std::string written = file->text();
    const auto again = golden::document::parse(written, "again.json");
    insist(again.has_value(), "what is written can be read");
    insist(again->text() == written, "writing is stable");
    const golden::document* one = &*file;
    const std::span<const golden::document* const> scope(&one, 1);
    (void)file->check_repository();
    for (golden::kernel_index k = 0; k < file->kernels().size(); ++k) {
        (void)file->path(k);
        (void)file->identity(k);
        insist(file->find_kernel(file->kernels()[k].ref()) == k, "a kernel is found by its reference");
    }
    (void)golden::list(scope, {});
    (void)golden::missing(scope, {});
    (void)golden::lint(*file);
    for (const golden::row& r : file->rows()) (void)golden::select(scope, r.name);
    return 0;
}
