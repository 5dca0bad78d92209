#!/usr/bin/env python3
"""Counts what the golden files hold, without the library: expectations of the interop tests, one `name value` a line.

usage: recount.py GOLDEN_DIR > counts.txt
"""
import collections
import json
import pathlib
import re
import statistics
import sys

NAME = re.compile(r"[A-Za-z_]\w*")


def statements(body):
    for item in body:
        (kind, fields), = item.items()
        yield kind, fields
        for inner in ("body", "else_body"):
            yield from statements(fields.get(inner, []))


def texts(kind, fields):
    if kind in ("Load", "Write", "Pre", "Carry"):
        yield from fields["index"]
    elif kind == "Select":
        for branch in fields["branches"]:
            yield branch["select"]
    elif kind == "Let":
        yield fields["value"]


def renamed(loop, with_buffers):
    """The body with buffers numbered by first use; with_buffers adds dtype and shape of each in that order."""
    numbers, decls = {}, {}
    for node in loop["nodes"]:
        for name, dtype, shape in node["outputs"]:
            decls[name] = (dtype, [d if isinstance(d, int) else "sym" for d in shape])

    def number(name):
        return numbers.setdefault(name, "b%d" % len(numbers))

    def walk(body):
        out = []
        for item in body:
            (kind, fields), = item.items()
            fields = dict(fields)
            for key in ("input", "output"):
                if key in fields and kind in ("Load", "Write"):
                    fields[key] = number(fields[key])
            if kind == "Carry" and isinstance(fields["seed"], str):
                fields["seed"] = number(fields["seed"])
            if "body" in fields:
                fields["body"] = walk(fields["body"])
            out.append({kind: fields})
        return out

    body = walk(loop["nodes"][-1]["attrs"]["body"])
    used = [decls[name] for name in numbers] if with_buffers else []
    return json.dumps([body, used], sort_keys=True)


def main():
    count = collections.Counter()
    distinct, raw, untyped, typed, sizes, depths = set(), set(), set(), set(), [], collections.Counter()
    for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.json")):
        count["files"] += 1
        for entry in json.loads(path.read_text())["kernels"]:
            loop = entry["loop_ir"]
            count["kernels"] += 1
            count["formed" if entry["formed"] else "not_formed"] += 1
            count["input_nodes"] += len(loop["nodes"]) - 1
            node = loop["nodes"][-1]
            assert node["op"] == "loop" and node["inputs"] == loop["inputs"]
            body = node["attrs"]["body"]
            size = 0
            reads, writes = set(), set()
            for kind, fields in statements(body):
                size += 1
                count[kind] += 1
                for text in texts(kind, fields):
                    count["texts_" + kind] += 1
                    count["texts"] += 1
                    distinct.add(text)
                if kind == "Assign":
                    count["op_" + fields["op"]] += 1
                    if "dtype" in fields:
                        count["dtype_" + fields["dtype"]] += 1
                if kind == "Select":
                    count["branches"] += len(fields["branches"])
                if kind == "Accum":
                    count["fold_" + fields.get("op", "add")] += 1
                    count["based"] += "base" in fields
                if kind == "Loop":
                    count["windows"] += "window" in fields["axis"]
                    count["symbolic_loops"] += not isinstance(fields["axis"]["extent"], int)
                if kind == "Write":
                    count["atomic"] += fields.get("atomic", False)
                    writes.add(fields["output"])
                if kind == "Load":
                    reads.add(fields["input"])
                if kind == "Carry" and isinstance(fields["seed"], str):
                    reads.add(fields["seed"])
            sizes.append(size)
            count["kernels_with_unread_input"] += bool(set(loop["inputs"]) - reads)
            count["kernels_with_unwritten_output"] += bool(set(loop["outputs"]) - writes)
            raw.add(json.dumps(body, sort_keys=True))
            untyped.add(renamed(loop, False))
            typed.add(renamed(loop, True))
    count["distinct_texts"] = len(distinct)
    count["distinct_bodies"] = len(raw)
    count["distinct_renamed"] = len(untyped)
    count["distinct_typed"] = len(typed)
    count["smallest_body"], count["median_body"], count["largest_body"] = min(sizes), int(statistics.median(sizes)), max(sizes)
    for name in sorted(count):
        print(name, count[name])


main()
