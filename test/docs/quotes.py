#!/usr/bin/env python3
"""What a page shows is compiled: every ```cpp block of a page stands, line for line, in one of the files beside it.

usage: quotes.py PAGE FILE...      exit 1 if a block stands in none
"""
import pathlib
import re
import sys

page, files = pathlib.Path(sys.argv[1]), [pathlib.Path(f).read_text() for f in sys.argv[2:]]
blocks = re.findall(r"^```cpp\n(.*?)^```", page.read_text(), re.M | re.S)
bad = [b for b in blocks if not any(b in text for text in files)]
for block in bad:
    print(f"{page}: in no file that is compiled:\n{block}")
print(f"{len(blocks)} blocks, {len(bad)} not compiled")
sys.exit(1 if bad or not blocks else 0)
