# SPDX-License-Identifier: GPL-3.0-or-later
"""Text and array files as their consumers take them apart: C arrays, MLIR of TOSA, designated fields of C++, npy, and
hex files. Written from the formats alone; shares nothing with what writes them. Standard library only."""
import ast
import collections
import re
import struct


class Refused(ValueError):
    """What a consumer cannot read, cannot run, or would run to other outputs."""


def need(good, message):
    if not good:
        raise Refused(message)


# -- C ------------------------------------------------------------------------------------------------------------------

CArray = collections.namedtuple("CArray", "type name values")
C_CODES = {"int8_t": "b", "uint8_t": "B", "int16_t": "h", "uint16_t": "H", "int32_t": "i", "uint32_t": "I",
           "int64_t": "q", "uint64_t": "Q"}


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def number(text):
    """An integer of C, decimal or hexadecimal, with or without a suffix; or a sum of such (INT32_MIN is one)."""
    term = r"\s*([-+]?)\s*(0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)[uUlL]*\s*"
    need(re.fullmatch(rf"{term}(?:(?=[-+]){term})*", text), f"{text.strip()!r} is no integer")
    return sum(int(digits, 0) * (-1 if sign == "-" else 1) for sign, digits in re.findall(term, text))


def c_arrays(text):
    """The one-dimensional integer arrays of a C text, by name."""
    arrays = {}
    pattern = r"\b(u?int(?:8|16|32|64)_t)\s+(?:\w+\s*\([^;={]*\)\s*)?(\w+)\s*\[\s*([^\]]*?)\s*\][^;={]*=\s*\{([^{}]*)\}"
    for kind, name, length, body in re.findall(pattern, without_comments(text)):
        values = [number(item) for item in body.split(",") if item.strip()]
        if re.fullmatch(r"\d+", length):
            need(int(length) == len(values), f"{name}: {len(values)} values in an array of {length}")
        try:
            struct.pack(f"<{len(values)}{C_CODES[kind]}", *values)
        except struct.error:
            raise Refused(f"{name}: a value is too large for {kind}") from None
        need(name not in arrays, f"{name} stands twice")
        arrays[name] = CArray(kind, name, values)
    need(arrays, "no array of integers")
    return arrays


def c_bytes(text, kinds, name=None):
    """Little-endian bytes of the named array, or of the only one, which has one of the types."""
    arrays = c_arrays(text)
    need(name in arrays if name else len(arrays) == 1, f"arrays: {', '.join(arrays)}")
    array = arrays[name] if name else next(iter(arrays.values()))
    need(array.type in kinds, f"{array.name} is of {array.type}, not {' or '.join(kinds)}")
    return struct.pack(f"<{len(array.values)}{C_CODES[array.type]}", *array.values)


def designated(text, field):
    """Values of each `.field = value`, in order, as text."""
    return re.findall(rf"\.{field}\s*=\s*([^,;{{}}]+)", without_comments(text))


def designated_integer(text, field):
    values = designated(text, field)
    need(len(values) == 1, f".{field} stands {len(values)} times")
    return number(values[0])


# -- MLIR of TOSA -------------------------------------------------------------------------------------------------------

Operation = collections.namedtuple("Operation", "name result operands text element")


def operations(text):
    """Operations of the one function, generic (in quotes) or pretty, one to a statement; return last."""
    text = re.sub(r"//[^\n]*", "", text)
    need(len(re.findall(r"\bfunc\.func\b", text)) == 1, "not one function")
    found = []
    for statement in re.split(r"(?m)^\s*(?=%[\w$.-]+\s*=|\"?(?:func\.)?return\b)", text)[1:]:
        match = re.match(r"(?:(%[\w$.-]+)\s*=\s*)?\"?([\w.]+)\"?\s*(.*)", statement, re.DOTALL)
        result, name, rest = match.groups()
        operands = re.findall(r"%[\w$.-]+", re.split(r"<?\{|\s:\s", rest)[0])
        element = re.findall(r"tensor<(?:[\d?]+x|\*x)*([a-z]+\d+)>", rest)
        found.append(Operation(name.replace("func.", ""), result, operands, rest, element[-1] if element else None))
    return found


def constant(operation):
    """Values and element type of a tosa.const."""
    need(operation.name == "tosa.const", f"{operation.result} is {operation.name}, not tosa.const")
    found = re.search(r"\bvalues\s*=\s*dense<(.*?)>\s*:\s*tensor<((?:\d+x)*)i(\d+)>", operation.text, re.DOTALL)
    need(found, f"{operation.result}: no values = dense<...> : tensor<...>")
    body, shape, bits = found.group(1).strip(), found.group(2), int(found.group(3))
    length = 1
    for size in re.findall(r"\d+", shape):
        length *= int(size)
    if body.startswith('"'):
        data = bytes.fromhex(body.strip('"')[2:])
        need(len(data) in (length * bits // 8, bits // 8), f"{operation.result}: {len(data)} bytes")
        values = [int.from_bytes(data[k:k + bits // 8], "little", signed=True) for k in range(0, len(data), bits // 8)]
    else:
        values = [number(item) for item in body.replace("[", " ").replace("]", " ").split(",")]
    if not body.startswith("[") and len(values) == 1:
        values *= length
    need(len(values) == length, f"{operation.result}: {len(values)} values in tensor<{shape}i{bits}>")
    need(all(-1 << (bits - 1) <= value < 1 << (bits - 1) for value in values),
         f"{operation.result}: a value is too large for i{bits}")
    return values, f"i{bits}"


def attribute(operation, name):
    found = re.findall(rf"\b{name}\s*=\s*\"?(?:#tosa\.\w+<)?(\w+)", operation.text)
    need(len(found) == 1, f"{operation.name}: {name} stands {len(found)} times")
    return found[0]


class TosaFunction:
    """table: values; rescale: None, or (multiplier, shift, input zero point, output zero point)."""

    def __init__(self, text):
        found = operations(text)
        self.by_result = {operation.result: operation for operation in found}
        need(len(self.by_result) == len(found), "a value is defined twice")
        tables = [operation for operation in found if operation.name == "tosa.table"]
        rescales = [operation for operation in found if operation.name == "tosa.rescale"]
        others = {operation.name for operation in found} - {"tosa.const", "tosa.table", "tosa.rescale", "return"}
        need(not others, f"{', '.join(others)}: not of this format")
        need(len(tables) == 1, f"{len(tables)} tosa.table")
        need(len(rescales) <= 1, f"{len(rescales)} tosa.rescale")
        table = tables[0]
        argument = re.search(r"\(\s*(%[\w$.-]+)\s*:\s*tensor<(?:[\d?]+x|\*x)*([a-z]+\d+)>", text)
        need(argument and table.operands[:1] == [argument.group(1)], "tosa.table does not read the argument")
        self.input = argument.group(2)
        self.table, self.element = self.operand(table, 1)
        self.table_result = table.element
        self.output = rescales[0].element if rescales else table.element
        self.rescale = self.read_rescale(rescales[0], table) if rescales else None
        need(found[-1].name == "return" and found[-1].operands == [(rescales or tables)[0].result],
             "it returns another value")

    def operand(self, operation, index):
        need(index < len(operation.operands), f"{operation.name}: operand {index} is missing")
        name = operation.operands[index]
        need(name in self.by_result, f"{operation.name}: {name} is not defined")
        return constant(self.by_result[name])

    def read_rescale(self, operation, table):
        need(operation.operands[:1] == [table.result], "tosa.rescale does not read tosa.table")
        for name, right in (("scale32", "false"), ("rounding_mode", "SINGLE_ROUND"), ("per_channel", "false"),
                            ("input_unsigned", "false"), ("output_unsigned", "false")):
            need(attribute(operation, name) == right, f"tosa.rescale: {name} is not {right}")
        read = []
        for index, kind in enumerate(("i16", "i8", self.table_result, self.output), 1):
            values, element = self.operand(operation, index)
            need(len(values) == 1 and element == kind, f"tosa.rescale: operand {index} is not one {kind}")
            read += values
        return tuple(read)


# -- Thresholds ---------------------------------------------------------------------------------------------------------

def npy_values(data):
    """Whole numbers of an npy file of one row: shape (n,) or (1, n)."""
    need(data[:6] == b"\x93NUMPY", "no npy file")
    size, first = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else (
        struct.unpack("<I", data[8:12])[0], 12)
    header = ast.literal_eval(data[first:first + size].decode("latin1"))
    shape, kind = header["shape"], header["descr"]
    need(len(shape) == 1 or len(shape) == 2 and shape[0] == 1, f"npy: shape {shape} is not one row")
    codes = dict(zip("i1 u1 i2 u2 i4 u4 i8 u8 f4 f8".split(), "bBhHiIqQfd"))
    need(kind[0] in "<|" and kind[1:] in codes, f"npy: type {kind}")
    body = data[first + size:]
    need(len(body) == shape[-1] * int(kind[2:]), f"npy: {len(body)} bytes for shape {shape} of {kind}")
    return whole(struct.unpack(f"<{shape[-1]}{codes[kind[1:]]}", body), "npy")


def whole(values, place):
    need(all(value == int(value) for value in values), f"{place}: a threshold is not a whole number")
    return [int(value) for value in values]


def hex_values(text, bits, is_signed, place):
    """One value a line, of `bits` bits in as many hex digits as hold them."""
    digits = (bits + 3) // 4
    values = []
    for line in text.splitlines():
        need(re.fullmatch(rf"[0-9a-fA-F]{{{digits}}}", line), f"{place}: {line!r} is not {digits} hex digits")
        value = int(line, 16)
        need(value < 1 << bits, f"{place}: {line} has more than {bits} bits")
        values.append(value - (1 << bits) if is_signed and value >> (bits - 1) else value)
    return values
