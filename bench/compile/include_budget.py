#!/usr/bin/env python3
"""What including a public header costs: preprocessed lines (gated) and CPU seconds of a syntax check (told).

usage: include_budget.py SOURCE_DIR [--compiler g++] [--seconds] [--update]      exit 1 if a header is over its budget or grew

Lines are those of `-E -P`: the same on every machine, whatever else runs. Budgets stand here, once. Beside them include_lines.tsv
holds the lines of listed headers when they were last agreed: growth above 3 % fails until the table is updated in the same change
(--update), above 1 % is told.
"""
import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile

# Pattern under include/emmy, lines, CPU seconds.
BUDGETS = [
    ("core.hpp", 45_000, 1.0),
    ("core/*.hpp", 45_000, 1.0),
    ("core/archive/*.hpp", 45_000, 1.0),
    ("knob.hpp", 62_000, 1.6),
    ("loop.hpp", 62_000, 1.6),
    ("loop/typed.hpp", 62_000, 1.6),
    ("store.hpp", 75_000, 2.3),
    ("store/*.hpp", 75_000, 2.3),
    ("golden.hpp", 75_000, 2.3),
    ("golden/*.hpp", 75_000, 2.3),
    ("evidence.hpp", 75_000, 2.3),
    ("evidence/*.hpp", 75_000, 2.3),
    ("emmy.hpp", 88_000, 2.5),
]

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("source", type=pathlib.Path)
parser.add_argument("--compiler", default="g++")
parser.add_argument("--seconds", action="store_true", help="also measure CPU seconds, best of 3")
parser.add_argument("--update", action="store_true", help="write include_lines.tsv anew from its own headers")
options = parser.parse_args()
include = options.source / "include"
table = pathlib.Path(__file__).with_name("include_lines.tsv")
agreed = dict(line.split("\t") for line in table.read_text().splitlines()) if table.exists() else {}


def compile_(header, *flags):
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as unit:
        unit.write(f"#include <{header}>\n")
        unit.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([options.compiler, "-std=c++20", f"-I{include}", *flags, unit.name], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{header}: does not compile\n{done.stderr[:2000]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


findings, lines, seen = [], {}, set()
for pattern, most_lines, most_seconds in BUDGETS:
    for file in sorted((include / "emmy").glob(pattern)):
        header = file.resolve().relative_to(include.resolve()).as_posix()
        if header in seen:
            continue
        seen.add(header)
        text, _ = compile_(header, "-E", "-P")
        lines[header] = text.count("\n")
        said = f"{header:36} {lines[header]:7} lines of {most_lines}"
        if options.seconds:
            seconds = min(compile_(header, "-fsyntax-only")[1] for _ in range(3))
            said += f"   {seconds:5.2f} s of {most_seconds}" + ("   OVER (told, not gated)" if seconds > most_seconds else "")
        print(said)
        if lines[header] > most_lines:
            findings.append(f"{header}: {lines[header]} preprocessed lines, at most {most_lines}")
        if header in agreed:
            growth = lines[header] / int(agreed[header]) - 1
            if growth > 0.03 and not options.update:
                findings.append(f"{header}: grew by {growth:.1%} from {agreed[header]} lines (3 % at most; update include_lines.tsv if it is worth it)")
            elif growth > 0.01:
                print(f"{header}: grew by {growth:.1%} from {agreed[header]} lines")
if options.update:
    table.write_text("".join(f"{header}\t{lines[header]}\n" for header in agreed or ["emmy/core.hpp", "emmy/knob.hpp"] if header in lines))
for finding in findings:
    print("OVER", finding)
sys.exit(1 if findings else 0)
