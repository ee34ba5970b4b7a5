# SPDX-License-Identifier: GPL-3.0-or-later
"""pwlc as the tests of profiles call it, and its files as the readers take them."""
import json
import pathlib
import re
import struct
import subprocess

import consumers
import texts
from consumers import Range


class Pwlc:
    """Runs in a folder of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = str(pathlib.Path(program).resolve()), pathlib.Path(folder)

    def write(self, name, data):
        """A file of bytes or text, or a folder of texts by their names."""
        path = self.folder / name
        if isinstance(data, dict):
            path.mkdir()
            for part, text in data.items():
                (path / part).write_text(text)
        else:
            path.write_bytes(data.encode() if isinstance(data, str) else data)

    def run(self, *arguments, text=None):
        return subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=120)

    def must(self, *arguments, text=None):
        done = self.run(*arguments, text=text)
        if done.returncode:
            raise RuntimeError(f"pwlc {' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def evaluate(self, table, codes):
        """Outputs of a table JSON at codes."""
        return [int(line) for line in self.must("eval", table, "-", text="\n".join(map(str, codes)) + "\n").split()]

    def read(self, name):
        """A file, or the texts of a folder by name."""
        path = self.folder / name
        return {part.name: part.read_text() for part in path.iterdir()} if path.is_dir() else path.read_bytes()

    def types(self, table):
        return Types(json.loads((self.folder / table).read_text()))


class Types:
    """Ranges of codes and zero points of a table JSON, and its types as import takes them."""

    def __init__(self, table):
        self.x, self.y = (Range(table[side]["qmin"], table[side]["qmax"]) for side in ("in", "out"))
        self.zp_x, self.zp_y = (table[side]["zero_point"] for side in ("in", "out"))
        self.bits_x, self.bits_y = (table[side]["bits"] for side in ("in", "out"))
        power = table["in"]["scale"].partition("^")[2]
        self.fraction = -int(power) if power else None
        self.flags = ["--function", table["function"]]
        for side in ("in", "out"):
            kind = table[side]
            self.flags += [f"--{side}", f"{'s' if kind['signed'] else 'u'}{kind['bits']}:{kind['scale']}:"
                                        f"{kind['zero_point']}"]

    @property
    def codes(self):
        return range(self.x.low, self.x.high + 1)


def constants(text):
    """Scalars of C++: name = integer."""
    return {name: int(value) for name, value in re.findall(r"\bint\s+(\w+)\s*=\s*(-?\d+)\s*;", text)}


def read_aie(notation, data, types, block):
    if notation == "bytes":
        step_bits = types.bits_x - (len(data) // 8).bit_length() + 1
        return consumers.Aie.parse(data, data, step_bits, -(types.x.low >> step_bits), types.shift, types.shift,
                                   types.x, types.y, block)
    text = data.decode()
    found = constants(text)
    texts.need(set(found) == {"entries", "step_bits", "bias", "shift_offset", "shift"}, f"aie: constants {found}")
    reader = consumers.Aie.from_c(text, found["step_bits"], found["bias"], found["shift_offset"], found["shift"],
                                  types.x, types.y, block)
    texts.need(found["entries"] == len(reader.pairs), "aie: entries")
    return reader


def read_ethosu16(text):
    arrays = texts.c_arrays(text)
    texts.need([array.type for array in arrays.values()] == ["int16_t"] * 2, "ethosu16: not two arrays of int16_t")
    base, slope = (array.values for array in arrays.values())
    return consumers.Ethosu16([(s % 65536 << 16) | b % 65536 for b, s in zip(base, slope)])


def read_finn(notation, data, types):
    def with_bits(bits):
        if notation == "dat":
            return consumers.Finn.from_dat(data, types.bits_y, bits, types.y.low, types.x, types.y)
        if notation == "npy":
            return consumers.Finn.from_npy(data, bits, types.y.low, types.x, types.y)
        return consumers.Finn.from_json(data.decode(), bits, types.x, types.y)
    if notation == "dat":  # The digits are those of K bits.
        digits = len(data["threshs_0_0.dat"].strip())
        fitting = [bits for bits in (types.bits_x, types.bits_x + 1) if (bits + 3) // 4 == digits]
        readers = [with_bits(bits) for bits in fitting]
        ascending = [reader for reader in readers if reader.thresholds == reader.ascending]
        texts.need(ascending, "finn: thresholds do not ascend")
        return ascending[0]
    reader = with_bits(types.bits_x)
    return with_bits(types.bits_x + 1) if max(reader.thresholds) > types.x.high else reader


def reader_of(profile, notation, data, types):
    """The independent reader of what emit wrote."""
    base = profile[:-3] if profile.endswith("-v2") else profile
    kind = consumers.READERS[base]
    if base in ("tosa8", "ethosu8", "tflm8", "executorch8", "xnnpack8"):
        x = consumers.S8 if types.x.low < 0 else consumers.U8  # there is an entry for each code of 8 bits
        if notation == "npy":
            return kind.parse(bytes(value % 256 for value in texts.npy_values(data)), x, types.y)
        return {"bytes": lambda: kind.parse(data, x, types.y), "mlir": lambda: kind.from_mlir(data.decode(), x, types.y),
                "c": lambda: kind.from_c(data.decode(), None, x, types.y)}[notation]()
    if base.startswith("espdl16"):
        return {"bytes": lambda: kind.parse(data), "npy": lambda: kind(texts.npy_values(data)),
                "c": lambda: kind.from_c(data.decode()), "py": lambda: kind.from_py(data.decode())}[notation]()
    if base == "tosa-softmax8":
        given = types.zp_x, types.x
        return {"bytes": lambda: kind.parse(data, *given), "c": lambda: kind.from_c(data.decode(), *given),
                "mlir": lambda: kind.from_mlir(data.decode(), *given)}[notation]()
    if base == "mli":
        return kind.from_c(data.decode(), types.fraction)
    if base == "ethosu16":
        return kind.parse(data) if notation == "bytes" else read_ethosu16(data.decode())
    if base in ("tosa16", "tflm16"):
        if notation == "npy":
            return kind(texts.npy_values(data))
        return {"bytes": lambda: kind.parse(data), "mlir": lambda: kind.from_mlir(data.decode()),
                "c": lambda: kind.from_c(data.decode())}[notation]()
    if base == "quant-gru":
        return kind.parse(data, types.x, types.y) if notation == "bytes" else kind.from_cpp(data.decode(), types.x,
                                                                                            types.y)
    if base == "aimet-pe":
        return kind.parse(data, types.zp_x, types.x, types.y) if notation == "bytes" else kind.from_json(data.decode())
    if base == "finn":
        return read_finn(notation, data, types)
    if base == "aie":
        return read_aie(notation, data, types, 32 if profile == "aie-v2" else 16)
    return kind.parse(data, types.x, types.y)


def state(reader):
    """What a reader holds, to compare readers of two notations: without floats that tell nothing of outputs, and
    segments of aimet-pe that only fill its ROM."""
    if reader.profile == "aimet-pe":
        count = len(set(reader.start))
        return reader.start[:count], reader.q_b[:count], reader.n[:count], reader.c[:count], reader.zp, reader.x, reader.y
    return {name: list(value) if isinstance(value, (list, tuple)) else value
            for name, value in vars(reader).items() if name != "scales"}


def pack_words(kind, values):
    return struct.pack(f"<{len(values)}{kind}", *values)
