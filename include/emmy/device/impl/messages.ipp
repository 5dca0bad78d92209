#pragma once
#include <emmy/core/json.hpp>
#include <emmy/device/concept.hpp>

#include <charconv>

// What travels in the frames between a process and its worker: one JSON object each way. Both sides are of the same build
// (the greeting says so), and both still read the other's as untrusted text.
namespace emmy::device::detail {

inline void write_text(json::writer& w, const kernel_text& t) {
    w.begin_object().key("source").string(t.source).key("entry").string(t.entry).key("scratch").integer(static_cast<std::int64_t>(t.scratch_bytes));
    w.key("fast_math").boolean(t.fast_math).key("optimisation").integer(t.optimisation).end_object();
}
inline result<kernel_text> read_text(const json::value& v, const json::path& at) {
    json::fields f(v, at);
    kernel_text out;
    EMMY_TRY(source, f.need("source"));
    EMMY_TRY(source_text, json::read_string(*source, f.at("source")));
    EMMY_TRY(entry, f.need("entry"));
    EMMY_TRY(entry_text, json::read_string(*entry, f.at("entry")));
    EMMY_TRY(scratch, f.need("scratch"));
    EMMY_TRY(scratch_bytes, json::read_integer(*scratch, f.at("scratch")));
    EMMY_TRY(fast, f.need("fast_math"));
    EMMY_TRY(fast_math, json::read_boolean(*fast, f.at("fast_math")));
    EMMY_TRY(opt, f.need("optimisation"));
    EMMY_TRY(optimisation, json::read_integer(*opt, f.at("optimisation")));
    if (scratch_bytes < 0 || scratch_bytes > (std::int64_t(1) << 40)) return refuse(json::problem(f.at("scratch"), "expected 0 to 2^40 bytes"));
    if (optimisation < 0 || optimisation > 3) return refuse(json::problem(f.at("optimisation"), "expected 0 to 3"));
    out.source = source_text, out.entry = entry_text, out.scratch_bytes = static_cast<std::uint64_t>(scratch_bytes);
    out.fast_math = fast_math, out.optimisation = static_cast<int>(optimisation);
    return out;
}

inline void write_launch(json::writer& w, const launch& l) {
    w.begin_object().key("team").integer(l.team).key("sizes").begin_array();
    for (long long s : l.sizes) w.integer(s);
    w.end_array().end_object();
}
inline result<launch> read_launch(const json::value& v, const json::path& at) {
    json::fields f(v, at);
    launch out;
    EMMY_TRY(team, f.need("team"));
    EMMY_TRY(parts, json::read_integer(*team, f.at("team")));
    if (parts < 1 || parts > 1024) return refuse(json::problem(f.at("team"), "expected 1 to 1024"));
    out.team = static_cast<int>(parts);
    EMMY_TRY(sizes, f.need("sizes"));
    EMMY_TRY(items, json::read_array(*sizes, f.at("sizes")));
    for (const json::value& item : items) {
        EMMY_TRY(size, json::read_integer(item, f.at("sizes")));
        out.sizes.push_back(size);
    }
    return out;
}

inline void write_buffers(json::writer& w, const std::vector<buffer_spec>& buffers) {
    w.begin_array();
    for (const buffer_spec& b : buffers) w.begin_array().string(token(b.type)).integer(static_cast<std::int64_t>(b.elements)).boolean(b.output).end_array();
    w.end_array();
}
inline result<std::vector<buffer_spec>> read_buffers(const json::value& v, const json::path& at) {
    std::vector<buffer_spec> out;
    EMMY_TRY(items, json::read_array(v, at));
    for (const json::value& item : items) {
        EMMY_TRY(parts, json::read_array(item, at));
        if (parts.size() != 3) return refuse(json::problem(at, "expected [type, elements, output]"));
        EMMY_TRY(type, json::read_string(parts[0], at));
        EMMY_TRY(elements, json::read_integer(parts[1], at));
        EMMY_TRY(output, json::read_boolean(parts[2], at));
        if (elements < 0) return refuse(json::problem(at, "expected a count of elements"));
        out.push_back({dtype_from_token(type), static_cast<std::uint64_t>(elements), output});
    }
    return out;
}

inline void write_slice(json::writer& w, const slice& s) {
    w.begin_array().integer(s.buffer).integer(static_cast<std::int64_t>(s.offset)).integer(static_cast<std::int64_t>(s.bytes)).end_array();
}
inline result<slice> read_slice(const json::value& v, const json::path& at) {
    EMMY_TRY(parts, json::read_array(v, at));
    if (parts.size() != 3) return refuse(json::problem(at, "expected [buffer, offset, bytes]"));
    std::int64_t numbers[3] = {};
    for (std::size_t i = 0; i < 3; ++i) {
        EMMY_TRY(number, json::read_integer(parts[i], at));
        if (number < 0 || (i == 0 && number > 0xffffffff)) return refuse(json::problem(at, "expected [buffer, offset, bytes], none below 0"));
        numbers[i] = number;
    }
    return slice{static_cast<std::uint32_t>(numbers[0]), static_cast<std::uint64_t>(numbers[1]), static_cast<std::uint64_t>(numbers[2])};
}
inline result<std::vector<slice>> read_slices(const json::value& v, const json::path& at) {
    std::vector<slice> out;
    EMMY_TRY(items, json::read_array(v, at));
    for (const json::value& item : items) {
        EMMY_TRY(one, read_slice(item, at));
        out.push_back(one);
    }
    return out;
}

inline void write_sequence(json::writer& w, const sequence& s) {
    const auto slices = [&](const std::vector<slice>& list) {
        w.begin_array();
        for (const slice& one : list) write_slice(w, one);
        w.end_array();
    };
    w.begin_object().key("kernels").begin_array();
    for (const kernel_text& t : s.kernels) write_text(w, t);
    w.end_array().key("steps").begin_array();
    for (const sequence::step& step : s.steps) {
        w.begin_object().key("kernel").integer(step.kernel).key("launch");
        write_launch(w, step.how);
        w.key("buffers"), slices(step.buffers);
        w.key("zeroed"), slices(step.zeroed);
        w.end_object();
    }
    w.end_array().key("copied").begin_array();
    for (const sequence::copy& c : s.copied) slices({c.from, c.to});
    w.end_array().end_object();
}
/// Whether its slices fit is check()'s to say.
inline result<sequence> read_sequence(const json::value& v, const json::path& at) {
    json::fields f(v, at);
    sequence out;
    EMMY_TRY(kernels, f.need("kernels"));
    EMMY_TRY(texts, json::read_array(*kernels, f.at("kernels")));
    for (const json::value& item : texts) {
        EMMY_TRY(text, read_text(item, f.at("kernels")));
        out.kernels.push_back(std::move(text));
    }
    EMMY_TRY(steps, f.need("steps"));
    const json::path step_at = f.at("steps");
    EMMY_TRY(items, json::read_array(*steps, step_at));
    for (const json::value& item : items) {
        json::fields g(item, step_at);
        sequence::step step;
        EMMY_TRY(kernel, g.need("kernel"));
        EMMY_TRY(place, json::read_integer(*kernel, g.at("kernel")));
        if (place < 0 || place > 0xffffffff) return refuse(json::problem(g.at("kernel"), "expected a place among the kernels"));
        step.kernel = static_cast<std::uint32_t>(place);
        EMMY_TRY(how, g.need("launch"));
        EMMY_TRY(launch, read_launch(*how, g.at("launch")));
        step.how = std::move(launch);
        EMMY_TRY(buffers, g.need("buffers"));
        EMMY_TRY(slices, read_slices(*buffers, g.at("buffers")));
        step.buffers = std::move(slices);
        EMMY_TRY(zeroed, g.need("zeroed"));
        EMMY_TRY(zeros, read_slices(*zeroed, g.at("zeroed")));
        step.zeroed = std::move(zeros);
        out.steps.push_back(std::move(step));
    }
    EMMY_TRY(copied, f.need("copied"));
    EMMY_TRY(copies, json::read_array(*copied, f.at("copied")));
    for (const json::value& item : copies) {
        EMMY_TRY(two, read_slices(item, f.at("copied")));
        if (two.size() != 2) return refuse(json::problem(f.at("copied"), "expected [from, to]"));
        out.copied.push_back({two[0], two[1]});
    }
    return out;
}

inline void write_measure(json::writer& w, const measure_request& r) {
    w.key("kernels").begin_array();
    for (const kernel_text& t : r.kernels) write_text(w, t);
    w.end_array().key("launches").begin_array();
    for (const launch& l : r.launches) write_launch(w, l);
    w.end_array().key("sequences").begin_array();
    for (const sequence& many : r.sequences) write_sequence(w, many);
    w.end_array().key("interleave").boolean(r.interleave);
    const reference& ref = r.against;
    w.key("reference").begin_array().integer(static_cast<int>(ref.what)).integer(ref.m).integer(ref.n).integer(ref.k).integer(ref.batch).integer(ref.transposed);
    w.integer(static_cast<std::int64_t>(ref.read_bytes)).integer(static_cast<std::int64_t>(ref.write_bytes)).end_array();
    const effort& e = r.effort;
    w.key("effort").begin_array().integer(e.warm_up).integer(e.least_samples).integer(e.most_samples).real(e.window_seconds).real(e.tight).real(e.budget_seconds).integer(e.cold).real(e.slow_seconds).end_array();
}

/// An array of numbers, exactly `count` of them.
inline result<std::vector<double>> read_numbers(const json::value& v, const json::path& at, std::size_t count) {
    EMMY_TRY(items, json::read_array(v, at));
    if (items.size() != count) return refuse(json::problem(at, "expected " + std::to_string(count) + " numbers, found " + std::to_string(items.size())));
    std::vector<double> out;
    for (const json::value& item : items) {
        EMMY_TRY(number, json::read_real(item, at));
        if (!(number > -1e18 && number < 1e18)) return refuse(json::problem(at, "found a number beyond 1e18"));
        out.push_back(number);
    }
    return out;
}

inline result<measure_request> read_measure(json::fields& f) {
    measure_request out;
    EMMY_TRY(kernels, f.need("kernels"));
    EMMY_TRY(texts, json::read_array(*kernels, f.at("kernels")));
    for (const json::value& item : texts) {
        EMMY_TRY(text, read_text(item, f.at("kernels")));
        out.kernels.push_back(std::move(text));
    }
    EMMY_TRY(launches, f.need("launches"));
    EMMY_TRY(hows, json::read_array(*launches, f.at("launches")));
    for (const json::value& item : hows) {
        EMMY_TRY(how, read_launch(item, f.at("launches")));
        out.launches.push_back(std::move(how));
    }
    EMMY_TRY(sequences, f.need("sequences"));
    EMMY_TRY(lists, json::read_array(*sequences, f.at("sequences")));
    for (const json::value& item : lists) {
        EMMY_TRY(many, read_sequence(item, f.at("sequences")));
        out.sequences.push_back(std::move(many));
    }
    EMMY_TRY(interleave, f.need("interleave"));
    EMMY_TRY(together, json::read_boolean(*interleave, f.at("interleave")));
    out.interleave = together;
    EMMY_TRY(ref, f.need("reference"));
    EMMY_TRY(r, read_numbers(*ref, f.at("reference"), 8));
    if (r[0] < 0 || r[0] > 2 || r[6] < 0 || r[7] < 0) return refuse(json::problem(f.at("reference"), "found no known reference"));
    out.against.what = static_cast<reference::kind>(static_cast<int>(r[0]));
    out.against.m = static_cast<long long>(r[1]), out.against.n = static_cast<long long>(r[2]), out.against.k = static_cast<long long>(r[3]);
    out.against.batch = static_cast<long long>(r[4]), out.against.transposed = r[5] != 0;
    out.against.read_bytes = static_cast<std::uint64_t>(r[6]), out.against.write_bytes = static_cast<std::uint64_t>(r[7]);
    EMMY_TRY(how, f.need("effort"));
    EMMY_TRY(e, read_numbers(*how, f.at("effort"), 8));
    const auto bounded = [](double v, int most) { return static_cast<int>(v < 0 ? 0 : v > most ? most : v); };
    out.effort.warm_up = bounded(e[0], 100000), out.effort.least_samples = bounded(e[1], 100000), out.effort.most_samples = bounded(e[2], 1000000);
    out.effort.window_seconds = e[3], out.effort.tight = e[4], out.effort.budget_seconds = e[5], out.effort.cold = e[6] != 0, out.effort.slow_seconds = e[7];
    return out;
}

inline void write_statistics(json::writer& w, const statistics& s) {
    w.begin_array().real(s.median).real(s.min).real(s.max).real(s.mean).real(s.variance).real(s.low).real(s.high);
    w.integer(s.samples).integer(s.batch).integer(s.cold).integer(s.tight).integer(s.disturbed).end_array();
}
inline result<statistics> read_statistics(const json::value& v, const json::path& at) {
    EMMY_TRY(n, read_numbers(v, at, 12));
    statistics out{n[0], n[1], n[2], n[3], n[4], n[5], n[6]};
    out.samples = static_cast<int>(n[7]), out.batch = static_cast<int>(n[8]), out.cold = n[9] != 0, out.tight = n[10] != 0, out.disturbed = static_cast<int>(n[11]);
    return out;
}

inline void write_measured(json::writer& w, const measured& m) {
    w.key("kernels").begin_array();
    for (const statistics& s : m.kernels) write_statistics(w, s);
    w.end_array();
    if (m.against) w.key("against"), write_statistics(w, *m.against);
    w.key("name").string(m.reference_name).key("note").string(m.reference_note);
}
inline result<measured> read_measured(json::fields& f) {
    measured out;
    EMMY_TRY(kernels, f.need("kernels"));
    EMMY_TRY(items, json::read_array(*kernels, f.at("kernels")));
    for (const json::value& item : items) {
        EMMY_TRY(one, read_statistics(item, f.at("kernels")));
        out.kernels.push_back(one);
    }
    if (const json::value* against = f.may("against")) {
        EMMY_TRY(one, read_statistics(*against, f.at("against")));
        out.against = one;
    }
    EMMY_TRY(name, f.need("name"));
    EMMY_TRY(name_text, json::read_string(*name, f.at("name")));
    EMMY_TRY(note, f.need("note"));
    EMMY_TRY(note_text, json::read_string(*note, f.at("note")));
    out.reference_name = name_text, out.reference_note = note_text;
    return out;
}

inline void write_ceilings(json::writer& w, const ceilings& c) {
    w.key("team").integer(c.team).key("flops").begin_array().real(c.flops_f32).real(c.flops_f64).real(c.flops_f16).end_array().key("bandwidth").begin_array();
    for (const ceilings::level& l : c.bandwidth) w.begin_array().integer(static_cast<std::int64_t>(l.footprint)).real(l.bytes_per_second).end_array();
    w.end_array();
}
inline result<ceilings> read_ceilings(json::fields& f) {
    ceilings out;
    EMMY_TRY(team, f.need("team"));
    EMMY_TRY(parts, json::read_integer(*team, f.at("team")));
    out.team = static_cast<int>(parts);
    EMMY_TRY(flops, f.need("flops"));
    EMMY_CHECK_OK(json::read_array(*flops, f.at("flops")).map([](auto) {}));
    double* const to[] = {&out.flops_f32, &out.flops_f64, &out.flops_f16};
    if (flops->size() != 3) return refuse(json::problem(f.at("flops"), "expected 3 numbers"));
    for (std::size_t i = 0; i < 3; ++i) {
        EMMY_TRY(number, json::read_real(flops->items()[i], f.at("flops")));
        *to[i] = number;
    }
    EMMY_TRY(levels, f.need("bandwidth"));
    EMMY_TRY(items, json::read_array(*levels, f.at("bandwidth")));
    for (const json::value& level : items) {
        EMMY_TRY(pair, json::read_array(level, f.at("bandwidth")));
        if (pair.size() != 2) return refuse(json::problem(f.at("bandwidth"), "expected [bytes, bytes per second]"));
        EMMY_TRY(bytes, json::read_integer(pair[0], f.at("bandwidth")));
        EMMY_TRY(rate, json::read_real(pair[1], f.at("bandwidth")));
        out.bandwidth.push_back({static_cast<std::uint64_t>(bytes), rate});
    }
    return out;
}

}  // namespace emmy::device::detail
