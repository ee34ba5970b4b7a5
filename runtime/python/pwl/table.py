# SPDX-License-Identifier: Apache-2.0
"""Tables: what pwlc fit makes, proven safe to run, on arrays of numpy."""
from __future__ import annotations

import copy
import dataclasses
import os
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import _core, cuda, document
from .arguments import Arguments
from .codes import DTYPES, Array, Type, code_range, plain, read_type, real_array, real_out
from .document import Fields
from .errors import Error, shown
from .program import run

__all__ = ["Certificate", "LEVELS_ALL", "Plan", "Table", "load"]

LEVELS_ALL = 0xFFFFFFFF  # of <pwl/plan.h>, as are the bits of levels()

# In the order of the enumerations of <pwl/pwl.h> and <pwl/reduce.h>.
CASES = ["int8", "int16", "int32"]
FORMS = ["absolute", "biased", "anchored"]
ROUNDINGS = ["floor", "half_up", "half_away", "half_even"]
KINDS = ["leading_zeros", "exponent"]
OFFSETS = {"absolute": "term_c", "biased": "bias", "anchored": "y"}
TABLE_FIELDS = {"pwl_table", "spec", "function", "parameters", "expression", "method", "form", "rounding", "case", "in",
                "out", "fold", "reduction", "outside", "samples_sha256", "weights_sha256", "segments", "hash",
                "certificate"}
REDUCTION_FIELDS = {"kind", "step", "direction", "shift", "below", "addend", "fraction", "factor"}
FLAG_UNSIGNED_X = 1
FLAG_FOLD = 2


@dataclasses.dataclass(frozen=True)
class Certificate:
    """What pwlc found a table's error to be, in units of an output code (LSB), at every code or, where not exhaustive, at
    `checked` of them. docs/table-json.md has each field; a field that the table does not have is None, and so are all of
    a table that was edited, as its hash tells."""

    checked: Optional[int] = None
    exhaustive: Optional[bool] = None
    max_err_lsb: Optional[float] = None
    max_err_at: Optional[int] = None
    rms_err_lsb: Optional[float] = None
    mean_abs_err_lsb: Optional[float] = None
    correctly_rounded: Optional[float] = None
    saturated_codes: Optional[int] = None
    monotone: Optional[bool] = None
    acc_bits: Optional[int] = None
    objective: Optional[str] = None
    second_objective: Optional[str] = None
    lower_bound_lsb: Optional[float] = None
    optimal: Optional[bool] = None
    bound_lsb: Optional[float] = None
    proof: Optional[str] = None


def _read_reduction(top: Fields, bits: int, x: Type, y: Type) -> tuple[int, ...]:
    """In the order that _core takes; bits are those of the core's words."""
    fields = top.object("reduction", REDUCTION_FIELDS)
    kind = fields.choice("kind", KINDS)
    log2_step = fraction = factor = addend = below = 0
    if KINDS[kind] == "exponent":
        fraction, factor = fields.integer("fraction", bits, 62), fields.integer("factor", 1, code_range(64, True)[1])
    else:
        log2_step, below = fields.choice("step", [1, 2]), fields.integer("below", y.qmin, y.qmax)
        if "addend" in fields:
            addend = fields.integer("addend", 0, code_range(64, True)[1])
    return (kind, log2_step, fraction, fields.integer("direction", -1, 1), fields.integer("shift", *code_range(16, True)),
            factor, addend, below, x.zero_point, x.qmin, x.qmax, y.zero_point)


def _read_segments(top: Fields, bits: int, form: str, unsigned: bool) -> Array:
    """start, q_b, n_BX_total and the offset of the form, as the table stores them."""
    offset = OFFSETS[form]
    offset_bits = {8: 32, 16: 32, 32: 64}[bits] if offset == "bias" else 2 * bits
    columns = {"start": (code_range(bits, not unsigned), f"{'u' if unsigned else ''}int{bits}"),
               "q_b": (code_range(bits, True), f"int{bits}"), "n_BX_total": (code_range(8, True), "int8"),
               offset: (code_range(offset_bits, True), f"int{offset_bits}")}
    segments = top.get("segments")
    if not isinstance(segments, list) or not 1 <= len(segments) <= 4096:
        raise Error("segments: must be a list of 1 to 4096 segments")
    rows = []
    for k, segment in enumerate(segments):
        fields = Fields(f"segments[{k}]", segment)
        fields.only({*columns, "unfused"})
        rows.append(tuple(fields.integer(name, *limits) for name, (limits, _) in columns.items()))
    array = np.array(rows, [(name, dtype) for name, (_, dtype) in columns.items()])
    array.flags.writeable = False
    return array


def _read_certificate(top: Fields, path: str) -> Certificate:
    fields = Fields("certificate", top.value.get("certificate", {}))
    known = {field.name for field in dataclasses.fields(Certificate)}
    fields.only(known)
    if not document.counts(top, path, stacklevel=5):  # who called Table() or load()
        return Certificate()
    return Certificate(**fields.value)


class Table(document.Kept, _core.Table):
    """A table, from the JSON of pwlc. It never changes; any number of threads may call it.

    table(x) gives the output codes of input codes, integers of any type, shape and layout; table(x, out=y) writes them
    into y, which may be x. Codes beyond the input range are clamped to it. Numbers and lists are taken too, and arrays
    on a CUDA device, whose results stay there.

    input, output     the Types of both sides
    function          its name, and parameters, a dict
    form, rounding, method, case, spec
    segments          an array of numpy with fields start, q_b, n_BX_total, and term_c, bias or y
    certificate       a Certificate
    reduced           whether the segments are those of one octave, which serves all (reduce="on")
    fold_sum          of a folded table (symmetry="fold") the sum of a code's and its mirror image's output; else None
    notes             what pwlc had to say when fit() made it; no part of the table
    """

    input: Type
    output: Type
    function: str
    parameters: dict[str, float]
    form: str
    rounding: str
    case: str
    method: str
    spec: str
    segments: Array
    reduced: bool
    fold_sum: Optional[int]
    certificate: Certificate
    notes: tuple[str, ...] = ()
    _content: tuple[object, ...]
    _uploads: dict[int, Any]  # of cuda.py, by device

    @classmethod
    def _read(cls, top: Fields, path: str) -> Table:
        top.integer("pwl_table", 1, 1)
        top.only(TABLE_FIELDS)
        x, y = read_type(top, "in"), read_type(top, "out")
        case, form = top.choice("case", CASES), top.choice("form", FORMS)
        rounding, bits = top.choice("rounding", ROUNDINGS), 8 << case
        flags, fold_sum, reduction = (0 if x.signed else FLAG_UNSIGNED_X), 0, None
        zero, low, high = x.zero_point, x.qmin, x.qmax
        if "reduction" in top:  # the segments are asked for words of one octave
            reduction = _read_reduction(top, bits, x, y)
            flags, zero, high = FLAG_UNSIGNED_X, 1 << (bits - 1), (1 << bits) - 1
            low = 1 << (bits - 1 - reduction[1]) if KINDS[reduction[0]] == "leading_zeros" else 0
        elif "fold" in top:
            flags |= FLAG_FOLD
            fold_sum = top.object("fold", {"sum"}).integer("sum", *code_range(64, True))
        segments = _read_segments(top, bits, FORMS[form], bool(flags & FLAG_UNSIGNED_X))
        names = segments.dtype.names or ()
        self = _core.Table.__new__(
            cls, (case, form, rounding, flags, zero, low, high, y.qmin, y.qmax, fold_sum),
            tuple(segments[name].tobytes() for name in names), reduction,
            (DTYPES.index(x.dtype), DTYPES.index(y.dtype), x.scale, x.zero_point, y.scale, y.zero_point))
        self.input, self.output, self.segments = x, y, segments
        self.reduced = reduction is not None
        self.fold_sum = fold_sum if flags & FLAG_FOLD else None
        self.form, self.rounding, self.case = FORMS[form], ROUNDINGS[rounding], CASES[case]
        self.function, self.method = top.get("function"), top.value.get("method", "")
        self.parameters, self.spec = dict(top.value.get("parameters", {})), top.value.get("spec", "")
        self.certificate = _read_certificate(top, path)
        self._uploads = {}
        self._content = (x, y, case, form, rounding, fold_sum, flags, reduction, segments.tobytes())
        return self

    def __repr__(self) -> str:
        count, error = len(self.segments), self.certificate.max_err_lsb
        return (f"<pwl.Table {self.function}, {self.input} to {self.output}, {count} segment{'s' if count > 1 else ''}"
                f"{'' if error is None else f', error at most {error:g} LSB'}>")

    def __eq__(self, other: object) -> bool:
        """Whether both give the same codes, by the same segments, with the same meaning."""
        return self._content == other._content if isinstance(other, Table) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content)

    def __copy__(self) -> Table:
        return self

    def __deepcopy__(self, memo: object) -> Table:
        return self

    def emit(self, format: str = "c", **flags: Any) -> str:
        """The table's text in a format of `pwlc list formats`: a C or CUDA header, SystemVerilog, CSV and others. The flags
        of `pwlc emit` are keywords, as in fit()."""
        for keyword in ("o", "check", "MD", "MF"):
            if keyword in flags:
                raise Error(f"{keyword}: no keyword of emit(), which returns the text")
        if "profile" in flags:
            raise Error("profile: no keyword of emit(); export() gives the file of a profile")
        if format == "npy":
            raise Error("format='npy': no text; table.segments are these numbers as an array")
        with Arguments("emit", {"format": format, **flags}) as arguments:
            return run(["emit", "-", *arguments], self._json).decode()

    def export(self, profile: str) -> bytes:
        """The file that a chip, compiler or library reads: profile as `pwlc list profiles` has it, with its notation,
        "tosa16:mlir". ToolError where the layout cannot hold the table. Notations of several files are pwlc emit's alone."""
        return run(["emit", "-", "--profile", profile], self._json)

    def plan(self, dtype: Any = None, out_dtype: Any = None, levels: int = LEVELS_ALL) -> Plan:
        """A Plan for arrays of these types, by default the smallest that hold the table's codes. The table makes and
        keeps its own: this is for those who want to know the way taken, or to forbid instructions."""
        return Plan(self, self.input.dtype if dtype is None else dtype,
                    self.output.dtype if out_dtype is None else out_dtype, levels)

    def quantize(self, x: Any, out: Optional[Array] = None) -> Any:
        """The input codes of real numbers: input.quantize()."""
        return self.input.quantize(x, out)

    def dequantize(self, codes: Any, out: Optional[Array] = None) -> Any:
        """The real numbers of output codes: output.dequantize()."""
        return self.output.dequantize(codes, out)

    def real(self, x: Any, out: Any = None) -> Any:
        """dequantize(table(quantize(x))) in one pass, bit for bit, in float32; out may be x."""
        if cuda.is_cuda(x) or cuda.is_cuda(out):
            return cuda.map_real(self, x, out)
        array = real_array(x)
        reals = real_out(array, out, np.dtype(np.float32))
        self._real(array, reals)
        return plain(reals, out)

    def _call_other(self, x: Any, out: Any) -> Any:
        """A call with anything but arrays of numpy."""
        if cuda.is_cuda(x) or cuda.is_cuda(out):
            return cuda.map(self, x, out)
        if out is not None and not isinstance(out, np.ndarray):
            raise Error(f"out must be an array of numpy, not {type(out).__name__}")
        array = np.asarray(x)
        if array.dtype.kind == "O":  # integers of any size
            limits = self.input.qmin, self.input.qmax
            try:
                array = np.array([min(max(code.__index__(), limits[0]), limits[1]) for code in array.flat],
                                 self.input.dtype).reshape(array.shape)
            except AttributeError:
                raise Error(f"{shown(x)}: codes are integers") from None
        elif array.size == 0:
            array = array.astype(self.input.dtype)
        return plain(super().__call__(array, out), out)


class Plan(_core.Plan):
    """How a table maps arrays of one pair of types. plan(x, out=None) as the table's own call, with those types alone;
    way names how."""

    table: Table
    _arguments: tuple[Any, Any, int]

    def __new__(cls, table: Table, dtype: Any, out_dtype: Any, levels: int = LEVELS_ALL) -> Plan:
        types = _type_index(dtype), _type_index(out_dtype)
        self = super().__new__(cls, table, *types, levels)
        self.table, self._arguments = table, (DTYPES[types[0]], DTYPES[types[1]], levels)
        return self

    def __repr__(self) -> str:
        return f"<pwl.Plan of {self._arguments[0]} to {self._arguments[1]} by {self.way}>"

    def __reduce__(self) -> tuple[object, ...]:
        return Plan, (self.table, *self._arguments)


def _type_index(dtype: Any) -> int:
    """pwl_type of a dtype, in this machine's byte order."""
    try:
        return DTYPES.index(np.dtype(dtype))
    except (TypeError, ValueError):
        raise Error(f"{dtype}: codes are int8, uint8, int16, uint16, int32 or uint32 in native byte order") from None


def load(path: Union[str, os.PathLike[str]]) -> Table:
    """A Table from a file that pwlc fit wrote. Error names the file and the field, OSError a file that is not there."""
    try:
        return Table._make(document.read(path), f"{os.fspath(path)}: ")
    except Error as error:
        raise Error(f"{os.fspath(path)}: {error}") from None
