# SPDX-License-Identifier: Apache-2.0
"""<pwl/cuda_qgemm.h> by ctypes, as a program in C calls it: what pwl.qgemm is held against."""
import ctypes

from device import DeviceArray, stream
from harness import np

from pwl import cuda, qgemm

pointer, size, i32, f32 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32, ctypes.c_float


def structure(name, **fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields.items())})


Affine = structure("Affine", scale=f32, zero_point=ctypes.c_int64)
Weights = structure("Weights", memory=pointer, n=size, k=size, bytes=size, format=i32, row_data=i32)
Source = structure("Source", format=i32, of=i32, type=i32, rule=i32, spread=i32, pair=i32, n=size, k=size, data=pointer * 2,
                   row_data=pointer * 2)
Input = structure("Input", data=pointer, stride=size, type=i32, zero_point=i32, n_x=pointer, scale=pointer)
Output = structure("Output", data=pointer, stride=size, type=i32, zero_point=i32, n_y=i32, scale=pointer, dynamic=i32)
Activation = structure("Activation", table=pointer, uploaded=pointer, of_x=Affine, of_y=Affine, gated=i32, of_up=Affine,
                       of_out=Affine, bias_up=pointer, up_limit=f32, up_plus=f32)
Product = structure("Product", scheme=i32, sums=i32, m=size, weights=ctypes.POINTER(Weights), x=Input, bias=pointer, y=Output,
                    activation=ctypes.POINTER(Activation))


def checked(status):
    if status:
        raise RuntimeError(f"libpwl-cuda: status {status}")


class InC:
    """A product of device arrays, of weights that the device packs from the same blocks."""

    def __init__(self, weights, bias, table, activations, x, y):
        lib = cuda.library()
        format, n, k, most, _ = weights.packed
        blocks = DeviceArray(weights.blocks())
        self.memory, self.bias = DeviceArray(np.zeros(weights.memory.size, np.uint8)), bias
        self.weights, self.table = Weights(), table
        source = Source(format=qgemm.NUMBERS[format], n=n, k=k, data=(pointer * 2)(blocks.address.value, None))
        checked(lib.pwl_cuda_qgemm_pack(source, pointer(self.memory.address.value), size(weights.memory.size),
                                        ctypes.byref(self.weights), None, stream))
        self.x, self.y, self.activation = x, y, None
        product = self.product = Product(scheme=qgemm.SCHEMES[format, activations], m=x.array.size // k,
                                         weights=ctypes.pointer(self.weights))
        product.x = Input(x.address.value, k, qgemm.TYPES[x.array.dtype.name], 0, None)
        product.y = Output(y.address.value, n, qgemm.TYPES[y.array.dtype.name], 0, 0)
        if bias is not None:
            product.bias = bias.address.value
        if table is not None:
            self.uploaded = cuda.upload(table)
            self.activation = Activation(uploaded=ctypes.addressof(self.uploaded),
                                         of_x=Affine(table.input.scale, table.input.zero_point),
                                         of_y=Affine(table.output.scale, table.output.zero_point))
            product.activation = ctypes.pointer(self.activation)
        needed = size()
        checked(lib.pwl_cuda_qgemm_workspace(ctypes.byref(product), ctypes.byref(needed)))
        self.bytes = needed.value
        self.space = DeviceArray(np.zeros(max(self.bytes, 1), np.uint8))

    def arguments(self):
        return ctypes.byref(self.product), pointer(self.space.address.value), size(self.bytes)

    def run(self):
        checked(cuda.library().pwl_cuda_qgemm(*self.arguments(), None, stream))
