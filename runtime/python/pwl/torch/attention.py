# SPDX-License-Identifier: Apache-2.0
"""Attention that torch computes in one kernel, as products around a softmax of its own, which an operator can replace."""
from __future__ import annotations

import math
from typing import Optional

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["CALLS", "Attention"]

# As calls name it.
CALLS = (functional.scaled_dot_product_attention, torch.ops.aten.scaled_dot_product_attention.default)


class Attention(nn.Module):
    """torch.nn.functional.scaled_dot_product_attention, with `softmax` over its scores."""

    def __init__(self, softmax: nn.Module) -> None:
        super().__init__()
        self.softmax = softmax

    def forward(self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor] = None, dropout_p: float = 0.0,
                is_causal: bool = False, *, scale: Optional[float] = None, enable_gqa: bool = False) -> Tensor:
        if enable_gqa:  # a head of key and value serves several of query
            key, value = (of.repeat_interleave(query.shape[-3] // of.shape[-3], -3) for of in (key, value))
        scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
        if is_causal:
            seen = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
            scores = scores.masked_fill(~seen, -math.inf)
        if attn_mask is not None:
            is_bool = attn_mask.dtype == torch.bool
            scores = scores.masked_fill(~attn_mask, -math.inf) if is_bool else scores + attn_mask
        shares = self.softmax(scores)
        return functional.dropout(shares, dropout_p) @ value if dropout_p else shares @ value
