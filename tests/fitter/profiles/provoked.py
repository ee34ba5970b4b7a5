# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of refusals.py, each provoked in pwlc: exit 3 of emit, exit 2 of import, what the message names, and no
file left."""
import json

import images
from broken import FLAT8, UP, aie_text, table
from harness import tap
from refusals import REFUSALS

def check_complete(command, other, ways):
    """What anybody but the other can see is provoked in one of these ways; but for names that are no profile."""
    missing = [f"{refusal['profile']}: {refusal['what']}" for refusal in REFUSALS
               if refusal["by"] != other and refusal["what"] != "this name" and ways.isdisjoint(refusal)]
    tap(not missing, f"each of the list is provoked in {command}", "\n".join(missing))


# -- emit ---------------------------------------------------------------------------------------------------------------

def check_emit(pwlc, profile, what, fields, says):
    if (pwlc.folder / "refused.out").exists():
        (pwlc.folder / "refused.out").unlink()
    (pwlc.folder / "refused.json").write_text(json.dumps(fields))
    done = pwlc.run("emit", "refused.json", "--profile", profile, "-o", "refused.out")
    left = (pwlc.folder / "refused.out").exists()
    good = done.returncode == 3 and says in done.stderr and f"{profile} holds" in done.stderr and not left
    tap(good, f"{profile}: emit refuses {what}: {says}", f"exit {done.returncode}: {done.stderr}")


def check_emits(pwlc):
    for refusal in REFUSALS:
        profile, what = refusal["profile"], refusal["what"]
        for fields, says in refusal.get("emit", []):
            check_emit(pwlc, profile, what, fields, says)
    check_complete("emit", "reader", {"emit", "no_table"})


# -- import -------------------------------------------------------------------------------------------------------------

TYPES = {"tosa8": "s8 s8", "ethosu8": "s8 s8", "tflm8": "s8 s8", "executorch8": "s8 s8", "xnnpack8": "s8 s8",
         "espdl16": "s16 s16", "mli": "s16:2^-12 s16:2^-15", "tosa-softmax8": "u8:2^-4:255 s32:2^-31:0",
         "espdl16-p4": "s16 s16", "espdl16-linear": "s16 s16", "tosa16": "s16 s16", "ethosu16": "s16 s16",
         "tflm16": "s16 s16", "quant-gru": "u16:2^-4:24576 u16:2^-4:-1", "aimet-pe": "s16 s16", "finn": "s8 s4",
         "aie": "s16 s16", "nvdla": "s16 s16", "gna": "s16 s16", "k210": "s16 u8"}


def types(text):
    x, y = (word if ":" in word else f"{word}:2^-4" for word in text.split())
    return ["--function", "tanh", "--in", x, "--out", y]


# What no format is: profile, what, and as the files of a refusal.
MALFORMED = [
    *(("aie", f"a shift of {shift}", "cpp", aie_text(shift=shift), "one integer from 0 to 31")
      for shift in ("8.5", "0x1p3", "-1", "32")),
    ("aie", "a shift_offset that is not the shift", "cpp", aie_text().replace("shift_offset = 8", "shift_offset = 7"),
     "one integer from 0 to 31"),
    *(("aie", f"step_bits of {bits}", "cpp", aie_text(step_bits=bits), "must be an integer from 0 to 31")
      for bits in ("8.5", "0x1p3", "-1", "32")),
    ("tosa8", "an empty file", "bytes", b"", "0 bytes"), ("tosa8", "an empty text", "mlir", "", "tosa.table"),
    ("tflm8", "an empty text", "c", "", "no numbers"), ("finn", "an empty text", "json", "", "JSON"),
    ("tosa8", "a text without dense", "mlir", "module { %1 = tosa.table %0, %2 }", "dense"),
    ("tosa8", "numbers without commas", "mlir", images.mlir([0] * 256, 8).replace("0, 0", "0 0", 1), "comma"),
    *(("tflm8", f"C with {what}", "c", f"int a[1] = {{\n{text}}};\n", says) for what, text, says in (
        ("an expression", "1 << 3", "line 2: is an expression"), ("a difference", "3 -1", "line 2: is an expression"),
        ("a name", "ONE", "line 2: is a name"), ("a name in parentheses", "(ONE), 2", "line 2: is a name"),
        ("an octal number", "010", "line 2: is no number"), ("a character", "'1'", "line 2"),
        ("a designator", "[3] = 1", "line 2: is an array designator"), ("a comment without end", "/* 1", "line 2: a comment"),
        ("a string without end", '"1', "line 2: a string"), ("one number", "1", "has 1 numbers"),
        ("a real", "1.5" + ", 0" * 255, "table[0] is 1.5"), ("a large number", "256" + ", 0" * 255, "table[0] would be 256"),
        ("more than 64 bits", "0xffffffffffffffffff", "line 2"))),
    ("tosa16", "npy of floats", "npy", images.npy([0] * 513, "f4", (513,)), "reals"),
    ("tosa16", "npy of another count", "npy", images.npy([0] * 512, "i2", (512,)), "512 numbers"),
    ("tosa16", "no npy", "npy", b"abc", "npy"),
    *((profile, f"JSON that is {text}", "json", text, says) for profile in ("finn", "aimet-pe") for text, says in (
        ("[]", "object"), ("3", "JSON"), ("{}", "must be"), ('{"thresholds": 1}', "must be"),
        ('{"thresholds": [1.5], "out_scale": 1}', "must be"), ("{", "JSON"))),
]

def check_import(pwlc, profile, what, notation, data, says, kinds=None):
    if (pwlc.folder / "hostile.json").exists():
        (pwlc.folder / "hostile.json").unlink()
    path = pwlc.folder / f"hostile{len(list(pwlc.folder.iterdir()))}"
    pwlc.write(path.name, data)
    shift = ["--shift", "8"] if profile == "aie" else []
    done = pwlc.run("import", path.name, "--profile", f"{profile}:{notation}", *types(kinds or TYPES[profile]), *shift, "-o",
                    "hostile.json")
    left = (pwlc.folder / "hostile.json").exists()
    good = done.returncode == 2 and says in done.stderr and path.name in done.stderr and not left
    tap(good, f"{profile}:{notation}: import refuses {what}", f"exit {done.returncode}: {done.stderr}")


def check_call(pwlc, name, code, says, *arguments):
    done = pwlc.run(*arguments, "-o", "call.json")
    tap(done.returncode == code and says in done.stderr and not (pwlc.folder / "call.json").exists(), name,
        f"exit {done.returncode}: {done.stderr}")


def check_imports(pwlc):
    for refusal in REFUSALS:
        profile, what = refusal["profile"], refusal["what"]
        if "import" in refusal:
            check_import(pwlc, profile, what, "bytes", refusal["image"], refusal["import"])
        for case in refusal.get("files", []):
            check_import(pwlc, profile, what, *case)
    check_complete("import", "writer", {"import", "files", "read"})
    for case in MALFORMED:
        check_import(pwlc, *case)
    (pwlc.folder / "bytes").write_bytes(images.image("tosa8"))
    (pwlc.folder / "empty").mkdir()
    with open(str(pwlc.folder / "large"), "wb") as large:
        large.truncate(1 << 30)
    flags = types("s8 s8")
    for name, code, says, arguments in (
            ("no --function", 2, "--function: missing", ["bytes", "--profile", "tosa8", *flags[2:]]),
            ("no --in", 2, "--in", ["bytes", "--profile", "tosa8", *flags[:2], *flags[4:]]),
            ("no --out", 2, "--out", ["bytes", "--profile", "tosa8", *flags[:4]]),
            ("no --profile", 2, "--profile: missing", ["bytes", *flags]),
            ("no --shift", 2, "--shift: missing", ["aie.in", "--profile", "aie:bytes", *types("s16 s16")]),
            ("no such notation", 2, "bytes, mlir, c, npy", ["bytes", "--profile", "tosa8:json", *flags]),
            ("no such profile", 2, "pwlc list profiles", ["bytes", "--profile", "tenstorrent", *flags]),
            ("no such file", 1, "absent", ["absent", "--profile", "tosa8", *flags]),
            ("a folder", 1, "is a directory", ["empty", "--profile", "tosa8", *flags]),
            ("a folder without files", 1, "threshs_0_0.dat", ["empty", "--profile", "finn:dat", *types("s8 s4")]),
            ("a file of 1 GB", 2, "large", ["large", "--profile", "tosa8", *flags])):
        check_call(pwlc, f"import: {name}", code, says, "import", *arguments)
    (pwlc.folder / "plain.json").write_text(json.dumps(table("s8", "s8", *UP, FLAT8)))
    hostile = dict(table("s8", "s8", *UP, FLAT8), spec="x */ int a; /* \\")
    (pwlc.folder / "spec.json").write_text(json.dumps(hostile))
    for notation in ("tosa8:mlir", "tosa8:c", "quant-gru:cpp"):
        shown = pwlc.run("emit", "spec.json", "--profile", notation).stdout
        lines = shown.splitlines()
        tap(" x * / int a; / * ?" in lines[1] and lines[2][:1] != " ", f"{notation}: a spec stays inside its comment",
            shown[:200])
    for name in ("cmsis-nn", "tenstorrent"):
        check_call(pwlc, f"emit: --profile {name}", 2, "is no profile", "emit", "plain.json", "--profile", name)
