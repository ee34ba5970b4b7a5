# SPDX-License-Identifier: Apache-2.0
"""GGUF files of small decoders with drawn weights, for tests."""
import struct

import numpy as np

ALIGNMENT = 32
FLOAT, UNSIGNED, TEXT = 6, 4, 8


def _text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value):
    if isinstance(value, str):
        return struct.pack("<I", TEXT) + _text(value)
    return struct.pack("<If" if isinstance(value, float) else "<II", FLOAT if isinstance(value, float) else UNSIGNED, value)


def q8_0(x):
    """Blocks of 32 numbers: a scale in half precision and 32 codes."""
    blocks = x.reshape(-1, 32)
    scale = (np.abs(blocks).max(1) / 127).astype(np.float16)
    codes = np.rint(blocks / scale.astype(np.float32)[:, None]).astype(np.int8)
    return np.concatenate([scale[:, None].view(np.uint8), codes.view(np.uint8)], 1).tobytes()


def q4_1(x):
    """Blocks of 32 numbers: a scale and the least number in half precision, and 32 codes of 4 bits."""
    blocks = x.reshape(-1, 32)
    least = blocks.min(1).astype(np.float16)
    scale = ((blocks.max(1) - least) / 15).astype(np.float16)
    codes = np.clip(np.rint((blocks - least.astype(np.float32)[:, None]) / scale.astype(np.float32)[:, None]), 0, 15).astype(np.uint8)
    return np.concatenate([scale[:, None].view(np.uint8), least[:, None].view(np.uint8), codes[:, :16] | codes[:, 16:] << 4], 1).tobytes()


def drawn_blocks(elements, size, halves):
    """Makes blocks of drawn bytes for as many numbers as there are, whatever they are, with small scales where halves are."""
    def make(x):
        rng = np.random.default_rng(x.size)
        blocks = rng.integers(0, 256, (x.size // elements, size), dtype=np.uint8)
        for at in halves:
            blocks[:, at:at + 2] = rng.normal(0, 1e-4, len(blocks)).astype(np.float16)[:, None].view(np.uint8)
        return blocks.tobytes()
    return make


def mxfp4(x):
    """Blocks of 32 drawn codes, of a power of two that makes them small."""
    blocks = np.random.default_rng(x.size).integers(0, 256, (x.size // 32, 17), dtype=np.uint8)
    blocks[:, 0] = 122
    return blocks.tobytes()


TYPES = {"q4_0": (2, drawn_blocks(32, 18, [0])), "mxfp4": (39, mxfp4), "q4_k": (12, drawn_blocks(256, 144, [0, 2])),
         "q5_k": (13, drawn_blocks(256, 176, [0, 2])), "q6_k": (14, drawn_blocks(256, 210, [208])),
         "f32": (0, lambda x: x.astype(np.float32).tobytes()), "f16": (1, lambda x: x.astype(np.float16).tobytes()),
         "bf16": (30, lambda x: (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()), "q8_0": (8, q8_0), "q4_1": (3, q4_1)}


def write(path, values, tensors):
    """Metadata, and tensors as {name: (type, numbers)}."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for key, value in values.items():
        head += _text(key) + _value(value)
    body = b""
    for name, (kind, x) in tensors.items():
        number, make = TYPES[kind]
        head += _text(name) + struct.pack(f"<I{x.ndim}QIQ", x.ndim, *x.shape[::-1], number, len(body))
        body += make(x)
        body += b"\0" * (-len(body) % ALIGNMENT)
    path.write_bytes(head + b"\0" * (-len(head) % ALIGNMENT) + body)


def values_of(architecture="llama", blocks=2, width=32, heads=4, kept=2, **more):
    found = {"block_count": blocks, "embedding_length": width, "attention.head_count": heads, "attention.head_count_kv": kept,
             "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 500.0, **more}
    return {"general.architecture": architecture, **{f"{architecture}.{key}": value for key, value in found.items()}}


def tensors_of(rng, kind="f32", blocks=2, width=32, heads=4, kept=2, inner=64, words=40, biases=False):
    """As llama.cpp names them."""
    size, found = width // heads, {}

    def drawn(name, *shape, of=kind):
        found[name] = of, rng.normal(0, shape[-1] ** -0.5 if len(shape) > 1 else 1, shape).astype(np.float32)

    drawn("token_embd.weight", words, width)
    for k in range(blocks):
        for name, rows in (("q", heads), ("k", kept), ("v", kept)):
            drawn(f"blk.{k}.attn_{name}.weight", rows * size, width)
            if biases:
                drawn(f"blk.{k}.attn_{name}.bias", rows * size, of="f32")
        drawn(f"blk.{k}.attn_output.weight", width, heads * size)
        for name, shape in (("gate", (inner, width)), ("up", (inner, width)), ("down", (width, inner))):
            drawn(f"blk.{k}.ffn_{name}.weight", *shape)
        for name in ("attn", "ffn"):
            drawn(f"blk.{k}.{name}_norm.weight", width, of="f32")
    drawn("output_norm.weight", width, of="f32")
    return found
