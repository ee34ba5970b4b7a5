#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.cuda against a libpwl-cuda on memory of the host: what is passed on, and what is refused. PYTHONPATH says where the
package is. tests/python/test_cuda_device.py has the real one.

usage: test_cuda.py FAKE_CUDA PWLC SOURCE
"""
import ctypes
import dataclasses
import gc
import os
import pathlib
import subprocess
import sys
import types

import networks
from harness import end, equal, np, refused, test

import pwl
import pwl.network
from pwl import cuda

os.environ["PWL_CUDA_LIBRARY"] = os.path.realpath(sys.argv[1])
os.environ["PWLC"] = os.path.realpath(sys.argv[2])
tables = pathlib.Path(sys.argv[3]) / "luts/tables"
fake = ctypes.CDLL(os.environ["PWL_CUDA_LIBRARY"])


def of_fake(name):
    return ctypes.c_int.in_dll(fake, f"fake_{name}")


class Interface:
    """An array that says that it lies on a device, by __cuda_array_interface__."""

    def __init__(self, array, **other):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, **other}


class Beside(Interface):
    """An array of a library that makes such arrays: a stand-in for cupy."""

    __module__ = "cupy"

    def __init__(self, array):
        super().__init__(array)
        self.shape, self.ndim = array.shape, array.ndim

    def __getitem__(self, at):
        return self.array[at]

    def __setitem__(self, at, of):
        self.array[at] = of.array


cupy = types.ModuleType("cupy")
cupy.asarray = lambda codes: Beside(codes.copy())
cupy.empty = lambda shape, dtype: Beside(np.full(shape, 77, dtype))
cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=0))
sys.modules["cupy"] = cupy


class DLPack:
    """The same, by DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        self.stream = stream
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return 2, 0


table = pwl.load(tables / "gelu_s8.json")
codes = np.arange(-128, 128, dtype=np.int8).reshape(16, 16)
reals = np.random.default_rng(1).normal(0, 3, (5, 7)).astype(np.float32)


@test("codes and real numbers by both protocols, on the stream that is asked for")
def _():
    for kind in (Interface, DLPack):
        out = kind(np.zeros_like(codes))
        assert table(kind(codes), out=out) is out and of_fake("stream").value == 0
        equal(out.array, table(codes), kind.__name__)
        out = kind(np.zeros_like(reals))
        table.real(kind(reals), out=out)
        equal(out.array, table.real(reals), f"{kind.__name__}, real numbers")
        x = kind(codes.copy())
        cuda.map(table, x, out=x, stream=77)
        equal(x.array, table(codes), f"{kind.__name__}, in place")
        assert of_fake("stream").value == 77 and (kind is Interface or x.stream == 77)
    table(Interface(codes, stream=5), out=Interface(np.zeros_like(codes)))
    assert of_fake("stream").value == 5, "the stream that the array names"
    empty = Interface(np.zeros((0, 3), np.int8))
    assert table(empty, out=empty) is empty


@test("DLPack: data begin byte_offset behind the address")
def _():
    class Behind(DLPack):
        """An array that says that its memory begins 48 bytes before its data."""

        def __dlpack__(self, stream=None):
            capsule = super().__dlpack__(stream)
            get = ctypes.pythonapi.PyCapsule_GetPointer
            get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            tensor = cuda._DLTensor.from_address(get(capsule, b"dltensor"))
            tensor.data, tensor.byte_offset = tensor.data - 48, tensor.byte_offset + 48
            return capsule

    for of_x, of_out in ((Behind, Behind), (Behind, DLPack), (DLPack, Behind)):
        x, out = of_x(codes), of_out(np.zeros_like(codes))
        table(x, out=out)
        equal(out.array, table(codes), "codes")


@test("a table is uploaded once for each device, and released with the table")
def _():
    gc.collect()
    before = of_fake("uploads").value
    other = pwl.load(tables / "tanh_s8.json")
    x = Interface(codes)
    for device in (0, 1, 0, 1):
        of_fake("device").value = of_fake("current").value = device
        other(x, out=Interface(np.zeros_like(codes)))
    of_fake("device").value = of_fake("current").value = 0
    assert of_fake("uploads").value == before + 2
    del other
    gc.collect()
    assert of_fake("uploads").value == before


@test("arrays that do not fit are refused")
def _():
    x, out = Interface(codes), Interface(np.zeros_like(codes))
    refused("give out=, an array of int8", lambda: table(x))
    refused("x is of float32; must be of int8, uint8", lambda: table(Interface(reals), out=out))
    refused("out is of float64", lambda: table.real(Interface(reals), out=Interface(reals.astype(float))))
    refused("x is of c64", lambda: table(Interface(reals.astype(np.complex64)), out=out))
    refused("another byte order", lambda: table(Interface(codes.astype(">i2")), out=out))
    refused("out has the shape (4, 64), and must have (16, 16)", lambda: table(x, out=Interface(np.zeros((4, 64), np.int8))))
    refused("out is read-only", lambda: table(x, out=Interface(codes, data=(codes.ctypes.data, True))))
    refused("in the order of C", lambda: table(Interface(codes.T), out=out))
    refused("in the order of C", lambda: table(x, out=DLPack(np.zeros((16, 32), np.int8)[:, ::2])))
    refused("ndarray: no array on a CUDA device", lambda: table(x, out=np.zeros_like(codes)))
    refused("ndarray: no array on a CUDA device", lambda: table(codes, out=out))
    refused("libpwl-cuda: the fake one's words", lambda: table(x, out=Interface(np.zeros(codes.shape, np.int16))))


@test("row operators: rows, masks and causal blocks as on the CPU, uploaded once")
def _():
    gc.collect()
    before = of_fake("uploads").value
    draw = np.random.default_rng(2)
    softmax = pwl.softmax("s8:0.0472", "u8:2^-8", rows=64)
    norm = pwl.layernorm("s16:2^-10", "s8:2^-5", gamma=np.linspace(0.5, 2, 24), beta=np.zeros(24), eps=1e-5)
    x = draw.integers(-128, 128, (3, 5, 64)).astype(np.int8)
    mask = draw.integers(0, 2, x.shape).astype(np.uint8)
    for kind in (Interface, DLPack):
        for flags in ({}, {"mask": mask}, {"mask": mask.astype(bool)}, {"mask": mask[0, 0]}, {"causal": True, "first": 2},
                      {"mask": mask, "causal": True}):
            out = kind(np.zeros(x.shape, np.uint8))
            of_mask = Interface if getattr(flags.get("mask"), "dtype", None) == bool else kind  # numpy's DLPack has no bool
            given = {name: of_mask(value) if name == "mask" else value for name, value in flags.items()}
            launches = of_fake("launches").value
            assert softmax(kind(x), out=out, **given) is out
            equal(out.array, softmax(x, **flags), f"{kind.__name__}, {list(flags)}")
            assert of_fake("launches").value - launches == (3 if "causal" in flags else 1)
    y, out = draw.integers(-32768, 32768, (7, 24)).astype(np.int16), Interface(np.zeros((7, 24), np.int8))
    cuda.map_rows(norm, Interface(y), out=out, stream=9)
    equal(out.array, norm(y), "a norm")
    assert of_fake("stream").value == 9 and of_fake("uploads").value == before + 2
    one, empty = Interface(np.zeros(64, np.uint8)), Interface(np.zeros((0, 64), np.int8))
    equal(softmax(Interface(x[0, 0]), out=one, causal=True).array, softmax(x[0, 0], causal=True), "one row")
    softmax(empty, out=Interface(np.zeros((0, 64), np.uint8)))
    refused("the last axis must have 1 to 64 places", lambda: softmax(Interface(np.zeros((2, 65), np.int8)), out=one))
    refused("the last axis must have 24 places", lambda: norm(Interface(np.zeros((2, 23), np.int16)), out=one))
    refused("mask, causal: not of layernorm", lambda: norm(Interface(y), out=out, causal=True))
    refused("first: -1, must be 0 or more", lambda: softmax(Interface(x), out=one, causal=True, first=-1))
    refused("x is of int16; must be of int8", lambda: softmax(Interface(y), out=one))
    refused("mask has the shape (5, 64), and must have (3, 5, 64) or (64,)",
            lambda: softmax(Interface(x), out=Interface(np.zeros(x.shape, np.uint8)), mask=Interface(mask[0])))
    refused("mask is of float32", lambda: softmax(Interface(x), out=Interface(np.zeros(x.shape, np.uint8)),
                                                  mask=Interface(mask.astype(np.float32))))
    refused("ndarray: no array on a CUDA device", lambda: softmax(Interface(x[0, 0]), out=one, mask=mask[0, 0]))
    del softmax, norm
    gc.collect()
    assert of_fake("uploads").value == before


@test("networks: codes of the CPU, uploaded once, and what is refused")
def _():
    gc.collect()
    before, golden = of_fake("uploads").value, pathlib.Path(sys.argv[3]) / "tests/golden/networks"
    network, draw = pwl.network.load(golden / "gru.json"), np.random.default_rng(3)
    edge = network.edges[network.inputs[0]]
    x = draw.integers(edge.type.qmin, edge.type.qmax + 1, network.shape_at(edge.name, network.sizes)).astype(edge.type.dtype)
    expected = network(x)
    for kind in (Interface, DLPack):
        out = tuple(kind(np.zeros_like(codes)) for codes in expected)
        given = network(kind(x), out=out, stream=3)
        assert all(one is other for one, other in zip(given, out)) and of_fake("stream").value == 3
        for one, codes in zip(out, expected):
            equal(one.array, codes, kind.__name__)
    assert of_fake("uploads").value == before + 1
    out = tuple(Interface(np.zeros_like(codes)) for codes in expected)
    refused("2 inputs, must be 1", lambda: network(Interface(x), Interface(x), out=out))
    refused("x is of float32", lambda: network(Interface(x.astype(np.float32)), out=out))
    refused("must be from 1 to", lambda: network(Interface(np.concatenate([x, x], 1)), out=out))
    refused("out: 3 arrays, must be 2", lambda: network(Interface(x), out=(*out, out[0])))
    of_fake("refuses").value = 1
    other = pwl.network.load(golden / "gru.json")
    refused("of kind loop that CUDA devices do not run", lambda: other(Interface(x), out=out))
    of_fake("refuses").value = 0
    del network
    gc.collect()
    assert of_fake("uploads").value == before


@test("a decoder on a device: caches move there once, change in place, and grow to their capacity")
def _():
    gc.collect()
    before, named = of_fake("uploads").value, {"e1": "positions"}
    made = networks.decoder(2)
    network = pwl.network.Network(
        made.sizes, [dataclasses.replace(edge, name=named.get(name, name)) for name, edge in made.edges.items()],
        [named.get(name, name) for name in made.inputs], made.outputs,
        [dataclasses.replace(node, inputs=tuple(named.get(name, name) for name in node.inputs)) for node in made.nodes])
    ids = np.random.default_rng(1).integers(0, 20, (2, 10)).astype(np.int32)
    growing, there = pwl.network.Decoding(network, 2), pwl.network.Decoding(network, 2)
    for one in (growing, there):
        one._sizes["places"] = 4  # which grow
        one._caches = {name: one._empty(name) for name in one._axes}
    growing(ids[:, :1])
    there(ids[:, :1])
    caches = None
    for at, count in ((1, 2), (3, 1), (4, 1), (5, 4)):
        tokens = np.ascontiguousarray(ids[:, at:at + count])
        equal(there(Beside(tokens)).array, growing(tokens), f"from token {at}")
        assert at != 3 or list(there._caches.values()) == caches, "in place"
        caches = list(there._caches.values())
    for name, codes in growing._caches.items():
        equal(there._caches[name].array, codes, name)
    refused("11 tokens, 9 of them before: the capacity of this network is 10", lambda: there(Beside(ids[:, :2].copy())))
    refused("arrays of __main__ cannot be made here", lambda: cuda.beside(Interface(ids), ids))
    assert of_fake("uploads").value == before + 1
    del made, network, growing, there, one
    gc.collect()
    assert of_fake("uploads").value == before


@test("another device, none at all, or no library: each says what to do")
def _():
    x, out = Interface(codes), Interface(np.zeros_like(codes))
    of_fake("device").value = 1
    refused("lies on CUDA device 1, and device 0 is current: call within torch.cuda.device(1)", lambda: table(x, out=out))
    of_fake("device").value = 0
    ctypes.c_void_p.in_dll(fake, "fake_elsewhere").value = out.array.ctypes.data
    refused("x lies on CUDA device 0, out on 1: both must lie on one", lambda: table(x, out=out))
    softmax, mask = pwl.softmax("s8:0.0472", "u8:2^-8", rows=16), np.ones(codes.shape, np.uint8)
    ctypes.c_void_p.in_dll(fake, "fake_elsewhere").value = mask.ctypes.data
    refused("x lies on CUDA device 0, mask on 1: both must lie on one",
            lambda: softmax(x, out=Interface(np.zeros(codes.shape, np.uint8)), mask=Interface(mask)))
    ctypes.c_void_p.in_dll(fake, "fake_elsewhere").value = None
    of_fake("current").value = -1
    refused("no CUDA device is here", lambda: table(x, out=out), pwl.MissingError)
    of_fake("current").value = 0
    for path, words in (("/nowhere.so", "/nowhere.so"), ("libc.so.6", "pwl_device_of")):
        done = subprocess.run([sys.executable, "-c", "from pwl import cuda; cuda.library()"], capture_output=True,
                              text=True, env={**os.environ, "PWL_CUDA_LIBRARY": path})
        assert "MissingError: no libpwl-cuda" in done.stderr and words in done.stderr, done.stderr


end()
