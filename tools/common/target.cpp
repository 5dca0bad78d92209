#include <common/target.hpp>

#include <emmy/core/card.hpp>
#include <emmy/device/cpu/identify.hpp>

namespace emmy::tools {

result<target> find_target(const std::string& wanted, const std::string& place) {
    const std::string host = device::cpu::identify_host().card;
    target out;
    if (!wanted.empty()) out.place = place;
    if (wanted.empty() || wanted == "cpu" || wanted == host) {
        out.card.name = host, out.host = true;
        return out;
    }
    if (wanted == "cuda" || wanted.starts_with("cuda:") || wanted == "emulated") return refuse(fault_kind::device, "found \"" + wanted + "\": no such device in this build, expected cpu", place);
    if (const auto cc = capability_from_target(wanted)) {
        out.card.compute_major = cc->generation, out.card.compute_minor = cc->revision;
        return out;
    }
    auto card = find_card(wanted);
    if (!card) return refuse(std::move(card).error().at(place));
    out.card = {std::string(card->name), card->cc.generation, card->cc.revision};
    return out;
}

result<void> need_host(const target& t) {
    if (t.host) return {};
    return refuse(fault_kind::device, "no lowering for " + t.text() + (t.place == "--golden" ? " (the card of this file)" : "") + " in this build: only this processor is a target (--device cpu)", t.place);
}

}  // namespace emmy::tools
