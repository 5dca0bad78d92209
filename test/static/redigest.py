#!/usr/bin/env python3
"""Rewrites identity literals that is_kernel<closure, "…"_id> refuses, from the diagnostic itself. For use after the identity function changed.

usage: redigest.py SOURCE_DIR [--compiler g++] [FILE...]
FILE: what a literal may stand in; by default test/support/typed_kernels*.hpp, test/static/loop_typed*.cpp, doc/examples/typed/gated.cpp and doc/typed-loop-ir.md.
Files ending in .cpp are compiled, until none refuses; a literal is replaced wherever it stands in one of the files.
"""
import argparse
import pathlib
import re
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("source", type=pathlib.Path)
parser.add_argument("--compiler", default="g++")
parser.add_argument("files", nargs="*", type=pathlib.Path)
options = parser.parse_args()
source = options.source
files = options.files or [*(source / "test/support").glob("typed_kernels*.hpp"), *sorted((source / "test/static").glob("loop_typed*.cpp")), source / "doc/examples/typed/gated.cpp", source / "doc/typed-loop-ir.md"]
between = re.compile(r'"\}, (?:\w+::)*\w+<[^<>]*>\{"')


def refused(unit):
    done = subprocess.run([options.compiler, "-std=c++20", "-fsyntax-only", "-fmax-errors=0" if "g++" in options.compiler and "clang" not in options.compiler else "-ferror-limit=0",
                           f"-I{source / 'include'}", f"-I{source / 'test'}", str(unit)], capture_output=True, text=True)
    said = between.sub("", done.stderr)
    return done.returncode, said, dict((old, new) for new, old in re.findall(r"identity is ([0-9a-f]{32}), expected ([0-9a-f]{32})", said))


changed, failed = 0, 0
for unit in [f for f in files if f.suffix == ".cpp"]:
    for _ in range(100):
        code, said, wrong = refused(unit)
        if code == 0:
            break
        if not wrong:
            print(f"{unit}: does not compile for another reason:\n{said[:3000]}")
            failed += 1
            break
        for file in files:
            text = file.read_text()
            fresh = re.sub("|".join(wrong), lambda m: wrong[m[0]], text)
            if fresh != text:
                file.write_text(fresh)
        changed += len(wrong)
        for old, new in wrong.items():
            print(f"{old} -> {new}")
print(f"{changed} digests rewritten, {failed} files refused")
sys.exit(1 if failed else 0)
