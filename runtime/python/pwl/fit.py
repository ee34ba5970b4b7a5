# SPDX-License-Identifier: Apache-2.0
"""Tables from functions, and other texts from tables, by the program pwlc."""
from __future__ import annotations

import functools
import json
import os
import sys
import warnings
from typing import Any, Callable, Mapping, Optional, Union

import numpy as np

from .arguments import Arguments
from .codes import Array, Type, as_array
from .errors import Error, MissingError, ToolError, shown
from .program import reply, run
from .table import Table

__all__ = ["emit", "export", "fit", "import_table"]

SAMPLED_CODES = 1 << 16  # as many points a callable is asked for at most; joined by straight lines where codes are more

# Flags of fit whose effect is not a table on standard output.
NOT_HERE = {"spec": "fit_many() has many tables", "jobs": "fit_many() has many tables",
            "shard": "fit_many() takes an executor", "resume": "fit_many() takes an executor",
            "o": "save() writes the table that fit() returns", "reply": "fit() reads it"}


def evaluate(function: Callable[[Any], Any], x: Array) -> Array:
    """A function's values at all elements of an array: at once where it takes arrays of numpy, or tensors of torch where
    torch is in use; else one by one."""
    takers: list[Callable[[], Any]] = [lambda: function(x)]
    torch = sys.modules.get("torch")
    if torch is not None:  # the second for modules whose parameters are in float32
        takers += [lambda: function(torch.from_numpy(x)), lambda: function(torch.from_numpy(x.astype(np.float32)))]
    for values_of in takers:
        try:
            values = as_array(values_of()).astype(np.float64)
            if values.shape == x.shape:
                return values
        except Exception:  # it takes something else; if it fails for numbers too, its exception is the caller's
            pass
    return np.array([float(function(element)) for element in x.ravel()]).reshape(x.shape)


def _sample(function: Callable[[Any], Any], x: Optional[Type]) -> Array:
    """Rows x, f(x): at every code where there are at most SAMPLED_CODES."""
    if x is None:
        raise Error("a function of Python is asked for values at each code: input must be a type with a scale, as "
                    "\"s8:0.05:0\"; an observer finds one from data")
    codes = np.unique(np.linspace(x.qmin, x.qmax, min(x.qmax - x.qmin + 1, SAMPLED_CODES)).round().astype(np.int64))
    reals = x.scale * (codes - x.zero_point).astype(np.float64)
    values = evaluate(function, reals)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise Error(f"the function is {values[bad[0]]} at x = {reals[bad[0]]:g}, code {codes[bad[0]]}; it must be finite at "
                    "every code")
    if len(codes) < x.qmax - x.qmin + 1:
        warnings.warn(f"the function is taken at {len(codes)} of {x.qmax - x.qmin + 1} codes, joined by straight lines: "
                      "errors are measured against these", stacklevel=4)
    return np.column_stack([reals, values])


@functools.lru_cache(maxsize=None)
def _functions() -> frozenset[str]:
    """The names of pwlc's functions, others that they go by too."""
    listed = json.loads(run(["list", "functions", "--format", "json"]))["functions"]
    return frozenset(name for one in listed for name in (one["name"], *one["aliases"]))


def check_function(function: object) -> None:
    """Refuses what is no function, and names that pwlc does not have, in its words. Where there is no pwlc, it takes any
    name."""
    if isinstance(function, str):
        try:
            if function not in _functions() and not function.startswith("-"):
                run(["fit", function, "--in", "s8:1", "--out", "s8:1"])
        except MissingError:
            return
    if isinstance(function, str) and function.startswith("-"):
        raise Error(f"{shown(function)}: no function's name")
    if function is not None and not isinstance(function, str) and not callable(function):
        raise Error(f"{shown(function)}: must be a name, as \"gelu\", or a function")


def named(function: Any) -> tuple[Any, dict[str, float]]:
    """An activation of torch, a module or a function, by pwlc's name for it, and its parameters; else what was given."""
    torch = sys.modules.get("torch")
    if torch is None or not callable(function):
        return function, {}
    if not isinstance(function, torch.nn.Module) and not str(getattr(function, "__module__", "")).startswith("torch"):
        return function, {}
    from .torch import functions
    found = functions.of_module(function) or functions.of_function(function)
    return found[0].for_pwlc() if found else (function, {})


def fit(function: Union[str, Callable[[Any], Any], None] = None, *, input: Union[str, Type, None] = None,
        output: Union[str, Type, None] = None, **keywords: Any) -> Table:
    """A table of a function, with its errors: `pwlc fit`, whose flags are keywords.

        pwl.fit("gelu", input="s8:0.0472:-3", output="s8:0.0238:-121", max_err=1.0)
        pwl.fit("elu", input="s16:2^-12", output="s16:2^-12", param={"alpha": 0.5}, symmetry="fold")
        pwl.fit(lambda x: x * np.tanh(x), input="s8:2^-5", output="s8:2^-5", segments=8, monotone=True)
        pwl.fit("silu", input="s8", output="s8", calibrate=x, calibrate_by="percentile=99.9")

    function is a name that `pwlc list` shows, or an activation of torch, as torch.nn.GELU(), or a function of Python: it
    is sampled, at every code of up to 16 bits, so that nothing is lost, and else at 65536 points joined by straight lines,
    with a warning; the table's function is then "samples". expr= and samples= (rows x, y) stand in its place.

    A flag --max-err is the keyword max_err; --in and --out are input and output. Switches take True. What pwlc reads from
    a file may be an array: weights, samples, calibrate. A flag that may be repeated takes a list, and param a dict; parts
    that pwlc joins by ":" may be a tuple, as fix=[(0, 0)] and range=(-4, 4). pwl.flags("fit") has them all, with help.

    What pwlc notes, as that codes saturate, is in the table's notes. ToolError has its message, and its exit code as code.
    """
    return fitted(*prepared(function, input=input, output=output, **keywords))


def prepared(function: Union[str, Callable[[Any], Any], None] = None, *, input: Union[str, Type, None] = None,
             output: Union[str, Type, None] = None, **keywords: Any) -> tuple[list[str], dict[str, Any]]:
    """The words and keywords of a fit, without what is a program: functions of Python are sampled."""
    for keyword, why in NOT_HERE.items():
        if keyword in keywords:
            raise Error(f"{keyword}: no keyword of fit(); {why}")
    keywords = {"input": input, "output": output, **keywords}
    words = ["fit"]
    function, parameters = named(function)
    if parameters:
        keywords["param"] = {**parameters, **(keywords.get("param") or {})}
    if isinstance(function, str):
        if function.startswith("-"):
            raise Error(f"{shown(function)}: no function's name")
        words.append(function)
    elif callable(function):
        if keywords.get("samples") is not None or keywords.get("expr") is not None:
            raise Error("give a function, or expr=, or samples=")
        keywords["samples"] = _sample(function, known_type(input))
    elif function is not None:
        raise Error(f"{shown(function)}: must be a name, as \"gelu\", or a function")
    return words, keywords


def fitted(words: list[str], keywords: Mapping[str, Any]) -> Table:
    """The table of what prepared() gives."""
    with Arguments("fit", keywords) as arguments:
        text, notes = reply([*words, *arguments])
    table = Table(text)
    table.notes = notes
    return table


def fit_text(name: str, keywords: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """What `pwlc fit NAME` writes for flags that are keywords, and its notes."""
    with Arguments("fit", keywords) as arguments:
        return reply(["fit", name, *arguments])


def known_type(of: Union[str, Type, None]) -> Optional[Type]:
    """A type with a scale; None where it is to be found from data, or is none at all, which pwlc says better."""
    try:
        return Type.parse(of) if isinstance(of, str) else of
    except ToolError:
        return None


def emit(table: Table, format: str = "c", **keywords: Any) -> str:
    """The table's text in a format of `pwlc list formats`: Table.emit()."""
    return table.emit(format, **keywords)


def export(table: Table, profile: str) -> bytes:
    """The file that a chip, compiler or library reads: Table.export()."""
    return table.export(profile)


def import_table(source: Union[str, "os.PathLike[str]", bytes], profile: str, function: Optional[str] = None, *,
                 input: Union[str, Type, None] = None, output: Union[str, Type, None] = None, **keywords: Any) -> Table:
    """A table from such a file, or from its bytes: what its consumer computes at every code, measured against the function
    that is named. Function and types are needed where the file does not say them; other flags as in `pwlc import`."""
    for keyword in ("o", "profile"):
        if keyword in keywords:
            raise Error(f"{keyword}: no keyword of import_table(), which returns the table")
    text = source if isinstance(source, bytes) else None
    path = "-" if isinstance(source, bytes) else os.fspath(source)
    keywords = {"function": function, "input": input, "output": output, **keywords}
    with Arguments("import", keywords) as arguments:
        return Table(run(["import", path, "--profile", profile, *arguments], text))
