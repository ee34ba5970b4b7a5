#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of pwlc beside lines by Sollya's fpminimax: the same function, formats, knots and bits.

    beside_sollya.py PWLC PAGE        writes its table into the page, between the comments that name this file

Tables are biased and round half up, so that slope and constant are fixed-point numbers of n fraction bits, as Sollya's
formats are. Each segment's n is for Sollya the largest one with which the slope of the chord fits the bits of a slope,
and the value with 2^n 30 bits. Sollya is asked for the line over the segment's codes and all between, and for a proven
bound of that line's error, before it is rounded to an output code; pwlc then measures Sollya's table at every code.
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Outputs have room on both sides: Sollya knows no saturation, which lines of pwlc would make use of.
GELU, SIGMOID = "x*(1+erf(x/sqrt(2)))/2", "1/(1+exp(-x))"
ROWS = [("sigmoid", SIGMOID, "s8:2^-5", "s8:2^-7:-64", 8), ("gelu", GELU, "s8:2^-5", "s8:2^-4", 8),
        ("atan", "atan(x)", "s8:2^-5", "s8:2^-6", 8), ("tanh", "tanh(x)", "s12:2^-9", "s12:2^-10", 16),
        ("sigmoid", SIGMOID, "s16:2^-12", "s16:2^-15:-16384", 16), ("gelu", GELU, "s16:2^-13", "s16:2^-12", 16)]
BEGIN, END = "<!-- tests/proofs/beside_sollya.py: begin -->\n", "<!-- tests/proofs/beside_sollya.py: end -->\n"

SCRIPT = """
prec = 200!;
procedure line(a, b) {
    var h, g, s, n, p;
    h = %(f)s;
    g = h(%(scale)s * x) * %(steps)s + %(zero)d;
    s = abs((g(b) - g(a)) / (b - a));
    n = %(most)d;
    while (s * 2^n > 2^%(slope)d - 2) do { n = n - 1; };
    p = fpminimax(g, [|0,1|], [|n,n|], [a;b], fixed, absolute);
    print(n, coeff(p, 1) * 2^n, coeff(p, 0) * 2^n, sup(supnorm(p, g, [a;b], absolute, 2^-20)));
};
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sollya_lines(table, f, folder):
    """n, slope and constant of each segment, and the bound that Sollya proves of the line."""
    x, y, rows = table["in"], table["out"], table["segments"]
    power = {side: int(table[side]["scale"][2:]) for side in ("in", "out")}
    script = SCRIPT % {"f": f, "scale": f"2^({power['in']})",
                       "steps": f"2^({-power['out']})", "zero": y["zero_point"], "most": min(31, 30 - y["bits"]),
                       "slope": int(table["case"][3:]) - 1}
    ends = [row["start"] for row in rows[1:]] + [x["qmax"] + 1]
    script += "".join(f"line({row['start']}, {end - 1});\n" for row, end in zip(rows, ends)) + "quit;\n"
    path = folder / "lines.sollya"
    path.write_text(script)
    said = run("sollya", "--warnonstderr", str(path))
    found = re.findall(r"^(-?\d+) (-?\d+) (-?\d+) (\S+)$", said, re.M)
    if len(found) != len(rows):
        sys.exit(f"Sollya gives {len(found)} lines and not {len(rows)}: {said}")
    return [(int(n), int(q_b), int(c), float(bound)) for n, q_b, c, bound in found]


def beside(pwlc, row, folder):
    function, f, into, out, segments = row
    path = str(folder / "table.json")
    run(pwlc, "fit", function, "--in", into, "--out", out, "--segments", str(segments), "--method", "minimax",
        "--form", "biased", "--rounding", "half_up", "-o", path)
    table = json.loads(pathlib.Path(path).read_text())
    lines = sollya_lines(table, f, folder)
    theirs = {name: value for name, value in table.items() if name not in ("hash", "certificate")}
    theirs["segments"] = [{"start": mine["start"], "q_b": q_b, "n_BX_total": n, "bias": c}
                          for mine, (n, q_b, c, _) in zip(table["segments"], lines)]
    (folder / "sollya.json").write_text(json.dumps(theirs))
    measured = json.loads(run(pwlc, "certify", str(folder / "sollya.json")))["certificate"]
    says = table["certificate"]
    assert not says["saturated_codes"], function
    proven = "yes" if says["optimal"] else f"no, {says['lower_bound_lsb']:.4f}"
    bound = max(line[3] for line in lines)
    return [f"{function}, {into} to {out}", len(table["segments"]), f"{says['max_err_lsb']:.4f}", proven,
            f"{measured['max_err_lsb']:.4f}", f"{bound:.4f}", f"{says['correctly_rounded']:.1%}",
            f"{measured['correctly_rounded']:.1%}"]


def main():
    pwlc, page = sys.argv[1], pathlib.Path(sys.argv[2])
    head, rest = page.read_text().split(BEGIN)
    tail = rest.split(END)[1]
    with tempfile.TemporaryDirectory() as folder:
        rows = [beside(pwlc, row, pathlib.Path(folder)) for row in ROWS]
    version = re.search(r"sollya (\S+)", run("sollya", "--version"))[1]
    lines = ["| table | segments | pwlc: largest error | the least there is | fpminimax: largest error "
             "| supnorm of its lines | nearest codes: pwlc | fpminimax |", "|---|---:|---:|---|---:|---:|---:|---:|",
             *(f"| {' | '.join(map(str, row))} |" for row in rows), "",
             f"In output steps; Sollya {version} of Debian 12, {datetime.date.today()}.", ""]
    page.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + tail)


if __name__ == "__main__":
    main()
