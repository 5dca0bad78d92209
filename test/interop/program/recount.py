#!/usr/bin/env python3
"""Counts what the traced programs of the real files hold, from their JSON alone, and writes counts.txt beside itself.

usage: recount.py FOLDER          the folder of the golden files
Independent of the library: the test interop_program counts the same things with it and compares.
"""
import collections, heapq, json, os, re, sys

SIZES = [1, 8, 16, 32, 64, 128, 192, 512, 1024, 2048, 4096]
out = collections.OrderedDict()


def count(key, n=1):
    out[key] = out.get(key, 0) + n


def pruned(p):
    nodes = {n["id"]: n for n in p["nodes"]}
    owner = {}
    for n in p["nodes"]:
        owner[n["id"]] = n["id"]
        for t in n["outputs"][1:]:
            owner[t[0]] = n["id"]
    live, todo = set(), [owner[o] for o in p["outputs"]] + list(p["inputs"])
    while todo:
        i = todo.pop()
        if i in live:
            continue
        live.add(i)
        todo += [owner[b] for b in nodes[i].get("inputs", [])]
    return live


def plain(p, bind=None):
    """The pruned program without hints and tensor names, symbols replaced where bound."""
    live = pruned(p)

    def value(v, key=None):
        if isinstance(v, dict) and "sym" in v:
            return bind[v["sym"]] if bind and v["sym"] in bind else {"sym": v["sym"]}
        if isinstance(v, dict) and set(v) == {"inputs", "outputs", "nodes"}:
            return plain(v)
        if isinstance(v, dict):
            return {k: value(x, k) for k, x in v.items()}
        if isinstance(v, list):
            return [bind[x] if key == "shape" and bind and isinstance(x, str) and x in bind else value(x) for x in v]
        return v
    nodes = []
    for n in p["nodes"]:
        if n["id"] not in live:
            continue
        one = value(n)
        one["outputs"] = [[None if k == 0 else t[0], t[1], t[2]] for k, t in enumerate(one["outputs"])]
        nodes.append(one)
    return {"inputs": p["inputs"], "outputs": p["outputs"], "nodes": nodes}


def symbols_of(p):
    found = set(re.findall(r'"sym": "(\w+)"', json.dumps(p)))
    return found


coords, selects = set(), set()
for folder, _, files in sorted(os.walk(sys.argv[1])):
    for name in sorted(files):
        if not name.endswith(".json"):
            continue
        programs = json.load(open(os.path.join(folder, name)))["programs"]
        count("files")
        count("duplicate programs", len(programs) - len({json.dumps(p) for p in programs}))
        texts = collections.Counter(json.dumps(plain(p), sort_keys=True) for p in programs)
        for p in programs:
            count("programs")
            byid = {n["id"]: n for n in p["nodes"]}
            live = pruned(p)
            symbols = symbols_of(p)
            if symbols:
                count("symbolic programs")
                count("symbolic " + name)
                hits = 0
                for s in SIZES:
                    hits += texts[json.dumps(plain(p, {next(iter(symbols)): s}), sort_keys=True)] > 0
                count("exact twins", hits)
                count("symbolic programs with a twin", hits > 0)
            # canonical order
            waiting = {n["id"]: len(n.get("inputs", [])) for n in p["nodes"]}
            readers = collections.defaultdict(list)
            for n in p["nodes"]:
                for b in n.get("inputs", []):
                    readers[b].append(n["id"])
            heap = [i for i, k in waiting.items() if k == 0]
            heapq.heapify(heap)
            order = []
            while heap:
                i = heapq.heappop(heap)
                order.append(i)
                for r in readers[i]:
                    waiting[r] -= 1
                    if waiting[r] == 0:
                        heapq.heappush(heap, r)
            count("programs in canonical order", order == [n["id"] for n in p["nodes"]])
            for n in p["nodes"]:
                count("nodes")
                count("op " + n["op"])
                count("nodes of several outputs", len(n["outputs"]) > 1)
                count("nodes whose tensor has another name", n["id"] != n["outputs"][0][0])
                if n["id"] not in live:
                    count("dead " + n["op"])
                elif n["op"] == "input" and not readers[n["id"]] and n["id"] not in p["outputs"]:
                    count("unread inputs")
                a = n.get("attrs", {})
                if n["op"] == "constant":
                    v = a.get("value")
                    if v is not None:
                        kind = "boolean" if isinstance(v, bool) else "integer" if isinstance(v, int) else "real"
                        count("literals")
                        count("literals of shape [1]", n["outputs"][0][2] == [1])
                        count(f"literal {kind} of {n['outputs'][0][1]}")
                    count("constants with load_ops", "load_ops" in a)
                    count("constants with source_graph", "source_graph" in a)
                elif n["op"] != "input":
                    count("operator nodes")
                if n["op"] == "tensor.elementwise":
                    for b in n["inputs"]:
                        dims = lambda t: [d if isinstance(d, int) else d.get("sym", d.get("expr")) for d in t[2]]
                        count("pointwise edges")
                        count("pointwise edges of equal dims", dims(byid[b]["outputs"][0]) == dims(n["outputs"][0]))
                if n["op"] == "tensor.index_map":
                    for s in a["sources"]:
                        coords.update(s["coord_map"])
                        if "select" in s:
                            selects.add(s["select"])
out["distinct coordinates"] = len(coords)
out["distinct selects"] = len(selects)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "counts.txt"), "w") as f:
    for key in sorted(out):
        f.write(f"{int(out[key])}\t{key}\n")
