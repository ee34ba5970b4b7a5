# SPDX-License-Identifier: Apache-2.0
"""Linear layers that the ranks of torch.distributed share, as tensor parallelism has them: of a feed-forward block

    up = column_parallel(weights_of_gate_and_up, table=silu, gated=True)    # each rank has some rows: some elements of H
    down = RowParallel(weights_of_down)                                     # and the same columns: addends of Y
    y = down(up(x))                                                         # x and y are whole on every rank

The weights are the whole's on every rank, which keeps its part; save and load that as any module's. The sum over ranks is
the one all-reduce of the block: of float16, float32 or bfloat16 as the backend adds them, in its order; of int32 beside
weights of "int8" and "int4", which has the bits of one rank's layer, at any number of ranks. That holds on GPUs of unlike
kinds, too, where every rank waits for the slowest: rank 0 warns of them once, at RowParallel's first call.
"""
from __future__ import annotations

import warnings
from typing import Any, Optional

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from ..errors import Error
from ..qgemm import Weights
from ..qgemm_options import INTEGERS, Options
from .linear import QLinear, qlinear, store_sums
from .ops import map_real

__all__ = ["RowParallel", "column_parallel"]


def _ranks(group: Optional[dist.ProcessGroup]) -> tuple[int, int]:
    if not dist.is_available() or not dist.is_initialized():
        raise Error("torch.distributed has no group of ranks: call torch.distributed.init_process_group() first")
    return dist.get_rank(group), dist.get_world_size(group)


def _kind(device: torch.device) -> str:
    """What a rank computes on, as the ranks compare it."""
    if device.type != "cuda":
        return device.type
    return "{} ({}.{})".format(torch.cuda.get_device_name(device), *torch.cuda.get_device_capability(device))


def _warn_of_unlike(device: torch.device, group: Optional[dist.ProcessGroup]) -> None:
    """An exchange between the ranks: which of them have GPUs of unlike kinds."""
    rank, ranks = _ranks(group)
    own = torch.from_numpy(np.frombuffer(_kind(device).encode().ljust(256, b"\0")[:256], np.uint8).copy()).to(device)
    gathered = [torch.empty_like(own) for _ in range(ranks)]
    dist.all_gather(gathered, own, group=group)
    kinds = [bytes(kind.tolist()).rstrip(b"\0").decode(errors="replace") for kind in gathered]
    other = next((i for i in range(ranks) if kinds[i] != kinds[0]), None)
    if rank == 0 and other is not None:
        warnings.warn(f"GPUs of unlike kinds: rank 0 has {kinds[0]}, rank {other} has {kinds[other]}; every rank waits for the "
                      "slowest", stacklevel=2)


def _is_capturing(device: torch.device) -> bool:
    """Whether a graph is made of what runs: nothing may be exchanged then."""
    return torch.compiler.is_compiling() or device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def column_parallel(weights: Weights, bias: Any = None, *, group: Optional[dist.ProcessGroup] = None,
                    **options: Any) -> QLinear:
    """The QLinear of the rank's rows of the weights, whose results are its share of the whole layer's last dimension.

    bias       of all rows, as QLinear has it
    group      of ranks; by default all
    options    QLinear's: table, activations, gated and so on
    """
    rows = weights.rows_of_rank(*_ranks(group))
    if bias is not None:
        bias = np.asarray(bias.detach().cpu() if isinstance(bias, Tensor) else bias)
        if bias.shape != (weights.packed.n,):
            raise Error(f"bias is of the shape {bias.shape}: must be of {weights.packed.n} numbers")
        if options.get("gated"):  # the gate's first, then up's
            bias = np.concatenate([half[rows.start // 2:rows.stop // 2] for half in np.split(bias, 2)])
        else:
            bias = bias[rows]
    return QLinear(weights.cut(rows=rows), bias, **options)


class RowParallel(QLinear):
    """The layer of the whole weights, of x whose last dimension is shared: each rank multiplies by its columns, what that
    gives is added up over the ranks, and bias and table come after. For inference: it has no gradient.

    columns    the rank's, a slice, where x is not shared as columns_of_rank() says
    group      of ranks; by default all
    The others are QLinear's; a pair of gate and up is shared by column_parallel() alone.
    """

    def __init__(self, weights: Weights, bias: Any = None, *, group: Optional[dist.ProcessGroup] = None,
                 columns: Optional[slice] = None, **options: Any) -> None:
        if options.get("gated"):
            raise Error("gated=True: gate and up are shared by rows, in column_parallel()")
        self.group = group
        self.is_compared = False  # the ranks' GPUs
        columns = weights.columns_of_rank(*_ranks(group)) if columns is None else columns
        super().__init__(weights.cut(columns=columns), bias, **options)
        if self.codes and self.packed.format not in INTEGERS:
            raise Error(f"codes=True beside {self.packed.format}: what is added up are real numbers")

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        whole, integers = self.options, self.packed.format in INTEGERS
        y: Tensor = qlinear(x, self.weight, None, *self.packed, self.activations, None, integers,
                            Options(input=whole.input).text())
        if not self.is_compared and not _is_capturing(x.device):
            self.is_compared = True
            _warn_of_unlike(x.device, self.group)
        dist.all_reduce(y, group=self.group)
        table = None if self.table is None else self.table.to_json()
        if integers:
            y = store_sums(y, self.weight, self.bias, self.packed, self.activations, table, self.codes, whole.text())
            return y.to(x.dtype) if not self.codes and x.dtype.is_floating_point else y
        if self.bias is not None:
            y = (y.to(torch.float32) + self.bias).to(y.dtype)
        return y if table is None else map_real(y, table)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "group": None, "is_compared": False}
