#include <common/cli.hpp>
#include <common/subject.hpp>

#include <emmy/loop/dims.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/program/op_text.hpp>
#include <emmy/program/wire.hpp>

#include <algorithm>
#include <map>

namespace emmy::tools {

std::vector<loop::symbol_size> subject::sizes() const {
    std::vector<loop::symbol_size> out;
    for (const auto& [symbol, size] : bindings) out.push_back({symbol, size});
    return out;
}

std::vector<long long> subject::launch_sizes(const std::vector<std::string>& symbols) const {
    std::vector<long long> out;
    for (const std::string& s : symbols) {
        long long size = default_hint;
        for (const auto& [symbol, value] : bindings)
            if (symbol == s) size = value;
        out.push_back(size);
    }
    return out;
}

namespace {

using size_map = std::map<std::string, std::int64_t, std::less<>>;

/// Sizes in order of first appearance: asked for, else recorded, else hinted. Errors (user): a size of a symbol nobody has.
result<void> bind_sizes(subject& s, const size_map& recorded, const size_map& asked) {
    size_map left = asked;
    for (name_id symbol : loop::symbols(s.kernel)) {
        const std::string name(s.kernel.body.text(symbol));
        std::int64_t size = loop::hint_of(s.kernel, symbol);
        if (const auto at = recorded.find(name); at != recorded.end()) size = at->second;
        if (const auto at = left.find(name); at != left.end()) size = at->second, left.erase(at);
        s.bindings.emplace_back(name, size);
    }
    if (!left.empty()) {
        std::string have;
        for (const auto& [name, size] : s.bindings) have += (have.empty() ? "" : ", ") + name;
        return refuse(fault_kind::user, "found a size for \"" + left.begin()->first + "\", expected one of the symbols of " + s.name + ": " + (have.empty() ? "it has none" : have), "--dynamic");
    }
    return {};
}

result<size_map> sizes_asked(const common_options& options) {
    size_map out;
    for (const std::string& text : options.dynamic) {
        const auto one = parse_size(text);
        if (!one) return refuse(fault_kind::user, "found \"" + text + "\", expected symbol=size", "--dynamic");
        if (!out.emplace(one->first, one->second).second) return refuse(fault_kind::user, "found a second size of \"" + one->first + "\", expected one", "--dynamic");
    }
    return out;
}

result<subject> from_program(std::string name, program::graph graph, const size_map& asked) {
    EMMY_TRY(lowered, loop::lower_single_op(graph));
    subject out;
    out.name = std::move(name);
    out.kernel = std::move(lowered.kernel), out.ports = std::move(lowered.ports);
    out.identity = loop::identity(out.kernel);
    out.program = std::move(graph);
    EMMY_CHECK_OK(bind_sizes(out, {}, asked));
    return out;
}

result<subject> from_kernel(const golden::document& file, golden::kernel_index index, std::string name, const size_map& recorded, const size_map& asked) {
    subject out;
    out.name = std::move(name), out.file = file.file();
    const golden::kernel_entry& entry = file.kernels()[index];
    EMMY_TRY(body, file.body(index));
    out.kernel = std::move(body);
    if (out.kernel.name.empty()) out.kernel.name = entry.name;
    out.identity = loop::identity(out.kernel);
    out.formed = entry.formed;
    // Where the traced program alone lowers to this very kernel, its reference applies.
    if (entry.target() && entry.traced < file.programs().size())
        if (auto graph = program::read_program(file.programs()[entry.traced]))
            if (auto lowered = loop::lower_single_op(*graph); lowered && loop::identity(lowered->kernel) == out.identity) {
                std::string kept = out.kernel.name;
                out.kernel = std::move(lowered->kernel), out.ports = std::move(lowered->ports);
                out.kernel.name = std::move(kept);
                out.program = std::move(*graph);
            }
    EMMY_CHECK_OK(bind_sizes(out, recorded, asked));
    return out;
}

size_map bindings_of(golden::map_view map) {
    size_map out;
    for (const json::member& m : map)
        if (const auto size = m.item.integer()) out[std::string(m.key)] = *size;
    return out;
}

void take_rows(subject& s, const std::vector<golden::match>& rows, const golden::card_id& card) {
    std::size_t others = 0;
    std::string of;
    for (const golden::match& m : rows) {
        const golden::row& r = m.get();
        const bool here = golden::same_card(m.file->head(), card);
        if (!here) {
            others += r.state() == golden::row_state::measured;
            of = m.file->head().gpu_name.value_or("");
            continue;
        }
        recorded_row out;
        out.name = r.name, out.producer = m.file->producer(r), out.fast_math = r.fast_math();
        for (const json::member& knob : r.knobs) out.knobs.emplace_back(knob.key, knob.item.text());
        if (r.measurements) out.us = r.measurements->emmy_us.value;
        if (!out.knobs.empty()) s.rows.push_back(std::move(out));
    }
    if (others) s.note = std::to_string(others) + " measured rows of " + of + " are not for this card: neither evidence nor benched";
}

}  // namespace

result<subject> subject_of_program(std::string name, program::graph graph, const common_options& options) {
    EMMY_TRY(asked, sizes_asked(options));
    return from_program(std::move(name), std::move(graph), asked);
}

result<subject> subject_of_kernel(std::string name, loop::kernel kernel, const common_options& options) {
    EMMY_TRY(asked, sizes_asked(options));
    subject out;
    out.name = std::move(name), out.kernel = std::move(kernel);
    out.identity = loop::identity(out.kernel);
    const std::vector<name_id> symbols = loop::symbols(out.kernel);
    std::erase_if(asked, [&](const auto& one) { return std::none_of(symbols.begin(), symbols.end(), [&](name_id id) { return out.kernel.body.text(id) == one.first; }); });
    EMMY_CHECK_OK(bind_sizes(out, {}, asked));
    return out;
}

result<std::vector<subject>> load_subjects(const common_options& options, const golden::card_id& card) {
    EMMY_TRY(asked, sizes_asked(options));
    std::vector<subject> out;
    if (!options.op.empty()) {
        if (!options.golden.empty() || !options.realization.empty()) return refuse(fault_kind::user, "found --op beside --golden or --realization, expected one of them", "--op");
        EMMY_TRY(graph, program::parse_op(options.op));
        EMMY_TRY(one, from_program(options.op, std::move(graph), asked));
        out.push_back(std::move(one));
        return out;
    }
    if (!options.realization.empty()) {
        EMMY_TRY(files, golden::open_search(options.golden, card));
        EMMY_TRY(found, golden::select(files, options.realization));
        EMMY_TRY(one, from_kernel(found.file(), found.kernel, found.name, bindings_of(found.rows.front().get().bindings), asked));
        take_rows(one, found.pinned(), card);
        out.push_back(std::move(one));
        return out;
    }
    const std::string path = options.golden.empty() ? golden::standard_file() : options.golden;
    if (path.empty()) return refuse(fault_kind::user, "nothing to work on: expected --realization NAME, --golden FILE or --op 'softmax(x: f32[512,2048], dim=-1)'");
    EMMY_TRY(file, golden::load_in_place(path));
    for (const golden::walk_group& group : golden::walk(file)) {
        std::vector<golden::match> rows;
        size_map recorded;
        for (golden::row_index i : group.rows)
            if (file.rows()[i].kernel == group.root) {
                rows.push_back({&file, i});
                if (recorded.empty()) recorded = bindings_of(file.rows()[i].bindings);
            }
        EMMY_TRY(one, from_kernel(file, group.root, std::string(group.name), recorded, asked));
        take_rows(one, rows, card);
        // Two lanes of one target are one subject.
        const auto same = std::find_if(out.begin(), out.end(), [&](const subject& s) { return s.identity == one.identity && s.bindings == one.bindings; });
        if (same == out.end())
            out.push_back(std::move(one));
        else
            same->rows.insert(same->rows.end(), one.rows.begin(), one.rows.end());
    }
    if (out.empty()) return refuse(fault_kind::user, "found no target kernel in it", "--golden", path);
    return out;
}

}  // namespace emmy::tools
