#!/usr/bin/env python3
"""Misuse that must not compile, with the words it must print, each with a twin that must.

usage: run.py COMPILER SOURCE_DIR [FILE...]      FILE: test/fail/*.cpp by default; exit 1 if any behaves otherwise

A file states `// expect: REGEX` once or more. Compiled as it stands it must fail and every regex must match the diagnostics; with
-DGOOD it must compile. Sentences reach a compiler in pieces, as arguments of a template that is never defined; before matching,
everything between two pieces is deleted, so that a regex sees plain words on both compilers.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

compiler, source = sys.argv[1], pathlib.Path(sys.argv[2])
files = [pathlib.Path(f) for f in sys.argv[3:]] or sorted((source / "test" / "fail").glob("*.cpp"))
between = re.compile(r'"\}, (?:\w+::)*\w+<[^<>]*>\{"')


def run(file, *flags):
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{source / 'include'}", f"-I{source / 'test'}", *flags, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, timeout=120)
    return done.returncode, between.sub("", done.stderr)


def check(file):
    text = file.read_text()
    wanted = re.findall(r"^// expect: (.+?)\s*$", text, re.M)
    findings = []
    if not wanted:
        return ["has no line `// expect: REGEX`"]
    if "GOOD" not in text:
        return ["has no twin under #ifdef GOOD"]
    code, said = run(file, "-DGOOD", "-Wall", "-Wextra", "-Werror")
    if code != 0:
        findings.append("its twin does not compile:\n" + said[:2000])
    code, said = run(file)
    if code == 0:
        findings.append("compiles, expected a refusal")
    else:
        findings += [f"does not say /{regex}/; it says:\n" + said[:3000] for regex in wanted if not re.search(regex, said)]
    return findings


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    bad = 0
    for file, findings in zip(files, pool.map(check, files)):
        for finding in findings:
            print(f"{file}: {finding}")
        bad += bool(findings)
print(f"{len(files)} files, {bad} wrong, {compiler}")
sys.exit(1 if bad or not files else 0)
