#!/usr/bin/env python3
"""What literal spaces and registries cost a compiler, as curves: CPU seconds of a syntax check above the same file without them.

usage: knob_curves.py SOURCE_DIR [--repeat 3] [COMPILER...]      compilers: g++ clang++-16 by default

Points: a product of one, two, three families of ten values under one rule (about half the points are legal): size alone; frozen as a
table with rank(unrank(i)) = i checked for every row. Families: a registry of N, each looked up by type, and one row over all; a product of N.
"""
import argparse
import pathlib
import resource
import shutil
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("source", type=pathlib.Path)
parser.add_argument("compilers", nargs="*")
parser.add_argument("--repeat", type=int, default=3)
options = parser.parse_args()
compilers = options.compilers or [c for c in ("g++", "clang++-16") if shutil.which(c)]

HEAD = "#include <emmy/knob.hpp>\nusing namespace emmy::knob;\n"
TEN = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"


def families(count, values=TEN):
    return "".join(f'struct F{i} : choice<"F{i}", {values}> {{}};\n' for i in range(count))


def space(count):
    product = " * ".join(f"all<F{i}>" for i in range(count))
    if count == 1:
        return f"constexpr auto space = {product} % where<F0>([](int v) {{ return v % 2 == 0; }});\n"
    return f"constexpr auto space = {product} % where<F0, F{count - 1}>([](int a, int b) {{ return a <= b; }});\n"


def size_only(count):
    return HEAD + families(count) + space(count) + "static_assert(space.size() > 0);\n"


def frozen(count):
    return HEAD + families(count) + space(count) + """constexpr bool inverts() {
    const auto& list = frozen_at_compile_time<space>;
    for (std::uint64_t i = 0; i < list.size(); ++i)
        if (list.rank(list.unrank(i)) != i) return false;
    return true;
}
static_assert(inverts());
"""


def registry_of(count):
    names = ", ".join(f"F{i}" for i in range(count))
    lookups = "".join(f"static_assert(all_of_them::table[all_of_them::index_of<F{i}>].name == F{i}::name);\n" for i in range(count))
    return HEAD + families(count, "1, 2") + f"using all_of_them = registry<{names}>;\n" + lookups + \
        f"constexpr row<{names}> one_row{{}};\nstatic_assert(one_row.get<F{count - 1}>() == 0 && all_of_them::find(\"F0\") != nullptr);\n"


def product_of(count):
    return HEAD + families(count, "1, 2") + f"constexpr auto space = {' * '.join(f'all<F{i}>' for i in range(count))};\nstatic_assert(space.raw_size() > 0);\n"


def seconds(compiler, text):
    best = None
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as unit:
        unit.write(text)
        unit.flush()
        for _ in range(options.repeat):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{options.source / 'include'}", unit.name], capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode:
                return None
            took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best = took if best is None else min(best, took)
    return best


floors = {c: seconds(c, HEAD) for c in compilers}
print("| CPU s above the header | " + " | ".join(compilers) + " |\n| --- |" + " --- |" * len(compilers))
print("| the header alone (absolute) | " + " | ".join(f"{floors[c]:.2f}" for c in compilers) + " |")
rows = [(f"{10 ** n} points, size", size_only(n)) for n in (1, 2, 3)] + [(f"{10 ** n} points, frozen, rank of every unrank", frozen(n)) for n in (1, 2, 3)] + \
       [(f"registry and row of {n} families", registry_of(n)) for n in (10, 20, 50)] + \
       [(f"product of {n} families", product_of(n)) for n in (10, 20, 50)]
for what, text in rows:
    took = {c: seconds(c, text) for c in compilers}
    print(f"| {what} | " + " | ".join("refused" if took[c] is None else f"{max(0.0, took[c] - floors[c]):.2f}" for c in compilers) + " |", flush=True)
