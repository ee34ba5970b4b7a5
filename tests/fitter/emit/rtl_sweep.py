#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hardware that pwlc emits for drawn tables, in five tools. Every kind of table (storage case, form, rounding, fold,
reduction, sign, left shifts) meets every style, number of stages and handshake:

  Icarus     the emitted bench, with its gaps, waits and reset
  Verilator  -Wall without a message; then every code up to 16 bits, beyond it the starts and drawn codes, against the
             emitted C header
  GHDL       the same modules in VHDL, by their emitted bench
  C++        the same without registers, for high-level synthesis, against the emitted C header
  yosys      reads all of it, and finds no loop and no conflict

And a number of the bench or of the module that is another one is found. TAP. Benches of three quarters of the modules run in
Icarus, of the others in GHDL. With PWL_TEST_LONG=1 all run in both, of more tables, each in every style, every code in Icarus too,
and netlists of iCE40.

usage: rtl_sweep.py PWLC RANDOM_TABLES SOURCE_ROOT
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PWLC, RANDOM_TABLES, ROOT = (os.path.realpath(argument) for argument in sys.argv[1:4])
LONG = os.environ.get("PWL_TEST_LONG") == "1"
STYLES = ("aligned", "tree", "barrel")
DRAWN = 4096  # codes of wide inputs that Verilator compares
count = failures = 0


def tap(good, name, text=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    for line in text.splitlines()[:40] if not good else []:
        print(f"# {line}", flush=True)


def call(*command, cwd=None):
    """Exit status and all that was printed."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


# -- What is emitted ----------------------------------------------------------------------------------------------------

STAGES = (0, 1, 2, 3, 4, 6, 9, 13, 24)


class Module:
    def __init__(self, path, number, style, stages, has_ready):
        self.path = path
        self.table = json.loads(path.read_text())
        self.name, self.number = f"m{number}", number
        self.style, self.stages, self.has_ready = style, stages, has_ready
        self.flags = ["--name", self.name, "--rtl-style", style, "--stages", str(stages), "--rtl-handshake",
                      "ready" if has_ready else "valid"]
        self.label = f"{path.stem}, {style}, {stages} stages, {'ready' if has_ready else 'valid'}"
        self.bits = self.table["in"]["bits"]

    def emit(self, folder):
        for arguments, suffix in ((["--format", "sv"] + self.flags, ".sv"), (["--format", "v"] + self.flags, ".v"),
                                  (["--format", "sv-tb"] + self.flags, "_tb.sv"),
                                  (["--format", "vhdl"] + self.flags, ".vhd"),
                                  (["--format", "vhdl-tb"] + self.flags, "_tb.vhd"),
                                  (["--standalone", "--name", self.name], ".h")):
            status, text = call(PWLC, "emit", str(self.path), *arguments, "-o", str(folder / (self.name + suffix)))
            if status:
                return f"{self.label}: {text}"
        return ""

    def codes(self):
        """Codes that Verilator compares: None for all."""
        if self.bits <= 16:
            return None
        tensor = self.table["in"]
        centres = [tensor["qmin"], tensor["qmax"], tensor["zero_point"], 0, 1 << (self.bits - 1)]
        for segment in self.table["segments"]:
            centres += [segment["start"], 2 * tensor["zero_point"] - segment["start"]]
        return [(code + near) % (1 << self.bits) for code in centres for near in (-1, 0, 1)]


# Slopes that are shifts, starts that top bits tell, and both; what no drawing meets.
FITS = (
    "gelu --in s8:2^-5 --out s8:2^-5 --slope-terms 1",
    "gelu --in s8:2^-5 --out s8:2^-5 --slope-terms 2 --form biased --rounding half_even --method minimax",
    "silu --in s8:2^-5 --out s8:2^-5 --slope-terms 2 --form anchored --rounding half_away --method minimax",
    "sigmoid --in s8:2^-4 --out u8:2^-8 --slope-terms 1 --symmetry fold --rounding half_up --method minimax",
    "tanh --in s9:2^-6 --out s10:2^-9 --slope-terms 2 --symmetry fold --knots pow2:6 --method minimax",
    "tanh --in u10:2^-6:300 --out s10:2^-9 --knots pow2:5 --form anchored --rounding half_up --method minimax",
    "gelu --in s12:2^-8 --out s12:2^-8 --method uniform --form anchored",
    "gelu --in u12:2^-8:1024 --out s12:2^-8 --knots pow2:6 --form biased --method minimax",
    "sigmoid --in s12:2^-8 --out s12:2^-11 --knots uniform --segments 32 --form anchored --symmetry fold --rounding half_up",
    "sigmoid --in u12:2^-8:1024 --out u10:2^-10 --knots uniform --segments 48 --form anchored --symmetry fold",
    "tanh --in s10:2^-6:-64 --out s10:2^-9 --knots uniform --segments 9 --form biased --symmetry fold --method minimax",
    "gelu --in s11:2^-7 --out s12:2^-8 --knots uniform --segments 2 --form anchored --method minimax",
    "gelu --in u11:2^-7:512 --out s12:2^-8 --knots uniform --segments 24 --form anchored --rounding half_even",
    "silu --in s12:2^-7 --out s12:2^-7 --segments 12 --form anchored --rounding half_away --method minimax",
    "silu --in u12:2^-7:1000 --out s12:2^-7 --knots pow2:7 --segments 12 --form anchored --method minimax",
)


# Outputs that are a ramp less what is the same on both sides, with and without an adder for |d|, a last word that wraps
# around, and ramps that are shifted.
RESIDUALS = (
    "gelu --in s8:2^-5 --out s8:2^-5 --method lut",
    "gelu --in s8:2^-5 --out s8:2^-5 --method residual --max-err 1",
    "silu --in s8:2^-5 --out s8:2^-5 --method lut",
    "silu --in u9:2^-6:200 --out s10:2^-6:3 --method lut",
    "gelu --in s9:2^-6:-3 --out u10:2^-7:99 --method residual --max-err 0.75",
    "hard_swish --in s9:2^-6 --out s8:2^-4 --method residual --max-err 1.25",
)


def fit_tables(folder, specs, name):
    for number, words in enumerate(specs):
        path = folder / f"{name}{number}.json"
        status, text = call(PWLC, "fit", *words.split(), "-o", str(path))
        if status:
            tap(False, words, text)
        else:
            yield path


def is_drawn_in_short(path):
    """Of the tables that random_tables.c draws, half: of each case, form and rounding the folded or the plain one, of each law
    every second; and the edges."""
    kind = int(path.stem[:3]) - 1
    if kind < 72:
        return kind % 2 == (kind // 24 + kind // 8 + kind // 2) % 2
    return kind >= 102 or (kind // 6 + kind) % 2 == 0


def draw_modules(folder):
    paths = sorted(pathlib.Path(ROOT, "luts/tables").glob("sigmoid_s*.json"))
    fitted = list(fit_tables(folder, FITS, "fit"))
    residuals = list(fit_tables(folder, RESIDUALS, "residual"))
    paths += fitted + residuals
    for seed in (1, 2) if LONG else (1,):
        drawn = folder / f"tables{seed}"
        drawn.mkdir()
        call(RANDOM_TABLES, str(drawn), str(seed))
        paths += sorted(path for path in drawn.glob("*.json") if LONG or is_drawn_in_short(path))
    modules = []
    for i, path in enumerate(paths):
        bits = json.loads(path.read_text())["in"]["bits"]
        styles = STYLES if LONG or path in fitted else ("residual", "residual") if path in residuals else (STYLES[i % 3],)
        if bits <= 10 and (LONG or i % 4 == 0):
            styles += ("rom",)
        for style in styles:
            number = len(modules)
            modules.append(Module(path, number, style, STAGES[(number + i // 5) % len(STAGES)],
                                  (number // 5 + i) % 2 == 1))
    return modules


# -- The tools ----------------------------------------------------------------------------------------------------------

def run_bench(folder, name, last=None):
    limit = [f"-P{name}_tb.LAST={last}"] if last else []
    status, text = call("iverilog", "-Wall", "-g2012", *limit, "-o", name + ".vvp", name + ".sv", name + "_tb.sv",
                        cwd=folder)
    if status or text:
        return False, text
    status, text = call("timeout", "600", "vvp", "-n", name + ".vvp", cwd=folder)
    return status == 0 and "no mismatch" in text, text


def last_of(folder, module):
    """Icarus takes 20 us a code: of wide inputs as many as the bench has its first hash of, of 16 bits some. At length
    all of 16 bits, and of each fortieth module."""
    if LONG and (module.bits <= 16 or module.number % 40 == 0):
        return None
    first = int(re.search(r"FIRST_CODES = (\d+)", (folder / f"{module.name}_tb.sv").read_text()).group(1))
    return min(first, 2048 if module.bits <= 16 else 4096) if module.bits > 12 or first > 4096 else None


def runs_in_icarus(module):
    """Neither styles nor numbers of stages alternate as this does."""
    return module.number // 3 % 4 != 1


def check_icarus(folder, modules):
    bad = []
    chosen = [module for module in modules if LONG or runs_in_icarus(module)]
    for module in chosen:
        good, text = run_bench(folder, module.name, last_of(folder, module))
        if not good:
            bad.append(f"{module.label}: {text[:400]}")
    tap(not bad, f"Icarus: {len(chosen)} benches", "\n".join(bad))
    status, text = call("iverilog", "-Wall", "-g2005", "-o", "modules.vvp", *(module.name + ".v" for module in modules),
                        cwd=folder)
    tap(status == 0 and not text, f"Icarus: {len(modules)} modules in Verilog-2005", text)


def run_vhdl_bench(folder, name, last=None):
    """Of what is analysed. Before the first edge all is unknown, of which VHDL's packages would warn."""
    limit = [f"-gLAST={last}"] if last else []
    status, text = call("timeout", "600", "ghdl", "-r", "--std=08", name + "_tb", *limit, "--ieee-asserts=disable",
                        cwd=folder)
    return status == 0 and "no mismatch" in text, text


def analyse(folder, *files):
    status, text = call("ghdl", "-a", "--std=08", *files, cwd=folder)
    return status == 0 and not text, text


def vhdl_last_of(module):
    """GHDL takes 60 us a code: one block of hashes, whatever the input, and more where that is a single code."""
    if LONG and (module.bits <= 16 or module.number % 40 == 0):
        return None
    return 2048 if module.bits > 10 else None


def check_ghdl(folder, modules):
    chosen = [module for module in modules if LONG or not runs_in_icarus(module)]
    files = [module.name + ".vhd" for module in modules] + [module.name + "_tb.vhd" for module in chosen]
    good, text = analyse(folder, *files)
    tap(good, f"GHDL: {len(modules)} modules without a message", text)
    bad = []
    for module in chosen if good else []:
        passes, text = run_vhdl_bench(folder, module.name, vhdl_last_of(module))
        if not passes:
            bad.append(f"{module.label}: {text[:400]}")
    tap(not bad, f"GHDL: {len(chosen)} benches", "\n".join(bad))


def check_yosys(folder, modules):
    script = "".join(f"read_verilog -sv {module.name}.sv\n" for module in modules)
    (folder / "all.ys").write_text(script + "hierarchy -check\nproc\ncheck -assert\n")
    status, text = call("yosys", "-q", "-s", "all.ys", cwd=folder)
    tap(status == 0 and "Warning" not in text, f"yosys: {len(modules)} modules", text)


SLANG = ("width-trunc width-expand sign-conversion arith-op-mismatch bitwise-op-mismatch comparison-mismatch sign-compare "
         "vector-overflow").split()


def check_slang(folder, modules):
    """Where PyPI's pyslang is: no operand, target or literal of another width or sign."""
    try:
        from pyslang.driver import Driver
    except ImportError:
        print("# slang: pyslang is not installed", flush=True)
        return
    bad = []
    for module in modules:
        driver = Driver()
        driver.addStandardArgs()
        driver.parseCommandLine(" ".join(["slang"] + [f"-W{name}" for name in SLANG] + [str(folder / (module.name + ".sv"))]))
        driver.processOptions()
        driver.parseAllSources()
        found = [str(found.code) for found in driver.createCompilation().getAllDiagnostics()]
        if found:
            bad.append(f"{module.label}: {found}")
    tap(not bad, f"slang: {len(modules)} modules", "\n".join(bad))


TOP = """
module top (
  input  logic clk,
  input  logic rst_n,
  input  logic valid,
  input  logic [31:0] x [0:{last}],
  output logic [0:0] valid_o [0:{last}],
  output logic [31:0] y [0:{last}]
);
  // What depends on registers alone Verilator writes twice, what also depends on ports three times.
  logic valid_q;
  logic [31:0] x_q [0:{last}];
  always_ff @(posedge clk) begin
    valid_q <= valid;
    x_q <= x;
  end
{instances}
endmodule
"""

MAIN = """
#include "Vtop.h"
#include <cstdint>
#include <cstdio>
#include <vector>
{includes}
struct module {{
    const char *label;
    int bits;
    uint32_t latency;
    int64_t (*eval)(uint32_t pattern);
    std::vector<uint32_t> listed;
}};
static const std::vector<module> modules = {{
{rows}
}};
/* place k: every pattern, or the listed ones and then drawn ones */
static uint32_t code_at(const module &m, uint32_t k)
{{
    if (m.listed.empty())
        return k;
    if (k < m.listed.size())
        return m.listed[k];
    uint32_t v = (k ^ k >> 16) * 0x7feb352du;
    v = (v ^ v >> 15) * 0x846ca68bu;
    return (v ^ v >> 16) & (uint32_t)(((uint64_t)1 << m.bits) - 1);
}}
static uint32_t count_of(const module &m)
{{
    return m.listed.empty() ? 1u << m.bits : (uint32_t)m.listed.size() + {drawn};
}}
int main()
{{
    VerilatedContext context;
    Vtop top{{&context}};
    std::vector<int> bad(modules.size());
    uint64_t compared = 0;
    uint32_t most = 0;
    for (const module &m : modules)
        most = count_of(m) > most ? count_of(m) : most;
    top.rst_n = 0;
    top.clk = 0;
    top.valid = 0;
    top.eval();
    top.rst_n = 1;
    for (uint32_t k = 0; k < most + 26; k++) {{
        top.valid = 1;
        for (size_t i = 0; i < modules.size(); i++)
            top.x[i] = k < count_of(modules[i]) ? code_at(modules[i], k) : 0;
        top.clk = 0;
        top.eval();
        for (size_t i = 0; i < modules.size(); i++) {{
            const module &m = modules[i];
            const uint32_t at = k - m.latency;
            if (k < m.latency || at >= count_of(m))
                continue;
            compared++;
            const int64_t expected = m.eval(code_at(m, at));
            if ((!top.valid_o[i] || top.y[i] != (uint32_t)expected) && !bad[i]++)
                std::printf("%s: pattern %u gives %u, C gives %lld\\n", m.label, code_at(m, at), top.y[i],
                            (long long)expected);
        }}
        top.clk = 1;
        top.eval();
    }}
    std::printf("%llu compared\\n", (unsigned long long)compared);
    return 0;
}}
"""


def c_type(tensor):
    bits = 8 if tensor["bits"] <= 8 else 16 if tensor["bits"] <= 16 else 32
    return f"{'' if tensor['signed'] else 'u'}int{bits}_t"


def extend(tensor, text):
    """A pattern of the tensor's bits as its code, in C."""
    bits = tensor["bits"]
    if not tensor["signed"] or bits in (8, 16, 32):
        return f"({c_type(tensor)}){text}"
    return f"({c_type(tensor)})((int32_t)({text} << {32 - bits}) >> {32 - bits})"


def check_verilator(folder, modules):
    """Programs of 150 modules at most."""
    compared = 0
    for first in range(0, len(modules), 150):
        part = modules[first:first + 150]
        verilated = folder / f"verilated{first}"
        verilated.mkdir()
        compared += compare(folder, verilated, part)
    tap(compared > 1000000, f"Verilator: {compared} outputs compared with the C headers")


def compare(folder, verilated, modules):
    """How many outputs were the same; reports what differs."""
    instances, includes, rows = [], [], []
    for i, module in enumerate(modules):
        out = module.table["out"]
        instances.append(f"  logic {'signed ' if out['signed'] else ''}[{out['bits'] - 1}:0] y_{i};\n"
                         f"  assign y[{i}] = 32'(y_{i});\n"
                         f"  {module.name} u_{i} (.clk_i(clk), .rst_ni(rst_n), .valid_i(valid_q), "
                         f".x_i(x_q[{i}][{module.bits - 1}:0]), .valid_o(valid_o[{i}]), .y_o(y_{i})"
                         + (", .ready_o(), .ready_i(1'b1));" if module.has_ready else ");"))
        includes.append(f'#include "{module.name}.h"')
        listed = ", ".join(f"{code}u" for code in module.codes() or [])
        rows.append(f'    {{"{module.label}", {module.bits}, {module.stages + 1}, [](uint32_t p) -> int64_t '
                    f'{{ return {module.name}_eval({extend(module.table["in"], "p")}); }}, {{{listed}}}}},')
    (verilated / "top.sv").write_text(TOP.format(last=len(modules) - 1, instances="\n".join(instances)))
    (verilated / "main.cpp").write_text(MAIN.format(includes="\n".join(includes), rows="\n".join(rows), drawn=DRAWN))
    (verilated / "top.vlt").write_text(
        "`verilator_config\n"
        + "".join(f"lint_off -rule {rule} -file \"top.sv\"\n" for rule in ("UNUSEDSIGNAL", "PINCONNECTEMPTY")))
    files = [str(folder / f"{module.name}.sv") for module in modules]
    # The program runs for 4 seconds; to optimise it takes 20.
    status, text = call("verilator", "--cc", "--exe", "-O1", "-Wall", "--top-module", "top", "--prefix", "Vtop",
                        "--output-split", "0", "-CFLAGS", f"-I{folder}", "-MAKEFLAGS",
                        "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0", "--build", "-Mdir", "obj", "top.vlt", "top.sv",
                        *files, "main.cpp", cwd=verilated)
    warnings = "\n".join(line for line in text.splitlines() if line.startswith("%"))
    tap(status == 0 and not warnings, f"Verilator: {len(modules)} modules without a message", warnings or text[-2000:])
    if status:
        return 0
    status, text = call(str(verilated / "obj" / "Vtop"))
    lines = text.splitlines()
    same = status == 0 and len(lines) == 1
    tap(same, f"Verilator: {len(modules)} modules", text)
    return int(lines[0].split()[0]) if same else 0


HLS_MAIN = """
#include <cstdint>
#include <cstdio>
#include <vector>
namespace c {{
{c_includes}
}}
{includes}
struct module {{
    const char *label;
    int bits;
    int64_t (*eval)(uint32_t pattern), (*expected)(uint32_t pattern);
    std::vector<uint32_t> listed;
}};
#if defined(PWL_HLS_AP_INT) || defined(PWL_HLS_AC_INT)
template <int N, bool S> static int64_t value(sized<N, S> v) {{ return (int64_t)v.v; }}
#else
static int64_t value(int64_t v) {{ return v; }}
#endif
static const std::vector<module> modules = {{
{rows}
}};
int main()
{{
    uint64_t compared = 0;
    for (const module &m : modules) {{
        const uint64_t count = m.listed.empty() ? uint64_t(1) << m.bits : m.listed.size() + {drawn};
        int bad = 0;
        for (uint64_t k = 0; k < count; k++) {{
            uint32_t v = uint32_t(k) * 0x9e3779b1u;
            v = (v ^ v >> 15) * 0x846ca68bu;
            const uint32_t pattern = m.listed.empty() ? uint32_t(k) : k < m.listed.size() ? m.listed[k]
                : (v ^ v >> 16) & uint32_t((uint64_t(1) << m.bits) - 1);
            compared++;
            if (m.eval(pattern) != m.expected(pattern) && !bad++)
                std::printf("%s: pattern %u gives %lld, C gives %lld\\n", m.label, pattern,
                            (long long)m.eval(pattern), (long long)m.expected(pattern));
        }}
    }}
    std::printf("%llu compared\\n", (unsigned long long)compared);
    return 0;
}}
"""


def check_hls(folder, modules):
    """With plain integers, and with stand-ins of ap_int and ac_int, in parts that a compiler takes in one piece."""
    made, refused = [], []
    for module in modules:
        status, text = call(PWLC, "emit", str(module.path), "--format", "hls", "--name", "h" + module.name, "--rtl-style",
                            module.style, "-o", str(folder / f"{module.name}.hpp"))
        if status == 2 and "words of" in text:
            refused.append(module.label)
        elif status:
            tap(False, f"--format hls: {module.label}", text)
        else:
            made.append(module)
    tap(len(refused) <= len(modules) // 16, f"C++: {len(made)} headers, {len(refused)} with words that are too long",
        "\n".join(refused))
    # Widths are the same in all three, and the two stand-ins are one class: of one every third header, of the other some.
    for mode, part in (("PLAIN", made), ("PWL_HLS_AP_INT", made if LONG else made[::3]), ("PWL_HLS_AC_INT", made[1::10])):
        compared = sum(compare_hls(folder, part[first:first + 50], mode) for first in range(0, len(part), 50))
        tap(compared > 1000 * len(part), f"C++, {mode}: {compared} outputs compared with the C headers")


def compare_hls(folder, modules, mode):
    rows = []
    for module in modules:
        number, tensor = module.name, module.table["in"]
        listed = ", ".join(f"{code}u" for code in module.codes() or [])
        code = extend(tensor, "p")
        rows.append(f'    {{"{module.label}", {module.bits}, [](uint32_t p) -> int64_t '
                    f'{{ return value(h{number}_eval(h{number}_hls::in_t({code}))); }}, [](uint32_t p) -> int64_t '
                    f'{{ return c::{number}_eval({code}); }}, {{{listed}}}}},')
    (folder / "hls.cpp").write_text(HLS_MAIN.format(
        c_includes="\n".join(f'#include "{module.name}.h"' for module in modules),
        includes="\n".join(f'#include "{module.name}.hpp"' for module in modules), rows="\n".join(rows), drawn=DRAWN))
    stand_ins = str(pathlib.Path(ROOT, "tests/fitter/emit/hls"))
    status, text = call("c++", "-std=c++11", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-D" + mode, "-I", stand_ins,
                        "-o", "hls", "hls.cpp", cwd=folder)
    if status or text:
        tap(False, f"C++, {mode}: compiles without a message", text)
        return 0
    status, text = call(str(folder / "hls"))
    lines = text.splitlines()
    if status or len(lines) != 1:
        tap(False, f"C++, {mode}", text)
        return 0
    return int(lines[0].split()[0])


CELLS = "/usr/share/yosys/ice40/cells_sim.v"


def check_netlists(folder, modules):
    """What yosys makes of a module for an iCE40 with DSPs is the module still: of some, the bench finds it."""
    bad, chosen = [], [module for module in modules if module.bits <= 12 and module.path.stem.startswith("fit")]
    for module in chosen:
        name = module.name
        status, text = call("yosys", "-q", "-p", f"read_verilog -sv {name}.sv; synth_ice40 -dsp -top {name}; write_verilog net.v",
                            cwd=folder)
        if status == 0:
            status, text = call("iverilog", "-g2012", "-DNO_ICE40_DEFAULT_ASSIGNMENTS", "-o", "net.vvp", "net.v",
                                name + "_tb.sv", CELLS, cwd=folder)
        if status == 0:
            status, text = call("timeout", "600", "vvp", "-n", "net.vvp", cwd=folder)
        if status or "no mismatch" not in text:
            bad.append(f"{module.label}: {text[:400]}")
    tap(not bad, f"netlists of {len(chosen)} modules", "\n".join(bad))


# -- What must be found -------------------------------------------------------------------------------------------------

def change_number(text, pattern, base, bit=1):
    """The text with a bit turned over in the number that the pattern finds."""
    found = re.search(pattern, text)
    changed = format(int(found.group(1), base) ^ bit, "d" if base == 10 else "x")
    return text[:found.start(1)] + changed + text[found.end(1):]


def check_faults(folder):
    """Of tables whose every segment has codes that do not saturate."""
    missed = []
    faults = 0
    for i, path in enumerate(sorted(pathlib.Path(ROOT, "luts/tables").glob("*_s8.json"))):
        for style in STYLES + ("rom",):
            module = Module(path, f"fault{i}{style}", style, STAGES[i % len(STAGES)], i % 2 == 1)
            module.emit(folder)
            bench, source = folder / f"{module.name}_tb.sv", folder / f"{module.name}.sv"
            good = bench.read_text(), source.read_text()
            # Where two lines meet they may agree on a code, hence 8 codes.
            broken = [(change_number(good[0], rf" {name}\[5\] = -?64'sd(\d+)", 10, bit), good[1])
                      for name, bit in (("offset", 1), ("shift", 1), ("start", 8))] if style == "aligned" else []
            for pattern in (r" 4'h4: word_rom = \d+'h(.)", r" 8'h04: output_rom = 8'h.(.)"):
                if re.search(pattern, good[1]):
                    broken.append((good[0], change_number(good[1], pattern, 16)))
            for texts in broken:
                bench.write_text(texts[0])
                source.write_text(texts[1])
                faults += 1
                if run_bench(folder, module.name)[0]:
                    missed.append(f"{module.label}: fault {faults}")
    tap(faults >= 30 and not missed, f"{faults} wrong numbers are found", "\n".join(missed))


def check_vhdl_faults(folder):
    """A word of the ROM, a valid that is always 1, a difference instead of a sum: each is found."""
    missed, faults = [], 0
    for i, path in enumerate(sorted(pathlib.Path(ROOT, "luts/tables").glob("*_s8.json"))):
        for style in ("tree", "rom"):
            module = Module(path, f"vhdl_fault{i}{style}", style, 1 + STAGES[i % len(STAGES)] % 5, i % 2 == 1)
            module.emit(folder)
            source = folder / f"{module.name}.vhd"
            good = source.read_text()
            broken = [change_number(good, r" 4 => \d+x\"([0-9a-f])", 16)]
            broken.append(good.replace("valid_q(1) <= valid_i;", "valid_q(1) <= '1';"))
            if style == "tree":
                broken.append(re.sub(r"(sum <= .*) \+ ", r"\1 - ", good))
            for text in broken:
                source.write_text(text)
                faults += 1
                if text == good or not analyse(folder, f"{module.name}.vhd", f"{module.name}_tb.vhd")[0] or \
                        run_vhdl_bench(folder, module.name)[0]:
                    missed.append(f"{module.label}: fault {faults}")
    tap(faults >= 20 and not missed, f"{faults} wrong texts of VHDL are found", "\n".join(missed))


def main():
    for tool in ("iverilog", "verilator", "yosys"):
        if not shutil.which(tool):
            print(f"1..0 # SKIP {tool} is not installed")
            return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        modules = draw_modules(folder)
        errors = [text for text in (module.emit(folder) for module in modules) if text]
        tap(not errors and len(modules) > 100, f"{len(modules)} modules are emitted", "\n".join(errors))
        if not errors:
            check_yosys(folder, modules)
            check_slang(folder, modules)
            check_verilator(folder, modules)
            check_faults(folder)
            check_icarus(folder, modules)
            check_hls(folder, modules)
            if LONG and os.path.exists(CELLS):
                check_netlists(folder, modules)
            if shutil.which("ghdl"):
                check_ghdl(folder, modules)
                check_vhdl_faults(folder)
            else:
                tap(True, "GHDL # SKIP ghdl is not installed")
    print(f"1..{count}")
    return failures > 0


sys.exit(main())
