#!/usr/bin/env python3
"""Structure of include/emmy as rules: allowed include edges, heavy headers, bodies listed, no cycles between files.

usage: check.py SOURCE_DIR      prints one line a finding; exit 1 if there is any
"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
root = source / "include" / "emmy"
findings = []

# The one statement of the layering.
allowed = {}
for line in (source / "cmake" / "folders.cmake").read_text().splitlines():
    if found := re.match(r"set\(EMMY_MAY_INCLUDE_(\w+)\s*(.*)\)", line):
        allowed[found[1]] = set(found[2].split()) | {found[1]}

# Headers that cost seconds or drag in a library: bodies only. <functional> and the like need a reason beside the include.
heavy = re.compile(r"^(boost/json|lmdb\.h|zip\.h|zstd|xxhash|openssl/|fmt/|CLI/|boost/test|boost/process|Eigen|cuda|nvrtc|sqlite)")
wordy = {"ranges", "functional", "filesystem", "regex", "iostream"}

includes = {}
for file in sorted(root.rglob("*.[hi]pp")):
    name = file.relative_to(root).as_posix()
    folder = name.split("/")[0] if "/" in name else None
    text = file.read_text()
    if "#pragma once" not in text:
        findings.append(f"{name}: no #pragma once")
    includes[name] = []
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"](.*)', line)
        if not found:
            continue
        quote, target, rest = found.groups()
        if quote == '"':
            findings.append(f"{name}:{number}: \"{target}\" is included relatively, expected <emmy/…>")
        if target.startswith("emmy/"):
            target = target[len("emmy/"):]
            if not (root / target).exists():
                findings.append(f"{name}:{number}: includes {target}, which does not exist")
            includes[name].append(target)
            into = target.split("/")[0] if "/" in target else target.removesuffix(".hpp")
            if folder and into in allowed and into not in allowed[folder]:
                findings.append(f"{name}:{number}: {folder} may not include {into} (cmake/folders.cmake)")
            if target.endswith(".ipp") and not name.endswith(".ipp"):
                before = text.splitlines()[max(0, number - 6):number]
                if not any("EMMY_HEADER_ONLY" in l for l in before):
                    findings.append(f"{name}:{number}: includes a body outside EMMY_HEADER_ONLY")
        elif name.endswith(".hpp") and "/impl/" not in name:  # impl/ is not public
            if heavy.match(target):
                findings.append(f"{name}:{number}: heavy header <{target}> in a public header")
            if target in wordy and "//" not in rest:
                findings.append(f"{name}:{number}: <{target}> in a public header without a reason beside it")
    if folder == "knob" and name.endswith(".ipp"):
        findings.append(f"{name}: knob/ is headers only")

# Every body is compiled: listed in its folder's src.ipp, or included by a body that is.
for folder in allowed:
    unit = root / folder / "impl" / "src.ipp"
    bodies = {f"{folder}/impl/{f.name}" for f in (root / folder / "impl").glob("*.ipp")} if (root / folder / "impl").is_dir() else set()
    if not bodies:
        continue
    if not unit.exists():
        findings.append(f"{folder}/impl: bodies without src.ipp")
        continue
    seen, todo = set(), [f"{folder}/impl/src.ipp"]
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        todo += [t for t in includes.get(at, []) if t.endswith(".ipp")]
    findings += [f"{body}: not compiled (list it in {folder}/impl/src.ipp)" for body in sorted(bodies - seen)]

# No cycles between headers. A header's own bodies (impl/, detail/) are part of it and may include it back.
state = {}
def visit(at, trail):
    state[at] = 1
    for target in includes.get(at, []):
        if re.search(r"/(impl|detail)/", target):
            continue
        if state.get(target) == 1:
            findings.append("include cycle: " + " -> ".join(trail[trail.index(target):] + [target]) if target in trail else f"include cycle at {target}")
        elif target not in state:
            visit(target, trail + [target])
    state[at] = 2
for header in list(includes):
    if header not in state:
        visit(header, [header])

# Kernel text has no inline assembly; no file of ours has but the prelude's definitions for a card.
for file in list(root.rglob("*.[hi]pp")):
    if not file.name.startswith("cuda_prelude_") and re.search(r"\basm\s*(volatile)?\s*\(", file.read_text()):
        findings.append(f"{file.relative_to(root)}: inline assembly")

for finding in findings:
    print(finding)
print(f"{len(includes)} headers and bodies, {len(findings)} findings")
sys.exit(1 if findings else 0)
