#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What chips and libraries ship for an activation beside what pwlc gives them in its place, as pictures and as a page.

    gallery.py PWLC SOURCE FOLDER            writes docs/gallery.md and the pictures beside it; tables go to FOLDER
    gallery.py PWLC SOURCE FOLDER --check    TAP: the page and the pictures are what would be written, where fits are
                                             quick; all with PWL_TEST_LONG=1

Their tables are made here, from the recipes that they publish: as tables of pwlc's own JSON that give at every code
what the recipe gives, which is compared. So one command measures and draws both.
"""
import csv
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import textwrap

import recipes
from recipes import Type, nearest, target

BEGIN = "<!-- gallery: made by tests/fitter/profiles/gallery.py -->\n"
END = "<!-- end of the gallery -->\n"
THEIRS, OURS = "recipe", "pwlc"  # files, as the legends name them
README = "gelu_s8.svg"


def table(function, of_in, of_out, segments, rounding="half_up"):
    """A table without certificate, in the biased form, which rounds once: (start, slope, shift, constant)."""
    case = "int8" if max(of_in.bits, of_out.bits) <= 8 else "int16" if max(of_in.bits, of_out.bits) <= 16 else "int32"

    def side(of):
        power = math.frexp(of.scale)
        scale = f"2^{power[1] - 1}" if power[0] == 0.5 else repr(of.scale)
        return {"bits": of.bits, "signed": of.is_signed, "scale": scale, "zero_point": of.zero, "qmin": of.qmin,
                "qmax": of.qmax}

    rows = [{"start": start, "q_b": slope, "n_BX_total": shift, "bias": bias} for start, slope, shift, bias in segments]
    return {"pwl_table": 1, "spec": "by a recipe", "function": function, "parameters": {}, "method": "recipe",
            "form": "biased", "rounding": rounding, "case": case, "in": side(of_in), "out": side(of_out),
            "segments": rows}


def lines(points, of_in, shift):
    """Segments of lines between points 2^shift codes apart."""
    rows = []
    for i, (low, high) in enumerate(zip(points, points[1:])):
        start = of_in.qmin + (i << shift)
        rows.append((start, high - low, shift, (low << shift) - (high - low) * (start - of_in.zero)))
    return [row for row in rows if row[0] <= of_in.qmax]


def values(outputs, of_in):
    return [(q, 0, 0, y) for q, y in zip(of_in.codes(), outputs)]


def each_code(function, of_in, of_out):
    outputs = recipes.each_code(function, of_in, of_out)
    return table(function, of_in, of_out, values(outputs, of_in)), outputs


def rounded_down(function, of_in, of_out):
    f = target(function, of_in, of_out)
    outputs = [of_out.clip(math.floor(f(q))) for q in of_in.codes()]
    return table(function, of_in, of_out, values(outputs, of_in)), outputs


def even_grid(shift):
    """The nearest values 2^shift codes apart, and one behind the last code."""
    def points(function, of_in, of_out):
        f = target(function, of_in, of_out)
        return [of_out.clip(nearest(f(of_in.qmin + (i << shift)))) for i in range((1 << 16 - shift) + 1)]
    return points


def by_lines(recipe, points, shift, rounding):
    def made(function, of_in, of_out):
        segments = lines(points(function, of_in, of_out), of_in, shift)
        return table(function, of_in, of_out, segments, rounding), recipe(function, of_in, of_out)
    return made


def by_steps(recipe, points, shift):
    """Of values 2^shift codes apart the nearest, half way the upper one."""
    def made(function, of_in, of_out):
        starts = (of_in.qmin + (i << shift) - (1 << shift - 1) for i in range((1 << of_in.bits - shift) + 1))
        segments = [(max(start, of_in.qmin), 0, 0, y) for start, y in zip(starts, points(function, of_in, of_out))]
        return table(function, of_in, of_out, segments), recipe(function, of_in, of_out)
    return made


def cmsis(function, of_in, of_out):
    rows = recipes.Cmsis(function, of_in).lines(recipes.cmsis_points())
    return table(function, of_in, of_out, rows), recipes.cmsis(function, of_in, of_out)


def half(value):
    return struct.unpack("e", struct.pack("e", value))[0]


def ggml(function, of_in, of_out):
    """The formula with tanh at each half, stored as a half. The inputs here are halves all."""
    def formula(x):
        return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x)))
    outputs = [nearest(half(formula(q * of_in.scale)) / of_out.scale) for q in of_in.codes()]
    return table(function, of_in, of_out, values(outputs, of_in)), outputs


def begun(title, text):
    """The beginning of a section."""
    return f"## {title}\n\n{textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)}\n\n"


def commands(lines_of):
    return "\n<!-- docs: not run: gallery.py runs it -->\n```sh\n" + "".join(line + "\n" for line in lines_of) + "```\n"


class Show:
    """A section with a picture. `fit` and `emit` are flags; `theirs_out` is where their outputs have another type."""

    def __init__(self, name, title, function, types, recipe, fit, emit, words, size, theirs_out=None, quick=True):
        self.name, self.title, self.function, self.types, self.recipe = name, title, function, types, recipe
        self.fit, self.emit, self.words, self.size = fit, emit, words, size
        self.theirs_out, self.quick = theirs_out or types[1], quick
        self.pictures = [f"{name}.svg"]

    def command(self):
        if "--profile" in self.fit and self.types == S16:
            return f"fit {self.function} {self.fit}"
        types = f" --in {short(self.types[0])} --out {short(self.types[1])}"
        return f"fit {self.function} {self.fit}{types}"

    def theirs(self, maker):
        """The table of the recipe, which gives what the recipe gives."""
        of_in, of_out = Type(self.types[0]), Type(self.theirs_out)
        made, outputs = self.recipe(self.function, of_in, of_out)
        (maker.folder / THEIRS).write_text(json.dumps(made))
        maker.run("sweep", THEIRS, "--codes", "codes.csv")
        with open(maker.folder / "codes.csv") as file:
            found = [int(row["output"]) for row in csv.DictReader(file)]
        if found != outputs:
            first = next(i for i, pair in enumerate(zip(found, outputs)) if pair[0] != pair[1])
            sys.exit(f"gallery.py: {self.name}: code {of_in.qmin + first} gives {found[first]}, "
                     f"the recipe {outputs[first]}")

    def bytes(self, maker, name):
        if name == THEIRS or "--profile" in self.fit or "lut" in self.fit:
            return self.size
        table_json = json.loads((maker.folder / name).read_text())
        return 9 * len(table_json["segments"])

    def section(self, maker):
        """The lines of the page; pictures are made in the folder."""
        maker.run(*self.command().split(), "-o", OURS)
        maker.run("emit", OURS, *self.emit.split())
        names = [OURS]
        if self.recipe:
            self.theirs(maker)
            names = [THEIRS, OURS]
        maker.run("sweep", *names, "--plot", self.pictures[0])
        rows = []
        for name in names:
            has_codes = name == OURS or self.theirs_out == self.types[1]
            rows.append(f"| {name} | {self.bytes(maker, name)} | {figure(maker.figures(name), has_codes)} |\n")
        what = f"{self.function}, `{short(self.types[0])}` to `{short(self.types[1])}`"
        return (begun(self.title, f"{what[0].upper()}{what[1:]}. {self.words}") +
                f"![{self.title}: {self.function} and the error at every code](gallery/{self.pictures[0]})\n\n"
                "| table | bytes | max, real | RMS, real | max, LSB | RMS, LSB | nearest codes |\n"
                "|---|---:|---:|---:|---:|---:|---:|\n" + "".join(rows) +
                commands([f"pwlc {self.command()} -o {self.function}.json",
                          f"pwlc emit {self.function}.json {self.emit}"]))


class Sfpu:
    """The section of float tables, whose codes are no even steps: figures without a picture. `tables` are those that
    ship, by their names in `pwlc sfpu list`, and their bytes."""
    quick = True
    pictures = ()
    fit = "--keep-zero --keep-ends"
    columns = ("max abs", "mean abs", "max ULP", "mean ULP", "monotone")

    def __init__(self, title, words, tables):
        self.title, self.words, self.tables = title, words, tables

    def section(self, maker):
        shipped = {row["table"]: row for row in cells(maker.run("sfpu", "list"))}
        rows, lines_of = [], []
        for name, size in self.tables.items():
            theirs = shipped[name]
            fit = f"sfpu fit {theirs['function']} --layout {theirs['layout']} {self.fit} -o {name}.json"
            emit = f"sfpu emit {name}.json --format llk -o {name}.h"
            maker.run(*fit.split())
            maker.run(*emit.split())
            ours = next(row for row in cells(maker.run("sfpu", "show", f"{name}.json")) if row.get("table") == "this")
            for table_name, row in ((name, theirs), (OURS, ours)):
                rows.append(f"| {theirs['function']} | {table_name} | {size} | " +
                            " | ".join(row[column] for column in self.columns) + " |\n")
            lines_of += [f"pwlc {fit}", f"pwlc {emit}"]
        return (begun(self.title, self.words) +
                f"| function | table | bytes | {' | '.join(self.columns)} |\n"
                "|---|---|---:|---:|---:|---:|---:|---|\n" + "".join(rows) + commands(lines_of))


def cells(text):
    """The rows of the tables that a command prints, by the heads of their columns."""
    rows = []
    for block in text.split("\n\n"):
        found = [[cell.strip() for cell in line.strip("|").split(" | ")]
                 for line in block.splitlines() if line.startswith("|")]
        rows += [dict(zip(found[0], row)) for row in found[2:]]
    return rows


S16 = ("s16:2^-12:0", "s16:2^-15:0")
SHOWS = [
    Show("tosa", "TOSA's TABLE", "tanh", S16, by_lines(recipes.tosa, even_grid(7), 7, "half_up"), "--profile tosa16",
         "--profile tosa16:mlir -o tanh.mlir",
         "513 nearest values 128 codes apart, lines between them. The middle of each line is too low where the "
         "function bends down; the fitted points lie where the largest error of all codes is least.",
         1026, quick=False),
    Show("ethosu", "Ethos-U", "silu", ("s16:2^-12:0", "s16:2^-12:0"),
         by_lines(recipes.tosa, even_grid(7), 7, "half_up"), "--profile ethosu16", "--profile ethosu16 -o silu.bin",
         "Vela turns TOSA's table into 512 words of a point and a slope, in the table memory of the chip.",
         2048, quick=False),
    Show("tflm", "TensorFlow Lite Micro", "tanh", S16,
         by_lines(recipes.tflm, recipes.tflm_points, 7, "half_up"), "--profile tflm16", "--profile tflm16 -o tanh.h",
         "The runtime's recipe places its points 65535/512 codes apart, and looks them up 128 apart; it lowers "
         "each by half of what its line is too high in the middle.", 1026, quick=False),
    Show("cmsis", "CMSIS-NN", "sigmoid", S16, cmsis, "--segments 56 --symmetry fold --method minimax",
         "--standalone -o sigmoid.h",
         "256 values of the sigmoid at i/24, constants of the library and of TensorFlow Lite Micro, which take no "
         "other table. No other 256 values are off by less ([profiles.md](profiles.md#cmsis-nns-sigmoid-and-tanh)). In "
         "the same bytes, lines with free ends are worse than these evenly spaced values, and within 1.016 LSB they "
         "take 639 bytes.", 512),
    Show("espdl", "ESP-DL, 8 bits", "gelu", ("s8:2^-4:0", "s8:2^-4:0"), each_code, "--method lut",
         "--format npy -o gelu.npy",
         "A byte for each of 256 codes, the nearest value: there is no better table.", 256),
    Show("espdl16", "ESP-DL, 16 bits", "sigmoid", S16, by_steps(recipes.espdl16, even_grid(8), 8),
         "--profile espdl16", "--profile espdl16 -o sigmoid.npy",
         "257 values 256 codes apart, of which the nearest is read since 3.3.8, half way the upper one. No other 257 "
         "values are off by less than 255 LSB; 2049, which `--knots steps:5` asks for, are by 31.4. The ESP32-P4 reads "
         "half way the value of even index, and its profile is espdl16-p4.", 514, quick=False),
    Show("espdl16-linear", "ESP-DL, 16 bits, before 3.3.8", "sigmoid", S16,
         by_lines(recipes.espdl16_linear, even_grid(8), 8, "floor"),
         "--profile espdl16-linear", "--profile espdl16-linear -o sigmoid.npy",
         "The same 257 values and lines between them, rounded towards the left value.", 514, quick=False),
    Show("nvdla", "NVDLA", "tanh", S16, by_lines(recipes.nvdla, even_grid(8), 8, "half_away"), "--profile nvdla",
         "--profile nvdla -o tanh.bin",
         "257 values 256 codes apart. NVDLA ships no table; this is the nearest value at each point.",
         700, quick=False),
    Show("hls4ml", "hls4ml", "sigmoid", ("s10:2^-6:0", "s16:2^-15:0"), rounded_down, "--profile hls4ml",
         "--profile hls4ml -o sigmoid_table.tb",
         "1024 values, one for each code of `ap_fixed<10, 4>`, each rounded down.", 2048),
    Show("finn", "FINN", "tanh", ("s8:2^-4:0", "s4:0.1333:0"), each_code, "--profile finn",
         "--profile finn -o tanh.json",
         "15 thresholds, where the nearest output code changes: there is no better table.", 15),
    Sfpu("tt-metal's SFPU",
         "Lines of float coefficients on bf16, in the words that a kernel loads: three segments by SFPLUT, six by "
         "SFPLUTFP32. Errors are of all 65,280 finite codes, by the chip's arithmetic. tanh-3 and those named like it "
         "ship; `pwlc` has as many words, and the least largest error, in real units, of all tables that meet f(0) and "
         "the limits of f exactly. So its sigmoid of six segments is 1 from 4 on, 0.018 more than f(4), where what "
         "ships stays below 1. Huge ULP are results other than 0 where f is 0, or almost; tables whose ULP are least "
         "are in [sfpu.md](sfpu.md).",
         {"tanh-3": 6, "tanh-6": 24, "sigmoid-3": 6, "sigmoid-6": 24, "gelu-6": 24}),
    Show("quant-gru", "quant-gru", "sigmoid", ("u16:2^-12:24576", "u16:2^-16:-1"), None, "--profile quant-gru",
         "--profile quant-gru -o sigmoid.h",
         "16 segments. Its fitter, with knots by hand and least squares in single precision, reaches 696.2 LSB at "
         "the worst and 130.1 RMS, as its authors' code computes them (`pwlc sweep --anchors quant-gru`); the "
         "picture shows ours alone.", 276),
    Show("ggml", "ggml", "gelu", ("s12:2^-9:0", "s16:2^-12:0"), ggml, "--max-err 1 --method minimax",
         "--standalone -o gelu.h",
         "A half for each of 65,536 halves, by the formula with tanh, which is off by up to 4.7e-4. The picture "
         "shows the codes from -4 to 4; errors are in real units.", 131072, theirs_out="s24:2^-20:0"),
]


class Maker:
    def __init__(self, pwlc, folder):
        self.pwlc, self.folder = pwlc, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, *arguments):
        done = subprocess.run([self.pwlc, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)
        if done.returncode:
            sys.exit(f"gallery.py: pwlc {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout

    def figures(self, name):
        return json.loads(self.run("sweep", name, "--format", "json"))[0]

    def readme(self):
        """The picture of README.md."""
        self.run("fit", "gelu", "--in", "s8:2^-5", "--out", "s8:2^-5", "-o", OURS)
        self.run("sweep", OURS, "--plot", README)


def figure(row, has_codes):
    """Without codes of the same type, real errors alone."""
    cells = [f"{row[name]:.4g}" for name in ("max_err_real", "rms_err_real", "max_err_lsb", "rms_err_lsb")]
    cells.append(f"{100 * row['correctly_rounded']:.1f} %")
    return " | ".join(cells if has_codes else cells[:2] + ["-"] * 3)


def short(type_text):
    return type_text.removesuffix(":0")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 3:
        sys.exit(__doc__)
    source, maker = pathlib.Path(arguments[1]), Maker(os.path.abspath(arguments[0]), arguments[2])
    page, pictures = source / "docs/gallery.md", source / "docs/gallery"
    text = page.read_text()
    before, middle, after = text.partition(BEGIN)[0], text.partition(BEGIN)[2].partition(END)[0], text.partition(END)[2]
    if not middle and BEGIN not in text:
        sys.exit(f"gallery.py: {page} has no line {BEGIN.strip()}")
    if "--check" not in sys.argv:
        made = [show.section(maker) for show in SHOWS]
        maker.readme()
        pictures.mkdir(exist_ok=True)
        for name in [README, *(name for show in SHOWS for name in show.pictures)]:
            (pictures / name).write_bytes((maker.folder / name).read_bytes())
        page.write_text(before + BEGIN + "\n" + "\n".join(made) + "\n" + END + after)
        return
    whole, failed = os.environ.get("PWL_TEST_LONG") == "1", False
    shows = [show for show in SHOWS if whole or show.quick]

    def same(name):
        return (maker.folder / name).read_bytes() == (pictures / name).read_bytes()

    maker.readme()
    for number, show in enumerate([None, *shows], 1):
        good = same(README) if show is None else show.section(maker) in middle and all(map(same, show.pictures))
        failed |= not good
        title = show.title if show else "README.md"
        print(f"{'ok' if good else 'not ok'} {number} - {title}: {'as' if good else 'not as'} ./dev gallery writes it")
    print(f"1..{len(shows) + 1}")
    sys.exit(failed)


main()
