#!/usr/bin/env python3
"""Exports a module, or one part of a model's layer, with PyTorch's torch.export to a .pt2 archive, and through emmy-import to a program.

Optional: nothing else of this repository needs PyTorch. The modules below are written out here, so no model package and no checkpoint is needed;
their parameter paths are those of common checkpoints, so weights bind by path later.

  tools/trace.py list                                                        # parts and the models whose sizes are known
  tools/trace.py post --model llama-3.1-8b --rows 8 -o post8.pt2             # no weights in the archive: shapes and graph alone
  tools/trace.py pre --model qwen3-0.6b --rows num_tokens -o pre-sym.pt2     # a name instead of a number: that size stays symbolic
  tools/trace.py layer --model tiny-qwen3 --rows 6 --weights random -o layer.pt2
  tools/trace.py layer --model tiny-llama --rows 1 --cache 16 --batch 2 -o decode.pt2
  tools/trace.py lm_head --config config.json --rows 1 -o lm_head.pt2        # sizes from a checkpoint's config.json
  tools/trace.py module --file mine.py:build -o mine.pt2                     # build() returns (module, inputs) or (module, inputs, dynamic_shapes)
  tools/trace.py post --model llama-3.1-8b --rows 8 --program post8.json     # asks emmy-import for the program
"""
import argparse
import dataclasses
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings
import zipfile

try:
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    sys.exit("trace.py: needs PyTorch 2.6 or later (pip install torch); nothing else here does")


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What of a configuration shapes one layer."""
    hidden: int
    inner: int
    heads: int
    groups: int          # key and value heads
    head: int            # elements of one head
    vocabulary: int
    eps: float = 1e-6
    normed_heads: bool = False  # q and k are normed a head (Qwen3)
    qkv_bias: bool = False
    dtype: str = "float16"
    layers: int = 1
    theta: float = 1e4
    checkpoint: str = ""


# Public configurations, as in the config.json of the checkpoint named.
MODELS = {
    "llama-3.1-8b": Sizes(4096, 14336, 32, 8, 128, 128256, eps=1e-5, layers=32, theta=5e5, checkpoint="meta-llama/Llama-3.1-8B-Instruct"),
    "qwen3-0.6b": Sizes(1024, 3072, 16, 8, 128, 151936, normed_heads=True, layers=28, theta=1e6, checkpoint="Qwen/Qwen3-0.6B"),
    "tiny-llama": Sizes(32, 48, 4, 2, 8, 64, eps=1e-5),
    "tiny-qwen3": Sizes(32, 48, 4, 2, 16, 64, normed_heads=True),
}


def read_config(path):
    """Sizes from a checkpoint's config.json; a key that is missing is named."""
    c = json.loads(pathlib.Path(path).read_text())
    c = c.get("text_config", c)
    missing = [k for k in ("hidden_size", "intermediate_size", "num_attention_heads", "vocab_size") if k not in c]
    if missing:
        sys.exit(f"trace.py: {path}: missing {', '.join(missing)}")
    heads = c["num_attention_heads"]
    return Sizes(c["hidden_size"], c["intermediate_size"], heads, c.get("num_key_value_heads", heads), c.get("head_dim") or c["hidden_size"] // heads,
                 c["vocab_size"], eps=c.get("rms_norm_eps", 1e-6), normed_heads=c.get("model_type", "").startswith("qwen3"),
                 qkv_bias=bool(c.get("attention_bias", c.get("model_type") == "qwen2")), layers=c.get("num_hidden_layers", 1))


class ModelNorm(nn.Module):
    """RMS norm as language models spell it: in f32, rounded to the type of the input before the weight is applied."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, hidden_states):
        wide = hidden_states.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(hidden_states.dtype)


class GatedMLP(nn.Module):
    def __init__(self, s, act=F.silu):
        super().__init__()
        self.gate_proj = nn.Linear(s.hidden, s.inner, bias=False)
        self.up_proj = nn.Linear(s.hidden, s.inner, bias=False)
        self.down_proj = nn.Linear(s.inner, s.hidden, bias=False)
        self.act = act

    def forward(self, x):
        return self.down_proj(self.act(self.gate_proj(x)) * self.up_proj(x))


def rotated(x):
    first, second = x[..., :x.shape[-1] // 2], x[..., x.shape[-1] // 2:]
    return torch.cat((-second, first), dim=-1)


def rotary(q, k, cos, sin):
    """cos and sin [batch, rows, head], for q and k [batch, heads, rows, head]."""
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return q * cos + rotated(q) * sin, k * cos + rotated(k) * sin


class Attention(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.q_proj = nn.Linear(s.hidden, s.heads * s.head, bias=s.qkv_bias)
        self.k_proj = nn.Linear(s.hidden, s.groups * s.head, bias=s.qkv_bias)
        self.v_proj = nn.Linear(s.hidden, s.groups * s.head, bias=s.qkv_bias)
        self.o_proj = nn.Linear(s.heads * s.head, s.hidden, bias=False)
        if s.normed_heads:
            self.q_norm, self.k_norm = ModelNorm(s.head, s.eps), ModelNorm(s.head, s.eps)

    def forward(self, hidden_states, position_embeddings, past=None, attention_mask=None):
        """past: keys and values [batch, groups, earlier rows, head] in front of this call's; then k and v are returned too."""
        rows = hidden_states.shape[:-1]
        split = (*rows, -1, self.s.head)
        q, k = self.q_proj(hidden_states).view(split), self.k_proj(hidden_states).view(split)
        if self.s.normed_heads:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = q.transpose(1, 2), k.transpose(1, 2)
        v = self.v_proj(hidden_states).view(split).transpose(1, 2)
        q, k = rotary(q, k, *position_embeddings)
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        causal = past is None and attention_mask is None and bool(rows[1] != 1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=attention_mask, is_causal=causal, scale=self.s.head ** -0.5, enable_gqa=True)
        out = self.o_proj(out.transpose(1, 2).reshape(*rows, -1))
        return out if past is None else (out, k, v)


class Layer(nn.Module):
    """A whole decoder layer: Llama's, and with normed heads Qwen3's."""

    def __init__(self, s):
        super().__init__()
        self.input_layernorm = ModelNorm(s.hidden, s.eps)
        self.self_attn = Attention(s)
        self.post_attention_layernorm = ModelNorm(s.hidden, s.eps)
        self.mlp = GatedMLP(s)

    def forward(self, hidden_states, position_embeddings, past=None, attention_mask=None):
        out = self.self_attn(self.input_layernorm(hidden_states), position_embeddings, past, attention_mask)
        out, *cache = out if past is not None else (out,)
        hidden_states = hidden_states + out
        hidden_states = hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))
        return (hidden_states, *cache) if cache else hidden_states


class Pre(nn.Module):
    """What a layer does before its attention, on rows of tokens: norm, the three projections, the norms of the heads."""

    def __init__(self, s):
        super().__init__()
        self.s = s
        self.input_layernorm = ModelNorm(s.hidden, s.eps)
        self.q_proj = nn.Linear(s.hidden, s.heads * s.head, bias=s.qkv_bias)
        self.k_proj = nn.Linear(s.hidden, s.groups * s.head, bias=s.qkv_bias)
        self.v_proj = nn.Linear(s.hidden, s.groups * s.head, bias=s.qkv_bias)
        if s.normed_heads:
            self.q_norm, self.k_norm = ModelNorm(s.head, s.eps), ModelNorm(s.head, s.eps)

    def forward(self, hidden):
        rows, s = hidden.shape[0], self.s
        x = self.input_layernorm(hidden)
        q = self.q_proj(x).view(rows, s.heads, s.head)
        k = self.k_proj(x).view(rows, s.groups, s.head)
        v = self.v_proj(x).view(rows, s.groups, s.head)
        if s.normed_heads:
            q, k = self.q_norm(q), self.k_norm(k)
        return q.reshape(rows, s.heads * s.head), k.reshape(rows, s.groups * s.head), v.reshape(rows, s.groups * s.head)


class Prefill(nn.Module):
    """Rotary embedding and causal attention of one sequence, between Pre and Post."""

    def __init__(self, s):
        super().__init__()
        self.s = s

    def forward(self, q, k, v, cos, sin):
        rows, s = q.shape[0], self.s
        q = q.view(1, rows, s.heads, s.head).transpose(1, 2)
        k = k.view(1, rows, s.groups, s.head).transpose(1, 2)
        v = v.view(1, rows, s.groups, s.head).transpose(1, 2)
        q, k = rotary(q, k, cos, sin)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return out.transpose(1, 2).reshape(rows, s.heads * s.head)


class Decode(nn.Module):
    """Attention of one new row a sequence over keys and values kept before: query heads of a group as an axis of their own."""

    def __init__(self, s):
        super().__init__()
        self.s = s

    def forward(self, q, k, v):
        batch, heads, _, head = q.shape
        groups, kept = k.shape[1:3]
        q = q.reshape(batch, groups, heads // groups, 1, head)
        k, v = (t.reshape(batch, groups, 1, kept, head) for t in (k, v))
        out = F.scaled_dot_product_attention(q, k, v)
        return out.reshape(batch, heads, 1, head)


class Post(nn.Module):
    """What a layer does after its attention: output projection, residual, norm, gated MLP, residual."""

    def __init__(self, s):
        super().__init__()
        self.o_proj = nn.Linear(s.heads * s.head, s.hidden, bias=False)
        self.post_attention_layernorm = ModelNorm(s.hidden, s.eps)
        self.mlp = GatedMLP(s)

    def forward(self, attn_out, residual):
        hidden = residual + self.o_proj(attn_out)
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


def angles(positions, s):
    """cos and sin [1, rows, head] of the plain rotary embedding."""
    if positions.device.type == "meta":
        return tuple(torch.empty(1, len(positions), s.head) for _ in range(2))  # two: one tensor twice is one argument to the exporter
    each = positions.float()[:, None] / s.theta ** (torch.arange(0, s.head, 2).float() / s.head)
    both = torch.cat((each, each), -1)[None]
    return both.cos(), both.sin()


PARTS = {
    "layer": "a whole decoder layer, [batch, rows, hidden]; --cache N: N earlier rows as keys and values in front",
    "pre": "norm and q, k, v projections, [rows, hidden]",
    "attention": "rotary embedding and causal attention, [rows, heads]; --cache N: one row a sequence (--batch of them) over N kept rows",
    "post": "output projection, residual, norm, gated MLP, [rows, hidden]",
    "norm": "the model's RMS norm, [rows, hidden]",
    "mlp": "the gated MLP, [rows, hidden]",
    "linear": "o_proj alone, [rows, heads]",
    "sdpa": "scaled dot product attention alone, [batch, heads, rows, head]",
    "embed": "the embedding, [rows] of tokens",
    "lm_head": "the last projection, [rows, hidden] to [rows, vocabulary]",
    "module": "a module of your own: --file PATH.py:FUNCTION",
}


class SDPA(nn.Module):
    def forward(self, x0, x1, x2):
        return F.scaled_dot_product_attention(x0, x1, x2, is_causal=True)


def build(part, s, rows, batch=1, cache=0):
    """The module, its example inputs, and per input the axis that rows size, and the one that kept rows size (None: no such axis)."""
    dtype = getattr(torch, s.dtype)
    kept = (batch, s.groups, cache, s.head)
    if part == "layer":
        return build_layer(s, dtype, rows, batch, kept)
    if part == "attention" and cache:
        return Decode(s), tuple(torch.randn(shape, dtype=dtype) for shape in ((batch, s.heads, 1, s.head), kept, kept)), (None,) * 3, (None, 2, 2)
    if part == "attention":
        cos, sin = (t.to(dtype) for t in angles(torch.arange(rows), s))
        k, v = (torch.randn(rows, s.groups * s.head, dtype=dtype) for _ in range(2))
        return Prefill(s), (torch.randn(rows, s.heads * s.head, dtype=dtype), k, v, cos, sin), (0, 0, 0, 1, 1), (None,) * 5
    if part == "sdpa":
        return SDPA(), tuple(torch.randn(batch, s.heads, rows, s.head, dtype=dtype) for _ in range(3)), (2, 2, 2), (None,) * 3
    if part == "embed":
        return nn.Embedding(s.vocabulary, s.hidden, dtype=dtype), (torch.zeros(rows, dtype=torch.int64),), (0,), (None,)
    hidden, heads = (torch.randn(rows, n, dtype=dtype) for n in (s.hidden, s.heads * s.head))
    made = {
        "pre": lambda: (Pre(s), (hidden,)),
        "post": lambda: (Post(s), (heads, hidden)),
        "norm": lambda: (ModelNorm(s.hidden, s.eps), (hidden,)),
        "mlp": lambda: (GatedMLP(s), (hidden,)),
        "linear": lambda: (nn.Linear(s.heads * s.head, s.hidden, bias=False), (heads,)),
        "lm_head": lambda: (nn.Linear(s.hidden, s.vocabulary, bias=False), (hidden,)),
    }
    module, inputs = made[part]()
    return module.to(dtype), inputs, (0,) * len(inputs), (None,) * len(inputs)


def build_layer(s, dtype, rows, batch, kept):
    cache = kept[2]
    cos, sin = (t.to(dtype).expand(batch, -1, -1) for t in angles(torch.arange(cache, cache + rows), s))
    inputs, row_axes, kept_axes = [torch.randn(batch, rows, s.hidden, dtype=dtype), (cos, sin)], [1, (1, 1)], [None, (None, None)]
    if cache:
        inputs.append((torch.randn(kept, dtype=dtype), torch.randn(kept, dtype=dtype)))
        row_axes.append((None, None))
        kept_axes.append((2, 2))
    return Layer(s).to(dtype), tuple(inputs), tuple(row_axes), tuple(kept_axes)


def symbolic(axes, dim):
    if isinstance(axes, tuple):
        return tuple(symbolic(a, dim) for a in axes)
    return None if axes is None else {axes: dim}


def export(module, inputs, dynamic_shapes=None, path=None, core=False):
    """torch.export, without the stack traces (they hold this machine's paths), saved when a path is given. core: in the core operators alone."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(module.eval(), tuple(inputs), dynamic_shapes=dynamic_shapes, strict=False)
        if core:
            exported = exported.run_decompositions()
        for node in exported.graph.nodes:
            node.meta.pop("stack_trace", None)
        if path:
            torch.export.save(exported, path)
    return exported


def deflate(path):
    """The same archive with compressed members, which torch.export.load reads as well: a fifth of the size, when it holds no weights."""
    with zipfile.ZipFile(path) as z:
        members = [(i.filename, z.read(i)) for i in z.infolist()]
    with zipfile.ZipFile(path, "w") as z:
        for name, data in members:
            z.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


def trace(part, sizes, rows, path, batch=1, cache=0, weights="none", low=1, high=4096):
    """rows, cache: numbers; or one of them the name of a symbol with the range low..high (traced at 512, or high where that is less)."""
    example = min(512, high)
    row_count, kept_count = (n if isinstance(n, int) else example for n in (rows, cache))
    torch.manual_seed(0)
    with torch.device("meta" if weights == "none" else "cpu"):
        module, inputs, row_axes, kept_axes = build(part, sizes, row_count, batch, kept_count)
    shapes = None
    for size, axes in ((rows, row_axes), (cache, kept_axes)):
        if isinstance(size, str):
            shapes = symbolic(axes, torch.export.Dim(size, min=low, max=high))
    return export(module, inputs, shapes, path)


def own_module(text):
    """(module, inputs[, dynamic_shapes]) from PATH.py:FUNCTION."""
    path, _, name = text.rpartition(":")
    if not path:
        sys.exit(f"trace.py: --file: found {text}, expected PATH.py:FUNCTION")
    spec = importlib.util.spec_from_file_location("traced", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    made = getattr(loaded, name)()
    return (*made, None) if len(made) == 2 else made


def size(text):
    return int(text) if text.isdecimal() else text


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("part", choices=[*PARTS, "list"], help="what to export (`list` tells)")
    p.add_argument("--model", choices=list(MODELS), help="a configuration known here")
    p.add_argument("--config", help="a checkpoint's config.json")
    p.add_argument("--dtype", choices=["float16", "bfloat16", "float32"], help="of weights and activations (default: the model's)")
    p.add_argument("--rows", default="1", type=size, help="tokens, or a name: a symbol of that name, 1..4096")
    p.add_argument("--batch", type=int, default=1)
    p.add_argument("--cache", default=0, type=size, help="rows kept before this call, or a name")
    p.add_argument("--weights", choices=["none", "random"], default="none", help="none: parameters have shapes only, the archive stays small")
    p.add_argument("--file", help="for `module`")
    p.add_argument("-o", "--out", help="the .pt2 archive")
    p.add_argument("--deflate", action="store_true", help="compress the archive's members")
    p.add_argument("--program", help="the program (JSON), by emmy-import")
    p.add_argument("--emmy-import", default="emmy-import", help="that tool (default: from PATH)")
    a = p.parse_args(argv)
    if a.part == "list":
        for name, text in PARTS.items():
            print(f"{name:10} {text}")
        for name, s in MODELS.items():
            print(f"{name:13} hidden {s.hidden}, inner {s.inner}, {s.heads}/{s.groups} heads of {s.head}, vocabulary {s.vocabulary}, {s.dtype}  {s.checkpoint}")
        return
    if isinstance(a.rows, str) and isinstance(a.cache, str):
        p.error("a program has one symbol: --rows or --cache")
    if not a.out and not a.program:
        p.error("say where to: -o or --program")
    with tempfile.TemporaryDirectory() as folder:
        out = a.out or f"{folder}/{a.part}.pt2"
        if a.part == "module":
            export(*own_module(a.file or p.error("module needs --file")), path=out)
        else:
            if bool(a.model) == bool(a.config):
                p.error("name one of --model and --config")
            sizes = MODELS[a.model] if a.model else read_config(a.config)
            if a.dtype:
                sizes = dataclasses.replace(sizes, dtype=a.dtype)
            trace(a.part, sizes, a.rows, out, a.batch, a.cache, a.weights)
        if a.deflate:
            deflate(out)
        if a.program:
            symbol = [t for t in (a.rows, a.cache) if isinstance(t, str)]
            raise SystemExit(subprocess.run([a.emmy_import, out, "--out", a.program, *(["--symbol", *symbol] if symbol else [])]).returncode)


if __name__ == "__main__":
    main()
