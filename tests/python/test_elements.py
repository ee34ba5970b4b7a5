#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.requantise() and pwl.add() against pwlc eval and real numbers, and what is refused. PYTHONPATH says where the package
is.

usage: test_elements.py PWLC
"""
import copy
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

from harness import end, equal, np, refused, test

import pwl

pwlc = pathlib.Path(sys.argv[1]).resolve()
os.environ["PWLC"] = str(pwlc)
rng = np.random.default_rng(47)

OPERATORS = {
    "sums": pwl.requantise("s32:0.0003:9", "s8:0.05:-3"),
    "codes": pwl.requantise(pwl.Type(16, False, 0.0003, 100), pwl.Type(8, False, 0.031, 128)),
    "narrow": pwl.add("s8:0.05:4", "u8:0.031:100", "s8:0.06:2"),
    "wide": pwl.add("s16:0.0007:4", "s8:0.031", "u16:0.0009:2"),
}


def codes(op, *shape):
    drawn = [rng.integers(side.qmin, side.qmax + 1, shape).astype(side.dtype) for side in (op.input, op.input_b) if side]
    if op.input.bits == 32:
        drawn[0] >>= rng.integers(0, 24, shape).astype(np.int32)
    return drawn


def evaluated(op, inputs):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(f"{folder}/op.json").write_text(op.to_json())
        for k, array in enumerate(inputs):
            np.save(f"{folder}/{k}.npy", array)
        subprocess.run([pwlc, "eval", f"{folder}/op.json", *(f"{folder}/{k}.npy" for k in range(len(inputs))), "-o",
                        f"{folder}/y.npy"], check=True)
        return np.load(f"{folder}/y.npy")


@test("operators give the codes of pwlc eval, within their bound")
def _():
    for name, op in OPERATORS.items():
        inputs = codes(op, 7, 5, 33)
        y = op(*inputs)
        assert y.dtype == op.output.dtype and y.shape == (7, 5, 33)
        equal(y, evaluated(op, inputs), name)
        real = sum(side.scale * (x.astype(np.float64) - side.zero_point)
                   for x, side in zip(inputs, (op.input, op.input_b)))
        target = np.clip(real / op.output.scale + op.output.zero_point, op.output.qmin, op.output.qmax)
        assert np.abs(y - target).max() <= op.certificate.bound_lsb + 1e-9 and op.certificate.bound_lsb < 0.501, name
        assert op.certificate.factor_lsb < 0.001 and op.certificate.max_err_lsb <= op.certificate.bound_lsb
        equal(op(*(x.astype(np.int64) for x in inputs)), y, "wider codes")
        equal(op(*(x.tolist() for x in inputs)), y, "lists")
        equal(op(*(x.transpose(1, 2, 0) for x in inputs)), y.transpose(1, 2, 0), "another layout")
        equal(op(*(x[0, 0, 0] for x in inputs)), y[0, 0, 0], "a number")
        equal(op(*(x[:0] for x in inputs)), y[:0], "nothing")
        out = np.zeros((7, 5, 66), op.output.dtype)
        op(*inputs, out=out[:, :, ::2])
        equal(out[:, :, ::2], y, "strided")


@test("in place, and inputs that broadcast")
def _():
    op = OPERATORS["narrow"]
    a, b = codes(op, 4, 30)
    y = op(a, b)
    equal(op(a, b[:1]), op(a, np.repeat(b[:1], 4, 0)), "one row for all")
    assert op(a, b, out=a) is a
    equal(a, y, "in place")
    a, b = codes(op, 4, 30)
    same = pwl.add("s8:0.05", "s8:0.03", "s8:0.06")
    b = b.astype(np.int8)
    y = same(a, b)
    same(a, b, out=b)
    equal(b, y, "in place of the second")
    shared = np.zeros(40, np.int8)
    refused("", lambda: same(shared[:30], shared[:30], out=shared[5:35]))


@test("real numbers by codes")
def _():
    for name, op in OPERATORS.items():
        inputs = codes(op, 50)
        reals = [side.dequantize(x) for x, side in zip(inputs, (op.input, op.input_b))]
        near = [side.quantize(x) for x, side in zip(reals, (op.input, op.input_b))]
        equal(op.real(*reals), op.output.dequantize(op(*near)), name)


@test("operators are saved, loaded, copied and pickled")
def _():
    for name, op in OPERATORS.items():
        inputs = codes(op, 48)
        with tempfile.TemporaryDirectory() as folder:
            op.save(f"{folder}/op.json")
            again = pwl.load_operator(f"{folder}/op.json")
        assert type(again) is pwl.ElementOperator and again.to_json() == op.to_json() and again.spec == op.spec
        for other in (again, pickle.loads(pickle.dumps(op)), copy.deepcopy(op), pwl.ElementOperator(json.loads(op.to_json()))):
            equal(other(*inputs), op(*inputs), name)
        assert op.operator in repr(op) and "LSB" in repr(op)
        assert (op.multiplier is None) == (op.factors is not None) == (op.input_b is not None)
    assert "u8:0.031:100" in repr(OPERATORS["narrow"])


@test("what is no operator is refused")
def _():
    for name, op in OPERATORS.items():
        inputs = codes(op, 2, 10)
        refused("codes are integers", lambda: op(inputs[0].astype(float), *inputs[1:]))
        refused("must be from", lambda: op(np.full((2, 10), 1 << 40), *inputs[1:]))
        refused("out must be", lambda: op(*inputs, out=np.zeros((2, 9), op.output.dtype)))
        refused("takes", lambda: op(*inputs, *inputs) if op.input_b is None else op(inputs[0]))
        good = json.loads(op.to_json())
        for field in good:
            if field not in ("certificate", "hash", "spec"):
                refused("", lambda: pwl.ElementOperator({k: v for k, v in good.items() if k != field}))
            if isinstance(good[field], int):
                for value in (-1, 1 << 31, 1.5, "1", None, True):
                    refused(field, lambda: pwl.ElementOperator({**good, field: value}))
        refused("surprise", lambda: pwl.ElementOperator({**good, "surprise": 1}))
        refused("operator", lambda: pwl.ElementOperator({**good, "operator": "softmax"}))
        refused("zero point", lambda: pwl.ElementOperator({**good, "in": {**good["in"], "zero_point": 1 << 40}}))
        refused("bits", lambda: pwl.ElementOperator({**good, "out": {**good["out"], "bits": 12, "qmin": 0, "qmax": 9}}))
        refused("all codes", lambda: pwl.ElementOperator({**good, "in": {**good["in"], "qmax": 9}}))
        if name == "sums":
            far = {**good["in"], "zero_point": -(1 << 31)}
            refused("not safe to run", lambda: pwl.ElementOperator({**good, "in": far, "multiplier": (1 << 31) - 1,
                                                                    "shift": 62}))
    refused("--in-b", lambda: pwl.add("s8:0.1", "s32:0.1", "s8:0.1"), pwl.ToolError)


end()
