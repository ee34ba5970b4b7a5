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
WAYS = [("8 bits, correctly rounded", {"bits": 8, "method": "lut"}),
        ("8 bits, 16 segments, as the data weigh them", {"bits": 8}),
        ("8 bits, 16 segments, all codes alike", {"bits": 8, "weights": None}),
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


def classes(model, batches):
    """The class that a model gives each file."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"bytes": batch})[0].argmax(-1) for batch in batches])


def main(folders):
    rows = [row for row in map(features, drawn_files(folders or FOLDERS)) if row is not None]
    third = len(rows) // 3
    calibration, asked = ([np.stack(part[k:k + 16]) for k in range(0, len(part), 16)] for part in (rows[:third], rows[third:]))
    model = onnx.load(next(pathlib.Path(magika.__file__).parent.glob("models/*/model.onnx")))
    exact = classes(model, asked)
    print(f"{third} files calibrate, {len(exact)} are asked, of {len(set(exact))} classes\n")
    print("| activations | segments | agree with float | with quantisers alone |")
    print("|---|--:|--:|--:|", flush=True)
    for name, flags in WAYS:
        tables = pwl.onnx.fit(model, calibration, **flags)
        got, alone = (np.mean(classes(pwl.onnx.replace(model, tables, quantisers_only=quantisers_only), asked) == exact)
                      for quantisers_only in (False, True))
        segments = ", ".join(str(len(table.segments)) for table in tables.values())
        print(f"| {name} | {segments} | {got:.2%} | {alone:.2%} |", flush=True)
    print(f"\nThe last, on the first {len(asked[0])} files:\n\n{pwl.onnx.report(model, tables, asked[:1])}")


if __name__ == "__main__":
    main(sys.argv[1:])
