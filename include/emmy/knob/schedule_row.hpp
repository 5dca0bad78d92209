#pragma once
#include <emmy/knob/detail/entries.hpp>
#include <emmy/knob/families.hpp>
#include <emmy/knob/route.hpp>
#include <emmy/knob/row.hpp>

#include <optional>
#include <span>
#include <vector>

namespace emmy::knob {

/// What a value is checked against beside its own grammar.
enum class row_check : std::uint8_t {
    values_alone,   ///< as the loader of golden files does: each value under a stand-in WORK
    under_own_work  ///< TILE and REDUCE under the WORK of their row (no text where the row has none)
};

/// The choices inside one kernel: WORK, RASTER, LOOPIFY, SHARED_CARRY once, TILE, REDUCE (its part inside a CTA) and STAGE per site
/// or bare. Any of them may be absent. About 80 bytes; only routed keys allocate.
class schedule_row {
public:
    /// Families of its own; another one does not compile.
    using families = registry<WORK, RASTER, TILE, REDUCE, STAGE, LOOPIFY, SHARED_CARRY>;

private:
    /// Values of some families and which of them the row has, a bit each.
    template <family... Fs>
    struct slot_of {
        using families = registry<Fs...>;
        using values_type = knob::row<Fs...>;
        values_type values;
        std::uint8_t present = 0;
        constexpr bool operator==(const slot_of&) const = default;

        template <family F>
        static constexpr std::uint8_t bit = static_cast<std::uint8_t>(1u << values_type::template index_of<F>);
    };
    using kernel_slot = slot_of<WORK, RASTER, LOOPIFY, SHARED_CARRY>;
    using node_slot = slot_of<TILE, REDUCE, STAGE>;
    struct routed {
        route at;
        node_slot slot;
        constexpr bool operator==(const routed&) const = default;
    };

    template <class F, class Slot>
    static constexpr bool has(const Slot& slot) { return (slot.present & Slot::template bit<F>) != 0; }

    template <class F>
    constexpr auto find(const route& at) const {  // by value: small, and comparing addresses is no constant expression on g++ 12
        static_assert(families::contains<F>, "a schedule row holds WORK, RASTER, LOOPIFY, SHARED_CARRY, TILE, REDUCE and STAGE, expected one of these families");
        if constexpr (F::where == scope::kernel) {
            return kernel_;
        } else {
            if (at.bare()) return bare_;
            for (const routed& node : nodes_)
                if (node.at == at) return node.slot;
            return node_slot{};
        }
    }
    template <class F>
    constexpr auto& claim(const route& at) {
        static_assert(families::contains<F>, "a schedule row holds WORK, RASTER, LOOPIFY, SHARED_CARRY, TILE, REDUCE and STAGE, expected one of these families");
        if constexpr (F::where == scope::kernel) {
            return kernel_;
        } else {
            if (at.bare()) return bare_;
            std::size_t i = 0;
            while (i < nodes_.size() && nodes_[i].at < at) ++i;
            if (i == nodes_.size() || nodes_[i].at != at) nodes_.insert(nodes_.begin() + static_cast<std::ptrdiff_t>(i), routed{at, {}});
            return nodes_[i].slot;
        }
    }

    template <class F>
    constexpr std::optional<refusal> put_as(std::string_view key, const split_key& name, std::string_view text) {
        route at;
        if (name.addressed) {
            if (F::where == scope::kernel) return refusal{F::name, key, "the bare key, one choice a kernel", static_cast<std::uint32_t>(F::name.size())};
            const auto site = route::parse(name.address, key);
            if (!site) return site.error();
            at = *site;
        }
        const auto parsed_value = F::parse(text);
        if (!parsed_value) {
            refusal why = parsed_value.error();
            why.place = key;
            return why;
        }
        if constexpr (std::is_same_v<F, REDUCE>)
            if (parsed_value->crosses_ctas()) return refusal{key, "a structural choice (a cross-CTA split)", only_schedule, refusal::nowhere, false};
        if (get<F>(at)) return refusal{key, "the key twice", "it once", refusal::nowhere, false};
        set<F>(*parsed_value, at);
        return std::nullopt;
    }

public:
    constexpr schedule_row() = default;

    /// Errors (input): a structural or regime family, an unknown key, a repeated key, a value that is not canonical.
    static result<schedule_row> parse(std::span<const knob_pair> pairs, row_check check = row_check::under_own_work) {
        schedule_row out;
        for (const auto& [key, value] : pairs)
            if (const auto why = out.put(key, value)) return emmy::refuse(*why);
        if (check == row_check::under_own_work) EMMY_CHECK_OK(out.fits_own_work());
        return out;
    }
    /// The same from a text: "WORK=t16,REDUCE=coop", or "REDUCE=coop WORK=t16" as tools print rows. No text = the empty row.
    static result<schedule_row> parse(std::string_view text, row_check check = row_check::under_own_work) {
        schedule_row out;
        if (const auto why = detail::each_pair(text, "row", [&](std::string_view key, std::string_view value) { return out.put(key, value); })) return emmy::refuse(*why);
        if (check == row_check::under_own_work) EMMY_CHECK_OK(out.fits_own_work());
        return out;
    }

    /// The choice of a family (at a site; the default is the bare key); nothing where the row has none.
    template <schedule_family F>
    constexpr std::optional<typename F::value_type> get(const route& at = {}) const {
        const auto slot = find<F>(at);
        if (!has<F>(slot)) return std::nullopt;
        return slot.values.template get<F>();
    }
    /// The same, OFF where the row has none.
    template <schedule_family F>
    constexpr typename F::value_type value(const route& at = {}) const { return get<F>(at).value_or(F::off); }

    template <schedule_family F>
    constexpr schedule_row& set(typename F::value_type value, const route& at = {}) {
        auto& slot = claim<F>(at);
        slot.present = static_cast<std::uint8_t>(slot.present | slot.template bit<F>);
        slot.values = slot.values.template with<F>(value);
        return *this;
    }

    /// Adds one pair, its value checked alone; the reason when it is refused.
    // Behind set(): clang instantiates what a body needs when it meets it, and would not find set's yet.
    constexpr std::optional<refusal> put(std::string_view key, std::string_view value) {
        const split_key name(key);
        std::optional<refusal> why;
        const bool known = built_in::visit(name.family, [&]<class F>() {
            if constexpr (!schedule_family<F>) {
                why = refusal{key, F::meaning == role::structural ? "a structural family" : "a regime family", only_schedule, refusal::nowhere, false};
            } else {
                why = put_as<F>(key, name, value);
            }
        });
        if (!known) why = refusal{"row", key, one_of_them, 0};
        return why;
    }

    constexpr bool empty() const { return size() == 0; }
    /// Pairs of the row.
    constexpr std::size_t size() const {
        std::size_t out = ones(kernel_.present) + ones(bare_.present);
        for (const routed& node : nodes_) out += ones(node.slot.present);
        return out;
    }
    /// Routed sites, by text.
    constexpr std::size_t sites() const { return nodes_.size(); }
    constexpr const route& site(std::size_t i) const { return nodes_[i].at; }

    /// Calls f(key, value) with texts, keys sorted by code point. The views live for the call.
    template <class Function>
    constexpr void each(Function&& f) const {
        families::each_by_name([&]<class F>() { each_of<F>(f); });
    }
    /// Calls f(key, value) for one family: the bare key, then sites by text.
    template <schedule_family F, class Function>
    constexpr void each_of(Function&& f) const {
        if (const auto v = get<F>()) f(F::name, F::spell(*v).view());
        if constexpr (F::where == scope::node)
            for (const routed& node : nodes_)
                if (has<F>(node.slot)) {
                    bounded_text<256> key(F::name);
                    key.append('@').append(node.at.spell().view());
                    f(key.view(), F::spell(node.slot.values.template get<F>()).view());
                }
    }

    /// Errors (input): a TILE or REDUCE that does not go with the row's WORK.
    result<void> fits_own_work() const {
        const work under = value<WORK>();
        result<void> out;
        const auto check = [&](const node_slot& slot, const route& at) {
            node_slot::families::each([&]<class F>() {
                if constexpr (contextual<F>) {
                    if (!out || !has<F>(slot)) return;
                    const auto& v = slot.values.template get<F>();
                    if (const char* expected = F::misfit(v, under)) {
                        std::string key(F::name);
                        if (!at.bare()) (key += '@') += at.spell().view();
                        out = emmy::refuse(refusal{key, F::spell(v).view(), expected, refusal::nowhere});
                    }
                }
            });
        };
        check(bare_, {});
        for (const routed& node : nodes_) check(node.slot, node.at);
        return out;
    }
    /// What a finished row must have: WORK and RASTER, and TILE or REDUCE where there is a STAGE. The reason where it lacks one.
    constexpr std::optional<refusal> why_incomplete() const {
        const auto missing = [](std::string_view found, std::string_view expected) { return refusal{"row", found, expected, refusal::nowhere, false}; };
        if (!get<WORK>() || !get<RASTER>()) return missing(get<WORK>() ? "no RASTER" : "no WORK", "WORK and RASTER in every complete row");
        node_slot seen = bare_;
        for (const routed& node : nodes_) seen.present = static_cast<std::uint8_t>(seen.present | node.slot.present);
        if (has<STAGE>(seen) && !has<TILE>(seen) && !has<REDUCE>(seen)) return missing("STAGE alone", "a TILE or REDUCE beside it");
        return std::nullopt;
    }
    /// The same as a result. Errors (input).
    result<void> is_complete() const {
        if (const auto why = why_incomplete()) return emmy::refuse(*why);
        return {};
    }

    /// The same pairs. See same_choice for what makes two rows one schedule.
    constexpr bool operator==(const schedule_row&) const = default;

    static constexpr std::string_view only_schedule = "schedule families only in a schedule row";
    static constexpr std::string_view one_of_them = families::one_of_them.view();

private:
    static constexpr std::size_t ones(std::uint8_t bits) {
        std::size_t out = 0;
        for (; bits; bits = static_cast<std::uint8_t>(bits & (bits - 1))) ++out;
        return out;
    }

    kernel_slot kernel_;
    node_slot bare_;
    std::vector<routed> nodes_;  // sorted by the text of their route
};

}  // namespace emmy::knob
