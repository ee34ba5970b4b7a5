#!/usr/bin/python3
# SPDX-License-Identifier: 0BSD
"""onnx_magika.py [FOLDER...]: what tables of 8 and 16 bits cost a real network, which tells the types of files.

The network comes with the package magika (pip install magika onnx onnxruntime): 2048 bytes of a file in, 214 classes out, two GELUs
spelled with tanh. Files of the folders, by default of this repository and of /usr, are drawn: a third of them calibrates,
and the others are asked of the float network and of networks with tables.
"""
import pathlib
import random
import sys

import magika
import numpy as np
import onnx
import onnxruntime

import pwl.onnx

FILES, EACH = 600, 12  # at most, in all and of each ending
PART = 1024            # bytes of each end of a file, without white space; 256 stands where there are none
BLOCK = 4096           # bytes from which they are taken
FOLDERS = (pathlib.Path(__file__).parents[1], "/usr/share", "/usr/lib", "/usr/bin", "/usr/include")
MINIMAX = {"weights": None, "method": "minimax"}
WAYS = [("8 bits, correctly rounded", {"bits": 8, "method": "lut"}),
        ("8 bits, 16 segments, as the data weigh them", {"bits": 8}),
        ("8 bits, 16 segments, all codes alike", {"bits": 8, "weights": None}),
        ("8 bits, 16 segments, least largest error", {"bits": 8, **MINIMAX}),
        ("8 bits, 6 segments, as the data weigh them", {"bits": 8, "segments": 6}),
        ("8 bits, 6 segments, all codes alike", {"bits": 8, "segments": 6, "weights": None}),
        ("8 bits, 6 segments, least largest error", {"bits": 8, "segments": 6, **MINIMAX}),
        ("8 bits, within 1 LSB", {"bits": 8, "max_err": 1.0}),
        ("16 bits, 64 segments, as the data weigh them", {"bits": 16})]


def drawn_files(folders):
    """Files of many kinds, in the same order on each run."""
    kinds = {}
    for folder in folders:
        for path in pathlib.Path(folder).rglob("*"):
            if path.is_file() and not path.is_symlink() and ".git" not in path.parts and "build" not in path.parts:
                kinds.setdefault(path.suffix, []).append(path)
    draw = random.Random(1)
    files = [path for _, paths in sorted(kinds.items()) for path in draw.sample(sorted(paths), min(EACH, len(paths)))]
    return draw.sample(files, min(FILES, len(files)))


def features(path):
    """What the network is given of a file; None of one too short."""
    with open(path, "rb") as file:
        first = file.read(BLOCK).lstrip()[:PART]
        file.seek(max(0, path.stat().st_size - BLOCK))
        last = file.read(BLOCK).rstrip()[-PART:]
    if len(first) < 8:
        return None
    row = np.full(2 * PART, 256, np.int32)
    row[:len(first)] = list(first)
    row[len(row) - len(last):] = list(last)
    return row


def answers(model, batches):
    """The shares that a model gives each class, for each file."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"bytes": batch})[0] for batch in batches])


def same_class(got, exact):
    return np.mean(got.argmax(-1) == exact.argmax(-1))


def main(folders):
    rows = [row for row in map(features, drawn_files(folders or FOLDERS)) if row is not None]
    third = len(rows) // 3
    calibration, asked = ([np.stack(part[k:k + 16]) for k in range(0, len(part), 16)] for part in (rows[:third], rows[third:]))
    model = onnx.load(next(pathlib.Path(magika.__file__).parent.glob("models/*/model.onnx")))
    exact = answers(model, asked)
    print(f"{third} files calibrate, {len(exact)} are asked, of {len(set(exact.argmax(-1)))} classes\n")
    print("| activations | segments | agree with float | with quantisers alone | answers are off by, RMS |")
    print("|---|--:|--:|--:|--:|", flush=True)
    for name, flags in WAYS:
        tables = pwl.onnx.fit(model, calibration, **flags)
        got, alone = (answers(pwl.onnx.replace(model, tables, quantisers_only=only), asked) for only in (False, True))
        segments = ", ".join(str(len(table.segments)) for table in tables.values())
        off = np.sqrt(np.mean(np.sum((got - exact) ** 2, -1)))
        print(f"| {name} | {segments} | {same_class(got, exact):.2%} | {same_class(alone, exact):.2%} | {off:.4f} |",
              flush=True)
    print(f"\nThe last, on the first {len(asked[0])} files:\n\n{pwl.onnx.report(model, tables, asked[:1])}")


if __name__ == "__main__":
    main(sys.argv[1:])
