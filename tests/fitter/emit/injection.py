#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""injection.py PWLC: a table's spec is text of whoever wrote the file. Whatever it says, what emit writes, in every format
and in every notation of every profile, differs from that of a plain spec in comments alone, by lines and to compilers.
Each file gets a third of the texts, in turn, and all with PWL_TEST_LONG=1."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from signed_table import signed  # noqa: E402

PWLC = str(pathlib.Path(sys.argv[1]).resolve())
THIRDS = 1 if os.environ.get("PWL_TEST_LONG") == "1" else 3
count = failures = 0

# What ends a comment, begins one, goes on in the next line (a backslash, and the trigraph of one), or is an order to a
# tool, a shell or a page. A table's reader takes printable ASCII alone.
HOSTILE = ["*/ int a; /*", "a */", "/* a", "*\\/ int a;", "*?/", "/", "*", "**/", "// a", "a \\", "a \\\\", "a ??/", "a ?\\/",
           "a \\?/", "a ???/", "??/", "`include \"a\"", "`define a", "#include <a>", "#error a", "verilator lint_off WIDTH",
           "synthesis translate_off", "$(touch a)", "`touch a`", "'; touch a; '", "[exec touch a]", "{", "}", "\"", "-- a", "%",
           "% a %", "; a", "<script>a</script>", "--> ]]>", "%n%s%n", "a: b", "&a *a !a", "a" * 8192]
COMMENT = re.compile(r"//[^\n]*|/\*(?:(?!\*/|/\*).)*\*/|(?: ?\*)(?!/)(?:(?!\*/|/\*).)*|(?:#|--|;)[^\n]*")


# Profiles that hold a table of that method, which is quicker to find.
UNIFORM = {"quant-gru", "aimet-pe", "aie", "aie-v2"}
# Profiles that hold no tanh, or whose tanh ends before the types that they ask for.
OTHERS = {"hls4ml": "sigmoid", "hls4ml-oneapi": "sigmoid", "hls4ml-oneapi-stable": "exp", "hls4ml-legacy": "exp",
          "hls4ml-oneapi-legacy": "exp"}


def tap(good, name, text=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    for line in text.splitlines()[:20] if not good else []:
        print(f"# {line}")


def emit(table, arguments):
    """The bytes of all files, by name; "" is standard output."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        to = ["-o", str(out)] if arguments[-1].endswith(":dat") else []
        done = subprocess.run([PWLC, "emit", str(table), *arguments, *to], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise RuntimeError(f"emit {table.name} {' '.join(arguments)}: exit {done.returncode}: {done.stderr[:300]}")
        return {"": done.stdout, **({part.name: part.read_bytes() for part in out.iterdir()} if to else {})}


def only_comments_differ(plain, other):
    """"" or what else does."""
    if len(plain) != len(other):
        return f"{len(other)} lines, not {len(plain)}"
    for a, b in zip(plain, other):
        if a != b and (not COMMENT.fullmatch(b.rstrip()) or b.rstrip().endswith("\\")):
            return f"{b[:200]!r}, not {a[:200]!r}"
    return ""


def programs_of(texts, language):
    """What the compiler takes for the program of each; trigraphs are part of both standards. One run for all: directives,
    which would hide one text behind the guard of another, are left out."""
    lines = [line for text in texts for line in text.splitlines() + ["END_OF_TEXT"] if not line.startswith("#")]
    done = subprocess.run(["cc", "-x", language[0], language[1], "-E", "-P", "-"], input="\n".join(lines) + "\n",
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, check=True)
    return [program.split() for program in done.stdout.split("END_OF_TEXT")]


def check(name, files, arguments, languages):
    plain = emit(files["plain"], arguments)
    if emit(files[0], arguments) == plain:
        tap(True, f"{name}: has no spec")
        return
    numbers = range(count % THIRDS, len(HOSTILE), THIRDS)
    specs, made, bad = [HOSTILE[number] for number in numbers], [emit(files[number], arguments) for number in numbers], []
    for spec, parts in zip(specs, made):
        if sorted(parts) != sorted(plain):
            bad.append(f"{spec[:60]!r}: writes {sorted(parts)}")
            continue
        for part in (part for part in parts if parts[part] != plain[part]):
            says = only_comments_differ(plain[part].decode().split("\n"), parts[part].decode().split("\n"))
            if says:
                bad.append(f"{spec[:60]!r}: {part}: {says}")
    for language in languages:
        programs = programs_of([parts[""].decode() for parts in [plain, *made]], language)
        if len(programs) != len(specs) + 2:
            bad.append(f"{len(programs)} programs to {' '.join(language)}")
        bad += [f"{spec[:60]!r}: another program to {' '.join(language)}" for spec, program in zip(specs, programs[1:])
                if program != programs[0]]
    tap(not bad, f"{name}: a spec stays inside its comment", "\n".join(bad))


def fit(path, arguments, function="tanh"):
    subprocess.run([PWLC, "fit", function, *arguments, "-o", str(path)], stderr=subprocess.DEVNULL, check=True)


def hostile_files(path):
    """The table with each spec, as a map to paths; each is signed, since the hash covers the spec."""
    table = json.loads(path.read_text())
    files = {"plain": path}
    for number, spec in enumerate(HOSTILE):
        files[number] = path.with_name(f"{path.stem}_{number}.json")
        files[number].write_text(json.dumps(signed(dict(table, spec=spec))))
    return files


def listed(what):
    return json.loads(subprocess.run([PWLC, "list", what, "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)[what]


def main():
    c, cpp = ("c", "-std=c11"), ("c++", "-std=c++11")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table = folder / "table.json"
        fit(table, ["--in", "s8:2^-5", "--out", "s8:2^-7", "--segments", "4"])
        files = hostile_files(table)
        for row in listed("formats")["emit"]:
            kind = row["name"]
            if kind == "json": # has the spec as a string
                continue
            languages = [c, cpp] if kind in ("c", "cuda") else []
            needs = ["--rtl-style", "rom"] if kind in ("mem", "coe", "mif") else ["--clock", "5"] if kind == "sdc" else ["--loadable", "16"] if kind == "loader" else []
            check(f"--format {kind}", files, ["--format", kind, *needs], languages)
        check("--standalone", files, ["--standalone"], [c, cpp])
        for profile in listed("profiles"):
            table = folder / f"{profile['name']}.json"
            quick = ["--method", "uniform"] if profile["name"] in UNIFORM else []
            fit(table, ["--profile", profile["name"], *quick], OTHERS.get(profile["name"], "tanh"))
            files = hostile_files(table)
            for notation in profile["notations"]:
                kind = notation["name"]
                languages = {"c": [c, cpp], "cpp": [cpp]}.get(kind, [])
                check(f"{profile['name']}:{kind}", files, ["--profile", f"{profile['name']}:{kind}"], languages)
    print(f"1..{count}")
    return failures > 0


sys.exit(main())
