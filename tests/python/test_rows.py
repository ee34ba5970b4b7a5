#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.softmax() and its kin against pwlc eval, what masks and causal rows leave out, and what is refused. PYTHONPATH says
where the package is.

usage: test_rows.py PWLC
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


def evaluated(op, x):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(f"{folder}/op.json").write_text(op.to_json())
        np.save(f"{folder}/x.npy", x)
        subprocess.run([pwlc, "eval", f"{folder}/op.json", f"{folder}/x.npy", "-o", f"{folder}/y.npy"], check=True)
        return np.load(f"{folder}/y.npy")


GAMMA, BETA = rng.uniform(0.2, 2, 48), rng.normal(0, 0.3, 48).astype(np.float32)
OPERATORS = {
    "softmax": pwl.softmax("s8:0.0472", "u8:2^-8", rows=200),
    "wide": pwl.softmax("u16:0.0002", pwl.Type(16, True, 2.0**-15), rows=200, fraction=28),
    "log": pwl.log_softmax("s16:0.0003", "s16:2^-11:32767", rows=200),
    "layernorm": pwl.layernorm("s16:2^-10", "s16:2^-11", GAMMA, BETA, 1e-6),
    "rmsnorm": pwl.rmsnorm("u8:0.02:100", "s8:0.04", list(GAMMA)),
    "l2norm": pwl.l2norm("s8:2^-5", "s8:2^-7", rows=48),
}


def codes(op, *shape):
    return rng.integers(op.input.qmin, op.input.qmax + 1, shape).astype(op.input.dtype)


def real(op, x):
    x = (x.astype(np.float64) - op.input.zero_point) * op.input.scale
    if op.operator in ("softmax", "logsoftmax"):
        x = x - x.max(-1, keepdims=True)
        y = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
        y = y if op.operator == "softmax" else np.log(y)
    else:
        eps = json.loads(op.to_json())["eps"]
        x = x - x.mean(-1, keepdims=True) if op.operator == "layernorm" else x
        y = x / np.sqrt((x * x).sum(-1, keepdims=True) / (1 if op.operator == "l2norm" else 48) + eps)
        y = y * (1 if op.operator == "l2norm" else GAMMA) + (BETA if op.operator == "layernorm" else 0)
    return np.clip(y / op.output.scale + op.output.zero_point, op.output.qmin, op.output.qmax)


@test("operators give the codes of pwlc eval, within their bound")
def _():
    for name, op in OPERATORS.items():
        x = codes(op, 2, 3, 48)
        y = op(x)
        assert y.dtype == op.output.dtype and y.shape == x.shape
        equal(y, evaluated(op, x), name)
        error = np.abs(y - real(op, x)).max()
        assert error <= op.certificate.bound_lsb <= 0.6, (name, error, op.certificate)
        assert op.certificate.max_err_lsb <= op.certificate.bound_lsb and op.certificate.rows > 100
        equal(op(x.astype(np.int64)), y, "wider codes")
        equal(op(x.tolist()), y, "lists")
        equal(op(x.transpose(1, 0, 2)), y.transpose(1, 0, 2), "another layout")
        equal(op(np.empty((0, 48), x.dtype)), np.empty((0, 48)), "no rows")


@test("real numbers by codes; places that float32 gives no share are masked; what an operator says of itself")
def _():
    for name, op in OPERATORS.items():
        x = codes(op, 3, 48)
        reals = op.input.dequantize(x)
        equal(op.real(reals), op.dequantize(op(x)), name)
        with tempfile.TemporaryDirectory() as folder:
            op.save(f"{folder}/op.json")
            shown = subprocess.run([pwlc, "show", f"{folder}/op.json"], check=True, capture_output=True, text=True).stdout
        assert f"tables       {op.nbytes} bytes" in shown, (op.nbytes, shown)
        assert len(op.core.segments) == 16
    for op in (OPERATORS["softmax"], OPERATORS["log"]):
        x = codes(op, 4, 30)
        mask = rng.integers(0, 2, (4, 30)).astype(bool)
        mask[0], mask[1] = False, True
        for far in (-np.inf, -1e30, -200.0):
            equal(op.real(np.where(mask, op.input.dequantize(x), far)),
                  op.dequantize(op(x, mask=mask) if far == -np.inf else np.where(mask.any(-1)[:, None], op(x, mask=mask),
                                                                                 op(np.full((4, 30), op.input.qmin)))), far)
        equal(op.real([[0, -103.0]]), op.dequantize(op([[op.quantize(0.0), op.quantize(-103.0)]])), "near enough")
    for op in (OPERATORS["softmax"], OPERATORS["wide"]):
        e, scale = op.exponentials(), op.input.scale
        assert e.size == 1 << op.input.bits and e[0] == 1 << op.constants["fraction"]
        exact = np.exp(-scale * np.arange(e.size)) * e[0]
        assert np.abs(e - exact).max() <= 1
    norm = OPERATORS["layernorm"]
    equal(norm.gamma, GAMMA, "gamma")
    equal(norm.beta, BETA, "beta")
    assert norm.eps == 1e-6 and OPERATORS["softmax"].eps is None and OPERATORS["l2norm"].gamma is None


@test("results go where they are wanted")
def _():
    op = OPERATORS["layernorm"]
    x = codes(op, 5, 48)
    y = op(x)
    out = np.zeros((5, 48), np.int16)
    assert op(x, out=out) is out
    equal(out, y, "out")
    wide = np.zeros((5, 96), np.int16)
    op(x, out=wide[:, ::2])
    equal(wide[:, ::2], y, "strided")
    op(x, x)
    equal(x, y, "in place")


@test("masks and causal rows")
def _():
    for op, least in ((OPERATORS["softmax"], 0), (OPERATORS["log"], -32768)):
        x = codes(op, 2, 4, 6)
        mask = rng.integers(0, 2, (2, 4, 6)).astype(bool)
        mask[0, 0], mask[1, 1] = False, True
        y = op(x, mask=mask)
        for row in np.ndindex(2, 4):
            assert (y[row][~mask[row]] == least).all()
            if mask[row].any():
                equal(y[row][mask[row]], op(x[row][mask[row]]), "the rest")
        equal(op(x, mask=mask[1, 2]), op(x, mask=np.broadcast_to(mask[1, 2], x.shape)), "one mask for all")
        equal(op(x, causal=True), op(x, mask=np.tril(np.ones((4, 6)))), "causal")
        equal(op(x, causal=True, first=2), op(x, mask=np.tril(np.ones((4, 6)), 2)), "causal from 2 on")
        equal(op(x, causal=True, mask=mask), op(x, mask=np.tril(np.ones((4, 6))) * mask), "both")


@test("operators are saved, loaded, copied and pickled")
def _():
    for name, op in OPERATORS.items():
        x = codes(op, 3, 48)
        with tempfile.TemporaryDirectory() as folder:
            op.save(f"{folder}/op.json")
            again = pwl.load_operator(f"{folder}/op.json")
            assert again.to_json() == op.to_json() and again.spec == op.spec
            refused("no.json", lambda: pwl.load_operator(f"{folder}/no.json"), OSError)
        for other in (again, pickle.loads(pickle.dumps(op)), copy.deepcopy(op), pwl.RowOperator(json.loads(op.to_json()))):
            equal(other(x), op(x), name)
        assert op.operator in repr(op) and "LSB" in repr(op)


@test("what is no operator is refused")
def _():
    op = OPERATORS["softmax"]
    x = codes(op, 2, 10)
    refused("codes are integers; of real numbers quantize() makes them", lambda: op(x.astype(float)))
    refused("must be from -128 to 127", lambda: op([[0, 128]]))
    refused("1 to 200", lambda: op(codes(op, 201)))
    refused("shape (", lambda: op(3))
    refused("out must be", lambda: op(x, out=x))
    refused("first", lambda: op(x, causal=True, first=-1))
    refused("must have 48", lambda: OPERATORS["l2norm"](codes(op, 47)))
    refused("mask", lambda: OPERATORS["l2norm"](codes(op, 48), mask=1))
    refused("rows", lambda: pwl.softmax("s8:0.1", "u8:2^-8", rows=0), pwl.ToolError)
    refused("--out", lambda: pwl.softmax("s8:0.1", "u8:0.01", rows=5), pwl.ToolError)
    for name, op in OPERATORS.items():
        good = json.loads(op.to_json())
        for field, value, message in [
                ("pwl_operator", 2, "pwl_operator"), ("operator", "tanh", "operator"), ("rows", 0, "rows"),
                ("rows", 1 << 20, "rows"), ("surprise", 1, "surprise"), ("core", {}, "pwl_table"), ("core", None, "pwl_table"),
                ("fraction", 99, "fraction"), ("in", {**good["in"], "bits": 12, "qmin": 0, "qmax": 5}, "bits")]:
            refused(message, lambda: pwl.RowOperator({**good, field: value}))
        for field, value in good.items():
            if isinstance(value, list) and field not in ("gamma", "beta"):
                refused(field, lambda: pwl.RowOperator({**good, field: value[:-1]}))
                refused(field, lambda: pwl.RowOperator({**good, field: value[:-1] + [1.5]}))
                refused(field, lambda: pwl.RowOperator({**good, field: value[:-1] + [1 << 63]}))
        for field in {"eps", "gamma", "beta"} & set(good):
            for value in ("1", [1], [True] * 48, {}, np.nan):
                refused(field, lambda: pwl.RowOperator({**good, field: value}))
        hostile = {"exp": [1 << 31] + good["exp"][1:]} if "exp" in good else {"eps_code": (1 << 63) - 1}
        if name != "wide" and name != "log":
            refused("not safe to run", lambda: pwl.RowOperator({**good, **hostile}))


end()
