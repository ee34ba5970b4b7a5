# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of operators against the references of their pages share: pwlc, the first argument, the types of codes, and
cases as TAP, each checked in an empty folder's files with numbers drawn for it alone."""
import os
import subprocess
import sys
import tempfile

import numpy as np

PWLC = os.path.abspath(sys.argv[1])
LONG = os.environ.get("PWL_TEST_LONG") == "1"
TYPES = {"s8": np.int8, "u8": np.uint8, "s16": np.int16, "u16": np.uint16, "s32": np.int32}


def pwlc(*arguments):
    done = subprocess.run([PWLC, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_cases(cases, check, prepare=None):
    """check(case, rng) for each, in a folder in which prepare() runs first. Ends the process, with 1 where one failed."""
    failed = 0
    print(f"1..{len(cases)}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if prepare:
            prepare()
        for k, case in enumerate(cases, 1):
            name = " ".join(map(str, case))
            try:
                check(case, np.random.default_rng(k))
                print(f"ok {k} - {name}", flush=True)
            except AssertionError as error:
                failed += 1
                print(f"not ok {k} - {name}\n# {str(error)[:600]}", flush=True)
    sys.exit(failed > 0)
