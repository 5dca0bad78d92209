#!/usr/bin/env python3
"""Writes the committed .pt2 fixtures with real PyTorch: one archive a module, beside it what the module answers.

usage: make.py [NAME...]              (default: all; into the folder of this script)
       make.py --as PREFIX NAME...    (with another PyTorch: PREFIX_NAME.pt2 and .pt)
       make.py --old                  (with PyTorch 2.2: the archive of an older schema)

NAME.pt2 is what torch.export.save writes, without stack traces; above 40 KB its members are deflated, which torch.export.load reads
as well. NAME.pt holds {"runs": [{"inputs": [...], "outputs": [...]}]}: the inputs of the
call flattened in order, the outputs likewise, in PyTorch's eager mode on the CPU; "after" lists the inputs once more where the call changed one.
Archives whose sizes are symbolic have a second run at another size. refused.txt names the archives that must be refused, each with words of the message.
Made with PyTorch 2.15.0 (PyPI wheel, CPU used) under Python 3.11; refused_old_schema.pt2 with 2.2.2, torch26_* (archives laid out as before 2.8) with 2.6.0, torch24_* (schema 5) with 2.4.1, torch28_* with 2.8.0:
  make.py --as torch26 linear_f16 llama_prefill_bf16_dynamic qwen3_decode_f32 slices_cat_f32
"""
import copy
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here.parents[2] / "tools"))
f16, bf16, f32 = torch.float16, torch.bfloat16, torch.float32
CASES, REFUSED = {}, {}


def case(fn):
    """fn() -> (module, inputs[, inputs at another size, dynamic_shapes])"""
    CASES[fn.__name__] = fn
    return fn


def refused(words):
    def keep(fn):
        REFUSED[fn.__name__] = words
        CASES[fn.__name__] = fn
        return fn
    return keep


def decomposed(fn):
    """The archive holds the module in the core operators alone."""
    fn.decomposed = True
    return case(fn)


class Fn(nn.Module):
    """A module of one function."""

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *args):
        return self.fn(*args)


def dim(name="seq_len", low=1, high=4096):
    return torch.export.Dim(name, min=low, max=high)


def draw(*shape, dtype=f32, low=-1.0, high=1.0):
    return torch.empty(shape).uniform_(low, high).to(dtype)


def whole(high, *shape, dtype=torch.int64):
    return torch.randint(0, high, shape, dtype=dtype)


def trained(module):
    """Weights that are no identity: norms around 1, the rest spread so that activations stay near 1."""
    for name, p in module.named_parameters():
        with torch.no_grad():
            p.copy_(draw(*p.shape, low=0.5, high=1.5) if p.dim() == 1 and "bias" not in name else draw(*p.shape) * 1.7 / max(1, p.shape[-1]) ** 0.5)
    return module


# --- linear, norms, gated MLPs

@case
def linear_f16():
    return trained(nn.Linear(16, 24)).to(f16), (draw(5, 16, dtype=f16),)


@case
def linear_bf16_dynamic():
    return trained(nn.Linear(16, 24, bias=False)).to(bf16), (draw(5, 16, dtype=bf16),), (draw(9, 16, dtype=bf16),), ({0: dim()},)


@case
def rms_norm_f32():
    return trained(nn.RMSNorm(24, eps=1e-5)), (draw(2, 5, 24),)


@case
def model_norm_bf16_dynamic():
    return trained(ModelNorm(32, 1e-6)).to(bf16), (draw(6, 32, dtype=bf16),), (draw(3, 32, dtype=bf16),), ({0: dim("num_tokens")},)


@case
def layer_norm_f16():
    return trained(nn.LayerNorm(24)).to(f16), (draw(4, 24, dtype=f16),)


@case
def gated_mlp_bf16():
    return trained(GatedMLP(MODELS["tiny-llama"])).to(bf16), (draw(5, 32, dtype=bf16),)


@case
def gated_mlp_gelu_f16():
    return trained(GatedMLP(MODELS["tiny-llama"], lambda x: F.gelu(x, approximate="tanh"))).to(f16), (draw(5, 32, dtype=f16),)


@decomposed
def gated_mlp_core_f16():
    return trained(GatedMLP(MODELS["tiny-llama"])).to(f16), (draw(5, 32, dtype=f16),)


# --- attention

def heads(*shape, dtype):
    return draw(*shape, dtype=dtype, low=-2, high=2)


@case
def sdpa_causal_f16():
    q, k, v = (heads(1, 2, 7, 8, dtype=f16) for _ in range(3))
    return Fn(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)), (q, k, v)


@case
def sdpa_gqa_masked_bf16():
    q, k, v = heads(2, 4, 3, 8, dtype=bf16), heads(2, 2, 6, 8, dtype=bf16), heads(2, 2, 6, 8, dtype=bf16)
    mask = torch.zeros(2, 1, 3, 6, dtype=bf16).masked_fill(torch.rand(2, 1, 3, 6) < 0.4, -1e4)
    mask[..., 0] = 0
    return Fn(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m, scale=0.25, enable_gqa=True)), (q, k, v, mask)


@case
def sdpa_bool_mask_f32():
    q, k, v = (heads(1, 2, 5, 8, dtype=f32) for _ in range(3))
    mask = torch.rand(5, 5) < 0.6
    mask[:, 0] = True
    return Fn(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m)), (q, k, v, mask)


@case
def rotary_f32():
    cos, sin = angles(torch.arange(6), MODELS["tiny-llama"])
    return Fn(rotary), (draw(1, 4, 6, 8), draw(1, 2, 6, 8), cos, sin)


# --- whole layers and their parts

def part(name, model, dtype, rows, again=None, symbol="seq_len", **more):
    s = copy.copy(MODELS[model])
    object.__setattr__(s, "dtype", {f16: "float16", bf16: "bfloat16", f32: "float32"}[dtype])
    module, inputs, axes, _ = build(name, s, rows, **more)
    if again is None:
        return trained(module.float()).to(dtype), inputs
    return trained(module.float()).to(dtype), inputs, build(name, s, again, **more)[1], symbolic(axes, dim(symbol))


@case
def llama_prefill_f16():
    return part("layer", "tiny-llama", f16, 6)


@case
def llama_prefill_bf16_dynamic():
    return part("layer", "tiny-llama", bf16, 6, 9)


@case
def llama_decode_f16():
    return part("layer", "tiny-llama", f16, 1, cache=7, batch=2)


@case
def llama_decode_bf16_dynamic():
    """The kept rows are symbolic; the returned caches are one row longer."""
    s = MODELS["tiny-llama"]
    module, inputs, *_ = build("layer", s, 1, cache=7, batch=2)
    again = build("layer", s, 1, cache=4, batch=2)[1]
    to = lambda v: tuple(to(t) for t in v) if isinstance(v, tuple) else v.to(bf16)
    kept = {2: dim("seq_len", 2)}
    return trained(module.float()).to(bf16), to(inputs), to(again), (None, (None, None), (kept, kept))


@case
def qwen3_prefill_bf16():
    return part("layer", "tiny-qwen3", bf16, 6)


@case
def qwen3_prefill_f16_dynamic():
    return part("layer", "tiny-qwen3", f16, 5, 8)


@case
def qwen3_decode_f32():
    return part("layer", "tiny-qwen3", f32, 1, cache=5)


@case
def qwen3_pre_f16_dynamic():
    return part("pre", "tiny-qwen3", f16, 6, 3, "num_tokens")


@case
def llama_post_f16_dynamic():
    return part("post", "tiny-llama", f16, 6, 3, "num_tokens")


@case
def qwen3_attention_f16():
    return part("attention", "tiny-qwen3", f16, 6)


@case
def llama_attention_decode_bf16():
    return part("attention", "tiny-llama", bf16, 1, cache=9, batch=2)


@decomposed
def llama_prefill_core_bf16():
    return part("layer", "tiny-llama", bf16, 5)


@case
def embedding_f16():
    return trained(nn.Embedding(20, 8)).to(f16), (whole(20, 2, 5),)


@case
def lm_head_bf16():
    return part("lm_head", "tiny-llama", bf16, 2)


@case
def two_layers_f16():
    """For splitting by module path: an embedding, two layers, a norm, a head."""
    s = MODELS["tiny-llama"]

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed_tokens = nn.Embedding(s.vocabulary, s.hidden)
            self.layers = nn.ModuleList([Layer(s), Layer(s)])
            self.norm = ModelNorm(s.hidden, s.eps)
            self.lm_head = nn.Linear(s.hidden, s.vocabulary, bias=False)

        def forward(self, input_ids, cos, sin):
            x = self.embed_tokens(input_ids)
            for layer in self.layers:
                x = layer(x, (cos, sin))
            return self.lm_head(self.norm(x))

    cos, sin = (t.to(f16) for t in angles(torch.arange(4), s))
    return trained(Model()).to(f16), (whole(s.vocabulary, 1, 4), cos, sin)


# --- convolutions, activations, folds

@case
def conv1d_depthwise_f32():
    return trained(nn.Conv1d(6, 6, 4, padding=3, groups=6, bias=False)), (draw(1, 6, 5),)


@case
def conv1d_f32():
    return trained(nn.Conv1d(4, 6, 3, stride=2, padding=1)), (draw(2, 4, 9),)


@case
def conv2d_f32():
    return trained(nn.Conv2d(3, 4, 3, padding=1)), (draw(1, 3, 6, 5),)


@case
def activations_f32():
    def fn(x):
        return F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.softplus(x), F.relu(x), torch.sigmoid(x), torch.tanh(x)
    return Fn(fn), (draw(3, 7, low=-4, high=4),)


@case
def pointwise_f32():
    def fn(x, y):
        return (torch.exp(x) + torch.rsqrt(y), torch.reciprocal(y) - torch.abs(x), x.pow(3.0), y.pow(-0.5), 1 - x, torch.add(x, y, alpha=2.0),
                torch.sub(x, y, alpha=0.5), torch.div(x, y, rounding_mode="floor"), torch.maximum(x, y), torch.minimum(x, y), -x,
                x.clamp(-0.5, 0.5), x.clamp(min=0.1), torch.erf(x), x / 3)
    return Fn(fn), (draw(4, 6), draw(4, 6, low=0.25, high=2))


@case
def pointwise_bf16_mixed():
    """Types meet: bf16 with f32, a scalar, a row broadcast."""
    return Fn(lambda x, y, b: ((x * y).to(bf16) + b, x.float() * 0.5 + b.float(), (x + b) * 1.5)), (draw(4, 6, dtype=bf16), draw(4, 6), draw(6, dtype=bf16))


@case
def softmax_f16():
    return Fn(lambda x: (torch.softmax(x, -1), torch.softmax(x, 1), torch.softmax(x, -1, dtype=f32))), (draw(2, 5, 9, dtype=f16, low=-4, high=4),)


@case
def reductions_f32():
    def fn(x):
        return x.mean(-1), x.mean((0, 2), keepdim=True), x.sum(1), x.sum(), x.amax(-1, keepdim=True), x.amin(0), x.mean(), x.amax((1, 2))
    return Fn(fn), (draw(3, 4, 5),)


@case
def cumsum_f32():
    return Fn(lambda x: (x.cumsum(-1), x.cumsum(0))), (draw(3, 7),)


@case
def products_f32():
    def fn(a, b, c, m):
        return (torch.bmm(a, b), a @ m, torch.matmul(a[:, None], b[None]), torch.addmm(c, a[0], m, beta=0.5, alpha=2.0), torch.einsum("bik,bkj->bij", a, b),
                a[0] @ m[:, 0])
    return Fn(fn), (draw(2, 3, 4), draw(2, 4, 5), draw(3, 6), draw(4, 6))


# --- layout

@case
def views_f16():
    def fn(x):
        return (x.permute(2, 0, 1), x.reshape(4, 6).t(), x.flatten(1), x.unsqueeze(0).expand(3, -1, -1, -1), x.movedim(0, -1).contiguous(),
                x.view(2, 3, 2, 2).squeeze(), x.unflatten(2, (2, 2)), x.transpose(0, 2).reshape(-1), x[:, :1].squeeze(1),
                x.repeat_interleave(2, 1), x.repeat(1, 2, 1))
    return Fn(fn), (draw(2, 3, 4, dtype=f16),)


@case
def slices_cat_f32():
    def fn(x, y):
        a, b = x.chunk(2, -1)
        p, q, r = x.split((1, 2, 5), -1)
        return (torch.cat((x, y)), torch.cat((b, -a), -1), x[:, ::2], x[1:, 2:-1], x[-1], x[:, -3:], torch.stack((a, b), 1), q * 2, torch.cat((r, p), 1),
                x.select(1, 3), x[..., None, 1:3], torch.roll(y, 1, 0), F.pad(x, (1, 2)), x.flip(0), *y.unbind(0))
    return Fn(fn), (draw(3, 8), draw(2, 8))


@case
def masks_f32():
    def fn(x, m):
        rows = torch.arange(5)
        keep = rows[:, None] >= rows[None]
        return (x.masked_fill(m, -1e9), torch.where(x > 0, x, 0.1 * x), x.tril(), x.triu(1), torch.where(keep, x, torch.zeros_like(x)),
                (x >= 0.5) | (x < -0.5), x.ne(0.0).logical_not(), torch.full((2, 3), 1.5) + torch.ones(3), torch.eye(5) * x)
    return Fn(fn), (draw(5, 5), torch.rand(5, 5) < 0.3)


@case
def infinities_f16():
    """Infinite numbers in the graph, which JSON has no word for."""
    def fn(x, m):
        scores = x.masked_fill(m, float("-inf"))
        return scores.softmax(-1), torch.where(m, float("inf"), x).clamp(max=float("inf")).amin(-1), scores == float("-inf")
    return Fn(fn), (draw(4, 6, dtype=f16), torch.rand(4, 6) < 0.4)


@case
def gathers_f32():
    def fn(x, i, j):
        return x[i], x.index_select(1, i), torch.gather(x, 1, j), x[:, i], F.embedding(i, x)
    return Fn(fn), (draw(6, 6), whole(6, 4), whole(6, 6, 3))


@case
def derived_dims_dynamic():
    """Sizes s, 2*s and s + 1 beside one another."""
    def fn(x, y, z):
        return torch.cat((x, x)) + y, z[1:] * x, x.reshape(-1), y.view(-1, 2, 4).sum(1)
    s = dim("seq_len", 2, 64)
    return Fn(fn), (draw(4, 4), draw(8, 4), draw(5, 4)), (draw(7, 4), draw(14, 4), draw(8, 4)), (({0: s}, {0: 2 * s}, {0: s + 1}),)


# --- stored integers, routing

@case
def dequantized_linear_f16():
    """8-bit codes with a zero point and a scale a row, as u8."""
    class Dequantized(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("codes", whole(256, 12, 16, dtype=torch.uint8))
            self.register_buffer("scale", draw(12, 1, dtype=f16, low=0.001, high=0.01))

        def forward(self, x):
            return F.linear(x, (self.codes.to(f16) - 128) * self.scale)
    return Dequantized(), (draw(3, 16, dtype=f16),)


@case
def int4_linear_bf16():
    """Two codes a 32-bit word's byte: shifts and masks."""
    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("words", torch.randint(-2**31, 2**31 - 1, (2, 12), dtype=torch.int32))
            self.register_buffer("shifts", torch.arange(0, 32, 4, dtype=torch.int32)[None, :, None])
            self.register_buffer("scale", draw(1, 12, dtype=bf16, low=0.01, high=0.1))

        def forward(self, x):
            codes = (self.words[:, None] >> self.shifts) & 15
            return x @ ((codes.reshape(16, 12) - 8).to(bf16) * self.scale)
    return Packed(), (draw(3, 16, dtype=bf16),)


@case
def moe_routing_f32():
    """Scores, the choice given, the chosen experts' weights gathered and mixed."""
    class Routed(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = nn.Linear(8, 4, bias=False)
            self.experts = nn.Parameter(torch.empty(4, 8, 8))

        def forward(self, x, chosen):
            scores = torch.softmax(self.gate(x), -1, dtype=f32)
            weights = torch.gather(scores, 1, chosen)
            weights = weights / weights.sum(-1, keepdim=True)
            each = self.experts[chosen]
            out = torch.matmul(each, x[:, None, :, None]).squeeze(-1)
            return (out * weights[..., None]).sum(1)
    return trained(Routed()), (draw(5, 8), torch.stack([torch.randperm(4)[:2] for _ in range(5)]))


# --- aliases and changes in place

@case
def in_place_f32():
    """Changes of own tensors: they may not reach the input."""
    def fn(x):
        y = x.clone()
        y.add_(1.0).mul_(2.0)
        z = torch.zeros_like(x)
        z[:, 1:3] = y[:, 1:3]
        z[0] += 5.0
        view = z.view(-1)
        view[3] = 7.0
        return y, z.relu_(), x
    return Fn(fn), (draw(3, 4),)


@case
def changed_input_f16():
    """A cache that is written in place: the input is changed."""
    def fn(cache, k):
        cache[:, :, 2:3] = k
        return cache.sum(-1)
    return Fn(fn), (draw(1, 2, 4, 8, dtype=f16), draw(1, 2, 1, 8, dtype=f16))


@case
def changed_buffer_f32():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(4))

        def forward(self, x):
            self.seen.add_(x.sum(0))
            return x + self.seen
    return Counts(), (draw(3, 4),)


@case
def tied_weights_f32():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10, 8)
            self.head = nn.Linear(8, 10, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, i):
            return self.head(self.embed(i))
    return trained(Tied()), (whole(10, 3),)


@case
def constants_f32():
    """Tensors that are neither parameters nor inputs: lifted constants, an unsaved buffer, an unread argument."""
    class Constants(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", draw(4), persistent=False)
            self.plain = draw(4)

        def forward(self, x, unread):
            return x * self.kept + self.plain + torch.tensor([1.0, 2.0, 3.0, 4.0])
    return Constants(), (draw(3, 4), draw(2))


@case
def constant_arguments_f32():
    """Arguments that are no tensors, as layers of model packages take them: None, a number, a flag."""
    def fn(x, y, mask, times, twice):
        out = (x + y) * times if mask is None else x
        return out * 2 if twice else out
    return Fn(fn), (draw(3, 4), draw(3, 4), None, 3, True)


# --- refused

@refused("topk")
def refused_topk():
    return Fn(lambda x: (torch.topk(x, 2)[0], torch.linalg.inv(x[:3, :3]))), (draw(5, 5),)


@refused("cond")
def refused_cond():
    return Fn(lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))), (draw(3, 4),)


@refused("complex")
def refused_complex():
    return Fn(lambda x: torch.fft.rfft(x).abs()), (draw(3, 8),)


@refused("nonzero")
def refused_data_dependent():
    return Fn(lambda x: torch.nonzero(x > 0)), (draw(3, 4),)


@refused("axis 0 of args_0")
def refused_two_symbols():
    return Fn(lambda x: x * 2), (draw(2, 5, 4),), (draw(3, 7, 4),), (({0: dim("batch"), 1: dim("seq_len")},),)


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value.detach().clone().contiguous()]
    return [t for item in value if item is not None for t in flat(item)] if isinstance(value, (tuple, list)) else []


def run(module, inputs):
    module, inputs = copy.deepcopy(module), copy.deepcopy(inputs)
    before = flat(inputs)
    with torch.no_grad():
        outputs = flat(module(*inputs))
    after = flat(inputs)
    told = {"inputs": before, "outputs": outputs}
    if any(not torch.equal(a, b) for a, b in zip(before, after)):
        told["after"] = after
    return told


def make(name, stem):
    torch.manual_seed(len(name) * 1000 + sum(map(ord, name)))
    made = CASES[name]()
    module, inputs, again, shapes = made if len(made) == 4 else (*made, None, None)
    module.eval().requires_grad_(False)
    if isinstance(module, Fn) and shapes is not None and len(shapes) != 1:
        shapes = (shapes,)  # *args is one argument
    export(module, inputs, shapes, here / f"{stem}.pt2", core=hasattr(CASES[name], "decomposed"))
    if (here / f"{stem}.pt2").stat().st_size > 40_000:
        deflate(here / f"{stem}.pt2")
    if name not in REFUSED:
        torch.save({"runs": [run(module, i) for i in (inputs, again) if i is not None]}, here / f"{stem}.pt")


def make_torchscript():
    torch.manual_seed(1)
    torch.jit.save(torch.jit.trace(trained(nn.Linear(4, 6)), draw(3, 4)), str(here / "refused_torchscript.pt2"))


def make_old():
    """No import of trace.py here: it needs a later version."""
    torch.manual_seed(1)
    exported = torch.export.export(trained(nn.Linear(4, 6)), (draw(3, 4),))
    for node in exported.graph.nodes:
        node.meta.pop("stack_trace", None)
    torch.export.save(exported, str(here / "refused_old_schema.pt2"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--old"]:
        make_old()
        sys.exit()
    from trace import MODELS, GatedMLP, Layer, ModelNorm, angles, build, deflate, export, rotary, symbolic  # noqa: E402
    args = sys.argv[1:]
    prefix = args[1] + "_" if args[:1] == ["--as"] else ""
    for each in (args[2:] if prefix else args) or CASES:
        make(each, prefix + each)
    if not args:
        make_torchscript()
        lines = {**REFUSED, "refused_torchscript": "TorchScript", "refused_old_schema": "schema"}
        (here / "refused.txt").write_text("".join(f"{n}.pt2 {w}\n" for n, w in sorted(lines.items())))
