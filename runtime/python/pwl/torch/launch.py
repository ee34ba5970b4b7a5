# SPDX-License-Identifier: Apache-2.0
"""Maps on CUDA devices by libpwl-cuda: queued on torch's current stream, without waiting for the device.

A table is uploaded once to each device, by the first call that needs it there; not while a stream is being captured.
"""
from __future__ import annotations

import ctypes
import functools
import json
import os
import pathlib
import threading
from typing import Any

import torch
from torch import Tensor

from ..codes import DTYPES, Type
from ..errors import Error, MissingError
from ..table import Table

__all__ = ["dense", "library", "map_codes", "map_real"]

# Of <pwl/real.h>.
REALS = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}


class Affine(ctypes.Structure):
    """pwl_affine of <pwl/real.h>."""

    _fields_ = [("scale", ctypes.c_float), ("zero_point", ctypes.c_int64)]


class Uploaded(ctypes.Structure):
    """pwl_cuda_table of <pwl/cuda.h>."""

    _fields_ = [("plan", ctypes.c_uint64 * 16), ("memory", ctypes.c_void_p), ("device", ctypes.c_int32),
                ("multiprocessors", ctypes.c_uint32), ("overlaps", ctypes.c_uint32)]


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """libpwl-cuda: that of the environment's PWL_CUDA, else the one installed with this package."""
    beside = pathlib.Path(__file__).resolve().parent.parent / "libpwl-cuda.so"
    path = os.environ.get("PWL_CUDA") or str(beside)
    try:
        found = ctypes.CDLL(path)
    except OSError as error:
        raise MissingError(f"libpwl-cuda is not here: build the package with it, name it in the environment's PWL_CUDA, "
                           f"or move the tensors to the CPU ({error})") from None
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    for name, arguments in [
            ("upload", [pointer, ctypes.POINTER(Uploaded)]),
            ("map", [ctypes.POINTER(Uploaded), ctypes.c_int, pointer, ctypes.c_int, pointer, size, pointer]),
            ("map_real", [ctypes.POINTER(Uploaded), Affine, ctypes.c_int, pointer, Affine, ctypes.c_int, pointer, size,
                          pointer])]:
        call = getattr(found, f"pwl_cuda_{name}")
        call.argtypes, call.restype = arguments, ctypes.c_int
    found.pwl_cuda_status_text.argtypes, found.pwl_cuda_status_text.restype = [ctypes.c_int], ctypes.c_char_p
    return found


def _check(status: int, what: str) -> None:
    if status:
        raise Error(f"{what}: {library().pwl_cuda_status_text(status).decode()}")


_uploads: dict[tuple[Table, int], Uploaded] = {}
_uploading = threading.Lock()


def _uploaded(table: Table, device: int) -> Uploaded:
    """The table on the current device, which is `device`."""
    found = _uploads.get((table, device))
    if found is None:
        with _uploading:
            found = _uploads.get((table, device))
            if found is None:
                if "reduction" in json.loads(table.to_json()):
                    raise Error(f"{table}: a table of one octave does not run on CUDA devices; move the tensor to the CPU")
                if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
                    raise Error(f"{table} is not on the device yet, and cannot be copied while a graph is captured: call "
                                "the model once before")
                found = Uploaded()
                _check(library().pwl_cuda_upload(table._address, ctypes.byref(found)), f"copying {table} to a device")
                _uploads[table, device] = found
    return found


def dense(x: Tensor) -> Tensor:
    """x, or a copy where its elements have gaps or repeat: torch.empty_like() then has the same layout."""
    return x if torch.ops.aten.is_non_overlapping_and_dense(x) else x.contiguous()


def _affine(of: Type) -> Affine:
    return Affine(of.scale, of.zero_point)


def map_codes(table: Table, x: Tensor, y: Tensor) -> None:
    """y = codes of the table for codes x, dense tensors of one layout."""
    types = [DTYPES.index(str(of.dtype).replace("torch.", "")) for of in (x, y)]
    with torch.cuda.device(x.device):
        _map_codes(table, x.device.index, types, x.data_ptr(), y.data_ptr(), x.numel(),
                   torch.cuda.current_stream().cuda_stream)


def _map_codes(table: Table, device: int, types: list[int], x: int, y: int, count: int, stream: int) -> None:
    _check(library().pwl_cuda_map(_uploaded(table, device), types[0], x, types[1], y, count, stream), f"mapping by {table}")


def map_real(table: Table, x: Tensor, y: Tensor) -> None:
    """y = real numbers by the table for those of x, dense tensors of one layout and of one of the types of REALS."""
    with torch.cuda.device(x.device):
        _map_real(table, x.device.index, REALS[x.dtype], x.data_ptr(), y.data_ptr(), x.numel(),
                  torch.cuda.current_stream().cuda_stream)


def _map_real(table: Table, device: int, real: int, x: int, y: int, count: int, stream: int) -> None:
    _check(library().pwl_cuda_map_real(_uploaded(table, device), _affine(table.input), real, x, _affine(table.output), real,
                                       y, count, stream), f"mapping by {table}")
