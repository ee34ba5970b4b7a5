#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models that pwl.torch takes beside plain ones: traced and scripted by TorchScript, exported, compiled; and what must stay
as it was: hooks, states that safetensors saves. PYTHONPATH says where the package is. Exit 77, a skip, without torch.

usage: test_torch_models.py PWLC
"""
import copy
import io
import os
import pickle
import sys
import tempfile
import warnings

from harness import end, equal, np, refused, test

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from torch import nn
from torch.nn import functional

import pwl
import pwl.torch

os.environ["PWLC"] = os.path.realpath(sys.argv[1])
warnings.simplefilter("error")
warnings.filterwarnings("ignore", module="torch")  # its own words about itself
torch.manual_seed(1)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.second = nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 6)
        self.spare = nn.Linear(2, 2)
        self.register_buffer("kept", torch.arange(3.0))

    def forward(self, x, scale: float = 1.0):
        x = self.second(self.act(self.first(x))) * scale
        return torch.tanh(x) + functional.silu(x).sigmoid()


class Many(nn.Module):
    """Every activation, behind layers whose code branches on shapes."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.drop = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.1)
        self.lstm, self.last = nn.LSTM(4, 5), nn.LayerNorm(5)
        self.acts = nn.ModuleList([nn.SiLU(), nn.Hardswish(), nn.ELU(0.5), nn.SELU(), nn.Softplus(), nn.LogSigmoid(),
                                   nn.LeakyReLU(0.2), nn.PReLU(), nn.Hardtanh(-2.0, 0.5), nn.CELU(0.5), nn.Mish(),
                                   nn.Hardsigmoid(), nn.ReLU6(), nn.GELU("tanh"), nn.Softplus(2.0, 3.0), nn.Sigmoid(),
                                   nn.Softsign()])

    def forward(self, x):
        x = self.drop(self.norm(self.conv(x))).flatten(2).permute(2, 0, 1)
        x, _ = self.lstm(x)
        x = self.last(x)
        for act in self.acts:
            x = act(x)
        return functional.softmax(x, -1)


def min_max(function):
    return pwl.calibration.MinMax()


def script(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(module)


def trace(module, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.trace(module, (x,))


def same(got, expected, what):
    assert got.dtype == expected.dtype, f"{what}: {got.dtype}, not {expected.dtype}"
    equal(got.detach(), expected.detach(), what)


def observed(model, batches, **options):
    """Prepared, with warnings that name LSTM as staying, and run."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "activations that stay")
        prepared = pwl.torch.prepare(model, min_max, **options)
    for batch in batches:
        prepared(batch)
    return prepared


def converted(model, batches, **options):
    prepared = observed(model, batches)
    for batch in batches:
        same(prepared(batch), model(batch), "while it observes")
    return pwl.torch.convert(prepared, **options)


def functions(model):
    return sorted(str(module.function) for module in model.modules() if isinstance(module, pwl.torch.Activation))


net = Net().eval()
batches = [torch.randn(32, 8) for _ in range(3)]
plain = converted(net, batches, segments=8)
many = Many().eval()
images = [torch.randn(2, 3, 8, 8) for _ in range(2)]


@test("a traced and a scripted model convert to what the model of Python converts to")
def _():
    for model in (trace(net, batches[0]), script(net)):
        before = model(batches[0])
        got = converted(model, batches, segments=8)
        assert functions(got) == functions(plain) == ["gelu", "sigmoid", "silu", "tanh"]
        for batch in (*batches, torch.randn(5, 8)):
            same(got(batch), plain(batch), "the tables")
        same(model(batches[0]), before, "the model itself")
        names = {name for name in got.state_dict() if "_extra_state" not in name}
        assert names == set(net.state_dict()) and not got.training
        same(pickle.loads(pickle.dumps(got))(batches[0]), plain(batches[0]), "pickled")
        same(torch.compile(got, backend="aot_eager", fullgraph=True)(batches[0]), plain(batches[0]), "compiled")
        torch.export.export(got, (batches[0],))
    same(got(batches[0], scale=2.0), plain(batches[0], scale=2.0), "a keyword")
    inside = nn.Sequential(trace(net, batches[0]), nn.Tanh()).eval()
    got = converted(inside, batches)
    assert functions(got) == ["gelu", "sigmoid", "silu", "tanh", "tanh"]
    report = pwl.torch.report(got, batches)
    assert len(report.activations) == 5


@test("every activation is found in traced, scripted and exported models, behind what branches on shapes")
def _():
    wanted = functions(converted(many, images))
    assert len(wanted) == 17
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(many, (images[0],), dynamic_shapes=({0: torch.export.Dim("batch")},))
    for model in (trace(many, images[0]), script(many), exported.module()):
        got = converted(model, images)
        assert functions(got) == wanted, (type(model), functions(got))
        y = got(torch.randn(3, 3, 8, 8))
        assert y.shape == (36, 3, 5)


@test("a graph of torch.export: with batches of any size, reported, exported again, and its program itself")
def _():
    program = torch.export.export(net, (batches[0],), dynamic_shapes=({0: torch.export.Dim("rows")},))
    for model in (program.module(), program):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            prepared = pwl.torch.prepare(model, min_max)
        for batch in batches:
            same(prepared(batch), net(batch), "while it observes")
        got = pwl.torch.convert(prepared, segments=8)
        assert functions(got) == functions(plain)
        for batch in (batches[0], torch.randn(5, 8)):
            same(got(batch), plain(batch), "the tables")
        assert {name for name in got.state_dict() if "_extra_state" not in name} >= {"first.weight", "second.bias"}
        again = torch.export.export(got, (batches[0],))
        calls = [node.target for node in again.graph.nodes if node.op == "call_function" and "pwl" in str(node.target)]
        assert calls == [torch.ops.pwl.real.default] * 4
        same(again.module()(batches[0]), plain(batches[0]), "exported again")
        assert len(pwl.torch.report(got, batches).activations) == 4
    refused("no activation to replace", lambda: pwl.torch.prepare(torch.export.export(nn.Linear(2, 2), (torch.zeros(1, 2),))))


@test("what of TorchScript cannot be followed is refused, and says what would do")
def _():
    class Loops(nn.Module):
        def forward(self, x):
            while bool(x.sum() > 1):
                x = functional.silu(x) / 2
            return x

    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = nn.ModuleList([nn.GELU(), nn.Tanh()])

        def forward(self, x):
            parts = []
            for step in self.steps:
                parts.append(step(x))
            if bool(x.sum() > 0):
                y = functional.silu(parts[0]) + x.size(0)
                return y if y.dim() > 1 else y * 2
            for k in range(3):
                x = x + k
            assert x.size(0) > 2, "few rows"  # which is not asked any more
            return torch.sigmoid(x) + parts[1]

    refused("part: it loops as its data have it", lambda: pwl.torch.prepare(nn.ModuleDict({"part": script(Loops())})))
    refused("prepare the model of Python", lambda: pwl.torch.prepare(script(Loops())))
    model = script(Branches())
    x = torch.randn(4, 3)
    prepared = pwl.torch.prepare(model, min_max)
    for given in (x.abs(), -x.abs(), x.abs()[0], 5 - 100 * x.abs()):
        same(prepared(given), model(given), "both ways")
    assert functions(pwl.torch.convert(prepared)) == ["gelu", "sigmoid", "silu", "tanh"]


@test("compiled models are refused, with what to do; prepared ones can be compiled")
def _():
    compiled = torch.compile(net, backend="eager")
    for model, path in ((compiled, "the model"), (nn.Sequential(nn.GELU(), compiled), "1")):
        for call in (pwl.torch.prepare, pwl.torch.convert, lambda model: pwl.torch.report(model, batches)):
            refused(f"{path}: a compiled module: give what torch.compile() was given (its _orig_mod)", lambda: call(model))
    own = copy.deepcopy(net)
    own.compile(backend="eager")
    assert functions(converted(own, batches)) == functions(plain)
    for backend in ("aot_eager", "inductor"):
        torch._dynamo.reset()
        prepared = pwl.torch.prepare(net, min_max)
        faster = torch.compile(prepared, backend=backend)
        for batch in batches:
            assert torch.allclose(faster(batch), net(batch), atol=1e-5)
        assert prepared.act.observer.count == 3 * 32 * 16, "not every batch was counted"


@test("hooks of modules that are replaced are kept, and are called with what stands there")
def _():
    for make in (lambda: copy.deepcopy(net), lambda: torch.export.export(net, (batches[0],)).module()):
        model, seen = make(), []
        eager = isinstance(model, Net)
        model.register_forward_pre_hook(lambda module, inputs: seen.append("before the model"))
        model.register_forward_hook(lambda module, inputs, output: seen.append("after the model"))
        model.register_forward_hook(lambda module, inputs, keywords, output: seen.append(f"by keyword {sorted(keywords)}"),
                                    with_kwargs=True)
        if eager:
            model.act.register_forward_hook(lambda module, inputs, output: seen.append(type(module).__name__))
            model.act.register_forward_hook(lambda module, inputs, output: output + 1)
            model.act.register_full_backward_hook(lambda module, given, got: seen.append("backward"))
        model(batches[0])
        words = list(seen)
        prepared = pwl.torch.prepare(model, min_max)
        seen.clear()
        y = prepared(batches[0])
        assert seen == [word.replace("GELU", "Observed") for word in words], seen
        same(y, model(batches[0]), "a hook that changes the result")
        got = pwl.torch.convert(prepared, segments=8)
        seen.clear()
        y = got(batches[0].clone().requires_grad_())
        assert seen == [word.replace("GELU", "Activation") for word in words], seen
        y.sum().backward()
        assert ("backward" in seen) == eager
        handles = len(model._forward_hooks)
        got.register_forward_hook(lambda module, inputs, output: None)
        assert len(model._forward_hooks) == handles, "the model has its own"


@test("a report names what stays in float, and how many values tables would save")
def _():
    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)
            self.lstm, self.gru, self.cell = nn.LSTM(8, 5, batch_first=True), nn.GRU(5, 3, batch_first=True), nn.LSTMCell(3, 3)
            self.group = nn.GroupNorm(1, 3)

        def forward(self, x):
            y, _ = self.gru(self.lstm(self.block(x))[0])
            y = self.group(self.cell(y[:, -1])[0])
            return functional.softmax(y, -1) + y.exp() / functional.relu(y)

    x = [torch.randn(4, 6, 8) for _ in range(2)]
    report = pwl.torch.report(pwl.torch.convert(observed(Encoder().eval(), x, operators=False)), x)
    got = {(one.name, one.function): one.count for one in report.floats}
    rows = 2 * 4 * 6
    wanted = {("block.norm1", "rsqrt"): rows, ("block.norm2", "rsqrt"): rows, ("block.self_attn", "exp"): rows * 2 * 6,
              ("lstm", "sigmoid"): 3 * 5 * rows, ("lstm", "tanh"): 2 * 5 * rows, ("gru", "sigmoid"): 2 * 3 * rows,
              ("gru", "tanh"): 3 * rows, ("cell", "sigmoid"): 2 * 4 * 3 * 3, ("cell", "tanh"): 2 * 4 * 3 * 2,
              ("group", "rsqrt"): 2 * 4, ("the model", "exp"): 2 * 2 * 4 * 3}
    for key in {*got, *wanted}:
        assert got.get(key) == wanted.get(key) or key == ("the model", "exp"), (key, got.get(key), wanted.get(key))
    assert sorted(one.count for one in report.floats if one.name == "the model") == [24, 24]
    assert "| block.norm1 " in str(report) and "a table would save values of" in str(report)
    assert not pwl.torch.report(plain, batches).floats and "stays" not in str(pwl.torch.report(plain, batches))


@test("states hold tensors alone, and go through safetensors")
def _():
    layer = pwl.torch.QLinear.of_linear(nn.Linear(64, 8), "q4_0", table=plain.act.table)
    model = nn.Sequential(nn.Linear(8, 64), copy.deepcopy(plain.act), layer)
    other = pwl.torch.QLinear.of_linear(nn.Linear(64, 8), "q4_0")
    wide = pwl.fit("tanh", input="s8:2^-5", output="s8:2^-7", segments=3)
    state = model.state_dict()
    assert all(isinstance(value, torch.Tensor) for value in state.values()), {k: type(v) for k, v in state.items()}
    x = torch.randn(4, 8)

    def blank():
        return nn.Sequential(nn.Linear(8, 64), pwl.torch.Activation(wide), copy.deepcopy(other))

    loaded = blank()
    loaded.load_state_dict(state)
    same(loaded(x), model(x), "load_state_dict")
    assert loaded[1].table == model[1].table and loaded[2].table == model[2].table
    texts = {**state, "1._extra_state": plain.act.table.to_json()}  # as the package wrote them before
    loaded = blank()
    loaded.load_state_dict(texts)
    assert loaded[1].table == model[1].table
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    loaded = blank()
    loaded.load_state_dict(torch.load(file, weights_only=True))
    same(loaded(x), model(x), "torch.load")
    try:
        import safetensors.torch
    except ImportError:
        return "safetensors is not here"
    loaded = blank()
    with tempfile.TemporaryDirectory() as folder:
        safetensors.torch.save_model(model, f"{folder}/model.safetensors")
        safetensors.torch.load_model(loaded, f"{folder}/model.safetensors")
    same(loaded(x), model(x), "safetensors")


end()
