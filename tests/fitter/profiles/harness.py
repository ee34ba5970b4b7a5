# SPDX-License-Identifier: GPL-3.0-or-later
"""TAP for the tests of the table formats: a line for each comparison; end() is the last."""
import zlib

from texts import Refused

count = failures = 0


def tap(good, name, text=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    for line in text.splitlines()[:20] if not good else []:
        print(f"# {line}", flush=True)


def same(name, got, expected):
    """One line for a list, with the places that differ."""
    got, expected = list(got), list(expected)
    if got == expected:
        tap(True, name)
        return
    bad = [f"at {i}: {a}, not {b}" for i, (a, b) in enumerate(zip(got, expected)) if a != b]
    if len(got) != len(expected):
        bad.insert(0, f"{len(got)} values, not {len(expected)}")
    tap(not bad, name, "\n".join(bad))


def check_bytes(name, data, size, crc, quoted):
    """quoted: pairs of a place and what stands there, in hex."""
    bad = [] if len(data) == size else [f"{len(data)} bytes, not {size}"]
    if zlib.crc32(data) != crc:
        bad.append(f"CRC {zlib.crc32(data):08x}, not {crc:08x}")
    for place, text in quoted:
        expected = bytes.fromhex(text)
        got = data[place:place + len(expected)]
        if got != expected:
            bad.append(f"at {place}: {got.hex()}, not {expected.hex()}")
    tap(not bad, f"{name}: bytes", "\n".join(bad))


def outputs(name, evaluate, expected):
    """expected: output by code."""
    same(name, [(x, evaluate(x)) for x in expected], expected.items())


def accepted(name, check):
    try:
        check()
        tap(True, name)
    except Refused as error:
        tap(False, name, str(error))


def refuses(name, says, call):
    """call raises Refused, and its message has what is told."""
    try:
        call()
        tap(False, name, "accepted")
    except Refused as error:
        tap(says in str(error), name, f"the message is: {error}")


def end():
    """The exit status."""
    print(f"1..{count}")
    return failures > 0
