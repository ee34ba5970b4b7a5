# SPDX-License-Identifier: Apache-2.0
"""Decoders of Llama's and Qwen2's shape from a GGUF file: the whole, or some of its blocks.

    network = pwl.network.llama.quantize("model.gguf", [ids], longest=256)                     # scores of the next token
    block = pwl.network.llama.quantize("model.gguf", [hidden], longest=256, blocks=range(3, 4))   # hidden to hidden

A block is x + attention(rmsnorm(x)), with heads that share keys and angles of places, and x + down(silu(gate) up) of the norm.
"""
from __future__ import annotations

import dataclasses
import math
import os
from typing import Any, Iterable, Optional, Sequence, Union

import numpy as np

from .. import gguf
from ..codes import Array
from ..errors import Error
from .attention import simplified
from .floats import FloatNetwork, Input, Op, without_scales
from .graph import Network
from .kinds import Shape
from .quantise import Ranges, Widths, quantise as by_integers

__all__ = ["Decoder", "described", "quantize", "real_network"]

Path = Union[str, os.PathLike[str]]
ARCHITECTURES = ("llama", "qwen2")


@dataclasses.dataclass(frozen=True)
class Decoder:
    """What a file says of its decoder."""

    architecture: str
    blocks: int
    width: int
    heads: int
    kept: int  # heads of keys and values
    size: int  # of a head
    turned: int  # places of a head that angles turn
    base: float
    eps: float


def described(path: Path) -> Decoder:
    """Of a file; Error for what is no decoder that is known, or one whose heads have an odd size."""
    values = gguf.values(path)
    name = values.get("general.architecture")
    if name not in ARCHITECTURES:
        raise Error(f"{os.fspath(path)}: general.architecture: {name!r}, must be one of {', '.join(ARCHITECTURES)}")

    def number(key: str, default: Optional[float] = None) -> Any:
        value = values.get(f"{name}.{key}", default)
        if value is None or isinstance(value, (str, bool)):
            raise Error(f"{os.fspath(path)}: {name}.{key}: {value!r}, must be a number")
        return value

    width, heads = number("embedding_length"), number("attention.head_count")
    if min(width, heads) < 1:
        raise Error(f"{os.fspath(path)}: {heads} heads of {width} channels")
    size = number("attention.key_length", width // heads)
    made = Decoder(str(name), number("block_count"), width, heads, number("attention.head_count_kv", heads), size,
                   number("rope.dimension_count", size), float(number("rope.freq_base", 10000.0)),
                   float(number("attention.layer_norm_rms_epsilon")))
    if size % 2 or made.turned != size:
        raise Error(f"{os.fspath(path)}: angles turn {made.turned} places of heads of {size}; must be all, and an even number")
    if made.kept < 1 or heads % made.kept:
        raise Error(f"{os.fspath(path)}: {heads} heads of queries for {made.kept} of keys, which do not share evenly")
    return made


class _Maker:
    """Makes the operations of a decoder, one after another."""

    def __init__(self, path: Path, longest: int) -> None:
        self.of, self.longest = described(path), longest
        self.tensors = gguf.Numbers(path)
        self.ops: list[Op] = []
        self.row: Shape = ("batch", "length", self.of.width)

    def op(self, kind: str, inputs: Sequence[str], output: str, shape: Shape, **rest: Any) -> str:
        self.ops.append(Op(kind, tuple(inputs), output, shape, output, **rest))
        return output

    def linear(self, x: str, name: str, output: str, weights: Optional[Array] = None, bias: Optional[Array] = None) -> str:
        weights = self.tensors[f"{name}.weight"] if weights is None else weights
        if bias is None:
            bias = self.tensors[f"{name}.bias"] if f"{name}.bias" in self.tensors else np.zeros(len(weights))
        return self.op("linear", [x], output, (*self.row[:2], len(weights)), arrays={"weights": weights, "bias": bias})

    def norm(self, x: str, name: str, output: str) -> str:
        return self.op("rmsnorm", [x], output, self.row, fields={"eps": self.of.eps},
                       arrays={"gamma": self.tensors[f"{name}.weight"]})

    def heads(self, x: str, name: str, output: str, count: int) -> str:
        """Heads of queries, keys or values. llama.cpp has the two halves of a turned head of Llama interleaved."""
        weights, bias = self.tensors[f"{name}.weight"], None
        if f"{name}.bias" in self.tensors:
            bias = self.tensors[f"{name}.bias"]
        if self.of.architecture == "llama" and not name.endswith("v"):
            order = np.arange(len(weights)).reshape(count, -1, 2).swapaxes(1, 2).reshape(-1)
            weights, bias = weights[order], None if bias is None else bias[order]
        made = self.linear(x, name, f"{output}.all", weights, np.zeros(len(weights)) if bias is None else bias)
        split = self.op("reshape", [made], f"{output}.split", (*self.row[:2], count, self.of.size))
        return self.op("transpose", [split], output, ("batch", count, "length", self.of.size), fields={"order": [0, 2, 1, 3]})

    def angles(self) -> tuple[str, str]:
        """Cosines and sines of places."""
        frequencies = self.of.base ** -(np.arange(0, self.of.size, 2) / self.of.size)
        if "rope_freqs.weight" in self.tensors:
            frequencies = frequencies / self.tensors["rope_freqs.weight"]
        turns = np.tile(np.outer(np.arange(self.longest), frequencies), 2)[None, None]
        shape: Shape = (1, 1, "length", self.of.size)
        return (self.op("constant", [], "cosines", shape, arrays={"values": np.cos(turns)}),
                self.op("constant", [], "sines", shape, arrays={"values": np.sin(turns)}))

    def turned(self, x: str, count: int, angles: tuple[str, str]) -> str:
        shape, half = ("batch", count, "length", self.of.size), self.of.size // 2
        one, other = (self.op("slice", [x], f"{x}.{k}", (*shape[:3], half), fields={
            "axis": 3, "start": k * half, "stop": (k + 1) * half, "step": 1, "keep": 1}) for k in (0, 1))
        minus = self.op("scale", [other], f"{x}.minus", (*shape[:3], half), fields={"factor": -1.0})
        across = self.op("concat", [minus, one], f"{x}.across", shape, fields={"axis": 3})
        parts = [self.op("multiply", pair, f"{x}.part{k}", shape) for k, pair in enumerate(((x, angles[0]), (across, angles[1])))]
        return self.op("add", parts, f"{x}.turned", shape)

    def shared(self, x: str) -> str:
        """Keys or values for each head of queries."""
        of, times = self.of, self.of.heads // self.of.kept
        one = self.op("reshape", [x], f"{x}.one", ("batch", of.kept, 1, "length", of.size))
        wide = self.op("expand", [one], f"{x}.wide", ("batch", of.kept, times, "length", of.size),
                       fields={"axis": 2, "times": times})
        return self.op("reshape", [wide], f"{x}.heads", ("batch", of.heads, "length", of.size))

    def attention(self, x: str, name: str, angles: tuple[str, str]) -> str:
        of = self.of
        q, k, v = (self.heads(x, f"{name}.attn_{part}", f"{name}.{part}", count)
                   for part, count in (("q", of.heads), ("k", of.kept), ("v", of.kept)))
        q, k, v = self.turned(q, of.heads, angles), self.shared(self.turned(k, of.kept, angles)), self.shared(v)
        scores: Shape = ("batch", of.heads, "length", "length")
        made = self.op("matmul", [q, k], f"{name}.scores", scores, fields={"transposed": 1, "factor": 1 / math.sqrt(of.size)})
        made = self.op("softmax", [made], f"{name}.shares", scores, fields={"causal": 1})
        made = self.op("matmul", [made, v], f"{name}.context", ("batch", of.heads, "length", of.size),
                       fields={"transposed": 0, "factor": 1.0})
        made = self.op("transpose", [made], f"{name}.rows", ("batch", "length", of.heads, of.size),
                       fields={"order": [0, 2, 1, 3]})
        made = self.op("reshape", [made], f"{name}.joined", (*self.row[:2], of.heads * of.size))
        return self.linear(made, f"{name}.attn_output", f"{name}.attended")

    def block(self, x: str, name: str, angles: tuple[str, str]) -> str:
        attended = self.attention(self.norm(x, f"{name}.attn_norm", f"{name}.before"), name, angles)
        x = self.op("add", [x, attended], f"{name}.middle", self.row)
        h = self.norm(x, f"{name}.ffn_norm", f"{name}.between")
        gate, up = (self.linear(h, f"{name}.ffn_{part}", f"{name}.{part}") for part in ("gate", "up"))
        wide = self.ops[-1].shape
        gated = self.op("function", [gate], f"{name}.silu", wide, function="silu", values=lambda x: x / (1 + np.exp(-x)))
        both = self.op("multiply", [gated, up], f"{name}.gated", wide)
        return self.op("add", [x, self.linear(both, f"{name}.ffn_down", f"{name}.down")], f"{name}.end", self.row)


def real_network(path: Path, *, longest: int, blocks: Optional[Iterable[int]] = None) -> FloatNetwork:
    """The operations of a file's decoder from tokens to the scores of the next; or of some blocks, from hidden numbers to hidden
    numbers."""
    maker = _Maker(path, longest)
    chosen = list(range(maker.of.blocks) if blocks is None else blocks)
    if not chosen or not all(0 <= k < maker.of.blocks for k in chosen):
        raise Error(f"blocks: {chosen}, must be some of 0 to {maker.of.blocks - 1}")
    angles = maker.angles()
    if blocks is None:
        given, table = Input("tokens", ("batch", "length"), "index"), maker.tensors["token_embd.weight"]
        x = maker.op("gather", ["tokens"], "embedded", maker.row, arrays={"table": table})
    else:
        given, x = Input("hidden", maker.row, "real"), "hidden"
    for k in chosen:
        x = maker.block(x, f"blk.{k}", angles)
    if blocks is None:
        weights = maker.tensors["output.weight"] if "output.weight" in maker.tensors else table
        x = maker.linear(maker.norm(x, "output_norm", "normed"), "output", "scores", weights)
    return without_scales(simplified(FloatNetwork([given], [x], maker.ops)))


def quantize(path: Path, batches: Iterable[Any], widths: Optional[Widths] = None, *, longest: int,
             blocks: Optional[Iterable[int]] = None, first: int = 0) -> Network:
    """A decoder of a GGUF file by integers: weights of 8 bits a channel, activations of `widths`, whose ranges are those of the
    batches: arrays of tokens, or of hidden numbers where `blocks` says which blocks it is of. Network.decoder() gives it token by
    token; `longest` is its capacity. The first tokens of every text, `first` of them, may have numbers far beyond those of all others: no
    range counts them, and Decoding(decoder, first=decoder.kept(tokens)) begins behind them, with their keys and values in
    caches."""
    network = real_network(path, longest=longest, blocks=blocks)
    ranges = Ranges(network, {"length": first})
    for batch in batches:
        if np.shape(batch)[1:2] and np.shape(batch)[1] > longest:
            raise Error(f"a batch of {np.shape(batch)[1]} tokens: longest is {longest}")
        ranges.observe(np.asarray(batch))
    if not ranges.sizes:
        raise Error("no batches: at least one is needed, for ranges")
    return by_integers(network, ranges, widths, {"length": longest})
