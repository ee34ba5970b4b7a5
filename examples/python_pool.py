#!/usr/bin/python3
# SPDX-License-Identifier: 0BSD
"""python_pool.py TABLE.json: an activation on all cores from Python, by threads and by processes.

Long calls run without Python's lock, so that a pool of threads takes parts of one array, without a copy. Tables can be
pickled, so that a pool of processes works too: each makes its plan anew, once for each task here.
"""
import concurrent.futures
import os
import sys

import numpy as np

import pwl

PART = 1 << 16  # codes: long enough that handing a part to a thread costs little beside it


def by_threads(table, x):
    y = np.empty(x.shape, table.output.dtype)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = [slice(first, first + PART) for first in range(0, x.size, PART)]
        list(pool.map(lambda part: table(x[part], out=y[part]), parts))
    return y


def by_processes(table, x):
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        return np.concatenate(list(pool.map(table, np.array_split(x, 2))))


def main():
    table = pwl.load(sys.argv[1])
    limits = table.input.qmin, table.input.qmax + 1
    x = np.random.default_rng(1).integers(*limits, 1 << 20).astype(table.input.dtype)
    expected = table(x)
    for name, way in (("threads", by_threads), ("processes", by_processes)):
        if not np.array_equal(way(table, x), expected):
            sys.exit(f"{name}: other codes than those of one call")
        print(f"{name}: {x.size} codes, the same as by one call")


if __name__ == "__main__":
    main()
