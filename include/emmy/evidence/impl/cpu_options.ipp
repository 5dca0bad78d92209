#pragma once
#include <emmy/evidence/cpu_options.hpp>

#include <emmy/fork/schedule.hpp>
#include <emmy/knob/agree.hpp>
#include <emmy/knob/route.hpp>

#include <algorithm>

namespace emmy::evidence {
namespace detail {
inline const std::string* value_of(const store::knob_list& row, std::string_view key) {
    for (const auto& [name, value] : row)
        if (name == key) return &value;
    return nullptr;
}
inline bool matches_pins(const store::knob_list& row, const store::knob_list& pins) {
    return std::all_of(pins.begin(), pins.end(), [&](const auto& pin) { return knob::realises(row, pin.first, pin.second); });
}
}  // namespace detail

EMMY_DECL cpu_options::cpu_options(const fork::cpu_schedules& schedules) : schedules_(&schedules) {}
EMMY_DECL cpu_options::cpu_options(cpu_options&& other) noexcept = default;
EMMY_DECL cpu_options& cpu_options::operator=(cpu_options&& other) noexcept = default;
EMMY_DECL cpu_options::~cpu_options() = default;

EMMY_DECL result<cpu_options> cpu_options::make(const fork::cpu_schedules& schedules, const store::knob_list& pins, std::span<const store::knob_list> blocked) {
    cpu_options out(schedules);
    out.pins_ = pins;
    if (!blocked.empty()) {
        EMMY_TRY(all, make(schedules, pins));
        for (const store::knob_list& row : blocked)
            if (const auto known = schedules.row(row)) out.blocked_.push_back(*known);
        for (const fork::cpu_row& row : all.rows())
            if (std::find(out.blocked_.begin(), out.blocked_.end(), row) == out.blocked_.end()) out.left_.push_back(row);
        out.narrowed_ = true;
        return out;
    }
    if (pins.empty()) return out;
    out.narrowed_ = true;
    std::vector<bool> met(pins.size(), false);
    const fork::cpu_row* nearest = &schedules.rows().front();  // the listed row that has most of the pins
    std::size_t most = 0;
    for (const fork::cpu_row& row : schedules.rows()) {
        const store::knob_list pairs = schedules.pairs(row);
        std::size_t has = 0;
        for (std::size_t i = 0; i < pins.size(); ++i)
            if (knob::realises(pairs, pins[i].first, pins[i].second)) met[i] = true, ++has;
        if (has == pins.size()) out.left_.push_back(row);
        if (has > most) nearest = &row, most = has;
    }
    if (!out.left_.empty()) return out;
    // The fork's own words first: an unknown key, a value that is none, a bound, judged in the nearest listed row. An OFF value of a
    // family that the kernel lacks says nothing.
    const store::knob_list shape = schedules.pairs(*nearest);
    store::knob_list said;
    for (const auto& [key, value] : shape)
        if (!detail::value_of(pins, key)) said.emplace_back(key, value);
    for (const auto& pin : pins)
        if (detail::value_of(shape, pin.first) || !knob::realises(shape, pin.first, pin.second)) said.push_back(pin);
    EMMY_TRY(row, schedules.row(said));
    // A row that exists without being listed can be pinned too, but only whole: what is left open is the fork's to choose.
    std::string keys;
    bool whole = true;
    for (const auto& [key, value] : shape) {
        whole = whole && detail::value_of(pins, key);
        (keys += keys.empty() ? "" : ", ") += key;
    }
    if (whole) {
        out.left_.push_back(row);
        return out;
    }
    const std::string expected = ", expected a listed one, or a whole row (" + keys + ")";
    for (std::size_t i = 0; i < pins.size(); ++i)
        if (!met[i]) return refuse(fault_kind::user, "found the pin \"" + pins[i].second + "\", which no listed schedule of " + schedules.kernel().name + " has" + expected, pins[i].first);
    return refuse(fault_kind::user, "found values that no listed schedule of " + schedules.kernel().name + " has together" + expected, "pins");
}

EMMY_DECL std::span<const fork::cpu_row> cpu_options::rows() const {
    if (!narrowed_) return schedules_->rows();
    return left_;
}
EMMY_DECL bool cpu_options::single() const { return rows().size() == 1; }
EMMY_DECL bool cpu_options::pinned() const { return !pins_.empty(); }
EMMY_DECL std::optional<std::uint64_t> cpu_options::size() const { return rows().size(); }
EMMY_DECL result<store::knob_list> cpu_options::first() const {
    if (rows().empty()) return refuse(fault_kind::user, "found no schedule of " + schedules_->kernel().name);
    return schedules_->pairs(rows().front());
}

EMMY_DECL std::optional<store::knob_list> cpu_options::option_for(const store::knob_list& measured) const {
    if (rows().empty()) return {};
    // A row that says all of this kernel's families names one candidate; what else it says does not matter.
    const store::knob_list shape = schedules_->pairs(rows().front());
    store::knob_list own;
    for (const auto& [key, value] : shape)
        if (const std::string* there = detail::value_of(measured, key)) own.emplace_back(key, *there);
    if (own.size() == shape.size()) {
        const auto row = schedules_->row(own);
        if (!row || std::find(blocked_.begin(), blocked_.end(), *row) != blocked_.end()) return {};
        store::knob_list pairs = schedules_->pairs(*row);
        if (!detail::matches_pins(pairs, pins_)) return {};
        return pairs;
    }
    // Families that it leaves open are free: the first candidate that it does not contradict.
    for (const fork::cpu_row& row : rows()) {
        store::knob_list pairs = schedules_->pairs(row);
        if (std::all_of(own.begin(), own.end(), [&](const auto& k) { return *detail::value_of(pairs, k.first) == k.second; })) return pairs;
    }
    return {};
}

}  // namespace emmy::evidence
