#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.cuda on a device: the bits of the CPU on every code, on a stream of the test's own. PYTHONPATH says where the
package is, built with CUDA. Exit 77, a skip, where there is no device.

usage: test_cuda_device.py SOURCE
"""
import ctypes
import pathlib
import sys

from harness import end, equal, np, test

import pwl
from pwl import cuda

tables = pathlib.Path(sys.argv[1]) / "luts/tables"
try:
    driver = ctypes.CDLL("libcuda.so.1")
    if cuda.library().pwl_device_current() < 0 or driver.cuInit(0):
        raise OSError("no device")
except (OSError, pwl.MissingError) as error:
    print(f"skipped: {error}")
    sys.exit(77)


def drive(name, *arguments):
    status = getattr(driver, name)(*arguments)
    if status:
        raise RuntimeError(f"{name}: CUDA error {status}")


context, stream = ctypes.c_void_p(), ctypes.c_void_p()
drive("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
drive("cuCtxSetCurrent", context)
drive("cuStreamCreate", ctypes.byref(stream), 1)


class DeviceArray:
    """A copy of an array, on the device."""

    def __init__(self, array):
        self.array, self.address = np.ascontiguousarray(array), ctypes.c_uint64()
        drive("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(array.nbytes, 1)))
        drive("cuMemcpyHtoD_v2", self.address, ctypes.c_void_p(self.array.ctypes.data), ctypes.c_size_t(array.nbytes))
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "version": 3,
                                         "data": (self.address.value, False), "stream": stream.value}

    def fetch(self):
        drive("cuStreamSynchronize", stream)
        drive("cuMemcpyDtoH_v2", ctypes.c_void_p(self.array.ctypes.data), self.address,
              ctypes.c_size_t(self.array.nbytes))
        return self.array

    def __del__(self):
        driver.cuMemFree_v2(self.address)


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
