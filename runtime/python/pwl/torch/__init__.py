# SPDX-License-Identifier: Apache-2.0
"""pwl.torch: tables in models of PyTorch.

    import pwl.torch

    prepared = pwl.torch.prepare(model)     # a copy that observes what activations are given
    for batch in batches:
        prepared(batch)
    converted = pwl.torch.convert(prepared, bits=8)
    print(pwl.torch.report(converted, batches))

Converted models compute each activation, softmax and norm as integers do, bit for bit, within a float model. They can be
compiled, exported, pickled and trained. map(x, table) and real(x, table) are the operators torch.ops.pwl.map and
torch.ops.pwl.real. QLinear is a linear layer with quantised weights, and a table as its activation. Rows is a softmax or a
norm by a row operator. column_parallel() and RowParallel are QLinear shared by ranks of torch.distributed. quantize() makes a whole model a network of integers.
"""
from __future__ import annotations

from typing import Optional

from ..errors import Error as _Error
from ..errors import MissingError as _MissingError

try:
    import torch as _torch
except ImportError as _error:
    raise _MissingError(f"torch is not here: pip install torch ({_error})") from None
if not hasattr(_torch.library, "custom_op"):
    raise _MissingError(f"torch {_torch.__version__} is too old: pip install 'torch>=2.4'")

from ..table import Table
from .activation import Activation, Observed
from .convert import convert, prepare
from .functions import Function
from .linear import QLinear
from .network import quantize
from .ops import map_codes, map_real
from .parallel import RowParallel, column_parallel
from .report import Loss, Report, Stay, Use, report
from .row_functions import RowFunction
from .row_module import ObservedRows, Rows

__all__ = ["Activation", "Function", "Loss", "Observed", "ObservedRows", "QLinear", "Report", "RowFunction", "RowParallel",
           "Rows", "Stay", "Use", "column_parallel", "convert", "map", "prepare", "quantize", "real", "report"]


def map(x: _torch.Tensor, table: Table) -> _torch.Tensor:
    """The output codes of a tensor of input codes, integers of any type, in the smallest type that holds them."""
    y: _torch.Tensor = map_codes(x, _json(table))
    return y


def real(x: _torch.Tensor, table: Table, exact: Optional[_torch.Tensor] = None) -> _torch.Tensor:
    """Real numbers by a table: Table.real() in float32, rounded once more to the type of x. The gradient is the segments'
    slope; or, where `exact` has the function's own values, goes to exact."""
    y: _torch.Tensor = map_real(x, _json(table), exact)
    return y


def _json(table: Table) -> str:
    if not isinstance(table, Table):
        raise _Error(f"{type(table).__name__}: a pwl.Table is wanted")
    return table.to_json()
