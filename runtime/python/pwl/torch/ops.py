# SPDX-License-Identifier: Apache-2.0
"""Operators of torch that map tensors by tables: pwl::map of codes, pwl::real of real numbers, pwl::slope.

A table is an argument by its JSON, a constant text of compiled and exported graphs, so that these need nothing beside
them. On a CPU the runtime computes, on CUDA devices libpwl-cuda, on the current stream and without waiting for it.

Operators are defined by torch.library.Library: torch.library.custom_op, made of the same, takes 20 us more for a call.
The call itself takes 10 to 25 us of the host: modules call the kernels past it where plain() says that this is the same.
"""
from __future__ import annotations

import contextlib
import functools
import json
import warnings
from typing import Any, Callable, ContextManager, Optional, Union

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from .. import cuda
from ..codes import Type, check_codes
from ..errors import Error
from ..rows import FARTHEST, RowOperator
from ..table import Table

__all__ = ["LIBRARY", "codes_of_real", "current_device", "current_stream", "define", "empty_strided_cuda",
           "hint_at_translations", "map_codes", "map_codes_plain",
           "map_real", "map_real_plain", "map_row_codes", "map_rows", "on_device", "operator_of", "plain", "reals_of_codes", "slope",
           "state_of", "table_of", "text_of"]

LIBRARY: Any = torch.library.Library("pwl", "DEF")  # type: ignore[no-untyped-call]

CODES = (torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64)
REALS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


# ---- What is current ----

# The current device, and the address of a device's current stream. By torch.cuda both take 3 us, by these 0.2 us.
current_device: Callable[[], int] = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
current_stream: Callable[[int], int] = getattr(torch._C, "_cuda_getCurrentRawStream",
                                               lambda device: torch.cuda.current_stream(device).cuda_stream)


def _empty_strided_cuda(shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """A tensor on the current device."""
    return torch.empty_strided(shape, strides, dtype=dtype, device="cuda")


# The same in half of 2 us, as torch's compiled models call it.
empty_strided_cuda: Callable[..., Tensor] = getattr(getattr(getattr(torch._C, "_dynamo", None), "guards", None),
                                                    "_empty_strided_cuda", _empty_strided_cuda)


def on_device(device: Optional[int]) -> ContextManager[Any]:
    """Within it, the device is the current one."""
    return contextlib.nullcontext() if device == current_device() else torch.cuda.device(device)


try:  # these are private to torch, which has no other names for the same
    from torch._C import _is_tracing, _len_torch_dispatch_stack, _len_torch_function_stack
    from torch._C._functorch import peek_interpreter_stack

    def _observed() -> bool:
        """Whether a mode of Python, a transform as vmap, a trace or a forward derivative sees what is called."""
        return bool(_len_torch_function_stack() or _len_torch_dispatch_stack() or peek_interpreter_stack() is not None
                    or _is_tracing() or forward_ad._current_level >= 0)
    _observed(), Tensor._is_zerotensor
except (ImportError, AttributeError):
    def _observed() -> bool:
        return True


def plain(x: Tensor) -> bool:
    """Whether an operator of x does no more than its kernel: nothing compiles, observes or differentiates the call, and x
    is no more than numbers in memory, of the host or of a CUDA device."""
    return (not torch.compiler.is_compiling() and type(x) is Tensor and not _observed()
            and not (x.requires_grad and torch.is_grad_enabled()) and (x.is_cuda or x.is_cpu)
            and x.layout is torch.strided and not x.is_nested and not x.is_neg() and not x._is_zerotensor())


# ---- Export to ONNX ----

translated = False  # whether the program has asked for pwl.torch.onnx.translations()


def hint_at_translations(by_tracing: bool) -> None:
    """Says what torch.onnx.export() needs, where it runs and this is not given."""
    if (by_tracing or not translated) and torch.onnx.is_in_onnx_export():
        warnings.warn("torch.onnx.export() has operators of pwl translated by dynamo=True, "
                      "custom_translation_table=pwl.torch.onnx.translations()", stacklevel=2)


# ---- Tables and tensors ----

@functools.lru_cache(maxsize=4096)
def table_of(text: str) -> Table:
    """The table of a JSON text."""
    return Table(text)


@functools.lru_cache(maxsize=1024)
def operator_of(text: str) -> RowOperator:
    """The row operator of a JSON text."""
    return RowOperator(text)


def state_of(text: str) -> Tensor:
    """A text as a tensor, which every format of states holds."""
    return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)


def text_of(state: Union[Tensor, str]) -> str:
    """The text of such a tensor; of states that are older, the text itself."""
    return bytes(state.to(torch.uint8).numpy(force=True)).decode() if isinstance(state, Tensor) else state


def _dtype(codes: Type) -> torch.dtype:
    """The smallest that holds the codes."""
    dtype: torch.dtype = getattr(torch, codes.dtype.name)
    return dtype


@functools.lru_cache(maxsize=None)
def _name(dtype: torch.dtype) -> str:
    return str(dtype).replace("torch.", "")


def _check(x: Tensor, of: tuple[torch.dtype, ...], what: str) -> None:
    if x.dtype not in of:
        raise Error(f"a tensor of {_name(x.dtype)}: {what} are {', '.join(map(_name, of))}")


def _array(x: Tensor) -> np.ndarray[Any, Any]:
    """The tensor's memory as an array of numpy, or a copy where its bits are to be negated."""
    array: np.ndarray[Any, Any] = x.numpy(force=True)
    return array


def _dense(x: Tensor) -> Tensor:
    """x, or a copy where its elements have gaps or repeat: torch.empty_like() then has the same layout."""
    return x if x.is_contiguous() or torch.ops.aten.is_non_overlapping_and_dense(x) else x.contiguous()


def _launch(call: Callable[..., None], table: Table, x: Tensor, y: Tensor) -> None:
    """Queues a map of cuda.py on the current stream of the device of x; y has the same layout."""
    if x.numel():
        device, of_x, of_y = x.device.index, (_name(x.dtype), x.data_ptr()), (_name(y.dtype), y.data_ptr())
        with on_device(device):
            call(table, *of_x, *of_y, x.numel(), current_stream(device), device)


def _launch_rows(operator: RowOperator, codes: Tensor, mask: Optional[Tensor]) -> Tensor:
    """Queues a row operator along the last dimension of codes of its type, without gaps, on the current stream of their
    device; the mask has the same shape, and lives until the queue has reached its end."""
    operator.check(tuple(codes.shape), mask is not None, False, 0)
    y = torch.empty_like(codes, dtype=_dtype(operator.output))
    if codes.numel():
        device = codes.device.index
        with on_device(device):
            cuda.launch_rows(operator, codes.data_ptr(), y.data_ptr(), codes.shape, current_stream(device), device,
                             mask=0 if mask is None else mask.data_ptr(), mask_stride=0 if mask is None else codes.shape[-1])
    return y


def define(schema: str, fake: Callable[..., Any], **kernels: Callable[..., Any]) -> Any:
    """The operator of a schema, with a kernel for each dispatch key that is named."""
    name = schema.partition("(")[0]
    LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    for key, kernel in kernels.items():
        LIBRARY.impl(name, kernel, key)
    torch.library.register_fake(f"pwl::{name}", fake, lib=LIBRARY)
    return getattr(torch.ops.pwl, name).default


# ---- pwl::map ----

def _map_codes_cpu(x: Tensor, table: str) -> Tensor:
    _check(x, CODES, "codes")
    of = table_of(table)
    y = torch.empty_like(x, dtype=_dtype(of.output))
    of(_array(x), out=_array(y))
    return y


def _map_codes_cuda(x: Tensor, table: str) -> Tensor:
    _check(x, CODES, "codes")
    of = table_of(table)
    if x.dtype == torch.int64:  # no element of the kernels
        x = x.clamp(of.input.qmin, of.input.qmax).to(_dtype(of.input))
    x = _dense(x)
    y = torch.empty_like(x, dtype=_dtype(of.output))
    _launch(cuda.launch, of, x, y)
    return y


def _map_codes_fake(x: Tensor, table: str) -> Tensor:
    hint_at_translations(False)
    _check(x, CODES, "codes")
    return torch.empty_like(x, dtype=_dtype(table_of(table).output))


# Output codes of input codes, in the smallest type that holds the table's: Table's call.
map_codes = define("map(Tensor x, str table) -> Tensor", _map_codes_fake, CPU=_map_codes_cpu, CUDA=_map_codes_cuda)


def map_codes_plain(x: Tensor, table: str) -> Tensor:
    """The same where x is plain()."""
    return (_map_codes_cuda if x.is_cuda else _map_codes_cpu)(x, table)


# ---- pwl::real ----

def _map_real_cpu(x: Tensor, table: str, exact: Optional[Tensor] = None) -> Tensor:
    _check(x, REALS, "real numbers")
    of = table_of(table)
    if x.dtype == torch.float32:
        y = torch.empty_like(x)
        of._real(_array(x), _array(y))
        return y
    wide = x.to(torch.float32)
    of._real(_array(wide), _array(wide))
    return wide.to(x.dtype)


def _map_real_cuda(x: Tensor, table: str, exact: Optional[Tensor] = None) -> Tensor:
    _check(x, REALS, "real numbers")
    same = _dense(x.to(torch.float32) if x.dtype == torch.float64 else x)
    y = torch.empty_like(same)
    _launch(cuda.launch_real, table_of(table), same, y)
    return y.to(x.dtype)


def _map_real_fake(x: Tensor, table: str, exact: Optional[Tensor] = None) -> Tensor:
    hint_at_translations(False)
    _check(x, REALS, "real numbers")
    return torch.empty_like(x)


def _keep_input(ctx: Any, inputs: tuple[Tensor, str, Optional[Tensor]], output: Tensor) -> None:
    x, ctx.table, exact = inputs
    ctx.by_slope = exact is None
    ctx.save_for_backward(*([x] if ctx.by_slope else []))


def _gradient(ctx: Any, of_y: Tensor) -> tuple[Optional[Tensor], None, Optional[Tensor]]:
    if ctx.by_slope:
        return of_y * slope(ctx.saved_tensors[0], ctx.table), None, None
    return None, None, of_y


# Real numbers by the table, computed in float32 and rounded once more to the type of x: Table.real(). The gradient is the
# segments' slope; or, where `exact` has the values of the function itself, all that of exact.
map_real = define("real(Tensor x, str table, Tensor? exact=None) -> Tensor", _map_real_fake, CPU=_map_real_cpu,
                  CUDA=_map_real_cuda)
torch.library.register_autograd("pwl::real", _gradient, setup_context=_keep_input, lib=LIBRARY)


def map_real_plain(x: Tensor, table: str) -> Tensor:
    """The same where x is plain()."""
    return (_map_real_cuda if x.is_cuda else _map_real_cpu)(x, table)


# ---- pwl::slope ----

@functools.lru_cache(maxsize=4096)
def _slopes(table: str, device: torch.device) -> tuple[Tensor, Tensor]:
    """The first code of each segment, ascending, and its slope in real numbers: that of the chord from its first value to
    the next segment's, of the last one's to the last value. The slope of its own line says little of a short segment,
    whose only code any line hits. Below the zero point of folded tables stand the same segments, mirrored."""
    of = table_of(table)
    if of.reduced:
        raise Error(f"{of}: a table of one octave has no slopes of its own: give exact, the function's values")
    starts = of.segments["start"].astype(np.int64)
    if "fold" in json.loads(table):  # segment i is mirrored to codes 2 zp - start[i + 1] + 1 and up
        starts = np.concatenate([2 * of.input.zero_point - starts[:0:-1] + 1, starts])
    starts = np.unique(np.append(starts[starts > of.input.qmin], of.input.qmin))
    ends = np.append(starts[1:], of.input.qmax)
    rise = of(ends).astype(np.int64) - of(starts).astype(np.int64)
    slopes = rise / np.maximum(ends - starts, 1) * (of.output.scale / of.input.scale)
    return torch.from_numpy(starts.astype(np.float64)).to(device), torch.from_numpy(slopes.astype(np.float32)).to(device)


def _unclamped(x: Tensor, of: Type) -> Tensor:
    """The codes of real numbers, in double, before Type.quantize() clamps them; NaN of NaN."""
    return torch.round(x.to(torch.float32) * float(np.float32(1) / np.float32(of.scale))).to(torch.float64) + of.zero_point


def codes_of_real(x: Tensor, of: Type) -> Tensor:
    """Type.quantize()."""
    codes = torch.nan_to_num(_unclamped(x, of), nan=of.zero_point)
    return codes.clamp(of.qmin, of.qmax).to(_dtype(of))


def reals_of_codes(codes: Tensor, of: Type) -> Tensor:
    """Type.dequantize()."""
    return (codes.to(torch.int64) - of.zero_point).to(torch.float32) * float(np.float32(of.scale))


def _slope_of(x: Tensor, table: str) -> Tensor:
    _check(x, REALS, "real numbers")
    of = table_of(table).input
    starts, slopes = _slopes(table, x.device)
    codes = _unclamped(x, of)
    inside = (codes >= of.qmin) & (codes <= of.qmax)
    index = torch.searchsorted(starts, torch.where(inside, codes, of.qmin).contiguous(), right=True) - 1
    values = torch.where(inside, slopes[index], 0.0)
    return torch.empty_like(x).copy_(values)


def _slope_fake(x: Tensor, table: str) -> Tensor:
    _check(x, REALS, "real numbers")
    return torch.empty_like(x)


# The slope of the segment that each number's code is in; 0 beyond the input range, and for NaN.
slope = define("slope(Tensor x, str table) -> Tensor", _slope_fake, CPU=_slope_of, CUDA=_slope_of)


# ---- pwl::rows and pwl::map_rows ----

def _rows(x: Tensor, operator: str, exact: Optional[Tensor] = None) -> Tensor:
    _check(x, REALS, "real numbers")
    return torch.from_numpy(operator_of(operator).real(_array(x.to(torch.float32)))).to(x.dtype)


def _rows_cuda(x: Tensor, operator: str, exact: Optional[Tensor] = None) -> Tensor:
    _check(x, REALS, "real numbers")
    of, reals = operator_of(operator), x.to(torch.float32).contiguous()
    codes = codes_of_real(reals, of.input)
    mask = None if of.is_norm or not x.numel() else reals - reals.amax(-1, keepdim=True) > -FARTHEST
    return reals_of_codes(_launch_rows(of, codes, mask), of.output).to(x.dtype)


def _rows_fake(x: Tensor, operator: str, exact: Optional[Tensor] = None) -> Tensor:
    hint_at_translations(False)
    _check(x, REALS, "real numbers")
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _of_exact(ctx: Any, of_y: Tensor) -> tuple[None, None, Optional[Tensor]]:
    return None, None, of_y if ctx.needs_input_grad[2] else None


# Real numbers by a row operator along the last dimension: RowOperator.real(), rounded once more to the type of x. The
# gradient goes to `exact`, the values of the function itself.
map_rows = define("rows(Tensor x, str operator, Tensor? exact=None) -> Tensor", _rows_fake, CPU=_rows, CUDA=_rows_cuda)
torch.library.register_autograd("pwl::rows", _of_exact, lib=LIBRARY)


def _map_rows(x: Tensor, operator: str) -> Tensor:
    _check(x, CODES, "codes")
    return torch.from_numpy(operator_of(operator)(_array(x)))


def _map_rows_cuda(x: Tensor, operator: str) -> Tensor:
    _check(x, CODES, "codes")
    of = operator_of(operator)
    if x.dtype != _dtype(of.input):  # asking for their range waits for the device
        if x.numel():
            check_codes(of.input, *(int(end) for end in torch.aminmax(x.to(torch.int64))))
        x = x.to(_dtype(of.input))
    return _launch_rows(of, x.contiguous(), None)


def _map_rows_fake(x: Tensor, operator: str) -> Tensor:
    hint_at_translations(False)
    _check(x, CODES, "codes")
    return torch.empty_like(x, dtype=_dtype(operator_of(operator).output), memory_format=torch.contiguous_format)


# Output codes of input codes along the last dimension, in the smallest type that holds them: RowOperator's call.
map_row_codes = define("map_rows(Tensor x, str operator) -> Tensor", _map_rows_fake, CPU=_map_rows,
                       CUDA=_map_rows_cuda)
