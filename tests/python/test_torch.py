#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.torch on the CPU against the table's own calls and torch's functions; on a CUDA device where there is one and
libpwl-cuda too, else its launches by a libpwl-cuda on memory of the host. PYTHONPATH says where the package is. Exit 77, a skip, without torch.

usage: test_torch.py PWLC FAKE_CUDA SOURCE
"""
import contextlib
import copy
import ctypes
import io
import math
import os
import pathlib
import pickle
import sys
import warnings
from unittest import mock

from harness import end, equal, np, page_program, printed_by, refused, test

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

import pwl
import pwl.torch
from pwl import cuda
from pwl.torch import activation, ops

os.environ["PWLC"] = os.path.realpath(sys.argv[1])

try:  # that of a build with CUDA, or the one that the environment's PWL_CUDA_LIBRARY names
    on_device = torch.cuda.is_available() and cuda.library() is not None
except pwl.MissingError:
    on_device = False
if not on_device:
    os.environ["PWL_CUDA_LIBRARY"] = os.path.realpath(sys.argv[2])
source = pathlib.Path(sys.argv[3])
tables = {name: pwl.load(source / f"luts/tables/{name}.json")
          for name in ("gelu_s8", "sigmoid_u16", "tanh_s16")}
warnings.simplefilter("error")
warnings.filterwarnings("ignore", module="torch")  # its own words about itself
torch.manual_seed(1)
torch.set_num_threads(1)
gelu = tables["gelu_s8"]
json = gelu.to_json()


def reals(*shape):
    """Random numbers, some beyond every table's range."""
    return torch.randn(shape) * 6


def same(got, expected, what):
    """Bit for bit, and of one type."""
    assert got.dtype == expected.dtype, f"{what}: {got.dtype}, not {expected.dtype}"
    equal(got.detach().to(torch.float64), expected.detach().to(torch.float64), what)


def expected(x, table):
    """Table.real(), rounded to the type of x."""
    return torch.from_numpy(np.asarray(table.real(x.detach().to(torch.float32).numpy()))).to(x.dtype)


class Small(nn.Module):
    """Modules, functions and methods."""

    def __init__(self):
        super().__init__()
        self.first, self.act, self.second, self.spare = nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 10), nn.Linear(2, 2)
        self.register_buffer("kept", torch.arange(3.0))

    def forward(self, x):
        x = functional.silu(self.second(self.act(self.first(x))))
        return torch.tanh(x) * x.sigmoid()


def min_max(function):
    return pwl.calibration.MinMax()


small = Small()
batches = [torch.randn(64, 16) for _ in range(3)]
prepared = pwl.torch.prepare(small, min_max)
for batch in batches:
    prepared(batch)
converted = pwl.torch.convert(prepared, segments=8)


@test("real numbers have the bits of Table.real, in every type and layout")
def _():
    for name, table in tables.items():
        of = table.input
        every = torch.from_numpy(of.dequantize(np.arange(of.qmin, of.qmax + 1)))
        odd = torch.tensor([np.nan, np.inf, -np.inf, 0, -0.0, 1e30, -1e-40])
        for x in (every, odd, reals(7, 5).t(), reals(4, 6)[::2, 1::3], reals(1, 3).expand(4, 3), reals(0, 3), reals(),
                  reals(2, 3, 4, 5).to(memory_format=torch.channels_last)):
            for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
                given = x.to(dtype)
                same(pwl.torch.real(given, table), expected(given, table), f"{name}, {dtype}")


@test("codes have those of the table's call, in every type")
def _():
    for name, table in tables.items():
        codes = np.arange(table.input.qmin, table.input.qmax + 1)
        for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"):
            given = codes.clip(np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
            got = pwl.torch.map(torch.from_numpy(given), table)
            assert got.numpy().dtype == table.output.dtype
            equal(got.numpy(), table(given), f"{name}, {dtype}")
        far = torch.tensor([[-1 << 62], [1 << 62]])
        equal(pwl.torch.map(far, table).numpy(), table(far.numpy()), name)


@test("operators keep torch's rules, with fake kernels of the right types and layouts")
def _():
    for operator, inputs in [
            (ops.map_real, (reals(4, 3), json)), (ops.map_real, (reals(4, 3).requires_grad_(), json)),
            (ops.map_real, (reals(4, 3), json, reals(4, 3).requires_grad_())), (ops.slope, (reals(4, 3).half(), json)),
            (ops.map_codes, (torch.arange(-8, 8, dtype=torch.int8), json))]:
        torch.library.opcheck(operator, inputs)


@test("gradients by slope are those of chords between segments, 0 beyond the range")
def _():
    for table in tables.values():
        of, starts = table.input, table.segments["start"].astype(np.int64)
        codes = np.arange(of.qmin, of.qmax)
        x = torch.from_numpy(of.dequantize(codes)).requires_grad_()
        pwl.torch.real(x, table).sum().backward()
        ends = np.append(starts[1:], of.qmax)
        y = table.dequantize(table(ends)).astype(float) - table.dequantize(table(starts)).astype(float)
        slopes = y / (of.scale * (ends - starts))
        wanted = slopes[np.searchsorted(starts, codes, side="right") - 1]
        assert np.allclose(x.grad.numpy(), wanted, rtol=1e-5, atol=1e-6), np.abs(x.grad.numpy() - wanted).max()
    low, high = gelu.input.range
    beyond = torch.tensor([low - 1, high + 1, np.nan, np.inf, -np.inf], requires_grad=True)
    pwl.torch.real(beyond, gelu).sum().backward()
    equal(beyond.grad.numpy(), np.zeros(5), "beyond the range")


@test("gradients by slope of a folded table are mirrored")
def _():
    folded = pwl.fit("tanh", input="s8:2^-5", output="s8:2^-7", segments=4, symmetry="fold")
    assert '"fold"' in folded.to_json()
    x = torch.from_numpy(folded.input.dequantize(np.arange(-127, 128))).requires_grad_()
    pwl.torch.real(x, folded).sum().backward()
    true = 1 - np.tanh(x.detach().numpy()) ** 2
    assert np.abs(x.grad.numpy() - true).max() < 0.25, np.abs(x.grad.numpy() - true).max()
    assert x.grad.numpy()[:100].max() > 0 and x.grad.numpy()[127] > 0.75


@test("straight gradients are those of the function")
def _():
    x, y = (reals(50).requires_grad_() for _ in range(2))
    y.data.copy_(x.data)
    module = pwl.torch.Activation(gelu, gradient="straight")
    got = module(x)
    same(got, expected(x, gelu), "values")
    got.square().sum().backward()
    (functional.gelu(y) * 2 * got.detach()).sum().backward()
    assert torch.allclose(x.grad, y.grad)


@test("each activation is found as a module, a function and a method, and computes its own function")
def _():
    torch.manual_seed(2)
    x = torch.randn(2000)
    modules = [nn.GELU(), nn.GELU("tanh"), nn.SiLU(), nn.Sigmoid(), nn.Tanh(), nn.Softplus(), nn.Softplus(2.0, 3.0),
               nn.Mish(), nn.ELU(), nn.ELU(0.5), nn.SELU(), nn.Hardswish(), nn.Hardsigmoid(), nn.LogSigmoid(), nn.Softsign(),
               nn.ReLU6(), nn.LeakyReLU(), nn.LeakyReLU(0.3), nn.Hardtanh(), nn.Hardtanh(0, 6), nn.Hardtanh(-2, 0.5),
               nn.CELU(), nn.CELU(0.5), nn.PReLU(init=0.4)]

    class Calls(nn.Module):
        def __init__(self):
            super().__init__()
            self.slope = nn.Parameter(torch.tensor([0.4]))

        def forward(self, x):
            return [functional.gelu(x), functional.gelu(x, approximate="tanh"), functional.silu(x), torch.sigmoid(x),
                    x.tanh(), functional.softplus(x), functional.softplus(x, 2.0, 3.0), functional.mish(x),
                    functional.elu(x), functional.elu(x, 0.5), torch.selu(x), functional.hardswish(x),
                    functional.hardsigmoid(x), functional.logsigmoid(x), functional.softsign(x), functional.relu6(x),
                    functional.leaky_relu(x), functional.leaky_relu(x, negative_slope=0.3), functional.hardtanh(x),
                    functional.hardtanh(x, 0, 6), functional.hardtanh(x, -2, 0.5), functional.celu(x), torch.celu(x, 0.5),
                    functional.prelu(x, self.slope), functional.sigmoid(x), torch.special.expit(x), functional.tanh(x)]

    exact = [module(x) for module in modules]
    wholes = pwl.torch.prepare(nn.ModuleList(modules), min_max)
    calls = pwl.torch.prepare(Calls(), min_max)
    for whole in wholes:
        whole(x)
    calls(x)
    wholes, calls = (pwl.torch.convert(model, max_err=1.0) for model in (wholes, calls))
    got = calls(x)
    assert len(got) == 27 and sum(isinstance(m, pwl.torch.Activation) for m in calls.modules()) == 27
    for k, (module, y) in enumerate(zip(wholes, exact)):
        values = module(x)
        same(values, expected(x, module.table), str(module))
        # Of the input half a code, at slopes of at most 1.11 (mish), or 1.77 (selu); of the output, the table's error.
        most = 0.5001 * 1.77 * module.table.input.scale + 1.0001 * module.table.output.scale
        assert (values - y).abs().max() <= most, f"{module}: {(values - y).abs().max()} beyond {most}"
        same(got[k], values, f"{module} as a call")
    same(got[25], got[24], "expit")


@test("the model keeps its parameters, its buffers and its modules, and stays as it was")
def _():
    names = [name for name in converted.state_dict() if "_extra_state" not in name]
    assert names == list(small.state_dict()), names
    assert not any(isinstance(m, (pwl.torch.Activation, pwl.torch.Observed)) for m in small.modules())
    assert not any(isinstance(m, pwl.torch.Activation) for m in prepared.modules())
    assert sum(isinstance(m, pwl.torch.Activation) for m in converted.modules()) == 4
    assert (converted(batches[0]) - small(batches[0])).abs().max() < 0.05
    same(prepared(batches[0]), small(batches[0]), "while it observes")


@test("what is shared is shared, and in place stays in place")
def _():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.SiLU(inplace=True)
            self.stack = nn.Sequential(self.act, nn.Linear(4, 4), self.act)

        def forward(self, x):
            functional.elu_(x)
            return self.stack(x) + x

    x = torch.randn(8, 4)
    observed = pwl.torch.prepare(Shared(), min_max)
    assert observed.act is observed.stack[0] is observed.stack[2]
    given = x.clone()
    observed(given)
    with torch.no_grad():
        plain = x.clone()
        same(observed(given.copy_(x)), Shared.forward(copy.deepcopy(observed), plain), "observed")
        changed = pwl.torch.convert(observed)
        assert changed.act is changed.stack[0] is changed.stack[2]
        changed(given.copy_(x))
        same(given, changed.act(changed.elu_0(x.clone())), "the input, changed twice")
    leaf = torch.randn(8, 4, requires_grad=True)
    changed(leaf * 1).sum().backward()
    assert leaf.grad.abs().sum() > 0


@test("modules of other names are found by their values")
def _():
    class ByTanh(nn.Module):
        def forward(self, x):
            return 0.5 * x * (1 + torch.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x ** 3)))

    class ByErf(nn.Module):
        def forward(self, x):
            return x * 0.5 * (1 + torch.erf(x / 2 ** 0.5))

    class BySigmoid(nn.Module):
        def forward(self, x):
            return x * torch.sigmoid(x)

    class InPlace(nn.Module):
        def forward(self, x):
            return x.sigmoid_()

    class Double(nn.Module):
        def forward(self, x):
            return 2 * torch.sigmoid(x)

    found = pwl.torch.prepare(nn.Sequential(ByTanh(), ByErf(), BySigmoid(), InPlace(), Double()))
    assert [str(module.function) for module in found[:4]] == ["gelu(approximate=tanh)", "gelu", "silu", "sigmoid"]
    assert [module.inplace for module in found[:4]] == [False, False, False, True]
    assert str(found[4].sigmoid_0.function) == "sigmoid"


@test("what is no function of single numbers stays, though it has a function's values at some of them")
def _():
    class Centred(nn.Module):
        def forward(self, x):
            return torch.tanh(x - x.mean())

    class Squeezed(nn.Module):
        def forward(self, x):
            return torch.sigmoid(x).squeeze(-1)

    class Flat(nn.Module):
        def forward(self, x):
            return functional.silu(x).reshape(-1)

    class Either(nn.Module):
        def forward(self, x):
            return torch.tanh(x) if x.sum() > -1 else torch.sigmoid(x)

    found = pwl.torch.prepare(nn.Sequential(Centred(), Squeezed(), Flat()), min_max)
    assert [str(part.function) for part in (found[0].tanh_0, found[1].sigmoid_0, found[2].silu_0)] == [
        "tanh", "sigmoid", "silu"]
    x = reals(3, 4, 1)
    same(found[1](found[0](x)), torch.sigmoid(torch.tanh(x - x.mean())).squeeze(-1), "the model")
    refused("Either names sigmoid, tanh, and torch.fx cannot trace it", lambda: pwl.torch.prepare(Either(), min_max))


@test("TransformerEncoderLayer, by a function and by a module, without its own fast path")
def _():
    for activation in ("gelu", nn.GELU(), functional.gelu):
        layer = nn.TransformerEncoderLayer(8, 2, 16, activation=activation, batch_first=True).eval()
        observed = pwl.torch.prepare(layer, min_max)
        x = torch.randn(2, 5, 8)
        with torch.no_grad():
            observed(x)
            count = observed.activation.observer.count
            assert count == 2 * 5 * 16, count
            changed = pwl.torch.convert(observed)
            assert not torch.equal(changed(x), layer(x)) and (changed(x) - layer(x)).abs().max() < 0.1


@test("16 bits come closer")
def _():
    observed = pwl.torch.prepare(nn.Sequential(nn.Sigmoid()), min_max)
    x = torch.randn(4000)
    observed(x)
    wide = pwl.torch.convert(observed, bits=16, segments=24, method="uniform")
    assert (wide[0].table.input.bits, wide[0].table.output.bits) == (16, 16)
    assert (wide(x) - torch.sigmoid(x)).abs().max() < (pwl.torch.convert(observed)(x) - torch.sigmoid(x)).abs().max() / 4


@test("deepcopy, pickle, torch.save and state_dict")
def _():
    y = converted(batches[0])
    for other in (copy.deepcopy(converted), pickle.loads(pickle.dumps(converted))):
        same(other(batches[0]), y, "a copy")
    file = io.BytesIO()
    torch.save(converted.state_dict(), file)
    file.seek(0)
    other = pwl.torch.convert(prepared, segments=3)
    assert not torch.equal(other(batches[0]), y)
    other.load_state_dict(torch.load(file, weights_only=True))
    same(other(batches[0]), y, "a loaded state")
    assert other.act.table == converted.act.table
    copy.deepcopy(prepared)(batches[0])


@test("torch.compile, in one graph, with gradients")
def _():
    y = converted(batches[0])
    y.square().sum().backward()
    wanted = converted.first.weight.grad.clone()
    converted.zero_grad()
    for backend in ("aot_eager", "inductor"):
        torch._dynamo.reset()
        compiled = torch.compile(converted, backend=backend, fullgraph=True)
        got = compiled(batches[0])
        got.square().sum().backward()
        # Products and sums may be taken in another order, and move a number from one code to the next.
        assert (got - y).abs().max() < 0.02, backend
        assert torch.allclose(converted.first.weight.grad, wanted, atol=0.05 * wanted.abs().max()), backend
        converted.zero_grad()
        act = torch.compile(converted.act, backend=backend, fullgraph=True)
        x = reals(3, 100)
        same(act(x), converted.act(x), backend)
    straight = pwl.torch.convert(prepared, segments=8, gradient="straight")
    x = batches[0].clone().requires_grad_()
    torch.compile(straight, backend="aot_eager", fullgraph=True)(x).sum().backward()
    given = batches[0].clone().requires_grad_()
    straight(given).sum().backward()
    assert torch.allclose(x.grad, given.grad, atol=1e-5)


@test("torch.export, with batches of any size, saved and loaded")
def _():
    exported = torch.export.export(converted, (batches[0],), dynamic_shapes=({0: torch.export.Dim("batch")},))
    calls = [node.target for node in exported.graph.nodes if node.op == "call_function" and "pwl" in str(node.target)]
    assert calls == [torch.ops.pwl.real.default] * 4, calls
    file = io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    for count in (64, 5):
        same(loaded(batches[0][:count]), converted(batches[0][:count]), f"{count} rows")


@test("autocast: tables take what the layer before gives")
def _():
    seen = []
    handle = converted.act.register_forward_hook(lambda module, inputs, output: seen.append((inputs[0], output)))
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        converted(batches[0])
    handle.remove()
    (given, got), = seen
    assert given.dtype == torch.bfloat16
    same(got, expected(given, converted.act.table), "in bfloat16")


@test("DataParallel")
def _():
    place = "cuda" if torch.cuda.is_available() else "cpu"  # where it wants its module
    parallel = nn.DataParallel(copy.deepcopy(converted).to(place))
    same(parallel(batches[0].to(place)).cpu(), parallel.module(batches[0].to(place)).cpu(), "DataParallel")


@test("codes go through Activation as codes")
def _():
    codes = torch.arange(-128, 128, dtype=torch.int8)
    equal(pwl.torch.Activation(gelu)(codes).numpy(), gelu(codes.numpy()), "codes")


@test("plain tensors are told from those of which an operator makes more than its kernel does")
def _():
    x = reals(3, 4)
    assert ops.plain(x) and ops.plain(x.t()) and ops.plain(x[:, ::2]) and ops.plain(x.to(torch.int8))
    leaf = reals(3).requires_grad_()
    assert not ops.plain(leaf)
    with torch.no_grad():
        assert ops.plain(leaf)
    for context in (torch.inference_mode(), torch.autocast("cpu", torch.bfloat16)):
        with context:
            assert ops.plain(x)
    for other in (nn.Parameter(x, requires_grad=False), x.to_sparse(), x.to_mkldnn(), x.to("meta"), torch._neg_view(x),
                  torch._efficientzerotensor((3,)), torch.nested.nested_tensor([x, x]), x.tolist()):
        assert not ops.plain(other), other
    for context in (FakeTensorMode(), torch.device("cpu"), torch.autograd.forward_ad.dual_level()):
        with context:
            assert not ops.plain(x), context
    told = []

    def tell(given):
        told.extend([ops.plain(given), ops.plain(x)])
        return given + 1

    for transform in (torch.vmap, torch.func.functionalize, make_fx):
        transform(tell)(x)
    torch.jit.trace(tell, (x,), check_trace=False)
    assert told and not any(told), told
    assert torch.compile(lambda x: x + ops.plain(x), backend="eager", fullgraph=True)(x).equal(x)
    assert ops.plain(x)


@test("Activation calls the kernels where x is plain, and the operators elsewhere")
def _():
    for options in ({}, {"gradient": "straight"}, {"inplace": True}):
        module, x = pwl.torch.Activation(gelu, **options), reals(5, 3)
        with mock.patch.object(activation, "map_real", None), mock.patch.object(activation, "map_codes", None):
            for given in (x, x.half(), x.double(), x.t(), x[:0]):
                same(module(given.clone()), expected(given, gelu), f"{options}, {given.dtype}")
            codes = torch.arange(-128, 128, dtype=torch.int8)
            equal(module(codes.clone()).numpy(), gelu(codes.numpy()), "codes")
        with mock.patch.object(activation, "map_real", side_effect=ops.map_real) as operator:
            module(x.clone().requires_grad_() * 1).sum().backward()
            same(module(torch._neg_view(x.clone())), expected(-x, gelu), "numbers that are to be negated")
            assert operator.call_count == 2


@test("report counts what activations are given, and takes the errors apart")
def _():
    observed = pwl.torch.prepare(nn.Sequential(nn.Linear(16, 12), nn.GELU(), nn.Linear(12, 5)), min_max)
    observed[1].observer.observe([-2.0, 2.0])
    model = pwl.torch.convert(observed, segments=4)
    labels = [torch.randint(0, 5, (64,)) for _ in batches]
    got = pwl.torch.report(model, list(zip(batches, labels)), labels=True)
    x = torch.cat([model[0](batch) for batch in batches]).detach()
    table, of = model[1].table, model[1].table.input
    exact = functional.gelu(x.double()).numpy()
    codes = of.quantize(x.numpy())
    at = of.scale * (codes.astype(float) - of.zero_point)
    between = table.output.dequantize(table.output.quantize(functional.gelu(torch.from_numpy(at)).numpy())).astype(float)
    result = table.real(x.numpy()).astype(float)
    use, = got.activations
    assert (use.name, use.function, use.segments, use.bytes) == ("1", "gelu", 4, 20), use
    assert (use.low, use.high) == (x.min().item(), x.max().item())
    assert (use.codes_used, use.codes) == (len(np.unique(codes)), 256)
    for name, difference in (("error", result - exact), ("quantisers", between - exact), ("table", result - between)):
        wanted = np.sqrt(np.mean(difference ** 2)) / table.output.scale
        assert abs(getattr(use, name) - wanted) < 1e-9 * wanted, (name, getattr(use, name), wanted)
    right = torch.cat(labels)
    for loss, values in ((got.function, exact), (got.quantisers, between), (got.table, result)):
        outputs = [nn.functional.linear(torch.from_numpy(v).float(), model[2].weight, model[2].bias).detach().double()
                   for v in (values, exact)]
        cosine = (outputs[0] * outputs[1]).sum() / (outputs[0].norm() * outputs[1].norm())
        assert abs(loss.cosine - cosine) < 1e-5, (loss, cosine)
        assert abs(loss.accuracy - (outputs[0].argmax(-1) == right).double().mean()) < 1 / 64
        assert abs(loss.agreement - (outputs[0].argmax(-1) == outputs[1].argmax(-1)).double().mean()) < 1 / 64
    lines = str(got).split("\n")
    assert "gelu" in lines[2] and "accuracy" in lines[4] and lines[-1].startswith("| cost of tables"), got
    assert model[1].compute == "table" and not model[1]._forward_pre_hooks


@test("pwl.fit() and observers take what torch has: modules, functions, bfloat16")
def _():
    types = {"input": "s8:0.05", "output": "s8:0.05", "segments": 6}
    for given, name, param in [(nn.GELU(), "gelu", {}), (nn.GELU("tanh"), "gelu_tanh", {}), (functional.silu, "silu", {}),
                               (torch.tanh, "tanh", {}), (nn.ELU(0.5), "elu", {"alpha": 0.5}),
                               (nn.LeakyReLU(0.2), "leaky_relu", {"alpha": 0.2}), (functional.relu6, "relu6", {})]:
        assert pwl.fit(given, **types) == pwl.fit(name, param=param, **types), name
        assert pwl.fit(given, **types).function == name
        observer = pwl.calibration.LeastSquares(given)
        observer.observe(reals(100))
        assert observer.fit(segments=6).function == name

    class Own(nn.Module):
        """Has a parameter, and so a type."""

        def __init__(self):
            super().__init__()
            self.slope = nn.Parameter(torch.tensor([1.5]))

        def forward(self, x):
            return functional.prelu(x, self.slope) * torch.sigmoid(x)

    x = np.arange(-128, 128) * 0.05
    own = pwl.fit(Own(), **types)
    exact = np.where(x < 0, 1.5, 1) * x / (1 + np.exp(-x))
    assert own.function == "samples" and np.abs(own.real(x) - exact).max() < 2 * 0.05
    assert pwl.fit(lambda x: torch.sin(x), **types) == pwl.fit("sin", **types)
    refused("param", lambda: pwl.fit(nn.ELU(0.5), param={"beta": 1}, **types), pwl.ToolError)
    half = reals(50, 3).to(torch.bfloat16)
    same(torch.from_numpy(gelu.real(half)), torch.from_numpy(gelu.real(half.float().numpy())), "bfloat16")
    equal(gelu.quantize(half), gelu.quantize(half.float().numpy()), "bfloat16")
    observers = pwl.calibration.MinMax(), pwl.calibration.MinMax()
    observers[0].observe(half)
    observers[1].observe(half.float().numpy())
    assert observers[0].range() == observers[1].range()
    given, plain = {"input": "s8", "output": "s8", "segments": 6}, half.float().numpy()
    assert pwl.fit("gelu", calibrate=half, **given) == pwl.fit("gelu", calibrate=plain, **given)
    leaf = reals(5).requires_grad_()
    equal(gelu.real(leaf), gelu.real(leaf.detach()), "a tensor with a gradient")
    try:
        import ml_dtypes
    except ImportError:
        return "ml_dtypes is not here: no arrays of numpy in bfloat16"
    array = plain.astype(ml_dtypes.bfloat16)
    equal(gelu.real(array), gelu.real(plain), "bfloat16 of ml_dtypes")
    assert pwl.fit("gelu", calibrate=array, **given) == pwl.fit("gelu", calibrate=plain, **given)
    refused("quantize() makes them", lambda: gelu(array))


@test("what is refused, and what is said to stay")
def _():
    refused("no activation to replace", lambda: pwl.torch.prepare(nn.Sequential(nn.Linear(2, 2), nn.ReLU())))
    refused("not a module", lambda: pwl.torch.prepare(5))
    refused("no observers", lambda: pwl.torch.convert(small))
    refused("no data were observed at act, silu_0", lambda: pwl.torch.convert(pwl.torch.prepare(small)))
    refused("bits=32", lambda: pwl.torch.convert(prepared, bits=32))
    refused("gradient='none'", lambda: pwl.torch.convert(prepared, gradient="none"))
    refused("act: pwlc fit: --max-err 0.01: the table of 2 segments",
            lambda: pwl.torch.convert(prepared, segments=2, max_err=0.01), pwl.ToolError)
    refused("act: 1024 of 2048 numbers are NaN or infinite",
            lambda: pwl.torch.prepare(small)(torch.cat([batches[0][:32], torch.full((32, 16), np.nan)])))
    refused("no Activation", lambda: pwl.torch.report(small, batches))
    refused("no batches", lambda: pwl.torch.report(converted, []))
    refused("labels=True: a batch must be a pair", lambda: pwl.torch.report(converted, batches, labels=True))
    refused("not a pwl.Table", lambda: pwl.torch.Activation(json))
    refused("a pwl.Table is wanted", lambda: pwl.torch.real(reals(3), json))
    refused("a tensor of int8: real numbers are float32", lambda: pwl.torch.real(torch.zeros(2, dtype=torch.int8), gelu))
    refused("a tensor of float32: codes are int8", lambda: pwl.torch.map(reals(2), gelu))
    octave = pwl.fit("sqrt", input="u16:2^-12", output="u16:2^-12", reduce="on", segments=4)
    refused("no slopes of its own", lambda: pwl.torch.real(reals(2).requires_grad_(), octave).sum().backward())
    refused("no function sqrt", lambda: pwl.torch.Activation(octave, gradient="straight"))

    class Untraced(nn.Module):
        def forward(self, x):
            return functional.gelu(x) if x.mean() > 1 else x

    refused("Not looked into:\n  the model: Untraced names gelu, and torch.fx cannot trace it",
            lambda: pwl.torch.prepare(Untraced()))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pwl.torch.prepare(nn.Sequential(Untraced(), nn.GELU(), nn.LSTM(2, 2), nn.PReLU(3)))
    text = "\n".join(str(one.message) for one in said if "activations that stay" in str(one.message))
    assert "0: Untraced names gelu" in text and "2: the activations of LSTM" in text and "3: PReLU has 3 slopes" in text and said[0].filename == __file__, text


@test("the page of the documentation shows what its example prints")
def _():
    program, shown = page_program("python.md", "spirals.py")
    printed = printed_by(program)
    # Training ends elsewhere with other kernels of torch: the words are compared, and the cells that are counted.
    got, wanted = ([line.split() for line in text.split("\n")] for text in (printed, shown))
    words = [[[word for word in line if not set(word) <= set("-0123456789.:")] for line in text] for text in (got, wanted)]
    assert words[0] == words[1], printed


def compare_rows(moved, real, codes):
    """Row operators of tensors that were moved, against RowOperator on the CPU."""
    scores = reals(3, 4, 24)
    masked = scores.clone()
    masked[0, :, 5:] = -math.inf
    masked[1, 2] = -math.inf
    masked[2, 0, 3], masked[2, 1, 7], masked[2, 2, 0] = math.nan, math.inf, -150.0
    norms = dict(gamma=np.linspace(0.5, 2, 24), eps=1e-5)
    for of in (pwl.softmax("s8:0.01:3", "u8:2^-8", rows=64), pwl.softmax("u16:2^-11:32768", "u16:2^-16", rows=24),
               pwl.log_softmax("s8:0.0472", "s8:2^-4:127", rows=64), pwl.rmsnorm("s8:2^-5:3", "s16:2^-12", **norms),
               pwl.layernorm("s16:2^-10", "s8:2^-5", beta=np.zeros(24), **norms)):
        text = of.to_json()
        for x in (scores, scores.transpose(0, 1), scores.double(), scores.bfloat16(), reals(0, 24),
                  masked[2] if of.is_norm else masked, *(() if of.is_norm else (reals(2, 1),))):
            wanted = torch.from_numpy(of.real(x.to(torch.float32).numpy())).to(x.dtype)
            same(real(moved(x), text).cpu(), wanted, f"{of}, real numbers")
        narrow = torch.from_numpy(of.quantize(scores.numpy()))
        for x in (narrow, narrow.to(torch.int64), narrow[:0]):
            equal(codes(moved(x), text).cpu().numpy(), of(narrow[:len(x)].numpy()), f"{of}, codes")
        far = torch.full((2, 24), 70000)
        far[0] = -1
        refused("codes from -1 to 70000: must be from", lambda: codes(moved(far), text))
        refused("the last axis must have", lambda: codes(moved(torch.zeros(2, 65, dtype=narrow.dtype)), text))


def test_launches():
    fake = ctypes.CDLL(os.environ["PWL_CUDA_LIBRARY"])
    stream = ctypes.c_int.in_dll(fake, "fake_stream")
    entered = []

    @contextlib.contextmanager
    def device(given):
        entered.append(given)
        yield

    @test("launches: the device's own, on the current stream, without a copy of what is dense")
    def _():
        with mock.patch.object(torch.cuda, "device", device), mock.patch.object(ops, "current_device", lambda: 0), \
             mock.patch.object(ops, "current_stream", lambda of: 77):
            for x in (reals(6, 5), reals(6, 5).t(), reals(6, 5)[:, ::2], reals(0), reals(), reals(4).double()):
                stream.value = 0
                same(ops._map_real_cuda(x, json), expected(x, gelu), "real numbers")
                assert stream.value == (77 if x.numel() else 0)
            assert len(entered) == 5
            dense = reals(6, 5).t()
            assert ops._dense(dense) is dense and ops._map_real_cuda(dense, json).stride() == dense.stride()
            codes = torch.arange(-128, 128, dtype=torch.int8)
            equal(ops._map_codes_cuda(codes, json).numpy(), gelu(codes.numpy()), "codes")
            far = torch.tensor([-1 << 40, 5, 1 << 40])
            equal(ops._map_codes_cuda(far, json).numpy(), gelu(far.numpy()), "int64")
            refused("other words", lambda: ops._map_real_cuda(reals(3).half(), json))

    @test("launches of row operators: the bits of the CPU, masks and types as there")
    def _():
        with mock.patch.object(torch.cuda, "device", device), mock.patch.object(ops, "current_device", lambda: 0), \
             mock.patch.object(ops, "current_stream", lambda of: 78):
            compare_rows(lambda x: x, ops._rows_cuda, ops._map_rows_cuda)
        assert stream.value == 78


def test_device():
    @test("a CUDA device: the bits of the CPU on every code, on a stream of its own, in a graph")
    def _():
        for name, table in tables.items():
            of = table.input
            codes = torch.arange(of.qmin, of.qmax + 1)
            equal(pwl.torch.map(codes.cuda(), table).cpu().numpy(), table(codes.numpy()), name)
            x = torch.cat([torch.from_numpy(of.dequantize(codes.numpy())), reals(10007)])
            for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
                given = x.to(dtype)
                same(pwl.torch.real(given.cuda(), table).cpu(), expected(given, table), f"{name}, {dtype}")
            given = x.cuda().requires_grad_()
            on_cpu = x.clone().requires_grad_()
            for leaf in (given, on_cpu):
                pwl.torch.real(leaf, table).sum().backward()
            equal(given.grad.cpu().numpy(), on_cpu.grad.numpy(), f"{name}: gradients")
        module, x = pwl.torch.Activation(gelu), reals(1000).cuda()
        with torch.cuda.stream(torch.cuda.Stream()), torch.no_grad():
            module(x)
            graph = torch.cuda.CUDAGraph()
            torch.cuda.synchronize()
            with torch.cuda.graph(graph):
                y = module(x)
            x.copy_(reals(1000))
            graph.replay()
        torch.cuda.synchronize()
        same(y.cpu(), expected(x.cpu(), gelu), "a graph")
        same(torch.compile(module)(x).cpu(), expected(x.cpu(), gelu), "compiled")

    @test("row operators on a CUDA device: the bits of the CPU")
    def _():
        compare_rows(lambda x: x.cuda(), ops.map_rows, ops.map_row_codes)


if on_device:
    test_device()
else:
    test_launches()
end()
