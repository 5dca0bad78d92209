#!/usr/bin/env python3
"""Loads files that we wrote with real PyTorch, weights_only=True, and holds every element's bits against expected.txt beside them.

usage: check.py FOLDER       (written by `EMMY_WRITE_PT=FOLDER unit_core --run_test=written_files_are_read_back`)
"""
import pathlib
import sys

import torch

TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
         "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u64": torch.uint64, "u32": torch.uint32, "u16": torch.uint16, "u8": torch.uint8,
         "bool": torch.bool, "f4e2m1x2": getattr(torch, "float4_e2m1fn_x2", None)}
folder = pathlib.Path(sys.argv[1])
files = 0
for line in (folder / "expected.txt").read_text().splitlines():
    name, _, dtype, shape, grad, wanted = line.split()
    for mapped in (False, True):
        t = torch.load(folder / name, weights_only=True, mmap=mapped)
        found = bytes(t.untyped_storage()).hex() or "-"
        told = ",".join(map(str, t.shape)) or "-"
        if t.dtype != TYPES[dtype] or told != shape or not t.is_contiguous() or t.requires_grad or found != wanted:
            sys.exit(f"{name}: found {t.dtype} {told} {found}, expected {dtype} {shape} {wanted}")
    files += 1
print(f"torch {torch.__version__}: {files} files load with weights_only=True, mmap off and on, bit for bit as expected.txt says")
