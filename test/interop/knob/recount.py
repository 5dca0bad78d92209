#!/usr/bin/env python3
"""Counts knob values, rows and arms of golden files without the library: an independent reading of the grammars.

usage: recount.py GOLDEN_DIR      prints one `name = number` a line, in a fixed order; the interop test expects exactly these lines
                                  from its own parsers. Standard library only.
"""
import collections
import json
import pathlib
import re
import sys

N = r"[1-9][0-9]*"
ATOM = (r"(?:mma_m8n8k4_f16_(?:f32|f16)|mma_m16n8k16_(?:f16_f32|bf16_f32|f16_f16)|wgmma_m64n(?:64|128|256)k16_(?:f16|bf16)_f32"
        r"|mma_m16n8k32_e[45]m[32]_f32|mma_m16n8k64_e2m1_f32)")
NOT1 = r"(?!1(?![0-9]))" + N
GRAMMAR = {
    "WORK": re.compile(rf"|w{N}x{N}(?:\+p{N})?|t{N}(?:x{NOT1})?"),
    "TILE": re.compile(rf"|{ATOM}/f{N}x{N}(?:/k{NOT1})?|f{N}(?:x{NOT1})?"),
    "REDUCE": re.compile(rf"|r{NOT1}|(?:coop|coop-t(?:/n8)?)(?:/v{NOT1})?(?:/r{NOT1})?"),
    "STAGE": re.compile(rf"|d1/reg|d{N}/(?:smem|smem-async|smem-tma)(?:/p{NOT1})?"),
    "RASTER": re.compile(rf"|g[mn]{NOT1}"),
    "LOOPIFY": re.compile(rf"0|{NOT1}"),
    "SHARED_CARRY": re.compile(r"[01]"),
}
SPLIT = re.compile(rf"g{NOT1}[ak]")
KIND = r"(?:map|reduce|inner|twist|scan)"
ROUTE = re.compile(rf"(?:{KIND}\.{N}/)*{KIND}")

root = pathlib.Path(sys.argv[1])
out = collections.OrderedDict()
values = collections.defaultdict(collections.Counter)
keys = collections.Counter()
shapes = collections.Counter()
refused = rows = empty = measured = fast = 0
arms = collections.Counter()
arm_keys = collections.Counter()
arm_values = collections.Counter()
arm_texts = set()
joint = collections.Counter()
depth = collections.Counter()
dangling = split_kernel = split_kernel_two = split_atomic = split_atomic_one = layout_one = 0
coop = coop_not_t = packings = packings_128 = n8 = carry = producers = raster_tiled = rasters = mixed = 0
twist = twist_width = twist_chunk = twist_fm = twist_stage_differs = 0
f16_acc = f16_acc_fast = fp8 = fp8_fast = 0


def family(key):
    return key.split("@", 1)[0]


def threads(work):
    if m := re.fullmatch(rf"w({N})x({N})(?:\+p({N}))?", work):
        return 32 * (int(m[1]) * int(m[2]) + int(m[3] or 0))
    if m := re.fullmatch(rf"t({N})(?:x({N}))?", work):
        return int(m[1]) * int(m[2] or 1)
    return 0


over_1024 = 0
for file in sorted(root.rglob("*.json")):
    document = json.loads(file.read_text())
    refs = {k.get("key", k["name"]) for k in document["kernels"]}
    for row in document["rows"]:
        rows += 1
        fast += row["pins"] == {"FAST_MATH": True}
        measured += "measurements" in row
        dangling += row["kernel"] not in refs
        knobs = row.get("knobs") or {}
        empty += not knobs
        count = collections.Counter()
        routed = collections.defaultdict(set)
        for key, value in knobs.items():
            name, _, site = key.partition("@")
            good = name in GRAMMAR and isinstance(value, str) and GRAMMAR[name].fullmatch(value)
            if site or "@" in key:
                good = good and ROUTE.fullmatch(site) and name in ("TILE", "REDUCE", "STAGE")
            refused += not good
            values[name][value] += 1
            keys[(name, "routed" if site else "bare")] += 1
            count[name] += 1
            routed[name].add(bool(site))
        if knobs:
            shapes[(count["TILE"], count["REDUCE"], count["STAGE"])] += 1
        mixed += any(len(s) > 1 for s in routed.values())
        work = knobs.get("WORK", "")
        over_1024 += threads(work) > 1024
        producers += "+p" in work
        for key, value in knobs.items():
            name = family(key)
            if name == "REDUCE" and value.startswith("coop"):
                coop += 1
                coop_not_t += not work.startswith("t")
                if "x" in work:
                    packings += 1
                    packings_128 += threads(work) == 128
                n8 += "/n8" in value
            if name == "SHARED_CARRY":
                carry += value == "1"
            if name == "TILE" and re.search(r"_f16_f16/", value):
                f16_acc += 1
                f16_acc_fast += row["pins"].get("FAST_MATH") is True
            if name == "TILE" and re.search(r"_e[45]m[32]_f32/", value):
                fp8 += 1
                fp8_fast += row["pins"].get("FAST_MATH") is True
        if knobs.get("RASTER"):
            rasters += 1
            raster_tiled += any(family(k) == "TILE" and v for k, v in knobs.items())
        for key, value in knobs.items():
            if family(key) != "TILE" or not key.endswith("twist") or not re.match(ATOM, value):
                continue
            score = knobs.get(key + ".1/inner", "")
            m, s = re.search(rf"/f({N})x({N})(?:/k({N}))?$", value), re.search(rf"/f({N})x({N})(?:/k({N}))?$", score)
            twist += 1
            twist_width += bool(re.fullmatch(rf"w{N}x1(?:\+p{N})?", work))
            site = key.split("@")[1]
            twist_stage_differs += knobs.get("STAGE@" + site) != knobs.get("STAGE@" + site + ".1/inner")
            if m and s:
                cell = {name: (int(a), int(b)) for name, a, b in ((t, *re.search(r"n(\d+)k(\d+)_", t).groups()) for t in (value.split("/")[0], score.split("/")[0]))}
                n_of = lambda t: 16 if t.startswith("mma_m8n8k4") else 8
                k_of = lambda t: cell[t][1]
                chunk = int(m[3] or 1) * k_of(value.split("/")[0])
                twist_chunk += chunk == int(s[2]) * n_of(score.split("/")[0])
                twist_fm += m[1] == s[1]
    for decision in document.get("routing", []):
        names = {family(k) for k in decision["arm"]}
        kind = names.pop() if len(names) == 1 else "mixed"
        arms[kind] += 1
        dangling += decision["parent"] not in refs
        dangling += sum(child not in refs for child in decision["children"])
        arm_texts.add(json.dumps(decision["arm"], sort_keys=True))
        if kind == "PLACE":
            joint[len(decision["arm"])] += 1
        for key, value in decision["arm"].items():
            arm_keys[key] += 1
            name, _, site = key.partition("@")
            arm_values[f"{name}={value}"] += 1
            refused += not {"PLACE": value in ("cut", "fuse"), "LAYOUT": value in ("source", "folded"), "REDUCE": bool(SPLIT.fullmatch(value))}.get(name, False)
            refused += name in ("PLACE", "REDUCE") and bool(site) and not ROUTE.fullmatch(site)
            if name == "PLACE":
                depth[site.count("/") + 1] += 1
            if name == "REDUCE" and value.endswith("k"):
                split_kernel += 1
                split_kernel_two += len(decision["children"]) == 2
            if name == "REDUCE" and value.endswith("a"):
                split_atomic += 1
                split_atomic_one += len(decision["children"]) == 1
        layout_one += kind == "LAYOUT" and len(decision["children"]) == 1

# Spellings that must be refused, by the same expressions.
must_refuse = [("WORK", t) for t in ("t32x1", "w4", "w2x2+p0", "T128", " t128")] + [("TILE", t) for t in ("f4x1", "mma_m16n8k16_f16_f32/f1x1/k1")] + \
    [("REDUCE", t) for t in ("g4", "coop/v1", "r2/coop", "coop-t/n32")] + [("STAGE", t) for t in ("d2", "d2/smem/p1", "d2/reg")] + [("RASTER", "gm1")]
out["spellings that must be refused and are"] = sum(not GRAMMAR[f].fullmatch(t) for f, t in must_refuse)

out["rows"], out["rows with an empty map"], out["measured rows"], out["fast-math rows"] = rows, empty, measured, fast
five = ("WORK", "RASTER", "TILE", "REDUCE", "STAGE")
out["refused values, routes and keys"] = refused
out["values of the five schedule families"] = sum(sum(values[f].values()) for f in five)
for f in (*five, "LOOPIFY", "SHARED_CARRY"):
    out[f"{f} values"] = sum(values[f].values())
    out[f"{f} distinct values"] = len(values[f])
for f in five[2:]:
    out[f"{f} routed keys"] = keys[(f, "routed")]
out["rows that mix bare and routed keys of a family"] = mixed
for shape, number in sorted(shapes.items()):
    out["rows with %d TILE, %d REDUCE, %d STAGE keys" % shape] = number
out["rows over 1024 threads"] = over_1024
out["rows with producer warps"] = producers
out["coop choices"], out["coop choices without WORK t"] = coop, coop_not_t
out["packings"], out["packings of 128 threads"] = packings, packings_128
out["n8 choices"], out["SHARED_CARRY=1"] = n8, carry
out["rasters"], out["rasters beside a tile"] = rasters, raster_tiled
out["warp-tiled twists"], out["of WORK w<M>x1"] = twist, twist_width
out["of chunk = score N tile"], out["of equal FM"] = twist_chunk, twist_fm
out["whose stages differ"] = twist_stage_differs
out["16-bit accumulators"], out["of them under FAST_MATH"] = f16_acc, f16_acc_fast
out["fp8 atoms"], out["of these under FAST_MATH"] = fp8, fp8_fast
out["arms"] = sum(arms.values())
for name in ("PLACE", "REDUCE", "LAYOUT", "mixed"):
    out[f"{name} arms"] = arms[name]
out["arm keys"], out["distinct arms"] = sum(arm_keys.values()), len(arm_texts)
out["PLACE keys"] = sum(depth.values())
out["distinct PLACE keys"] = sum(k.startswith("PLACE") for k in arm_keys)
for f, t in sorted(v.split("=") for v in arm_values):
    out[f"{f}={t}"] = arm_values[f"{f}={t}"]
for d in sorted(depth):
    out[f"PLACE routes of {d} nodes"] = depth[d]
for size in sorted(joint):
    out[f"PLACE arms of {size} keys"] = joint[size]
out["dangling references"] = dangling
out["splits by kernel"], out["of them with 2 children"] = split_kernel, split_kernel_two
out["splits by atomics"], out["of them with 1 child"] = split_atomic, split_atomic_one
out["LAYOUT arms with 1 child"] = layout_one
for name, number in out.items():
    print(f"{name} = {number}")
