#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up test results over several Meson builds.

usage: count_tests.py [--no-skips] LABEL=TESTLOG.json ... LABEL=failed ... LABEL=changed ...

A TAP test counts its subtests; any other test counts as one. "LABEL=failed" is a build that did not get as far as
its tests, "LABEL=changed" what tests changed and may not; these and a build without tests count as one failure. With
--no-skips a skipped test is a failure, except in the suite gpu.
The last line is "N passed, N failed, N skipped"; the exit status is 1 when a test failed or none ran.
"""
import json
import re
import sys

FAILURES = {"failed": "did not build", "changed": "are not as they were before the tests"}
GOOD = {"OK", "EXPECTEDFAIL"}
SUBTEST = re.compile(r"^(ok|not ok)\b[^#\n]*(#\s*skip\b)?", re.IGNORECASE | re.MULTILINE)


def suites_of(name):
    """Suites of a test from its printed name, "project:suite+suite / test"."""
    if " / " not in name:
        return set()
    return set(name.split(" / ")[0].split(":")[-1].split("+"))


def count(test, no_skips):
    """(passed, failed, skipped) of one record of a testlog."""
    result = test["result"]
    skips_allowed = not no_skips or "gpu" in suites_of(test["name"])
    if result == "SKIP":
        return (0, 0, 1) if skips_allowed else (0, 1, 0)

    subtests = SUBTEST.findall(test.get("stdout") or "")
    failed = sum(word.lower() == "not ok" for word, _ in subtests)
    skipped = sum(word.lower() == "ok" and bool(skip) for word, skip in subtests)
    passed = len(subtests) - failed - skipped
    if not subtests:
        passed = int(result in GOOD)
    if result not in GOOD and failed == 0:
        failed = 1  # a crash, a timeout, a bad exit status
    if not skips_allowed:
        failed, skipped = failed + skipped, 0
    return passed, failed, skipped


def main(arguments):
    no_skips = "--no-skips" in arguments
    sums = [0, 0, 0]
    for argument in arguments:
        if argument.startswith("--"):
            continue
        label, _, path = argument.partition("=")
        if path in FAILURES:
            print(f"FAILED  {label}: {FAILURES[path]}")
            sums[1] += 1
            continue
        with open(path, encoding="utf-8") as log:
            tests = [json.loads(line) for line in log if line.strip()]
        totals = [0, 0, 0]
        for test in tests:
            counts = count(test, no_skips)
            totals = [a + b for a, b in zip(totals, counts)]
            if counts[1]:
                why = "skipped, which continuous integration does not allow" if test["result"] == "SKIP" else ""
                print(f"FAILED  {label}: {test['name']} {why or test['result']}")
            elif counts[2]:
                print(f"skipped {label}: {test['name']}")
        if not tests:
            print(f"FAILED  {label}: no test ran")
            totals[1] = 1
        print(f"{label}: {totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
        sums = [a + b for a, b in zip(sums, totals)]
    if sum(sums) == 0:
        print("FAILED  no test ran")
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return 1 if sums[1] or sum(sums) == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
