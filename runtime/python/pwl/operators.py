# SPDX-License-Identifier: Apache-2.0
"""Operators of every kind from their files."""
from __future__ import annotations

import os
from typing import Any, Union

from . import document
from .elements import KINDS, ElementOperator
from .errors import Error
from .rows import MOST_BYTES, RowOperator
from .weighted import WeighOperator

__all__ = ["load_operator", "operator_class"]


def operator_class(content: Any) -> Any:
    """The class of an operator whose JSON says this."""
    kind = content.get("operator") if isinstance(content, dict) else None
    return ElementOperator if kind in KINDS else WeighOperator if kind == "weigh" else RowOperator


def load_operator(path: Union[str, os.PathLike[str]]) -> Union[RowOperator, ElementOperator, WeighOperator]:
    """An operator from a file that pwlc fit wrote. Error names the file and the field, OSError a file that is not there."""
    try:
        content = document.read(path, MOST_BYTES)
        parsed = document.parse(content, MOST_BYTES)
        operator: Union[RowOperator, ElementOperator, WeighOperator] = operator_class(parsed)._make(content, f"{os.fspath(path)}: ", parsed)
        return operator
    except Error as error:
        raise Error(f"{os.fspath(path)}: {error}") from None
