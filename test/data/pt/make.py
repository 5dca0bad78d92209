#!/usr/bin/env python3
"""Writes the committed .pt fixtures with real PyTorch, and expected.txt: what each file holds.

usage: make.py [FOLDER]      (default: the folder of this script)

A line of expected.txt: file, path inside it ("-": the root), dtype, shape, requires_grad, hex of the elements row-major little-endian.
Numbers: file, path, int | float | bool | none | str, value. What must be refused: file, refused, words of the message.
Made with PyTorch 2.15.0 (PyPI wheel, CPU used) under Python 3.11; the values do not depend on the version.
"""
import collections
import io
import math
import pathlib
import struct
import sys
import zipfile

import torch

folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
lines = []
NAMES = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2",
         torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint64: "u64", torch.uint32: "u32", torch.uint16: "u16",
         torch.uint8: "u8", torch.bool: "bool"}
if hasattr(torch, "float4_e2m1fn_x2"):
    NAMES[torch.float4_e2m1fn_x2] = "f4e2m1x2"


def raw(t):
    t = t.detach()
    if t.numel() == 0:
        return b""
    size = t.element_size()
    flat = t.contiguous().reshape(-1)
    storage = bytes(flat.untyped_storage())
    start = flat.storage_offset() * size
    return storage[start:start + flat.numel() * size]


def tell(file, path, value):
    if isinstance(value, torch.Tensor):
        shape = ",".join(map(str, value.shape)) or "-"
        lines.append(f"{file} {path or '-'} {NAMES[value.dtype]} {shape} {int(value.requires_grad)} {raw(value).hex() or '-'}")
    elif isinstance(value, (dict, collections.OrderedDict)):
        for key, item in value.items():
            tell(file, path + ((("." if path else "") + key) if isinstance(key, str) else f"[{key}]"), item)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            tell(file, f"{path}[{i}]", item)
    elif value is None:
        lines.append(f"{file} {path or '-'} none -")
    else:
        kind = {bool: "bool", int: "int", float: "float", str: "str"}[type(value)]
        lines.append(f"{file} {path or '-'} {kind} {value.hex() if kind == 'float' else int(value) if kind == 'bool' else value}")


def save(name, value, **options):
    torch.save(value, folder / name, **options)
    tell(name, "", value)


def pattern(dtype, count):
    """Bits that cover the type: every byte value somewhere, NaN payloads, infinities, signed zeros, the largest and smallest numbers."""
    size = torch.empty((), dtype=dtype).element_size()
    if dtype == torch.bool:
        return torch.tensor([i % 3 == 0 for i in range(count)])
    special = {torch.float64: [0x7ff8000000000001, 0xfff0000000000001, 1 << 63, 0x7ff0000000000000, 1, 0x7fefffffffffffff],
               torch.float32: [0x7fc00001, 0xff800001, 1 << 31, 0x7f800000, 1, 0x7f7fffff],
               torch.float16: [0x7e01, 0xfc01, 0x8000, 0x7c00, 1, 0x7bff], torch.bfloat16: [0x7fc1, 0xff81, 0x8000, 0x7f80, 1, 0x7f7f]}.get(dtype, [])
    state, bits = 12345, []
    for i in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        bits.append(special[i] if i < len(special) else (state >> 7) % (1 << (8 * size)))
    return torch.frombuffer(bytearray(b"".join(b.to_bytes(size, "little") for b in bits)), dtype=torch.uint8).view(dtype)


for dtype, name in NAMES.items():
    save(f"{name}_2d.pt", pattern(dtype, 12).reshape(3, 4))
every = [d for d in NAMES if d is not getattr(torch, "float4_e2m1fn_x2", None)]
for rank, shape in enumerate([(), (5,), (2, 3), (2, 3, 2), (2, 1, 3, 2), (1, 2, 3, 1, 2)]):
    count = math.prod(shape)
    save(f"rank_{rank}.pt", [pattern(d, max(count, 1))[:count].reshape(shape) if shape else pattern(d, 1).reshape(()) for d in every])
save("zero_size.pt", {"one": torch.empty(0), "rows": torch.empty(0, 3, dtype=torch.int16), "columns": torch.empty(4, 0, 2, dtype=torch.bfloat16)})

base = torch.arange(60, dtype=torch.float32).reshape(3, 4, 5)
save("views.pt", collections.OrderedDict(whole=base, transposed=base.permute(2, 0, 1), sliced=base[1:, ::2, 1:4], row=base[2, 3], expanded=base[0, 0, :1].expand(4, 3),
                                         scalar=base[1, 2, 3], stepped=base.reshape(-1)[3::7], ones=base[:, 1:2, :]))
small = torch.arange(6, dtype=torch.bfloat16)
save("shared.pt", {"all": small, "tail": small[2:], "again": small, "matrix": small.view(2, 3).t()})
save("state_dict.pt", torch.nn.Sequential(collections.OrderedDict(first=torch.nn.Linear(3, 2), second=torch.nn.LayerNorm(2))).state_dict())
save("parameter.pt", {"weight": torch.nn.Parameter(torch.arange(4, dtype=torch.float32)), "frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False)})
save("nested.pt", [{"a": (torch.tensor([1, 2]), 7)}, [], (), {"b": None, 3: "text", "inf": math.inf, "big": 2**62, "negative": -5, "wide": -70000, "yes": True, "size": torch.Size([2, 3])}])
for name, value in (("int.pt", 3), ("float.pt", -2.5), ("bool.pt", True), ("long.pt", 2**63 - 1), ("least.pt", -2**63)):
    save(name, value)
torch.serialization.set_crc32_options(False)
save("no_checksums.pt", torch.arange(7, dtype=torch.int32))
torch.serialization.set_crc32_options(True)

# Compressed afterwards: members deflated, as a zip tool does it.
plain = io.BytesIO()
value = torch.arange(500, dtype=torch.float32) % 7
torch.save(value, plain)
with zipfile.ZipFile(plain) as old, zipfile.ZipFile(folder / "deflated.pt", "w", zipfile.ZIP_DEFLATED) as new:
    for item in old.infolist():
        new.writestr(zipfile.ZipInfo(item.filename), old.read(item.filename), zipfile.ZIP_DEFLATED)
tell("deflated.pt", "", value)


def refuse(name, words, value=None, **options):
    if value is not None:
        torch.save(value, folder / name, **options)
    lines.append(f"{name} refused {words}")


class Stranger:
    def __reduce__(self):
        return (eval, ("__import__('os').system('touch /tmp/emmy_was_here')",))


refuse("legacy.pt", "torch.save(torch.load(", torch.arange(3), _use_new_zipfile_serialization=False)
refuse("stranger.pt", "__builtin__.eval", Stranger())
refuse("complex.pt", "torch.ComplexFloatStorage", torch.zeros(2, dtype=torch.complex64))
refuse("protocol_4.pt", "protocol 4", torch.arange(3), pickle_protocol=4)
refuse("numpy.pt", "numpy", __import__("numpy").arange(3))
(folder / "expected.txt").write_text("".join(line + "\n" for line in lines))
print(torch.__version__, len(lines), "lines,", sum(f.stat().st_size for f in folder.glob("*.pt")), "bytes")
