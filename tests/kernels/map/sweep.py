#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pwlc sweep --device cuda over the tables in luts/: TAP.

usage: sweep.py PWLC [NAME...], from the root of the sources; PWL_CUDA_LIBRARY names the library. NAMEs are the tables
that are swept; by default all, and a table of every built-in function.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

TABLES = pathlib.Path("luts/tables")
AVERAGES = {"rms_err_lsb", "rms_err_real", "mean_abs_err_lsb", "mean_abs_err_real", "mean_abs_squared_lsb2",
            "mean_abs_squared_real", "mse_lsb2", "mse_real"}
BIASES = {"bias_lsb": "mean_abs_err_lsb", "bias_real": "mean_abs_err_real"}
# Averages are printed with 6 digits; those of the device and the host differ by SUMMING of themselves at most, which may
# round to the next 6 digits, ROUNDING apart at most. In a bias errors of both signs cancel out: it differs by SUMMING of
# the mean of their absolute values.
SUMMING = 1e-9
ROUNDING = 1e-5

count = failures = 0


def tap(good, name):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)


def sweep(pwlc, path, *flags):
    """The record that pwlc prints; null when it fails, which is a failure here."""
    name = path.stem
    result = subprocess.run([pwlc, "sweep", path, "--exhaustive", "--format", "json", *flags], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    if result.returncode == 77:
        print(f"1..0 # SKIP {result.stderr.strip()}")
        sys.exit(77)
    if result.returncode != 0:
        tap(False, f"{name}: exit {result.returncode}: {result.stderr.strip()}")
        return None
    return json.loads(result.stdout)[0]


def same(device, host):
    """The fields in which two records differ."""
    tolerated = {field: 0 for field in AVERAGES} | {bias: host[mean] for bias, mean in BIASES.items()}
    differ = []
    for field in host:
        a, b = device.get(field), host[field]
        if a != b and not (field in tolerated and abs(a - b) <= ROUNDING * abs(b) + SUMMING * tolerated[field]):
            differ.append(f"{field} {a}, on the host {b}")
    return differ


def recorded():
    """Rows of luts/EXHAUSTIVE.md by table."""
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")]
             for line in pathlib.Path("luts/EXHAUSTIVE.md").read_text().splitlines() if line.startswith("|")]
    return {cells[0]: dict(zip(lines[0], cells)) for cells in lines[2:]}


def check_wide(pwlc, path, record):
    name = path.stem
    began = time.monotonic()
    device = sweep(pwlc, path, "--device", "cuda")
    if device is None:
        return
    seconds = time.monotonic() - began
    good = device["checked"] == 1 << 32 and device["exhaustive"] and device["max_err_lsb"] <= device["bound_lsb"]
    what = f"{name}: 2^32 codes in {seconds:.1f} s, largest error {device['max_err_lsb']:.6g}"
    if record:
        said = (int(record["codes visited"]), float(record["largest error, LSB"]), int(record["at code"]))
        good = good and said == (device["checked"], device["max_err_lsb"], device["max_err_at"])
        rms = float(record["RMS error, LSB"])
        good = good and abs(device["rms_err_lsb"] - rms) <= ROUNDING * rms
        what += f" at {device['max_err_at']}, recorded {said[1]:.6g} at {said[2]}; RMS {device['rms_err_lsb']}, {rms}"
    tap(good, what)


def check_narrow(pwlc, path, *flags):
    device, host = sweep(pwlc, path, "--device", "cuda", *flags), sweep(pwlc, path, *flags)
    if device and host:
        differ = same(device, host)
        tap(not differ, " ".join([f"{path.stem}: as on the host", *flags, *differ]))


def check_functions(pwlc, folder):
    """Every built-in function over 2^22 codes, in 64 runs, of which the device measures all but a few."""
    listed = subprocess.run([pwlc, "list", "functions", "--format", "json"], check=True, stdout=subprocess.PIPE)
    for function in json.loads(listed.stdout)["functions"]:
        name = function["name"]
        for scale, out in (("2^-18", "s16"), ("0.0000031", "s32")):
            path = folder / f"{name}-{out}.json"
            subprocess.run([pwlc, "fit", name, "--in", f"s22:{scale}:1000", "--out", out, "--method", "uniform",
                            "--outside", "clamp", "-o", path], check=True, stderr=subprocess.DEVNULL)
            check_narrow(pwlc, path)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    pwlc, names = sys.argv[1], sys.argv[2:]
    records = recorded()
    for path in sorted(TABLES.glob("*.json")):
        name = path.stem
        if names and name not in names:
            continue
        if json.loads(path.read_text())["in"]["bits"] == 32:
            check_wide(pwlc, path, records.get(name))
        else:
            check_narrow(pwlc, path)
    if not names:
        check_narrow(pwlc, TABLES / "sigmoid_s16_1lsb.json", "--ref", "mpfr")
        with tempfile.TemporaryDirectory() as folder:
            check_functions(pwlc, pathlib.Path(folder))
    print(f"1..{count}")
    return failures != 0 or count == 0


sys.exit(main())
