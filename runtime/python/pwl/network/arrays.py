# SPDX-License-Identifier: Apache-2.0
"""Named arrays in one file, as safetensors has them: the header's length in 8 bytes, a header of JSON, the arrays' bytes."""
from __future__ import annotations

import json
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
        shape, (start, stop) = entry.get("shape"), entry.get("data_offsets")
        count = int(np.prod([int(size) for size in shape], dtype=object)) if shape else 1
        if not (isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
                and 0 <= start <= stop <= len(body) and stop - start == count * dtype.itemsize):
            raise Error(f"{name}: {shown(shape)} from {start} to {stop}, of {len(body)} bytes of arrays")
        array = np.frombuffer(body[start:stop], dtype).reshape(shape)
        arrays[name] = array.astype(dtype.newbyteorder("="), copy=False)
    return arrays
