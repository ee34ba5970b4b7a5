# SPDX-License-Identifier: Apache-2.0
"""Tables from functions, and other texts from tables, by the program pwlc."""
from __future__ import annotations

import difflib
import functools
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from .codes import Array, Type, as_array
from .errors import Error, MissingError, ToolError, shown
from .table import Table

__all__ = ["emit", "export", "fit", "flags", "import_table", "pwlc"]

SAMPLED_CODES = 1 << 16  # as many points a callable is asked for at most; joined by straight lines where codes are more

# Flags of fit whose effect is not a table on standard output.
NOT_HERE = {"spec": "call fit() once for each table", "jobs": "call fit() once for each table",
            "o": "save() writes the table that fit() returns"}


@functools.lru_cache(maxsize=None)
def pwlc() -> str:
    """The path of pwlc: that in the environment's PWLC, else the one installed with this package, else that in PATH.
    MissingError where there is none."""
    named = os.environ.get("PWLC")
    if named:
        return named
    try:
        installed: Sequence[Any] = importlib.metadata.files("pwl") or []
    except importlib.metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        if file.name in ("pwlc", "pwlc.exe"):
            path = pathlib.Path(str(file.locate())).resolve()
            if os.access(path, os.X_OK):
                return str(path)
    found = shutil.which("pwlc")
    if found is None:
        raise MissingError("pwlc is not here: install the package with it (its build leaves it out with "
                           "-Dfitter=disabled), put it in PATH, or name it in the environment's PWLC")
    return found


def _run(arguments: Sequence[str], text: Optional[bytes] = None) -> tuple[bytes, str]:
    """What pwlc prints, and its notes. ToolError when it refuses."""
    try:
        done = subprocess.run([pwlc(), *arguments], input=text, stdin=subprocess.DEVNULL if text is None else None,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "NO_COLOR": "1"},
                              check=False)
    except OSError as error:
        raise MissingError(f"pwlc cannot be run: {error}") from None
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode:
        raise ToolError(said or f"pwlc {arguments[0]} ended with {done.returncode}, and said nothing", done.returncode)
    return done.stdout, said


@functools.lru_cache(maxsize=None)
def flags(command: str) -> Mapping[str, Mapping[str, Optional[str]]]:
    """The flags of a command of pwlc by their keywords, as pwlc itself tells them: each has name, argument (None for a
    switch) and help."""
    commands = json.loads(_run(["--completion", "json"])[0])
    if command not in commands:
        raise Error(f"{shown(command)}: no command of pwlc; it has {', '.join(commands)}")
    names = {"in": "input", "out": "output"}  # `in` is a word of Python
    keywords = {flag["name"].lstrip("-").replace("-", "_"): flag for flag in commands[command]["flags"]}
    return {names.get(keyword, keyword): flag for keyword, flag in keywords.items()}


def _is_array(value: object) -> bool:
    return hasattr(value, "__array__") and not isinstance(value, np.generic)


def _text(value: object) -> str:
    """A flag's value as pwlc reads it."""
    if isinstance(value, tuple):
        return ":".join(map(_text, value))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, int, float, Type)) and not isinstance(value, bool):
        return str(value)
    return os.fspath(value)  # type: ignore[call-overload, no-any-return]


class _Arguments:
    """Flags from keywords; arrays become files of a folder that is there while it is entered."""

    def __init__(self, command: str, keywords: Mapping[str, Any]) -> None:
        self.command, self.keywords = command, keywords

    def __enter__(self) -> list[str]:
        self.folder = tempfile.TemporaryDirectory(prefix="pwl-")
        try:
            return [word for keyword, value in self.keywords.items() for word in self._words(keyword, value)]
        except BaseException:
            self.folder.cleanup()
            raise

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.folder.cleanup()
        if isinstance(error, ToolError):  # names arrays by their keywords: weights.npy
            error.args = (str(error).replace(self.folder.name + os.sep, ""),)

    def _words(self, keyword: str, value: Any) -> Iterator[str]:
        known = flags(self.command)
        if keyword not in known:
            close = "".join(f"; did you mean {name}?" for name in difflib.get_close_matches(keyword, known, 1)) or ";"
            raise Error(f"{keyword}: no flag of pwlc {self.command}{close} it has {', '.join(known)}")
        name, argument = str(known[keyword]["name"]), known[keyword]["argument"]
        if isinstance(value, bool) and ("on" if value else "off") in (argument or "").split("|"):
            value = "on" if value else "off"
        if value is None or value is False:
            return
        if argument is None:
            if value is not True:
                raise Error(f"{keyword}={shown(value)}: a switch, True or False")
            yield name
            return
        if argument == "FILE" and (_is_array(value) or isinstance(value, (list, tuple))):
            yield from (name, self._file(keyword, value))
            return
        values = [value]
        if argument.endswith("..."):
            if isinstance(value, Mapping):
                values = [f"{key}={_text(of)}" for key, of in value.items()]
            elif isinstance(value, list):
                values = value
        for one in values:
            try:
                yield from (name, _text(one))
            except TypeError:
                raise Error(f"{keyword}={shown(one)}: wanted is {argument}, {known[keyword]['help']}") from None

    def _file(self, keyword: str, value: Any) -> str:
        array = as_array(value)
        if array.dtype.kind not in "iuf":
            raise Error(f"{keyword}: an array of {array.dtype}; numbers are wanted")
        path = os.path.join(self.folder.name, f"{keyword}.npy")
        np.save(path, np.ascontiguousarray(array), allow_pickle=False)
        return path


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
                      "errors are measured against these", stacklevel=3)
    return np.column_stack([reals, values])


@functools.lru_cache(maxsize=None)
def _functions() -> frozenset[str]:
    """The names of pwlc's functions, others that they go by too."""
    listed = json.loads(_run(["list", "functions", "--format", "json"])[0])["functions"]
    return frozenset(name for one in listed for name in (one["name"], *one["aliases"]))


def check_function(function: object) -> None:
    """Refuses what is no function, and names that pwlc does not have, in its words. Where there is no pwlc, it takes any
    name."""
    if isinstance(function, str):
        try:
            if function not in _functions() and not function.startswith("-"):
                _run(["fit", function, "--in", "s8:1", "--out", "s8:1"])
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
        keywords["samples"] = _sample(function, _known_type(input))
    elif function is not None:
        raise Error(f"{shown(function)}: must be a name, as \"gelu\", or a function")
    with _Arguments("fit", keywords) as arguments:
        text, said = _run([*words, *arguments])
    table = Table(text)
    table.notes = _notes(said)
    return table


def _notes(said: str) -> tuple[str, ...]:
    return tuple(line.replace("pwlc fit: note: ", "") for line in said.splitlines())


def fit_text(name: str, keywords: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """What `pwlc fit NAME` writes for flags that are keywords, and its notes."""
    with _Arguments("fit", keywords) as arguments:
        text, said = _run(["fit", name, *arguments])
    return text, _notes(said)


def _known_type(of: Union[str, Type, None]) -> Optional[Type]:
    """A type with a scale; None where it is to be found from data, or is none at all, which pwlc says better."""
    if of is None or isinstance(of, Type):
        return of
    try:
        return Type.parse(of)
    except Error:
        return None


def emit(table: Table, format: str = "c", **keywords: Any) -> str:
    """The table's text in a format of `pwlc list formats`: a C or CUDA header, SystemVerilog, CSV and others. The flags of
    `pwlc emit` are keywords, as in fit()."""
    for keyword in ("o", "check", "MD", "MF"):
        if keyword in keywords:
            raise Error(f"{keyword}: no keyword of emit(), which returns the text")
    if "profile" in keywords:
        raise Error("profile: no keyword of emit(); export() gives the file of a profile")
    if format == "npy":
        raise Error("format='npy': no text; table.segments are these numbers as an array")
    with _Arguments("emit", {"format": format, **keywords}) as arguments:
        return _run(["emit", "-", *arguments], table.to_json().encode())[0].decode()


def export(table: Table, profile: str) -> bytes:
    """The file that a chip, compiler or library reads: profile as `pwlc list profiles` has it, with its notation,
    "tosa16:mlir". ToolError where the layout cannot hold the table. Notations of several files are pwlc emit's alone."""
    return _run(["emit", "-", "--profile", profile], table.to_json().encode())[0]


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
    with _Arguments("import", keywords) as arguments:
        return Table(_run(["import", path, "--profile", profile, *arguments], text)[0])
