#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""signed_table.py FILE...: gives each table or row operator the hash of what it says now, as docs/table-json.md defines it."""
import hashlib
import json
import struct
import sys


REALS = {"parameters", "eps", "gamma", "beta", "certificate"}


def spelled(value, has_reals=False):
    if isinstance(value, dict):
        return {name: spelled(part, has_reals or name in REALS) for name, part in value.items()}
    if isinstance(value, list):
        return [spelled(part, has_reals) for part in value]
    return struct.pack(">d", value).hex() if has_reals and type(value) in (int, float) else value


def signed(table):
    """The fields of a table or row operator, with their hash."""
    text = json.dumps(spelled({name: value for name, value in table.items() if name != "hash"}), sort_keys=True,
                      separators=(",", ":"))
    return {**table, "hash": hashlib.sha256(text.encode()).hexdigest()}


def main():
    for path in sys.argv[1:]:
        with open(path) as file:
            table = json.load(file)
        with open(path, "w") as file:
            json.dump(signed(table), file)


if __name__ == "__main__":
    main()
