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
import threading
import warnings
import weakref
from unittest import mock

from harness import end, equal, np, refused, test

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from torch import nn

from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils import parametrize

import pwl
import pwl.torch
from pwl import cuda, qgemm
from pwl.torch import QLinear, linear, ops

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
G = 24  # rows of a gate, and of up
of_gate, of_up = nn.Linear(K, G), nn.Linear(K, G)
for part in (of_gate, of_up):
    part.weight.data *= 10
silu = pwl.load(pathlib.Path(sys.argv[2]) / "luts/tables/silu_s8.json")
of_up_type, of_wide = pwl.Type(16, True, 2 ** -9, -7), pwl.Type(16, True, 2 ** -10, 7)
of_codes = pwl.Type(8, True, 2 ** -3, 5)
of_integers = {"activations": 8, "input": pwl.Type(8, True, 2 ** -5, 3)}
# What layers of integers may have, plain and gated.
INTEGERS = [{}, {"output": of_codes}, {"output": of_codes, "codes": True}, {"table": silu},
            {"table": silu, "codes": True}, {"codes": True}]
GATES = [{}, {"codes": True}]


def pair_of(format, **options):
    """A gated layer, and Product's arguments for the same."""
    layer = QLinear.of_pair(of_gate, of_up, format, table=silu, **options)
    values = [of.weight.detach().numpy() for of in (of_gate, of_up)]
    bias = np.concatenate([of.bias.detach().numpy() for of in (of_gate, of_up)])
    return layer, qgemm.Product(qgemm.pack_pair(*values, format), bias, silu, gated=True, **options)


def integer_layers():
    """Layers of integers, each with its Product."""
    for format in qgemm.INTEGERS:
        for options in INTEGERS:
            given = {**of_integers, **options}
            yield QLinear.of_linear(dense, format, **given), qgemm.Product(qgemm.pack(values, format), bias, **given)
        for options in GATES:
            yield pair_of(format, **of_integers, up=of_up_type, output=of_codes, **options)


def bits(x):
    """A tensor as integers, which numpy has for bfloat16 too."""
    return x.detach().cpu().view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]).numpy()


def same(got, expected, what):
    assert got.dtype == expected.dtype, f"{what}: {got.dtype}, not {expected.dtype}"
    equal(bits(got), bits(expected), what)


@test("a layer with activations of 8 bits is Product of pwl.qgemm, and tables are as they are")
def _():
    x = torch.randn(6, K)
    for format in qgemm.FORMATS:
        layer = QLinear.of_linear(dense, format, activations=8)
        product = qgemm.Product(qgemm.pack(values, format), bias, activations=8)
        equal(layer(x).detach().numpy(), product(x.numpy()), format)
        with_table = QLinear.of_linear(dense, format, table=table, activations=8)
        equal(with_table(x).detach().numpy(), table.real(layer(x).detach().numpy()), format)


@test("a layer with activations of 16 bits is Product of pwl.qgemm, bit for bit, in every format and type")
def _():
    x = torch.randn(2, 3, K)
    for format, activations in KINDS:
        if activations == 8:
            continue
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


@test("gated layers and layers of integers are Product of pwl.qgemm, bit for bit, in every type")
def _():
    x = torch.randn(2, 3, K)
    for format, activations in KINDS:
        for options in ({}, {"up_limit": 0.75, "up_plus": 1.0}, {"codes": True, "output": of_wide}):
            layer, product = pair_of(format, activations=activations, **options)
            same(layer(x), torch.from_numpy(product(x.numpy())), f"{format}, {activations}, {options}")
            same(layer(x.half()), torch.from_numpy(product(x.half().numpy())), f"{format}, {activations}, {options}: fp16")
            assert layer(x.bfloat16()).dtype == (torch.int16 if "codes" in options else torch.bfloat16)
            assert layer(torch.zeros(0, K)).shape == (0, G)
    for layer, product in integer_layers():
        codes = torch.from_numpy(product.options.input.quantize(x.numpy()))
        for given in (x, x.half(), codes):
            same(layer(given), torch.from_numpy(product(given.numpy())), f"{layer}, {given.dtype}")
        same(layer(codes[0, 0]), layer(codes)[0, 0], "a row")
        wide = layer(x.double())
        assert torch.equal(wide, layer(x).to(wide.dtype)) and wide.dtype in (layer(x).dtype, torch.float64)
        assert layer(torch.zeros(0, K)).shape == (0, product(x.numpy()).shape[-1])
        assert layer.bias.dtype == torch.int32 and copy.deepcopy(layer).half().bias.dtype == torch.int32
        refused("real numbers are wanted, or int8", lambda: layer(codes.int()))
    assert repr(pair_of("q4_0", up_limit=7.0)[0]).endswith("gated=True, up_limit=7.0)")
    assert "input=s8:2^-5:3" in repr(QLinear.of_linear(dense, "int8", **of_integers))
    refused("a bias both or none", lambda: QLinear.of_pair(of_gate, nn.Linear(K, G, bias=False), table=silu))
    assert QLinear.of_pair(nn.Linear(K, G, bias=False), nn.Linear(K, G, bias=False), table=silu).bias is None


@test("gated layers and layers of integers: torch's rules, gradients, states, compiled")
def _():
    x = torch.randn(4, K)
    layer, _ = pair_of("q8_0", up_limit=0.75, up_plus=1.0)
    integer = QLinear.of_linear(dense, "int8", table=silu, **of_integers)
    integer_pair, _ = pair_of("int8", **of_integers, up=of_up_type, output=of_codes)
    for one in (layer, integer, integer_pair):
        arguments = one.weight, one.bias, *one._arguments
        torch.library.opcheck(linear.qlinear, (x, *arguments))
        torch.library.opcheck(linear.qlinear, (x.clone().requires_grad_(), *arguments))
        for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            same(other(x), one(x), "a copy")
        other = copy.deepcopy(one)
        other.weight.zero_()
        other._set(other.packed, other.table, other.activations, True, other.options)
        other.load_state_dict(one.state_dict())
        same(other(x), one(x), "a loaded state")
        with torch.no_grad():
            same(torch.compile(one, backend="aot_eager", fullgraph=True)(x), one(x), "compiled")
    values = [qgemm.pack(of.weight.detach().numpy(), "q8_0").dequantise() for of in (of_gate, of_up)]
    gate, up = (x.clone() @ torch.from_numpy(value).T + of.bias for value, of in zip(values, (of_gate, of_up)))
    gate, up = gate.detach().requires_grad_(), up.detach().requires_grad_()
    (pwl.torch.real(gate, silu) * (up.clamp(-0.75, 0.75) + 1)).sum().backward()
    given = x.clone().requires_grad_()
    layer(given).sum().backward()
    wanted = gate.grad @ torch.from_numpy(values[0]) + up.grad @ torch.from_numpy(values[1])
    near = torch.isclose(given.grad, wanted, rtol=1e-3, atol=1e-3).float().mean()  # sums may be of two segments
    assert near > 0.9, near
    given = x.clone().requires_grad_()
    QLinear.of_linear(dense, "int8", **of_integers)(given).sum().backward()
    of_int8 = torch.from_numpy(qgemm.pack(dense.weight.detach().numpy(), "int8").dequantise())
    assert torch.allclose(given.grad, of_int8.sum(0).expand(4, K), rtol=1e-5, atol=1e-5)
    for one in (integer, integer_pair):
        given = x.clone().requires_grad_()
        one(given).sum().backward()
        assert given.grad.isfinite().all() and given.grad.abs().max() > 0


@test("layouts, shapes and rows that are none")
def _():
    layer = QLinear.of_linear(dense)
    x = torch.randn(6, K)
    y = layer(x)
    same(layer(x.t().contiguous().t()), y, "columns first")
    same(layer(torch.stack([x, x], 1)[:, 0]), y, "steps")
    of_8 = QLinear.of_linear(dense, activations=8)
    same(of_8(x[0]), of_8(x)[0], "a row")
    assert (layer(x[0]) - y[0]).abs().max() < 1e-4, "a row, whose sums have an order of their own"
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


@contextlib.contextmanager
def operator_calls():
    """The list of what the module gives the operator."""
    calls, operator = [], linear.qlinear

    def counted(*arguments):
        calls.append(arguments)
        return operator(*arguments)
    with mock.patch.object(linear, "qlinear", counted):
        yield calls


def by_operator(layer, x):
    return linear.qlinear(x, layer.weight, layer.bias, *layer._arguments)


def known(layer, *shape, **options):
    """An x whose shape and type the layer has seen, with other numbers."""
    layer(torch.randn(*shape, **options))
    return torch.randn(*shape, **options)


def repeated(layer, x):
    with operator_calls() as calls:
        y = layer(x)
    assert not calls, "the operator was called"
    return y


def through(layer, x, what):
    """What the layer gives of a known x, by the operator."""
    with operator_calls() as calls:
        y = layer(x)
    assert len(calls) == 1, f"{what}: the operator was called {len(calls)} times"
    same(y, by_operator(layer, x), what)


@test("a forward that is known is repeated without the operator, with its bits, shapes and types")
def _():
    for format, activations in KINDS:
        for options in ({}, {"table": table}, {"table": table, "codes": True}):
            layer = QLinear.of_linear(dense, format, activations=activations, **options)
            for shape in ((K,), (1, K), (5, K), (2, 3, K)):
                for dtype in (torch.float32, torch.float16, torch.bfloat16):
                    x = known(layer, shape, dtype=dtype)
                    y = repeated(layer, x)
                    same(y, by_operator(layer, x), f"{format}, {activations}, {options}, {shape}, {dtype}")
                    assert y.is_contiguous() and not y.requires_grad
            assert len(layer._repeats) == 12
        layer, _ = pair_of(format, activations=activations)
        x = known(layer, 5, K)
        same(repeated(layer, x), by_operator(layer, x), f"{format}, {activations}, gated")
    layer = QLinear.of_linear(dense, "int8", **of_integers)
    through(layer, known(layer, 5, K), "integers")
    layer = QLinear(qgemm.pack(values))
    x = known(layer, 3, K).requires_grad_()
    with torch.no_grad():
        same(repeated(layer, x), by_operator(layer, x), "no_grad")
    with torch.inference_mode():
        y = repeated(layer, x)
        same(y, by_operator(layer, x), "inference_mode")
        assert y.is_inference()
    with torch.autocast("cpu", torch.bfloat16):
        same(repeated(layer, x.detach()), by_operator(layer, x.detach()), "autocast")
    for rows in range(1, 2 * linear.REPEATS):
        layer(torch.ones(rows, K))
        assert len(layer._repeats) <= linear.REPEATS


@test("the operator computes what differs from what is known")
def _():
    layer = QLinear.of_linear(dense, table=table)
    x = known(layer, 4, K)
    through(layer, torch.randn(K, 4).t(), "columns first")
    through(layer, torch.randn(4 * K + 1)[1:].reshape(4, K), "an odd address")
    for given in (torch.randn(4, K).double(), torch.randn(0, K)):
        layer(given)
        through(layer, given, f"{given.dtype} of {given.shape}")
    repeated(layer, x)
    through(layer, nn.Parameter(x, requires_grad=False), "a subclass")
    y = layer(x.clone().requires_grad_())
    assert y.requires_grad
    refused("last dimension must be 96", lambda: layer(torch.randn(4, K - 1)))
    refused("real numbers", lambda: layer(torch.ones(4, K, dtype=torch.int8)))


@test("weights and a bias that change, in place or by others, are those that the next forward takes")
def _():
    other = QLinear(qgemm.pack(values[::-1].copy()), bias[::-1].copy())

    class Other(nn.Module):
        def forward(self, weight):
            return other.weight

    def changed(change, layer=None):
        layer = layer or QLinear.of_linear(dense)
        x = known(layer, 4, K)
        before = repeated(layer, x)
        change(layer)
        same(layer(x), by_operator(layer, x), "changed")
        same(layer(x), by_operator(layer, x), "changed, once more")
        assert not torch.equal(layer(x), before)
        return layer

    def set_data(layer):
        layer.weight.data = other.weight

    def set_bias(layer):
        layer.bias = other.bias

    def drop_bias(layer):
        layer.bias = None

    def learn_bias(layer):
        layer.bias = nn.Parameter(other.bias.clone(), requires_grad=False)

    def derive_weight(layer):
        parametrize.register_parametrization(layer, "weight", Other(), unsafe=True)

    changed(lambda layer: layer.load_state_dict(other.state_dict()))
    changed(lambda layer: layer.load_state_dict(other.state_dict(), assign=True))
    changed(lambda layer: layer.weight.copy_(other.weight))
    changed(set_data)
    for change in (set_bias, drop_bias, learn_bias):
        changed(change)
    changed(learn_bias, QLinear(qgemm.pack(values)))
    changed(derive_weight)
    with_table = QLinear.of_linear(dense, table=table, codes=True)
    layer = changed(lambda layer: layer.set_extra_state(with_table.get_extra_state()))
    assert layer(torch.zeros(4, K)).dtype == torch.int8
    layer = QLinear.of_linear(dense)
    x = known(layer, 4, K)
    layer.bias = layer.bias.view(torch.int32)  # at the same address
    refused("bias must be 21 of float32", lambda: layer(x))
    layer.weight = layer.weight.view(torch.int8)
    refused("packed weights of 21 x 96", lambda: layer(x))
    layer = QLinear.of_linear(dense)
    known(layer, 4, K)
    same(torch.func.functional_call(layer, dict(other.named_buffers()), x), other(x), "functional_call")
    layer.to("meta")
    assert layer(x.to("meta")).is_meta


@test("copies know nothing of each other, and weights that are replaced are freed")
def _():
    layer = QLinear.of_linear(dense)
    x = known(layer, 4, K)
    y = repeated(layer, x)
    for make in (copy.copy, copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))):
        other = make(layer)
        assert not other._repeats
        same(other(x), y, "a copy")
        other.set_extra_state(QLinear.of_linear(dense, table=table).get_extra_state())
        same(other(x), QLinear.of_linear(dense, table=table)(x), "a copy with a table")
        same(repeated(layer, x), y, "the first")
    gone = weakref.ref(layer.weight)
    layer.weight = layer.weight.clone()
    assert gone() is None
    same(layer(x), y, "the same weights elsewhere")


@test("threads call one layer at once, while its state is replaced")
def _():
    layer = QLinear.of_linear(dense)
    states = [layer.get_extra_state(), QLinear.of_linear(dense, table=table).get_extra_state()]
    inputs = [torch.randn(1 + k % 4, K) for k in range(8)]
    wanted = [{bits(QLinear.of_linear(dense, table=of)(x)).tobytes() for of in (None, table)} for x in inputs]
    wrong = []

    def work(k):
        for turn in range(100):
            if k == 0:
                layer.set_extra_state(states[turn % 2])
            if bits(layer(inputs[k])).tobytes() not in wanted[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    same(layer(inputs[0]), by_operator(layer, inputs[0]), "after all")


@test("what compiles, traces, transforms or watches a known forward sees the operator")
def _():
    layer = QLinear.of_linear(dense, table=table)
    x = known(layer, 4, K)
    repeated(layer, x)
    y = by_operator(layer, x)

    class Functions(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), keywords=None):
            seen.append(str(function))
            return function(*arguments, **(keywords or {}))

    class Calls(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            seen.append(str(function))
            return function(*arguments, **(keywords or {}))

    for mode in (Functions(), Calls()):
        seen = []
        with mode:
            same(layer(x), y, "a mode")
        assert any("pwl.qlinear" in name for name in seen), seen
    same(torch.vmap(layer)(torch.stack([x, x])), torch.stack([y, y]), "vmap")
    same(torch.func.functionalize(layer)(x), y, "functionalize")
    for text in (make_fx(layer)(x).code, torch.jit.trace(layer, (x,)).inlined_graph, torch.fx.symbolic_trace(layer).code):
        assert "qlinear" in str(text), text
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        assert layer(x).shape == layer(mode.from_tensor(x)).shape == (4, N)
        assert isinstance(layer(x), torch._subclasses.FakeTensor)
    with torch.autograd.forward_ad.dual_level(), operator_calls() as calls:
        with contextlib.suppress(NotImplementedError):  # as older versions say
            layer(torch.autograd.forward_ad.make_dual(x, x))
        assert len(calls) == 1
    same(layer(torch._neg_view(x)), layer(-x), "numbers that are to be negated")
    same(layer(torch._efficientzerotensor((4, K))), layer(torch.zeros(4, K)), "zeros without memory")
    assert layer(x.to("meta")).is_meta
    for given in (x.to_sparse(), torch.nested.nested_tensor([x, x])):
        refused("Could not run 'pwl::qlinear'", lambda: layer(given), NotImplementedError)
    repeated(layer, x)


@test("what is refused")
def _():
    layer = QLinear.of_linear(dense)
    refused("wanted is torch.nn.Linear", lambda: QLinear.of_linear(nn.ReLU()))
    refused("multiple of 32", lambda: QLinear.of_linear(nn.Linear(40, 4)))
    refused("last dimension must be 96", lambda: layer(torch.zeros(3, 95)))
    refused("last dimension must be 96", lambda: layer(torch.zeros(())))
    refused("real numbers", lambda: layer(torch.zeros(3, K, dtype=torch.int8)))
    refused("codes=True needs a table", lambda: QLinear.of_linear(dense, codes=True))
    refused("activations=4 beside mxfp4", lambda: QLinear.of_linear(dense, "mxfp4", activations=4))
    refused("bias is of the shape (3,)", lambda: QLinear(qgemm.pack(values), torch.zeros(3)))
    arguments = layer._arguments
    x = torch.zeros(1, K)
    for weight in (layer.weight[:-1], layer.weight.float(), torch.stack([layer.weight, layer.weight], 1)[:, 0]):
        refused("packed weights of 21 x 96 in q4_0 are", lambda: linear.qlinear(x, weight, None, *arguments))
    refused("packed weights of", lambda: linear.qlinear(x, layer.weight, None, "q4_0", N, K, 1 << 40, False, 16, None, False))
    refused("bias must be 21 of float32", lambda: linear.qlinear(x, layer.weight, torch.zeros(20), *arguments))
    refused("both must lie on one",
            lambda: linear._multiply(x, layer.weight.to("meta"), None, layer.packed, 16, None, False, "", None))
    shifted = torch.zeros(layer.weight.numel() + 1, dtype=torch.uint8)[1:].copy_(layer.weight)
    same(linear.qlinear(x + 1, shifted, layer.bias, *arguments), layer(x + 1), "a weight at an odd address")


def test_launches():
    fake = ctypes.CDLL(os.environ["PWL_CUDA_LIBRARY"])
    stream, asked = (ctypes.c_int.in_dll(fake, f"fake_{name}") for name in ("stream", "workspaces"))

    entered, current = [], [0]

    @contextlib.contextmanager
    def device(given):
        entered.append(given)
        current[0], before = given, current[0]
        yield
        current[0] = before

    @contextlib.contextmanager
    def on_fake_device():
        with mock.patch.object(torch.cuda, "device", device), \
             mock.patch.object(ops, "current_device", lambda: current[0]), \
             mock.patch.object(linear, "current_device", lambda: current[0]), \
             mock.patch.object(linear, "current_stream", lambda of: 77 + of), \
             mock.patch.object(linear, "empty_strided_cuda", lambda *of: torch.empty_strided(*of[:2], dtype=of[2])):
            yield

    @test("launches: on the current stream, with a workspace, whose size is asked once")
    def _():
        layer = QLinear.of_linear(dense, table=table)
        x = torch.randn(6, K)
        multiply = linear._multiply
        with on_fake_device(), mock.patch.object(linear, "_multiply", lambda *all: multiply(*all[:-1], 0)):
            for dtype in (torch.float32, torch.float16, torch.bfloat16):
                stream.value = 0
                given = x.to(dtype)
                same(linear._qlinear_cuda(given, layer.weight, layer.bias, *layer._arguments), layer(given), str(dtype))
                assert stream.value == 77
            assert entered == [None] * 3  # a CPU's index, which is not the current device's
            for one in (pair_of("q4_0", activations=8)[0], *(integer for integer, _ in integer_layers())):
                stream.value = 0
                got, wanted = linear._qlinear_cuda(x, one.weight, one.bias, *one._arguments), one(x)
                assert stream.value == 77 and got.dtype == wanted.dtype and (got - wanted).abs().max() < 0.02, str(one)
            before = asked.value
            linear._qlinear_cuda(x, layer.weight, layer.bias, *layer._arguments)
            assert asked.value == before
            many = torch.randn(64, K)
            refused("an error of the device",
                    lambda: linear._qlinear_cuda(many, layer.weight, layer.bias, *layer._arguments))

    @test("launches: a known forward on the stream of its device, which is made the current one")
    def _():
        layer, x = QLinear.of_linear(dense, table=table), torch.randn(6, K)
        y = layer(x)
        *of_weights, activations, text, _, options = layer._arguments
        of = layer.weight, layer.bias
        with on_fake_device():
            call = linear._call(x, y, *of, qgemm.Packed(*of_weights), activations, text, options, 0)
            assert call.size == 6
            repeat, entered[:] = linear._Repeat(call, y, *of), []
            for current[0], devices in ((0, []), (1, [0])):
                stream.value = 0
                same(repeat.again(x, *of), y, "a repeat")
                assert stream.value == 77 and entered == devices and current[0] == len(devices)
            current[0] = 0


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

    @test("a CUDA device: layers of integers have the CPU's bits, gated ones those of a product without a table")
    def _():
        for layer, product in integer_layers():
            layer.cuda()
            for m in (1, 5, 40, 300):
                x = torch.randn(m, K)
                same(layer(x.cuda()).cpu(), torch.from_numpy(product(x.numpy())), f"{layer}, {m}")
                codes = torch.from_numpy(product.options.input.quantize(x.numpy()))
                same(layer(codes.cuda()).cpu(), torch.from_numpy(product(codes.numpy())), f"{layer}, {m}, codes")
        for format, activations in KINDS:
            layer, product = pair_of(format, activations=activations, up_limit=0.75, up_plus=1.0)
            turns = linear._in_turns(*layer.bias.chunk(2)).numpy()
            plain = QLinear(product.weights, turns, activations=activations).cuda()
            layer.cuda()
            for m in (1, 5, 40, 300):
                x = torch.randn(m, K, device="cuda")
                gate, up = plain(x).unflatten(-1, (-1, 2, 8)).unbind(-2)
                wanted = pwl.torch.real(gate.flatten(-2).contiguous(), silu) * (up.flatten(-2).clamp(-0.75, 0.75) + 1)
                same(layer(x), wanted, f"{format}, {activations}, {m}")

    @test("a known forward on a CUDA device, on streams of several threads, and on a device that is not the current one")
    def _():
        for format, activations in KINDS:
            for device in range(torch.cuda.device_count()):
                layer = QLinear.of_linear(dense, format, table=table, activations=activations).to(f"cuda:{device}")
                for m in (1, 40, 100):
                    x = known(layer, m, K, device=f"cuda:{device}")
                    same(repeated(layer, x), by_operator(layer, x), f"{format}, {activations}, {m}, device {device}")
                    with torch.inference_mode():
                        assert repeated(layer, x).is_inference() and by_operator(layer, x).is_inference()
        inputs = [torch.randn(40, K, device=layer.weight.device) for _ in range(4)]
        wanted = [by_operator(layer, x) for x in inputs]
        torch.cuda.synchronize(layer.weight.device)
        got = [[] for _ in inputs]

        def work(k):
            with torch.cuda.stream(torch.cuda.Stream(layer.weight.device)):
                got[k] += [layer(inputs[k]) for _ in range(200)]
                torch.cuda.current_stream(layer.weight.device).synchronize()

        threads = [threading.Thread(target=work, args=(k,)) for k in range(len(inputs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for k, y in enumerate(wanted):
            assert len(got[k]) == 200 and all(torch.equal(one, y) for one in got[k])


if on_device:
    test_device()
else:
    test_launches()
end()
