# SPDX-License-Identifier: Apache-2.0
"""Row operators: softmax and normalisation by integers, with a proven error, over the last axis of arrays of codes.

    op = pwl.softmax("s8:0.0472", "u8:2^-8", rows=4096)     # fitted by pwlc
    y = op(scores)                                          # codes to codes, along the last axis
    op(scores, mask=keep)                                   # places where keep is 0 take no part
    op.certificate.bound_lsb                                # no code of any row is further off

docs/operators.md has the formulas and the proofs.
"""
from __future__ import annotations

import math
import re
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import _core, cuda, document
from .certificate import OperatorCertificate, read_certificate
from .codes import DTYPES, Array, Type, codes_of, contiguous_out, read_type, real_array, returned
from .document import Fields
from .errors import Error, shown
from .table import Table

__all__ = ["RowOperator", "l2norm", "layernorm", "log_softmax", "rmsnorm", "softmax"]

KINDS = ["softmax", "logsoftmax", "layernorm", "rmsnorm", "l2norm"]
MOST_BYTES = 16 << 20  # of a file, as for pwlc
LONGEST = 65536
CELLS = 128
# exp(-104) is 0 in float32: so far below the largest number of its row, a place has no share in a softmax of float32.
FARTHEST = 104

# Arrays by their fields: how many entries (None: one a channel), and their type.
SOFTMAX_ARRAYS = {"exp": (256, "uint32"), "exp_high": (256, "uint32"), "exp_shift": (256, "uint8"),
                  "log_factor": (CELLS, "uint16"), "log_value": (CELLS, "int32")}
NORM_ARRAYS = {"gamma_codes": (None, "int32"), "beta_codes": (None, "int64")}
INTEGERS = {*SOFTMAX_ARRAYS, *NORM_ARRAYS, "fraction", "step", "step_shift", "log_unit", "log_shift", "variance_shift",
            "gamma_shift", "drop", "eps_code"}
COMMON = {"pwl_operator", "spec", "operator", "in", "out", "rows", "core", "hash", "certificate", "fraction"}


def _array(top: Fields, name: str, count: int, dtype: str) -> Optional[bytes]:
    """The entries of an array of integers as bytes; None where it is left out."""
    if name not in top:
        return None
    values, limits = top.get(name), np.iinfo(dtype)
    if not isinstance(values, list) or len(values) != count:
        raise Error(f"{top.name(name)}: must be a list of {count} integers")
    for k, value in enumerate(values):
        if type(value) is not int or not limits.min <= value <= limits.max:
            raise Error(f"{top.name(name)}[{k}]: {shown(value)}, must be an integer from {limits.min} to {limits.max}")
    return np.array(values, dtype).tobytes()


def read_arrays(top: Fields, arrays: Mapping[str, tuple[Optional[int], str]], rows: int) -> tuple[Optional[bytes], ...]:
    """Those that the compiled part takes."""
    found = [_array(top, name, rows if count is None else count, dtype) for name, (count, dtype) in arrays.items()]
    return tuple(found + [None] * (5 - len(found)))


def read_sides(top: Fields) -> tuple[Type, Type]:
    """Input and output of rows."""
    x, y = read_type(top, "in"), read_type(top, "out")
    for name, side in (("in", x), ("out", y)):
        if side.bits not in (8, 16):
            raise Error(f"{name}.bits: {side.bits}, must be 8 or 16")
    return x, y


def check_row(shape: tuple[int, ...], longest: int, first: int) -> None:
    """Refuses an array whose rows are no rows of up to so many places, and what causal rows cannot begin with."""
    if len(shape) < 1 or not 1 <= shape[-1] <= longest:
        raise Error(f"an array of shape {shape}: the last axis must have 1 to {longest} places")
    if first < 0:
        raise Error(f"first: {first}, must be 0 or more")


def _softmax_fields(top: Fields, is_log: bool, x: Type, y: Type, rows: int) -> tuple[int, ...]:
    own = {"step": 0, "step_shift": 0, "log_unit": 0, "log_shift": 0}
    limits = {"step": 1 << 31, "step_shift": 64, "log_unit": 1 << 31, "log_shift": 64}
    top.only({*COMMON, *SOFTMAX_ARRAYS, *(own if is_log else ())})
    if is_log:
        own = {name: top.integer(name, 0, limits[name] - 1) for name in own}
    match = re.fullmatch(r"2\^-([0-9]{1,2})", y.scale_text)
    bits = int(match[1]) if match and not is_log else 0
    if not is_log and not 1 <= bits <= 16:
        raise Error(f"out.scale: {shown(y.scale_text)}, must be from 2^-1 to 2^-16")
    return (int(is_log), DTYPES.index(x.dtype), DTYPES.index(y.dtype), top.integer("fraction", 8, 30), bits,
            own["step_shift"], own["log_shift"], rows, own["step"], own["log_unit"], y.qmin, y.qmax, y.zero_point)


def _norm_fields(top: Fields, is_layer: bool, x: Type, y: Type, rows: int) -> tuple[int, ...]:
    top.only({*COMMON, *NORM_ARRAYS, "eps", "gamma", "beta", "variance_shift", "gamma_shift", "drop", "eps_code"})
    middle = (x.qmin + x.qmax + 1) // 2
    return (int(not is_layer), DTYPES.index(x.dtype), DTYPES.index(y.dtype), top.integer("variance_shift", 0, 24),
            top.integer("fraction", 1, 30), top.integer("gamma_shift", -128, 127), top.integer("drop", 0, 8), rows, y.qmin,
            y.qmax, y.zero_point, middle if is_layer else x.zero_point, top.integer("eps_code", 0, (1 << 63) - 1))


def _reals(top: Fields, rows: int) -> tuple[Optional[float], Optional[Array], Optional[Array]]:
    """eps, gamma and beta, which say what a norm stands for: it is computed by their codes."""
    found: list[Optional[Array]] = []
    for name, shape in (("eps", ()), ("gamma", (rows,)), ("beta", (rows,))):
        value = top.value.get(name)
        values = value if isinstance(value, list) else [value]
        if value is not None and not (isinstance(value, list) == bool(shape) and len(values) == math.prod(shape) and all(
                isinstance(one, (int, float)) and not isinstance(one, bool) and math.isfinite(one) for one in values)):
            raise Error(f"{top.name(name)}: must be {f'a list of {rows} numbers' if shape else 'a number'}")
        found.append(None if value is None else np.array(value, np.float64))
    eps, gamma, beta = found
    return None if eps is None else float(eps), gamma, beta


class RowOperator(document.Kept, _core.RowOperator):
    """A row operator, from the JSON of pwlc. It never changes; any number of threads may call it.

    input, output     the Types of both sides
    operator          "softmax", "logsoftmax", "layernorm", "rmsnorm" or "l2norm"
    rows              the longest row; of norms the length of every row
    certificate       an OperatorCertificate
    core              the Table of the reciprocal, or of the reciprocal square root
    constants         the JSON's other integers by their fields, arrays of int64 or numbers
    eps, gamma, beta  of norms, as they were given: a number, and arrays or None
    """

    input: Type
    output: Type
    operator: str
    rows: int
    spec: str
    certificate: OperatorCertificate
    core: Table
    constants: Mapping[str, Any]
    eps: Optional[float]
    gamma: Optional[Array]
    beta: Optional[Array]
    notes: tuple[str, ...] = ()
    _uploads: dict[int, Any]  # of cuda.py, by device
    MOST_BYTES = MOST_BYTES

    @classmethod
    def _read(cls, top: Fields, path: str) -> RowOperator:
        top.integer("pwl_operator", 1, 1)
        kind, rows = KINDS[top.choice("operator", KINDS)], top.integer("rows", 1, LONGEST)
        x, y = read_sides(top)
        is_norm = kind in KINDS[2:]
        fields = (_norm_fields(top, kind == "layernorm", x, y, rows) if is_norm
                  else _softmax_fields(top, kind == "logsoftmax", x, y, rows))
        arrays = read_arrays(top, NORM_ARRAYS if is_norm else SOFTMAX_ARRAYS, rows)
        core = top.get("core")
        table = Table(core if isinstance(core, dict) else {})
        reals = _reals(top, rows)
        self = _core.RowOperator.__new__(cls, is_norm, table, fields, arrays)
        self.input, self.output, self.operator, self.rows, self.core = x, y, kind, rows, table
        self.eps, self.gamma, self.beta = reals
        self.constants = {name: np.array(value, np.int64) if isinstance(value, list) else value
                          for name, value in top.value.items() if name in INTEGERS}
        self.spec = top.value.get("spec", "")
        self._uploads = {}
        self.certificate = read_certificate(top, path)
        return self

    def __repr__(self) -> str:
        bound = self.certificate.bound_lsb
        return (f"<pwl.RowOperator {self.operator}, {self.input} to {self.output}, rows of "
                f"{'' if self.is_norm else 'up to '}{self.rows}{'' if bound is None else f', error at most {bound:g} LSB'}>")

    @property
    def is_norm(self) -> bool:
        """Whether it is one of the norms, whose rows have one length and no mask."""
        return self.operator in KINDS[2:]

    def check(self, shape: tuple[int, ...], masked: bool, causal: bool, first: int) -> None:
        """Refuses what a call cannot have: an array of this shape, a mask, causal rows."""
        if self.is_norm and shape[-1:] != (self.rows,):
            raise Error(f"an array of shape {shape}: the last axis must have {self.rows} places")
        if self.is_norm and (masked or causal):
            raise Error(f"mask, causal: not of {self.operator}")
        check_row(shape, self.rows, first)

    def __call__(self, x: Any, out: Any = None, *, mask: Any = None, causal: bool = False, first: int = 0) -> Any:
        """The output codes of rows along the last axis of x, codes of the input's type. out, of the output's type and x's
        shape, may be x where both types have one size.

        Of softmax and logsoftmax, a place where mask is 0 or False takes no part; mask broadcasts to x. With causal, the
        second last axis counts rows: row r sees its first `first + r + 1` places.

        An array on a CUDA device gives one there: x has the input's type, mask x's shape or that of one row."""
        if cuda.is_cuda(x) or cuda.is_cuda(out):
            return cuda.map_rows(self, x, out, mask=mask, causal=causal, first=first)
        array = codes_of(x, self.input)
        self.check(array.shape, mask is not None, causal, first)
        result = contiguous_out(array.shape, out, self.output.dtype)
        array = np.ascontiguousarray(array)
        keep = None if mask is None else np.ascontiguousarray(np.broadcast_to(np.asarray(mask) != 0, array.shape),
                                                              dtype=np.uint8)
        if array.size:
            self._run_blocks(array, result, keep, causal, first)
        return returned(result, out)

    def _run_blocks(self, x: Array, y: Array, mask: Optional[Array], causal: bool, first: int) -> None:
        """Causal rows count anew in each block of the two last axes."""
        length = x.shape[-1]
        if not causal:
            self._run(x, y, length, mask, False, 0)
            return
        rows = x.shape[-2] if x.ndim > 1 else 1
        blocks = x.reshape(-1, rows, length), y.reshape(-1, rows, length)
        masks = None if mask is None else mask.reshape(-1, rows, length)
        for k in range(blocks[0].shape[0]):
            self._run(blocks[0][k], blocks[1][k], length, None if masks is None else masks[k], True, first)

    def real(self, x: Any) -> Array:
        """Real numbers of real numbers, in float32, along the last axis: dequantize(self(quantize(x))). Of softmax and
        logsoftmax, a place that float32 gives no share takes none here either: -inf, and what lies more than 104 below the
        largest number of its row, as masks that are added make it."""
        reals = real_array(x)
        keep = None
        if not self.is_norm and reals.size:
            keep = kept(reals)
            keep = None if keep.all() else keep
        y: Array = self.dequantize(self(self.quantize(reals), mask=keep))
        return y

    def exponentials(self) -> Array:
        """Of softmax and logsoftmax, E[d] of every difference d of two codes, 256 or 65536 of them."""
        low = self.constants["exp"].astype(np.uint64)
        if "exp_high" not in self.constants:
            return np.asarray(low, np.int64)
        high, shift = (self.constants[name].astype(np.uint64)[:, None] for name in ("exp_high", "exp_shift"))
        shift = np.minimum(shift, np.uint64(63))
        products = np.where(shift > 62, 0, (high * low + (np.uint64(1) << (shift - np.uint64(1)))) >> shift)
        return np.asarray(products.ravel(), np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes of its tables, as `pwlc show` counts them."""
        arrays = {**SOFTMAX_ARRAYS, **NORM_ARRAYS}
        sizes = [int(value.size) * np.dtype(arrays[name][1]).itemsize for name, value in self.constants.items() if name in arrays]
        return int(self.core.segments.nbytes) + sum(sizes)

    def quantize(self, x: Any, out: Optional[Array] = None) -> Any:
        """The input codes of real numbers: input.quantize()."""
        return self.input.quantize(x, out)

    def dequantize(self, codes: Any, out: Optional[Array] = None) -> Any:
        """The real numbers of output codes: output.dequantize()."""
        return self.output.dequantize(codes, out)


def kept(x: Array) -> Array:
    """Which places of rows a softmax in float32 gives more than 0, as far as single places tell."""
    with np.errstate(invalid="ignore", over="ignore"):  # of a row of -inf, no place
        return np.asarray(x - x.max(axis=-1, keepdims=True) > -FARTHEST)


def _fit(kind: str, input: Union[str, Type], output: Union[str, Type], **keywords: Any) -> RowOperator:
    from .fit import fit_text
    text, notes = fit_text(kind, {"input": input, "output": output, **keywords})
    operator = RowOperator(text)
    operator.notes = notes
    return operator


def softmax(input: Union[str, Type], output: Union[str, Type], *, rows: int, fraction: Optional[int] = None) -> RowOperator:
    """Softmax of rows of up to `rows` places: `pwlc fit softmax`. output has a scale of 2^-1 to 2^-16, as "u8:2^-8"."""
    return _fit("softmax", input, output, rows=rows, fraction=fraction)


def log_softmax(input: Union[str, Type], output: Union[str, Type], *, rows: int,
                fraction: Optional[int] = None) -> RowOperator:
    """The logarithm of softmax: `pwlc fit logsoftmax`. All results are 0 or below: give output a zero point near its
    highest code, as "s16:2^-11:32767"."""
    return _fit("logsoftmax", input, output, rows=rows, fraction=fraction)


def layernorm(input: Union[str, Type], output: Union[str, Type], gamma: Any = None, beta: Any = None,
              eps: Optional[float] = None, *, rows: Optional[int] = None) -> RowOperator:
    """LayerNorm over rows of as many channels as gamma or beta has, or `rows`: `pwlc fit layernorm`. eps is 1e-5 unless it
    is given."""
    return _fit("layernorm", input, output, gamma=gamma, beta=beta, eps=eps, rows=rows)


def rmsnorm(input: Union[str, Type], output: Union[str, Type], gamma: Any = None, eps: Optional[float] = None, *,
            beta: Any = None, rows: Optional[int] = None) -> RowOperator:
    """RMSNorm, as layernorm()."""
    return _fit("rmsnorm", input, output, gamma=gamma, beta=beta, eps=eps, rows=rows)


def l2norm(input: Union[str, Type], output: Union[str, Type], *, rows: int, eps: Optional[float] = None) -> RowOperator:
    """x / sqrt(sum of x^2 + eps) over rows of exactly `rows` places; eps is 0 unless it is given."""
    return _fit("l2norm", input, output, rows=rows, eps=eps)
