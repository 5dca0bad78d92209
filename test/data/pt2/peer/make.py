#!/usr/bin/env python3
"""Writes h100_<N>.pt2: modules whose programs are those of the peer's records/h100_sm90.json at place N, exported with PyTorch (2.15.0) from shapes alone.

usage: make.py      (into the folder of this script)
"""
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

here = pathlib.Path(__file__).parent
f16 = torch.float16


class One(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x)


class Two(nn.Module):
    def forward(self, x0, x1):
        return torch.matmul(x0, x1)


class Attention(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.causal = causal

    def forward(self, x0, x1, x2):
        return F.scaled_dot_product_attention(x0, x1, x2, is_causal=self.causal)


def save(place, module, *shapes, dtype=torch.float32, rows=False):
    dim = ({0: torch.export.Dim("seq_len", min=1, max=4096)},) if rows else None
    exported = torch.export.export(module, tuple(torch.empty(s, dtype=dtype) for s in shapes), dynamic_shapes=dim)
    for node in exported.graph.nodes:
        node.meta.pop("stack_trace", None)
    torch.export.save(exported, here / f"h100_{place}.pt2")


with torch.device("meta"):
    heads = [(1, 8, 512, 128)] * 3
    save(0, Two(), (512, 512), (512, 512))
    save(14, One(lambda x: F.softmax(x, -1)), (512, 2048))
    save(15, One(lambda x: x.sum(-1)), (512, 2048))
    save(18, nn.RMSNorm(2048, eps=1e-6), (512, 2048))
    save(21, One(F.relu), (512, 4096))
    save(23, One(lambda x: F.softmax(x, -1)), (512, 2048), rows=True)
    save(32, Attention(False), *heads, dtype=f16)
    save(34, Attention(True), *heads, dtype=f16)
    save(40, nn.Linear(14336, 4096, bias=False), (512, 14336))
    save(48, nn.Linear(4096, 12288), (512, 4096), rows=True)
