#!/usr/bin/env python3
"""The C++ blocks of a page are one file that compiles.

usage: blocks.py COMPILER SOURCE_DIR PAGE...      exit 1 if a page does not compile
"""
import pathlib
import re
import subprocess
import sys

compiler, source = sys.argv[1], pathlib.Path(sys.argv[2])
bad = 0
for page in sys.argv[3:]:
    blocks = re.findall(r"```cpp\n(.*?)```", (source / page).read_text(), re.S)
    done = subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-fsyntax-only", f"-I{source / 'include'}", "-x", "c++", "-"], input="\n".join(blocks), capture_output=True, text=True)
    wrong = done.returncode != 0 or not blocks
    bad += wrong
    print(f"{page}: {len(blocks)} blocks, {'do not compile' if wrong else 'compile'} ({compiler})\n{done.stderr if wrong else ''}", end="")
sys.exit(1 if bad else 0)
