#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the files that comments, docstrings and pages name are there.

    check_paths.py SOURCE

A name is what ends in one of ENDINGS, with folders before it or without. With folders it is a path from the
repository's root, from a folder that the file which names it lies in, or from one of ROOTS. Without, a file of that
name must be anywhere; tests and pages, which name files that they make, are not asked for that. NAME stands for any
name, and what is of others is in OTHERS. Blocks of pages are left out: tests/docs/run_pages.py runs them.
"""
import io
import os
import pathlib
import re
import subprocess
import sys
import tokenize

ENDINGS = "c|h|cu|cuh|py|sh|md"
NAME = re.compile(rf"(?<![\w/.:*$<{{}}-])(?:[\w.-]+/)*[\w-]+\.(?:{ENDINGS})(?![\w/*-]|\.\w)")
ROOTS = ["fitter", "runtime", "runtime/include", "runtime/python", "kernels", "kernels/include",
         "kernels/bench/include", "tests", "tests/fitter"]
OTHERS = {"stddef.h", "stdint.h", "numpy/lib/format.py", "arch/arm64/include/uapi/asm/hwcap.h"}
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def files(root):
    command = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [path for path in listed.stdout.splitlines() if (root / path).is_file()]
    return [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and "build" not in path.parts]


def prose(path, text):
    """The comments of a source with their lines; a page whole."""
    ending = path.suffix
    if ending == ".md":
        yield 1, FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)
    elif ending in (".c", ".h", ".cu", ".cuh"):
        for match in COMMENT.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match[0]
    elif ending == ".py":
        before = None
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            begins = before in (None, tokenize.INDENT, tokenize.NEWLINE)
            if token.type == tokenize.COMMENT or token.type == tokenize.STRING and begins:
                yield token.start[0], token.string
            if token.type not in (tokenize.NL, tokenize.COMMENT):
                before = token.type
    elif ending in (".sh", ".build") or path.name == "dev":
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("#"):
                yield number, line


def main():
    root = pathlib.Path(sys.argv[1])
    paths = files(root)
    there, names = set(paths), {path.rpartition("/")[2] for path in paths}
    wrong = 0
    seen = 0
    for path in paths:
        place = pathlib.PurePosixPath(path)
        try:
            text = (root / path).read_text()
        except UnicodeDecodeError:
            continue
        folders = [str(folder) for folder in place.parents] + ROOTS
        makes_files = place.suffix == ".md" or place.parts[0] == "tests"
        for line, part in prose(place, text):
            for match in NAME.finditer(part):
                name = match[0]
                if "NAME" in name or name in OTHERS or makes_files and "/" not in name:
                    continue
                seen += 1
                found = any(os.path.normpath(f"{folder}/{name}") in there for folder in folders)
                if not found and not ("/" not in name and name in names):
                    wrong += 1
                    print(f"{path}:{line + part.count(chr(10), 0, match.start())}: {name} is not there")
    print(f"{seen} names in {len(paths)} files, {wrong} of no file")
    sys.exit(1 if wrong or seen < 100 else 0)


main()
