# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of TensorFlow Lite with one operator, written field by field; the numbers of fields are those of schema.fbs."""
import flatbuffers
import numpy as np

TYPES = {8: 9, 16: 7}  # INT8, INT16
OPERATORS = {"sigmoid": 14, "tanh": 28, "exp": 47, "gelu": 150}  # LOGISTIC, TANH, EXP, GELU


def one_operator(function, bits, count, scale_in, scale_out, zero_out):
    """A file: y = function(x) of count codes."""
    builder = flatbuffers.Builder(1024)

    def table(*fields):
        """Fields are (number, how it is added, value, its default)."""
        builder.StartObject(1 + max(number for number, *_ in fields))
        for number, add, value, default in fields:
            add(number, value, default)
        return builder.EndObject()

    offset = builder.PrependUOffsetTRelativeSlot
    byte, int32, uint32 = builder.PrependInt8Slot, builder.PrependInt32Slot, builder.PrependUint32Slot

    def offsets(items):
        builder.StartVector(4, len(items), 4)
        for item in reversed(items):
            builder.PrependUOffsetTRelative(item)
        return builder.EndVector()

    def numbers(values, kind):
        return builder.CreateNumpyVector(np.array(values, kind))

    def tensor(name, scale, zero_point):
        quantization = table((2, offset, numbers([scale], np.float32), 0),
                             (3, offset, numbers([zero_point], np.int64), 0))
        return table((0, offset, numbers([1, count], np.int32), 0), (1, byte, TYPES[bits], 0), (2, uint32, 0, 0),
                     (3, offset, builder.CreateString(name), 0), (4, offset, quantization, 0))

    tensors = offsets([tensor("x", scale_in, 0), tensor("y", scale_out, zero_out)])
    x, y = numbers([0], np.int32), numbers([1], np.int32)
    operator = table((0, uint32, 0, 0), (1, offset, x, 0), (2, offset, y, 0))
    graph = table((0, offset, tensors, 0), (1, offset, x, 0), (2, offset, y, 0), (3, offset, offsets([operator]), 0),
                  (4, offset, builder.CreateString("main"), 0))
    code = table((0, byte, min(OPERATORS[function], 127), 0), (2, int32, 2, 1), (3, int32, OPERATORS[function], 0))
    builder.StartObject(1)
    empty = builder.EndObject()
    model = table((0, uint32, 3, 0), (1, offset, offsets([code]), 0), (2, offset, offsets([graph]), 0),
                  (4, offset, offsets([empty]), 0))
    builder.Finish(model, b"TFL3")
    return bytes(builder.Output())
