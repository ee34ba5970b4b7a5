#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What standard functions cost in logic: pwlc cost, as tables of a page.

    areas.py PWLC PAGE [SEGMENTS...]     numbers of segments; 8, 16 and 32 by default

Fits sigmoid, tanh and GELU in 8 and 16 bits, measures every style of module, two tables at a time, and replaces the
tables of PAGE between the lines that name this program. What pwlc has measured before, it keeps: a second run takes
seconds, a first one an hour.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

BEGIN = "<!-- areas: made by luts/areas.py -->\n"
END = "<!-- end of the areas -->\n"
STANDARD = pathlib.Path(__file__).resolve().parent / "specs/standard.json"
FUNCTIONS = ("sigmoid", "tanh", "gelu")
WIDTHS = ("s8", "s16")
STYLES = ("aligned", "barrel", "tree")
TARGETS = ("xc7", "xc7-nodsp", "ice40", "ice40-dsp", "generic")
ROM_TARGETS = {"s8": TARGETS, "s16": ("xc7", "xc7-nodsp")}  # 2^16 words are more than the small devices hold
COLUMNS = (  # title, target, figures
    ("xc7 LUT + DSP", "xc7", ("lut", "dsp", "ram")),
    ("no DSP", "xc7-nodsp", ("lut", "ram")),
    ("ice40 LUT", "ice40", ("lut", "ram")),
    ("+ DSP", "ice40-dsp", ("lut", "dsp", "ram")),
    ("gates", "generic", ("cells",)),
    ("MHz, hx8k", "ice40", ("fmax_mhz",)),
    ("up5k", "ice40-dsp", ("fmax_mhz",)),
)


def cell(of, target, figures):
    """As "131 + 1" or "1 + 0 + 1 RAM"; "-" where nothing was measured, or the clock of what does not fit."""
    if target not in of or of[target][figures[0]] is None:
        return "-"
    row = of[target]
    return " + ".join(f"{row[name]:.0f}" + (" RAM" if name == "ram" else "") for name in figures
                      if name != "ram" or row["ram"])


def pwlc(*arguments):
    return subprocess.run([sys.argv[1], *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


def cost(path, targets, styles):
    """{style: {target: figures}}"""
    rows = json.loads(pwlc("cost", path, "--target", ",".join(targets), "--rtl-style", ",".join(styles), "--format",
                           "json"))
    return {style: {row["target"]: row for row in rows if row["style"] == style} for style in styles}


def measure(job):
    """The lines of one table: (function, width, segments asked, error, style, {target: figures})."""
    spec, width, segments, folder, with_rom = job
    path = folder / f'{spec["name"]}_{segments}.json'
    pwlc("fit", spec["function"], "--in", spec["in"], "--out", spec["out"], "--segments", segments, "-o", path)
    error = json.loads(path.read_text())["certificate"]["rms_err_lsb"]
    found = cost(path, ROM_TARGETS[width], ["rom"]) if with_rom else {}
    found |= cost(path, TARGETS, STYLES)
    print(f"{path.stem}: done", file=sys.stderr, flush=True)
    return [(spec["function"], width, segments, error, style, of) for style, of in found.items()]


def page_tables(lines):
    """One ROM stands for all numbers of segments: its words are outputs, those of the first."""
    text = ""
    for width in WIDTHS:
        text += f"\n{width}:\n\n"
        text += "| function | segments | RMS, LSB | style | " + " | ".join(title for title, _, _ in COLUMNS) + " |\n"
        text += "|---|---|---|---|" + "---|" * len(COLUMNS) + "\n"
        for function, of_width, segments, error, style, of in lines:
            if of_width == width:
                table = ("any", "-") if style == "rom" else (str(segments), f"{error:.3g}")
                cells = [cell(of, target, figures) for _, target, figures in COLUMNS]
                text += "| " + " | ".join((function, *table, style, *cells)) + " |\n"
    return text + "\n"


def main():
    page = pathlib.Path(sys.argv[2])
    text = page.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"areas.py: {page} has no lines {BEGIN.strip()} and {END.strip()}")
    specs = {spec["name"]: spec for spec in json.loads(STANDARD.read_text())}
    segments = [int(argument) for argument in sys.argv[3:]] or [8, 16, 32]
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(specs[f"{function}_{width}"], width, count, pathlib.Path(folder), count == segments[0])
                for width in WIDTHS for function in FUNCTIONS for count in segments]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            lines = [line for found in pool.map(measure, jobs) for line in found]
    before, rest = text.split(BEGIN)
    page.write_text(before + BEGIN + page_tables(lines) + END + rest.split(END)[1])


main()
