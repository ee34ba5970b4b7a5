# SPDX-License-Identifier: Apache-2.0
"""Tables, row operators and networks on arrays of CUDA devices, by libpwl-cuda: those of torch, cupy, numba and all that
offer __cuda_array_interface__ or DLPack. What is called with such an array comes here.

Work is queued on the caller's stream, and nothing waits for it: the current stream of torch or cupy where the array is
theirs, else the one that the array names, else the default stream; or the one in stream=, an address. The first call on a
device uploads the table, operator or network, which waits: upload() does so beforehand, as before a graph is captured.
"""
from __future__ import annotations

import ctypes
import functools
import importlib
import math
import os
import pathlib
import threading
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Union

from .codes import DTYPES, Array, Type
from .errors import Error, MissingError, shown

if TYPE_CHECKING:
    from .network import Network
    from .rows import RowOperator
    from .table import Table

__all__ = ["beside", "copied", "current_device", "is_cuda", "launch", "launch_real", "launch_rows", "library", "map", "map_real",
           "map_network", "map_rows", "upload"]

REALS = ["float32", "float16", "bfloat16"]  # in the order of pwl_real of <pwl/real.h>
CODES = [dtype.name for dtype in DTYPES]
MASKS = ["uint8", "int8", "bool8"]
DLPACK_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged
INTERFACE_KINDS = {"i": "int", "u": "uint", "f": "float", "b": "bool"}
DLPACK_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}


class _Affine(ctypes.Structure):
    _fields_ = [("scale", ctypes.c_float), ("zero_point", ctypes.c_int64)]


class _Rows(ctypes.Structure):
    """pwl_rows of <pwl/rows.h>."""
    _fields_ = [("x", ctypes.c_void_p), ("y", ctypes.c_void_p), ("count", ctypes.c_size_t), ("length", ctypes.c_size_t),
                ("mask", ctypes.c_void_p), ("mask_stride", ctypes.c_size_t), ("is_causal", ctypes.c_int),
                ("first", ctypes.c_size_t)]


class _Call(ctypes.Structure):
    """pwl_network_call of <pwl/network.h>."""
    _fields_ = [("sizes", ctypes.c_void_p), ("inputs", ctypes.c_void_p), ("outputs", ctypes.c_void_p),
                ("memory", ctypes.c_void_p), ("bytes", ctypes.c_uint64), ("way", ctypes.c_void_p)]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """libpwl-cuda: that in the environment's PWL_CUDA_LIBRARY, else the package's own. MissingError where there is none."""
    path = os.environ.get("PWL_CUDA_LIBRARY") or pathlib.Path(__file__).with_name("libpwl-cuda.so")
    try:
        lib = ctypes.CDLL(str(path))
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        for name, result, arguments in [
                ("pwl_device_of", ctypes.c_int, [pointer]), ("pwl_device_current", ctypes.c_int, []),
                ("pwl_device_table_size", size, []), ("pwl_device_softmax_size", size, []),
                ("pwl_device_norm_size", size, []), ("pwl_device_network_size", size, []), ("pwl_device_copy", pointer, [pointer, size]),
                ("pwl_device_free", None, [pointer]), ("pwl_cuda_qgemm", ctypes.c_int, None),
                ("pwl_cuda_qgemm_workspace", ctypes.c_int, None),
                ("pwl_cuda_qgemm_store_sums", ctypes.c_int, None), ("pwl_cuda_upload", ctypes.c_int, [pointer, pointer]),
                ("pwl_cuda_release", ctypes.c_int, [pointer]), ("pwl_cuda_status_text", ctypes.c_char_p, [ctypes.c_int]),
                ("pwl_cuda_softmax_upload", ctypes.c_int, [pointer, pointer]),
                ("pwl_cuda_softmax_release", ctypes.c_int, [pointer]),
                ("pwl_cuda_softmax_run", ctypes.c_int, [pointer, pointer, pointer]),
                ("pwl_cuda_norm_upload", ctypes.c_int, [pointer, pointer]), ("pwl_cuda_norm_release", ctypes.c_int, [pointer]),
                ("pwl_cuda_norm_run", ctypes.c_int, [pointer, pointer, pointer, size, pointer]),
                ("pwl_cuda_network_upload", ctypes.c_int, [pointer, pointer, pointer]),
                ("pwl_cuda_network_release", ctypes.c_int, [pointer]),
                ("pwl_cuda_network_size", ctypes.c_uint64, [pointer, pointer]),
                ("pwl_cuda_network_run", ctypes.c_int, [pointer, pointer, pointer]),
                ("pwl_cuda_map", ctypes.c_int, [pointer, ctypes.c_int, pointer, ctypes.c_int, pointer, size, pointer]),
                ("pwl_cuda_map_real", ctypes.c_int, [pointer, _Affine, ctypes.c_int, pointer, _Affine, ctypes.c_int,
                                                     pointer, size, pointer])]:
            function = getattr(lib, name)
            function.restype = result
            if arguments is not None:
                function.argtypes = arguments
    except (OSError, AttributeError) as error:
        raise MissingError(f"no libpwl-cuda: {error}; install a wheel that ./dev wheel --cuda made, or move the array to "
                           "the CPU") from None
    return lib


def _check(status: int) -> None:
    if status:
        raise Error(f"libpwl-cuda: {library().pwl_cuda_status_text(status).decode()}")


_lock = threading.Lock()


def current_device(device: Optional[int] = None) -> int:
    """The current device, which must be the one that an array lies on, where one is given."""
    current: int = library().pwl_device_current()
    if current < 0:
        raise MissingError("no CUDA device is here, or its driver does not run")
    if device is not None and device != current:
        raise Error(f"the array lies on CUDA device {device}, and device {current} is current: call within "
                    f"torch.cuda.device({device}), or its like")
    return current


def copied(data: Optional[Array], size: int, owner: Any) -> int:
    """The address of `size` bytes on the current device, with a copy of data where there are such, until `owner` is no
    longer used. It waits for the copy."""
    lib = library()
    address = lib.pwl_device_copy(None if data is None else data.ctypes.data, size)
    if not address:
        raise Error(f"the CUDA device has not given {size} bytes")
    release = weakref.finalize(owner, lib.pwl_device_free, address)
    setattr(release, "atexit", False)  # the driver may be gone by then
    return int(address)


def address(of: Any) -> int:
    """That of something of ctypes; 0 of None."""
    return 0 if of is None else ctypes.addressof(of)


@functools.lru_cache(maxsize=None)
def product_functions() -> tuple[int, ...]:
    """The functions of libpwl-cuda that _core.Product calls."""
    lib = library()
    return tuple(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (
        lib.pwl_cuda_qgemm, lib.pwl_cuda_qgemm_workspace, lib.pwl_cuda_qgemm_store_sums, lib.pwl_cuda_status_text))


def _upload_network(network: Network) -> Any:
    """pwl_cuda_network_upload(), which names the node that devices do not run."""
    def upload_it(address: int, uploaded: Any) -> int:
        node = ctypes.c_int32(-1)
        status: int = library().pwl_cuda_network_upload(address, uploaded, ctypes.byref(node))
        if node.value >= 0:
            one = network.nodes[node.value]
            raise Error(f"node {node.value}, {one.name or one.output}: a node of kind {one.kind} that CUDA devices do not run")
        return status
    return upload_it


def _calls(of: Any) -> tuple[Any, Any, Any]:
    """The library's functions that tell the size of such a thing on a device, upload and release it."""
    lib = library()
    if hasattr(of, "nodes"):
        return lib.pwl_device_network_size, _upload_network(of), lib.pwl_cuda_network_release
    if not hasattr(of, "is_norm"):
        return lib.pwl_device_table_size, lib.pwl_cuda_upload, lib.pwl_cuda_release
    if of.is_norm:
        return lib.pwl_device_norm_size, lib.pwl_cuda_norm_upload, lib.pwl_cuda_norm_release
    return lib.pwl_device_softmax_size, lib.pwl_cuda_softmax_upload, lib.pwl_cuda_softmax_release


def upload(of: Union[Table, RowOperator, Network], device: Optional[int] = None) -> Any:
    """The table, row operator or network on the current device, where it stays until it is no longer used."""
    current = current_device(device)
    if getattr(of, "reduced", False):
        raise Error("a table of one octave (reduce) runs on the CPU alone; fit one without, or move the array")
    with _lock:
        if current not in of._uploads:
            size, begin, end = _calls(of)
            uploaded = (ctypes.c_uint64 * ((size() + 7) // 8))()
            _check(begin(of._address, uploaded))
            release = weakref.finalize(of, end, uploaded)
            setattr(release, "atexit", False)  # the driver may be gone by then
            of._uploads[current] = uploaded
        return of._uploads[current]


def launch(table: Table, dtype: str, x: int, out_dtype: str, out: int, count: int, stream: int,
           device: Optional[int] = None) -> None:
    """Queues the output codes of `count` codes at the address x into `out`, on a stream; the types are names of numpy's.
    For callers who have looked at their arrays themselves."""
    _check(library().pwl_cuda_map(upload(table, device), CODES.index(dtype), x, CODES.index(out_dtype), out, count, stream))


def launch_real(table: Table, dtype: str, x: int, out_dtype: str, out: int, count: int, stream: int,
                device: Optional[int] = None) -> None:
    """The same for real numbers, float32, float16 or bfloat16, as Table.real()."""
    _check(library().pwl_cuda_map_real(upload(table, device), _affine(table.input), REALS.index(dtype), x,
                                       _affine(table.output), REALS.index(out_dtype), out, count, stream))


def launch_rows(operator: RowOperator, x: int, out: int, shape: Sequence[int], stream: int, device: Optional[int] = None,
                *, mask: int = 0, mask_stride: int = 0, causal: bool = False, first: int = 0) -> None:
    """Queues the output codes of rows along the last axis of `shape`, as RowOperator's call; arrays lie without gaps. The
    mask has a byte a place, rows `mask_stride` bytes apart. Causal rows count anew in each block of the two last axes, each
    of which is a launch."""
    uploaded, lib, length = upload(operator, device), library(), shape[-1]
    rows = math.prod(shape[:-1])
    if operator.is_norm:
        _check(lib.pwl_cuda_norm_run(uploaded, x, out, rows, stream))
        return
    block = shape[-2] if causal and len(shape) > 1 else rows
    for row in range(0, rows, max(block, 1)):
        at = row * length
        given = _Rows(x + at * operator.input.dtype.itemsize, out + at * operator.output.dtype.itemsize, block, length,
                      mask + row * mask_stride if mask else None, mask_stride, causal, first)
        _check(lib.pwl_cuda_softmax_run(uploaded, ctypes.addressof(given), stream))


def _affine(of: Type) -> _Affine:
    return _Affine(of.scale, of.zero_point)


class _View(NamedTuple):
    """What there is to know of an array on a device. `keep` holds what the address needs."""
    address: int
    dtype: str
    shape: Sequence[int]
    strides: Optional[Sequence[int]]  # in elements; None in the order of C
    writeable: bool
    stream: Optional[int]
    keep: Any


def is_cuda(x: Any) -> bool:
    """Whether an object is an array on a CUDA device."""
    if hasattr(x, "__cuda_array_interface__"):
        return True
    device = getattr(x, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in DLPACK_CUDA


def _view(x: Any, stream: Optional[int]) -> _View:
    if not is_cuda(x):
        raise Error(f"{type(x).__name__}: no array on a CUDA device; x and out must both be on one")
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is not None:
        kind, size = interface["typestr"][1], int(interface["typestr"][2:])
        strides = interface.get("strides")
        if interface["typestr"][0] == ">":
            raise Error("an array in another byte order than the device's")
        return _View(interface["data"][0] or 0, f"{INTERFACE_KINDS.get(kind, kind)}{size * 8}", interface["shape"],
                     None if strides is None else [step / size for step in strides],
                     not interface["data"][1], interface.get("stream"), x)
    capsule = x.__dlpack__(stream=stream or 1)  # 1 is the default stream
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(get(capsule, b"dltensor"))
    dtype = DLPACK_KINDS.get(tensor.code, "other") + str(tensor.bits * tensor.lanes)
    return _View((tensor.data or 0) + tensor.byte_offset, dtype, tensor.shape[:tensor.ndim],
                 tensor.strides[:tensor.ndim] if tensor.strides else None, True, None, capsule)


def _owner(x: Any) -> str:
    return type(x).__module__.split(".")[0]


def _current_stream(x: Any) -> Optional[int]:
    if _owner(x) == "torch":
        return int(importlib.import_module("torch").cuda.current_stream(x.device).cuda_stream)
    if _owner(x) == "cupy":
        return int(importlib.import_module("cupy").cuda.get_current_stream().ptr)
    return None


def _new(x: Any, shape: Sequence[int], dtype: str) -> Any:
    """An array beside x, by the library that x is of."""
    try:
        if _owner(x) == "torch":
            torch = importlib.import_module("torch")
            return torch.empty(shape, dtype=getattr(torch, dtype), device=x.device)
        if _owner(x) == "cupy":
            return importlib.import_module("cupy").empty(shape, dtype)
        if _owner(x) == "numba":
            return importlib.import_module("numba.cuda").device_array(shape, dtype)
    except AttributeError:
        raise Error(f"this version of {_owner(x)} has no {dtype}: give out=, an array of a type that it has") from None
    raise Error(f"arrays of {_owner(x)} cannot be made here: give out=, an array of {dtype}")


def beside(x: Any, codes: Array) -> Any:
    """A copy of an array of the host beside x, by the library that x is of."""
    if _owner(x) == "torch":
        return importlib.import_module("torch").from_numpy(codes).to(x.device)
    if _owner(x) == "cupy":
        return importlib.import_module("cupy").asarray(codes)
    if _owner(x) == "numba":
        return importlib.import_module("numba.cuda").to_device(codes)
    raise Error(f"arrays of {_owner(x)} cannot be made here: give arrays of torch, cupy or numba")


def _in_order(view: _View) -> bool:
    step = 1
    for size, stride in zip(reversed(view.shape), reversed(view.strides or [])):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def _taken(view: _View, kinds: Sequence[str], what: str) -> None:
    if view.dtype not in kinds:
        raise Error(f"{what} is of {view.dtype}; must be of {', '.join(kinds)}")
    if not _in_order(view):
        raise Error("arrays on devices must lie in the order of C, without gaps: make them so by contiguous(), or "
                    "ascontiguousarray()")


def viewed(x: Any, kinds: Sequence[str], stream: Optional[int]) -> tuple[_View, int]:
    """What there is to know of x, of one of these types, and the stream to work on."""
    if stream is None:
        stream = _current_stream(x)
    view = _view(x, stream)
    _taken(view, kinds, "x")
    return view, stream if stream is not None else view.stream or 0


def result(x: Any, out: Any, shape: Sequence[int], dtype: str, kinds: Sequence[str], stream: int) -> tuple[_View, Any]:
    """A view of out, and out itself: made beside x, of dtype, where it is None; else it must have the shape."""
    out = _new(x, shape, dtype) if out is None else out
    view = _view(out, stream)
    _taken(view, kinds, "out")
    if tuple(view.shape) != tuple(shape):
        raise Error(f"out has the shape {tuple(view.shape)}, and must have {tuple(shape)}")
    if not view.writeable:
        raise Error("out is read-only")
    return view, out


def count(view: _View) -> int:
    return math.prod(int(size) for size in view.shape)


def device_of(of_x: _View, of_out: _View, of_mask: Optional[_View] = None) -> int:
    """The device that x and the others lie on."""
    device = library().pwl_device_of(of_x.address)
    for name, view in (("out", of_out), ("mask", of_mask)):
        other = device if view is None else library().pwl_device_of(view.address)
        if other != device:
            raise Error(f"x lies on CUDA device {device}, {name} on {other}: both must lie on one")
    return int(device)


def map(table: Table, x: Any, out: Any = None, stream: Optional[int] = None) -> Any:
    """The output codes of an array of codes on a device, which stay there; table(x, out) comes here."""
    of_x, stream = viewed(x, CODES, stream)
    of_out, out = result(x, out, of_x.shape, table.output.dtype.name, CODES, stream)
    if count(of_x):
        launch(table, of_x.dtype, of_x.address, of_out.dtype, of_out.address, count(of_x), stream, device_of(of_x, of_out))
    return out


def map_real(table: Table, x: Any, out: Any = None, stream: Optional[int] = None) -> Any:
    """Table.real() of an array of float32, float16 or bfloat16 on a device; out is of the type of x where it is not
    given."""
    of_x, stream = viewed(x, REALS, stream)
    of_out, out = result(x, out, of_x.shape, of_x.dtype, REALS, stream)
    if count(of_x):
        launch_real(table, of_x.dtype, of_x.address, of_out.dtype, of_out.address, count(of_x), stream,
                    device_of(of_x, of_out))
    return out


def map_rows(operator: RowOperator, x: Any, out: Any = None, *, mask: Any = None, causal: bool = False, first: int = 0,
             stream: Optional[int] = None) -> Any:
    """RowOperator's call for an array of the operator's codes on a device, in which out and mask lie, too. The mask has x's
    shape or that of one row."""
    dtype = operator.output.dtype.name
    of_x, stream = viewed(x, [operator.input.dtype.name], stream)
    shape = tuple(int(size) for size in of_x.shape)
    operator.check(shape, mask is not None, causal, first)
    of_out, out = result(x, out, shape, dtype, [dtype], stream)
    of_mask = None if mask is None else _view(mask, stream)
    if of_mask is not None:
        _taken(of_mask, MASKS, "mask")
        if tuple(of_mask.shape) not in (shape, shape[-1:]):
            raise Error(f"mask has the shape {tuple(of_mask.shape)}, and must have {shape} or {shape[-1:]}")
    if count(of_x):
        device = device_of(of_x, of_out, of_mask)
        whole = of_mask is not None and len(of_mask.shape) == len(shape) > 1
        launch_rows(operator, of_x.address, of_out.address, shape, stream, device, causal=causal, first=first,
                    mask=0 if of_mask is None else of_mask.address, mask_stride=shape[-1] if whole else 0)
    return out


def _memory(x: Any, size: int, stream: int) -> tuple[int, Any]:
    """The address of so many bytes beside x, and what holds them: of the library that x is of, which gives them to no other
    stream's work before that of this one is done; else of the device itself, which waits before it takes them back."""
    if _owner(x) in ("torch", "cupy"):
        array = _new(x, (max(size, 1),), "uint8")
        return _view(array, stream).address, array

    class Held:
        """What holds them."""
    owner = Held()
    return copied(None, max(size, 1), owner), owner


def map_network(network: Network, inputs: Sequence[Any], out: Any = None, stream: Optional[int] = None) -> Any:
    """Network's call for arrays of codes on a device, which are not looked at: of what is no code of its edge, the outputs
    are any codes. `out` is an array for each output, in a tuple where there are several."""
    if len(inputs) != len(network.inputs):
        raise Error(f"{len(inputs)} inputs, must be {len(network.inputs)}: {', '.join(network.inputs)}")
    views, dtypes = [], [network.edges[name].type.dtype.name for name in network.inputs]
    for x, dtype in zip(inputs, dtypes):
        view, stream = viewed(x, [dtype, *(["bool8"] if dtype == "uint8" else [])], stream)
        views.append(view._replace(shape=tuple(int(size) for size in view.shape)))
    sizes, wanted = network.sizes_at({name: view.shape for name, view in zip(network.inputs, views)}), network.outputs
    stream, given = stream or 0, out if isinstance(out, (tuple, list)) else [out] * len(network.outputs)
    if len(given) != len(wanted):
        raise Error(f"out: {len(given)} arrays, must be {len(wanted)}: {', '.join(wanted)}")
    of_out, results = [], []
    for name, one in zip(wanted, given):
        dtype = network.edges[name].type.dtype.name
        view, one = result(inputs[0], one, network.shape_at(name, sizes), dtype, [dtype], stream)
        of_out.append(view)
        results.append(one)
    for view in views[1:] + of_out:
        device = device_of(views[0], view)
    uploaded, lib = upload(network, device), library()
    of_sizes = (ctypes.c_uint32 * max(len(sizes), 1))(*(sizes[name] for name in network.sizes))
    size = lib.pwl_cuda_network_size(uploaded, of_sizes)
    memory, held = _memory(inputs[0], size, stream)
    arrays = [(ctypes.c_void_p * max(len(ends), 1))(*(view.address for view in ends)) for ends in (views, of_out)]
    call = _Call(address(of_sizes), address(arrays[0]), address(arrays[1]), memory, size, None)
    _check(lib.pwl_cuda_network_run(uploaded, ctypes.addressof(call), stream))
    del held
    return results[0] if len(results) == 1 else tuple(results)
