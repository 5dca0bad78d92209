#!/usr/bin/env python3
"""CPU seconds of compiling golden files into a build: the header of each file, with every text, row and digest checked, by each compiler.

usage: golden_header.py SOURCE_DIR EMMY_IMPORT GOLDEN_FILE... [--compilers g++,clang++-16] [--runs 3]
Best of the runs, beside the same unit without the file (only emmy/golden/compiled.hpp): the difference is the file's.
"""
import argparse
import pathlib
import resource
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("source", type=pathlib.Path)
parser.add_argument("tool")
parser.add_argument("golden", nargs="+", type=pathlib.Path)
parser.add_argument("--compilers", default="g++,clang++-16")
parser.add_argument("--runs", type=int, default=3)
options = parser.parse_args()
work = pathlib.Path(tempfile.mkdtemp())


def seconds(compiler, unit):
    best = None
    for _ in range(options.runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{options.source / 'include'}", unit], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = took if best is None else min(best, took)
    return best


floor = work / "floor.cpp"
floor.write_text("#include <emmy/golden/compiled.hpp>\n")
print("| file | rows | kernels | bytes of header | compiler | s CPU | without the file |\n| --- | --- | --- | --- | --- | --- | --- |")
for compiler in options.compilers.split(","):
    empty = seconds(compiler, floor)
    for golden in options.golden:
        header, unit = work / "file.hpp", work / "file.cpp"
        subprocess.run([options.tool, golden, "--emit-header", header], check=True)
        unit.write_text('#include "file.hpp"\n')
        text = header.read_text()
        count = lambda kind: sum(int(part.split(">", 1)[0]) for part in text.split(f"array<compiled::{kind}, ")[1:])
        print(f"| {golden.parent.name}/{golden.name} | {count('row_data')} | {count('kernel_data')} | {len(text)} | {compiler} | {seconds(compiler, unit):.2f} | {empty:.2f} |", flush=True)
