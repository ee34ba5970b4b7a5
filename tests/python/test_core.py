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
from unittest import mock

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


def gguf_file(path, type=0):
    """A file with one tensor, "w", of 64 numbers in a row."""
    def text(words):
        return len(words).to_bytes(8, "little") + words
    head = b"GGUF" + b"".join(number.to_bytes(size, "little") for number, size in ((3, 4), (1, 8), (1, 8)))
    head += text(b"words") + (9).to_bytes(4, "little") + (8).to_bytes(4, "little") + (2000).to_bytes(8, "little")
    head += b"".join(text(b"w" * (k % 50)) for k in range(2000))
    head += text(b"w") + b"".join(number.to_bytes(size, "little") for number, size in ((1, 4), (64, 8), (type, 4), (0, 8)))
    path.write_bytes(head + bytes(-len(head) % 32) + np.arange(64, dtype=np.float32).tobytes())


@test("a tensor of a GGUF file is memory of its own, whatever becomes of the file")
def _():
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "model.gguf"
        gguf_file(path)
        assert pwl.gguf.names(path) == ["w"]
        tensor = pwl.gguf.read(path, "w")
        size = path.stat().st_size
        os.truncate(path, 0)
        equal(tensor.data.view(np.float32), np.arange(64), "after the file was cut")
        refused("read-only", lambda: tensor.data.fill(0), ValueError)
        for left in (0, 3, 40, 5000, size - 300, size - 1):
            gguf_file(path)
            os.truncate(path, left)
            refused("model.gguf: ", lambda: pwl.gguf.read(path, "w"))
        # Cut between one look and the next: its size is what it was when it was opened.
        gguf_file(path)
        with mock.patch.object(os, "fstat", lambda of: os.stat_result([0] * 6 + [size + 400] + [0] * 3)):
            os.truncate(path, size - 4)
            refused("model.gguf: tensor 'w' reaches beyond the end of the file", lambda: pwl.gguf.read(path, "w"))
            os.truncate(path, 50)
            refused("model.gguf: metadata entry 0 reaches beyond the end of the file", lambda: pwl.gguf.read(path, "w"))


@test("types of GGUF are named in every message")
def _():
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "model.gguf"
        for number, name in ((10, "Q2_K"), (40, "NVFP4"), (3, "Q4_1"), (24, "I8"), (28, "F64"), (1000, "1000, which is unknown here")):
            gguf_file(path, number)
            refused(f"is of type {name}; those that can be read are F32, F16, Q4_0, Q8_0, BF16, MXFP4, Q4_K, Q5_K, Q6_K",
                    lambda: pwl.gguf.read(path, "w"))
            tensor = pwl.gguf.Tensor("w", number, (1, 64), np.zeros(64, np.uint8))
            refused(f"w is of type {name}; those that can be packed are F32", lambda: pwl.qgemm.pack(tensor))
            assert f", {name}, 1 x 64>" in repr(tensor)


@contextlib.contextmanager
def as_nobody():
    """Within it, a process of root's has no more rights than others."""
    if os.geteuid():
        yield
        return
    with mock.patch.object(os, "access", lambda path, mode: bool(os.stat(path).st_mode & 0o222)):
        yield


@test("save() replaces files as pwlc does: not devices, links or what is protected")
def _():
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        path, link, dangling = folder / "table.json", folder / "link.json", folder / "dangling.json"
        text = gelu.to_json().encode()
        link.symlink_to("table.json")
        path.write_text("old")
        path.chmod(0o640)
        gelu.save(link)
        assert link.is_symlink() and path.read_bytes() == text, "the file behind a link"
        assert stat.S_IMODE(path.stat().st_mode) == 0o640, "permissions"
        before = path.stat()
        gelu.save(path)
        assert path.stat().st_ino == before.st_ino and path.stat().st_mtime_ns == before.st_mtime_ns, "unchanged, but written"
        dangling.symlink_to("behind.json")
        gelu.save(dangling)
        assert dangling.is_symlink() and (folder / "behind.json").read_bytes() == text, "a link to nothing yet"
        path.chmod(0o444)
        gelu.save(path)
        with as_nobody():
            refused("table.json", lambda: sigmoid.save(path), PermissionError)
        assert path.read_bytes() == text
        fifo = folder / "fifo"
        os.mkfifo(fifo)
        end_of_pipe = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        gelu.save(fifo)
        assert stat.S_ISFIFO(fifo.stat().st_mode) and os.read(end_of_pipe, 1 << 16) == text, "a pipe"
        os.close(end_of_pipe)
        device = os.stat("/dev/null")
        gelu.save("/dev/null")
        assert os.path.samestat(device, os.stat("/dev/null")) and os.stat("/dev/null").st_mode == device.st_mode, "a device"
        with open(folder / "opened", "w+b") as file:
            file.write(b"before")
            file.flush()
            gelu.save(f"/dev/fd/{file.fileno()}")
            file.seek(0)
            assert file.read() == b"before" + text, "an open file"
        mask = os.umask(0o027)
        gelu.save(folder / "new.json")
        os.umask(mask)
        assert stat.S_IMODE((folder / "new.json").stat().st_mode) == 0o640, "a new file"
        names = {"table.json", "link.json", "dangling.json", "behind.json", "fifo", "opened", "new.json"}
        refused("", lambda: gelu.save(folder), OSError)
        refused("", lambda: gelu.save(folder / "none" / "table.json"), OSError)
        assert {name.name for name in folder.iterdir()} == names, "a part of a file is left"


end()
