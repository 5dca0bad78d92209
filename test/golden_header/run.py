#!/usr/bin/env python3
"""Headers of real golden files: they compile as they are, and one thing changed in each fails the compile with its sentence.

usage: run.py SOURCE_DIR EMMY_IMPORT GOLDEN_FILE [--compilers g++,clang++-16]
Prints the CPU seconds of every compile; asserts what compiles and what is said. Exit 77 (skipped), with a line, where the file is absent.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("source", type=pathlib.Path)
parser.add_argument("tool")
parser.add_argument("golden", type=pathlib.Path)
parser.add_argument("--compilers", default="g++,clang++-16")
options = parser.parse_args()
if not options.golden.exists():
    print(f"skipped: no peer file {options.golden} (set EMMY_SHARED_DATA)")
    sys.exit(77)

work = pathlib.Path(tempfile.mkdtemp())
header = work / "real.golden.hpp"
subprocess.run([options.tool, options.golden, "--emit-header", header], check=True)
text = header.read_text()
between = re.compile(r'"\}, (?:\w+::)*\w+<[^<>]*>\{"')
bad = 0


def compile_(compiler, changed, name):
    unit = work / f"{name}.cpp"
    (work / f"{name}.hpp").write_text(changed)
    unit.write_text(f'#include "{name}.hpp"\nstatic_assert(real::table.size() > 0);\n')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{options.source / 'include'}", unit], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, between.sub("", done.stderr), seconds


def once(pattern, replacement):
    """The header with the first match changed."""
    changed, count = re.subn(pattern, replacement, text, count=1)
    if count != 1:
        sys.exit(f"the header has no {pattern}")
    return changed


def flipped(match):
    # the first row's last knob gets the neighbour of its value
    key, value = int(match[2]), int(match[3])
    return f"{match[1]}{{{key}, {value + 1 if value == 0 else value - 1}}}"


first_knobs = r"(knobs\{\{\n    (?:\{\d+, \d+\}, ){4})\{(\d+), (\d+)\}"
changes = {
    "as it is": (text, None),
    "one flipped knob": (once(first_knobs, flipped), r"row 0 \[[^\]]*\]: found seal [0-9a-f]{16}, expected [0-9a-f]{16}: its kernel, sizes, regime, knobs or time were changed by hand|row 0 \[[^\]]*\]: [A-Z]\w* [A-Z]+"),
    "one illegal row": (once(r'("t16x8")', '"t64x32"'), r"row \d+ \[[^\]]*\]: K1 WORK: threads of a block is 2048, must be at most 1024"),
    "one misspelt value": (once(r'("t16x8")', '"t16y8"'), r"WORK value \d+: found \[t16y8\], expected .* at offset 3"),
    "one wrong digest": (once(r"(kernels\{\{\n    \{[^\n]*\{0x[0-9a-f]{15})([0-9a-f])", lambda m: m[1] + ("0" if m[2] != "0" else "1")), r"kernel 0 \[\w+\]: identity of its text is [0-9a-f]{32}, expected [0-9a-f]{32}"),
    "a structural knob": (once(r'    "(REDUCE@[^"]*|REDUCE)",\n', '    "PLACE",\n'), r"key \d+: PLACE: found a structural family, expected schedule families only in a schedule row"),
}
for compiler in options.compilers.split(","):
    for name, (changed, wanted) in changes.items():
        code, said, seconds = compile_(compiler, changed, re.sub(r"\W", "_", name))
        good = code == 0 if wanted is None else code != 0 and re.search(wanted, said)
        print(f"{compiler} {options.golden.name} {name}: {'compiles' if code == 0 else 'refused'}, {seconds:.2f} s CPU{'' if good else ': WRONG'}")
        if not good:
            bad += 1
            print(said[:3000])
sys.exit(1 if bad else 0)
