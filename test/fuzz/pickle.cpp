// Any bytes as data.pkl, with the protocol's head before them so that most inputs get beyond it.
#include <emmy/core/archive.hpp>

#include <support/memory_bound.hpp>

using namespace emmy;
using namespace emmy::archive;

namespace {
std::uint64_t walk(const object& o, int depth, int& steps) {
    if (depth > 20 || --steps < 0) return 0;
    std::uint64_t sum = o.shape().size() + o.strides().size() + o.text().size() + o.size() + static_cast<std::uint64_t>(o.kind());
    for (std::size_t i = 0; i < o.size(); ++i) sum += walk(o[i], depth + 1, steps) + walk(o.key(i), depth + 1, steps);
    return sum;
}
volatile std::uint64_t kept = 0;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const test::memory_bound bound(size + 2);
    std::string text("\x80\x02");
    text.append(reinterpret_cast<const char*>(data), size);
    const auto tree = object_tree::parse(std::move(text), "fuzz.pt", "fuzz/data.pkl");
    if (!tree) return tree.error().kind() == fault_kind::input ? 0 : (std::abort(), 0);
    int steps = 10000;
    kept = walk(tree->root(), 0, steps);
    for (const stored_data& s : tree->storages())
        if (s.key.empty()) std::abort();
    return 0;
}
