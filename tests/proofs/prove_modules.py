#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proves that SystemVerilog of `pwlc emit` gives a table's output at every code, for inputs of up to 16 bits. TAP.

    prove_modules.py PWLC               small tables of each form, rounding and style, two unless PWL_TEST_LONG=1, and
                                        that another table is told from each
    prove_modules.py PWLC TABLE...      these, in the style that pwlc takes by itself

As in `pwlc verify --prove` registers become wires, and where no path leads back to where it began, the output is a
function of one code. Beside it stands what docs/meaning.md says of each segment, in 64 bits; the question whether they
differ at a code of a segment is a cone of its own, in which slope, shift and offset are numbers, and which ABC decides.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

OFFSETS = {"absolute": "term_c", "biased": "bias", "anchored": "y"}
REGISTERS = """(* techmap_celltype = "$dff $adff" *)
module register_as_wire (CLK, ARST, D, Q);
  parameter WIDTH = 1, CLK_POLARITY = 1, ARST_POLARITY = 1, ARST_VALUE = 0;
  input CLK, ARST;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  assign Q = D;
endmodule
"""
# Registers first: one whose clock stands still would be anything.
SCRIPT = """read_verilog -sv module.sv
hierarchy -check -top dut
proc
flatten
opt -nodffe -nosdff
techmap -map registers.v
select -assert-none t:$*dff* t:$*latch* t:$*_DFF*
scc -all_cell_types -expect 0
read_verilog -sv differs.sv
hierarchy -check -top differs
proc
flatten
opt -purge
memory_map
opt
wreduce
techmap
opt
aigmap
write_aiger -symbols differs.aig
"""


def literal(value):
    return f"{'-' if value < 0 else ''}64'sd{abs(value)}"


def shifted(p, n, rounding):
    """shr(p, n) of docs/meaning.md."""
    if n <= 0:
        return f"({p} <<< {-n})"
    half = 1 << (n - 1)
    if rounding == "half_even":
        return f"(({p} + {literal(half - 1)} + (({p} >>> {n}) & 64'sd1)) >>> {n})"
    away = f"({p} < 0 ? {literal(half - 1)} : {literal(half)})"
    addend = {"floor": literal(0), "half_up": literal(half), "half_away": away}[rounding]
    return f"(({p} + {addend}) >>> {n})"


def limited(term, low, high):
    return f"{term} < {literal(low)} ? {literal(low)} : {term} > {literal(high)} ? {literal(high)} : {term}"


def extended(name, is_signed):
    return f"$signed({name})" if is_signed else f"$signed({{1'b0, {name}}})"


def differs(table):
    """A module with an output for each segment: whether x is a code of it at which the other module gives another."""
    x, y, rows, fold = table["in"], table["out"], table["segments"], table.get("fold")
    zero = x["zero_point"]
    first, last = (zero, max(x["qmax"], 2 * zero - x["qmin"])) if fold else (x["qmin"], x["qmax"])
    starts = [row["start"] for row in rows] + [last + 1]
    assert starts[0] == first and starts == sorted(set(starts)), "segments hold every code"
    text = [f"module differs (input [{x['bits'] - 1}:0] x, output [{len(rows) - 1}:0] is_other);",
            f"wire [{y['bits'] - 1}:0] y;",
            "dut dut (.clk_i(1'b0), .rst_ni(1'b1), .valid_i(1'b1), .x_i(x), .valid_o(), .y_o(y));",
            f"wire signed [63:0] code = {extended('x', x['signed'])}, got = {extended('y', y['signed'])};",
            f"wire signed [63:0] clamped = {limited('code', x['qmin'], x['qmax'])};",
            f"wire mirrored = {f'clamped < {literal(zero)}' if fold else 0};",
            f"wire signed [63:0] q = mirrored ? {literal(2 * zero)} - clamped : clamped;"]
    for i, row in enumerate(rows):
        base, offset = row["start"] if table["form"] == "anchored" else zero, row[OFFSETS[table["form"]]]
        before, after = (offset, 0) if table["form"] == "biased" else (0, offset)
        line = shifted(f"p{i}", row["n_BX_total"], table["rounding"])
        text += [f"wire signed [63:0] p{i} = {literal(row['q_b'])} * (q - {literal(base)}) + {literal(before)};",
                 f"wire signed [63:0] v{i} = {line} + {literal(after)};",
                 f"wire signed [63:0] f{i} = mirrored ? {literal(fold['sum'] if fold else 0)} - v{i} : v{i};",
                 f"wire signed [63:0] e{i} = {limited(f'f{i}', y['qmin'], y['qmax'])};",
                 f"assign is_other[{i}] = q >= {literal(starts[i])} && q < {literal(starts[i + 1])} && got != e{i};"]
    return "\n".join(text) + "\nendmodule\n"


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command[0]}: {(done.stderr or done.stdout)[-600:]}")
    return done.stdout


def is_equal(segment, folder):
    """ABC's iprove ends some cones by a failed assertion of its own, with which it proves nothing, and not after dc2."""
    for way in "iprove", "dc2; iprove":
        script = f"read_aiger differs.aig; cone -O {segment}; strash; {way}; print_status"
        done = subprocess.run(["yosys-abc", "-c", script], cwd=folder, capture_output=True, text=True)
        if done.returncode == 0 and "Status = " in done.stdout:
            return "Status = 1 " in done.stdout
    return False


def refused(table, module, folder):
    """The segments in which the module is not proven equal to the table."""
    folder = pathlib.Path(folder)
    files = {"module.sv": module, "differs.sv": differs(table), "registers.v": REGISTERS, "proof.ys": SCRIPT}
    for name, text in files.items():
        (folder / name).write_text(text)
    run(["yosys", "-q", "proof.ys"], folder)
    return [i for i in range(len(table["segments"])) if not is_equal(i, folder)]


def emitted(pwlc, path, style):
    flags = ["--format", "sv", "--name", "dut", "--rtl-style", style, "--stages", "2"]
    return run([pwlc, "emit", *flags, str(path)], None)


# A function, types and more flags, and the style.
SMALL = [("sigmoid --in u8:2^-5:128 --out u9:2^-9 --segments 3 --rounding half_up --form biased", "tree"),
         ("exp --in s8:2^-5:20 --out u10:2^-7 --segments 4 --rounding half_away", "auto"),
         ("tanh --in s9:2^-6 --out s9:2^-8 --segments 3 --symmetry fold --rounding half_even --form anchored",
          "barrel"),
         ("gelu --in s10:2^-7:5 --out s10:2^-7 --segments 5", "aligned")]


def small(pwlc, folder):
    """Lines of TAP."""
    path = pathlib.Path(folder) / "table.json"
    for flags, style in SMALL if os.environ.get("PWL_TEST_LONG") == "1" else SMALL[:2]:
        run([pwlc, "fit", *flags.split(), "-o", str(path)], folder)
        table, module = json.loads(path.read_text()), emitted(pwlc, path, style)
        fold = "fold, " if "fold" in table else ""
        yield not refused(table, module, folder), f"{flags}: {fold}{style}"
        row = table["segments"][1]
        row[OFFSETS[table["form"]]] += 1 << max(row["n_BX_total"], 0) if table["form"] == "biased" else 1
        others = refused(table, module, folder)
        yield others == [1], f"{flags}: another segment 1 is told" + (f"\n# but {others}" if others != [1] else "")


def whole(pwlc, paths, folder):
    for path in paths:
        table = json.loads(pathlib.Path(path).read_text())
        others = refused(table, emitted(pwlc, path, "auto"), folder)
        name = f"{pathlib.Path(path).stem}: equal in each of {len(table['segments'])} segments"
        yield not others, name + (f"\n# but of {others}" if others else "")


def main():
    pwlc, paths = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    if not shutil.which("yosys") or not shutil.which("yosys-abc"):
        print("1..0 # SKIP no yosys: ./dev test installs it")
        return 0
    number = failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for is_good, name in whole(pwlc, paths, folder) if paths else small(pwlc, folder):
            number += 1
            failures += not is_good
            print(f"{'ok' if is_good else 'not ok'} {number} - {name}", flush=True)
    print(f"1..{number}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
