// Knob text of any kind: what parses spells itself and parses again to the same; what does not is one finite line.
#include <emmy/knob.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace emmy::knob;

namespace {

void hold(bool law) {
    if (!law) std::abort();
}

template <class Family>
void value_laws(std::string_view text) {
    const auto value = Family::parse(text);
    if (!value) {
        hold(!value.error().sentence().overflowed() && !value.error().expected.empty() && value.error().offset <= text.size());
        return;
    }
    const auto spelled = Family::spell(*value);
    hold(!spelled.overflowed());
    if (Family::kind != emmy::knob::value_kind::boolean) hold(spelled.view() == text);  // booleans alone have more than one spelling
    const auto again = Family::parse(spelled.view());
    hold(again.has_value() && *again == *value);
    hold(find_family(Family::name)->canonical(text)->view() == spelled.view());
}

void row_laws(std::string_view text) {
    // Lines of KEY=VALUE.
    std::vector<knob_pair> pairs;
    for (std::size_t at = 0; at < text.size() && pairs.size() < 64;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        const std::size_t equals = std::min(line.find('='), line.size());
        pairs.push_back({line.substr(0, equals), line.substr(std::min(equals + 1, line.size()))});
        at = end + 1;
    }
    if (const auto row = schedule_row::parse(pairs, row_check::values_alone)) {
        hold(row->size() == pairs.size());
        schedule_row again;
        row->each([&](std::string_view key, std::string_view value) { hold(!again.put(key, value)); });
        hold(again == *row && row_text(again) == row_text(*row) && canonical_key(again) == canonical_key(*row));
        hold(agrees(*row, again) && same_choice(*row, decisions(*row)));
        const auto pins = pin_list::parse(pin_text(*row));
        hold(pins.has_value() && pins->schedule_for("k") == *row);
        hold(with_pins(*row, schedule_row{}).has_value());
    } else {
        hold(row.error().line().size() < 900 && row.error().line().find('\n') == std::string::npos);
    }
    if (const auto row = routing_row::parse(pairs)) {
        std::vector<knob_pair> same;
        for (const auto& choice : *row) same.push_back({choice.key, choice.value});
        hold(*routing_row::parse(same) == *row && row_text(*row).size() > 2);
    } else {
        hold(row.error().line().size() < 900 && row.error().line().find('\n') == std::string::npos);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    built_in::each([&]<class Family>() { value_laws<Family>(text); });
    if (const auto site = route::parse(text)) hold(site->spell().view() == text && !site->spell().overflowed());
    if (const auto pins = pin_list::parse(text)) {
        for (const pin& p : *pins) {
            const auto again = parse_pin(p.key(), p.value);
            hold(again.has_value() && *again == p);
        }
    } else {
        hold(pins.error().line().size() < 900 && pins.error().line().find('\n') == std::string::npos);
    }
    row_laws(text);
    return 0;
}
