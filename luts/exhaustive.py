#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Visits every code of 32-bit standard tables, and keeps what it finds in EXHAUSTIVE.md.

    exhaustive.py PWLC [NAME...]  sweep these tables, or those whose record is missing or of another table
    exhaustive.py --check         exit 1 unless each record is of the table as it is, and within its proven bound

2^32 codes take minutes on all cores, so the records are checked in.
"""
import datetime
import hashlib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = HERE / "EXHAUSTIVE.md"
NAMES = ["sigmoid_s32", "tanh_s32", "gelu_s32"]
COLUMNS = ["table", "date", "codes visited", "largest error, LSB", "at code", "RMS error, LSB", "proven bound, LSB",
           "largest error of the samples, LSB", "hash of the table"]
HEAD = """# Every code of 32-bit tables

Certificates of tables with more than 2^20 input codes hold errors of samples and a bound that is proven for every code
(`fitter/measure/error_bound.h`). Here every code was visited, by

    pwlc sweep --exhaustive --format json luts/tables/NAME.json

which fails when a code exceeds the bound. Made by `./dev exhaustive`; the tests compare each record with its table.

"""


def table_file(name):
    return HERE / "tables" / f"{name}.json"


def table_hash(name):
    """Of its types and segments, as docs/table-json.md has it: another certificate changes nothing here."""
    table = json.loads(table_file(name).read_text())
    names = ("function", "expression", "samples_sha256", "weights_sha256", "form", "rounding", "in", "out", "fold",
             "reduction", "outside", "segments")
    fields = {field: table[field] for field in names if field in table}
    return hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def certificate(name):
    return json.loads(table_file(name).read_text())["certificate"]


def read_records():
    records = {}
    for line in RECORDS.read_text().splitlines() if RECORDS.exists() else []:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(COLUMNS) and cells[0] in NAMES:
            records[cells[0]] = dict(zip(COLUMNS, cells))
    return records


def write_records(records):
    rows = [COLUMNS, ["---"] + ["---:"] * (len(COLUMNS) - 2) + ["---"]]
    rows += [[records[name][column] for column in COLUMNS] for name in NAMES if name in records]
    RECORDS.write_text(HEAD + "".join("| " + " | ".join(row) + " |\n" for row in rows))


def sweep(pwlc, name):
    result = subprocess.run([pwlc, "sweep", "--exhaustive", "--format", "json", table_file(name)], check=True,
                            stdout=subprocess.PIPE)
    row = json.loads(result.stdout)[0]
    if not row["exhaustive"]:
        sys.exit(f"{name}: pwlc left codes out")
    says = certificate(name)
    values = [name, datetime.date.today().isoformat(), row["checked"], f'{row["max_err_lsb"]:.6g}', row["max_err_at"],
              f'{row["rms_err_lsb"]:.6g}', f'{says["bound_lsb"]:.6g}', f'{says["max_err_lsb"]:.6g}', table_hash(name)]
    return dict(zip(COLUMNS, map(str, values)))


def check():
    wrong = []
    records = read_records()
    for name in NAMES:
        record = records.get(name)
        if record is None:
            wrong.append(f"{name}: no record")
            continue
        table = json.loads(table_file(name).read_text())
        says = table["certificate"]
        if record["hash of the table"] != table_hash(name):
            wrong.append(f"{name}: the record is of another table")
        elif int(record["codes visited"]) != table["in"]["qmax"] - table["in"]["qmin"] + 1:
            wrong.append(f"{name}: not every code was visited")
        elif not says["max_err_lsb"] <= float(record["largest error, LSB"]) <= says["bound_lsb"]:
            wrong.append(f"{name}: the largest error is not between that of the samples and the proven bound")
    for line in wrong:
        print(f"luts/EXHAUSTIVE.md: {line}", file=sys.stderr)
    if wrong:
        sys.exit("run `./dev exhaustive`, some minutes on all cores, and commit luts/EXHAUSTIVE.md")


def main():
    if len(sys.argv) < 2 or (sys.argv[1] == "--check" and len(sys.argv) > 2):
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        return check()
    records = read_records()
    stale = [name for name in NAMES if name not in records or records[name]["hash of the table"] != table_hash(name)]
    for name in sys.argv[2:] or stale:
        if name not in NAMES:
            sys.exit(f"{name}: must be one of {', '.join(NAMES)}")
        print(f"visiting every code of {name}")
        records[name] = sweep(sys.argv[1], name)
        write_records(records)
    return check()


main()
