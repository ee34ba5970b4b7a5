#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench_python.py SOURCE: what Python adds to the runtime. PYTHONPATH says where the package is.

Processor time of a call on 16 codes, the least of 40 rounds; and a map of 256 MiB by the package beside the same plan
called from C's side, by its address, in turns, as the median of their ratios.
"""
import ctypes
import pathlib
import statistics
import sys
import time
import timeit

import numpy as np

import pwl

table = pwl.load(pathlib.Path(sys.argv[1]) / "luts/tables/gelu_s8.json")
x = np.arange(-8, 8, dtype=np.int8)
y = np.empty_like(x)
codes = list(range(16))
print("| call on 16 codes | us |\n| --- | ---: |")
for text in ("table(x)", "table(x, y)", "table(codes)", "table.eval(5)"):
    times = timeit.repeat(text, globals=globals(), number=20000, repeat=40, timer=time.process_time)
    print(f"| {text} | {min(times) / 20000 * 1e6:.2f} |")

x = np.random.default_rng(1).integers(-128, 128, 256 << 20).astype(np.int8)
y = np.empty_like(x)
plan = table.plan()
# The first field of a pwl_plan.
run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(
    ctypes.c_void_p.from_address(plan._address).value)


def seconds(work, *arguments):
    begin = time.process_time()
    work(*arguments)
    return time.process_time() - begin


seconds(plan, x, y)
ratios = [seconds(table, x, y) / seconds(run, plan._address, x.ctypes.data, y.ctypes.data, x.size) for _ in range(9)]
print(f"\n256 MiB: {statistics.median(ratios):.3f} of the time of C, {min(ratios):.3f} to {max(ratios):.3f}")
