#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Softmax and norms of models of torch by row operators: what is found, the codes of the operator, and their bound.
PYTHONPATH says where the package is. Exit 77, a skip, without torch.

usage: test_torch_rows.py PWLC
"""
import copy
import io
import os
import re
import sys
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
from pwl.torch import ops
from pwl.torch.row_functions import of_module

os.environ["PWLC"] = os.path.realpath(sys.argv[1])
warnings.simplefilter("error")
warnings.filterwarnings("ignore", module="torch")
torch.manual_seed(1)
torch.set_num_threads(1)


def converted(model, batches, bits=8, **flags):
    prepared = pwl.torch.prepare(model)
    for x in batches:
        prepared(x)
    return pwl.torch.convert(prepared, bits, **flags)


def rows_of(model):
    return {name: module for name, module in model.named_modules() if isinstance(module, pwl.torch.Rows)}


def within_bound(module, x, what):
    """The module's numbers are its operator's, in every type, and those within their bound of the function at the codes."""
    of, function = module.operator, module.function
    rows = function.rows(x).numpy()
    equal(module(x).numpy(), function.whole(torch.from_numpy(of.real(rows)), x).numpy(), what)
    half = x.to(torch.bfloat16)
    equal(module(half).float(), function.whole(torch.from_numpy(of.real(function.rows(half).float().numpy())), x)
          .to(torch.bfloat16).float(), f"{what} in bfloat16")
    codes = of.quantize(rows)
    equal(module(function.whole(torch.from_numpy(codes), x)).numpy(), function.whole(torch.from_numpy(of(codes)), x).numpy(),
          f"{what} of codes")
    exact = module.of_numbers(of.input.scale * (codes.astype(np.float64) - of.input.zero_point))
    exact = np.clip(exact / of.output.scale + of.output.zero_point, of.output.qmin, of.output.qmax)
    error = np.abs(of(codes) - exact).max()
    assert error <= of.certificate.bound_lsb + 1e-6 < 0.8, (what, error, of.certificate)


class Llama(nn.Module):
    """An RMSNorm as models have it."""

    def __init__(self, count, eps=1e-6):
        super().__init__()
        self.weight, self.variance_epsilon = nn.Parameter(torch.ones(count)), eps

    def forward(self, x):
        given, x = x.dtype, x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * x.to(given)


class Gemma(nn.Module):
    def __init__(self, count, eps=1e-5):
        super().__init__()
        self.scale, self.eps = nn.Parameter(torch.zeros(count)), eps

    def forward(self, x):
        return (x / torch.sqrt((x * x).mean(-1, keepdim=True) + self.eps)) * (1 + self.scale)


class Own(nn.Module):
    """A LayerNorm by names of its own."""

    def __init__(self, count):
        super().__init__()
        self.g, self.b = nn.Parameter(torch.ones(count)), nn.Parameter(torch.zeros(count))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return self.g * (x - mean) / ((x - mean).square().mean(-1, keepdim=True) + 1e-5).sqrt() + self.b


class OddRMSNorm(Llama):
    def forward(self, x):
        return self.weight * x / x.abs().amax(-1, keepdim=True)


class Scaled(nn.Module):
    """A vector, and no norm."""

    def __init__(self, count):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(count))

    def forward(self, x):
        return self.weight * torch.sigmoid(x)


def drawn(module):
    with torch.no_grad():
        for value in module.parameters():
            value.copy_(torch.rand_like(value) + 0.5)
    return module


MODULES = {
    "softmax": nn.Softmax(-1), "softmax(dim=1)": nn.Softmax(1), "softmax(dim=-3)": nn.Softmax2d(),
    "log_softmax": nn.LogSoftmax(-1), "layer_norm": drawn(nn.LayerNorm(24)), "plain": nn.LayerNorm(24, elementwise_affine=False),
    "block": drawn(nn.LayerNorm((5, 24))), "rms_norm": drawn(nn.RMSNorm(24, 1e-6)), "eps": nn.RMSNorm(24),
    "llama": drawn(Llama(24)), "gemma": drawn(Gemma(24)), "own": drawn(Own(24)),
}


@test("modules are replaced, at 8 and 16 bits, within their bound")
def _():
    for name, module in MODULES.items():
        batches = [torch.randn(3, 4, 5, 24) * 2 for _ in range(2)]
        prepared = pwl.torch.prepare(module)
        assert isinstance(prepared, pwl.torch.ObservedRows), name
        for x in batches:
            exact = module(x)
            assert torch.allclose(prepared(x), exact, rtol=1e-4, atol=1e-5), name
        assert set(prepared.state_dict()) == set(module.state_dict()), name
        if name.startswith("softmax"):
            assert str(prepared.function) == name, prepared.function
        for bits, worst in ((8, 3), (16, 40)):
            made = pwl.torch.convert(prepared, bits)
            assert isinstance(made, pwl.torch.Rows) and made.operator.input.bits == bits == made.operator.output.bits
            within_bound(made, batches[0], name)
            error = (made(batches[0]) - module(batches[0])).abs().max() / made.operator.output.scale
            assert error < worst * (1 + made.operator.input.scale / made.operator.output.scale), (name, bits, error)


@test("the models' own norms are known by their values alone")
def _():
    for module, name, eps, offset in ((Llama(8, 1e-6), "rms_norm", 1e-6, 0), (Llama(8, 0.0), "rms_norm", 0, 0),
                                      (Gemma(8), "rms_norm", 1e-5, 1), (Own(8), "layer_norm", 1e-5, 0)):
        before = {key: value.clone() for key, value in module.state_dict().items()}
        found = of_module(module)
        assert (found.function.name, found.function.eps, found.function.offset) == (name, eps, offset), found
        assert found.function.shape == (8,)
        for key, value in module.state_dict().items():
            equal(value, before[key], "parameters stay")
    own = of_module(Own(8))
    assert (own.weight, own.bias) == ("g", "b")
    assert of_module(Scaled(8)) is None and of_module(nn.BatchNorm1d(8)) is None and of_module(nn.Linear(1, 8)) is None
    assert "by its values" in of_module(OddRMSNorm(8))


class Calls(nn.Module):
    """Each function and method."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.rand(24) + 0.5), nn.Parameter(torch.randn(24))

    def forward(self, x):
        x = functional.layer_norm(x, (24,), self.weight, self.bias, 1e-6)
        x = torch.layer_norm(x, (24,), self.weight) + functional.rms_norm(x, (24,), self.weight, 1e-5)
        a = functional.softmax(x, dim=-1, dtype=torch.float32) + torch.softmax(x, 1) + x.softmax(dim=2)
        return a + functional.log_softmax(x, -1) + x.log_softmax(-1) + torch.log_softmax(x, 2)


NAMES = ["layer_norm_0", "layer_norm_1", "log_softmax_0", "log_softmax_1", "log_softmax_2", "rms_norm_0", "softmax_0",
         "softmax_1", "softmax_2"]


@test("functions and methods are replaced, in models of Python and in graphs of fx, export and TorchScript")
def _():
    model, batches = Calls(), [torch.randn(2, 3, 24) for _ in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graphs = {"Python": model, "fx": torch.fx.symbolic_trace(model), "export": torch.export.export(model, (batches[0],)),
                  "trace": torch.jit.trace(model, batches[0]), "script": torch.jit.script(model)}
    outputs = {}
    for name, graph in graphs.items():
        made = converted(graph, batches, 16)
        assert sorted(rows_of(made)) == NAMES, (name, sorted(rows_of(made)))
        assert rows_of(made)["softmax_1"].function.dim == 1, "by their order"
        outputs[name] = made(batches[0]).detach()
        assert (outputs[name] - model(batches[0])).abs().max() < 0.02, name
        assert {"weight", "bias"} <= {key.rpartition(".")[2] for key in dict(made.named_parameters())}
    for name in ("fx", "export", "trace", "script"):
        equal(outputs[name], outputs["Python"], name)


@test("an RMSNorm that a graph spells is one operator")
def _():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.last = drawn(Llama(24)), nn.Linear(24, 24)

        def forward(self, x):
            return self.last(self.norm(self.last(x)))

    model, batches = Net(), [torch.randn(2, 3, 24) for _ in range(3)]
    exported = torch.export.export(model, (batches[0],))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(model, batches[0])
    expected = converted(model, batches, 16)
    assert list(rows_of(expected)) == ["norm"]
    for graph in (exported, traced):
        made = converted(graph, batches, 16)
        assert list(rows_of(made)) == ["rms_norm_0"], rows_of(made)
        equal(made(batches[0]).detach(), expected(batches[0]).detach(), "the same operator")
        assert "rsqrt" not in made.code and "pow" not in made.code, made.code

    wide = torch.export.export(copy.deepcopy(model).bfloat16(), (batches[0].bfloat16(),))
    made = converted(wide, [x.bfloat16() for x in batches], 16)
    assert list(rows_of(made)) == ["rms_norm_0"] and made(batches[0].bfloat16()).dtype == torch.bfloat16

    class Other(Net):  # what looks alike and is none: over another dimension, and without a mean
        def forward(self, x):
            y = self.norm.weight * (x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-6))
            return y + self.norm.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) * 2))

    refused("no activation to replace", lambda: pwl.torch.prepare(torch.export.export(Other(), (batches[0],))))


@test("masked places take no part, and count for no range")
def _():
    x = torch.randn(2, 4, 6, 6)
    mask = torch.ones(6, 6).tril().bool()
    for masked in (float("-inf"), torch.finfo(torch.float32).min, -1e4):
        given = x.masked_fill(~mask, masked) if masked == float("-inf") else x + (~mask) * masked
        for module in (nn.Softmax(-1), nn.LogSoftmax(-1)):
            made = converted(module, [given])
            of = made.operator
            assert of.input.scale < 0.04, of.input
            y = made(given)
            equal(y, torch.from_numpy(of.dequantize(of(of.quantize(x.numpy()), mask=mask.numpy()))), f"{module}, {masked}")
    made = converted(nn.Softmax(-1), [x])
    equal(made(torch.full((1, 6), float("-inf"))), torch.zeros(1, 6), "all masked")
    refused("NaN", lambda: pwl.torch.prepare(nn.Softmax(-1))(torch.full((1, 6), float("nan"))))


class Attention(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm, self.qkv, self.act, self.out = norm, nn.Linear(24, 72), nn.GELU(), nn.Linear(24, 7)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        scores = q @ k.transpose(-1, -2) / 24 ** 0.5
        return self.out(self.act(functional.softmax(scores, -1) @ v))


net = Attention(drawn(Llama(24))).eval()
batches = [torch.randn(4, 9, 24) for _ in range(3)]
model8 = converted(net, batches)


@test("a report takes the loss of each apart")
def _():
    report = pwl.torch.report(model8, batches)
    uses = {use.name: use for use in report.activations}
    assert sorted(uses) == ["act", "norm", "softmax_0"] and not report.floats, report
    assert (uses["norm"].function, uses["softmax_0"].function) == ("rms_norm", "softmax")
    for name, module in rows_of(model8).items():
        use = uses[name]
        assert use.table < 0.05 and 0.25 < use.quantisers <= use.error + 0.05, use
        assert use.bytes == module.operator.nbytes and use.segments == 16 and 100 < use.codes_used <= use.codes == 256
    assert f"{uses['softmax_0'].bytes}" == "1168"
    assert report.function.cosine == 1 and 0.995 < report.table.cosine and 0.995 < report.quantisers.cosine < 1
    # Against sums taken here.
    seen = []
    handle = model8.norm.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    with torch.no_grad():
        for x in batches:
            model8(x)
    handle.remove()
    x, of = torch.cat(seen), model8.norm.operator
    error = (model8.norm(x) - net.norm(x)).double().square().mean().sqrt() / of.output.scale
    assert abs(error - uses["norm"].error) < 1e-3, (error, uses["norm"].error)
    wide = pwl.torch.report(converted(net, batches, 16), batches)
    assert 1 - wide.table.cosine < 1e-6, wide


class Scaled4(nn.Module):
    """Attention in one kernel, by each of its arguments."""

    def __init__(self):
        super().__init__()
        self.register_buffer("keep", torch.rand(5, 7) > 0.3)
        self.register_buffer("add", torch.randn(5, 7))

    def forward(self, q, k, v):
        call = functional.scaled_dot_product_attention
        y = call(q, k, v) + call(q, k, v, self.keep) + call(q, k, v, attn_mask=self.add, scale=0.5)
        return y + call(q, k, v, is_causal=True) + call(q, k[:, :2], v[:, :2], enable_gqa=True)


class Dropping(nn.Module):
    def forward(self, q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, dropout_p=1.0)


@test("attention in one kernel gets a softmax of its own")
def _():
    model = Scaled4()
    model.keep[:, 0] = True
    given = [tuple(torch.randn(2, 4, n, 8) for n in (5, 7, 7)) for _ in range(2)]
    for graph in (model, torch.export.export(model, given[0])):
        prepared = pwl.torch.prepare(graph)
        for one in given:
            assert torch.allclose(prepared(*one), model(*one), atol=1e-5)
        made = pwl.torch.convert(prepared, 16)
        assert sorted(rows_of(made)) == [f"attention_{k}.softmax" for k in range(5)], rows_of(made)
        assert (made(*given[0]) - model(*given[0])).abs().max() < 1e-3
        report = pwl.torch.report(made, given)
        assert len(report.activations) == 5 and not report.floats and all(use.low > -30 for use in report.activations)
    dropping = pwl.torch.prepare(Dropping().train())
    assert (dropping(*given[0]) == 0).all() and dropping.attention_0.softmax.input.count > 0


@test("what stays in float where operators are not wanted is named as before")
def _():
    prepared = pwl.torch.prepare(net, operators=False)
    prepared(batches[0])
    report = pwl.torch.report(pwl.torch.convert(prepared), batches)
    assert [use.name for use in report.activations] == ["act"]
    assert {stay.operator for stay in report.floats} == {"rsqrt", "softmax"}, report.floats
    refused("no activation to replace", lambda: pwl.torch.prepare(nn.Softmax(-1), operators=False))


def again(model):
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@test("TransformerEncoderLayer, whose attention is one kernel")
def _():
    layer = nn.TransformerEncoderLayer(24, 2, 32, activation="gelu", batch_first=True).eval()
    encoder = nn.TransformerEncoder(layer, 2).eval()
    made = converted(encoder, batches, 16)
    assert sorted(rows_of(made)) == sorted(f"layers.{k}.{name}" for k in (0, 1) for name in (
        "norm1", "norm2", "self_attn.attention.softmax"))
    padding = torch.zeros(batches[0].shape[:2], dtype=torch.bool)
    padding[:, -2:] = True
    with torch.no_grad():
        assert (made(batches[0]) - encoder(batches[0])).abs().max() < 0.01
        got, wanted = (of(batches[0], src_key_padding_mask=padding) for of in (made, encoder))
        assert (got[:, :-2] - wanted[:, :-2]).abs().max() < 0.01
        assert not pwl.torch.report(made, batches).floats


def attention_calls(width, own, batched, first):
    """Inputs of MultiheadAttention, and the masks that it takes in every form."""
    shape = (lambda n, of: (2, n, of) if first else (n, 2, of)) if batched else (lambda n, of: (n, of))
    q, k, v = (torch.randn(shape(n, of)) for n, of in ((5, width), (7, own[0]), (7, own[1])))
    padding, mask = torch.zeros((2, 7) if batched else 7, dtype=torch.bool), torch.zeros(5, 7, dtype=torch.bool).bernoulli_(0.3)
    padding[..., -2:], mask[:, 0] = True, False
    heads = torch.randn(8 if batched else 4, 5, 7)
    for flags in ({}, {"key_padding_mask": padding}, {"attn_mask": mask}, {"attn_mask": heads, "key_padding_mask": padding},
                  {"attn_mask": heads, "key_padding_mask": padding.float() * -3}, {"attn_mask": torch.ones(5, 7, dtype=torch.bool).triu(1), "is_causal": True}):
        for need in ({}, {"need_weights": False}, {"average_attn_weights": False}):
            yield (q, k, v), {**flags, **need}


@test("MultiheadAttention gets a softmax of its own, with all that it takes")
def _():
    torch.manual_seed(3)
    for flags in ({}, {"bias": False}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 6, "vdim": 10},
                  {"add_bias_kv": True, "add_zero_attn": True, "kdim": 16}):
        for first in (False, True):
            model = nn.MultiheadAttention(16, 4, batch_first=first, **flags).eval()
            for bias in (model.in_proj_bias, model.out_proj.bias):
                if bias is not None:
                    nn.init.normal_(bias)
            prepared, own = pwl.torch.prepare(model), (flags.get("kdim", 16), flags.get("vdim", 16))
            for batched in (True, False):
                for given, masks in attention_calls(16, own, batched, first):
                    plain = {name: value for name, value in masks.items() if name != "is_causal"}  # a hint
                    for got, wanted in zip(prepared(*given, **masks), model(*given, **plain)):
                        assert (got is None) == (wanted is None), masks
                        assert wanted is None or got.shape == wanted.shape and torch.allclose(got, wanted, atol=1e-5), masks
            made = pwl.torch.convert(prepared, 16)
            assert list(rows_of(made)) == ["attention.softmax"] and made.attention.softmax.operator.rows == 4096
            assert (made(*given)[0] - model(*given)[0]).abs().max() < 2e-3
            equal(again(made)(*given)[0].detach(), made(*given)[0].detach(), "a copy")
    refused("is_causal is a hint", lambda: prepared(*given, is_causal=True))
    training = pwl.torch.prepare(nn.MultiheadAttention(16, 4, dropout=1.0).train())
    y, weights = training(*[torch.randn(5, 2, 16)] * 3)
    assert (weights == 0).all() and torch.equal(y, training.out_proj.bias.expand_as(y))


@test("deepcopy, pickle, state_dict, compile, export and gradients")
def _():
    x = batches[0]
    y = model8(x)
    for other in (copy.deepcopy(model8), again(model8)):
        equal(other(x).detach(), y.detach(), "a copy")
    blank = converted(Attention(Llama(24)).eval(), [torch.randn(1, 9, 24) * 3])
    assert not torch.equal(blank(x), y)
    blank.load_state_dict(model8.state_dict())
    equal(blank(x).detach(), y.detach(), "from a state")
    assert blank.norm.operator.to_json() == model8.norm.operator.to_json()
    assert torch.equal(blank.norm.weight, model8.norm.weight), "what gradients go by"
    for name, module in rows_of(model8).items():
        given = torch.randn(2, 9, module.operator.rows if module.function.is_norm else 9)
        explained = torch.compile(module, fullgraph=True, backend="aot_eager")
        equal(explained(given), module(given), f"{name} compiled")
        program = torch.export.export(module, (given,))
        equal(program.module()(given), module(given), f"{name} exported")
        a, b = given.clone().requires_grad_(), given.clone().requires_grad_()
        weigh = torch.randn(given.shape)
        (module(a) * weigh).sum().backward()
        (module.exact(b) * weigh).sum().backward()
        equal(a.grad, b.grad, f"{name}: the gradient of the function")
        assert a.grad.abs().max() > 0
        torch.library.opcheck(ops.map_rows, (given, module._json))
        torch.library.opcheck(ops.map_row_codes, (given.to(torch.int8), module._json))


@test("rows up to a length, and a module of a user's own operator")
def _():
    prepared = pwl.torch.prepare(nn.Softmax(-1))
    prepared(torch.randn(2, 300))
    assert pwl.torch.convert(prepared).operator.rows == 4096 and pwl.torch.convert(prepared, rows=300).operator.rows == 300
    refused("rows=299", lambda: pwl.torch.convert(prepared, rows=299))
    refused("1 to 300", lambda: pwl.torch.convert(prepared, rows=300)(torch.randn(1, 301)))
    op = pwl.l2norm("s8:2^-5", "s8:2^-7", rows=24)
    module = pwl.torch.Rows(op)
    within_bound(module, torch.randn(3, 24) * 2, "l2norm")
    assert "l2_norm" in repr(module) and "LSB" in repr(module)
    softmax = pwl.torch.Rows(pwl.softmax("s8:0.05", "u8:2^-8", rows=16), pwl.torch.RowFunction("softmax", 0))
    within_bound(softmax, torch.randn(5, 4), "softmax over the first dimension")


def wrong_compute():
    module = copy.deepcopy(model8.norm)
    module.compute = "none"
    module(torch.randn(1, 24))


@test("what is refused, and what is said to stay")
def _():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pwl.torch.prepare(nn.Sequential(nn.GELU(), nn.Softmax(), OddRMSNorm(8)))
    text = str(said[0].message)
    assert "1: Softmax stays: its dim is not given" in text and "2: OddRMSNorm stays: it is no RMSNorm by its values" in text, text

    class Computed(nn.Module):
        def forward(self, x, w):
            return functional.layer_norm(x, (4,), w) + torch.softmax(x, x.dim() - 1) + functional.gelu(x)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pwl.torch.prepare(Computed())
    text = str(said[0].message)
    assert "layer_norm stays: its weight, bias or eps is computed" in text and "softmax stays: its dim is computed" in text, text

    class Untraced(nn.Module):
        def forward(self, x):
            return functional.softmax(x, -1) if x.sum() > 0 else x

    refused("Untraced names softmax, and torch.fx cannot trace it", lambda: pwl.torch.prepare(Untraced()))
    refused("no data were observed at the model", lambda: pwl.torch.convert(pwl.torch.prepare(nn.Softmax(-1))))
    op = pwl.softmax("s8:0.05", "u8:2^-8", rows=16)
    refused("not a pwl.RowOperator", lambda: pwl.torch.Rows(5))
    refused("stands for no rms_norm", lambda: pwl.torch.Rows(op, pwl.torch.RowFunction("rms_norm", shape=(16,))))
    refused("of 25", lambda: pwl.torch.Rows(model8.norm.operator, pwl.torch.RowFunction("rms_norm", shape=(25,))))
    refused("must be (24,)", lambda: model8.norm(torch.randn(3, 25)))
    refused("compute='none'", lambda: wrong_compute(), pwl.Error)
    state = model8.norm.state_dict()
    hostile = re.sub('"eps_code": [0-9]+', f'"eps_code": {(1 << 63) - 1}', bytes(state["_extra_state"].numpy()).decode())
    refused("not safe to run", lambda: copy.deepcopy(model8.norm).set_extra_state(ops.state_of(hostile)))


end()
