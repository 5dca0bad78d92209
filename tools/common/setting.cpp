#include <common/setting.hpp>

#include <emmy/device/cpu/identify.hpp>
#include <emmy/kernel/text.hpp>

#include <cstdlib>
#include <string_view>

namespace emmy::tools {

fault pin_fault(fault f, const std::string& place) {
    const bool bare = f.place().empty() || f.place() == "pins";
    return fault(f.kind(), f.message(), bare ? place : place + ": " + f.place(), f.file());
}

result<knob::pin_list> live_pins(const std::vector<std::string>& flags) {
    knob::pin_list out;
    const auto take = [&](const std::string& text, const char* place) -> result<void> {
        auto list = knob::pin_list::parse(text);
        if (!list) return refuse(pin_fault(list.error(), place));
        for (const knob::pin& p : *list)
            if (auto added = out.add(p); !added) return refuse(pin_fault(added.error(), place));
        return {};
    };
    if (const char* knobs = std::getenv("EMMY_KNOBS")) EMMY_CHECK_OK(take(knobs, "EMMY_KNOBS"));
    for (const std::string& p : flags) EMMY_CHECK_OK(take(p, "--pin"));
    return out;
}

result<setting> make_setting(const setting_flags& flags, std::initializer_list<const knob::pin_list*> pins, const golden::card_id& card) {
    evidence::regime_request request;
    const char* fast = std::getenv("EMMY_FAST_MATH");
    request.fast_math = flags.fast_math || (fast && std::string_view(fast) == "1");
    request.cold = flags.cold;
    request.opt = static_cast<int>(flags.opt);
    for (const knob::pin_list* list : pins)
        for (const knob::pin& p : *list)
            if (evidence::is_regime_pin(p.family->name)) {
                std::erase_if(request.pins, [&](const auto& have) { return have.first == p.family->name; });
                request.pins.emplace_back(std::string(p.family->name), p.value);
            }
    setting out;
    EMMY_TRY(regime, evidence::make_regime(request));
    out.regime = std::move(regime);
    for (const auto& [name, value] : out.regime.words)
        if (name == "TEAM") out.team = std::atoi(value.c_str());
    if (out.team < 1 || out.team > 1024) return refuse(fault_kind::user, "found a team of " + std::to_string(out.team) + ", expected 1 to 1024 threads", "TEAM");
    out.context = evidence::make_context(card.name, card.compute_major, card.compute_minor, out.regime);
    return out;
}

std::string producer() { return "emmy-cpp/" + std::to_string(kernel::codegen_version); }

fork::cpu_target host_target() {
    return device::cpu::schedule_target(device::cpu::identify_host());
}

store::knob_list schedule_pins(const knob::pin_list& pins, const std::string& kernel) {
    store::knob_list out;
    pins.schedule_for(kernel).each([&](std::string_view key, std::string_view value, auto...) { out.emplace_back(key, value); });
    return out;
}

}  // namespace emmy::tools
