#pragma once
#include <emmy/core/capability.hpp>
#include <emmy/knob/family.hpp>

namespace emmy::knob {

enum class transport : std::uint8_t { direct, registers, smem, async, tma };

/// How operands travel from global memory to a tile.
struct stage {
    transport by = transport::direct;  ///< direct = no intermediate; registers = state of an ordered matrix loop
    std::uint16_t depth = 1;           ///< ring slots (depth - 1 chunks in flight); 1 where direct
    std::uint16_t pipeline = 1;        ///< 2 = double-buffered shared-to-register fragments

    constexpr bool operator==(const stage&) const = default;
    constexpr bool uses_smem() const { return by >= transport::smem; }
};

/// cp.async needs 8.0, TMA 9.0.
constexpr bool offers(capability cc, transport by) {
    return by == transport::async ? cc >= capability{8, 0} : by == transport::tma ? cc >= capability{9, 0} : true;
}

/// STAGE = "" | "d1/reg" | "d" n "/" ("smem"|"smem-async"|"smem-tma") [ "/p" n ]
struct STAGE {
    using value_type = stage;
    static constexpr std::string_view name = "STAGE";
    static constexpr scope where = scope::node;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::text;
    static constexpr int version = 1;
    static constexpr stage off{};

    static constexpr parsed<stage> parse(std::string_view text) {
        scanner in(name, text);
        stage out;
        if (in.done()) return out;
        if (!in.need("d", "d and a depth, or no text") || !in.number(out.depth) || !in.need("/", "/ and a transport")) return in.refused();
        const std::size_t transport_at = in.offset();
        if (in.take("smem-async")) out.by = transport::async;
        else if (in.take("smem-tma")) out.by = transport::tma;
        else if (in.take("smem")) out.by = transport::smem;
        else if (in.take("reg")) out.by = transport::registers;
        else return in.refused("smem, smem-async, smem-tma or reg");
        if (out.by == transport::registers) {
            if (out.depth != 1) in.fail_at(transport_at, "reg only after d1");
            if (!in.end("the end (reg has no p)")) return in.refused();
            return out;
        }
        if (const std::size_t p = in.offset(); in.take("/p")) {
            if (!in.number(out.pipeline)) return in.refused();
            if (out.pipeline == 1) in.fail_at(p, "no /p1 (spell it without)");
        }
        if (!in.end("the end or /p and a number")) return in.refused();
        return out;
    }
    static constexpr value_text spell(const stage& value) {
        constexpr std::string_view names[] = {"", "reg", "smem", "smem-async", "smem-tma"};
        value_text out;
        if (value.by == transport::direct) return out;
        out.append('d').append(value.depth).append('/').append(names[static_cast<int>(value.by)]);
        if (value.pipeline != 1) out.append("/p").append(value.pipeline);
        return out;
    }
};

}  // namespace emmy::knob
