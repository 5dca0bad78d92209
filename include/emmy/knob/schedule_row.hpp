#pragma once
#include <emmy/knob/entries.hpp>
#include <emmy/knob/families.hpp>
#include <emmy/knob/route.hpp>

#include <optional>
#include <span>
#include <vector>

namespace emmy::knob {

/// A key and a value as written.
struct knob_pair {
    std::string_view key, value;
};

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
    using families = registry<WORK, RASTER, LOOPIFY, SHARED_CARRY, TILE, REDUCE, STAGE>;

private:
    struct kernel_slot {
        work work_value;
        raster raster_value;
        std::uint16_t loopify = 0;
        bool shared_carry = false;
        std::uint8_t present = 0;
        constexpr bool operator==(const kernel_slot&) const = default;
    };
    struct node_slot {
        tile tile_value;
        reduce reduce_value;
        stage stage_value;
        std::uint8_t present = 0;
        constexpr bool operator==(const node_slot&) const = default;
    };
    struct routed {
        route at;
        node_slot slot;
        constexpr bool operator==(const routed&) const = default;
    };

    template <class F>
    static constexpr std::uint8_t bit() {
        static_assert(families::contains<F>, "a schedule row holds WORK, RASTER, LOOPIFY, SHARED_CARRY, TILE, REDUCE and STAGE, expected one of these families");
        if constexpr (std::is_same_v<F, WORK> || std::is_same_v<F, TILE>) return 1;
        else if constexpr (std::is_same_v<F, RASTER> || std::is_same_v<F, REDUCE>) return 2;
        else if constexpr (std::is_same_v<F, LOOPIFY> || std::is_same_v<F, STAGE>) return 4;
        else return 8;
    }
    template <class F, class Slot>
    static constexpr auto& read(Slot& slot) {
        if constexpr (std::is_same_v<F, WORK>) return slot.work_value;
        else if constexpr (std::is_same_v<F, RASTER>) return slot.raster_value;
        else if constexpr (std::is_same_v<F, LOOPIFY>) return slot.loopify;
        else if constexpr (std::is_same_v<F, SHARED_CARRY>) return slot.shared_carry;
        else if constexpr (std::is_same_v<F, TILE>) return slot.tile_value;
        else if constexpr (std::is_same_v<F, REDUCE>) return slot.reduce_value;
        else return slot.stage_value;
    }
    template <class F, class Slot>
    static constexpr bool has(const Slot& slot) { return (slot.present & bit<F>()) != 0; }

    template <class F>
    constexpr auto find(const route& at) const {  // by value: small, and comparing addresses is no constant expression on g++ 12
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
        std::vector<knob_pair> pairs;
        detail::entry_list entries(text);
        while (const auto entry = entries.next()) {
            const std::size_t equals = entry->find('=');
            if (equals == std::string_view::npos) return emmy::refuse(refusal{"row", *entry, "KEY=VALUE", static_cast<std::uint32_t>(entry->size())});
            pairs.push_back({entry->substr(0, equals), entry->substr(equals + 1)});
        }
        return parse(std::span<const knob_pair>(pairs), check);
    }

    /// The choice of a family (at a site; the default is the bare key); nothing where the row has none.
    template <schedule_family F>
    constexpr std::optional<typename F::value_type> get(const route& at = {}) const {
        const auto slot = find<F>(at);
        if (!has<F>(slot)) return std::nullopt;
        return static_cast<typename F::value_type>(read<F>(slot));
    }
    /// The same, OFF where the row has none.
    template <schedule_family F>
    constexpr typename F::value_type value(const route& at = {}) const { return get<F>(at).value_or(F::off); }

    template <schedule_family F>
    constexpr schedule_row& set(typename F::value_type value, const route& at = {}) {
        auto& slot = claim<F>(at);
        slot.present = static_cast<std::uint8_t>(slot.present | bit<F>());
        read<F>(slot) = value;
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
        each_of<LOOPIFY>(f);
        each_of<RASTER>(f);
        each_of<REDUCE>(f);
        each_of<SHARED_CARRY>(f);
        each_of<STAGE>(f);
        each_of<TILE>(f);
        each_of<WORK>(f);
    }
    /// Calls f(key, value, is routed) for one family: the bare key, then sites by text.
    template <schedule_family F, class Function>
    constexpr void each_of(Function&& f) const {
        if (const auto v = get<F>()) f(F::name, F::spell(*v).view());
        if constexpr (F::where == scope::node)
            for (const routed& node : nodes_)
                if (has<F>(node.slot)) {
                    bounded_text<256> key(F::name);
                    key.append('@').append(node.at.spell().view());
                    f(key.view(), F::spell(read<F>(node.slot)).view());
                }
    }

    /// Errors (input): a TILE or REDUCE that does not go with the row's WORK.
    result<void> fits_own_work() const {
        const work under = value<WORK>();
        result<void> out;
        const auto check = [&]<class F>(const node_slot& slot, const route& at) {
            if (!out || !has<F>(slot)) return;
            if (const char* expected = F::misfit(read<F>(slot), under)) {
                const value_text text = F::spell(read<F>(slot));
                std::string key(F::name);
                if (!at.bare()) (key += '@') += at.spell().view();
                out = emmy::refuse(refusal{key, text.view(), expected, refusal::nowhere});
            }
        };
        check.template operator()<TILE>(bare_, {});
        check.template operator()<REDUCE>(bare_, {});
        for (const routed& node : nodes_) {
            check.template operator()<TILE>(node.slot, node.at);
            check.template operator()<REDUCE>(node.slot, node.at);
        }
        return out;
    }
    /// What a finished row must have: WORK and RASTER, and TILE or REDUCE where there is a STAGE. The reason where it lacks one.
    constexpr std::optional<refusal> why_incomplete() const {
        const auto missing = [](std::string_view found, std::string_view expected) { return refusal{"row", found, expected, refusal::nowhere, false}; };
        if (!get<WORK>() || !get<RASTER>()) return missing(get<WORK>() ? "no RASTER" : "no WORK", "WORK and RASTER in every complete row");
        std::uint8_t seen = bare_.present;
        for (const routed& node : nodes_) seen = static_cast<std::uint8_t>(seen | node.slot.present);
        if ((seen & bit<STAGE>()) && !(seen & (bit<TILE>() | bit<REDUCE>()))) return missing("STAGE alone", "a TILE or REDUCE beside it");
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
    static constexpr std::string_view one_of_them = "one of WORK, RASTER, TILE, REDUCE, STAGE, LOOPIFY, SHARED_CARRY";

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
