#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what the tests of some suites need of a Meson build, and what it installs: files for ninja, relative to the build.

usage: targets_of.py BUILD SUITE...
"""
import json
import os
import pathlib
import sys


def main(build, *suites):
    info = pathlib.Path(build, "meson-info")
    targets = json.loads((info / "intro-targets.json").read_text())
    files = {target["id"]: target["filename"] for target in targets}
    needed = {file for target in targets if target["installed"] for file in target["filename"]}
    for test in json.loads((info / "intro-tests.json").read_text()):
        if any(suite.split(":")[-1] in suites for suite in test["suite"]):
            needed.update(*(files[target] for target in test["depends"]))
    print(*sorted(os.path.relpath(file, build) for file in needed))


if __name__ == "__main__":
    main(*sys.argv[1:])
