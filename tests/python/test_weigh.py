#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.weigh() against pwlc eval and real numbers, its shapes and masks, and what is refused. PYTHONPATH says where the package
is.

usage: test_weigh.py PWLC
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
rng = np.random.default_rng(48)

OPERATORS = {
    "bytes": pwl.weigh("s8:0.08", "s8:0.03:4", "s8:0.03:-2", rows=64),
    "words": pwl.weigh(pwl.Type(16, False, 0.0003, 100), pwl.Type(16, True, 0.001), pwl.Type(16, False, 0.001, 32768), rows=64),
    "mixed": pwl.weigh("u8:0.05:128", "u16:0.0004:30000", "u8:0.1:128", rows=64, fraction=24),
}


def codes(side, *shape):
    return rng.integers(side.qmin, side.qmax + 1, shape).astype(side.dtype)


def evaluated(op, x, v):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(f"{folder}/op.json").write_text(op.to_json())
        np.save(f"{folder}/x.npy", x)
        np.save(f"{folder}/v.npy", v)
        subprocess.run([pwlc, "eval", f"{folder}/op.json", f"{folder}/x.npy", f"{folder}/v.npy", "-o", f"{folder}/y.npy"], check=True)
        return np.load(f"{folder}/y.npy")


def target(op, x, v, keep):
    """The real results in output codes, clipped."""
    scores = np.where(keep, x.astype(np.longdouble) * op.input.scale, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - scores.max(-1, keepdims=True))
        share = np.nan_to_num(e / e.sum(-1, keepdims=True))
    y = share @ (v.astype(np.longdouble) - op.input_b.zero_point) * op.input_b.scale / op.output.scale
    return np.clip(y + op.output.zero_point, op.output.qmin, op.output.qmax)


@test("results are those of pwlc eval, within their bound, in every shape")
def _():
    for name, op in OPERATORS.items():
        x, v = codes(op.input, 2, 3, 5, 40), codes(op.input_b, 2, 3, 40, 70)
        y = op(x, v)
        assert y.dtype == op.output.dtype and y.shape == (2, 3, 5, 70)
        equal(y, evaluated(op, x, v), name)
        assert np.abs(y - target(op, x, v, True)).max() <= op.certificate.bound_lsb, name
        assert 0.5 < op.certificate.bound_lsb < 0.6 and op.certificate.max_err_lsb <= op.certificate.bound_lsb
        assert op.certificate.rho and op.certificate.sum_lsb and op.certificate.factor_lsb is not None
        equal(op(x, v[0, 0]), evaluated(op, x, v[0, 0]), "values that all rows share")
        equal(op(x[0, 0], v[0, 0]), y[0, 0], "one matrix")
        equal(op(x[0, 0, 0], v[0, 0]), y[0, 0, 0], "one row")
        equal(evaluated(op, x[0, 0, 0], v[0, 0]), y[0, 0, 0], "one row, by eval")
        equal(op(x[0, 0], v), np.stack([[op(x[0, 0], v[i, j]) for j in range(3)] for i in range(2)]), "rows that all share")
        equal(op(x[:, :1], v)[:, 1], op(x[:, 0], v[:, 1]), "an axis of one")
        equal(op(x.astype(np.int64), v.astype(np.int64)), y, "wider codes")
        equal(op(x[0, 0].tolist(), v[0, 0].tolist()), y[0, 0], "lists")
        equal(op(x.swapaxes(0, 1), v.swapaxes(0, 1)), y.swapaxes(0, 1), "another layout")
        equal(op(x[:0], v[:0]), y[:0], "nothing")
        out = np.zeros((2, 3, 5, 140), op.output.dtype)
        assert op(x, v, out=out[..., ::2]).base is out
        equal(out[..., ::2], y, "strided")


@test("masks and causal rows")
def _():
    for name, op in OPERATORS.items():
        x, v = codes(op.input, 2, 6, 10), codes(op.input_b, 2, 10, 3)
        seen = np.arange(10) <= np.arange(6)[:, None] + 2
        mask = rng.random((2, 6, 10)) < 0.6
        mask[0, 0] = False
        for keep, keywords in ((mask, {"mask": mask}), (mask[1, 2], {"mask": mask[1, 2].astype(np.int8) * 5}),
                               (seen, {"causal": True, "first": 2}), (seen & mask, {"causal": True, "first": 2, "mask": mask})):
            y = op(x, v, **keywords)
            assert np.abs(y - target(op, x, v, keep)).max() <= op.certificate.bound_lsb, (name, keywords.keys())
        assert (op(x, v, mask=mask)[0, 0] == op.output.zero_point).all()
        far = np.where(seen, 0.0, -np.inf)
        near = op.input.dequantize(x)
        equal(op.real(near + far, op.input_b.dequantize(v)), op.output.dequantize(op(x, v, causal=True, first=2)), name)


@test("they are saved, loaded, copied and pickled")
def _():
    for name, op in OPERATORS.items():
        x, v = codes(op.input, 4, 9), codes(op.input_b, 9, 2)
        with tempfile.TemporaryDirectory() as folder:
            op.save(f"{folder}/op.json")
            again = pwl.load_operator(f"{folder}/op.json")
        assert type(again) is pwl.WeighOperator and again.to_json() == op.to_json() and again.spec == op.spec
        for other in (again, pickle.loads(pickle.dumps(op)), copy.deepcopy(op), pwl.WeighOperator(json.loads(op.to_json()))):
            equal(other(x, v), op(x, v), name)
        assert "weigh" in repr(op) and "LSB" in repr(op) and str(op.input_b) in repr(op)


@test("what is no operator, and what it cannot take, is refused")
def _():
    for op in OPERATORS.values():
        x, v = codes(op.input, 2, 10), codes(op.input_b, 10, 3)
        refused("codes are integers", lambda: op(x.astype(float), v))
        refused("codes are integers", lambda: op(x, v.astype(float)))
        refused("must be from", lambda: op(x, np.full((10, 3), 1 << 40)))
        refused("out must be", lambda: op(x, v, out=np.zeros((2, 4), op.output.dtype)))
        refused("second last axis", lambda: op(x, v[:9]))
        refused("second last axis", lambda: op(x, v[:, 0]))
        refused("other axes", lambda: op(np.stack([x, x]), np.stack([v, v, v])))
        refused("1 to 64 places", lambda: op(codes(op.input, 65), codes(op.input_b, 65, 1)))
        refused("first", lambda: op(x, v, causal=True, first=-1))
        good = json.loads(op.to_json())
        for field in good:
            if field not in ("certificate", "hash", "spec"):
                refused("", lambda: pwl.WeighOperator({k: w for k, w in good.items() if k != field}))
            if isinstance(good[field], int):
                for value in (-1, 1 << 31, 1.5, "1", None, True):
                    refused(field, lambda: pwl.WeighOperator({**good, field: value}))
        refused("surprise", lambda: pwl.WeighOperator({**good, "surprise": 1}))
        refused("operator", lambda: pwl.WeighOperator({**good, "operator": "softmax"}))
        refused("zero point", lambda: pwl.WeighOperator({**good, "in_b": {**good["in_b"], "zero_point": 1 << 40}}))
        refused("not safe", lambda: pwl.WeighOperator({**good, "exp": [good["exp"][0] + 1] + good["exp"][1:]}))
    refused("--in-b", lambda: pwl.weigh("s8:0.1", "s32:0.1", "s8:0.1", rows=4), pwl.ToolError)


@test("the compiled part refuses arrays that do not fit each other")
def _():
    op = OPERATORS["bytes"]
    x, v, sums = codes(op.input, 4, 10), codes(op.input_b, 10, 3), np.zeros((4, 3), np.int32)
    run = op._weights._weigh
    run(x, v, 4, sums, 10, None, False, 0)
    fits = "another size"
    refused(fits, lambda: run(x, v, 4, sums, 9, None, False, 0))
    refused(fits, lambda: run(x, v, 4, sums, 0, None, False, 0))
    refused(fits, lambda: run(x, v, 4, sums, 65, None, False, 0))
    refused(fits, lambda: run(x, v[:9], 4, sums, 10, None, False, 0))
    refused(fits, lambda: run(x, v, 4, sums[:3], 10, None, False, 0))
    refused(fits, lambda: run(x, v, 4, sums.astype(np.uint32), 10, None, False, 0))
    refused(fits, lambda: run(x.astype(np.int16), v, 4, sums, 10, None, False, 0))
    refused(fits, lambda: run(x, v.astype(np.float32), 4, sums, 10, None, False, 0))
    refused(fits, lambda: run(x, v, 4, sums, 10, np.ones(9, np.uint8), False, 0))
    refused("values", lambda: run(x, v, 128, sums, 10, None, False, 0))


end()
