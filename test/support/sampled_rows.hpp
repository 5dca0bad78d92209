#pragma once
// Real bodies of any size on this processor: loops cut to a few steps, inputs of any size from one repeated page run, sampled cells
// against the interpreter.
#include "fork_explore.hpp"

#include <emmy/fold/access.hpp>
#include <emmy/loop/sample.hpp>

#include <deque>
#include <sys/mman.h>

namespace emmy::test {

/// The kernel with every loop of more than `limit` steps cut to that many. Buffers and indices stay: every access stays inside. Loops
/// over the cells of a carried state stay whole: the state has its seed's shape.
inline loop::kernel cut_loops(const loop::kernel& k, std::int64_t limit) {
    loop::kernel out = k;
    const loop::body& b = k.body;
    const auto is_cell = [&](name_id axis) {
        for (const loop::stmt& s : b.stmts)
            if (s.kind == loop::stmt_kind::carry)
                for (expr_id e : b.expressions(s.index))
                    if (fold::names(b, e, axis)) return true;
        return false;
    };
    for (loop::stmt& s : out.body.stmts)
        if ((s.kind == loop::stmt_kind::loop || s.kind == loop::stmt_kind::strided_loop) && s.axis.extent.kind == dim::form::number && !is_cell(s.axis.name)) s.axis.extent.number = std::min(s.axis.extent.number, limit);
    return out;
}

/// Bytes of any length that repeat one run of 257 pages; costs that run's memory.
class repeated_bytes {
public:
    static constexpr std::size_t period = 257 * 4096;
    explicit repeated_bytes(std::size_t size) : size_(size), mapped_((size + period - 1) / period * period) {
        const int file = ::memfd_create("emmy", 0);
        BOOST_REQUIRE(file >= 0 && ::ftruncate(file, static_cast<off_t>(period)) == 0);
        data_ = static_cast<std::byte*>(::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        BOOST_REQUIRE(data_ != MAP_FAILED);
        for (std::size_t at = 0; at < mapped_; at += period) BOOST_REQUIRE(::mmap(data_ + at, period, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED);
        ::close(file);
    }
    ~repeated_bytes() { ::munmap(data_, mapped_); }
    repeated_bytes(const repeated_bytes&) = delete;
    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    std::size_t size_, mapped_;
    std::byte* data_ = nullptr;
};
/// Zeroed memory that costs what is touched.
class sparse_bytes {
public:
    explicit sparse_bytes(std::size_t size) : size_(size + 64) {
        data_ = static_cast<std::byte*>(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        BOOST_REQUIRE(data_ != MAP_FAILED);
    }
    ~sparse_bytes() { ::munmap(data_, size_); }
    sparse_bytes(const sparse_bytes&) = delete;
    std::byte* data() const { return data_; }

private:
    std::size_t size_;
    std::byte* data_ = nullptr;
};

struct pattern {
    dtype type;
    const std::byte* bytes;
    std::size_t elements;
    static double at(const void* self, std::uint64_t e) {
        const auto* p = static_cast<const pattern*>(self);
        return load_element(p->type, p->bytes, static_cast<std::size_t>(e % p->elements));
    }
};

struct sampled_options {
    std::size_t rows = 64, cells = 48;
    std::vector<loop::symbol_size> sizes;
    std::uint64_t seed = 1;
    double bound = 2e-4;                   ///< beside what roundings on the way may do (interpreter::bounded_cell)
    std::string optimisation = "-O1";
    fork::cpu_target target = host_target();
};
struct sampled {
    std::size_t rows = 0, tried = 0, runs = 0, cells = 0, unbounded = 0, wrong = 0;
    std::string first_wrong;
};

/// Rows of a kernel (all, or `rows` drawn with the default among them), teams of one and three, `cells` sampled cells each.
inline sampled check_sampled_rows(const loop::kernel& k, const sampled_options& options = {}) {
    sampled out;
    auto schedules = fork::cpu_schedules::make(k, options.target);
    BOOST_REQUIRE_MESSAGE(schedules, k.name << ": " << (schedules ? "" : schedules.error().line()));
    const auto rows = schedules->rows();
    out.rows = rows.size();
    std::vector<std::size_t> chosen{0};
    std::mt19937_64 random(options.seed);
    if (rows.size() <= options.rows)
        for (std::size_t i = 1; i < rows.size(); ++i) chosen.push_back(i);
    while (chosen.size() < std::min(options.rows, rows.size()))
        if (const std::size_t i = random() % rows.size(); std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);

    loop::interpret_options asked;
    asked.sizes = options.sizes, asked.bounds = true;
    auto reference = loop::interpreter::make(k, asked);
    BOOST_REQUIRE_MESSAGE(reference, k.name << ": " << (reference ? "" : reference.error().line()));
    const auto elements = [](std::span<const std::int64_t> shape) {
        std::size_t n = 1;
        for (std::int64_t d : shape) n *= static_cast<std::size_t>(d);
        return n;
    };
    std::deque<repeated_bytes> inputs;
    std::deque<pattern> patterns;
    std::vector<loop::input_data> sources = loop::seeded_inputs(k, options.seed);
    for (std::size_t i = 0; i < k.inputs.size(); ++i) {
        const dtype t = k.inputs[i].type;
        const std::size_t n = elements(reference->input_shape(i)), size = byte_size(t);
        repeated_bytes& b = inputs.emplace_back(std::max<std::size_t>(n * size, 1));
        const std::size_t held = std::min(n, repeated_bytes::period / size);
        const double low = sources[i].low, high = sources[i].high;
        for (std::size_t e = 0; e < held; ++e) {
            const double u = low + (high - low) * (static_cast<double>(random() >> 11) / 9007199254740992.0);
            if (reads_as_integer(t)) store_integer(t, b.data(), e, static_cast<std::int64_t>(std::floor(u)));
            else store_real(t, b.data(), e, u);
        }
        patterns.push_back({t, b.data(), held});
        sources[i] = loop::input_data::of_function(&pattern::at, &patterns.back());
    }
    BOOST_REQUIRE(reference->bind(sources));
    std::vector<loop::sampled_cell> cells = loop::sample_cells(*reference, options.seed, options.cells);
    struct expected_cell {
        std::size_t output, element;
        double value, bound;
    };
    std::vector<expected_cell> expected;
    for (const loop::sampled_cell& c : cells) {
        auto v = reference->bounded_cell(c.output, c.at);
        BOOST_REQUIRE_MESSAGE(v, k.name << ": " << (v ? "" : v.error().line()));
        std::size_t element = 0;
        const auto shape = reference->output_shape(c.output);
        for (std::size_t d = 0; d < shape.size(); ++d) element = element * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(c.at[d]);
        expected.push_back({c.output, element, v->value, v->bound});
        out.unbounded += std::isinf(v->bound);
    }

    constexpr std::size_t batch = 16;
    for (std::size_t first = 0; first < chosen.size(); first += batch) {
        std::vector<kernel::cpu_text> texts;
        for (std::size_t c = first; c < std::min(chosen.size(), first + batch); ++c) {
            auto text = kernel::lower_cpu(*schedules, rows[chosen[c]]);
            BOOST_REQUIRE_MESSAGE(text, k.name << ": " << (text ? "" : text.error().line()));
            texts.push_back(std::move(*text));
        }
        const compiled_texts code(texts, options.optimisation);
        for (std::size_t c = 0; c < texts.size(); ++c)
            for (int parts : {1, 3}) {
                const std::vector<long long> values = texts[c].launch_sizes(k, options.sizes);
                std::deque<sparse_bytes> results;
                std::vector<void*> buffers;
                for (auto& b : inputs) buffers.push_back(b.data());
                for (std::size_t o = 0; o < k.outputs.size(); ++o) {
                    const std::size_t size = elements(reference->output_shape(o)) * byte_size(k.outputs[o].type);
                    buffers.push_back(results.emplace_back(size).data());
                    if (size <= (4u << 20)) std::memset(results.back().data(), 0xff, size);
                }
                run_text(code[c], texts[c], buffers, values, parts);
                ++out.runs;
                for (const expected_cell& e : expected) {
                    const dtype t = k.outputs[e.output].type;
                    const double got = load_element(t, results[e.output].data(), e.element);
                    ++out.cells;
                    double allowed = options.bound * (1 + std::fabs(e.value)) + 1.5 * e.bound;
                    if (t == dtype::f8e4m3 || t == dtype::f8e5m2) allowed += std::fabs(e.value) * (t == dtype::f8e4m3 ? 0.13 : 0.26) + 0.002;
                    if (t == dtype::f16) allowed += std::fabs(e.value) * 1e-3;
                    if (t == dtype::bf16) allowed += std::fabs(e.value) * 8e-3;
                    if (got == e.value || (std::isnan(got) && std::isnan(e.value)) || std::fabs(got - e.value) <= allowed) continue;
                    if (out.wrong++ == 0) {
                        std::string row;
                        for (const auto& [key, value] : schedules->pairs(rows[chosen[first + c]])) row += key + "=" + value + ",";
                        out.first_wrong = k.name + " " + row + " team " + std::to_string(parts) + ": output " + std::to_string(e.output) + " element " + std::to_string(e.element) + ": " + std::to_string(got) +
                                          ", expected " + std::to_string(e.value) + " +- " + std::to_string(allowed);
                    }
                }
            }
        out.tried += texts.size();
    }
    return out;
}

/// The kernel cut so that one run and one cell are cheap, and sizes for its symbols.
inline loop::kernel affordable(const loop::kernel& k, std::vector<loop::symbol_size>& sizes, std::uint64_t run_limit, std::uint64_t cell_limit) {
    for (std::int64_t limit : {67, 48, 33, 32, 19, 16, 9, 8, 5, 4, 3, 2, 1}) {
        loop::kernel cut = cut_loops(k, limit);
        sizes.clear();
        for (name_id s : loop::symbols(k)) sizes.push_back({std::string(k.body.text(s)), std::max<std::int64_t>(1, limit - 1)});
        loop::interpret_options asked;
        asked.sizes = sizes;
        auto made = loop::interpreter::make(cut, asked);
        if (!made) return cut;
        std::uint64_t cell = 0;
        for (std::size_t o = 0; o < cut.outputs.size(); ++o) cell = std::max(cell, made->cell_cost(o));
        if ((made->run_cost() <= run_limit && cell <= cell_limit) || limit == 1) return cut;
    }
    return k;
}

}  // namespace emmy::test
