# SPDX-License-Identifier: Apache-2.0
"""Row operators: softmax and normalisation by integers, with a proven error, over the last axis of arrays of codes.

    op = pwl.softmax("s8:0.0472", "u8:2^-8", rows=4096)     # fitted by pwlc
    y = op(scores)                                          # codes to codes, along the last axis
    op(scores, mask=keep)                                   # places where keep is 0 take no part
    op.certificate.bound_lsb                                # no code of any row is further off

docs/operators.md has the formulas and the proofs.
"""
from __future__ import annotations

import dataclasses
import os
import re
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import _core, document
from .codes import DTYPES, Array, Type, read_type
from .document import Fields
from .errors import Error, shown
from .table import Table

__all__ = ["OperatorCertificate", "RowOperator", "l2norm", "layernorm", "load_operator", "log_softmax", "rmsnorm", "softmax"]

KINDS = ["softmax", "logsoftmax", "layernorm", "rmsnorm", "l2norm"]
MOST_BYTES = 16 << 20  # of a file, as for pwlc
LONGEST = 65536
CELLS = 128

# Arrays by their fields: how many entries (None: one a channel), and their type.
SOFTMAX_ARRAYS = {"exp": (256, "uint32"), "exp_high": (256, "uint32"), "exp_shift": (256, "uint8"),
                  "log_factor": (CELLS, "uint16"), "log_value": (CELLS, "int32")}
NORM_ARRAYS = {"gamma_codes": (None, "int32"), "beta_codes": (None, "int64")}
COMMON = {"pwl_operator", "spec", "operator", "in", "out", "rows", "core", "hash", "certificate", "fraction"}


@dataclasses.dataclass(frozen=True)
class OperatorCertificate:
    """How far codes may be off, in units of an output code (LSB): bound_lsb is proven of every row. docs/operators.md has
    each field; a field that the operator does not have is None, and so are all of one that was edited, as its hash tells."""

    bound_lsb: Optional[float] = None
    rho: Optional[float] = None
    largest: Optional[float] = None
    root_lsb: Optional[float] = None
    gamma_lsb: Optional[float] = None
    rest_lsb: Optional[float] = None
    delta0: Optional[float] = None
    delta: Optional[float] = None
    max_err_lsb: Optional[float] = None
    rows: Optional[int] = None
    worst_row: Optional[str] = None

    # `lambda` is a word of Python: the field's name in the file, with a line behind it here.
    lambda_: Optional[float] = None


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


class RowOperator(document.Kept, _core.RowOperator):
    """A row operator, from the JSON of pwlc. It never changes; any number of threads may call it.

    input, output     the Types of both sides
    operator          "softmax", "logsoftmax", "layernorm", "rmsnorm" or "l2norm"
    rows              the longest row; of norms the length of every row
    certificate       an OperatorCertificate
    """

    input: Type
    output: Type
    operator: str
    rows: int
    spec: str
    certificate: OperatorCertificate
    notes: tuple[str, ...] = ()
    MOST_BYTES = MOST_BYTES

    @classmethod
    def _read(cls, top: Fields, path: str) -> RowOperator:
        top.integer("pwl_operator", 1, 1)
        kind, rows = KINDS[top.choice("operator", KINDS)], top.integer("rows", 1, LONGEST)
        x, y = read_type(top, "in"), read_type(top, "out")
        for name, side in (("in", x), ("out", y)):
            if side.bits not in (8, 16):
                raise Error(f"{name}.bits: {side.bits}, must be 8 or 16")
        is_norm = kind in KINDS[2:]
        fields = (_norm_fields(top, kind == "layernorm", x, y, rows) if is_norm
                  else _softmax_fields(top, kind == "logsoftmax", x, y, rows))
        arrays = [_array(top, name, rows if count is None else count, dtype)
                  for name, (count, dtype) in (NORM_ARRAYS if is_norm else SOFTMAX_ARRAYS).items()]
        core = top.get("core")
        self = _core.RowOperator.__new__(cls, is_norm, Table(core if isinstance(core, dict) else {}), fields,
                                          tuple(arrays + [None] * (5 - len(arrays))))
        self.input, self.output, self.operator, self.rows = x, y, kind, rows
        self.spec = top.value.get("spec", "")
        claims = {("lambda_" if name == "lambda" else name): value
                  for name, value in Fields("certificate", top.value.get("certificate", {})).value.items()}
        Fields("certificate", claims).only({field.name for field in dataclasses.fields(OperatorCertificate)})
        self.certificate = OperatorCertificate(**claims if document.counts(top, path, stacklevel=4) else {})
        return self

    def __repr__(self) -> str:
        bound = self.certificate.bound_lsb
        return (f"<pwl.RowOperator {self.operator}, {self.input} to {self.output}, rows of "
                f"{'' if self._is_norm else 'up to '}{self.rows}{'' if bound is None else f', error at most {bound:g} LSB'}>")

    @property
    def _is_norm(self) -> bool:
        return self.operator in KINDS[2:]

    def __call__(self, x: Any, out: Optional[Array] = None, *, mask: Any = None, causal: bool = False,
                 first: int = 0) -> Array:
        """The output codes of rows along the last axis of x, codes of the input's type. out, of the output's type and x's
        shape, may be x where both types have one size.

        Of softmax and logsoftmax, a place where mask is 0 or False takes no part; mask broadcasts to x. With causal, the
        second last axis counts rows: row r sees its first `first + r + 1` places."""
        array = np.asarray(x)
        if array.dtype != self.input.dtype:
            if array.dtype.kind not in "iu":
                raise Error(f"an array of {array.dtype}: codes are integers")
            if array.size and not (self.input.qmin <= array.min() and array.max() <= self.input.qmax):
                raise Error(f"codes from {array.min()} to {array.max()}: must be from {self.input.qmin} to {self.input.qmax}")
            array = array.astype(self.input.dtype)
        if array.ndim < 1 or not (array.shape[-1] == self.rows if self._is_norm else 1 <= array.shape[-1] <= self.rows):
            raise Error(f"an array of shape {array.shape}: the last axis must have "
                        f"{'' if self._is_norm else '1 to '}{self.rows} places")
        if self._is_norm and (mask is not None or causal):
            raise Error(f"mask, causal: not of {self.operator}")
        wanted = np.dtype(self.output.dtype)
        if out is not None and (not isinstance(out, np.ndarray) or out.dtype != wanted or out.shape != array.shape):
            raise Error(f"out must be an array of {wanted} of shape {array.shape}")
        array = np.ascontiguousarray(array)
        keep = None if mask is None else np.ascontiguousarray(np.broadcast_to(np.asarray(mask) != 0, array.shape),
                                                              dtype=np.uint8)
        result = out if out is not None and out.flags.c_contiguous else np.empty(array.shape, wanted)
        if array.size:
            self._run_blocks(array, result, keep, causal, first)
        if out is not None and result is not out:
            out[...] = result
        return result if out is None else out

    def _run_blocks(self, x: Array, y: Array, mask: Optional[Array], causal: bool, first: int) -> None:
        """Causal rows count anew in each block of the two last axes."""
        length = x.shape[-1]
        if not causal:
            self._run(x, y, length, mask, False, 0)
            return
        rows = x.shape[-2] if x.ndim > 1 else 1
        if first < 0:
            raise Error(f"first: {first}, must be 0 or more")
        blocks = x.reshape(-1, rows, length), y.reshape(-1, rows, length)
        masks = None if mask is None else mask.reshape(-1, rows, length)
        for k in range(blocks[0].shape[0]):
            self._run(blocks[0][k], blocks[1][k], length, None if masks is None else masks[k], True, first)

    def quantize(self, x: Any, out: Optional[Array] = None) -> Any:
        """The input codes of real numbers: input.quantize()."""
        return self.input.quantize(x, out)

    def dequantize(self, codes: Any, out: Optional[Array] = None) -> Any:
        """The real numbers of output codes: output.dequantize()."""
        return self.output.dequantize(codes, out)


def load_operator(path: Union[str, os.PathLike[str]]) -> RowOperator:
    """A RowOperator from a file that pwlc fit wrote. Error names the file and the field, OSError a file that is not
    there."""
    try:
        return RowOperator._make(document.read(path, MOST_BYTES), f"{os.fspath(path)}: ")
    except Error as error:
        raise Error(f"{os.fspath(path)}: {error}") from None


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
