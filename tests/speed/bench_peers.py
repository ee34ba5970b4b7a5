#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench_peers.py WORK MACHINE JSON: sigmoids by plans and by what users would take instead, in one process, one core.

All works of a row take turns, so that they see the same machine; medians of nanoseconds per element. Beside each time
stands the greatest error against the sigmoid in double, over the codes or floats of the array, as a real number.
Inputs are codes that are uniform at random, or floats of a normal distribution of deviation 3. bench_peers.sh makes WORK.
"""
import ctypes
import importlib.metadata
import json
import os
import pathlib
import sys
import time

import cv2
import numpy as np

import pwl
from peers import litert, onnx_runtime

work, machine, out_path = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
SIZES = {"4 K": 1 << 12, "256 K": 1 << 18, "16 M": 1 << 24}
REPETITIONS = 15
LEAST = 1 << 18  # elements that one time is taken over
random = np.random.default_rng(1)


class Affine(ctypes.Structure):
    """pwl_affine of <pwl/real.h>."""
    _fields_ = [("scale", ctypes.c_float), ("zero_point", ctypes.c_int64)]


libpwl = ctypes.CDLL(os.environ["LIBPWL"])
libpwl.pwl_run_real.argtypes = [ctypes.c_void_p, Affine, ctypes.c_void_p, Affine, ctypes.c_void_p, ctypes.c_size_t]


def flat(work):
    """Of a work whose output has the shape of a model's."""
    run, result = work
    return run, lambda: result().ravel()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def call(keep, function, *arguments):
    """A call without the package's checks, which at 4 K would take longer than the array; what its addresses point to is
    kept."""
    def run():
        function(*arguments)
    run.keep = keep
    return run


def run_of(plan):
    """The function in a pwl_plan's first field."""
    address = ctypes.c_void_p.from_address(plan._address).value
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(address)


def of_array(run, y):
    """A work that writes y."""
    return run, lambda: y


def works_of_codes(name, x):
    """Works on codes, by name."""
    table = pwl.load(work / f"{name}.json")
    in_scale, out_scale, out_zero = (table.input.scale, table.output.scale, table.output.zero_point)
    plan, y = table.plan(), np.empty_like(x)
    works = {f"pwl {plan.way}": of_array(
        call((plan, x), run_of(plan), plan._address, x.ctypes.data, y.ctypes.data, x.size), y)}
    map_y, lib = np.empty_like(x), libpwl
    pwl_map = getattr(lib, f"pwl_map_{name}_{name}")
    pwl_map.argtypes, pwl_map.restype = [ctypes.c_void_p] * 3 + [ctypes.c_size_t], None
    works["pwl_map"] = of_array(
        call((table, x), pwl_map, table._address, x.ctypes.data, map_y.ctypes.data, x.size), map_y)
    if name != "s32":
        works["LiteRT"] = flat(litert("LOGISTIC", x.reshape(1, -1), (in_scale, 0), (out_scale, out_zero)))
        codes = np.arange(1 << 8 * x.itemsize).astype(x.dtype)
        limits = np.iinfo(x.dtype)
        values = np.rint(sigmoid(codes * in_scale) / out_scale) + out_zero
        values = np.clip(values, limits.min, limits.max).astype(x.dtype)
        unsigned, numpy_y = x.view(f"u{x.dtype.name}"), np.empty_like(x)
        works["numpy take"] = of_array(lambda: np.take(values, unsigned, out=numpy_y, mode="wrap"), numpy_y)
    else:
        numpy_y = np.empty_like(x)
        def by_float():
            real = x.astype(np.float32)
            numpy_y[:] = np.minimum(np.rint(sigmoid(real * np.float32(in_scale)) / np.float32(out_scale)), 2147483520)
        works["numpy float32"] = of_array(by_float, numpy_y)
    if name == "s8":
        cv_y = np.empty((1, x.size), np.uint8)
        cv_values, cv_x = values.view(np.uint8), x.view(np.uint8).reshape(1, -1)
        works["OpenCV LUT"] = (lambda: cv2.LUT(cv_x, cv_values, dst=cv_y)), lambda: cv_y.ravel().view(np.int8)
        works["ONNX Runtime"] = flat(onnx_runtime("QLinearSigmoid", x.reshape(1, -1), [
            ("x_scale", np.float32(in_scale)), ("x_zero", np.int8(0)), ("y_scale", np.float32(out_scale)),
            ("y_zero", np.int8(out_zero))], domain="com.microsoft"))
    return works, sigmoid(x * np.float64(in_scale)), lambda y: (y.astype(np.float64) - out_zero) * out_scale


def works_of_floats(x):
    works = {}
    for name in ("s8", "s16", "s32"):
        plan, y = pwl.load(work / f"{name}.json").plan(), np.empty_like(x)
        of_x, of_y = (Affine(of.scale, of.zero_point) for of in (plan.table.input, plan.table.output))
        run = call((plan, x), libpwl.pwl_run_real, plan._address, of_x, x.ctypes.data, of_y, y.ctypes.data, x.size)
        works[f"pwl_run_real {name}, {plan.way}"] = of_array(run, y)
    works["LiteRT, XNNPACK"] = flat(litert("LOGISTIC", x.reshape(1, -1), None, None))
    works["ONNX Runtime"] = flat(onnx_runtime("Sigmoid", x.reshape(1, -1)))
    numpy_y = np.empty_like(x)

    def by_numpy():
        np.negative(x, out=numpy_y)
        np.exp(numpy_y, out=numpy_y)
        np.add(numpy_y, 1, out=numpy_y)
        np.reciprocal(numpy_y, out=numpy_y)
    works["numpy"] = of_array(by_numpy, numpy_y)
    lib = ctypes.CDLL(str(work / "vector_math.so"))
    for name in ("sleef", "glibc"):
        function = getattr(lib, f"{name}_sigmoid", None)
        if function:
            function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t], None
            y = np.empty_like(x)
            works[name] = of_array(call(x, function, x.ctypes.data, y.ctypes.data, x.size), y)
    return works, sigmoid(x.astype(np.float64)), lambda y: y.astype(np.float64)


def measure(works, count):
    rounds, times = max(1, LEAST // count), {name: [] for name in works}
    for run, _ in works.values():
        run()
    for _ in range(REPETITIONS):
        for name, (run, _) in works.items():
            begin = time.perf_counter()
            for _ in range(rounds):
                run()
            times[name].append(1e9 * (time.perf_counter() - begin) / (rounds * count))
    return {name: sorted(taken) for name, taken in times.items()}


def main():
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in
                         ("ai-edge-litert", "onnxruntime", "opencv-python-headless", "numpy"))
    print(f"{machine}, one core; {versions}; medians of {REPETITIONS}\n")
    print("| in and out | elements | by | ns per element | times the first | max error |")
    print("|---|---:|---|---:|---:|---:|")
    with open(out_path, "w") as lines:
        for kind in ("s8", "s16", "s32", "float"):
            for size, count in SIZES.items():
                if kind == "float":
                    works, exact, real = works_of_floats(random.normal(0, 3, count).astype(np.float32))
                else:
                    limits = np.iinfo(f"int{kind[1:]}")
                    codes = random.integers(limits.min, limits.max + 1, count).astype(limits.dtype)
                    works, exact, real = works_of_codes(kind, codes)
                times, first = measure(works, count), None
                for name, (_, result) in works.items():
                    median, error = times[name][REPETITIONS // 2], float(np.max(np.abs(real(result()) - exact)))
                    first = first or median
                    print(f"| {kind} | {size} | {name} | {median:.4f} | {median / first:.2f} | {error:.2e} |",
                          flush=True)
                    print(json.dumps({"bench": "peers", "machine": machine, "type": kind, "elements": count,
                                      "work": name, "ns": round(median, 5), "p10": round(times[name][REPETITIONS // 10], 5),
                                      "p90": round(times[name][-1 - REPETITIONS // 10], 5),
                                      "repetitions": REPETITIONS, "max_error": float(f"{error:.6g}"),
                                      "versions": versions}), file=lines)


if __name__ == "__main__":
    main()
