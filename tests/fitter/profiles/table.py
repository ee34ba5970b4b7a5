#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors of the profiles' tables beside those of their consumers' own recipes, as a table of a page.

    table.py PWLC PAGE             fits every table anew and writes the page, between the lines that name this program
    table.py PWLC PAGE --check     TAP: the page is what would be written. Of the searches that take seconds one for each
                                   profile is made anew, and all with PWL_TEST_LONG=1.

No error of ours may be above the recipe's: that is a failure of both.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import recipes

BEGIN = "<!-- errors of the profiles: made by tests/fitter/profiles/table.py -->\n"
END = "<!-- end of the errors -->\n"
HEAD = ("| profile | function | in | out | bytes | max | none below | RMS | recipe's max | its RMS |\n"
        "|---|---|---|---|---:|---:|---:|---:|---:|---:|\n")
FUNCTIONS = ("sigmoid", "tanh", "gelu", "silu", "exp")
# exp on [-8, 0]: its --in, for profiles of 8 and of 16 bits, and where codes must lie within 32767 of the zero point.
EXP = {"s8": "s8:2^-5:127", "s16": "s16:2^-13:32767", "u16": "u16:2^-13:65535", "s15": "s15:2^-12:16383",
       "zero": "s16:2^-12:0"}

# Profile: type of the inputs of exp, recipe, and the function whose search is made anew in the quick check; None for all.
PROFILES = {
    "tosa8": ("s8", recipes.each_code, None),
    "ethosu8": ("s8", recipes.each_code, None),
    "tflm8": ("s8", recipes.each_code, None),
    "executorch8": ("s8", recipes.each_code, None),
    "xnnpack8": ("s8", recipes.each_code, None),
    "espdl16": ("zero", recipes.espdl16, None),
    "espdl16-p4": ("zero", recipes.espdl16_p4, None),
    "espdl16-linear": ("zero", recipes.espdl16_linear, "tanh"),
    "mli": ("zero", recipes.mli, "sigmoid"),
    "tosa16": ("s16", recipes.tosa, "tanh"),
    "ethosu16": ("s16", recipes.tosa, "tanh"),
    "tflm16": ("s16", recipes.tflm, "tanh"),
    "quant-gru": ("u16", None, "exp"),
    "aimet-pe": ("s15", None, "exp"),
    "finn": ("s8", recipes.each_code, None),
    "aie": ("s16", recipes.aie, "silu"),
    "aie-v2": ("s16", recipes.aie, "silu"),
    "nvdla": ("s16", recipes.nvdla, "sigmoid"),
    "gna": ("s16", recipes.gna, "exp"),
    "k210": ("s16", recipes.k210, "tanh"),
}

NOTATIONS = {"finn": "json", "mli": "c"}  # bytes of others


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


class Maker:
    """Rows, each search and each recipe made once for all the profiles that share it."""

    def __init__(self, pwlc, folder):
        self.pwlc, self.folder = pwlc, pathlib.Path(folder)
        listed = json.loads(run(pwlc, "list", "profiles", "--format", "json").stdout)
        self.flags = {profile["name"]: profile["flags"] for profile in listed["profiles"]}

    def search(self, profile, function):
        """A name of the table: the same for the same flags."""
        return f"{function} {self.flags[profile]} {EXP[PROFILES[profile][0]] if function == 'exp' else ''}"

    def fit(self, rows):
        """Fits the tables of the rows, two at a time."""
        first = {}
        for profile, function in rows:
            first.setdefault(self.search(profile, function), (profile, function))
        self.tables = {}

        def one(name):
            profile, function = first[name]
            out = self.folder / f"{profile}-{function}.json"
            types = ["--in", EXP[PROFILES[profile][0]]] if function == "exp" else []
            done = run(self.pwlc, "fit", function, "--profile", profile, *types, "-o", out)
            if done.returncode:
                sys.exit(f"table.py: {profile} {function}: {done.stderr}")
            return name, out
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.tables.update(pool.map(one, first))
        self.recipes = {}

    def size(self, profile, table):
        """Bytes of the emitted table; of finn, thresholds; of aie, of both arrays; of mli, of the array. None where
        only rising tables are held, and this one is not."""
        out = self.folder / "emitted"
        done = run(self.pwlc, "emit", table, "--profile", f"{profile}:{NOTATIONS.get(profile, 'bytes')}", "-o",
                   out)
        if done.returncode == 3 and any(falls in done.stderr for falls in (
                "must rise throughout", "must not be negative")):
            return None
        if done.returncode:
            sys.exit(f"table.py: {profile} {table}: {done.stderr}")
        if profile == "finn":
            return len(json.loads(out.read_text())["thresholds"])
        if profile == "mli":
            return 2 * int(re.search(r"_data\[(\d+)\]", out.read_text())[1])
        return len(out.read_bytes()) * (2 if profile.startswith("aie") else 1)

    def row(self, profile, function):
        """(line, whether the error is not above the recipe's)."""
        path = self.tables[self.search(profile, function)]
        table = json.loads(path.read_text())
        types = [f"{'s' if of['signed'] else 'u'}{of['bits']}:{of['scale']}:{of['zero_point']}"
                 for of in (table["in"], table["out"])]
        cells = [profile, function, *map(short, types)]
        size = self.size(profile, path)
        if size is None:
            return f"| {' | '.join(cells)} | refused: it falls | | | | | |", True
        certificate = table["certificate"]
        largest, rms, bound = (certificate[f"{name}_lsb"] for name in ("max_err", "rms_err", "lower_bound"))
        if bound is None and table["method"] == "lut":
            bound = largest  # every code has its nearest output
        recipe, theirs = PROFILES[profile][1], None
        if recipe:
            key = recipe, function, *types
            if key not in self.recipes:
                of_in, of_out = map(recipes.Type, types)
                self.recipes[key] = recipes.errors(recipe(function, of_in, of_out),
                                                   recipes.target(function, of_in, of_out), of_in, of_out)
            theirs = self.recipes[key]
        cells += [str(size)] + [digits(value) for value in (largest, bound, rms)]
        cells += [digits(value) for value in theirs] if theirs else ["not published", ""]
        return f"| {' | '.join(cells)} |", not theirs or largest <= theirs[0] * (1 + 1e-5)


def short(type_text):
    """Scales to four digits."""
    kind, scale, zero = type_text.split(":")
    return f"{kind}:{scale if '^' in scale else f'{float(scale):.4g}'}:{zero}"


def digits(value):
    return "-" if value is None else f"{value:.4g}"


def rows_of(page):
    """{(profile, function): line} of the table in a page."""
    text = page.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"table.py: {page} has no lines {BEGIN.strip()} and {END.strip()}")
    lines = text.partition(BEGIN)[2].partition(END)[0].splitlines()[2:]
    return {tuple(cell.strip() for cell in line.split("|")[1:3]): line for line in lines}


def write(page, maker):
    rows_of(page)
    rows = [(profile, function) for profile in PROFILES for function in FUNCTIONS]
    maker.fit(rows)
    made = [maker.row(*row) for row in rows]
    text = page.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    page.write_text(before + BEGIN + HEAD + "".join(f"{line}\n" for line, _ in made) + END + after)
    above = [line for line, good in made if not good]
    if above:
        sys.exit("table.py: above the recipe's error:\n" + "\n".join(above))


def check(page, maker):
    shown = rows_of(page)
    whole = os.environ.get("PWL_TEST_LONG") == "1"
    rows = [(profile, function) for profile, (_, _, only) in PROFILES.items() for function in FUNCTIONS
            if whole or only in (None, function)]
    maker.fit(rows)
    failed = set(shown) != {(profile, function) for profile in PROFILES for function in FUNCTIONS}
    print(f"{'not ok' if failed else 'ok'} 1 - the page has a row for each profile and function")
    for number, row in enumerate(rows, 2):
        line, good = maker.row(*row)
        problem = "" if good else "above the recipe's error"
        if shown.get(row) != line:
            problem = f"the page has {shown.get(row)}, ./dev luts would write {line}"
        failed |= bool(problem)
        print(f"{'not ok' if problem else 'ok'} {number} - {' '.join(row)}{': ' if problem else ''}{problem}")
    print(f"1..{len(rows) + 1}")
    sys.exit(failed)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    page = pathlib.Path(arguments[1])
    with tempfile.TemporaryDirectory() as folder:
        (check if "--check" in sys.argv else write)(page, Maker(arguments[0], folder))


main()
