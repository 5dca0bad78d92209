#pragma once
#include <emmy/knob/family.hpp>

namespace emmy::knob {

enum class raster_axis : std::uint8_t { none, m, n };

/// Launch order of block tiles: `group` of them along the axis are the fastest index inside a stripe.
struct raster {
    raster_axis along = raster_axis::none;
    std::uint16_t group = 1;
    constexpr bool operator==(const raster&) const = default;
};

/// RASTER = "" | "g" ("m"|"n") n, n >= 2
struct RASTER {
    using value_type = raster;
    static constexpr std::string_view name = "RASTER";
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::text;
    static constexpr int version = 1;
    static constexpr raster off{};

    static constexpr parsed<raster> parse(std::string_view text) {
        scanner in(name, text);
        raster out;
        if (in.done()) return out;
        if (in.take("gm")) out.along = raster_axis::m;
        else if (in.take("gn")) out.along = raster_axis::n;
        else return in.refused("gm, gn or no text");
        if (!in.number(out.group, 2, "a number of tiles from 2 up") || !in.end("the end")) return in.refused();
        return out;
    }
    static constexpr value_text spell(const raster& value) {
        value_text out;
        if (value.along != raster_axis::none) out.append(value.along == raster_axis::m ? "gm" : "gn").append(value.group);
        return out;
    }
};

}  // namespace emmy::knob
