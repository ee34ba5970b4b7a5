# SPDX-License-Identifier: Apache-2.0
"""Models of one operator for what users would take instead: LiteRT, and ONNX Runtime. Each is bound to its arrays: a run,
and a function that gives the output."""
import flatbuffers
import numpy as np
import onnxruntime
from ai_edge_litert import interpreter, schema_py_generated as tflite

KINDS = {"float32": tflite.TensorType.FLOAT32, "int8": tflite.TensorType.INT8, "int16": tflite.TensorType.INT16}


def litert(operator, x, of_in, of_out, options=None, version=None):
    """invoke() of a model of one operator of LiteRT, run by XNNPACK where it has one for the type; and its output.

    of_in, of_out    (scale, zero point); None of floats
    options          (a BuiltinOptions, its table)"""
    def tensor(label, of):
        t = tflite.TensorT()
        t.shape, t.type, t.name, t.buffer = list(x.shape), KINDS[x.dtype.name], label, 0
        if of:
            t.quantization = tflite.QuantizationParametersT()
            t.quantization.scale, t.quantization.zeroPoint = [of[0]], [of[1]]
        return t

    code = tflite.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = getattr(tflite.BuiltinOperator, operator)
    code.version = version or (2 if of_in else 1)
    node = tflite.OperatorT()
    node.opcodeIndex, node.inputs, node.outputs = 0, [0], [1]
    if options:
        node.builtinOptionsType, node.builtinOptions = options
    graph = tflite.SubGraphT()
    graph.tensors = [tensor("x", of_in), tensor("y", of_out)]
    graph.inputs, graph.outputs, graph.operators, graph.name = [0], [1], [node], "main"
    model = tflite.ModelT()
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [graph], [tflite.BufferT()]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    made = interpreter.Interpreter(model_content=bytes(builder.Output()), num_threads=1)
    made.allocate_tensors()
    made.set_tensor(0, x)
    return made.invoke, lambda: made.get_tensor(1)


def softmax_options():
    options = tflite.SoftmaxOptionsT()
    options.beta = 1.0
    return tflite.BuiltinOptions.SoftmaxOptions, options


def field(number, value):
    """A field of a protocol buffer: an integer, bytes or a text."""
    def varint(v):
        data = b""
        while v > 127:
            data, v = data + bytes([v & 127 | 128]), v >> 7
        return data + bytes([v])
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


ELEMENTS = {"float32": 1, "uint8": 2, "int8": 3}


def onnx_runtime(operator, x, constants=(), attributes=(), domain=""):
    """A run of a model of one operator of ONNX Runtime; and its output, of x's type and shape. Fields: onnx.proto.

    constants     (name, array) of each further input
    attributes    (name, integer)"""
    def shape(of):
        return b"".join(field(1, field(1, size)) for size in of)

    def value(label):
        return field(1, label) + field(2, field(1, field(1, ELEMENTS[x.dtype.name]) + field(2, shape(x.shape))))

    initialisers, inputs = b"", ["x"]
    for label, array in constants:
        dimensions = b"".join(field(1, size) for size in array.shape)
        initialisers += field(5, dimensions + field(2, ELEMENTS[array.dtype.name]) + field(8, label) +
                              field(9, array.tobytes()))
        inputs.append(label)
    node = b"".join(field(1, label) for label in inputs) + field(2, "y") + field(4, operator)
    for label, number in attributes:
        node += field(5, field(1, label) + field(3, number) + field(20, 2))
    node += field(7, domain) if domain else b""
    graph = field(1, node) + field(2, "main") + initialisers + field(11, value("x")) + field(12, value("y"))
    model = field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
    model += field(8, field(1, "com.microsoft") + field(2, 1))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    y = onnxruntime.OrtValue.ortvalue_from_numpy(np.empty_like(x))
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(x))
    binding.bind_ortvalue_output("y", y)
    return lambda: session.run_with_iobinding(binding), y.numpy
