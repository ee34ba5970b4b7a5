# SPDX-License-Identifier: GPL-3.0-or-later
"""A byte or digit of an emitted file that is changed: the reader refuses the file, or its outputs are others."""
import re

from command import reader_of
from harness import tap

FLIPS = 6  # of each file


def places(profile, notation, data, count):
    """Bytes that outputs depend on; count: the segments of the table, that are not repeated."""
    segments = range(1, max(count - 1, 2))  # the first and last may serve few codes
    if notation == "npy":
        return range(128, len(data))
    if notation != "bytes":
        text = data.decode()
        marks = {"mlir": r"dense<\[[^\]]*\]", "c": r"\{\n[^}]*\}", "py": r"TABLE = \[[^\]]*\]",
                 "json": r'"(?:q_b|term_c_precomputed)": -?\d+|\[-?\d+, [-\d, ]+\]',
                 "cpp": r"\.(?:q_b|term_c_precomputed) = -?\d+|\[\d+\] = \{[^}]*\}"}
        if profile == "tosa-softmax8":  # without the last entries, which no code leads to
            marks = {"mlir": r"dense<\[[^\]]*(?=,\s+\d+\]>)", "c": r"\{\n[^}]*(?=\s\d+,\s+\})"}
        spans = [match.span() for match in re.finditer(marks[notation], text)]
        if profile == "quant-gru":
            spans = [spans[2 * i + k] for i in segments for k in (0, 1)]
        return [at for low, high in spans for at in range(low, high)
                if text[at].isdigit() and not text[at - 1].isdigit() and text[at - 1] != "["]
    if profile == "tosa-softmax8":
        return [at for at in range(len(data)) if at % 1026 < 1024]
    if profile == "quant-gru":
        return [16 * i + k for i in segments for k in (0, 1, 4, 8, 9)]
    if profile == "aimet-pe":
        return [k for i in segments for k in (4 * i, 4 * i + 1, 0x40 + i, 0x50 + 2 * i, 0x51 + 2 * i)]
    if profile == "nvdla":
        return list(range(132, 642)) + [646, 664, 665]
    if profile == "gna":
        return [8 * i + k for i in range(2, count - 1) for k in (1, 4, 5, 6, 7)]
    if profile == "k210":
        return [8 * i + k for i in range(2, count) for k in (0, 1, 3)] + [128 + i for i in range(2, count)]
    return range(len(data))


def changed(data, at):
    """The byte with its top bit turned, or another digit."""
    old = data[at]
    new = old ^ 128 if not 48 <= old <= 57 else ord("1") if old != ord("1") else ord("8")
    return data[:at] + bytes([new]) + data[at + 1:]


def differs(profile, notation, data, types, expected):
    try:
        reader = reader_of(profile, notation, data, types)
        reader.check()
        return any(reader.evaluate(code) != y for code, y in zip(types.codes, expected))
    except Exception:  # whatever a reader says of a broken file, it is not taken
        return True


def check(profile, files, types, expected, count, draw):
    for notation, data in files.items():
        if isinstance(data, dict):
            names = sorted(data)
            name = names[draw.randrange(len(names))]
            text = data[name]
            flipped = [dict(data, **{name: "%x" % (15 - int(text[0], 16)) + text[1:]})]
        else:
            found = list(places(profile, notation, data, count))
            drawn = draw.sample(found, min(FLIPS, len(found)))
            binary = notation in ("bytes", "npy")
            flipped = [changed(data, at) if not binary else data[:at] + bytes([data[at] ^ 128]) + data[at + 1:]
                       for at in drawn]
        unseen = [k for k, other in enumerate(flipped) if not differs(profile, notation, other, types, expected)]
        tap(flipped and not unseen, f"{profile}:{notation}: each changed byte is seen",
            "" if isinstance(data, dict) else f"not at {[drawn[k] for k in unseen]}")
