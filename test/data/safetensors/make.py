#!/usr/bin/env python3
"""Writes the committed safetensors files with the safetensors package (0.5 or later) and PyTorch 2.6: one file of every type, and a sharded checkpoint of the
linear layer of test/data/pt2/linear_f16.pt2 (the weights of that archive).

usage: make.py       (into the folder of this script)
"""
import json
import pathlib

import torch
from safetensors.torch import save_file

here = pathlib.Path(__file__).parent
values = torch.tensor([[-1.5, 0.0, 2.0], [0.25, 1.0, -3.0]])
types = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "i64": torch.int64,
         "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64}
tensors = {name: values.abs().to(t) if name.startswith("u") else values.to(t) for name, t in types.items()}
tensors |= {"bool": values > 0, "scalar": torch.tensor(7.0), "empty": torch.zeros(0, 4)}
save_file(tensors, here / "types.safetensors", metadata={"format": "pt"})

linear = torch.export.load(here.parent / "pt2" / "torch26_linear_f16.pt2").state_dict
shards = {}
for i, (path, tensor) in enumerate(sorted(linear.items())):
    name = f"model-{i + 1:05d}-of-{len(linear):05d}.safetensors"
    save_file({path: tensor.detach().contiguous()}, here / name)
    shards[path] = name
(here / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": shards}) + "\n")
