#!/usr/bin/env python3
"""Counts the golden files of a folder with nothing but Python's json, as a second opinion on what the library counts.

  recount.py FOLDER [> expected.json]     counts as JSON, one object a file and the totals
  recount.py FOLDER --check expected.json  compares; exit 1 when they differ
"""
import collections
import json
import pathlib
import sys

STRUCTURAL = ("PLACE", "LAYOUT")


def family(key):
    return key.split("@", 1)[0]


def text(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def emit(document):
    """The text layout, from its description: tables a line an entry, everything else a line an item."""
    items = []
    for key, value in document.items():
        if key in ("programs", "kernels", "routing", "rows") and value:
            lines = ",\n".join("  " + json.dumps(entry, separators=(",", ":")) for entry in value)
            items.append(f"{json.dumps(key)}: [\n{lines}\n ]")
        else:
            items.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{" + ",\n ".join(items) + "}\n"


def paths(document, refs):
    first = {}
    for i, decision in enumerate(document.get("routing", [])):
        for child in decision["children"]:
            first.setdefault(child, i)
    out = {}
    for ref in refs:
        length, at, seen = 0, ref, {ref}
        while at in first:
            parent = document["routing"][first[at]]["parent"]
            if parent in seen:
                break
            seen.add(parent)
            length, at = length + 1, parent
        out[ref] = (length, at)
    return out


def count(path):
    raw = path.read_bytes()
    document = json.loads(raw)
    kernels, rows, routing = document["kernels"], document["rows"], document.get("routing", [])
    by_ref = {k.get("key") or k["name"]: k for k in kernels}
    assert len(by_ref) == len(kernels)

    # Reassigning references in file order by the rule reproduces every key.
    taken, rekeyed = set(), 0
    for kernel in kernels:
        name, ordinal = kernel["name"], 2
        ref = name
        while ref in taken:
            ref, ordinal = f"{name}#{ordinal}", ordinal + 1
        taken.add(ref)
        rekeyed += ref == (kernel.get("key") or kernel["name"])

    route = paths(document, by_ref)
    targets = {ref for ref, k in by_ref.items() if "traced" in k}
    state = lambda r: "measured" if "measurements" in r else "latency_only" if "latency" in r else "proposal"
    fast = lambda r: r["pins"].get("FAST_MATH") is True
    lengths = collections.Counter(length for length, _ in route.values())

    groups = collections.defaultdict(list)
    for r in rows:
        groups[(route[r["kernel"]][1], text(r["pins"]))].append(r)
    missing_tcompile = sum(1 for g in groups.values()
                           if all(state(r) != "proposal" for r in g) and not any("tcompile_us" in b for r in g for b in r.get("latency", {}).values()))
    entries, behind, worst = 0, 0, (0, "")
    for r in rows:
        cards = set(r.get("latency", {})) | ({document["gpu_name"]} if "measurements" in r else set())
        entries += len(cards)
        for block in r.get("latency", {}).values():
            if "tcompile_us" in block:
                ratio = block["emmy_us"] / block["tcompile_us"]
                behind += ratio > 1
                worst = max(worst, (ratio, r["name"]))

    evidence = collections.Counter((r["kernel"], text(r.get("bindings", {})), text(r["pins"]), text({k: str(v) for k, v in r["knobs"].items()})) for r in rows if "measurements" in r)
    best = collections.defaultdict(list)
    for r in rows:
        if "measurements" in r:
            best[(r["kernel"], text(r.get("bindings", {})), fast(r))].append(r["measurements"]["emmy_us"])
    both = [k for k in best if k[2] and (k[0], k[1], False) in best]
    losing = sum(t >= min(best[(k[0], k[1], False)]) for k in both for t in best[k])

    knobs = collections.Counter(family(k) for r in rows for k in r.get("knobs", {}))
    knob_texts = {f"{family(k)}={v}" for r in rows for k, v in r.get("knobs", {}).items()}
    arms = collections.Counter(family(next(iter(d["arm"]))) for d in routing)
    counts = {
        "bytes": len(raw),
        "reemitted": emit(document).encode() == raw,
        "lines": raw.count(b"\n"),
        "gpu_name": json.loads(raw.split(b"\n", 1)[0].decode().rstrip(",") + "}")["gpu_name"],
        "programs": len(document["programs"]),
        "program_nodes": sum(len(p["nodes"]) for p in document["programs"]),
        "kernels": len(kernels),
        "formed": sum(k["formed"] for k in kernels),
        "targets": len(targets),
        "keyed": sum("key" in k for k in kernels),
        "refs_by_rule": rekeyed,
        "decisions": len(routing),
        "arms_PLACE": arms["PLACE"], "arms_REDUCE": arms["REDUCE"], "arms_LAYOUT": arms["LAYOUT"],
        "arm_keys": sum(len(d["arm"]) for d in routing),
        "rows": len(rows),
        "measured": sum(state(r) == "measured" for r in rows),
        "proposals": sum(state(r) == "proposal" for r in rows),
        "latency_only": sum(state(r) == "latency_only" for r in rows),
        "fast_math": sum(fast(r) for r in rows),
        "fast_math_measured": sum(fast(r) and "measurements" in r for r in rows),
        "fm_named_fast": sum("fm" in r["name"].split(".") and fast(r) for r in rows),
        "fm_named_standard": sum("fm" in r["name"].split(".") and not fast(r) for r in rows),
        "kernels_with_row": len({r["kernel"] for r in rows}),
        "kernels_measured": len({r["kernel"] for r in rows if "measurements" in r}),
        "rows_rooted_at_target": sum(route[r["kernel"]][1] in targets for r in rows),
        "path_lengths": [lengths[i] for i in range(8)],
        "evidence_keys": len(evidence),
        "walk_groups": len(groups),
        "list": entries,
        "behind": behind,
        "worst": {"ratio": worst[0], "row": worst[1]},
        "missing_emmy": sum(state(r) == "proposal" for r in rows),
        "missing_tcompile": missing_tcompile,
        "two_lane": len(both),
        "two_lane_losing": sum(min(best[k]) > min(best[(k[0], k[1], False)]) for k in both),
        "fast_math_not_faster": losing,
        "knob_WORK": knobs["WORK"], "knob_RASTER": knobs["RASTER"], "knob_TILE": knobs["TILE"], "knob_REDUCE": knobs["REDUCE"], "knob_STAGE": knobs["STAGE"],
        "knob_texts": len(knob_texts),
    }
    matmul = [r for r in rows if r["name"] == "matmul.square.512"]
    if matmul:
        counts["matmul.square.512"] = {"kernels": sorted({r["kernel"] for r in matmul}), "fast_math": [fast(r) for r in matmul], "emmy_us": [r["measurements"]["emmy_us"] for r in matmul]}
    return counts


def distinct_measured(folder):
    """Measured rows by card, kernel class (the identity file beside the folder), sizes, lane and knobs, across files."""
    classes = json.loads((folder.parent / "identity.json").read_text())["files"]
    out = set()
    for path in folder.rglob("*.json"):
        document = json.loads(path.read_bytes())
        known = classes[str(path.relative_to(folder))]
        for r in document["rows"]:
            if "measurements" in r:
                out.add((document["gpu_name"], known[r["kernel"]], text(r.get("bindings", {})), text(r["pins"]), text({k: str(v) for k, v in r["knobs"].items()})))
    return len(out)


def main():
    folder = pathlib.Path(sys.argv[1])
    files = {str(p.relative_to(folder)): count(p) for p in sorted(folder.rglob("*.json"))}
    total = {}
    for counts in files.values():
        for key, value in counts.items():
            if isinstance(value, bool) or not isinstance(value, (int, list)):
                continue
            total[key] = [a + b for a, b in zip(total.get(key, [0] * 8), value)] if isinstance(value, list) else total.get(key, 0) + value
    worst = max((c["worst"]["ratio"], name, c["worst"]["row"]) for name, c in files.items())
    total["distinct_measured"] = distinct_measured(folder)
    out = {"total": total, "worst": {"ratio": worst[0], "file": worst[1], "row": worst[2]}, "cards": sorted({c["gpu_name"] for c in files.values()}), "files": files}
    if len(sys.argv) == 4 and sys.argv[2] == "--check":
        same = json.loads(pathlib.Path(sys.argv[3]).read_text()) == out
        print("the counts agree" if same else "the counts differ")
        return 0 if same else 1
    print(json.dumps(out, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
