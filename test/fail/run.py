#!/usr/bin/env python3
"""Misuse that must not compile, with the words it must print, each with a twin that must.

usage: run.py COMPILER SOURCE_DIR [FILE...]      FILE: test/fail/*.cpp by default; exit 1 if any behaves otherwise

A file states `// expect: REGEX` once or more. Compiled as it stands it must fail and every regex must match the diagnostics; with
-DGOOD it must compile. Sentences reach a compiler in pieces, as arguments of a template that is never defined; before matching,
everything between two pieces is deleted, so that a regex sees plain words on both compilers.

Headers that several files begin with are precompiled once: a file then costs a quarter. A file sees the header alone, as it stands.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

compiler, source = sys.argv[1], pathlib.Path(sys.argv[2])
files = [pathlib.Path(f) for f in sys.argv[3:]] or sorted((source / "test" / "fail").glob("*.cpp"))
between = re.compile(r'"\}, (?:\w+::)*\w+<[^<>]*>\{"')


first_include = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
places = [f"-I{source / 'include'}", f"-I{source / 'test'}"]
plain = {**os.environ, "LC_ALL": "C"}
clang = "clang" in pathlib.Path(compiler).name
ready = {}  # first include of a file -> header with a precompiled form beside it


def precompile(name, folder):
    header = pathlib.Path(folder) / (re.sub(r"\W", "_", name) + ".hpp")
    header.write_text(f"#include <{name}>\n")
    out = str(header) + (".pch" if clang else ".gch")
    if subprocess.run([compiler, "-std=c++20", *places, "-x", "c++-header", str(header), "-o", out], env=plain, capture_output=True).returncode == 0:
        ready[name] = header


def run(file, good, *flags):
    begin = first_include.search(file.read_text())
    header = ready.get(begin[1]) if begin else None
    unit = ("#define GOOD\n" if good else "") + f'#include "{file}"\n'
    command = [compiler, "-std=c++20", "-fsyntax-only", *places, *flags, *(["-include", str(header)] if header else []), "-x", "c++", "-"]
    done = subprocess.run(command, capture_output=True, text=True, input=unit, env=plain, timeout=120)
    return done.returncode, between.sub("", done.stderr)


def check(file):
    text = file.read_text()
    wanted = re.findall(r"^// expect: (.+?)\s*$", text, re.M)
    findings = []
    if not wanted:
        return ["has no line `// expect: REGEX`"]
    if "GOOD" not in text:
        return ["has no twin under #ifdef GOOD"]
    code, said = run(file, True, "-Wall", "-Wextra", "-Werror")
    if code != 0:
        findings.append("its twin does not compile:\n" + said[:2000])
    code, said = run(file, False)
    if code == 0:
        findings.append("compiles, expected a refusal")
    else:
        findings += [f"does not say /{regex}/; it says:\n" + said[:3000] for regex in wanted if not re.search(regex, said)]
    return findings


files = [f.resolve() for f in files]
begins = collections.Counter(m[1] for f in files if (m := first_include.search(f.read_text())))
with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    bad = 0
    list(pool.map(lambda name: precompile(name, folder), [name for name, count in begins.items() if count > 3]))
    for file, findings in zip(files, pool.map(check, files)):
        for finding in findings:
            print(f"{file}: {finding}")
        bad += bool(findings)
print(f"{len(files)} files, {bad} wrong, {compiler}")
sys.exit(1 if bad or not files else 0)
