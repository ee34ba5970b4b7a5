# SPDX-License-Identifier: GPL-3.0-or-later
"""TFLite and ONNX models as bytes, written from the two formats' descriptions with the standard library alone: the seeds
of fuzz_tflite and fuzz_onnx, which the unit tests read, too."""
import struct

# -- FlatBuffers ------------------------------------------------------------------------------------------------------


def scalar(form, value):
    return ("scalar", struct.pack("<" + form, value))


def table(fields):
    """fields: {number in the schema: what one of these functions gives}"""
    return ("table", fields)


def tables(items):
    return ("tables", items)


def vector(form, values):
    return ("vector", struct.calcsize("<" + form), struct.pack(f"<{len(values)}{form}", *values), len(values))


def string(text):
    return ("vector", 1, text.encode() + b"\0", len(text.encode()))


class Flat:
    """Parents before children, so that every offset points forward; a vtable just before each table."""

    def __init__(self, root, identifier):
        self.bytes = bytearray(4) + identifier
        self.placed = {}  # an object that is met twice is written once
        self.point(0, self.place(root))

    def point(self, at, target):
        struct.pack_into("<I", self.bytes, at, target - at)

    def align(self, size, behind=0):
        self.bytes += bytes(-(len(self.bytes) + behind) % size)

    def place(self, item):
        if id(item) not in self.placed:
            self.placed[id(item)] = {"table": self.place_table, "tables": self.place_tables,
                                     "vector": self.place_vector}[item[0]](item)
        return self.placed[id(item)]

    def place_vector(self, item):
        self.align(max(item[1], 4), 4)
        at = len(self.bytes)
        self.bytes += struct.pack("<I", item[3]) + item[2]
        return at

    def place_tables(self, item):
        self.align(4)
        at = len(self.bytes)
        self.bytes += struct.pack("<I", len(item[1])) + bytes(4 * len(item[1]))
        for i, child in enumerate(item[1]):
            self.point(at + 4 + 4 * i, self.place(child))
        return at

    def place_table(self, item):
        entries, inline, offsets = [0] * (max(item[1], default=-1) + 1), bytearray(4), {}
        for number, field in sorted(item[1].items()):
            size = len(field[1]) if field[0] == "scalar" else 4
            inline += bytes(-len(inline) % size)
            entries[number] = len(inline)
            if field[0] == "scalar":
                inline += field[1]
            else:
                offsets[len(inline)] = field
                inline += bytes(4)
        vtable = struct.pack(f"<{2 + len(entries)}H", 4 + 2 * len(entries), len(inline), *entries)
        self.align(8, len(vtable))
        self.bytes += vtable
        at = len(self.bytes)
        struct.pack_into("<i", inline, 0, len(vtable))
        self.bytes += inline
        for offset, field in offsets.items():
            self.point(at + offset, self.place(field))
        return at


# -- TFLite -----------------------------------------------------------------------------------------------------------

FLOAT32, FLOAT16, INT32, UINT8, INT64, INT16, INT8, UINT32, UINT16, INT4, INT2 = 0, 1, 2, 3, 4, 7, 9, 15, 16, 17, 19


def tensor(name, kind, scales=None, zero_points=None):
    fields = {0: vector("i", [1, 4]), 2: scalar("I", 0), 3: string(name)}
    if kind:
        fields[1] = scalar("b", kind)
    if scales is not None:
        quantisation = {0: vector("f", [0.0]), 2: vector("f", scales), 6: scalar("i", 0)}
        if zero_points is not None:
            quantisation[3] = vector("q", zero_points)
        fields[4] = table(quantisation)
    return table(fields)


def tflite(*subgraphs, identifier=b"TFL3"):
    graphs = [table({0: tables(list(tensors)), 4: string("main")}) for tensors in subgraphs]
    return bytes(Flat(table({0: scalar("I", 3), 2: tables(graphs), 3: string("a test"),
                             4: tables([table({})])}), identifier).bytes)


def tflite_alone(item):
    """One tensor, with which the file ends."""
    return bytes(Flat(table({2: tables([table({0: tables([item])})])}), b"TFL3").bytes)


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


EVERY_TENSOR = [
    tensor("power of two", INT8, [2.0**-4], [-3]), tensor("decimal", UINT8, [0.0472], [128]),
    tensor("wide", INT16, [3.0518e-05], [0]), tensor("sum", INT32, [0.00123], [0]),
    tensor("channels", INT8, [0.5, 0.25, 0.125], [0, 1, 2]), tensor("real", FLOAT32), tensor("half", FLOAT16),
    tensor("plain", INT8), tensor("empty", INT8, [], []), tensor("four", INT4, [0.75], [-1]),
    tensor("two", INT2, [1.0], [0]), tensor("unsigned", UINT16, [1e-5], [65535]),
    tensor("32 bits", UINT32, [2.0], [1 << 31]), tensor("long", INT64, [0.5], [0]), tensor("future", 77, [0.5], [0]),
    tensor("uneven", INT8, [0.5], [1, 2]), tensor("no zero points", UINT8, [0.125]),
    tensor("zero", INT8, [0.0], [0]), tensor("negative", INT8, [-0.5], [0]), tensor("nan", INT8, [float("nan")], [0]),
    tensor("infinite", INT8, [float("inf")], [0]), tensor("tiny", INT8, [2.0**-149], [0]),
    tensor("colon:0", INT8, [0.0078125], [-128]), tensor("3", INT8, [0.5], [33]), tensor("", INT8, [0.5], [25]),
    tensor("bars | and \\ and \n", INT8, [0.5], [26]), tensor("\u03c3(x)", UINT8, [0.00390625], [0]),
    tensor("auto:0", INT8, [0.5], [27]), tensor("fewer", INT8, [0.5, 0.25, 0.125], [1, 2]),
]


def patched(data, at, form, value):
    data = bytearray(data)
    struct.pack_into("<" + form, data, at, value)
    return bytes(data)


def tflite_seeds():
    small = tflite([tensor("x", INT8, [0.5], [-3]), tensor("y", UINT8, [0.25], [7])])
    root = struct.unpack_from("<I", small, 0)[0]
    yield "every_tensor", tflite(EVERY_TENSOR)
    yield "small", small
    yield "subgraphs", tflite([tensor("x", INT8, [0.5], [1]), tensor("y", INT8, [0.5], [1])],
                              [tensor("x", INT8, [0.25], [1]), tensor("y", INT8, [0.5], [1])])
    yield "shared", tflite([EVERY_TENSOR[0]] * 300)
    yield "no_tensors", tflite([])
    yield "no_subgraphs", tflite()
    yield "long_name", tflite([tensor("n" * 4096, INT8, [0.5], [0])])
    yield "longer_name", tflite([tensor("n" * 4097, INT8, [0.5], [0])])
    zero_points_last = tflite_alone(tensor("x", INT8, [0.5], [-3]))
    yield "zero_points_last", zero_points_last
    yield "zero_points_cut", zero_points_last[:-1]
    yield "header", small[:8]
    yield "half", small[:len(small) // 2]
    yield "short", small[:-1]
    yield "root_beyond", patched(small, 0, "I", 1 << 31)
    yield "root_at_0", patched(small, 0, "I", 0)
    yield "vtable_before", patched(small, root, "i", root + 1)
    yield "vtable_beyond", patched(small, root, "i", -len(small))
    yield "vtable_far", patched(small, root, "i", -(1 << 31))
    at = root - struct.unpack_from("<i", small, root)[0]
    yield "vtable_long", patched(small, at, "H", 65535)
    yield "vtable_short", patched(small, at, "H", 2)
    yield "table_long", patched(small, at + 2, "H", 65535)
    yield "table_beyond", patched(small, at + 2, "H", len(small) - root + 1)
    yield "field_in_offset", patched(small, at + 4 + 2 * 2, "H", 2)
    yield "field_beyond", patched(small, at + 4 + 2 * 2, "H", 200)
    graphs = root + struct.unpack_from("<H", small, at + 4 + 2 * 2)[0]
    graphs += struct.unpack_from("<I", small, graphs)[0]
    yield "many_subgraphs", patched(small, graphs, "I", 1 << 30)
    yield "subgraph_beyond", patched(small, graphs + 4, "I", 1 << 30)


# -- Protobuf ---------------------------------------------------------------------------------------------------------


def varint(value):
    value &= (1 << 64) - 1
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes(data) + bytes([value])


def integer(number, value):
    return varint(number << 3) + varint(value)


def fixed(number, value):
    return varint(number << 3 | 5) + struct.pack("<f", value)


def part(number, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


# -- ONNX -------------------------------------------------------------------------------------------------------------

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "float16": 10, "uint32": 12,
         "bfloat16": 16, "float8e4m3fn": 17, "uint4": 21, "int4": 22, "uint2": 25, "int2": 26}


def stored(name, kind, data, dims=()):
    """data: a field or several, as float_data() and so on give them"""
    return b"".join(integer(1, d) for d in dims) + integer(2, TYPES[kind]) + data + part(8, name)


def raw(data):
    return part(9, data)


def float_data(values, packed=True):
    return part(4, struct.pack(f"<{len(values)}f", *values)) if packed else b"".join(fixed(4, v) for v in values)


def int32_data(values, packed=True):
    return part(5, b"".join(map(varint, values))) if packed else b"".join(integer(5, v) for v in values)


def scale(name, value):
    return stored(name, "float32", raw(struct.pack("<f", value)))


def code(name, kind, value):
    return stored(name, kind, int32_data([value]))


def node(kind, inputs, outputs, attributes=b""):
    return b"".join(part(1, i) for i in inputs) + b"".join(part(2, o) for o in outputs) + part(4, kind) + attributes


def attribute(name, value):
    """An integer, or the bytes of a tensor."""
    return part(5, part(1, name) + (integer(3, value) if isinstance(value, int) else part(5, value)))


def mention(name, kind):
    return part(1, name) + part(2, part(1, integer(1, TYPES[kind])))


def onnx(nodes=(), initializers=(), inputs=(), outputs=(), infos=()):
    graph = b"".join(part(1, n) for n in nodes) + part(2, "main") + b"".join(part(5, i) for i in initializers)
    graph += b"".join(part(11, i) for i in inputs) + b"".join(part(12, o) for o in outputs)
    graph += b"".join(part(13, i) for i in infos)
    return integer(1, 9) + part(2, "a test") + part(7, graph) + part(8, part(1, "") + integer(2, 21))


def pair(name, scale_name, zero_point):
    """name -> QuantizeLinear -> name_q -> DequantizeLinear -> name_d"""
    parameters = [scale_name] + ([zero_point] if zero_point is not None else [])
    return [node("QuantizeLinear", [name] + parameters, [name + "_q"]),
            node("DequantizeLinear", [name + "_q"] + parameters, [name + "_d"])]


def every_quantised():
    """What is quantised by each type of zero point, and by each way to store a number."""
    nodes, parameters = [], []

    def add(name, scale_tensor, zero_tensor):
        nodes.extend(pair(name, name + "_s", name + "_z"))
        parameters.extend([scale_tensor, zero_tensor])

    codes = {"uint8": 200, "int8": -3, "uint16": 40000, "int16": -30000, "int32": 0, "uint4": 15, "int4": -8, "uint2": 3,
             "int2": -2}
    for kind, value in codes.items():
        add(kind, scale(kind + "_s", 0.0472), code(kind + "_z", kind, value))
    for kind, form, value in (("uint8", "B", 201), ("int8", "b", -4), ("uint16", "H", 40001), ("int16", "h", -30001),
                              ("int32", "i", -70000), ("uint4", "B", 0x5e), ("int4", "B", 0x59), ("int2", "B", 0xfe)):
        add(kind + "_raw", stored(kind + "_raw_s", "float32", float_data([2.0**-7]), [1]),
            stored(kind + "_raw_z", kind, raw(struct.pack("<" + form, value)), [1]))
    add("unpacked", stored("unpacked_s", "float32", float_data([0.75], False)),
        stored("unpacked_z", "int8", int32_data([-5], False)))
    add("half", stored("half_s", "float16", raw(struct.pack("<e", 0.1))), code("half_z", "int8", 1))
    add("half_int", stored("half_int_s", "float16", int32_data([0x2e66])), code("half_int_z", "int8", 1))
    add("bfloat", stored("bfloat_s", "bfloat16", raw(b"\xcd\x3d")), code("bfloat_z", "int8", 2))
    return onnx(nodes, parameters, [mention("uint8", "float32")])


def every_operator():
    parameters = [scale(f"s{i}", 2.0**-i) for i in range(1, 4)] + [code(f"z{i}", "int8", i) for i in range(1, 4)]
    one, two, three = [["s%d" % i, "z%d" % i] for i in range(1, 4)]
    nodes = []
    for kind in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearAveragePool", "QLinearGlobalAveragePool",
                 "QLinearReduceMean"):
        nodes.append(node(kind, [kind + "_x"] + one + two, [kind + "_y"]))
    for kind in ("QLinearAdd", "QLinearMul", "QLinearMatMul", "QLinearConv"):
        nodes.append(node(kind, [kind + "_a"] + one + [kind + "_b"] + two + three, [kind + "_y"]))
    nodes.append(node("QLinearConcat", two + ["c_0"] + one, ["QLinearConcat_y"]))
    nodes.append(node("QGemm", ["QGemm_a"] + one + ["QGemm_b"] + two + ["QGemm_c"] + three, ["QGemm_y"]))
    values = [kind + end for kind in ("QLinearAdd", "QLinearMul", "QLinearMatMul", "QLinearConv", "QGemm")
              for end in ("_a", "_b")]
    values += [kind + "_x" for kind in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearAveragePool",
                                        "QLinearGlobalAveragePool", "QLinearReduceMean")]
    return onnx(nodes, parameters, [mention(value, "int8") for value in values])


def refused():
    """Tensors without a type, each for a reason of its own."""
    parameters = [scale("s", 0.5), code("z", "int8", 0), scale("t", 0.25),
                  stored("three", "float32", float_data([0.5, 0.25, 0.125]), [3]),
                  stored("three_z", "int8", raw(b"\x01\x02\x03"), [3]), stored("none", "float32", float_data([]), [0]),
                  stored("void", "float32", b""), stored("z_void", "int8", b""), stored("z_float8", "float8e4m3fn", raw(b"\0")),
                  stored("outside", "float32", integer(14, 1)), stored("zero", "float32", float_data([0.0])),
                  stored("nan", "float32", float_data([float("nan")])), stored("z_real", "float32", raw(b"\0\0\xc0\x7f")),
                  stored("w", "int8", raw(bytes(6)), [3, 2])]
    nodes = []
    for name, *rest in (("channels", "three", "three_z"), ("uneven", "s", "three_z"), ("no_elements", "none", "z"),
                        ("no_value", "void", "z"), ("no_zero_value", "s", "z_void"), ("float8", "s", "z_float8"),
                        ("external", "outside", "z"), ("scale_zero", "zero", "z"), ("scale_nan", "nan", "z"),
                        ("real_zero_point", "s", "z_real"), ("computed", "x", "z"), ("computed_zero_point", "s", "x"),
                        ("unheard_of", "nowhere", "z")):
        nodes += pair(name, *rest)
    nodes += [node("QuantizeLinear", ["twice", "s", "z"], ["twice_1"]),
              node("QuantizeLinear", ["twice", "t", "z"], ["twice_2"]),
              node("DequantizeLinear", ["w", "three", "three_z"], ["w_d"], attribute("axis", 0)),
              node("DequantizeLinear", ["untyped", "s"], ["untyped_d"]), node("Relu", ["x"], ["y"])]
    names = ["twice"] + ["channels", "uneven", "no_elements", "no_value", "no_zero_value", "float8", "external", "scale_zero",
                         "scale_nan", "real_zero_point", "computed", "computed_zero_point", "unheard_of"]
    return onnx(nodes, parameters, [mention(name, "float32") for name in ["x"] + names], [mention("y", "float32")])


def onnx_seeds():
    simple = [scale("s", 0.0472), code("z", "int8", -3)]
    qdq = pair("x", "s", "z") + [node("Sigmoid", ["x_d"], ["y"])] + pair("y", "t", "t_z")
    whole = onnx(qdq, simple + [scale("t", 2.0**-8), code("t_z", "uint8", 0)], [mention("x", "float32")],
                 [mention("y_d", "float32")])
    yield "qdq", whole
    yield "every_quantised", every_quantised()
    yield "every_operator", every_operator()
    yield "refused", refused()
    yield "defaults", onnx(
        pair("x", "s", None) + [node("QuantizeLinear", ["a", "s", ""], ["a_q"], attribute("output_dtype", TYPES["int16"])),
                                node("DequantizeLinear", ["a_q", "s"], ["a_d"]),
                                node("DequantizeLinear", ["w", "s"], ["w_d"]),
                                node("DequantizeLinear", ["b", "s"], ["b_d"])],
        simple + [stored("w", "int4", raw(b"\x12\x34"), [4])], [mention("x", "float32"), mention("a", "float32")],
        infos=[mention("b", "uint16")])
    constants = [node("Constant", [], [name], attribute("value", data)) for name, data in
                 (("s", scale("", 0.125)), ("z", code("", "uint8", 9)))]
    constants.append(node("Constant", [], ["u"], part(5, part(1, "value_float") + fixed(2, 0.5))))
    yield "constants", onnx(constants + pair("x", "s", "z") + pair("a", "u", "z"), [],
                            [mention("x", "float32"), mention("a", "float32")])
    yield "inputs_too", onnx(pair("x", "s", "z"), simple,
                             [mention(name, kind) for name, kind in (("s", "float32"), ("x", "float32"), ("z", "int8"))])
    yield "shared_twice", onnx(pair("x", "s", "z") + [node("DequantizeLinear", ["x_q", "s", "z"], ["x_e"])], simple,
                               [mention("x", "float32")])
    yield "graph_of_two_parts", whole + part(7, part(1, node("Relu", ["y_d"], ["r"])))
    yield "weights_first", onnx(pair("x", "s", "z"), [stored("w", "float32", raw(bytes(40000)), [10000])] + simple,
                                [mention("x", "float32")])
    yield "no_graph", integer(1, 9) + part(2, "a test")
    yield "empty_graph", part(7, b"")
    yield "text", b"neither the one nor the other\n"
    yield "truncated", whole[:-20]
    yield "graph_beyond", whole[:len(whole) - 80]
    yield "group", part(7, b"\x0b\x0c")
    yield "field_0", part(7, b"\x02\x00")
    yield "varint_endless", part(7, b"\x08" + b"\xff" * 11)
    yield "varint_cut", part(7, b"\x08\xff")
    yield "length_huge", part(7, b"\x0a" + varint((1 << 64) - 1) + b"x")
    yield "inner_beyond", part(7, b"\x0a\x03" + b"\x0a\x04ab")
    yield "fixed_cut", part(7, part(5, b"\x25\0\0\0"))
    yield "fixed64_cut", part(7, part(5, b"\x19" + bytes(7)) + part(2, "main"))
    yield "fixed64", part(7, b"\x19" + bytes(8) + part(1, node("Relu", ["x"], ["y"])))
    yield "dims_overflow", onnx(pair("x", "s", "z"), [stored("s", "float32", float_data([1.0]), [1 << 62, 8]),
                                                     simple[1]], [mention("x", "float32")])
    yield "dims_negative", onnx(pair("x", "s", "z"), [stored("s", "float32", float_data([1.0]), [-1]), simple[1]],
                                [mention("x", "float32")])
    yield "dims_packed", onnx(pair("x", "s", "z"), [part(1, varint(2) + varint(3)) + scale("s", 0.5), simple[1]],
                              [mention("x", "float32")])
    yield "long_name", onnx([node("Relu", ["x"], ["n" * 4096])])
    yield "longer_name", onnx([node("Relu", ["x"], ["n" * 4097])])
    yield "no_output", onnx([node("QuantizeLinear", ["x", "s", "z"], [])], simple)
    yield "no_inputs", onnx([node("QuantizeLinear", [], ["y"]), node("QGemm", ["x"], ["y"])], simple)
