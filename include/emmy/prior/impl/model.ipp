#pragma once
#include <emmy/prior/model.hpp>

#include <emmy/core/json.hpp>

namespace emmy::prior {
namespace detail {

template <class Terms>
struct number {
    std::string_view name;
    double Terms::* at;
};
inline constexpr number<cpu_terms> cpu_numbers[] = {{"arithmetic", &cpu_terms::arithmetic}, {"load", &cpu_terms::load}, {"store", &cpu_terms::store}, {"narrow", &cpu_terms::narrow},
    {"divide", &cpu_terms::divide}, {"exponential", &cpu_terms::exponential}, {"library", &cpu_terms::library}, {"scalar_operation", &cpu_terms::scalar_operation},
    {"scalar_memory", &cpu_terms::scalar_memory}, {"lane", &cpu_terms::lane}, {"latency", &cpu_terms::latency}, {"maximum_latency", &cpu_terms::maximum_latency}, {"across", &cpu_terms::across},
    {"iteration", &cpu_terms::iteration}, {"row", &cpu_terms::row}, {"item", &cpu_terms::item}, {"page", &cpu_terms::page}, {"strip_waste", &cpu_terms::strip_waste},
    {"pack_scatter", &cpu_terms::pack_scatter}, {"edge_cell", &cpu_terms::edge_cell}, {"overlap", &cpu_terms::overlap}, {"fetched", &cpu_terms::fetched}, {"launch_us", &cpu_terms::launch_us},
    {"member_us", &cpu_terms::member_us}, {"barrier_us", &cpu_terms::barrier_us}};
inline constexpr number<gpu_terms> gpu_numbers[] = {{"launch_us", &gpu_terms::launch_us}, {"matrix", &gpu_terms::matrix}, {"wgmma", &gpu_terms::wgmma}, {"scalar", &gpu_terms::scalar},
    {"memory", &gpu_terms::memory}, {"cache", &gpu_terms::cache}, {"shared_per_clock", &gpu_terms::shared_per_clock}, {"fill_per_clock", &gpu_terms::fill_per_clock},
    {"clock_ghz", &gpu_terms::clock_ghz}, {"latency_us", &gpu_terms::latency_us}, {"warps_to_hide", &gpu_terms::warps_to_hide}, {"barrier_us", &gpu_terms::barrier_us}};
// A number without a line here would not travel.
static_assert(sizeof(cpu_terms) == sizeof(double) * std::size(cpu_numbers) && sizeof(gpu_terms) == sizeof(double) * std::size(gpu_numbers));

template <class Terms, std::size_t N>
result<void> read_numbers(const json::value& from, const json::path& where, const number<Terms> (&numbers)[N], Terms& out) {
    json::fields f(from, where);
    for (const number<Terms>& n : numbers) {
        const json::value* v = f.may(n.name);
        if (!v) continue;
        EMMY_TRY(x, json::read_real(*v, f.at(n.name)));
        if (!(x >= 0)) return refuse(json::problem(f.at(n.name), "found a number below 0, expected cycles, a rate or a share"));
        out.*n.at = x;
    }
    return f.done();
}
template <class Terms, std::size_t N>
void write_numbers(json::writer& w, const number<Terms> (&numbers)[N], const Terms& from) {
    w.begin_object();
    for (const number<Terms>& n : numbers) w.key(n.name).real(from.*n.at);
    w.end_object();
}
}  // namespace detail

EMMY_DECL std::string model::stamp() const { return "analytic/" + std::to_string(analytic_version) + (label.empty() ? "" : ":" + label); }

EMMY_DECL result<model> read_model(std::string_view text, std::string_view file) {
    EMMY_TRY(document, json::document::parse(text, file));
    const auto read = [&]() -> result<model> {
        const json::path where;
        json::fields f(document.root(), where);
        EMMY_TRY(format, f.need("format"));
        EMMY_TRY(name, json::read_string(*format, f.at("format")));
        if (name != "emmy-prior") return refuse(json::problem(f.at("format"), "found \"" + std::string(name.substr(0, 40)) + "\", expected \"emmy-prior\""));
        // The version decides before anything that it might change the meaning of.
        EMMY_TRY(version, f.need("version"));
        EMMY_TRY(number, json::read_integer(*version, f.at("version")));
        if (number != analytic_version) return refuse(fault_kind::input, "version " + std::to_string(number) + ", expected " + std::to_string(analytic_version));
        EMMY_TRY(kind, f.need("kind"));
        EMMY_TRY(which, json::read_string(*kind, f.at("kind")));
        if (which != "analytic") return refuse(json::problem(f.at("kind"), "found \"" + std::string(which.substr(0, 40)) + "\", expected \"analytic\""));
        model out;
        EMMY_TRY(label, f.need("label"));
        EMMY_TRY(word, json::read_string(*label, f.at("label")));
        if (word.empty() || word.size() > 40) return refuse(json::problem(f.at("label"), "found " + std::to_string(word.size()) + " bytes, expected 1 to 40"));
        out.label = word;
        if (const json::value* cpu = f.may("cpu")) EMMY_CHECK_OK(detail::read_numbers(*cpu, f.at("cpu"), detail::cpu_numbers, out.cpu));
        if (const json::value* gpu = f.may("gpu")) EMMY_CHECK_OK(detail::read_numbers(*gpu, f.at("gpu"), detail::gpu_numbers, out.gpu));
        EMMY_CHECK_OK(f.done());
        return out;
    };
    auto out = read();
    if (!out) return refuse(std::move(out).error().in_file(std::string(file)));
    return out;
}

EMMY_DECL std::string model_text(const model& m) {
    std::string out;
    json::writer w(out, json::writer::layout::spaced);
    w.begin_object().key("format").string("emmy-prior").key("version").integer(analytic_version).key("kind").string("analytic").key("label").string(m.label.empty() ? "built-in" : m.label);
    w.key("cpu");
    detail::write_numbers(w, detail::cpu_numbers, m.cpu);
    w.key("gpu");
    detail::write_numbers(w, detail::gpu_numbers, m.gpu);
    w.end_object();
    return out + "\n";
}

EMMY_DECL std::string refusal_note(std::string_view file, const fault& why) {
    return "prior: " + std::string(file) + " refused: " + (why.place().empty() ? "" : why.place() + ": ") + why.message();
}

}  // namespace emmy::prior
