#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the compiled part of the package is given by classes of other people, by files that change, and by callers of its
private functions: it checks all of it, and no memory but its own is touched. PYTHONPATH says where the package is.

usage: test_core.py SOURCE
"""
import contextlib
import itertools
import os
import pathlib
import stat
import sys
import tempfile

from harness import end, equal, np, refused, test

import pwl
from pwl import _core

source = pathlib.Path(sys.argv[1]).resolve()
gelu, sigmoid = (pwl.load(source / f"luts/tables/{name}.json") for name in ("gelu_s8", "sigmoid_u16"))
random = np.random.default_rng(1)


@test("the class of x has no say in what its codes are written into")
def _():
    asked = []

    class Short(np.ndarray):
        """Gives one element where numpy's functions are asked for an array like it."""

        def __array_function__(self, function, types, arguments, keywords):
            asked.append(function.__name__)
            return np.zeros(1, keywords.get("dtype", np.int8))

    x = random.integers(-128, 128, (300, 40)).astype(np.int8)
    for view in (x.T, x[::2, ::-3], x[:, 1:9]):
        got = gelu(view.view(Short))
        assert type(got) is np.ndarray, type(got)
        equal(got, gelu(np.ascontiguousarray(view)), "a view of another class")
        equal(gelu.plan()(view.view(Short)), got, "by a plan")
        refused("the shape of x", lambda: gelu(view.view(Short), out=np.zeros(1, np.int8)))
        reals = view.astype(np.float32) / 32
        equal(gelu.real(reals.view(Short)), gelu.real(reals), "real numbers")
        equal(gelu.quantize(reals.view(Short)), gelu.quantize(reals), "quantize")
    assert "empty_like" not in asked, asked


@test("results lie in memory as numpy's own would")
def _():
    x = np.zeros((3, 4, 5, 6), np.int8)
    for axes in itertools.permutations(range(4)):
        for view in (x.transpose(axes), x.transpose(axes)[::-1, :, ::2], x.transpose(axes)[:, 1:2], x[:, :0].transpose(axes),
                     np.broadcast_to(x[:1], x.shape).transpose(axes)):
            y, like = gelu(view), np.empty_like(view)
            assert y.flags.owndata and y.shape == like.shape
            where = [k for k in range(4) if view.shape[k] > 1]
            assert view.size == 0 or [y.strides[k] for k in where] == [like.strides[k] for k in where], (axes, view.shape)


@test("private functions refuse what does not fit")
def _():
    reals, codes, wide = np.zeros(8, np.float32), np.zeros(8, np.int8), np.zeros(8, np.uint32)
    most = (1 << 63) - 1
    for zero, low, high in ((most, -128, 127), (-most - 1, -128, 127), (0, -most - 1, most), (1 << 30, -most - 1, 127),
                            (0, -129, 127), (0, -128, 128), (5, 3, 2)):
        refused("", lambda: _core.quantise(reals, codes, 1.0, zero, low, high))
    for scale in (0.0, -1.0, np.nan, np.inf, 1e-40):
        refused("a scale", lambda: _core.quantise(reals, codes, scale, 0, -128, 127))
        refused("a scale", lambda: _core.dequantise(codes, reals, scale, 0, 0))
    refused("", lambda: _core.dequantise(wide, reals, 1.0, 1 << 34, 5))
    for kind in (-1, 6, 1 << 30):
        refused("no type of codes", lambda: _core.dequantise(codes.astype(np.int64), reals, 1.0, 0, kind))
    refused("the shape of x", lambda: _core.quantise(reals, codes[:3], 1.0, 0, -128, 127))
    equal(_core.quantise(reals + 200, codes, 1.0, 1 << 30, -128, 127), np.full(8, 127), "a zero point far out")
    for n, k in itertools.product((-1, 0, 1, 31, 1 << 62), repeat=2):
        for format in (-1, 0, 1, 2, 3, 1 << 30):
            refused("", lambda: _core.qgemm_dequantise(format, n, k, b"", bytearray()))
            refused("", lambda: _core.qgemm_unpack(format, n, k, 0, 0, bytearray(), bytearray()))
            refused("", lambda: _core.qgemm_unpack(format, n, k, -1, 1, bytearray(64), bytearray(64)))
            refused("", lambda: _core.qgemm_pack(format, 0, 0, n, k, b"", bytearray()))
    refused("aligned", lambda: _core.qgemm_dequantise(0, 1, 32, memoryview(bytes(19))[1:], bytearray(128)))
    refused("", lambda: _core.qgemm_dequantise(0, 1, 32, bytes(18), bytearray(127)))


@test("a private table has types that hold its codes")
def _():
    core = 0, 0, 0, 0, 0, -128, 127, -128, 127, 0
    segments = b"\x80", b"\0", b"\0", b"\0\0"
    good = _core.Table(core, segments, None, (0, 0, 1.0, 0, 1.0, 0))
    assert good.eval(5) == 0 and good._real(np.zeros(3, np.float32), np.ones(3, np.float32)).tolist() == [0, 0, 0]
    for kinds in ((1, 0), (0, 1), (6, 0), (0, -1)):
        refused("", lambda: _core.Table(core, segments, None, (*kinds, 1.0, 0, 1.0, 0)), ValueError)


end()
