# SPDX-License-Identifier: Apache-2.0
"""Tables of pwlc on numpy arrays, by libpwl: the codes of `pwlc eval`, at the speed of the C library.

    import numpy as np
    import pwl

    table = pwl.load("sigmoid.json")        # as pwlc fit writes it; checked by pwl_table_check()
    y = table(np.array([24986], np.uint16))

    plan = table.plan(np.uint16)            # made once: the quickest way that this machine has
    plan(x, out=y)                          # y may be x
    plan.real(np.float32([0.1]))            # real numbers in and out, in one pass

Arrays hold codes, real = scale * (code - zero_point), as int8, uint8, int16, uint16, int32 or uint32; codes beyond the
table's input range are clamped to it. This one file needs numpy and the shared library: that in PWL_LIBRARY, else the
system's libpwl.so.1. Calls may come from any number of threads, and run without Python's lock. Tables and plans can be
pickled: a plan is made anew where it is read, by the quickest way there.
"""
import ctypes
import ctypes.util
import functools
import json
import operator
import os
import re

import numpy as np

__all__ = ["ABI_VERSION", "LEVELS_ALL", "Error", "Plan", "Table", "levels", "library", "load"]

ABI_VERSION = 1  # of <pwl/pwl.h>
LEVELS_ALL = 0xFFFFFFFF  # of <pwl/plan.h>, as are the bits of levels()

# In the order of the enumerations of <pwl/pwl.h>.
TYPES = [np.dtype(name) for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32")]
CASES = ["int8", "int16", "int32"]
FORMS = ["absolute", "biased", "anchored"]
ROUNDINGS = ["floor", "half_up", "half_away", "half_even"]
KINDS = ["leading_zeros", "exponent"]
OFFSETS = {"absolute": "term_c", "biased": "bias", "anchored": "y"}
TABLE_FIELDS = {"pwl_table", "spec", "function", "parameters", "expression", "method", "form", "rounding", "case", "in",
                "out", "fold", "reduction", "outside", "samples_sha256", "weights_sha256", "segments", "hash",
                "certificate"}
REDUCTION_FIELDS = {"kind", "step", "direction", "shift", "below", "addend", "fraction", "factor"}
SIDE_FIELDS = {"bits", "signed", "scale", "zero_point", "qmin", "qmax"}
MOST_BYTES = 4 << 20  # of a file, as for pwlc
SCALE = re.compile(r"2\^([+-]?[0-9]{1,18})|\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
FLAG_UNSIGNED_X = 1
FLAG_FOLD = 2


class Error(ValueError):
    """A table, an array or a type that cannot be used; the message says what would be right."""


class _Table(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint8), ("storage", ctypes.c_uint8), ("form", ctypes.c_uint8),
                ("rounding", ctypes.c_uint8), ("flags", ctypes.c_uint16), ("segments", ctypes.c_uint16),
                ("start", ctypes.c_void_p), ("q_b", ctypes.c_void_p), ("n", ctypes.c_void_p),
                ("offset", ctypes.c_void_p), ("zp_x", ctypes.c_int64), ("qmin_x", ctypes.c_int64),
                ("qmax_x", ctypes.c_int64), ("qmin_y", ctypes.c_int64), ("qmax_y", ctypes.c_int64),
                ("fold_sum", ctypes.c_int64)]


class _Reduction(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint8), ("kind", ctypes.c_uint8), ("log2_step", ctypes.c_uint8),
                ("fraction", ctypes.c_uint8), ("direction", ctypes.c_int8), ("shift", ctypes.c_int16),
                ("factor", ctypes.c_int64), ("addend", ctypes.c_int64), ("below", ctypes.c_int64),
                ("zp_x", ctypes.c_int64), ("qmin_x", ctypes.c_int64), ("qmax_x", ctypes.c_int64),
                ("zp_y", ctypes.c_int64)]


class _Reduced(ctypes.Structure):
    _fields_ = [("reduction", _Reduction), ("core", _Table)]


class _Proof(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("segment", ctypes.c_int32), ("acc_bits", ctypes.c_int32)]


class _Affine(ctypes.Structure):
    _fields_ = [("scale", ctypes.c_float), ("zero_point", ctypes.c_int64)]


_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Plan(ctypes.Structure):
    _fields_ = [("run", _RUN), ("kernel", ctypes.c_void_p), ("memory", ctypes.c_void_p), ("table", ctypes.c_void_p),
                ("way", ctypes.c_char_p), ("types", ctypes.c_uint8 * 4)]


_FUNCTIONS = {
    "pwl_abi_version": (ctypes.c_int, []),
    "pwl_levels": (ctypes.c_uint32, []),
    "pwl_status_text": (ctypes.c_char_p, [ctypes.c_int]),
    "pwl_table_check": (ctypes.c_int, [ctypes.POINTER(_Table), ctypes.POINTER(_Proof)]),
    "pwl_eval": (ctypes.c_int64, [ctypes.POINTER(_Table), ctypes.c_int64]),
    "pwl_plan_size": (ctypes.c_size_t, [ctypes.POINTER(_Table), ctypes.c_int, ctypes.c_int, ctypes.c_uint32]),
    "pwl_plan_init": (ctypes.c_int, [ctypes.POINTER(_Plan), ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(_Table),
                                     ctypes.c_int, ctypes.c_int, ctypes.c_uint32]),
    "pwl_run_real": (ctypes.c_int, [ctypes.POINTER(_Plan), _Affine, ctypes.c_void_p, _Affine, ctypes.c_void_p,
                                    ctypes.c_size_t]),
    "pwl_reduced_check": (ctypes.c_int, [ctypes.POINTER(_Reduced), ctypes.POINTER(_Proof)]),
    "pwl_reduced_eval": (ctypes.c_int64, [ctypes.POINTER(_Reduced), ctypes.c_int64]),
    "pwl_reduced_plan_size": (ctypes.c_size_t, [ctypes.POINTER(_Reduced), ctypes.c_int, ctypes.c_int,
                                                ctypes.c_uint32]),
    "pwl_reduced_plan_init": (ctypes.c_int, [ctypes.POINTER(_Plan), ctypes.c_void_p, ctypes.c_size_t,
                                             ctypes.POINTER(_Reduced), ctypes.c_int, ctypes.c_int, ctypes.c_uint32]),
}


@functools.lru_cache(maxsize=None)
def library():
    """libpwl, as ctypes has it. OSError where there is none, or one of another ABI version."""
    path = os.environ.get("PWL_LIBRARY") or ctypes.util.find_library("pwl") or f"libpwl.so.{ABI_VERSION}"
    try:
        lib = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(lib, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise OSError(f"no usable libpwl: {error}; install it, or name it in PWL_LIBRARY") from None
    if lib.pwl_abi_version() != ABI_VERSION:
        raise OSError(f"{path} has ABI version {lib.pwl_abi_version()}, not {ABI_VERSION}, which this pwl.py is for")
    return lib


def levels():
    """What this machine and library have beyond plain C, as bits of pwl/plan.h."""
    return library().pwl_levels()


def _shown(value):
    """A value for messages, which may be of any size."""
    try:
        text = repr(value)
    except ValueError:  # integers have at most 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 80 else text[:77] + "..."


class _Fields:
    """An object of the JSON whose fields are asked for by name, with a path for messages."""

    def __init__(self, path, value):
        if not isinstance(value, dict):
            raise Error(f"{path}: must be an object")
        self.path, self.value = path, value

    def name(self, field):
        return f"{self.path}.{field}" if self.path else field

    def get(self, field):
        if field not in self.value:
            raise Error(f"{self.name(field)}: is missing")
        return self.value[field]

    def integer(self, field, low, high):
        value = self.get(field)
        if type(value) is not int or not low <= value <= high:
            raise Error(f"{self.name(field)}: {_shown(value)}, must be an integer from {low} to {high}")
        return value

    def scale(self, field):
        """The text of a scale, "2^-12" or "0.0472"."""
        value = self.get(field)
        match = SCALE.fullmatch(value) if isinstance(value, str) and len(value) <= 1200 else None
        if match and match[1]:
            good = abs(int(match[1])) <= 64
        else:
            good = match and 2.0 ** -64 <= float(value) <= 2.0 ** 64
        if not good:
            raise Error(f"{self.name(field)}: {_shown(value)}, must be a text, 2^n or a positive decimal, from 2^-64 to "
                        "2^64")
        return value

    def choice(self, field, choices):
        value = self.get(field)
        if value not in choices:
            raise Error(f"{self.name(field)}: {_shown(value)}, must be one of {', '.join(map(str, choices))}")
        return choices.index(value)

    def object(self, field, known):
        inner = _Fields(self.name(field), self.get(field))
        inner.only(known)
        return inner

    def only(self, known):
        for field in self.value:
            if field not in known:
                raise Error(f"{self.name(field)}: unknown field")


def _signed(bits):
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


class Tensor:
    """Codes of one side of a table: bits, signed, scale (a string), zero_point, qmin, qmax; dtype is the smallest."""

    def __init__(self, fields):
        self.bits = fields.integer("bits", 2, 32)
        self.signed = bool(fields.choice("signed", [False, True]))
        self.scale = fields.scale("scale")
        self.zero_point = fields.integer("zero_point", *_signed(64))
        low, high = _signed(self.bits) if self.signed else (0, (1 << self.bits) - 1)
        self.qmin, self.qmax = fields.integer("qmin", low, high), fields.integer("qmax", low, high)
        width = 8 if self.bits <= 8 else 16 if self.bits <= 16 else 32
        self.dtype = np.dtype(f"{'int' if self.signed else 'uint'}{width}")

    def affine(self):
        """scale and zero_point for <pwl/real.h>, the scale rounded to float."""
        power = SCALE.fullmatch(self.scale)[1]
        return _Affine(2.0 ** int(power) if power else float(self.scale), self.zero_point)


def _type(dtype):
    """pwl_type of a dtype, in this machine's byte order."""
    try:
        return TYPES.index(np.dtype(dtype))
    except (TypeError, ValueError):
        raise Error(f"{dtype}: codes are int8, uint8, int16, uint16, int32 or uint32 in native byte order; "
                    "convert with astype()") from None


class Table:
    """A table from the JSON of pwlc, proven safe to run. input and output are its Tensors."""

    def __init__(self, document):
        top = _Fields("", document)
        top.integer("pwl_table", 1, 1)
        top.only(TABLE_FIELDS)
        self._document = document
        self.input, self.output = Tensor(top.object("in", SIDE_FIELDS)), Tensor(top.object("out", SIDE_FIELDS))
        self.function = top.get("function")
        self._table = _Table(version=1, storage=top.choice("case", CASES), form=top.choice("form", FORMS),
                             rounding=top.choice("rounding", ROUNDINGS), qmin_y=self.output.qmin,
                             qmax_y=self.output.qmax)
        self._reduced = None
        self._read_codes(top)
        self._read_segments(top)
        self._check()
        self._plans = {}

    def _read_codes(self, top):
        """What the segments are asked for: codes, or words of a reduced table."""
        table, bits = self._table, 8 << self._table.storage
        if "reduction" not in top.value:
            table.flags = 0 if self.input.signed else FLAG_UNSIGNED_X
            table.zp_x, table.qmin_x, table.qmax_x = self.input.zero_point, self.input.qmin, self.input.qmax
            if "fold" in top.value:
                table.flags |= FLAG_FOLD
                table.fold_sum = top.object("fold", {"sum"}).integer("sum", *_signed(64))
            return
        fields = top.object("reduction", REDUCTION_FIELDS)
        reduction = _Reduction(version=1, kind=fields.choice("kind", KINDS), zp_x=self.input.zero_point,
                               qmin_x=self.input.qmin, qmax_x=self.input.qmax, zp_y=self.output.zero_point,
                               direction=fields.integer("direction", -1, 1),
                               shift=fields.integer("shift", *_signed(16)))
        if reduction.kind == KINDS.index("exponent"):
            reduction.fraction = fields.integer("fraction", bits, 62)
            reduction.factor = fields.integer("factor", 1, _signed(64)[1])
        else:
            reduction.log2_step = fields.choice("step", [1, 2])
            reduction.below = fields.integer("below", self.output.qmin, self.output.qmax)
            table.qmin_x = 1 << (bits - 1 - reduction.log2_step)
            if "addend" in fields.value:
                reduction.addend = fields.integer("addend", 0, _signed(64)[1])
        table.flags, table.zp_x, table.qmax_x = FLAG_UNSIGNED_X, 1 << (bits - 1), (1 << bits) - 1
        self._reduced = _Reduced(reduction=reduction)

    def _read_segments(self, top):
        table, bits = self._table, 8 << self._table.storage
        offset = OFFSETS[FORMS[table.form]]
        offset_bits = {8: 32, 16: 32, 32: 64}[bits] if offset == "bias" else 2 * bits
        start = (0, (1 << bits) - 1) if table.flags & FLAG_UNSIGNED_X else _signed(bits)
        arrays = {"start": (start, np.dtype(f"{'u' if start[0] == 0 else ''}int{bits}")),
                  "q_b": (_signed(bits), np.dtype(f"int{bits}")),
                  "n_BX_total": (_signed(8), np.dtype(np.int8)),
                  offset: (_signed(offset_bits), np.dtype(f"int{offset_bits}"))}
        segments = top.get("segments")
        if not isinstance(segments, list) or not 1 <= len(segments) <= 4096:
            raise Error("segments: must be a list of 1 to 4096 segments")
        segments = [_Fields(f"segments[{k}]", segment) for k, segment in enumerate(segments)]
        for segment in segments:
            segment.only({*arrays, "unfused"})
        # Kept: the table points to them.
        self._arrays = [np.array([segment.integer(name, *limits) for segment in segments], dtype)
                        for name, (limits, dtype) in arrays.items()]
        table.segments = len(segments)
        table.start, table.q_b, table.n, table.offset = (array.ctypes.data for array in self._arrays)

    def _check(self):
        lib, proof = library(), _Proof()
        if self._reduced:
            self._reduced.core = self._table
            status = lib.pwl_reduced_check(self._reduced, proof)
        else:
            status = lib.pwl_table_check(self._table, proof)
        if status:
            where = f"segments[{proof.segment}]: " if proof.segment >= 0 else ""
            raise Error(f"{where}not safe to run: {lib.pwl_status_text(status).decode()}")

    def __reduce__(self):
        return Table, (self._document,)

    def eval(self, code):
        """The output code of one input code; any integer is accepted, and clamped as in arrays."""
        code = min(max(operator.index(code), self.input.qmin), self.input.qmax)
        if self._reduced:
            return library().pwl_reduced_eval(self._reduced, code)
        return library().pwl_eval(self._table, code)

    def plan(self, dtype=None, out_dtype=None, levels=LEVELS_ALL):
        """A Plan for arrays of these types, by default the smallest that hold the table's codes."""
        return Plan(self, self.input.dtype if dtype is None else dtype,
                    self.output.dtype if out_dtype is None else out_dtype, levels)

    def __call__(self, x, out=None):
        """Output codes of an array of input codes; into out where it is given. Plans are kept by their types."""
        x = np.asarray(x)
        key = x.dtype, self.output.dtype if out is None else out.dtype
        if key not in self._plans:
            self._plans[key] = self.plan(*key)
        return self._plans[key](x, out)


class Plan:
    """Maps arrays of one pair of types by one table. way names how."""

    def __init__(self, table, dtype, out_dtype, levels=LEVELS_ALL):
        lib = library()
        self.table, self._in, self._out, self._levels = table, _type(dtype), _type(out_dtype), levels
        limits = np.iinfo(TYPES[self._out])
        if table.output.qmin < limits.min or table.output.qmax > limits.max:
            raise Error(f"{TYPES[self._out]} does not hold output codes {table.output.qmin} to {table.output.qmax}")
        size_of, init, source = ((lib.pwl_reduced_plan_size, lib.pwl_reduced_plan_init, table._reduced)
                                 if table._reduced else (lib.pwl_plan_size, lib.pwl_plan_init, table._table))
        size = size_of(source, self._in, self._out, levels)
        self._memory, self._plan = ctypes.create_string_buffer(size or 1), _Plan()
        status = init(self._plan, self._memory, size, source, self._in, self._out, levels)
        if status:
            raise Error(lib.pwl_status_text(status).decode())
        self.way = self._plan.way.decode()

    def __reduce__(self):
        return Plan, (self.table, TYPES[self._in], TYPES[self._out], self._levels)

    def real(self, x, out=None):
        """Real numbers of the output codes of real numbers, both float32: x is quantised to the nearest code, ties to
        even, and the output code is scale * (code - zero_point). As __call__ otherwise; out may be x."""
        if self.table._reduced:
            raise Error("a table of one octave has no plan that takes real numbers; quantise, and call the table")
        x, out = self._arrays(x, out, np.dtype(np.float32), np.dtype(np.float32))
        status = library().pwl_run_real(self._plan, self.table.input.affine(), x.ctypes.data,
                                        self.table.output.affine(), out.ctypes.data, x.size)
        if status:
            raise Error("a zero point lies too far from 0 for real numbers: at most 2^30, beside codes of 32 bits 2^33")
        return out

    def __call__(self, x, out=None):
        """Output codes of x, an array of the plan's type of any shape; out is C-contiguous and of the same shape."""
        x, out = self._arrays(x, out, TYPES[self._in], TYPES[self._out])
        self._plan.run(ctypes.byref(self._plan), x.ctypes.data, out.ctypes.data, x.size)
        return out

    @staticmethod
    def _arrays(x, out, dtype, out_dtype):
        """x, C-contiguous, and out, made where it is not given; both checked."""
        x = np.asarray(x)
        if x.dtype != dtype:
            raise Error(f"x is of {x.dtype}, the plan of {dtype}")
        x = np.ascontiguousarray(x).reshape(x.shape)
        if out is None:
            out = np.empty(x.shape, out_dtype)
        elif not isinstance(out, np.ndarray) or out.dtype != out_dtype or out.shape != x.shape:
            raise Error(f"out must be an array of {out_dtype} and shape {x.shape}")
        elif not out.flags.c_contiguous or not out.flags.writeable:
            raise Error("out must be C-contiguous and writeable")
        elif np.may_share_memory(x, out) and (x.ctypes.data != out.ctypes.data or x.itemsize != out.itemsize):
            raise Error("x and out overlap and are not one array of elements of one size")
        return x, out


def _object(pairs):
    """An object of JSON; the second of two fields of one name would hide the first."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Error(f"{_shown(twice)}: appears twice in one object")
    return fields


def _integer(digits):
    value = int(digits) if len(digits) <= 20 else None
    if value is None or not -(1 << 63) <= value < 1 << 63:
        raise Error(f"{digits if len(digits) <= 40 else digits[:37] + '...'}: an integer beyond 64 bits")
    return value


def _real(digits):
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Error(f"{digits[:40]}: a number beyond double precision")
    return value


def _no_number(name):
    raise Error(f"{name}: is no number of JSON")


def load(path):
    """A Table from a file that pwlc fit wrote. Error names the file and the field, OSError a file that is not there."""
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    try:
        if len(data) > MOST_BYTES:
            raise Error(f"larger than the limit of {MOST_BYTES} bytes")
        return Table(json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_int=_integer, parse_float=_real,
                                parse_constant=_no_number))
    except (Error, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Error(f"{path}: {error}") from None
