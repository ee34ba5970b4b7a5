#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A wheel is for Python 3.9 and later and for old C libraries, says the licences of what it holds, and is small.

usage: check_wheel.py WHEEL LICENCES ABI3AUDIT
"""
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile

path, licences, abi3audit = sys.argv[1:]
MOST_BYTES = 5 << 20
# In the stable ABI from 3.11 on, and before with the same arguments and layouts: runtime/python/core/python.h.
BUFFERS = {"PyObject_GetBuffer", "PyBuffer_Release"}
wheel = zipfile.ZipFile(path)
names = wheel.namelist()
failed = []


def check(good, what):
    if not good:
        failed.append(what)


def read(ending):
    return wheel.read(next(name for name in names if name.endswith(ending))).decode()


head = read(".dist-info/METADATA").split("\n\n")[0]
gpl = "GPL" in licences
check(re.search("^License-Expression: (.*)$", head, re.M)[1] == licences, "License-Expression")
check(("GPL" in head) == gpl, "the licence's file among what METADATA names")
check(any("licenses/LICENSES/GPL" in name for name in names) == gpl, "the text of the GPL")
check(any(name.endswith("/pwlc") for name in names) == gpl, "pwlc")
check(re.search(r"-cp39-abi3-manylinux[0-9a-z_.]*2_17_", os.path.basename(path)), "the tag of the name")
check(set(re.findall("^Tag: (.*?-.*?)-", read(".dist-info/WHEEL"), re.M)) == {"cp39-abi3"}, "the tags in WHEEL")
check(os.path.getsize(path) <= MOST_BYTES, f"at most {MOST_BYTES} bytes")
for line in read(".dist-info/RECORD").splitlines():
    name, digest, size = line.rsplit(",", 2)
    if digest:
        data = wheel.read(name)
        wanted = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        check(digest == wanted and int(size) == len(data), f"{name} in RECORD")
report = json.loads(subprocess.run([abi3audit, "--report", path], capture_output=True, text=True).stdout)
for library in report["specs"][path]["wheel"]:
    beyond = set(library["result"]["non_abi3_symbols"]) | set(library["result"]["future_abi3_objects"])
    check(beyond <= BUFFERS, f"{library['name']}, which uses {', '.join(sorted(beyond - BUFFERS))} beyond Python 3.9's ABI")
if failed:
    sys.exit(f"{path} is wrong in: {', '.join(failed)}")
print(f"{path}: {os.path.getsize(path)} bytes, {licences}")
