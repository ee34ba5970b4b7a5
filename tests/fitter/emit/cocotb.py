#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bench that pwlc emits for cocotb: its model gives outputs with the hash that the runtime gave, for drawn tables of
every form, rounding, fold and reduction; a wrong number of it does not. With cocotb 2 and Icarus Verilog, the bench passes,
and finds a module that is wrong. TAP.

usage: cocotb.py PWLC RANDOM_TABLES
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types

PWLC, RANDOM_TABLES = (os.path.realpath(argument) for argument in sys.argv[1:3])
count = failures = 0


def tap(good, name, text=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    for line in text.splitlines()[:40] if not good else []:
        print(f"# {line}", flush=True)


def call(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def emit(path, *arguments):
    return subprocess.run([PWLC, "emit", str(path), "--name", "m", *arguments], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


class Anything(types.ModuleType):
    """Stands in for cocotb: the bench is read, and not run."""

    def __getattr__(self, name):
        return lambda *arguments: lambda function: function


def is_table(text):
    """Whether the outputs of the bench's model have its hash."""
    names = {"__name__": "bench"}
    exec(compile(text, "bench", "exec"), names)
    digest = 0xcbf29ce484222325
    for code in names["CODES"]:
        digest = (digest ^ (names["model"](code) & (1 << 64) - 1)) * 0x100000001b3 & (1 << 64) - 1
    return digest == names["HASH"]


def check_models(folder):
    for name in ("cocotb", "cocotb.clock", "cocotb.triggers"):
        sys.modules[name] = Anything(name)
    call(RANDOM_TABLES, str(folder), "1")
    paths = sorted(folder.glob("*.json"))
    bad, found = [], 0
    for path in paths:
        text = emit(path, "--format", "cocotb", "--rtl-style", "tree")
        if not is_table(text):
            bad.append(path.stem)
        changed = re.sub(r"(OFFSET = \(\n    )(-?\d+)", lambda match: match[1] + str(int(match[2]) ^ 64), text)
        found += changed != text and not is_table(changed)
    tap(len(paths) > 50 and not bad, f"{len(paths)} models are their tables", "\n".join(bad))
    tap(found > len(paths) / 2, f"{found} of {len(paths)} wrong offsets change an output")
    for name in ("cocotb", "cocotb.clock", "cocotb.triggers"):
        del sys.modules[name]


def check_simulation(folder):
    path = folder / "t.json"
    call(PWLC, "fit", "gelu", "--in", "s8:2^-5", "--out", "s8:2^-5", "-o", str(path))
    for flags in (["--stages", "0"], ["--stages", "3", "--rtl-handshake", "ready"]):
        flags = ["--rtl-style", "aligned", *flags]
        (folder / "m_cocotb.py").write_text(emit(path, "--format", "cocotb", *flags))
        module = emit(path, "--format", "sv", *flags)
        for text, wanted in ((module, 0), (re.sub(r"(assign sum = .*) \+ ", r"\1 - ", module), 1)):
            (folder / "m.sv").write_text(text)
            status, said = call(sys.executable, "m_cocotb.py", cwd=folder)
            tap(status == wanted, f"cocotb, {' '.join(flags)}: exit {wanted}", said)


with tempfile.TemporaryDirectory() as name:
    check_models(pathlib.Path(name))
    check_simulation(pathlib.Path(name))
print(f"1..{count}")
sys.exit(failures > 0)
