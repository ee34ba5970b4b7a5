# SPDX-License-Identifier: Apache-2.0
"""What products of pwl.qgemm have beside weights, a bias and a table: gates, and the types of what integers multiply."""
from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from .codes import Array, Type
from .errors import Error
from .table import Table

if TYPE_CHECKING:
    from .qgemm import Packed

INTEGERS = ["int8", "int4"]  # formats of weights with a power of two for each row
PAIR_ROWS = 8                # of a gate, and as many of up, in turns
ROWS = 128                   # to a multiple of which rows of packed weights are padded
TYPE_FIELDS = ["bits", "signed", "scale", "zero_point", "qmin", "qmax"]


class Options(NamedTuple):
    """Of Product. Types of INT8 have scales of powers of two."""
    gated: bool = False
    up_limit: float = 0.0
    up_plus: float = 0.0
    input: Optional[Type] = None   # of x, in INT8
    up: Optional[Type] = None      # gated, in INT8
    output: Optional[Type] = None  # of the result, where the table has not said it

    def said(self) -> dict[str, Any]:
        """What is not as ever."""
        return {name: value for name, value in self._asdict().items() if value != self._field_defaults[name]}

    def text(self) -> str:
        """The same as JSON; empty where there is nothing."""
        said = {name: [getattr(value, field) for field in TYPE_FIELDS] if isinstance(value, Type) else value
                for name, value in self.said().items()}
        return json.dumps(said) if said else ""


def options_from(given: dict[str, Any]) -> Options:
    """Of keyword arguments, in which types may be texts."""
    unknown = [name for name in given if name not in Options._fields]
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}: there are {', '.join(Options._fields)}")
    types: dict[str, Any] = {name: Type.parse(value) if isinstance(value, str) else value for name, value in given.items()}
    return Options(**types)


@lru_cache(maxsize=4096)
def options_of(text: str) -> Options:
    """Of such a text."""
    said: dict[str, Any] = json.loads(text) if text else {}
    given: dict[str, Any] = {name: Type(*value) if isinstance(value, list) else value for name, value in said.items()}
    return Options(**given)


def shift_of(type: Type) -> int:
    """n of a scale of 2^-n."""
    mantissa, exponent = np.frexp(type.scale)
    if mantissa != 0.5:
        raise Error(f"{type}: scales of INT8 are powers of two")
    return 1 - int(exponent)


def _byte(type: Optional[Type], what: str) -> Type:
    if not isinstance(type, Type) or type.dtype != np.int8 or (type.qmin, type.qmax) != (-128, 127):
        raise Error(f"{what}={type}: products of int8 and int4 want a Type of s8")
    if not -128 <= type.zero_point <= 127:
        raise Error(f"{what}={type}: its zero point must be from -128 to 127")
    shift_of(type)
    return type


def checked_options(weights: Packed, table: Optional[Table], codes: bool, given: Options) -> Options:
    """What is given, where it fits."""
    gated, limit, plus, of_x, of_up, of_out = given
    is_integers = weights.format in INTEGERS
    if gated and (table is None or weights.n % (2 * PAIR_ROWS)):
        raise Error("gated=True needs a table, and weights that pack_pair() has packed")
    if (limit or plus) and (not gated or is_integers):
        raise Error("up_limit and up_plus are of gated products, but of int8 and int4")
    if not is_integers and (of_x or of_up):
        raise Error(f"input= and up= are of int8 and int4, not of {weights.format}")
    if (of_up is not None) != (is_integers and gated):
        raise Error("up= is of gated products of int8 and int4, which need it: a Type of s16")
    if of_up is not None and (of_up.dtype != np.int16 or (of_up.qmin, of_up.qmax) != (-32768, 32767)):
        raise Error(f"up={of_up}: must be a Type of s16")
    if is_integers:
        _byte(of_x, "input")
        if table is None and of_out is not None:
            _byte(of_out, "output")
    wants_output = gated and (codes or is_integers)
    if of_out is None and wants_output:
        raise Error("output=, the type of what a gate's value times up becomes, is missing")
    if of_out is not None and not wants_output and (table is not None or not is_integers):
        raise Error("output= is of codes that no table has a type for: of gated products, and of int8 and int4 without a "
                    "table")
    if codes and table is None and not is_integers:
        raise Error("codes=True needs a table")
    return given


class Form(NamedTuple):
    """What a product stores, and what its real numbers are made of: codes of a type; else sums, or real numbers."""
    dtype: Optional[str]  # None: that of x
    of: Optional[Type]
    sums: bool


def form_of(format: str, table: Optional[Table], codes: bool, options: Options) -> Form:
    if format in INTEGERS:
        of = options.output if options.gated or table is None else table.output
        return Form("int32" if of is None else of.dtype.name, of, of is None)
    if codes:
        of = options.output if options.gated else table.output if table else None
        return Form(of.dtype.name if of else None, of, False)
    return Form(None, None, False)


def n_w_of(memory: Any, packed: Packed) -> Any:
    """n_w of the rows of int8 and int4 weights, bytes that are to be seen as int8."""
    last = -(-packed.n // ROWS) * ROWS
    return memory[packed.size - last:packed.size - last + packed.n]


def shifts_of(memory: Array, packed: Packed, options: Options) -> Array:
    """n_w + n_x of the rows: sums count in units of 2^-that."""
    assert options.input is not None
    shifts: Array = n_w_of(memory, packed).view(np.int8).astype(np.int32) + shift_of(options.input)
    return shifts


def integer_bias(bias: Array, memory: Array, packed: Packed, options: Options) -> Array:
    """Real numbers in the units of the sums of int8 and int4, 2^-(n_w + n_x), to nearest, ties away from zero."""
    shifts = shifts_of(memory, packed, options)
    if options.gated:  # which has the gate's first, then up's
        shifts = shifts.reshape(-1, 2, PAIR_ROWS).swapaxes(0, 1).reshape(-1)
    units = np.ldexp(bias.astype(np.float64), shifts)
    sums: Array = np.clip(np.trunc(units + np.copysign(0.5, units)), -2 ** 31, 2 ** 31 - 1).astype(np.int32)
    return sums
