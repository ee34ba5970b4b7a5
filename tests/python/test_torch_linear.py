#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.torch.QLinear on the CPU against pwl.qgemm.Product; on a CUDA device where there is one and libpwl-cuda too, else its
launches by a libpwl-cuda on memory of the host. PYTHONPATH says where the package is. Exit 77, a skip, without torch.

usage: test_torch_linear.py FAKE_CUDA SOURCE
"""
import contextlib
import copy
import ctypes
import io
import os
import pathlib
import pickle
import sys
import tempfile
import types
import warnings
from unittest import mock

from harness import end, equal, np, refused, test

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from torch import nn

import pwl
import pwl.torch
from pwl import cuda, qgemm
from pwl.torch import QLinear, linear

try:
    on_device = torch.cuda.is_available() and cuda.library() is not None
except pwl.MissingError:
    on_device = False
if not on_device:
    os.environ["PWL_CUDA_LIBRARY"] = os.path.realpath(sys.argv[1])
table = pwl.load(pathlib.Path(sys.argv[2]) / "luts/tables/gelu_s8.json")
warnings.simplefilter("error")
warnings.filterwarnings("ignore", module="torch")  # its own words about itself
torch.manual_seed(1)
torch.set_num_threads(1)
N, K = 21, 96
dense = nn.Linear(K, N)
dense.weight.data *= 10
values, bias = dense.weight.detach().numpy(), dense.bias.detach().numpy()
KINDS = [("q4_0", 16), ("q4_0", 8), ("q8_0", 16), ("q8_0", 8), ("mxfp4", 16)]


def bits(x):
    """A tensor as integers, which numpy has for bfloat16 too."""
    return x.detach().cpu().view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]).numpy()


def same(got, expected, what):
    assert got.dtype == expected.dtype, f"{what}: {got.dtype}, not {expected.dtype}"
    equal(bits(got), bits(expected), what)


@test("a layer is Product of pwl.qgemm, bit for bit, in every format and type")
def _():
    x = torch.randn(2, 3, K)
    for format, activations in KINDS:
        for of_table, codes in ((None, False), (table, False), (table, True)):
            layer = QLinear.of_linear(dense, format, table=of_table, activations=activations, codes=codes)
            product = qgemm.Product(qgemm.pack(values, format), bias, of_table, activations=activations, codes=codes)
            what = f"{format}, {activations}, {of_table}, {codes}"
            same(layer(x), torch.from_numpy(product(x.numpy())), what)
            same(layer(x.half()), torch.from_numpy(product(x.half().numpy())), what)
            if codes:
                continue
            same(layer(x.double()), torch.from_numpy(product(x.numpy())).double(), what)
            small = layer(x.bfloat16())
            assert small.dtype == torch.bfloat16
            wide = torch.from_numpy(product(x.bfloat16().float().numpy())).bfloat16()
            close = (small.float() - wide.float()).abs().max()
            assert close <= 2 * table.output.scale + wide.float().abs().max() / 64, f"{what}: {close}"


@test("layouts, shapes and rows that are none")
def _():
    layer = QLinear.of_linear(dense)
    x = torch.randn(6, K)
    y = layer(x)
    same(layer(x.t().contiguous().t()), y, "columns first")
    same(layer(torch.stack([x, x], 1)[:, 0]), y, "steps")
    same(layer(x[0]), y[0], "a row")
    same(layer(x.reshape(2, 1, 3, K)), y.reshape(2, 1, 3, N), "four dimensions")
    assert layer(torch.zeros(0, K)).shape == (0, N)
    equal(layer.weights.blocks(), qgemm.pack(values).blocks(), "weights")
    assert "96 to 21, q4_0, activations of 16 bits, bias=True, table=None" in repr(layer)
    assert QLinear(qgemm.pack(values))(x).shape == (6, N)


@test("operators keep torch's rules, with fake kernels of the right types and layouts")
def _():
    for options in ({}, {"table": table}, {"table": table, "codes": True}):
        layer = QLinear.of_linear(dense, **options)
        x = torch.randn(3, K)
        checks = [(linear.qlinear, (x, layer.weight, layer.bias, *layer._arguments))]
        if not options.get("codes"):
            checks.append((linear.qlinear, (x.clone().requires_grad_(), layer.weight, None, *layer._arguments)))
        for operator, inputs in checks:
            torch.library.opcheck(operator, inputs)
    torch.library.opcheck(linear.qvalues, (layer.weight, *layer._arguments[:5]))


@test("gradients are those of the values of the weights, and of the table's slope")
def _():
    x = torch.randn(4, K, requires_grad=True)
    of = torch.from_numpy(qgemm.pack(values).dequantise())
    wanted = torch.randn(4, N)
    layer = QLinear.of_linear(dense)
    layer(x).backward(wanted)
    assert torch.allclose(x.grad, wanted @ of, rtol=1e-5, atol=1e-5)
    y = layer(x).detach().requires_grad_()
    pwl.torch.real(y, table).backward(wanted)
    x.grad = None
    QLinear.of_linear(dense, table=table)(x).backward(wanted)
    assert torch.allclose(x.grad, y.grad @ of, rtol=1e-5, atol=1e-5)
    assert not list(layer.parameters())


@test("a tensor of a GGUF file, with its bias")
def _():
    def text(string):
        return len(string).to_bytes(8, "little") + string.encode()

    def integers(*values):
        return b"".join(value.to_bytes(size, "little") for value, size in values)

    blocks = qgemm.pack(values, "q8_0").blocks().tobytes()
    at = -(-len(blocks) // 32) * 32
    head = b"GGUF" + integers((3, 4), (2, 8), (0, 8))
    head += text("w") + integers((2, 4), (K, 8), (N, 8), (8, 4), (0, 8))
    head += text("b") + integers((1, 4), (N, 8), (0, 4), (at, 8))
    head += bytes(-len(head) % 32)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.gguf"
        path.write_bytes(head + blocks + bytes(at - len(blocks)) + bias.tobytes())
        layer = QLinear.of_gguf(path, "w", "b", table=table)
        x = torch.randn(3, K)
        same(layer(x), QLinear.of_linear(dense, "q8_0", table=table)(x), "GGUF")
        refused("is no bias", lambda: QLinear.of_gguf(path, "w", "w"))
        refused("no tensor 'c'", lambda: QLinear.of_gguf(path, "w", "c"))


@test("deepcopy, pickle, and a state that is saved and loaded")
def _():
    x = torch.randn(3, K)
    layer = QLinear.of_linear(dense, table=table)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        same(other(x), layer(x), "a copy")
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    other = QLinear(qgemm.pack(np.zeros((N, K))), np.zeros(N), activations=8)
    other.load_state_dict(state)
    same(other(x), layer(x), "a loaded state")
    assert other.table == table and other.activations == 16
    # Weights that need an exponent for each row take more of the memory, which has room for both.
    large = qgemm.pack(values * 1e5, "q8_0")
    assert large.packed.row_data
    other, layer = QLinear(qgemm.pack(values, "q8_0"), bias), QLinear(large, bias)
    other.load_state_dict(layer.state_dict())
    same(other(x), layer(x), "row exponents")
    refused("this layer is 21 x 96 in q8_0", lambda: other.load_state_dict(state))
    with torch.device("meta"):
        empty = copy.deepcopy(other).to("meta")
    empty = empty.to_empty(device="cpu")
    empty.load_state_dict(layer.state_dict())
    same(empty(x), layer(x), "from a layer without memory")


@test("half(), double() and to() leave weights and bias as they are")
def _():
    layer = QLinear.of_linear(dense)
    x = torch.randn(3, K)
    y = layer(x)
    for changed in (copy.deepcopy(layer).half(), copy.deepcopy(layer).double(), copy.deepcopy(layer).to(torch.bfloat16)):
        assert changed.bias.dtype == torch.float32
        same(changed(x), y, "changed")


@test("torch.compile, in one graph, and torch.export")
def _():
    model = nn.Sequential(QLinear.of_linear(dense, table=table), nn.ReLU())
    x = torch.randn(5, K)
    with torch.no_grad():
        same(torch.compile(model, backend="aot_eager", fullgraph=True)(x), model(x), "compiled")
        exported = torch.export.export(model, (x,), dynamic_shapes=({0: torch.export.Dim("rows", min=2)},))
        file = io.BytesIO()
        torch.export.save(exported, file)
        file.seek(0)
        many = torch.randn(7, K)
        same(torch.export.load(file).module()(many), model(many), "exported")
    x.requires_grad_()
    torch.compile(model, backend="aot_eager", fullgraph=True)(x).sum().backward()
    compiled, x.grad = x.grad, None
    model(x).sum().backward()
    assert torch.allclose(compiled, x.grad, atol=1e-5)


@test("what is refused")
def _():
    layer = QLinear.of_linear(dense)
    refused("wanted is torch.nn.Linear", lambda: QLinear.of_linear(nn.ReLU()))
    refused("multiple of 32", lambda: QLinear.of_linear(nn.Linear(40, 4)))
    refused("last dimension must be 96", lambda: layer(torch.zeros(3, 95)))
    refused("last dimension must be 96", lambda: layer(torch.zeros(())))
    refused("real numbers", lambda: layer(torch.zeros(3, K, dtype=torch.int8)))
    refused("codes=True needs a table", lambda: QLinear.of_linear(dense, codes=True))
    refused("activations=8 beside mxfp4", lambda: QLinear.of_linear(dense, "mxfp4", activations=8))
    refused("bias is of the shape (3,)", lambda: QLinear(qgemm.pack(values), torch.zeros(3)))
    arguments = layer._arguments
    x = torch.zeros(1, K)
    for weight in (layer.weight[:-1], layer.weight.float(), torch.stack([layer.weight, layer.weight], 1)[:, 0]):
        refused("packed weights of 21 x 96 in q4_0 are", lambda: linear.qlinear(x, weight, None, *arguments))
    refused("packed weights of", lambda: linear.qlinear(x, layer.weight, None, "q4_0", N, K, 1 << 40, False, 16, None, False))
    refused("bias must be 21 of float32", lambda: linear.qlinear(x, layer.weight, torch.zeros(20), *arguments))
    refused("both must lie on one",
            lambda: linear._multiply(x, layer.weight.to("meta"), None, layer.packed, 16, None, False, None))
    shifted = torch.zeros(layer.weight.numel() + 1, dtype=torch.uint8)[1:].copy_(layer.weight)
    same(linear.qlinear(x + 1, shifted, layer.bias, *arguments), layer(x + 1), "a weight at an odd address")


def test_launches():
    fake = ctypes.CDLL(os.environ["PWL_CUDA_LIBRARY"])
    stream, asked = (ctypes.c_int.in_dll(fake, f"fake_{name}") for name in ("stream", "workspaces"))

    entered = []

    @contextlib.contextmanager
    def device(given):
        entered.append(given)
        yield

    @test("launches: on the current stream, with a workspace, whose size is asked once")
    def _():
        layer = QLinear.of_linear(dense, table=table)
        x = torch.randn(6, K)
        with mock.patch.object(torch.cuda, "device", device), mock.patch.object(torch.cuda, "current_device", lambda: 0), \
             mock.patch.object(torch.cuda, "current_stream", lambda of: types.SimpleNamespace(cuda_stream=77)), \
             mock.patch.object(linear, "_multiply", lambda *all, call=linear._multiply: call(*all[:-1], 0)):
            for dtype in (torch.float32, torch.float16, torch.bfloat16):
                stream.value = 0
                given = x.to(dtype)
                same(linear._qlinear_cuda(given, layer.weight, layer.bias, *layer._arguments), layer(given), str(dtype))
                assert stream.value == 77
            assert entered == [None] * 3  # a CPU's index, which is not the current device's
            before = asked.value
            linear._qlinear_cuda(x, layer.weight, layer.bias, *layer._arguments)
            assert asked.value == before
            many = torch.randn(64, K)
            refused("an error of the device",
                    lambda: linear._qlinear_cuda(many, layer.weight, layer.bias, *layer._arguments))


def test_device():
    @test("a CUDA device: within the bound of the CPU, in a graph, compiled, and back")
    def _():
        for format, activations in KINDS:
            product = qgemm.Product(qgemm.pack(values, format), bias, activations=activations)
            layer = QLinear.of_linear(dense, format, activations=activations).cuda()
            for m in (1, 5, 40, 100):
                x = torch.randn(m, K)
                value, bound = product.bound(x.numpy())
                got = layer(x.cuda()).cpu().numpy()
                assert (np.abs(got - value) <= bound + np.spacing(np.abs(got))).all(), f"{format}, {activations}, {m}"
            assert layer.cpu()(x).shape == (100, N)
        layer, x = QLinear.of_linear(dense, table=table).cuda(), torch.randn(8, K).cuda()
        with torch.cuda.stream(torch.cuda.Stream()), torch.no_grad():
            layer(x)
            graph = torch.cuda.CUDAGraph()
            torch.cuda.synchronize()
            with torch.cuda.graph(graph):
                y = layer(x)
            x.copy_(torch.randn(8, K))
            graph.replay()
        torch.cuda.synchronize()
        same(y, layer(x), "a graph")
        same(torch.compile(layer)(x), layer(x), "compiled")


if on_device:
    test_device()
else:
    test_launches()
end()
