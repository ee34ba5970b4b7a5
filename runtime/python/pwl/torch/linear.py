# SPDX-License-Identifier: Apache-2.0
"""Linear layers with quantised weights: the operator pwl::qlinear and the module QLinear.

On CUDA devices libpwl-cuda multiplies, on the current stream and without waiting for it; on a CPU all cores do, as
<pwl/qgemm_host.h> says, by weights that are arranged when they are first met or have changed. A forward of which nothing
but the numbers is wanted calls either without the operator, which would take the host four times as long.
"""
from __future__ import annotations

import contextlib
import functools
import json
import os
import threading
import weakref
from typing import Any, Callable, Optional, Union

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary

from .. import _core, gguf, qgemm
from ..errors import Error, shown
from ..qgemm import ALIGNMENT, Packed, Weights
from ..table import Table
from .ops import LIBRARY, current_device, current_stream, define, empty_strided_cuda, on_device, plain, slope, state_of, table_of, text_of

__all__ = ["QLinear"]

REALS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
KEPT = 4       # products of weights on the host, one for each bias and table
REPEATS = 256  # that a module keeps, one for each shape, type and device of x


# ---- pwl::qlinear ----

class _Call:
    """A product of the weights and the bias at two addresses with m rows of one type and alignment, on a CUDA device. It
    never changes."""

    def __init__(self, core: _core.Product, arrays: tuple[int, ...], device: int) -> None:
        self.size, self.device = core.workspace(*arrays), device
        self.run = core.bind(*arrays, 0, self.size, 0).at

    def into(self, y: Tensor, x: int) -> None:
        """Queues the product of the rows at the address x on the current stream of the device, which is current; each time
        with another workspace, as any thread and stream may call."""
        space = empty_strided_cuda((self.size,), (1,), torch.uint8) if self.size else None
        self.run(x, y.data_ptr(), 0 if space is None else space.data_ptr(), current_stream(self.device))


class _HostCall:
    """The same on the host, of weights that are arranged."""

    device = None

    def __init__(self, core: _core.Product, arrays: tuple[int, ...]) -> None:
        self.core, self.arrays = core, arrays

    def into(self, y: Tensor, x: int) -> None:
        """Writes the product of the rows at the address x."""
        m, _, k, x_type, _, n, y_type = self.arrays
        qgemm.on_all_cores(self.core, (m, x, k, x_type, y.data_ptr(), n, y_type), n)


class _Prepared:
    """A product of the weights and the bias at two addresses, and its calls so far. It stays right whatever comes to lie
    there."""

    def __init__(self, core: _core.Product, device: int) -> None:
        self.core, self.device = core, device
        self.calls: dict[tuple[int, ...], _Call] = {}

    def call(self, arrays: tuple[int, ...]) -> _Call:
        m, x, _, x_type, _, _, y_type = arrays
        key = m, x % ALIGNMENT, x_type, y_type
        call = self.calls.get(key)
        if call is None:
            call = self.calls[key] = _Call(self.core, arrays, self.device)
        return call


@functools.lru_cache(maxsize=4096)
def _prepared(weight: int, bias: int, packed: Packed, activations: int, table: Optional[str], device: int) -> _Prepared:
    return _Prepared(_core_of(weight, bias, packed, activations, table, device, None), device)


def _core_of(weight: int, bias: int, packed: Packed, activations: int, table: Optional[str], device: Optional[int],
             keep: Any) -> _core.Product:
    scheme, of_table = qgemm.scheme_of(packed.format, activations), None if table is None else table_of(table)
    return qgemm.core(scheme, packed.at(weight), bias, of_table, device, keep)


def _version(of: Tensor) -> Optional[int]:
    """What changes with a tensor's elements; None where that is not told."""
    return None if of.is_inference() else of._version


class _Arranged:
    """Products of a tensor's weights on the host, which are arranged for each, as long as the weights are what they were."""

    def __init__(self, weight: Tensor) -> None:
        self.at, self.version = weight.data_ptr(), _version(weight)
        self.cores: dict[tuple[Any, ...], tuple[_core.Product, Any]] = {}

    def core(self, bias: int, packed: Packed, activations: int, table: Optional[str]) -> _core.Product:
        key = bias, packed, activations, table
        found = self.cores.get(key)
        if found is None:
            if len(self.cores) >= KEPT:
                self.cores.clear()
            core = _core_of(self.at, *key, None, None)
            found = self.cores[key] = core, qgemm.arranged(core)
        return found[0]


_ARRANGED: Any = WeakTensorKeyDictionary()  # _Arranged by weights
_LOCK = threading.Lock()


def _arranged(weight: Tensor) -> _Arranged:
    known: Optional[_Arranged] = _ARRANGED.get(weight)
    if known is None or known.at != weight.data_ptr() or known.version is None or known.version != _version(weight):
        known = _ARRANGED[weight] = _Arranged(weight)
    return known


def _call(x: Tensor, y: Tensor, weight: Tensor, bias: Optional[Tensor], packed: Packed, activations: int,
          table: Optional[str], device: Optional[int]) -> Union[_Call, _HostCall]:
    arrays = (x.numel() // packed.k, x.data_ptr(), packed.k, qgemm.TYPES[str(x.dtype)[6:]], y.data_ptr(), packed.n,
              qgemm.TYPES[str(y.dtype)[6:]])
    if device is not None:
        return _prepared(weight.data_ptr(), _address(bias), packed, activations, table, device).call(arrays)
    with _LOCK:
        return _HostCall(_arranged(weight).core(_address(bias), packed, activations, table), arrays)


def _address(of: Optional[Tensor]) -> int:
    return 0 if of is None else of.data_ptr()


@functools.lru_cache(maxsize=4096)
def _bytes(format: str, n: int, k: int) -> int:
    return _core.qgemm_bytes(qgemm.format_index(format), n, k)


def _packed(weight: Tensor, format: str, n: int, k: int, size: int, row_data: bool) -> Packed:
    """What is told of packed weights, which must be true of their memory."""
    most = _bytes(format, n, k)
    if weight.dtype != torch.uint8 or weight.shape != (most,) or not weight.is_contiguous() or size > most:
        raise Error(f"packed weights of {n} x {k} in {format} are {most} uint8, not {tuple(weight.shape)} of {weight.dtype}")
    return Packed(format, n, k, size, row_data)


def _dtype(x: Tensor, table: Optional[str], codes: bool) -> torch.dtype:
    """That of the result."""
    if not codes:
        return x.dtype
    if table is None:
        raise Error("codes=True needs a table")
    dtype: torch.dtype = getattr(torch, table_of(table).output.dtype.name)
    return dtype


def _shape(x: Tensor, n: int, k: int) -> tuple[int, ...]:
    if x.dtype not in REALS:
        raise Error(f"a tensor of {x.dtype}: real numbers are wanted")
    if x.dim() == 0 or x.shape[-1] != k:
        raise Error(f"x is of the shape {tuple(x.shape)}: its last dimension must be {k}")
    return (*x.shape[:-1], n)


def _multiply(x: Tensor, weight: Tensor, bias: Optional[Tensor], packed: Packed, activations: int,
              table: Optional[str], codes: bool, device: Optional[int]) -> Tensor:
    n, k = packed.n, packed.k
    dtype, shape = _dtype(x, table, codes), _shape(x, n, k)
    if weight.device != x.device or (bias is not None and bias.device != x.device):
        raise Error(f"x lies on {x.device}, the layer on {weight.device}: both must lie on one")
    if bias is not None and (bias.dtype != torch.float32 or bias.shape != (n,) or not bias.is_contiguous()):
        raise Error(f"bias must be {n} of float32, not {tuple(bias.shape)} of {bias.dtype}")
    given = (x.to(torch.float32) if x.dtype == torch.float64 else x).contiguous()
    y = torch.empty(shape, dtype=torch.float32 if dtype == torch.float64 else dtype, device=x.device)
    if y.numel():
        if weight.data_ptr() % ALIGNMENT:  # as a part of another tensor
            weight = weight.clone()
        _call(given, y, weight, bias, packed, activations, table, device).into(y, given.data_ptr())
    return y if y.dtype == dtype else y.to(dtype)


def _qlinear_cpu(x: Tensor, weight: Tensor, bias: Optional[Tensor], format: str, n: int, k: int, size: int,
                 row_data: bool, activations: int, table: Optional[str], codes: bool) -> Tensor:
    packed = _packed(weight, format, n, k, size, row_data)
    return _multiply(x, weight, bias, packed, activations, table, codes, None)


def _qlinear_cuda(x: Tensor, weight: Tensor, bias: Optional[Tensor], format: str, n: int, k: int, size: int,
                  row_data: bool, activations: int, table: Optional[str], codes: bool) -> Tensor:
    packed, device = _packed(weight, format, n, k, size, row_data), x.device.index
    with on_device(device):
        return _multiply(x, weight, bias, packed, activations, table, codes, device)


def _qlinear_fake(x: Tensor, weight: Tensor, bias: Optional[Tensor], format: str, n: int, k: int, size: int,
                  row_data: bool, activations: int, table: Optional[str], codes: bool) -> Tensor:
    return torch.empty(_shape(x, n, k), dtype=_dtype(x, table, codes), device=x.device)


_OF_WEIGHTS = "str format, int n, int k, int size, bool row_data"

# x W^T + bias, by the table where one is given: Product of pwl.qgemm. Its gradient goes to x alone.
qlinear = define(f"qlinear(Tensor x, Tensor weight, Tensor? bias, {_OF_WEIGHTS}, int activations, str? table, bool codes)"
                 " -> Tensor", _qlinear_fake, CPU=_qlinear_cpu, CUDA=_qlinear_cuda)


# ---- pwl::qvalues ----

def _qvalues_of(weight: Tensor, format: str, n: int, k: int, size: int, row_data: bool) -> Tensor:
    packed = _packed(weight, format, n, k, size, row_data)
    return torch.from_numpy(Weights(packed, weight.numpy(force=True)).dequantise()).to(weight.device)


def _qvalues_fake(weight: Tensor, format: str, n: int, k: int, size: int, row_data: bool) -> Tensor:
    return torch.empty((n, k), dtype=torch.float32, device=weight.device)


# The values of packed weights, in float32: Weights.dequantise(), on the host.
qvalues = define(f"qvalues(Tensor weight, {_OF_WEIGHTS}) -> Tensor", _qvalues_fake, CPU=_qvalues_of, CUDA=_qvalues_of)


def _keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, weight, bias, *ctx.others = inputs
    ctx.save_for_backward(x, weight, *([] if bias is None else [bias]))


def _gradient(ctx: Any, of_y: Tensor) -> tuple[Optional[Tensor], ...]:
    x, weight, *bias = ctx.saved_tensors
    *of_weights, activations, table, codes = ctx.others
    of_y = of_y.to(torch.float32)
    if table is not None:
        of_y = of_y * slope(qlinear(x.to(torch.float32), weight, *(bias or [None]), *of_weights, activations, None, False),
                            table)
    return (of_y @ qvalues(weight, *of_weights)).to(x.dtype), *[None] * 10


torch.library.register_autograd("pwl::qlinear", _gradient, setup_context=_keep_inputs, lib=LIBRARY)


# ---- Forwards without the operator ----

class _Repeat:
    """What repeats a forward that the operator has computed: with the same weights and bias in the same memory, for another
    x of the same shape, type and device. So all that the operator would look at is known to be in order."""

    def __init__(self, call: Union[_Call, _HostCall], y: Tensor, weight: Tensor, bias: Optional[Tensor]) -> None:
        self.call, self.shape, self.strides, self.dtype = call, tuple(y.shape), y.stride(), y.dtype
        self.weight, self.bias = weakref.ref(weight), None if bias is None else weakref.ref(bias)
        self.weight_at, self.bias_at, self.version = _address(weight), _address(bias), _version(weight)

    def again(self, x: Tensor, weight: Optional[Tensor], bias: Optional[Tensor]) -> Optional[Tensor]:
        """None where that is not so, or x has to be copied first."""
        at = x.data_ptr()
        if (weight is not self.weight() or bias is not (self.bias and self.bias()) or _address(weight) != self.weight_at
                or _address(bias) != self.bias_at or at % ALIGNMENT or not x.is_contiguous()):
            return None
        device = self.call.device
        if device is None:
            if weight is None or weight.is_inference() or weight._version != self.version:
                return None
            y = torch.empty_strided(self.shape, self.strides, dtype=self.dtype)
        elif device == current_device():
            y = empty_strided_cuda(self.shape, self.strides, self.dtype)
        else:
            with torch.cuda.device(device):
                return self.again(x, weight, bias)
        self.call.into(y, at)
        return y


def _repeat(x: Tensor, y: Tensor, weight: Optional[Tensor], bias: Optional[Tensor],
            arguments: tuple[Any, ...]) -> Optional[_Repeat]:
    """Of the forward of a plain x that gave y; None where the operator has copied or converted a tensor."""
    *of_weights, activations, table, _ = arguments
    if (x.dtype == torch.float64 or not y.numel() or not x.is_contiguous() or x.data_ptr() % ALIGNMENT
            or type(weight) is not Tensor or weight.data_ptr() % ALIGNMENT or type(bias) not in (Tensor, type(None))):
        return None
    device = x.device.index
    with contextlib.nullcontext() if device is None else on_device(device):
        return _Repeat(_call(x, y, weight, bias, Packed(*of_weights), activations, table, device), y, weight, bias)


# ---- The module ----

class QLinear(nn.Module):
    """A linear layer with quantised weights, and a table as its activation where one is given: pwl.qgemm.Product as a
    module. The result has the type of x; with codes=True it is the table's output codes. Gradients go to x alone.

    weights    Weights of pwl.qgemm; of_linear() and of_gguf() make them
    bias       numbers, one for each row of the weights, kept in float32; or None
    """

    bias: Optional[Tensor]
    weight: Tensor

    def __init__(self, weights: Weights, bias: Any = None, *, table: Optional[Table] = None, activations: int = 16,
                 codes: bool = False) -> None:
        super().__init__()
        bias = bias.detach().to(torch.float32).numpy(force=True) if isinstance(bias, Tensor) else bias
        product = qgemm.Product(weights, bias, table, activations=activations, codes=codes)  # which has looked at all of it
        self.register_buffer("weight", torch.from_numpy(weights.memory).clone())
        self.register_buffer("bias", None if bias is None else torch.from_numpy(product.bias).clone())
        self._set(weights.packed, table, activations, bool(codes))

    def _set(self, packed: Packed, table: Optional[Table], activations: int, codes: bool) -> None:
        self.packed, self.table, self.activations, self.codes = packed, table, activations, codes
        self._arguments = (*packed, activations, None if table is None else table.to_json(), codes)
        self._repeats: dict[tuple[Any, ...], _Repeat] = {}  # of these arguments: set after them, and read before them

    @classmethod
    def of_linear(cls, linear: nn.Linear, format: str = "q4_0", *, rule: str = "default", **options: Any) -> QLinear:
        """From a layer of floats, on its device; format and rule are those of pwl.qgemm.pack()."""
        if not isinstance(linear, nn.Linear):
            raise Error(f"{shown(linear)}: wanted is torch.nn.Linear")
        values = linear.weight.detach().to(torch.float32).numpy(force=True)
        made = cls(qgemm.pack(values, format, rule), linear.bias, **options)
        return made.to(linear.weight.device).train(linear.training)

    @classmethod
    def of_gguf(cls, path: Union[str, os.PathLike[str]], name: str, bias: Any = None, **options: Any) -> QLinear:
        """From a tensor of a GGUF file, blocks as they are there; bias may be the name of another tensor, of F32."""
        if isinstance(bias, str):
            tensor = gguf.read(path, bias)
            if gguf.TYPES[tensor.type][0] != "f32" or len(tensor.shape) != 1:
                raise Error(f"{os.fspath(path)}: {tensor!r} is no bias, which is of f32, in one dimension")
            bias = tensor.data.view("<f4")
        return cls(qgemm.pack(gguf.read(path, name)), bias, **options)

    @property
    def weights(self) -> Weights:
        """The Weights, a copy on the host."""
        return Weights(self.packed, self.weight.numpy(force=True).copy())

    def forward(self, x: Tensor) -> Tensor:
        # A parameter may have replaced a buffer.
        if not plain(x) or "weight" not in (buffers := self._buffers) or "bias" not in buffers:
            y: Tensor = qlinear(x, self.weight, self.bias, *self._arguments)
            return y
        repeats, weight, bias = self._repeats, buffers["weight"], buffers["bias"]
        key = x.shape, x.dtype, x.get_device()
        repeat = repeats.get(key)
        again = repeat.again(x, weight, bias) if repeat else None
        if again is not None:
            return again
        arguments = self._arguments
        y = qlinear(x, weight, bias, *arguments)
        made = _repeat(x, y, weight, bias, arguments)
        if made:
            if len(repeats) >= REPEATS:
                repeats.clear()
            repeats[key] = made
        return y

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_repeats": {}}

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> QLinear:
        """half(), to() and their like: the bias goes with the weights, and stays in float32."""
        bias = self.bias
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if bias is not None and self.bias is not None and self.bias.dtype != torch.float32:
            self.bias = bias.to(self.weight.device)
        return self

    def get_extra_state(self) -> Tensor:
        return state_of(json.dumps({"packed": list(self.packed), "table": None if self.table is None else self.table.to_json(),
                                    "activations": self.activations, "codes": self.codes}))

    def set_extra_state(self, state: Union[Tensor, dict[str, Any]]) -> None:
        state = json.loads(text_of(state)) if isinstance(state, Tensor) else state
        packed = Packed(*state["packed"])
        if packed[:3] != self.packed[:3]:
            raise Error(f"a state of {packed.n} x {packed.k} in {packed.format}: this layer is {self.packed.n} x "
                        f"{self.packed.k} in {self.packed.format}")
        table = None if state["table"] is None else Table(state["table"])
        qgemm.scheme_of(packed.format, state["activations"])
        self._set(packed, table, state["activations"], state["codes"])

    def extra_repr(self) -> str:
        return (f"{self.packed.k} to {self.packed.n}, {self.packed.format}, activations of {self.activations} bits, "
                f"bias={self.bias is not None}, table={self.table}")
