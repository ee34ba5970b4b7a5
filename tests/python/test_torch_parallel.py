#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Layers that ranks share, over gloo on the CPU: a feed-forward block of 1 to 8 processes against the whole, in integers
bit for bit. PYTHONPATH says where the package is. Exit 77, a skip, without torch.

usage: test_torch_parallel.py PWLC
"""
import os
import pickle
import socket
import sys
import warnings

from harness import end, equal, np, refused, test

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import torch.distributed as dist
import torch.multiprocessing as processes

import pwl
import pwl.torch
from pwl import qgemm
from pwl.torch import QLinear, RowParallel, column_parallel

os.environ["PWLC"] = os.path.realpath(sys.argv[1])
D, FF = 256, 640  # 10 pieces of 64 elements of H: no number of ranks from 3 on but 5 shares them evenly
INPUT, HIDDEN, UP = (pwl.Type.parse(text) for text in ("s8:2^-4:3", "s8:2^-3:-5", "s16:2^-8:7"))


def block(format):
    """Weights, biases and options of both layers, the same in every process."""
    random = np.random.default_rng(3)
    draw = lambda *shape: random.normal(0, 0.1, shape).astype(np.float32)
    table = pwl.fit("silu", input="s16:2^-10", output="s16:2^-10", segments=16)
    pair = qgemm.pack_pair(draw(FF, D), draw(FF, D), format)
    down = qgemm.pack(draw(D, FF), format)
    integers = format in qgemm.INTEGERS
    first = {"table": table, "gated": True, "activations": 8 if integers else 16}
    second = {"activations": first["activations"]}
    if integers:
        first |= {"codes": True, "input": INPUT, "up": UP, "output": HIDDEN}
        second |= {"codes": True, "input": HIDDEN, "output": pwl.Type.parse("s8:2^-2:9")}
    x = torch.from_numpy(random.normal(0, 2, (5, D)).astype(np.float32))
    return pair, down, (draw(2 * FF), draw(D)), first, second, x


def whole(format):
    pair, down, biases, first, second, x = block(format)
    return QLinear(down, biases[1], **second)(QLinear(pair, biases[0], **first)(x))


def bound(format, ranks):
    """By how much Y of ranks may differ from the whole's: both add the same numbers in float32, FF of them, bias, and what
    is rounded where parts meet."""
    pair, down, biases, first, _, x = block(format)
    size = QLinear(pair, biases[0], **first)(x).abs() @ torch.from_numpy(np.abs(down.dequantise())).T
    return 2 * (FF + FF / 32 + ranks + 4) * 2.0 ** -23 * (size + torch.from_numpy(np.abs(biases[1])))


def parts(format):
    """Y of this rank."""
    pair, down, biases, first, second, x = block(format)
    up, last = column_parallel(pair, biases[0], **first), RowParallel(down, biases[1], **second)
    return last(up(x)), up, last


def rank_main(rank, ranks, port, format, wanted):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    y, up, last = parts(format)
    if format in qgemm.INTEGERS:
        assert torch.equal(y, wanted), f"rank {rank} of {ranks}: {(y != wanted).sum()} codes differ"
    else:
        assert last.weights.shape[1] == up.weights.shape[0] // 2
        assert ((y - wanted).abs() <= bound(format, ranks)).all(), (y - wanted).abs().max()
    every = [torch.empty_like(y) for _ in range(ranks)]
    dist.all_gather(every, y)
    assert all(torch.equal(one, y) for one in every), "ranks have different results"
    state = last.state_dict()
    last.load_state_dict(state)
    dist.destroy_process_group()


def unlike_main(rank, ranks, port, unlike):
    """Of ranks whose last one has another GPU: rank 0 says so, once a layer, and the result is the same."""
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    pwl.torch.parallel._kind = lambda device: "A (9.0)" if not unlike or rank < ranks - 1 else "B (8.0)"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y, up, last = parts("int8")
        last(up(block("int8")[-1]))
    said = [str(warning.message) for warning in caught if "unlike" in str(warning.message)]
    wanted = [f"GPUs of unlike kinds: rank 0 has A (9.0), rank {ranks - 1} has B (8.0); every rank waits for the slowest"]
    assert said == (wanted if unlike and rank == 0 else []), said
    assert torch.equal(y, whole("int8"))
    assert not pickle.loads(pickle.dumps(last)).is_compared
    dist.destroy_process_group()


def free_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def run(ranks, format):
    processes.spawn(rank_main, (ranks, free_port(), format, whole(format)), nprocs=ranks)


def main():
    @test("1, 2, 3, 5 and 8 ranks have the bits of one, in integers")
    def _():
        for ranks in (1, 2, 3, 5, 8):
            run(ranks, "int8")
        run(2, "int4")

    @test("ranks add up floats")
    def _():
        for format in ("q4_0", "q8_0"):
            run(3, format)

    @test("GPUs of unlike kinds are warned of")
    def _():
        for ranks, unlike in ((3, True), (2, False)):
            processes.spawn(unlike_main, (ranks, free_port(), unlike), nprocs=ranks)

    @test("what cannot be shared is refused")
    def _():
        pair, down, biases, first, second, _ = block("int8")
        refused("torch.distributed has no group of ranks", lambda: column_parallel(pair, **first))
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        dist.init_process_group("gloo", rank=0, world_size=1)
        refused("gated=True: gate and up are shared by rows", lambda: RowParallel(pair, **first))
        refused("bias is of the shape", lambda: column_parallel(pair, biases[1], **first))
        refused("must not be empty", lambda: RowParallel(down, columns=slice(64, 64), **second))
        refused("cuts through a piece", lambda: RowParallel(down, columns=slice(0, 96), **second))
        refused("share their columns, which have no piece for rank 11", lambda: down.columns_of_rank(11, 12))
        refused("codes=True beside q4_0", lambda: RowParallel(
            qgemm.pack(np.ones((128, 64), np.float32)), table=first["table"], codes=True))
        dist.destroy_process_group()

    end()


if __name__ == "__main__":  # which processes that are spawned are not
    main()
