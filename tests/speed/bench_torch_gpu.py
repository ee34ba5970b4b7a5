#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench_torch_gpu.py: what pwl.torch adds to calls on a device. PYTHONPATH says where the package is, built with CUDA.

Time of a forward of QLinear in fp16, of weights in each format with a bias and a table, when 500 are queued and waited for:
as ratios to what Product.prepare() gives, called as it is and from a CUDA graph of 50 forwards, and whether the outputs are
equal. Then what one call takes of the host, when 100 are queued and not waited for, of the same two and of torch's
nn.Linear. Medians of 21 rounds, all in turns.
"""
import pathlib
import statistics
import time

import torch
from torch import nn

import pwl
import pwl.torch
from pwl import qgemm

N, K, ROUNDS = 4096, 4096, 21
source = pathlib.Path(__file__).parent.parent.parent
table = pwl.load(source / "luts/tables/gelu_s8.json")
torch.manual_seed(1)
dense = nn.Linear(K, N)
halves = nn.Linear(K, N).half().cuda().requires_grad_(False)


def on_device(work, count):
    """Microseconds of one of so many."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    for _ in range(count):
        work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / count * 1e3


def on_host(work, count):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        work()
    return (time.perf_counter() - begin) / count * 1e6


def medians(*ways):
    """Of the ways to measure, each with its work and count."""
    for way, work, count in ways:
        way(work, count)
    return [statistics.median(column) for column in zip(*([way(work, count) for way, work, count in ways]
                                                         for _ in range(ROUNDS)))]


def graph_of(work, count):
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            work()
    return graph


print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, N {N}, K {K}\n")
print("| weights | M | prepared, us | eager | graph | equal | host, us: prepared | QLinear | nn.Linear |")
print("|---|---:|---:|---:|---:|---|---:|---:|---:|")
for format in qgemm.FORMATS:
    layer = pwl.torch.QLinear.of_linear(dense, format, table=table).cuda()
    product = qgemm.Product(layer.weights, dense.bias.detach().numpy(), table)
    for m in (1, 16, 64, 512):
        x = torch.randn(m, K, device="cuda", dtype=torch.float16)
        y = torch.empty(m, N, device="cuda", dtype=torch.float16)
        prepared, graph = product.prepare(x, y), graph_of(lambda: layer(x), 50)
        base, eager, replayed, *host = medians(
            (on_device, prepared, 500), (on_device, lambda: layer(x), 500), (on_device, graph.replay, 10),
            (on_host, prepared, 100), (on_host, lambda: layer(x), 100), (on_host, lambda: halves(x), 100))
        prepared()
        torch.cuda.synchronize()
        print(f"| {format} | {m} | {base:.2f} | {eager / base:.3f} | {replayed / 50 / base:.3f} | "
              f"{torch.equal(layer(x), y)} | {' | '.join(f'{of:.2f}' for of in host)} |", flush=True)

activation, function = pwl.torch.Activation(table), nn.GELU()
few, many = torch.randn(16, device="cuda"), torch.randn(1 << 26, device="cuda")
host = medians((on_host, lambda: activation(few), 100), (on_host, lambda: function(few), 100))
device = medians((on_device, lambda: activation(many), 20), (on_device, lambda: function(many), 20))
print(f"\nActivation, and as a ratio to nn.GELU: {host[0]:.2f} us of the host, {host[0] / host[1]:.3f}; "
      f"2^26 numbers in fp32 {device[0]:.1f} us, {device[0] / device[1]:.3f}")
