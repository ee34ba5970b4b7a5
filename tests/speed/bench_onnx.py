#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What tables of 8 and 16 bits cost in ONNX Runtime, beside the activations in whose place they stand, as the table in
docs/python.md. PYTHONPATH says where the package is, the environment's PWLC where pwlc is; needs onnx and onnxruntime.

Processor time of one thread for 65,536 numbers, models in turns, as the median of 60 rounds.
"""
import statistics
import time

import numpy as np
import onnxruntime
from onnx import numpy_helper, parser

import pwl.onnx

ROWS, COLUMNS, ROUNDS = 1024, 64, 60
SPELLED = {"GELU": ("y = Gelu(x)", {}), "GELU by tanh, spelled": (
    "c = Pow(x, three) k = Mul(c, a) s = Add(x, k) r = Mul(s, b) t = Tanh(r) o = Add(t, one) h = Mul(x, half) y = Mul(h, o)",
    {"three": 3, "a": 0.044715, "b": 0.7978846, "one": 1, "half": 0.5}),
    "SiLU": ("g = Sigmoid(x) y = Mul(g, x)", {}), "sigmoid": ("y = Sigmoid(x)", {}), "tanh": ("y = Tanh(x)", {}),
    "ELU": ("y = Elu(x)", {}), "softplus": ("y = Softplus(x)", {}), "Mish": ("y = Mish(x)", {})}


def model_of(text, constants):
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g (float[N, M] x) => (float[N, M] y) {{{text}}}')
    model.graph.initializer.extend(numpy_helper.from_array(np.array(value, np.float32), name)
                                   for name, value in constants.items())
    return model


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def nanoseconds(session, x):
    begin = time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)
    session.run(None, {"x": x})
    return (time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID) - begin) / x.size * 1e9


x = (np.random.default_rng(1).normal(size=(ROWS, COLUMNS)) * 3).astype(np.float32)
print("| ns for a number | float | table, 8 bits | table, 16 bits |\n| --- | ---: | ---: | ---: |")
for name, (text, constants) in SPELLED.items():
    model = model_of(text, constants)
    tables = [pwl.onnx.fit(model, [x], bits, segments=32, method="uniform") for bits in (8, 16)]
    sessions = [session_of(one) for one in (model, *(pwl.onnx.replace(model, table) for table in tables))]
    rounds = [[nanoseconds(session, x) for session in sessions] for _ in range(ROUNDS)]
    print(f"| {name} | " + " | ".join(f"{statistics.median(column):.2f}" for column in zip(*rounds)) + " |")
