# SPDX-License-Identifier: Apache-2.0
"""Keywords as the flags of pwlc."""
from __future__ import annotations

import difflib
import functools
import json
import os
import tempfile
from typing import Any, Iterator, Mapping, Optional

import numpy as np

from .codes import Type, as_array
from .errors import Error, ToolError, shown
from .program import run

__all__ = ["Arguments", "flags"]


@functools.lru_cache(maxsize=None)
def flags(command: str) -> Mapping[str, Mapping[str, Optional[str]]]:
    """The flags of a command of pwlc by their keywords, as pwlc itself tells them: each has name, argument (None for a
    switch) and help."""
    commands = json.loads(run(["--completion", "json"]))
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


class Arguments:
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
