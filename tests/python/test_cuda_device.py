#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.cuda on a device: the bits of the CPU on every code, on a stream of the test's own. PYTHONPATH says where the
package is, built with CUDA. Exit 77, a skip, where there is no device.

usage: test_cuda_device.py SOURCE
"""
import pathlib
import sys

from device import DeviceArray
from harness import end, equal, np, test

import pwl

tables = pathlib.Path(sys.argv[1]) / "luts/tables"


@test("every code of the standard tables of 8 and 16 bits, a million of 32")
def _():
    paths = sorted(tables.glob("*.json"))
    for path in paths:
        table = pwl.load(path)
        if table.input.bits <= 16:
            codes = np.arange(table.input.qmin, table.input.qmax + 1).astype(table.input.dtype)
        else:
            codes = np.random.default_rng(1).integers(table.input.qmin, table.input.qmax + 1, 1 << 20, dtype=np.int64)
            codes = codes.astype(table.input.dtype)
        out = DeviceArray(np.zeros(codes.shape, table.output.dtype))
        table(DeviceArray(codes), out=out)
        equal(out.fetch(), table(codes), path.name)
    return f"{len(paths)} tables"


@test("real numbers, in float32")
def _():
    x = np.random.default_rng(1).normal(0, 4, 100003).astype(np.float32)
    x[:4] = np.nan, np.inf, -np.inf, 0
    for name in ("gelu_s8", "sigmoid_u16", "tanh_s16"):
        table = pwl.load(tables / f"{name}.json")
        out = DeviceArray(np.zeros_like(x))
        table.real(DeviceArray(x), out=out)
        equal(out.fetch(), table.real(x), name)


end()
