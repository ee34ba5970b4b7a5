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
from ..qgemm_options import INTEGERS, PAIR_ROWS, Form, Options, form_of, n_w_of, options_of, shift_of
from ..table import Table
from .ops import (LIBRARY, codes_of_real, current_device, current_stream, define, empty_strided_cuda, map_real, on_device,
                  plain, reals_of_codes, slope, state_of, table_of, text_of)

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

    def into(self, y: Tensor, x: int, n_x: int = 0) -> None:
        """Queues the product of the rows at the address x, in INT8 with exponents at another, on the current stream of the
        device, which is current; each time with another workspace, as any thread and stream may call."""
        space = empty_strided_cuda((self.size,), (1,), torch.uint8) if self.size else None
        self.run(x, y.data_ptr(), 0 if space is None else space.data_ptr(), current_stream(self.device), n_x)


class _HostCall:
    """The same on the host, of weights that are arranged."""

    device = None

    def __init__(self, core: _core.Product, arrays: tuple[int, ...], n: int) -> None:
        self.core, self.arrays, self.n = core, arrays, n

    def into(self, y: Tensor, x: int, n_x: int = 0) -> None:
        """Writes the product of the rows at the address x."""
        m, _, k, x_type, _, columns, y_type, _ = self.arrays
        qgemm.on_all_cores(self.core, (m, x, k, x_type, y.data_ptr(), columns, y_type, n_x), self.n)


class _Prepared:
    """A product of the weights and the bias at two addresses, and its calls so far. It stays right whatever comes to lie
    there."""

    def __init__(self, core: _core.Product, device: int) -> None:
        self.core, self.device = core, device
        self.calls: dict[tuple[int, ...], _Call] = {}

    def call(self, arrays: tuple[int, ...]) -> _Call:
        m, x, _, x_type, _, _, y_type, _ = arrays
        key = m, x % ALIGNMENT, x_type, y_type
        call = self.calls.get(key)
        if call is None:
            call = self.calls[key] = _Call(self.core, arrays, self.device)
        return call


@functools.lru_cache(maxsize=4096)
def _prepared(weight: int, bias: int, packed: Packed, activations: int, table: Optional[str], options: str,
              device: int) -> _Prepared:
    return _Prepared(_core_of(weight, bias, packed, activations, table, options, device, None), device)


def _core_of(weight: int, bias: int, packed: Packed, activations: int, table: Optional[str], options: str,
             device: Optional[int], keep: Any) -> _core.Product:
    scheme, of_table = qgemm.scheme_of(packed.format, activations), None if table is None else table_of(table)
    return qgemm.core(scheme, packed.at(weight), bias, of_table, options_of(options), device, keep)


def _version(of: Tensor) -> Optional[int]:
    """What changes with a tensor's elements; None where that is not told."""
    return None if of.is_inference() else of._version


class _Arranged:
    """Products of a tensor's weights on the host, which are arranged for each, as long as the weights are what they were."""

    def __init__(self, weight: Tensor) -> None:
        self.at, self.version = weight.data_ptr(), _version(weight)
        self.cores: dict[tuple[Any, ...], tuple[_core.Product, Any]] = {}

    def core(self, bias: int, packed: Packed, activations: int, table: Optional[str], options: str) -> _core.Product:
        key = bias, packed, activations, table, options
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
          table: Optional[str], options: str, device: Optional[int], n_x: int = 0) -> Union[_Call, _HostCall]:
    arrays = (x.numel() // packed.k, x.data_ptr(), packed.k, qgemm.TYPES[str(x.dtype)[6:]], y.data_ptr(), y.shape[-1],
              qgemm.TYPES[str(y.dtype)[6:]], n_x)
    key = _address(bias), packed, activations, table, options
    if device is not None:
        return _prepared(weight.data_ptr(), *key, device).call(arrays)
    with _LOCK:
        return _HostCall(_arranged(weight).core(*key), arrays, packed.n)


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


@functools.lru_cache(maxsize=4096)
def _form(format: str, table: Optional[str], codes: bool, options: str) -> Form:
    if codes and table is None and format not in INTEGERS:
        raise Error("codes=True needs a table")
    return form_of(format, None if table is None else table_of(table), codes, options_of(options))


def _stored(x: Tensor, form: Form) -> torch.dtype:
    """The type of what the product stores."""
    dtype: torch.dtype = x.dtype if form.dtype is None else getattr(torch, form.dtype)
    return torch.float32 if dtype == torch.float64 else dtype


def _dtype(x: Tensor, form: Form, codes: bool) -> torch.dtype:
    """That of the result."""
    if codes:
        return _stored(x, form)
    return x.dtype if x.dtype in REALS else torch.float32


def _shape(x: Tensor, format: str, n: int, k: int, options: str) -> tuple[int, ...]:
    if x.dtype not in REALS and not (format in INTEGERS and x.dtype == torch.int8):
        raise Error(f"a tensor of {x.dtype}: real numbers are wanted" + (", or int8" if format in INTEGERS else ""))
    if x.dim() == 0 or x.shape[-1] != k:
        raise Error(f"x is of the shape {tuple(x.shape)}: its last dimension must be {k}")
    return (*x.shape[:-1], n // 2 if options_of(options).gated else n)


def _multiply(x: Tensor, weight: Tensor, bias: Optional[Tensor], packed: Packed, activations: int,
              table: Optional[str], codes: bool, options: str, device: Optional[int]) -> Tensor:
    form, shape = _form(packed.format, table, codes, options), _shape(x, packed.format, packed.n, packed.k, options)
    of_bias, of_x = torch.int32 if packed.format in INTEGERS else torch.float32, options_of(options).input
    if weight.device != x.device or (bias is not None and bias.device != x.device):
        raise Error(f"x lies on {x.device}, the layer on {weight.device}: both must lie on one")
    if bias is not None and (bias.dtype != of_bias or bias.shape != (packed.n,) or not bias.is_contiguous()):
        raise Error(f"bias must be {packed.n} of {str(of_bias)[6:]}, not {tuple(bias.shape)} of {bias.dtype}")
    if of_x is not None:
        given = (x if x.dtype == torch.int8 else codes_of_real(x, of_x)).contiguous()
    else:
        given = (x.to(torch.float32) if x.dtype == torch.float64 else x).contiguous()
    y = torch.empty(shape, dtype=_stored(x, form), device=x.device)
    if y.numel():
        if weight.data_ptr() % ALIGNMENT:  # as a part of another tensor
            weight = weight.clone()
        n_x = None if of_x is None else torch.full((given.numel() // packed.k,), shift_of(of_x), dtype=torch.int8,
                                                   device=x.device)
        at = 0 if n_x is None else n_x.data_ptr()
        _call(given, y, weight, bias, packed, activations, table, options, device, at).into(y, given.data_ptr(), at)
    if not codes and form.dtype is not None:
        y = _reals(y, weight, packed, form, options)
    dtype = _dtype(x, form, codes)
    return y if y.dtype == dtype else y.to(dtype)


def store_sums(sums: Tensor, weight: Tensor, bias: Optional[Tensor], packed: Packed, activations: int,
               table: Optional[str], codes: bool, options: str) -> Tensor:
    """What Product.store_sums() makes of the sums of a product of integers, on their device; or their real numbers."""
    form, n = _form(packed.format, table, codes, options), packed.n
    of_x, device = options_of(options).input, sums.device.index
    assert of_x is not None
    shape = (*sums.shape[:-1], n // 2 if options_of(options).gated else n)
    y = torch.empty(shape, dtype=_stored(sums, form), device=sums.device)
    if not y.numel():
        return y
    n_x = torch.full((sums.numel() // n,), shift_of(of_x), dtype=torch.int8, device=sums.device)
    arrays = (sums.numel() // n, sums.data_ptr(), n, qgemm.TYPES["int32"], y.data_ptr(), shape[-1],
              qgemm.TYPES[str(y.dtype)[6:]], n_x.data_ptr())
    key = _address(bias), packed, activations, table, options
    if device is None:
        _core_of(weight.data_ptr(), *key, None, None).store_sums(*arrays, 0)
    else:
        with on_device(device):
            _prepared(weight.data_ptr(), *key, device).core.store_sums(*arrays, current_stream(device))
    return y if codes else _reals(y, weight, packed, form, options)


def _reals(y: Tensor, weight: Tensor, packed: Packed, form: Form, options: str) -> Tensor:
    """The real numbers of what INT8 has stored, in float32."""
    if form.of is not None:
        return reals_of_codes(y, form.of)
    of_x = options_of(options).input
    shifts = n_w_of(weight, packed).view(torch.int8).to(torch.int32) + (0 if of_x is None else shift_of(of_x))
    return torch.ldexp(y.to(torch.float32), -shifts)


def _qlinear_cpu(x: Tensor, weight: Tensor, bias: Optional[Tensor], format: str, n: int, k: int, size: int,
                 row_data: bool, activations: int, table: Optional[str], codes: bool, options: str = "") -> Tensor:
    packed = _packed(weight, format, n, k, size, row_data)
    return _multiply(x, weight, bias, packed, activations, table, codes, options, None)


def _qlinear_cuda(x: Tensor, weight: Tensor, bias: Optional[Tensor], format: str, n: int, k: int, size: int,
                  row_data: bool, activations: int, table: Optional[str], codes: bool, options: str = "") -> Tensor:
    packed, device = _packed(weight, format, n, k, size, row_data), x.device.index
    with on_device(device):
        return _multiply(x, weight, bias, packed, activations, table, codes, options, device)


def _qlinear_fake(x: Tensor, weight: Tensor, bias: Optional[Tensor], format: str, n: int, k: int, size: int,
                  row_data: bool, activations: int, table: Optional[str], codes: bool, options: str = "") -> Tensor:
    dtype = _dtype(x, _form(format, table, codes, options), codes)
    return torch.empty(_shape(x, format, n, k, options), dtype=dtype, device=x.device)


_OF_WEIGHTS = "str format, int n, int k, int size, bool row_data"

# x W^T + bias, by the table where one is given: Product of pwl.qgemm; options are Options.text(). Its gradient goes to x
# alone.
qlinear = define(f"qlinear(Tensor x, Tensor weight, Tensor? bias, {_OF_WEIGHTS}, int activations, str? table, bool codes, "
                 'str options="") -> Tensor', _qlinear_fake, CPU=_qlinear_cpu, CUDA=_qlinear_cuda)


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


def _in_turns(gate: Tensor, up: Tensor) -> Tensor:
    """8 of the gate's and 8 of up's, along the last dimension, as packed weights have their rows."""
    parts = [of.reshape(*of.shape[:-1], -1, PAIR_ROWS) for of in (gate, up)]
    return torch.stack(parts, -2).flatten(-3)


def _of_gate(of_y: Tensor, values: Tensor, table: str, options: Options) -> Tensor:
    """The gradient of both, in turns, by what they are before the table."""
    gate, up = (of.flatten(-2) for of in values.reshape(*values.shape[:-1], -1, 2, PAIR_ROWS).unbind(-2))
    limit = options.up_limit or float("inf")
    of_gate = of_y * slope(gate, table) * (up.clamp(-limit, limit) + options.up_plus)
    return _in_turns(of_gate, of_y * map_real(gate, table) * (up.abs() <= limit))


def _gradient(ctx: Any, of_y: Tensor) -> tuple[Optional[Tensor], ...]:
    x, weight, *bias = ctx.saved_tensors
    *of_weights, activations, table, codes, options = (*ctx.others, "")[:9]
    of_y, given = of_y.to(torch.float32), options_of(options)
    if table is not None:
        of_bias = bias[0] if bias else None
        if of_bias is not None and given.gated:
            of_bias = _in_turns(*of_bias.chunk(2))
        values = qlinear(x.to(torch.float32), weight, of_bias, *of_weights, activations, None, False,
                         Options(input=given.input).text())
        of_y = _of_gate(of_y, values, table, given) if given.gated else of_y * slope(values, table)
    return (of_y @ qvalues(weight, *of_weights)).to(x.dtype), *[None] * (2 + len(ctx.others))


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
    *of_weights, activations, table, _, options = arguments
    if (x.dtype == torch.float64 or of_weights[0] in INTEGERS or not y.numel() or not x.is_contiguous()
            or x.data_ptr() % ALIGNMENT or type(weight) is not Tensor or weight.data_ptr() % ALIGNMENT
            or type(bias) not in (Tensor, type(None))):
        return None
    device = x.device.index
    with contextlib.nullcontext() if device is None else on_device(device):
        call = _call(x, y, weight, bias, Packed(*of_weights), activations, table, options, device)
        return _Repeat(call, y, weight, bias)


# ---- The module ----

class QLinear(nn.Module):
    """A linear layer with quantised weights, and a table as its activation where one is given: pwl.qgemm.Product as a
    module. The result has the type of x; with codes=True it is codes. Gradients go to x alone.

    weights    Weights of pwl.qgemm; of_linear(), of_pair() and of_gguf() make them
    bias       numbers, one for each row of the weights, of a pair the gate's first; or None. Kept in float32, beside
               weights of int8 and int4 in the units of their sums, int32
    options    Product's: activations, codes, gated and so on. A layer of integers takes codes of `input`, int8, or real
               numbers, which it rounds to them
    """

    bias: Optional[Tensor]
    weight: Tensor

    def __init__(self, weights: Weights, bias: Any = None, *, table: Optional[Table] = None, activations: int = 16,
                 codes: bool = False, **options: Any) -> None:
        super().__init__()
        if isinstance(bias, Tensor):
            bias = bias.detach().to(bias.dtype if bias.dtype == torch.int32 else torch.float32).numpy(force=True)
        product = qgemm.Product(weights, bias, table, activations=activations, codes=codes, **options)  # which looks at all
        self.register_buffer("weight", torch.from_numpy(weights.memory).clone())
        self.register_buffer("bias", None if bias is None else torch.from_numpy(product.bias).clone())
        self._set(weights.packed, table, activations, bool(codes), product.options)

    def _set(self, packed: Packed, table: Optional[Table], activations: int, codes: bool, options: Options) -> None:
        self.packed, self.table, self.activations, self.codes, self.options = packed, table, activations, codes, options
        self._arguments = (*packed, activations, None if table is None else table.to_json(), codes, options.text())
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
    def of_pair(cls, gate: nn.Linear, up: nn.Linear, /, format: str = "q4_0", *, rule: str = "default",
                **options: Any) -> QLinear:
        """The layer table(gate(x)) * up(x) of two layers of floats, on the gate's device."""
        if not isinstance(gate, nn.Linear) or not isinstance(up, nn.Linear) or (gate.bias is None) != (up.bias is None):
            raise Error(f"{shown(gate)}, {shown(up)}: wanted are two of torch.nn.Linear, with a bias both or none")
        of_gate, of_up = (of.weight.detach().to(torch.float32).numpy(force=True) for of in (gate, up))
        bias = None if gate.bias is None else torch.cat([gate.bias.detach(), up.bias.detach().to(gate.bias)])
        made = cls(qgemm.pack_pair(of_gate, of_up, format, rule), bias, gated=True, **options)
        return made.to(gate.weight.device).train(gate.training)

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
        if bias is not None and self.bias is not None and self.bias.dtype != bias.dtype:
            self.bias = bias.to(self.weight.device)
        return self

    def get_extra_state(self) -> Tensor:
        return state_of(json.dumps({
            "packed": list(self.packed), "table": None if self.table is None else self.table.to_json(),
            "activations": self.activations, "codes": self.codes, "options": self.options.text()}))

    def set_extra_state(self, state: Union[Tensor, dict[str, Any]]) -> None:
        state = json.loads(text_of(state)) if isinstance(state, Tensor) else state
        packed = Packed(*state["packed"])
        if packed[:3] != self.packed[:3]:
            raise Error(f"a state of {packed.n} x {packed.k} in {packed.format}: this layer is {self.packed.n} x "
                        f"{self.packed.k} in {self.packed.format}")
        table = None if state["table"] is None else Table(state["table"])
        qgemm.scheme_of(packed.format, state["activations"])
        self._set(packed, table, state["activations"], state["codes"], options_of(state.get("options", "")))

    def extra_repr(self) -> str:
        return (f"{self.packed.k} to {self.packed.n}, {self.packed.format}, activations of {self.activations} bits, "
                f"bias={self.bias is not None}, table={self.table}"
                + "".join(f", {name}={value}" for name, value in self.options.said().items()))
