// Routes, registry, literal rows, agreement, target: as constant expressions.
#include <emmy/core/card.hpp>
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

namespace {

constexpr bool route_is(std::string_view text) {
    const auto r = route::parse(text);
    return r && r->spell().view() == text;
}
static_assert(route_is("map") && route_is("map.1/inner") && route_is("reduce.1/map.9/map.1/reduce") && route_is("twist.1/inner") && route_is("scan") && route_is("map.8191/map"));
static_assert(!route::parse("") && !route::parse("map.") && !route::parse("map.1") && !route::parse("map.1/") && !route::parse("map/inner") && !route::parse("map.0/inner") &&
              !route::parse("map.01/inner") && !route::parse("mapx") && !route::parse("n0") && !route::parse("dd") && !route::parse("=x") && !route::parse("map.8192/map"));
static_assert("map.1/twist.2/inner"_route.size() == 3 && "map.1/twist.2/inner"_route[1] == route::step{node_kind::twist, 2} &&
              "map.1/twist.2/inner"_route.arrives_at() == node_kind::inner && route{}.bare());
constexpr bool sixteen_nodes_at_most() {
    for (int nodes : {16, 17}) {
        emmy::bounded_text<200> text;
        for (int i = 1; i < nodes; ++i) text.append("map.1/");
        text.append("map");
        if (route::parse(text.view()).has_value() != (nodes <= 16)) return false;
    }
    return true;
}
static_assert(sixteen_nodes_at_most());

// A family of one's own.
struct VEC {
    using value_type = int;
    static constexpr std::string_view name = "VEC";
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::integer;
    static constexpr int version = 1;
    static constexpr int off = 1;
    static constexpr parsed<int> parse(std::string_view text) {
        if (text.size() == 1 && text[0] >= '1' && text[0] <= '8') return text[0] - '0';
        return refusal{name, text, "1 to 8", 0};
    }
    static constexpr value_text spell(int value) { return value_text().append(value); }
};
using mine = built_in::with<VEC>;
static_assert(mine::size == built_in::size + 1 && mine::find("VEC")->off == "1" && !built_in::find("VEC") && mine::contains<VEC> && !built_in::contains<VEC>);
static_assert(mine::table[mine::index_of<VEC>].name == "VEC" && value_of<VEC, "4">() == 4);
static_assert(built_in::size == 21 && find_family("TILE")->where == scope::node && find_family("PLACE")->where == scope::edge && find_family("LAYOUT")->where == scope::buffer &&
              find_family("TEAM")->meaning == role::regime && find_family("LOOPIFY")->meaning == role::cosmetic && !find_family("tile") && !find_family("PLACE")->has_off &&
              find_family("LOOPIFY")->off == "0" && find_family("FAST_MATH")->off == "false");
static_assert(is_structural("PLACE", "cut") && is_structural("REDUCE", "g4k") && !is_structural("REDUCE", "coop") && !is_structural("REDUCE", "g4") && !is_structural("TILE", "f4"));

// Literal rows carry no data and have the values of their texts.
constexpr auto product = lit<"WORK=w4x2", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "REDUCE=", "STAGE=d2/smem-tma", "RASTER=">;
static_assert(sizeof(product) == 1 && product.value<TILE>().k == 2 && product.value<WORK>().n == 2 && product.row().size() == 5);
static_assert(lit<"WORK=w4x1", "TILE@map.1/twist=mma_m16n8k16_f16_f32/f1x4", "TILE@map.1/twist.1/inner=mma_m16n8k16_f16_f32/f1x8">.row().sites() == 2);
static_assert(arm<"PLACE@map.2/inner=cut", "PLACE@map.1/map=cut">.size == 2 && arm<"REDUCE=g4k">.size == 1 && arm<"LAYOUT@linear_wt=source">.size == 1);

// What is refused in a row, with its words.
constexpr bool says(const std::optional<refusal>& why, std::string_view sentence) { return why && why->sentence() == sentence; }
static_assert(says(schedule_row().put("PLACE@map.1/inner", "cut"), "PLACE@map.1/inner: found a structural family, expected schedule families only in a schedule row"));
static_assert(says(schedule_row().put("REDUCE", "g4k"), "REDUCE: found a structural choice (a cross-CTA split), expected schedule families only in a schedule row"));
static_assert(says(schedule_row().put("FAST_MATH", "true"), "FAST_MATH: found a regime family, expected schedule families only in a schedule row"));
static_assert(says(schedule_row().put("WORK@map", "t32"), "WORK: found [WORK@map], expected the bare key, one choice a kernel at offset 4"));
static_assert(says(schedule_row().put("TILE@dd", "f4"), "TILE@dd: found [dd], expected a node kind: map, reduce, inner, twist or scan at offset 0"));
static_assert(says(schedule_row().put("TILE@map", "f4x1"), "TILE@map: found [f4x1], expected no x1 (spell it without) at offset 2"));
static_assert(says(schedule_row().put("", ""), "row: found [], expected one of WORK, RASTER, TILE, REDUCE, STAGE, LOOPIFY, SHARED_CARRY at offset 0"));
static_assert(says(routing_row::check("TILE", "f4"), "TILE: found a schedule family, expected structural families only in a routing row"));
static_assert(says(routing_row::check("REDUCE", "coop"), "REDUCE: found a schedule choice, expected structural families only in a routing row"));
static_assert(says(routing_row::check("REDUCE", "g4"), "REDUCE: found [g4], expected k or a after the number of CTAs at offset 2"));
static_assert(says(routing_row::check("PLACE@n0", "cut"), "PLACE@n0: found [n0], expected a node kind: map, reduce, inner, twist or scan at offset 0"));
static_assert(!routing_row::check("PLACE@map.1/map.2/reduce", "cut") && !routing_row::check("LAYOUT@linear_wt", "source") && !routing_row::check("REDUCE@map.1/twist", "g16k"));

// Agreement over decided knobs.
static_assert(agrees(lit<"WORK=t128">, lit<"WORK=t128", "REDUCE=coop", "RASTER=">) && !agrees(lit<"WORK=t128">, lit<"WORK=t64">));
static_assert(agrees(lit<"WORK=t128", "REDUCE=coop", "RASTER=">, lit<"WORK=t128">));  // free where the measured row is silent
constexpr auto two = lit<"WORK=w4x1", "TILE@map.1/twist=", "TILE@map.1/twist.1/inner=mma_m16n8k16_f16_f32/f1x8">;
static_assert(agrees(two, lit<"TILE=mma_m16n8k16_f16_f32/f1x8">));                      // some site carries it, the other is OFF
static_assert(!agrees(two, lit<"TILE=mma_m16n8k16_f16_f32/f1x4">) && !agrees(two, lit<"TILE=f2">));
static_assert(agrees(two, lit<"TILE@map.1/twist=">) && !agrees(two, lit<"TILE@map.1/twist=f2">));
static_assert(!agrees(lit<"TILE@map=f4", "TILE@reduce=f2">, lit<"TILE=f4">) && agrees(lit<"TILE@map=f4", "TILE@reduce=f4">, lit<"TILE=f4">));
static_assert(same_choice(lit<"WORK=t64", "TILE=", "LOOPIFY=4">, lit<"WORK=t64", "RASTER=", "LOOPIFY=0", "SHARED_CARRY=0">) && !same_choice(lit<"WORK=t64">, lit<"WORK=t32">) &&
              same_choice(lit<"WORK=t64", "TILE@map=">, lit<"WORK=t64">) && !same_choice(lit<"WORK=t64">, lit<"WORK=t64", "TILE@map=f4">) &&
              !same_choice(lit<"SHARED_CARRY=1">, lit<"SHARED_CARRY=0">));

static_assert(target_of({9, 0}).limits.dynamic_smem_bytes == 232448 && target_of({8, 9}).limits.dynamic_smem_bytes == 101376 && target_of({7, 0}).limits.dynamic_smem_bytes == 98304 &&
              target_of({13, 0}).limits.dynamic_smem_bytes == 49152 && target_of({0, 0}).limits.threads == 1024);
static_assert(emmy::target_text({12, 0}) == "sm_120" && emmy::capability_from_target("sm_90") == emmy::capability{9, 0} && !emmy::capability_from_target("sm_90a") &&
              !emmy::capability_from_target("sm_") && !emmy::capability_from_target("sm_090") && emmy::capability_from_target("cpu") == emmy::capability{});
static_assert(emmy::canonical_card_name("Tesla V100-SXM2-16GB") == "NVIDIA Tesla V100 SXM2 16GB" && emmy::canonical_card_name("NVIDIA A100-SXM4-40GB") == "NVIDIA A100 40GB" &&
              emmy::canonical_card_name("NVIDIA H100 80GB HBM3") == "NVIDIA H100 80GB" && emmy::canonical_card_name("cpu: x") == "cpu: x" && emmy::is_known_card("cpu: x") &&
              !emmy::is_known_card("cpu: ") && !emmy::is_known_card("") && !emmy::is_known_card("NVIDIA X"));

}  // namespace
