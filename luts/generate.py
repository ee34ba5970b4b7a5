#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the standard tables from their specs.

    generate.py PWLC DIRECTORY [PAGE...]

Writes into DIRECTORY, for each job NAME of specs/*.json:
    tables/NAME.json            the table and its certificate
    pwl_NAME.h                  header for the runtime
    standalone/pwl_NAME.h       header with its own evaluation
    manifest.json               sha256 and bytes of every header, and the errors the certificate holds
and replaces the accuracy tables of each PAGE, between the lines that name this program.
"""
import hashlib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# What a page may hold: all tables, or these in few columns.
BEGIN_ALL = "<!-- accuracy of all tables: made by luts/generate.py -->\n"
BEGIN_SOME = "<!-- accuracy of some tables: made by luts/generate.py -->\n"
END = "<!-- end of the accuracy table -->\n"
SOME = ["gelu_s8", "sigmoid_s8", "tanh_s8", "gelu_s16", "sigmoid_s16", "tanh_s16", "gelu_s16_1lsb", "sigmoid_s16_1lsb",
        "tanh_s16_1lsb"]
PACKED_BYTES = {"int8": 5, "int16": 9, "int32": 17}  # a segment, absolute form


def pwlc(*arguments):
    subprocess.run([sys.argv[1], *map(str, arguments)], check=True, stderr=subprocess.DEVNULL)


def describe(path):
    data = path.read_bytes()
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def read_table(directory, name):
    return json.loads((directory / "tables" / f"{name}.json").read_text())


def manifest_entry(directory, name):
    table = read_table(directory, name)
    certificate = table["certificate"]
    return {
        "name": name,
        "spec": table["spec"],
        "segments": len(table["segments"]),
        "packed_bytes": len(table["segments"]) * PACKED_BYTES[table["case"]],
        "max_err_lsb": certificate["max_err_lsb"],
        "max_err_at": certificate["max_err_at"],
        "rms_err_lsb": certificate["rms_err_lsb"],
        **({"bound_lsb": certificate["bound_lsb"]} if "bound_lsb" in certificate else {}),
        "correctly_rounded": certificate["correctly_rounded"],
        "exhaustive": certificate["exhaustive"],
        "header": describe(directory / f"pwl_{name}.h"),
        "standalone": describe(directory / "standalone" / f"pwl_{name}.h"),
    }


def real_scale(tensor):
    scale = tensor["scale"]
    return 2.0 ** int(scale[2:]) if scale.startswith("2^") else float(scale)


def type_text(tensor):
    sign = "s" if tensor["signed"] else "u"
    return f'{sign}{tensor["bits"]}:{tensor["scale"]}:{tensor["zero_point"]}'


def some_accuracy(directory, entries):
    """Tables of which every code was compared."""
    lines = ["| table | segments | bytes | max error, LSB | max error, real | RMS error, LSB | correctly rounded |",
             "|---|---:|---:|---:|---:|---:|---:|"]
    for entry in (next(entry for entry in entries if entry["name"] == name) for name in SOME):
        table = read_table(directory, entry["name"])
        lines.append(
            f'| `pwl_{entry["name"]}` | {entry["segments"]} | {entry["packed_bytes"]} | {entry["max_err_lsb"]:.6g} '
            f'| {entry["max_err_lsb"] * real_scale(table["out"]):.2e} | {entry["rms_err_lsb"]:.6g} '
            f'| {100 * entry["correctly_rounded"]:.2f} % |'
        )
    return "\n".join(lines) + "\n"


def all_accuracy(directory, entries):
    lines = [
        "| table | input | output | segments | bytes | max error, LSB | RMS error, LSB | max error, real |"
        " correctly rounded |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for entry in entries:
        table = read_table(directory, entry["name"])
        sampled = "" if entry["exhaustive"] else " *"
        proven = "<= " if "bound_lsb" in entry else ""
        largest = entry.get("bound_lsb", entry["max_err_lsb"])
        lines.append(
            f'| `pwl_{entry["name"]}` | `{type_text(table["in"])}` | `{type_text(table["out"])}` | {entry["segments"]} '
            f'| {entry["packed_bytes"]} | {proven}{largest:.6g} | {entry["rms_err_lsb"]:.6g}{sampled} '
            f'| {proven}{largest * real_scale(table["out"]):.2e} | {100 * entry["correctly_rounded"]:.2f} %{sampled} |'
        )
    lines += ["", "\\* of samples. `<=` is proven for every code; [EXHAUSTIVE.md](EXHAUSTIVE.md) has all 2^32 of three."]
    return "\n".join(lines) + "\n"


def replace_tables(page, directory, entries):
    text = page.read_text()
    for begin, table in ((BEGIN_ALL, all_accuracy(directory, entries)), (BEGIN_SOME, some_accuracy(directory, entries))):
        if begin in text:
            before, rest = text.split(begin)
            text = before + begin + table + END + rest.split(END, 1)[1]
    page.write_text(text)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    directory = pathlib.Path(sys.argv[2])
    (directory / "tables").mkdir(parents=True, exist_ok=True)
    (directory / "standalone").mkdir(exist_ok=True)
    entries = []
    for spec in sorted((HERE / "specs").glob("*.json")):
        pwlc("fit", "--spec", spec, "-o", directory / "tables")
        for job in json.loads(spec.read_text()):
            name = job["name"]
            table = directory / "tables" / f"{name}.json"
            pwlc("emit", table, "--name", f"pwl_{name}", "-o", directory / f"pwl_{name}.h")
            pwlc("emit", table, "--name", f"pwl_{name}", "--standalone", "-o", directory / "standalone" / f"pwl_{name}.h")
            entries.append(manifest_entry(directory, name))
    (directory / "manifest.json").write_text(json.dumps(entries, indent=2) + "\n")
    for page in sys.argv[3:]:
        replace_tables(pathlib.Path(page), directory, entries)


main()
