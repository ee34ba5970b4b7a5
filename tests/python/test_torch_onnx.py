#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models of pwl.torch through torch's exporter of ONNX, in ONNX Runtime. PYTHONPATH says where the package is. Exit 77, a
skip, where a package of PyPI is missing.

usage: test_torch_onnx.py PWLC SOURCE
"""
import logging
import os
import pathlib
import sys
import tempfile
import warnings

from harness import end, equal, np, test

try:
    import onnx
    import onnxruntime
    import onnxscript
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from torch import nn
from torch.nn import functional

import pwl
import pwl.onnx
import pwl.torch
from pwl.torch.onnx import translations

os.environ["PWLC"] = os.path.realpath(sys.argv[1])
tables = {path.stem: pwl.load(path) for path in sorted((pathlib.Path(sys.argv[2]) / "luts/tables").glob("*.json"))}
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
torch.manual_seed(1)
onnxruntime.set_default_logger_severity(3)


def exported(model, x, **options):
    """The model as torch's exporter writes it, checked."""
    made = torch.onnx.export(model.eval(), (x,), dynamo=True, custom_translation_table=translations(), verbose=False,
                             **options).model_proto
    onnx.checker.check_model(made, full_check=True)
    return made


def run(model, x):
    options = onnxruntime.SessionOptions()
    # Else it rounds the weights of layers between DequantizeLinear and QuantizeLinear to 8 bits.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]


def operators(model):
    return {node.op_type for node in model.graph.node} - {"Constant"}


@test("an activation has the bits of its table at every code, by the operators of pwl.onnx")
def _():
    for name in ("gelu_s8", "sigmoid_u16", "tanh_s16"):
        table = tables[name]
        codes = np.arange(table.input.qmin, table.input.qmax + 1)
        x = torch.from_numpy(table.input.dequantize(codes))
        for opset in (18, 21):
            model = exported(pwl.torch.Activation(table), x, opset_version=opset)
            equal(run(model, x).view(np.int32), table.dequantize(table(codes)).view(np.int32), f"{name}, opset {opset}")
            # The exporter records in opset 18; it computes what depends on constants alone, as the shape.
            wanted = operators(pwl.onnx.to_model(table, 18))
            assert {"Shape"} >= operators(model) ^ wanted, f"{name}: {operators(model) ^ wanted}"


@test("codes go to codes")
def _():
    for name in ("gelu_s8", "tanh_s16"):
        table = tables[name]
        codes = torch.arange(table.input.qmin, table.input.qmax + 1, dtype=getattr(torch, table.input.dtype.name))
        got = run(exported(pwl.torch.Activation(table), codes), codes)
        assert got.dtype == table.output.dtype
        equal(got, table(codes.numpy()), name)
    far = torch.tensor([-1 << 40, 0, 1 << 40])
    equal(run(exported(pwl.torch.Activation(table), far), far), table(far.numpy()), "int64, beyond the range")


@test("real numbers of float16 stay so")
def _():
    table = tables["gelu_s8"]
    x = torch.from_numpy(table.input.dequantize(np.arange(-128, 128))).half()
    got = run(exported(pwl.torch.Activation(table), x), x)
    assert got.dtype == np.float16
    equal(got, table.real(x.float().numpy()).astype(np.float16), "float16")


@test("an export without translations() hints at them, and one with them does not")
def _():
    x = torch.randn(3, 4)
    for options, translated, hints in ((dict(dynamo=True), False, True), (dict(dynamo=True), True, False),
                                       (dict(dynamo=False), True, True)):
        pwl.torch.ops.translated = translated
        given = dict(custom_translation_table=translations()) if translated else {}
        with warnings.catch_warnings(record=True) as said, tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("always")
            try:
                torch.onnx.export(pwl.torch.Activation(tables["gelu_s8"]), (x,), f"{folder}/model.onnx", verbose=False, **options,
                                  **(given if options["dynamo"] else {}))
                failed = False
            except Exception:
                failed = True
        told = any("custom_translation_table=pwl.torch.onnx.translations()" in str(one.message) for one in said)
        assert (told, failed) == (hints, hints), (options, translated, told, failed)
    torch.jit.trace(pwl.torch.Activation(tables["gelu_s8"]), (x,))  # which is no export


@test("a converted model, with batches of any size")
def _():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.act, self.second = nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 10)

        def forward(self, x):
            x = functional.silu(self.second(self.act(self.first(x))))
            return torch.tanh(x) * x.sigmoid()

    # Weights, inputs and scales are few bits and powers of two, so that sums are exact in any order.
    net, batch = Net(), torch.randint(-16, 17, (64, 16)) / 8
    for layer in (net.first, net.second):
        for parameter in layer.parameters():
            parameter.data.copy_(torch.randint(-4, 5, parameter.shape) / 8)
    prepared = pwl.torch.prepare(net, lambda function: pwl.calibration.MinMax(power_of_two=True))
    prepared(batch)
    for bits, gradient in ((8, "slope"), (16, "straight")):
        converted = pwl.torch.convert(prepared, bits=bits, segments=8, method="uniform", gradient=gradient)
        model = exported(converted, batch, dynamic_shapes=({0: torch.export.Dim("rows", min=2)},))
        assert not {"Erf", "Gelu", "Sigmoid", "Tanh"} & operators(model)
        with torch.no_grad():
            for x in (batch, torch.randint(-16, 17, (7, 16)) / 8):
                equal(run(model, x), converted(x).numpy(), f"{bits} bits")
                assert converted(x).unique().numel() > 20


@test("softmax and norms have the bits of their operators, by operators of integers; codes go to codes")
def _():
    weight = (np.arange(24) - 8) / 8
    for of, length in ((pwl.softmax("s8:2^-4", "u8:2^-8", rows=30), 24), (pwl.log_softmax("s16:2^-10", "s16:2^-11:32767", rows=24), 24),
                       (pwl.layernorm("s16:2^-10", "s16:2^-12", weight, weight, 1e-5), 24), (pwl.rmsnorm("s8:2^-4", "s8:2^-5", weight), 24)):
        codes = torch.from_numpy(np.random.default_rng(1).integers(of.input.qmin // 3, of.input.qmax // 3, (40, length))
                                 .astype(of.input.dtype))
        x = torch.from_numpy(of.input.dequantize(codes.numpy()))
        if "softmax" in of.operator:
            x[3, 5:9] = float("-inf")
        module = pwl.torch.Rows(of)
        model = exported(module, x, opset_version=21)
        equal(run(model, x).view(np.int32), of.real(x.numpy()).view(np.int32), repr(of))
        assert not {"Softmax", "LayerNormalization", "Exp", "Sqrt"} & operators(model)
        equal(run(exported(module, codes), codes), of(codes.numpy()), f"{of!r}: codes")
        half = run(exported(module, x.half()), x.half())
        equal(half, of.real(x.half().float().numpy()).astype(np.float16), "float16")
    turned = pwl.torch.Rows(pwl.softmax("s8:2^-4", "u8:2^-8", rows=30), pwl.torch.RowFunction("softmax", 1))
    x = torch.randint(-100, 100, (2, 7, 3)) / 16
    equal(run(exported(turned, x), x), turned(x).numpy(), "another dimension")


end()
