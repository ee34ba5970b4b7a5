# SPDX-License-Identifier: GPL-3.0-or-later
"""What the formats' limits just let pass, in pwlc: files that import takes and tables that emit writes, each at one
limit. The outputs are computed by hand."""
import json
import struct

import images
import provoked
from broken import FLOOR, UP, table, word
from harness import same, tap

LOWEST_K210 = (-2 ** 35, 0, 0)


def emitted(pwlc, name, profile, fields):
    """What emit writes of a table, or None."""
    (pwlc.folder / "border.json").write_text(json.dumps(fields))
    out = name.replace(" ", "_")
    done = pwlc.run("emit", "border.json", "--profile", profile, "-o", out)
    tap(done.returncode == 0, f"{profile}: emit takes {name}", done.stderr)
    return pwlc.read(out) if done.returncode == 0 else None


def imported(pwlc, name, profile, data, kinds, expected):
    """Outputs by code of a file that import takes."""
    source = f"{name.replace(' ', '_')}.in"
    pwlc.write(source, data)
    done = pwlc.run("import", source, "--profile", profile, *provoked.types(kinds), "-o", "border.json")
    tap(done.returncode == 0, f"{profile}: import takes {name}", done.stderr)
    if done.returncode == 0:
        same(f"{profile}: {name}", pwlc.evaluate("border.json", expected), expected.values())


def check_finn(pwlc):
    """Digits are of the input's bits, and of one bit more only where a threshold lies behind the last code."""
    rows = [(-128, 0, 0, -2), (0, 0, 0, -1), (10, 0, 0, 0)]
    for name, last, files in (("the last code as a threshold", [(127, 0, 0, 1)], ("0a\n", "00\n7f\n")),
                              ("an output without a code", [], ("00a\n", "000\n080\n"))):
        data = emitted(pwlc, name, "finn:dat", table("s8", "s2", *UP, rows + last))
        same(f"finn:dat: {name}", sorted((data or {}).items()),
             ((f"threshs_0_{k}.dat", text) for k, text in enumerate(files)))
    jump = {"threshs_0_0.dat": "00\n", "threshs_0_1.dat": "00\n7f\n"}
    imported(pwlc, "a jump over an output", "finn:dat", jump, "s8 s2", {-128: -2, -1: -2, 0: 0, 126: 0, 127: 1})


def check_gna(pwlc):
    """A line to the last output, which the next segment's start would be beyond; a slope of the largest shift; and a
    line of codes below the lowest one alone, which has bits there that its shift drops."""
    rows = [(-32768, 0, 0, 0), (0, 256, 8, 0), (2048, 0, 0, 2047)]
    emitted(pwlc, "a line to the last output", "gna", table("s16", "s12", *FLOOR, rows))
    shifted = emitted(pwlc, "a shift of 30", "gna", table("s16", "s16", *FLOOR, [(-32768, 3, 30, 7)]))
    tap(shifted == images.gna((-2 ** 31, 7, 0), (-32768 + 3, 7, 12), (32768, 7, 0)), "gna: as one of 32", repr(shifted))
    imported(pwlc, "a shift of 32", "gna", images.gna((-2 ** 31, 7, 0), (-32768 + 3, 7, -13)), "s16 s16",
             {-32768: 7, -32767: 6, 32767: 6})
    below = images.gna((-2 ** 31, 0, 0), (-32772, 5, 1), (-32768, 7, 0), (0, 9, 0))
    imported(pwlc, "a line below all codes", "gna", below, "s16 s16", {-32768: 7, -1: 7, 0: 9})


def check_k210(pwlc):
    """A line above 255, whose outputs meet the next entry's, with ties that only a segment of its own rounds; and one
    whose products have 31 bits until a half is added to them."""
    def image(words, x_last, bias):
        rest = [(x_last + e, 0, 0) for e in range(len(words), 16)]
        return b"".join(word(*one) for one in words + rest) + bytes(bias + bias[-1:] * len(rest))
    meets = image([LOWEST_K210, (-128, 5, 1), (0, 0, 0)], 127, [1, 1, 255])
    imported(pwlc, "a line that meets 255", "k210", meets, "s8 u8",
             {-128: 1, -127: 3, -126: 6, -125: 9, -27: 253, -26: 255, 0: 255, 127: 255})
    again = pwlc.run("emit", "border.json", "--profile", "k210", "-o", "border.again")
    tap(again.returncode == 0 and pwlc.read("border.again") == meets, "k210: what was imported is emitted alike",
        again.stderr)
    wide = image([LOWEST_K210, (-32768, 32767, 23)], 32767, [0, 0])
    imported(pwlc, "products of 31 bits", "k210", wide, "s16 u8", {
        x: min(255, round(32767 * (x + 32768) / 2 ** 23)) for x in (-32768, -32640, -32639, 0, 32500, 32767)})


def check_nvdla(pwlc):
    """Before the first point a rising line lies below it: a product and a value below 0 are rounded alike."""
    data = images.patched("nvdla", 688, struct.pack("<hb", 1, 1))
    imported(pwlc, "a slope before the first point", "nvdla", data, "s18 s20",
             {-32768: -12800, -32770: -12801, -32771: -12802})


def check(pwlc):
    check_finn(pwlc)
    check_gna(pwlc)
    check_k210(pwlc)
    check_nvdla(pwlc)
