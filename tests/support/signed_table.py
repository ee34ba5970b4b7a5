#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""signed_table.py FILE...: gives each table the hash of what it says now, as docs/table-json.md defines it."""
import hashlib
import json
import struct
import sys


def signed(table):
    """The fields of a table, with their hash."""
    def bits(value):
        return struct.pack(">d", value).hex() if type(value) in (int, float) else value

    hashed = {name: value for name, value in table.items() if name != "hash"}
    for name in ("parameters", "certificate"):
        hashed[name] = {key: bits(value) for key, value in table[name].items()}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"))
    return {**table, "hash": hashlib.sha256(text.encode()).hexdigest()}


def main():
    for path in sys.argv[1:]:
        with open(path) as file:
            table = json.load(file)
        with open(path, "w") as file:
            json.dump(signed(table), file)


if __name__ == "__main__":
    main()
