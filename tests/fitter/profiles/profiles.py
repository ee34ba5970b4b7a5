#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pwlc's profiles against the readers of consumers.py, which share no code with them. TAP.

    vectors     image --import--> table --emit--> the same bytes; and eval gives the quoted outputs
    functions   fit --profile, emit in every notation: the reader gives eval's outputs at all codes, import gives them back

    flips       a byte or digit of an emitted file that is changed is seen
    provoked    refusals of the writer and of import: the exit code, what the message names, and no file left
    borders     what the limits just let pass
    drawn       images with random fields: import gives the reader's outputs, or refuses; 24 of each layout with
                PWL_TEST_LONG=1, else 8

usage: profiles.py PWLC
"""
import json
import random
import sys
import tempfile

import borders
import consumers
import drawn
import flips
import images
import native
import provoked
import softmax
import vectors
from command import Pwlc, pack_words, reader_of, state
from harness import accepted, end, same, tap
from texts import Refused

# -- Vectors ------------------------------------------------------------------------------------------------------------

def clipped(outputs, low, high):
    return {code: min(max(y, low), high) for code, y in outputs.items()}


# profile:notation, types, outputs by code, further flags of import
Y16 = ["--in", "s16:2^-12", "--out", "s16:2^-15"]
Y8 = ["--in", "s8:2^-4", "--out", "s8:2^-7"]
VECTORS = [
    ("tosa8:bytes", Y8, images.doubled()),
    ("ethosu8:bytes", Y8, images.doubled()),
    ("tflm8:bytes", Y8, images.doubled()),
    ("executorch8:bytes", Y8, images.doubled()),
    ("xnnpack8:bytes", Y8, images.doubled()),
    ("tosa-softmax8:bytes", ["--in", "s9:2^-4:0", "--out", "s32:2^-31"], vectors.softmax_outputs()),
    *((f"{profile}:bytes", Y16, expected) for profile, expected in vectors.ESPDL.items()),
    ("tosa16:bytes", Y16, vectors.Y16),
    ("tflm16:bytes", Y16, vectors.Y16),
    ("ethosu16:bytes", Y16, vectors.Y16),
    ("quant-gru:bytes", ["--in", "u16:2^-12:24576", "--out", "u16:2^-16:-1"], clipped(vectors.GRU, 0, 65535)),
    ("aimet-pe:bytes", Y16, vectors.AIMET),
    ("finn:dat", ["--in", "s8:2^-4", "--out", "s4:2^-3"], vectors.FINN),
    ("aie:bytes", Y16 + ["--shift", "8"], vectors.AIE),
    ("nvdla:bytes", ["--in", "s18:2^-12", "--out", "s20:2^-15"], vectors.NVDLA),
    ("gna:bytes", ["--in", "s32:2^-20", "--out", "s16:2^-12"], vectors.GNA),
    ("k210:bytes", ["--in", "s18:2^-12", "--out", "u8:2^-5"], vectors.K210),
]
# The same tables as texts of other hands: only the outputs are compared.
TEXTS = [
    ("tosa8:mlir", Y8, lambda: images.mlir(list(images.doubled().values()), 8), images.doubled()),
    ("tosa16:mlir", Y16, lambda: images.mlir(images.points(), 16, images.RESCALE), vectors.Y16),
    ("executorch8:npy", Y8, lambda: images.npy(list(images.doubled().values()), "i2", (256,)), images.doubled()),
    ("xnnpack8:c", Y8, lambda: images.c_array("uint8_t", images.image("xnnpack8")), images.doubled()),
    ("mli:c", Y16, images.mli_image, vectors.MLI),
    ("tflm16:c", Y16, lambda: images.c_array("int16_t", images.points()), vectors.Y16),
    ("quant-gru:cpp", ["--in", "u16:2^-12:24576", "--out", "u16:2^-16:-1"], images.gru_text,
     clipped(vectors.GRU, 0, 65535)),
    ("aimet-pe:json", ["--out", "s16:2^-12"], images.aimet_text, vectors.AIMET),
    ("finn:json", ["--in", "s8:2^-4", "--out", "s4:2^-3"],
     lambda: json.dumps({"thresholds": images.finn_thresholds(), "out_scale": 1, "out_bias": -8}), vectors.FINN),
]


def check_vector(pwlc, name, flags, expected):
    profile = name.split(":")[0]
    data = images.image(profile)
    pwlc.write(f"{profile}.in", data)
    pwlc.must("import", f"{profile}.in", "--profile", name, "--function", "tanh", *flags, "-o", f"{profile}.json")
    same(f"{name}: the vector's outputs", zip(expected, pwlc.evaluate(f"{profile}.json", expected)), expected.items())
    pwlc.must("emit", f"{profile}.json", "--profile", name, "-o", f"{profile}.out")
    tap(pwlc.read(f"{profile}.out") == data, f"{name}: the vector's bytes")


def check_text(pwlc, name, flags, text, expected):
    pwlc.write("text", text())
    pwlc.must("import", "text", "--profile", name, "--function", "tanh", *flags, "-o", "text.json")
    same(f"{name}: a text of another hand", zip(expected, pwlc.evaluate("text.json", expected)), expected.items())


def guarded(name, check, *arguments):
    """What check returns; where pwlc does not do what it must, that is a line too, and None."""
    try:
        return check(*arguments)
    except (RuntimeError, Refused) as error:
        tap(False, name, str(error))
        return None


# -- Functions ----------------------------------------------------------------------------------------------------------

NOTATIONS = {"tosa8": "bytes mlir c npy", "tosa16": "bytes mlir c npy", "ethosu8": "bytes c npy",
             "ethosu16": "bytes c", "tflm8": "bytes c npy", "tflm16": "bytes c npy", "executorch8": "bytes c npy",
             "xnnpack8": "bytes c npy", "espdl16": "bytes npy c py", "espdl16-p4": "bytes npy c py",
             "espdl16-linear": "bytes npy c py", "quant-gru": "bytes cpp", "aimet-pe": "bytes json", "mli": "c",
             "tosa-softmax8": "c mlir bytes", "finn": "json npy dat", "aie": "bytes cpp", "aie-v2": "bytes cpp",
             "nvdla": "bytes", "gna": "bytes", "k210": "bytes"}

# profile, function, further flags. Narrow inputs where a fit of 16 bits takes long; each layout has one of 16 bits.
ANY8 = [("sigmoid", []), ("gelu", ["--in", "u8:2^-4:128", "--out", "u8:2^-5:10"]), ("exp", ["--in", "s7:2^-4"])]
SIGNED8 = [("sigmoid", []), ("gelu", []), ("exp", ["--in", "s7:2^-4"])]
POINTS16 = [("sigmoid", []), ("gelu", []), ("silu", ["--in", "s16:2^-11:0"])]
STEPS16 = [("sigmoid", []), ("gelu", []), ("silu", ["--in", "s16:2^-11:0", "--knots", "steps:6"])]
FITS = {
    "tosa8": SIGNED8, "ethosu8": ANY8, "tflm8": ANY8, "executorch8": SIGNED8,
    "xnnpack8": ANY8, "espdl16": STEPS16, "espdl16-p4": STEPS16,
    "espdl16-linear": [("sigmoid", []), ("gelu", ["--out", "s16:2^-12"]),
                       ("tanh", ["--knots", "points:9:toward_left"])],
    "tosa16": POINTS16, "ethosu16": POINTS16, "tflm16": POINTS16,
    "quant-gru": [("sigmoid", ["--method", "uniform"]), ("gelu", ["--in", "u10:2^-6:512", "--out", "s10"]),
                  ("exp", ["--in", "s9:0.01:5", "--segments", "5"])],
    "aimet-pe": [("sigmoid", ["--method", "uniform"]), ("gelu", ["--in", "u10:2^-6:512", "--segments", "7"]),
                 ("exp", ["--in", "s9:0.01:5", "--out", "u8"])],
    "finn": [("sigmoid", []), ("tanh", ["--in", "u7:2^-4:64", "--out", "u2"]),
             ("softplus", ["--in", "s10:2^-6", "--out", "u8:2^-5:0"])],
    "tosa-softmax8": [("exp", []), ("exp", ["--in", "s8:0.0471:127"]), ("exp", ["--in", "s9:2^-5:0"])],
    "mli": [("sigmoid", []), ("gelu", []), ("tanh", ["--in", "s16:2^-10", "--knots", "points:6:half_down"])],
    "aie": [("sigmoid", ["--method", "uniform"]), ("gelu", ["--in", "s10:2^-6", "--segments", "32"]),
            ("exp", ["--in", "s9:2^-7", "--segments", "8", "--out", "s12:2^-7"])],
    "nvdla": [("sigmoid", []), ("gelu", ["--in", "s11:2^-7", "--knots", "points:3"]),
              ("silu", ["--in", "u12:2^-8:2048", "--knots", "points:4"])],
    "gna": [("sigmoid", ["--out", "s16:2^-14", "--segments", "6", "--knots", "pow2:5"]),
            ("gelu", ["--in", "s11:2^-7", "--segments", "12", "--knots", "pow2:9"]),
            ("exp", ["--in", "s9:2^-7", "--out", "s12:2^-7", "--segments", "6", "--knots", "pow2:7"]),
            ("silu", ["--in", "s8:2^-5", "--out", "s8:2^-4", "--segments", "8", "--knots", "pow2:6"])],
    "k210": [("exp", ["--in", "s9:2^-7", "--segments", "4"]),
             ("softplus", ["--in", "s9:2^-5", "--segments", "4", "--out", "u8:2^-4:16"]),
             ("sigmoid", ["--in", "s9:2^-6", "--segments", "5", "--out", "u8:2^-7:64"])],
}
FITS["aie-v2"] = FITS["aie"]
FLIPPED = {"k210": 0, "tosa-softmax8": 2}  # which of them has the files that flips.py changes, where not the second


def meaning(pwlc, table):
    """What the outputs of a table JSON come of."""
    fields = json.loads((pwlc.folder / table).read_text())
    return [fields[name] for name in ("form", "rounding", "in", "out", "segments")]


def check_twin(title, text, codes, expected):
    """What the text computes itself, of an array, where NumPy is."""
    try:
        import numpy
    except ImportError:
        print(f"# {title}: no NumPy")
        return
    names = {}
    exec(text, names)
    same(f"{title}: the twin, all codes", names["lookup"](numpy.array(codes)).tolist(), expected)


def check_function(pwlc, profile, function, flags, compiled):
    """Files of every notation, and what they were made of."""
    name = f"{profile}-{function}"
    table = f"{name}.json"
    pwlc.must("fit", function, "--profile", profile, *flags, "-o", table)
    types = pwlc.types(table)
    expected = pwlc.evaluate(table, types.codes)
    types.shift = next((segment["n_BX_total"] for segment in json.loads((pwlc.folder / table).read_text())["segments"]
                        if segment["q_b"]), 0)
    files, first, imported = {}, None, None
    for notation in NOTATIONS[profile].split():
        out = f"{name}.out.{notation}"
        title = f"{profile}:{notation}, {function}"
        pwlc.must("emit", table, "--profile", f"{profile}:{notation}", "-o", out)
        data = files[notation] = pwlc.read(out)
        reader = reader_of(profile, notation, data, types)
        accepted(f"{title}: the reader accepts it", reader.check)
        if first is None:
            first = reader
            same(f"{title}: all codes", map(reader.evaluate, types.codes), expected)
        else:
            tap(state(reader) == state(first), f"{title}: the numbers of {profile}:{NOTATIONS[profile].split()[0]}")
        shift = ["--shift", types.shift] if profile.startswith("aie") and notation == "bytes" else []
        given = [] if (profile, notation) == ("aimet-pe", "json") else types.flags
        pwlc.must("import", out, "--profile", f"{profile}:{notation}", *given, *shift, "-o", "again.json")
        again = meaning(pwlc, "again.json")
        if imported is None:
            imported = again
            same(f"{title}: import gives the outputs back", pwlc.evaluate("again.json", types.codes), expected)
        else:
            tap(again == imported, f"{title}: import gives the same table")
        if notation == "py":
            check_twin(title, data.decode(), types.codes, expected)
        if profile == "mli" and compiled:
            same(f"{title}: compiled, all codes", native.run_mli(
                data.decode(), function, types.fraction, pwlc.folder), expected)
        if notation == "cpp" and compiled and profile == "quant-gru":
            _, outputs = native.run_quant_gru(data.decode(), types.x, types.y, pwlc.folder)
            same(f"{title}: compiled, all codes", outputs, expected)
        again = f"{name}.again.{notation}"
        pwlc.must("emit", "again.json", "--profile", f"{profile}:{notation}", "-o", again)
        tap(state(reader_of(profile, notation, pwlc.read(again), types)) == state(reader),
            f"{title}: what was imported is emitted alike")
    check_notations(pwlc, profile, name, types)
    return files, types, expected


def check_softmax16(pwlc):
    """Both tables of softmax of int16, by the layout of tflm16: TensorFlow Lite's own, and ours, which are nearer."""
    for name, (flags, f, *ends) in softmax.TABLES16.items():
        points = softmax.recipe16(f, *ends)
        pwlc.write("softmax16.in", pack_words("h", points))
        given = [*(["--function"] if flags[0] == "exp" else []), *flags, "--out", "s16:2^-15:0"]
        pwlc.must("import", "softmax16.in", "--profile", "tflm16:bytes", *given, "-o", "softmax16.json")
        codes = range(-32768, 32768)
        theirs = pwlc.evaluate("softmax16.json", codes)
        same(f"softmax of int16, {name}: TensorFlow Lite's own", theirs, map(consumers.Tflm16(points).evaluate, codes))
        pwlc.must("fit", *flags, "--out", "s16:2^-15:0", "--profile", "tflm16", "-o", "softmax16.json")
        pwlc.must("emit", "softmax16.json", "--profile", "tflm16:bytes", "-o", "softmax16.out")
        ours = consumers.Tflm16.parse(pwlc.read("softmax16.out"))
        accepted(f"softmax of int16, {name}: the reader accepts it", ours.check)
        errors = [softmax.largest_error16(outputs, f, *ends) for outputs in (map(ours.evaluate, codes), theirs)]
        print(f"# softmax of int16, {name}: ours {errors[0]:.4g}, TensorFlow Lite's {errors[1]:.4g}")
        tap(errors[0] < errors[1], f"softmax of int16, {name}: ours is nearer", f"{errors}")


def check_notations(pwlc, profile, name, types):
    """A file of another notation of the profile is refused by the name of its own."""
    notations = [notation for notation in NOTATIONS[profile].split() if notation != "dat"]
    for given in notations:
        for notation in notations:
            if notation != given:
                done = pwlc.run("import", f"{name}.out.{notation}", "--profile", f"{profile}:{given}", *types.flags)
                tap(done.returncode == 2 and f"--profile {profile}:{notation} reads it" in done.stderr,
                    f"{profile}: {notation} as {given}", done.stderr)


def check_functions(pwlc):
    """And what is changed in the files of one of them is seen."""
    draw = random.Random(37)
    for profile, fits in FITS.items():
        for k, (function, flags) in enumerate(fits):
            made = guarded(f"{profile}, {function}", check_function, pwlc, profile, function, flags,
                           k == 0 and native.has_compiler())
            if made and k == FLIPPED.get(profile, 1):
                files, types, expected = made
                table = json.loads((pwlc.folder / f"{profile}-{function}.json").read_text())
                flips.check(profile, files, types, expected, len(table["segments"]), draw)


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        pwlc = Pwlc(program, folder)
        for case in VECTORS:
            guarded(case[0], check_vector, pwlc, *case)
        for case in TEXTS:
            guarded(case[0], check_text, pwlc, *case)
        check_functions(pwlc)
        guarded("softmax of int16", check_softmax16, pwlc)
        provoked.check_emits(pwlc)
        provoked.check_imports(pwlc)
        borders.check(pwlc)
        drawn.check(pwlc, random.Random(37))
    return end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
