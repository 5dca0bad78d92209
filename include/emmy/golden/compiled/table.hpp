#pragma once
#include <emmy/golden/compiled/source.hpp>
#include <emmy/knob/routing_row.hpp>
#include <emmy/knob/schedule_row.hpp>

#include <concepts>
#include <initializer_list>
#include <optional>

/// A golden file as constants of a program: rows of typed knob values, found by kernel and sizes, without JSON and without parsing.
namespace emmy::golden::compiled {

/// A key once parsed.
struct parsed_key {
    std::uint8_t family = 0;  ///< place in schedule_row::families
    knob::route at;
};

/// The pins that a row was measured under, "FAST_MATH=true,COLD_CACHE=true". Two are equal when they pin the same, in any order; FAST_MATH=false is what
/// no pin of it means. No other pin is left out: a gate that is pinned to OFF under FAST_MATH=true is another regime.
class regime {
public:
    constexpr regime(std::string_view pins = {}) : pins_(pins) {}
    constexpr regime(const char* pins) : pins_(pins) {}
    /// FAST_MATH and nothing else.
    constexpr regime(std::same_as<bool> auto fast_math) : pins_(fast_math ? "FAST_MATH=true" : "") {}

    constexpr std::string_view pins() const { return pins_; }
    constexpr bool has(std::string_view pin) const {
        bool found = false;
        each([&](std::string_view p) { found = found || p == pin; });
        return found;
    }
    friend constexpr bool operator==(const regime& a, const regime& b) { return a.within(b) && b.within(a); }

private:
    template <class Function>
    constexpr void each(Function&& f) const {
        for (std::string_view rest = pins_; !rest.empty();) {
            const std::string_view pin = rest.substr(0, rest.find(','));
            rest.remove_prefix(pin.size() == rest.size() ? rest.size() : pin.size() + 1);
            f(pin);
        }
    }
    constexpr bool within(const regime& other) const {
        bool all = true;
        each([&](std::string_view p) { all = all && (p == "FAST_MATH=false" || other.has(p)); });
        return all;
    }
    std::string_view pins_;
};

class table;

/// One row: a view of read-only data.
class row {
public:
    constexpr row(const table& of, const row_data& data) : of_(&of), data_(&data) {}

    constexpr std::string_view name() const { return data_->name; }
    constexpr std::uint32_t kernel() const { return data_->kernel; }
    constexpr const digest128& identity() const;
    constexpr bool measured() const { return data_->us > 0; }
    constexpr double us() const { return data_->us; }  ///< measured median in µs; 0 where it was not measured
    constexpr std::string_view regime() const;
    constexpr bool fast_math() const { return compiled::regime(regime()).has("FAST_MATH=true"); }
    constexpr std::span<const size_of_symbol> sizes() const;

    /// The choice of a family (at a site; the default is the bare key); nothing where the row has none.
    template <knob::schedule_family F>
    constexpr std::optional<typename F::value_type> get(const knob::route& at = {}) const;
    /// The same, OFF where the row has none.
    template <knob::schedule_family F>
    constexpr typename F::value_type value(const knob::route& at = {}) const { return get<F>(at).value_or(F::off); }
    constexpr knob::schedule_row schedule() const;
    /// Calls f(key, value) with texts of static storage, sorted by key.
    template <class Function>
    constexpr void each(Function&& f) const;

    constexpr bool operator==(const row&) const = default;

private:
    const table* of_;
    const row_data* data_;
};

/// A kernel-set decision.
struct route_view {
    std::uint32_t parent;
    std::span<const std::uint32_t> arm;       ///< places in source::choices
    std::span<const std::uint32_t> children;  ///< kernels, in fragment order
};

namespace detail {
/// The distinct values of a family, as the texts of its dictionary read.
template <knob::schedule_family F>
struct column {
    std::span<const typename F::value_type> values;
};
template <class Registry>
struct columns;
template <class... Fs>
struct columns<knob::registry<Fs...>> : column<Fs>... {};

/// Where a source has the dictionary of each family of schedule_row::families.
inline constexpr std::span<const std::string_view> source::*dictionaries[] = {&source::work,  &source::raster,  &source::tile,        &source::reduce,
                                                                             &source::stage, &source::loopify, &source::shared_carry};
static_assert(std::size(dictionaries) == knob::schedule_row::families::size);
}  // namespace detail

/// All of a file. Made by the compiler (checked<source>); every view in it is of static storage.
class table : public detail::columns<knob::schedule_row::families> {
public:
    const compiled::source* source = nullptr;
    std::span<const parsed_key> keys;

    constexpr std::string_view card() const { return source->card; }
    constexpr capability cc() const { return source->cc; }
    constexpr std::size_t size() const { return source->row_count(); }
    constexpr compiled::row operator[](std::size_t i) const { return {*this, source->row(i)}; }

    /// The fastest measured row of a kernel at exactly these sizes, measured under exactly this regime: true or false (FAST_MATH, nothing else pinned) or
    /// all its pins, "FAST_MATH=true,COLD_CACHE=true"; nothing where none was measured.
    constexpr std::optional<compiled::row> find(const digest128& kernel, std::span<const size_of_symbol> sizes = {}, const regime& under = {}) const {
        std::optional<compiled::row> best;
        for (const auto& rows : source->tables)
            for (const row_data& data : rows) {
                const compiled::row candidate(*this, data);
                if (!candidate.measured() || candidate.identity() != kernel || compiled::regime(candidate.regime()) != under || !same(candidate.sizes(), sizes)) continue;
                if (!best || candidate.us() < best->us()) best = candidate;
            }
        return best;
    }
    constexpr std::optional<compiled::row> find(const digest128& kernel, std::initializer_list<size_of_symbol> sizes, const regime& under = {}) const {
        return find(kernel, std::span<const size_of_symbol>(sizes.begin(), sizes.size()), under);
    }

    constexpr std::span<const kernel_data> kernels() const { return source->kernels; }
    /// Zero when the file has no such reference.
    constexpr digest128 identity(std::string_view ref) const {
        for (const kernel_data& k : source->kernels)
            if (k.ref == ref) return k.identity;
        return {};
    }

    constexpr std::size_t route_count() const { return source->routes.size(); }
    constexpr route_view route(std::size_t i) const {
        const route_data& r = source->routes[i];
        return {r.parent, source->arms.subspan(r.first_choice, r.choices), source->children.subspan(r.first_child, r.children)};
    }

    template <knob::schedule_family F>
    constexpr auto values() const { return static_cast<const detail::column<F>&>(*this).values; }
    template <knob::schedule_family F>
    static constexpr std::span<const std::string_view> dictionary(const compiled::source& s) { return s.*detail::dictionaries[knob::schedule_row::families::index_of<F>]; }
    /// Calls f.template operator()<F>() for the family at a place of schedule_row::families.
    template <class Function>
    static constexpr void with_family(std::uint8_t place, Function&& f) {
        std::uint8_t i = 0;
        knob::schedule_row::families::each([&]<class F>() {
            if (i++ == place) f.template operator()<F>();
        });
    }

private:
    static constexpr bool same(std::span<const size_of_symbol> a, std::span<const size_of_symbol> b) {
        if (a.size() != b.size()) return false;
        for (const size_of_symbol& x : a) {
            bool there = false;
            for (const size_of_symbol& y : b) there = there || x == y;
            if (!there) return false;
        }
        return true;
    }
};

constexpr const digest128& row::identity() const { return of_->source->kernels[data_->kernel].identity; }
constexpr std::string_view row::regime() const { return of_->source->regimes[data_->regime]; }
constexpr std::span<const size_of_symbol> row::sizes() const { return of_->source->sizes.subspan(data_->first_size, data_->sizes); }

template <knob::schedule_family F>
constexpr std::optional<typename F::value_type> row::get(const knob::route& at) const {
    for (const knob_at& k : of_->source->knobs.subspan(data_->first_knob, data_->knobs)) {
        const parsed_key& key = of_->keys[k.key];
        if (key.family == knob::schedule_row::families::index_of<F> && key.at == at) return of_->values<F>()[k.value];
    }
    return std::nullopt;
}
constexpr knob::schedule_row row::schedule() const {
    knob::schedule_row out;
    for (const knob_at& k : of_->source->knobs.subspan(data_->first_knob, data_->knobs)) {
        const parsed_key& key = of_->keys[k.key];
        table::with_family(key.family, [&]<class F>() { out.template set<F>(of_->values<F>()[k.value], key.at); });
    }
    return out;
}
template <class Function>
constexpr void row::each(Function&& f) const {
    const compiled::source& s = *of_->source;
    for (const knob_at& k : s.knobs.subspan(data_->first_knob, data_->knobs))
        table::with_family(of_->keys[k.key].family, [&]<class F>() { f(s.keys[k.key], table::dictionary<F>(s)[k.value]); });
}

/// A row as a type, for those who want to dispatch on one: instantiated where it is used.
///   using best = golden_row<llama_h100::table, 7>;   best::value<TILE>()
template <const table& Table, std::size_t Place>
struct golden_row {
    static_assert(Place < Table.size(), "found a row beyond the end of the table, expected a place below its size");
    static constexpr compiled::row view = Table[Place];
    template <knob::schedule_family F>
    static constexpr auto value(const knob::route& at = {}) { return view.template value<F>(at); }
};

}  // namespace emmy::golden::compiled
