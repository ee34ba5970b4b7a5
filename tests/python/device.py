# SPDX-License-Identifier: Apache-2.0
"""Arrays on a CUDA device by its driver alone, for tests and benchmarks. Importing it ends the program with 77, a skip,
where there is no device or the package was built without CUDA."""
import ctypes
import sys

from harness import np

import pwl
from pwl import cuda

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


def device_name():
    name = ctypes.create_string_buffer(100)
    drive("cuDeviceGetName", name, 100, 0)
    return name.value.decode()


context, stream = ctypes.c_void_p(), ctypes.c_void_p()
drive("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
drive("cuCtxSetCurrent", context)
drive("cuStreamCreate", ctypes.byref(stream), 1)


def wait():
    drive("cuStreamSynchronize", stream)


class DeviceArray:
    """A copy of an array, on the device; work on it is queued on the stream above."""

    def __init__(self, array):
        self.array, self.address = np.ascontiguousarray(array), ctypes.c_uint64()
        drive("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(array.nbytes, 1)))
        drive("cuMemcpyHtoD_v2", self.address, ctypes.c_void_p(self.array.ctypes.data), ctypes.c_size_t(array.nbytes))
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "version": 3,
                                         "data": (self.address.value, False), "stream": stream.value}

    def fetch(self):
        wait()
        drive("cuMemcpyDtoH_v2", ctypes.c_void_p(self.array.ctypes.data), self.address,
              ctypes.c_size_t(self.array.nbytes))
        return self.array

    def __del__(self):
        driver.cuMemFree_v2(self.address)
