# SPDX-License-Identifier: Apache-2.0
"""What the package raises. Messages say what would be right."""
from __future__ import annotations

__all__ = ["Error", "MissingError", "ToolError"]


class Error(ValueError):
    """A table, an array or a type that cannot be used."""


class MissingError(Error):
    """A program, a library or a package that is not here; the message says how to get it."""


class ToolError(Error):
    """pwlc has refused, and said why. code is its exit code: 1 for input, output or an internal error, 2 for flags or
    files that cannot be used, 3 for a requirement that is not met, 77 for a tool that is missing."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        return ToolError, (str(self), self.code)


def shown(value: object) -> str:
    """A value for messages, which may be of any size."""
    try:
        text = repr(value)
    except ValueError:  # integers have at most 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 80 else text[:77] + "..."
