#!/usr/bin/env python3
"""Writes cases.json: operators as --op texts, inputs, and what PyTorch computes for them, on the CPU.

Run with a Python that has torch and numpy; the version that made the committed file is in its header.
    python3 -m venv venv && venv/bin/pip install torch numpy && venv/bin/python make.py

A case: {"op": text, "in": [[node, dtype, shape, base64]], "out": [dtype, shape, base64], "sizes"?: {symbol: size}, "ulp"?: n}.
Bytes are little-endian and row-major. Node names of weights have the prefix p_, as --op makes them.
"""
import base64, json, math, os, sys
import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(20240607)
torch.set_num_threads(1)
T = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32, "i16": torch.int16,
     "u8": torch.uint8, "bool": torch.bool, "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "u16": torch.uint16, "u32": torch.uint32}
N = {v: k for k, v in T.items()}
cases = []


def raw(t):
    t = t.detach().contiguous()
    return base64.b64encode(t.reshape(-1).view(torch.uint8).numpy().tobytes()).decode() if t.dim() else base64.b64encode(t.reshape(1).view(torch.uint8).numpy().tobytes()).decode()


def text_of(x):
    return "[" + ",".join(str(d) for d in x) + "]"


def make(dtype, shape, low=-2.0, high=2.0, step=None):
    shape = [d if isinstance(d, int) else d[1] for d in shape]
    if dtype == "bool":
        return torch.rand(shape) < 0.5
    if dtype in ("i64", "i32", "i16", "u8", "u16", "u32"):
        return torch.randint(int(low), int(high), shape).to(T[dtype])
    return (torch.rand(shape, dtype=torch.float64) * (high - low) + low).to(T[dtype])


class arg:
    """One tensor of a call: name, dtype, shape (a symbol is a pair (name, size)), values."""
    def __init__(self, name, dtype, shape, value=None, weight=False, low=-2.0, high=2.0):
        self.name, self.dtype, self.shape, self.weight = name, dtype, shape, weight
        self.value = make(dtype, shape, low, high) if value is None else value.to(T[dtype])


def case(op, args, f, settings="", ulp=None, sizes=None):
    sizes = sizes or {}
    spelled = []
    for a in args:
        dims = ",".join(str(d) if isinstance(d, int) else d[0] for d in a.shape)
        spelled.append(f"{a.name}: {a.dtype}[{dims}]")
        sizes.update({d[0]: d[1] for d in a.shape if not isinstance(d, int)})
    text = f"{op}({', '.join(spelled + ([settings] if settings else []))})"
    out = f(*[a.value for a in args])
    entry = {"op": text, "in": [["p_" + a.name if a.weight else a.name, a.dtype, list(a.value.shape), raw(a.value)] for a in args],
             "out": [N[out.dtype], list(out.shape), raw(out)]}
    if sizes:
        entry["sizes"] = sizes
    if ulp is not None:
        entry["ulp"] = ulp
    cases.append(entry)


REAL, HALF, INT = ["f32", "f16", "bf16"], ["f16", "bf16"], ["i32", "i64", "u8", "i16"]

# --- pointwise -------------------------------------------------------------------------------------------------------------------
unary = {"copy": torch.clone, "negative": torch.negative, "positive": torch.positive, "abs": torch.abs, "absolute": torch.abs, "square": torch.square, "reciprocal": torch.reciprocal,
         "sign": torch.sign, "exp": torch.exp, "exp_fast": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "arctan": torch.arctan,
         "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh, "arcsinh": torch.arcsinh, "erf": torch.erf, "sigmoid": torch.sigmoid, "silu": F.silu, "softplus": F.softplus,
         "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "relu": F.relu, "floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc, "rint": torch.round}
for name, f in unary.items():
    for d in REAL:
        case(name, [arg("x", d, [3, 17], low=-3, high=3)], f, ulp=2 if name in ("square",) else None)
positive = {"sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "log": torch.log, "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p}
for name, f in positive.items():
    for d in REAL:
        case(name, [arg("x", d, [3, 11], low=0.01, high=9)], f)
for d in REAL:
    case("cbrt", [arg("x", d, [9], low=-9, high=9)], lambda x: torch.from_numpy(np.cbrt(x.double().numpy())).to(x.dtype))
    case("arcsin", [arg("x", d, [9], low=-1, high=1)], torch.arcsin)
    case("arccos", [arg("x", d, [9], low=-1, high=1)], torch.arccos)
    case("arccosh", [arg("x", d, [9], low=1, high=9)], torch.arccosh)
    case("arctanh", [arg("x", d, [9], low=-0.9, high=0.9)], torch.arctanh)
    special = torch.tensor([0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, 3.0])
    for name, f in {"isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite, "signbit": torch.signbit, "logical_not": torch.logical_not, "sign": torch.sign,
                    "floor": torch.floor, "rint": torch.round, "abs": torch.abs, "exp": torch.exp, "sigmoid": torch.sigmoid, "tanh": torch.tanh}.items():
        value = special if name not in ("sign",) else special[:6]
        case(name, [arg("x", d, [len(value)], value)], f)
binary = {"add": torch.add, "subtract": torch.subtract, "multiply": torch.multiply, "divide": torch.divide, "maximum": torch.maximum, "minimum": torch.minimum, "fmax": torch.fmax, "fmin": torch.fmin,
          "fmod": torch.fmod, "arctan2": torch.arctan2, "hypot": torch.hypot, "copysign": torch.copysign, "floor_divide": torch.floor_divide, "remainder": torch.remainder,
          "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt, "greater_equal": torch.ge, "logical_and": torch.logical_and,
          "logical_or": torch.logical_or, "logical_xor": torch.logical_xor}
for name, f in binary.items():
    for d in REAL:
        grid = torch.randint(-8, 8, (4, 6)) / 4.0
        other = torch.randint(-8, 8, (6,)) / 4.0
        if name in ("floor_divide", "remainder", "fmod", "divide"):
            other[other == 0] = 0.75
        case(name, [arg("a", d, [4, 6], grid), arg("b", d, [6], other)], f)
for d in REAL:
    case("pow", [arg("a", d, [4, 6], low=0.1, high=3), arg("b", d, [4, 6])], torch.pow, ulp=2)
    case("where", [arg("c", "bool", [4, 1]), arg("a", d, [4, 6]), arg("b", d, [6])], torch.where)
    case("divide_rn_f32", [arg("a", "f32", [9]), arg("b", "f32", [9], low=0.5, high=2)], torch.divide)
    # mixed types promote
    case("multiply", [arg("a", d, [5]), arg("b", "i32", [5], low=-9, high=9)], torch.multiply)
case("add", [arg("a", "f16", [5]), arg("b", "f32", [5])], torch.add)
case("add", [arg("a", "f16", [5]), arg("b", "bf16", [5])], torch.add)
case("add", [arg("a", "f64", [5]), arg("b", "f32", [5])], torch.add)
for d in INT:
    low, high = (0, 250) if d == "u8" else (-120, 120)
    for name in ["add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder", "fmod", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
                 "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]:
        b = make(d, [4, 6], low, high)
        if name in ("floor_divide", "remainder", "fmod"):
            b[b == 0] = 3
        if name.endswith("shift"):
            b = torch.randint(0, 6, (4, 6)).to(T[d])
        f = {"left_shift": torch.bitwise_left_shift, "right_shift": torch.bitwise_right_shift, "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or, "bitwise_xor": torch.bitwise_xor}.get(name) or binary[name]
        case(name, [arg("a", d, [4, 6], low=low, high=high), arg("b", d, [4, 6], b)], f)
    case("pow", [arg("a", d, [6], low=0, high=5), arg("b", d, [6], low=0, high=4)], torch.pow)
    case("invert", [arg("x", d, [9], low=low, high=high)], torch.bitwise_not)
    case("abs", [arg("x", d, [9], low=low, high=high)], torch.abs)
    case("sign", [arg("x", d, [9], low=low, high=high)], torch.sign)
    case("square", [arg("x", d, [9], low=low, high=high)], torch.square)
    case("where", [arg("c", "bool", [9]), arg("a", d, [9], low=low, high=high), arg("b", d, [9], low=low, high=high)], torch.where)
    if d != "u8":
        case("negative", [arg("x", d, [9], low=low, high=high)], torch.negative)
case("divide", [arg("a", "i32", [6], low=-99, high=99), arg("b", "i32", [6], torch.tensor([1, 2, 3, -7, 9, 11]))], torch.divide)
case("exp", [arg("x", "i32", [6], low=-3, high=3)], torch.exp)
for name in ["bitwise_and", "bitwise_or", "bitwise_xor", "equal"]:
    case(name, [arg("a", "bool", [9]), arg("b", "bool", [9])], {"equal": torch.eq}.get(name) or getattr(torch, name))
case("invert", [arg("x", "bool", [5])], torch.bitwise_not)
case("where", [arg("c", "bool", [9]), arg("a", "bool", [9]), arg("b", "bool", [9])], torch.where)
case("multiply", [arg("a", "i64", [4], torch.tensor([2**40 + 1, -3, 2**62, 7])), arg("b", "i64", [4], torch.tensor([2**20 + 3, 2**61, 5, -9]))], torch.multiply)  # wraps
case("right_shift", [arg("a", "i64", [4], torch.tensor([-2**62, 2**61 + 12345, -1, 8])), arg("b", "i64", [4], torch.tensor([3, 40, 63, 1]))], torch.bitwise_right_shift)
case("bitwise_count", [arg("x", "i32", [8], low=0, high=2**31 - 1)], lambda x: torch.from_numpy(np.bitwise_count(x.numpy()).astype(np.int32)))

# --- conversions -----------------------------------------------------------------------------------------------------------------
wide = torch.tensor([0.0, -0.0, 1.0, 0.3333, -2.7182, 65504.0, 1e-8, 3e38, -7.5, 6.1e-5, 1234.567, 0.1])
for a in ["f64", "f32", "f16", "bf16"]:
    for b in ["f64", "f32", "f16", "bf16"]:
        if a != b:
            case("to", [arg("x", a, [len(wide)], wide)], lambda x, b=b: x.to(T[b]), f"dtype={b}")
    case("to", [arg("x", a, [6], torch.tensor([1.9, -1.9, 0.0, 100.5, -100.5, 7.0]))], lambda x: x.to(torch.int32), "dtype=i32")
    case("to", [arg("x", a, [4], torch.tensor([0.0, 0.5, -1.0, 2.0]))], lambda x: x.to(torch.bool), "dtype=bool")
    for b in ["i32", "u8", "bool", "i64"]:
        case("to", [arg("x", b, [6], low=0, high=100)], lambda x, a=a: x.to(T[a]), f"dtype={a}")
for a, b in [("i64", "i32"), ("i32", "u8"), ("i32", "i16"), ("u8", "i32"), ("bool", "i64"), ("i16", "i64")]:
    case("to", [arg("x", a, [6], make(a, [6], 0 if a == "u8" else -300, 200 if a == "u8" else 300))], lambda x, b=b: x.to(T[b]), f"dtype={b}")
case("bitcast", [arg("x", "i16", [8], low=-32768, high=32767)], lambda x: x.view(torch.uint16), "dtype=u16")
case("bitcast", [arg("x", "f32", [8])], lambda x: x.view(torch.int32), "dtype=i32")
case("bitcast", [arg("x", "f16", [8])], lambda x: x.view(torch.int16), "dtype=i16")
case("bitcast", [arg("x", "bf16", [8])], lambda x: x.view(torch.int16), "dtype=i16")
case("bitcast", [arg("x", "i32", [4], torch.tensor([0x3f800000, 0x40490fdb, -0x40800000, 0x00800000]))], lambda x: x.view(torch.float32), "dtype=f32")
codes = torch.arange(256, dtype=torch.int32)
e4 = codes[(codes & 127) != 127].to(torch.uint8).view(torch.float8_e4m3fn)
e5 = codes[(codes & 127) < 124].to(torch.uint8).view(torch.float8_e5m2)
case("from_f8e4m3", [arg("x", "f8e4m3", [len(e4)], e4)], lambda x: x.float())
case("from_f8e5m2", [arg("x", "f8e5m2", [len(e5)], e5)], lambda x: x.float())
for d in REAL:
    case("to_f8e4m3", [arg("x", d, [64], low=-440, high=440)], lambda x: x.to(torch.float8_e4m3fn))
    case("to_f8e5m2", [arg("x", d, [64], low=-5000, high=5000)], lambda x: x.to(torch.float8_e5m2))
case("dequantise_fp8", [arg("codes", "f8e4m3", [len(e4)], e4), arg("scale", "f32", [1], torch.tensor([1.0]))], lambda x, s: x.to(torch.float32) * s)
case("dequantise_fp8", [arg("codes", "f8e5m2", [len(e5)], e5), arg("scale", "f32", [1], torch.tensor([0.5]))], lambda x, s: x.to(torch.float32) * s)

# --- layout ----------------------------------------------------------------------------------------------------------------------
for d in ["f32", "f16", "i64", "bool"]:
    case("permute", [arg("x", d, [2, 3, 4, 5])], lambda x: x.permute(2, 0, 3, 1), "dims=[2,0,3,1]")
    case("transpose", [arg("x", d, [2, 3, 4])], lambda x: x.transpose(0, -1), "dim0=0, dim1=-1")
    case("reshape", [arg("x", d, [2, 3, 4])], lambda x: x.reshape(4, -1), "shape=[4,-1]")
    case("slice", [arg("x", d, [7, 9])], lambda x: x[:, 1:8:3], "dim=1, start=1, end=8, step=3")
    case("slice", [arg("x", d, [7, 9])], lambda x: x[-4:-1], "dim=0, start=-4, end=-1")
    case("cat", [arg("a", d, [2, 3]), arg("b", d, [4, 3]), arg("e", d, [1, 3])], lambda *x: torch.cat(x), "dim=0")
    case("cat", [arg("a", d, [2, 3, 2]), arg("b", d, [2, 1, 2])], lambda *x: torch.cat(x, 1), "dim=1")
    case("stack", [arg("a", d, [2, 3]), arg("b", d, [2, 3])], lambda *x: torch.stack(x, 1), "dim=1")
    case("roll", [arg("x", d, [3, 7])], lambda x: torch.roll(x, 2, 1), "shifts=2, dim=1")
    case("flip", [arg("x", d, [3, 7])], lambda x: torch.flip(x, [1]), "dim=1")
    case("pad", [arg("x", d, [2, 3])], lambda x: F.pad(x, (1, 2, 0, 1)), "pads=[1,2,0,1]")
    case("gather", [arg("x", d, [4, 5]), arg("index", "i64", [3, 5], low=0, high=4)], lambda x, i: torch.gather(x, 0, i), "dim=0")
    case("index_select", [arg("x", d, [4, 5]), arg("index", "i64", [7], low=0, high=5)], lambda x, i: torch.index_select(x, 1, i), "dim=1")
    case("select", [arg("x", d, [4, 5])], lambda x: x[:, -2], "dim=1, index=-2")
    case("slice_scatter", [arg("x", d, [4, 7]), arg("part", d, [4, 2])], lambda x, p: torch.slice_scatter(x, p, 1, 3, 5), "dim=1, start=3")
case("permute", [arg("x", "f32", [3, 4])], lambda x: x.permute(1, 0), "dims=[1,0]")
case("permute", [arg("x", "f32", [3, 4])], lambda x: x.permute(0, 1), "dims=[0,1]")
case("cat", [arg("a", "f32", [2, 3]), arg("b", "f32", [2, 3])], lambda *x: torch.cat(x, -1), "dim=-1")
case("slice", [arg("x", "f32", [3, 8])], lambda x: x[:, ::2], "dim=1, step=2")
case("slice", [arg("x", "f32", [3, 8])], lambda x: x[:, 2:100], "dim=1, start=2, end=100")
case("flatten", [arg("x", "f32", [2, 3, 4, 5])], lambda x: x.flatten(1, 2), "start_dim=1, end_dim=2")
case("squeeze", [arg("x", "f32", [2, 1, 3, 1])], lambda x: x.squeeze(1), "dim=1")
case("squeeze", [arg("x", "f32", [2, 1, 3, 1])], lambda x: x.squeeze(), "dims=[]")
case("unsqueeze", [arg("x", "f32", [2, 3])], lambda x: x.unsqueeze(-1), "dim=-1")
case("unsqueeze", [arg("x", "f32", [])], lambda x: x.unsqueeze(0), "dim=0")
case("expand", [arg("x", "f32", [3, 1])], lambda x: x.expand(2, 3, 4), "shape=[2,3,4]")
case("repeat", [arg("x", "f32", [2, 3])], lambda x: x.repeat(2, 1, 3), "repeats=[2,1,3]")
case("repeat_interleave", [arg("x", "f32", [2, 3])], lambda x: x.repeat_interleave(4, 1), "repeats=4, dim=1")
case("pad", [arg("x", "f32", [2, 3])], lambda x: F.pad(x, (2, 0), value=-7.5), "pads=[2,0], value=-7.5")
for k in [-1, 0, 2]:
    case("triu", [arg("x", "f32", [4, 5])], lambda x: torch.triu(x, k), f"diagonal={k}")
    case("tril", [arg("x", "f16", [2, 4, 5])], lambda x: torch.tril(x, k), f"diagonal={k}")
case("embedding", [arg("ids", "i64", [2, 3], low=0, high=7), arg("weight", "f16", [7, 4], weight=True)], lambda i, w: F.embedding(i, w))
case("embedding", [arg("ids", "i32", [5], low=0, high=7), arg("weight", "bf16", [7, 4], weight=True)], lambda i, w: F.embedding(i, w))
case("one_hot", [arg("ids", "i64", [2, 5], low=0, high=6)], lambda i: F.one_hot(i, 6), "classes=6")

# --- arithmetic with options -----------------------------------------------------------------------------------------------------
for d in REAL:
    case("add", [arg("a", d, [4, 5]), arg("b", d, [5])], lambda a, b: torch.add(a.float(), b.float(), alpha=0.3).to(a.dtype), "alpha=0.3")  # half on the CPU rounds alpha b too
    case("subtract", [arg("a", d, [4, 5]), arg("b", d, [5])], lambda a, b: torch.sub(a.float(), b.float(), alpha=2.5).to(a.dtype), "alpha=2.5")
    case("rsub", [arg("x", d, [7])], lambda x: 1 - x, "other=1")
    case("rsub", [arg("a", d, [7]), arg("b", d, [7])], lambda a, b: torch.rsub(a, b))
    case("add", [arg("x", d, [7])], lambda x: x + 1.5, "other=1.5")
    case("multiply", [arg("x", d, [7])], lambda x: x * 0.125, "other=0.125")
    case("pow", [arg("x", d, [7], low=0.2, high=3)], lambda x: x ** -0.5, "other=-0.5", ulp=2)
    case("pow", [arg("x", d, [7], low=0.2, high=3)], lambda x: x ** 3, "other=3", ulp=2)
    case("divide", [arg("a", d, [7], torch.tensor([7.0, -7, 5.5, -5.5, 1, 0, -1])), arg("b", d, [7], torch.tensor([2.0, 2, -2, 2, 3, 4, 4]))], lambda a, b: torch.div(a, b, rounding_mode="floor"), "rounding_mode=floor")
    case("divide", [arg("a", d, [7], torch.tensor([7.0, -7, 5.5, -5.5, 1, 0, -1])), arg("b", d, [7], torch.tensor([2.0, 2, -2, 2, 3, 4, 4]))], lambda a, b: torch.div(a, b, rounding_mode="trunc"), "rounding_mode=trunc")
    case("masked_fill", [arg("x", d, [3, 4]), arg("mask", "bool", [4])], lambda x, m: x.masked_fill(m, -3.25), "value=-3.25")
    case("clamp", [arg("x", d, [9])], lambda x: x.clamp(-0.5, 1.0), "min=-0.5, max=1.0")
    case("clamp", [arg("x", d, [9])], lambda x: x.clamp(min=0.25), "min=0.25")
    case("clamp", [arg("x", d, [9])], lambda x: x.clamp(max=0.25), "max=0.25")
    case("leaky_relu", [arg("x", d, [9])], lambda x: F.leaky_relu(x, 0.2), "negative_slope=0.2")
    case("elu", [arg("x", d, [9])], lambda x: F.elu(x, 1.5), "alpha=1.5")
    case("softplus", [arg("x", d, [9])], lambda x: F.softplus(x, beta=2), "beta=2")
    case("gelu", [arg("x", d, [9])], lambda x: F.gelu(x, approximate="tanh"), "approximate=tanh")
    case("gelu", [arg("x", d, [9])], lambda x: F.gelu(x), "approximate=none")
    case("quick_gelu", [arg("x", d, [9])], lambda x: (x.float() * torch.sigmoid(1.702 * x.float())).to(x.dtype))
    case("mish", [arg("x", d, [9])], F.mish)
    case("hardswish", [arg("x", d, [9], low=-5, high=5)], F.hardswish)
    case("hardsigmoid", [arg("x", d, [9], low=-5, high=5)], F.hardsigmoid)
    case("relu6", [arg("x", d, [9], low=-9, high=9)], F.relu6)
    case("glu", [arg("x", d, [3, 8])], lambda x: F.glu(x, -1), "dim=-1")
    case("swiglu", [arg("x", d, [3, 8])], lambda x: (F.silu(x[:, :4].float()) * x[:, 4:].float()).to(x.dtype), "dim=-1")
for mode in ["floor", "trunc"]:
    case("divide", [arg("a", "i32", [7], low=-99, high=99), arg("b", "i32", [7], torch.tensor([2, -2, 3, 7, -7, 1, 5]))], lambda a, b: torch.div(a, b, rounding_mode=mode), f"rounding_mode={mode}")
case("add", [arg("a", "i64", [5], low=-9, high=9), arg("b", "i64", [5], low=-9, high=9)], lambda a, b: torch.add(a, b, alpha=3), "alpha=3")

# --- folds -----------------------------------------------------------------------------------------------------------------------
for d in REAL:
    case("sum", [arg("x", d, [4, 33])], lambda x: x.sum(-1))
    case("sum", [arg("x", d, [4, 5, 6])], lambda x: x.sum((0, 2)), "dims=[0,2]")
    case("sum", [arg("x", d, [4, 5, 6])], lambda x: x.sum(), "dims=[]")
    case("mean", [arg("x", d, [4, 33])], lambda x: x.mean(-1, keepdim=True), "keepdim=true")
    case("mean", [arg("x", d, [4, 5, 6])], lambda x: x.mean((1, 2)), "dims=[1,2]")
    case("mean", [arg("x", d, [4, 5, 6])], lambda x: x.mean(), "dims=[]")
    case("prod", [arg("x", d, [3, 6])], lambda x: x.prod(0), "dim=0", ulp=4)
    case("amax", [arg("x", d, [4, 5, 6])], lambda x: x.amax((0, -1)), "dims=[0,-1]")
    case("amin", [arg("x", d, [4, 5, 6])], lambda x: x.amin(1, keepdim=True), "dim=1, keepdim=true")
    case("amax", [arg("x", d, [3], torch.tensor([-math.inf, -math.inf, -math.inf]))], lambda x: x.amax(0), "dim=0")
    case("var", [arg("x", d, [4, 9])], lambda x: x.var(-1), "dim=-1")
    case("var", [arg("x", d, [4, 9])], lambda x: x.var((0, 1), correction=0, keepdim=True), "dims=[0,1], correction=0, keepdim=true")
    case("std", [arg("x", d, [4, 9])], lambda x: x.std(0, correction=2), "dim=0, correction=2")
    case("std", [arg("x", d, [4, 9])], lambda x: x.std(0, correction=0), "dim=0, correction=0")
    case("argmax", [arg("x", d, [5, 7], torch.randint(-3, 3, (5, 7)))], lambda x: x.argmax(1), "dim=1")
    case("argmin", [arg("x", d, [5, 7], torch.randint(-3, 3, (5, 7)))], lambda x: x.argmin(0, keepdim=True), "dim=0, keepdim=true")
    case("cumsum", [arg("x", d, [3, 9])], lambda x: torch.from_numpy(np.cumsum(x.double().numpy(), -1)).to(x.dtype), "dim=-1")
    case("softmax", [arg("x", d, [4, 9])], lambda x: x.softmax(-1))
    case("softmax", [arg("x", d, [4, 9])], lambda x: x.softmax(0), "dim=0")
    case("log_softmax", [arg("x", d, [4, 9])], lambda x: x.log_softmax(-1), "dim=-1")
for d in HALF:
    case("softmax", [arg("x", d, [4, 9])], lambda x: x.softmax(-1, dtype=torch.float32), "dim=-1, dtype=f32")
case("softmax", [arg("x", "f32", [2, 3], torch.tensor([[-math.inf, 1.0, 2.0], [-math.inf, -math.inf, -math.inf]]))], lambda x: x.softmax(-1))
case("sum", [arg("x", "f32", [])], lambda x: x.sum(), "dims=[]")
case("cumsum", [arg("x", "f32", [3, 9])], lambda x: x.cumsum(0), "dim=0")
for d in ["i32", "i64", "u8", "bool"]:
    case("sum", [arg("x", d, [4, 5], low=0, high=99)], lambda x: x.sum(0), "dim=0")
    case("cumsum", [arg("x", d, [4, 5], low=0, high=99)], lambda x: x.cumsum(1), "dim=1")
case("sum", [arg("x", "i64", [3], torch.tensor([2**53, 1, 1]))], lambda x: x.sum(0), "dim=0")  # beyond a double's 53 bits
case("prod", [arg("x", "i64", [5], low=-9, high=9)], lambda x: x.prod(0), "dim=0")
case("amax", [arg("x", "i64", [4, 5], low=-99, high=99)], lambda x: x.amax(1), "dim=1")
case("amin", [arg("x", "i32", [4, 5], low=-99, high=99)], lambda x: x.amin(1), "dim=1")
for d in REAL:
    case("layer_norm", [arg("x", d, [3, 4, 5]), arg("weight", d, [5], weight=True), arg("bias", d, [5], weight=True)], lambda x, w, b: F.layer_norm(x, [5], w, b, 1e-5))
    case("layer_norm", [arg("x", d, [3, 4, 5]), arg("weight", d, [4, 5], weight=True), arg("bias", d, [4, 5], weight=True)], lambda x, w, b: F.layer_norm(x, [4, 5], w, b, 1e-3), "axes=2, eps=1e-3")
    case("layer_norm", [arg("x", d, [3, 4, 5])], lambda x: F.layer_norm(x, [3, 4, 5]), "axes=3")
    case("rms_norm", [arg("x", d, [3, 8]), arg("weight", d, [8], weight=True)], lambda x, w: F.rms_norm(x, [8], w, 1e-6))
    case("rms_norm", [arg("x", d, [3, 4, 5]), arg("weight", d, [4, 5], weight=True)], lambda x, w: F.rms_norm(x, [4, 5], w, 1e-4), "axes=2, eps=1e-4")
    case("rms_norm", [arg("x", d, [3, 8])], lambda x: F.rms_norm(x, [8], None, 1e-5), "axes=1, eps=1e-5")
    case("group_norm", [arg("x", d, [2, 6, 3, 2]), arg("weight", d, [6], weight=True), arg("bias", d, [6], weight=True)], lambda x, w, b: F.group_norm(x, 3, w, b), "groups=3")

# --- products --------------------------------------------------------------------------------------------------------------------
for d in REAL:
    case("linear", [arg("input", d, [5, 7]), arg("weight", d, [3, 7], weight=True)], F.linear)
    case("linear", [arg("input", d, [2, 5, 7]), arg("weight", d, [3, 7], weight=True), arg("bias", d, [3], weight=True)], F.linear)
    case("linear", [arg("input", d, [7]), arg("weight", d, [3, 7], weight=True), arg("bias", d, [3], weight=True)], F.linear)
    case("matmul", [arg("a", d, [5, 7]), arg("b", d, [7, 3])], torch.matmul)
    case("bmm", [arg("a", d, [2, 1, 5, 7]), arg("b", d, [3, 7, 2])], torch.matmul)
    case("bmm", [arg("a", d, [7]), arg("b", d, [2, 7, 3])], torch.matmul)
    case("bmm", [arg("a", d, [5, 7]), arg("b", d, [7])], torch.matmul)
    case("bmm", [arg("a", d, [7]), arg("b", d, [7])], torch.matmul)
    case("addmm", [arg("c", d, [3]), arg("a", d, [5, 7]), arg("b", d, [7, 3])], torch.addmm)
    case("addmm", [arg("c", d, [5, 3]), arg("a", d, [5, 7]), arg("b", d, [7, 3])], lambda c, a, b: torch.addmm(c.float(), a.float(), b.float(), beta=0.5, alpha=-1.25).to(a.dtype), "alpha=-1.25, beta=0.5")
    case("einsum", [arg("a", d, [2, 5, 7]), arg("b", d, [7, 3])], lambda a, b: torch.einsum("bij,jk->bki", a, b), 'equation="bij,jk->bki"')
    case("conv1d", [arg("x", d, [2, 6, 9]), arg("weight", d, [6, 1, 4], weight=True)], lambda x, w: F.conv1d(x, w, padding=3, groups=6), "padding=3, groups=6")
    case("conv1d", [arg("x", d, [2, 4, 9]), arg("weight", d, [6, 4, 3], weight=True), arg("bias", d, [6], weight=True)], lambda x, w, b: F.conv1d(x, w, b, stride=2, dilation=2), "stride=2, dilation=2")
    case("conv1d", [arg("x", d, [1, 4, 9]), arg("weight", d, [6, 2, 3], weight=True)], lambda x, w: F.conv1d(x, w, padding=1, groups=2), "padding=1, groups=2")
    case("conv2d", [arg("x", d, [1, 4, 6, 5]), arg("weight", d, [6, 2, 3, 3], weight=True), arg("bias", d, [6], weight=True)], lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1, groups=2), "stride=2, padding=1, groups=2")
    case("conv2d", [arg("x", d, [2, 4, 6, 7]), arg("weight", d, [6, 2, 3, 2], weight=True), arg("bias", d, [6], weight=True)],
         lambda x, w, b: F.conv2d(x.float(), w.float(), b.float(), stride=(2, 1), padding=(0, 2), dilation=(1, 2), groups=2).to(x.dtype), "stride=[2,1], padding=[0,2], dilation=[1,2], groups=2")
    case("conv_transpose1d", [arg("x", d, [1, 4, 5]), arg("weight", d, [4, 3, 3], weight=True), arg("bias", d, [6], weight=True)],
         lambda x, w, b: F.conv_transpose1d(x.float(), w.float(), b.float(), stride=2, padding=1, output_padding=1, groups=2).to(x.dtype), "stride=2, padding=1, output_padding=1, groups=2")
    case("max_pool", [arg("x", d, [1, 2, 6, 7])], lambda x: F.max_pool2d(x, (2, 3), stride=(2, 1), padding=(0, 1)), "kernel_size=[2,3], stride=[2,1], padding=[0,1]")
    case("avg_pool", [arg("x", d, [1, 2, 6, 8])], lambda x: F.avg_pool2d(x, 2), "kernel_size=2")
    case("avg_pool", [arg("x", d, [2, 3, 9])], lambda x: F.avg_pool1d(x, 3, stride=2, padding=1), "kernel_size=3, stride=2, padding=1")
for d in HALF:
    case("matmul", [arg("a", d, [5, 7]), arg("b", d, [7, 3])], lambda a, b: a.float() @ b.float(), "dtype=f32")
case("bmm", [arg("a", "i64", [3, 4], low=-9, high=9), arg("b", "i64", [4, 2], low=-9, high=9)], torch.matmul)

# --- attention, rotary, routing --------------------------------------------------------------------------------------------------
def sdpa(q, k, v, mask=None, causal=False, window=None, scale=None):
    """In float, rounded once; a window is PyTorch's explicit mask."""
    if window is not None:
        i, j = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])[None]
        mask = (j > i - window) & ((j <= i) if causal else torch.ones(1, 1, dtype=torch.bool))
        causal = False
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.float()
    return F.scaled_dot_product_attention(q.float(), k.float(), v.float(), attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=q.dim() > 2 and q.shape[-3] != k.shape[-3]).to(q.dtype)


for d in REAL:
    q, k, v = lambda s: arg("q", d, s), lambda s: arg("k", d, s), lambda s: arg("v", d, s)
    case("attention", [q([1, 2, 5, 8]), k([1, 2, 7, 8]), v([1, 2, 7, 4])], lambda *x: sdpa(*x))
    case("attention", [q([2, 4, 5, 8]), k([2, 2, 5, 8]), v([2, 2, 5, 8])], lambda *x: sdpa(*x, causal=True), "is_causal=true")
    case("attention", [q([1, 2, 4, 1, 8]), k([1, 2, 1, 6, 8]), v([1, 2, 1, 6, 8])], lambda q, k, v: sdpa(q, k.expand(1, 2, 4, 6, 8), v.expand(1, 2, 4, 6, 8)))
    case("attention", [q([1, 2, 3, 8]), k([1, 2, 6, 8]), v([1, 2, 6, 8])], lambda *x: sdpa(*x, causal=True, scale=0.2), "is_causal=true, scale=0.2")
    case("attention", [q([1, 1, 6, 4]), k([1, 1, 6, 4]), v([1, 1, 6, 4])], lambda *x: sdpa(*x, causal=True, window=3), "is_causal=true, sliding_window=3")
    case("attention", [q([1, 1, 6, 4]), k([1, 1, 6, 4]), v([1, 1, 6, 4])], lambda *x: sdpa(*x, window=2), "sliding_window=2")
    case("attention", [q([2, 3, 4, 8]), k([2, 3, 5, 8]), v([2, 3, 5, 8]), arg("mask", d, [4, 5])], lambda q, k, v, m: sdpa(q, k, v, m))
    keep = torch.tensor([[True, False, True, True, False], [True, True, True, True, True], [False, False, False, False, False], [False, False, False, False, True]])
    case("attention", [q([2, 3, 4, 8]), k([2, 3, 5, 8]), v([2, 3, 5, 8]), arg("mask", "bool", [4, 5], keep)], lambda q, k, v, m: sdpa(q, k, v, m))
    case("attention", [q([2, 4, 4, 8]), k([2, 2, 5, 8]), v([2, 2, 5, 8]), arg("mask", "bool", [2, 1, 4, 5])], lambda q, k, v, m: sdpa(q, k, v, m))
    minus = torch.zeros(4, 5)
    minus[0, 1:] = -math.inf
    minus[3] = -math.inf
    case("attention", [q([1, 2, 4, 8]), k([1, 2, 5, 8]), v([1, 2, 5, 8]), arg("mask", "f32" if d == "f32" else d, [4, 5], minus)], lambda q, k, v, m: sdpa(q, k, v, m))
    case("rotary", [arg("x", d, [1, 2, 3, 8]), arg("cos", d, [3, 8]), arg("sin", d, [3, 8])], lambda x, c, s: x * c + torch.cat((-x[..., 4:], x[..., :4]), -1) * s, ulp=2)
    case("rotary", [arg("x", d, [1, 2, 3, 8]), arg("cos", d, [3, 8]), arg("sin", d, [3, 8])],
         lambda x, c, s: x * c + torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2) * s, "interleaved=true", ulp=2)

    def route(logits, kept):
        p = torch.where(kept, logits.float().softmax(-1), 0.0)
        return (p / p.sum(-1, keepdim=True)).to(logits.dtype)
    top = torch.zeros(5, 8, dtype=torch.bool)
    for r in range(5):
        top[r, torch.randperm(8)[:2]] = True
    case("route", [arg("logits", d, [5, 8]), arg("kept", "bool", [5, 8], top)], route)

# --- quantised values ------------------------------------------------------------------------------------------------------------
E2M1 = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6])
for d in REAL:
    case("dequantise_int8", [arg("codes", "u8", [4, 8], low=0, high=256), arg("scale", "f32", [4, 1], low=0.01, high=0.1)],
         lambda c, s: (c.view(torch.int8).float() * s).to(T[d]), f"dtype={d}")
    case("dequantise_uint8", [arg("codes", "u8", [4, 8], low=0, high=256), arg("scale", "f32", [8], low=0.01, high=0.1), arg("zero", "u8", [8], low=100, high=150)],
         lambda c, s, z: ((c.float() - z.float()) * s).to(T[d]), f"dtype={d}")

    def nibbles(c):
        return torch.stack((c & 15, c >> 4), -1).flatten(-2)
    case("dequantise_int4", [arg("codes", "u8", [4, 8], low=0, high=256), arg("scale", "f16", [4, 4], low=0.01, high=0.1), arg("zero", "u8", [4, 4], low=0, high=16)],
         lambda c, s, z: ((nibbles(c).float() - z.float().repeat_interleave(4, 1)) * s.float().repeat_interleave(4, 1)).to(T[d]), f"dtype={d}")
    case("dequantise_int4", [arg("codes", "i32", [3, 2], low=-2**31, high=2**31), arg("scale", "f16", [3, 4], low=0.01, high=0.1), arg("zero", "u8", [3, 4], low=0, high=16)],
         lambda c, s, z: ((((c.long()[..., None] >> (4 * torch.arange(8))) & 15).flatten(-2).float() - z.float().repeat_interleave(4, 1)) * s.float().repeat_interleave(4, 1)).to(T[d]), f"dtype={d}")
    case("dequantise_fp4", [arg("codes", "u8", [4, 8], low=0, high=256), arg("scale", "f8e4m3", [4, 2], low=0.5, high=4)],
         lambda c, s: (E2M1[nibbles(c).long()] * s.float().repeat_interleave(8, 1)).to(T[d]), f"dtype={d}")
    case("dequantise_fp8", [arg("codes", "f8e4m3", [4, 8], low=-400, high=400), arg("scale", "f32", [4, 2], low=0.01, high=0.1)],
         lambda c, s: (c.float() * s.repeat_interleave(4, 1)).to(T[d]), f"dtype={d}")

# --- symbolic sizes --------------------------------------------------------------------------------------------------------------
S = lambda n: ("seq_len", n)
for n in [1, 6]:
    case("softmax", [arg("x", "f32", [S(n), 9])], lambda x: x.softmax(-1))
    case("linear", [arg("input", "f16", [S(n), 7]), arg("weight", "f16", [3, 7], weight=True)], F.linear)
    case("layer_norm", [arg("x", "f32", [S(n), 4, 5])], lambda x: F.layer_norm(x, [4, 5]), "axes=2")
    case("mean", [arg("x", "f32", [S(n), 5])], lambda x: x.mean(), "dims=[]")
    case("permute", [arg("x", "f32", [2, S(n), 3])], lambda x: x.permute(1, 2, 0), "dims=[1,2,0]")
    case("reshape", [arg("x", "f32", [S(n), 6])], lambda x: x.reshape(n, 2, 3), "shape=[seq_len,2,-1]")
    case("select", [arg("x", "f32", [S(n), 3])], lambda x: x[-1], "dim=0, index=-1")
    case("slice", [arg("x", "f32", [S(n), 3])], lambda x: x[-1:], "dim=0, start=-1")
    case("flip", [arg("x", "f32", [S(n), 3])], lambda x: x.flip(0), "dim=0")
    case("cat", [arg("a", "f32", [S(n), 3]), arg("b", "f32", [S(n), 2])], lambda *x: torch.cat(x, 1), "dim=1")
    case("pad", [arg("x", "f32", [S(n), 3])], lambda x: F.pad(x, (0, 0, 3, 0)), "pads=[0,0,3,0]")
    case("conv1d", [arg("x", "f32", [1, 6, S(n)]), arg("weight", "f32", [6, 1, 4], weight=True)], lambda x, w: F.conv1d(x, w, padding=3, groups=6), "padding=3, groups=6")
    case("attention", [arg("q", "f16", [1, 2, S(n), 8]), arg("k", "f16", [1, 1, S(n), 8]), arg("v", "f16", [1, 1, S(n), 8])], lambda *x: sdpa(*x, causal=True), "is_causal=true")
    case("cumsum", [arg("x", "f32", [2, S(n)])], lambda x: x.cumsum(1), "dim=1")
    case("einsum", [arg("a", "f32", [S(n), 4]), arg("b", "f32", [4, 3])], lambda a, b: a @ b, 'equation="ij,jk->ik"')
    case("embedding", [arg("ids", "i64", [S(n)], low=0, high=7), arg("weight", "f16", [7, 4], weight=True)], lambda i, w: F.embedding(i, w))

out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.json")
with open(out, "w") as f:
    f.write('{"torch": %s, "numpy": %s, "cases": [\n' % (json.dumps(torch.__version__), json.dumps(np.__version__)))
    f.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in cases))
    f.write("\n]}\n")
print(len(cases), "cases,", os.path.getsize(out), "bytes")
