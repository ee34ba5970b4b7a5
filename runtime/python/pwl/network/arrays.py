# SPDX-License-Identifier: Apache-2.0
"""Named arrays in one file, as safetensors has them: the header's length in 8 bytes, a header of JSON, the arrays' bytes."""
from __future__ import annotations

import json
import math
from typing import Any, Mapping

import numpy as np

from ..codes import Array
from ..document import Fields, parse
from ..errors import Error, shown

__all__ = ["pack", "unpack"]

DTYPES = {"I8": "int8", "U8": "uint8", "I16": "int16", "U16": "uint16", "I32": "int32", "I64": "int64"}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
MOST_HEADER = 64 << 20


def pack(arrays: Mapping[str, Array]) -> bytes:
    """The file's bytes; arrays lie in the order of their names, each at a multiple of 8 bytes from the first."""
    header: dict[str, Any] = {}
    parts, place = [], 0
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        data = array.astype(array.dtype.newbyteorder("<")).tobytes()
        header[name] = {"dtype": NAMES[array.dtype.name], "shape": list(arrays[name].shape), "data_offsets": [place, place + len(data)]}
        padding = -len(data) % 8
        parts += [data, b"\0" * padding]
        place += len(data) + padding
    if parts:
        parts.pop()  # nothing follows the last array
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def unpack(data: bytes) -> dict[str, Array]:
    """The arrays of a file; those of other types than integers are refused by name."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(len(data) - 8, MOST_HEADER):
        raise Error("no file of arrays: safetensors begin with the length of their header")
    header, body = Fields("", parse(data[8:8 + length], MOST_HEADER)), memoryview(data)[8 + length:]
    arrays = {}
    for name in header.value:
        if name == "__metadata__":
            continue
        entry = header.object(name, {"dtype", "shape", "data_offsets"})
        dtype = np.dtype(DTYPES[list(DTYPES)[entry.choice("dtype", list(DTYPES))]]).newbyteorder("<")
        shape, ends = _integers(entry, "shape"), _integers(entry, "data_offsets")
        if not (len(ends) == 2 and ends[0] <= ends[1] <= len(body)
                and ends[1] - ends[0] == math.prod(shape) * dtype.itemsize):
            raise Error(f"{name}: shape {shown(shape)}, bytes {shown(ends)}, of {len(body)} bytes of arrays")
        array = np.frombuffer(body[ends[0]:ends[1]], dtype).reshape(shape)
        arrays[name] = array.astype(dtype.newbyteorder("="), copy=False)
    return arrays


def _integers(entry: Fields, field: str) -> list[int]:
    values = entry.get(field)
    if not isinstance(values, list) or not all(type(value) is int and value >= 0 for value in values):
        raise Error(f"{entry.name(field)}: {shown(values)}, must be a list of integers from 0")
    return values
