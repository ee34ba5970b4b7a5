#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_network_pictures.py NETWORK.json MODEL.onnx: a network of pictures, as bench_networks.py makes it of those in
rapidocr-onnxruntime, on a CUDA device by pwl.cuda, beside the nodes of its model in fp16 by PyTorch, channels last, as they are and
compiled by torch.compile(). Codes are first held against the CPU's. A line of JSON for each batch: microseconds, medians of 50
launches of a CUDA graph. PYTHONPATH says where pwl is."""
import datetime
import json
import pathlib
import sys

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional

import pwl.network
from torch_graph import median

BATCHES = 1, 8, 32


def convolution(x, weights, bias=None, *, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), group=1, **_):
    if pads[:2] != pads[2:]:
        x, pads = functional.pad(x, (pads[1], pads[3], pads[0], pads[2])), (0, 0)
    return functional.conv2d(x, weights, bias, strides, pads[:2], dilations, group)


def pool(x, *, kernel_shape, strides, pads=(0, 0, 0, 0), ceil_mode=0, **_):
    return functional.max_pool2d(x, kernel_shape, strides, pads[:2], ceil_mode=bool(ceil_mode))


def clip(x, low=None, high=None, **of):
    return torch.clamp(x, float(of.get("min", low)), float(of.get("max", high)))


def hard_sigmoid(x, *, alpha=0.2, beta=0.5):
    return torch.clamp(x * alpha + beta, 0, 1)


NODES = {"Conv": convolution, "MaxPool": pool, "Clip": clip, "HardSigmoid": hard_sigmoid, "Relu": torch.relu, "Add": torch.add,
         "Mul": torch.mul, "Div": torch.div, "MatMul": torch.matmul, "Identity": lambda x: x,
         "BatchNormalization": lambda x, scale, bias, mean, variance, *, epsilon, **_: functional.batch_norm(
             x, mean, variance, scale, bias, False, 0, epsilon),
         "GlobalAveragePool": lambda x: x.mean((2, 3), keepdim=True), "Softmax": lambda x, *, axis=-1: torch.softmax(x, axis)}


def on_device(array):
    """Real numbers; one alone, and integers, are the host's."""
    if array.ndim == 0:
        return array.item()
    return torch.from_numpy(array.copy()).cuda().half() if array.dtype == np.float32 else array.tolist()


def in_fp16(model):
    """The model's nodes as a function; shapes are those of its input."""
    known = {one.name: on_device(numpy_helper.to_array(one)) for one in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        of = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type == "Constant":
            known[node.output[0]] = on_device(numpy_helper.to_array(of["value"]))
        else:
            nodes.append((node, of))

    def run(x):
        made = {**known, model.graph.input[0].name: x}
        for node, of in nodes:
            given = [made.get(name) for name in node.input]
            if node.op_type in ("Shape", "Cast", "Slice", "Concat"):
                made[node.output[0]] = None  # of shapes, which Reshape does without
            elif node.op_type == "Reshape":
                to = given[1]
                made[node.output[0]] = given[0].flatten(1) if to is None or len(to) == 2 else given[0].reshape(to)
            else:
                made[node.output[0]] = NODES[node.op_type](*given, **of)
        return made[model.graph.output[0].name]
    return run


def main():
    network, model = pwl.network.load(sys.argv[1]), onnx.load(sys.argv[2])
    edge, run = network.edges[network.inputs[0]], in_fp16(model)
    compiled = torch.compile(run)
    for batch in BATCHES:
        shape = network.shape_at(edge.name, {**network.sizes, "batch": batch})
        codes = np.random.default_rng(batch).integers(edge.type.qmin, edge.type.qmax + 1, shape).astype(edge.type.dtype)
        x, y = torch.from_numpy(codes).cuda(), torch.from_numpy(edge.type.dequantize(codes)).cuda().half()
        y = y.to(memory_format=torch.channels_last)
        if not (network(x).cpu().numpy() == network(codes)).all():
            sys.exit(f"the device's codes are not the CPU's, batch of {batch}")
        with torch.inference_mode():
            row = {"bench": "network_pictures", "device": torch.cuda.get_device_name(), "network": pathlib.Path(sys.argv[1]).stem,
                   "batch": batch, "shape": list(shape[1:]), "us": median(lambda: network(x)), "fp16_us": median(lambda: run(y)),
                   "fp16_compiled_us": median(lambda: compiled(y)), "torch": torch.__version__,
                   "date": datetime.date.today().isoformat()}
        print(json.dumps(row), flush=True)


main()
