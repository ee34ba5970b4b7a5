#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.gguf and pwl.qgemm against pwlc, which reads and multiplies by itself, and against formulas written down here; on
devices by a libpwl-cuda on memory of the host. PYTHONPATH says where the package is. tests/python/test_cuda_device.py has
the real one.

usage: test_qgemm.py PWLC FAKE_CUDA SOURCE
"""
import ctypes
import gc
import itertools
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile

from harness import end, equal, np, refused, test

import pwl
from pwl import cuda, gguf, qgemm

pwlc = os.environ["PWLC"] = os.path.realpath(sys.argv[1])
os.environ["PWL_CUDA_LIBRARY"] = os.path.realpath(sys.argv[2])
fake = ctypes.CDLL(os.environ["PWL_CUDA_LIBRARY"])
table = pwl.fit("gelu", input="s8:0.0472:-3", output="s8:0.0238:-121", max_err=1.0)
wide = pwl.load(pathlib.Path(sys.argv[3]) / "luts/tables/tanh_s16.json")
folder = tempfile.TemporaryDirectory()
here = pathlib.Path(folder.name)
draw = np.random.default_rng(1)
N, K = 21, 96  # no multiples of what is packed together
w = draw.normal(0, 1, (N, K)).astype(np.float32)
x = draw.normal(0, 1, (5, K)).astype(np.float32)
bias = draw.normal(0, 1, N).astype(np.float32)


def blocks_of(format, scales):
    """Random codes with these scales, one a block."""
    count = N * K // 32
    blocks = draw.integers(0, 256, (count, qgemm.BLOCKS[format][1]), dtype=np.uint8)
    if format == "mxfp4":
        blocks[:, 0] = scales
    else:
        blocks[:, :2] = scales.astype(np.float16).view(np.uint8).reshape(count, 2)
    return blocks.reshape(N, K // 32, -1)


scales = draw.normal(0, 0.1, N * K // 32)
tensors = {"f32": w, "f16": w.astype(np.float16), "bf16": (w.view(np.uint32) >> 16).astype(np.uint16),
           "q4_0": blocks_of("q4_0", scales), "q8_0": blocks_of("q8_0", scales / 16),
           "mxfp4": blocks_of("mxfp4", draw.integers(120, 128, scales.size))}


def text(string):
    return struct.pack("<Q", len(string)) + string.encode()


def gguf_file(tensors, alignment=32, version=3, before=b"", dimensions=lambda name: (K, N), count=None):
    """A file of tensors, each of a name and bytes, and some metadata."""
    kinds = [("a", 4, struct.pack("<I", 7)), ("b", 8, text("word")), ("c", 9, struct.pack("<IQ", 8, 2) + text("") + text("x")),
             ("d", 9, struct.pack("<IQ", 12, 3) + bytes(24)), ("general.alignment", 4, struct.pack("<I", alignment))]
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors) if count is None else count, len(kinds))
    head += b"".join(text(key) + struct.pack("<I", kind) + value for key, kind, value in kinds) + before
    data = b""
    for name, (number, content) in tensors.items():
        shape = dimensions(name)
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, number, len(data))
        data += content + bytes(-len(content) % alignment)
    return head + bytes(-len(head) % alignment) + data


numbers = {name: number for number, (name, _, _) in gguf.TYPES.items()}
model = here / "model.gguf"
model.write_bytes(gguf_file({name: (numbers[name], np.ascontiguousarray(data).tobytes()) for name, data in tensors.items()}))


def run(*arguments):
    subprocess.run([pwlc, *map(str, arguments)], check=True, capture_output=True)


def by_pwlc(name, scheme, *flags, act=x):
    """What pwlc gemm makes of a tensor of the file, by the reference."""
    np.save(here / "x.npy", act)
    run("gemm", "--weights", f"{model}:{name}", "--act", here / "x.npy", "--scheme", scheme, "--device", "cpu", "-o",
        here / "y.npy", *flags)
    return np.load(here / "y.npy")


SCHEMES = [("q4_0", 16, "w4a16"), ("q4_0", 8, "w4a8"), ("q8_0", 16, "w8a16"), ("q8_0", 8, "w8a8"),
           ("mxfp4", 16, "mxfp4a16")]


@test("tensors of a file have the bytes that pwlc extracts")
def _():
    assert gguf.names(model) == list(tensors)
    for name in tensors:
        tensor = gguf.read(model, name)
        run("gguf", "extract", model, name, "--raw", "-o", here / "raw")
        assert tensor.data.tobytes() == (here / "raw").read_bytes() and tensor.shape == (N, K)
        assert not tensor.data.flags.writeable and repr(tensor) == f"<pwl.gguf.Tensor {name}, {name}, {N} x {K}>"
        run("gguf", "extract", model, name, "-o", here / "values.npy")
        equal(gguf.numbers(model, name), np.load(here / "values.npy"), f"numbers of {name}")


@test("files that are damaged are refused, and say where")
def _():
    whole = model.read_bytes()

    def file(content):
        (here / "bad.gguf").write_bytes(content)
        return lambda: gguf.read(here / "bad.gguf", "f32")

    refused("no GGUF file", file(b""))
    refused("no GGUF file", file(b"GGML" + whole[4:]))
    refused("is of version 4", file(whole[:4] + struct.pack("<I", 4) + whole[8:]))
    refused("no room", file(gguf_file({}, count=1 << 60)))
    refused("general.alignment and no power of two", file(gguf_file({}, alignment=24)))
    refused("metadata entry 4 is general.alignment, which", file(gguf_file({}).replace(
        text("a") + struct.pack("<I", 4), text("general.alignment") + struct.pack("<I", 4)).replace(
            struct.pack("<I", 7), struct.pack("<I", 32))))
    content = w.tobytes()
    refused("unknown kind 13", file(whole.replace(text("a") + struct.pack("<I", 4), text("a") + struct.pack("<I", 13))))
    refused("(\"f32\") has the name of another one".replace('"', "'"), file(gguf_file(
        {"f32": (0, content), "g32": (0, content)}).replace(b"g32", b"f32")))
    refused("has more than 4 dimensions", file(gguf_file({"f32": (0, content)}, dimensions=lambda name: [1] * 5)))
    refused("reaches beyond the end of the file", file(gguf_file({"f32": (0, content)}, dimensions=lambda name: (K, 1 << 40))))
    refused("no multiple of 32 elements", file(gguf_file({"f32": (2, content)}, dimensions=lambda name: (48, 2))))
    refused("is of type Q2_K", file(gguf_file({"f32": (10, content)})))
    refused("no multiple of 32 elements", file(gguf_file({"f32": (2, content)}, dimensions=lambda name: ())))
    refused("no multiple of 256 elements", file(gguf_file({"f32": (12, content)}, dimensions=lambda name: (288, 8))))
    refused("no tensor 'f32'", file(gguf_file({"g32": (0, content)})))
    refused("not a multiple of general.alignment", file(gguf_file({"f32": (0, content)}).replace(
        struct.pack("<QIQ", N, 0, 0), struct.pack("<QIQ", N, 0, 4))))
    small = gguf_file({"f32": (0, bytes(4))}, dimensions=lambda name: (1,))
    for size in range(len(small) - 31):  # the last 28 are padding
        refused("bad.gguf: ", file(small[:size]))
    assert file(small)().shape == (1,)
    refused("", lambda: gguf.read(here / "none.gguf", "f32"), FileNotFoundError)


@test("blocks are packed and given back bit for bit, with the values that they stand for")
def _():
    for name in qgemm.FORMATS:
        weights = qgemm.pack(gguf.read(model, name))
        equal(weights.blocks(), tensors[name], name)
        run("gguf", "extract", model, name, "-o", here / "values.npy")
        equal(weights.dequantise(), np.load(here / "values.npy"), name)
        assert weights.shape == (N, K) and repr(weights) == f"<pwl.qgemm.Weights {N} x {K}, {name}>"
        again = pickle.loads(pickle.dumps(weights))
        assert again.packed == weights.packed
        equal(again.memory, weights.memory, name)


@test("floats become the codes that the rules say")
def _():
    parts = w.reshape(N, K // 32, 32)
    index = np.abs(parts).argmax(-1)[..., None]
    d = np.take_along_axis(parts, index, -1) / np.float32(-8)
    codes = np.minimum(15, np.trunc(parts * (np.float32(1) / d) + np.float32(8.5))).astype(np.uint8)
    nibbles = codes[..., :16] | codes[..., 16:] << 4
    equal(qgemm.pack(w).blocks(), np.concatenate([d.astype(np.float16).view(np.uint8), nibbles], -1), "q4_0")

    largest = np.abs(parts).max(-1, keepdims=True)
    for rule in ("default", "ggml"):
        d = largest / np.float32(127)
        by = d.astype(np.float16).astype(np.float32) if rule == "default" else d
        steps = parts * (np.float32(1) / by)
        codes = np.trunc(steps + np.copysign(np.float32(0.5), steps)).clip(-127, 127).astype(np.int8).view(np.uint8)
        equal(qgemm.pack(w, "q8_0", rule).blocks(), np.concatenate([d.astype(np.float16).view(np.uint8), codes], -1), rule)
    half = w.astype(np.float16)
    equal(qgemm.pack(half).blocks(), qgemm.pack(half.astype(np.float32)).blocks(), "float16")
    equal(qgemm.pack(w.astype(np.float64)).blocks(), qgemm.pack(w).blocks(), "float64")
    wide = (tensors["bf16"].astype(np.uint32) << 16).view(np.float32)
    equal(qgemm.pack(gguf.read(model, "bf16"), "mxfp4").blocks(), qgemm.pack(wide, "mxfp4").blocks(), "bfloat16")
    equal(qgemm.pack(gguf.read(model, "f32"), "q8_0").blocks(), qgemm.pack(w, "q8_0").blocks(), "a tensor of floats")


@test("products of 16 bits have the bits of pwlc gemm, with a bias and with a table")
def _():
    np.save(here / "bias.npy", bias)
    table.save(here / "table.json")
    for name, activations, scheme in SCHEMES:
        if activations == 8:
            continue
        weights = qgemm.pack(gguf.read(model, name))
        for of_bias, flags in ((None, []), (bias, ["--bias", here / "bias.npy"])):
            product = qgemm.Product(weights, of_bias, activations=activations)
            equal(product(x), by_pwlc(name, scheme, *flags), scheme)
            half = product(x.astype(np.float16))
            assert half.dtype == np.float16
            equal(half, by_pwlc(name, scheme, "--out", "f16", *flags, act=x.astype(np.float16)), scheme)
        flags = ["--bias", here / "bias.npy", "--table", here / "table.json"]
        with_codes = qgemm.Product(weights, bias, table, activations=activations, codes=True)(x)
        equal(with_codes, by_pwlc(name, scheme, *flags), scheme)
        assert len(np.unique(with_codes)) > 20, "the data reach few codes"
        reals = qgemm.Product(weights, bias, table, activations=activations)(x)
        equal(reals, by_pwlc(name, scheme, "--out", "f32", *flags), scheme)
        equal(reals, table.real(qgemm.Product(weights, bias, activations=activations)(x)), "in one pass")


def definition(name, x):
    """Products of 8 bits by the formula of <pwl/qgemm_host.h>: Q8_1 of x, and blocks added in order, each operation in
    float32. What numpy multiplies of codes is exact."""
    parts = x.reshape(len(x), -1, 32)
    d = (np.abs(parts).max(-1) / np.float32(127)).astype(np.float16).astype(np.float32)
    steps = parts * (np.float32(1) / d)[..., None]
    codes = np.trunc(steps + np.copysign(np.float32(0.49999997), steps)).clip(-127, 127)
    blocks = qgemm.pack(gguf.read(model, name)).blocks()
    size = 1 if name == "mxfp4" else 2
    nibbles = np.concatenate([blocks[..., size:] & 15, blocks[..., size:] >> 4], -1)
    if name == "mxfp4":
        e2m1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        scales, values = np.exp2(blocks[..., 0].astype(np.float32) - 127), np.concatenate([e2m1, -e2m1])[nibbles]
    else:
        scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16)[..., 0].astype(np.float32)
        values = nibbles.astype(np.float64) - 8 if name == "q4_0" else blocks[..., 2:].view(np.int8).astype(np.float64)
    y = np.zeros((len(x), len(blocks)), np.float32)
    for b in range(parts.shape[1]):
        sums = (codes[:, b].astype(np.float64) @ values[:, b].T).astype(np.float32)
        y = y + (sums * d[:, b, None]) * scales[:, b]
    return y


@test("products of 8 bits have the bits of their definition, by any number of threads, and stay within bound()")
def _():
    few, many = draw.normal(0, 1, (5, K)).astype(np.float32), draw.normal(0, 1, (70, K)).astype(np.float32)
    shared = np.zeros(5 * K, np.float32)
    for name in qgemm.FORMATS:
        product = qgemm.Product(qgemm.pack(gguf.read(model, name)), activations=8)
        for rows in (few, many):
            y = product(rows)
            equal(y, definition(name, rows), name)
            value, bound = product.bound(rows)
            assert (np.abs(y - value) <= bound).all(), name
        biased = qgemm.Product(product.weights, bias, activations=8)
        equal(biased(many), product(many) + bias, "a bias")
        equal(biased(many.astype(np.float16)), biased(many.astype(np.float16).astype(np.float32)).astype(np.float16), "half")
        reals = qgemm.Product(product.weights, bias, table, activations=8)(few)
        equal(reals, table.real(biased(few)), "real numbers")
        of_codes = qgemm.Product(product.weights, bias, table, activations=8, codes=True)(few).astype(np.float32)
        equal(np.float32(table.output.scale) * (of_codes - np.float32(table.output.zero_point)), reals, "codes")
        alone = biased(many)
        cores, least = qgemm._cores, qgemm.PARTS_FROM
        try:
            for count in (2, 3, 40):
                qgemm._cores, qgemm.PARTS_FROM = lambda: count, 0
                equal(biased(many), alone, f"{count} cores")
                refused("output overlaps", lambda: biased(shared.reshape(5, K), out=shared[:5 * N].reshape(5, N)))
        finally:
            qgemm._cores, qgemm.PARTS_FROM = cores, least


SUPER_K = 512
SUPER_BYTES = {"q4_k": (144, [0, 2]), "q5_k": (176, [0, 2]), "q6_k": (210, [208])}  # where the scales in fp16 are


def super_model():
    """A file of super-blocks of any codes and scales."""
    made = {}
    for name, (size, places) in SUPER_BYTES.items():
        blocks = draw.integers(0, 256, (N, SUPER_K // 256, size), dtype=np.uint8)
        for at in places:
            d = draw.normal(0, 0.01, blocks.shape[:2]).astype(np.float16)
            blocks[..., at:at + 2] = d[..., None].view(np.uint8)
        made[name] = blocks
    path = here / "super.gguf"
    path.write_bytes(gguf_file({name: (numbers[name], blocks.tobytes()) for name, blocks in made.items()},
                               dimensions=lambda name: (SUPER_K, N)))
    return path, made


def decoded(name, blocks):
    """Codes (n, sub-blocks, elements of one), scales and what is subtracted, in float32, as <pwl/blocks.h> has them."""
    n, many, _ = blocks.shape
    half = lambda at: np.ascontiguousarray(blocks[..., at:at + 2]).view(np.float16).astype(np.float32)
    if name == "q6_k":
        low, high = blocks[..., :128].reshape(n, many, 2, 2, 32), blocks[..., 128:192].reshape(n, many, 2, 32)
        parts = [low[..., part % 2, :] >> part // 2 * 4 & 15 | (high >> 2 * part & 3) << 4 for part in range(4)]
        codes = np.stack(parts, -2).reshape(n, many * 16, 16).astype(np.float64) - 32
        return codes, (half(208) * blocks[..., 192:208].view(np.int8)).reshape(n, -1), None
    bits = blocks[..., 4:16]
    scales = np.concatenate([bits[..., :4] & 63, bits[..., 8:] & 15 | bits[..., :4] >> 6 << 4], -1)
    least = np.concatenate([bits[..., 4:8] & 63, bits[..., 8:] >> 4 | bits[..., 4:8] >> 6 << 4], -1)
    low = blocks[..., -128:].reshape(n, many, 4, 1, 32)
    codes = np.concatenate([low & 15, low >> 4], -2).reshape(n, many, 8, 32)
    if name == "q5_k":
        codes = codes | (blocks[..., None, 16:48] >> np.arange(8, dtype=np.uint8)[:, None] & 1) << 4
    return codes.reshape(n, -1, 32).astype(np.float64), (half(0) * scales).reshape(n, -1), (half(2) * least).reshape(n, -1)


def super_definition(name, blocks, x):
    """As definition(), of super-blocks."""
    codes, scales, least = decoded(name, blocks)
    parts = x.reshape(len(x), -1, 32)
    d = (np.abs(parts).max(-1) / np.float32(127)).astype(np.float16).astype(np.float32)
    steps = parts * (np.float32(1) / d)[..., None]
    q = np.trunc(steps + np.copysign(np.float32(0.49999997), steps)).clip(-127, 127).astype(np.float64)
    of_subs = q.reshape(len(x), -1, codes.shape[-1])
    y = np.zeros((len(x), len(codes)), np.float32)
    for i in range(codes.shape[1]):
        of_x = d[:, i * codes.shape[-1] // 32, None]
        y = y + ((of_subs[:, i] @ codes[:, i].T).astype(np.float32) * of_x) * scales[:, i]
        if least is not None:
            y = y - (q[:, i].sum(-1).astype(np.float32)[:, None] * of_x) * least[:, i]
    return y


@test("super-blocks are packed, given back and multiplied by their definition")
def _():
    path, made = super_model()
    few = draw.normal(0, 1, (9, SUPER_K)).astype(np.float32)
    for name, blocks in made.items():
        weights = qgemm.pack(gguf.read(path, name))
        equal(weights.blocks(), blocks, name)
        codes, scales, least = decoded(name, blocks)
        values = codes.astype(np.float32) * scales[..., None] - (0 if least is None else least[..., None])
        run("gguf", "extract", path, name, "-o", here / "values.npy")
        equal(weights.dequantise(), values.reshape(N, SUPER_K), name)
        equal(np.load(here / "values.npy"), values.reshape(N, SUPER_K), "extracted")
        equal(gguf.numbers(path, name), values.reshape(N, SUPER_K), "numbers")
        product = qgemm.Product(weights, bias, activations=8)
        y = product(few)
        equal(y, super_definition(name, blocks, few) + bias, name)
        value, bound = product.bound(few)
        assert (np.abs(y - value) <= bound).all(), name
        equal(qgemm.Product(pickle.loads(pickle.dumps(weights)), bias, activations=8)(few), y, "pickled")
        np.save(here / "x.npy", few)
        np.save(here / "bias.npy", bias)
        run("gemm", "--weights", f"{path}:{name}", "--act", here / "x.npy", "--bias", here / "bias.npy", "--device", "cpu",
            "-o", here / "y.npy")
        assert (np.abs(np.load(here / "y.npy") - value) <= bound).all(), "pwlc gemm"
        refused("must be 8", lambda: qgemm.Product(weights))
        refused(f"has blocks of {name}", lambda: qgemm.pack(gguf.read(path, name), "q4_0"))
        refused("floats become q4_0, q8_0, mxfp4", lambda: qgemm.pack(few, name))


@test("products are those of the values, where all of it is exact")
def _():
    exact = np.ldexp(draw.integers(-8, 8, (N, K)).astype(np.float32), -4)
    exact[:, ::32] = -0.5  # Q4_0 then has d = 2^-4
    weights = qgemm.pack(exact)
    equal(weights.dequantise(), exact, "weights")
    few = draw.integers(-16, 17, (2, 3, K)).astype(np.float32)
    product = qgemm.Product(weights, np.round(bias))
    equal(product(few), few @ exact.T + np.round(bias), "float32")
    equal(product(few.astype(np.float16)), (few @ exact.T + np.round(bias)).astype(np.float16), "float16")
    value, bound = product.bound(few)
    equal(value, few @ exact.T + np.round(bias), "bound()")
    assert value.dtype == np.float64 and (0 < bound).all() and bound.max() < 0.01
    many = draw.normal(0, 1, (64, K)).astype(np.float32)
    for activations, share in ((16, 0), (8, 2 ** -11)):  # of 8 bits, kernels may round both factors to float16
        bounds = [qgemm.Product(weights, activations=activations).bound(rows)[1][:63] for rows in (many[:63], many)]
        assert (bounds[1] - bounds[0] >= share * np.abs(value).min()).all() and (share > 0 or (bounds[0] == bounds[1]).all())


@test("arrays of any shape and layout, results into out=")
def _():
    product = qgemm.Product(qgemm.pack(w), bias)
    expected = product(x)
    equal(product(np.repeat(x, 2, axis=0)[::2]), expected, "steps")
    equal(product(np.asfortranarray(x)), expected, "Fortran's order")
    equal(product(x.tolist()), expected, "lists")
    equal(product(x.astype(">f4")), expected, "the other byte order")
    of_8 = qgemm.Product(product.weights, bias, activations=8)
    equal(of_8(x[0]), of_8(x)[0], "one row")
    value, bound = product.bound(x[:1])
    assert (np.abs(product(x[0]) - value[0]) <= bound[0]).all(), "one row, whose sums have an order of their own"
    equal(product(x.reshape(1, 5, 1, K)), expected.reshape(1, 5, 1, N), "four dimensions")
    assert product(np.zeros((0, K), np.float32)).shape == (0, N)
    out = np.zeros((5, N), np.float16)
    assert product(x, out=out) is out
    equal(out, qgemm.Product(qgemm.pack(w), bias)(x, np.zeros((5, N), np.float16)), "float16")
    assert np.abs(out - expected).max() < 0.02
    codes = qgemm.Product(qgemm.pack(w), bias, table, codes=True)
    equal(codes(x, np.zeros((5, N), np.int32)), codes(x), "int32")
    again = pickle.loads(pickle.dumps(codes))
    equal(again(x), codes(x), "pickled")


@test("what cannot be used is refused, and says what to do")
def _():
    weights = qgemm.pack(w)
    product = qgemm.Product(weights, bias)
    refused("multiple of 32", lambda: qgemm.pack(w[:, :40]))
    refused("rows and columns", lambda: qgemm.pack(w[0]))
    refused("rows and columns", lambda: qgemm.pack(np.zeros((0, 32))))
    refused("must be q4_0, q8_0, mxfp4", lambda: qgemm.pack(w, "q5_1"))
    refused("must be default, ggml, document", lambda: qgemm.pack(w, rule="other"))
    refused("none of this format's", lambda: qgemm.pack(w, "mxfp4", "document"))
    refused("not as q8_0", lambda: qgemm.pack(gguf.read(model, "q4_0"), "q8_0"))
    refused("real numbers", lambda: qgemm.pack(np.full((2, 32), "a")))
    bad = w.copy()
    bad[3, 40] = np.nan
    refused("weights: row 3, columns 32 to 63: a scale, or a weight, is infinite or NaN", lambda: qgemm.pack(bad))
    refused("Weights are wanted", lambda: qgemm.Product(w))
    refused("pwl.Table is wanted", lambda: qgemm.Product(weights, table="gelu"))
    refused("codes=True needs a table", lambda: qgemm.Product(weights, codes=True))
    octave = pwl.fit("sqrt", input="u16:2^-12", output="u16:2^-12", reduce="on", segments=4)
    refused("of one octave", lambda: qgemm.Product(weights, table=octave))
    refused("bias is of the shape (3,)", lambda: qgemm.Product(weights, [1, 2, 3]))
    refused("activations=4 beside q4_0: must be 16 or 8", lambda: qgemm.Product(weights, activations=4))
    refused("activations=4 beside mxfp4: must be 16 or 8", lambda: qgemm.Product(qgemm.pack(w, "mxfp4"), activations=4))
    refused(f"its last dimension must be {K}", lambda: product(x[:, :32]))
    refused(f"its last dimension must be {K}", lambda: product(1.0))
    refused("real numbers are wanted", lambda: product(np.full((1, K), None)))
    refused("out must be an array of numpy", lambda: product(x, out=np.zeros((5, N), np.int8)))
    refused("out must be an array of numpy", lambda: product(x, out=np.zeros((N, 5), np.float32).T))
    refused("must have (5, 21)", lambda: product(x, out=np.zeros((4, N), np.float32)))
    fixed = np.zeros((5, N), np.float32)
    fixed.flags.writeable = False
    refused("read-only", lambda: product(x, out=fixed))
    memory = np.zeros(5 * K, np.float32)
    refused("output overlaps", lambda: product(memory.reshape(5, K), out=memory[:5 * N].reshape(5, N)))
    refused("type of Y does not hold", lambda: qgemm.Product(weights, None, wide, codes=True)(x, np.zeros((5, N), np.int8)))
    refused("no array on a CUDA device", lambda: product.prepare(x, fixed))


class Interface:
    """An array that says that it lies on a device."""

    def __init__(self, array, stream=None):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, "stream": stream}


def of_fake(name):
    return ctypes.c_int.in_dll(fake, f"fake_{name}")


@test("on a device: what is copied there, workspaces, streams, and what is freed")
def _():
    copies = of_fake("copies").value
    product = qgemm.Product(qgemm.pack(w), bias, table)
    expected = product(x)
    out = Interface(np.zeros_like(expected))
    assert product(Interface(x, 7), out=out) is out and of_fake("stream").value == 7
    equal(out.array, expected, "on the array's stream")
    assert of_fake("copies").value == copies + 3, "weights, bias and a workspace"
    asked = of_fake("workspaces").value
    for _ in range(3):
        product(Interface(x), out, stream=7)
    assert of_fake("copies").value == copies + 3 and of_fake("workspaces").value == asked, "nothing anew"
    product(Interface(x), out, stream=8)
    assert of_fake("copies").value == copies + 4 and of_fake("stream").value == 8, "a workspace of another stream"
    one = Interface(np.zeros((1, N), np.float32))
    product(Interface(x[:1]), one, stream=9)
    equal(one.array, expected[:1], "one row")
    assert of_fake("copies").value == copies + 4, "one row needs none"
    many = draw.normal(0, 1, (20, K)).astype(np.float32)
    out = Interface(np.zeros((20, N), np.float32))
    again = product.prepare(Interface(many), out, stream=7)
    assert of_fake("copies").value == copies + 5, "a larger workspace"
    again()
    equal(out.array, product(many), "prepared")
    out.array[:] = 0
    again()
    equal(out.array, product(many), "time and again")
    elsewhere, space = many[::-1].copy(), np.zeros(20, np.uint8)
    again.at(elsewhere.ctypes.data, out.array.ctypes.data, space.ctypes.data, 11)
    equal(out.array, product(elsewhere), "at other addresses")
    assert of_fake("stream").value == 11 and space.all()
    product(Interface(x[:0]), Interface(np.zeros((0, N), np.float32)))
    del product
    gc.collect()
    assert of_fake("copies").value == copies + 5, "what is prepared keeps them"
    del again
    gc.collect()
    assert of_fake("copies").value == copies


G = 24  # rows of a gate, and of up
gate_w, up_w = ((draw.normal(0, 1, (G, K)) * draw.choice([0.3, 1], (G, 1))).astype(np.float32) for _ in range(2))
pair_bias = draw.normal(0, 1, 2 * G).astype(np.float32)
of_x, of_up, of_y = pwl.Type.parse("s8:2^-5:3"), pwl.Type.parse("s16:2^-9:-7"), pwl.Type.parse("s8:2^-3:5")
silu = pwl.load(pathlib.Path(sys.argv[3]) / "luts/tables/silu_s8.json")


def in_turns(gate, up):
    """8 of the gate's and 8 of up's, along the last axis."""
    parts = [of.reshape(*of.shape[:-1], -1, 8) for of in (gate, up)]
    return np.stack(parts, -2).reshape(*gate.shape[:-1], -1)


def parted(turns):
    return (turns.reshape(*turns.shape[:-1], -1, 2, 8)[..., k, :].reshape(*turns.shape[:-1], -1) for k in (0, 1))


@test("cut: parts of weights are the whole's rows and columns, and share a product")
def _():
    for format in ("q4_0", "q8_0", "mxfp4", "int8", "int4"):
        weights = qgemm.pack(draw.normal(0, 1, (300, 640)).astype(np.float32), format)
        values = weights.dequantise()
        for ranks in (1, 2, 3):
            rows, columns = ([share(rank, ranks) for rank in range(ranks)] for share in
                             (weights.rows_of_rank, weights.columns_of_rank))
            for of, last in ((rows, 300), (columns, 640)):
                assert of[0].start == 0 and of[-1].stop == last and all(a.stop == b.start for a, b in zip(of, of[1:]))
            for row, column in itertools.product(rows, columns):
                equal(weights.cut(row, column).dequantise(), values[row, column], f"{format}: {row}, {column}")
    refused("rank=2, ranks=2: must be 0 to 1", lambda: weights.rows_of_rank(2, 2))
    refused("ranks=0: must be at least 1", lambda: weights.rows_of_rank(0, 0))
    refused("share their columns, which have no piece for rank 10", lambda: weights.columns_of_rank(10, 11))
    refused("must be ranges without steps", lambda: weights.cut(slice(0, 128, 2)))
    refused("must not be empty", lambda: weights.cut(slice(128, 128)))
    refused("cuts through a piece", lambda: weights.cut(columns=slice(32, 384)))


@test("store_sums: sums of parts become what the whole product gives")
def _():
    weights, x = qgemm.pack(draw.normal(0, 1, (300, 640)), "int8"), draw.integers(-128, 128, (2, 3, 640)).astype(np.int8)
    bias = draw.normal(0, 8, 300)
    sums = sum(qgemm.Product(weights.cut(columns=part), activations=8, input=of_x, codes=True)(x[..., part])
               for part in (weights.columns_of_rank(rank, 3) for rank in range(3)))
    for table, options in ((None, {}), (None, {"output": of_y}), (silu, {})):
        product = qgemm.Product(weights, bias, table, activations=8, input=of_x, codes=True, **options)
        equal(product.store_sums(sums), product(x), f"{table}, {options}")
    refused("wanted are int32, 300 in the last dimension", lambda: product.store_sums(sums[..., :299]))
    refused("wanted are int32, 300 in the last dimension", lambda: product.store_sums(sums.astype(np.int64)))
    refused("with codes=True", lambda: qgemm.Product(weights, activations=8, input=of_x).store_sums(sums))


@test("gated: the table's value of a gate times up, as a product of all rows in turns and numpy make it")
def _():
    for format, activations in (("q4_0", 16), ("q4_0", 8), ("q8_0", 16), ("q8_0", 8), ("mxfp4", 16), ("mxfp4", 8)):
        weights = qgemm.pack_pair(gate_w, up_w, format)
        assert weights.shape == (2 * G, K)
        equal(weights.dequantise(), in_turns(*(qgemm.pack(of, format).dequantise().T for of in (gate_w, up_w))).T, "rows")
        turns = in_turns(pair_bias[:G], pair_bias[G:])
        gate, up = parted(qgemm.Product(weights, turns, activations=activations)(x))
        for limit, plus in ((0, 0), (0.75, 1)):
            options = {"activations": activations, "gated": True, "up_limit": limit, "up_plus": plus}
            product = qgemm.Product(weights, pair_bias, silu, **options)
            clamped = np.clip(up, -limit, limit) if limit else up
            wanted = silu.real(gate) * (clamped + np.float32(plus))
            equal(product(x), wanted, f"{format}, {activations}, {limit}")
            out = qgemm.Product(weights, pair_bias, silu, codes=True, output=of_y, **options)
            equal(out(x), of_y.quantize(wanted), f"{format}, {activations}, {limit}: codes")
            equal(pickle.loads(pickle.dumps(out))(x), out(x), "pickled")
            if (format, activations) != ("mxfp4", 8):  # which no device has
                on_device = Interface(np.zeros((5, G), np.float32))
                product(Interface(x), on_device)
                assert np.abs(on_device.array - wanted).max() < 0.05, "on a device"


def halves_up(v):
    return np.floor(v + 0.5).astype(np.int64)


def code_of(of, v):
    """Of real numbers that double holds, ties up."""
    return np.clip(halves_up(v / of.scale) + of.zero_point, of.qmin, of.qmax)


@test("int8 and int4: integers as numpy computes them, sums, codes, a table's and a gate's")
def _():
    for format in qgemm.INTEGERS:
        weights = qgemm.pack(w, format)
        q, n_w = weights.codes()
        equal(weights.dequantise(), (q * 2.0 ** -n_w[:, None]).astype(np.float32), "values")
        codes = of_x.quantize(x)
        units = 2.0 ** -(n_w.astype(float) + 5)
        of_bias = np.trunc(bias / units + np.copysign(0.5, bias)).astype(np.int64)
        v = (codes.astype(np.int64) - 3) @ q.astype(np.int64).T + of_bias
        real = v * units
        for given in (x, codes):
            what = f"{format}, {given.dtype}"
            product = qgemm.Product(weights, bias, activations=8, input=of_x)
            equal(product.bias, of_bias.astype(np.int32), "bias")
            equal(product(given), real.astype(np.float32), what)
            equal(qgemm.Product(weights, bias, activations=8, input=of_x, codes=True)(given), v.astype(np.int32), what)
            narrow = qgemm.Product(weights, product.bias, activations=8, input="s8:2^-5:3", output=of_y, codes=True)
            equal(narrow(given), code_of(of_y, real).astype(np.int8), what)
            reals = qgemm.Product(weights, bias, activations=8, input=of_x, output=of_y)
            equal(reals(given), of_y.dequantize(narrow(given)), what)
            with_table = qgemm.Product(weights, bias, silu, activations=8, input=of_x, codes=True)
            equal(with_table(given), silu(code_of(silu.input, real).astype(np.int8)), what)
            equal(qgemm.Product(weights, bias, silu, activations=8, input=of_x)(given),
                  silu.output.dequantize(with_table(given)), what)
        out = Interface(np.zeros((5, N), np.int8))
        for rows in (1, 5, 2):
            with_table(Interface(codes[:rows]), Interface(out.array[:rows]))
            equal(out.array[:rows], with_table(codes[:rows]), "on a device")
        assert with_table(x.astype(np.float16)).dtype == np.int8
        assert qgemm.Product(weights, bias, silu, activations=8, input=of_x)(x.astype(np.float16)).dtype == np.float16
    equal(qgemm.pack(gguf.read(model, "q4_0"), "int4").codes()[0] % 16, np.zeros((N, K)), "of Q4_0")


@test("int8: a gate of integers alone")
def _():
    weights = qgemm.pack_pair(gate_w, up_w, "int8")
    q, n_w = weights.codes()
    product = qgemm.Product(weights, pair_bias, silu, activations=8, input=of_x, gated=True, up=of_up, output=of_y)
    codes = of_x.quantize(x)
    units = 2.0 ** -(n_w.astype(float) + 5)
    of_rows = pair_bias / np.concatenate(list(parted(units)))
    equal(product.bias, np.trunc(of_rows + np.copysign(0.5, of_rows)).astype(np.int32), "bias")
    v = (codes.astype(np.int64) - 3) @ q.astype(np.int64).T + in_turns(product.bias[:G], product.bias[G:])
    gate, up = parted(v * units)
    r = silu(code_of(silu.input, gate).astype(np.int8)).astype(np.int64) - silu.output.zero_point
    wanted = code_of(of_y, r * silu.output.scale * ((code_of(of_up, up) + 7) * of_up.scale)).astype(np.int8)
    equal(product(codes), of_y.dequantize(wanted), "real numbers")
    assert len(np.unique(wanted)) > 5
    other = qgemm.Product(weights, pair_bias, silu, activations=8, input=of_x, gated=True, up=of_up, output=of_y, codes=True)
    equal(other(x), wanted, "codes")


@test("pairs and integers: what is refused")
def _():
    pair, integers = qgemm.pack_pair(gate_w, up_w), qgemm.pack(w, "int8")
    refused("must be of one type and shape", lambda: qgemm.pack_pair(gate_w, up_w[:8]))
    refused("must be of one type and shape", lambda: qgemm.pack_pair(gate_w, up_w.astype(np.float16)))
    refused("gate and up have 21 rows: must be a multiple of 8", lambda: qgemm.pack_pair(w, w))
    refused("gated=True needs a table", lambda: qgemm.Product(pair, gated=True))
    refused("that pack_pair() has packed", lambda: qgemm.Product(qgemm.pack(w), None, silu, gated=True))
    refused("output=, the type", lambda: qgemm.Product(pair, None, silu, gated=True, codes=True))
    refused("up_limit and up_plus are of gated", lambda: qgemm.Product(pair, up_limit=1))
    refused("output= is of codes that no table", lambda: qgemm.Product(pair, None, silu, output=of_y))
    refused("input= and up= are of int8 and int4", lambda: qgemm.Product(pair, input=of_x))
    refused("activations=16 beside int8: must be 8", lambda: qgemm.Product(integers, input=of_x))
    refused("input=None: products of int8", lambda: qgemm.Product(integers, activations=8))
    refused("input=s16", lambda: qgemm.Product(integers, activations=8, input="s16:2^-5:0"))
    refused("scales of INT8 are powers of two", lambda: qgemm.Product(integers, activations=8, input="s8:0.03:0"))
    refused("its zero point must be from -128", lambda: qgemm.Product(integers, activations=8, input="s8:2^-5:200"))
    refused("output=u8", lambda: qgemm.Product(integers, activations=8, input=of_x, output="u8:2^-5:0"))
    refused("up= is of gated products of int8", lambda: qgemm.Product(integers, activations=8, input=of_x, up=of_up))
    refused("have no blocks: codes()", lambda: integers.blocks())
    refused("are no integers: blocks()", lambda: pair.codes())
    refused("there are gated, up_limit", lambda: qgemm.Product(pair, limit=1), TypeError)
    refused("take and give codes: codes=True",
            lambda: qgemm.Product(integers, activations=8, input=of_x)(Interface(of_x.quantize(x)), Interface(x)))
    no_power = pwl.fit("gelu", input="s8:0.0472", output="s8:0.0238", max_err=2.0)
    refused("no power of two", lambda: qgemm.Product(integers, None, no_power, activations=8, input=of_x)(x))


@test("on a device: what is refused")
def _():
    product = qgemm.Product(qgemm.pack(w), bias, table)
    out = Interface(np.zeros((5, N), np.float32))
    refused("must be of float32, float16, bfloat16", lambda: product(Interface(x.astype(np.float64)), out))
    refused("out is of int8", lambda: product(Interface(x), Interface(np.zeros((5, N), np.int8))))
    refused("must have (5, 21)", lambda: product(Interface(x), Interface(np.zeros((4, N), np.float32))))
    refused("order of C", lambda: product(Interface(np.asfortranarray(x)), out))
    refused("cannot be made here", lambda: product(Interface(x)))
    refused("no array on a CUDA device", lambda: product(x, out))
    many = np.zeros((64, K), np.float32)
    refused("an error of the device", lambda: product(Interface(many), Interface(np.zeros((64, N), np.float32))))
    of_fake("device").value = of_fake("current").value = 3
    try:
        product(Interface(x), out)
        equal(out.array, product(x), "another device, with weights of its own")
        assert sorted(product._residents) == [0, 3]
        of_fake("device").value = 2
        refused("lies on CUDA device 2, and device 3 is current", lambda: product(Interface(x), out))
    finally:
        of_fake("device").value = of_fake("current").value = 0


end()
