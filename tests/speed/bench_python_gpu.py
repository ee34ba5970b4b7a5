#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench_python_gpu.py REPEAT_PRODUCT: what Python adds to products on a device. PYTHONPATH says where the package is, built
with CUDA; REPEAT_PRODUCT is the library tests/python/librepeat_product.so.

Time of a product in fp16, of weights in Q4_0 or Q8_0 with a bias and a table, when 500 are queued and waited for: by a
loop in C, and as ratios to that by what Product.prepare() gives, by _core's run(), in which the product's call ends, and
by that call with device arrays. Medians of 21 rounds, the four in turns. Then the same for a single call, which is waited
for.
"""
import ctypes
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
from device import DeviceArray, device_name, stream, wait  # noqa: E402
from harness import np  # noqa: E402
from products import InC, checked  # noqa: E402

import pwl  # noqa: E402
from pwl import cuda, qgemm  # noqa: E402

N, K, ROUNDS = 4096, 4096, 21
library = ctypes.CDLL(sys.argv[1])
table = pwl.load(pathlib.Path(__file__).parent.parent.parent / "luts/tables/gelu_s8.json")
draw = np.random.default_rng(1)
w = draw.normal(0, 0.02, (N, K)).astype(np.float32)
bias = draw.normal(0, 1, N).astype(np.float32)


def seconds(work):
    wait()
    begin = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - begin


def ways(weights, activations, m, count):
    """What queues so many products, by name."""
    x = DeviceArray(draw.normal(0, 1, (m, K)).astype(np.float16))
    y = DeviceArray(np.zeros((m, N), np.float16))
    in_c = InC(weights, DeviceArray(bias), table, activations, x, y)
    product = qgemm.Product(weights, bias, table, activations=activations)
    prepared = product.prepare(x, y)
    core, arrays, space, _ = product._on_device(x, y, None)
    multiply = ctypes.cast(cuda.library().pwl_cuda_qgemm, ctypes.c_void_p)

    def by_c():
        checked(library.repeat_product(multiply, *in_c.arguments(), stream, ctypes.c_size_t(count)))

    def by_prepared():
        for _ in range(count):
            prepared()

    def by_run():
        for _ in range(count):
            core.run(*arrays, *space)

    def by_call():
        for _ in range(count):
            product(x, y)

    return [by_c, by_prepared, by_run, by_call]


def rows(count):
    for format, activations in (("q4_0", 16), ("q4_0", 8), ("q8_0", 16)):
        weights = qgemm.pack(w, format)
        for m in (1, 16, 64, 512):
            works = ways(weights, activations, m, count)
            for work in works:
                seconds(work)
            times = [[seconds(work) for work in works] for _ in range(ROUNDS)]
            medians = [statistics.median(column) for column in zip(*times)]
            ratios = " | ".join(f"{median / medians[0]:.3f}" for median in medians[1:])
            print(f"| {format}, a{activations} | {m} | {medians[0] / count * 1e6:.2f} | {ratios} |", flush=True)


print(f"{device_name()}, N {N}, K {K}")
for count in (500, 1):
    print(f"\n| {count} at a time | M | C, us | prepared | run | call |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    rows(count)
