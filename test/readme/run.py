#!/usr/bin/env python3
"""What a page shows is run: every `emmy-…` command of its blocks ends with 0 (or N, where the line says "# exit code N"), every C++ block compiles.
Commands run in a folder that looks like the source tree and keeps what they write; one page's commands follow one another in it.

usage: run.py SOURCE_DIR BIN_DIR [PAGE...]      (default: README.md)
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

source, tools = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
text = "".join((source / page).read_text() for page in sys.argv[3:] or ["README.md"])
passed = failed = 0


def tell(ok, what, detail=""):
    global passed, failed
    passed, failed = passed + ok, failed + (not ok)
    if not ok:
        print(f"failed: {what}\n{detail}")


with tempfile.TemporaryDirectory() as place:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EMMY_")}
    environment |= {"PATH": f"{tools}:{os.environ['PATH']}", "EMMY_DB": f"{place}/store", "EMMY_CACHE_DIR": f"{place}/cache", "HOME": place}
    work = pathlib.Path(place) / "work"
    work.mkdir()
    for entry in source.iterdir():
        (work / entry.name).symlink_to(entry)
    for language, block in re.findall(r"```(\w+)\n(.*?)```", text, re.S):
        if language == "cpp":
            unit = pathlib.Path(place) / "block.cpp"
            unit.write_text(block)
            done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", f"-I{source}/include", str(unit)], capture_output=True, text=True)
            tell(done.returncode == 0, block, done.stderr)
            continue
        for line in block.splitlines():
            command = line.removeprefix("$ ")
            if not command.startswith("emmy-") or (language == "console" and not line.startswith("$ ")):
                continue
            done = subprocess.run(["bash", "-c", command], cwd=work, env=environment, capture_output=True, text=True)
            wanted = re.search(r"# exit code (\d+)", command)
            tell(done.returncode == (int(wanted[1]) if wanted else 0), f"{command} (exit {done.returncode})", done.stdout + done.stderr)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or passed == 0 else 0)
