# SPDX-License-Identifier: Apache-2.0
"""Tensors of GGUF files, versions 2 and 3, little-endian.

    tensor = pwl.gguf.read("model.gguf", "blk.0.ffn_up.weight")
    weights = pwl.qgemm.pack(tensor)
    pwl.gguf.numbers("model.gguf", "blk.0.ffn_up.weight")    # what they stand for
    pwl.gguf.values("model.gguf")["llama.block_count"]

What a file says is checked against its size before it is used. A tensor is read into memory of its own: the file may
change or end sooner later on.
"""
from __future__ import annotations

import dataclasses
import io
import math
import os
import struct
from typing import Callable, Iterator, Mapping, Optional, Union

import numpy as np

from . import _core
from .codes import Array
from .errors import Error, shown

__all__ = ["BLOCK", "TYPES", "Numbers", "Tensor", "names", "numbers", "read", "values"]

BLOCK, SUPER_BLOCK = 32, 256  # elements of a block, and of a super-block

# By the numbers in files: the name, and the elements and bytes of a block.
TYPES = {0: ("f32", 1, 4), 1: ("f16", 1, 2), 2: ("q4_0", BLOCK, 18), 8: ("q8_0", BLOCK, 34), 30: ("bf16", 1, 2),
         39: ("mxfp4", BLOCK, 17), 12: ("q4_k", SUPER_BLOCK, 144), 13: ("q5_k", SUPER_BLOCK, 176),
         14: ("q6_k", SUPER_BLOCK, 210)}

BLOCKS = {"q4_0": 0, "q8_0": 1, "mxfp4": 2, "q4_k": 7, "q5_k": 8, "q6_k": 9}  # of pwl_qgemm_format

WITH_MINIMA = {3: ("q4_1", BLOCK, 20)}  # whose numbers can be read, but no product has them

# What ggml calls types by their numbers, those above too.
TYPE_NAMES = {3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S",
              23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 31: "Q4_0_4_4",
              32: "Q4_0_4_8", 33: "Q4_0_8_8", 34: "TQ1_0", 35: "TQ2_0", 36: "IQ4_NL_4_4", 37: "IQ4_NL_4_8",
              38: "IQ4_NL_8_8", 40: "NVFP4", 41: "Q1_0", **{number: name.upper() for number, (name, _, _) in TYPES.items()}}

ALIGNMENT = b"general.alignment"
UINT32, STRING, ARRAY = 4, 8, 9
KIND_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, UINT32: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # of metadata but texts and arrays
VALUE_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", UINT32: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
LEAST_VALUE_BYTES, LEAST_TENSOR_BYTES = 13, 24  # a key or name of no bytes, and the least that follows it
MOST_DIMENSIONS = 4
Value = Union[int, float, bool, str]


def type_name(number: int) -> str:
    """What messages call a type."""
    return TYPE_NAMES.get(number, f"{number}, which is unknown here")


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor's bytes, a read-only array of uint8. shape has rows first, as numpy has it; type is a key of TYPES."""

    name: str
    type: int
    shape: tuple[int, ...]
    data: Array

    def __repr__(self) -> str:
        name = TYPES[self.type][0] if self.type in TYPES else type_name(self.type)
        return f"<pwl.gguf.Tensor {self.name}, {name}, {' x '.join(map(str, self.shape))}>"


class _Reader:
    """Takes what a file has, in order; Error once it has no more."""

    def __init__(self, file: io.BufferedReader, path: str) -> None:
        self.file, self.path, self.at, self.what = file, path, 0, "the header"
        self.size = os.fstat(file.fileno()).st_size

    def error(self, text: str) -> Error:
        return Error(f"{self.path}: {self.what} {text}")

    def skip(self, size: int) -> int:
        """Where these bytes begin."""
        at = self.at
        if size > self.size - at:
            raise self.error("reaches beyond the end of the file")
        self.at = at + size
        return at

    def take(self, size: int) -> bytes:
        self.file.seek(self.skip(size))
        data = self.file.read(size)
        if len(data) < size:  # it has become shorter
            raise self.error("reaches beyond the end of the file")
        return data

    def integer(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def text(self) -> bytes:
        return self.take(self.integer(8))

    def single(self, kind: int) -> Optional[Value]:
        """A value of the metadata; None for an array, which is skipped."""
        if kind == STRING:
            return self.text().decode(errors="surrogateescape")
        if kind in VALUE_FORMATS:
            number: Value = struct.unpack("<" + VALUE_FORMATS[kind], self.take(KIND_BYTES[kind]))[0]
            return number
        self.value(kind)
        return None

    def value(self, kind: int) -> None:
        """Skips a value of the metadata."""
        count = 1
        if kind == ARRAY:
            kind, count = self.integer(4), self.integer(8)
        if kind == STRING:
            for _ in range(count):  # each takes 8 bytes at least, so that the file bounds the loop
                self.skip(self.integer(8))
        elif kind in KIND_BYTES:
            self.skip(count * KIND_BYTES[kind])
        else:
            raise self.error(f"has a value of the unknown kind {kind}, or an array of arrays")


@dataclasses.dataclass(frozen=True)
class _Entry:
    type: int
    shape: tuple[int, ...]  # rows first
    offset: int


def _metadata(reader: _Reader, count: int, kept: Optional[dict[str, Value]] = None) -> int:
    """The alignment that it gives tensors' data; single values go into `kept`."""
    alignment: Optional[int] = None
    for k in range(count):
        reader.what = f"metadata entry {k}"
        key, kind = reader.text(), reader.integer(4)
        if key != ALIGNMENT:
            value = reader.single(kind)
            if value is not None and kept is not None:
                kept[key.decode(errors="surrogateescape")] = value
            continue
        if alignment is not None:
            raise reader.error("is general.alignment, which is there already")
        alignment = reader.integer(4) if kind == UINT32 else 0
        if alignment == 0 or alignment & (alignment - 1):
            raise reader.error("is general.alignment and no power of two of kind u32")
    return alignment or 32


def _entries(reader: _Reader, kept: Optional[dict[str, Value]] = None) -> tuple[dict[str, _Entry], int]:
    """The tensors by name, and where their data begin; single values of the metadata go into `kept`."""
    if reader.size < 4 or reader.take(4) != b"GGUF":
        raise Error(f"{reader.path}: no GGUF file, which starts with GGUF")
    version, tensors, values = reader.integer(4), reader.integer(8), reader.integer(8)
    if version not in (2, 3):
        raise reader.error(f"is of version {version}: little-endian files of version 2 or 3 can be read")
    if values * LEAST_VALUE_BYTES > reader.size or tensors * LEAST_TENSOR_BYTES > reader.size:
        raise reader.error(f"tells of {values} metadata entries and {tensors} tensors, for which the file has no room")
    alignment = _metadata(reader, values, kept)
    found: dict[str, _Entry] = {}
    for k in range(tensors):
        reader.what = f"tensor {k}"
        name = reader.text().decode(errors="surrogateescape")
        reader.what = f"tensor {k} ({shown(name)})"
        dimensions = reader.integer(4)
        if dimensions > MOST_DIMENSIONS:
            raise reader.error("has more than 4 dimensions")
        shape = tuple(reader.integer(8) for _ in range(dimensions))[::-1]
        if name in found:
            raise reader.error("has the name of another one")
        found[name] = _Entry(reader.integer(4), shape, reader.integer(8))
        if found[name].offset % alignment:
            raise reader.error("has an offset that is not a multiple of general.alignment")
    return found, -(-reader.at // alignment) * alignment


def values(path: Union[str, os.PathLike[str]]) -> dict[str, Value]:
    """The metadata of a file: its numbers and texts by their keys, but no arrays."""
    found: dict[str, Value] = {}
    with open(path, "rb") as file:
        _entries(_Reader(file, os.fspath(path)), found)
    return found


def names(path: Union[str, os.PathLike[str]]) -> list[str]:
    """Names of the tensors in a file, in its order."""
    with open(path, "rb") as file:
        return list(_entries(_Reader(file, os.fspath(path)))[0])


def read(path: Union[str, os.PathLike[str]], name: str) -> Tensor:
    """A tensor of a file, of type F32, F16, BF16, Q4_0, Q8_0, MXFP4, Q4_K, Q5_K or Q6_K. Error says what the file lacks,
    OSError that it cannot be opened."""
    with open(path, "rb") as file:
        return _read(_Reader(file, os.fspath(path)), file, name)


def _half(blocks: Array, at: int) -> Array:
    return np.asarray(np.ascontiguousarray(blocks[:, at:at + 2]).view(np.float16).astype(np.float32))


def _q4_1(blocks: Array) -> Array:
    """16 bytes are 32 numbers: the low halves, then the high ones."""
    codes = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], 1).astype(np.float32)
    return np.asarray(_half(blocks, 0) * codes + _half(blocks, 2))


REALS: Mapping[str, Callable[[Array], Array]] = {  # of blocks of bytes, a row each
    "f32": lambda x: x.reshape(-1).view(np.float32), "f16": lambda x: x.reshape(-1).view(np.float16).astype(np.float32),
    "bf16": lambda x: (x.reshape(-1).view(np.uint16).astype(np.uint32) << 16).view(np.float32), "q4_1": _q4_1}


def dequantised(format: str, blocks: Array, n: int, k: int) -> Array:
    """The numbers of n rows of k of a format of BLOCKS, in float32, as <pwl/blocks.h> says."""
    reals = np.empty((n, k), np.float32)
    _core.qgemm_dequantise(BLOCKS[format], n, k, blocks, reals)
    return reals


class Numbers(Mapping[str, Array]):
    """The numbers of a file's tensors by name, in float32, each read when it is asked for: of the types that read() takes, and
    Q4_1."""

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self.path = os.fspath(path)
        with open(path, "rb") as file:
            self._tensors = _entries(_Reader(file, self.path))

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors[0])

    def __len__(self) -> int:
        return len(self._tensors[0])

    def __contains__(self, name: object) -> bool:
        return name in self._tensors[0]

    def __getitem__(self, name: str) -> Array:
        with open(self.path, "rb") as file:
            reader, types = _Reader(file, self.path), {**TYPES, **WITH_MINIMA}
            tensor = _read_entry(reader, file, name, self._tensors, types)
        kind, _, size = types[tensor.type]
        if kind in REALS:
            return np.asarray(REALS[kind](tensor.data.reshape(-1, size)).reshape(tensor.shape), np.float32)
        return dequantised(kind, tensor.data, math.prod(tensor.shape[:-1]), tensor.shape[-1]).reshape(tensor.shape)


def numbers(path: Union[str, os.PathLike[str]], name: str) -> Array:
    """The numbers of a tensor of a file, as Numbers has them."""
    return Numbers(path)[name]


def _read(reader: _Reader, file: io.BufferedReader, name: str) -> Tensor:
    return _read_entry(reader, file, name, _entries(reader), TYPES)


def _read_entry(reader: _Reader, file: io.BufferedReader, name: str, tensors: tuple[dict[str, _Entry], int],
                types: Mapping[int, tuple[str, int, int]]) -> Tensor:
    found, begin = tensors
    if name not in found:
        raise Error(f"{reader.path}: no tensor {shown(name)}; pwl.gguf.names() and pwlc gguf list have those that there are")
    entry = found[name]
    reader.what = f"tensor {shown(name)}"
    if entry.type not in types:
        raise reader.error(f"is of type {type_name(entry.type)}; those that can be read are {', '.join(map(type_name, types))}")
    _, elements, size = types[entry.type]
    if (entry.shape or (1,))[-1] % elements:
        raise reader.error(f"has rows that are no multiple of {elements} elements")
    reader.at = min(begin + entry.offset, reader.size)
    count = math.prod(entry.shape) // elements * size
    file.seek(reader.skip(count))
    data = np.empty(count, np.uint8)
    if file.readinto(data.data) < count:
        raise reader.error("reaches beyond the end of the file")
    data.flags.writeable = False
    return Tensor(name, entry.type, entry.shape, data)
