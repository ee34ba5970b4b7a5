# SPDX-License-Identifier: Apache-2.0
"""Attention that torch computes in one kernel, as products around a softmax of its own, which an operator can replace."""
from __future__ import annotations

import math
from typing import Optional

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..errors import Error

__all__ = ["CALLS", "Attention", "MultiheadAttention"]

# As calls name it.
CALLS = (functional.scaled_dot_product_attention, torch.ops.aten.scaled_dot_product_attention.default)


class Attention(nn.Module):
    """torch.nn.functional.scaled_dot_product_attention, with `softmax` over its scores."""

    def __init__(self, softmax: nn.Module) -> None:
        super().__init__()
        self.softmax = softmax

    def shares(self, query: Tensor, key: Tensor, attn_mask: Optional[Tensor], is_causal: bool = False,
               scale: Optional[float] = None) -> Tensor:
        """What each place of the value has in each of the query's. Places are masked where a mask of booleans is False."""
        scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
        if is_causal:
            seen = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
            scores = scores.masked_fill(~seen, -math.inf)
        if attn_mask is not None:
            is_bool = attn_mask.dtype == torch.bool
            scores = scores.masked_fill(~attn_mask, -math.inf) if is_bool else scores + attn_mask
        shares: Tensor = self.softmax(scores)
        return shares

    def forward(self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor] = None, dropout_p: float = 0.0,
                is_causal: bool = False, *, scale: Optional[float] = None, enable_gqa: bool = False) -> Tensor:
        if enable_gqa:  # a head of key and value serves several of query
            key, value = (of.repeat_interleave(query.shape[-3] // of.shape[-3], -3) for of in (key, value))
        shares = self.shares(query, key, attn_mask, is_causal, scale)
        return functional.dropout(shares, dropout_p) @ value if dropout_p else shares @ value


class MultiheadAttention(nn.MultiheadAttention):
    """torch.nn.MultiheadAttention around a softmax of its own. prepare() makes one of torch's by setting its class, so that
    parameters, states and hooks stay as they are."""

    attention: Attention

    @classmethod
    def of(cls, module: nn.MultiheadAttention, softmax: nn.Module) -> MultiheadAttention:
        module.__class__ = cls
        assert isinstance(module, cls)
        module.attention = Attention(softmax).train(module.training)
        return module

    def forward(
            self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Optional[Tensor] = None,
            need_weights: bool = True, attn_mask: Optional[Tensor] = None, average_attn_weights: bool = True,
            is_causal: bool = False) -> tuple[Tensor, Optional[Tensor]]:
        if is_causal and attn_mask is None:
            raise Error("is_causal is a hint: attn_mask says which places take part")
        batched = query.dim() == 3
        if not batched:
            query, key, value = (of.unsqueeze(0) for of in (query, key, value))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = (of.transpose(0, 1) for of in (query, key, value))
        q, k, v = (self._heads(of) for of in self._with_extras(*self._projected(query, key, value)))
        shares = self.attention.shares(q, k, self._mask(q, k, key_padding_mask, attn_mask))
        if self.training and self.dropout:
            shares = functional.dropout(shares, self.dropout)
        y = self.out_proj((shares @ v).transpose(1, 2).flatten(2))
        weights = None
        if need_weights:
            weights = shares.mean(1) if average_attn_weights else shares
            weights = weights if batched else weights.squeeze(0)
        return (y.squeeze(0) if not batched else y if self.batch_first else y.transpose(0, 1)), weights

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        bias = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        weights = (self.in_proj_weight.chunk(3) if self._qkv_same_embed_dim
                   else (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight))
        return [functional.linear(*of) for of in zip((query, key, value), weights, bias)]

    def _with_extras(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """With the places that add_bias_kv and add_zero_attn add to keys and values."""
        batch = k.shape[0]
        if self.bias_k is not None and self.bias_v is not None:
            k, v = (torch.cat([of, extra.expand(batch, 1, -1)], 1) for of, extra in ((k, self.bias_k), (v, self.bias_v)))
        if self.add_zero_attn:
            k, v = (functional.pad(of, (0, 0, 0, 1)) for of in (k, v))
        return q, k, v

    def _heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.num_heads, self.head_dim).transpose(1, 2)

    def _mask(self, q: Tensor, k: Tensor, padding: Optional[Tensor], mask: Optional[Tensor]) -> Optional[Tensor]:
        """What both masks add to the scores. Places are masked where those of booleans are True, unlike attention's; the
        places that were added to the keys never are."""
        added = None
        for given in (padding, mask):
            if given is None:
                continue
            one = torch.zeros_like(given, dtype=q.dtype).masked_fill(given, -math.inf) if given.dtype == torch.bool else given
            one = functional.pad(one, (0, k.shape[-2] - one.shape[-1]))
            if given is padding:
                one = one[:, None, None]
            elif one.dim() == 3:
                one = one.view(-1, self.num_heads, *one.shape[1:])
            added = one if added is None else added + one
        return added
