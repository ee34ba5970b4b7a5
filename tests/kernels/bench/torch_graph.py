# SPDX-License-Identifier: Apache-2.0
"""How long what PyTorch queues takes on a CUDA device."""
import statistics

import torch


def median(call, repetitions=50):
    """Microseconds, of a graph of one call: three before it is captured, and five replays, do not count."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph, times = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        call()
    for _ in range(5 + repetitions):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(1000 * begin.elapsed_time(end))
    return round(statistics.median(times[5:]), 1)
