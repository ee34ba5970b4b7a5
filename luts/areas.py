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
STYLES = ("rom", "aligned", "barrel", "tree")
TARGETS = ("xc7", "xc7-nodsp", "ice40", "ice40-dsp", "generic")
ROM_WIDTHS = ("s8",)  # of 16 bits a ROM has 2^16 words: more than the small devices hold
COLUMNS = (
    ("xc7 LUT + DSP", lambda of: f'{of["xc7"]["lut"]:.0f} + {of["xc7"]["dsp"]:.0f}'),
    ("no DSP", lambda of: f'{of["xc7-nodsp"]["lut"]:.0f}'),
    ("ice40 LUT", lambda of: f'{of["ice40"]["lut"]:.0f}{ram(of["ice40"])}'),
    ("+ DSP", lambda of: f'{of["ice40-dsp"]["lut"]:.0f} + {of["ice40-dsp"]["dsp"]:.0f}{ram(of["ice40-dsp"])}'),
    ("gates", lambda of: f'{of["generic"]["cells"]:.0f}'),
    ("MHz, hx8k / up5k", lambda of: f'{clock(of["ice40"])} / {clock(of["ice40-dsp"])}'),
)


def ram(row):
    return f' + {row["ram"]:.0f} RAM' if row["ram"] else ""


def clock(row):
    return "-" if row["fmax_mhz"] is None else f'{row["fmax_mhz"]:.0f}'


def pwlc(*arguments):
    return subprocess.run([sys.argv[1], *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


def measure(job):
    """The lines of one table: [function, width, segments asked, error, style, {target: figures}]."""
    spec, segments, folder = job
    path = folder / f'{spec["name"]}_{segments}.json'
    pwlc("fit", spec["function"], "--in", spec["in"], "--out", spec["out"], "--segments", segments, "-o", path)
    table = json.loads(path.read_text())
    width = spec["in"].partition(":")[0]
    styles = [style for style in STYLES if style != "rom" or width in ROM_WIDTHS]
    rows = json.loads(pwlc("cost", path, "--target", ",".join(TARGETS), "--rtl-style", ",".join(styles), "--format",
                           "json"))
    print(f"{path.stem}: done", file=sys.stderr, flush=True)
    return [(spec["function"], width, segments, table["certificate"]["rms_err_lsb"], style,
             {row["target"]: row for row in rows if row["style"] == style}) for style in styles]


def page_tables(lines):
    text = ""
    for width in WIDTHS:
        text += f"\n{width}:\n\n"
        text += "| function | segments | RMS, LSB | style | " + " | ".join(title for title, _ in COLUMNS) + " |\n"
        text += "|---|---|---|---|" + "---|" * len(COLUMNS) + "\n"
        roms = set()
        for function, of_width, segments, error, style, of in lines:
            # one ROM stands for all numbers of segments: its words are outputs
            if of_width != width or (style == "rom" and function in roms):
                continue
            roms |= {function} if style == "rom" else set()
            asked = "any" if style == "rom" else segments
            shown = "-" if style == "rom" else f"{error:.3g}"
            text += f"| {function} | {asked} | {shown} | {style} | "
            text += " | ".join(value(of) for _, value in COLUMNS) + " |\n"
    return text + "\n"


def main():
    page = pathlib.Path(sys.argv[2])
    text = page.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"areas.py: {page} has no lines {BEGIN.strip()} and {END.strip()}")
    specs = {spec["name"]: spec for spec in json.loads(STANDARD.read_text())}
    segments = [int(argument) for argument in sys.argv[3:]] or [8, 16, 32]
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(specs[f"{function}_{width}"], count, pathlib.Path(folder)) for width in WIDTHS
                for function in FUNCTIONS for count in segments]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            lines = [line for found in pool.map(measure, jobs) for line in found]
    before, rest = text.split(BEGIN)
    page.write_text(before + BEGIN + page_tables(lines) + END + rest.split(END)[1])


main()
