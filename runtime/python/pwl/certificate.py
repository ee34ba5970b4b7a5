# SPDX-License-Identifier: Apache-2.0
"""What an operator's file says of its errors."""
from __future__ import annotations

import dataclasses
from typing import Optional

from . import document
from .document import Fields

__all__ = ["OperatorCertificate"]


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
    sum_lsb: Optional[float] = None
    factor_lsb: Optional[float] = None
    delta0: Optional[float] = None
    delta: Optional[float] = None
    max_err_lsb: Optional[float] = None
    rows: Optional[int] = None
    worst_row: Optional[str] = None

    # `lambda` is a word of Python: the field's name in the file, with a line behind it here.
    lambda_: Optional[float] = None


def read_certificate(top: Fields, path: str) -> OperatorCertificate:
    """Of the document that Kept._read() is given, from where it is called."""
    claims = {("lambda_" if name == "lambda" else name): value
              for name, value in Fields("certificate", top.value.get("certificate", {})).value.items()}
    Fields("certificate", claims).only({field.name for field in dataclasses.fields(OperatorCertificate)})
    return OperatorCertificate(**claims if document.counts(top, path, stacklevel=5) else {})
