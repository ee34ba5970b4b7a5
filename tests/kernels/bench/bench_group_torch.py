#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_group_torch.py: what bench_qgemm_group measures, by PyTorch in bf16: its grouped product, and the products of
each expert by cuBLAS, one after the other. Microseconds, medians of graphs of eight launches with 4 ms of rest."""
import statistics
import time

import torch

ROUTES, EACH, REPETITIONS, K = 8, 4, 11, 2880
MASK = (1 << 64) - 1


def random_numbers(state):
    """splitmix64, as tests/support/random.h has it"""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield z ^ z >> 31


def draw_routes(tokens, experts):
    """Rows of each expert, for each launch of a graph."""
    routes = []
    for route in range(ROUTES):
        numbers = random_numbers(1000 * tokens + route)
        rows = [0] * experts
        for _ in range(tokens):
            chosen = set()
            while len(chosen) < EACH:
                chosen.add(next(numbers) % experts)
            for expert in chosen:
                rows[expert] += 1
        routes.append(rows)
    return routes


def measure(launch):
    """Of one launch, captured eight times with different routes."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for route in range(ROUTES):
            launch(route)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for route in range(ROUTES):
            launch(route)
    times = []
    for repetition in range(REPETITIONS + 3):
        time.sleep(0.004)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if repetition >= 3:
            times.append(1000 * begin.elapsed_time(end) / ROUTES)
    return statistics.median(times)


def bench(experts, n, tokens, weights):
    routes = draw_routes(tokens, experts)
    x = torch.rand(tokens * EACH, K, device="cuda", dtype=torch.bfloat16) - 0.5
    ends = [torch.tensor(rows, device="cuda").cumsum(0).to(torch.int32) for rows in routes]
    grouped = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm

    def together(route):
        grouped(x, weights.transpose(1, 2), offs=ends[route])

    def alone(route):
        begin = 0
        for expert, count in enumerate(routes[route]):
            if count:
                torch.mm(x[begin : begin + count], weights[expert].t())
            begin += count

    try:
        first = f"{measure(together):.1f}"
    except RuntimeError as error:
        first = f"- ({str(error).splitlines()[0][:60]})"
    print(f"| {experts} | {n} | {tokens} | {first} | {measure(alone):.1f} |", flush=True)


def main():
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n")
    print("| experts | N | tokens | grouped_mm | mm of each |\n|---:|---:|---:|---:|---:|")
    for experts in (32, 128):
        for n in (5760, 2880):
            weights = torch.rand(experts, n, K, device="cuda", dtype=torch.bfloat16) - 0.5
            for tokens in (1, 8, 32, 128, 512, 2048, 8192):
                bench(experts, n, tokens, weights)
            del weights


if __name__ == "__main__":
    main()
