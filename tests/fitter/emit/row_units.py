#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Units of row operators, in SystemVerilog: lint and synthesis say nothing, and benches find each row as the runtime has it,
with gaps, waits and a reset; faults are found: TAP. usage: row_units.py PWLC

PWL_TEST_LONG=1: every type of input with every type of output, every case with every number of lanes, 10^6 rows of softmax
and of LayerNorm, and netlists of iCE40."""
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PWLC = os.path.realpath(sys.argv[1])
LONG = os.environ.get("PWL_TEST_LONG") == "1"
LANES = (1, 2, 3, 4, 8, 16)
count = failures = 0

# Operator, input, output, longest row, further flags.
CASES = [
    ("softmax", "s8:0.0472", "u8:2^-8", 1, ""),
    ("softmax", "s8:0.0472", "u8:2^-8", 257, ""),
    ("softmax", "u16:1.5:3", "s8:2^-7:-5", 1, "--fraction 9"),
    ("softmax", "s16:0.00001", "s16:2^-15", 1000, ""),
    ("logsoftmax", "s8:0.0472", "s8:0.0625:127", 1, ""),
    ("logsoftmax", "u16:0.0004", "s16:2^-11:32767", 1000, ""),
    ("layernorm", "s8:0.0472:3", "s8:2^-4:11", 1, "--eps 0"),
    ("layernorm", "s16:2^-9", "u8:0.03:128", 768, "--eps 0"),
    ("rmsnorm", "u8:0.02:100", "s8:0.04", 384, "--eps 0.01"),
    ("l2norm", "s16:2^-10", "s16:2^-15", 1024, "--eps 1e-9"),
]
INPUTS = ["s8:0.0472:3", "u8:2^-4:128", "s16:2^-10:-5", "u16:0.00031:32768"]
SHARES = ["s8:2^-8:-128", "u8:2^-8", "s16:2^-16:-32768", "u16:2^-16:1"]
LOGARITHMS = ["s8:2^-3:127", "u8:2^-4:255", "s16:0.0007:32767", "u16:2^-12:65535"]
NORMALS = ["s8:2^-4:11", "u8:2^-5:128", "s16:2^-12", "u16:2^-12:32768"]
# Every type of input with every type of output; in short every type of either once with each family.
for k, (x, y) in enumerate(itertools.product(INPUTS, range(4))):
    row = [("softmax", x, SHARES[y], 40 + k, f"--fraction {8 + k}"),
           ("logsoftmax", x, LOGARITHMS[y], 40 + k, f"--fraction {30 - k}"),
           (("layernorm", "rmsnorm", "l2norm")[(k + k // 4) % 3], x, NORMALS[y], (2, 3, 7, 33, 64)[k % 5],
            f"--eps {(0, 1e-12, 1e-5, 2)[k // 4]}")]
    turn = (y - k // 4) % 4
    CASES += row if LONG else row[turn:turn + 1]


def tap(good, name, text=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    for line in text.splitlines()[:40] if not good else []:
        print(f"# {line}", flush=True)


def call(*command):
    """Exit status and all that was printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def array(path, values):
    """A file .npy of doubles."""
    import struct
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
                     + struct.pack(f"<{len(values)}d", *values))


def fit(case, path):
    """The operator's file; of norms with channels of their own, but of every third."""
    name, x, y, rows, flags = case
    words = ["fit", name, "--in", x, "--out", y, "--rows", str(rows)] + flags.split()
    if name in ("layernorm", "rmsnorm") and rows % 3:
        array(pathlib.Path("gamma.npy"), [(-1) ** (c % 7 == 3) * (0.2 + c * 37 % 64 / 32) for c in range(rows)])
        words += ["--gamma", "gamma.npy"]
        if name == "layernorm":
            array(pathlib.Path("beta.npy"), [(c * 29 % 64 - 32) / 40 for c in range(rows)])
            words += ["--beta", "beta.npy"]
    status, text = call(PWLC, *words, "-o", path)
    assert status == 0, text


def emit(lanes, unit="unit.sv", bench="unit_tb.sv", name="unit"):
    for form, path in (("sv", unit), ("sv-tb", bench)):
        status, text = call(PWLC, "emit", "op.json", "--format", form, "--name", name, "--lanes", str(lanes), "-o", path)
        assert status == 0, text


def simulate(*sources):
    """What Icarus has to say: nothing but the bench's line where all is well."""
    status, text = call("iverilog", "-g2012", "-Wall", "-o", "sim.vvp", *sources)
    if status or text:
        return False, text
    status, text = call("timeout", "300", "vvp", "-n", "sim.vvp")
    return status == 0 and re.fullmatch(r"\w+_tb: \d+ rows, \d+ codes, no mismatch, \d+ cycles\n", text) is not None, text


def check_case(k, case):
    fit(case, "op.json")
    for lanes in LANES if LONG else (LANES[k % len(LANES)],):
        name = f"case{k}_{lanes}"
        emit(lanes, f"{name}.sv", "unit_tb.sv", name)
        good, text = simulate(f"{name}.sv", "unit_tb.sv")
        assert good, f"{lanes} lanes: {text}"


def check_messages():
    """Of all units that check_case left."""
    units = sorted(map(str, pathlib.Path(".").glob("case*.sv")))
    assert len(units) >= 20
    status, lint = call("verilator", "--lint-only", "-Wall", "-Wno-MULTITOP", *units)
    assert status == 0 and not lint, lint
    status, text = call("yosys", "-q", "-p", f"read_verilog -sv {' '.join(units)}; hierarchy -check; proc; check -assert")
    assert status == 0 and "Warning" not in text, text


def check_faults(case, faults):
    """Each makes another unit of it, which the bench must tell from the operator's."""
    fit(case, "op.json")
    emit(2)
    unit = pathlib.Path("unit.sv").read_text()
    for old, new in faults:
        assert old in unit, f"{old} is not in the unit"
        pathlib.Path("broken.sv").write_text(unit.replace(old, new, 1))
        good, text = simulate("broken.sv", "unit_tb.sv")
        assert not good and "unit_tb: " in text, f"{new} in place of {old} is not found: {text}"


SOFTMAX_FAULTS = [
    ("+ ValueBits'(scaled[0])", "+ ValueBits'(1'b0)"),  # the rounding
    ("{(31 - Fraction) {1'b0}}} >> octave_q", "{(31 - Fraction) {1'b0}}} >> (octave_q & ~1)"),
    ("(err >>> 15)", "(err >>> 16)"),
    ("core_y, 15'd0} + product[47:17]", "core_y, 15'd0}"),  # no Newton step
    ("negative_i ? b_i : '0", "negative_i ? '0 : '0"),
    ("advance | (step_q != 5'd0)", "1'b1"),  # the product while outputs wait
    ("8'h01: exp_rom = 31'h3", "8'h01: exp_rom = 31'h2"),
    ("sum_q <= '0;", "sum_q <= 1 << Fraction;"),
    ("? exp_rom(distance_q) : '0", "? exp_rom(distance_q) : 31'd1 << 30"),  # a mask
    ("s_axis_tlast | (load_at_q == LastAt)", "s_axis_tlast"),
    ("(load_at_q < read_at_q)", "1'b1"),  # the next row over this one
]
NORM_FAULTS = [
    (">>> fall_q", ">>> (fall_q + 1)"),
    ("sum = scaled_q + SumBits'(beta_late_q)", "sum = scaled_q"),  # no half that rounds
    ("scaled_sum_q - product[SpreadBits-1:0]", "scaled_sum_q"),
    ("u_sum_q[ABits-1] ? -u_sum_q : u_sum_q", "u_sum_q"),
    (".negative_i(far_q[FarBits-1])", ".negative_i(1'b0)"),
    ("<< VarianceShift) + Epsilon", "<< VarianceShift)"),
    ("(err >>> 15)", "(err >>> 16)"),
    ("(lane < Rest) || (load_at_q != LastAt)", "1'b1"),
    ("lasts_q[5] ? '0 : channel_at_q", "1'b0 ? '0 : channel_at_q"),
    ("~|writes_q[6:1]", "1'b1"),
]


def check_million(case):
    fit(case, "op.json")
    rows = "1000000" if LONG else "1500"
    status, text = call(PWLC, "verify", "op.json", "--against", "sv", "--rows", rows, "--lanes", "4")
    assert status == 0 and re.match(rf"sv +{rows} rows, \d+ codes, 0 mismatches", text), text


def check_netlist(case, lanes):
    """What yosys makes of it for an iCE40 with DSPs is the unit still."""
    cells = "/usr/share/yosys/ice40/cells_sim.v"
    if not os.path.exists(cells):
        return
    fit(case, "op.json")
    emit(lanes)
    status, text = call("yosys", "-q", "-p", "read_verilog -sv unit.sv; synth_ice40 -dsp -top unit; write_verilog net.v")
    assert status == 0, text
    bench = pathlib.Path("unit_tb.sv").read_text().replace("#(.Lanes(Lanes)) dut", "dut")
    pathlib.Path("net_tb.sv").write_text(bench)
    status, text = call("iverilog", "-g2012", "-DNO_ICE40_DEFAULT_ASSIGNMENTS", "-o", "net.vvp", "net.v", "net_tb.sv", cells)
    assert status == 0, text
    status, text = call("timeout", "600", "vvp", "-n", "net.vvp")
    assert status == 0 and "no mismatch" in text, text


# What yosys proves of the unit's own lines, for every word that may stand in the registers before them.
FORMAL = """
module formal (input logic [7:0] d, input logic [SUM-1:0] word_i, output logic good);
{numbers}
{lines}
  logic [255:0] alike;
{claims}
  assign good = &alike;
endmodule
"""


def lines_of(unit, begin, end):
    """Of the unit, from a line that holds `begin` to the next one that holds `end`."""
    lines = unit.splitlines()
    first = next(k for k, line in enumerate(lines) if begin in line)
    last = next(k for k in range(first, len(lines)) if end in lines[k])
    return "\n".join(lines[first:last + 1])


def prove(numbers, lines, claims, bits):
    text = FORMAL.format(numbers=numbers, lines=lines, claims="\n".join(
        [f"  assign alike[{k}] = {claim};" for k, claim in enumerate(claims)]
        + [f"  assign alike[255:{len(claims)}] = '1;"])).replace("SUM-1", str(bits - 1))
    pathlib.Path("formal.sv").write_text(text)
    return call("yosys", "-q", "-p",
                "read_verilog -sv formal.sv; prep -top formal -flatten; memory_map; opt; sat -verify -prove good 1 -set-def-inputs formal")


def check_proofs_of_softmax():
    """E[d] of every difference, and the word and the shift of every sum."""
    fit(("softmax", "s8:0.0472", "u8:2^-8", 1000, ""), "op.json")
    emit(1)
    unit, operator = pathlib.Path("unit.sv").read_text(), json.loads(pathlib.Path("op.json").read_text())
    numbers = "\n".join(re.findall(r"^  localparam integer .*$", unit.split("module unit_buffer")[0], re.M)[:40])
    numbers = "  localparam integer Lanes = 1;\n  localparam integer Longest = 1000;\n" + numbers
    numbers = re.sub(r"^.*(Beats|AtBits).*\n?", "", numbers, flags=re.M)
    lines = lines_of(unit, "automatic logic [30:0] exp_rom", "endfunction")
    lines += """
  logic [SumBits-1:0] sum_q;
  logic [OctaveBits-1:0] octave, octave_q;
  logic [AlignedBits-1:0] aligned;
  integer octave_k;
  assign sum_q = word_i;
  assign octave_q = octave;
""" + lines_of(unit, "    octave = '0;", "assign aligned").replace("    octave = '0;", "  always_comb begin\n    octave = '0;")
    cases = " : ".join(f"(d == 8'd{d}) ? 31'd{value}" for d, value in enumerate(operator["exp"])) + " : 31'd0"
    # 10 octaves: S has 31 to 40 bits.
    claims = [f"exp_rom(d) == ({cases})"]
    claims += [f"(word_i[39:{30 + k}] != 1) | ((octave == {k}) & (aligned[31:0] == 32'((64'(word_i) << 1) >> {k})))"
               for k in range(10)]
    status, text = prove(numbers, lines, claims, 40)
    assert status == 0, text
    broken = lines.replace(">> octave_q", ">> (octave_q ^ 2)")
    assert prove(numbers, broken, claims, 40)[0] != 0, "a fault is not found"


def check_proofs_of_norm():
    """The word and the shift of every variance."""
    fit(("rmsnorm", "s8:0.05", "s8:0.03", 96, ""), "op.json")
    emit(1)
    unit = pathlib.Path("unit.sv").read_text()
    numbers = "\n".join(re.findall(r"^  localparam integer (?:Pair|Fall|Variance)\w+ = \d+;", unit, re.M))
    number = dict(re.findall(r"integer (\w+) = (\d+);", numbers))
    bits, least, most = (int(number[name]) for name in ("VarianceBits", "PairLeast", "FallMost"))
    lines = """
  logic [VarianceBits-1:0] variance_q;
  logic [VarianceBits+31:0] aligned;
  logic [FallBits-1:0] fall, fall_q;
  integer pair_k;
  assign variance_q = word_i;
  assign fall_q = fall;
""" + lines_of(unit, "    fall = '0;", "assign aligned").replace("    fall = '0;", "  always_comb begin\n    fall = '0;")
    claims = []
    for k in range(most + 1):
        pair = least + k
        word = f"word_i << {30 - 2 * pair}" if pair <= 15 else f"word_i >> {2 * pair - 30}"
        claims.append(f"((128'(word_i) >> {2 * pair}) > 3) | ((word_i >> {2 * pair}) == 0) | "
                      f"((fall == {k}) & (aligned[VarianceBits+31 -: 32] == 32'({word})))")
    status, text = prove(numbers, lines, claims, bits)
    assert status == 0, text
    assert prove(numbers, lines.replace("- fall_q", "- (fall_q ^ 1)"), claims, bits)[0] != 0, "a fault is not found"


def run(name, check, *arguments):
    try:
        check(*arguments)
        tap(True, name)
    except AssertionError as error:
        tap(False, name, str(error)[:2000])


def main():
    for tool in ("iverilog", "verilator", "yosys"):
        if not shutil.which(tool):
            print(f"1..0 # SKIP {tool} is not installed")
            return 0
    softmax = ("softmax", "s8:0.0472", "u8:2^-8", 32, "")
    layernorm = ("layernorm", "s8:0.05", "s8:0.03:-4", 32, "")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for k, case in enumerate(CASES):
            run(" ".join(map(str, case)), check_case, k, case)
        run("lint and synthesis say nothing", check_messages)
        run("faults of softmax are found", check_faults, softmax, SOFTMAX_FAULTS)
        run("faults of LayerNorm are found", check_faults, layernorm[:3] + (37, ""), NORM_FAULTS)
        run("proofs of softmax", check_proofs_of_softmax)
        run("proofs of a norm", check_proofs_of_norm)
        run("many rows of softmax", check_million, softmax)
        run("many rows of LayerNorm", check_million, layernorm)
        for case in (softmax, layernorm) if LONG else ():
            run(f"netlist of {case[0]}", check_netlist, case, 2)
        os.chdir("/")
    print(f"1..{count}")
    return failures > 0


sys.exit(main())
