#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.qgemm on a device: the bits of the reference where sums are exact, those of the same call in C elsewhere, within the
bound. PYTHONPATH says where the package is, built with CUDA. Exit 77, a skip, where there is no device.

usage: test_qgemm_device.py SOURCE
"""
import pathlib
import pickle
import sys

from device import DeviceArray, device_name, stream
from harness import end, equal, np, test
from products import InC

import pwl
from pwl import qgemm

tables = [pwl.load(pathlib.Path(sys.argv[1]) / f"luts/tables/{name}.json") for name in ("gelu_s8", "tanh_s16")]
draw = np.random.default_rng(1)
N, K = 264, 1024
ROWS = (1, 5, 16, 17, 33, 64, 100)
KINDS = [("q4_0", 16), ("q4_0", 8), ("q8_0", 16), ("q8_0", 8), ("mxfp4", 16)]


def exact_weights(format):
    """Weights that the format holds as they are: with d, or the block's power of two, 2^-6."""
    if format == "mxfp4":
        w = draw.choice([0, 0.5, 1, 1.5, 2, 3, 4, 6], (N, K)) * draw.choice([-1, 1], (N, K))
        w[:, ::32] = 6
    else:
        low, high = (-8, 7) if format == "q4_0" else (-15, 15)
        w = draw.integers(low, high + 1, (N, K))
        w[:, ::32] = -8 if format == "q4_0" else 127
    weights = qgemm.pack(w * 2.0 ** -6, format)
    equal(weights.dequantise(), (w * 2.0 ** -6).astype(np.float32), "weights")
    return weights


def exact_rows(m):
    """Integers that Q8_1 holds as they are. The sums of a row stay below 2^24 units."""
    x = draw.integers(-15, 16, (m, K)).astype(np.float32)
    x[:, ::32] = draw.choice([-127, 127], x[:, ::32].shape)
    return x


def computed(product, x, dtype, calls=1):
    out = DeviceArray(np.full((len(x), N), 77).astype(dtype))
    given = DeviceArray(x)
    for _ in range(calls):
        product(given, out)
    return out.fetch()


@test("exact sums: the bits of the reference")
def _():
    count = 0
    bias = draw.integers(-99, 100, N)
    for format, activations in KINDS:
        product = qgemm.Product(exact_weights(format), bias, activations=activations)
        for m in ROWS:
            x = exact_rows(m)
            for dtype in (np.float32, np.float16):
                given = x.astype(dtype)
                for to in (np.float32, np.float16):
                    equal(computed(product, given, to), product(given, np.zeros((m, N), to)), f"{format}, {activations}, {m}")
                    count += 1
    return f"{count} products"


@test("exact sums through a table: codes and real numbers")
def _():
    for format, activations in KINDS:
        weights = exact_weights(format)
        for table in tables:
            for codes in (False, True):
                product = qgemm.Product(weights, None, table, activations=activations, codes=codes)
                for m in ROWS:
                    x = exact_rows(m) / 64
                    wanted = product(x)
                    equal(computed(product, x, wanted.dtype), wanted, f"{format}, {activations}, {table}, {m}")


@test("random numbers: the bits of C, within the bound, each time")
def _():
    bias = draw.normal(0, 1, N).astype(np.float32)
    for format, activations in KINDS:
        weights = qgemm.pack(draw.normal(0, 0.1, (N, K)), format)
        for table in (None, tables[0]):
            product = qgemm.Product(weights, bias, table, activations=activations)
            for m in ROWS:
                x = draw.normal(0, 1, (m, K)).astype(np.float32)
                out = DeviceArray(np.zeros((m, N), np.float32))
                in_c = InC(weights, DeviceArray(bias), table, activations, DeviceArray(x), out)
                in_c.run()
                wanted = out.fetch().copy()
                got = computed(product, x, np.float32)
                what = f"{format}, {activations}, {m}"
                equal(got, wanted, what)
                equal(computed(product, x, np.float32, calls=3), got, f"{what}: again")
                if table is None:
                    value, bound = product.bound(x)
                    off = np.abs(got - value) - bound - np.spacing(np.abs(got))
                    assert off.max() <= 0, f"{what}: {off.max()} beyond the bound"


@test("prepared calls, other streams, pickled products")
def _():
    product = qgemm.Product(exact_weights("q4_0"), None, tables[0])
    for m in (1, 20, 100):
        x = exact_rows(m) / 64
        given, out = DeviceArray(x), DeviceArray(np.zeros((m, N), np.float32))
        call = product.prepare(given, out)
        for _ in range(3):
            call()
        equal(out.fetch(), product(x), f"prepared, {m}")
        again = pickle.loads(pickle.dumps(product))
        equal(computed(again, x, np.float32), product(x), f"pickled, {m}")
        out = DeviceArray(np.zeros((m, N), np.float32))
        product(given, out, stream=0)
        product(given, out, stream=stream.value)
        equal(out.fetch(), product(x), f"two streams, {m}")


print(f"# {device_name()}")
end()
