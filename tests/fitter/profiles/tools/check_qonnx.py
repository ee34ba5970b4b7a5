# SPDX-License-Identifier: GPL-3.0-or-later
"""check_qonnx.py PWLC: a MultiThreshold node with finn's thresholds, run by qonnx, gives at every code what pwlc eval
gives."""
import json
import sys

import numpy as np
from onnx import TensorProto, helper
from qonnx.core import onnx_exec
from qonnx.core.modelwrapper import ModelWrapper

from tables import Pwlc, break_number, check, difference, end

TABLES = (
    ("sigmoid", 8, "INT4", []),
    ("tanh", 8, "INT4", []),
    ("gelu", 8, "INT4", []),
    ("tanh", 8, "INT2", ["--out", "s2:1:0"]),
    ("sigmoid", 8, "UINT8", ["--out", "u8:2^-8:0"]),
    ("sigmoid", 12, "INT8", ["--in", "s12:2^-8:0", "--out", "s8:2^-8:-128"]),
)


def run_node(attributes, out_type, codes):
    """Outputs of a model of one node, whose attributes are JSON."""
    thresholds = np.array(attributes["thresholds"], np.float32)
    node = helper.make_node("MultiThreshold", ["x", "thresholds"], ["y"], domain="qonnx.custom_op.general",
                            out_dtype=out_type, out_scale=float(attributes["out_scale"]),
                            out_bias=float(attributes["out_bias"]))
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (codes.size, 1)) for name in ("x", "y")]
    constant = helper.make_tensor("thresholds", TensorProto.FLOAT, (1, thresholds.size), thresholds)
    graph = helper.make_graph([node], "thresholds", value[:1], value[1:], [constant])
    operators = [helper.make_opsetid("", 13), helper.make_opsetid("qonnx.custom_op.general", 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=operators))
    return onnx_exec.execute_onnx(model, {"x": codes.astype(np.float32).reshape(-1, 1)})["y"].ravel()


def main():
    pwlc = Pwlc(sys.argv[1])
    for function, bits, out_type, flags in TABLES:
        table = pwlc.fit(function, "finn", *flags)
        text = pwlc.emit(table, "finn:json", ".attributes").read_text()
        codes, expected = np.load(pwlc.codes(bits)), pwlc.outputs(table, bits)
        check(f"finn {function} to {out_type}: qonnx gives pwlc's {expected.size} outputs",
              difference(run_node(json.loads(text), out_type, codes), expected))
        broken = json.loads(break_number(text, '"thresholds": [', 0))
        check(f"finn {function} to {out_type}: another first threshold is seen",
              "" if difference(run_node(broken, out_type, codes), expected) else "it is not")
    end()


main()
